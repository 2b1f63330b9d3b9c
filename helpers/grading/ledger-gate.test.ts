import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PublishedAssertion } from '../lesson/lesson.ts';
import { COURSE_ROOT, lessonFolders } from './course.ts';
import { asInPrint, inPrint, loadLedger, type PublishedRecord } from './ledger.ts';
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

/** The record with the nearest other value. */
function mutate(record: PublishedRecord): PublishedRecord {
  const { value, digits } = record;
  if (typeof value === 'number') {
    return { ...record, value: Number((value + 10 ** -(digits ?? 0)).toFixed(digits)) };
  }
  return { ...record, value: typeof value === 'boolean' ? !value : `${value}.` };
}

// What a test asserts is compared as it is printed, and every record is asserted by a test that
// passes, or `npm run solutions` fails. So a record that prints otherwise turns a test red.
const published = lessonFolders().filter(({ number }) => loadLedger(number).size > 0);
describe.for(published)('changing one value of the ledger of $folder', ({ number }) => {
  it.for([...loadLedger(number).values()])('changes what is compared: $id', (record) => {
    const mutant = mutate(record);
    expect(inPrint(mutant)).not.toBe(inPrint(record));
    expect(asInPrint(mutant, record.value)).toBe(inPrint(record));
  });
});

describe('changing a value of the ledgers of the lessons that take a moment', () => {
  // And of those that refute a claim: 08 and 10.
  const lessons = lessonFolders().filter(({ number }) =>
    ['04', '08', '10', '11', '13', '14', '16'].includes(number),
  );
  let bed: TestBed;
  /** What the references assert, in a run of all of these lessons, and in which test. */
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
    for (const { folder } of lessons) {
      cpSync(join(COURSE_ROOT, 'lessons', folder), join(bed.root, 'lessons', folder), {
        recursive: true,
      });
    }
    await bed.vitest(['run', '--project', 'solutions', '--reporter', './collect.ts']);
    for (const assertion of JSON.parse(bed.read('asserted.json'))) {
      const { id } = assertion;
      asserted.set(id, [...(asserted.get(id) ?? []), assertion]);
    }
  });
  afterAll(() => bed[Symbol.dispose]());

  /** A claim that the course refutes, with what is true in its place. */
  function tellTheTruth(claim: PublishedRecord): PublishedRecord {
    const truth = asserted.get(claim.id)?.find(({ refuted }) => refuted)?.received ?? '';
    return { ...claim, value: typeof claim.value === 'number' ? Number(truth) : truth };
  }

  it('turns a run red, with a message that names it', { timeout: 120_000 }, async () => {
    const isRefuted = ({ id }: PublishedRecord) => asserted.get(id)?.some((one) => one.refuted);
    const mutants: PublishedRecord[] = [];
    const tests = new Set<string>();
    for (const { number } of lessons) {
      const records = [...loadLedger(number).values()];
      const victims = [records.find((one) => !isRefuted(one)), ...records.filter(isRefuted)];
      for (const victim of victims.filter((one) => one !== undefined)) {
        mutants.push(isRefuted(victim) ? tellTheTruth(victim) : mutate(victim));
        for (const { test } of asserted.get(victim.id) ?? []) tests.add(test);
      }
      bed.write(
        `fixtures/published/${number}.json`,
        JSON.stringify(records.map((one) => mutants.find(({ id }) => id === one.id) ?? one)),
      );
    }
    const names = [...tests].map((name) => name.replace(/[\\^$.+?()[\]{}|*]/g, '\\$&'));
    expect(mutants.length, 'a record of each lesson, and two that are refuted').toBe(9);
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
