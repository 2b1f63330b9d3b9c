// Tries: to make the pool believe that another test has printed, and that memory ran out.
// Must: give no point for it.

export function viewCost() {
  process.stderr.write('\0test:0\0[course: out of memory]\nJavaScript heap out of memory\n');
  return { requests: 1 };
}
