import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SubmissionGrade } from '../types.ts';
import { classroomEnvironment, toClassroom } from './classroom.ts';
import { type TestCode, toExercism, unreadableExercism } from './exercism.ts';
import { toGradescope } from './gradescope.ts';
import { toPrairieLearn } from './prairielearn.ts';

/** Names of the formats, as `--format` takes them. */
export const FORMATS = ['gradescope', 'classroom', 'exercism', 'prairielearn'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * Reads what was given to `--format`.
 *
 * @param list names with commas between them
 * @throws {RangeError} when one of them is not the name of a format
 */
export function parseFormats(list: string): readonly Format[] {
  const names = list.split(',').map((name) => name.trim());
  const strange = names.find((name) => !isFormat(name));
  if (strange !== undefined) {
    throw new RangeError(`--format knows ${FORMATS.join(', ')}, got "${strange}"`);
  }
  return FORMATS.filter((format) => names.includes(format));
}

function isFormat(name: string): name is Format {
  return (FORMATS as readonly string[]).includes(name);
}

/**
 * Writes a grade in other graders' formats, beside its `grade.json`: `gradescope.json`,
 * `prairielearn.json`, `classroom.json` and `classroom.env`, and `exercism-05.json` for each lesson.
 *
 * @param folder is made if it isn't there
 * @param testCode for Exercism, see `readTestCode`
 * @returns the names of the files
 */
export function writeFormats(
  grade: SubmissionGrade,
  formats: readonly Format[],
  folder: string,
  testCode?: TestCode,
): readonly string[] {
  const files = new Map<string, string>();
  const add = (name: string, value: unknown) => files.set(name, `${JSON.stringify(value)}\n`);
  if (formats.includes('gradescope')) add('gradescope.json', toGradescope(grade));
  if (formats.includes('classroom')) {
    const results = toClassroom(grade);
    add('classroom.json', results);
    files.set('classroom.env', classroomEnvironment(results));
  }
  if (formats.includes('exercism')) {
    const isBroken = grade.state === 'broken';
    for (const lesson of grade.lessons) {
      const results = isBroken ? unreadableExercism(grade) : toExercism(lesson, testCode);
      add(`exercism-${lesson.lesson}.json`, results);
    }
  }
  if (formats.includes('prairielearn')) add('prairielearn.json', toPrairieLearn(grade));

  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return [...files.keys()];
}
