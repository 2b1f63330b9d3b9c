// Tries: to be taken for a promise: whoever awaits the module gets what it likes, or waits for ever.
// Must: give no point for it, and end in time.

export function then(resolve) {
  resolve(new Proxy({}, { get: () => () => ({ asymmetricMatch: () => true }), has: () => true }));
}
