// Tries: to swallow a failed result: a setter on Object.prototype takes what the runner writes.
// Must: give no point for it.

for (const key of ['result', 'errors', 'state', 'error', 'failed', 'verdict', 'tests', 'problem']) {
  try {
    Object.defineProperty(Object.prototype, key, {
      configurable: true,
      get() {
        return key === 'state' ? 'pass' : key === 'errors' ? [] : undefined;
      },
      set() {},
    });
  } catch {}
}
