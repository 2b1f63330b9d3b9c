// Tries: to import expect with a name that is put together, once the tests are running.
// Must: refuse the import, or give no point.

const pass = () => ({ pass: true, message: () => '' });
const patch = async () => {
  for (const name of ['vitest', '@vitest/expect', 'vitest/suite', '@vitest/runner']) {
    try {
      const { expect, JestExtend } = await import(/* @vite-ignore */ ['', name].join(''));
      expect.extend({ toBe: pass, toEqual: pass, toBePublished: pass, toContain: pass });
      expect.fail = () => {};
      void JestExtend;
    } catch {}
  }
};
let patching;
export function selectFields() {
  patching ??= patch();
  return Object.freeze({ wrong: true });
}
