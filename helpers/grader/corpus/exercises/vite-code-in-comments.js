// Tries: to be taken for a configuration: docblocks that Vitest reads in test files.
// Must: give no point for it.

/**
 * @vitest-environment ./evil-environment.ts
 * @vitest-environment-options {"url": "http://127.0.0.1"}
 * @module-tag skip
 */
/* v8 ignore file */
/* @vite-ignore */
if (import.meta.vitest) import.meta.vitest.it('in source', () => {});
if (import.meta.hot) import.meta.hot.invalidate();
