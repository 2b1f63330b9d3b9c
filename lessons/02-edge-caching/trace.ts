// The trace of lesson 2: which shipments are asked for, in which order. The trace is an assumption;
// what is counted on it is measured.

/** How the requests of a trace hang together. All are whole numbers. */
export interface TraceOptions {
  /** How many keys come. */
  requests: number;
  /** Of so many queries in a row ... */
  queriesPerShipment: number;
  /** ... this many belong to bursts; the others are for keys that never come again. */
  burstLength: number;
  /** Bursts that take turns: how far apart the queries of one burst lie. */
  openBursts: number;
}

/**
 * The keys of a trace, one after another: `G<n>` for a shipment that is asked for `burstLength`
 * times while its burst is open, `D<n>` for one that is asked for once.
 *
 * No chance is involved, so every run gives the same keys. For a burst length of 5 they begin with
 * G2 G3 G4 G5 G6 D1 D2 D3 D4 D5 G7 G8.
 */
export function* trackingTrace(options: TraceOptions): Generator<string, void, undefined> {
  const { requests, queriesPerShipment, burstLength, openBursts } = options;
  const open: { key: string; remaining: number }[] = [];
  let shipment = 1;
  let single = 1;
  let cursor = 0;
  for (let index = 0; index < requests; index += 1) {
    if (index % queriesPerShipment >= burstLength) {
      yield `D${single++}`;
      continue;
    }
    while (open.length < openBursts) open.push({ key: `G${shipment++}`, remaining: burstLength });
    cursor = (cursor + 1) % openBursts;
    const burst = open[cursor] as (typeof open)[number];
    yield burst.key;
    burst.remaining -= 1;
    // The entries behind it move up and the cursor stays, so the one that slides in is skipped this
    // time round.
    if (burst.remaining === 0) open.splice(cursor, 1);
  }
}
