import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { LessonFolder } from '../grading/course.ts';
import { runVitest } from './run.ts';
import type { Workshop } from './sandbox.ts';
import type { LessonRoster, Roster, RosterTest } from './types.ts';

/** What the run of the references tells. */
export type ReferenceMessage =
  | {
      readonly grader: 'reference';
      readonly lesson: string;
      readonly tests: readonly RosterTest[];
      readonly failures: readonly string[];
    }
  | { readonly grader: 'end'; readonly failure?: string };

/** The course's own solutions don't pass here, so nothing that failed here would prove anything. */
export class ReferencesFail extends Error {
  override readonly name = 'ReferencesFail';
}

/** Milliseconds for the references of the whole course, which take a twentieth of it. */
const REFERENCE_MS = 600_000;

/** Rosters of other states of the course that are kept. */
const KEPT_ROSTERS = 20;

/** How to find the roster of some lessons. */
export interface RosterOptions {
  readonly lessons: readonly LessonFolder[];
  /** Folder in which rosters are kept from call to call. */
  readonly cache: string;
  readonly workers: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before lessons run that are not in the cache. */
  readonly onRun?: ((lessons: readonly string[]) => void) | undefined;
}

/**
 * Which tests count: the graded ones of the references' run of the same specs. That run has to be
 * green. It is done once for each state of the course and version of Node, and a second time when
 * the first fails: a machine can be busy.
 *
 * @throws {ReferencesFail} when the references fail on this machine
 */
export async function findRoster(workshop: Workshop, options: RosterOptions): Promise<Roster> {
  const { courseHash } = workshop;
  const file = join(options.cache, `roster-${courseHash.slice(0, 16)}-${process.version}.json`);
  const known = new Map(readCache(file, courseHash).map((lesson) => [lesson.lesson, lesson]));
  let problems: string[] = [];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const missing = options.lessons.filter(({ number }) => !known.has(number));
    if (missing.length === 0) break;
    options.onRun?.(missing.map(({ number }) => number));
    const run = await runReferences(workshop, missing, options);
    options.signal?.throwIfAborted();
    for (const lesson of run.lessons) known.set(lesson.lesson, lesson);
    problems = run.problems;
    if (run.lessons.length > 0)
      writeCache(file, { version: 1, courseHash, lessons: [...known.values()] });
  }
  const lessons = options.lessons.flatMap(({ number }) => known.get(number) ?? []);
  if (lessons.length < options.lessons.length) {
    throw new ReferencesFail(
      "The course's own solutions fail on this machine, so nothing is graded here:\n" +
        `${problems
          .slice(0, 5)
          .map((problem) => `  ${problem}\n`)
          .join('')}` +
        'Run npm run doctor, and then npm run solutions',
    );
  }
  return { version: 1, courseHash, lessons };
}

async function runReferences(
  workshop: Workshop,
  folders: readonly LessonFolder[],
  { workers, signal }: RosterOptions,
): Promise<{ lessons: LessonRoster[]; problems: string[] }> {
  using sandbox = workshop.openReference();
  const lessons: LessonRoster[] = [];
  const problems: string[] = [];
  let outside = false;
  const end = await runVitest({
    ...sandbox,
    config: 'helpers/grader/roster.config.ts',
    lessons: folders.map(({ number }) => number),
    workers,
    signal,
    limits: { totalMs: REFERENCE_MS, processes: 64, megabytes: 8_000, writtenMegabytes: 1_000 },
    onMessage(sent) {
      // It comes from the course's own code only: no submission has any part in this run.
      const message = sent as ReferenceMessage;
      if (message.grader === 'end') {
        outside = message.failure !== undefined;
        if (outside) problems.push(`Outside of every test: ${message.failure}`);
        return true;
      }
      const folder = folders.find(({ number }) => number === message.lesson);
      if (!folder) return false;
      const { number, title, exercises } = folder;
      const failures = [...message.failures, ...listProblems(message.tests)];
      problems.push(...failures.map((failure) => `Lesson ${number}: ${failure.split('\n')[0]}`));
      if (failures.length > 0) return false;
      lessons.push({
        lesson: number,
        folder: folder.folder,
        title,
        exercises: [...exercises].map(([id, title]) => ({ id, title })),
        tests: message.tests,
      });
      return false;
    },
  });
  if (!end.complete) {
    const lines = end.output.split('\n').filter((line) => line.trim() !== '');
    const cause = lines.findIndex((line) => /Error/.test(line));
    problems.push(`The run ${end.reason}.`, ...lines.slice(Math.max(0, cause)).slice(0, 3));
  }
  // An error outside of every test could have been any lesson's.
  return { lessons: end.complete && !outside ? lessons : [], problems };
}

function listProblems(tests: readonly RosterTest[]): string[] {
  if (tests.length === 0) return ['it has no graded tests'];
  const names = tests.map(({ name }) => name);
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `two tests are called "${name}"`);
}

function readCache(file: string, courseHash: string): readonly LessonRoster[] {
  try {
    const roster = JSON.parse(readFileSync(file, 'utf8')) as Roster;
    return roster.version === 1 && roster.courseHash === courseHash ? roster.lessons : [];
  } catch {
    return []; // not there yet, or not whole
  }
}

function writeCache(file: string, roster: Roster): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(roster));
  renameSync(temporary, file);
  // Somebody who works on the course makes a new one with every change.
  const rosters = readdirSync(dirname(file))
    .filter((name) => name.startsWith('roster-'))
    .map((name) => join(dirname(file), name))
    .map((path) => ({ path, age: -(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) }))
    .sort((a, b) => a.age - b.age);
  for (const { path } of rosters.slice(KEPT_ROSTERS)) rmSync(path, { force: true });
}
