import {
  type ExerciseGrade,
  type LessonGrade,
  ownTitle,
  type TestGrade,
} from '../../grading/grade.ts';
import type { SubmissionGrade } from '../types.ts';
import {
  cut,
  gradedExercises,
  hintOf,
  type Outcome,
  outcome,
  plain,
  short,
  submissionReport,
  whatIsWrong,
} from './text.ts';

/** Exercism's `results.json`, version 3. `exercism.schema.json` describes it. */
export interface ExercismResults {
  readonly version: 3;
  readonly status: Outcome;
  /** Only when no test ran. */
  readonly message: string | null;
  readonly tests?: readonly {
    readonly name: string;
    readonly status: Outcome;
    readonly message: string | null;
    /** The exercise's number in its lesson: 3 for 5.3. */
    readonly task_id: number;
    readonly test_code?: string;
  }[];
}

/** The source of a graded test, by its full name. */
export type TestCode = ReadonlyMap<string, string>;

/** Characters of the message of the whole, and fewer if they take several bytes. */
const MOST_MESSAGE = 65_535;
/** A test's message has no limit. A student has. */
const MOST_TEST_MESSAGE = 8_000;

/**
 * A lesson is what Exercism calls an exercise, and an exercise of the lesson what it calls a task:
 * so there is a file for each lesson. Its tests are in the order of the exercises.
 *
 * @param testCode what Exercism shows beside a test that fails, for those tests whose code is known
 */
export function toExercism(lesson: LessonGrade, testCode: TestCode = new Map()): ExercismResults {
  const entries = gradedExercises(lesson).flatMap((exercise) =>
    exercise.tests.map((test) => ({ test, exercise })),
  );
  if (entries.every(({ test }) => outcome(test) === 'error')) {
    const { message, at } = lesson.problem ?? { message: 'No test ran' };
    const place = at ? `\n${plain(at)}` : '';
    return error(short(message, MOST_MESSAGE - Buffer.byteLength(place)) + place);
  }
  const passed = entries.every(({ test }) => outcome(test) === 'pass');
  return {
    version: 3,
    status: passed ? 'pass' : 'fail',
    message: null,
    tests: entries.map(({ test, exercise }) => {
      const code = testCode.get(test.name);
      return {
        name: plain(ownTitle(test.name)),
        status: outcome(test),
        message: messageOf(test, exercise),
        task_id: Number(exercise.id.split('.').at(-1)),
        ...(code !== undefined && { test_code: code }),
      };
    }),
  };
}

/** The result of a submission that could not be read. */
export function unreadableExercism(grade: SubmissionGrade): ExercismResults {
  return error(cut(submissionReport(grade, 8_000), MOST_MESSAGE));
}

function messageOf(test: TestGrade, exercise: ExerciseGrade): string | null {
  if (test.status === 'passed') return null;
  const hint = hintOf(exercise);
  return whatIsWrong(test, MOST_TEST_MESSAGE) + (hint ? `\nHint: ${hint}` : '');
}

function error(message: string): ExercismResults {
  return { version: 3, status: 'error', message };
}
