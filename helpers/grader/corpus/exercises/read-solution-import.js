// Tries: to import the reference that stands beside it in the course, and to hand on its exports.
// Must: have no such file to import, or refuse it.

export * from './solution.ts';
