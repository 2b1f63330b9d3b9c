/**
 * What a worker of the guarded pool tells its parent while it runs. The messages are written at
 * once, so the parent knows which test was running even when the worker never gets to say another
 * word.
 */
export type Progress =
  | { readonly course: 'start'; readonly test: string }
  | { readonly course: 'end'; readonly test: string; readonly passed: boolean };

export function isProgress(message: unknown): message is Progress {
  return typeof message === 'object' && message !== null && 'course' in message;
}
