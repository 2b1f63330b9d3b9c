import type { RunnerTask, RunnerTestFile, RunnerTestSuite } from 'vitest';
import StudentRunner from './runner.ts';

/**
 * Runs a mistake against the test that must catch it, whose title is in `CAUGHT_BY`, before all
 * others, and stops when it has. The rest would take most of the time and say nothing about the
 * mistake. When that test passes, the exercise's others show which of them would have caught it;
 * where no test has that title, all of the lesson do. With `MATRIX=full` the exercise always runs
 * whole.
 */
export default class CheckRunner extends StudentRunner {
  #named: RunnerTask | undefined;
  #others: RunnerTask[] = [];

  onCollected(files: RunnerTestFile[]): void {
    const tests = files.flatMap(testsBelow);
    this.#named = tests.find(({ name }) => name === process.env.CAUGHT_BY);
    if (!this.#named) return;
    const { exercise } = this.#named.meta;
    skip(tests.filter((test) => test.meta.exercise !== exercise));
    if (process.env.MATRIX === 'full') return;
    this.#others = tests.filter((test) => test !== this.#named);
    moveToFront(this.#named);
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task);
    if (task === this.#named && task.result?.state === 'fail') skip(this.#others);
  }
}

function testsBelow(task: RunnerTask): RunnerTask[] {
  return 'tasks' in task ? task.tasks.flatMap(testsBelow) : [task];
}

function skip(tests: readonly RunnerTask[]): void {
  for (const test of tests) test.mode = 'skip';
}

/** Before its neighbours, and its suite before that one's neighbours, up to the file. */
function moveToFront(task: RunnerTask | RunnerTestSuite): void {
  const { suite } = task;
  const neighbours = suite ?? task.file;
  if (neighbours === task) return;
  neighbours.tasks = [task, ...neighbours.tasks.filter((other) => other !== task)];
  moveToFront(neighbours);
}
