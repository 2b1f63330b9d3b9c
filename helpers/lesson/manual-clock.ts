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

/** A clock that stands still until a test advances it. It starts at 0. */
export class ManualClock implements Clock {
  #now = 0;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): ClockTimer {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** Timers that are set and have not run. */
  get pending(): number {
    return this.#timers.length;
  }

  /**
   * Moves the time forward by `ms` milliseconds, and runs what falls due on the way: in order of
   * time, at equal times in the order of setting. After each callback the promises that it settled
   * get their turn before the time moves on.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      let due: { at: number; run: () => void } | undefined;
      for (const timer of this.#timers) {
        if (timer.at <= end && (!due || timer.at < due.at)) due = timer;
      }
      if (!due) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await settle();
    }
    this.#now = end;
  }
}

/** All microtasks that are queued, and those that they queue, run before an immediate does. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
