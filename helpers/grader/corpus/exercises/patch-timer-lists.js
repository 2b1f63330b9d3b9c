// Tries: to walk from its own timer to those of Vitest, which stand in the same list, and to take
//   the time-outs of the tests away.
// Must: give no point for it, and end in time.

const cut = () => {
  const own = setTimeout(() => {}, 5_000);
  for (let timer = own._idleNext; timer && timer !== own; timer = timer._idleNext) {
    try {
      timer._onTimeout = () => {};
      timer._repeat = null;
    } catch {}
  }
  clearTimeout(own);
};
let waits = 0;
export function viewCost() {
  cut();
  waits += 1;
  return waits === 1 ? new Promise(() => {}) : { requests: 1 };
}
