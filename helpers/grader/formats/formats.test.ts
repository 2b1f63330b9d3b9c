import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { lessonFolders } from '../../grading/course.ts';
import { sum } from '../../grading/grade.ts';
import type { LessonRoster, SubmissionGrade, TestVerdict } from '../types.ts';
import { gradeSubmission } from '../verdicts.ts';
import { type ClassroomResult, classroomEnvironment, toClassroom } from './classroom.ts';
import { toExercism } from './exercism.ts';
import { toGradescope } from './gradescope.ts';
import { FORMATS, parseFormats, writeFormats } from './index.ts';
import { toPrairieLearn } from './prairielearn.ts';
import { readTestCode, testsIn } from './test-code.ts';
import { cut, plain } from './text.ts';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
const validators = Object.fromEntries(
  FORMATS.map((format) => [
    format,
    ajv.compile(
      JSON.parse(readFileSync(new URL(`./${format}.schema.json`, import.meta.url), 'utf8')),
    ),
  ]),
) as Record<(typeof FORMATS)[number], ReturnType<typeof ajv.compile>>;

function expectValid(format: (typeof FORMATS)[number], value: unknown): void {
  const validate = validators[format];
  validate(value);
  expect(validate.errors ?? [], format).toEqual([]);
}

/** The lessons of the course, each exercise with so many graded tests. */
function rosterOf(testsEach: number, lessons = lessonFolders()): LessonRoster[] {
  return lessons.map(({ number, folder, title, exercises }) => ({
    lesson: number,
    folder,
    title,
    exercises: [...exercises].map(([id, exerciseTitle]) => ({ id, title: exerciseTitle })),
    tests: [...exercises].flatMap(([id, exerciseTitle]) =>
      Array.from({ length: testsEach }, (_, i) => ({
        name: `Lesson ${Number(number)}: ${title} > Exercise ${id}: ${exerciseTitle} > case ${i} of many, with ${'a long title '.repeat(4)}`,
        exercise: id,
        hints: ['The nudge.', 'The approach.', 'Nearly the solution.'],
      })),
    ),
  }));
}

type Ending = (index: number, name: string) => TestVerdict | undefined;

function gradeOf(ending: Ending, options: { testsEach?: number; problem?: string } = {}) {
  const lessons = rosterOf(options.testsEach ?? 3);
  return gradeSubmission({
    submission: 'anna',
    state: 'graded',
    whole: true,
    lessons,
    verdicts: new Map(
      lessons.map(({ lesson, tests }) => [
        lesson,
        {
          lesson,
          tests: tests.flatMap(({ name }, i) => ending(i, name) ?? []),
          ...(options.problem && { problem: { message: options.problem } }),
        },
      ]),
    ),
    notes: [],
    seconds: 12.34,
  });
}

const passes: Ending = (_, name) => ({ name, state: 'passed' });
const todo: Ending = (_, name) => ({
  name,
  state: 'failed',
  errorName: 'TodoError',
  message: 'this exercise is not written yet',
  at: 'lessons/05-load-balancer/exercise.ts:27',
});
const fails =
  (message: string): Ending =>
  (_, name) => ({ name, state: 'failed', message, at: 'lessons/05-load-balancer/exercise.ts:31' });
const half: Ending = (i, name) => (i % 2 === 0 ? passes(i, name) : fails('got 4')(i, name));

function brokenGrade(): SubmissionGrade {
  return {
    ...gradeOf(() => undefined),
    state: 'broken',
    notes: [{ about: 'submission', message: 'anna.zip is not a zip file' }],
  };
}

const odd = [
  ['quotes', `it said "no" and 'never' and \`what\``],
  ['newlines', 'one\r\ntwo\rthree\nfour'],
  ['emoji', 'wanted 🏁, got 👩‍👩‍👧'],
  ['colours', '\u001b[31mred\u001b[39m and \u001b]8;;x\u0007link\u001b]8;;\u0007'],
  ['control characters', 'a\u0000b\u0007c\u0008d\u001be\u007ff\u0085g'],
  ['half of a character', 'x\ud83cy\udffez'],
  ['a direction turned round', 'passed \u202e deliaf \u2066x\u2069'],
  ['HTML', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
  ['JSON', '"}],"score":100,"tests":[{"score":100'],
  ['workflow commands', '::stop-commands::x\n  ::error::x\n##[error]x\n::add-mask::x'],
  ['a very long line', 'ä'.repeat(70_000)],
  ['very many lines', 'x\n'.repeat(70_000)],
  ['nothing', ''],
] as const;

/** Grades as the grader makes them, and one whose messages nobody has shortened. */
const grades: (readonly [string, SubmissionGrade])[] = [
  ['whole', gradeOf(passes)],
  ['half', gradeOf(half)],
  ['untouched', gradeOf(todo)],
  ['empty', gradeOf(() => undefined, { problem: 'There is no exercise.ts in the submission' })],
  ['broken', brokenGrade()],
  [
    'large',
    gradeOf((i, name) => (i % 3 ? fails('m'.repeat(1_900)) : passes)(i, name), { testsEach: 40 }),
  ],
  ...odd.map(([what, message]) => [`with ${what}`, withMessage(message)] as const),
];

function withMessage(message: string): SubmissionGrade {
  const grade = gradeOf(half);
  const lessons = grade.lessons.slice(0, 3);
  return {
    ...grade,
    ...sum(lessons),
    notes: [{ about: message.slice(0, 50), message }],
    lessons: lessons.map((lesson) => ({
      ...lesson,
      problem: { message },
      exercises: lesson.exercises.map((exercise) => ({
        ...exercise,
        message,
        tests: exercise.tests.map((test) =>
          test.status === 'passed' ? test : { ...test, message },
        ),
      })),
    })),
  };
}

const total = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);

describe.each(grades)('a grade that is %s', (_, grade) => {
  it('is a results.json of Gradescope, whose scores add up to the points', () => {
    const results = toGradescope(grade);

    expectValid('gradescope', results);
    expect(total(results.tests.map(({ score }) => score))).toBe(grade.points);
    expect(total(results.tests.map((test) => test.max_score))).toBe(grade.possible);
    for (const { output, score, max_score, status } of results.tests) {
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(65_535);
      expect(status === 'passed').toBe(score === max_score);
    }
    expect(Buffer.byteLength(results.output)).toBeLessThanOrEqual(65_535);
  });

  it('is a result of GitHub Classroom for each lesson, whose scores add up to the points', () => {
    const results = Object.values(toClassroom(grade));

    for (const result of results) expectValid('classroom', result);
    expect(total(results.map((result) => result.max_score))).toBe(grade.possible);
    expect(total(results.flatMap(({ tests }) => tests.map(({ score }) => score)))).toBe(
      grade.points,
    );
  });

  it('fits into the variables by which GitHub Classroom takes it', () => {
    const results = toClassroom(grade);
    const text = classroomEnvironment(results);
    const lines = text.trimEnd().split('\n');
    const variables = new Map(
      lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );

    expect(Buffer.byteLength(text)).toBeLessThan(1_700_000);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(131_072);
    // As the reporter reads them.
    const runners = variables.get('CLASSROOM_RUNNERS')?.split(',') ?? [];
    const read = runners.map((runner) => {
      const encoded = variables.get(`${runner.trim().toUpperCase()}_RESULTS`) ?? '';
      return [
        runner,
        JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as ClassroomResult,
      ];
    });
    expect(Object.fromEntries(read)).toEqual(results);
    expect(variables.get('CLASSROOM_RUNNERS')).toMatch(/^([a-zA-Z0-9]+,)*[a-zA-Z0-9]+$/);
  });

  it('is a results.json of Exercism for each lesson', () => {
    for (const lesson of grade.lessons) {
      const results = toExercism(lesson);
      expectValid('exercism', results);
      expect(Buffer.byteLength(results.message ?? '')).toBeLessThanOrEqual(65_535);
      expect(results.status === 'pass').toBe(lesson.points === lesson.possible);
      const passed = results.tests?.filter(({ status }) => status === 'pass').length ?? 0;
      expect(passed).toBe(lesson.points);
    }
  });

  it('is a results.json of PrairieLearn below 1 MB, whose points add up', () => {
    const results = toPrairieLearn(grade);

    expectValid('prairielearn', results);
    expect(Buffer.byteLength(JSON.stringify(results))).toBeLessThanOrEqual(1_000_000);
    expect(results.gradable).toBe(grade.state === 'graded');
    if (!results.gradable) return;
    expect(total(results.tests.map(({ points }) => points))).toBe(grade.points);
    expect(total(results.tests.map((test) => test.max_points))).toBe(grade.possible);
    expect(results.score * grade.possible).toBeCloseTo(grade.points, 9);
  });

  it('has nothing in it that a database, a terminal or a browser takes for something else', () => {
    const written = [
      toGradescope(grade),
      toClassroom(grade),
      grade.lessons.map((lesson) => toExercism(lesson)),
      toPrairieLearn(grade),
    ];
    for (const text of written.flatMap(textsIn)) {
      expect(text).not.toMatch(/(?![\n\t])\p{Cc}|\p{Cs}|[\u202A-\u202E\u2066-\u2069]/u);
    }
  });
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('what is written', () => {
  it('is exactly 1 for a whole grade and exactly 0 for an empty one', () => {
    expect(toPrairieLearn(gradeOf(passes))).toMatchObject({ score: 1 });
    expect(toPrairieLearn(gradeOf(todo))).toMatchObject({ score: 0 });
    expect(toPrairieLearn({ ...gradeOf(todo), possible: 0 })).toMatchObject({ score: 0 });
  });

  it('says what is wrong, where, and gives the first hint', () => {
    const grade = gradeOf(half);
    const [lesson] = grade.lessons;
    const texts = [
      toGradescope(grade).tests[0]?.output,
      toClassroom(grade).lesson01?.tests.find(({ status }) => status === 'fail')?.test_code,
      lesson && toExercism(lesson).tests?.find(({ status }) => status === 'fail')?.message,
      textsIn(toPrairieLearn(grade)).join('\n'),
    ];
    for (const text of texts) {
      expect(text).toContain('got 4');
      expect(text).toContain('lessons/05-load-balancer/exercise.ts:31');
      expect(text).toContain('The nudge.');
      expect(text).not.toContain('Nearly the solution.');
    }
  });

  it('tells GitHub Classroom the line', () => {
    const { tests = [] } = toClassroom(gradeOf(half)).lesson01 ?? {};
    expect(tests[1]).toMatchObject({
      status: 'fail',
      test_code: expect.stringContaining('// lessons/05-load-balancer/exercise.ts:31'),
      line_no: 31,
    });
    expect(tests[0]).toMatchObject({ status: 'pass', line_no: 0 });
  });

  it('has no line that is a command in the log of a workflow', () => {
    const [, commands] = odd.find(([what]) => what === 'workflow commands') ?? [];
    const grade = withMessage(commands ?? '');
    for (const text of textsIn(toClassroom(grade)).concat(textsIn(toClassroom(brokenGrade())))) {
      expect(text).not.toMatch(/^\s*::/m);
      expect(text).not.toContain('##[');
    }
  });

  it('says why a submission could not be read', () => {
    const grade = brokenGrade();
    using folder = temporaryFolder();
    writeFormats(grade, FORMATS, folder.path);
    for (const name of ['gradescope', 'classroom', 'exercism-05', 'prairielearn']) {
      const text = readFileSync(join(folder.path, `${name}.json`), 'utf8');
      expect(text, name).toContain('anna.zip is not a zip file');
    }
  });

  it('numbers the tasks of Exercism as the lesson numbers its exercises', () => {
    const lesson = gradeOf(passes).lessons[4];
    const ids = lesson && toExercism(lesson).tests?.map((test) => test.task_id);
    expect([...new Set(ids)]).toEqual(
      lesson?.exercises.map(({ id }) => Number(id.replace(/^5\./, ''))),
    );
  });

  it('hides what was printed from students of Gradescope, and shows every exercise', () => {
    const results = toGradescope(gradeOf(half));
    expect(results.stdout_visibility).toBe('hidden');
    expect(new Set(results.tests.map(({ visibility }) => visibility))).toEqual(
      new Set(['visible']),
    );
    expect(results).not.toHaveProperty('score');
  });
});

describe('the files', () => {
  it('stand beside grade.json, one for each format, and hold what the functions make', () => {
    const grade = gradeOf(half);
    using folder = temporaryFolder();

    const files = writeFormats(grade, FORMATS, join(folder.path, 'deep/anna'));

    expect(files.toSorted()).toEqual(readdirSync(join(folder.path, 'deep/anna')).toSorted());
    const read = (name: string) =>
      JSON.parse(readFileSync(join(folder.path, 'deep/anna', name), 'utf8')) as unknown;
    expect(read('gradescope.json')).toEqual(toGradescope(grade));
    expect(read('classroom.json')).toEqual(toClassroom(grade));
    expect(read('prairielearn.json')).toEqual(toPrairieLearn(grade));
    expect(read('exercism-05.json')).toEqual(toExercism(grade.lessons[4] as never));
  });

  it('are only those that were asked for', () => {
    using folder = temporaryFolder();
    expect(writeFormats(gradeOf(half), ['gradescope'], folder.path)).toEqual(['gradescope.json']);
  });

  it('are asked for by name', () => {
    expect(parseFormats('prairielearn, gradescope')).toEqual(['gradescope', 'prairielearn']);
    expect(() => parseFormats('gradescope,moodle')).toThrow(/knows gradescope, .*, got "moodle"/);
    expect(() => parseFormats('')).toThrow(RangeError);
  });
});

describe('a schema', () => {
  it.each([
    ['gradescope', { tests: [{ max_score: 1 }] }],
    ['gradescope', { tests: [] }],
    ['gradescope', { score: 1, visibility: 'secret' }],
    ['gradescope', { tests: [{ score: '1' }] }],
    ['classroom', { version: 1, status: 'pass', max_score: 1, tests: [] }],
    [
      'classroom',
      {
        version: 1,
        status: 'ok',
        max_score: 1,
        tests: [{ name: 'a', status: 'ok', score: 1, line_no: 0 }],
      },
    ],
    ['exercism', { version: 3, status: 'error' }],
    [
      'exercism',
      { version: 3, status: 'pass', tests: [{ name: 'a', status: 'fail', message: 'x' }] },
    ],
    [
      'exercism',
      { version: 3, status: 'fail', message: null, tests: [{ name: 'a', status: 'fail' }] },
    ],
    ['exercism', { version: 3, status: 'error', message: 'x'.repeat(65_536) }],
    ['prairielearn', { score: 1.01 }],
    ['prairielearn', { gradable: false, score: 1 }],
    ['prairielearn', { score: 0.5, tests: [{ name: 'a', points: 1 }] }],
  ] as const)('of %s refuses %j', (format, value) => {
    expect(validators[format](value)).toBe(false);
  });
});

describe('texts', () => {
  it('are cut between characters, by bytes', () => {
    for (const text of ['ä'.repeat(100), '🏁'.repeat(100), 'x'.repeat(300)]) {
      for (let bytes = 0; bytes < 250; bytes += 7) {
        const short = cut(text, bytes);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(bytes);
        expect(short).not.toContain('\uFFFD');
      }
    }
    expect(cut('short', 5)).toBe('short');
  });

  it('keep their lines and lose their colours', () => {
    expect(plain('\u001b[31ma\u001b[0m\r\nb\rc\td')).toBe('a\nb\nc\td');
  });
});

describe('the code of tests', () => {
  const spec = `
describe('Lesson 5: x', () => {
  it('is a demonstration', () => { expect(1).toBe(1); });
  describe('Exercise 5.1: y', lesson.exercise('5.1'), () => {
    it('adds', async () => {
      const sum = add(1, 2);

      expect(sum).toBe(3);
    });
    it('is short', () => expect(add(0, 0)).toBe(0));
    it.for([{ row: 1 }])('row $row adds up to 100 %%', ({ row }) => {
      expect(row).toBe(1);
    });
    for (const title of titles) it(title, () => { expect(title).toBe('a'); });
    for (const n of [1, 2]) {
      it(\`adds \${n} (twice)\`, () => {
        expect(add(n, n)).toBe(2 * n);
      });
    }
  });
});`;
  const codeOf = (title: string) =>
    testsIn(spec)
      .filter(({ name }) => name.test(`Lesson 5: x > Exercise 5.1: y > ${title}`))
      .sort((a, b) => b.fixed - a.fixed)[0]?.code;

  it('is the body of the test with that name, without its indent', () => {
    expect(codeOf('adds')).toBe('const sum = add(1, 2);\n\nexpect(sum).toBe(3);');
    expect(codeOf('is short')).toBe('expect(add(0, 0)).toBe(0)');
    expect(codeOf('row 1 adds up to 100 %')).toBe('expect(row).toBe(1);');
    expect(codeOf('adds 2 (twice)')).toBe('expect(add(n, n)).toBe(2 * n);');
    expect(codeOf('whatever is in the list')).toBe("expect(title).toBe('a');");
  });

  it('is found in the specs of the course, and goes into the files of Exercism', () => {
    const roster = rosterOf(
      1,
      lessonFolders().filter(({ number }) => number === '05'),
    );
    const name =
      "Lesson 5: the load balancer's role > Exercise 5.1: how many replicas > with 3 replicas the published row of the plan comes out";
    const lessons = gradeSubmission({
      submission: 'anna',
      state: 'graded',
      whole: false,
      lessons: roster.map((lesson) => ({
        ...lesson,
        tests: [{ name, exercise: '5.1', hints: [] }],
      })),
      verdicts: new Map(),
      notes: [],
      seconds: 0,
    }).lessons.map((lesson) => ({
      ...lesson,
      exercises: lesson.exercises.map((exercise) => ({
        ...exercise,
        tests: exercise.tests.map((test) => ({
          ...test,
          status: 'failing' as const,
          message: 'x',
        })),
      })),
    }));

    const results = lessons.map((lesson) => toExercism(lesson, readTestCode(lessons)));

    expectValid('exercism', results[0]);
    expect(results[0]?.tests?.[0]?.test_code).toContain('toBePublished');
  });
});

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'traffic-layer-formats-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
