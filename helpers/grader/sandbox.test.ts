import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lessonFolders } from '../grading/course.ts';
import { makeTestBed, type TestBed, tinyExercise, tinyLesson } from '../grading/test-bed.ts';
import { openWorkshop, type Workshop } from './sandbox.ts';

let bed: TestBed;
let workshop: Workshop;
beforeAll(() => {
  bed = makeTestBed({
    ...tinyLesson('16', 'Gate', "throw new Error('an answer of the instructor');"),
    ...tinyLesson('17', 'Path', tinyExercise('return n / 2;')),
    'lessons/16-gate/mistakes.ts': 'export default {};',
    'lessons/17-path/mistakes.ts': 'export default {};',
  });
  workshop = openWorkshop(bed.root, lessonFolders(bed.root));
});
afterAll(() => {
  workshop[Symbol.dispose]();
  bed[Symbol.dispose]();
});

const EXERCISES = new Map([['16-gate', 'export const answer = 16;']]);
const SPEC = 'lessons/16-gate/gate.spec.ts';
const filesOf = (folder: string) => readdirSync(folder).sort();

describe('a sandbox', () => {
  it('has the submission, and neither solutions nor mistakes nor other lessons', () => {
    using sandbox = workshop.open(['16'], EXERCISES, 'sealed');
    expect(filesOf(join(sandbox.course, 'lessons'))).toEqual(['16-gate']);
    expect(filesOf(join(sandbox.course, 'lessons/16-gate'))).toEqual([
      'README.md',
      'exercise.ts',
      'gate.spec.ts',
    ]);
    expect(readFileSync(join(sandbox.course, 'lessons/16-gate/exercise.ts'), 'utf8')).toBe(
      'export const answer = 16;',
    );
    expect(filesOf(sandbox.scratch)).toEqual([]);
    expect(sandbox.changes()).toEqual([]);
  });

  it('of the last lesson has the solutions of the others, and not its own', () => {
    using sandbox = workshop.open(['17'], EXERCISES, 'lent');
    const lessons = join(sandbox.course, 'lessons');
    expect(filesOf(join(lessons, '16-gate'))).toContain('solution.ts');
    expect(filesOf(join(lessons, '17-path'))).toEqual(['README.md', 'exercise.ts', 'path.spec.ts']);
    expect(readFileSync(join(lessons, '17-path/exercise.ts'), 'utf8')).toContain('Not handed in');
  });

  it.each<[string, (course: string) => void, string]>([
    ['a file that is written to', (course) => appendFileSync(join(course, SPEC), ' '), SPEC],
    [
      'a file that is written as it was, with its time set back',
      (course) => {
        writeFileSync(join(course, SPEC), readFileSync(join(course, SPEC)));
        utimesSync(join(course, SPEC), new Date(0), new Date(0));
      },
      SPEC,
    ],
    ['a mode', (course) => chmodSync(join(course, SPEC), 0o600), SPEC],
    ['a file that is gone', (course) => rmSync(join(course, SPEC)), SPEC],
    ['a file that is new', (course) => writeFileSync(join(course, 'x.ts'), ''), 'x.ts'],
    [
      'a link in the place of a file',
      (course) => {
        renameSync(join(course, SPEC), join(course, '../scratch/spec'));
        symlinkSync('../../../scratch/spec', join(course, SPEC));
      },
      SPEC,
    ],
    [
      'other modules',
      (course) => {
        rmSync(join(course, 'node_modules'));
        mkdirSync(join(course, 'node_modules'));
      },
      'node_modules',
    ],
    ['a course that is gone', (course) => rmSync(course, { recursive: true }), SPEC],
  ])('notices %s', (_, change, path) => {
    using sandbox = workshop.open(['16'], EXERCISES, 'sealed');
    change(sandbox.course);
    expect(sandbox.changes()).toContain(path);
  });

  it('is gone when it is disposed, and its modules are not', () => {
    const sandbox = workshop.open(['16'], EXERCISES, 'sealed');
    sandbox[Symbol.dispose]();
    expect(existsSync(sandbox.course)).toBe(false);
    expect(existsSync(join(bed.root, 'node_modules/vitest/package.json'))).toBe(true);
  });
});

describe('a workshop', () => {
  const hashNow = () => {
    using another = openWorkshop(bed.root, lessonFolders(bed.root));
    return another.courseHash;
  };

  it('knows the course by what grades depend on', () => {
    const before = hashNow();
    bed.write('lessons/16-gate/exercise.ts', 'whatever the instructor has tried');
    bed.write('reports/grade.json', '{}');
    expect(hashNow()).toBe(before);
    bed.write('lessons/16-gate/solution.ts', tinyExercise('return n / 2; // again'));
    expect(hashNow()).not.toBe(before);
  });

  it('notices packages that are changed, and nothing of what is kept beside them', () => {
    const modules = join(bed.root, 'own_modules');
    bed.write('own_modules/vitest/index.js', '');
    bed.write('own_modules/.cache/x', '');
    rmSync(join(bed.root, 'node_modules'));
    symlinkSync(modules, join(bed.root, 'node_modules'), 'junction');
    using another = openWorkshop(bed.root, lessonFolders(bed.root));
    bed.write('own_modules/.cache/x', 'y');
    expect(another.changedModules()).toEqual([]);
    bed.write('own_modules/vitest/index.js', 'patched');
    bed.write('own_modules/new/index.js', '');
    expect(another.changedModules()).toEqual(['vitest/index.js', 'new/index.js']);
  });

  it('takes away what a grader that was killed has left', () => {
    // No process has this number: the system's largest is smaller.
    const left = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-grade-999999999-'));
    hashNow();
    expect(existsSync(left)).toBe(false);
  });
});
