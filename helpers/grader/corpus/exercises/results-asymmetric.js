// Tries: to return asymmetric matchers, which are equal to everything that they are compared with.
// Must: give no point for it.

const equal = (shape) => ({
  ...shape,
  $$typeof: Symbol.for('jest.asymmetricMatcher'),
  asymmetricMatch: () => true,
  toString: () => 'Equal',
  getExpectedType: () => 'object',
  toAsymmetricMatcher: () => 'Equal',
});
export const selectFields = () => Object.freeze(equal({}));
export const viewCost = () => equal({});
export const layoutDemands = () => equal({ batchEndpoints: equal({ length: 2 }) });
export const mixEffect = () => equal({});
