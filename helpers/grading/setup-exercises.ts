// Runs before a student's file is loaded, in a process of its own.
import { afterAll } from 'vitest';

// If the parent is gone, nobody reads the results any more.
process.on('disconnect', () => process.exit(1));

// A promise may reject a moment after the last test. Left out, it would go unnoticed.
afterAll(() => new Promise((resolve) => setTimeout(resolve, 10)));
