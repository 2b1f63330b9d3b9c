import { basename } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node';
import { contractProblems } from './contract.ts';
import { lessonFolders } from './course.ts';
import { ledgerCoverage } from './coverage.ts';
import { modulesOf, testsOf } from './modules.ts';

/** A mistake on trial, and where to find what became of it. */
export interface Trial {
  readonly name: string;
  readonly caughtBy: string;
  /** Project in which it is tried; a suite of its spec has the mistake's name. */
  readonly project: string;
  /** Folder below `lessons/`. */
  readonly folder: string;
}

/**
 * Judges the course by itself: the stubs are red because of their TODO and for no other reason, the
 * references are green and assert every published number, and every named mistake is caught by the
 * test meant for it.
 */
export class CheckReporter implements Reporter {
  readonly #trials: readonly Trial[];
  #vitest: Vitest | undefined;
  #started = 0;

  constructor(trials: readonly Trial[]) {
    this.#trials = trials;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    this.#started = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const vitest = this.#vitest;
    if (!vitest) return;
    const problems: string[] = [];
    let references = 0;
    const lessons = lessonFolders(vitest.config.root);
    for (const lesson of lessons) {
      const find = (project: string) => modulesOf(modules, project, lesson);
      const [solution, stub] = [find('solutions'), find('exercises')];
      if (solution.length === 0 || stub.length === 0) continue;
      references += testsOf(solution).length;
      problems.push(
        ...solutionProblems(solution),
        ...stubProblems(stub),
        ...rosterProblems(solution, [...lesson.exercises.keys()]),
      );
      this.#log(`\n  Lesson ${lesson.number}: ${lesson.title}\n`);
      const trials = this.#trials.filter(({ folder }) => folder === lesson.folder);
      problems.push(...this.#printMatrix(trials, find, [...lesson.exercises.keys()]));
    }
    const { total, asserted, missing } = ledgerCoverage(vitest);
    problems.push(...missing.map((id) => `${id} is published, and no passing test asserts it`));
    problems.push(...contractProblems(vitest.config.root, lessons));
    problems.push(...errors.map(({ message }) => `outside of every test: ${message}`));

    const took = ((performance.now() - this.#started) / 1000).toFixed(0);
    if (problems.length > 0) {
      this.#log(`\n  ${problems.length} problems:`);
      for (const problem of problems) this.#log(`    ✗ ${problem}`);
    }
    this.#log(
      `\n  References: ${references} tests, ${asserted} of ${total} published numbers asserted` +
        `\n  ${this.#trials.length} mistakes tried in ${took} s: ` +
        `${problems.length === 0 ? 'every one is caught by the test meant for it' : 'see above'}\n`,
    );
    // Failing tests are what a mistake is for, so the exit code is this reporter's to set.
    process.exitCode = problems.length > 0 ? 1 : 0;
  }

  /** A row a mistake, a column an exercise: how many of its tests fail, the named one in brackets. */
  #printMatrix(
    trials: readonly Trial[],
    find: (project: string) => TestModule[],
    exercises: readonly string[],
  ): string[] {
    const problems: string[] = [];
    const width = 6;
    const cells = (texts: readonly string[]) => texts.map((text) => text.padStart(width)).join('');
    this.#log(`  ${cells(exercises)}`);
    for (const trial of trials) {
      // A test whose process the mistake has ended has failed, too.
      const tried = testsOf(find(trial.project)).filter(({ parent }) =>
        isBelow(parent, trial.name),
      );
      const failed = tried.filter((test) => test.result().state === 'failed');
      const caught = failed.filter((test) => test.name === trial.caughtBy);
      const row = exercises.map((id) => {
        const count = failed.filter((test) => test.meta().exercise === id).length;
        const named = caught.some((test) => test.meta().exercise === id);
        return named ? `[${count}]` : String(count || '·');
      });
      this.#log(`  ${cells(row)}  ${trial.name}`);
      if (caught.length > 0) continue;
      if (failed.length === 0 && tried.every((test) => test.result().state !== 'passed')) {
        problems.push(
          `${trial.folder}, "${trial.name}": not tried. Its process came to an early end, in one of ` +
            'the mistakes before it: that one needs "hangs: true"',
        );
        continue;
      }
      const others = failed.map(({ name }) => `"${name}"`).slice(0, 3);
      problems.push(
        `${trial.folder}, "${trial.name}": ` +
          (others.length > 0
            ? `caught by ${others.join(', ')}, but not by "${trial.caughtBy}"`
            : `survives; "${trial.caughtBy}" should have caught it`),
      );
    }
    return problems;
  }

  #log(text: string): void {
    this.#vitest?.logger.log(text);
  }
}

/** Whether a test stands in the outermost suite of this name. */
function isBelow(parent: TestCase['parent'], name: string): boolean {
  return parent.type === 'suite' && (isBelow(parent.parent, name) || parent.name === name);
}

function nameOf(modules: readonly TestModule[]): string {
  return modules.map(({ moduleId }) => basename(moduleId)).join(', ');
}

function errorsOf(modules: readonly TestModule[]): SerializedError[] {
  return modules.flatMap((module) => module.errors());
}

function solutionProblems(modules: readonly TestModule[]): string[] {
  const name = nameOf(modules);
  const failed = testsOf(modules).filter((test) => test.result().state !== 'passed');
  return [
    ...errorsOf(modules).map(({ message }) => `${name}: the solution cannot run: ${message}`),
    ...failed.map(
      (test) =>
        `${name}: the solution fails "${test.name}": ${test.result().errors?.[0]?.message ?? ''}`,
    ),
  ];
}

function stubProblems(modules: readonly TestModule[]): string[] {
  const name = nameOf(modules);
  const problems = errorsOf(modules).map(
    ({ message }) => `${name}: the stub cannot run: ${message}`,
  );
  for (const test of testsOf(modules)) {
    const result = test.result();
    const { exercise } = test.meta();
    if (!exercise) {
      if (result.state !== 'passed') {
        problems.push(`${name}: the demonstration "${test.name}" needs an exercise to be done`);
      }
    } else if (result.state !== 'failed') {
      problems.push(`${name}: "${test.name}" is ${result.state} on the untouched stub`);
    } else {
      const wrong = result.errors.find((error) => error.name !== 'TodoError');
      if (wrong) {
        problems.push(
          `${name}: "${test.name}" fails on the stub with ${wrong.name}: ${wrong.message}`,
        );
      }
    }
  }
  return problems;
}

function rosterProblems(modules: readonly TestModule[], exercises: readonly string[]): string[] {
  const name = nameOf(modules);
  const tests = testsOf(modules);
  const graded = new Set(tests.map((test) => test.meta().exercise));
  const seen = new Set<string>();
  const twice = tests.filter(({ fullName }) => seen.size === seen.add(fullName).size);
  return [
    ...twice.map((test) => `${name}: two tests have the name "${test.name}"`),
    ...exercises
      .filter((exercise) => !graded.has(exercise))
      .map((exercise) => `${name}: no test grades exercise ${exercise}`),
  ];
}
