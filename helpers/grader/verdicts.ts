import { stripVTControlCharacters } from 'node:util';
import {
  type ExerciseGrade,
  firstProblem,
  type LessonGrade,
  type Problem,
  statusOf,
  sum,
  type TestGrade,
} from '../grading/grade.ts';
import type { LessonRoster, LessonVerdict, Note, SubmissionGrade, TestVerdict } from './types.ts';

/** Characters of a message that are kept: it is made by a submission. */
const MESSAGE_CHARACTERS = 2_000;

/** What is known of a submission when it has run, or has turned out not to. */
export interface Outcome {
  readonly submission: string;
  readonly state: SubmissionGrade['state'];
  /** The lessons that were asked for. */
  readonly lessons: readonly LessonRoster[];
  /** Whether those are all lessons of the course. */
  readonly whole: boolean;
  /** By lesson. One that is missing did not run. */
  readonly verdicts: ReadonlyMap<string, LessonVerdict>;
  readonly notes: readonly Note[];
  readonly seconds: number;
}

/**
 * The grade of one submission. A point is given for a test of the roster that ended exactly once,
 * and passed; whatever else is known, or not known, gives none.
 */
export function gradeSubmission(outcome: Outcome): SubmissionGrade {
  const lessons = outcome.lessons.map((roster) =>
    gradeLesson(roster, outcome.verdicts.get(roster.lesson)),
  );
  return {
    version: 1,
    submission: outcome.submission,
    state: outcome.state,
    whole: outcome.whole,
    ...sum(lessons),
    notes: outcome.notes,
    seconds: Math.round(outcome.seconds * 10) / 10,
    lessons,
  };
}

function gradeLesson(roster: LessonRoster, verdict: LessonVerdict | undefined): LessonGrade {
  const told = verdict ?? {
    lesson: roster.lesson,
    tests: [],
    problem: { message: 'It did not run' },
  };
  const ended = new Map<string, TestVerdict[]>();
  for (const test of told.tests) {
    ended.set(test.name, [...(ended.get(test.name) ?? []), test]);
  }
  const exercises = roster.exercises.map(({ id, title }): ExerciseGrade => {
    const entries = roster.tests.filter(({ exercise }) => exercise === id);
    const tests = entries.map(({ name }) => gradeTest(name, ended.get(name) ?? [], told.problem));
    const first = firstProblem(tests);
    return {
      id,
      title,
      status: statusOf(tests),
      points: tests.filter(({ status }) => status === 'passed').length,
      possible: tests.length,
      ...(first?.message !== undefined && { message: first.message }),
      hints: entries[0]?.hints ?? [],
      tests,
    };
  });
  const problem = told.problem ?? leftOut(exercises);
  return {
    lesson: roster.lesson,
    title: roster.title,
    folder: roster.folder,
    ...sum(exercises),
    ...(problem && { problem }),
    exercises,
  };
}

function gradeTest(
  name: string,
  ends: readonly TestVerdict[],
  problem: Problem | undefined,
): TestGrade {
  const [end, ...others] = ends;
  if (!end) return { name, status: 'not-run', message: 'It did not run', ...problem };
  if (others.length > 0) {
    const message = `It ended ${ends.length} times, so it is not known which end was its own`;
    return { name, status: 'not-run', message };
  }
  if (end.state === 'passed') return { name, status: 'passed' };
  const { message, at } = end;
  if (end.state === 'skipped') {
    return { name, status: 'not-run', message: 'It was skipped, so it proves nothing', ...problem };
  }
  return {
    name,
    status: end.errorName === 'TodoError' ? 'not-started' : 'failing',
    message: message || 'It failed without a message',
    ...(at && { at }),
  };
}

function leftOut(exercises: readonly ExerciseGrade[]): Problem | undefined {
  const tests = exercises.flatMap((exercise) => exercise.tests);
  const count = tests.filter(({ status }) => status === 'not-run').length;
  if (count === 0) return undefined;
  return { message: `${count} of ${tests.length} graded tests did not run, so they prove nothing` };
}

/** Whether nothing of a lesson was begun: every graded test came to a TODO, and nothing else. */
export function isUntouched(roster: LessonRoster, verdict: LessonVerdict): boolean {
  return gradeLesson(roster, verdict).exercises.every(({ tests, status }) =>
    tests.length === 0 ? true : status === 'not-started',
  );
}

/**
 * What Vitest's process says about a lesson, if it is of the right shape: that process runs nothing
 * of a submission, but its texts come from one.
 */
export function readVerdict(message: unknown): LessonVerdict | undefined {
  if (!isRecord(message) || message.grader !== 'lesson' || !isRecord(message.verdict)) return;
  const { lesson, tests, problem } = message.verdict;
  if (typeof lesson !== 'string' || !Array.isArray(tests)) return;
  const read = tests.map(readTest);
  const told = isRecord(problem) ? readProblem(problem) : undefined;
  if (read.includes(undefined) || (problem !== undefined && !told)) {
    return { lesson, tests: [], problem: { message: 'Its results cannot be read' } };
  }
  return { lesson, tests: read as TestVerdict[], ...(told && { problem: told }) };
}

function readTest(test: unknown): TestVerdict | undefined {
  if (!isRecord(test)) return;
  const { name, state, errorName, message } = test;
  if (typeof name !== 'string') return;
  if (state !== 'passed' && state !== 'failed' && state !== 'skipped') return;
  return {
    name,
    state,
    ...(typeof errorName === 'string' && { errorName: plain(errorName) }),
    ...(typeof message === 'string' && { message: plain(message) }),
    ...placeOf(test),
  };
}

function readProblem(problem: Record<string, unknown>): Problem | undefined {
  const { message } = problem;
  if (typeof message !== 'string') return;
  return { message: plain(message), ...placeOf(problem) };
}

function placeOf({ at }: Record<string, unknown>): { at?: string } {
  return typeof at === 'string' && /^[^\n]{1,300}:\d+$/.test(at) ? { at: plain(at) } : {};
}

/** Without what a terminal, XML or a spreadsheet would take for anything but text. */
export function plain(text: string): string {
  const short = text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)} …` : text;
  return stripVTControlCharacters(short).replace(/(?![\n\t])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, '');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
