// `npm run check`: the course examines itself.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import course from '../../vitest.config.ts';
import { CheckReporter, type Trial } from './check-reporter.ts';
import { COURSE_ROOT, lessonFolders } from './course.ts';
import { guardedPool } from './guarded-pool.ts';
import { implementation } from './implementation.ts';
import { type Mistakes, makeMistake } from './mistakes.ts';

// `npm run check -- lessons/05`: the mistakes of the other lessons need no projects.
const asked = process.argv.filter((argument) => argument.startsWith('lessons/'));
const lessons = lessonFolders().filter(
  ({ folder }) => asked.length === 0 || asked.some((part) => `lessons/${folder}/`.includes(part)),
);
const trials: Trial[] = [];
const wrongProjects: TestProjectInlineConfiguration[] = [];

// Every project has a Vite server of its own, and all of them need the same specs and helpers. They
// share what one of them has transformed, for this run only.
const transformed = mkdtempSync(join(tmpdir(), 'traffic-layer-check-'));
process.on('exit', () => rmSync(transformed, { recursive: true, force: true }));

for (const { folder, number } of lessons) {
  const lesson = join(COURSE_ROOT, 'lessons', folder).replaceAll('\\', '/');
  const solution = readFileSync(`${lesson}/solution.ts`, 'utf8');
  const { module } = await runnerImport<{ default: Mistakes }>(`${lesson}/mistakes.ts`, {
    root: COURSE_ROOT,
    logLevel: 'error',
  });
  for (const [name, mistake] of Object.entries(module.default)) {
    const project = `${number} ${name}`;
    let wrong: string;
    try {
      wrong = makeMistake(solution, mistake);
    } catch (error) {
      throw new Error(`lessons/${folder}/mistakes.ts, "${name}": ${(error as Error).message}`);
    }
    trials.push({ ...mistake, name, project, folder });
    wrongProjects.push({
      // Not an extension of the course's project: it would add to its files, and run every lesson.
      plugins: [
        implementation('solution.ts'),
        {
          name: `traffic-layer:mistake:${project}`,
          enforce: 'pre',
          load: (id) => (id === `${lesson}/solution.ts` ? wrong : undefined),
          configureVitest: ({ experimental_defineCacheKeyGenerator: shareUnless }) =>
            shareUnless(({ id }) => (id === `${lesson}/solution.ts` ? false : undefined)),
          // Its name must not count, or no two projects would share anything.
          api: { vitest: { experimental: { ignoreFsModuleCache: true } } },
        },
      ],
      test: {
        name: project,
        include: [`lessons/${folder}/*.spec.ts`],
        setupFiles: ['helpers/lesson/setup.ts'],
        // A mistake may hang or die: it is run as a student's file is, with less patience.
        pool: guardedPool({ silentMs: 9_000, outputBytes: 1_000_000 }),
        runner: 'helpers/grading/check-runner.ts',
        env: { CAUGHT_BY: mistake.caughtBy },
        testTimeout: 2_500,
        experimental: { fsModuleCache: true, fsModuleCachePath: transformed },
      },
    });
  }
}

// Every project has a Vite server, and each listens for the end of the process.
process.setMaxListeners(0);

// The stubs and the references run as a student's `vitest run` has them.
export default defineConfig({
  ...course,
  root: COURSE_ROOT,
  test: {
    ...course.test,
    // Many mistakes only wait for a time-out.
    maxWorkers: 3,
    reporters: [new CheckReporter(trials)],
    projects: [...(course.test?.projects ?? []), ...wrongProjects],
  },
});
