import type { TestCase, TestModule, Vitest } from 'vitest/node';
import { type LessonFolder, lessonFolders } from './course.ts';
import { type Incident, incidentKey, incidents } from './guarded-pool.ts';

/** How a test, or an exercise as a whole, stands. */
export type Status = 'passed' | 'failing' | 'not-started' | 'not-run';

/** One graded test. */
export interface TestGrade {
  readonly name: string;
  readonly status: Status;
  /** What the student should read; absent for a test that passed. */
  readonly message?: string;
  /** `file:line` below the course's folder. */
  readonly at?: string;
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
  /** Why the lesson's file did not run to its end, if it didn't. */
  readonly problem?: string;
  readonly exercises: readonly ExerciseGrade[];
}

/** The grade of a course: what `grade.json` holds. */
export interface Grade {
  readonly version: 1;
  readonly points: number;
  readonly possible: number;
  readonly lessons: readonly LessonGrade[];
}

/** A test that counts, as the reference run knows it. */
interface RosterEntry {
  readonly name: string;
  readonly exercise: string;
  readonly hints: readonly string[];
}

/** Name of a test without its file: `Lesson 5 > Exercise 5.1: ... > the peak needs 3 replicas`. */
const nameOf = (test: TestCase): string => test.fullName;

/**
 * Grades what has run so far. What counts is decided by the roster, the graded tests of the
 * `solutions` run of the same spec: a test that was added, skipped, renamed or never collected in
 * the student's run changes nothing. Without that run the student's own tests have to serve.
 */
export function gradeRun(vitest: Vitest): Grade {
  const modules = vitest.state.getTestModules();
  const lessons: LessonGrade[] = [];
  for (const folder of lessonFolders(vitest.config.root)) {
    const find = (project: string) =>
      modules.find(
        (module) =>
          module.project.name === project && module.moduleId.includes(`/lessons/${folder.folder}/`),
      );
    const student = find('exercises');
    if (student) lessons.push(gradeLesson(folder, student, find('solutions') ?? student, vitest));
  }
  return { version: 1, ...sum(lessons), lessons };
}

function gradeLesson(
  folder: LessonFolder,
  student: TestModule,
  reference: TestModule,
  vitest: Vitest,
): LessonGrade {
  const incident = incidents.get(incidentKey(student.project.name, student.moduleId));
  const loadError = student.errors()[0];
  const problem = incident ? describeIncident(incident) : loadError?.message;
  const tests = new Map([...student.children.allTests()].map((test) => [nameOf(test), test]));

  const exercises = [...rosterOf(reference)].map(([id, entries]): ExerciseGrade => {
    const grades = entries.map(({ name }) =>
      gradeTest(name, tests.get(name), { incident, problem, root: vitest.config.root }),
    );
    const points = grades.filter(({ status }) => status === 'passed').length;
    const first = firstProblem(grades);
    return {
      id,
      title: folder.exercises.get(id) ?? id,
      status: statusOf(grades),
      points,
      possible: grades.length,
      ...(first?.message !== undefined && { message: first.message }),
      hints: entries[0]?.hints ?? [],
      tests: grades,
    };
  });
  return {
    lesson: folder.number,
    title: folder.title,
    folder: folder.folder,
    ...sum(exercises),
    ...(problem !== undefined && { problem }),
    exercises,
  };
}

/** The graded tests of a module, by exercise, in the spec's order. */
function rosterOf(module: TestModule): Map<string, RosterEntry[]> {
  const roster = new Map<string, RosterEntry[]>();
  for (const test of module.children.allTests()) {
    const { exercise, hints = [] } = test.meta();
    if (!exercise) continue;
    const entries = roster.get(exercise) ?? [];
    entries.push({ name: nameOf(test), exercise, hints });
    roster.set(exercise, entries);
  }
  return roster;
}

function gradeTest(
  name: string,
  test: TestCase | undefined,
  run: { incident: Incident | undefined; problem: string | undefined; root: string },
): TestGrade {
  const { incident } = run;
  const result = test?.result();
  if (result?.state === 'passed') return { name, status: 'passed' };
  if (result?.state === 'failed') {
    const [error] = result.errors;
    const stack =
      error?.stacks?.find(({ file }) => file.endsWith('/exercise.ts')) ?? error?.stacks?.[0];
    return {
      name,
      status: error?.name === 'TodoError' ? 'not-started' : 'failing',
      message: error?.message ?? 'failed without a message',
      ...(stack && { at: `${relative(stack.file, run.root)}:${stack.line}` }),
    };
  }
  if (test && incident?.ended.get(test.id)) return { name, status: 'passed' };
  if (test && incident?.test === test.id) {
    return { name, status: 'failing', message: incident.reason };
  }
  return { name, status: 'not-run', message: run.problem ?? notRunBecause(result?.state) };
}

function notRunBecause(state: string | undefined): string {
  if (state === 'skipped') return 'The test was skipped, so it proves nothing';
  return 'The test was not run';
}

/** One sentence about a process that ended early. */
export function describeIncident({ reason, test }: Incident): string {
  return `${test ? 'A test' : 'Loading exercise.ts'} ${reason}`;
}

function statusOf(tests: readonly TestGrade[]): Status {
  const has = (status: Status) => tests.some((test) => test.status === status);
  if (has('failing')) return 'failing';
  if (has('not-run')) return 'not-run';
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

function sum(parts: readonly { points: number; possible: number }[]) {
  return {
    points: parts.reduce((total, { points }) => total + points, 0),
    possible: parts.reduce((total, { possible }) => total + possible, 0),
  };
}

/** A path below the course's folder, with forward slashes. */
export function relative(file: string, root: string): string {
  return file.startsWith(root) ? file.slice(root.length).replace(/^[\\/]/, '') : file;
}
