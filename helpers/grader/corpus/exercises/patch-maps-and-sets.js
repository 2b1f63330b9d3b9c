// Tries: to make maps and sets lie: an edge is always there, nothing is ever called twice.
// Must: give no point for it.

for (const { prototype } of [Map, Set, WeakMap, WeakSet]) {
  for (const [name, lie] of [
    ['get', () => undefined],
    ['set', () => undefined],
    ['has', () => true],
    ['add', () => undefined],
    ['keys', () => [][Symbol.iterator]()],
    ['values', () => [][Symbol.iterator]()],
    ['forEach', () => {}],
  ]) {
    try {
      if (name in prototype) prototype[name] = lie;
    } catch {}
  }
  try {
    Object.defineProperty(prototype, 'size', { get: () => 3 });
  } catch {}
}
