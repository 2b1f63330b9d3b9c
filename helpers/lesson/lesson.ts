import { readFileSync } from 'node:fs';
import type { PathPiece } from './pieces.ts';
import { wrap } from './wrap.ts';

/** What a test carries for the report and for Vitest UI. Plain data: it crosses a process border. */
declare module 'vitest' {
  interface TaskMeta {
    /** Exercise that the test grades, such as `5.1`. A demonstration has none. */
    exercise?: string;
    /** Nudge, approach, near-solution, each cut into lines: Vitest UI shows them and wraps nothing. */
    hints?: string[][];
    /** Ledger ids that the test compared with a value. */
    published?: PublishedAssertion[];
    /** The other lessons' exercises that this lesson's system is made of. */
    pieces?: readonly PathPiece[];
  }
}

/** One comparison with the ledger. */
export interface PublishedAssertion {
  id: string;
  /** What the code computed, formatted as the ledger is. */
  received: string;
  /** `expect(...).not.toBePublished(id)`: the test shows that the published claim does not hold. */
  refuted: boolean;
}

/** A lesson as its spec sees it. */
export interface Lesson {
  /**
   * Options for the `describe` of one exercise. They mark its tests as graded and hand its hints
   * from the README to the report and to Vitest UI.
   *
   * @throws {Error} when the README has no such exercise, or not three hints for it
   */
  exercise(number: string): { meta: { exercise: string; hints: string[][] } };
}

/**
 * Opens the lesson whose spec calls it, with `import.meta.url`. Hints are written once, in the
 * README that stands beside the spec.
 */
export function openLesson(specUrl: string): Lesson {
  const readme = readFileSync(new URL('README.md', specUrl), 'utf8').replaceAll('\r\n', '\n');
  return {
    exercise(number) {
      const hints = hintsOf(readme, number);
      if (hints.length !== 3) {
        throw new Error(
          `README.md has ${hints.length} hints for exercise ${number}, wanted 3: ` +
            `a heading "### Exercise ${number}: ..." and three <details> below it`,
        );
      }
      return { meta: { exercise: number, hints: hints.map((hint) => wrap(hint, LINE_LENGTH)) } };
    },
  };
}

function hintsOf(readme: string, number: string): string[] {
  const start = readme.indexOf(`\n### Exercise ${number}: `);
  if (start < 0) return [];
  const rest = readme.slice(start + 1);
  const end = rest.search(/\n##? /);
  const next = rest.indexOf('\n### ', 1);
  const section = rest.slice(0, Math.min(...[end, next].filter((at) => at > 0), rest.length));
  return [...section.matchAll(/<details>\s*<summary>[^<]*<\/summary>(.*?)<\/details>/gs)].map(
    ([, text]) => (text ?? '').trim().replace(/\s*\n\s*/g, ' '),
  );
}

/** Characters of a line that Vitest UI shows without cutting it. */
const LINE_LENGTH = 64;
