import type { Replica } from '#helpers/lesson/replica.ts';

/**
 * A rule that may look at the request as well. A `Picker` fits.
 *
 * @param open requests of each replica that are not finished, in list order
 * @param arrival number of the request, from 0
 * @param request `path` is the raw target, such as `/takip?no=G5`
 * @returns index of the chosen replica; it may be trusted
 */
export type RequestPicker = (
  open: readonly number[],
  arrival: number,
  request: { path: string },
) => number;

/** What a balancer starts with. */
export interface BalancerOptions {
  /** May be empty. */
  readonly replicas: readonly Replica[];
  readonly pick: RequestPicker;
}

/** A balancer that is running. Disposing it is `close()`. */
export interface Balancer extends AsyncDisposable {
  /** The TCP port on 127.0.0.1. */
  readonly port: number;
  /** Open requests of each replica, in list order. */
  open(): number[];
  /**
   * Puts another list and another rule in force, for the requests from now on.
   *
   * @throws {RangeError} for a name that stands in the list twice; nothing changes then
   */
  setReplicas(replicas: readonly Replica[], pick: RequestPicker): void;
  /** Stops listening, cuts what is open, and resolves when nothing is left. Safe to call twice. */
  close(): Promise<void>;
}
