// Tries: to hang for ever while it tells the watchdog that it is alive.
// Must: end it by the limit of the whole file.

const worker = globalThis[['__vitest', 'worker__'].join('_')];
let n = 0;
export function viewCost() {
  for (;;) {
    n += 1;
    if (n % 1e5 !== 0) continue;
    try {
      process.send?.({ course: 'start', test: 't' });
    } catch {}
    try {
      worker.rpc.onTaskUpdate([], []);
      worker.rpc.fetch('./given.ts', import.meta.url, 'ssr');
    } catch {}
  }
}
