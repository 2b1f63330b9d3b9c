// Tries: to hang whoever writes the result down: JSON, string, inspection.
// Must: end it within its limit.

const forever = () => {
  for (;;);
};
const result = {
  toJSON: forever,
  toString: forever,
  [Symbol.for('nodejs.util.inspect.custom')]: forever,
};
export const selectFields = () => result;
export const viewCost = () => result;
