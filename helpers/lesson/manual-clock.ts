/** A timer that has been set. */
export interface ClockTimer {
  /** Prevents the callback from running. Does nothing once it has run. */
  cancel(): void;
}

/** Where a program gets its time from, so that a test can hand in another one. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Runs the callback once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): ClockTimer;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

// Taken at load time, so that fake timers in a test don't stop a manual clock.
const { setImmediate } = globalThis;

/** A clock that stands still until a test advances it. It starts at 0. */
export class ManualClock implements Clock {
  #now = 0;
  /** In the order of setting. */
  readonly #timers = new Set<Timer>();
  #advancing = false;

  now(): number {
    return this.#now;
  }

  /**
   * Sets a timer. One of 0 ms runs with the next `advance`, even with `advance(0)`.
   *
   * @throws {RangeError} when `ms` is not a number of 0 or more
   */
  after(ms: number, run: () => void): ClockTimer {
    if (!(ms >= 0)) throw new RangeError(`ms is a time to wait, 0 or more, got ${ms}`);
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Timers that are set and have not run. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Moves the time forward by `ms` milliseconds, and runs what falls due on the way: in order of
   * time, at equal times in the order of setting.
   *
   * Before the first callback, after each one and at the end, whatever depends on promises and
   * `process.nextTick` alone gets to its end, however long the chain. Real I/O doesn't: a test that
   * has sockets awaits their events, then advances.
   *
   * @throws {RangeError} when `ms` is not a number of 0 or more
   * @throws {Error} when the clock is being advanced already: somebody forgot an `await`
   * @throws what a callback throws; the time then stands where it was thrown
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`ms is a time to move forward, 0 or more, got ${ms}`);
    }
    if (this.#advancing) throw new Error('The clock is being advanced: await advance() first');
    this.#advancing = true;
    try {
      const end = this.#now + ms;
      await settle();
      for (let due = this.#next(end); due; due = this.#next(end)) {
        this.#timers.delete(due);
        this.#now = due.at;
        due.run();
        await settle();
      }
      this.#now = end;
    } finally {
      this.#advancing = false;
    }
  }

  /** The first timer that falls due until `end`. */
  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (!first || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** All microtasks and ticks that are queued, and those that they queue, come before an immediate. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
