// Lesson 5: the load balancer's role
//
// A region has been chosen, and three identical replicas stand behind one address. One of them
// dies. Which replica gets the next request, and who notices? You know how a client finds the
// address (lesson 1). You leave with a balancer that loses no request to a dead replica once it has
// looked, with the number of replicas that takes, and with what the looking costs.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
import { once } from 'node:events';
import { request as startRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  DAYS_PER_MONTH,
  K01,
  outageBudgetMinutes,
  SECONDS_PER_DAY,
  Y1_SATURATION_RATE,
  Y2_TARGET_UTILISATION,
  Y3_HEALTH_CHECK,
} from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { attachFigure, bars, lines } from '#helpers/lesson/figure.ts';
import { startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { ManualClock } from '#helpers/lesson/manual-clock.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { disposable, type ProxyKind, proxyExtras } from '#helpers/lesson/proxy-extras.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import {
  printTally,
  sendTrackingRequests,
  startReplica,
  startReplicas,
  withReusedPorts,
} from '#helpers/lesson/tracking.ts';
import { eventually, gate, within } from '#helpers/lesson/waiting.ts';
import {
  chooseProbeInterval,
  detectionWindow,
  failureBill,
  HealthTracker,
  planCapacity,
  replicaLoad,
  startBalancer,
  startProbing,
} from './exercise.ts';
import {
  averageRate,
  type BalancerOptions,
  type Failure,
  PUBLISHED,
  probeLoad,
  tlsTermination,
} from './given.ts';

const lesson = openLesson(import.meta.url);

const { peakRate, saturationRate, targetUtilisation, dailyRequests, failuresPerMonth } = PUBLISHED;

/** Two decimals, as the lesson prints rates. */
const rate = (value: number) => value.toFixed(2);
/** Three decimals, as the lesson prints utilisations. */
const share = (value: number) => value.toFixed(3);

/**
 * The published thresholds, but the tests say when to probe, and a healthy replica on a busy
 * machine gets its time to answer.
 */
const health = { ...Y3_HEALTH_CHECK, intervalMs: 0, timeoutMs: 5_000 };

describe("Lesson 5: the load balancer's role", () => {
  it('three replicas are of no use to a client that knows only one of them', async () => {
    await using k1 = await startReplica('k1');
    await using k2 = await startReplica('k2');
    using client = openClient(k2.port);

    const before = await client.send('/takip?no=G0');
    await k2.close();
    const after = client.send('/takip?no=G1');

    expect(before.headers['x-kopya']).toBe('k2');
    expect(Buffer.byteLength(before.body), 'bytes').toBe(100);
    // Whether the kept connection is reset or the next one refused is a race; gone is gone.
    await expect(after).rejects.toThrow(/ECONNRESET|ECONNREFUSED|socket hang up/);
    // And all the while k1 stands there, with nothing to do.
    using other = openClient(k1.port);
    expect((await other.send('/takip?no=G1')).headers['x-kopya']).toBe('k1');
  });

  it('the plan rests on the numbers of the introductory course', () => {
    expect(K01.trackingQueriesPerDay).toBePublished('05.given.daily.trackingQueries');
    expect(K01.statusEventsPerDay).toBePublished('05.given.daily.statusEvents');
    expect(dailyRequests).toBePublished('05.given.daily.total');
    expect(K01.peakFactor).toBePublished('05.given.peakFactor');
    expect(peakRate).toBePublished('05.given.peakRate');
    expect(SECONDS_PER_DAY).toBePublished('05.given.secondsPerDay');
    expect(DAYS_PER_MONTH).toBePublished('05.given.daysPerMonth');
    expect(K01.edgeHitShare).toBePublished('05.given.edgeHitShareQuoted');
  });

  it('a replica is planned far below its ceiling, at the utilisation where waiting is still short', () => {
    const { atHalf, atNineTenths } = K01.delay;
    expect(K01.measuredCeiling).toBePublished('05.given.k01.measuredCeiling');
    expect(saturationRate).toBe(Y1_SATURATION_RATE);
    expect(saturationRate).toBePublished('05.given.saturation');
    expect(targetUtilisation).toBe(Y2_TARGET_UTILISATION);
    expect(targetUtilisation).toBePublished('05.given.targetUtilisation');
    expect(atHalf.utilisation * 100).toBePublished('05.given.k01.u50');
    expect(atHalf.factor).toBePublished('05.given.k01.delayFactor.u50');
    expect(atNineTenths.utilisation * 100).toBePublished('05.given.k01.u90');
    expect(atNineTenths.factor).toBePublished('05.given.k01.delayFactor.u90');
  });

  it('99.9 % leaves 43.2 minutes a month, and 28.2 of them pay for 2.82 failures', () => {
    expect(K01.availabilityTarget).toBePublished('05.given.k01.availabilityTarget');
    expect(outageBudgetMinutes()).toBePublished('05.given.k01.monthlyBudget');
    expect(K01.failureBudgetMinutes).toBePublished('05.given.k01.failureBudget');
    expect(K01.recoveryMinutes).toBePublished('05.given.k01.recovery');
    expect(PUBLISHED.recoverySeconds).toBePublished('05.given.k01.recoverySeconds');
    expect(failuresPerMonth).toBePublished('05.given.k01.failuresPerMonth');
  });

  it('the average rate and a third of the peak are both 171.30, by coincidence', () => {
    expect(averageRate(dailyRequests)).toBePublished('05.capacity.averageRate');
    expect(peakRate / 3).toBePublished('05.capacity.peakOverMin');

    // The peak factor happens to be 3, and so does the number of replicas. Change one of them:
    expect(rate(peakRate / 4)).not.toBe(rate(averageRate(dailyRequests)));
  });

  it('probing three replicas five times a second is 15 requests a second, 2.9 % of the peak', async ({
    annotate,
  }) => {
    const { intervalMs, timeoutMs, fall } = Y3_HEALTH_CHECK;
    expect(intervalMs).toBePublished('05.given.probeInterval');
    expect(PUBLISHED.probeWindowSeconds).toBePublished('05.given.probeWindowSeconds');
    expect(timeoutMs).toBePublished('05.given.probeTimeout');
    expect(fall).toBePublished('05.given.fallThreshold');

    const load = probeLoad({ replicas: 3, intervalMs, peakRate });

    const intervals = [50, 100, 200, 400, 800, 1_600];
    await attachFigure(annotate, {
      title: 'Looking more often drops less, and is a load itself',
      facts: [
        `Every ${intervalMs} ms: ${load.rate} probes a second, and at worst ${rate((peakRate / 3) * PUBLISHED.probeWindowSeconds)} dropped requests for each crash.`,
        'Half the interval halves the drops and doubles the probes.',
      ],
      option: () =>
        lines({
          x: { name: 'interval (ms)', log: true },
          y: { name: 'requests', log: true },
          series: [
            {
              name: 'dropped, at worst, for each crash',
              points: intervals.map((ms) => [ms, (peakRate / 3) * (ms / 1_000)]),
            },
            {
              name: 'probes a second',
              points: intervals.map((ms) => [
                ms,
                probeLoad({ replicas: 3, intervalMs: ms, peakRate }).rate,
              ]),
            },
          ],
        }),
    });
    expect(load.rate).toBePublished('05.probe.rate');
    expect(load.shareOfPeak * 100).toBePublished('05.probe.share');
    // Who halves the interval pays twice.
    expect(probeLoad({ replicas: 3, intervalMs: 100, peakRate }).rate).toBe(2 * load.rate);
  });

  it('where TLS ends decides how many places hold the certificate, and who can read the path', () => {
    const atBalancer = tlsTermination('balancer', 3);
    expect(atBalancer.certificateHolders).toBePublished('05.tls.holders.atBalancer');
    expect(atBalancer.jobsPerAddedReplica).toBePublished('05.tls.jobs.atBalancer');
    expect(atBalancer.balancerReads).toContain('path');

    // As many as there are replicas, however many those are: the ledger has an n here.
    const counts = [1, 3, 20].map((n) => tlsTermination('replicas', n).certificateHolders);
    expect(counts).toEqual([1, 3, 20]);
    const asInPrint = counts.join() === '1,3,20' ? 'n' : counts.join();
    expect(asInPrint).toBePublished('05.tls.holders.atReplicas');
    const atReplicas = tlsTermination('replicas', 3);
    expect(atReplicas.jobsPerAddedReplica).toBePublished('05.tls.jobs.atReplicas');
    expect(atReplicas.balancerReads).not.toContain('path');
  });

  // Predict first: the peak is 513.89 req/s, a replica may carry 200. How many replicas do you
  // order? And how many if one of them may die without anybody having to hurry?
  describe('Exercise 5.1: how many replicas', lesson.exercise('5.1'), () => {
    it.for([3, 4, 5] as const)('with %d replicas the published row of the plan comes out', (n) => {
      const before = replicaLoad({ peakRate, saturationRate, replicas: n, failed: 0 });
      const after = replicaLoad({ peakRate, saturationRate, replicas: n, failed: 1 });

      expect(n).toBePublished(`05.capacity.n${n}.replicas`);
      expect(before.rate).toBePublished(`05.capacity.n${n}.rate`);
      expect(before.utilisation).toBePublished(`05.capacity.n${n}.util`);
      expect(after.rate).toBePublished(`05.capacity.n${n}.afterRate`);
      expect(after.utilisation).toBePublished(`05.capacity.n${n}.afterUtil`);
    });

    it('three replicas carry the peak, and four carry it with one of them gone', () => {
      const input = { peakRate, saturationRate, targetUtilisation };
      const bare = planCapacity({ ...input, toleratedFailures: 0 });
      const tolerant = planCapacity({ ...input, toleratedFailures: 1 });

      expect(bare.safeRate).toBePublished('05.capacity.safeRate');
      expect(bare.minReplicas).toBePublished('05.capacity.minReplicas');
      expect(bare.replicas).toBe(3);
      expect(rate(bare.afterFailureRate)).toBe('171.30'); // none lost, so nothing has changed
      expect(tolerant.replicas).toBePublished('05.capacity.tolerant');
      expect(tolerant.replicas - tolerant.minReplicas).toBePublished('05.capacity.tolerantExtra');
      expect(rate(tolerant.perReplicaRate)).toBe('128.47');
      expect(share(tolerant.utilisation)).toBe('0.321');
      expect(rate(tolerant.afterFailureRate)).toBe('171.30');
      expect(share(tolerant.afterFailureUtilisation)).toBe('0.428');
    });

    it('doubling or halving what a replica carries takes 2 or 6 replicas', () => {
      const plan = (saturation: number) =>
        planCapacity({
          peakRate,
          saturationRate: saturation,
          targetUtilisation,
          toleratedFailures: 0,
        });

      expect(plan(2 * saturationRate).minReplicas).toBePublished('05.sensitivity.saturationDouble');
      expect(plan(saturationRate / 2).minReplicas).toBePublished('05.sensitivity.saturationHalf');
    });

    it.for([
      {
        row: 'S1',
        input: { saturationRate: 800 },
        safe: 400,
        min: 2,
        rates: '256.94, 0.321, 513.89, 0.642',
      },
      {
        row: 'S2',
        input: { saturationRate: 200 },
        safe: 100,
        min: 6,
        rates: '85.65, 0.428, 102.78, 0.514',
      },
      {
        row: 'S3',
        input: { targetUtilisation: 0.7 },
        safe: 280,
        min: 2,
        rates: '256.94, 0.642, 513.89, 1.285',
      },
      {
        row: 'S5',
        input: { peakRate: 600 },
        safe: 200,
        min: 3,
        rates: '200.00, 0.500, 300.00, 0.750',
      },
      {
        row: 'S6',
        input: { peakRate: 1_000 },
        safe: 200,
        min: 5,
        rates: '200.00, 0.500, 250.00, 0.625',
      },
      {
        row: 'S7',
        input: { saturationRate: 250, targetUtilisation: 0.6 },
        safe: 150,
        min: 4,
        rates: '128.47, 0.514, 171.30, 0.685',
      },
    ])('$row: other inputs give $min replicas', ({ input, safe, min, rates }) => {
      const given = { peakRate, saturationRate, targetUtilisation, ...input };
      const plan = planCapacity({ ...given, toleratedFailures: 0 });
      const after = replicaLoad({ ...given, replicas: min, failed: 1 });

      expect(plan.safeRate).toBeCloseTo(safe, 9);
      expect(plan.minReplicas).toBe(min);
      expect(
        [
          rate(plan.perReplicaRate),
          share(plan.utilisation),
          rate(after.rate),
          share(after.utilisation),
        ].join(', '),
      ).toBe(rates);
    });

    it.for([
      { toleratedFailures: 0, replicas: 3 },
      { toleratedFailures: 1, replicas: 4 },
      { toleratedFailures: 2, replicas: 5 },
      { toleratedFailures: 3, replicas: 6 },
    ])('$toleratedFailures tolerated failures take $replicas replicas', (row) => {
      const { toleratedFailures, replicas } = row;
      const plan = planCapacity({ peakRate, saturationRate, targetUtilisation, toleratedFailures });
      expect(plan.replicas).toBe(replicas);
    });

    it('a quotient that is whole but for binary noise takes no extra replica', () => {
      // 171 / (100 x 0.57) is 3, and 3.0000000000000004 in binary fractions.
      const input = { peakRate: 171, saturationRate: 100, targetUtilisation: 0.57 };
      expect(planCapacity({ ...input, toleratedFailures: 0 }).replicas).toBe(3);
    });

    it('a peak below the safe rate takes one replica, and two if one may be lost', () => {
      const input = { peakRate: 120, saturationRate, targetUtilisation };
      expect(planCapacity({ ...input, toleratedFailures: 0 }).replicas).toBe(1);
      expect(planCapacity({ ...input, toleratedFailures: 1 }).replicas).toBe(2);
      // However small the peak, somebody has to answer it.
      expect(planCapacity({ ...input, peakRate: 1e-12, toleratedFailures: 0 }).replicas).toBe(1);
    });

    it('when the last replica is gone the load of those that are left is infinite', () => {
      expect(replicaLoad({ peakRate: 120, saturationRate, replicas: 1, failed: 1 })).toEqual({
        rate: Infinity,
        utilisation: Infinity,
      });
    });

    it('for every peak the plan holds its target, and one replica fewer does not', () =>
      expectLaw(
        {
          peakRate: fc.double({ min: 1, max: 1e6, noNaN: true }),
          targetUtilisation: fc.double({ min: 0.05, max: 1, noNaN: true }),
          toleratedFailures: fc.nat(5),
        },
        (input) => {
          const plan = planCapacity({ ...input, saturationRate });
          expect(plan.afterFailureUtilisation).toBeLessThanOrEqual(
            input.targetUtilisation * (1 + 1e-8),
          );
          if (plan.minReplicas === 1) return;
          const tighter = replicaLoad({
            peakRate: input.peakRate,
            saturationRate,
            replicas: plan.replicas - 1,
            failed: input.toleratedFailures,
          });
          expect(tighter.utilisation).toBeGreaterThan(input.targetUtilisation);
        },
      ));

    it.for([
      { field: 'peakRate', bad: [0, -1, NaN, Infinity] },
      { field: 'saturationRate', bad: [0, -400, NaN, Infinity] },
      { field: 'targetUtilisation', bad: [0, -0.5, 1.01, NaN] },
      { field: 'toleratedFailures', bad: [-1, 0.5, NaN, Infinity] },
    ])('planCapacity refuses a $field that makes no sense', ({ field, bad }) => {
      const good = { peakRate, saturationRate, targetUtilisation, toleratedFailures: 1 };
      for (const value of bad)
        expectRefusal(() => planCapacity({ ...good, [field]: value }), field);
    });

    it.for([
      { field: 'peakRate', bad: [0, -1, NaN, Infinity] },
      { field: 'saturationRate', bad: [0, -400, NaN, Infinity] },
      { field: 'replicas', bad: [0, -1, 2.5, NaN, Infinity] },
      { field: 'failed', bad: [-1, 0.5, 4, NaN, Infinity] },
    ])('replicaLoad refuses a $field that makes no sense', ({ field, bad }) => {
      const good = { peakRate, saturationRate, replicas: 3, failed: 1 };
      for (const value of bad) expectRefusal(() => replicaLoad({ ...good, [field]: value }), field);
    });
  });

  // Predict first: nobody looks, and after ten minutes somebody repairs it. How many requests went
  // to the dead replica? And how many if the balancer notices within 0.2 seconds?
  describe('Exercise 5.2: what a failure costs', lesson.exercise('5.2'), () => {
    const input = { peakRate, replicas: 3, dailyRequests, failuresPerMonth };

    it('with a health check a failure drops 34.26 requests, 97 in a month', () => {
      const bill = failureBill({ ...input, windowSeconds: PUBLISHED.probeWindowSeconds });

      expect(bill.perFailure).toBePublished('05.bill.probe.perFailure');
      expect(bill.perMonth).toBePublished('05.bill.probe.perMonth');
      expect(bill.availability * 100).toBePublished('05.bill.probe.availability');
    });

    it('with a repair by hand it drops 102,778, 289,834 in a month: 3000 times as many', () => {
      const bill = failureBill({ ...input, windowSeconds: PUBLISHED.recoverySeconds });
      const probed = failureBill({ ...input, windowSeconds: PUBLISHED.probeWindowSeconds });

      expect(bill.perFailure).toBePublished('05.bill.manual.perFailure');
      expect(bill.perMonth).toBePublished('05.bill.manual.perMonth');
      expect(bill.availability * 100).toBePublished('05.bill.manual.availability');
      expect(bill.perFailure / probed.perFailure).toBePublished('05.bill.ratio');
    });

    it.for([
      {
        row: 'S1',
        change: { replicas: 2 },
        probe: '51.39 / 145 / 99.99997',
        manual: '154167.00 / 434751 / 99.90208',
      },
      {
        row: 'S2',
        change: { replicas: 6 },
        probe: '17.13 / 48 / 99.99999',
        manual: '51389.00 / 144917 / 99.96736',
      },
      {
        row: 'S4',
        change: { probeSeconds: 1 },
        probe: '171.30 / 483 / 99.99989',
        manual: '102778.00 / 289834 / 99.93472',
      },
      {
        row: 'S5',
        change: { peakRate: 600 },
        probe: '40.00 / 113 / 99.99997',
        manual: '120000.00 / 338400 / 99.92378',
      },
      {
        row: 'S6',
        change: { peakRate: 1_000, replicas: 5, dailyRequests: 28_800_000 },
        probe: '40.00 / 113 / 99.99999',
        manual: '120000.00 / 338400 / 99.96083',
      },
      {
        row: 'S7',
        change: { replicas: 4 },
        probe: '25.69 / 72 / 99.99998',
        manual: '77083.50 / 217375 / 99.95104',
      },
      {
        row: 'S8',
        change: { failuresPerMonth: 0.94, probeSeconds: 5, manualSeconds: 1_800 },
        probe: '856.48 / 805 / 99.99982',
        manual: '308334.00 / 289834 / 99.93472',
      },
    ])('$row: other inputs, other bills', ({ change, probe, manual }) => {
      const { probeSeconds, manualSeconds, ...rest } = {
        probeSeconds: PUBLISHED.probeWindowSeconds,
        manualSeconds: PUBLISHED.recoverySeconds,
        ...change,
      };
      const print = (windowSeconds: number) => {
        const bill = failureBill({ ...input, ...rest, windowSeconds });
        return [
          rate(bill.perFailure),
          bill.perMonth.toFixed(0),
          (bill.availability * 100).toFixed(5),
        ].join(' / ');
      };

      expect(print(probeSeconds)).toBe(probe);
      expect(print(manualSeconds)).toBe(manual);
    });

    it('a window of nothing costs nothing, and one replica alone costs the whole peak', () => {
      expect(failureBill({ ...input, windowSeconds: 0 })).toEqual({
        perFailure: 0,
        perMonth: 0,
        availability: 1,
      });
      const alone = failureBill({ ...input, peakRate: 600, replicas: 1, windowSeconds: 10 });
      expect(alone.perFailure).toBe(600 * 10);
    });

    it('the 97 requests of a month are 96.61 before they are printed', () => {
      const bill = failureBill({ ...input, windowSeconds: PUBLISHED.probeWindowSeconds });
      expect(bill.perMonth.toFixed(2)).toBe('96.61');
      expect(bill.perMonth).toBeCloseTo(bill.perFailure * failuresPerMonth, 9);
    });

    it('availability never falls below 0', () => {
      const always = failureBill({ ...input, replicas: 1, windowSeconds: 1e9 });
      expect(always.availability).toBe(0);
    });

    it('the bill is proportional to the window and to nothing else that the balancer controls', () =>
      expectLaw(
        {
          windowSeconds: fc.integer({ min: 1, max: 600 }),
          replicas: fc.integer({ min: 1, max: 50 }),
        },
        ({ windowSeconds, replicas }) => {
          const once = failureBill({ ...input, replicas, windowSeconds });
          const twice = failureBill({ ...input, replicas, windowSeconds: 2 * windowSeconds });
          expect(twice.perFailure).toBeCloseTo(2 * once.perFailure, 6);
          expect(once.perFailure * replicas).toBeCloseTo(peakRate * windowSeconds, 6);
        },
      ));

    // Request-based and time-based availability are different rulers. The month below spends all
    // 28.2 minutes of the failure budget, and misses nothing that counts requests.
    it('the month that spends the whole failure budget still answers more than 99.9 % of requests', () => {
      const bill = failureBill({ ...input, windowSeconds: PUBLISHED.recoverySeconds });
      const minutesDown = (failuresPerMonth * PUBLISHED.recoverySeconds) / 60;

      expect(minutesDown).toBeCloseTo(K01.failureBudgetMinutes, 9);
      expect(bill.availability * 100).toBeGreaterThan(K01.availabilityTarget);
    });

    it.for([
      { field: 'peakRate', bad: [0, -1, NaN, Infinity] },
      { field: 'replicas', bad: [0, 2.5, NaN] },
      { field: 'dailyRequests', bad: [0, -1, NaN, Infinity] },
      { field: 'failuresPerMonth', bad: [-0.1, NaN, Infinity] },
      { field: 'windowSeconds', bad: [-1, NaN, Infinity] },
    ])('failureBill refuses a $field that makes no sense', ({ field, bad }) => {
      const good = { ...input, windowSeconds: 1 };
      for (const value of bad) expectRefusal(() => failureBill({ ...good, [field]: value }), field);
    });
  });

  describe('Exercise 5.3: how often to look', lesson.exercise('5.3'), () => {
    const input = { peakRate, replicas: 3, maxDroppedPerFailure: 34.26, maxProbeShare: 0.03 };

    it('34.26 drops and a share of 3 % leave 195 to 200 ms: Y3 is the last value that passes', () => {
      expect(chooseProbeInterval(input)).toEqual({ minMs: 195, maxMs: Y3_HEALTH_CHECK.intervalMs });
    });

    it.for([
      {
        peakRate: 70,
        replicas: 3,
        maxDroppedPerFailure: 2.03,
        maxProbeShare: 1,
        minMs: 43,
        maxMs: 87,
      },
      {
        peakRate: 80,
        replicas: 7,
        maxDroppedPerFailure: 4,
        maxProbeShare: 0.35,
        minMs: 250,
        maxMs: 350,
      },
    ])(
      'limits that are whole but for binary noise are those whole numbers: $minMs to $maxMs ms',
      (row) => {
        const { minMs, maxMs, ...asked } = row;
        expect(chooseProbeInterval(asked)).toEqual({ minMs, maxMs });
      },
    );

    it.for([
      { change: { maxProbeShare: 0.02 }, minMs: '292', maxMs: '200' },
      { change: { maxDroppedPerFailure: 20 }, minMs: '195', maxMs: '116' },
      { change: { maxDroppedPerFailure: 0 }, minMs: '195', maxMs: '0' },
    ])('where nothing fits, the error has both limits: $minMs and $maxMs ms', (row) => {
      const refused = () => chooseProbeInterval({ ...input, ...row.change });
      expectRefusal(refused, row.minMs, Error);
      expectRefusal(refused, row.maxMs, Error);
      // The input is a sensible one, so this is no RangeError.
      try {
        refused();
      } catch (error) {
        expect(error).not.toBeInstanceOf(RangeError);
      }
    });

    it('every interval it permits keeps both promises, and the next one on either side does not', () =>
      expectLaw(
        {
          peakRate: fc.integer({ min: 50, max: 5_000 }),
          replicas: fc.integer({ min: 1, max: 20 }),
          maxDroppedPerFailure: fc.integer({ min: 50, max: 100 }),
          maxProbeShare: fc.constantFrom(0.5, 0.75, 1),
        },
        (asked) => {
          const drops = (ms: number) => (asked.peakRate / asked.replicas) * (ms / 1_000);
          const probes = (ms: number) => (asked.replicas * 1_000) / ms / asked.peakRate;
          const { minMs, maxMs } = chooseProbeInterval(asked);
          expect(drops(maxMs)).toBeLessThanOrEqual(asked.maxDroppedPerFailure * (1 + 1e-8));
          expect(drops(maxMs + 1)).toBeGreaterThan(asked.maxDroppedPerFailure);
          expect(probes(minMs)).toBeLessThanOrEqual(asked.maxProbeShare * (1 + 1e-8));
          if (minMs > 1) expect(probes(minMs - 1)).toBeGreaterThan(asked.maxProbeShare);
        },
      ));

    it.for([
      { field: 'peakRate', bad: [0, -1, NaN, Infinity] },
      { field: 'replicas', bad: [0, 2.5, NaN] },
      { field: 'maxDroppedPerFailure', bad: [-1, NaN, Infinity] },
      { field: 'maxProbeShare', bad: [0, -0.1, 1.01, NaN] },
    ])('chooseProbeInterval refuses a $field that makes no sense', ({ field, bad }) => {
      for (const value of bad) {
        expectRefusal(() => chooseProbeInterval({ ...input, [field]: value }), field);
      }
    });
  });

  describe('Exercise 5.4: HealthTracker', lesson.exercise('5.4'), () => {
    const three = ['k1', 'k2', 'k3'];
    /** Records `+` as a success and `-` as a failure of k2, and says after each whether it is up. */
    const follow = (verdicts: string, options: { fall: number; rise: number }): string => {
      const tracker = new HealthTracker(three, options);
      return [...verdicts]
        .map((verdict) => {
          tracker.record('k2', verdict === '+');
          return tracker.up().includes('k2') ? 'u' : 'd';
        })
        .join('');
    };

    it('one failed probe takes k2 out, one success puts it back in its place', () => {
      const tracker = new HealthTracker(three, { fall: 1, rise: 1 });
      expect(tracker.up()).toEqual(['k1', 'k2', 'k3']);
      tracker.record('k2', false);
      expect(tracker.up()).toEqual(['k1', 'k3']);
      tracker.record('k2', true);
      expect(tracker.up()).toEqual(['k1', 'k2', 'k3']);
    });

    it.for([
      { verdicts: '--+---', options: { fall: 3, rise: 1 }, states: 'uuuuud' },
      { verdicts: '-++', options: { fall: 1, rise: 2 }, states: 'ddu' },
      { verdicts: '-+-++', options: { fall: 1, rise: 2 }, states: 'ddddu' },
      { verdicts: '---+--+++', options: { fall: 2, rise: 3 }, states: 'uddddd' + 'ddu' },
      { verdicts: '--++--', options: { fall: 2, rise: 2 }, states: 'uddu' + 'ud' },
    ])('only a row counts: $verdicts with $options gives $states', (row) => {
      expect(follow(row.verdicts, row.options)).toBe(row.states);
    });

    it('one replica says nothing about another', () => {
      const tracker = new HealthTracker(three, { fall: 2, rise: 1 });
      tracker.record('k1', false);
      tracker.record('k3', false);
      tracker.record('k2', true);
      expect(tracker.up()).toEqual(three);
      tracker.record('k3', false);
      expect(tracker.up()).toEqual(['k1', 'k2']);
    });

    it("what up() returns is the caller's own", () => {
      const tracker = new HealthTracker(three, { fall: 1, rise: 1 });
      tracker.up().length = 0;
      expect(tracker.up()).toEqual(three);
    });

    it('for every sequence of verdicts, whoever is down failed `fall` times in a row since it was up', () =>
      expectLaw(
        {
          verdicts: fc.array(fc.constantFrom('+', '-'), { maxLength: 40 }),
          fall: fc.integer({ min: 1, max: 4 }),
          rise: fc.integer({ min: 1, max: 4 }),
        },
        ({ verdicts, fall, rise }) => {
          const states = `u${follow(verdicts.join(''), { fall, rise })}`;
          for (let i = 1; i < states.length; i += 1) {
            if (states[i] === states[i - 1]) continue;
            const [row, wanted] = states[i] === 'd' ? [fall, '-'] : [rise, '+'];
            const last = verdicts.slice(Math.max(0, i - row), i);
            expect(last).toEqual(Array.from({ length: row }, () => wanted));
          }
        },
      ));

    it('it refuses an empty list, a name that comes twice, and thresholds below 1', () => {
      const good = { fall: 1, rise: 1 };
      expectRefusal(() => new HealthTracker([], good), 'replicas');
      expectRefusal(() => new HealthTracker(['k1', 'k1'], good), 'replicas');
      for (const bad of [0, -1, 1.5, NaN, Infinity]) {
        expectRefusal(() => new HealthTracker(three, { ...good, fall: bad }), 'fall');
        expectRefusal(() => new HealthTracker(three, { ...good, rise: bad }), 'rise');
      }
    });

    it('it refuses a verdict on a replica that it does not know', () => {
      const tracker = new HealthTracker(three, { fall: 1, rise: 1 });
      expectRefusal(() => tracker.record('k4', false), 'k4');
    });
  });

  // Predict first: k2 dies. How are 300 requests split once the balancer has noticed, and how many
  // fail when nobody looks?
  describe('Exercise 5.5: the balancer', lesson.exercise('5.5'), () => {
    const readStatus = async (port: number): Promise<string> => {
      using client = openClient(port);
      return (await client.send('/yonet/durum')).body;
    };
    /** The status body as published, where k1, k2 and k3 had the ports 8861, 8862 and 8863. */
    const onPublishedPorts = (body: string, replicas: readonly Replica[]): string =>
      replicas.reduce((text, { port }, i) => text.replace(`${port}`, `${8861 + i}`), body);

    it('with three replicas up 300 requests are split 100/100/100', async () => {
      await using replicas = await startReplicas(3);
      await using looking = await startBalancer({ replicas, health });

      const up = await sendTrackingRequests(looking.port, 300);

      expect(replicas.length).toBePublished('05.servers.replicas');
      expect(up.answered + up.failed).toBePublished('05.servers.requests');
      expect(up.connections).toBePublished('05.servers.concurrency');
      expect(up.answered).toBePublished('05.up.answered');
      expect(up.failed).toBePublished('05.up.failed');
      expect(up.tally.k1).toBePublished('05.up.k1');
      expect(up.tally.k2).toBePublished('05.up.k2');
      expect(up.tally.k3).toBePublished('05.up.k3');
    });

    it('k2 dies: who looks answers 300 of 300, who does not loses 100', async ({ annotate }) => {
      await using k1 = await startReplica('k1');
      await using k2 = await startReplica('k2');
      await using k3 = await startReplica('k3');
      const replicas = [k1, k2, k3];
      await using looking = await startBalancer({ replicas, health });
      await using blind = await startBalancer({ replicas, health: false });

      const up = await sendTrackingRequests(looking.port, 300);
      await k2.close();
      await looking.probeNow();
      const on = await sendTrackingRequests(looking.port, 300);
      const off = await sendTrackingRequests(blind.port, 300);

      await attachFigure(annotate, {
        title: 'Only who looks is rid of the dead replica',
        facts: [
          `all up: ${printTally(up.tally)}`,
          `k2 dead, probed: ${printTally(on.tally)}`,
          `k2 dead, nobody looks: ${printTally(off.tally)}, and every 502 was meant for k2`,
        ],
        option: () =>
          bars({
            unit: 'requests',
            categories: [
              `all up\npool ${looking.status().up.length + 1} of 3`,
              `k2 dead, probed\npool ${looking.status().up.length} of 3`,
              `k2 dead, blind\npool ${blind.status().up.length} of 3`,
            ],
            series: ['k1', 'k2', 'k3', 'kod 502'].map((outcome) => ({
              name: outcome,
              values: [up, on, off].map(({ tally }) => tally[outcome] ?? 0),
            })),
          }),
      });
      expect(on.answered).toBePublished('05.on.answered');
      expect(on.failed).toBePublished('05.on.failed');
      expect(on.tally.k1).toBePublished('05.on.k1');
      expect(on.tally.k3).toBePublished('05.on.k3');
      expect(off.answered).toBePublished('05.off.answered');
      expect(off.failed).toBePublished('05.off.failed');
      expect(off.tally.k1).toBePublished('05.off.k1');
      expect(off.tally.k3).toBePublished('05.off.k3');
      expect(off.tally['kod 502']).toBePublished('05.off.status502');
      const lostShare = `1/${(off.answered + off.failed) / off.failed}`;
      expect(lostShare).toBePublished('05.off.failedShare');

      expect(looking.status().unreachable).toBePublished('05.pool.on.unreachable');
      expect(looking.status().up.join()).toBePublished('05.pool.on.up');
      expect(onPublishedPorts(await readStatus(looking.port), replicas)).toBePublished(
        '05.pool.on.body',
      );
      expect(blind.status().unreachable).toBePublished('05.pool.off.unreachable');
      expect(blind.status().up.join()).toBePublished('05.pool.off.up');
      expect(onPublishedPorts(await readStatus(blind.port), replicas)).toBePublished(
        '05.pool.off.body',
      );
    });

    it('a request for a dead replica is a 502, one for an empty pool a 503', async () => {
      const k1 = await startReplica('k1');
      await k1.close();
      await using looking = await startBalancer({ replicas: [k1], health });
      using client = openClient(looking.port);

      const unnoticed = await client.send('/takip?no=G0');
      await looking.probeNow();
      const noticed = await client.send('/takip?no=G1');

      expect(unnoticed.status).toBePublished('05.off.statusCode');
      expect(unnoticed.body).toBe('kopyaya ulasilamadi');
      expect(noticed.status).toBePublished('05.status.emptyPool');
      expect(noticed.body).toBe('havuz bos');
      expect(looking.status().unreachable, 'nothing was sent for the second one').toBe(1);
    });

    it.for([
      {
        row: 'V1',
        n: 4,
        requests: 300,
        killed: ['k2'],
        up: 'k1=75 k2=75 k3=75 k4=75',
        on: 'k1=100 k3=100 k4=100',
        off: 'k1=75 k3=75 k4=75 kod 502=75',
        rec: 'k1=75 k2=75 k3=75 k4=75',
      },
      {
        row: 'V2',
        n: 5,
        requests: 100,
        killed: ['k1', 'k4'],
        up: 'k1=20 k2=20 k3=20 k4=20 k5=20',
        on: 'k2=33 k3=34 k5=33',
        off: 'k2=20 k3=20 k5=20 kod 502=40',
        rec: 'k1=20 k2=20 k3=20 k4=20 k5=20',
      },
      {
        row: 'V3',
        n: 3,
        requests: 100,
        killed: ['k2'],
        up: 'k1=34 k2=33 k3=33',
        on: 'k1=50 k3=50',
        off: 'k1=34 k3=33 kod 502=33',
        rec: 'k1=33 k2=33 k3=34',
      },
      {
        row: 'V4',
        n: 2,
        requests: 7,
        killed: ['k1'],
        up: 'k1=4 k2=3',
        on: 'k2=7',
        off: 'k2=3 kod 502=4',
        rec: 'k1=4 k2=3',
      },
      {
        row: 'V5',
        n: 3,
        requests: 10,
        killed: ['k1', 'k2', 'k3'],
        up: 'k1=4 k2=3 k3=3',
        on: 'kod 503=10',
        off: 'kod 502=10',
        rec: 'k1=3 k2=4 k3=3',
      },
      {
        row: 'V6',
        n: 3,
        requests: 300,
        killed: ['k2'],
        up: 'k1=100 k2=100 k3=100',
        on: 'k1=150 k3=150',
        off: 'k1=100 k3=100 kod 502=100',
        rec: 'k1=100 k2=100 k3=100',
      },
    ])(
      '$row: $n replicas, $requests requests, killed $killed: $on, and all is well after the restart',
      async (wanted) => {
        const seen = await withReusedPorts(async () => {
          await using running = await startReplicas(wanted.n);
          const replicas = [...running];
          const killed = replicas.filter(({ name }) => wanted.killed.includes(name));
          await using looking = await startBalancer({ replicas, health });
          await using blind = await startBalancer({ replicas, health: false });
          const ask = async (port: number) =>
            printTally((await sendTrackingRequests(port, wanted.requests)).tally);

          const up = await ask(looking.port);
          for (const replica of killed) await replica.close();
          await looking.probeNow();
          const on = await ask(looking.port);
          const off = await ask(blind.port);
          for (const { name, port } of killed) running.push(await startReplica(name, { port }));
          await looking.probeNow();
          const rec = await ask(looking.port);
          return { up, on, off, rec };
        });

        const { up, on, off, rec } = wanted;
        expect(seen).toEqual({ up, on, off, rec });
      },
    );

    it('the counter moves once for each request, so totals do not depend on concurrency', async () => {
      await using replicas = await startReplicas(3);
      await using balancer = await startBalancer({ replicas, health: false });

      const { tally } = await sendTrackingRequests(balancer.port, 150, { concurrency: 50 });

      expect(printTally(tally)).toBe('k1=50 k2=50 k3=50');
    });

    it('method, target, fields and body reach the replica, and its answer the client', async () => {
      const seen: string[] = [];
      await using replica = await startHttpServer(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        seen.push(`${request.method} ${request.url} ${request.headers['x-iz']} ${body}`);
        response.writeHead(201, { 'x-kopya': 'k1', 'set-cookie': ['a=1', 'b=2'] }).end('tamam');
      });
      const replicas = [{ name: 'k1', port: replica.port }];
      await using balancer = await startBalancer({ replicas, health: false });
      using client = openClient(balancer.port);

      const target = '/takip?no=G%C3%B6&no=2&bos=';
      const answer = await client.send(target, {
        method: 'POST',
        headers: { 'x-iz': '7' },
        body: 'ağırlık',
      });

      expect(seen).toEqual([`POST ${target} 7 ağırlık`]);
      expect(answer.status).toBe(201);
      expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
      expect(answer.body).toBe('tamam');
    });

    it('the status page moves no counter, whatever the method', async () => {
      await using k1 = await startReplica('k1');
      await using k2 = await startReplica('k2');
      await using balancer = await startBalancer({ replicas: [k1, k2], health });
      using client = openClient(balancer.port);

      const first = await client.send('/takip?no=G0');
      const status = await client.send('/yonet/durum', { method: 'POST' });
      const second = await client.send('/takip?no=G1');

      expect(status.headers['content-type']).toBe('application/json');
      expect(status.body).toBe(`{"ulasilamayan":0,"ayakta":[${k1.port},${k2.port}]}`);
      expect([first.headers['x-kopya'], second.headers['x-kopya']]).toEqual(['k1', 'k2']);
      // Only the exact target is the balancer's own. Anything else belongs to the replicas.
      const other = await client.send('/yonet/durum?tam=1');
      expect(other.headers['x-kopya']).toBe('k1');
    });

    it('user traffic never marks a replica down: only a probe does', async () => {
      await using k1 = await startReplica('k1');
      const k2 = await startReplica('k2');
      await k2.close();
      await using balancer = await startBalancer({ replicas: [k1, k2], health });

      await sendTrackingRequests(balancer.port, 6);
      expect(balancer.status().up).toEqual(['k1', 'k2']);
      expect(balancer.status().unreachable).toBe(3);
      await balancer.probeNow();
      expect(balancer.status().up).toEqual(['k1']);
      expect(balancer.status().unreachable, 'a failed probe is no attempt of a user').toBe(3);
    });

    it('a replica that accepts and never answers is out after one round of probes', async () => {
      await using hung = await startTcpServer((socket) => socket.resume());
      const replicas = [{ name: 'k1', port: hung.port }];
      await using balancer = await startBalancer({
        replicas,
        health: { ...health, timeoutMs: Y3_HEALTH_CHECK.timeoutMs },
      });

      await balancer.probeNow();

      expect(balancer.status().up).toEqual([]);
    });

    it('a replica whose health check answers 500 is out, although its port is open', async () => {
      await using k1 = await startReplica('k1');
      await using sick = await startHttpServer((_request, response) =>
        response.writeHead(500).end(),
      );
      await using k3 = await startReplica('k3');
      const replicas = [k1, { name: 'k2', port: sick.port }, k3];
      await using balancer = await startBalancer({ replicas, health });

      await balancer.probeNow();
      const { tally } = await sendTrackingRequests(balancer.port, 300);

      expect(balancer.status().up).toEqual(['k1', 'k3']);
      expect(printTally(tally)).toBe('k1=150 k3=150');
    });

    it('the thresholds are those of the health check: two failures, two successes', async () => {
      let well = true;
      await using replica = await startHttpServer((_request, response) =>
        response.writeHead(well ? 200 : 503).end(),
      );
      await using balancer = await startBalancer({
        replicas: [{ name: 'k1', port: replica.port }],
        health: { ...health, fall: 2, rise: 2 },
      });
      const states: number[] = [];
      for (const next of [false, false, true, true]) {
        well = next;
        await balancer.probeNow();
        states.push(balancer.status().up.length);
      }
      expect(states).toEqual([1, 0, 0, 1]);
    });

    it('with an interval the balancer probes by itself', async () => {
      const asked: string[] = [];
      let secondRound = (): void => {};
      const probedTwice = new Promise<void>((resolve) => {
        secondRound = resolve;
      });
      await using replica = await startHttpServer((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        if (asked.length === 2) secondRound();
        response.end('ayakta');
      });
      const replicas = [{ name: 'k1', port: replica.port }];
      await using balancer = await startBalancer({
        replicas,
        health: { ...health, intervalMs: 20 },
      });

      await probedTwice;
      await balancer.close();

      expect(asked.slice(0, 2)).toEqual(['GET /saglik', 'GET /saglik']);
    });

    it('without a health check a probe resolves and changes nothing', async () => {
      const k1 = await startReplica('k1');
      await k1.close();
      await using balancer = await startBalancer({ replicas: [k1], health: false });
      await balancer.probeNow();
      expect(balancer.status().up).toEqual(['k1']);
    });

    it('it refuses an empty list, a name that comes twice, and thresholds below 1', async () => {
      const k1 = { name: 'k1', port: 1 };
      const good = { replicas: [k1], health };
      await expectRefusal(() => startBalancer({ ...good, replicas: [] }), 'replicas');
      await expectRefusal(() => startBalancer({ ...good, replicas: [k1, k1] }), 'replicas');
      for (const bad of [0, 1.5, NaN]) {
        const change = (field: 'fall' | 'rise') => ({ ...health, [field]: bad });
        await expectRefusal(() => startBalancer({ ...good, health: change('fall') }), 'fall');
        await expectRefusal(() => startBalancer({ ...good, health: change('rise') }), 'rise');
      }
    });

    it('replicas take turns in the order of the list', async () => {
      await using k1 = await startReplica('k1');
      await using k2 = await startReplica('k2');
      await using k3 = await startReplica('k3');
      await using balancer = await startBalancer({ replicas: [k3, k1, k2], health: false });
      using client = openClient(balancer.port);

      const order: unknown[] = [];
      for (let number = 0; number < 6; number += 1) {
        order.push((await client.send('/takip')).headers['x-kopya']);
      }

      expect(order).toEqual(['k3', 'k1', 'k2', 'k3', 'k1', 'k2']);
    });

    it('a round asks all replicas at once, those that are out included', async () => {
      // Nobody answers a probe before everybody has been asked.
      let round = { asked: 0, all: gate() };
      const startPatient = () =>
        startHttpServer(async (_request, response) => {
          const { all } = round;
          round.asked += 1;
          if (round.asked === 3) all.open();
          await all.opened;
          response.writeHead(503).end();
        });
      await using a = await startPatient();
      await using b = await startPatient();
      await using c = await startPatient();
      const replicas = [a, b, c].map(({ port }, index) => ({ name: `k${index + 1}`, port }));
      await using balancer = disposable(await startBalancer({ replicas, health }));

      await within(balancer.probeNow(), 'a first round that asks all three at once');
      expect(balancer.status().up).toEqual([]);
      round = { asked: 0, all: gate() };
      await within(balancer.probeNow(), 'a second round, which asks all three again');
      expect(round.asked).toBe(3);
    });

    it('before the first interval is over nobody has been probed', async () => {
      let probes = 0;
      await using replica = await startHttpServer((request, response) => {
        if (request.url === '/saglik') probes += 1;
        response.writeHead(500).end();
      });
      const replicas = [{ name: 'k1', port: replica.port }];
      await using balancer = await startBalancer({
        replicas,
        health: { ...health, intervalMs: 3_600_000 },
      });

      await sendTrackingRequests(balancer.port, 3);

      expect(probes, 'probes').toBe(0);
      expect(balancer.status().up).toEqual(['k1']);
    });

    it('close() frees the port and probes no more', () =>
      withReusedPorts(async () => {
        let requests = 0;
        await using replica = await startHttpServer((_request, response) => {
          requests += 1;
          response.end();
        });
        const replicas = [{ name: 'k1', port: replica.port }];
        await using balancer = disposable(
          await startBalancer({ replicas, health: { ...health, intervalMs: 1 } }),
        );
        await eventually(
          () => requests,
          (count) => count > 0,
        );
        expect(requests, 'probes, one a millisecond').toBeGreaterThan(0);

        await within(balancer.close(), 'close() to resolve');

        // While a hundred other requests pass, a timer that is still running would run many times.
        using client = openClient(replica.port);
        await client.send('/takip');
        const before = requests;
        for (let number = 0; number < 100; number += 1) await client.send('/takip');
        expect(requests - before, 'requests at the replica, of which 100 are ours').toBe(100);
        await using another = await startBalancer({ replicas, health: false, port: balancer.port });
        expect(another.port).toBe(balancer.port);
      }));

    it('a probe that is still running when the balancer closes changes nothing', async () => {
      const asked = gate();
      await using replica = await startTcpServer((socket) =>
        socket.once('data', () => asked.open()),
      );
      const replicas = [{ name: 'k1', port: replica.port }];
      await using balancer = disposable(await startBalancer({ replicas, health }));

      const round = balancer.probeNow();
      await within(asked.opened, 'the probe to reach the replica');
      await within(balancer.close(), 'close() to resolve while a probe is running');
      await within(round, 'probeNow() to resolve once the balancer has closed');

      expect(balancer.status().up).toEqual(['k1']);
    });

    it('what it refuses, it refuses before it listens', async () => {
      // The port is taken. Whoever listens first is refused for that, and not for the real reason.
      await using taken = await startTcpServer(() => {});
      const k1 = { name: 'k1', port: taken.port };
      const good: BalancerOptions = { replicas: [k1], health, port: taken.port };

      await expectRefusal(() => startBalancer({ ...good, replicas: [k1, k1] }), 'replicas');
      await expectRefusal(() => startBalancer({ ...good, health: { ...health, fall: 0 } }), 'fall');
    });
  });

  /** The balancer as the tests see it that lessons 5, 7 and 9 share. */
  const proxy: ProxyKind = {
    badGateway: { body: 'kopyaya ulasilamadi' },
    async start(replicas, options) {
      const balancer = await startBalancer({ replicas, health: false, ...options });
      const counters = () => balancer.status();
      return disposable(Object.assign(balancer, { counters, up: () => balancer.status().up }));
    },
  };

  // A balancer is two connections with a program between them. What belongs to one of them must not
  // leak into the other.
  describe('Exercise 5.6: header hygiene', lesson.exercise('5.6'), () => {
    for (const { title, timeoutMs, run } of proxyExtras('X1', 'X2', 'X3', 'X10')) {
      it(title, { timeout: timeoutMs }, () => run(proxy));
    }

    it('X15: with an admin port the status page is there alone, and users cannot read the pool', async () => {
      await using k1 = await startReplica('k1');
      await using balancer = await startBalancer({ replicas: [k1], health: false, adminPort: 0 });
      using user = openClient(balancer.port);
      using admin = openClient(balancer.adminPort ?? 0);

      const asUser = await user.send('/yonet/durum');
      const status = await admin.send('/yonet/durum');
      const other = await admin.send('/takip?no=G0');

      expect(asUser.headers['x-kopya'], 'forwarded like any other path').toBe('k1');
      expect(status.status).toBe(200);
      expect(status.body).toBe(`{"ulasilamayan":0,"ayakta":[${k1.port}]}`);
      expect(other.status, 'the admin port serves nothing else').toBe(404);
    });
  });

  describe('Exercise 5.7: streams and failures', lesson.exercise('5.7'), () => {
    for (const { title, timeoutMs, run } of proxyExtras(
      'X4',
      'X5',
      'X6',
      'X7',
      'X8',
      'X9',
      'X16',
    )) {
      it(title, { timeout: timeoutMs }, () => run(proxy));
    }

    it('close() without drain cuts the response that is running', async () => {
      const left = gate();
      await using replica = await startHttpServer((_request, response) => {
        response.on('close', () => left.open());
        response.write('first,'); // and nothing more
      });
      const replicas = [{ name: 'k1', port: replica.port }];
      await using balancer = disposable(await startBalancer({ replicas, health: false }));
      const request = startRequest({ host: '127.0.0.1', port: balancer.port, agent: false }).end();
      const outcome = new Promise<string>((resolve) => {
        request.on('error', ({ code }: NodeJS.ErrnoException) => resolve(`${code}`));
        request.on('response', (incoming) => {
          incoming.on('error', ({ code }: NodeJS.ErrnoException) => resolve(`${code}`));
          incoming.on('end', () => resolve('a clean end')).resume();
        });
      });
      await within(once(request, 'response'), 'the response headers');

      await within(balancer.close(), 'close() to resolve');

      expect(await within(outcome, 'the client to be cut off')).toBe('ECONNRESET');
      await within(left.opened, 'the replica to be left');
    });
  });

  // Predict first: k2 refuses connections and nobody probes. With retries, how many of 300 requests
  // fail, and how many attempts does that take?
  describe('Exercise 5.8: retries', lesson.exercise('5.8'), () => {
    for (const { title, timeoutMs, run } of proxyExtras('X11')) {
      it(title, { timeout: timeoutMs }, () => run(proxy));
    }

    it('without being asked to, the balancer repeats nothing: every second request is a 502', async () => {
      await using k1 = await startReplica('k1');
      const k2 = await startReplica('k2');
      await k2.close();
      await using balancer = await startBalancer({ replicas: [k1, k2], health: false });

      const { tally } = await sendTrackingRequests(balancer.port, 10);

      expect(printTally(tally)).toBe('k1=5 kod 502=5');
      expect(balancer.status().attempts).toBe(10);
    });

    it('X12: an empty pool is a 503 that says when to come back, and the rotation stands still', async () => {
      let well = true;
      const start = (name: string) =>
        startHttpServer((_request, response) =>
          response.writeHead(well ? 200 : 500, { 'x-kopya': name }).end(),
        );
      await using k1 = await start('k1');
      await using k2 = await start('k2');
      const replicas = [
        { name: 'k1', port: k1.port },
        { name: 'k2', port: k2.port },
      ];
      await using balancer = await startBalancer({ replicas, health });
      using client = openClient(balancer.port);

      expect((await client.send('/')).headers['x-kopya']).toBe('k1');
      well = false;
      await balancer.probeNow();
      const connections = k1.connections + k2.connections;
      const refused = await client.send('/');
      expect(refused.status).toBe(503);
      expect(refused.body).toBe('havuz bos');
      expect(refused.headers['retry-after'], 'seconds').toBe('1');
      expect(k1.connections + k2.connections, 'connections to replicas').toBe(connections);
      expect(balancer.status().attempts, 'attempts').toBe(1);

      well = true;
      await balancer.probeNow();
      expect((await client.send('/')).headers['x-kopya'], "k2's turn, as before").toBe('k2');
    });

    it('a retry looks at the pool of its own moment', async () => {
      const asked = gate();
      const fail = gate();
      await using k1 = await startTcpServer((socket) =>
        socket.once('data', async (bytes) => {
          if (bytes.includes('/saglik')) {
            socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
            return;
          }
          asked.open();
          await fail.opened;
          socket.resetAndDestroy();
        }),
      );
      await using k2 = await startReplica('k2');
      await using k3 = await startReplica('k3');
      await using balancer = disposable(
        await startBalancer({
          replicas: [{ name: 'k1', port: k1.port }, k2, k3],
          health,
          retry: true,
        }),
      );
      using client = openClient(balancer.port);

      const answer = client.send('/takip');
      answer.catch(() => {}); // awaited below
      await within(asked.opened, 'the request to reach k1');
      await k2.close();
      await balancer.probeNow();
      fail.open();

      const { headers } = await within(answer, 'the answer');
      expect(headers['x-kopya'], 'k2 left the pool while k1 was being asked').toBe('k3');
      expect(balancer.status()).toMatchObject({ attempts: 2, unreachable: 1 });
    });
  });

  // The bill of exercise 5.2 took one interval as the window. That is the worst case of a crash.
  // Predict first: what is the average? And what if the replica accepts and never answers?
  describe('Exercise 5.9: the detection window', lesson.exercise('5.9'), () => {
    const { intervalMs, timeoutMs, fall } = Y3_HEALTH_CHECK;
    const published = { intervalMs, timeoutMs, fall };
    const dropped = (windowMs: number) => rate((peakRate / 3) * (windowMs / 1_000));

    it('34.26 is what the worst crash drops; the average one drops 17.13, the worst hang 51.39', () => {
      const crash = detectionWindow({ ...published, failure: 'crash' });
      const hang = detectionWindow({ ...published, failure: 'hang' });

      expect(dropped(crash.expectedMs)).toBe('17.13');
      expect(dropped(crash.worstMs)).toBe('34.26');
      expect(dropped(hang.expectedMs)).toBe('34.26'); // half an interval, and the time-out
      expect(dropped(hang.worstMs)).toBe('51.39');
    });

    it.for([
      { failure: 'crash', intervalMs: 200, timeoutMs: 100, fall: 3, expectedMs: 500, worstMs: 600 },
      { failure: 'hang', intervalMs: 200, timeoutMs: 100, fall: 3, expectedMs: 600, worstMs: 700 },
      {
        failure: 'crash',
        intervalMs: 1_000,
        timeoutMs: 50,
        fall: 1,
        expectedMs: 500,
        worstMs: 1_000,
      },
      {
        failure: 'hang',
        intervalMs: 1_000,
        timeoutMs: 50,
        fall: 2,
        expectedMs: 1_550,
        worstMs: 2_050,
      },
    ] as const)(
      'a $failure at $intervalMs ms, time-out $timeoutMs ms, threshold $fall: $expectedMs and $worstMs ms',
      (row) => {
        const { expectedMs, worstMs, ...input } = row;
        expect(detectionWindow(input)).toEqual({ expectedMs, worstMs });
      },
    );

    /**
     * Lets k2 fail at some moment of a running health check and returns how many milliseconds
     * later the pool went without it.
     */
    async function measure(
      failure: Failure,
      failsAtMs: number,
      schedule: { intervalMs: number; timeoutMs: number; fall: number },
    ): Promise<number> {
      const clock = new ManualClock();
      const pools: { at: number; up: string }[] = [];
      const prober = startProbing({
        ...schedule,
        replicas: ['k1', 'k2', 'k3'],
        rise: 1,
        clock,
        probe: (replica) => {
          if (replica !== 'k2' || clock.now() < failsAtMs) return Promise.resolve(true);
          return failure === 'crash'
            ? Promise.reject(new Error('connection refused'))
            : new Promise(() => {});
        },
        onChange: (up) => pools.push({ at: clock.now(), up: up.join() }),
      });
      await clock.advance(failsAtMs + (schedule.fall + 2) * schedule.intervalMs);
      prober.stop();
      expect(pools.map(({ up }) => up)).toEqual(['k1,k3']);
      return (pools[0]?.at ?? NaN) - failsAtMs;
    }

    it.for([
      { failure: 'crash', fall: 1 },
      { failure: 'hang', fall: 1 },
      { failure: 'crash', fall: 3 },
      { failure: 'hang', fall: 2 },
    ] as const)(
      'a running health check agrees with the formula: a $failure, threshold $fall',
      async (row) => {
        const schedule = { intervalMs, timeoutMs, fall: row.fall };
        const { expectedMs, worstMs } = detectionWindow({ ...schedule, failure: row.failure });
        // Twenty moments, spread evenly over the third interval: 405, 415, ... 595 ms.
        const moments = Array.from({ length: 20 }, (_, i) => 2 * intervalMs + 5 + 10 * i);

        const windows: number[] = [];
        for (const moment of moments) windows.push(await measure(row.failure, moment, schedule));

        const sum = windows.reduce((total, window) => total + window, 0);
        expect(sum / windows.length).toBe(expectedMs);
        expect(Math.max(...windows)).toBe(worstMs - 5);
      },
    );

    it('the first round comes one interval after the start, and each asks every replica', async () => {
      const clock = new ManualClock();
      const asked: string[] = [];
      const prober = startProbing({
        ...published,
        replicas: ['k1', 'k2'],
        rise: 1,
        clock,
        probe: async (replica) => {
          asked.push(`${replica}@${clock.now()}`);
          return replica === 'k1';
        },
      });

      await clock.advance(intervalMs - 1);
      expect(asked).toEqual([]);
      await clock.advance(1 + 2 * intervalMs);
      prober.stop();

      // k2 is down after the first round. It goes on being asked: how else would it come back?
      expect(asked).toEqual(['k1@200', 'k2@200', 'k1@400', 'k2@400', 'k1@600', 'k2@600']);
      expect(prober.up()).toEqual(['k1']);
    });

    it('a verdict that comes after its time-out counts for nothing', async () => {
      const clock = new ManualClock();
      const answers: ((ok: boolean) => void)[] = [];
      const prober = startProbing({
        ...published,
        replicas: ['k1', 'k2'],
        rise: 1,
        clock,
        probe: (replica) =>
          replica === 'k1'
            ? Promise.resolve(true)
            : new Promise((resolve) => answers.push(resolve)),
      });

      await clock.advance(intervalMs + timeoutMs);
      expect(prober.up()).toEqual(['k1']);
      answers[0]?.(true);
      await clock.advance(1);
      expect(prober.up()).toEqual(['k1']);
      prober.stop();
    });

    it('an answer in time clears its deadline, and one success brings a replica back', async () => {
      const clock = new ManualClock();
      let healthy = false;
      const prober = startProbing({
        ...published,
        replicas: ['k1'],
        rise: 1,
        clock,
        probe: async () => healthy,
      });

      await clock.advance(intervalMs);
      expect(prober.up()).toEqual([]);
      healthy = true;
      await clock.advance(intervalMs + timeoutMs);
      expect(prober.up()).toEqual(['k1']);
      prober.stop();
    });

    it('a probe that throws has failed, and the health check goes on', async () => {
      const clock = new ManualClock();
      let rounds = 0;
      const prober = startProbing({
        ...published,
        replicas: ['k1'],
        rise: 1,
        clock,
        probe: () => {
          rounds += 1;
          if (rounds === 1) throw new Error('no socket left');
          return Promise.resolve(true);
        },
      });

      await clock.advance(intervalMs);
      expect(prober.up()).toEqual([]);
      await clock.advance(intervalMs);
      expect(prober.up()).toEqual(['k1']);
      prober.stop();
    });

    it('after stop() no timer is left, and a late verdict changes nothing', async () => {
      const clock = new ManualClock();
      const changes: string[] = [];
      let answer = (_ok: boolean): void => {};
      const prober = startProbing({
        ...published,
        replicas: ['k1'],
        rise: 1,
        clock,
        probe: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
        onChange: (up) => changes.push(up.join()),
      });

      await clock.advance(intervalMs);
      prober.stop();
      expect(clock.pending, 'timers that are still set').toBe(0);
      answer(false);
      await clock.advance(10 * intervalMs);
      expect(changes).toEqual([]);
      expect(prober.up()).toEqual(['k1']);
    });

    it.for([
      { field: 'intervalMs', bad: [0, -200, NaN, Infinity] },
      { field: 'timeoutMs', bad: [0, -1, 201, NaN, Infinity] },
      { field: 'fall', bad: [0, 1.5, NaN, Infinity] },
    ])('both refuse a $field that makes no sense', ({ field, bad }) => {
      const clock = new ManualClock();
      const probing = { ...published, replicas: ['k1'], rise: 1, clock, probe: async () => true };
      for (const value of bad) {
        const changed = { ...published, failure: 'crash', [field]: value } as const;
        expectRefusal(() => detectionWindow(changed), field);
        expectRefusal(() => startProbing({ ...probing, [field]: value }), field);
      }
    });
  });
});
