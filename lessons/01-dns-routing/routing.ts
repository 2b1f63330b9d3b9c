// What lesson 1 hands to the student: the words of a routing decision, and the published tables.
import { K01, T1_TTL_SECONDS, T2_REGIONS, T5_DETECTION_SECONDS } from '#fixtures/assumptions.ts';

/** Name of a region, such as `b34`. */
export type Region = string;

/** Name of a client group, such as `g1`. A resolver asks on behalf of one group. */
export type ClientGroup = string;

/** How the authoritative server chooses. */
export type PolicyKind = 'geographic' | 'latency' | 'weighted';

/** One question to the authoritative server. */
export interface RoutingQuery {
  readonly group: ClientGroup;
  /** Whether health checking has declared the region down. A region that has just died is not yet. */
  isMarkedDown(region: Region): boolean;
}

/** Rule of an authoritative server. */
export interface RoutingPolicy {
  /** The region whose address goes into the answer. */
  answer(query: RoutingQuery): Region;
}

/** What a policy may look up. */
export interface RoutingTables {
  /** All regions, in the order in which ties are decided. */
  readonly regions: readonly Region[];
  /** Units from a group to a region: an abstract distance, not a measured latency. */
  readonly distance: Readonly<Record<ClientGroup, Readonly<Record<Region, number>>>>;
  /** Region of each group, written by hand. */
  readonly geographic: Readonly<Record<ClientGroup, Region>>;
  /** Where a region's groups go when it is marked down. */
  readonly backup: Readonly<Record<Region, Region>>;
  /** Order of the weighted answers, from the first to the last and then from the first again. */
  readonly pattern: readonly Region[];
}

/** The client groups, in the order in which resolvers are assigned to them. */
export const GROUPS: readonly ClientGroup[] = ['g1', 'g2', 'g3', 'g4'];

/** The published tables. */
export const TABLES: RoutingTables = {
  regions: T2_REGIONS,
  distance: {
    g1: { b34: 1, b35: 3, b06: 2 },
    g2: { b34: 3, b35: 1, b06: 2 },
    g3: { b34: 2, b35: 4, b06: 1 },
    g4: { b34: 2, b35: 3, b06: 4 },
  },
  geographic: { g1: 'b34', g2: 'b35', g3: 'b34', g4: 'b06' },
  backup: { b34: 'b06', b35: 'b34', b06: 'b35' },
  // 5, 3 and 2 entries: the target shares of T3.
  pattern: ['b34', 'b35', 'b06', 'b34', 'b35', 'b34', 'b35', 'b06', 'b34', 'b34'],
};

/** requests/s of all resolvers together: the peak at the edge, rounded up. */
export const REQUEST_RATE = Math.ceil(K01.peakRate);

/**
 * requests/s of each resolver, for the runs that this lesson publishes. Each list adds up to
 * `REQUEST_RATE`. Exercise 1.1 is where the first three come from.
 */
// biome-ignore format: each list as a block
export const RESOLVER_RATES = {
  /** T4: 40 resolvers, resolver j in proportion to 1/(j+1). */
  forty: [
    120, 60, 40, 30, 24, 20, 17, 15, 13, 12, 11, 10, 9, 9, 8, 8, 7, 7, 6, 6,
    6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3,
  ],
  /** One more, so that a whole round of answers no longer fits the pattern of ten. */
  fortyOne: [
    119, 60, 40, 30, 24, 20, 17, 15, 13, 12, 11, 10, 9, 9, 8, 7, 7, 7, 6, 6,
    6, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3,
  ],
  /** Fewer and larger ones. */
  twelve: [166, 83, 55, 41, 33, 28, 24, 21, 18, 16, 15, 14],
  /** 40 resolvers of nearly equal size: 34 of 13 requests/s and 6 of 12. */
  equal: [
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 12, 12, 12, 12, 12, 12,
  ],
} as const satisfies Record<string, readonly number[]>;

/** The TTLs that the lesson compares, in seconds. */
export const TTLS_SECONDS = [30, 60, T1_TTL_SECONDS, 900] as const;

/** Lengths of the published runs, in seconds. */
export const DURATION_SECONDS = {
  /** Policies and TTLs without a failure: an hour. */
  policies: 3_600,
  /** With a failure: longer than the longest published window. */
  failover: 1_200,
} as const;

/** A region that goes down and does not come back. */
export interface RegionFailure {
  readonly region: Region;
  /** First second in which it is down. */
  readonly startSecond: number;
  /** Seconds from then on until health checking marks it as down. */
  readonly detectionSeconds: number;
}

/** The published failure. */
export const FAILURE: RegionFailure = {
  region: 'b34',
  startSecond: 100,
  detectionSeconds: T5_DETECTION_SECONDS,
};

/** How many assumptions the baseline's own table has: V1, V2 and so on. This course adds T1, T2, .... */
export const BASELINE_ASSUMPTIONS = 13;
