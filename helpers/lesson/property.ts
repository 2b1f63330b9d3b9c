import fc from 'fast-check';
import { TodoError } from './todo.ts';

/** The date on which the course's own numbers were drawn; any fixed seed would do. */
const SEED = 20240730;

/**
 * Checks a law on many drawn inputs. The draw is seeded, so every run tries the same inputs, and a
 * failure prints the seed, the smallest counterexample found and how it failed.
 *
 * @param draw what to draw, a record of fast-check arbitraries
 * @param law asserts with `expect`; may be asynchronous
 * @param runs how many inputs to try
 */
export async function expectLaw<T extends Record<string, unknown>>(
  draw: { [K in keyof T]: fc.Arbitrary<T[K]> },
  law: (input: T) => void | Promise<void>,
  runs = 100,
): Promise<void> {
  const property = fc.asyncProperty(
    fc.record(draw) as unknown as fc.Arbitrary<T>,
    async (input) => {
      await law(input);
    },
  );
  try {
    await fc.assert(property, { seed: SEED, numRuns: runs });
  } catch (error) {
    // fast-check wraps what the law threw. An exercise that nobody has started has no counterexample.
    if (error instanceof Error && error.cause instanceof TodoError) throw error.cause;
    throw error;
  }
}

export { fc };
