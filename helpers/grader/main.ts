import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { COURSE_ROOT, type LessonFolder, lessonFolders } from '../grading/course.ts';
import { BrokenSubmission, collect } from './collect.ts';
import { type Format, writeFormats } from './formats/index.ts';
import { readTestCode } from './formats/test-code.ts';
import {
  compareNames,
  readGrade,
  type StoredGrade,
  TABLE,
  writeGrade,
  writeTable,
} from './results.ts';
import { findRoster } from './roster.ts';
import { type RunEnd, type RunLimits, runVitest } from './run.ts';
import { CAPSTONE, openWorkshop, type Workshop } from './sandbox.ts';
import type {
  Collected,
  LessonRoster,
  LessonVerdict,
  Note,
  Roster,
  SubmissionGrade,
} from './types.ts';
import { gradeSubmission, isUntouched, plain, readVerdict } from './verdicts.ts';

/** What one submission may use. */
export interface Limits extends Omit<RunLimits, 'totalMs'> {
  /** Milliseconds for all lessons of a submission together. */
  readonly submissionMs: number;
}

/** Milliseconds for a submission of so many lessons: ten times what they take, or more. */
const usualMs = (lessons: number): number => 60_000 + 30_000 * lessons;

/** Nobody who works honestly comes near these. */
const LIMITS: Omit<Limits, 'submissionMs'> = {
  processes: 64,
  megabytes: 4_000,
  writtenMegabytes: 200,
};

/** Why a lesson that was not handed in has no points. */
const MISSING = 'There is no exercise.ts in the submission';

/** What to grade, and how. */
export interface GradeOptions {
  /** Folders and zip files. */
  readonly submissions: readonly string[];
  /** Two digits each; all lessons by default. */
  readonly lessons?: readonly string[] | undefined;
  /** Folder for the results. What is up to date in it isn't graded again. */
  readonly out: string;
  /** Submissions at the same time; as many as there are cores by default. */
  readonly jobs?: number | undefined;
  /** One part of the submissions: `index` counts from 1. */
  readonly shard?: { readonly index: number; readonly count: number } | undefined;
  /** Formats of other graders in which the grades are written too. */
  readonly formats?: readonly Format[] | undefined;
  readonly courseRoot?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Ends the work. What is finished stays, what runs is ended and can be graded again. */
  readonly signal?: AbortSignal | undefined;
  /** Called with lessons whose solutions have to run first, to learn which tests count. */
  readonly onReferences?: ((lessons: readonly string[]) => void) | undefined;
  readonly onStart?: ((submission: string) => void) | undefined;
  readonly onProgress?: ((done: SubmissionGrade) => void) | undefined;
  /** Called instead of the two for a submission whose grade is up to date. */
  readonly onKept?: ((grade: SubmissionGrade) => void) | undefined;
}

/** The grader was asked for something that can't be done. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Something that all submissions share is not as it was, so no result can be trusted any more. */
export class Tampered extends Error {
  override readonly name = 'Tampered';
}

/**
 * Grades submissions and writes the results to `out`: a folder for each with `grade.json` and
 * `junit.xml`, and `grades.csv` over all.
 *
 * This process never runs a line of a submission. It copies the course, lays the exercise files of
 * a submission over the copy, has Vitest run there, believes what Vitest's process tells about the
 * tests that the course's own solutions pass, ends everything that was started, and then writes.
 *
 * @returns the grades in the order of the submissions' names
 * @throws {WrongUsage} when the options make no sense
 * @throws {ReferencesFail} when the course's own solutions fail on this machine
 * @throws {Tampered} when packages or results were changed while submissions ran
 */
export async function gradeSubmissions(options: GradeOptions): Promise<readonly SubmissionGrade[]> {
  const root = resolve(options.courseRoot ?? COURSE_ROOT);
  const folders = lessonFolders(root);
  const asked = askedLessons(folders, options.lessons);
  const submissions = namedSubmissions(options.submissions, options.shard);
  const cores = availableParallelism();
  const jobs = Math.max(1, Math.min(options.jobs ?? cores, submissions.length));
  const { signal } = options;
  signal?.throwIfAborted();
  using workshop = openWorkshop(root, folders);
  const roster = await findRoster(workshop, {
    lessons: asked,
    cache: join(root, 'node_modules/.cache/traffic-layer'),
    workers: cores,
    signal,
    onRun: options.onReferences,
  });
  const grader = new Grader({
    ...options,
    folders,
    roster,
    workshop,
    limits: { submissionMs: usualMs(asked.length), ...LIMITS, ...options.limits },
    workers: Math.max(1, Math.floor(cores / jobs)),
  });

  const formats = options.formats ?? [];
  let testCode: ReturnType<typeof readTestCode> | undefined;
  const grades: StoredGrade[] = [];
  const waiting = [...submissions];
  const job = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      signal?.throwIfAborted();
      const { grade, kept } = await grader.grade(next);
      grades.push(grade);
      if (formats.includes('exercism')) testCode ??= readTestCode(grade.lessons, root);
      if (formats.length > 0) {
        writeFormats(grade, formats, join(options.out, grade.submission), testCode);
      }
      if (kept) options.onKept?.(grade);
      else options.onProgress?.(grade);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: jobs }, job));
  grades.sort((a, b) => compareNames(a.submission, b.submission));
  // Also after an interruption: what is finished can be read.
  writeTable(options.out, grades);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  const changed = grades.find(
    (grade) => !isDeepStrictEqual(readGrade(options.out, grade.submission), grade),
  );
  if (changed) {
    throw new Tampered(
      `${join(options.out, changed.submission)} is not as it was written. Delete ${options.out} and ` +
        'grade again, each submission by itself',
    );
  }
  return grades;
}

/** A submission and what it is called. */
interface Named {
  readonly name: string;
  readonly path: string;
}

interface GraderParts {
  readonly folders: readonly LessonFolder[];
  readonly roster: Roster;
  readonly workshop: Workshop;
  readonly out: string;
  readonly limits: Limits;
  readonly workers: number;
  readonly signal?: AbortSignal | undefined;
  readonly onStart?: ((submission: string) => void) | undefined;
}

/** What was found out about one submission while it ran. */
interface Findings {
  readonly verdicts: Map<string, LessonVerdict>;
  readonly notes: Note[];
  /** Point in time at which it has to be over. */
  readonly deadline: number;
}

class Grader {
  readonly #parts: GraderParts;
  /**
   * Lessons in which nobody had begun, by the hash of their text. A class hands in the same stub
   * many times, and it is enough to see once that it has no points. Points are never taken from
   * here.
   */
  readonly #untouched = new Map<string, LessonVerdict>();

  constructor(parts: GraderParts) {
    this.#parts = parts;
  }

  async grade({ name, path }: Named): Promise<{ grade: StoredGrade; kept: boolean }> {
    const { folders, roster, out } = this.#parts;
    const started = performance.now();
    const collected = await this.#collect(path);
    const key = this.#keyOf(collected);
    const before = readGrade(out, name);
    if (before?.state === 'graded' && before.key === key) return { grade: before, kept: true };

    this.#parts.onStart?.(name);
    const findings: Findings = {
      verdicts: new Map(),
      notes: [...collected.notes],
      deadline: performance.now() + this.#parts.limits.submissionMs,
    };
    const ran = !collected.broken && (await this.#tryToRun(collected, findings));
    if (!collected.broken) this.#checkPackages(name);
    const grade: StoredGrade = {
      ...gradeSubmission({
        submission: name,
        state: ran ? 'graded' : 'broken',
        lessons: roster.lessons,
        whole: roster.lessons.length === folders.length,
        verdicts: findings.verdicts,
        notes: findings.notes,
        seconds: (performance.now() - started) / 1_000,
      }),
      key,
    };
    writeGrade(out, grade);
    return { grade, kept: false };
  }

  /** They are shared, and one who could write there would grade all that come after. */
  #checkPackages(name: string): void {
    const changed = this.#parts.workshop.changedModules();
    if (changed.length === 0) return;
    throw new Tampered(
      `Files of node_modules were changed while ${name} or another one ran: ${listed(changed)}. ` +
        'If it was not you, run npm ci, delete node_modules/.cache, and grade each by itself',
    );
  }

  async #collect(path: string): Promise<Collected & { readonly broken: boolean }> {
    try {
      return { ...(await collect(path, this.#parts.folders)), broken: false };
    } catch (error) {
      const notes = error instanceof BrokenSubmission ? error.notes : [];
      const { message } = error as Error;
      return {
        exercises: new Map(),
        notes: [{ about: 'submission', message }, ...notes],
        broken: true,
      };
    }
  }

  /** What the grade depends on. Notes are part of it, since they are part of the grade. */
  #keyOf({ exercises, notes }: Collected): string {
    const { roster, limits } = this.#parts;
    return hash(
      JSON.stringify([
        roster.courseHash,
        process.version,
        roster.lessons.map(({ lesson }) => lesson),
        limits,
        [...exercises],
        notes,
      ]),
    );
  }

  /** What goes wrong with one submission, such as a full disk, doesn't stop the others. */
  async #tryToRun(collected: Collected, findings: Findings): Promise<boolean> {
    const { signal } = this.#parts;
    try {
      return await this.#run(collected, findings);
    } catch (error) {
      const message = `The grader could not run it: ${(error as Error).message}`;
      if (!signal?.aborted) findings.notes.unshift({ about: 'grader', message });
      return false;
    } finally {
      signal?.throwIfAborted();
    }
  }

  /** @returns whether anything can be said about the submission */
  async #run({ exercises }: Collected, findings: Findings): Promise<boolean> {
    const { lessons } = this.#parts.roster;
    const missing: string[] = [];
    const toRun: LessonRoster[] = [];
    for (const roster of lessons) {
      const text = exercises.get(roster.folder);
      const untouched = text !== undefined && this.#untouched.get(`${roster.lesson} ${hash(text)}`);
      if (untouched) findings.verdicts.set(roster.lesson, untouched);
      else if (text !== undefined) toRun.push(roster);
      else {
        const { lesson } = roster;
        findings.verdicts.set(lesson, { lesson, tests: [], problem: { message: MISSING } });
        missing.push(lesson);
      }
    }
    if (missing.length > 0) {
      findings.notes.push({ about: `lessons ${missing.join(', ')}`, message: MISSING });
    }
    const isLast = ({ lesson }: LessonRoster) => lesson === CAPSTONE;
    const others = toRun.filter((roster) => !isLast(roster));
    const heard = [
      await this.#runTogether(others, exercises, findings),
      await this.#runTogether(toRun.filter(isLast), exercises, findings),
    ];
    for (const roster of toRun) {
      const verdict = findings.verdicts.get(roster.lesson);
      if (!verdict || verdict.problem || !isUntouched(roster, verdict)) continue;
      const text = exercises.get(roster.folder) ?? '';
      this.#untouched.set(`${roster.lesson} ${hash(text)}`, verdict);
    }
    return toRun.length === 0 || heard.includes(true);
  }

  /**
   * Runs lessons in one sandbox, and again each in its own when one of them has brought the others
   * into doubt: it has changed files of the course, or has ended the process that runs them all.
   *
   * @returns whether anything was heard of them: if not, it may be the machine's fault
   */
  async #runTogether(
    rosters: readonly LessonRoster[],
    exercises: ReadonlyMap<string, string>,
    findings: Findings,
  ): Promise<boolean> {
    if (rosters.length === 0) return false;
    const { verdicts, notes } = findings;
    const lessons = rosters.map(({ lesson }) => lesson);
    const first = await this.#attempt(lessons, exercises, findings);
    const trusted = first.changes.length === 0;
    if (trusted) for (const [lesson, verdict] of first.verdicts) verdicts.set(lesson, verdict);
    const open = lessons.filter((lesson) => !verdicts.has(lesson));
    let heard = first.verdicts.size > 0 || first.end.limit !== undefined;
    if (open.length === 0) return heard;

    const about = `lessons ${open.join(', ')}`;
    const ended = first.end.reason ?? 'ended without a result for them';
    const why = trusted
      ? `Their run ${ended}`
      : `Files of the course were changed while they ran (${listed(first.changes)})`;
    const again = performance.now() < findings.deadline;
    notes.push({ about, message: again ? `${why}. Each was run again by itself` : why });
    for (const lesson of open) {
      const fail = (message: string) =>
        verdicts.set(lesson, { lesson, tests: [], problem: { message } });
      if (performance.now() >= findings.deadline) {
        const seconds = this.#parts.limits.submissionMs / 1_000;
        fail(`The submission took more than ${seconds} s in all, and its run was stopped`);
        continue;
      }
      const alone = await this.#attempt([lesson], exercises, findings);
      const verdict = alone.verdicts.get(lesson);
      heard ||= verdict !== undefined || alone.end.limit !== undefined;
      if (alone.changes.length > 0) {
        fail(`It has changed files of the course, so nothing counts: ${listed(alone.changes)}`);
      } else if (verdict) verdicts.set(lesson, verdict);
      else fail(`Its run ${alone.end.reason ?? 'ended without a result'}${lastLine(alone.end)}`);
    }
    return heard;
  }

  async #attempt(
    lessons: readonly string[],
    exercises: ReadonlyMap<string, string>,
    { notes, deadline }: Findings,
  ): Promise<{ verdicts: Map<string, LessonVerdict>; changes: string[]; end: RunEnd }> {
    const { workshop, limits, workers, signal } = this.#parts;
    const lent = lessons.includes(CAPSTONE) ? 'lent' : 'sealed';
    using sandbox = workshop.open(lessons, exercises, lent);
    const verdicts = new Map<string, LessonVerdict>();
    signal?.throwIfAborted();
    const end = await runVitest({
      ...sandbox,
      config: 'helpers/grader/grade.config.ts',
      lessons,
      workers,
      signal,
      limits: { ...limits, totalMs: Math.max(0, deadline - performance.now()) },
      onMessage(message) {
        if ((message as { grader?: unknown } | null)?.grader === 'end') return true;
        const verdict = readVerdict(message);
        if (!verdict || !lessons.includes(verdict.lesson)) return false;
        const { lesson } = verdict;
        // There is one for each lesson. With two, nobody knows which is right.
        const twice = { lesson, tests: [], problem: { message: 'It has reported its end twice' } };
        verdicts.set(lesson, verdicts.has(lesson) ? twice : verdict);
        return false;
      },
    });
    if (end.leftBehind > 0) {
      const message = `${end.leftBehind} processes that it has started could not be ended`;
      notes.push({ about: `lessons ${lessons.join(', ')}`, message });
    }
    return { verdicts, changes: sandbox.changes(), end };
  }
}

function askedLessons(
  folders: readonly LessonFolder[],
  lessons: readonly string[] | undefined,
): LessonFolder[] {
  const known = folders.map(({ number }) => number);
  const strange = lessons?.find((lesson) => !known.includes(lesson));
  if (strange !== undefined) {
    throw new WrongUsage(`There is no lesson ${strange}. Lessons are ${known.join(', ')}`);
  }
  return folders.filter(({ number }) => lessons?.includes(number) ?? true);
}

/** Names are those of folders and zip files, and the results are filed under them. */
function namedSubmissions(
  paths: readonly string[],
  shard: GradeOptions['shard'],
): readonly Named[] {
  if (paths.length === 0) throw new WrongUsage('Wanted at least one folder or zip file to grade');
  const named = paths
    .map((path) => ({ name: basename(resolve(path)).replace(/\.zip$/i, ''), path: resolve(path) }))
    .sort((a, b) => compareNames(a.name, b.name));
  // Some file systems don't tell Anna from anna.
  const taken = new Map<string, string>([[TABLE, 'the table of all grades']]);
  for (const { name, path } of named) {
    const before = taken.get(name.toLowerCase());
    if (name === '' || before !== undefined) {
      throw new WrongUsage(
        `Two results would be filed under "${name}": ${before} and ${path}. Rename one of them`,
      );
    }
    taken.set(name.toLowerCase(), path);
  }
  if (!shard) return named;
  const { index, count } = shard;
  if (!Number.isInteger(index) || !Number.isInteger(count) || index < 1 || index > count) {
    throw new WrongUsage(`A shard is one of its count, such as 1/4, got ${index}/${count}`);
  }
  return named.filter((_, position) => position % count === index - 1);
}

/** What a program says at last is often why it ended. */
function lastLine({ output }: RunEnd): string {
  const line = output.trimEnd().split('\n').at(-1)?.trim();
  return line ? `: ${plain(line).slice(0, 200)}` : '';
}

function listed(paths: readonly string[]): string {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
  return paths.slice(0, 3).join(', ') + more;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
