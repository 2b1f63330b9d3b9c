// What lesson 10 starts from: types, and the numbers that its calculations use.
import {
  K01,
  Y1_SATURATION_RATE,
  Y2_TARGET_UTILISATION,
  Y3_HEALTH_CHECK,
} from '#fixtures/assumptions.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import type { Client } from './mix.ts';

/** How requests find their replica: freely in turn, or bound to one by the client's name. */
export type BindingRule = 'notSticky' | 'stickyModulo' | 'stickyConsistent';

/** The replica that a client is bound to. */
export type Binding = (clientName: string) => string;

/** Positions of one replica on the ring. */
export const VIRTUAL_NODES = 200;

/** Rates in req/s, utilisations from 0 to 1. */
export const CAPACITY = {
  peakRate: K01.peakRate,
  saturation: Y1_SATURATION_RATE,
  target: Y2_TARGET_UTILISATION,
  /** What one replica may carry. */
  safeRate: Y1_SATURATION_RATE * Y2_TARGET_UTILISATION,
} as const;

/** The imbalance of the ring as exercise 10.2 measures it, rounded to three decimals. */
export const ROUNDED_IMBALANCE = { three: 1.173, four: 1.505 } as const;

/** What if the largest session had another share of all requests? Per cent. */
export const WHAT_IF_PERCENT = { low: 10, high: 30 } as const;

/** Numbers of replicas for which the published table gives the speed-up. */
export const TABLE_REPLICAS = [3, 4, 8, 16, 64] as const;

/** % of the work that partitioning the store's index left undivided, as K01 measured it. */
export const INDEX_SERIAL_PERCENT = 28;

/** Lesson 6: of 63 requests on six unequal connections the fullest of three replicas gets 36. */
export const CONNECTION_IMBALANCE = (36 / 63) * 3;

/** Requests that lesson 5's health check loses when one of three replicas stops, at worst. */
export const HEALTH_CHECK_WINDOW_REQUESTS =
  (K01.peakRate / 3) * (Y3_HEALTH_CHECK.intervalMs / 1_000);

/** req/s of the fullest of n replicas, whose load is `imbalance` times a fair share. */
export function fullestRate(peakRate: number, imbalance: number, replicas: number): number {
  return (imbalance * peakRate) / replicas;
}

/** What growing does to the sessions and to the fullest replica. */
export interface ScaleOutReport {
  /** Clients whose replica changes. */
  readonly reboundClients: number;
  /** Their share of all requests, 0 to 1. */
  readonly reboundShare: number;
  /** How much smaller the largest load is afterwards, as a share of it; below 0 if it has grown. */
  readonly peakFall: number;
}

/** What a stopped replica does to the sessions. */
export interface CrashReport {
  /** Clients that were bound to it. */
  readonly boundSessions: number;
  /** Their share of all requests, 0 to 1. */
  readonly boundShare: number;
  /** Clients whose replica changes, so that their session is gone: they and perhaps others. */
  readonly lostSessions: number;
}

/** What `sessionPlan` decides on. */
export interface SessionPlanInput {
  readonly clients: readonly Client[];
  /** Names of the replicas. */
  readonly replicas: readonly string[];
  /** req/s */
  readonly peakRate: number;
  /** req/s that one replica may carry. */
  readonly safeRate: number;
  /** Sessions that one crash may end, as a share of all sessions. A value equal to it is fine. */
  readonly maxLostSessionShare: number;
  /** Requests whose clients a new replica may rebind, as a share of all. Equal is fine. */
  readonly maxReboundShare: number;
}

/** The decision of `sessionPlan`. */
export interface SessionPlan {
  readonly rule: 'stickyConsistent' | 'notSticky';
  /** Replicas to pay for. */
  readonly replicas: number;
  /** Whether sessions have to be kept outside of the replicas. */
  readonly needsSessionStore: boolean;
}

/** What `startStickyBalancer` needs. */
export interface StickyBalancerOptions {
  /** May be empty. */
  readonly replicas: readonly Replica[];
  readonly rule: BindingRule;
  /** Positions of one replica on the ring; 200 unless given. */
  readonly virtualNodes?: number;
}

/** A running balancer whose replicas can be exchanged. */
export interface StickyBalancer extends RunningServer {
  /** From now on requests go to these replicas. Those that are under way stay where they are. */
  setReplicas(replicas: readonly Replica[]): void;
}
