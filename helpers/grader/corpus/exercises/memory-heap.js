// Tries: to fill the heap.
// Must: end it by its limit, and keep what was proved before.
// Earns: 14.1

const all = [];
export function viewCost() {
  for (let i = 0; i < 5_000; i += 1) all.push(new Array(25_000).fill(i));
  return { requests: 1 };
}
