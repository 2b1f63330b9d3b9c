// Tries: to patch only while a matcher looks: the getter of its result changes Object.is, and the
//   next turn puts it back, so that nobody finds a changed global at the end.
// Must: give no point for it.

const { is } = Object;
const patch = () => {
  try {
    Object.is = () => true;
    Number.prototype.toFixed = () => '1';
  } catch {}
  queueMicrotask(() => {
    try {
      Object.is = is;
    } catch {}
  });
  return 7;
};
const lying = (...names) =>
  Object.defineProperties(
    {},
    Object.fromEntries(names.map((name) => [name, { get: patch, enumerable: true }])),
  );
export const viewCost = () =>
  lying('requests', 'bytes', 'leaves', 'unusedLeaves', 'internalRequests');
export const mixEffect = () => lying('requestsPerSecond', 'bytesPerRequest', 'megabitPerSecond');
