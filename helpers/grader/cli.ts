import { readdirSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseFormats } from './formats/index.ts';
import { gradeSubmissions, Tampered, WrongUsage } from './main.ts';
import { openProgress } from './progress-bar.ts';
import { compareNames, readGrades, type StoredGrade, TABLE, writeTable } from './results.ts';
import { ReferencesFail } from './roster.ts';
import type { SubmissionGrade } from './types.ts';

const USAGE = `Grades submissions of this course.

  npm run grade -- <folder|zip>...     what students have handed in, one each
  npm run grade -- --merge <out>...    the tables of several shards in one

  --lessons 05,08       only these lessons (default: all)
  --out <folder>        for the results (default: reports/grades)
  --jobs 2              submissions at a time (default: cores of this machine)
  --shard 1/4           every fourth submission, beginning with the first
  --format gradescope   also in these formats: gradescope, classroom, exercism, prairielearn

Only lessons/*/exercise.ts is taken out of a submission. What is graded already is not graded
again: after an interruption, call it once more. The exit code is 0 when all were graded, 1 when
some could not be, 2 when the results are not to be used.`;

const OPTIONS = {
  lessons: { type: 'string' },
  out: { type: 'string', default: 'reports/grades' },
  jobs: { type: 'string' },
  shard: { type: 'string' },
  format: { type: 'string' },
  merge: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Values = ReturnType<typeof parse>['values'];

/**
 * Runs the command.
 *
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    const out = fromCaller(values.out);
    return values.merge ? merge(positionals, out) : await grade(positionals, values, out);
  } catch (error) {
    const { name, message } = error as Error;
    if ([WrongUsage, ReferencesFail, Tampered].some((type) => error instanceof type)) {
      console.error(message);
      if (error instanceof WrongUsage) console.error('\nnpm run grade -- --help tells more.');
      return 2;
    }
    if (name !== 'AbortError') throw error;
    return 128 + constants.signals.SIGINT;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

async function grade(paths: readonly string[], values: Values, out: string): Promise<number> {
  const submissions = paths.flatMap(expand);
  const formats = values.format === undefined ? [] : named(() => parseFormats(values.format ?? ''));
  const lessons = values.lessons?.split(',').map((lesson) => lesson.trim().padStart(2, '0'));
  const jobs =
    values.jobs === undefined ? availableParallelism() : wholeNumber('--jobs', values.jobs);
  const shard = values.shard === undefined ? undefined : shardOf(values.shard);

  const stop = new AbortController();
  const interrupted = () => {
    if (stop.signal.aborted) process.exit(128 + constants.signals.SIGINT);
    console.error('\nEnding what runs. What is graded stays. Once more to leave at once.');
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted);
  const total = shard
    ? Math.ceil((submissions.length - shard.index + 1) / shard.count)
    : submissions.length;
  const progress = openProgress(process.stdout, total);
  let kept = 0;
  try {
    const grades = await gradeSubmissions({
      submissions,
      lessons,
      out,
      jobs,
      shard,
      formats,
      signal: stop.signal,
      onReferences: ({ length }) =>
        console.log(
          `Running the course's own solutions of ${length} lesson${length > 1 ? 's' : ''} first, to ` +
            'learn which tests count. The next call remembers.',
        ),
      onStart: progress.started,
      onProgress: progress.finished,
      onKept: (grade) => {
        kept += 1;
        progress.kept(grade);
      },
    });
    progress.close();
    return sumUp(grades, kept, out);
  } finally {
    progress.close();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, interrupted);
  }
}

function sumUp(grades: readonly SubmissionGrade[], kept: number, out: string): number {
  const broken = grades.filter(({ state }) => state === 'broken');
  const graded = grades.length - broken.length;
  const shown = relative(callerFolder(), join(out, TABLE));
  if (kept > 0) console.log(`${kept} of ${grades.length} were up to date and not graded again.`);
  console.log(`${graded} of ${grades.length} graded. Table: ${shown}`);
  if (broken.length === 0) return 0;
  console.log(`${broken.length} could not be graded and have 0 points:`);
  for (const { submission, notes } of broken) {
    console.log(
      `  ${submission}: ${notes.map(({ message }) => message).at(0) ?? 'nothing is known'}`,
    );
  }
  return 1;
}

/** Joins what several calls have written. No submission may be in two of them. */
function merge(folders: readonly string[], out: string): number {
  if (folders.length === 0) throw new WrongUsage('--merge wants the folders of the shards');
  const from = new Map<string, string>();
  const grades: StoredGrade[] = [];
  for (const folder of folders) {
    const found = named(() => readGrades(fromCaller(folder)));
    if (found.length === 0) throw new WrongUsage(`There is no grade in ${folder}`);
    for (const grade of found) {
      const before = from.get(grade.submission);
      if (before !== undefined) {
        throw new WrongUsage(
          `${grade.submission} is graded in ${before} and in ${folder}. Which one counts?`,
        );
      }
      from.set(grade.submission, folder);
      grades.push(grade);
    }
  }
  const lessons = new Set(grades.map((grade) => grade.lessons.map(({ lesson }) => lesson).join()));
  if (lessons.size > 1) {
    throw new WrongUsage('The shards were graded with other --lessons, so their sums differ');
  }
  writeTable(out, grades);
  return sumUp(grades, 0, out);
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new WrongUsage(`${option} is a whole number of 1 or more, got ${text}`);
  }
  return value;
}

function shardOf(text: string): { index: number; count: number } {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (!index || !count) throw new WrongUsage(`--shard looks like 1/4, got ${text}`);
  return { index: Number(index), count: Number(count) };
}

/** What can't be read of the arguments is the caller's slip. */
function named<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

/** `submissions/*.zip`, where the shell leaves that to the program, as on Windows. */
function expand(path: string): string[] {
  const file = fromCaller(path);
  const pattern = basename(file);
  if (!pattern.includes('*')) return [file];
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  const fits = new RegExp(`^${parts.join('.*')}$`);
  const found = named(() => readdirSync(dirname(file))).filter((name) => fits.test(name));
  if (found.length === 0) throw new WrongUsage(`Nothing is called ${path}`);
  return found.sort(compareNames).map((name) => join(dirname(file), name));
}

/** npm starts its scripts in the course's folder, and the paths are those of the caller. */
function callerFolder(): string {
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
  return script === 'grade' && folder ? folder : process.cwd();
}

function fromCaller(path: string): string {
  return resolve(callerFolder(), path);
}
