// Tries: to stop time: no timer fires, no clock moves, so that no test times out or ends.
// Must: end in time, and give no point for it.

const never = () => ({ ref() {}, unref() {}, hasRef: () => false, [Symbol.toPrimitive]: () => 1 });
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) {
  try {
    globalThis[name] = never;
  } catch {}
}
try {
  globalThis.performance.now = () => 0;
  Date.now = () => 0;
  globalThis.Date = function Stopped() {};
  process.nextTick = () => {};
} catch {}
