// Tries: nothing, or to hang everything: an endless loop while the file is loaded.
// Must: end it within its limit.

while (Number.NaN !== 1) {}
