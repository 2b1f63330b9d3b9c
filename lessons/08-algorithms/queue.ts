import { GENERATOR, QUEUE } from './given.ts';

/**
 * A rule that chooses a replica for one request.
 *
 * @param open requests of each replica, assigned and not yet finished, in list order
 * @param arrival number of the request, from 0
 * @returns index of the chosen replica
 */
export type Picker = (open: readonly number[], arrival: number) => number;

/** What the queue model needs. */
export interface QueueOptions {
  /** Ticks that each request needs on a healthy replica, in order of arrival. */
  readonly costs: readonly number[];
  /** Cost multiplier of each replica, by position: 1 is healthy, 3 is three times slower. */
  readonly multipliers: readonly number[];
  readonly pick: Picker;
  /** Ticks between two arrivals; the first request arrives at tick 0. */
  readonly intervalTicks?: number;
  /** Hears of each request as soon as it is assigned. */
  readonly onArrival?: (arrival: Arrival) => void;
}

/** One request in the queue model. Ticks count from the first arrival. */
export interface Arrival {
  readonly arrival: number;
  readonly tick: number;
  readonly cost: number;
  /** Open requests of each replica when it arrived, without itself. */
  readonly open: readonly number[];
  /** Index of the chosen replica. */
  readonly chosen: number;
  readonly start: number;
  /** Ticks between arrival and start. Service isn't part of it. */
  readonly wait: number;
  readonly finish: number;
}

/** What came of a run. */
export interface QueueReport {
  /** Ticks between arrival and start of service, on average. */
  readonly meanWait: number;
  /** Largest number of open requests that an arrival found on one replica. */
  readonly maxQueue: number;
  /** Tick at which the last replica falls idle. */
  readonly finish: number;
  /** Ticks of service that each replica has done. */
  readonly work: readonly number[];
  /** Requests that each replica was given. */
  readonly requests: readonly number[];
}

/**
 * Ticks of service that each request needs, the same ones for the same seed.
 *
 * Plain number arithmetic is part of the recipe: the product reaches 2^61, so its low bits are
 * rounded away. A generator with exact integers is another sequence.
 */
export function costSequence(
  count: number = QUEUE.requests,
  seed: number = GENERATOR.seed,
): number[] {
  const { multiplier, increment, modulus, shiftBits } = GENERATOR;
  const { costMinTicks, costMaxTicks } = QUEUE;
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * multiplier + increment) % modulus;
    return costMinTicks + (Math.floor(state / 2 ** shiftBits) % (costMaxTicks - costMinTicks + 1));
  });
}

/** Share of the pool's time that the requests would need if all replicas were healthy. */
export function utilisation(
  costs: readonly number[],
  replicas: number,
  intervalTicks: number = QUEUE.arrivalIntervalTicks,
): number {
  return sum(costs) / (costs.length * intervalTicks) / replicas;
}

/**
 * Runs the requests through replicas that serve one at a time, in order of assignment.
 *
 * At each arrival, what finishes at or before that tick is finished; then the open requests are
 * counted, then the rule chooses. Requests are looked at when one arrives, and not after the last.
 *
 * @throws {RangeError} when the rule returns something that is not an index of a replica
 */
export function simulateQueue({
  costs,
  multipliers,
  pick,
  intervalTicks = QUEUE.arrivalIntervalTicks,
  onArrival,
}: QueueOptions): QueueReport {
  const replicas = multipliers.map((multiplier) => ({
    multiplier,
    freeAt: 0,
    work: 0,
    requests: 0,
    finished: 0,
    finishTicks: [] as number[],
  }));
  let waits = 0;
  let maxQueue = 0;

  costs.forEach((cost, arrival) => {
    const tick = arrival * intervalTicks;
    const open = replicas.map((replica) => {
      while ((replica.finishTicks[replica.finished] ?? Number.POSITIVE_INFINITY) <= tick) {
        replica.finished += 1;
      }
      return replica.requests - replica.finished;
    });
    for (const count of open) if (count > maxQueue) maxQueue = count;

    const chosen = pick(open, arrival);
    const replica = replicas[chosen];
    if (!replica) {
      throw new RangeError(
        `the rule chose ${chosen} for arrival ${arrival}; ` +
          `wanted an index from 0 to ${replicas.length - 1}`,
      );
    }
    const start = Math.max(tick, replica.freeAt);
    const finish = start + cost * replica.multiplier;
    waits += start - tick;
    replica.freeAt = finish;
    replica.work += cost * replica.multiplier;
    replica.requests += 1;
    replica.finishTicks.push(finish);
    onArrival?.({ arrival, tick, cost, open, chosen, start, wait: start - tick, finish });
  });

  return {
    meanWait: waits / costs.length,
    maxQueue,
    finish: Math.max(...replicas.map(({ freeAt }) => freeAt)),
    work: replicas.map(({ work }) => work),
    requests: replicas.map(({ requests }) => requests),
  };
}

/** Sum of the numbers; 0 when there are none. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
