// What lesson 6 hands to the student: inputs, types, and the derivations that no exercise asks for.
import { K01, Y1_SATURATION_RATE, Y2_TARGET_UTILISATION } from '#fixtures/assumptions.ts';
import type { CloseOptions } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';

/** The published inputs of this lesson. Rates in requests per second. */
export const PUBLISHED = {
  peakRate: K01.peakRate,
  saturationRate: Y1_SATURATION_RATE,
  targetUtilisation: Y2_TARGET_UTILISATION,
  /** What one replica may carry if it is to stay within the target utilisation. */
  safeRate: Y1_SATURATION_RATE * Y2_TARGET_UTILISATION,
  replicas: 3,
  /**
   * What the clients send as `Host`. The published byte totals contain these 14 characters; free
   * ports have four or five digits, so the client does not send its own.
   */
  host: 'localhost:8841',
} as const;

/** The two mixes: requests that each of the six clients sends on its connection, in client order. */
export const MIXES = {
  equal: [10, 10, 10, 10, 10, 10],
  unequal: [1, 2, 4, 8, 16, 32],
} as const;

/** A request without a body and with no header fields but `Host` and `Connection`. */
export interface BareRequest {
  /** Such as `GET`. */
  method: string;
  /** Path and query, such as `/takip?no=I0-0`. */
  target: string;
  /** Value of the `Host` field. */
  host: string;
  /** Value of the `Connection` field. */
  connection: 'keep-alive' | 'close';
}

/** What `startLayer4Balancer` needs. */
export interface Layer4Options {
  /** At least one, and no two with the same name. */
  replicas: readonly Replica[];
  /** Exercise 6.7: tells the replica who the client is, in a line before the client's first byte. */
  proxyProtocol?: boolean;
}

/** What a layer 4 balancer can count. Requests are not among it. */
export interface Layer4Counters {
  /** Choices of a replica: one for each accepted connection. */
  decisions: number;
  /** Connections that each replica took, by name; a replica that took none has 0. */
  connections: Record<string, number>;
  /** Bytes that came from clients, whatever they mean. */
  bytes: number;
  /** Exercise 6.7: how often a connection was offered to a further replica after one refused it. */
  failovers?: number;
}

/** A running layer 4 balancer. */
export interface Layer4Balancer extends AsyncDisposable {
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** A new object at each call. */
  counters(): Layer4Counters;
  /**
   * Stops listening and cuts every open connection, on both sides; with `drain`, waits until they
   * have ended by themselves. Resolves when nothing is left.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Where connections and their requests end up. Replicas in order, the first one first. */
export interface Assignment {
  /** Requests of each replica. */
  requests: number[];
  /** Connections of each replica. */
  connections: number[];
  /** Connections altogether: each of them is decided about once. */
  decisions: number;
}

/** After how many requests to close a connection, and what that brings. */
export interface RecycleLimit {
  /** Requests after which a replica closes a connection. */
  cap: number;
  /** Connections that it takes, each of them a decision. */
  decisions: number;
  /** Of the requests: 1 for a perfect split. */
  imbalance: number;
}
