// `npm run test:ui`: looks at Vitest UI in a real browser.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['helpers/ui/*.test.ts'],
    // Prints the reason for which a test was skipped.
    reporters: ['verbose'],
    // A whole course is run, and a browser started.
    testTimeout: 120_000,
  },
});
