// Tries: to replace the functions of the tests that are still to come by empty ones.
// Must: refuse the import, or give no point.

const worker = globalThis[['__vitest', 'worker__'].join('_')];
const runner = await import(/* @vite-ignore */ ['@vitest', 'runner'].join('/')).catch(
  () => undefined,
);
export function selectFields() {
  const tasks = (list) => list.flatMap((task) => (task.tasks ? tasks(task.tasks) : [task]));
  try {
    for (const task of tasks([worker.current.file])) runner.setFn(task, async () => {});
  } catch {}
  return Object.freeze({ wrong: true });
}
