// Tries: nothing clever. It throws while it is loaded.
// Must: count no test of the lesson, and grade the other one.

throw new Error('the pool is empty');
