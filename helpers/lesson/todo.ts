/** Thrown by an exercise that nobody has started. Reports count it apart from a failure. */
export class TodoError extends Error {
  override readonly name = 'TodoError';
}

/**
 * The body of an exercise that is still to be written.
 *
 * @param exercise number and name, such as `5.1 planCapacity`
 * @throws {TodoError} always; its stack starts at the caller, so that a report opens the student's
 *   file and not this one
 */
export function todo(exercise: string): never {
  const error = new TodoError(`TODO ${exercise}: this exercise is not written yet`);
  Error.captureStackTrace(error, todo);
  throw error;
}
