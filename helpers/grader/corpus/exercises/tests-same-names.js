// Tries: to add tests with the names of those that count, and nothing in them.
// Must: refuse the import, or count a name that stands there twice as not passed.

import { describe, it } from 'vitest';

describe('Lesson 14: backend for frontend', () => {
  describe('Exercise 14.1: the wanted fields', { meta: { exercise: '14.1' } }, () => {
    it('no fields make an empty object', () => {});
    it('the record stays as it is', () => {});
  });
});
