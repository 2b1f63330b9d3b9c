import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { COURSE_ROOT } from '../grading/course.ts';
import { processesWith } from '../grading/processes.ts';
import {
  makeTestBed,
  type TestBed,
  tinyExercise,
  tinyLesson,
  tinyStub,
} from '../grading/test-bed.ts';
import { main } from './cli.ts';
import { type GradeOptions, gradeSubmissions } from './main.ts';
import { makeZip, writeFolder } from './test-submissions.ts';
import type { SubmissionGrade } from './types.ts';

const [ONE, TWO] = ['lessons/91-one/exercise.ts', 'lessons/92-two/exercise.ts'];
const done = tinyExercise('return n / 2;');

/**
 * A configuration without the seal: what the grader's own process promises has to hold when a
 * submission has got through everything that stands between.
 */
const UNSEALED = `
import { defineConfig } from 'vitest/config';
import { COURSE_ROOT, lessonFolders } from '../grading/course.ts';
import { guardedPool } from '../grading/guarded-pool.ts';
import { implementation } from '../grading/implementation.ts';

const asked = (process.env.GRADE_LESSONS ?? '').split(',');
const folders = lessonFolders().filter(({ number }) => asked.includes(number));

export default defineConfig({
  root: COURSE_ROOT,
  cacheDir: process.env.GRADE_SCRATCH,
  plugins: [implementation('exercise.ts')],
  test: {
    include: folders.map(({ folder }) => \`lessons/\${folder}/*.spec.ts\`),
    setupFiles: ['helpers/lesson/setup.ts'],
    pool: guardedPool({ silentMs: 3_000, outputBytes: 1_000_000 }),
    runner: 'helpers/grading/runner.ts',
    testTimeout: 2_000,
    reporters: [{
      onTestModuleEnd(module) {
        const lesson = /lessons.(\\d\\d)-/.exec(module.moduleId)[1];
        const tests = [...module.children.allTests()].map((test) => {
          const { state, errors = [] } = test.result();
          return {
            name: test.fullName,
            state: state === 'pending' ? 'skipped' : state,
            errorName: errors[0]?.name,
            message: errors[0]?.message,
          };
        });
        const [error] = module.errors();
        const problem = error && { message: error.message };
        process.send({ grader: 'lesson', verdict: { lesson, tests, problem } });
      },
      onTestRunEnd: () => process.send({ grader: 'end' }),
    }],
  },
});
`;

/** Argument of a process that a submission tries to leave behind. */
const LEFT_BEHIND = `left-behind-${process.pid}`;

let bed: TestBed;
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-grader-test-'));
  bed = makeTestBed({
    ...tinyLesson('91', 'One', tinyStub('91')),
    ...tinyLesson('92', 'Two', tinyStub('92')),
    'helpers/grader/grade.config.ts': UNSEALED,
  });
});
afterAll(() => {
  bed[Symbol.dispose]();
  rmSync(home, { recursive: true });
});

/** Writes a submission, with the two exercises that are given, and gives its folder back. */
function submission(name: string, one: string | undefined, two: string | undefined = done): string {
  const files = {
    ...(one !== undefined && { [ONE]: one }),
    ...(two !== undefined && { [TWO]: two }),
  };
  return writeFolder(join(home, name), files);
}

function grade(
  out: string,
  submissions: readonly string[],
  options: Partial<GradeOptions> = {},
): Promise<readonly SubmissionGrade[]> {
  return gradeSubmissions({
    submissions,
    out: join(home, out),
    courseRoot: bed.root,
    jobs: 2,
    ...options,
  });
}

const pointsOf = ({ lessons }: SubmissionGrade) => lessons.map(({ points }) => points);
const byName = (grades: readonly SubmissionGrade[]) =>
  Object.fromEntries(grades.map((grade) => [grade.submission, grade]));
const table = (out: string) => readFileSync(join(home, out, 'grades.csv'), 'utf8').split('\r\n');
const sandboxes = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`traffic-layer-grade-${process.pid}-`));

describe('grading a class', { timeout: 120_000 }, () => {
  it('gives each its points, and none of them stops the others', async () => {
    const zip = join(home, 'zipped.zip');
    writeFileSync(
      zip,
      makeZip([
        { path: `course-main/${ONE}`, content: done },
        { path: `course-main/${TWO}`, content: tinyExercise('return n;') },
      ]),
    );
    const noZip = join(home, 'no-zip.zip');
    writeFileSync(noZip, 'hello');
    const told: string[] = [];
    const grades = await grade(
      'class',
      [
        submission('honest', done),
        submission('stubs', tinyStub('91'), tinyStub('92')),
        submission('missing', undefined),
        submission('hanging', tinyExercise('for (;;) {}')),
        submission('=sum', 'export {', done),
        zip,
        noZip,
      ],
      { onProgress: ({ submission }) => told.push(submission) },
    );

    expect(grades.map(({ submission }) => submission)).toEqual([
      '=sum',
      'hanging',
      'honest',
      'missing',
      'no-zip',
      'stubs',
      'zipped',
    ]);
    expect(told.toSorted()).toEqual(grades.map(({ submission }) => submission));
    const {
      honest,
      stubs,
      missing,
      hanging,
      zipped,
      'no-zip': broken,
      '=sum': syntax,
    } = byName(grades);
    expect(honest).toMatchObject({
      points: 6,
      possible: 6,
      whole: true,
      state: 'graded',
      notes: [],
    });
    expect(stubs).toMatchObject({ points: 0, possible: 6, state: 'graded', notes: [] });
    expect(stubs?.lessons[0]?.exercises).toMatchObject(Array(2).fill({ status: 'not-started' }));
    expect(missing && pointsOf(missing)).toEqual([0, 3]);
    expect(missing?.notes).toMatchObject(
      [{ about: 'lessons 91', message: /^There is no exercise.ts/ }].map(({ about, message }) => ({
        about,
        message: expect.stringMatching(message),
      })),
    );
    expect(hanging && pointsOf(hanging), 'what was proved before the loop counts').toEqual([1, 3]);
    expect(hanging?.lessons[0]?.problem?.message).toMatch(/gave no sign of life/);
    expect(syntax && pointsOf(syntax)).toEqual([0, 3]);
    expect(zipped && pointsOf(zipped)).toEqual([3, 1]);
    expect(zipped?.notes).toMatchObject([{ about: 'course-main' }]);
    expect(broken).toMatchObject({ state: 'broken', points: 0, possible: 6 });

    expect(table('class').slice(0, 4)).toEqual([
      'submission,state,points,possible,percent,lesson 91,lesson 92,notes',
      expect.stringMatching(/^'=sum,graded,3,6,50,0,3,/),
      expect.stringMatching(/^hanging,graded,4,6,66\.6,1,3,/),
      'honest,graded,6,6,100,3,3,',
    ]);
    for (const { submission } of grades) {
      const files = readdirSync(join(home, 'class', submission)).sort();
      expect(files).toEqual(['grade.json', 'junit.xml']);
    }
    expect(sandboxes()).toEqual([]);
  });

  it('grades again only what has changed, and says what it has kept', async () => {
    const [anna, ben] = [submission('anna', done), submission('ben', tinyExercise('return n;'))];
    await grade('again', [anna, ben], { lessons: ['91'] });
    const kept: string[] = [];
    const ran: string[] = [];
    const again = (options: Partial<GradeOptions> = {}) =>
      grade('again', [anna, ben], {
        lessons: ['91'],
        onKept: ({ submission }) => kept.push(submission),
        onStart: (submission) => ran.push(submission),
        ...options,
      });

    submission('ben', done);
    const grades = await again();
    expect([kept.splice(0), ran.splice(0)]).toEqual([['anna'], ['ben']]);
    expect(grades.map(({ points }) => points)).toEqual([3, 3]);

    // A grade that is not whole any more is no grade.
    writeFileSync(join(home, 'again/anna/grade.json'), '{"version":1,"points":6}');
    await again();
    expect([kept.splice(0), ran.splice(0)]).toEqual([['ben'], ['anna']]);

    await again({ submissions: [anna], lessons: ['92'] });
    expect([kept, ran]).toEqual([[], ['anna']]);
  });

  it('keeps what is finished when it is interrupted, and leaves nothing else', async () => {
    const stop = new AbortController();
    const grading = grade(
      'interrupted',
      [submission('a-quick', done), submission('b-slow', tinyExercise('for (;;) {}'))],
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    await expect(grading).rejects.toMatchObject({ name: 'AbortError' });
    expect(readdirSync(join(home, 'interrupted')).sort()).toEqual(['a-quick', 'grades.csv']);
    expect(table('interrupted')[1]).toBe('a-quick,graded,6,6,100,3,3,');
    expect(sandboxes()).toEqual([]);
  });

  it('refuses two submissions of one name, and lessons that do not exist', async () => {
    const twice = grade('refused', [join(home, 'x/anna'), join(home, 'y/Anna.zip')]);
    await expect(twice).rejects.toThrow(/Two results would be filed under "anna".* Rename one/i);
    const strange = grade('refused', [join(home, 'anna')], { lessons: ['17'] });
    await expect(strange).rejects.toThrow('There is no lesson 17. Lessons are 91, 92');
  });

  it('does not grade when the references fail', async () => {
    using sick = makeTestBed({
      ...tinyLesson('91', 'One', done),
      'lessons/91-one/solution.ts': tinyExercise('return n;'),
    });
    const grading = grade('sick', [submission('anna', done)], { courseRoot: sick.root });
    await expect(grading).rejects.toThrow(/own solutions fail on this machine.*halves 4.*doctor/s);
  });
});

describe('a submission that has got through the seal', () => {
  const cases: Record<
    string,
    { code: string; points: number[]; notes?: RegExp; problem?: RegExp }
  > = {
    'and ends the process that runs all lessons': {
      code: "if (n === 6) process.kill(process.ppid, 'SIGKILL');\n  return n / 2;",
      points: [0, 3],
      notes: /ended before its time \(SIGKILL\)\. Each was run again by itself/,
      problem: /Its run ended before its time/,
    },
    'and changes the spec of another lesson': {
      code: "writeFileSync('lessons/92-two/two.spec.ts', ''); return n / 2;",
      points: [1, 3],
      notes: /Files of the course were changed .*92-two/,
    },
    'and starts processes without end': {
      code: "for (let i = 0; i < 100; i += 1) spawn('sleep', ['1000'], { detached: true, cwd: '/' }); return n / 2;",
      points: [0, 3],
      problem: /Its run had \d+ processes, wanted at most 64/,
    },
    'and leaves a process that cleans its traces': {
      code: `spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e6)', '${LEFT_BEHIND}'],
        { detached: true, env: {}, stdio: 'ignore' }).unref();
      return new Promise((resolve) => setTimeout(resolve, 400, n / 2));`,
      points: [1, 3],
      notes: /^$/,
    },
  };
  const imports =
    "import { writeFileSync } from 'node:fs';\nimport { execFileSync, spawn } from 'node:child_process';";
  let grades: Record<string, SubmissionGrade>;
  beforeAll(async () => {
    const submissions = Object.values(cases).map(({ code }, i) =>
      submission(`case-${i}`, tinyExercise(code, imports)),
    );
    grades = byName(await grade('hostile', submissions));
  }, 120_000);

  it.for(Object.entries(cases).map(([title, one], i) => [title, { ...one, i }] as const))(
    '%s takes nothing from the other lesson, and leaves nothing behind',
    async ([, { points, notes = /^/, problem = /^$/, i }]) => {
      const found = grades[`case-${i}`];
      expect(found && pointsOf(found), JSON.stringify(found?.notes)).toEqual(points);
      expect(found?.notes.map(({ message }) => message).join()).toMatch(notes);
      expect(found?.lessons[0]?.problem?.message ?? '').toMatch(problem);
      expect(sandboxes()).toEqual([]);
      if (process.platform === 'win32') return;
      expect(execFileSync('ps', ['-A', '-o', 'command='], { encoding: 'utf8' })).not.toContain(
        LEFT_BEHIND,
      );
    },
  );
});

describe('the course itself', { timeout: 120_000 }, () => {
  it('gives its solutions all points, its stubs none, and a loop one line', async () => {
    const file = (lesson: string, name: string) =>
      readFileSync(join(COURSE_ROOT, 'lessons', lesson, name), 'utf8');
    const [gateway, frontend] = ['11-api-gateway', '14-backend-for-frontend'];
    const from = (name: string, change = (text: string) => text) => ({
      [`lessons/${gateway}/exercise.ts`]: change(file(gateway, name)),
      [`lessons/${frontend}/exercise.ts`]: file(frontend, name),
    });
    const before = '  const [first] = flows;';
    const looping = (text: string) => {
      expect(text).toContain(before);
      return text.replace(before, `  for (;;) {}\n${before}`);
    };
    const submissions = [
      writeFolder(join(home, 'c-solutions'), from('solution.ts')),
      writeFolder(join(home, 'c-stubs'), from('exercise.ts')),
      writeFolder(join(home, 'c-hanging'), from('solution.ts', looping)),
    ];
    const lessons = ['11', '14'];
    const grades = await grade('course', submissions, { courseRoot: COURSE_ROOT, lessons });

    const { 'c-solutions': solutions, 'c-stubs': stubs, 'c-hanging': hanging } = byName(grades);
    expect(solutions?.lessons.flatMap(({ problem = [] }) => problem)).toEqual([]);
    expect(solutions?.points).toBe(solutions?.possible);
    expect(stubs?.points).toBe(0);
    const [looped, other] = hanging?.lessons ?? [];
    expect(other?.points, 'the other lesson is graded whole').toBe(other?.possible);
    expect(looped?.points).toBeLessThan(looped?.possible ?? 0);
    const line = looping(file(gateway, 'solution.ts')).split('\n').indexOf('  for (;;) {}') + 1;
    expect(looped?.problem).toMatchObject({ at: `lessons/${gateway}/exercise.ts:${line}` });
    expect((hanging?.seconds ?? 0) - (solutions?.seconds ?? 0)).toBeLessThan(10);
  });
});

describe('the command', { timeout: 120_000 }, () => {
  const output = () => {
    const lines: string[] = [];
    const note = (text: unknown) => lines.push(String(text));
    vi.spyOn(console, 'log').mockImplementation(note);
    vi.spyOn(console, 'error').mockImplementation(note);
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean(note(text)));
    return {
      get text() {
        return lines.join('\n');
      },
      [Symbol.dispose]: () => vi.restoreAllMocks(),
    };
  };

  it('joins what shards have graded in one table', async () => {
    const names = ['a', 'b', 'c'];
    const submissions = names.map((name) => submission(`shard-${name}`, done));
    for (const index of [1, 2]) {
      const shard = { index, count: 2 };
      await grade(`shard${index}`, submissions, { shard, lessons: ['92'] });
    }
    expect(table('shard1').map((row) => row.split(',')[0])).toEqual([
      'submission',
      'shard-a',
      'shard-c',
      '',
    ]);
    using printed = output();
    const shards = ['shard1', 'shard2'].map((name) => join(home, name));
    expect(await main(['--merge', ...shards, '--out', join(home, 'all')])).toBe(0);
    expect(printed.text).toMatch(/^3 of 3 graded\. Table: /);
    expect(table('all').slice(1)).toEqual([
      ...names.map((name) => `shard-${name},graded,3,3,100,3,`),
      '',
    ]);
    expect(await main(['--merge', shards[0] ?? '', shards[0] ?? ''])).toBe(2);
    expect(printed.text).toMatch(/shard-a is graded in .* Which one counts\?/);
  });

  it.each([
    [[], /Wanted at least one folder or zip file/],
    [['x', '--shard', '0/4'], /A shard is one of its count, such as 1\/4, got 0\/4/],
    [['x', '--shard', 'first'], /--shard looks like 1\/4, got first/],
    [['x', '--jobs', 'all'], /--jobs is a whole number of 1 or more, got all/],
    [['x', '--format', 'pdf'], /gradescope.*got "pdf"/],
    [['x', '--lessons', '42'], /There is no lesson 42\. Lessons are 01, 02/],
    [['x', '--colour'], /Unknown option '--colour'/],
    [['nothing-is-called/*.zip'], /no such file or directory|Nothing is called/],
    [['--merge'], /--merge wants the folders of the shards/],
  ])('%j is wrong usage', async (args, message) => {
    using printed = output();
    expect(await main(args)).toBe(2);
    expect(printed.text).toMatch(message);
    expect(printed.text).toContain('npm run grade -- --help');
  });

  it.skipIf(process.platform === 'win32')(
    'leaves no process when it is killed itself',
    async () => {
      const mark = `left-behind-${process.pid}`;
      const course = join(bed.root, 'helpers/grader/cli.mjs');
      const slow = submission('slow', tinyExercise(`for (;;) {} // ${mark}`));
      const grader = spawn(process.execPath, [course, slow, '--out', join(home, 'killed')], {
        cwd: bed.root,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, LC_MARK: mark },
      });
      try {
        // The grader itself, Vitest, and the process of the lesson that hangs.
        await expect
          .poll(() => processesWith(`LC_MARK=${mark}`), { timeout: 30_000, interval: 100 })
          .toHaveLength(3);
      } finally {
        const gone = once(grader, 'exit');
        grader.kill('SIGKILL');
        await gone;
      }
      expect(await processesWith(`LC_MARK=${mark}`)).toEqual([]);
    },
  );
});
