import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTestBed, type TestBed, tinyLesson, tinyStub } from './test-bed.ts';

const spec = 'lessons/91-one/one.spec.ts';
const ledger = 'fixtures/published/91.json';

/** `mistakes.ts` with wrong answers in place of `return n / 2;`, each with the test to catch it. */
function mistakesFile(
  wrong: Readonly<Record<string, readonly [by: string, caughtBy: string, hangs?: boolean]>>,
) {
  const entries = Object.entries(wrong).map(([name, [by, caughtBy, hangs = false]]) => [
    name,
    { replace: 'return n / 2;', by, caughtBy, hangs },
  ]);
  return `import { mistakes } from '#helpers/grading/mistakes.ts';
export default mistakes(${JSON.stringify(Object.fromEntries(entries))});
`;
}

describe('the self-check', () => {
  let bed: TestBed;
  beforeAll(() => {
    bed = makeTestBed({
      ...tinyLesson('91', 'One', tinyStub('91')),
      'lessons/91-one/mistakes.ts': mistakesFile({ 'halves nothing': ['return n;', 'halves 6'] }),
      [ledger]: '[]',
    });
  });
  afterAll(() => bed[Symbol.dispose]());

  /** Runs the check with other files, and puts the old ones back. */
  async function checkWith(files: Readonly<Record<string, string>>) {
    const before = Object.keys(files).map((file) => [file, bed.read(file)] as const);
    for (const [file, text] of Object.entries(files)) bed.write(file, text);
    const run = await bed.vitest(['run', '--config', 'helpers/grading/check.config.ts']);
    for (const [file, text] of before) bed.write(file, text);
    return run;
  }

  it('passes when every mistake is caught, also one that hangs', async () => {
    const { code, output, leftBehind } = await checkWith({
      'lessons/91-one/mistakes.ts': mistakesFile({
        'loops for ever': ['for (;;);', 'halves 4', true],
        'takes the half of four for every half': ['return 2;', 'halves 6'],
        'never comes back': ['return new Promise(() => {});', 'halves 4'],
      }),
    });
    expect(output).toContain('3 mistakes tried in ');
    expect(output).toContain('every one is caught by the test meant for it');
    expect(output).toContain('References: 4 tests, 0 of 0 published numbers asserted');
    expect(output).toMatch(/\[1\] {2}takes the half of four for every half/);
    expect(code).toBe(0);
    expect(leftBehind).toEqual([]);
  });

  it('lists what was not tried, because a mistake before it has ended the process', async () => {
    const { code, output, leftBehind } = await checkWith({
      'lessons/91-one/mistakes.ts': mistakesFile({
        'takes the half of four for every half': ['return 2;', 'halves 6'],
        'takes its own life': ['process.kill(process.pid, "SIGKILL"); return 0;', 'halves 4'],
        'halves nothing': ['return n;', 'halves 6'],
      }),
    });
    expect(output).toContain(
      '91-one, "halves nothing": not tried. Its process came to an early end',
    );
    expect(output).toMatch(/\[1\] {2}takes the half of four for every half/);
    expect(output).toMatch(/\[1\] {2}takes its own life/);
    expect(code).toBe(1);
    expect(leftBehind).toEqual([]);
  });

  it('lists a mistake that survives, and one that another test catches', async () => {
    const { code, output } = await checkWith({
      'lessons/91-one/mistakes.ts': mistakesFile({
        'halves by a product': ['return n * 0.5;', 'halves 6'],
        'takes the half of six for every half': ['return 3;', 'halves 6'],
        'names a test that is not there': ['return 3;', 'halves 8'],
      }),
    });
    expect(output).toContain('91-one, "halves by a product": survives; "halves 6" should have');
    expect(output).toContain('for every half": caught by "halves 4", but not by "halves 6"');
    expect(output).toContain('is not there": caught by "halves 4", but not by "halves 8"');
    expect(code).toBe(1);
  });

  it('lists a graded test that an untouched stub passes', async () => {
    const { code, output } = await checkWith({
      [spec]: bed.read(spec).replace('expect(await halve(6)).toBe(3)', 'expect(2).toBe(2)'),
    });
    expect(output).toContain('one.spec.ts: "halves 6" is passed on the untouched stub');
    expect(code).toBe(1);
  });

  it('lists a graded test that fails on the stub for another reason', async () => {
    const { code, output } = await checkWith({
      [spec]: bed.read(spec).replace('expect(await halve(6)).toBe(3)', 'expect(2).toBe(3)'),
    });
    expect(output).toContain('one.spec.ts: "halves 6" fails on the stub with AssertionError');
    expect(output).toContain('one.spec.ts: the solution fails "halves 6"');
    expect(code).toBe(1);
  });

  it('lists a published number that no passing test asserts', async () => {
    const record = { id: '91.halves', value: 3, digits: 0, unit: 'apples', kind: 'computed' };
    const { code, output } = await checkWith({ [ledger]: JSON.stringify([record]) });
    expect(output).toContain('References: 4 tests, 0 of 1 published numbers asserted');
    expect(output).toContain('91.halves is published, and no passing test asserts it');
    expect(code).toBe(1);
  });
});
