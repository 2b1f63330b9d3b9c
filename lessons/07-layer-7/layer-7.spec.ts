// Lesson 7: layer 7 balancing
//
// Six clients ask the tracking service. One sends a single request, another 32, and each keeps its
// connection. A balancer that decides once a connection gives one of three replicas four times as
// much as another (lesson 6), and it cannot tell a query from a status event. What changes when it
// reads every request? From lesson 5 you know how a balancer forwards a request and what it owes to
// both sides. You leave with a balancer that decides for each request and keeps two pools apart,
// with a plan of what those pools cost, and with the bill for reading.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
//
// These tests take more than a second and a half together. Half of that are two of them: X5 has to
// see 64 MiB come to a standstill twice, and X11 repeats some hundred requests over connections that
// break. The other half is the table of S1 to S10: a thousand requests, each over real sockets twice.
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { decisionRates } from '#helpers/lesson/decision-rates.ts';
import { attachFigure, bars } from '#helpers/lesson/figure.ts';
import { startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { disposable, type ProxyKind, proxyExtras } from '#helpers/lesson/proxy-extras.ts';
import { rawExchange } from '#helpers/lesson/raw.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { startReplica, startReplicas } from '#helpers/lesson/tracking.ts';
import { eventually, within } from '#helpers/lesson/waiting.ts';
import { type ClientRun, type ClientRunOptions, EVENT_EVERY, MIX, runClients } from './clients.ts';
import {
  burst,
  choosePoolLayout,
  forwarded,
  innerConnections,
  poolPlan,
  predictDistribution,
  routeOf,
  startLayer7Balancer,
} from './exercise.ts';
import {
  type Distribution,
  LAYOUTS,
  type Layer7Counters,
  type Layer7Options,
  PUBLISHED,
  PUBLISHED_PORTS,
  REPLICAS,
  type ReplicaCounts,
  skew,
} from './given.ts';
import { startConnectionBalancer, startHoldingReplicas, startRefusingReplicas } from './servers.ts';

const lesson = openLesson(import.meta.url);

const { readRate, writeRate, saturationRate, safeRate } = PUBLISHED;
const load = { readRate, writeRate, saturationRate, safeRate };

/** Two decimals, as the lesson prints rates and skews. */
const twoDecimals = (value: number) => value.toFixed(2);
/** Three decimals, as the lesson prints utilisations. */
const share = (value: number) => value.toFixed(3);
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const total = ({ read, write }: ReplicaCounts) => read + write;
/** `13/13/13/12`: a column of a distribution, `k1` first. */
const column = (distribution: Distribution, kind: keyof ReplicaCounts) =>
  Object.keys(distribution)
    .sort()
    .map((name) => distribution[name]?.[kind])
    .join('/');

/** Both streams as the series of a figure. */
const streams = (counts: readonly ReplicaCounts[]) => [
  { name: '/takip', values: counts.map(({ read }) => read) },
  { name: '/olay', values: counts.map(({ write }) => write) },
];

/** A layout by the names of its replicas. */
interface Layout {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

type Extra = Partial<Omit<Layer7Options, 'read' | 'write'>>;

/**
 * Your balancer in front of the replicas that a layout names, with the published inner limit. Of two
 * replicas with one name it gets the first.
 */
async function startBalancer(replicas: readonly Replica[], layout: Layout, extra: Extra = {}) {
  const pick = (names: readonly string[]) =>
    names.map((name) => ({ name, port: replicas.find((one) => one.name === name)?.port ?? 0 }));
  return disposable(
    await startLayer7Balancer({
      read: pick(layout.read),
      write: pick(layout.write),
      innerConnectionsPerReplica: 1,
      ...extra,
    }),
  );
}

/** Runs clients with these shares through your balancer. Those in `dead` refuse connections. */
async function runThrough(
  layout: Layout,
  shares: readonly number[],
  { dead = [], extra, ...how }: ClientRunOptions & { dead?: string[]; extra?: Extra } = {},
) {
  await using replicas = await startReplicas(5);
  await using refusing = await startRefusingReplicas(...dead);
  await using balancer = await startBalancer([...refusing, ...replicas], layout, extra);
  const clients = await runClients(balancer.port, shares, how);
  return { clients, counters: balancer.counters() };
}

describe('Lesson 7: layer 7 balancing', () => {
  it('the load is that of the introductory course: at its peak 4.29 reads come on one write', () => {
    expect(readRate).toBePublished('07.given.readRate');
    expect(writeRate).toBePublished('07.given.writeRate');
    expect(readRate + writeRate).toBePublished('07.given.peakRate');
    expect(readRate / writeRate).toBePublished('07.given.readWriteRatio');
    expect(saturationRate).toBePublished('07.given.saturation');
    expect(safeRate).toBePublished('07.given.safeRate');
  });

  // Predict first: six clients send 1, 2, 4, 8, 16 and 32 requests, three replicas take the
  // connections in turn. How many requests does each replica get?
  it('a decision per connection binds up to 32 requests: 6 decisions, and a skew of 4.00', async ({
    annotate,
  }) => {
    await using replicas = await startReplicas(3);
    await using balancer = await startConnectionBalancer(replicas);

    const { answers } = await runClients(balancer.port, MIX);

    const names = replicas.map(({ name }) => name);
    const counts = names.map((name) => answers[name] ?? { read: 0, write: 0 });
    await attachFigure(annotate, {
      title: 'Before: a decision per connection, and k3 gets four times as much as k1',
      facts: names.map(
        (name, i) => `${name} gets ${counts[i]?.read} queries and ${counts[i]?.write} events`,
      ),
      option: () =>
        bars({
          unit: 'requests',
          stacked: true,
          categories: names,
          series: streams(counts),
        }),
    });
    expect(counts.map(total)).toEqual([1 + 8, 2 + 16, 4 + 32]);
    expect(skew(counts.map(total))).toBePublished('07.ref.layer4.skew');
    expect(balancer.decisions).toBePublished('07.ref.layer4.decisions');
    // And every replica has got some of both: on this port nobody looks at paths.
    for (const { read, write } of counts) expect(Math.min(read, write)).toBeGreaterThan(0);
  });

  it('deciding per request is deciding ten times as often: 513.89 instead of 51.39 a second', () => {
    const { peakRate, requestsPerConnection } = PUBLISHED;
    const rates = decisionRates(peakRate, requestsPerConnection);

    expect(requestsPerConnection).toBePublished('07.given.requestsPerConnection');
    expect(rates.perConnection).toBePublished('07.rate.layer4');
    expect(rates.perRequest).toBePublished('07.rate.layer7');
    expect(rates.ratio).toBePublished('07.rate.ratio');
    // With one request per connection there would be nothing to tell the two apart.
    expect(decisionRates(peakRate, 1).ratio).toBe(1);
  });

  it('a skew over whoever was seen hides the replica that got nothing', () => {
    const idle = [21, 21, 21, 0];
    expect(skew(idle)).toBe(Infinity);
    expect(skew(idle.filter((count) => count > 0))).toBe(1);
  });

  // Predict first: /olay is a write. What is /olay/ ? And /x/../olay ?
  describe('Exercise 7.1: routeOf', lesson.exercise('7.1'), () => {
    const writePaths = ['/olay'];
    const cases = {
      write: ['/olay', '/olay?no=1', '/x/../olay', '/./olay', 'http://h/olay'],
      read: ['/takip', '/olay/', '/OLAY', '/olaylar', '/ol%61y', '//olay', '*'],
      'bad-request': ['//', ''],
    } as const;
    for (const [route, targets] of Object.entries(cases)) {
      for (const target of targets) {
        it(`"${target}" is a ${route}`, () => {
          expect(routeOf(target, writePaths)).toBe(route);
        });
      }
    }

    it('whatever the URL parser takes for a dot segment or a slash is one here too', () => {
      // The replica gets these targets as they came. If it reads them in another way, the two do
      // not agree on what has been asked.
      for (const target of ['/x/%2e%2e/olay', '/%2E/olay', '/x\\..\\olay']) {
        expect(routeOf(target, writePaths), target).toBe('write');
      }
    });

    it('a path stands in the target, and nowhere else', () => {
      expect(routeOf('/takip?to=/olay', writePaths)).toBe('read');
      expect(routeOf('http://h/takip?/olay', writePaths)).toBe('read');
      expect(routeOf('/takip/olay', writePaths)).toBe('read');
    });

    it('which paths are writes is configuration', () => {
      expect(routeOf('/durum-olayi?no=1', [])).toBe('read');
      expect(routeOf('/durum-olayi?no=1', ['/olay', '/durum-olayi'])).toBe('write');
      expect(routeOf('/olay', ['/olay', '/durum-olayi'])).toBe('write');
      expect(routeOf('/olay', [])).toBe('read');
      expect(routeOf('//', [])).toBe('bad-request');
    });

    it('it has an answer to every target, and a query never changes it', () =>
      expectLaw(
        { target: fc.string({ unit: 'binary-ascii' }), query: fc.string({ unit: 'binary-ascii' }) },
        ({ target, query }) => {
          const route = routeOf(target, writePaths);
          expect(['read', 'write', 'bad-request']).toContain(route);
          expect(routeOf(`/olay?${query}`, writePaths)).toBe('write');
          expect(routeOf(`/takip?${query}`, writePaths)).toBe('read');
        },
      ));
  });

  describe('Exercise 7.2: forwarded', lesson.exercise('7.2'), () => {
    const claim = 'for=192.0.2.60;proto=http';
    for (const [address, value] of [
      ['127.0.0.1', 'for="127.0.0.1"'],
      ['::1', 'for="[::1]"'],
      ['::ffff:127.0.0.1', 'for="127.0.0.1"'],
      ['::FFFF:192.0.2.1', 'for="192.0.2.1"'],
      ['2001:DB8::1', 'for="[2001:db8::1]"'],
      [undefined, 'for=unknown'],
    ] as const) {
      it(`a client at ${address ?? 'an unknown address'} is ${value}`, () => {
        expect(forwarded(address, undefined, false)).toBe(value);
        expect(forwarded(address, undefined, true)).toBe(value);
      });
    }

    it('a hop that is trusted is kept, and ours comes last', () => {
      expect(forwarded('127.0.0.1', claim, true)).toBe(`${claim}, for="127.0.0.1"`);
      expect(forwarded(undefined, claim, true)).toBe(`${claim}, for=unknown`);
    });

    it('what somebody outside says about himself is dropped', () => {
      expect(forwarded('127.0.0.1', claim, false)).toBe('for="127.0.0.1"');
    });

    it('several fields stay in their order, and an empty one counts as none', () => {
      const two = 'for=192.0.2.60, for="[2001:db8::1]"';
      expect(forwarded('::1', two, true)).toBe(`${two}, for="[::1]"`);
      expect(forwarded('::1', '', true)).toBe('for="[::1]"');
    });

    it('for every address the element is one that RFC 7239 allows', () =>
      expectLaw({ v4: fc.ipV4(), v6: fc.ipV6() }, ({ v4, v6 }) => {
        expect(forwarded(v4, undefined, false)).toBe(`for="${v4}"`);
        expect(forwarded(v6, claim, true)).toMatch(/, for="(\[[0-9a-f:.]+\]|[0-9.]+)"$/);
      }));
  });

  // Predict first: 63 requests on six connections, every fifth an event, four replicas. How many
  // decisions? How many requests does each replica get? And how many connections to replicas?
  describe('Exercise 7.3: the balancer', lesson.exercise('7.3'), () => {
    const runs = new Map<Layout, ReturnType<typeof runThrough>>();
    /** The published run of a layout: made once, and looked at by several tests. */
    const published = (layout: Layout) => {
      let run = runs.get(layout);
      if (!run) {
        run = runThrough(layout, MIX);
        runs.set(layout, run);
      }
      return run;
    };
    /** Compares a run with its table in the ledger. */
    const expectPublished = (
      name: keyof typeof LAYOUTS,
      clients: ClientRun,
      counters: Layer7Counters,
    ) => {
      const ports = (replicas: readonly (keyof typeof PUBLISHED_PORTS)[]) =>
        replicas.map((replica) => PUBLISHED_PORTS[replica]).join();
      expect(ports(LAYOUTS[name].read)).toBePublished(`07.${name}.pool.read`);
      expect(ports(LAYOUTS[name].write)).toBePublished(`07.${name}.pool.write`);
      expect(clients.clients).toBePublished(`07.${name}.clients`);
      expect(clients.requests).toBePublished(`07.${name}.requests`);
      expect(clients.takip).toBePublished(`07.${name}.takip`);
      expect(clients.olay).toBePublished(`07.${name}.olay`);
      expect(clients.takip / clients.olay).toBePublished(`07.${name}.ratio`);
      for (const replica of REPLICAS) {
        const counts = counters.distribution[replica] ?? { read: NaN, write: NaN };
        expect(counts.read).toBePublished(`07.${name}.${replica}.takip`);
        expect(counts.write).toBePublished(`07.${name}.${replica}.olay`);
        expect(total(counts)).toBePublished(`07.${name}.${replica}.total`);
      }
      const { decisions, distribution } = counters;
      expect(decisions).toBePublished(`07.${name}.decisions`);
      expect(decisions / clients.requests).toBePublished(`07.${name}.decisionsPerRequest`);
      expect(skew(Object.values(distribution).map(total))).toBePublished(`07.${name}.skew`);
    };

    describe('one pool for all requests', () => {
      it('63 requests are 63 decisions, and the skew is 1.07 instead of 4.00', async () => {
        const { clients, counters } = await published(LAYOUTS.combined);

        expect(MIX.join()).toBePublished('07.mix');
        expect(EVENT_EVERY).toBePublished('07.given.eventEvery');
        expect(REPLICAS.length).toBePublished('07.given.replicas');
        expectPublished('combined', clients, counters);
      });

      it('six connections from clients become four to replicas', async () => {
        const { counters } = await published(LAYOUTS.combined);
        expect(counters.outer).toBePublished('07.combined.outer');
        expect(counters.inner).toBePublished('07.combined.inner');
      });
    });

    describe('a pool for reads and one for writes', () => {
      it('17 queries for each of three replicas, 12 events for the fourth, and none leaks', async ({
        annotate,
      }) => {
        const before = await published(LAYOUTS.combined);
        const { clients, counters } = await published(LAYOUTS.split);

        const layouts = [
          ['one pool', before.counters.distribution],
          ['two pools', counters.distribution],
        ] as const;
        await attachFigure(annotate, {
          title: 'After: a decision per request spreads both streams, or keeps them apart',
          facts: layouts.flatMap(([name, distribution]) => [
            `${name}: ${column(distribution, 'read')} queries to k1/k2/k3/k4`,
            `${name}: ${column(distribution, 'write')} events`,
          ]),
          option: () =>
            bars({
              unit: 'requests',
              stacked: true,
              categories: layouts.flatMap(([name]) => REPLICAS.map((one) => `${one}\n${name}`)),
              series: streams(
                layouts.flatMap(([, distribution]) =>
                  REPLICAS.map((one) => distribution[one] ?? { read: 0, write: 0 }),
                ),
              ),
            }),
        });
        expectPublished('split', clients, counters);
        const leaked =
          sum(LAYOUTS.split.read.map((name) => counters.distribution[name]?.write ?? NaN)) +
          sum(LAYOUTS.split.write.map((name) => counters.distribution[name]?.read ?? NaN));
        expect(leaked).toBePublished('07.split.leaked');
      });

      it('six connections become four here as well', async () => {
        const { counters } = await published(LAYOUTS.split);
        expect(counters.outer).toBePublished('07.split.outer');
        expect(counters.inner).toBePublished('07.split.inner');
      });

      it('a skew of 1.42 over two pools is no defect: each of them is even', async () => {
        const { distribution } = (await published(LAYOUTS.split)).counters;
        expect(twoDecimals(skew(Object.values(distribution).map(total)))).toBe('1.42');
        const { read, write } = LAYOUTS.split;
        expect(skew(read.map((name) => distribution[name]?.read ?? 0))).toBe(1);
        expect(skew(write.map((name) => distribution[name]?.write ?? 0))).toBe(1);
      });
    });

    // Predict first: with five replicas in one pool every fifth request is an event, and every fifth
    // turn is k5's. What happens if reads and writes share one turn?
    describe('other mixes, other pools', () => {
      const tens = [10, 10, 10, 10, 10, 10];
      const three = ['k1', 'k2', 'k3'];
      const five = [...REPLICAS, 'k5'];
      for (const [row, mix, read, write, takip, olay, outer, inner, printedSkew] of [
        ['S1', tens, REPLICAS, REPLICAS, '12/12/12/12', '3/3/3/3', 6, 4, '1.00'],
        ['S2', tens, three, ['k4'], '16/16/16/0', '0/0/0/12', 6, 4, '1.33'],
        ['S3', MIX, three, three, '17/17/17', '4/4/4', 6, 3, '1.00'],
        ['S4', MIX, five, five, '11/10/10/10/10', '3/3/2/2/2', 6, 5, '1.17'],
        ['S5', MIX, three, ['k4', 'k5'], '17/17/17/0/0', '0/0/0/6/6', 6, 5, '2.83'],
        ['S6', MIX, ['k1', 'k2'], ['k3', 'k4'], '26/25/0/0', '0/0/6/6', 6, 4, '4.33'],
        ['S7', [...MIX].reverse(), REPLICAS, REPLICAS, '13/13/13/12', '3/3/3/3', 6, 4, '1.07'],
        ['S8', [100], three, ['k4'], '27/27/26/0', '0/0/0/20', 1, 4, '1.35'],
        ['S9', MIX, REPLICAS, ['k4'], '13/13/13/12', '0/0/0/12', 6, 4, '1.85'],
        ['S10', [4], REPLICAS, REPLICAS, '1/1/1/1', '0/0/0/0', 1, 4, '1.00'],
      ] as const) {
        it(`${row}: ${mix} on ${read} and ${write} gives ${takip} and ${olay}`, async () => {
          const { clients, counters } = await runThrough({ read, write }, mix);

          expect(column(counters.distribution, 'read'), '/takip').toBe(takip);
          expect(column(counters.distribution, 'write'), '/olay').toBe(olay);
          expect(counters.decisions).toBe(sum(mix));
          expect(counters.outer, 'connections from clients').toBe(outer);
          expect(counters.inner, 'connections to replicas').toBe(inner);
          expect(twoDecimals(skew(Object.values(counters.distribution).map(total)))).toBe(
            printedSkew,
          );
          for (const [name, counts] of Object.entries(counters.distribution)) {
            const answered = clients.answers[name] ?? { read: 0, write: 0 };
            expect(answered, `what ${name} has answered is what is counted for it`).toEqual(counts);
          }
        });
      }

      it('all clients at once get the totals that they get one after another', async () => {
        for (const layout of [LAYOUTS.combined, LAYOUTS.split]) {
          const oneByOne = (await published(layout)).counters.distribution;
          const { counters } = await runThrough(layout, MIX, { atOnce: true });
          expect(counters.distribution).toEqual(oneByOne);
          expect(counters.decisions).toBe(63);
        }
      });
    });

    describe('what the balancer has to be told', () => {
      // The clients are released with a new path for events. Nobody tells the balancer.
      const renamed = { eventPath: '/durum-olayi' };

      it('S-4: a path renamed in the clients alone sends every event to the read pool', async () => {
        const { clients, counters } = await runThrough(LAYOUTS.split, MIX, renamed);
        expect(column(counters.distribution, 'read')).toBe('21/21/21/0');
        expect(column(counters.distribution, 'write')).toBe('0/0/0/0');
        expect(clients.statuses, 'nothing fails, and so nobody hears of it').toEqual({ 200: 63 });
      });

      it('S-4: once the balancer knows the new path, the published table is back', async () => {
        const { counters } = await runThrough(LAYOUTS.split, MIX, {
          ...renamed,
          extra: { writePaths: ['/olay', '/durum-olayi'] },
        });
        expect(counters.distribution).toEqual(
          (await published(LAYOUTS.split)).counters.distribution,
        );
      });
    });

    it('every replica has its zeros before the first request, also one that is in both pools', async () => {
      await using replicas = await startReplicas(4);
      await using balancer = await startBalancer(replicas, LAYOUTS.combined);
      const none = { read: 0, write: 0 };
      const before = balancer.counters();
      expect(before).toMatchObject({ decisions: 0, outer: 0, inner: 0 });
      expect(before.distribution).toEqual({ k1: none, k2: none, k3: none, k4: none });

      await runClients(balancer.port, [5]);
      expect(before.distribution, 'counters that were handed out do not move').toEqual({
        k1: none,
        k2: none,
        k3: none,
        k4: none,
      });
    });

    it('it refuses an empty read pool, a name that comes twice, and a limit below 1', async () => {
      const [k1, k2] = [
        { name: 'k1', port: 1 },
        { name: 'k2', port: 2 },
      ];
      const good = { read: [k1, k2], write: [k1], innerConnectionsPerReplica: 1 };
      await expectRefusal(() => startLayer7Balancer({ ...good, read: [] }), 'read');
      await expectRefusal(() => startLayer7Balancer({ ...good, read: [k1, k2, k1] }), 'read');
      await expectRefusal(() => startLayer7Balancer({ ...good, write: [k2, k2] }), 'write');
      for (const innerConnectionsPerReplica of [0, -1, 1.5, NaN]) {
        await expectRefusal(
          () => startLayer7Balancer({ ...good, innerConnectionsPerReplica }),
          'innerConnectionsPerReplica',
        );
      }
    });
  });

  // Predict first: 416.67 reads and 97.22 writes a second, 200 to each replica. How many replicas
  // does one pool take, and how many do two?
  describe('Exercise 7.4: what a split costs', lesson.exercise('7.4'), () => {
    it('one pool takes three replicas, two take 3 + 1: the split costs one', () => {
      const plan = poolPlan(load);

      expect(plan.combined.replicas).toBePublished('07.pool.combined.replicas');
      expect(plan.combined.utilisation).toBePublished('07.pool.combined.util');
      expect(plan.read.replicas).toBePublished('07.pool.read.replicas');
      expect(plan.read.utilisation).toBePublished('07.pool.read.util');
      expect(plan.write.replicas).toBePublished('07.pool.write.replicas');
      expect(plan.write.utilisation).toBePublished('07.pool.write.util');
      expect(plan.read.replicas + plan.write.replicas).toBePublished('07.pool.split.replicas');
      expect(plan.splitCost).toBePublished('07.pool.splitCost');
    });

    it.for([1, 2, 3, 4] as const)(
      'the published row for %d times the writes comes out',
      (factor) => {
        const report = burst(load, factor);

        expect(factor).toBePublished(`07.burst.x${factor}.factor`);
        expect(report.combined).toBePublished(`07.burst.x${factor}.combined`);
        expect(report.read).toBePublished(`07.burst.x${factor}.read`);
        expect(report.write).toBePublished(`07.burst.x${factor}.write`);
        expect(report.writeOverflows).toBePublished(`07.burst.x${factor}.writeOverflows`);
      },
    );

    it('above 200 writes a second the write pool takes a second replica, and the read pool none', () => {
      const planAt = (rate: number) => poolPlan({ ...load, writeRate: rate });
      const limit = safeRate * planAt(writeRate).write.replicas;

      expect(limit).toBePublished('07.sensitivity.writeLimit');
      expect(planAt(limit).write.replicas).toBe(1);
      expect(planAt(limit + 0.01).write.replicas).toBePublished('07.sensitivity.writeReplicas');
      expect(planAt(limit + 0.01).read).toEqual(planAt(writeRate).read);
    });

    // Splitting costs one replica for the published rates. It is a result, and no law.
    const printed = (input: Parameters<typeof poolPlan>[0]) => {
      const { combined, read, write, splitCost } = poolPlan(input);
      const pools = [combined, read, write];
      return [
        ...pools.map(({ replicas, utilisation }) => `${replicas} at ${share(utilisation)}`),
        `cost ${splitCost}`,
      ].join(', ');
    };
    const flag = (overflows: boolean) => (overflows ? 't' : 'f');
    for (const { row, change, plan, combined, write, overflow } of [
      {
        row: 'C1',
        change: { writeRate: 194.44 },
        plan: '4 at 0.382, 3 at 0.347, 1 at 0.486, cost 0',
        combined: '0.503 0.625 0.747',
        write: '0.972 1.458 1.944',
        overflow: 'fttt',
      },
      {
        row: 'C2',
        change: { readRate: 833.34, writeRate: 194.44 },
        plan: '6 at 0.428, 5 at 0.417, 1 at 0.486, cost 0',
        combined: '0.509 0.590 0.671',
        write: '0.972 1.458 1.944',
        overflow: 'fttt',
      },
      {
        row: 'C3',
        change: { saturationRate: 800, safeRate: 400 },
        plan: '2 at 0.321, 2 at 0.260, 1 at 0.122, cost 1',
        combined: '0.382 0.443 0.503',
        write: '0.243 0.365 0.486',
        overflow: 'ffff',
      },
      {
        row: 'C4',
        change: { saturationRate: 200, safeRate: 100 },
        plan: '6 at 0.428, 5 at 0.417, 1 at 0.486, cost 0',
        combined: '0.509 0.590 0.671',
        write: '0.972 1.458 1.944',
        overflow: 'fttt',
      },
      {
        row: 'C5',
        change: { readRate: 300, writeRate: 300 },
        plan: '3 at 0.500, 2 at 0.375, 2 at 0.375, cost 1',
        combined: '0.750 1.000 1.250',
        write: '0.750 1.125 1.500',
        overflow: 'fttt',
      },
      {
        row: 'C6',
        change: { readRate: 200, writeRate: 200 },
        plan: '2 at 0.500, 1 at 0.500, 1 at 0.500, cost 0',
        combined: '0.750 1.000 1.250',
        write: '1.000 1.500 2.000',
        overflow: 'fttt',
      },
      {
        row: 'C7',
        change: { safeRate: 280 },
        plan: '2 at 0.642, 2 at 0.521, 1 at 0.243, cost 1',
        combined: '0.764 0.885 1.007',
        write: '0.486 0.729 0.972',
        overflow: 'fftt',
      },
      {
        row: 'C8',
        change: { readRate: 1_000, writeRate: 50 },
        plan: '6 at 0.438, 5 at 0.500, 1 at 0.125, cost 0',
        combined: '0.458 0.479 0.500',
        write: '0.250 0.375 0.500',
        overflow: 'ffff',
      },
    ]) {
      it(`${row}: other rates take ${plan}`, () => {
        const input = { ...load, ...change };
        const reports = [1, 2, 3, 4].map((factor) => burst(input, factor));

        expect(printed(input)).toBe(plan);
        expect(
          reports
            .slice(1)
            .map((report) => share(report.combined))
            .join(' '),
        ).toBe(combined);
        expect(
          reports
            .slice(1)
            .map((report) => share(report.write))
            .join(' '),
        ).toBe(write);
        expect(reports.map((report) => flag(report.writeOverflows)).join('')).toBe(overflow);
        for (const report of reports) expect(report.read).toBe(poolPlan(input).read.utilisation);
      });
    }

    it('the shared pool passes its target at twice the writes, the write pool only at three times', () => {
      const reports = [1, 2, 3, 4].map((factor) => burst(load, factor));
      expect(reports.map(({ combinedOverflows }) => combinedOverflows)).toEqual([
        false,
        true, // (416.67 + 2 x 97.22) / 3 is 203.70
        true,
        true,
      ]);
      expect(reports.map(({ writeOverflows }) => writeOverflows)).toEqual([
        false,
        false, // 2 x 97.22 is 194.44
        true,
        true,
      ]);
    });

    // The published table compares three replicas with 3 + 1. For the same money there are four.
    it('with four replicas each the shared pool holds up to 3.94 times the writes, the write pool to 2.06', () => {
      const four = { ...load, toleratedFailures: 1 }; // the plan's three, and one more
      expect(poolPlan(four).combined.replicas).toBe(4);
      expect([1, 2, 3, 4].map((factor) => share(burst(four, factor).combined))).toEqual([
        '0.321',
        '0.382',
        '0.443',
        '0.503',
      ]);
      expect(burst(four, 3.94).combinedOverflows).toBe(false);
      expect(burst(four, 3.95).combinedOverflows).toBe(true);
      expect(burst(load, 2.05).writeOverflows).toBe(false);
      expect(burst(load, 2.06).writeOverflows).toBe(true);
    });

    it('holding the target with any one replica gone takes 4, or 4 + 2: the split then costs two', () => {
      const plan = poolPlan({ ...load, toleratedFailures: 1 });
      expect([plan.combined, plan.read, plan.write].map(({ replicas }) => replicas)).toEqual([
        3 + 1,
        3 + 1,
        1 + 1,
      ]);
      expect(plan.splitCost).toBe(2);
      expect(share(plan.combined.utilisation), 'with all of them up').toBe('0.321');
    });

    it('a pool without load has no replica, nothing to tolerate, and costs nothing', () => {
      for (const toleratedFailures of [0, 2]) {
        const input = { ...load, writeRate: 0, toleratedFailures };
        expect(poolPlan(input).write).toEqual({ replicas: 0, utilisation: 0 });
        expect(poolPlan(input).splitCost).toBe(0);
        expect(burst(input, 4)).toMatchObject({ write: 0, writeOverflows: false });
      }
      const nothing = { ...load, readRate: 0, writeRate: 0 };
      expect(poolPlan(nothing).combined).toEqual({ replicas: 0, utilisation: 0 });
      expect(burst(nothing, 4)).toMatchObject({ combined: 0, combinedOverflows: false });
      expect(burst(load, 0), 'a burst of nothing').toMatchObject({
        write: 0,
        writeOverflows: false,
      });
    });

    it('a rate that is whole but for binary noise takes no extra replica, and is no overflow', () => {
      // 0.1 + 0.2 is 0.30000000000000004 in binary fractions.
      const input = { readRate: 0.1, writeRate: 0.2, saturationRate: 0.2, safeRate: 0.1 };
      expect(poolPlan(input).combined.replicas).toBe(3);
      expect(burst(input, 1).combinedOverflows).toBe(false);
    });

    it('splitting costs at most one replica, never less than none, and every pool holds', () =>
      expectLaw(
        {
          reads: fc.double({ min: 0.1, max: 5_000, noNaN: true }),
          writes: fc.double({ min: 0.1, max: 5_000, noNaN: true }),
        },
        ({ reads, writes }) => {
          const input = { ...load, readRate: reads, writeRate: writes };
          const plan = poolPlan(input);
          expect([0, 1]).toContain(plan.splitCost);
          for (const { utilisation } of [plan.combined, plan.read, plan.write]) {
            expect(utilisation).toBeLessThanOrEqual((safeRate / saturationRate) * (1 + 1e-8));
          }
          const report = burst(input, 1);
          expect([report.combinedOverflows, report.writeOverflows]).toEqual([false, false]);
        },
      ));

    it.for([
      { field: 'readRate', bad: [-1, NaN, Infinity] },
      { field: 'writeRate', bad: [-1, NaN, Infinity] },
      { field: 'saturationRate', bad: [0, -400, NaN, Infinity] },
      { field: 'safeRate', bad: [0, -200, NaN, Infinity] },
      { field: 'toleratedFailures', bad: [-1, 0.5, NaN, Infinity] },
    ])('poolPlan and burst refuse a $field that makes no sense', ({ field, bad }) => {
      for (const value of bad) {
        expectRefusal(() => poolPlan({ ...load, [field]: value }), field);
        expectRefusal(() => burst({ ...load, [field]: value }, 1), field);
      }
    });

    it('burst refuses a factor that makes no sense', () => {
      for (const factor of [-1, NaN, Infinity]) expectRefusal(() => burst(load, factor), 'factor');
    });
  });

  // Predict first: you have four replicas, and three times the writes are coming. One pool, or two?
  describe('Exercise 7.5: choosePoolLayout', lesson.exercise('7.5'), () => {
    const shared = { ...load, mustIsolateReads: false };
    const isolated = { ...load, mustIsolateReads: true };
    const combined = (replicas: number) => ({
      layout: 'combined',
      combined: replicas,
      read: 0,
      write: 0,
    });
    const split = (read: number, write: number) => ({ layout: 'split', combined: 0, read, write });

    it('without a reason to isolate, one pool gets the whole budget', () => {
      expect(choosePoolLayout({ ...shared, budget: 3, burst: 1 })).toEqual(combined(3));
      expect(choosePoolLayout({ ...shared, budget: 9, burst: 1 })).toEqual(combined(9));
      // 708.33 / 4 is 177.08 for each
      expect(choosePoolLayout({ ...shared, budget: 4, burst: 3 })).toEqual(combined(4));
    });

    it('with isolation the reads get what they need, and the writes the rest, be it too little', () => {
      // 416.67 / 3 is 138.89; 291.66 on one write replica is above 200, and tolerated
      expect(choosePoolLayout({ ...isolated, budget: 4, burst: 3 })).toEqual(split(3, 1));
      // 291.66 / 2 is 145.83: now everything holds
      expect(choosePoolLayout({ ...isolated, budget: 5, burst: 3 })).toEqual(split(3, 2));
      expect(choosePoolLayout({ ...isolated, budget: 9, burst: 1 })).toEqual(split(3, 6));
    });

    it('203.70 for each of three replicas is too much, and the error says so', () => {
      expectNoLayout(() => choosePoolLayout({ ...shared, budget: 3, burst: 2 }), '203.70');
      expectNoLayout(() => choosePoolLayout({ ...shared, budget: 4, burst: 4 }), '201.39');
    });

    it('three replicas cannot isolate the reads: nothing would be left for the writes', () => {
      expectNoLayout(() => choosePoolLayout({ ...isolated, budget: 3, burst: 1 }), 'read');
      expectNoLayout(() => choosePoolLayout({ ...isolated, budget: 2, burst: 0 }), 'read');
    });

    it('the same budget and burst: who may share gets one pool, who must isolate gets two', () => {
      const asked = { budget: 4, burst: 3.94 };
      expect(choosePoolLayout({ ...shared, ...asked }).layout).toBe('combined');
      expect(choosePoolLayout({ ...isolated, ...asked }).layout).toBe('split');
      // A little more, and the shared pool is out. The isolated reads do not notice.
      const more = { budget: 4, burst: 3.95 };
      expectNoLayout(() => choosePoolLayout({ ...shared, ...more }), '200');
      expect(choosePoolLayout({ ...isolated, ...more })).toEqual(split(3, 1));
    });

    it('a rate of exactly the safe rate holds, also where it is so but for binary noise', () => {
      const input = { readRate: 0.1, writeRate: 0.2, saturationRate: 0.2, safeRate: 0.1, burst: 1 };
      expect(choosePoolLayout({ ...input, budget: 3, mustIsolateReads: false })).toEqual(
        combined(3),
      );
      const reads = { ...input, readRate: 0.1 + 0.2 };
      expect(choosePoolLayout({ ...reads, budget: 4, mustIsolateReads: true })).toEqual(
        split(3, 1),
      );
    });

    it('without reads all replicas are for the writes, and without writes one is kept for them', () => {
      const asked = { budget: 4, burst: 1, mustIsolateReads: true };
      expect(choosePoolLayout({ ...load, ...asked, readRate: 0 })).toEqual(split(0, 4));
      expect(choosePoolLayout({ ...load, ...asked, writeRate: 0 })).toEqual(split(3, 1));
    });

    it('whatever two pools hold, one pool of the same size holds too', () =>
      expectLaw(
        {
          readReplicas: fc.integer({ min: 1, max: 10 }),
          writeReplicas: fc.integer({ min: 1, max: 10 }),
          reads: fc.double({ min: 0, max: 1, noNaN: true }),
          writes: fc.double({ min: 0, max: 1, noNaN: true }),
        },
        ({ readReplicas, writeReplicas, reads, writes }) => {
          // Two pools, each at or under the safe rate.
          const asked = {
            ...load,
            readRate: reads * readReplicas * safeRate,
            writeRate: writes * writeReplicas * safeRate,
            budget: readReplicas + writeReplicas,
            burst: 1,
          };
          expect(choosePoolLayout({ ...asked, mustIsolateReads: false })).toEqual(
            combined(asked.budget),
          );
          const isolating = choosePoolLayout({ ...asked, mustIsolateReads: true });
          expect(isolating.read + isolating.write).toBe(asked.budget);
          expect(isolating.write, 'the reads take no more than they need').toBeGreaterThanOrEqual(
            writeReplicas,
          );
        },
      ));

    it.for([
      { field: 'readRate', bad: [-1, NaN, Infinity] },
      { field: 'writeRate', bad: [-1, NaN, Infinity] },
      { field: 'saturationRate', bad: [0, NaN, Infinity] },
      { field: 'safeRate', bad: [0, NaN, Infinity] },
      { field: 'burst', bad: [-1, NaN, Infinity] },
      { field: 'budget', bad: [0, -1, 2.5, NaN, Infinity] },
    ])('choosePoolLayout refuses a $field that makes no sense', ({ field, bad }) => {
      for (const value of bad) {
        for (const mustIsolateReads of [true, false]) {
          const good = { ...load, burst: 1, budget: 4, mustIsolateReads };
          expectRefusal(() => choosePoolLayout({ ...good, [field]: value }), field);
        }
      }
    });

    /** The question is a sensible one, and nothing fits: no `RangeError`. */
    function expectNoLayout(decide: () => unknown, part: string): void {
      expectRefusal(decide, part, Error);
      try {
        decide();
      } catch (error) {
        expect(error).not.toBeInstanceOf(RangeError);
      }
    }
  });

  // Six connections became four because nothing ran at the same time. Predict first: 24 clients ask
  // at once, and the balancer may open one connection to each of four replicas. How many requests
  // are inside the replicas?
  describe('Exercise 7.6: connections to the replicas', lesson.exercise('7.6'), () => {
    describe('how many it takes', () => {
      for (const [rate, serviceTimeSeconds, replicas, connections] of [
        [416.67, 0.02, 3, 3], // 2.78 inside each
        [513.89, 0.02, 4, 3], // 2.57
        [513.89, 0.005, 4, 1], // 0.64
        [513.89, 0.02, 1, 11], // 10.28
        [300, 0.07, 3, 7], // 100 x 0.07 is 7.000000000000001 in binary fractions
        [0.001, 0.001, 4, 1], // somebody has to carry it
      ] as const) {
        it(`${rate} req/s of ${serviceTimeSeconds} s on ${replicas} replicas take ${connections} each`, () => {
          expect(innerConnections({ rate, serviceTimeSeconds, replicas })).toBe(connections);
        });
      }

      it('one connection to each of four replicas that take 20 ms passes 200 req/s, and no more', () => {
        const four = { serviceTimeSeconds: 0.02, replicas: 4 };
        expect(innerConnections({ ...four, rate: 4 / 0.02 })).toBe(1);
        expect(innerConnections({ ...four, rate: 4 / 0.02 + 0.01 })).toBe(2);
        expect(innerConnections({ ...four, rate: PUBLISHED.peakRate })).toBeGreaterThan(1);
      });

      it('for every load the connections carry it, and one fewer would not', () =>
        expectLaw(
          {
            rate: fc.double({ min: 1, max: 10_000, noNaN: true }),
            serviceTimeSeconds: fc.double({ min: 0.001, max: 2, noNaN: true }),
            replicas: fc.integer({ min: 1, max: 20 }),
          },
          (input) => {
            const connections = innerConnections(input);
            const capacity = (each: number) => (each * input.replicas) / input.serviceTimeSeconds;
            expect(capacity(connections)).toBeGreaterThanOrEqual(input.rate * (1 - 1e-8));
            if (connections > 1) expect(capacity(connections - 1)).toBeLessThan(input.rate);
          },
        ));

      it.for([
        { field: 'rate', bad: [0, -1, NaN, Infinity] },
        { field: 'serviceTimeSeconds', bad: [0, -1, NaN, Infinity] },
        { field: 'replicas', bad: [0, -1, 2.5, NaN, Infinity] },
      ])('innerConnections refuses a $field that makes no sense', ({ field, bad }) => {
        const good = { rate: 100, serviceTimeSeconds: 0.02, replicas: 4 };
        for (const value of bad) {
          expectRefusal(() => innerConnections({ ...good, [field]: value }), field);
        }
      });
    });

    describe('what a limit does', () => {
      for (const [clients, limit, inside, inner] of [
        [6, 1, [1, 1, 1, 1], 4],
        [6, 8, [2, 2, 1, 1], 6],
        [24, 1, [1, 1, 1, 1], 4],
        [24, 8, [6, 6, 6, 6], 24],
        [24, Infinity, [6, 6, 6, 6], 24],
      ] as const) {
        it(`${clients} clients at once, limit ${limit}: ${inside} are inside the replicas, the rest waits`, async () => {
          await using held = await startHoldingReplicas(...REPLICAS);
          await using balancer = await startBalancer(held.replicas, LAYOUTS.combined, {
            innerConnectionsPerReplica: limit,
          });
          using client = openClient(balancer.port, { sockets: clients });

          const answers = Promise.all(
            Array.from({ length: clients }, (_, i) => client.send(`/takip?no=I${i}-0`)),
          );
          answers.catch(() => {}); // awaited below
          const decisions = await eventually(
            () => balancer.counters().decisions,
            (count) => count === clients,
          );
          const filled = await held.filled(sum(inside));

          expect(decisions, 'decided, wherever the request is now').toBe(clients);
          expect(filled, 'requests inside k1, k2, k3 and k4').toEqual(inside);
          held.release();
          const statuses = (await within(answers, 'the answers')).map(({ status }) => status);
          expect(statuses).toEqual(statuses.map(() => 200));
          expect(balancer.counters()).toMatchObject({ outer: clients, inner });
        });
      }

      it('the limit is for a replica, also if it is in both pools', async () => {
        await using held = await startHoldingReplicas('k1');
        const both = { read: ['k1'], write: ['k1'] };
        await using balancer = await startBalancer(held.replicas, both);
        using client = openClient(balancer.port, { sockets: 2 });

        const answers = Promise.all(['/takip', '/olay'].map((path) => client.send(path)));
        answers.catch(() => {}); // awaited below
        await eventually(
          () => balancer.counters().decisions,
          (count) => count === 2,
        );
        await held.filled(1);
        held.release();

        await within(answers, 'the answers');
        expect(balancer.counters().inner, 'connections to k1').toBe(1);
      });
    });
  });

  // You have seen ten tables. Predict first: what do they depend on?
  describe('Exercise 7.7: predictDistribution', lesson.exercise('7.7'), () => {
    it('it predicts both published tables', () => {
      const { combined, split } = LAYOUTS;
      const one = predictDistribution(MIX, combined.read, combined.write);
      const two = predictDistribution(MIX, split.read, split.write);
      expect(column(one, 'read')).toBe('13/13/13/12');
      expect(column(one, 'write')).toBe('3/3/3/3');
      expect(column(two, 'read')).toBe('17/17/17/0');
      expect(column(two, 'write')).toBe('0/0/0/12');
    });

    it('five replicas in one pool take 11/10/10/10/10 queries and 3/3/2/2/2 events', () => {
      const five = [...REPLICAS, 'k5'];
      const distribution = predictDistribution(MIX, five, five);
      expect(Object.keys(distribution).sort()).toEqual(five);
      expect(column(distribution, 'read')).toBe('11/10/10/10/10');
      expect(column(distribution, 'write')).toBe('3/3/2/2/2');
    });

    it('clients that send nothing, and no clients at all, leave zeros', () => {
      const zeros = { k1: { read: 0, write: 0 }, k2: { read: 0, write: 0 } };
      expect(predictDistribution([], ['k1'], ['k2'])).toEqual(zeros);
      expect(predictDistribution([0, 0], ['k1'], ['k2'])).toEqual(zeros);
    });

    it('without a write pool the events count for nobody', () => {
      expect(predictDistribution([5, 5], ['k1', 'k2'], [])).toEqual({
        k1: { read: 4, write: 0 },
        k2: { read: 4, write: 0 },
      });
    });

    it('who sends how much makes no difference, and no two replicas of a pool differ by more than 1', () =>
      expectLaw(
        {
          shares: fc.array(fc.nat(40), { maxLength: 8 }),
          read: fc.shuffledSubarray([...REPLICAS], { minLength: 1 }),
          write: fc.shuffledSubarray([...REPLICAS], { minLength: 1 }),
        },
        ({ shares, read, write }) => {
          for (const given of [shares, read, write]) Object.freeze(given);
          const distribution = predictDistribution(shares, read, write);
          expect(predictDistribution([sum(shares)], read, write)).toEqual(distribution);
          expect(sum(Object.values(distribution).map(total))).toBe(sum(shares));
          for (const [pool, kind] of [
            [read, 'read'],
            [write, 'write'],
          ] as const) {
            const counts = pool.map((name) => distribution[name]?.[kind] ?? NaN);
            expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
          }
        },
      ));

    it('your balancer does what your model says, on drawn mixes and pools', async () => {
      await using replicas = await startReplicas(4);
      await expectLaw(
        {
          shares: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
          read: fc.shuffledSubarray([...REPLICAS], { minLength: 1 }),
          write: fc.shuffledSubarray([...REPLICAS]),
        },
        async ({ shares, read, write }) => {
          const predicted = predictDistribution(shares, read, write);
          await using balancer = await startBalancer(replicas, { read, write });
          await runClients(balancer.port, shares);
          expect(balancer.counters().distribution).toEqual(predicted);
        },
        10,
      );
    });

    it('it refuses shares, and pools, that make no sense', () => {
      for (const bad of [-1, 0.5, NaN, Infinity]) {
        expectRefusal(() => predictDistribution([1, bad], ['k1'], ['k1']), 'shares');
      }
      expectRefusal(() => predictDistribution([1], [], ['k1']), 'read');
      expectRefusal(() => predictDistribution([1], ['k1', 'k1'], []), 'read');
      expectRefusal(() => predictDistribution([1], ['k1'], ['k2', 'k2']), 'write');
    });
  });

  /** The balancer as the tests see it that lessons 5, 7 and 9 share: one pool. */
  const proxy: ProxyKind = {
    badGateway: { body: 'kopyaya ulasilamadi' },
    async start(replicas, options) {
      const balancer = await startLayer7Balancer({
        read: replicas,
        write: replicas,
        innerConnectionsPerReplica: Infinity,
        ...options,
      });
      return disposable({
        port: balancer.port,
        close: balancer.close,
        counters() {
          // A new connection moves these two, whatever is asked on it.
          const { outer: _outer, inner: _inner, ...counters } = balancer.counters();
          return counters;
        },
      });
    },
  };

  /** A replica that keeps the fields of every request. */
  async function startListener() {
    const seen: IncomingHttpHeaders[] = [];
    const server = await startHttpServer((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const replicas = [{ name: 'k1', port: server.port }];
    return Object.assign(server, { seen, replicas });
  }
  const alone = { read: ['k1'], write: ['k1'] };

  // Whoever reads a request answers for it: for its fields, and for the pace of both bodies.
  describe('Exercise 7.8: fields and streams', lesson.exercise('7.8'), () => {
    for (const { title, timeoutMs, run } of proxyExtras('X1', 'X2', 'X3', 'X4', 'X5', 'X10')) {
      it(title, { timeout: timeoutMs }, () => run(proxy));
    }

    it('X14: the replica learns for whom it works, and a claim from outside is replaced', async () => {
      await using replica = await startListener();
      await using balancer = await startBalancer(replica.replicas, alone);
      using client = openClient(balancer.port);

      await client.send('/takip');
      await client.send('/olay', { headers: { forwarded: 'for=192.0.2.60;proto=http' } });

      expect(replica.seen.map((fields) => fields.forwarded)).toEqual([
        'for="127.0.0.1"',
        'for="127.0.0.1"',
      ]);
    });

    it('X14: with a hop in front that is trusted, the balancer adds itself at the end', async () => {
      await using replica = await startListener();
      await using balancer = await startBalancer(replica.replicas, alone, { trustForwarded: true });

      // Two fields of one name: no client would send them, and hops may.
      await rawExchange(
        balancer.port,
        'GET /takip HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
          'Forwarded: for=192.0.2.60;proto=http\r\nforwarded: for="[2001:db8::1]"\r\n\r\n',
      );

      expect(replica.seen[0]?.forwarded).toBe(
        'for=192.0.2.60;proto=http, for="[2001:db8::1]", for="127.0.0.1"',
      );
    });

    it('S-1: a balancer with a name adds it to Via, behind whoever came before', async () => {
      await using replica = await startListener();
      await using balancer = await startBalancer(replica.replicas, alone, { via: 'yd1' });
      using client = openClient(balancer.port);

      await client.send('/takip');
      await client.send('/takip', { headers: { via: '1.0 a' } });
      // The version is the one that came in, whatever is spoken further on.
      await rawExchange(balancer.port, 'GET /takip HTTP/1.0\r\nVia: 1.1 a, 1.1 b\r\n\r\n');

      expect(replica.seen.map(({ via }) => via)).toEqual([
        '1.1 yd1',
        '1.0 a, 1.1 yd1',
        '1.1 a, 1.1 b, 1.0 yd1',
      ]);
    });

    it('S-1: one without a name leaves Via as it came', async () => {
      await using replica = await startListener();
      await using balancer = await startBalancer(replica.replicas, alone);
      using client = openClient(balancer.port);

      await client.send('/takip');
      await client.send('/takip', { headers: { via: '1.0 a' } });

      expect(replica.seen.map(({ via }) => via)).toEqual([undefined, '1.0 a']);
    });
  });

  describe('Exercise 7.9: failures and retries', lesson.exercise('7.9'), () => {
    for (const { title, timeoutMs, run } of proxyExtras('X6', 'X7', 'X8', 'X9', 'X11', 'X16')) {
      it(title, { timeout: timeoutMs }, () => run(proxy));
    }

    it('a dead replica costs its share of both streams: 16 of 63 are 502', async () => {
      const { clients, counters } = await runThrough(LAYOUTS.combined, MIX, { dead: ['k2'] });
      expect(clients.statuses).toEqual({ 200: 47, 502: 16 });
      // The balancer has decided for k2 all the same: it does not look whether a replica is up.
      expect(counters.decisions).toBe(63);
      expect(counters.distribution.k2).toEqual({ read: 13, write: 3 });
      expect(counters.unreachable).toBe(16);
    });

    it('a write pool of one is a single point of failure: with it gone every event fails', async () => {
      const split = (await runThrough(LAYOUTS.split, [20], { dead: ['k4'] })).clients;
      expect(split.statuses).toEqual({ 200: 16, 502: 4 });
      expect(sum(Object.values(split.answers).map(({ write }) => write)), 'events').toBe(0);
      // In one pool the same loss is spread: a fourth of the events, and a fourth of the queries.
      const one = (await runThrough(LAYOUTS.combined, [20], { dead: ['k4'] })).clients;
      expect(one.statuses).toEqual({ 200: 15, 502: 5 });
      expect(sum(Object.values(one.answers).map(({ write }) => write)), 'events').toBe(3);
    });

    it('X12: with an empty write pool events are a 503 that says when to come back, and reads go on', async () => {
      await using k1 = await startReplica('k1');
      await using balancer = await startBalancer([k1], { read: ['k1'], write: [] });
      using client = openClient(balancer.port);

      const event = await client.send('/olay', { method: 'POST', body: 'olay 1' });
      expect({ status: event.status, body: event.body }).toEqual({
        status: 503,
        body: 'havuz bos',
      });
      expect(event.headers['retry-after'], 'seconds').toBe('1');
      expect(k1.connections, 'connections to a replica').toBe(0);
      expect(balancer.counters()).toMatchObject({ decisions: 0, attempts: 0, inner: 0 });

      expect((await client.send('/takip')).headers['x-kopya']).toBe('k1');
      expect(balancer.counters()).toMatchObject({ decisions: 1, attempts: 1, unreachable: 0 });
    });

    it('an attempt takes the next step of its own pool, and the request counts once', async () => {
      await using replicas = await startReplicas(5);
      await using dead = await startRefusingReplicas('k1');
      const layout = { read: ['k1', 'k2', 'k3'], write: ['k4', 'k5'] };
      const pools = [...dead, ...replicas];
      await using balancer = await startBalancer(pools, layout, { retry: true });
      using client = openClient(balancer.port);

      const answered: unknown[] = [];
      for (const path of ['/takip', '/olay', '/takip', '/takip', '/olay', '/takip']) {
        answered.push((await client.send(path)).headers['x-kopya']);
      }

      // k1 refuses, so its queries go on to k2. The events do not notice.
      expect(answered).toEqual(['k2', 'k4', 'k3', 'k2', 'k5', 'k3']);
      const { distribution, ...counters } = balancer.counters();
      expect(counters).toMatchObject({ decisions: 6, attempts: 6 + 2, unreachable: 2 });
      expect(column(distribution, 'read'), 'chosen first').toBe('2/0/2/0/0');
      expect(column(distribution, 'write'), 'chosen first').toBe('0/0/0/1/1');
    });

    it('an attempt passes over a replica that has been tried, wherever the turn stands', async () => {
      await using dead = await startRefusingReplicas('k1');
      await using k2 = await startReplica('k2');
      const layout = { read: ['k1', 'k2'], write: ['k2'] };
      await using balancer = await startBalancer([...dead, k2], layout, { retry: true });

      // Both come in one piece, so the second one has taken k2's turn by the time k1 has refused the
      // first, and it is k1's turn again.
      const first = 'GET /takip?no=1 HTTP/1.1\r\nHost: x\r\n\r\n';
      const second = 'GET /takip?no=2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      const { text } = await within(rawExchange(balancer.port, first + second), 'both answers');

      expect(text.match(/HTTP\/1\.1 200 /g), 'answers with 200').toHaveLength(2);
      expect(balancer.counters()).toMatchObject({ decisions: 2, attempts: 3, unreachable: 1 });
    });

    it('when all of a pool have been tried it is a 502, and the turn stands still', async () => {
      await using dead = await startRefusingReplicas('k1', 'k2');
      await using k3 = await startReplica('k3');
      const layout = { read: ['k1', 'k2'], write: ['k3'] };
      await using balancer = await startBalancer([...dead, k3], layout, { retry: true });
      using client = openClient(balancer.port);

      for (const _request of [1, 2, 3]) {
        expect((await client.send('/takip')).status, 'k3 is of the other pool').toBe(502);
      }

      expect(balancer.counters()).toMatchObject({ decisions: 3, attempts: 6, unreachable: 6 });
      expect(column(balancer.counters().distribution, 'read'), 'chosen first').toBe('3/0/0');
    });

    // Predict first: k4 reads every event and hangs up. It may have written it down before.
    it('S-2: an event that may have been written is not sent again', async () => {
      const received: string[] = [];
      await using k4 = await startTcpServer((socket) =>
        socket.once('data', (bytes) => {
          received.push(`k4 ${bytes.toString('latin1').split('\r\n\r\n')[1]}`);
          socket.resetAndDestroy();
        }),
      );
      await using k5 = await startHttpServer(async (request, response) => {
        let body = '';
        for await (const piece of request) body += piece;
        received.push(`k5 ${body}`);
        response.end();
      });
      const replicas = [
        { name: 'k4', port: k4.port },
        { name: 'k5', port: k5.port },
      ];
      const layout = { read: ['k5'], write: ['k4', 'k5'] };
      await using balancer = await startBalancer(replicas, layout, { retry: true });
      using client = openClient(balancer.port);

      const statuses: number[] = [];
      for (let event = 0; event < 10; event++) {
        const { status } = await client.send('/olay', { method: 'POST', body: `olay-${event}` });
        statuses.push(status);
      }

      expect(statuses).toEqual([502, 200, 502, 200, 502, 200, 502, 200, 502, 200]);
      const events = received.map((line) => line.split(' ')[1]);
      expect(new Set(events).size, 'no event is sent twice').toBe(events.length);
      expect(received.filter((line) => line.startsWith('k4'))).toHaveLength(5);
      expect(balancer.counters()).toMatchObject({ decisions: 10, attempts: 10, unreachable: 5 });
    });

    it('S-3: a request whose client leaves while it waits for a connection is never sent', async () => {
      await using held = await startHoldingReplicas('k1');
      await using balancer = await startBalancer(held.replicas, alone);
      using a = openClient(balancer.port);
      using b = openClient(balancer.port);
      using c = openClient(balancer.port);
      const leaving = new AbortController();

      const first = a.send('/takip?no=A');
      first.catch(() => {}); // awaited below
      await held.filled(1);
      const waiting = b.send('/takip?no=B', { signal: leaving.signal });
      const left = expect(waiting).rejects.toThrow(/abort/i);
      const counted = (what: 'decisions' | 'clientAborted', wanted: number) =>
        eventually(
          () => balancer.counters()[what],
          (count) => count === wanted,
        );
      expect(await counted('decisions', 2), 'B is decided, and waits').toBe(2);
      leaving.abort();
      await left;
      expect(await counted('clientAborted', 1), 'the balancer has noticed').toBe(1);
      held.release();

      expect((await within(first, 'the answer to A')).status).toBe(200);
      // C comes after B: whatever was to be sent before it has been.
      expect((await within(c.send('/takip?no=C'), 'the answer to C')).status).toBe(200);
      expect(held.seen, 'requests at the replica').toEqual(['/takip?no=A', '/takip?no=C']);
      expect(balancer.counters()).toMatchObject({ inner: 1, clientAborted: 1, unreachable: 0 });
    });
  });
});
