// What lesson 5 hands to the student: types, and the derivations that no exercise asks for.
import {
  K01,
  SECONDS_PER_DAY,
  Y1_SATURATION_RATE,
  Y2_TARGET_UTILISATION,
  Y3_HEALTH_CHECK,
} from '#fixtures/assumptions.ts';
import type { Replica } from '#helpers/lesson/replica.ts';

/** The published inputs of this lesson. Rates in requests per second. */
export const PUBLISHED = {
  peakRate: K01.peakRate,
  saturationRate: Y1_SATURATION_RATE,
  targetUtilisation: Y2_TARGET_UTILISATION,
  dailyRequests: K01.trackingQueriesPerDay + K01.statusEventsPerDay,
  failuresPerMonth: K01.failureBudgetMinutes / K01.recoveryMinutes,
  /** The detection window with a health check: one interval. */
  probeWindowSeconds: Y3_HEALTH_CHECK.intervalMs / 1_000,
  /** The detection window without one: somebody notices, and repairs. */
  recoverySeconds: K01.recoveryMinutes * 60,
} as const;

/** req/s over the whole day. */
export function averageRate(dailyRequests: number): number {
  return dailyRequests / SECONDS_PER_DAY;
}

/** What the health check costs: every replica is asked once in an interval, whatever its state. */
export function probeLoad(input: { replicas: number; intervalMs: number; peakRate: number }): {
  /** req/s */
  rate: number;
  /** 0 to 1 */
  shareOfPeak: number;
} {
  const rate = (input.replicas * 1_000) / input.intervalMs;
  return { rate, shareOfPeak: rate / input.peakRate };
}

/** Where the encrypted connection ends: at the balancer, or only at the replicas behind it. */
export type TlsEnd = 'balancer' | 'replicas';

/** What the position of TLS termination decides. */
export function tlsTermination(
  end: TlsEnd,
  replicas: number,
): { certificateHolders: number; jobsPerAddedReplica: number; balancerReads: string[] } {
  const holders = (count: number) => (end === 'balancer' ? 1 : count);
  return {
    certificateHolders: holders(replicas),
    jobsPerAddedReplica: holders(replicas + 1) - holders(replicas),
    // The server name stands unencrypted in the TLS hello; all else is bytes to whoever passes on.
    balancerReads: end === 'balancer' ? ['path', 'headers', 'body'] : ['server name'],
  };
}

/** What `planCapacity` returns. Rates in requests per second, utilisations from 0 to 1. */
export interface CapacityPlan {
  /** What one replica may carry if it is to stay within the target utilisation. */
  safeRate: number;
  /** Fewest replicas that hold the target while none is gone. */
  minReplicas: number;
  /** Fewest replicas that hold the target while `toleratedFailures` are gone. */
  replicas: number;
  /** Load of each of `replicas`. */
  perReplicaRate: number;
  utilisation: number;
  /** Load of each one that is left after exactly `toleratedFailures` losses. */
  afterFailureRate: number;
  afterFailureUtilisation: number;
}

/** How a balancer finds out which replicas are alive. */
export interface HealthCheck {
  /** Milliseconds between two rounds of probes; 0 probes only when `probeNow()` is called. */
  intervalMs: number;
  /** Milliseconds after which a probe without an answer has failed. */
  timeoutMs: number;
  /** Failed probes in a row until a replica is down. */
  fall: number;
  /** Successful probes in a row until it is up again. */
  rise: number;
}

/** What `startBalancer` needs. */
export interface BalancerOptions {
  replicas: readonly Replica[];
  /** `false`: nobody looks, and every replica counts as up for ever. */
  health: false | HealthCheck;
  /** TCP port on 127.0.0.1; any free one unless given. */
  port?: number;
  /** Exercise 5.8: whether a failed attempt may be repeated on another replica. */
  retry?: boolean;
  /** Exercise 5.7: milliseconds an attempt may take until its response headers; none unless given. */
  headerTimeoutMs?: number;
  /** Exercise 5.6: serves `/yonet/durum` on a port of its own; 0 is any free one. */
  adminPort?: number;
}

/** What a balancer knows about itself. The last four come with exercises 5.6 to 5.8. */
export interface BalancerStatus {
  /** Attempts that ended in a connection error before a response. */
  unreachable: number;
  /** Names of the replicas that may be chosen, in configured order. */
  up: string[];
  /** Requests whose client went away before its response was complete. */
  clientAborted?: number;
  /** Attempts that broke off after the response headers. */
  upstreamReset?: number;
  /** Attempts that had no response headers within `headerTimeoutMs`. */
  upstreamTimeout?: number;
  /** Attempts to reach a replica on behalf of a user, failed ones included, probes not. */
  attempts?: number;
}

/** A running balancer. */
export interface Balancer extends AsyncDisposable {
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Port of the status page, if one was asked for. */
  readonly adminPort?: number;
  status(): BalancerStatus;
  /** Runs one round of probes now and resolves when all verdicts are in. */
  probeNow(): Promise<void>;
  /**
   * Stops probing and listening, and cuts every open connection; with `drain`, lets the responses
   * that are running finish first. Resolves when nothing is left.
   */
  close(options?: { drain?: boolean }): Promise<void>;
}

/** How a replica fails: its port is closed, or it accepts and never answers. */
export type Failure = 'crash' | 'hang';

/** Asks one replica whether it is well. Rejects, or resolves with false, if it isn't. */
export type Probe = (replica: string) => Promise<boolean>;

/** A running health check. */
export interface Prober {
  /** Names of the replicas that are up, in configured order. */
  up(): string[];
  /** Ends it: no probe starts any more, and a verdict that is still to come changes nothing. */
  stop(): void;
}
