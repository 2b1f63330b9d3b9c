// Tries: nothing. It is an honest submission, all of it.
// Must: give every point.
// Earns: 14.1 14.2 14.3 14.4 14.5
