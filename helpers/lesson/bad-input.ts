import { expect, onTestFinished, vi } from 'vitest';
import { TodoError } from './todo.ts';

/**
 * Asserts that bad input is refused with a `RangeError` (or the given class) whose message names
 * the field, so that the caller finds the slip. A `TodoError` passes through: an exercise that
 * nobody has started is not a wrong one.
 *
 * Takes the call as a function; a function that returns a promise has to be awaited.
 *
 * @param field text that the message must contain, usually the name of the offending field
 */
export const expectRefusal: {
  (call: () => Promise<unknown>, field: string, errorClass?: ErrorClass): Promise<void>;
  (call: () => unknown, field: string, errorClass?: ErrorClass): void;
} = vi.defineHelper(
  (
    call: () => unknown,
    field: string,
    errorClass: ErrorClass = RangeError,
  ): void | Promise<void> => {
    let result: unknown;
    try {
      result = call();
    } catch (error) {
      return judge({ error }, field, errorClass);
    }
    if (result instanceof Promise) {
      let isSettled = false;
      // A test of a function that isn't asynchronous waits for nothing: it would be over, and green.
      onTestFinished(() => {
        if (isSettled) return;
        throw new Error('the call returned a promise that had not settled when the test was over');
      });
      const settled = (outcome: { value?: unknown; error?: unknown }) => {
        isSettled = true;
        judge(outcome, field, errorClass);
      };
      return result.then(
        (value) => settled({ value }),
        (error: unknown) => settled({ error }),
      );
    }
    judge({ value: result }, field, errorClass);
  },
) as never;

type ErrorClass = new (message?: string) => Error;

function judge(
  outcome: { value?: unknown; error?: unknown },
  field: string,
  errorClass: ErrorClass,
): void {
  if (outcome.error instanceof TodoError) throw outcome.error;
  if (!('error' in outcome)) {
    expect.fail(
      `Bad input must be refused with a ${errorClass.name} whose message names "${field}", ` +
        `but the call returned ${String(JSON.stringify(outcome.value))}.`,
    );
  }
  const { error } = outcome;
  expect(error, `bad input must be refused with a ${errorClass.name}`).toBeInstanceOf(errorClass);
  expect((error as Error).message, 'the message must name what was wrong').toContain(field);
}
