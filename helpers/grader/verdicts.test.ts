import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import gradeSchema from '../grading/grade.schema.json' with { type: 'json' };
import { toCsv } from './csv.ts';
import { toJUnit } from './junit-xml.ts';
import schema from './submission-grade.schema.json' with { type: 'json' };
import type { LessonRoster, LessonVerdict, SubmissionGrade, TestVerdict } from './types.ts';
import { gradeSubmission, isUntouched, type Outcome, readVerdict } from './verdicts.ts';

const validate = new Ajv2020({ allErrors: true })
  .addSchema(gradeSchema, 'grade.schema.json')
  .compile(schema);

const ROSTER: LessonRoster = {
  lesson: '05',
  folder: '05-five',
  title: 'Five',
  exercises: [
    { id: '5.1', title: 'adding' },
    { id: '5.2', title: 'dividing' },
  ],
  tests: [
    { name: 'adds', exercise: '5.1', hints: ['nudge', 'approach', 'near-solution'] },
    { name: 'divides', exercise: '5.2', hints: ['nudge', 'approach', 'near-solution'] },
    { name: 'refuses', exercise: '5.2', hints: ['nudge', 'approach', 'near-solution'] },
  ],
};

const passed = (name: string): TestVerdict => ({ name, state: 'passed' });
const failed = (name: string, errorName = 'AssertionError'): TestVerdict => ({
  name,
  state: 'failed',
  errorName,
  message: `${name}: expected 1 to be 2`,
  at: 'lessons/05-five/exercise.ts:7',
});
const ALL = ROSTER.tests.map(({ name }) => passed(name));

function gradeOf(verdict: LessonVerdict | undefined, more: Partial<Outcome> = {}): SubmissionGrade {
  const grade = gradeSubmission({
    submission: 'anna',
    state: 'graded',
    lessons: [ROSTER],
    whole: true,
    verdicts: new Map(verdict && [['05', verdict]]),
    notes: [],
    seconds: 1.234,
    ...more,
  });
  expect(validate({ ...grade, key: '0'.repeat(64) }) ? [] : validate.errors).toEqual([]);
  return grade;
}
const gradeTests = (...tests: TestVerdict[]) => gradeOf({ lesson: '05', tests });

describe('a grade', () => {
  it('has a point for every test of the roster that passed', () => {
    expect(gradeTests(...ALL)).toMatchObject({ points: 3, possible: 3, seconds: 1.2 });
    const grade = gradeTests(passed('adds'), failed('divides'), passed('refuses'));
    expect(grade).toMatchObject({ points: 2, possible: 3 });
    expect(grade.lessons[0]?.exercises).toMatchObject([
      { id: '5.1', status: 'passed', points: 1, hints: ['nudge', 'approach', 'near-solution'] },
      { id: '5.2', status: 'failing', points: 1, message: 'divides: expected 1 to be 2' },
    ]);
    expect(grade.lessons[0]).not.toHaveProperty('problem');
  });

  it('counts a test that is missing, skipped, there twice or unknown as not passed', () => {
    for (const tests of [
      [passed('adds'), passed('refuses')],
      [passed('adds'), { name: 'divides', state: 'skipped' as const }, passed('refuses')],
      [...ALL, passed('divides')],
      [...ALL, failed('divides')],
      [passed('adds'), passed('refuses'), passed('divides '), passed('another')],
    ]) {
      const grade = gradeTests(...tests);
      expect(grade).toMatchObject({ points: 2, possible: 3 });
      expect(grade.lessons[0]?.exercises[1]?.tests[0]).toMatchObject({ status: 'not-run' });
      expect(grade.lessons[0]?.problem?.message).toMatch(/^1 of 3 graded tests did not run/);
    }
  });

  it('gives nothing for a lesson that nothing is known of', () => {
    const grade = gradeOf(undefined);
    expect(grade).toMatchObject({ points: 0, possible: 3 });
    expect(grade.lessons[0]?.problem?.message).toBe('It did not run');
  });

  it('says at the tests that did not run why the lesson ended early', () => {
    const problem = { message: 'It hung', at: 'lessons/05-five/exercise.ts:9' };
    const grade = gradeOf({ lesson: '05', tests: [passed('adds')], problem });
    expect(grade).toMatchObject({ points: 1, lessons: [{ problem }] });
    expect(grade.lessons[0]?.exercises[1]?.tests).toMatchObject([problem, problem]);
  });

  it('tells what was not begun from what is wrong', () => {
    const todo = ROSTER.tests.map(({ name }) => failed(name, 'TodoError'));
    expect(gradeTests(...todo).lessons[0]?.exercises[0]?.status).toBe('not-started');
    expect(isUntouched(ROSTER, { lesson: '05', tests: todo })).toBe(true);
    for (const [index, { name }] of ROSTER.tests.entries()) {
      for (const other of [passed(name), failed(name), undefined]) {
        const tests = todo.toSpliced(index, 1, ...(other ? [other] : []));
        expect(isUntouched(ROSTER, { lesson: '05', tests })).toBe(false);
      }
    }
  });
});

describe('what Vitest says of a lesson', () => {
  const say = (verdict: unknown) => readVerdict({ grader: 'lesson', verdict });

  it('is read when it has the right shape', () => {
    const verdict = { lesson: '05', tests: [passed('adds'), failed('divides')] };
    expect(say(verdict)).toEqual(verdict);
    expect(say({ ...verdict, problem: { message: 'It hung' }, more: 1 })).toEqual({
      ...verdict,
      problem: { message: 'It hung' },
    });
  });

  it.each([
    null,
    1,
    'lesson',
    [],
    {},
    { grader: 'lesson' },
    { grader: 'end', verdict: { lesson: '05', tests: [] } },
  ])('is nothing when it is %j', (message) => {
    expect(readVerdict(message)).toBeUndefined();
  });

  it.each([[{ name: 'adds', state: 'Passed' }], [{ name: 1, state: 'passed' }], [null]])(
    'loses all its tests when one is %j',
    (test) => {
      expect(say({ lesson: '05', tests: [...ALL, test] })).toEqual({
        lesson: '05',
        tests: [],
        problem: { message: 'Its results cannot be read' },
      });
    },
  );

  it('loses control characters, and what is longer than anybody reads', () => {
    const message = `\x1b[31mred\x1b[0m\0\x07 ${'x'.repeat(1e6)}`;
    const read = say({
      lesson: '05',
      tests: [{ name: 'adds', state: 'failed', message, at: 'x' }],
    });
    expect(read?.tests[0]?.message).toMatch(/^red x{1000,2000} …$/);
    expect(read?.tests[0]).not.toHaveProperty('at');
  });
});

describe('the table', () => {
  it('has a row for each submission and a column for each lesson', () => {
    const grades = [
      gradeTests(...ALL),
      gradeOf(undefined, {
        submission: 'ben',
        state: 'broken',
        notes: [{ about: 'submission', message: 'It is "encrypted", so ask again' }],
      }),
    ];
    expect(toCsv(grades)).toBe(
      'submission,state,points,possible,percent,lesson 05,notes\r\n' +
        'anna,graded,3,3,100,3,\r\n' +
        'ben,broken,0,3,0,0,"submission: It is ""encrypted"", so ask again"\r\n',
    );
  });

  it('says why a lesson ended early, once', () => {
    const problem = { message: 'It hung\nmore', at: 'lessons/05-five/exercise.ts:9' };
    const verdict = { lesson: '05', tests: [], problem };
    expect(toCsv([gradeOf(verdict)])).toContain(
      ',lesson 05: It hung (lessons/05-five/exercise.ts:9)\r\n',
    );
    const missing = { lesson: '05', tests: [], problem: { message: 'It is missing' } };
    const notes = [{ about: 'lessons 05', message: 'It is missing' }];
    expect(toCsv([gradeOf(missing, { notes })])).toContain(',lessons 05: It is missing\r\n');
  });

  it('rounds down, so that 100 % is only what is complete', () => {
    expect(toCsv([{ ...gradeTests(...ALL), points: 2_999, possible: 3_000 }])).toContain(',99.9,');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=cmd|" /C calc"!A0'])(
    'has nothing that a spreadsheet would calculate: %j',
    (submission) => {
      const [, row = ''] = toCsv([{ ...gradeTests(...ALL), submission }]).split('\r\n');
      expect(row).toMatch(/^"?'/);
    },
  );
});

describe('the JUnit report', () => {
  it('has a suite for each lesson, and no character that XML forbids', () => {
    const wrong = { ...failed('divides'), message: 'a < b & "c"\nnext' };
    expect(toJUnit(gradeTests(passed('adds'), wrong))).toBe(`<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="Traffic Layer" tests="3" failures="1" skipped="1" errors="0" time="1.2">
  <testsuite name="lessons/05-five" hostname="localhost" tests="3" failures="1" skipped="1" errors="0">
    <testcase classname="lessons/05-five" name="adds"/>
    <testcase classname="lessons/05-five" name="divides"><failure message="a &lt; b &amp; &quot;c&quot;" type="failing">a &lt; b &amp; &quot;c&quot;&#10;next&#10;lessons/05-five/exercise.ts:7</failure></testcase>
    <testcase classname="lessons/05-five" name="refuses"><skipped message="It did not run"/></testcase>
  </testsuite>
</testsuites>
`);
  });
});
