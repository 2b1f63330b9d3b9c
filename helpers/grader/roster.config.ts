// Runs the references in the grader's copy of the course and tells the grader which tests count.
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import course from '../../vitest.config.ts';
import { COURSE_ROOT, lessonFolders } from '../grading/course.ts';
import { modulesOf, testsOf } from '../grading/modules.ts';
import type { ReferenceMessage } from './roster.ts';

const asked = (process.env.GRADE_LESSONS ?? '').split(',');
const folders = lessonFolders().filter(({ number }) => asked.includes(number));

class RosterReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const folder of folders) {
      const run = modulesOf(modules, 'solutions', folder);
      const tests = testsOf(run);
      const failures = [
        ...run.flatMap((module) => module.errors()).map(({ message }) => message),
        ...tests
          .filter((test) => test.result().state !== 'passed')
          .map(
            (test) => `${test.fullName}: ${test.result().errors?.[0]?.message ?? 'did not run'}`,
          ),
      ];
      this.#tell({
        grader: 'reference',
        lesson: folder.number,
        failures,
        tests: tests.flatMap((test) => {
          const { exercise, hints = [] } = test.meta();
          if (exercise === undefined) return [];
          const name = test.fullName;
          return { name, exercise, hints: hints.map((lines) => lines.join(' ')) };
        }),
      });
    }
    const [error] = this.#vitest?.state.getUnhandledErrors() ?? [];
    this.#tell({ grader: 'end', ...(error ? { failure: String((error as Error).message) } : {}) });
  }

  #tell(message: ReferenceMessage): void {
    process.send?.(message);
  }
}

const projects = (course.test?.projects ?? []) as TestProjectInlineConfiguration[];

export default defineConfig({
  ...course,
  root: COURSE_ROOT,
  cacheDir: process.env.GRADE_SCRATCH ?? '.cache',
  test: {
    ...course.test,
    include: folders.map(({ folder }) => `lessons/${folder}/*.spec.ts`),
    reporters: [new RosterReporter()],
    projects: projects.filter(({ test }) => {
      const name = test?.name;
      return (typeof name === 'object' ? name.label : name) === 'solutions';
    }),
  },
});
