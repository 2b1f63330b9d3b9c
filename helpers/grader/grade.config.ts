// How Vitest runs a submission in its sandbox; started by run.ts, which also says for which lessons
// and where there is room for files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { implementation } from '../grading/implementation.ts';
import { forbiddenImports } from './forbidden-imports.ts';
import { sealedPool } from './sealed-pool.ts';
import { VerdictReporter } from './verdict-reporter.ts';

const lessons = (process.env.GRADE_LESSONS ?? '').split(',').filter(Boolean);
const scratch = process.env.GRADE_SCRATCH;
if (!scratch) throw new Error('GRADE_SCRATCH has to name an empty folder');

const folders = readdirSync('lessons').filter((folder) => lessons.includes(folder.slice(0, 2)));

/** Whether a lesson's own files start processes. Only there Node lets anybody do that. */
const startsProcesses = (folder: string): boolean =>
  readdirSync(join('lessons', folder)).some(
    (name) =>
      /(?<!^exercise)\.ts$/.test(name) &&
      readFileSync(join('lessons', folder, name), 'utf8').includes("'node:child_process'"),
  );

export default defineConfig({
  cacheDir: join(scratch, 'vite'),
  plugins: [forbiddenImports(), implementation('exercise.ts')],
  test: {
    setupFiles: ['helpers/lesson/setup.ts'],
    // More than a student has, since a machine that grades others too is slow, and less than silentMs:
    // a test that waits in vain costs itself and not the file.
    testTimeout: 7_000,
    hookTimeout: 7_000,
    runner: 'helpers/grader/sealed-runner.ts',
    disableConsoleIntercept: true,
    reporters: [new VerdictReporter()],
    projects: [false, true].flatMap((processes) => {
      const include = folders
        .filter((folder) => startsProcesses(folder) === processes)
        .map((folder) => `lessons/${folder}/*.spec.ts`);
      if (include.length === 0) return [];
      return {
        extends: true,
        test: {
          name: processes ? 'with processes' : 'without processes',
          include,
          pool: sealedPool({
            silentMs: 8_000,
            // On a machine with five times its load, lesson 5 takes 35 s, and lesson 17, which is made of
            // all the others, 160 s.
            fileMs: 60_000 * (lessons.includes('17') ? 4 : 1),
            outputBytes: 1_000_000,
            heapMb: 512,
            scratch,
            startsProcesses: processes,
          }),
        },
      };
    }),
  },
});
