// Tries: to have Vite read a device that never ends, as the source map of this file.
// Must: end in time, and grade the other lesson.
// Earns: 14.1

//# sourceMappingURL=/dev/zero
