// Tries: to replace what the course's own machinery uses of Node: assertions, events, timers, clocks.
// Must: give no point for it.

const assert = (await reach('assert')) ?? {};
for (const name of Object.keys(assert)) {
  try {
    assert[name] = () => {};
  } catch {}
}
const util = (await reach('util')) ?? {};
try {
  util.isDeepStrictEqual = () => true;
  util.inspect = () => '';
} catch {}
const { EventEmitter } = (await reach('events')) ?? {};
try {
  EventEmitter.prototype.emit = () => true;
} catch {}
try {
  process.emit = () => true;
  process.on = () => process;
  process.hrtime = () => [0, 0];
} catch {}
