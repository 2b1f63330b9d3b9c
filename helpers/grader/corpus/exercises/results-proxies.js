// Tries: to return an object that has every property, is callable, and becomes whatever it is
//   compared with.
// Must: give no point for it.

const anything = new Proxy(function anything() {}, {
  get(_, key) {
    if (key === 'then') return undefined;
    if (key === Symbol.toPrimitive) return () => 7;
    if (key === Symbol.iterator) return () => [][Symbol.iterator]();
    if (key === 'asymmetricMatch') return () => true;
    if (key === 'length') return 0;
    return anything;
  },
  apply: () => anything,
  construct: () => anything,
  has: () => true,
  ownKeys: () => ['prototype'],
});
export const viewCost = () => anything;
export const layoutDemands = () => anything;
export const mixEffect = () => anything;
export const createClientEdges = () => anything;
