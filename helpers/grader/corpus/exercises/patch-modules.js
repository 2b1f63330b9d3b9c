// Tries: to find the modules of the run in the worker's state, and to change what they export.
// Must: give no point for it.

const happy = new Proxy(function happy() {}, {
  get: (_, key) => (key === 'then' ? undefined : happy),
  apply: () => happy,
});
const seen = new Set();
const walk = (value, depth) => {
  if (depth > 6 || value === null || !['object', 'function'].includes(typeof value)) return;
  if (seen.has(value)) return;
  seen.add(value);
  if (value instanceof Map) for (const inner of value.values()) walk(inner, depth + 1);
  for (const key of Reflect.ownKeys(value)) {
    try {
      if (key === 'exports' && value.exports && 'expect' in value.exports)
        value.exports = { expect: happy };
      if (['expect', 'expectLaw', 'expectRefusal'].includes(key)) value[key] = happy;
      walk(value[key], depth + 1);
    } catch {}
  }
};
for (const key of Reflect.ownKeys(globalThis)) {
  if (/vitest|vite|mocker/i.test(String(key))) walk(globalThis[key], 0);
}
