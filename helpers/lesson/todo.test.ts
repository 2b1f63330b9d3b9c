import { expect, it } from 'vitest';
import { TodoError, todo } from './todo.ts';

function planCapacity(): number {
  return todo('5.1 planCapacity');
}

it("throws a TodoError that names the exercise and starts at the student's line", () => {
  let thrown: unknown;
  try {
    planCapacity();
  } catch (error) {
    thrown = error;
  }

  expect(thrown).toBeInstanceOf(TodoError);
  const { name, message, stack } = thrown as TodoError;
  expect(name).toBe('TodoError');
  expect(message).toBe('TODO 5.1 planCapacity: this exercise is not written yet');
  expect(stack?.split('\n')[1]).toMatch(/planCapacity .*todo\.test\.ts:5:/);
});
