// What lesson 9 hands to the student: the numbers it starts from, and types.
import { DAYS_PER_MONTH } from '#fixtures/assumptions.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import type { ProxyCounters } from '#helpers/lesson/proxy-extras.ts';

/** The published inputs of this lesson. */
export const PUBLISHED = {
  /** K01: share of the month in which one component is up. */
  component: 0.999,
  /** K01: components that a tracking query needs even without any forwarder. */
  baseComponents: 4,
  /** minutes of a month. */
  monthMinutes: DAYS_PER_MONTH * 24 * 60,
  /** Copies of each hop in the rows that have more than one. */
  copies: 2,
  /** Requests that the client sends on each path. */
  requests: 6,
} as const;

/** The path of an asset, and the path of a tracking query. */
export const PATHS = { asset: '/varlik/stil.css', track: '/takip' } as const;

/** Stands between two names of `x-durak`. */
export const HOP_SEPARATOR = ' > ';

/** Processes that a request has touched, the last one included. */
export function chainLength(chain: string): number {
  return chain.split(HOP_SEPARATOR).length;
}

/** One line of a rule table: where the requests go whose path begins like this. */
export interface RoutingRule {
  /** Begins with `/`, or is `*`: the rule for all that no other one is for. */
  readonly prefix: string;
  /** Ports on 127.0.0.1. They take turns. */
  readonly targets: readonly number[];
}

/**
 * How a path is matched: by the first prefix that it starts with, as published, or by the longest
 * one that ends where a segment of the path does.
 */
export type MatchMode = 'published' | 'segment';

/** What `startForwarder` needs. */
export interface ForwarderOptions {
  /** What it adds to the chain in `x-durak`, such as `tv`. */
  readonly name: string;
  /** Its rule table, as `parseRules` reads it. */
  readonly rules: string;
  /** Exercise 9.8: whether the chain that a request brings along is kept; true unless given. */
  readonly trustIncomingHops?: boolean;
  /** Exercise 9.8: whether its 502 names all hops, and not only the last; false unless given. */
  readonly completeFailureChain?: boolean;
  /** Exercise 9.8: whether it adds itself to `Via`; false unless given. */
  readonly via?: boolean;
  /** Exercise 9.10: whether a failed attempt may be repeated on another target of its rule. */
  readonly retry?: boolean;
  /** Exercise 9.10: milliseconds an attempt may take until its response headers; none unless given. */
  readonly headerTimeoutMs?: number;
}

/** What a forwarder counts. */
export interface ForwarderCounters extends ProxyCounters {
  /** Responses that have come back from a target, whatever their status. */
  forwarded: number;
}

/** A running forwarder. */
export interface Forwarder extends RunningServer {
  /**
   * Exercise 9.7: puts another rule table in the place of the one that it has.
   *
   * @throws {SyntaxError} as `parseRules` does, and then nothing has changed
   */
  replaceRules(text: string): void;
  counters(): ForwarderCounters;
}

/** What `predictReach` predicts. */
export interface Reach {
  /** Asset requests that are answered with 200. */
  asset: number;
  /** Tracking queries that are answered with 200. */
  track: number;
  /** `x-durak` of the asset requests that fail; `undefined` when none does. */
  assetFailure: string | undefined;
  /** The same of the tracking queries. */
  trackFailure: string | undefined;
}

/** A serial chain: components that stand once, and hops that may stand in several copies. */
export interface Chain {
  /** Share of the time that one component is up, 0 to 1: each of the base, and each copy of a hop. */
  component: number;
  /** Components that are there without any hop, each of them once. */
  baseComponents: number;
  /** Forwarders that have been put in front of them. */
  addedHops: number;
  /** Copies of each of those, 1 or more. Any one of them is enough. */
  copiesPerHop: number;
  /** minutes; 43,200 unless given. */
  monthMinutes?: number;
  /** Share of a copy's unavailability that all copies of its hop share, 0 to 1; 0 unless given. */
  commonCause?: number;
}

/** What `chainAvailability` returns. */
export interface ChainAvailability {
  /** Share of the time that the whole chain is up. */
  availability: number;
  /** minutes of the month in which it isn't. */
  outageMinutes: number;
  /** minutes that the added hops are to blame for. */
  increaseMinutes: number;
}

/** What `chooseForwarderLayout` decides. */
export interface ForwarderChoice {
  /** One kind of process for both roles, or one for each. */
  layout: 'combined' | 'split';
  copiesPerHop: number;
  /** Forwarder processes in all: hops times copies. */
  processes: number;
  increaseMinutes: number;
}
