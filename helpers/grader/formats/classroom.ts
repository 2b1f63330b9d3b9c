import {
  type ExerciseGrade,
  firstProblem,
  type LessonGrade,
  ownTitle,
  type TestGrade,
} from '../../grading/grade.ts';
import type { SubmissionGrade } from '../types.ts';
import {
  cut,
  fitting,
  gradedExercises,
  hintOf,
  jsonBytes,
  type Outcome,
  outcome,
  plain,
  submissionReport,
  whatIsWrong,
} from './text.ts';

/** What a runner of GitHub Classroom reports. `classroom.schema.json` describes it. */
export interface ClassroomResult {
  readonly version: 1;
  readonly status: Outcome;
  readonly max_score: number;
  readonly tests: readonly ClassroomTest[];
}

interface ClassroomTest {
  readonly name: string;
  readonly status: Outcome;
  readonly score: 0 | 1;
  readonly message?: string;
  readonly test_code?: string;
  /** 0 when there is nothing to show. */
  readonly line_no: number;
}

/** The longest value that Linux hands to a process in one variable of its environment, and less. */
const MOST_VARIABLE = 120_000;
/** Of 2 MB for all variables and arguments together. */
const MOST_ENVIRONMENT = 1_600_000;
/** Bytes of a name, and of one where there is little room: where messages have to be shorter than that. */
const MOST_NAME = 200;
const LITTLE_ROOM = 60;

/**
 * One result for each lesson, by the name of its runner, such as `lesson05`. The reporter of GitHub
 * Classroom takes them as several runners and adds up their scores; one result for all lessons
 * would not fit into the variable in which it has to be handed over.
 */
export function toClassroom(grade: SubmissionGrade): Readonly<Record<string, ClassroomResult>> {
  if (grade.state === 'broken' || grade.lessons.length === 0)
    return { submission: unreadable(grade) };
  const share = Math.min(MOST_VARIABLE, MOST_ENVIRONMENT / grade.lessons.length);
  return Object.fromEntries(
    grade.lessons.map((lesson) => [
      `lesson${lesson.lesson}`,
      fitting(
        (bytes) => lessonResult(lesson, bytes),
        // Base64 makes four characters of three bytes.
        (result) => (jsonBytes(result) * 4) / 3 <= share,
      ),
    ]),
  );
}

/**
 * The results as lines for `$GITHUB_ENV`: a variable for each runner, whose value is the JSON in
 * base64 and whose name is what the reporter looks for, and `CLASSROOM_RUNNERS` with their names.
 */
export function classroomEnvironment(results: Readonly<Record<string, ClassroomResult>>): string {
  const lines = Object.entries(results).map(([runner, result]) => {
    const value = Buffer.from(JSON.stringify(result)).toString('base64');
    return `${runner.toUpperCase()}_RESULTS=${value}`;
  });
  return `${[...lines, `CLASSROOM_RUNNERS=${Object.keys(results).join(',')}`].join('\n')}\n`;
}

function lessonResult(lesson: LessonGrade, bytes: number): ClassroomResult {
  const tests = gradedExercises(lesson).flatMap((exercise) =>
    exercise.tests.map((test) => testResult(test, exercise, bytes)),
  );
  return { version: 1, status: worst(tests), max_score: tests.length, tests };
}

function testResult(test: TestGrade, exercise: ExerciseGrade, bytes: number): ClassroomTest {
  const title = inert(`${exercise.id} ${ownTitle(test.name)}`);
  const name = cut(title, bytes < LITTLE_ROOM ? LITTLE_ROOM : MOST_NAME);
  const status = outcome(test);
  if (status === 'pass') return { name, status, score: 1, line_no: 0 };
  const text = inert(whatIsWrong(test, bytes));
  const hint = test === firstProblem(exercise.tests) ? hintOf(exercise) : undefined;
  return {
    name,
    status,
    score: 0,
    // The reporter shows the message of a test that did not run, and the code of one that failed.
    ...(status === 'error'
      ? { message: text }
      : { test_code: commented([text, hint && `Hint: ${inert(hint)}`]) }),
    line_no: Number(/:(\d+)$/.exec(test.at ?? '')?.[1] ?? 0),
  };
}

function commented(texts: readonly (string | undefined)[]): string {
  const lines = texts.flatMap((text) => text?.split('\n') ?? []);
  return lines.map((line) => `// ${line}`).join('\n');
}

function unreadable(grade: SubmissionGrade): ClassroomResult {
  const message = inert(submissionReport(grade, 2_000));
  return {
    version: 1,
    status: 'error',
    max_score: grade.possible,
    tests: [{ name: 'The submission', status: 'error', score: 0, message, line_no: 0 }],
  };
}

function worst(tests: readonly ClassroomTest[]): Outcome {
  if (tests.every(({ status }) => status === 'error')) return 'error';
  return tests.every(({ status }) => status === 'pass') ? 'pass' : 'fail';
}

/**
 * A text that the log of a workflow shows and does not obey. The reporter prints names and messages,
 * and a line that begins with `::`, or has `##[` in it, is a command to the runner.
 */
function inert(text: string): string {
  return plain(text)
    .replace(/^(\s*):(?=:)/gm, '$1: ')
    .replaceAll('##[', '## [');
}
