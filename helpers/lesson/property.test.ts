import { describe, expect, it } from 'vitest';
import { expectLaw, fc } from './property.ts';
import { TodoError, todo } from './todo.ts';

const draw = { share: fc.integer({ min: 0, max: 1_000 }) };

async function messageOf(law: (input: { share: number }) => void | Promise<void>): Promise<string> {
  const error = await expectLaw(draw, law).then(
    () => expect.fail('the law must be broken'),
    (thrown: Error) => thrown,
  );
  return `${error.message}\n${String(error.cause ?? '')}`;
}

describe('expectLaw', () => {
  it('tries the same inputs in every run, as many as asked for', async () => {
    const runs: number[][] = [[], []];
    for (const seen of runs) await expectLaw(draw, ({ share }) => void seen.push(share), 37);

    expect(runs[0]).toHaveLength(37);
    expect(runs[0]).toEqual(runs[1]);
    expect(new Set(runs[0]).size).toBeGreaterThan(10);
  });

  it.for([
    ['synchronous', ({ share }: { share: number }) => expect(share).toBeLessThan(500)],
    ['asynchronous', async ({ share }: { share: number }) => expect(share).toBeLessThan(500)],
  ] as const)(
    'a broken law, %s, prints seed, smallest counterexample and reason',
    async ([, law]) => {
      const message = await messageOf(law);

      expect(message).toMatch(/seed: -?\d+/);
      expect(message).toContain('{"share":500}');
      expect(message).toContain('to be less than 500');
    },
  );

  it('lets a TodoError through: what nobody has started has no counterexample', async () => {
    await expect(expectLaw(draw, () => todo('1.1 x'))).rejects.toBeInstanceOf(TodoError);
    await expect(expectLaw(draw, async () => todo('1.1 x'))).rejects.toBeInstanceOf(TodoError);
  });
});
