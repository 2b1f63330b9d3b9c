// Tries: to have every call through call, apply and bind do nothing.
// Must: give no point for it.

for (const [owner, name] of [
  [Function.prototype, 'call'],
  [Function.prototype, 'apply'],
  [Function.prototype, 'bind'],
  [Reflect, 'apply'],
  [Reflect, 'construct'],
]) {
  try {
    owner[name] = function quiet() {
      return () => {};
    };
  } catch {}
}
