// Tries: to break the report of a failure: what it throws is not an error, or one that throws again.
// Must: count these tests as not passed, and go on.

const nasty = () =>
  Object.defineProperties(new Error('nasty'), {
    message: {
      get() {
        throw nasty();
      },
    },
    stack: {
      get() {
        throw nasty();
      },
    },
    toJSON: {
      value() {
        throw nasty();
      },
    },
    cause: {
      get() {
        return nasty();
      },
    },
  });
let turn = 0;
export function viewCost() {
  turn += 1;
  const kinds = [
    null,
    undefined,
    0,
    Symbol('x'),
    Object.freeze(new RangeError('records')),
    nasty(),
  ];
  throw kinds[turn % kinds.length];
}
export function mixEffect() {
  throw new Proxy(
    {},
    {
      get() {
        throw nasty();
      },
      ownKeys() {
        throw nasty();
      },
      getPrototypeOf() {
        throw nasty();
      },
    },
  );
}
