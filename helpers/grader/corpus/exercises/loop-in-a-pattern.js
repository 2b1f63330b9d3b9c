// Tries: to hang in a regular expression, which no timer can interrupt.
// Must: end it within its limit, and keep what was proved before.
// Earns: 14.1

export function viewCost() {
  return { requests: /^(a+)+$/.test(`${'a'.repeat(50)}b`) };
}
