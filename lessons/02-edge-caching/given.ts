// What lesson 2 hands to the student: types, and the inputs of its derivations.
import {
  K01,
  SECONDS_PER_DAY,
  T6_DAYS_ON_THE_WAY,
  T7_BURST_LENGTH,
  T8_OPEN_BURSTS,
} from '#fixtures/assumptions.ts';
import type { Clock } from '#helpers/lesson/manual-clock.ts';

/** Shipments that are on their way on any one day: what is handed in on a day, for days. */
export const ACTIVE_SHIPMENTS = K01.newShipmentsPerDay * T6_DAYS_ON_THE_WAY;

/** Tracking queries that an active shipment gets on one day. */
export const QUERIES_PER_SHIPMENT = K01.trackingQueriesPerDay / ACTIVE_SHIPMENTS;

/** seconds of the busiest hour that the trace stands for. */
export const TRACE_WINDOW_SECONDS = 480;

/** The published trace: the reads of those seconds at the exact peak rate, 416.666... a second. */
export const PUBLISHED_TRACE = {
  requests: (K01.trackingQueriesPerDay * K01.peakFactor * TRACE_WINDOW_SECONDS) / SECONDS_PER_DAY,
  queriesPerShipment: QUERIES_PER_SHIPMENT,
  burstLength: T7_BURST_LENGTH,
  openBursts: T8_OPEN_BURSTS,
};

/** T7 varied: the burst lengths for which the lesson publishes a row. */
export const BURST_LENGTHS = [T7_BURST_LENGTH, 5, 2] as const;

/** keys in each of the two server caches: few, so that the example stays small. */
export const SERVER_CACHE_CAPACITY = 3;

/** What `measureResponse` returns. */
export interface MeasuredResponse {
  status: number;
  /** By lower-case name; values without the blanks around them, several lines joined by `, `. */
  headers: Record<string, string>;
  /** From the `H` of `HTTP/1.1` to the end of the empty line, which is counted. */
  headerBytes: number;
  /** As they came over the wire: a chunked body with its framing. */
  bodyBytes: number;
  /** Both together. Request, TCP, IP and TLS are not counted. */
  wireBytes: number;
}

/** How `measureResponse` asks. */
export interface MeasureOptions {
  /** Sent after `Host`, each as given. */
  requestHeaders?: Record<string, string>;
  /** Milliseconds for the whole exchange, from connecting to the last byte; 2000 unless given. */
  timeoutMs?: number;
}

/** What `createOrigin` needs. */
export interface OriginOptions {
  /** Answers that it keeps, a whole number of 1 or more. */
  cacheCapacity: number;
  /** Bytes of every tracking answer, a whole number of 1 or more. */
  bodyBytes: number;
}

/** What `createEdge` needs. */
export interface EdgeOptions {
  /** TCP port of the origin on 127.0.0.1. */
  originPort: number;
  /** Answers that it keeps, a whole number of 1 or more. */
  cacheCapacity: number;
  /** Exercise 2.7: requests for a key that is being fetched wait for that fetch; false unless given. */
  coalesceMisses?: boolean;
  /** Exercise 2.7: where the time comes from; without it nothing ever gets old. */
  clock?: Pick<Clock, 'now'>;
}

/** What one cache of a chain saw. */
export interface Layer {
  lookups: number;
  hits: number;
  misses: number;
  /** Hits over lookups, 0 to 1; 0 where nothing was looked up. */
  hitRatio: number;
}

/** What `runCacheChain` returns. */
export interface CacheChain {
  /** Keys of the trace. */
  requests: number;
  /** One for each capacity, in the order in which a request meets them. */
  layers: Layer[];
  /** Requests that no layer could answer. */
  storeRequests: number;
}

/** What `judgeSecondCache` returns. */
export interface SecondCacheVerdict {
  /** Hits of the application cache behind the edge. */
  savedStoreRequests: number;
  /** Those over the requests that reached the application, 0 to 1. */
  savedShare: number;
  keep: boolean;
}

/** Rates of the introductory course that `edgeBackToBaseline` starts from, per second. */
export interface Baseline {
  peakReads: number;
  peakWrites: number;
}

/** What was measured with an edge. Ratios unrounded, 0 to 1. */
export interface MeasuredEdge {
  edgeHitRatio: number;
  /** Store requests over all requests of the trace. */
  storeRequestShare: number;
  /** Bytes of an answer on the wire between edge and user, headers included. */
  wireBytesAtEdge: number;
  /** The same between origin and edge. */
  wireBytesAtOrigin: number;
}

/** What `edgeBackToBaseline` returns. Rates per second, egress in Mbit/s of 10^6 bits. */
export interface BackToBaseline {
  readsReachingApplication: number;
  readsBehindCache: number;
  requestsReachingStore: number;
  /** Towards the users. */
  readEgressMbit: number;
  /** From the origin. */
  originEgressMbit: number;
  /** Share of the user side's egress that the origin's link still carries. */
  originToUserEgress: number;
}

/** Capacity of the two links, Mbit/s. */
export interface LinkCapacities {
  userLink: number;
  originLink: number;
}

/** Which link is too full. */
export type Bottleneck = 'user link' | 'origin link' | 'both' | 'none';
