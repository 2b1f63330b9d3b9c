// Tries: to fill the memory of whoever reads its errors: 30 MB of message, in every test.
// Must: end in time, and write a report of a sensible size.

const message = 'x'.repeat(3e7);
export function mixEffect() {
  throw new Error(message);
}
export function viewCost() {
  throw Object.assign(new Error('short'), { actual: message, expected: `${message}y` });
}
