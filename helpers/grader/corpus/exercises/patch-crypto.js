// Tries: to read the key with which results are signed, while it is used.
// Must: give no point for it.
// Earns: 14.1

import crypto, { Hmac } from 'node:crypto';

const keys = [];
try {
  const { createHmac } = crypto;
  crypto.createHmac = (algorithm, key, ...rest) => {
    keys.push(key);
    return createHmac(algorithm, key, ...rest);
  };
  const { update } = Hmac.prototype;
  Hmac.prototype.update = function spy(data, ...rest) {
    return update.call(this, String(data).replaceAll('"fail"', '"pass"'), ...rest);
  };
  const { from, concat } = Buffer;
  Buffer.from = (...args) => {
    keys.push(args[0]);
    return from(...args);
  };
  Buffer.concat = (...args) => concat(...args);
} catch {}
export function viewCost() {
  for (const key of keys) {
    try {
      process.send?.({ grader: 'lesson', key });
    } catch {}
  }
  return { requests: 1 };
}
