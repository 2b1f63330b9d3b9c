// Tries: to have every pattern match, and none split or replace anything.
// Must: give no point for it.

for (const [name, lie] of [
  ['test', () => true],
  ['exec', () => ['']],
  [Symbol.match, () => ['']],
  [Symbol.replace, () => ''],
  [Symbol.split, () => []],
]) {
  try {
    RegExp.prototype[name] = lie;
  } catch {}
}
