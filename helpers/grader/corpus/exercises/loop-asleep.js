// Tries: to hang without using the processor: it waits on a shared cell that nobody changes.
// Must: end it within its limit, and keep what was proved before.
// Earns: 14.1

export function viewCost() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
