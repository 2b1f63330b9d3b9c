import type { RunResult } from './given.ts';

/**
 * What a number measures: requests that reach the application, bytes that cross the boundary, the
 * share still answered when one unit stops, or anything else.
 */
export type Measure = 'requests' | 'bytes' | 'answered' | 'other';

/** All four, in this order. */
export const MEASURES: readonly Measure[] = ['requests', 'bytes', 'answered', 'other'];

/** One number of the closing table, without and with the decision. Both sides have the same unit. */
export interface Change {
  readonly measure: Measure;
  readonly before: number;
  readonly after: number;
}

/** One row of the closing table, as somebody who audits it sees it. */
export interface AuditRow {
  /** Number of the lesson whose decision it is. */
  readonly lesson: number;
  readonly decision: string;
  /** Left column: what the decision moves. */
  readonly moves: readonly Change[];
  /** Right column: what grows in exchange. */
  readonly grows: readonly Change[];
}

/** The runs of the path from which rows are repaired. */
export type AuditedRunName = 'full' | 'noCache' | 'noGate' | 'ambassadorStopped';

/** What such a run has counted. The runner counts more; a repair takes no other number. */
export type AuditedRun = Pick<
  RunResult,
  'balancer' | 'application' | 'inboundBodyBytes' | 'answered'
>;

/** The closing table of the course, each number sorted under what it measures. */
export const AUDIT_ROWS: readonly AuditRow[] = frozen([
  {
    lesson: 1,
    decision: 'routing policy',
    moves: [other(2.144, 1.171)], // distance units, weighted and latency policy
    grows: [
      other(39, 905), // s, failover window
      answered(99.5, 85.72), // % of the outage budget that is left
    ],
  },
  {
    lesson: 2,
    decision: 'where the cache stands',
    moves: [requests(416.67, 41.76)], // reads/s that reach the application
    grows: [bytes(480, 653)], // one answer: body, wire
  },
  {
    lesson: 3,
    decision: 'how content spreads',
    moves: [requests(416.67, 42.34)], // requests/s at the origin, by pulling
    grows: [
      requests(0, 1166.64), // pushes/s at the peak
      bytes(0, 4.48), // Mbit/s of pushes
      bytes(0, 6.91), // GB at the edges
    ],
  },
  {
    lesson: 4,
    decision: 'separate content path',
    moves: [requests(3291.67, 513.89), bytes(241.6, 1.6)], // application process: requests/s, Mbit/s
    grows: [requests(0, 2777.78), bytes(0, 240)], // content process
  },
  {
    lesson: 5,
    decision: 'distribution plus health checks',
    moves: [answered(99.93472, 99.99998)], // % of the requests of a month
    grows: [requests(0, 15)], // probes/s
  },
  {
    lesson: 6,
    decision: 'distribution per connection',
    moves: [other(513.89, 51.39)], // decisions/s
    grows: [other(1, 4), other(3, 5)], // request skew; replicas
  },
  {
    lesson: 7,
    decision: 'content-aware routing',
    moves: [other(4, 1.07)], // request skew
    grows: [other(51.39, 513.89), other(3, 4)], // decisions/s; replicas
  },
  {
    lesson: 8,
    decision: 'distribution rule',
    moves: [other(74.85, 26.48)], // % of the keys that move
    grows: [requests(138.89, 238.18)], // requests/s at the store while caches warm up
  },
  {
    lesson: 9,
    decision: 'separating the roles',
    moves: [answered(0, 6)], // of 6 content requests, when the replica-list process stops
    grows: [other(2, 3), other(215.6, 258.6)], // hops; outage in min/month
  },
  {
    lesson: 10,
    decision: 'binding state to a replica',
    moves: [other(3, 4)], // replicas: a cost, not a gain
    grows: [
      other(1, 1.173), // imbalance
      answered(100, 60.89), // % of the requests, when one replica stops
    ],
  },
  {
    lesson: 11,
    decision: 'where edge work lives',
    moves: [other(135, 45), other(3, 1)], // lines; units per responsibility
    grows: [
      requests(416.67, 513.89), // requests/s in one component
      other(513.89, 1027.78), // hop-requests/s
      answered(3, 0), // of 3 flows, when the gateway stops
    ],
  },
  {
    lesson: 12,
    decision: 'many calls in one request',
    moves: [requests(833.34, 416.67)], // requests/s at the edge, against separate calls
    grows: [
      bytes(405, 764), // mean body, against separate calls
      bytes(1.6, 2.55), // Mbit/s, against the baseline
    ],
  },
  {
    lesson: 13,
    decision: 'moving checks to the edge',
    moves: [other(171, 107)], // lines
    grows: [other(0, 3), other(513.89, 1027.78)], // unprotected services; verifications/s
  },
  {
    lesson: 14,
    decision: 'a body for each kind of client',
    moves: [
      other(37, 0), // unused fields
      requests(583.34, 416.67), // requests/s
      bytes(3.56, 1.9), // Mbit/s
    ],
    grows: [other(1, 3), other(0, 2)], // edge units; batch endpoints
  },
  {
    lesson: 15,
    decision: 'a helper process',
    moves: [other(2, 1), other(4, 6)], // contracts that the service sees; usable units of 6
    grows: [other(6, 12), other(1027.78, 1541.67)], // processes; hop-requests/s
  },
  {
    lesson: 16,
    decision: 'isolating validation',
    moves: [requests(513.89, 486.48), requests(416.67, 394.45)], // all requests/s; reads/s
    grows: [other(3, 4)], // units that carry checks
  },
]);

function requests(before: number, after: number): Change {
  return { measure: 'requests', before, after };
}

function bytes(before: number, after: number): Change {
  return { measure: 'bytes', before, after };
}

function answered(before: number, after: number): Change {
  return { measure: 'answered', before, after };
}

function other(before: number, after: number): Change {
  return { measure: 'other', before, after };
}

/** Whoever writes into the table shall hear of it there, and not in a test that comes later. */
function frozen(rows: readonly AuditRow[]): readonly AuditRow[] {
  for (const row of rows) {
    for (const side of [row.moves, row.grows]) {
      side.forEach(Object.freeze);
      Object.freeze(side);
    }
    Object.freeze(row);
  }
  return Object.freeze(rows);
}
