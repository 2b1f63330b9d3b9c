// The model of lesson 1: resolvers that ask, remember and send requests, second by second. No
// network, no clock, no chance. The pieces that the loop is made of stand by themselves, so that real
// resolvers can be counted in the same way.
import { T3_TARGET_SHARES } from '#fixtures/assumptions.ts';
import {
  type ClientGroup,
  GROUPS,
  type Region,
  type RegionFailure,
  type RoutingPolicy,
  TABLES,
} from './routing.ts';

/** Seconds by which the first query of a resolver follows that of the one before it. */
export const PHASE_STRIDE_SECONDS = 13;

/** What a run is made of. */
export interface RunOptions {
  /** Seconds for which a resolver keeps an answer. */
  readonly ttlSeconds: number;
  /** The last second of the run. Counting begins with second 1. */
  readonly durationSeconds: number;
  /** requests/s of each resolver. */
  readonly resolverRates: readonly number[];
  readonly failure?: RegionFailure;
  /** Told of the requests of each resolver in each second, from second 1 on. */
  readonly onRequests?: (sent: SentRequests) => void;
}

/** The requests of one resolver in one second. */
export interface SentRequests {
  readonly second: number;
  readonly resolver: number;
  readonly region: Region;
  readonly requests: number;
  /** Whether the region was up. */
  readonly accepted: boolean;
}

/** What a run came to. */
export interface RunResult {
  /** Requests sent to a region that was up. */
  readonly accepted: number;
  readonly acceptedByRegion: Readonly<Record<Region, number>>;
  /** Of the accepted requests, from 0 to 1 for each region. All 0 when nothing was accepted. */
  readonly shares: Readonly<Record<Region, number>>;
  /** Half the sum of the differences between the shares and T3, from 0 to 1. */
  readonly deviation: number;
  /** Mean distance units of an accepted request. */
  readonly unitDistance: number;
  /** Questions that reached the authoritative server, from second 1 on. */
  readonly upstreamQueries: number;
  /** Requests sent to a region that was down. */
  readonly dropped: number;
  /** Seconds from the failure to the last dropped request, both included; 0 when none was dropped. */
  readonly windowSeconds: number;
}

/** The group that a resolver asks for: groups take turns. */
export function groupOf(resolver: number): ClientGroup {
  return GROUPS[resolver % GROUPS.length] as ClientGroup;
}

/** The first second of the warm-up, in which caches fill and nothing is counted. */
export function firstSecond(ttlSeconds: number): number {
  return 1 - ttlSeconds;
}

/**
 * The second of a resolver's first query. It lies in the warm-up, and the stride spreads the
 * resolvers over it, so that they don't all ask in the same second.
 */
export function firstQuerySecond(resolver: number, ttlSeconds: number): number {
  return firstSecond(ttlSeconds) + ((PHASE_STRIDE_SECONDS * resolver) % ttlSeconds);
}

/** Whether a region takes requests no more. */
export function isDown(failure: RegionFailure | undefined, region: Region, second: number) {
  return failure?.region === region && second >= failure.startSecond;
}

/** Whether the authoritative server knows that a region is down. Until then it hands it out. */
export function isMarkedDown(failure: RegionFailure | undefined, region: Region, second: number) {
  return failure?.region === region && second >= failure.startSecond + failure.detectionSeconds;
}

/** What a tally knows about one region. */
interface RegionAccount {
  accepted: number;
  /** Units from each resolver. */
  readonly distances: readonly number[];
}

/** The accounts of a run. Whoever runs the resolvers reports to it what they did. */
export class Tally {
  readonly #options: RunOptions;
  readonly #accounts: ReadonlyMap<Region, RegionAccount>;
  #distance = 0;
  #upstreamQueries = 0;
  #dropped = 0;
  #windowSeconds = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#accounts = new Map(
      TABLES.regions.map((region) => [
        region,
        {
          accepted: 0,
          distances: options.resolverRates.map(
            (_, resolver) => TABLES.distance[groupOf(resolver)]?.[region] ?? Number.NaN,
          ),
        },
      ]),
    );
  }

  /** A resolver has asked the authoritative server. Questions of the warm-up don't count. */
  query(second: number): void {
    if (second >= 1) this.#upstreamQueries += 1;
  }

  /**
   * A resolver sends the requests of one second to the region that it remembers. Those of the
   * warm-up don't count.
   *
   * @throws {Error} when there is no such region
   */
  requests(second: number, resolver: number, region: Region): void {
    const { resolverRates, failure, onRequests } = this.#options;
    const requests = resolverRates[resolver] ?? 0;
    if (second < 1 || requests === 0) return;
    const account = this.#accounts.get(region);
    if (!account) throw noSuchRegion(resolver, second, region);
    const lost = failure !== undefined && isDown(failure, region, second);
    if (lost) {
      this.#dropped += requests;
      this.#windowSeconds = second - failure.startSecond + 1;
    } else {
      account.accepted += requests;
      this.#distance += requests * (account.distances[resolver] as number);
    }
    onRequests?.({ second, resolver, region, requests, accepted: !lost });
  }

  /** What the run came to so far. */
  result(): RunResult {
    const acceptedByRegion = Object.fromEntries(
      [...this.#accounts].map(([region, account]) => [region, account.accepted]),
    );
    const accepted = Object.values(acceptedByRegion).reduce((sum, count) => sum + count, 0);
    const shares = Object.fromEntries(
      Object.entries(acceptedByRegion).map(([region, count]) => [region, count / (accepted || 1)]),
    );
    const differences = Object.entries(T3_TARGET_SHARES).map(([region, target]) =>
      Math.abs((shares[region] ?? 0) - target),
    );
    return {
      accepted,
      acceptedByRegion,
      shares,
      deviation: differences.reduce((sum, difference) => sum + difference, 0) / 2,
      unitDistance: this.#distance / (accepted || 1),
      upstreamQueries: this.#upstreamQueries,
      dropped: this.#dropped,
      windowSeconds: this.#windowSeconds,
    };
  }
}

function noSuchRegion(resolver: number, second: number, region: unknown): Error {
  return new Error(
    `The answer for ${groupOf(resolver)} in second ${second} was ${JSON.stringify(region)}, ` +
      `wanted one of the regions ${TABLES.regions.join(', ')}`,
  );
}

/**
 * Runs the resolvers on a policy.
 *
 * In each second they are visited in order. One whose answer is too old asks, keeps the new answer
 * for `ttlSeconds`, and then sends its requests of this second to the region that it remembers. A
 * run moves the policy's memory, if it has one: give each run a policy of its own.
 *
 * @throws {Error} when the policy answers something that is no region
 */
export function simulate(policy: RoutingPolicy, options: RunOptions): RunResult {
  const { ttlSeconds, durationSeconds, resolverRates, failure } = options;
  const tally = new Tally(options);
  const expiry = resolverRates.map((_, resolver) => firstQuerySecond(resolver, ttlSeconds));
  const bound: Region[] = [];
  for (let second = firstSecond(ttlSeconds); second <= durationSeconds; second += 1) {
    for (let resolver = 0; resolver < resolverRates.length; resolver += 1) {
      if (second >= (expiry[resolver] as number)) {
        bound[resolver] = policy.answer({
          group: groupOf(resolver),
          isMarkedDown: (region) => isMarkedDown(failure, region, second),
        });
        expiry[resolver] = second + ttlSeconds;
        tally.query(second);
      }
      if (second >= 1) tally.requests(second, resolver, bound[resolver] as Region);
    }
  }
  return tally.result();
}
