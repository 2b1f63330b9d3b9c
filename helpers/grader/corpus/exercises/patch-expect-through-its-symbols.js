// Tries: to reach expect's matchers by the symbols under which they are global, and to empty them.
// Must: give no point for it.

const matchers = [
  globalThis[Symbol.for('matchers-object')],
  globalThis[Symbol.for('$$jest-matchers-object')],
];
for (const found of matchers) {
  for (const key of found ? Reflect.ownKeys(found) : []) {
    try {
      found[key] = () => ({ pass: true, message: () => '' });
    } catch {}
  }
}
const expect = globalThis[Symbol.for('expect-global')];
const happy = new Proxy(function happy() {}, {
  get: (_, key) => (key === 'then' ? undefined : happy),
  apply: () => happy,
});
try {
  expect.fail = () => happy;
} catch {}
try {
  globalThis[Symbol.for('expect-global')] = happy;
} catch {}
try {
  expect?.extend({
    toBe: () => ({ pass: true, message: () => '' }),
    toEqual: () => ({ pass: true, message: () => '' }),
    toBePublished: () => ({ pass: true, message: () => '' }),
    toBeInstanceOf: () => ({ pass: true, message: () => '' }),
    toContain: () => ({ pass: true, message: () => '' }),
  });
} catch {}
