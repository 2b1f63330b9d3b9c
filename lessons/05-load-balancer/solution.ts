import type { Clock } from '#helpers/lesson/manual-clock.ts';
import type { CapacityPlan, Failure, Probe, Prober } from './given.ts';

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
  const { peakRate, saturationRate, replicas, failed } = input;
  requirePositive({ peakRate, saturationRate });
  requireCount({ replicas }, 1);
  requireCount({ failed }, 0);
  if (failed > replicas) throw new RangeError(`failed is ${failed}, but there are ${replicas}`);
  // All gone: a division by 0, which is Infinity and just what the contract asks for.
  const rate = peakRate / (replicas - failed);
  return { rate, utilisation: rate / saturationRate };
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
  const { peakRate, saturationRate, targetUtilisation, toleratedFailures } = input;
  requirePositive({ peakRate, saturationRate });
  requireShare({ targetUtilisation });
  requireCount({ toleratedFailures }, 0);

  const safeRate = saturationRate * targetUtilisation;
  const minReplicas = Math.max(1, ceilWithSlack(peakRate / safeRate));
  // The target has to hold for those that are left, so losses come on top of the minimum.
  const replicas = minReplicas + toleratedFailures;
  const load = (failed: number) => replicaLoad({ peakRate, saturationRate, replicas, failed });
  const before = load(0);
  const after = load(toleratedFailures);
  return {
    safeRate,
    minReplicas,
    replicas,
    perReplicaRate: before.rate,
    utilisation: before.utilisation,
    afterFailureRate: after.rate,
    afterFailureUtilisation: after.utilisation,
  };
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
  const { peakRate, replicas, dailyRequests, failuresPerMonth, windowSeconds } = input;
  requirePositive({ peakRate, dailyRequests });
  requireCount({ replicas }, 1);
  requireNotNegative({ failuresPerMonth, windowSeconds });

  // No rounding on the way: 171.30 req/s x 600 s is 102,780, and two requests too many.
  const perFailure = (peakRate / replicas) * windowSeconds;
  const perMonth = perFailure * failuresPerMonth;
  return { perFailure, perMonth, availability: Math.max(0, 1 - perMonth / (dailyRequests * 30)) };
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
  const { peakRate, replicas, maxDroppedPerFailure, maxProbeShare } = input;
  requirePositive({ peakRate });
  requireCount({ replicas }, 1);
  requireNotNegative({ maxDroppedPerFailure });
  requireShare({ maxProbeShare });

  const maxMs = floorWithSlack((1_000 * maxDroppedPerFailure * replicas) / peakRate);
  const minMs = ceilWithSlack((1_000 * replicas) / (maxProbeShare * peakRate));
  if (minMs > maxMs) {
    // Not a RangeError: each wish is a sensible one, they just can't both be had.
    throw new Error(
      `no interval fits: the probe share asks for ${minMs} ms or more, the drops for ${maxMs} ms or less`,
    );
  }
  return { minMs, maxMs };
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
  readonly #fall: number;
  readonly #rise: number;
  // A Map keeps the order in which its keys came, and that is the configured one.
  readonly #states = new Map<string, { up: boolean; against: number }>();

  /**
   * @param replicas names, at least one, no two alike
   * @param options.fall failures in a row until down, a whole number of 1 or more
   * @param options.rise successes in a row until up, a whole number of 1 or more
   * @throws {RangeError} whose message names `replicas`, `fall` or `rise`
   */
  constructor(replicas: readonly string[], options: { fall: number; rise: number }) {
    const { fall, rise } = options;
    requireCount({ fall }, 1);
    requireCount({ rise }, 1);
    if (replicas.length === 0) throw new RangeError('replicas is empty, wanted at least one');
    for (const name of replicas) {
      if (this.#states.has(name)) throw new RangeError(`replicas has "${name}" twice`);
      this.#states.set(name, { up: true, against: 0 });
    }
    this.#fall = fall;
    this.#rise = rise;
  }

  /**
   * Notes the verdict of one probe.
   *
   * @param ok whether the replica answered as a healthy one does
   * @throws {RangeError} when the replica is unknown; the message has its name
   */
  record(replica: string, ok: boolean): void {
    const state = this.#states.get(replica);
    if (!state) throw new RangeError(`replica "${replica}" is unknown`);
    state.against = ok === state.up ? 0 : state.against + 1;
    if (state.against === (state.up ? this.#fall : this.#rise)) {
      state.up = ok;
      state.against = 0;
    }
  }

  /** Names of the replicas that are up, in configured order. A new array at each call. */
  up(): string[] {
    return [...this.#states].filter(([, { up }]) => up).map(([name]) => name);
  }
}

//BALANCER

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
  const { failure, intervalMs, timeoutMs, fall } = input;
  requireSchedule({ intervalMs, timeoutMs });
  requireCount({ fall }, 1);
  // The first probe that can fail starts within one interval, on average after half of it. Each
  // further one starts an interval later, and only the last one's own duration counts.
  const lastProbe = (fall - 1) * intervalMs + (failure === 'hang' ? timeoutMs : 0);
  return { expectedMs: intervalMs / 2 + lastProbe, worstMs: intervalMs + lastProbe };
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
  const { replicas, probe, intervalMs, timeoutMs, fall, rise, clock, onChange } = options;
  requireSchedule({ intervalMs, timeoutMs });
  const tracker = new HealthTracker(replicas, { fall, rise });
  const timers = new Set<{ cancel(): void }>();
  let stopped = false;

  const after = (ms: number, run: () => void) => {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
    return timer;
  };

  const ask = (replica: string) => {
    let settled = false;
    // Whoever comes first decides: the answer or the deadline. The other finds the case closed.
    const settle = (ok: boolean) => {
      if (settled || stopped) return;
      settled = true;
      deadline.cancel();
      timers.delete(deadline);
      const before = tracker.up();
      tracker.record(replica, ok);
      const up = tracker.up();
      if (up.length !== before.length) onChange?.(up);
    };
    const deadline = after(timeoutMs, () => settle(false));
    // The async wrapper makes a probe that throws look like one that rejects.
    (async () => probe(replica))().then(settle, () => settle(false));
  };
  const round = () => {
    after(intervalMs, round);
    for (const replica of replicas) ask(replica);
  };
  after(intervalMs, round);

  return {
    up: () => tracker.up(),
    stop() {
      stopped = true;
      for (const timer of timers) timer.cancel();
    },
  };
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity))
      throw new RangeError(`${name} is ${value}, wanted above 0`);
  }
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value < Infinity))
      throw new RangeError(`${name} is ${value}, wanted 0 or more`);
  }
}

function requireShare(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value <= 1))
      throw new RangeError(`${name} is ${value}, wanted above 0 to 1`);
  }
}

function requireCount(fields: Record<string, number>, least: number): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(`${name} is ${value}, wanted a whole number of ${least} or more`);
    }
  }
}

function requireSchedule({
  intervalMs,
  timeoutMs,
}: {
  intervalMs: number;
  timeoutMs: number;
}): void {
  requirePositive({ intervalMs, timeoutMs });
  if (timeoutMs > intervalMs) {
    throw new RangeError(`timeoutMs is ${timeoutMs}, wanted at most intervalMs, ${intervalMs}`);
  }
}

/** Relative size of the noise that a few operations on binary fractions leave behind. */
const SLACK = 1e-9;
const ceilWithSlack = (x: number) => Math.ceil(x - x * SLACK);
const floorWithSlack = (x: number) => Math.floor(x + x * SLACK);
