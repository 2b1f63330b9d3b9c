// Tries: to wait for ever at the top of the file.
// Must: end it within its limit.

await new Promise(() => {});
