// What lesson 8 starts from. Every number stands here once, with its unit and its reason; the given
// code and your exercises calculate with these and with no copy of them.
import { K01, SECONDS_PER_DAY } from '#fixtures/assumptions.ts';

/**
 * The queue model. Nothing was timed: these are inputs. One request every 2 ticks against a mean
 * cost of 5.60 ticks keeps three equal replicas 93 % busy, where the choice of a rule shows.
 */
export const QUEUE = {
  replicas: 3,
  requests: 300,
  /** Ticks between two arrivals, always the same. */
  arrivalIntervalTicks: 2,
  costMinTicks: 1,
  costMaxTicks: 10,
  /** In the slow case k1 needs this many times as long for the same request. */
  slowdown: 3,
} as const;

/** Linear congruential generator of the costs. Its seed is fixed, so every rule meets the same requests. */
export const GENERATOR = {
  /** State before the first request. It yields no cost itself. */
  seed: 20_240_730,
  multiplier: 1_103_515_245,
  increment: 12_345,
  /** 2 to the power 31. */
  modulus: 2_147_483_648,
  /** Low bits dropped before the remainder: they repeat after a few steps. */
  shiftBits: 8,
} as const;

/** The hash of keys and positions: FNV-1a with 32 bits, and a short finish that mixes once more. */
export const HASH = {
  /** FNV-1a's 32-bit offset basis. */
  offset: 2_166_136_261,
  /** FNV's 32-bit prime. */
  prime: 16_777_619,
  finalShift1: 15,
  /** Hexadecimal 85EBCA6B. */
  finalMultiplier: 2_246_822_507,
  finalShift2: 13,
} as const;

/** The tracking numbers to place: `G1000000` to `G1099999`. */
export const KEYS = { count: 100_000, first: 'G1000000' } as const;

/** Virtual nodes per replica that the lesson compares. */
export const VIRTUAL_NODES = { v1: 1, v10: 10, v100: 100, v1000: 1000 } as const;

/** K01 V9: share of the tracking queries that a warm cache answers. */
export const CACHE_HIT_RATIO = 0.9;

const { trackingQueriesPerDay, statusEventsPerDay, peakFactor } = K01;
const peakReadPerSecond = twoDecimals((trackingQueriesPerDay * peakFactor) / SECONDS_PER_DAY);
const peakWritePerSecond = twoDecimals((statusEventsPerDay * peakFactor) / SECONDS_PER_DAY);

/** K01's rates at the peak, in req/s, used as they are published: with two decimals. */
export const BASELINE = {
  peakReadPerSecond,
  peakWritePerSecond,
  /** What reaches the store: the reads that the cache misses, and all writes. */
  storePerSecond: twoDecimals(peakReadPerSecond * (1 - CACHE_HIT_RATIO) + peakWritePerSecond),
} as const;

/** Y5, this lesson's own assumption: seconds until the moved keys have been asked for again. */
export const WARM_UP_WINDOW_SECONDS = 60;

function twoDecimals(value: number): number {
  return Number(value.toFixed(2));
}
