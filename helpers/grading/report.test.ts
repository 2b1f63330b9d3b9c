import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { lessonFolders } from './course.ts';
import schema from './grade.schema.json' with { type: 'json' };
import type { Grade } from './grade.ts';
import {
  makeTestBed,
  type SHORT_LIMITS,
  type TestBed,
  tinyExercise,
  tinyLesson,
  tinyStub,
} from './test-bed.ts';

const validate = new Ajv2020({ allErrors: true }).compile(schema);
/** What the schema has against a grade. */
const schemaProblems = (grade: Grade) => (validate(grade) ? [] : validate.errors);

const done = tinyExercise('return n / 2;');
const wrong = tinyExercise('return n - 2;');
const [exercise, spec] = ['lessons/91-one/exercise.ts', 'lessons/91-one/one.spec.ts'];

function twoLessons(first: string, second = done, limits?: typeof SHORT_LIMITS): TestBed {
  return makeTestBed(
    { ...tinyLesson('91', 'One', first), ...tinyLesson('92', 'Two', second) },
    limits,
  );
}

/** The output without the one thing that differs from run to run. */
const timeless = (output: string) => output.replace(/\(\d+\.\d s;/, '(1.0 s;');

describe('the report', { timeout: 120_000 }, () => {
  it('of a fresh clone ends with what to do first, on one screen', async () => {
    using bed = twoLessons(tinyStub('91'), tinyStub('92'));
    const run = await bed.vitest(['run']);
    expect(timeless(run.output)).toBe(`
  91  One      0 of 3  ░░░░░░░░░░░░░░░░░░░░░░░░
  92  Two      0 of 3  ░░░░░░░░░░░░░░░░░░░░░░░░

  0 of 6 graded tests pass (1.0 s; details: grade.json)
  References: 8 of 8 tests pass, 0 of 0 published numbers asserted

  Next: exercise 91.1 doubling
    doubles 2
    TODO 91.1 double: this exercise is not written yet
    lessons/91-one/exercise.ts:5
    Hint: The nudge.
    Read lessons/91-one/README.md, then: npm run learn -- lessons/91
`);
    expect(run.code).toBe(1);
    expect(bed.grade()).toMatchObject({ whole: true, points: 0, possible: 6 });
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('of as many lessons as there are, with their titles, fits on one screen too', async () => {
    // Not the lessons themselves, which take a minute. Two more lines say on whose units the last runs.
    const lessons = lessonFolders().map(({ title }, index) => {
      const number = String(41 + index);
      return tinyLesson(number, title.replaceAll("'", '’'), tinyStub(number));
    });
    using bed = makeTestBed(Object.assign({}, ...lessons));
    const { output } = await bed.vitest(['run']);
    const lines = output.trimEnd().split('\n');
    expect(lines.length, output).toBeLessThanOrEqual(24 - 2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.at(-1)).toMatch(/npm run learn -- lessons\/\d\d$/);
    expect(bed.grade().lessons).toHaveLength(lessons.length);
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('of one lesson lists its tests, and the first wrong answer with its line', async ({
    expect,
  }) => {
    using bed = twoLessons(wrong);
    const run = await bed.vitest(['run', 'lessons/91']);
    expect(run.output).toBe(`
  Lesson 91: One
  ✓ 91.1 doubling  1 of 1
  ✗ 91.2 halving  1 of 2
      ✓ halves 4
      ✗ halves 6
          expected 4 to be 3 // Object.is equality

  References: 4 of 4 tests pass, 0 of 0 published numbers asserted

  Next: exercise 91.2 halving
    halves 6
    expected 4 to be 3 // Object.is equality
    ${spec}:21
    Hint: The nudge.
    Read lessons/91-one/README.md, then: npm run learn -- lessons/91
`);
    expect(run.code).toBe(1);
    expect(bed.grade()).toMatchObject({ whole: false, points: 2, possible: 3 });
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('of a lesson that is done says so, and the exit code is 0', async () => {
    using bed = twoLessons(done);
    const run = await bed.vitest(['run']);
    expect(run.output).toContain('Everything that ran is done. Well built!');
    expect(run.code).toBe(0);
    expect(bed.grade()).toMatchObject({ whole: true, points: 6, possible: 6 });
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('of the exercises alone counts the tests that the lesson has', async () => {
    using bed = twoLessons(wrong);
    const run = await bed.vitest(['run', '--project', 'exercises']);
    expect(run.output).toContain('5 of 6 graded tests pass');
    expect(run.output).not.toContain('References');
    expect(bed.grade()).toMatchObject({ whole: false, points: 5, possible: 6 });

    bed.write(exercise, tinyExercise('return n / ;'));
    const broken = await bed.vitest(['run', '--project', 'exercises', 'lessons/91']);
    expect(broken.output).toContain('exercise.ts cannot be loaded');
    expect(broken.output).not.toContain('Well built');
    expect(broken.output).toContain('Read lessons/91-one/README.md');
    expect(broken.code).toBe(1);
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('of the references alone leaves the grade alone', async () => {
    using bed = twoLessons(wrong);
    await bed.vitest(['run']);
    const [grade, junit] = [bed.read('grade.json'), bed.read('reports/junit.xml')];
    const run = await bed.vitest(['run', '--project', 'solutions']);
    expect(run.output).toContain('References: 8 of 8 tests pass');
    expect(run.code).toBe(0);
    expect(bed.read('grade.json')).toBe(grade);
    expect(bed.read('reports/junit.xml')).toBe(junit);
  });

  it('of a choice of tests shows those, and grades nothing', async () => {
    using bed = twoLessons(wrong);
    const run = await bed.vitest(['run', 'lessons/91', '-t', 'Exercise 91.2']);
    expect(run.output).toContain('✗ 91.2 halving  1 of 2');
    expect(run.output).not.toContain('91.1');
    expect(run.output).not.toContain('.skip');
    expect(existsSync(join(bed.root, 'grade.json'))).toBe(false);
  });

  it.for([
    ['skipped', "it('halves 6'", "it.skip('halves 6'", 2, 3, /1 of 3 graded tests did not run/],
    ['left out by .only', "it('halves 6'", "it.only('halves 6'", 1, 3, /2 of 3 graded tests did/],
    [
      'a whole exercise skipped',
      "describe('Exercise 91.2",
      "describe.skip('Exercise 91.2",
      1,
      3,
      /2 of 3/,
    ],
  ] as const)('counts no test that was %s', async ([, text, by, points, possible, says]) => {
    using bed = twoLessons(done);
    bed.write(spec, bed.read(spec).replace(text, by));
    const run = await bed.vitest(['run']);
    expect(bed.grade().lessons[0]).toMatchObject({
      points,
      possible,
      problem: { message: expect.stringMatching(says) },
    });
    expect(run.output).toMatch(says);
    expect(run.code).toBe(1);
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('counts no test that the exercise itself takes away', async () => {
    // The second describe is never reached: the file throws while its tests are collected.
    using bed = twoLessons(done);
    bed.write(
      spec,
      bed
        .read(spec)
        .replace("describe('Exercise 91.2", "double.call(null, 1);\n  describe('Exercise 91.2"),
    );
    bed.write(
      exercise,
      done.replace('return n + n', 'throw 1').replace('async function double', 'function double'),
    );
    const run = await bed.vitest(['run']);
    expect(bed.grade().lessons[0]).toMatchObject({ points: 0, possible: 3 });
    expect(run.code).toBe(1);
    expect(schemaProblems(bed.grade())).toEqual([]);
  });

  it('shows what a lesson prints when it runs alone, by the test that printed it', async ({
    expect,
  }) => {
    using bed = twoLessons(tinyExercise("console.log('n is', n);\n  return n / 2;"));
    const whole = await bed.vitest(['run']);
    expect(whole.output).not.toContain('n is 4');
    const alone = await bed.vitest(['run', 'lessons/91']);
    expect(alone.output).toContain(
      'printed by "halves 4":\nn is 4\n  printed by "halves 6":\nn is 6',
    );
  });

  it('in JUnit has every graded and every skipped test, and no path of this machine', async ({
    expect,
  }) => {
    using bed = twoLessons(tinyExercise('return n === 4 ? process.abort() : n / 2;'));
    await bed.vitest(['run']);
    const xml = bed.read('reports/junit.xml');
    expect(unbalanced(xml)).toEqual([]);
    expect(xml).not.toContain(bed.root);
    const count = (text: string) => xml.split(text).length - 1;
    // Eight tests, and the file itself, whose process has ended.
    expect(xml).toMatch(/<testsuites name="Traffic Layer" tests="9" failures="2"/);
    expect([count('<testcase '), count('<failure '), count('<skipped/>')]).toEqual([9, 2, 1]);
    expect(xml).toMatch(/<failure message="This test ended the whole process/);
  });

  it('in watch mode comes soon after saving, also after an endless loop', async ({
    expect,
    annotate,
  }) => {
    using bed = twoLessons(tinyStub('91'), tinyStub('92'));
    // The other lesson is built on this one, so that it runs again too.
    const other = 'lessons/92-two/two.spec.ts';
    bed.write(other, `await import('../91-one/exercise.ts');\n${bed.read(other)}`);
    const steps = [
      { text: wrong, shows: '✗ 91.2 halving  1 of 2' },
      { text: tinyExercise('for (;;) {}'), shows: 'lessons/91-one/exercise.ts:6\n' },
      { text: done, shows: '✓ 91.2 halving  2 of 2' },
    ];
    const took: number[] = [];
    const started = performance.now();
    let firstRun = 0;
    let saved = 0;
    let seen = 0;
    const run = await bed.vitest(['watch', '--project', 'exercises'], {
      onOutput(output, child) {
        // Each run ends with this line.
        const runs = output.split('Waiting for changes').length - 1;
        if (runs === seen) return;
        seen = runs;
        if (saved) took.push(Math.round(performance.now() - saved));
        else firstRun = performance.now() - started;
        const step = steps[runs - 1];
        if (!step) return child.kill('SIGTERM');
        saved = performance.now();
        bed.write(exercise, step.text);
      },
    });
    const reports = run.output.split('Waiting for changes');
    expect(reports[0], 'the first run shows the table').toContain('91  One      0 of 3');
    for (const [i, { shows }] of steps.entries()) {
      expect(reports[i + 1]).toContain(shows);
      expect(reports[i + 1], 'the other lesson is not listed').not.toMatch(/Lesson 92|92 {2}Two/);
    }
    await annotate(`from saving to the result: ${took.join(', ')} ms`);
    // On an idle machine it is a third of a second; how busy this one is, the first run shows.
    expect(took[0], 'no start of Vitest in it').toBeLessThan(firstRun);
    if (!('unknown' in run.leftBehind)) expect(run.leftBehind).toEqual([]);
  });
});

/** Tags of an XML text that are closed in another order than opened, or not at all. */
function unbalanced(xml: string): string[] {
  const open: string[] = [];
  for (const [, closing, name, attributes] of xml.matchAll(
    /<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*\/?>/g,
  )) {
    if (closing) {
      if (open.pop() !== name) return [`</${name}>`];
    } else if (name && !xml.includes(`<${name}${attributes}/>`)) open.push(name);
  }
  const text = xml.replace(/<\?xml[^>]*\?>|<\/?[\w-]+(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g, '');
  if (/[<]|&(?!amp;|lt;|gt;|quot;|apos;|#)/.test(text)) open.push(text);
  return open;
}
