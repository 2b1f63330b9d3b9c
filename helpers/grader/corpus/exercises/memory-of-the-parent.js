// Tries: to fill the memory of the process that reports, with 2 GB of results and modules asked for.
// Must: end in time, and grade the other lesson.

const text = 'x'.repeat(2e7);
const worker = globalThis[['__vitest', 'worker__'].join('_')];
export function viewCost() {
  for (let i = 0; i < 100; i += 1) {
    try {
      process.send?.({ course: 'end', test: String(i), result: { text }, meta: {} });
      worker.rpc.onTaskUpdate([[String(i), { state: 'pass', text }, {}]], []);
      worker.rpc.onUserConsoleLog({ content: text, type: 'stdout', time: 0, size: 1, taskId: '' });
    } catch {}
  }
  return { requests: 1 };
}
