// Lesson 5: your file. Read README.md and load-balancer.spec.ts beside it, then replace the TODOs.
import type { Clock } from '#helpers/lesson/manual-clock.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type { Balancer, BalancerOptions, CapacityPlan, Failure, Probe, Prober } from './given.ts';

/**
 * Load and utilisation of each replica that is left when some are gone.
 *
 * With none left both are `Infinity`.
 *
 * @param input.peakRate req/s that all replicas together have to carry, above 0
 * @param input.saturationRate req/s that one replica is planned to carry at most, above 0
 * @param input.replicas how many there are, 1 or more
 * @param input.failed how many of them are gone, 0 to `replicas`
 * @returns `rate` in req/s, and `utilisation`, which is the rate over the saturation rate
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example replicaLoad({ peakRate: 600, saturationRate: 400, replicas: 3, failed: 1 })
 * // { rate: 300, utilisation: 0.75 }
 */
export function replicaLoad(input: {
  peakRate: number;
  saturationRate: number;
  replicas: number;
  failed: number;
}): { rate: number; utilisation: number } {
  // TODO 5.1: share the peak among those that are left, then compare with the saturation rate.
  return todo('5.1 replicaLoad');
}

/**
 * How many replicas a peak needs, with and without losses to survive.
 *
 * A plan holds its target when the utilisation of each replica that is left is at or below it.
 * Binary fractions can put a quotient a hair above a whole number, as in 171 / (100 x 0.57); a
 * quotient that is above it by no more than a relative 1e-9 counts as that number.
 *
 * @param input.peakRate req/s, above 0
 * @param input.saturationRate req/s of one replica, above 0
 * @param input.targetUtilisation above 0, at most 1
 * @param input.toleratedFailures replicas that may be gone at the same time, 0 or more
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example planCapacity({ peakRate: 600, saturationRate: 400, targetUtilisation: 0.5,
 *   toleratedFailures: 1 }).replicas // 4
 */
export function planCapacity(input: {
  peakRate: number;
  saturationRate: number;
  targetUtilisation: number;
  toleratedFailures: number;
}): CapacityPlan {
  // TODO 5.1: solve for the replicas that have to be left, then add those that may be lost.
  return todo('5.1 planCapacity');
}

/**
 * What a failure costs until somebody has noticed it: the requests that went to the dead replica.
 *
 * Every failure is taken to fall in the peak hour, and to lose one replica's share of the peak for
 * the whole window. A month has 30 days.
 *
 * @param input.peakRate req/s, above 0
 * @param input.replicas 1 or more
 * @param input.dailyRequests requests/day, above 0
 * @param input.failuresPerMonth 0 or more, fractions allowed
 * @param input.windowSeconds from the failure until no request goes there any more, 0 or more
 * @returns dropped requests per failure and per month, neither of them rounded, and the share of
 *   the month's requests that was answered: 0 to 1, never below 0
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 */
export function failureBill(input: {
  peakRate: number;
  replicas: number;
  dailyRequests: number;
  failuresPerMonth: number;
  windowSeconds: number;
}): { perFailure: number; perMonth: number; availability: number } {
  // TODO 5.2: one replica's share of the rate, for the length of the window.
  return todo('5.2 failureBill');
}

/**
 * The intervals between two rounds of probes that both sides can live with.
 *
 * Too long an interval drops too many requests: at most `maxDroppedPerFailure` may be lost in one
 * interval by one replica's share of the peak. Too short a one makes the probes themselves a load:
 * the probes of all replicas may be at most `maxProbeShare` of the peak. Both limits are whole
 * milliseconds inside the permitted range; a limit that misses a whole number by no more than a
 * relative 1e-9 counts as that number.
 *
 * @param input.peakRate req/s, above 0
 * @param input.replicas 1 or more
 * @param input.maxDroppedPerFailure requests, 0 or more (nothing meets 0)
 * @param input.maxProbeShare above 0, at most 1
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @throws {Error} when no interval fits; its message has both limits in whole milliseconds
 */
export function chooseProbeInterval(input: {
  peakRate: number;
  replicas: number;
  maxDroppedPerFailure: number;
  maxProbeShare: number;
}): { minMs: number; maxMs: number } {
  // TODO 5.3: two people complain, and each complaint is an inequality.
  return todo('5.3 chooseProbeInterval');
}

/**
 * Which replicas are up, from the verdicts of their probes. Pure book-keeping: no clock, no
 * network.
 *
 * Every replica starts up. One that is up goes down after `fall` failures in a row, one that is
 * down comes back after `rise` successes in a row. A verdict that agrees with the state ends the
 * row.
 */
export class HealthTracker {
  /**
   * @param replicas names, at least one, no two alike
   * @param options.fall failures in a row until down, a whole number of 1 or more
   * @param options.rise successes in a row until up, a whole number of 1 or more
   * @throws {RangeError} whose message names `replicas`, `fall` or `rise`
   */
  constructor(replicas: readonly string[], options: { fall: number; rise: number }) {
    // TODO 5.4: keep a state and a row for each replica, in the order of the list.
    todo('5.4 HealthTracker');
  }

  /**
   * Notes the verdict of one probe.
   *
   * @param ok whether the replica answered as a healthy one does
   * @throws {RangeError} when the replica is unknown; the message has its name
   */
  record(replica: string, ok: boolean): void {
    // TODO 5.4: a verdict that agrees with the state ends the row.
    todo('5.4 record');
  }

  /** Names of the replicas that are up, in configured order. A new array at each call. */
  up(): string[] {
    // TODO 5.4: names of those that are up, in configured order.
    return todo('5.4 up');
  }
}

/**
 * A load balancer on 127.0.0.1, in front of replicas that speak HTTP.
 *
 * For each request, in this order:
 * 1. The target `/yonet/durum`, exactly and with any method, is answered with 200,
 *    `content-type: application/json` and `{"ulasilamayan":<unreachable>,"ayakta":[<ports>]}`: the
 *    ports of the replicas that are up, in configured order. Nothing moves.
 * 2. A target that `new URL(target, 'http://x')` throws at is answered with 400. Nothing moves and
 *    nothing is sent. (5.6)
 * 3. The pool is the replicas that are up, in configured order. If it is empty: 503, body
 *    `havuz bos`, header `retry-after: 1` (5.8). Nothing moves.
 * 4. The replica is `pool[rotation % pool.length]`, and then `rotation` goes up by 1. It is one
 *    counter for the whole life of the balancer, and starts at 0.
 * 5. Method, target, headers and body are forwarded, and status, headers and body copied back, both
 *    bodies as streams.
 * 6. If the attempt ends without response headers: `unreachable` goes up by 1, and the answer is
 *    502, body `kopyaya ulasilamadi`. The replica stays up: only probes take it out.
 *
 * Health check, unless `health` is false: every `intervalMs` (never, if that is 0) and at each
 * `probeNow()`, GET `/saglik` of every replica at once, those that are down included. The first
 * round comes one interval after the start. A probe succeeds if status 200 comes within
 * `timeoutMs`; `HealthTracker` judges. Probes move neither the rotation nor a counter, and one that
 * is still running when the balancer closes changes nothing.
 *
 * Headers (5.6): in both directions the hop-by-hop fields stay behind: `connection` and all that it
 * names, `keep-alive`, `proxy-connection`, `te`, `trailer`, `transfer-encoding` and `upgrade`, in
 * whichever case. `host` and `content-length` pass, whoever names them. A request body that came
 * with `transfer-encoding` is sent on in chunks. With `adminPort` the status page stands on that
 * port of its own, which answers 404 to everything else, and on `port` its target is one like any
 * other.
 *
 * Failures (5.7): each of them moves exactly one counter of the status.
 * - The client goes away before its response is complete: the attempt is cut, `clientAborted`.
 * - The replica breaks off after its response headers: the client's connection is cut,
 *   `upstreamReset`. A truncated response never looks complete.
 * - No response headers `headerTimeoutMs` after the attempt began: the attempt is cut, and the
 *   answer is 504, `upstreamTimeout`.
 * `attempts` counts every attempt to reach a replica, failed ones included, probes not.
 *
 * Retries (5.8), if `retry` is true: an attempt that moved `unreachable` is followed by another one
 * if that is safe. Nothing was sent, because no connection came about: always. Something may have
 * been sent: only for GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and only if the request has no
 * body, that is neither `transfer-encoding` nor a `content-length` above 0. Each attempt looks at
 * the pool anew, and takes the next steps of the rotation until one leads to a replica that this
 * request has not tried. When there is none left: 502.
 *
 * @param options see `BalancerOptions`; everything but `replicas` and `health` may be left out
 * @throws {RangeError} (rejects) before it listens, when `replicas` is empty or has a name twice, or
 *   when `fall` or `rise` is not a whole number of 1 or more; the message names the field
 */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  // TODO 5.5: filter, choose, forward; and probe beside it.
  return todo('5.5 startBalancer');
}

/**
 * How long a failed replica keeps getting requests, if failures fall at any moment between two
 * rounds of probes.
 *
 * A replica that crashed refuses its next probe at once. One that hangs accepts it, and the verdict
 * is in only when the probe has timed out. Either way `fall` probes in a row have to fail.
 *
 * @param input.failure `crash` or `hang`
 * @param input.intervalMs milliseconds between two rounds, above 0
 * @param input.timeoutMs milliseconds that a probe may take, above 0, at most `intervalMs`
 * @param input.fall a whole number of 1 or more
 * @returns milliseconds: the mean over all moments, and the bound that no moment exceeds
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example detectionWindow({ failure: 'crash', intervalMs: 1_000, timeoutMs: 300, fall: 1 })
 * // { expectedMs: 500, worstMs: 1_000 }
 */
export function detectionWindow(input: {
  failure: Failure;
  intervalMs: number;
  timeoutMs: number;
  fall: number;
}): { expectedMs: number; worstMs: number } {
  // TODO 5.9: when does the first probe that can fail start, and when is the last verdict in?
  return todo('5.9 detectionWindow');
}

/**
 * Runs a health check: a round of probes every `intervalMs`, the first one `intervalMs` after the
 * start, all replicas at once and those that are down too.
 *
 * A probe fails when it resolves with false, rejects, throws, or has not settled `timeoutMs` after
 * its start; what it says later counts for nothing. The verdicts are judged as `HealthTracker`
 * does it.
 *
 * @param options.replicas names, at least one, no two alike
 * @param options.probe asks one replica; may never settle
 * @param options.intervalMs milliseconds, above 0
 * @param options.timeoutMs milliseconds, above 0, at most `intervalMs`
 * @param options.fall failures in a row until down
 * @param options.rise successes in a row until up
 * @param options.clock the only source of time
 * @param options.onChange called with the replicas that are up, whenever that has changed
 * @throws {RangeError} whose message names the field that is wrong
 */
export function startProbing(options: {
  replicas: readonly string[];
  probe: Probe;
  intervalMs: number;
  timeoutMs: number;
  fall: number;
  rise: number;
  clock: Clock;
  onChange?: (up: string[]) => void;
}): Prober {
  // TODO 5.9: a round on the clock; each probe races its own deadline.
  return todo('5.9 startProbing');
}
