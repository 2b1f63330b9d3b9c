// `npm run test:grader`: grades the corpus of hostile submissions.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['helpers/grader/corpus/*.test.ts'],
    testTimeout: 60_000,
    // What was found out about each submission is told beside its name.
    reporters: ['verbose'],
  },
});
