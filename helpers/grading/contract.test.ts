import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractProblems, declarations } from './contract.ts';
import { COURSE_ROOT } from './course.ts';

describe('declarations', () => {
  it('finds exports and the methods of exported classes, with their docstrings', () => {
    const source = `
      /** Not exported. */
const helper = 1;
/** One. */
export function one(a: number): number {
  return a;
}
/**
 * Two:
 *   folded.
 */
export class Two {
  /** Made. */
  constructor(private_: string) {}
  /** Done. */
  async run(): Promise<void> {
    call(this);
  }
}
export const three = 3;
`;
    expect(Object.fromEntries(declarations(source))).toEqual({
      one: '/** One. */',
      Two: '/** Two: folded. */',
      'Two.constructor': '/** Made. */',
      'Two.run': '/** Done. */',
      three: '',
    });
  });
});

describe('contractProblems', () => {
  const lesson = { number: '91', folder: '91-one', title: 'One', exercises: new Map() };
  const stub =
    '/** Adds. */\nexport function add(a: number, b: number): number {\n  throw a + b;\n}\n';
  let root: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'contract '));
    await mkdir(join(root, 'lessons/91-one'), { recursive: true });
    await symlink(join(COURSE_ROOT, 'node_modules'), join(root, 'node_modules'), 'junction');
    for (const file of ['package.json', 'tsconfig.json']) {
      await copyFile(join(COURSE_ROOT, file), join(root, file));
    }
  });
  afterAll(() => rm(root, { recursive: true }));

  const compare = async (solution: string) => {
    await writeFile(join(root, 'lessons/91-one/exercise.ts'), stub);
    await writeFile(join(root, 'lessons/91-one/solution.ts'), solution);
    return contractProblems(root, [lesson]);
  };

  it('finds nothing where solution and stub agree', async () => {
    expect(await compare(stub.replace('throw', 'return'))).toEqual([]);
  });

  it('finds a docstring that differs', async () => {
    expect(await compare(stub.replace('Adds.', 'Adds up.'))).toEqual([
      'lessons/91-one: the docstrings of add differ in exercise.ts and solution.ts',
    ]);
  });

  it('finds an export that is missing, and one too many', async () => {
    const problems = await compare('export const sub = 1;\n');
    expect(problems).toContain('lessons/91-one/solution.ts lacks add, which exercise.ts declares');
    expect(problems).toContain(
      'lessons/91-one/solution.ts exports sub, which exercise.ts does not',
    );
  });

  it('finds a type that the spec, compiled against the stub, could not live with', async () => {
    const problems = await compare(stub.replace('b: number)', 'b: string)'));
    expect(problems.join()).toContain('91.ts');
  });
});
