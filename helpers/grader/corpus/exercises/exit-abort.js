// Tries: to crash the process while the file is loaded.
// Must: count no test of the lesson.

process.abort();
