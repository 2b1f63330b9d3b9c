import { defineConfig } from 'vitest/config';
import { CourseReporter } from './helpers/grading/course-reporter.ts';
import { figures } from './helpers/grading/figures.ts';
import { guardedPool } from './helpers/grading/guarded-pool.ts';
import { implementation } from './helpers/grading/implementation.ts';
import { GradeJUnitReporter } from './helpers/grading/junit.ts';

// One spec, several implementations. Both projects run the same files; the plugin decides what
// `./exercise.ts` is.
export default defineConfig({
  // Figures are drawn only when somebody looks.
  plugins: [figures()],
  test: {
    include: ['lessons/*/*.spec.ts'],
    setupFiles: ['helpers/lesson/setup.ts'],
    testTimeout: 5_000,
    hookTimeout: 5_000,
    maxWorkers: 2,
    reporters: [new CourseReporter(), new GradeJUnitReporter()],
    projects: [
      {
        extends: true,
        plugins: [implementation('exercise.ts')],
        test: {
          name: { label: 'exercises', color: 'blue' },
          // A student's file may loop, exit or eat memory: it gets a process of its own.
          pool: guardedPool({ silentMs: 8_000, outputBytes: 1_000_000, heapMb: 512 }),
          runner: 'helpers/grading/runner.ts',
          disableConsoleIntercept: true,
        },
      },
      {
        extends: true,
        plugins: [implementation('solution.ts')],
        test: {
          name: { label: 'solutions', color: 'green' },
          // The references keep no state in their modules, so they can share their workers.
          pool: 'forks',
          isolate: false,
          // They don't hang. What is slow here is a machine that has other things to do.
          testTimeout: 20_000,
        },
      },
    ],
  },
});
