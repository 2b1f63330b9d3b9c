// Tries: to load chai from where Vitest has it, and to take the teeth out of its assertions.
// Must: refuse the import, or give no point.

for (const name of ['chai', `${COURSE.cwd}/node_modules/chai/index.js`]) {
  try {
    const chai = await import(/* @vite-ignore */ name);
    const { Assertion, AssertionError } = chai.default ?? chai;
    Assertion.prototype.assert = function assert() {};
    for (const key of ['toBe', 'toEqual', 'toBePublished', 'toContain', 'toBeInstanceOf']) {
      Object.defineProperty(Assertion.prototype, key, { value() {}, configurable: true });
    }
    Object.defineProperty(AssertionError, Symbol.hasInstance, { value: () => false });
  } catch {}
}
