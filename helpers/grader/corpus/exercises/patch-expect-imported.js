// Tries: to import expect, as a test does, and to make every matcher pass.
// Must: refuse the import, or give no point.

import { expect } from 'vitest';

const pass = () => ({ pass: true, message: () => '' });
expect.extend({
  toBe: pass,
  toEqual: pass,
  toBePublished: pass,
  toContain: pass,
  toBeInstanceOf: pass,
});
expect.fail = () => {};
