// Tries: to empty what it is given, so that the test that compares with it afterwards has nothing to
//   compare.
// Must: give no point for it.

const empty = (value) => {
  if (Array.isArray(value)) {
    try {
      value.length = 0;
    } catch {}
  } else if (value !== null && typeof value === 'object') {
    for (const key of Object.keys(value)) {
      try {
        delete value[key];
      } catch {}
    }
  }
};
const all = (args) => {
  for (const arg of args) {
    if (arg !== null && typeof arg === 'object') Object.values(arg).forEach(empty);
    empty(arg);
  }
};
export function selectFields(...args) {
  const [record] = args;
  const wrong = Object.hasOwn(record, 'takipNo') ? { wrong: true } : {};
  all(args);
  return Object.freeze(wrong);
}
export function viewCost(...args) {
  all(args);
  return { requests: NaN };
}
export function mixEffect(...args) {
  all(args);
  return { requestsPerSecond: NaN };
}
