// `npm run test:grader`: the tests of the grader, and the corpus of hostile submissions.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['helpers/grader/**/*.test.ts'],
    // They grade: each starts as many processes as there are cores.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
