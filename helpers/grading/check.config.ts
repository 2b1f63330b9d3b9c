// `npm run check`: the course examines itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Plugin, runnerImport } from 'vite';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import course from '../../vitest.config.ts';
import { CheckReporter, type Trial } from './check-reporter.ts';
import { COURSE_ROOT, lessonFolders } from './course.ts';
import { guardedPool } from './guarded-pool.ts';
import { implementation } from './implementation.ts';
import { CHOSEN, type Mistakes, makeMistake } from './mistakes.ts';

// `npm run check -- lessons/05`: the mistakes of the other lessons need no projects.
const asked = process.argv.filter((argument) => argument.startsWith('lessons/'));
const lessons = lessonFolders().filter(
  ({ folder }) => asked.length === 0 || asked.some((part) => `lessons/${folder}/`.includes(part)),
);
const trials: Trial[] = [];
const wrongProjects: TestProjectInlineConfiguration[] = [];

for (const { folder, number } of lessons) {
  const lesson = join(COURSE_ROOT, 'lessons', folder).replaceAll('\\', '/');
  const solution = readFileSync(`${lesson}/solution.ts`, 'utf8');
  const { module } = await runnerImport<{ default: Mistakes }>(`${lesson}/mistakes.ts`, {
    root: COURSE_ROOT,
    logLevel: 'error',
  });
  const mistakes = Object.entries(module.default).map(([name, mistake], id) => {
    try {
      return { ...mistake, id, name, source: makeMistake(solution, mistake) };
    } catch (error) {
      throw new Error(`lessons/${folder}/mistakes.ts, "${name}": ${(error as Error).message}`);
    }
  });
  // Most share a process. One that hangs would take the others with it.
  const together = mistakes.filter(({ hangs }) => !hangs);
  const groups = [together, ...mistakes.filter(({ hangs }) => hangs).map((alone) => [alone])];
  for (const [index, group] of groups.entries()) {
    if (group.length === 0) continue;
    const project = index === 0 ? `${number} mistakes` : `${number} ${group[0]?.name}`;
    for (const { name, caughtBy } of group) trials.push({ name, caughtBy, project, folder });
    wrongProjects.push({
      // Not an extension of the course's project: it would add to its files, and run every lesson.
      // What the lesson takes from other lessons is right.
      plugins: [wrongAnswers(lesson, solution, group), implementation('solution.ts')],
      test: {
        name: project,
        include: [`lessons/${folder}/*.spec.ts`],
        setupFiles: ['helpers/lesson/setup.ts'],
        // A mistake may hang or die: it is run as a student's file is, with less patience.
        pool: guardedPool({ silentMs: 15_000, outputBytes: 10_000_000 }),
        runner: 'helpers/grading/check-runner.ts',
        env: {
          MISTAKES: JSON.stringify(group.map(({ id, name, caughtBy }) => ({ id, name, caughtBy }))),
        },
        testTimeout: 2_500,
      },
    });
  }
}

/**
 * `./exercise.ts` becomes a module that hands on the wrong answer which is chosen when it is
 * evaluated.
 */
function wrongAnswers(
  lesson: string,
  solution: string,
  mistakes: readonly { readonly id: number; readonly source: string }[],
): Plugin {
  const switchId = `${lesson}/exercise.ts?mistake`;
  const sources = new Map(
    mistakes.map(({ id, source }) => [`${lesson}/solution.ts?mistake=${id}`, source]),
  );
  const names = [...solution.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)];
  return {
    name: `traffic-layer:mistakes:${lesson}`,
    enforce: 'pre',
    resolveId(source, importer) {
      if (source === './exercise.ts' && importer?.endsWith('.spec.ts')) return switchId;
      return sources.has(source) ? source : undefined;
    },
    load(id) {
      if (id !== switchId) return sources.get(id);
      return `const chosen = await import(globalThis.${CHOSEN});
${names.map(([, name]) => `export const ${name} = chosen.${name};`).join('\n')}`;
    },
  };
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
