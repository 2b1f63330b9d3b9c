// Tries: to hang without blocking the stack: a chain of promises that never ends.
// Must: end it within its limit, and keep what was proved before.
// Earns: 14.1

export async function viewCost() {
  for (;;) await null;
}
