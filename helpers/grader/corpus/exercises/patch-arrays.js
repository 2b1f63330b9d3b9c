// Tries: to make lists lie: nothing is pushed, nothing is found, every check of all is true.
// Must: give no point for it.

const { prototype } = Array;
export function viewCost() {
  for (const [name, lie] of [
    ['push', () => 0],
    ['some', () => false],
    ['every', () => true],
    ['forEach', () => {}],
    ['includes', () => true],
    ['filter', () => []],
    ['find', () => undefined],
    ['entries', () => [][Symbol.iterator]()],
    [Symbol.iterator, () => ({ next: () => ({ done: true }) })],
  ]) {
    try {
      prototype[name] = lie;
    } catch {}
  }
  return { requests: 1 };
}
