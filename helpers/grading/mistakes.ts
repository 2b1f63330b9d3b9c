/** A text of `solution.ts` and what stands there instead. */
export interface Replacement {
  /** Stands exactly once in `solution.ts`. */
  readonly replace: string;
  readonly by: string;
}

/** A wrong answer: the reference with one part replaced. */
export interface Mistake extends Replacement {
  /** Title of the graded test that must catch it. */
  readonly caughtBy: string;
  /** More places that belong to the same mistake. */
  readonly also?: readonly Replacement[];
  /**
   * Whether it makes the named test loop or end the process, so that no other test can run after it.
   * It is then tried in a process of its own.
   */
  readonly hangs?: boolean;
}

/**
 * Global variable with the module that `./exercise.ts` is to be. Set by the runner that tries the
 * mistakes, read by the module that stands for `./exercise.ts`.
 */
export const CHOSEN = '__trafficLayerMistake';

/** What a process needs to know about a mistake that it tries. */
export interface MistakeOnTrial {
  /** Number of the mistake in its lesson. */
  readonly id: number;
  readonly name: string;
  readonly caughtBy: string;
}

/** The wrong answers of a lesson. Each is named by a sentence that says what it does. */
export type Mistakes = Readonly<Record<string, Mistake>>;

/** Declares the wrong answers of a lesson. `npm run check` tries every one. */
export function mistakes(named: Mistakes): Mistakes {
  return named;
}

/**
 * The source of the reference with the mistake made.
 *
 * @param source `solution.ts`, with whichever line ends
 * @throws {Error} when a text to replace does not stand there exactly once
 */
export function makeMistake(source: string, { replace, by, also = [] }: Mistake): string {
  let wrong = source.replaceAll('\r\n', '\n');
  for (const part of [{ replace, by }, ...also]) {
    const places = wrong.split(part.replace).length - 1;
    if (places !== 1) {
      throw new Error(`stands ${places} times in solution.ts, wanted once: ${part.replace}`);
    }
    wrong = wrong.replace(part.replace, () => part.by);
  }
  return wrong;
}
