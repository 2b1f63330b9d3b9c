// Lesson 1: DNS routing
//
// A parcel service runs in three regions behind one name. Whoever asks for the name gets the address
// of one region, and remembers it for as long as the answer says. Which region should it be, and for
// how long may it be remembered? From the introductory course (K01) you know how many requests arrive
// and how much outage a month allows. You leave with three rules for choosing a region, with what
// each of them costs, with the length of a failover before anything has failed, and with a name server
// that resolvers, real ones too, ask over UDP.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
//
// These tests take more than a second together: in seven of them forty resolvers ask a server over
// UDP, 4,350 times in all, and others run the model for every second in which a region could fail.
import { execFile } from 'node:child_process';
import { promises as dns } from 'node:dns';
import { promisify } from 'node:util';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { describe, expect, it } from 'vitest';
import * as assumptions from '#fixtures/assumptions.ts';
import {
  K01,
  outageBudgetMinutes,
  T1_TTL_SECONDS,
  T2_REGIONS,
  T3_TARGET_SHARES,
  T4_RESOLVERS,
  T5_DETECTION_SECONDS,
} from '#fixtures/assumptions.ts';
import { FAILOVER_ROWS } from '#fixtures/failover.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { attachFigure, lines } from '#helpers/lesson/figure.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { within } from '#helpers/lesson/waiting.ts';
import {
  chooseTtl,
  createPolicy,
  failoverCost,
  predictFailover,
  shareDeviation,
  splitRequests,
  startNameServer,
} from './exercise.ts';
import { type HostilePacket, lies, noise, pointerLoops, truncations } from './hostile-packets.ts';
import {
  type ClientSubnet,
  MAX_PLAIN_BYTES,
  MAX_TTL_SECONDS,
  NAME_SERVICE,
  type NameServerOptions,
  RCODE,
  SubnetTable,
} from './name-service.ts';
import {
  BASELINE_ASSUMPTIONS,
  DURATION_SECONDS,
  FAILURE,
  GROUPS,
  type PolicyKind,
  REQUEST_RATE,
  RESOLVER_RATES,
  type Region,
  type RoutingPolicy,
  type RoutingTables,
  TABLES,
  TTLS_SECONDS,
} from './routing.ts';
import {
  groupOf,
  PHASE_STRIDE_SECONDS,
  type RunOptions,
  type RunResult,
  simulate,
} from './simulation.ts';
import { openStubResolver, runOverUdp } from './stub-resolver.ts';
import {
  exchange,
  openUdpClient,
  packQuery,
  provoke,
  readResponse,
  startResponder,
  subnetOf,
} from './udp-client.ts';

const lesson = openLesson(import.meta.url);

/** No region is marked down. */
const allUp = (_region: Region) => false;
/** These regions are marked down. */
const down =
  (...regions: Region[]) =>
  (region: Region) =>
    regions.includes(region);

/** Everybody goes to b34 until it is marked down, and then to b06: a pair that takes over. */
const pair: RoutingPolicy = {
  answer: ({ isMarkedDown }) => (isMarkedDown('b34') ? 'b06' : 'b34'),
};

/** requests/s of the resolvers that the geographic table sends to b34; the others only ask. */
const boundToB34 = RESOLVER_RATES.forty.map((rate, resolver) =>
  TABLES.geographic[groupOf(resolver)] === 'b34' ? rate : 0,
);

describe('Lesson 1: DNS routing', () => {
  it('40 resolvers ask once in 300 s each, whatever they are told: 480 queries in an hour', () => {
    const run = simulate(pair, {
      ttlSeconds: T1_TTL_SECONDS,
      durationSeconds: DURATION_SECONDS.policies,
      resolverRates: RESOLVER_RATES.forty,
    });

    expect(run.upstreamQueries).toBe((T4_RESOLVERS.count * 3_600) / 300);
    expect(run.accepted).toBe(514 * 3_600);
    expect(RESOLVER_RATES.forty.length).toBePublished('01.resolverCount');
    expect(T4_RESOLVERS.count).toBe(RESOLVER_RATES.forty.length);
    expect(T1_TTL_SECONDS).toBePublished('01.ttlBase');
    expect(T1_TTL_SECONDS).toBePublished('01.run.policiesTtl');
    expect(DURATION_SECONDS.policies).toBePublished('01.run.policiesDuration');
    expect(REQUEST_RATE).toBePublished('01.requestRate');
    expect(sum(RESOLVER_RATES.forty)).toBe(REQUEST_RATE);
    expect(PHASE_STRIDE_SECONDS).toBePublished('01.phaseStride');
  });

  it('a month may be down for 43.2 minutes, and a takeover within 3 s drops 1,541.67 requests', () => {
    expect(K01.peakReads + K01.peakWrites).toBePublished('01.baseline.peakRateAtEdge');
    expect(K01.availabilityTarget).toBePublished('01.baseline.availabilityTarget');
    expect(outageBudgetMinutes() * 60).toBeCloseTo(0.001 * 30 * 24 * 3_600, 6);
    expect(outageBudgetMinutes()).toBePublished('01.baseline.monthlyOutageBudget');
    expect(K01.activePassive.windowSeconds).toBePublished('01.baseline.activePassiveWindow');
    expect(K01.activePassive.windowSeconds * K01.peakRate).toBePublished(
      '01.baseline.activePassiveDropped',
    );
  });

  it('the codes T1 to T14 belong to this course and leave V1 to V13 of the baseline alone', () => {
    const codes = Object.keys(assumptions).map((name) => name.split('_')[0] ?? '');
    const baseline = Array.from({ length: BASELINE_ASSUMPTIONS }, (_, index) => `V${index + 1}`);

    expect(codes.filter((code) => /^T\d+$/.test(code))).toHaveLength(14);
    expect(codes.filter((code) => baseline.includes(code))).toEqual([]);
    expect(`${baseline[0]}-${baseline.at(-1)}`).toBePublished('01.baseline.assumptionCodes');
  });

  it('the next lesson begins with the 41.67 reads a second that pass a cache', () => {
    expect(K01.hitRatio * 100).toBePublished('01.baseline.hitRatioPercent');
    expect(K01.peakReads * (1 - K01.hitRatio)).toBePublished('01.baseline.readsBehindCache');
  });

  it('on paper the hand-written table sends a request 879/514 units far, the nearest region is 602/514 away', () => {
    const perGroup = GROUPS.map((group) =>
      sum(RESOLVER_RATES.forty.filter((_, resolver) => groupOf(resolver) === group)),
    );
    const units = (choose: (group: string) => number) =>
      sum(GROUPS.map((group, index) => (perGroup[index] ?? 0) * choose(group)));

    const byTable = units((group) => distanceTo(group, TABLES.geographic[group]));
    const atBest = units((group) => Math.min(...T2_REGIONS.map((r) => distanceTo(group, r))));

    expect(perGroup).toEqual([195, 130, 101, 88]);
    expect(byTable).toBe(195 * 1 + 130 * 1 + 101 * 2 + 88 * 4);
    expect(atBest).toBe(195 * 1 + 130 * 1 + 101 * 1 + 88 * 2);
    expect(byTable / REQUEST_RATE).toBePublished('01.policy.geographic.unitDistance');
    expect(atBest / REQUEST_RATE).toBePublished('01.policy.latency.unitDistance');
    expect(GROUPS.length).toBePublished('01.groupCount');
    for (const group of GROUPS) {
      expect(TABLES.geographic[group]).toBePublished(`01.geographicTable.${group}`);
      for (const region of T2_REGIONS) {
        expect(distanceTo(group, region)).toBePublished(`01.distance.${group}.${region}`);
      }
    }
  });

  it('the ten entries of the pattern have the target shares: 5, 3 and 2', () => {
    const { pattern, regions } = TABLES;
    const shareOf = (region: Region) =>
      pattern.filter((entry) => entry === region).length / pattern.length;

    expect(regions.map(shareOf)).toEqual(regions.map(targetOf));
    expect(pattern.join(' ')).toBePublished('01.pattern');
    expect(regions.length).toBePublished('01.regionCount');
    for (const region of T2_REGIONS) {
      expect(shareOf(region)).toBePublished(`01.target.${region}`);
      expect(T3_TARGET_SHARES[region] * 100).toBePublished(`01.targetPercent.${region}`);
      expect(TABLES.backup[region]).toBePublished(`01.backup.${region}`);
    }
  });

  it('a dead address is handed out until it is marked: one second decides between 10 s and 39 s', () => {
    // One resolver, a TTL of 30 s: it asks in the seconds 1, 31, 61, 91, 121.
    const window = (startSecond: number) =>
      simulate(pair, {
        ttlSeconds: 30,
        durationSeconds: 300,
        resolverRates: [1],
        failure: { region: 'b34', startSecond, detectionSeconds: 10 },
      }).windowSeconds;

    expect(window(81)).toBe(10); // marked in second 91, just as it asks
    expect(window(82)).toBe(39); // asks in second 91, marked in second 92: 82 to 120
    expect(window(91)).toBe(30);
  });

  it('what a longer TTL saves in queries, it adds to the failover', async ({ annotate }) => {
    const runs = TTLS_SECONDS.map((ttlSeconds) => ({
      ttlSeconds,
      ...simulate(pair, {
        ttlSeconds,
        durationSeconds: DURATION_SECONDS.failover,
        resolverRates: boundToB34,
        failure: FAILURE,
      }),
    }));

    await attachFigure(annotate, {
      title: 'What a longer TTL saves in queries, it adds to the failover',
      facts: runs.map(
        ({ ttlSeconds, windowSeconds, dropped, upstreamQueries }) =>
          `TTL ${ttlSeconds} s: ${upstreamQueries} queries in 20 minutes; when b34 fails, requests are ` +
          `dropped for ${windowSeconds} s, ${dropped} in all.`,
      ),
      option: () =>
        lines({
          x: { name: 'TTL (s)', log: true },
          y: { name: 'requests, queries, seconds', log: true },
          series: [
            { name: 'dropped requests', points: runs.map((r) => [r.ttlSeconds, r.dropped]) },
            {
              name: 'upstream queries',
              points: runs.map((r) => [r.ttlSeconds, r.upstreamQueries]),
            },
            {
              name: 'failover window (s)',
              points: runs.map((r) => [r.ttlSeconds, r.windowSeconds]),
            },
          ],
        }),
    });
    expect(FAILURE.startSecond).toBePublished('01.run.failureStart');
    expect(FAILURE.detectionSeconds).toBe(T5_DETECTION_SECONDS);
    expect(FAILURE.detectionSeconds).toBePublished('01.detectionDelay');
    expect(DURATION_SECONDS.failover).toBePublished('01.run.failoverDuration');
    for (const { ttlSeconds, windowSeconds, dropped, upstreamQueries } of runs) {
      expect(windowSeconds).toBePublished(`01.failover.ttl${ttlSeconds}.window`);
      expect(dropped).toBePublished(`01.failover.ttl${ttlSeconds}.dropped`);
      expect(upstreamQueries).toBePublished(`01.failover.ttl${ttlSeconds}.upstream`);
    }
  });

  it('an answer that is no region ends the run with its text', () => {
    const lost = { answer: () => 'b99' };
    const run = () => simulate(lost, { ttlSeconds: 30, durationSeconds: 60, resolverRates: [514] });

    expect(run).toThrow('The answer for g1 in second 1 was "b99", wanted one of the regions b34');
  });

  // Predict first: 514 requests a second, 40 resolvers, resolver j in proportion to 1/(j+1). What
  // share has the largest? And do 40 rounded quotas add up to 514?
  describe('Exercise 1.1: splitRequests', lesson.exercise('1.1'), () => {
    it('the largest of 40 resolvers sends 23.35 % of the requests, more than b06 is meant to get', () => {
      const rates = splitRequests(REQUEST_RATE, T4_RESOLVERS.count);

      const share = ((rates[0] ?? 0) / REQUEST_RATE) * 100;
      expect(rates).toEqual(RESOLVER_RATES.forty);
      expect(share).toBePublished('01.largestResolver.share');
      expect(share).toBeGreaterThan(T3_TARGET_SHARES.b06 * 100);
    });

    it('quotas that are rounded one by one add up to 513, and the split to 514', () => {
      const weights = RESOLVER_RATES.forty.map((_, j) => 1 / (j + 1));
      const rounded = weights.map((weight) => Math.round((514 * weight) / sum(weights)));

      expect(sum(splitRequests(514, 40))).toBe(514);
      expect(sum(rounded)).toBe(513);
    });

    // biome-ignore format: a table, one row a line
    const splits = [
      { rate: 100, count: 7, gives: '39 19 13 10 8 6 5' },
      { rate: 10, count: 4, gives: '5 2 2 1' },
      { rate: 514, count: 12, gives: RESOLVER_RATES.twelve.join(' ') },
      { rate: 514, count: 41, gives: RESOLVER_RATES.fortyOne.join(' ') },
      { rate: 3, count: 5, gives: '1 1 1 0 0' },
      { rate: 0, count: 3, gives: '0 0 0' },
      { rate: 1, count: 1, gives: '1' },
    ];
    for (const { rate, count, gives } of splits) {
      it(`${rate} requests/s among ${count} are ${gives}`, () => {
        expect(splitRequests(rate, count).join(' ')).toBe(gives);
      });
    }

    it('with 1000 requests/s the largest of 40 sends 234', () => {
      const rates = splitRequests(1_000, 40);

      expect(rates[0]).toBe(234);
      expect(sum(rates)).toBe(1_000);
    });

    it('nothing is lost, whatever is split', () =>
      expectLaw(
        { rate: fc.integer({ min: 0, max: 100_000 }), count: fc.integer({ min: 1, max: 200 }) },
        ({ rate, count }) => {
          const rates = splitRequests(rate, count);
          expect(rates).toHaveLength(count);
          expect(sum(rates)).toBe(rate);
        },
      ));

    it('no resolver sends more than the one before it', () =>
      expectLaw(
        { rate: fc.integer({ min: 0, max: 100_000 }), count: fc.integer({ min: 1, max: 200 }) },
        ({ rate, count }) => {
          const rates = splitRequests(rate, count);
          expect(rates).toHaveLength(count);
          expect(rates).toEqual([...rates].sort((a, b) => b - a));
        },
      ));

    it('a split with whole numbers only, without any fraction, comes to the same', async () => {
      expect(T4_RESOLVERS.sizeRule).toBePublished('01.resolverSizeRule');
      await expectLaw(
        { rate: fc.integer({ min: 0, max: 3_000 }), count: fc.integer({ min: 1, max: 60 }) },
        ({ rate, count }) => expect(splitRequests(rate, count)).toEqual(exactSplit(rate, count)),
      );
    });

    for (const { field, bad } of [
      { field: 'requestsPerSecond', bad: [-1, 0.5, NaN, Infinity] },
      { field: 'resolverCount', bad: [0, -1, 2.5, NaN, Infinity] },
    ]) {
      it(`splitRequests refuses a ${field} that makes no sense`, () => {
        for (const value of bad) {
          const input = { requestsPerSecond: 514, resolverCount: 40, [field]: value };
          expectRefusal(() => splitRequests(input.requestsPerSecond, input.resolverCount), field);
        }
      });
    }
  });

  // Predict first: b34 gets 57.6 % and was to get 50. Of the others, how much is missing? And what is
  // the deviation of both together?
  describe('Exercise 1.2: shareDeviation', lesson.exercise('1.2'), () => {
    // biome-ignore format: a table, one row a line
    const counted = [
      { what: 'geographic', id: 'policy.geographic', accepted: [1_065_600, 468_000, 316_800], exact: '0.07588' },
      { what: 'latency', id: 'policy.latency', accepted: [1_018_800, 468_000, 363_600], exact: '0.05058' },
      { what: 'weighted', id: 'policy.weighted', accepted: [936_000, 514_800, 399_600], exact: '0.02179' },
      { what: 'weighted, TTL 30', id: 'weighted.ttl30', accepted: [853_200, 475_200, 522_000], exact: '0.08210' },
      { what: 'weighted, TTL 60', id: 'weighted.ttl60', accepted: [1_285_200, 277_200, 288_000], exact: '0.19455' },
      { what: 'weighted, TTL 300', id: 'weighted.ttl300', accepted: [936_000, 514_800, 399_600], exact: '0.02179' },
      { what: 'weighted, TTL 900', id: 'weighted.ttl900', accepted: [993_600, 543_600, 313_200], exact: '0.03696' },
      { what: 'weighted, equal sizes', id: 'weighted.equalShares', accepted: [925_200, 554_400, 370_800], exact: '0.00039' },
    ];
    for (const { what, id, accepted, exact } of counted) {
      it(`${what}: a share of ${exact} would have to move`, () => {
        const deviation = shareDeviation(sharesOf(accepted), T3_TARGET_SHARES);

        expect(deviation.toFixed(5)).toBe(exact);
        expect(deviation).toBePublished(`01.${id}.deviation`);
      });
    }

    // biome-ignore format: a table, one row a line
    const variations = [
      { row: 'S1', observed: { b34: 0.7588, b35: 0.1459, b06: 0.0953 }, deviation: 0.2588 },
      { row: 'S2', observed: { b34: 0.5370, b35: 0.2937, b06: 0.1693 }, deviation: 0.0370 },
      { row: 'S3', observed: { b34: 0.4823, b35: 0.3103, b06: 0.2074 }, deviation: 0.0177 },
      { row: 'S4', observed: { b34: 0.5, b35: 0.3, b06: 0.2 }, deviation: 0 },
      { row: 'S5', observed: { b34: 0.4632, b35: 0.3268, b06: 0.21 }, deviation: 0.0368 },
    ];
    for (const { row, observed, deviation } of variations) {
      it(`${row}: from other shares to the target is ${deviation}`, () => {
        expect(shareDeviation(observed, T3_TARGET_SHARES)).toBeCloseTo(deviation, 6);
      });
    }

    it('the names and the order of the regions do not matter', () => {
      const target = { east: 0.25, west: 0.75 };

      expect(shareDeviation({ west: 0.5, east: 0.5 }, target)).toBeCloseTo(0.25, 12);
      expect(shareDeviation({ one: 1 }, { one: 1 })).toBe(0);
    });

    it('what is missing in two regions and too much in two others is counted in full', () => {
      const target = { a: 0.25, b: 0.25, c: 0.25, d: 0.25 };

      expect(shareDeviation({ a: 0.4, b: 0.3, c: 0.2, d: 0.1 }, target)).toBeCloseTo(0.2, 12);
    });

    it('a region that nothing was observed of has a share of 0', () => {
      expect(shareDeviation({ b34: 0.7, b35: 0.3 }, T3_TARGET_SHARES)).toBeCloseTo(0.2, 12);
      expect(shareDeviation({ b06: 1 }, T3_TARGET_SHARES)).toBeCloseTo(0.8, 12);
    });

    it('observed shares need not add up to 1, and nothing observed at all is 0.5', () => {
      const half = { b34: 0.25, b35: 0.15, b06: 0.1 };

      expect(shareDeviation(half, T3_TARGET_SHARES)).toBeCloseTo(0.25, 12);
      expect(shareDeviation({}, T3_TARGET_SHARES)).toBeCloseTo(0.5, 12);
    });

    it('what moves from one region to another is the deviation', () =>
      expectLaw(
        {
          parts: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 6 }),
          moved: fc.integer({ min: 0, max: 100 }),
        },
        ({ parts, moved }) => {
          const target = Object.fromEntries(parts.map((part, r) => [`r${r}`, part / sum(parts)]));
          const { r0 = 0, r1 = 0 } = target;
          const share = (r0 * moved) / 100;

          const observed = { ...target, r0: (r0 * (100 - moved)) / 100, r1: r1 + share };

          expect(shareDeviation(observed, target)).toBeCloseTo(share, 9);
        },
      ));

    it('a region that the target does not know is refused by its name', () => {
      expectRefusal(() => shareDeviation({ b34: 1, b99: 0 }, T3_TARGET_SHARES), 'b99');
      expectRefusal(() => shareDeviation({ toString: 0.1 } as never, T3_TARGET_SHARES), 'toString');
    });

    it('a share that is negative or no finite number is refused on both sides', () => {
      for (const share of [-0.1, NaN, Infinity]) {
        const observed = { b34: 0.5, b35: share };
        expectRefusal(() => shareDeviation(observed, T3_TARGET_SHARES), 'b35');
        expectRefusal(() => shareDeviation({}, { b34: 1, b35: share }), 'b35');
      }
      // The sum is right, a share is not.
      expectRefusal(() => shareDeviation({}, { b34: 1.5, b35: -0.5 }), 'b35');
    });

    it('targets that do not add up to 1 are refused, and binary fractions are forgiven', () => {
      expectRefusal(() => shareDeviation({}, { b34: 0.5, b35: 0.3 }), 'target');
      expectRefusal(() => shareDeviation({}, { b34: 0.5, b35: 0.5 + 2e-9 }), 'target');
      expectRefusal(() => shareDeviation({}, {}), 'target');

      const off = { b34: 0.5, b35: 0.5 + 5e-10 };
      expect(shareDeviation(off, off)).toBe(0);
    });
  });

  // Predict first: which of the three policies sends a request the shortest way? Which is nearest to
  // the target shares? Is any of them both?
  describe('Exercise 1.3: createPolicy', lesson.exercise('1.3'), () => {
    describe('geographic', () => {
      const create = (tables: RoutingTables = TABLES) => createPolicy('geographic', tables);

      it('each group goes where the table says', () => {
        const policy = create();

        const answers = GROUPS.map((group) => policy.answer({ group, isMarkedDown: allUp }));

        expect(answers).toEqual(['b34', 'b35', 'b34', 'b06']);
      });

      it('another table gives other answers', () => {
        const policy = create({ ...TABLES, geographic: { g1: 'b06', g9: 'b35' } });

        expect(policy.answer({ group: 'g1', isMarkedDown: allUp })).toBe('b06');
        expect(policy.answer({ group: 'g9', isMarkedDown: allUp })).toBe('b35');
      });

      it('a region that is marked down is replaced by its backup, and comes back', () => {
        const policy = create();
        const answers = (isMarkedDown: (region: Region) => boolean) =>
          GROUPS.map((group) => policy.answer({ group, isMarkedDown })).join(' ');

        expect(answers(down('b34'))).toBe('b06 b35 b06 b06');
        expect(answers(down('b35'))).toBe('b34 b34 b34 b06');
        expect(answers(down('b06'))).toBe('b34 b35 b34 b35');
        expect(answers(allUp)).toBe('b34 b35 b34 b06');
      });

      it('where the backup is marked down too, its own backup takes over', () => {
        const policy = create();

        expect(policy.answer({ group: 'g1', isMarkedDown: down('b34', 'b06') })).toBe('b35');
        expect(policy.answer({ group: 'g2', isMarkedDown: down('b35', 'b34') })).toBe('b06');
        expect(policy.answer({ group: 'g4', isMarkedDown: down('b06', 'b35') })).toBe('b34');
      });

      it('a chain of backups without a live region is an error: no live region', () => {
        const isMarkedDown = down('b34', 'b06');
        const ask = (backup: Record<Region, Region>) => () =>
          create({ ...TABLES, backup }).answer({ group: 'g1', isMarkedDown });

        // b35 is alive in the last two, and no chain leads there.
        expectRefusal(
          () => create().answer({ group: 'g1', isMarkedDown: () => true }),
          'no live region',
          Error,
        );
        expectRefusal(ask({ b34: 'b06', b06: 'b34' }), 'no live region', Error);
        expectRefusal(ask({ b34: 'b06' }), 'no live region', Error);
      });

      it('geographic names a group that it does not know', () => {
        for (const group of ['g9', 'toString']) {
          expectRefusal(() => create().answer({ group, isMarkedDown: allUp }), group, Error);
        }
      });

      it('a table that nobody measures sends b34 57.6 % of the requests, for 50 %', () => {
        const run = runPolicy('geographic');

        expectPublishedRow('geographic', run);
        expect(Object.values(run.acceptedByRegion)).toEqual([1_065_600, 468_000, 316_800]);
      });

      for (const ttlSeconds of TTLS_SECONDS) {
        it(`TTL ${ttlSeconds} s: b34 fails, and the window is as long as the TTL and a little more`, () => {
          const run = runPolicy('geographic', { ttlSeconds, failure: FAILURE });

          const id = `01.failover.ttl${ttlSeconds}`;
          expect(run.windowSeconds).toBePublished(`${id}.window`);
          expect(run.dropped).toBePublished(`${id}.dropped`);
          expect(run.upstreamQueries).toBePublished(`${id}.upstream`);
          expect(run.accepted + run.dropped).toBe(514 * 1_200);
        });
      }

      it('at a TTL of 300 s a failure drops 37.6 times as much as a takeover within 3 s', () => {
        const { dropped } = runPolicy('geographic', { failure: FAILURE });

        expect(dropped / K01.activePassive.droppedRequests).toBePublished(
          '01.failover.ttl300.ratioToActivePassive',
        );
      });

      it('from a TTL of 30 s to one of 900 s a failure costs 28 times as much; 28.53, and cut', () => {
        const [shortest, longest] = [30, 900].map(
          (ttlSeconds) => runPolicy('geographic', { ttlSeconds, failure: FAILURE }).dropped,
        ) as [number, number];

        expect((longest / shortest).toFixed(2)).toBe('28.53');
        expect(Math.trunc(longest / shortest)).toBePublished('01.failover.costRange');
      });

      // biome-ignore format: a table, one row a line
      const failures = [
        { row: 'S8', what: 'a TTL of 120 s', change: { ttlSeconds: 120 }, failure: {}, gives: '129 s, 14766 dropped, 400 queries' },
        { row: 'S9', what: 'a TTL of 600 s', change: { ttlSeconds: 600 }, failure: {}, gives: '605 s, 126006 dropped, 80 queries' },
        { row: 'S10', what: 'detection after 30 s', change: {}, failure: { detectionSeconds: 30 }, gives: '317 s, 59106 dropped, 160 queries' },
        { row: 'S11', what: 'a failure in second 250', change: {}, failure: { startSecond: 250 }, gives: '285 s, 29706 dropped, 160 queries' },
        { row: 'S14', what: 'b35 fails', change: {}, failure: { region: 'b35' }, gives: '278 s, 23512 dropped, 160 queries' },
      ];
      for (const { row, what, change, failure, gives } of failures) {
        it(`${row}: geographic, ${what}: ${gives}`, () => {
          const run = runPolicy('geographic', { ...change, failure: { ...FAILURE, ...failure } });

          expect(failoverInOneLine(run)).toBe(gives);
        });
      }
    });

    describe('latency', () => {
      const create = (tables: RoutingTables = TABLES) => createPolicy('latency', tables);

      it('g3 and g4 have a nearer region than the one that the table sends them to', () => {
        const policy = create();
        const nearest = (group: string) => policy.answer({ group, isMarkedDown: allUp });

        expect(nearest('g1')).toBe('b34');
        expect(nearest('g2')).toBe('b35');
        expect(nearest('g3')).toBePublished('01.nearest.g3');
        expect(nearest('g4')).toBePublished('01.nearest.g4');
        const misdirected = GROUPS.filter((group) => nearest(group) !== TABLES.geographic[group]);
        expect(misdirected.length).toBePublished('01.geographic.misdirectedGroups');
      });

      it('of the regions that are left the nearest takes over', () => {
        const policy = create();
        const answers = (isMarkedDown: (region: Region) => boolean) =>
          GROUPS.map((group) => policy.answer({ group, isMarkedDown })).join(' ');

        expect(answers(down('b34'))).toBe('b06 b35 b06 b35');
        expect(answers(down('b35'))).toBe('b34 b06 b06 b34');
        expect(answers(down('b06', 'b34'))).toBe('b35 b35 b35 b35');
      });

      it('of equal distances the first in the order of the regions wins, however the matrix is written', () => {
        const distance = { g1: { b06: 1, b34: 2, b35: 1 }, g2: { b35: 7, b06: 7, b34: 7 } };
        const policy = create({ ...TABLES, distance });

        expect(policy.answer({ group: 'g1', isMarkedDown: allUp })).toBe('b35');
        expect(policy.answer({ group: 'g2', isMarkedDown: allUp })).toBe('b34');
        expect(policy.answer({ group: 'g2', isMarkedDown: down('b34') })).toBe('b35');
      });

      it('no live region is nearer than the answer, and none before it is as near', () =>
        expectLaw(
          {
            units: fc.array(fc.nat(4), { minLength: 1, maxLength: 6 }),
            marks: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
          },
          ({ units, marks }) => {
            const regions = units.map((_, index) => `r${index}`);
            const isMarkedDown = (region: Region) => marks[regions.indexOf(region)] === true;
            const alive = regions.filter((region) => !isMarkedDown(region));
            const distance = { g1: Object.fromEntries(regions.map((r, i) => [r, units[i] ?? 0])) };
            const ask = () =>
              create({ ...TABLES, regions, distance }).answer({ group: 'g1', isMarkedDown });
            if (alive.length === 0) return expectRefusal(ask, 'no live region', Error);

            const least = Math.min(...alive.map((region) => distance.g1[region] ?? Infinity));

            expect(ask()).toBe(alive.find((region) => distance.g1[region] === least));
          },
        ));

      it('latency names a group that it does not know', () => {
        for (const group of ['g9', 'toString']) {
          expectRefusal(() => create().answer({ group, isMarkedDown: allUp }), group, Error);
        }
      });

      it('the nearest region is 1.171 units away on average, and the shares are off by 0.051', () => {
        const run = runPolicy('latency');

        expectPublishedRow('latency', run);
        expect(Object.values(run.acceptedByRegion)).toEqual([1_018_800, 468_000, 363_600]);
      });

      it('S6: with 12 resolvers latency is off by 0.0700', () => {
        const run = runPolicy('latency', { resolverRates: RESOLVER_RATES.twelve });

        expect(inOneLine(run)).toBe(
          '57.00/24.71/18.29 %, off by 0.0700, 1.1479 units, 144 queries',
        );
      });

      it('S12: latency loses 56,191 requests when b34 fails, for as long as geographic', () => {
        const run = runPolicy('latency', { failure: FAILURE });

        expect(failoverInOneLine(run)).toBe('305 s, 56191 dropped, 160 queries');
      });
    });

    describe('weighted', () => {
      const create = (tables: RoutingTables = TABLES) => createPolicy('weighted', tables);
      const ask = (policy: RoutingPolicy, times: number, isMarkedDown = allUp, group = 'g1') =>
        Array.from({ length: times }, () => policy.answer({ group, isMarkedDown })).join(' ');

      it('answers go through the pattern and begin again', () => {
        const pattern = TABLES.pattern.join(' ');

        expect(ask(create(), 20)).toBe(`${pattern} ${pattern}`);
        expect(ask(create({ ...TABLES, pattern: ['b06', 'b34', 'b34'] }), 5)).toBe(
          'b06 b34 b34 b06 b34',
        );
      });

      it('all groups move the same position', () => {
        const policy = create();

        const answers = [...GROUPS, ...GROUPS].map((group) =>
          policy.answer({ group, isMarkedDown: allUp }),
        );

        expect(answers).toEqual(TABLES.pattern.slice(0, 8));
      });

      it('entries that are passed over are used up', () => {
        const policy = create(); // b34 b35 b06 b34 b35 b34 b35 b06 b34 b34

        expect(ask(policy, 1, down('b34'))).toBe('b35');
        expect(ask(policy, 2)).toBe('b06 b34');
        expect(ask(policy, 3, down('b35', 'b06'))).toBe('b34 b34 b34'); // the 6th, 9th and 10th
        expect(ask(policy, 1)).toBe('b34'); // from the first again
        expect(ask(policy, 6, down('b34'))).toBe('b35 b06 b35 b35 b06 b35');
      });

      it('two policies do not share their position', () => {
        const [one, other] = [create(), create()];

        const answers = [ask(one, 2), ask(other, 1), ask(one, 1), ask(other, 2)];

        expect(answers).toEqual(['b34 b35', 'b34', 'b06', 'b35 b06']);
      });

      it('an error leaves the position where it was', () => {
        const policy = create();
        ask(policy, 2);

        expectRefusal(() => ask(policy, 1, () => true), 'no live region', Error);
        expectRefusal(() => ask(policy, 1, allUp, 'g9'), 'g9', Error);

        expect(ask(policy, 2)).toBe('b06 b34');
      });

      it('a pattern without a live entry is an error, although another region is alive', () => {
        const policy = create({ ...TABLES, pattern: ['b34', 'b35'] });
        const nothing = create({ ...TABLES, pattern: [] });

        expectRefusal(() => ask(policy, 1, down('b34', 'b35')), 'no live region', Error);
        expectRefusal(() => ask(nothing, 1), 'no live region', Error);
      });

      it('weighted names a group that it does not know', () => {
        for (const group of ['g9', 'toString']) {
          expectRefusal(() => ask(create(), 1, allUp, group), group, Error);
        }
      });

      it('any ten answers in a row are 5, 3 and 2', () =>
        expectLaw({ before: fc.nat(40) }, ({ before }) => {
          const policy = create();
          ask(policy, before);
          expect(ask(policy, 10).split(' ').sort().join(' ')).toBe(
            [...TABLES.pattern].sort().join(' '),
          );
        }));

      it('answers meet the target exactly, and the requests miss it: 50.6, 27.8 and 21.6 %', () => {
        const answers: Record<Region, number> = { b34: 0, b35: 0, b06: 0 };
        const inner = create();
        const counting: RoutingPolicy = {
          answer(query) {
            const region = inner.answer(query);
            answers[region] = (answers[region] ?? 0) + 1;
            return region;
          },
        };

        const run = simulate(counting, publishedOptions());

        expect(answers).toEqual({ b34: 260, b35: 156, b06: 104 }); // 480 and 40 of the warm-up
        expectPublishedRow('weighted', run);
        expect(Object.values(run.acceptedByRegion)).toEqual([936_000, 514_800, 399_600]);
      });

      // biome-ignore format: a table, one row a line
      const ttls = [
        { ttlSeconds: 30, accepted: [853_200, 475_200, 522_000] },
        { ttlSeconds: 60, accepted: [1_285_200, 277_200, 288_000] },
        { ttlSeconds: 300, accepted: [936_000, 514_800, 399_600] },
        { ttlSeconds: 900, accepted: [993_600, 543_600, 313_200] },
      ];
      for (const { ttlSeconds, accepted } of ttls) {
        it(`TTL ${ttlSeconds} s: accepted requests are ${accepted.join(', ')}, with no trend along the TTL`, () => {
          const run = runPolicy('weighted', { ttlSeconds });

          expect(Object.values(run.acceptedByRegion)).toEqual(accepted);
          expect(ttlSeconds).toBePublished(`01.weighted.ttl${ttlSeconds}.ttl`);
          expect(run.deviation).toBePublished(`01.weighted.ttl${ttlSeconds}.deviation`);
          expect(run.upstreamQueries).toBePublished(`01.weighted.ttl${ttlSeconds}.upstream`);
        });
      }

      it('from 900 s to 30 s a TTL buys 30 times the queries', () => {
        const [many, few] = [30, 900].map(
          (ttlSeconds) => runPolicy('weighted', { ttlSeconds }).upstreamQueries,
        ) as [number, number];

        expect(many / few).toBePublished('01.ratio.upstreamGrowth');
      });

      it('with resolvers of equal size hardly any deviation is left: 0.0004 at 300 s, 0.0039 at 30 s', () => {
        const at = (ttlSeconds: number) =>
          runPolicy('weighted', { ttlSeconds, resolverRates: RESOLVER_RATES.equal });

        expect(at(300).deviation).toBePublished('01.weighted.equalShares.deviation');
        expect(at(300).deviation.toFixed(5)).toBe('0.00039');
        expect(at(30).deviation.toFixed(5)).toBe('0.00389');
      });

      it('a large resolver does not make every region too large: at 30 s b34 has it, and 46.1 % of 50', () => {
        const regions = new Set<Region>();
        const run = runPolicy('weighted', {
          ttlSeconds: 30,
          onRequests: ({ resolver, region }) => resolver === 0 && regions.add(region),
        });

        expect([...regions]).toEqual(['b34']); // the same one at every refresh, all hour
        expect(((run.shares.b34 ?? 0) * 100).toFixed(1)).toBe('46.1');
      });

      // 40 resolvers ask in the same order, and 40 is a multiple of 10: each gets the same entry of
      // the pattern again and again. One resolver more, and the entries go round.
      // biome-ignore format: a table, one row a line
      const moments = [
        { ttlSeconds: 30, hour: '0.0000', moment: '0.127' },
        { ttlSeconds: 60, hour: '0.0000', moment: '0.121' },
        { ttlSeconds: 300, hour: '0.0177', moment: '0.127' },
      ];
      for (const { ttlSeconds, hour, moment } of moments) {
        it(`41 resolvers, TTL ${ttlSeconds} s: the hour is off by ${hour}, a second by ${moment} on average`, () => {
          const momentary = deviationOfSeconds();
          const run = runPolicy('weighted', {
            ttlSeconds,
            resolverRates: RESOLVER_RATES.fortyOne,
            onRequests: momentary.add,
          });

          expect(run.deviation.toFixed(4)).toBe(hour);
          expect(momentary.mean().toFixed(3)).toBe(moment);
        });
      }

      // biome-ignore format: a table, one row a line
      const variations = [
        { row: 'S1', what: 'TTL 120 s', change: { ttlSeconds: 120 }, gives: '75.88/14.59/9.53 %, off by 0.2588, 1.9494 units, 1200 queries' },
        { row: 'S2', what: 'TTL 600 s', change: { ttlSeconds: 600 }, gives: '53.70/29.38/16.93 %, off by 0.0370, 1.9125 units, 240 queries' },
        { row: 'S3', what: '41 resolvers', change: { resolverRates: RESOLVER_RATES.fortyOne }, gives: '48.23/31.03/20.74 %, off by 0.0177, 2.2013 units, 492 queries' },
        { row: 'S4', what: '41 resolvers, TTL 30 s', change: { ttlSeconds: 30, resolverRates: RESOLVER_RATES.fortyOne }, gives: '50.00/30.00/20.00 %, off by 0.0000, 2.1706 units, 4920 queries' },
        { row: 'S5', what: '12 resolvers', change: { resolverRates: RESOLVER_RATES.twelve }, gives: '46.32/32.68/21.00 %, off by 0.0368, 2.3556 units, 144 queries' },
        { row: 'S7', what: 'equal sizes, TTL 30 s', change: { ttlSeconds: 30, resolverRates: RESOLVER_RATES.equal }, gives: '49.61/30.35/20.04 %, off by 0.0039, 2.4261 units, 4800 queries' },
      ];
      for (const { row, what, change, gives } of variations) {
        it(`${row}: weighted, ${what}: ${gives}`, () => {
          expect(inOneLine(runPolicy('weighted', change))).toBe(gives);
        });
      }

      it('S13: when b34 fails, weighted goes on with b35 and b06, 3 to 2, and loses 47,484 requests', () => {
        const run = runPolicy('weighted', { failure: FAILURE });

        expect(failoverInOneLine(run)).toBe('304 s, 47484 dropped, 160 queries');
        expect(run.unitDistance.toFixed(4)).toBe('2.4595');
        expect(sharesInOneLine(run)).toBe('4.52/58.48/37.00');
      });
    });

    describe('all three', () => {
      it('near and fair are two goals: weighted halves the deviation and goes 1.83 times as far', () => {
        const weighted = runPolicy('weighted');
        const latency = runPolicy('latency');

        expect(weighted.unitDistance / latency.unitDistance).toBePublished(
          '01.ratio.weightedToLatencyDistance',
        );
        expect(weighted.deviation).toBeLessThan(latency.deviation / 2);
      });

      it('weighted is nearest to the target at 300 and 900 s, and furthest from it at 30 and 60 s', () => {
        const ranking = TTLS_SECONDS.map((ttlSeconds) => {
          const kinds: PolicyKind[] = ['geographic', 'latency', 'weighted'];
          return kinds
            .map((kind) => ({ kind, off: runPolicy(kind, { ttlSeconds }).deviation }))
            .sort((a, b) => a.off - b.off)
            .map(({ kind }) => kind)
            .join(' < ');
        });

        expect(ranking).toEqual([
          'latency < geographic < weighted',
          'latency < geographic < weighted',
          'weighted < latency < geographic',
          'weighted < latency < geographic',
        ]);
      });

      it('without a memory the TTL changes nothing but the queries: geographic and latency', () => {
        for (const kind of ['geographic', 'latency'] as const) {
          const [first, ...others] = TTLS_SECONDS.map(
            (ttlSeconds) => runPolicy(kind, { ttlSeconds }).acceptedByRegion,
          );
          for (const other of others) expect(other).toEqual(first);
        }
      });
    });
  });

  // Predict first: for 305 s requests are dropped. Is that 305 s out of the month's 2592?
  describe('Exercise 1.4: failoverCost', lesson.exercise('1.4'), () => {
    const budget = outageBudgetMinutes() * 60;

    // biome-ignore format: a table, one row a line
    const published = [
      { ttl: 30, windowSeconds: 39, dropped: 6_666, outage: '12.97' },
      { ttl: 60, windowSeconds: 69, dropped: 9_486, outage: '18.46' },
      { ttl: 300, windowSeconds: 305, dropped: 57_906, outage: '112.66' },
      { ttl: 900, windowSeconds: 905, dropped: 190_206, outage: '370.05' },
    ];
    for (const { ttl, outage, ...run } of published) {
      it(`TTL ${ttl} s: a window of ${run.windowSeconds} s is worth ${outage} s of full outage`, () => {
        const cost = failoverCost(run, REQUEST_RATE, budget);

        const id = `01.failover.ttl${ttl}`;
        expect(cost.equivalentOutageSeconds).toBePublished(`${id}.equivalentOutage`);
        expect(cost.budgetSharePercent).toBePublished(`${id}.budgetShare`);
      });
    }

    it('two rulers for one event: 305 s on the status page, 36.9 % of their requests lost', () => {
      const run = { dropped: 57_906, windowSeconds: 305 };
      const cost = failoverCost(run, REQUEST_RATE, budget);

      expect(cost.droppedShareOfWindowPercent).toBePublished(
        '01.failover.ttl300.droppedShareOfWindow',
      );
      const lost = cost.droppedShareOfWindowPercent / 100;
      expect(lost * run.windowSeconds).toBeCloseTo(cost.equivalentOutageSeconds, 9);
    });

    // biome-ignore format: a table, one row a line
    const variations = [
      { row: 'S8', run: { windowSeconds: 129, dropped: 14_766 }, rate: 514, seconds: 2_592, gives: '28.73 s, 1.11 %, 22.27 % lost' },
      { row: 'S9', run: { windowSeconds: 605, dropped: 126_006 }, rate: 514, seconds: 2_592, gives: '245.15 s, 9.46 %, 40.52 % lost' },
      { row: 'S10', run: { windowSeconds: 317, dropped: 59_106 }, rate: 514, seconds: 2_592, gives: '114.99 s, 4.44 %, 36.28 % lost' },
      { row: 'S11', run: { windowSeconds: 285, dropped: 29_706 }, rate: 514, seconds: 2_592, gives: '57.79 s, 2.23 %, 20.28 % lost' },
      { row: '31 days', run: { windowSeconds: 305, dropped: 57_906 }, rate: 514, seconds: 2_678.4, gives: '112.66 s, 4.21 %, 36.94 % lost' },
      { row: 'everything lost', run: { windowSeconds: 3, dropped: 300 }, rate: 100, seconds: 100, gives: '3.00 s, 3.00 %, 100.00 % lost' },
      { row: 'nothing lost', run: { windowSeconds: 10, dropped: 0 }, rate: 100, seconds: 100, gives: '0.00 s, 0.00 %, 0.00 % lost' },
    ];
    for (const { row, run, rate, seconds, gives } of variations) {
      it(`${row}: ${run.dropped} dropped in ${run.windowSeconds} s are ${gives}`, () => {
        const cost = failoverCost(run, rate, seconds);

        expect(
          `${cost.equivalentOutageSeconds.toFixed(2)} s, ${cost.budgetSharePercent.toFixed(2)} %, ` +
            `${cost.droppedShareOfWindowPercent.toFixed(2)} % lost`,
        ).toBe(gives);
      });
    }

    it('nothing dropped in no time costs nothing', () => {
      expect(failoverCost({ dropped: 0, windowSeconds: 0 }, REQUEST_RATE, budget)).toEqual({
        equivalentOutageSeconds: 0,
        budgetSharePercent: 0,
        droppedShareOfWindowPercent: 0,
      });
    });

    it('something dropped in a window of 0 s is refused', () => {
      const run = { dropped: 1, windowSeconds: 0 };
      expectRefusal(() => failoverCost(run, REQUEST_RATE, budget), 'windowSeconds');
    });

    for (const { field, bad } of [
      { field: 'dropped', bad: [-1, NaN, Infinity] },
      { field: 'windowSeconds', bad: [-1, NaN, Infinity] },
      { field: 'requestsPerSecond', bad: [0, -1, NaN, Infinity] },
      { field: 'budgetSeconds', bad: [0, -1, NaN, Infinity] },
    ]) {
      it(`failoverCost refuses a ${field} that makes no sense`, () => {
        const good = { dropped: 1, windowSeconds: 1, requestsPerSecond: 514, budgetSeconds: 2_592 };
        for (const value of bad) {
          const input = { ...good, [field]: value };
          expectRefusal(
            () => failoverCost(input, input.requestsPerSecond, input.budgetSeconds),
            field,
          );
        }
      });
    }
  });

  // Predict first: a resolver has just got the dead address, in the last second before the marking.
  // For how long does it drop requests? And one that asks at any other second, on average?
  describe('Exercise 1.5: predictFailover', lesson.exercise('1.5'), () => {
    const bound = sum(boundToB34);

    for (const { ttl, longest, mean } of [
      { ttl: 30, longest: 39, mean: 7_252 },
      { ttl: 60, longest: 69, mean: 11_692 },
      { ttl: 300, longest: 309, mean: 47_212 },
      { ttl: 900, longest: 909, mean: 136_012 },
    ]) {
      it(`TTL ${ttl} s: a failure lasts at most ${longest} s, and drops ${mean} requests on average`, () => {
        const predicted = predictFailover(ttl, T5_DETECTION_SECONDS, bound);
        const measured = simulate(pair, {
          ttlSeconds: ttl,
          durationSeconds: DURATION_SECONDS.failover,
          resolverRates: boundToB34,
          failure: FAILURE,
        });

        expect(bound).toBe(195 + 101); // g1 and g3
        expect(predicted.longestWindowSeconds).toBe(longest);
        expect(predicted.meanDropped).toBeCloseTo(mean, 6);
        expect(measured.windowSeconds).toBePublished(`01.failover.ttl${ttl}.window`);
        expect(measured.windowSeconds).toBeLessThanOrEqual(predicted.longestWindowSeconds);
      });
    }

    // biome-ignore format: a table, one row a line
    const models = [
      { ttl: 30, detection: 10 },
      { ttl: 60, detection: 10 },
      { ttl: 12, detection: 0 },
      { ttl: 12, detection: 1 },
      { ttl: 12, detection: 5 },
      { ttl: 12, detection: 12 },
      { ttl: 7, detection: 3 },
      { ttl: 1, detection: 1 },
      { ttl: 1, detection: 0 },
    ];
    for (const { ttl, detection } of models) {
      it(`the model agrees in every second in which b34 could fail: TTL ${ttl} s, detection ${detection} s`, () => {
        const predicted = predictFailover(ttl, detection, bound);

        const failures = failInEverySecond(ttl, detection);

        const mean = sum(failures.map(({ dropped }) => dropped)) / failures.length;
        const longest = Math.max(...failures.map(({ windowSeconds }) => windowSeconds));
        expect(predicted.meanDropped).toBeCloseTo(mean, 6);
        expect(predicted.longestWindowSeconds).toBe(longest);
      });
    }

    it('57,906 dropped requests are one second of 300: the others cost 20,870 to 63,082', async ({
      annotate,
    }) => {
      const { meanDropped, longestWindowSeconds } = predictFailover(300, 10, bound);
      const failures = failInEverySecond(300, 10);
      const dropped = failures.map((run) => run.dropped);

      await attachFigure(annotate, {
        title: 'The same failure drops 20,870 to 63,082 requests: its second decides',
        facts: [
          `TTL 300 s: on average ${meanDropped} requests, and ${dropped[99]} in the published second 100.`,
          'The largest resolver asks in second 301. A failure in second 291 is marked just then; one ' +
            'second later the resolver takes the dead address for 300 s more.',
        ],
        option: () =>
          lines({
            x: { name: 'second in which b34 fails' },
            y: { name: 'dropped requests' },
            series: [
              {
                name: 'dropped requests',
                points: failures.map((run) => [run.startSecond, run.dropped]),
              },
            ],
            bounds: [
              { name: 'mean', value: meanDropped },
              { name: 'second 100', value: dropped[99] ?? 0 },
            ],
          }),
      });
      expect(dropped[99]).toBePublished('01.failover.ttl300.dropped');
      expect(Math.min(...dropped)).toBe(20_870);
      expect(dropped.indexOf(20_870)).toBe(291 - 1);
      expect(Math.max(...dropped)).toBe(63_082);
      expect(sum(dropped) / 300).toBeCloseTo(meanDropped, 6);
      expect(Math.max(...failures.map((run) => run.windowSeconds))).toBe(longestWindowSeconds);
    });

    it('the mean is not rounded, and nobody bound drops nothing', () => {
      expect(predictFailover(2, 0, 1)).toEqual({ longestWindowSeconds: 1, meanDropped: 0.5 });
      expect(predictFailover(10, 2, 0)).toEqual({ longestWindowSeconds: 11, meanDropped: 0 });
    });

    for (const { field, bad } of [
      { field: 'ttlSeconds', bad: [0, -1, 30.5, NaN, Infinity] },
      { field: 'detectionSeconds', bad: [-1, 0.5, 31, NaN, Infinity] },
      { field: 'boundRequestsPerSecond', bad: [-1, NaN, Infinity] },
    ]) {
      it(`predictFailover refuses a ${field} that makes no sense`, () => {
        const good = { ttlSeconds: 30, detectionSeconds: 10, boundRequestsPerSecond: 296 };
        for (const value of bad) {
          const input = { ...good, [field]: value };
          expectRefusal(
            () =>
              predictFailover(
                input.ttlSeconds,
                input.detectionSeconds,
                input.boundRequestsPerSecond,
              ),
            field,
          );
        }
      });
    }
  });

  // Predict first: a failure may use 1 % of the month, and the authoritative server answers 1000
  // queries in 20 minutes. Which TTL? And what if the 1 % becomes 0.60 %?
  describe('Exercise 1.6: chooseTtl', lesson.exercise('1.6'), () => {
    const limits = (maxBudgetSharePercent: number, maxUpstreamQueries: number) => ({
      maxBudgetSharePercent,
      maxUpstreamQueries,
    });

    for (const { share, queries, ttl } of [
      { share: 1, queries: 1_000, ttl: 60 },
      { share: 5, queries: 200, ttl: 300 },
      { share: 15, queries: 100, ttl: 900 },
      { share: 0.5, queries: 1_600, ttl: 30 },
      { share: 14.27, queries: 1_600, ttl: 300 },
      { share: 4.35, queries: 160, ttl: 300 },
    ]) {
      it(`a failure within ${share} % and ${queries} queries take a TTL of ${ttl} s`, () => {
        expect(chooseTtl(FAILOVER_ROWS, limits(share, queries))).toBe(ttl);
      });
    }

    for (const { why, rows, share, queries } of [
      { why: 'both limits are too tight', rows: FAILOVER_ROWS, share: 0.6, queries: 1_000 },
      { why: 'no failure is cheap enough', rows: FAILOVER_ROWS, share: 0.49, queries: 10_000 },
      { why: 'no TTL is long enough', rows: FAILOVER_ROWS, share: 100, queries: 63 },
      { why: 'there are no rows', rows: [], share: 100, queries: 10_000 },
    ]) {
      it(`no TTL serves both ends when ${why}`, () => {
        expectRefusal(() => chooseTtl(rows, limits(share, queries)), 'no TTL', Error);
      });
    }

    it('the order of the rows does not matter, and they stay as they are', () => {
      for (const rows of ordersOf(FAILOVER_ROWS)) {
        const frozen = Object.freeze(rows);
        expect(chooseTtl(frozen, limits(5, 2_000))).toBe(300);
        expect(chooseTtl(frozen, limits(1, 2_000))).toBe(60);
      }
    });

    it('fewest queries decide, not the longest TTL, and of equal ones the smallest TTL', () => {
      const rows = [
        { ttlSeconds: 900, budgetSharePercent: 1, upstreamQueries: 80 },
        { ttlSeconds: 300, budgetSharePercent: 1, upstreamQueries: 70 },
        { ttlSeconds: 60, budgetSharePercent: 2, upstreamQueries: 70 },
        { ttlSeconds: 120, budgetSharePercent: 1, upstreamQueries: 70 },
      ];

      for (const inOrder of ordersOf(rows)) {
        expect(chooseTtl(inOrder, limits(5, 100))).toBe(60);
        expect(chooseTtl(inOrder, limits(1, 100))).toBe(120);
      }
    });
  });

  it('a question is 37 bytes: a header of six numbers, a name in labels, a type and a class', () => {
    const query = packQuery({ id: 0x1234, flags: RECURSION_DESIRED });

    expect(query.toString('hex', 0, 12)).toBe(
      [
        '1234', // the id, by which the answer will be known
        '0100', // flags: a query (QR 0) of opcode 0, recursion desired (RD)
        '0001', // one question
        '0000', // no answer,
        '0000', // no authority,
        '0000', // and no additional record
      ].join(''),
    );
    // Each label behind its length, and at the end the root, which is empty: no dots on the wire.
    expect(query.toString('latin1', 12, 33)).toBe('\x05takip\x05kargo\x07example\x00');
    expect(query.toString('hex', 33)).toBe('0001' + '0001'); // type A, class IN
    expect(query).toHaveLength(12 + (1 + 5) + (1 + 5) + (1 + 7) + 1 + 4);
  });

  it('an answer repeats the question, and adds an address and the seconds for which it holds', () => {
    const answer = answerTo(packQuery({ id: 0x1234 }), '198.51.100.234', 300);

    expect(answer.toString('hex', 0, 12)).toBe('1234' + '8400' + '0001' + '0001' + '0000' + '0000');
    expect(0x8400).toBe(0x8000 + AUTHORITATIVE_ANSWER); // QR: a response; AA: by who is in charge
    const record = answer.subarray(37 + 21); // behind the question and the name, once more
    expect(record.toString('hex', 0, 4)).toBe('0001' + '0001');
    expect(record.readUInt32BE(4), 'seconds').toBe(300);
    expect(record.readUInt16BE(8), 'bytes of data').toBe(4);
    expect([...record.subarray(10)].join('.')).toBe('198.51.100.234');
  });

  it('a resolver asks once in a TTL, and in the second in which it is over', async () => {
    let queries = 0;
    await using server = await startResponder((query) => {
      queries += 1;
      return [answerTo(query, '198.51.100.234', 300)];
    });
    let second = 0;
    await using resolver = await openStubResolver({
      port: server.port,
      name: NAME_SERVICE.name,
      nowSeconds: () => second,
    });

    const asked: number[] = [];
    for (; second <= 900; second += 1) {
      if (resolver.cached() !== undefined) continue;
      expect(await resolver.ask()).toBe('198.51.100.234');
      asked.push(second);
    }

    expect(asked).toEqual([0, 300, 600, 900]);
    expect(queries).toBe(4);
  });

  it('a resolver does not take what somebody else could have sent: another id, another question', async () => {
    await using server = await startResponder((query) => {
      const wrongId = answerTo(query, '192.0.2.66', 300);
      wrongId.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
      const other = packQuery({ id: query.readUInt16BE(0), name: 'TAKIP.kargo.example' });
      const right = answerTo(query, '198.51.100.234', 300);
      return [wrongId, answerTo(other, '192.0.2.66', 300), query, Buffer.alloc(7), right];
    });
    await using resolver = await openStubResolver({
      port: server.port,
      name: NAME_SERVICE.name,
      nowSeconds: () => 0,
    });

    expect(await resolver.ask()).toBe('198.51.100.234');
  });

  it('a question for g3 and one for g4 look the same to a server that is told 24 bits of them', () => {
    const table = new SubnetTable(NAME_SERVICE.subnets);

    expect(table.find('203.0.113.7')).toEqual({ group: 'g3', prefixLength: 25 });
    expect(table.find('203.0.113.200')).toEqual({ group: 'g4', prefixLength: 25 });
    // What arrives of 203.0.113.200 with 24 bits. A scope of 25 says: next time, tell me one more.
    expect(table.find('203.0.113.0')).toEqual({ group: 'g3', prefixLength: 25 });
    expect(table.find('2001:db8:4::1')).toEqual({ group: 'g4', prefixLength: 48 });
    expect(table.find('198.51.100.234')).toBeUndefined();
  });

  // Predict first: which of these may a server answer with silence: a question it doesn't understand,
  // a name it doesn't know, a type it doesn't have, a response?
  describe('Exercise 1.7: a name server', lesson.exercise('1.7'), () => {
    const { zone, name } = NAME_SERVICE;
    const soaRow = `SOA ${zone} 60`;

    /** The published service with a pair of regions, all up, unless the changes say otherwise. */
    const start = (changes: Partial<NameServerOptions> = {}) =>
      startNameServer({
        ...NAME_SERVICE,
        policy: pair,
        ttlSeconds: T1_TTL_SECONDS,
        isMarkedDown: allUp,
        ...changes,
      });

    describe('answers', () => {
      it('an A query gets the address of the region that the policy chose, and its TTL', async () => {
        for (const region of TABLES.regions) {
          await using server = await start({ policy: always(region), ttlSeconds: 42 });
          await using client = await openUdpClient(server.port);

          const response = await exchange(client);

          expect(response.rcode).toBe('NOERROR');
          expect(rows(response.answers)).toEqual([
            `A ${name} 42 ${NAME_SERVICE.addresses[region as 'b34']}`,
          ]);
          expect(rows(response.authorities)).toEqual([]);
        }
      });

      it('id and question come back, AA says who answers, and no recursion is offered', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const id of [0, 1, 0x1234, 0xffff]) {
          const query = packQuery({ id });
          const { bytes } = await exchange(client, query);
          expect(bytes.readUInt16BE(0), 'id').toBe(id);
          // QR and AA, and nothing else: opcode, TC, RD, RA, Z, AD, CD and the response code are 0.
          expect(bytes.toString('hex', 2, 4), 'flags').toBe('8400');
          expect(bytes.subarray(12, query.length), 'question').toEqual(query.subarray(12));
        }
      });

      it('of the flags of a query RD comes back, and the others do not', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const recursive = await exchange(client, { flags: RECURSION_DESIRED });
        const everything = await exchange(client, { flags: 0x07ff });

        expect(recursive.bytes.toString('hex', 2, 4), 'RD set').toBe('8500');
        // AA, TC, RA, Z, AD, CD and a response code make no sense in a query. Dropped, not copied.
        expect(everything.bytes.toString('hex', 2, 4), 'all bits set').toBe('8500');
      });

      it('the case of the letters does not matter, and comes back as it was sent', async () => {
        await using server = await start({ name: 'Takip.Kargo.Example' });
        await using client = await openUdpClient(server.port);

        for (const spelling of [name, 'TAKIP.KARGO.EXAMPLE', 'tAkIp.KaRgO.eXaMpLe']) {
          const query = packQuery({ name: spelling });
          const response = await exchange(client, query);
          // Resolvers mix the case so that a forged answer is harder to guess.
          expect(response.bytes.subarray(12, query.length), spelling).toEqual(query.subarray(12));
          expect(rows(response.answers)).toEqual([`A ${spelling} 300 198.51.100.234`]);
        }
      });

      it('a change of health takes effect with the next query', async () => {
        const marked = new Set<Region>();
        await using server = await start({ isMarkedDown: (region) => marked.has(region) });
        await using client = await openUdpClient(server.port);
        const address = async () => rows((await exchange(client)).answers)[0]?.split(' ')[3];

        const before = await address();
        marked.add('b34');
        const during = await address();
        marked.clear();

        expect([before, during, await address()]).toEqual([
          '198.51.100.234', // b34
          '198.51.100.206', // b06
          '198.51.100.234',
        ]);
      });

      it('only an address is chosen: other queries leave the policy where it stands', async () => {
        let asked = 0;
        const policy: RoutingPolicy = {
          answer() {
            asked += 1;
            return 'b34';
          },
        };
        await using server = await start({ policy });
        await using client = await openUdpClient(server.port);

        // A browser asks for AAAA as often as for A. The weighted pattern must not move for it.
        await exchange(client, { type: 'AAAA' });
        await exchange(client, { name: `yok.${zone}` });
        await exchange(client, { name: zone });
        expect(asked).toBe(0);
        await exchange(client);
        expect(asked).toBe(1);
      });

      it('type ANY gets what the name holds', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const ofName = await exchange(client, { type: 'ANY' });
        const ofZone = await exchange(client, { type: 'ANY', name: zone });

        expect(rows(ofName.answers)).toEqual([`A ${name} 300 198.51.100.234`]);
        expect(rows(ofZone.answers)).toEqual([soaRow]);
      });

      it('the zone itself may be the name, and then has an address and an SOA record', async () => {
        await using server = await start({ name: zone });
        await using client = await openUdpClient(server.port);

        const address = await exchange(client, { name: zone });
        const authority = await exchange(client, { name: zone, type: 'SOA' });

        expect(rows(address.answers)).toEqual([`A ${zone} 300 198.51.100.234`]);
        expect(rows(authority.answers)).toEqual([soaRow]);
      });

      it('an OPT record comes back to whoever has sent one, and to nobody else', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const plain = await exchange(client);
        const extended = await exchange(client, { edns: { payloadBytes: 4_096 } });

        expect(plain.additionals).toEqual([]);
        expect(extended.rcode).toBe('NOERROR');
        expect(extended.additionals).toMatchObject([
          { type: 'OPT', name: '.', ednsVersion: 0, udpPayloadSize: 1_232, flags: 0, options: [] },
        ]);
      });

      it('close() frees the port, and may be called twice', async () => {
        const server = await start();
        await using client = await openUdpClient(server.port);
        await exchange(client);
        await within(Promise.all([server.close(), server.close()]), 'the server to close');
        await within(server.close(), 'the server to be closed');

        await using successor = await start({ port: server.port });
        expect(successor.port).toBe(server.port);
        await expect(start({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
      });

      for (const [field, changes] of [
        ['ttlSeconds', [-1, 1.5, NaN, Infinity, 2 ** 31].map((ttlSeconds) => ({ ttlSeconds }))],
        ['zone', ['', '.', 'kargo..example', 'kargo.example.'].map((wrong) => ({ zone: wrong }))],
        [
          'name',
          [
            '',
            'takip',
            'takip.example',
            'nokargo.example',
            '.kargo.example',
            'takip.kargo.example.',
            `${'x'.repeat(40)}.kargo.example`,
          ].map((wrong) => ({ name: wrong })),
        ],
        ['soa.minimum', [{ soa: { ...NAME_SERVICE.soa, minimum: -1 } }]],
        ['b06', [{ addresses: { b34: '192.0.2.1', b35: '192.0.2.2' } }]],
        ['b35', ['', '192.0.2', '2001:db8::1'].map((b35) => ({ addresses: { ...FINE, b35 } }))],
        [
          'subnets',
          [['192.0.2.0'], ['192.0.2.0/33'], ['192.0.2.0/24', '192.0.2.128/25']].map((nets) => ({
            subnets: nets.map((subnet): ClientSubnet => ({ subnet, group: 'g1' })),
          })),
        ],
      ] as [string, Partial<NameServerOptions>[]][]) {
        it(`refuses to start with a wrong ${field}`, async () => {
          for (const change of changes) await expectRefusal(() => start(change), field);
        });
      }

      it('the longest and the shortest TTL are seconds like any other', async () => {
        for (const ttlSeconds of [0, MAX_TTL_SECONDS]) {
          await using server = await start({ ttlSeconds });
          await using client = await openUdpClient(server.port);
          expect((await exchange(client)).answers).toMatchObject([{ ttl: ttlSeconds }]);
        }
      });
    });

    describe('negative answers', () => {
      it('a type that the name does not have: the name exists, says the SOA record, and no more', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const type of ['AAAA', 'TXT', 'SOA', 'NS', 'UNKNOWN_65'] as const) {
          const response = await exchange(client, { type });
          expect(response.rcode, type).toBe('NOERROR');
          expect(response.flag_aa, type).toBe(true);
          expect(rows(response.answers), type).toEqual([]);
          expect(rows(response.authorities), type).toEqual([soaRow]);
        }
      });

      it('a name that does not exist in the zone: NXDOMAIN, which may be remembered for 60 s', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const missing of [
          `yok.${zone}`,
          `www.${name}`,
          `a.b.c.${zone}`,
          `tak\u0131p.${zone}`,
        ]) {
          const response = await exchange(client, { name: missing });
          expect(response.rcode, missing).toBe('NXDOMAIN');
          expect(response.flag_aa, missing).toBe(true);
          expect(rows(response.answers), missing).toEqual([]);
          expect(rows(response.authorities), missing).toEqual([soaRow]);
          expect(response.authorities).toMatchObject([{ data: NAME_SERVICE.soa }]);
        }
      });

      it('the Kelvin sign is no k, although JavaScript makes one of it', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        const kelvin = name.replace('k', '\u212a');
        expect(kelvin.toLowerCase()).toBe(name);

        expect((await exchange(client, { name: kelvin })).rcode).toBe('NXDOMAIN');
      });

      it('the zone exists, and so does each name on the way to the one that has an address', async () => {
        await using server = await start({ name: `a.b.${zone}` });
        await using client = await openUdpClient(server.port);

        // An NXDOMAIN would deny all that is below as well (RFC 8020), the address included.
        for (const existing of [zone, `b.${zone}`, `B.${zone}`]) {
          const response = await exchange(client, { name: existing });
          expect(response.rcode, existing).toBe('NOERROR');
          expect(rows(response.authorities), existing).toEqual([soaRow]);
        }
        expect((await exchange(client, { name: `ab.${zone}` })).rcode).toBe('NXDOMAIN');
        expect((await exchange(client, { name: `x.b.${zone}` })).rcode).toBe('NXDOMAIN');
      });

      it('the SOA record of the zone is an answer when it is asked for', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const response = await exchange(client, { name: zone, type: 'SOA' });

        expect(response.rcode).toBe('NOERROR');
        expect(rows(response.answers)).toEqual([soaRow]);
        expect(rows(response.authorities)).toEqual([]);
      });

      it('a negative answer may be remembered for as long as the SOA record says', async () => {
        const soa = { ...NAME_SERVICE.soa, minimum: 7 };
        await using server = await start({ soa });
        await using client = await openUdpClient(server.port);

        const { authorities } = await exchange(client, { type: 'AAAA' });

        expect(authorities).toMatchObject([{ ttl: 7, data: { minimum: 7 } }]);
      });

      it('a name outside the zone is refused, and AA is not set', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const outside of ['example', '.', 'kargo.example.com', 'nokargo.example']) {
          const response = await exchange(client, { name: outside });
          expect(response.rcode, outside).toBe('REFUSED');
          expect(response.flag_aa, outside).toBe(false);
          expect(response.questions, outside).toMatchObject([{ name: outside, type: 'A' }]);
          expect([...(response.answers ?? []), ...(response.authorities ?? [])]).toEqual([]);
        }
      });

      it('any class but IN is refused, and comes back as it was', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const number of [0, 3, 5, 255, 0x8001]) {
          const query = packQuery();
          query.writeUInt16BE(number, query.length - 2);
          const response = await exchange(client, query);
          expect(response.rcode, `class ${number}`).toBe('REFUSED');
          expect(response.bytes.subarray(12), `class ${number}`).toEqual(query.subarray(12));
        }
      });

      it('every opcode but 0 is not implemented, and comes back', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (let opcode = 1; opcode <= 15; opcode += 1) {
          const { bytes } = await exchange(client, { id: opcode, flags: opcode << 11 });
          const header = Buffer.alloc(12);
          header.writeUInt16BE(opcode, 0);
          header.writeUInt16BE(0x8000 | (opcode << 11) | 4, 2); // QR, opcode, NOTIMP
          expect(bytes.toString('hex'), `opcode ${opcode}`).toBe(header.toString('hex'));
        }
      });

      it('without a live region the server fails, and recovers', async () => {
        let dead = true;
        const policy: RoutingPolicy = {
          answer() {
            if (dead) throw new Error('no live region');
            return 'b35';
          },
        };
        await using server = await start({ policy });
        await using client = await openUdpClient(server.port);

        const failed = await exchange(client, { edns: { subnet: '192.0.2.0/24' } });
        dead = false;
        const recovered = await exchange(client);

        expect(failed.rcode).toBe('SERVFAIL');
        expect(failed.flag_aa).toBe(false);
        expect(rows(failed.authorities), 'a negative answer would be remembered').toEqual([]);
        expect(subnetOf(failed)).toBe('0001 18 00 c00002');
        expect(rows(recovered.answers)).toEqual([`A ${name} 300 198.51.100.235`]);
      });

      it('a region that nobody knows is a failure too', async () => {
        await using server = await start({ policy: always('b99') });
        await using client = await openUdpClient(server.port);
        expect((await exchange(client)).rcode).toBe('SERVFAIL');
      });

      it('another version of EDNS is BADVERS, and its options are not looked at', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const edns = { version: 1, subnet: '192.0.2.0/24' };
        const response = await exchange(client, { edns });

        expect(response.rcode).toBe('BADVERS');
        expect(response.flag_aa).toBe(false);
        expect(rows(response.answers)).toEqual([]);
        expect(response.edns).toMatchObject({ ednsVersion: 0, options: [] });
      });

      it('the longest name that can be asked for still gets a response of at most 512 bytes', async () => {
        const longest = [...Array(3).fill('x'.repeat(63)), 'x'.repeat(47), zone].join('.');
        const mname = `${'m'.repeat(36)}.${zone}`;
        await using server = await start({ soa: { ...NAME_SERVICE.soa, mname, rname: mname } });
        await using client = await openUdpClient(server.port);

        const { rcode, bytes } = await exchange(client, {
          name: longest,
          edns: { subnet: '::/0' },
        });

        expect(longest).toHaveLength(253);
        expect(rcode).toBe('NXDOMAIN');
        expect(bytes.length, 'bytes').toBeLessThanOrEqual(MAX_PLAIN_BYTES);
      });
    });

    describe('client subnet', () => {
      /** Starts a server whose policy notes for which groups it was asked. */
      const startNoting = async (changes: Partial<NameServerOptions> = {}) => {
        const groups: string[] = [];
        const policy: RoutingPolicy = {
          answer({ group }) {
            groups.push(group);
            return 'b34';
          },
        };
        return { groups, server: await start({ policy, ...changes }) };
      };

      it('each published network is of its group, and the scope of the answer is that network', async () => {
        const { groups, server } = await startNoting();
        await using _ = server;
        await using client = await openUdpClient(server.port);

        const scopes: string[] = [];
        for (const { subnet } of NAME_SERVICE.subnets) {
          scopes.push(`${subnetOf(await exchange(client, { edns: { subnet } }))?.split(' ')[2]}`);
        }

        expect(groups).toEqual(['g1', 'g2', 'g3', 'g4', 'g1', 'g2', 'g3', 'g4']);
        expect(scopes).toEqual(['18', '19', '19', '19', '30', '30', '30', '30']); // 24, 25, 48 bits
      });

      it('family, prefix and address come back, and the scope says for whom the answer is', async () => {
        const { groups, server } = await startNoting();
        await using _ = server;
        await using client = await openUdpClient(server.port);

        for (const [asked, group, echoed] of [
          ['192.0.2.77/32', 'g1', '0001 20 18 c000024d'],
          ['203.0.113.200/32', 'g4', '0001 20 19 cb0071c8'],
          ['203.0.113.0/24', 'g3', '0001 18 19 cb0071'], // more is needed to tell g3 from g4
          ['2001:db8:2:ff00::/56', 'g2', '0002 38 30 20010db80002ff'],
          ['192.0.2.0/23', 'g1', '0001 17 18 c00002'],
        ] as const) {
          const response = await exchange(client, { edns: { subnet: asked } });
          expect(groups.splice(0), asked).toEqual([group]);
          expect(subnetOf(response), asked).toBe(echoed);
        }
      });

      it('a network in no table gets the answer of the fallback group, for nobody but itself', async () => {
        const { groups, server } = await startNoting({ fallbackGroup: 'g4' });
        await using _ = server;
        await using client = await openUdpClient(server.port);

        for (const [asked, echoed] of [
          ['198.51.100.128/25', '0001 19 20 c6336480'],
          ['8.0.0.0/5', '0001 05 20 08'],
          ['2001:db8:5::/48', '0002 30 80 20010db80005'],
          ['::ffff:192.0.2.0/120', '0002 78 80 00000000000000000000ffffc00002'],
        ] as const) {
          const response = await exchange(client, { edns: { subnet: asked } });
          expect(groups.splice(0), asked).toEqual(['g4']);
          expect(subnetOf(response), asked).toBe(echoed);
        }
      });

      it('without the option the source address decides, and no option comes back', async () => {
        const sources = await ownAddresses();
        for (const turn of GROUPS.keys()) {
          // Each source is of each group once. A system with one loopback address has one source.
          const groupAt = (index: number) => GROUPS[(index + turn) % GROUPS.length] as string;
          const subnets = sources.map((source, index) => ({
            subnet: `${source}/32`,
            group: groupAt(index),
          }));
          const { groups, server } = await startNoting({ subnets, fallbackGroup: 'none' });
          await using _ = server;

          for (const source of sources) {
            await using client = await openUdpClient(server.port, source);
            expect((await exchange(client)).additionals).toEqual([]);
            expect(subnetOf(await exchange(client, { edns: {} }))).toBeUndefined();
          }
          expect(groups).toEqual(sources.flatMap((_, at) => [groupAt(at), groupAt(at)]));
        }
      });

      it('the option overrules the source address', async () => {
        const subnets: ClientSubnet[] = [
          { subnet: '127.0.0.0/8', group: 'g2' },
          { subnet: '192.0.2.0/24', group: 'g3' },
        ];
        const { groups, server } = await startNoting({ subnets, fallbackGroup: 'g4' });
        await using _ = server;
        await using client = await openUdpClient(server.port);

        await exchange(client, { edns: { subnet: '192.0.2.0/24' } });
        await exchange(client, { edns: { subnet: '198.51.100.0/24' } });

        expect(groups).toEqual(['g3', 'g4']);
      });

      it('a client that keeps its address to itself is judged by its source, with a scope of 0', async () => {
        const subnets = [{ subnet: '127.0.0.0/8', group: 'g2' }];
        const { groups, server } = await startNoting({ subnets });
        await using _ = server;
        await using client = await openUdpClient(server.port);

        // Some say IPv4, some IPv6, and some no family at all.
        for (const bytes of ['0001 00 00', '0002 00 00', '0000 00 00']) {
          const response = await exchange(client, { edns: { subnetBytes: hex(bytes) } });
          expect(response.rcode, bytes).toBe('NOERROR');
          expect(groups.splice(0), bytes).toEqual(['g2']);
          expect(subnetOf(response)).toBe(bytes);
        }
      });

      it('what is the same for everybody has a scope of 0', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        const edns = { subnet: '192.0.2.0/24' };

        for (const query of [
          { edns, type: 'AAAA' },
          { edns, name: `yok.${zone}` },
          { edns, name: zone, type: 'SOA' },
          { edns, name: 'example' },
        ] as const) {
          expect(subnetOf(await exchange(client, query))).toBe('0001 18 00 c00002');
        }
      });

      it('a malformed client subnet is a FORMERR with the question, and nobody asks the policy', async () => {
        const { groups, server } = await startNoting();
        await using _ = server;
        await using client = await openUdpClient(server.port);

        for (const [flaw, bytes] of [
          ['too few bytes of address', '0001 18 00 c000'],
          ['too many bytes of address', '0001 18 00 c0000200'],
          ['an address and a prefix of 0 bits', '0001 00 00 c0'],
          ['a bit behind the prefix', '0001 17 00 c00003'],
          ['a prefix longer than an IPv4 address', '0001 21 00 c000020000'],
          ['a prefix longer than an IPv6 address', `0002 81 00 ${'00'.repeat(17)}`],
          ['a family of 0 with an address', '0000 08 00 c0'],
          ['a family of 3', '0003 18 00 c00002'],
          ['a scope in a query', '0001 18 18 c00002'],
        ] as const) {
          const response = await exchange(client, { edns: { subnetBytes: hex(bytes) } });
          expect(response.rcode, flaw).toBe('FORMERR');
          expect(response.flag_aa, flaw).toBe(false);
          expect(response.questions, flaw).toMatchObject([{ name }]);
          expect(response.edns, flaw).toMatchObject({ options: [] });
        }
        expect(groups).toEqual([]);
      });

      it('a client subnet of less than four bytes is a FORMERR, wherever it stands', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        for (const bytes of ['', '00', '0001', '0001 18']) {
          const last = packQuery({ edns: { subnetBytes: hex(bytes) } });
          // With another option behind it, there are bytes that a careless reader takes for its own.
          const first = Buffer.concat([last, hex('000a 0008 0001020304050607')]);
          first.writeUInt16BE(hex(bytes).length + 4 + 12, packQuery().length + 9);

          expect((await exchange(client, last)).rcode, bytes).toBe('FORMERR');
          expect((await exchange(client, first)).rcode, bytes).toBe('FORMERR');
        }
      });
    });

    describe('real clients', () => {
      it("Node's own resolver understands the address, the TTL and both ways to say no", async () => {
        await using server = await start();
        const resolver = new dns.Resolver({ timeout: 3_000, tries: 1 });
        resolver.setServers([`127.0.0.1:${server.port}`]);

        const found = await resolver.resolve4(name, { ttl: true });
        const authority = await resolver.resolveSoa(zone);
        const noSuchType = resolver.resolveMx(name);
        const noSuchName = resolver.resolve4(`yok.${zone}`);

        expect(found).toEqual([{ address: '198.51.100.234', ttl: 300 }]);
        expect(authority).toMatchObject({ nsname: 'ns1.kargo.example', minttl: 60 });
        await expect(noSuchType).rejects.toMatchObject({ code: 'ENODATA' });
        await expect(noSuchName).rejects.toMatchObject({ code: 'ENOTFOUND' });
      });

      it('dig gets what it asks for: by its bytes here, and by dig itself where it is installed', async ({
        annotate,
      }) => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        // As dig 9.18 sends it: RD and AD set, and an OPT record with a cookie for the server.
        const recorded = Buffer.concat([
          Buffer.from('1234' + '0120' + '0001' + '0000' + '0000' + '0001', 'hex'),
          packQuery().subarray(12),
          Buffer.from('00' + '0029' + '04d0' + '00000000' + '000c' + '000a0008', 'hex'),
          Buffer.from('0123456789abcdef', 'hex'),
        ]);

        const response = await exchange(client, recorded);
        const printed = await dig(server.port, name, '+subnet=203.0.113.128/25');

        expect(response.rcode).toBe('NOERROR');
        expect(rows(response.answers)).toEqual([`A ${name} 300 198.51.100.234`]);
        if (printed === undefined) {
          const reason = 'dig is not installed, so only a query that it once sent was tried';
          console.info(`Lesson 1: ${reason}.`);
          await annotate(reason, 'notice');
          return;
        }
        expect(printed).toMatch(/status: NOERROR/);
        expect(printed).toMatch(/flags: qr aa rd;/);
        expect(printed).toMatch(/^takip\.kargo\.example\.\s+300\s+IN\s+A\s+198\.51\.100\.234$/m);
        expect(printed).toMatch(/CLIENT-SUBNET: 203\.0\.113\.128\/25\/25/);
        expect(printed).not.toMatch(/malformed|mismatch|bad packet|extra bytes/i);
      });
    });

    describe('hostile packets', () => {
      /** Sends each of them, with a good query behind it, and compares what comes back. */
      const survive = async (packets: readonly HostilePacket[]) => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        for (const { flaw, packet } of packets) {
          const came = await provoke(client, packet);
          expect(came?.toString('hex') ?? 'silence', flaw).toBe(rejectionOf(packet));
        }
      };

      it('a query cut anywhere is a FORMERR, and silence where not even its header is left', () =>
        survive([
          ...truncations(packQuery()),
          ...truncations(packQuery({ edns: { subnet: '2001:db8:1::/48' } })),
        ]));

      it('names that lead back to themselves are a FORMERR, and take no time', () =>
        survive(pointerLoops()));

      it('200 questions are one FORMERR, and so is a length that lies', () =>
        survive(lies(packQuery())));

      it('4 KB of noise do no harm', () => survive(noise(20, 4_096)));

      it('whatever bytes of a query are changed, the server lives, and says 512 bytes at most', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        const query = packQuery({ edns: { subnet: '2001:db8:1::/48' } });

        await expectLaw(
          {
            changes: fc.array(fc.tuple(fc.nat(query.length - 1), fc.nat(255)), {
              minLength: 1,
              maxLength: 5,
            }),
          },
          async ({ changes }) => {
            const packet = Buffer.from(query);
            for (const [at, byte] of changes) packet[at] = byte;
            const came = await provoke(client, packet);
            if (!came) return expect(packet.readUInt8(2) & 0x80, 'QR').toBe(0x80);
            expect(came.length).toBeLessThanOrEqual(MAX_PLAIN_BYTES);
            expect(came.readUInt16BE(0)).toBe(packet.readUInt16BE(0));
          },
        );
      });

      it('a response is never answered, whatever it says', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);

        const response = (await exchange(client)).bytes;
        for (const flags of [0x8000, 0x8400, 0x8001, 0xf800, 0xffff]) {
          response.writeUInt16BE(flags, 2);
          expect(await provoke(client, response), flags.toString(16)).toBeUndefined();
        }
      });

      it('a name that cannot be repeated byte for byte is neither looked up nor repeated', async () => {
        const label = (bytes: string) =>
          Buffer.from(String.fromCharCode(bytes.length) + bytes, 'latin1');
        const asked = (...labels: string[]) =>
          Buffer.concat([
            packQuery().subarray(0, 12),
            ...labels.map(label),
            Buffer.from([0, 0, 1, 0, 1]),
          ]);
        await survive([
          // It is not the name that it looks like when it is printed.
          { flaw: 'a dot inside a label', packet: asked('takip.kargo', 'example') },
          { flaw: 'a dot at the end of a label', packet: asked('takip', 'kargo', 'example.') },
          {
            flaw: 'bytes that are not UTF-8',
            packet: asked('\xff'.repeat(63), 'kargo', 'example'),
          },
        ]);
      });

      it('bytes behind the last record do not matter', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        const response = await exchange(
          client,
          Buffer.concat([packQuery(), Buffer.alloc(400, 0xff)]),
        );
        expect(rows(response.answers)).toEqual([`A ${name} 300 198.51.100.234`]);
      });

      it('an asker that has gone away does not end the server', async () => {
        await using server = await start();
        for (let index = 0; index < 20; index += 1) {
          await using gone = await openUdpClient(server.port);
          gone.send(packQuery());
        }
        await using client = await openUdpClient(server.port);
        expect((await exchange(client)).rcode).toBe('NOERROR');
      });

      it('a hundred askers at the same time get each their own answer', async () => {
        await using server = await start();
        await using client = await openUdpClient(server.port);
        const ids = Array.from({ length: 100 }, (_, index) => 1_000 + index);

        for (const id of ids) client.send(packQuery({ id }));
        const responses: number[] = [];
        for (const _ of ids) {
          const response = readResponse(await client.next('a hundred answers'));
          responses.push(response.bytes.readUInt16BE(0));
        }

        expect(responses.sort((a, b) => a - b)).toEqual(ids);
      });
    });

    // Forty resolvers ask over UDP, second by second. From here on exercise 1.3 is needed as well.
    describe('forty resolvers', () => {
      for (const kind of ['geographic', 'latency', 'weighted'] as const) {
        it(`${kind}: over real sockets the hour is that of the model`, async () => {
          const run = await runServer(kind);

          expect(run).toEqual(runPolicy(kind));
          expectPublishedRow(kind, run);
        });
      }

      for (const ttlSeconds of TTLS_SECONDS) {
        it(`b34 fails, TTL ${ttlSeconds} s: real caches keep the dead address as long as the model`, async () => {
          const run = await runServer('geographic', { ttlSeconds, failure: FAILURE });

          expect(run).toEqual(runPolicy('geographic', { ttlSeconds, failure: FAILURE }));
          const id = `01.failover.ttl${ttlSeconds}`;
          expect(run.windowSeconds).toBePublished(`${id}.window`);
          expect(run.dropped).toBePublished(`${id}.dropped`);
          expect(run.upstreamQueries).toBePublished(`${id}.upstream`);
        });
      }
    });
  });
});

// Plumbing below this line.

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function distanceTo(group: string, region: Region | undefined): number {
  return TABLES.distance[group]?.[region ?? ''] ?? Number.NaN;
}

function targetOf(region: Region): number {
  return (T3_TARGET_SHARES as Record<Region, number>)[region] ?? Number.NaN;
}

/** Counts in the order of the regions, as shares. */
function sharesOf(counts: readonly number[]): Record<Region, number> {
  return Object.fromEntries(
    T2_REGIONS.map((region, index) => [region, (counts[index] ?? 0) / sum(counts)]),
  );
}

/** Options of a published run, except for what is changed. */
function publishedOptions(change: Partial<RunOptions> = {}): RunOptions {
  return {
    ttlSeconds: T1_TTL_SECONDS,
    durationSeconds: change.failure ? DURATION_SECONDS.failover : DURATION_SECONDS.policies,
    resolverRates: RESOLVER_RATES.forty,
    ...change,
  };
}

/** A run of a new policy. The same run is made once, unless somebody listens to it. */
function runPolicy(kind: PolicyKind, change: Partial<RunOptions> = {}): RunResult {
  const key = change.onRequests ? undefined : JSON.stringify([kind, change]);
  const known = key && runs.get(key);
  if (known) return known;
  const run = simulate(createPolicy(kind, TABLES), publishedOptions(change));
  if (key) runs.set(key, run);
  return run;
}

/** The same run over UDP, on a server that has just been started. */
function runServer(kind: PolicyKind, change: Partial<RunOptions> = {}): Promise<RunResult> {
  return runOverUdp(startNameServer, createPolicy(kind, TABLES), publishedOptions(change));
}

const runs = new Map<string, RunResult>();

function expectPublishedRow(kind: PolicyKind, run: RunResult): void {
  const id = `01.policy.${kind}`;
  for (const region of T2_REGIONS) {
    expect((run.shares[region] ?? 0) * 100).toBePublished(`${id}.share.${region}`);
  }
  expect(run.deviation).toBePublished(`${id}.deviation`);
  expect(run.unitDistance).toBePublished(`${id}.unitDistance`);
  expect(run.upstreamQueries).toBePublished(`${id}.upstream`);
}

function sharesInOneLine({ shares }: RunResult): string {
  return T2_REGIONS.map((region) => ((shares[region] ?? 0) * 100).toFixed(2)).join('/');
}

function inOneLine(run: RunResult): string {
  return (
    `${sharesInOneLine(run)} %, off by ${run.deviation.toFixed(4)}, ` +
    `${run.unitDistance.toFixed(4)} units, ${run.upstreamQueries} queries`
  );
}

function failoverInOneLine({ windowSeconds, dropped, upstreamQueries }: RunResult): string {
  return `${windowSeconds} s, ${dropped} dropped, ${upstreamQueries} queries`;
}

/** b34 fails in each second of one TTL in turn; those that are bound to it drop their requests. */
function failInEverySecond(ttlSeconds: number, detectionSeconds: number) {
  return Array.from({ length: ttlSeconds }, (_, index) => {
    const startSecond = index + 1;
    const { dropped, windowSeconds } = simulate(pair, {
      ttlSeconds,
      durationSeconds: startSecond + ttlSeconds + detectionSeconds,
      resolverRates: boundToB34,
      failure: { region: 'b34', startSecond, detectionSeconds },
    });
    return { startSecond, dropped, windowSeconds };
  });
}

/** Deviation of the requests of single seconds, averaged over an hour. */
function deviationOfSeconds() {
  const seconds = DURATION_SECONDS.policies;
  const counts = new Map(T2_REGIONS.map((region) => [region as Region, new Uint32Array(seconds)]));
  return {
    add({ second, region, requests }: { second: number; region: Region; requests: number }) {
      const ofRegion = counts.get(region) as Uint32Array;
      ofRegion[second - 1] = (ofRegion[second - 1] ?? 0) + requests;
    },
    mean() {
      let differences = 0;
      for (const [region, ofRegion] of counts) {
        const target = targetOf(region) * REQUEST_RATE;
        for (const count of ofRegion) differences += Math.abs(count - target);
      }
      return differences / 2 / REQUEST_RATE / seconds;
    },
  };
}

/**
 * The split of exercise 1.1 without a fraction: all weights times a common multiple, and remainders
 * in place of fractions.
 */
function exactSplit(rate: number, count: number): number[] {
  const divisors = Array.from({ length: count }, (_, j) => BigInt(j + 1));
  const multiple = divisors.reduce((product, divisor) => product * divisor, 1n);
  const weights = divisors.map((divisor) => multiple / divisor);
  const total = weights.reduce((sumSoFar, weight) => sumSoFar + weight, 0n);
  const parts = weights.map((weight) => BigInt(rate) * weight);
  const split = parts.map((part) => Number(part / total));
  const byRemainder = [...parts.keys()].sort((a, b) => {
    const [left, right] = [(parts[a] ?? 0n) % total, (parts[b] ?? 0n) % total];
    return left === right ? a - b : left < right ? 1 : -1;
  });
  for (const j of byRemainder.slice(0, rate - sum(split))) split[j] = (split[j] ?? 0) + 1;
  return split;
}

/** Every order of a list. */
function ordersOf<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((item, index) =>
    ordersOf(list.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

/** IPv4 addresses of the regions, as good as any. */
const FINE = { b34: '192.0.2.1', b35: '192.0.2.2', b06: '192.0.2.3' };

/** Answers the same for everybody. */
function always(region: Region): RoutingPolicy {
  return { answer: () => region };
}

/** Records in one line each: type, owner, TTL, and the address if it is one. */
function rows(records: readonly Answer[] = []): string[] {
  return records.map((record) => {
    const { type, name } = record;
    const ttl = 'ttl' in record ? record.ttl : undefined;
    return [type, name, ttl, ...(record.type === 'A' ? [record.data] : [])].join(' ');
  });
}

/** A well-formed answer to the question of a query: one address. */
function answerTo(query: Buffer, address: string, ttl: number): Buffer {
  const { questions = [] } = decode(query);
  const name = questions[0]?.name ?? '';
  return encode({
    type: 'response',
    id: query.readUInt16BE(0),
    flags: AUTHORITATIVE_ANSWER,
    questions,
    answers: [{ type: 'A', name, ttl, data: address }],
  });
}

/** What has to come back for a packet without a question that can be read, in hex. */
function rejectionOf(packet: Buffer): string {
  if (packet.length < 12 || packet.readUInt16BE(2) & 0x8000) return 'silence';
  const flags = packet.readUInt16BE(2);
  const header = Buffer.alloc(12);
  packet.copy(header, 0, 0, 2);
  const rcode = flags & 0x7800 ? RCODE.NOTIMP : RCODE.FORMERR;
  header.writeUInt16BE(0x8000 | (flags & 0x7900) | rcode, 2);
  return header.toString('hex');
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

/** The loopback addresses that a socket of this machine can have: four, or the first alone on macOS. */
async function ownAddresses(): Promise<string[]> {
  const possible: string[] = [];
  for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    try {
      await using _ = await openUdpClient(1, address);
      possible.push(address);
    } catch (error) {
      expect(error).toMatchObject({ code: 'EADDRNOTAVAIL' });
    }
  }
  return possible;
}

/** What dig prints, or `undefined` where it isn't installed. */
async function dig(port: number, ...args: string[]): Promise<string | undefined> {
  const options = ['@127.0.0.1', '-p', String(port), '+tries=1', '+timeout=3'];
  try {
    return (await promisify(execFile)('dig', [...options, ...args])).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
