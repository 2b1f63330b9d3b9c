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

/** Environment variable: megabytes that such a process may use. */
export const MEMORY_VARIABLE = 'COURSE_MEMORY_MB';

/**
 * Goes before what a test prints, in the same stream: a message would overtake it, or be overtaken.
 * Split at it, a text alternates between what was printed and the id of the test that prints next.
 */
export const PRINTED_BY = /\0test:([^\0]*)\0/;
export const printedBy = (test: string): string => `\0test:${test}\0`;

export function isProgress(message: unknown): message is Progress {
  return typeof message === 'object' && message !== null && 'course' in message;
}
