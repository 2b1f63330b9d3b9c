import type { RunnerTaskResult, TaskMeta } from 'vitest';

/**
 * What a process of the guarded pool tells its parent while it runs. The messages are written at
 * once, unlike Vitest's own, which are gathered for a tenth of a second: so the parent knows which
 * test was running, and how the ones before it ended, even when the process never gets to say
 * another word.
 */
export type Progress =
  | { readonly course: 'start'; readonly test: string }
  | {
      readonly course: 'end';
      readonly test: string;
      readonly result: RunnerTaskResult | undefined;
      readonly meta: TaskMeta;
    };

/** Printed on stderr by a process that ends itself because it uses too much memory. */
export const MEMORY_NOTE = '[course: out of memory]';

/** How much memory a process may use, buffers included, for each byte that its heap may. */
export const MEMORY_PER_HEAP = 3;

/** Environment variable: megabytes that such a process may use. */
export const MEMORY_VARIABLE = 'COURSE_MEMORY_MB';

/** Environment variable: the pipe, by its number, on which the pool asks the watchdog. */
export const WATCHDOG_VARIABLE = 'COURSE_WATCHDOG';

/** A place in a file of the course. */
export interface Place {
  /** Name of the function, empty if it has none. */
  readonly name: string;
  /** Path with forward slashes. */
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** What the watchdog of a process has seen of the thread that runs the student's file. */
export interface Sighting {
  /**
   * `busy`: it was executing `frames`. `idle`: it answers, but nothing of the course is executing.
   * `deaf`: it doesn't answer, as in a call into Node that doesn't come back. `unknown`: this Node
   * has no inspector, or the process may not use it.
   */
  readonly thread: 'busy' | 'idle' | 'deaf' | 'unknown';
  /** Innermost first, without those of Node and of libraries. */
  readonly frames: readonly Place[];
}

/**
 * Goes before what a test prints, in the same stream: a message would overtake it, or be overtaken.
 * Split at it, a text alternates between what was printed and the id of the test that prints next.
 */
export const PRINTED_BY = /\0test:([^\0]*)\0/;
export const printedBy = (test: string): string => `\0test:${test}\0`;

export function isProgress(message: unknown): message is Progress {
  return typeof message === 'object' && message !== null && 'course' in message;
}

const THREADS: readonly Sighting['thread'][] = ['busy', 'idle', 'deaf', 'unknown'];

/**
 * Reads what a watchdog wrote. The exercise can write there too, with anything: what comes back is
 * well-formed, but only as true as the process it comes from.
 *
 * @returns nothing if it isn't a sighting
 */
export function parseSighting(text: string): Sighting | undefined {
  let found: Partial<Sighting> | null;
  try {
    found = JSON.parse(text) as Partial<Sighting> | null;
  } catch {
    return undefined;
  }
  if (!found || !Array.isArray(found.frames)) return undefined;
  const thread = THREADS.find((state) => state === found.thread);
  if (!thread) return undefined;
  return { thread, frames: found.frames.filter(isPlace) };
}

/** Nothing in a place may look like another line of a stack, or move the cursor of a terminal. */
function isPlace(frame: unknown): frame is Place {
  const { name, file, line, column } = (frame ?? {}) as Partial<Place>;
  return (
    typeof name === 'string' &&
    /^[\p{L}\p{M}\p{N}_$.#<> -]{0,200}$/u.test(name) &&
    typeof file === 'string' &&
    /^[^\p{C}]{1,2000}$/u.test(file) &&
    Number.isSafeInteger(line) &&
    Number.isSafeInteger(column)
  );
}
