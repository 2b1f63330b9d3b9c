// Tries: to have every number and every text printed alike: what is published compares as printed.
// Must: give no point for it.

const alike = () => 'alike';
for (const [owner, name] of [
  [Number.prototype, 'toFixed'],
  [Number.prototype, 'toString'],
  [String.prototype, 'toString'],
  [String.prototype, 'slice'],
]) {
  try {
    owner[name] = alike;
  } catch {}
}
for (const name of ['includes', 'startsWith', 'endsWith']) {
  try {
    String.prototype[name] = () => true;
  } catch {}
}
try {
  globalThis.String = alike;
} catch {}
try {
  Buffer.byteLength = () => 78;
} catch {}
try {
  Math.abs = () => 0;
  Number.isFinite = () => true;
} catch {}
