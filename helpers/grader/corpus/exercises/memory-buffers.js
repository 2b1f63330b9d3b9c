// Tries: to fill the memory outside of the heap: buffers, up to 1.9 GB in case it works.
// Must: end it by its limit, and keep what was proved before.
// Earns: 14.1

const all = [];
export function viewCost() {
  for (let i = 0; i < 190; i += 1) {
    all.push(Buffer.alloc(1e7, 1));
    // The watcher looks every now and then.
    if (i % 10 === 9) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
  }
  return { requests: 1 };
}
