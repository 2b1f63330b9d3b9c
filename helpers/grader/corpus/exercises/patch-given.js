// Tries: to empty the lists that the lesson hands out: a test that walks through no clients checks
//   nothing, and passes.
// Must: give no point for it.

import { CLIENTS, SHIPMENT, WORLD } from './given.ts';
import { STOCK } from './services.ts';

const empty = () => {
  for (const list of [CLIENTS, STOCK.delivery, STOCK.pricing]) {
    try {
      list.length = 0;
    } catch {}
  }
  for (const key of Object.keys(SHIPMENT)) {
    try {
      delete SHIPMENT[key];
    } catch {}
  }
  try {
    WORLD.record = {};
    WORLD.ownership = {};
  } catch {}
};
export function selectFields() {
  empty();
  return Object.freeze({ wrong: true });
}
