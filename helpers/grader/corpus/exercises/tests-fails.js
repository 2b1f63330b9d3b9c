// Tries: to turn every test into one that is expected to fail, with what the runner looks at.
// Must: give no point for it.

const worker = globalThis[['__vitest', 'worker__'].join('_')];
const fix = () => {
  const tasks = (list) => list.flatMap((task) => (task.tasks ? tasks(task.tasks) : [task]));
  try {
    for (const task of tasks([worker.current.file])) {
      task.fails = true;
      task.mode = 'run';
      task.retry = 0;
    }
  } catch {}
};
export function selectFields() {
  fix();
  return Object.freeze({ wrong: true });
}
