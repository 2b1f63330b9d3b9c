import { stripVTControlCharacters } from 'node:util';
import type { TestError } from 'vitest';
import type { TestCase, TestModule, Vitest } from 'vitest/node';
import type { PathPiece } from '../lesson/pieces.ts';
import { type LessonFolder, lessonFolders } from './course.ts';
import { EARLY_END } from './guarded-pool.ts';
import { modulesOf, testsOf } from './modules.ts';

/** How a test, or an exercise as a whole, stands. */
export type Status = 'passed' | 'failing' | 'not-started' | 'not-run';

/** What is wrong, and where. */
export interface Problem {
  /** What the student should read. */
  readonly message: string;
  /** `file:line` below the course's folder, if it is known. */
  readonly at?: string;
}

/** One graded test. `message` is absent when it passed. */
export interface TestGrade extends Partial<Problem> {
  readonly name: string;
  readonly status: Status;
}

/** One exercise: a point for each graded test. */
export interface ExerciseGrade {
  readonly id: string;
  readonly title: string;
  readonly status: Status;
  readonly points: number;
  readonly possible: number;
  /** The first thing that is wrong; absent when the exercise is done. */
  readonly message?: string;
  readonly hints: readonly string[];
  readonly tests: readonly TestGrade[];
}

/** One lesson. */
export interface LessonGrade {
  readonly lesson: string;
  readonly title: string;
  readonly folder: string;
  readonly points: number;
  readonly possible: number;
  /** Why the lesson did not run to its end, or not as it should have. */
  readonly problem?: Problem;
  /** The other lessons' exercises that its system is made of, the student's and the lent ones. */
  readonly pieces?: readonly PathPiece[];
  readonly exercises: readonly ExerciseGrade[];
}

/** The grade of a course: what `grade.json` holds. `grade.schema.json` describes it. */
export interface Grade {
  readonly version: 1;
  /** Whether every lesson was graded against its roster. False when only some were asked for. */
  readonly whole: boolean;
  readonly points: number;
  readonly possible: number;
  readonly lessons: readonly LessonGrade[];
}

/**
 * Grades what has run so far. What counts is decided by the roster, the graded tests of the
 * `solutions` run of the same spec: a test that was added, skipped, renamed or never collected in
 * the student's run changes nothing. Without that run the student's own tests have to serve.
 */
export function gradeRun(vitest: Vitest): Grade {
  const modules = vitest.state.getTestModules();
  const folders = lessonFolders(vitest.config.root);
  const lessons: LessonGrade[] = [];
  let whole = !vitest.config.testNamePattern;
  for (const folder of folders) {
    const student = modulesOf(modules, 'exercises', folder);
    const reference = modulesOf(modules, 'solutions', folder);
    whole &&= student.length > 0 && reference.length > 0;
    if (student.length > 0) {
      lessons.push(
        gradeLesson(folder, student, reference.length > 0 ? reference : student, vitest),
      );
    }
  }
  return { version: 1, whole, ...sum(lessons), lessons };
}

function gradeLesson(
  folder: LessonFolder,
  student: readonly TestModule[],
  reference: readonly TestModule[],
  { config }: Vitest,
): LessonGrade {
  const own = testsOf(student);
  const [error] = student.flatMap((module) => module.errors());
  const broken = error && explain(error, config.root, own.length > 0);
  const tests = new Map(own.map((test) => [test.fullName, test]));
  const roster = testsOf(reference)
    .map((test) => ({ name: test.fullName, ...test.meta() }))
    // With a name pattern only what it selects is graded.
    .filter(({ name }) => !config.testNamePattern || config.testNamePattern.test(`${name}`));

  const exercises = [...folder.exercises].map(([id, title]): ExerciseGrade => {
    const entries = roster.filter(({ exercise }) => exercise === id);
    const grades = entries.map(({ name }) => gradeTest(name, tests.get(name), broken, config.root));
    const first = firstProblem(grades);
    return {
      id,
      title,
      status: statusOf(grades),
      points: grades.filter(({ status }) => status === 'passed').length,
      possible: grades.length,
      ...(first?.message !== undefined && { message: first.message }),
      hints: entries[0]?.hints?.map((lines) => lines.join(' ')) ?? [],
      tests: grades,
    };
  });
  const problem = broken ?? leftOut(exercises);
  const pieces = own
    .map((test) => test.meta().pieces)
    .find((found) => found !== undefined)
    ?.map(({ reason, ...piece }) => ({
      ...piece,
      ...(reason && { reason: reason.replaceAll(`${config.root}/`, '') }),
    }));
  return {
    lesson: folder.number,
    title: folder.title,
    folder: folder.folder,
    ...sum(exercises),
    ...(problem && { problem }),
    ...(pieces && { pieces }),
    exercises: exercises.filter(({ possible }) => possible > 0 || !config.testNamePattern),
  };
}

function gradeTest(
  name: string,
  test: TestCase | undefined,
  broken: Problem | undefined,
  root: string,
): TestGrade {
  const result = test?.result();
  if (result?.state === 'passed') return { name, status: 'passed' };
  if (result?.state === 'failed') {
    const [error] = result.errors;
    return {
      name,
      status: error?.name === 'TodoError' ? 'not-started' : 'failing',
      ...(error ? explain(error, root) : { message: 'It failed without a message' }),
    };
  }
  const skipped = result?.state === 'skipped' ? 'It was skipped, so it proves nothing' : undefined;
  return { name, status: 'not-run', message: skipped ?? 'It did not run', ...broken };
}

/** An error in words for a student, with the line of theirs that it comes from. */
function explain(error: TestError, root: string, loaded = true): Problem {
  const frames = (error.stacks ?? []).filter(({ file }) => !file.includes('/node_modules/'));
  const frame = frames.find(({ file }) => file.endsWith('/exercise.ts')) ?? frames[0];
  let message = stripVTControlCharacters(error.message)
    .replaceAll(`${root}/`, '')
    .replace(
      /^(Test|Hook) timed out in (\d+)ms.*/s,
      (_, what, ms) =>
        `${what === 'Test' ? 'It' : 'The set-up of a test'} did not finish within ` +
        `${Number(ms) / 1000} s. Look for a promise that nothing settles`,
    );
  // A syntax error has its place in the message, and a stack of Vite's.
  const at = frame
    ? `${relative(frame.file, root)}:${frame.line}`
    : /\[ (\S+\.ts:\d+):\d+ \]/.exec(message)?.[1];
  if (!loaded && error.name !== EARLY_END) {
    const what = !at || at.includes('/exercise.ts:') ? 'exercise.ts' : 'The lesson';
    message = `${what} cannot be loaded: ${message}`;
  }
  return { message, ...(at && { at }) };
}

function leftOut(exercises: readonly ExerciseGrade[]): Problem | undefined {
  const tests = exercises.flatMap((exercise) => exercise.tests);
  const count = tests.filter(({ status }) => status === 'not-run').length;
  if (count === 0) return;
  return {
    message:
      `${count} of ${tests.length} graded tests did not run, so they prove nothing. ` +
      'Look for .skip or .only in the spec',
  };
}

/** How an exercise stands whose tests stand so. */
export function statusOf(tests: readonly TestGrade[]): Status {
  const has = (status: Status) => tests.some((test) => test.status === status);
  if (has('failing')) return 'failing';
  if (has('not-run') || tests.length === 0) return 'not-run';
  if (!has('not-started')) return 'passed';
  return has('passed') ? 'failing' : 'not-started';
}

/** The test to look at first: one that fails, before one that nobody has started. */
export function firstProblem(tests: readonly TestGrade[]): TestGrade | undefined {
  const order: Status[] = ['failing', 'not-started', 'not-run'];
  for (const status of order) {
    const found = tests.find((test) => test.status === status);
    if (found) return found;
  }
  return undefined;
}

/** A test's name without the describe blocks of the lesson and of the exercise. */
export function ownTitle(name: string): string {
  return name.split(' > ').slice(2).join(' > ') || name;
}

/** Where to go on: the first lesson that was begun and is not done, else the first that is open. */
export function nextLesson(lessons: readonly LessonGrade[]): LessonGrade | undefined {
  const open = lessons.filter(({ points, possible, problem }) => points < possible || problem);
  const begun = ({ points, problem, exercises }: LessonGrade) =>
    points > 0 || problem || exercises.some(({ status }) => status === 'failing');
  return open.find(begun) ?? open[0];
}

/** Points of all parts together. */
export function sum(parts: readonly { points: number; possible: number }[]) {
  return {
    points: parts.reduce((total, { points }) => total + points, 0),
    possible: parts.reduce((total, { possible }) => total + possible, 0),
  };
}

/** A path below the course's folder, with forward slashes. */
export function relative(file: string, root: string): string {
  return file.startsWith(root) ? file.slice(root.length).replace(/^[\\/]/, '') : file;
}
