import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import gradeSchema from '../grading/grade.schema.json' with { type: 'json' };
import { toCsv } from './csv.ts';
import { toJUnit } from './junit-xml.ts';
import schema from './submission-grade.schema.json' with { type: 'json' };
import type { SubmissionGrade } from './types.ts';

/** A grade as it is kept: with what it was made of, to know whether it is still up to date. */
export interface StoredGrade extends SubmissionGrade {
  /** Hash of the course, of the files that were taken and of the options. */
  readonly key: string;
}

/** Name of the table over all submissions. No submission can be called so. */
export const TABLE = 'grades.csv';

const validate = new Ajv2020({ allErrors: true })
  .addSchema(gradeSchema, 'grade.schema.json')
  .compile<StoredGrade>(schema);

/**
 * Writes `grade.json` and `junit.xml` into the submission's folder, each whole or not at all.
 *
 * @throws {Error} when the grade is not what the schema describes, which is a fault of the grader
 */
export function writeGrade(out: string, grade: StoredGrade): void {
  const { submission } = grade;
  if (!validate(grade)) {
    const [first] = validate.errors ?? [];
    throw new Error(`The grade of ${submission}: ${first?.instancePath} ${first?.message}`);
  }
  const folder = join(out, submission);
  mkdirSync(folder, { recursive: true });
  // The grade goes last: it tells the next run that everything is there.
  writeWhole(join(folder, 'junit.xml'), toJUnit(grade));
  writeWhole(join(folder, 'grade.json'), `${JSON.stringify(grade, null, 2)}\n`);
}

/** Writes the table over all submissions, in the order of their names. */
export function writeTable(out: string, grades: readonly SubmissionGrade[]): void {
  mkdirSync(out, { recursive: true });
  writeWhole(join(out, TABLE), toCsv([...grades].sort(byName)));
}

/** What an earlier run has written for a submission, if it is there and whole. */
export function readGrade(out: string, submission: string): StoredGrade | undefined {
  try {
    const grade: unknown = JSON.parse(readFileSync(join(out, submission, 'grade.json'), 'utf8'));
    return validate(grade) && grade.submission === submission ? grade : undefined;
  } catch {
    return undefined;
  }
}

/** All grades that were written to a folder. */
export function readGrades(out: string): StoredGrade[] {
  return readdirSync(out, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readGrade(out, name) ?? [])
    .sort(byName);
}

function byName(a: SubmissionGrade, b: SubmissionGrade): number {
  return compareNames(a.submission, b.submission);
}

/** The same order on every machine, whatever its language. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A reader sees the file as it was, or as it is now, and never a half. */
function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}
