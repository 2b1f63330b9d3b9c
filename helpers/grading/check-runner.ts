import type { RunnerTask, RunnerTestFile } from 'vitest';
import StudentRunner from './runner.ts';

/**
 * Runs a mistake against the exercise that it belongs to: the one with the test that must catch it,
 * whose title is in `CAUGHT_BY`. The other exercises say nothing about it, and would take most of
 * the time. Where no test has that title all of them run, to show which ones do catch it.
 */
export default class CheckRunner extends StudentRunner {
  onCollected(files: RunnerTestFile[]): void {
    const tests = files.flatMap(testsBelow);
    const named = tests.find(({ name }) => name === process.env.CAUGHT_BY);
    if (!named) return;
    for (const test of tests) {
      if (test.meta.exercise !== named.meta.exercise) test.mode = 'skip';
    }
  }
}

function testsBelow(task: RunnerTask): RunnerTask[] {
  return 'tasks' in task ? task.tasks.flatMap(testsBelow) : [task];
}
