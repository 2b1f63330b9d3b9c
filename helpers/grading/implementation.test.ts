import { join } from 'node:path';
import type { Plugin } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { implementation } from './implementation.ts';
import { makeTestBed, type TestBed } from './test-bed.ts';

/** What the plugin makes of an import, or nothing when it leaves it to others. */
type Resolve = (source: string, importer: string | undefined) => string | undefined;
const resolver = (plugin: Plugin) => plugin.resolveId as unknown as Resolve;

describe('an import of an exercise', () => {
  let bed: TestBed;
  beforeAll(() => {
    bed = makeTestBed({
      'lessons/91-one/exercise.ts': '',
      'lessons/91-one/solution.ts': '',
      'lessons/92-two/exercise.ts': '',
    });
  });
  afterAll(() => bed[Symbol.dispose]());

  const solution = resolver(implementation('solution.ts', 'exercise.ts'));
  /** What a file of lesson 92 gets, below the folder of the course and with forward slashes. */
  const asked = (source: string, file: string) =>
    solution(source, join(bed.root, 'lessons/92-two', file))?.slice(bed.root.length + 1);

  it("of a spec's own lesson gets the first candidate that is there", () => {
    expect(asked('./exercise.ts', 'two.spec.ts')).toBe('lessons/92-two/exercise.ts');
  });

  it('of another lesson gets the first candidate beside it, whichever file asks', () => {
    expect(asked('../91-one/exercise.ts', 'pieces.ts')).toBe('lessons/91-one/solution.ts');
    expect(asked('../91-one/exercise.ts', 'two.spec.ts')).toBe('lessons/91-one/solution.ts');
  });

  it.for([
    ['./exercise.ts', 'mistakes.ts'],
    ['./solution.ts', 'two.spec.ts'],
    ['../91-one/given.ts', 'pieces.ts'],
    ['../../lessons/91-one/exercise.ts', 'pieces.ts'],
    ['../93-three/exercise.ts', 'pieces.ts'],
  ] as const)('%s in %s is nothing of its', ([source, file]) => {
    expect(asked(source, file)).toBeUndefined();
  });

  it('that nobody imports is nothing of its', () => {
    expect(solution('../91-one/exercise.ts', undefined)).toBeUndefined();
  });
});
