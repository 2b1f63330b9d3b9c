// Tries: to keep whoever writes down an error busy for ever: each cause has another one.
// Must: end in time, with no point for it.
// Earns: 14.1

class Endless extends Error {
  get cause() {
    return new Endless('and why?');
  }
  get errors() {
    return [new Endless('first'), new Endless('second')];
  }
  get self() {
    return new Endless('still here');
  }
}
export function viewCost() {
  throw new Endless('why?');
}
