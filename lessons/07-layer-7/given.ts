// What lesson 7 hands to the student: the numbers it starts from, types, and what no exercise asks for.
import {
  K01,
  Y1_SATURATION_RATE,
  Y2_TARGET_UTILISATION,
  Y4_REQUESTS_PER_CONNECTION,
} from '#fixtures/assumptions.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import type { ProxyCounters } from '#helpers/lesson/proxy-extras.ts';
import type { Replica } from '#helpers/lesson/replica.ts';

/** The published inputs of this lesson. Rates in requests per second. */
export const PUBLISHED = {
  readRate: K01.peakReads,
  writeRate: K01.peakWrites,
  peakRate: K01.peakRate,
  /** The highest rate that one replica is planned to carry. */
  saturationRate: Y1_SATURATION_RATE,
  /** What it may carry if it is to stay at the target of one half. */
  safeRate: Y1_SATURATION_RATE * Y2_TARGET_UTILISATION,
  requestsPerConnection: Y4_REQUESTS_PER_CONNECTION,
} as const;

/** Names of the replicas, in configured order. */
export const REPLICAS = ['k1', 'k2', 'k3', 'k4'] as const;

/** The ports on which the course published its run. Yours are free ones; only names count. */
export const PUBLISHED_PORTS = { k1: 8881, k2: 8882, k3: 8883, k4: 8884 } as const;

/** The two layouts: one list for everything, or a list for reads and one for writes. */
export const LAYOUTS = {
  combined: { read: REPLICAS, write: REPLICAS },
  split: { read: ['k1', 'k2', 'k3'], write: ['k4'] },
} as const;

/**
 * Largest count over smallest. Hand in every replica that is configured: one that got nothing is a
 * 0, and the skew is then `Infinity`.
 */
export function skew(counts: readonly number[]): number {
  return Math.max(...counts) / Math.min(...counts);
}

/** Where a request belongs, or that no path can be read from its target. */
export type RequestRoute = 'read' | 'write' | 'bad-request';

/** Requests that were decided for one replica. */
export interface ReplicaCounts {
  read: number;
  write: number;
}

/** Requests that were decided for each replica, by its name. */
export type Distribution = Record<string, ReplicaCounts>;

/** What `startLayer7Balancer` needs. */
export interface Layer7Options {
  /** Replicas for tracking queries, and for everything that is no event. */
  read: readonly Replica[];
  /** Replicas for status events. May share some with `read`, or be empty. */
  write: readonly Replica[];
  /** Connections to one replica that may be open at the same time; `Infinity` is no limit. */
  innerConnectionsPerReplica: number;
  /** Paths whose requests are events; `['/olay']` unless given. */
  writePaths?: readonly string[];
  /** Exercise 7.8: whether a `Forwarded` field from the client is kept; false unless given. */
  trustForwarded?: boolean;
  /** Exercise 7.8: the balancer's name in the `Via` field; without it that field is left alone. */
  via?: string;
  /** Exercise 7.9: whether a failed attempt may be repeated on another replica. */
  retry?: boolean;
  /** Exercise 7.9: milliseconds an attempt may take until its response headers; none unless given. */
  headerTimeoutMs?: number;
}

/** What a layer 7 balancer counts. The failures are those of lesson 5. */
export interface Layer7Counters extends ProxyCounters {
  /** Requests for which a replica was chosen. A repeated one counts once. */
  decisions: number;
  /** Connections that clients have opened. */
  outer: number;
  /** Connections that the balancer has opened to replicas. */
  inner: number;
  /** Has every replica of either pool as key, from the start. */
  distribution: Distribution;
}

/** A running layer 7 balancer. */
export interface Layer7Balancer extends RunningServer {
  /** A copy: it does not move. */
  counters(): Layer7Counters;
}

/** The load that pools are planned for. Rates in requests per second. */
export interface PoolLoad {
  /** 0 or more. */
  readRate: number;
  /** 0 or more. */
  writeRate: number;
  /** The highest rate that one replica is planned to carry, above 0. */
  saturationRate: number;
  /** What one replica may carry if it is to stay at its target, above 0. */
  safeRate: number;
  /** Replicas of each pool that may be gone at the same time; 0 unless given. */
  toleratedFailures?: number;
}

/** How many replicas a pool needs, and how busy they are with all of them up. */
export interface SizedPool {
  replicas: number;
  /** Rate over what the replicas can do at saturation; 0 for a pool without replicas. */
  utilisation: number;
}

/** The same load on one pool, and on two. */
export interface PoolPlan {
  combined: SizedPool;
  read: SizedPool;
  write: SizedPool;
  /** Replicas that the split needs beyond the combined pool. */
  splitCost: number;
}

/** What a burst of writes does to pools that keep their size. */
export interface BurstReport {
  /** Utilisations. */
  combined: number;
  read: number;
  write: number;
  /** Whether a replica of the pool gets more than the safe rate. */
  combinedOverflows: boolean;
  writeOverflows: boolean;
}

/** How a number of replicas is to be used. What a layout has no use for is 0. */
export interface PoolLayout {
  layout: 'combined' | 'split';
  combined: number;
  read: number;
  write: number;
}
