import type { LessonGrade, TestGrade } from '../grading/grade.ts';
import type { SubmissionGrade } from './types.ts';
import { plain } from './verdicts.ts';

/**
 * A grade as JUnit XML, as `reports/junit.xml` has it: a suite for each lesson, a case for each
 * graded test. Vitest's reporter can't make it, since the grader isn't the process that runs Vitest.
 */
export function toJUnit(grade: SubmissionGrade): string {
  const tests = grade.lessons.flatMap(testsOf);
  return `<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="Traffic Layer" ${counts(tests)} errors="0" time="${grade.seconds}">
${grade.lessons.map(suite).join('')}</testsuites>
`;
}

function suite(lesson: LessonGrade): string {
  const name = `lessons/${lesson.folder}`;
  const tests = testsOf(lesson);
  return `  <testsuite name="${escaped(name)}" hostname="localhost" ${counts(tests)} errors="0">
${tests.map((test) => testCase(name, test)).join('')}  </testsuite>
`;
}

function testCase(suite: string, { name, status, message = '', at }: TestGrade): string {
  const start = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}"`;
  if (status === 'passed') return `${start}/>\n`;
  if (status === 'not-run') return `${start}><skipped message="${escaped(message)}"/></testcase>\n`;
  const place = at ? `\n${at}` : '';
  return (
    `${start}><failure message="${escaped(message.split('\n')[0] ?? '')}" type="${status}">` +
    `${escaped(message + place)}</failure></testcase>\n`
  );
}

function testsOf({ exercises }: LessonGrade): TestGrade[] {
  return exercises.flatMap(({ tests }) => [...tests]);
}

function counts(tests: readonly TestGrade[]): string {
  const failures = tests.filter(({ status }) => status === 'failing' || status === 'not-started');
  const skipped = tests.filter(({ status }) => status === 'not-run');
  return `tests="${tests.length}" failures="${failures.length}" skipped="${skipped.length}"`;
}

function escaped(text: string): string {
  const named: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };
  return plain(text)
    .replace(/[&<>"]/g, (character) => `&${named[character]};`)
    .replaceAll('\n', '&#10;');
}
