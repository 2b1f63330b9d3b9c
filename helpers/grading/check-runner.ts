import type { RunnerTask, RunnerTestFile, RunnerTestSuite } from 'vitest';
import { describe } from 'vitest';
import { CHOSEN, type MistakeOnTrial } from './mistakes.ts';
import StudentRunner from './runner.ts';

/**
 * Runs the spec of a lesson once for each of its mistakes, in one process, as if each were a file of
 * its own: the lesson's modules are evaluated anew, the helpers are not. The mistakes are suites by
 * their names, which are in `MISTAKES`.
 *
 * Of the tests, the one that must catch the mistake comes first, and stops it when it has. When that
 * test passes, the exercise's others show which of them would have caught it; where no test has that
 * title, all of the lesson do. With `MATRIX=full` the exercise always runs whole.
 */
export default class CheckRunner extends StudentRunner {
  readonly #trials = JSON.parse(process.env.MISTAKES ?? '[]') as MistakeOnTrial[];
  /** The tests to skip when a test that must catch a mistake has done so. */
  readonly #rest = new Map<RunnerTask, readonly RunnerTask[]>();

  constructor(config: ConstructorParameters<typeof StudentRunner>[0]) {
    super(config);
    // Vitest wraps this method, and sends what was collected before it calls the original. By then
    // thousands of tests that will not run have to be gone.
    let send: ((files: RunnerTestFile[]) => unknown) | undefined;
    Object.defineProperty(this, 'onCollected', {
      get: () =>
        send &&
        ((files: RunnerTestFile[]) => {
          for (const file of files) this.#select(file);
          return send?.(files);
        }),
      set: (wrapped) => {
        send = wrapped;
      },
    });
  }

  override importFile(path: string, source: 'collect' | 'setup'): unknown {
    if (source === 'setup') return super.importFile(path, source);
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    for (const { id, name } of this.#trials) {
      describe(name, async () => {
        (globalThis as Record<string, unknown>)[CHOSEN] = `${folder}solution.ts?mistake=${id}`;
        const { evaluatedModules } = (this as unknown as WithModules).workerState;
        for (const [moduleId, module] of evaluatedModules.idToModuleMap) {
          if (moduleId.startsWith(folder)) evaluatedModules.invalidateModule(module);
        }
        await super.importFile(path, source);
      });
    }
    return undefined;
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task);
    if (task.result?.state === 'fail') skip(this.#rest.get(task) ?? []);
  }

  #select(file: RunnerTestFile): void {
    for (const [index, suite] of file.tasks.entries()) {
      const tests = testsBelow(suite);
      const named = tests.find(({ name }) => name === this.#trials[index]?.caughtBy);
      if (!named) continue;
      keep(suite, ({ meta }) => meta.exercise === named.meta.exercise);
      if (process.env.MATRIX === 'full') continue;
      moveToFront(named);
      this.#rest.set(
        named,
        testsBelow(suite).filter((test) => test !== named),
      );
    }
  }
}

/** What Vitest's runner has, and doesn't promise to keep. */
interface WithModules {
  readonly workerState: {
    readonly evaluatedModules: {
      readonly idToModuleMap: ReadonlyMap<string, object>;
      invalidateModule(module: object): void;
    };
  };
}

function testsBelow(task: RunnerTask): RunnerTask[] {
  return 'tasks' in task ? task.tasks.flatMap(testsBelow) : [task];
}

function keep(task: RunnerTask, wanted: (test: RunnerTask) => boolean): boolean {
  if (!('tasks' in task)) return wanted(task);
  task.tasks = task.tasks.filter((below) => keep(below, wanted));
  return task.tasks.length > 0;
}

function skip(tests: readonly RunnerTask[]): void {
  for (const test of tests) test.mode = 'skip';
}

/** Before its neighbours, and its suite before that one's neighbours, up to the file. */
function moveToFront(task: RunnerTask | RunnerTestSuite): void {
  const { suite } = task;
  if (!suite) return;
  suite.tasks = [task, ...suite.tasks.filter((other) => other !== task)];
  moveToFront(suite);
}
