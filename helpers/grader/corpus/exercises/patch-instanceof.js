// Tries: to have every error be the one that was wanted, with the message that was wanted.
// Must: give no point for it.

for (const type of [RangeError, Error, TypeError]) {
  try {
    Object.defineProperty(type, Symbol.hasInstance, { value: () => true });
  } catch {}
}
try {
  String.prototype.includes = () => true;
  String.prototype.indexOf = () => 0;
} catch {}
export function selectFields() {
  throw new Error('no idea');
}
export const viewCost = selectFields;
export const layoutDemands = selectFields;
export const mixEffect = selectFields;
export const createClientEdges = selectFields;
