// Tries: nothing. Two exercises are done, the rest is wrong.
// Must: give the points of the two.
// Earns: 14.1 14.4
