import { beforeAll, describe, expect, it } from 'vitest';
import type { Grade } from './grade.ts';
import { type BedRun, makeTestBed, SHORT_LIMITS, tinyExercise, tinyLesson } from './test-bed.ts';

interface Case {
  /**
   * The exercise file of the lesson that misbehaves. When the report has to name a line, that one
   * ends with `// here`.
   */
  exercise: string;
  /** When no line was executing, or none can be told. */
  hasNoLine?: true;
  /** `given.ts` of that lesson. */
  given?: string;
  /** What the test that was running is told, or the lesson when no test was. */
  says: RegExp;
  /** The test that was running; none while the file is loaded. */
  test?: 'halves 4' | 'halves 6';
  /** Seconds after which the case is over at the latest, without Vitest's own start and end. */
  limit?: number;
}

const SILENT = SHORT_LIMITS.silentMs / 1_000;
const silent = /gave no sign of life for 3 s and was stopped at .+\. Look for an endless loop/;
const ended = /ended the whole process \(.+\)\. Look for process\.exit/;

/**
 * Code that runs a moment after the last test has returned. Not by a timer, which the leak guard
 * would find and name if it came first.
 */
const afterTheLastTest = (code: string): string =>
  `if (n === 6) import('node:fs').then(({ stat }) => stat('.', () => { ${code} }));\n  return n / 2;`;

const cases: Record<string, Case> = {
  'an endless loop in a test': {
    exercise: tinyExercise('for (;;) {} // here'),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop in a getter': {
    exercise: tinyExercise(`const halves = {
    get first(): number {
      for (;;) n += 1; // here
    },
  };
  return halves.first;`),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop in code that is made at run time': {
    exercise: tinyExercise(
      `const map = 'data:application/json;base64,AAAA';
  return new Function(\`for (;;) {}\\n//# sourceURL=/made.js\\n//# sourceMappingURL=\${map}\`)(); // here`,
    ),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop in given code that the exercise calls': {
    exercise: tinyExercise('return spin(); // here', "import { spin } from './given.ts';"),
    given: 'export function spin(): never {\n  for (;;) {}\n}\n',
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop in given code that nobody calls': {
    exercise: tinyExercise('return spin();', "import { spin } from './given.ts';"),
    given: `import { stat } from 'node:fs';
export const spin = () => new Promise<number>(() => {
  stat('.', () => {
    for (;;) {} // here
  });
});
`,
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop of process.nextTick': {
    exercise: tinyExercise(`const again = () => {
    process.nextTick(again);
  };
  return new Promise<number>(again);`),
    test: 'halves 4',
    // Node's own code is what it mostly executes, so on a busy machine its line isn't met in time.
    says: /gave no sign of life for 3 s and was stopped/,
    limit: SILENT,
  },
  'an endless chain of promises': {
    exercise: tinyExercise(`const again = (): Promise<number> =>
    Promise.resolve().then(again); // here
  return again();`),
    test: 'halves 4',
    // Each promise of the chain waits for the next one, so it may fill the memory first.
    says: /(gave no sign of life for 3 s|ran out of memory) and was stopped at /,
    limit: SILENT,
  },
  'a regular expression that backtracks without end': {
    exercise: tinyExercise("return /^(a+)+$/.test('a'.repeat(50) + n) ? 1 : 2; // here"),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'Atomics.wait': {
    exercise: tinyExercise(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // here
  return n / 2;`),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'a call into Node that does not come back': {
    exercise: tinyExercise(
      "execFileSync(process.execPath, ['-e', 'setInterval(() => {}, 1_000)']);\n  return n / 2;",
      "import { execFileSync } from 'node:child_process';",
    ),
    test: 'halves 4',
    says: /was stopped inside a call into Node, which hides its line\. Look for a call/,
    hasNoLine: true,
    limit: SILENT,
  },
  'an endless loop while the file is loaded': {
    exercise: tinyExercise('return n / 2;', '\n\nwhile (Number.NaN !== 1) {} // here'),
    says: /Loading exercise\.ts gave no sign of life/,
    limit: SILENT,
  },
  'an endless loop of microtasks': {
    exercise: tinyExercise('for (;;) await null; // here'),
    test: 'halves 4',
    says: silent,
    limit: SILENT,
  },
  'an endless loop after the last test': {
    exercise: tinyExercise(afterTheLastTest('\nfor (;;) {} // here\n')),
    // Which of the two depends on how busy the machine is.
    says: /(What|The test) "halves 6" (had left behind )?gave no sign of life/,
    limit: SILENT,
  },
  'a promise that never settles': {
    exercise: tinyExercise('return n === 4 ? new Promise(() => {}) : n / 2;'),
    test: 'halves 4',
    says: /did not finish within 1\.2 s\. Look for a promise that nothing settles/,
    limit: SHORT_LIMITS.testTimeoutMs / 1_000,
  },
  'a promise that never settles while the file is loaded': {
    exercise: tinyExercise('return n / 2;', 'await new Promise(() => {});'),
    says: /was stopped\. No line of the course was executing: look for a wait that never ends/,
    hasNoLine: true,
    limit: SILENT,
  },
  'process.exit(0) in a test': {
    exercise: tinyExercise('return n === 4 ? process.exit(0) : n / 2;'),
    test: 'halves 4',
    says: /process\.exit\(0\) would end the whole run: return or throw instead/,
  },
  'process.exit(0) while the file is loaded': {
    exercise: tinyExercise('return n / 2;', 'process.exit(0);'),
    says: /exercise\.ts cannot be loaded: process\.exit\(0\) would end the whole run/,
  },
  'process.reallyExit(0) in a test': {
    exercise: tinyExercise('return (process as any).reallyExit(0);'),
    test: 'halves 4',
    says: ended,
  },
  'process.reallyExit(0) while the file is loaded': {
    exercise: tinyExercise('return n / 2;', '(process as any).reallyExit(0);'),
    says: ended,
  },
  'process.abort()': {
    exercise: tinyExercise('return process.abort();'),
    test: 'halves 4',
    says: ended,
  },
  'an exception while the file is loaded': {
    exercise: tinyExercise('return n / 2;', "throw new Error('the pool is empty');"),
    says: /exercise\.ts cannot be loaded: the pool is empty/,
  },
  'a syntax error': {
    exercise: tinyExercise('return n / ;'),
    says: /exercise\.ts cannot be loaded: .*(Unexpected token|Parse failure|Expression expected)/s,
  },
  'a heap that grows without end': {
    exercise: tinyExercise(
      'const all: unknown[] = [];\n  for (;;) all.push(new Array(1e6).fill(n));',
    ),
    test: 'halves 4',
    says: /ran out of memory and was stopped( at .+)?\. Look for something that grows without end/,
    limit: 6,
  },
  'buffers that grow without end': {
    exercise: tinyExercise(
      'const all: unknown[] = [];\n  for (;;) all.push(Buffer.alloc(2e6, 1)); // here',
    ),
    test: 'halves 4',
    says: /ran out of memory and was stopped at .+\. Look for something that grows/,
    limit: 6,
  },
  'a rejection shortly after the last test': {
    exercise: tinyExercise(afterTheLastTest("Promise.reject(new Error('too late'))")),
    test: 'halves 6',
    says: /A promise was rejected, and nothing handles it: too late/,
  },
  'a rejection that nobody awaits': {
    exercise: tinyExercise("if (n === 4) Promise.reject(new Error('lost'));\n  return n / 2;"),
    test: 'halves 4',
    says: /A promise was rejected, and nothing handles it: lost/,
  },
  '100 MB from console.log': {
    exercise: tinyExercise(
      "for (let i = 0; i < 1e5; i += 1) console.log('x'.repeat(1_000)); // here\n  return n / 2;",
    ),
    test: 'halves 4',
    says: /printed more than 1 MB and was stopped at .+\. Look for a console\.log in a loop/,
  },
  '100 MB from process.stdout.write': {
    exercise: tinyExercise(
      "for (let i = 0; i < 1e3; i += 1) process.stdout.write('x'.repeat(1e5)); // here\n  return n / 2;",
    ),
    test: 'halves 4',
    says: /printed more than 1 MB and was stopped/,
  },
  'a server left open': {
    exercise: tinyExercise(
      "if (n === 4) createServer().listen(0, '127.0.0.1');\n  return n / 2;",
      "import { createServer } from 'node:net';",
    ),
    test: 'halves 4',
    says: /server .*(left|open)|(left|open) .*server/s,
  },
  'garbage sent to the parent': {
    exercise: tinyExercise(
      "process.send?.(null as never);\n  process.send?.({ t: 1, type: 'x' });\n  return n / 3;",
    ),
    test: 'halves 4',
    says: /expected 1\.33+ to be 2/,
  },
  'a channel to the parent that is cut': {
    exercise: tinyExercise('process.disconnect?.();\n  for (;;) await null;'),
    test: 'halves 4',
    says: /ended the whole process|gave no sign of life/,
    limit: SILENT,
  },
};

interface Outcome {
  readonly run: BedRun;
  readonly grade: Grade;
  readonly root: string;
}

/** The line that ends with `// here`, as a report names it. */
function lineOf({ exercise, given = '' }: Case): string | undefined {
  for (const [file, text] of [
    ['exercise.ts', exercise],
    ['given.ts', given],
  ] as const) {
    const line = text.split('\n').findIndex((line) => line.endsWith('// here'));
    if (line >= 0) return `lessons/91-one/${file}:${line + 1}`;
  }
  return undefined;
}

async function tryCase({ exercise, given }: Case): Promise<Outcome> {
  using bed = makeTestBed(
    {
      ...tinyLesson('91', 'One', exercise),
      ...(given && { 'lessons/91-one/given.ts': given }),
      ...tinyLesson('92', 'Two', tinyExercise('return n / 2;')),
    },
    SHORT_LIMITS,
  );
  const run = await bed.vitest(['run']);
  return { run, grade: bed.grade(), root: bed.root };
}

describe('a lesson that misbehaves', () => {
  const outcomes = new Map<string, Promise<Outcome>>();
  /** How long the same course takes when nothing is wrong. The machine may be busy. */
  let usualSeconds = 0;

  // Most cases only wait for their limit, so several run at a time. Not as concurrent tests: what
  // one of them has open, the guard would hold against another.
  beforeAll(async () => {
    const waiting = Object.entries(cases);
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const outcome = tryCase(next[1]);
        outcomes.set(next[0], outcome);
        await outcome.catch(() => {}); // its own test says what went wrong
      }
    };
    const usual = tryCase({ exercise: tinyExercise('return n / 2;'), says: /./ });
    await Promise.all([worker(), worker(), worker()]);
    usualSeconds = (await usual).run.seconds;
  }, 300_000);

  it.for(Object.entries(cases))('%s', async ([name, misdeed], { annotate }) => {
    const { says, test, limit = 0 } = misdeed;
    const at = lineOf(misdeed);
    const { run, grade, root } = (await outcomes.get(name)) as Outcome;
    const [bad, good] = grade.lessons;

    expect(run.code, run.output).toBe(1);
    expect(good, 'the other lesson is graded in full').toMatchObject({
      lesson: '92',
      points: 3,
      possible: 3,
    });
    expect(bad, 'the totals are those of the roster').toMatchObject({ lesson: '91', possible: 3 });
    expect(run.output.replace(/\s+/g, ' ')).toMatch(says);
    expect(run.output.split('\n').length, 'it fits on a screen').toBeLessThanOrEqual(24);
    expect(run.output).not.toContain(root);
    if (at) {
      expect(bad?.problem, 'the line that was executing is named').toMatchObject({
        message: expect.stringContaining(` at ${at}`),
        at,
      });
      expect(run.output).toContain(`\n    ${at}\n`);
    } else if (misdeed.hasNoLine)
      expect(bad?.problem, 'no line is made up').not.toHaveProperty('at');
    if (test) {
      const [doubling, halving] = bad?.exercises ?? [];
      const accused = halving?.tests.find(({ name }) => name.endsWith(test));
      expect(accused).toMatchObject({
        status: 'failing',
        message: expect.stringMatching(says),
        ...(at && { at }),
      });
      expect(doubling, 'what was proved before counts').toMatchObject({ points: 1 });
      expect(run.output).toContain('Next: exercise 91.2 halving');
      expect(run.output).toContain(test);
    } else {
      expect(bad?.problem?.message).toMatch(says);
      expect(run.output).toMatch(/Next: (exercise|lesson) 91/);
    }
    await annotate(`${run.seconds.toFixed(1)} s, usual ${usualSeconds.toFixed(1)} s`);
    expect(run.seconds, 'it ends within seconds of its limit').toBeLessThan(
      3 * usualSeconds + limit + 5,
    );
    if ('unknown' in run.leftBehind) await annotate(`not checked: ${run.leftBehind.unknown}`);
    else expect(run.leftBehind, 'no process is left').toEqual([]);
  });
});
