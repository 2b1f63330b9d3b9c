// Tries: to hang the matcher: a property of the result loops when it is read.
// Must: end it within its limit, and keep what was proved before.
// Earns: 14.1

export const viewCost = () => ({
  get requests() {
    for (;;);
  },
});
