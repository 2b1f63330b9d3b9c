import { describe, expect, it, vi } from 'vitest';
import { expectRefusal } from './bad-input.ts';
import { ManualClock, systemClock } from './manual-clock.ts';

describe('ManualClock', () => {
  it('starts at 0 and stands still until it is advanced', async () => {
    const clock = new ManualClock();
    const ran: number[] = [];
    clock.after(10, () => ran.push(clock.now()));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([clock.now(), ran]).toEqual([0, []]);

    await clock.advance(9);
    expect([clock.now(), ran]).toEqual([9, []]);
    await clock.advance(1);
    expect([clock.now(), ran]).toEqual([10, [10]]);
    await clock.advance(100);
    expect([clock.now(), ran]).toEqual([110, [10]]);
  });

  it('runs what falls due in the order of time, ties in the order of setting', async () => {
    const clock = new ManualClock();
    const ran: string[] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['tie 1', 20],
      ['tie 2', 20],
      ['early', 10],
    ] as const) {
      clock.after(ms, () => ran.push(`${name} at ${clock.now()}`));
    }

    await clock.advance(25);

    expect(ran).toEqual(['early at 10', 'tie 1 at 20', 'tie 2 at 20']);
    expect(clock.pending).toBe(1);
  });

  it('runs a timer that a callback sets, if it falls due on the way', async () => {
    const clock = new ManualClock();
    const ran: number[] = [];
    const tick = () => {
      ran.push(clock.now());
      clock.after(200, tick);
    };
    tick();

    await clock.advance(650);

    expect(ran).toEqual([0, 200, 400, 600]);
    expect(clock.pending).toBe(1);
  });

  it('lets chains of promises and ticks end before the time moves on', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const chain = async (name: string) => {
      for (let step = 0; step < 200; step += 1) await null;
      await new Promise<void>((resolve) => process.nextTick(resolve));
      seen.push(`${name} at ${clock.now()}`);
    };
    void chain('before');
    clock.after(10, () => void chain('first'));
    clock.after(11, () => void chain('second'));

    await clock.advance(11);

    expect(seen).toEqual(['before at 0', 'first at 10', 'second at 11']);
  });

  it('does not run a timer that was cancelled, be it by a callback at the same time', async () => {
    const clock = new ManualClock();
    const ran: string[] = [];
    const never = clock.after(5, () => ran.push('never'));
    clock.after(10, () => {
      ran.push('first');
      second.cancel();
    });
    const second = clock.after(10, () => ran.push('second'));
    never.cancel();
    never.cancel();

    await clock.advance(20);

    expect(ran).toEqual(['first']);
    expect(clock.pending).toBe(0);
  });

  it('runs a timer of 0 ms with the next advance', async () => {
    const clock = new ManualClock();
    const run = vi.fn();
    clock.after(0, run);
    expect(run).not.toHaveBeenCalled();

    await clock.advance(0);

    expect(run).toHaveBeenCalledOnce();
  });

  it('works while the timers of the system are fake', async () => {
    vi.useFakeTimers();
    try {
      const clock = new ManualClock();
      const run = vi.fn();
      clock.after(10, run);
      await clock.advance(10);
      expect(run).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it('hands on what a callback throws, and stands where it was thrown', async () => {
    const clock = new ManualClock();
    clock.after(10, () => {
      throw new Error('from the callback');
    });

    await expect(clock.advance(20)).rejects.toThrow('from the callback');
    expect(clock.now()).toBe(10);

    await clock.advance(20);
    expect(clock.now()).toBe(30);
  });

  it('refuses times that are none, and to be advanced twice at once', async () => {
    const clock = new ManualClock();
    for (const ms of [-1, Number.NaN]) {
      expectRefusal(() => clock.after(ms, () => {}), 'ms');
      await expectRefusal(() => clock.advance(ms), 'ms');
    }
    await expectRefusal(() => clock.advance(Infinity), 'ms');

    const first = clock.advance(1);
    await expectRefusal(() => clock.advance(1), 'await', Error);
    await first;
    expect(clock.now()).toBe(1);
  });
});

describe('systemClock', () => {
  it('runs a callback once, after the time, unless it was cancelled', async () => {
    const before = systemClock.now();
    const cancelled = vi.fn();
    systemClock.after(1, cancelled).cancel();

    await new Promise<void>((resolve) => {
      systemClock.after(5, resolve);
    });

    // The timer counts whole milliseconds, the clock fractions.
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(4);
    expect(cancelled).not.toHaveBeenCalled();
  });
});
