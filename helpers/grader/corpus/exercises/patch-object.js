// Tries: to change what is equal, what is own and what is there at all, for everybody.
// Must: give no point for it.

try {
  Object.is = () => true;
} catch {}
try {
  Object.keys = () => [];
  Object.entries = () => [];
  Object.getOwnPropertyNames = () => [];
  Reflect.ownKeys = () => [];
} catch {}
for (const [key, value] of [
  ['asymmetricMatch', () => true],
  ['equals', () => true],
  ['pass', true],
  ['mode', 'skip'],
  ['fails', true],
  ['state', 'pass'],
]) {
  try {
    Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true });
  } catch {}
}
