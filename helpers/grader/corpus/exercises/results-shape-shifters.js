// Tries: to return values that look different each time they are looked at, and claim a type.
// Must: give no point for it.

let turn = 0;
class Shifter extends Number {
  get [Symbol.toStringTag]() {
    turn += 1;
    return turn % 2 ? 'Number' : 'Object';
  }
  [Symbol.toPrimitive]() {
    turn += 1;
    return turn;
  }
  toFixed() {
    return '1.19';
  }
  valueOf() {
    turn += 1;
    return turn;
  }
}
const shift = () => new Shifter(1);
export const viewCost = () => ({
  requests: shift(),
  bytes: shift(),
  leaves: shift(),
  unusedLeaves: shift(),
  internalRequests: shift(),
});
export const mixEffect = () => ({
  requestsPerSecond: shift(),
  bytesPerRequest: shift(),
  megabitPerSecond: shift(),
});
