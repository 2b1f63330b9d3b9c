// Tries: to return thenables that settle when it suits them, never, twice, or with a throw.
// Must: give no point for it, and end in time.

const quick = Object.freeze({ then: (resolve) => resolve(undefined) });
export const selectFields = () => quick;
export const viewCost = () => ({
  then() {
    throw new Error('thrown by then');
  },
});
export const layoutDemands = async () => ({ edgeUnits: 1 });
export const mixEffect = () => Promise.reject(new RangeError('no'));
