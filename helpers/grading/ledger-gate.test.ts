import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PublishedAssertion } from '../lesson/lesson.ts';
import { COURSE_ROOT, lessonFolders } from './course.ts';
import { inPrint, loadLedger, type PublishedRecord } from './ledger.ts';
import { makeTestBed, type TestBed, tinyExercise, tinyLesson } from './test-bed.ts';

describe('the ledger gate', () => {
  const records: PublishedRecord[] = ['asserted', 'refuted', 'forgotten'].map((name) => ({
    id: `91.${name}`,
    value: 3,
    digits: 0,
    unit: 'apples',
    kind: 'computed',
    where: 'the orchard',
  }));
  const done = tinyExercise('return n / 2;');
  const spec = 'lessons/91-one/one.spec.ts';
  let bed: TestBed;

  beforeAll(() => {
    bed = makeTestBed({
      ...tinyLesson('91', 'One', done),
      'fixtures/published/91.json': JSON.stringify(records),
    });
  });
  afterAll(() => bed[Symbol.dispose]());

  /** Runs the references with a demonstration that makes these assertions. */
  const run = (assertions: string) => {
    bed.write(
      spec,
      bed
        .read(spec)
        .replace(
          /it\('two and two .*?\n {2}\}\);/s,
          () => `it('two and two make four', () => {\n    ${assertions}\n  });`,
        ),
    );
    return bed.vitest(['run', '--project', 'solutions']);
  };
  const first =
    "expect(3).toBePublished('91.asserted'); expect(4).not.toBePublished('91.refuted');";

  it('fails a run and lists the ids that no test asserts', async () => {
    const { code, output } = await run(first);
    expect(output).toContain(
      '4 of 4 tests pass, 2 of 3 published numbers asserted, 1 of them refuted',
    );
    expect(output).toContain('asserted by no passing test:\n    91.forgotten\n');
    expect(output).toContain('    refuted: 91.refuted\n');
    expect(code).toBe(1);
  });

  it('counts no assertion of a test that fails', async () => {
    const { code, output } = await run(`${first} expect(4).toBePublished('91.forgotten');`);
    expect(output).toContain('The course publishes 3 apples: the orchard.');
    expect(output).toContain(
      'asserted by no passing test:\n    91.asserted\n    91.refuted\n    91.forg',
    );
    expect(code).toBe(1);
  });

  it('suggests the nearest id for one that there is not', async () => {
    const { code, output } = await run(`${first} expect(3).toBePublished('91.forgoten');`);
    expect(output).toContain('The ledger has no "91.forgoten". Nearest: 91.forgotten,');
    expect(code).toBe(1);
  });

  it('lets a run pass that asserts every id', async () => {
    const { code, output } = await run(`${first} expect(3).toBePublished('91.forgotten');`);
    expect(output).toContain('3 of 3 published numbers asserted, 1 of them refuted');
    expect(output).not.toContain('asserted by no passing test');
    expect(code).toBe(0);
  });

  it('does not judge a run of some tests', async () => {
    const some = await bed.vitest(['run', '--project', 'solutions', '-t', 'halves 4']);
    expect(some.output).toContain('0 of 0 published numbers asserted');
    expect(some.code).toBe(0);
  });
});

describe('changing one value of a ledger', () => {
  const lessons = lessonFolders().filter(({ number }) => loadLedger(number).size > 0);
  let bed: TestBed;
  /** What the references assert, in a run of all of them, and in which test. */
  const asserted = new Map<string, (PublishedAssertion & { readonly test: string })[]>();

  beforeAll(async () => {
    bed = makeTestBed({
      'collect.ts': `import { writeFileSync } from 'node:fs';
import type { TestModule } from 'vitest/node';
export default class {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests('passed')]);
    const asserted = tests.flatMap((test) =>
      (test.meta().published ?? []).map((one) => ({ ...one, test: test.fullName.replaceAll(' > ', ' ') })),
    );
    writeFileSync('asserted.json', JSON.stringify(asserted));
  }
}
`,
    });
    cpSync(join(COURSE_ROOT, 'lessons'), join(bed.root, 'lessons'), { recursive: true });
    await bed.vitest(['run', '--project', 'solutions', '--reporter', './collect.ts']);
    for (const assertion of JSON.parse(bed.read('asserted.json'))) {
      const { id } = assertion;
      asserted.set(id, [...(asserted.get(id) ?? []), assertion]);
    }
  });
  afterAll(() => bed[Symbol.dispose]());

  /** A record with another value: the nearest for a number, and the truth for a refuted claim. */
  function mutate(record: PublishedRecord): PublishedRecord {
    const { value, digits } = record;
    const refutal = asserted.get(record.id)?.find(({ refuted }) => refuted);
    if (refutal) {
      const truth = refutal.received;
      return { ...record, value: typeof value === 'number' ? Number(truth) : truth };
    }
    if (typeof value === 'number') {
      return { ...record, value: Number((value + 10 ** -(digits ?? 0)).toFixed(digits)) };
    }
    return { ...record, value: typeof value === 'boolean' ? !value : `${value}.` };
  }

  describe.for(lessons)('of lesson $number', ({ number }) => {
    const records = [...loadLedger(number).values()];

    it.for(records)('turns an assertion red: $id', (record) => {
      const assertions = asserted.get(record.id) ?? [];
      expect(assertions.length, 'a passing test asserts it').toBeGreaterThan(0);
      const holds = ({ received, refuted }: PublishedAssertion, { value }: PublishedRecord) =>
        (received === inPrint({ ...record, value })) !== Boolean(refuted);
      expect(
        assertions.filter((one) => !holds(one, record)),
        'all hold as published',
      ).toEqual([]);
      const mutant = mutate(record);
      expect(mutant.value).not.toBe(record.value);
      expect(
        assertions.some((one) => !holds(one, mutant)),
        `${mutant.value} is noticed`,
      ).toBe(true);
    });
  });

  it('turns a run red, with a message that names it', { timeout: 120_000 }, async () => {
    const isRefuted = ({ id }: PublishedRecord) => asserted.get(id)?.some((one) => one.refuted);
    const mutants: PublishedRecord[] = [];
    const tests = new Set<string>();
    for (const { number } of lessons) {
      const records = [...loadLedger(number).values()];
      const victims = [records.find((one) => !isRefuted(one)), records.find(isRefuted)];
      for (const victim of victims.filter((one) => one !== undefined)) {
        mutants.push(mutate(victim));
        for (const { test } of asserted.get(victim.id) ?? []) tests.add(test);
      }
      bed.write(
        `fixtures/published/${number}.json`,
        JSON.stringify(records.map((one) => mutants.find(({ id }) => id === one.id) ?? one)),
      );
    }
    const names = [...tests].map((name) => name.replace(/[\\^$.+?()[\]{}|*]/g, '\\$&'));
    const run = await bed.vitest(['run', '--project', 'solutions', '-t', `^(${names.join('|')})$`]);
    expect(run.code, run.output).toBe(1);
    for (const mutant of mutants) {
      expect(run.output).toContain(`The course publishes ${inPrint(mutant)}`);
      expect(run.output).toContain(`Ledger: ${mutant.id}`);
    }
  });
});

describe('a lesson', () => {
  it.for(lessonFolders())('$folder reads the ledger through toBePublished only', ({ folder }) => {
    const path = join(COURSE_ROOT, 'lessons', folder);
    const files = readdirSync(path).filter((name) => name.endsWith('.ts'));
    const guilty = files.filter((name) =>
      /fixtures\/published|grading\/ledger|published\.ts|published\b.*\.json/.test(
        readFileSync(join(path, name), 'utf8'),
      ),
    );
    expect(guilty).toEqual([]);
  });
});
