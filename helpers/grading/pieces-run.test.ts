import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Piece } from '../lesson/pieces.ts';
import { COURSE_ROOT, lessonFolders } from './course.ts';
import schema from './grade.schema.json' with { type: 'json' };
import {
  type BedRun,
  makeTestBed,
  type TestBed,
  tinyExercise,
  tinyLesson,
  tinyStub,
} from './test-bed.ts';

const CAPSTONE = 'lessons/17-path';

/** A course of the lessons that there are, with a small one in the place of the last. */
function wholeCourse(): TestBed {
  const tiny = tinyLesson('17', 'Path', tinyExercise('return n / 2;'));
  const spec = tiny[`${CAPSTONE}/path.spec.ts`] ?? '';
  const bed = makeTestBed(tinyLesson('91', 'One', tinyStub('91')));
  cpSync(join(COURSE_ROOT, 'lessons'), join(bed.root, 'lessons'), {
    recursive: true,
    filter: (file) => !/17-whole-path|\.spec\.ts$/.test(file),
  });
  for (const [file, text] of Object.entries(tiny)) bed.write(file, text);
  bed.write(
    `${CAPSTONE}/pieces.ts`,
    readFileSync(join(COURSE_ROOT, 'lessons/17-whole-path/pieces.ts'), 'utf8'),
  );
  // The test that catches the mistake tells what the lesson got, in each project.
  bed.write(
    `${CAPSTONE}/path.spec.ts`,
    `import { writeFileSync } from 'node:fs';
import * as lessons from './pieces.ts';
${spec
  .replace("make four', ()", "make four', { meta: { pieces: lessons.PATH_PIECES } }, ()")
  .replace(
    "it('halves 6', async () => {",
    `it('halves 6', async ({ task }) => {
      const marked = Object.values(lessons).flatMap((lesson) =>
        Object.entries(lesson).filter(([, value]) => /'mine'|"mine"/.test(String(value))).map(([name]) => name));
      const { PIECES } = lessons;
      writeFileSync(task.file.projectName + '.json', JSON.stringify({ marked, PIECES }));`,
  )}`,
  );
  bed.write(
    `${CAPSTONE}/mistakes.ts`,
    `import { mistakes } from '#helpers/grading/mistakes.ts';
export default mistakes({
  'halves nothing': { replace: 'return n / 2;', by: 'return n;', caughtBy: 'halves 6' },
});
`,
  );
  return bed;
}

/** Replaces a part of a student's file that stands in it. */
function edit(bed: TestBed, folder: string, text: string, by: string): void {
  const file = `lessons/${folder}/exercise.ts`;
  const before = bed.read(file);
  if (!before.includes(text)) throw new Error(`${file} lacks "${text}"`);
  bed.write(file, before.replace(text, by));
}

function append(bed: TestBed, folder: string, text: string): void {
  const file = `lessons/${folder}/exercise.ts`;
  bed.write(file, `${bed.read(file)}\n${text}\n`);
}

/** What a project of the last run got. `marked` are the functions that a student wrote. */
const got = (bed: TestBed, project: string) =>
  JSON.parse(bed.read(`${project}.json`)) as { marked: string[]; PIECES: Piece[] };

const validate = new Ajv2020({ allErrors: true }).compile(schema);

describe('a lesson that is made of the others', () => {
  let bed: TestBed;
  beforeAll(() => {
    bed = wholeCourse();
  });
  afterAll(() => bed[Symbol.dispose]());

  describe('before any of them is begun', () => {
    let alone: BedRun;
    beforeAll(async () => {
      alone = await bed.vitest(['run', CAPSTONE]);
    });

    it('runs on the references, for no other reason', () => {
      const loaded = bed.grade().lessons[0]?.pieces ?? [];
      expect(loaded).toHaveLength(10);
      for (const piece of [...got(bed, 'exercises').PIECES, ...loaded]) {
        expect(piece).toMatchObject({ owner: 'lent' });
        expect(piece).not.toHaveProperty('reason');
      }
    });

    it('has every export by the number that stands in its stub', () => {
      const { PIECES } = got(bed, 'exercises');
      const stubs = lessonFolders(bed.root)
        .filter(({ number }) => Number(number) < 17)
        .flatMap(({ folder }) => [
          ...bed.read(`lessons/${folder}/exercise.ts`).matchAll(/todo\('([\d.]+ \w+)/g),
        ]);
      const labels = new Set(stubs.map(([, label]) => label));
      expect(PIECES.filter(({ exercise, name }) => !labels.has(`${exercise} ${name}`))).toEqual([]);
      expect(new Set(PIECES.map(({ lesson }) => lesson)).size).toBe(16);
    });

    it('shows them unit by unit when it runs alone', ({ expect }) => {
      expect(alone.output).toContain(`
  The path runs on:
    name layer     createPolicy 1.3 lent
    edge caches    LruCache 2.2 lent
    load balancer  HealthTracker 5.4 lent, startBalancer 5.5 lent, createRing 8.3 lent
    gateways       mergeTracking 12.3 lent, selectFields 14.1 lent, gateChecks 16.1 lent
    delivery       applicationChecks 16.3 lent
    ambassador     startAmbassador 15.4 lent
`);
    });
  });

  describe('of which some are written, one does not parse, one throws and one is gone', () => {
    let check: BedRun;
    let table: BedRun;
    let alone: BedRun;
    beforeAll(async () => {
      bed.write(
        'lessons/02-edge-caching/exercise.ts',
        bed.read('lessons/02-edge-caching/solution.ts'),
      );
      edit(bed, '08-algorithms', "todo('8.1 roundRobin')", "'mine' as never");
      edit(bed, '14-backend-for-frontend', "todo('14.1 selectFields')", "'mine' as never");
      append(bed, '01-dns-routing', "throw new Error('the table is empty');");
      append(bed, '05-load-balancer', 'export const broken = ;');
      check = await bed.vitest(['run', '--config', 'helpers/grading/check.config.ts', CAPSTONE]);
      // The check reads it, and no run does.
      rmSync(join(bed.root, 'lessons/15-ambassador-and-sidecar/exercise.ts'));
      table = await bed.vitest(['run']);
      alone = await bed.vitest(['run', CAPSTONE]);
    });

    it('runs on what is written, and on the references for the rest', () => {
      const { marked, PIECES } = got(bed, 'exercises');
      expect(marked).toEqual(['roundRobin', 'selectFields']);
      const yours = PIECES.filter(({ owner }) => owner === 'yours');
      const ofLesson2 = PIECES.filter(({ lesson }) => lesson === '02');
      expect(yours.map(({ name }) => name)).toEqual([
        ...ofLesson2.map(({ name }) => name),
        'roundRobin',
        'selectFields',
      ]);
    });

    it('runs at all, and tells why a lesson is lent as a whole', () => {
      expect(alone.output).toContain('✓ 17.1');
      const reasons = got(bed, 'exercises').PIECES.map(({ lesson, reason }) => [lesson, reason]);
      const known = new Map(reasons.filter(([, reason]) => reason) as [string, string][]);
      expect([...known.keys()]).toEqual(['01', '05', '15']);
      const file = (folder: string) => `lessons/${folder}/exercise.ts cannot be loaded: `;
      expect(known.get('01')).toBe(`${file('01-dns-routing')}the table is empty`);
      expect(known.get('05')).toBe(`${file('05-load-balancer')}[PARSE_ERROR] Unexpected token`);
      expect(known.get('15')).toContain(`${file('15-ambassador-and-sidecar')}Cannot find module`);
    });

    it('runs on the references in the project of the solutions, and under every mistake', () => {
      for (const project of ['solutions', '17 mistakes']) {
        const { marked, PIECES } = got(bed, project);
        expect(marked, project).toEqual([]);
        expect(
          PIECES.filter(({ owner }) => owner === 'yours'),
          project,
        ).toEqual([]);
      }
      expect(check.output).toMatch(/\[1\] {2}halves nothing/);
    });

    it('says in the table which units are whose', () => {
      expect(table.output.replace(/\n +/g, ' ')).toContain(
        'Lesson 17 runs on your edge caches 2.2, gateways 14.1. Lent: name layer 1.3, ' +
          'load balancer 5.4 5.5 8.3, gateways 12.3 16.1, delivery 16.3, ambassador 15.4',
      );
      const lines = table.output.split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    });

    it('says when it runs alone which file is the reason', () => {
      expect(alone.output).toContain('edge caches    LruCache 2.2 yours\n');
      expect(alone.output).toMatch(
        / {4}5\.4, 5\.5 lent: lessons\/05-load-balancer\/exercise\.ts cannot be loaded: \[PARSE_ERROR\]/,
      );
      expect(alone.output).not.toContain(bed.root);
    });

    it('is graded as before, with a list of the pieces', () => {
      const grade = bed.grade();
      expect(validate(grade) ? [] : validate.errors).toEqual([]);
      expect(JSON.stringify(grade)).not.toContain(bed.root);
      const { pieces } = grade.lessons[0] ?? {};
      expect(pieces).toContainEqual({
        unit: 'edge caches',
        lesson: '02',
        exercise: '2.2',
        name: 'LruCache',
        owner: 'yours',
      });
    });
  });
});
