// Tries: to hold on to the task that is running, and to make its result one that always says pass.
// Must: give no point for it.

const worker = globalThis[['__vitest', 'worker__'].join('_')];
const always = { state: 'pass', errors: [], retryCount: 0, repeatCount: 0, duration: 1 };
const fix = () => {
  const tasks = (list) => list.flatMap((task) => [task, ...(task.tasks ? tasks(task.tasks) : [])]);
  const current = worker?.current;
  for (const task of current ? [current, ...tasks([current.file])] : []) {
    try {
      Object.defineProperty(task, 'result', { get: () => always, set() {}, configurable: true });
    } catch {}
  }
};
export function selectFields() {
  fix();
  return Object.freeze({ wrong: true });
}
export function viewCost() {
  fix();
  return { requests: 1 };
}
