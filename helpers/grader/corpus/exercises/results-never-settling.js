// Tries: to answer with a promise that never settles, where a test wants to see an error thrown: a
//   test that doesn't wait has nothing to complain of when it ends.
// Must: give no point for it.

// Frozen, so that it isn't taken for an object that it could be.
const never = () => Object.freeze(new Promise(() => {}));
export const selectFields = never;
export const viewCost = never;
export const layoutDemands = never;
export const mixEffect = never;
export const createClientEdges = never;
