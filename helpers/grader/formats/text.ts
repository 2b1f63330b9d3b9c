// What the formats have in common: texts of students' programs, made fit for other people's files.
import { stripVTControlCharacters } from 'node:util';
import {
  type ExerciseGrade,
  firstProblem,
  type LessonGrade,
  ownTitle,
  type TestGrade,
} from '../../grading/grade.ts';
import type { SubmissionGrade } from '../types.ts';

/** Where a text was cut off. */
const CUT = ' … (cut)';

/** How other graders call the way in which a test ended. */
export type Outcome = 'pass' | 'fail' | 'error';

/** `error` is a test that said nothing, since it did not run. */
export function outcome({ status }: TestGrade): Outcome {
  if (status === 'passed') return 'pass';
  return status === 'not-run' ? 'error' : 'fail';
}

/** The exercises that have points to earn. */
export function gradedExercises(lesson: LessonGrade): readonly ExerciseGrade[] {
  return lesson.exercises.filter(({ tests }) => tests.length > 0);
}

/**
 * A text that shows as what it is: without colours, without characters that move the cursor or turn
 * the direction of writing, and without halves of characters, which no database takes.
 */
export function plain(text: string): string {
  // Nearly all texts: the class of a thousand has millions of them.
  if (!/[^\n\t -~]/.test(text)) return text;
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, '\n')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .replace(/(?![\n\t])\p{Cc}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '');
}

/** The beginning of a text that takes at most so many bytes in UTF-8, and ends with a whole character. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const mark = bytes > 4 * Buffer.byteLength(CUT) ? CUT : '';
  const all = Buffer.from(text);
  let end = Math.max(0, bytes - Buffer.byteLength(mark));
  while (end > 0 && isContinuation(all[end])) end -= 1;
  return all.toString('utf8', 0, end) + mark;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** What is wrong with a test, and where: nothing for one that passed. */
export function whatIsWrong(test: TestGrade, bytes: number): string {
  if (test.status === 'passed') return '';
  const message = short(test.message ?? 'It failed without a message', bytes);
  return test.at ? `${message}\n${plain(test.at)}` : message;
}

/** The beginning of a text, plain. A text of any length costs no more than what is kept of it. */
export function short(text: string, bytes: number): string {
  return cut(plain(text.slice(0, 4 * bytes + 100)), bytes);
}

/** The first of the three hints, for an exercise that is not done. */
export function hintOf({ status, hints }: ExerciseGrade): string | undefined {
  return status === 'passed' ? undefined : hints[0];
}

/** Every test of an exercise with how it ended, what is wrong with it, and a hint to go on. */
export function exerciseReport(exercise: ExerciseGrade, bytes: number): string {
  const words = {
    passed: 'passed',
    failing: 'failed',
    'not-started': 'to do',
    'not-run': 'not run',
  };
  const hint = hintOf(exercise);
  const first = firstProblem(exercise.tests);
  // A dozen tests that wait for the same TODO say the same.
  const said = new Set<string>();
  return [
    `${exercise.points} of ${exercise.possible} graded tests pass.`,
    ...(hint && first ? [`Hint: ${hint}`] : []),
    '',
    ...exercise.tests.flatMap((test) => {
      const wrong = whatIsWrong(test, bytes);
      const isNew = wrong !== '' && !said.has(wrong);
      said.add(wrong);
      return [
        `[${words[test.status]}] ${plain(ownTitle(test.name))}`,
        ...(isNew ? wrong.split('\n').map((line) => `    ${line}`) : []),
      ];
    }),
  ].join('\n');
}

/** What concerns the submission as a whole: its points, what the grader noticed, lessons that died. */
export function submissionReport(grade: SubmissionGrade, bytes: number): string {
  return [
    grade.state === 'broken'
      ? 'The submission could not be read, so nothing was graded.'
      : `${grade.points} of ${grade.possible} graded tests pass.`,
    ...grade.notes.map(({ about, message }) => `${plain(about)}: ${short(message, bytes)}`),
    ...grade.lessons.flatMap(({ lesson, problem }) => {
      if (!problem) return [];
      const at = problem.at ? ` (${plain(problem.at)})` : '';
      return [`Lesson ${lesson}: ${short(problem.message, bytes)}${at}`];
    }),
  ].join('\n');
}

/**
 * The first of several ever shorter versions that fits.
 *
 * @param build makes the version in which every message has at most so many bytes
 * @param fits whether a version is short enough
 */
export function fitting<T>(build: (bytes: number) => T, fits: (version: T) => boolean): T {
  const lengths = [8_000, 2_000, 500, 200, 80];
  for (const bytes of lengths) {
    const version = build(bytes);
    if (fits(version)) return version;
  }
  return build(20);
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
