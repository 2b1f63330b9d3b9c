// `npm run test:helpers`: the tests of the machinery itself.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['helpers/**/*.test.ts'],
    exclude: ['helpers/ui/**', 'helpers/grader/**'],
    setupFiles: ['helpers/lesson/setup.ts'],
    // Some tests run several lessons in a child process, and some many runs beside each other.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
