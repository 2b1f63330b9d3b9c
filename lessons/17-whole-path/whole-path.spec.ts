// Lesson 17: the whole path
//
// Sixteen decisions, each defended by itself. Here they stand one behind the other: a name layer,
// edges with a cache, a load balancer, gateways with a gate and a body for each kind of client,
// services, an ambassador, a carrier. 300 views pass through real servers, and taps between the units
// count. What you know is every single piece. What you leave with is what they do together: that a
// cache needs a key that knows about tokens, that a name policy can empty it, and that an answer which
// isn't cached is asked for again.
//
// The tests of exercise 17.6 take some 20 seconds together. That is 49 runs of the whole path, each
// with fresh units, and of 500 to 2,900 requests over loopback.
import { createServer, type RequestListener } from 'node:http';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { attachFigure } from '#helpers/lesson/figure.ts';
import { startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { startRefusing } from '#helpers/lesson/refusing.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { gate, within } from '#helpers/lesson/waiting.ts';
import { TABLES } from '../01-dns-routing/routing.ts';
import {
  AUDIT_ROWS,
  type AuditedRun,
  type AuditedRunName,
  type AuditRow,
  type Change,
  MEASURES,
  type Measure,
} from './audit-rows.ts';
import { closingFigure } from './closing-figure.ts';
import { CLOSING_TABLE, COURSE_FACTS, computeClosingTable, numbersIn } from './closing-table.ts';
import {
  auditDecision,
  createDelivery,
  createGateway,
  createResolver,
  edgeCacheKey,
  predict,
  repairRows,
  startEdge,
  startPath,
} from './exercise.ts';
import {
  FULL_PATH,
  type GatewayOptions,
  REFUSALS,
  REGIONS,
  REPLICAS,
  type ServiceAnswer,
  type ServiceRequest,
  type Switches,
  UNITS,
  UNREACHABLE_BODY,
  type UnitName,
} from './given.ts';
import { type PathRun, type RunOptions, runPath } from './harness.ts';
import { firstDeviation, plan, type Stop } from './itinerary.ts';
import { startCarrierOf, startPricingOf } from './outside.ts';
import { hops, pathFigure, pathHeight, pathText } from './path-figure.ts';
import { algorithms, dnsRouting, PATH_PIECES } from './pieces.ts';
import { startTap } from './tap.ts';
import { createTrace, recordsOf } from './trace.ts';

const lesson = openLesson(import.meta.url);

/** Rows of the closing table in which no number is one of the three measures. */
const NOT_DEFENSIBLE = [6, 7, 13, 15];

function change(measure: Measure, before: number, after: number): Change {
  return { measure, before, after };
}

/** A row that may not be written to, as it could be one of the table's. */
function auditRow(moves: readonly Change[], grows: readonly Change[], lesson = 0): AuditRow {
  for (const side of [moves, grows]) Object.freeze(side).forEach(Object.freeze);
  return Object.freeze({ lesson, decision: 'where the coffee machine stands', moves, grows });
}

function isDefensible(moves: readonly Change[], grows: readonly Change[]): boolean {
  const { defensible } = auditDecision(auditRow(moves, grows));
  expect(defensible).toBeTypeOf('boolean');
  return defensible;
}

/** Few numbers, so that some don't change, and some changes are the same. */
const drawnNumber = fc.integer({ min: -3, max: 3 });
const drawnChange = fc.record({
  measure: fc.constantFrom(...MEASURES),
  before: drawnNumber,
  after: drawnNumber,
});
const drawnSide = fc.array(drawnChange, { maxLength: 3 });

type AuditedRuns = Record<AuditedRunName, AuditedRun>;

function auditedRun(numbers: readonly [number, number, number, number]): AuditedRun {
  const [balancer, application, inboundBodyBytes, answered] = numbers;
  return Object.freeze({ balancer, application, inboundBodyBytes, answered });
}

/** What the path counts: rows of the README's tables. */
const RUNS_OF_THE_PATH: AuditedRuns = Object.freeze({
  full: auditedRun([54, 41, 0, 300]),
  noCache: auditedRun([300, 314, 0, 300]),
  noGate: auditedRun([54, 57, 36_000, 300]),
  ambassadorStopped: auditedRun([177, 182, 0, 162]),
});

/** No number comes twice, so that each says where it is from. */
const OTHER_RUNS: AuditedRuns = Object.freeze({
  full: auditedRun([11, 12, 13, 14]),
  noCache: auditedRun([21, 22, 23, 24]),
  noGate: auditedRun([31, 32, 33, 34]),
  ambassadorStopped: auditedRun([41, 42, 43, 44]),
});

/** What is added to the row of a lesson, by side. */
function repairsOf(
  runs: AuditedRuns,
): Record<number, Partial<Record<'moves' | 'grows', Change[]>>> {
  const { full, noCache, noGate, ambassadorStopped } = runs;
  const spread = change('requests', noCache.balancer, full.balancer);
  return {
    6: { moves: [spread] },
    7: { moves: [spread] },
    13: {
      moves: [
        change('requests', noGate.application, full.application),
        change('bytes', noGate.inboundBodyBytes, full.inboundBodyBytes),
      ],
    },
    15: { grows: [change('answered', full.answered, ambassadorStopped.answered)] },
  };
}

function rowOf(lesson: number): AuditRow {
  const row = AUDIT_ROWS.find((candidate) => candidate.lesson === lesson);
  if (!row) throw new Error(`AUDIT_ROWS has no lesson ${lesson}`);
  return row;
}

describe('Lesson 17: the whole path', () => {
  it('the path runs on your pieces where they are written, and on lent ones where they are not', {
    meta: { pieces: PATH_PIECES },
  }, () => {
    const units = new Set(PATH_PIECES.map(({ unit }) => unit));
    expect([...units]).toEqual([
      ...['name layer', 'edge caches', 'load balancer', 'gateways', 'delivery', 'ambassador'],
    ]);
  });

  it('thirty sessions look ten times: 180 mobile views, 90 web, 30 panel, and 24 of 300 are wrong', () => {
    const trace = createTrace();
    const count = (pick: (view: (typeof trace)[number]) => unknown) => {
      const counts: Record<string, number> = {};
      for (const view of trace) counts[String(pick(view))] = (counts[String(pick(view))] ?? 0) + 1;
      return counts;
    };

    expect(count(({ client }) => client)).toEqual({ mobile: 180, web: 90, panel: 30 });
    expect(count(({ flaw }) => flaw)).toEqual({
      null: 276,
      ...{ path: 4, schema: 4, size: 4, token: 4, unknown: 4, foreign: 4 },
    });
    expect(recordsOf().size).toBe(33);
    // Three sessions begin in each round, and each looks for ten rounds.
    expect(Object.values(count(({ round }) => round))).toEqual([
      ...[3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 27, 24, 21, 18, 15, 12, 9, 6, 3],
    ]);
  });

  it('a valid view is 78 bytes on a mobile card, 115 on a web page and 551 in a panel; one body for all has 183', () => {
    const bytes = (bff: boolean) =>
      new Set(
        createTrace({ bff, flaws: false }).flatMap(({ client, requests }) =>
          requests.map(({ expected }) => `${client} ${Buffer.byteLength(expected.body)}`),
        ),
      );

    expect([...bytes(true)].sort()).toEqual(['mobile 78', 'panel 551', 'web 115']);
    expect([...bytes(false)].sort()).toEqual(['mobile 183', 'panel 183', 'web 183']);
  });

  it('a tap counts what its unit has answered, and cuts where a stopped unit would', async () => {
    const records = recordsOf();
    const seen: string[] = [];
    await using pricing = await startPricingOf(records, { batch: true });
    await using tap = await startTap('pricing', pricing.port, (passage) => {
      seen.push(
        typeof passage === 'string' ? passage : `${passage.status}, ${passage.bytes} bytes`,
      );
    });
    using client = openClient(tap.port);
    const ask = (target: string) => client.send(target, { headers: { 'x-kimlik': 'M10' } });

    expect(await ask('/ucret/TR-4800')).toMatchObject({ status: 200 });
    expect(await ask('/ucret/TR-4801')).toMatchObject({ status: 403, body: REFUSALS.foreign.body });
    await pricing.close();
    await using _held = await startRefusing('pricing', pricing.port);
    await expect(ask('/ucret/TR-4800')).rejects.toThrow();
    expect(seen).toEqual(['200, 79 bytes', '403, 16 bytes', 'unanswered']);
  });

  it('a red run names the first request on another way than planned, with both ways', () => {
    const trace = createTrace();
    const planned = plan(trace, FULL_PATH);
    const walked = (legs: typeof planned) => legs.map((leg) => ({ ...leg, body: leg.body ?? '' }));

    expect(firstDeviation(planned, walked(planned))).toBeUndefined();
    expect(firstDeviation(planned, walked(plan(trace, { ...FULL_PATH, gate: false })))).toBe(
      'The first request on another way than planned is view 3 of session 1 (mobile, g2, round 3, ' +
        "flaw: path), GET /yok/TR-4801: it reached delivery and shouldn't have.\n" +
        '  wanted: b35 > balancer > k1 (404, 14 bytes)\n' +
        '  came:   b35 > balancer > k1 > delivery (404, 14 bytes)',
    );
    const stops: Stop[] = [{ unit: 'carrier', round: 5 }];
    expect(firstDeviation(planned, walked(plan(trace, FULL_PATH, { stops })))).toContain(
      'view 0 of session 15 (mobile, g4, round 5), GET /takip/TR-4815: it missed carrier.',
    );
  });

  describe('the closing table: what each decision moves, and what grows in exchange', () => {
    for (const row of CLOSING_TABLE) {
      it(row.claim, async () => {
        for (const [name, { value, repeats }] of Object.entries(await row.compute())) {
          expect(value, repeats).toBePublished(`17.table.${row.row}.${name}`);
        }
      });
    }

    it('every number of the table repeats one record of its own lesson', async ({ annotate }) => {
      const table = await computeClosingTable();

      await attachFigure(annotate, closingFigure(table));
      const repeated = table.flatMap(({ row, values }) =>
        Object.values(values).map((value) => ({ ...value, lesson: row.lesson })),
      );
      for (const { value, repeats, lesson } of repeated) {
        expect(value).toBePublished(repeats);
        expect(Number(repeats.split('.', 1)[0]), repeats).toBe(lesson);
      }
      expect(new Set(repeated.map(({ repeats }) => repeats)).size).toBe(114);
    });

    it('every number of the table stands on one of its two sides, once', async () => {
      for (const { row, values } of await computeClosingTable()) {
        const mentioned = numbersIn(row).map(({ name }) => name);
        expect(mentioned.sort(), row.row).toEqual(Object.keys(values).sort());
      }
    });

    it('sixteen decisions, in the order of the lessons, and the same sixteen are audited', () => {
      const decisions = CLOSING_TABLE.map(({ lesson, decision }) => ({ lesson, decision }));
      expect(decisions.map(({ lesson }) => lesson)).toEqual(decisions.map((_, index) => index + 1));
      expect(AUDIT_ROWS.map(({ lesson, decision }) => ({ lesson, decision }))).toEqual(decisions);
    });

    it('the course asks three questions at every stop, and ties each decision to one of three measures', () => {
      for (const [name, fact] of Object.entries(COURSE_FACTS)) {
        expect(fact).toBePublished(`17.course.${name}`);
      }
    });
  });

  it('each number to be audited stands in the closing table, or says what is left of 100', async () => {
    // What the table leaves unsaid: where a rate starts, and what lesson 5 makes of lost requests.
    const unsaid: Record<number, number[]> = {
      3: [K01.peakReads],
      5: [99.93472, 99.99998],
      6: [K01.peakRate, 1],
      11: [K01.peakReads],
    };
    const strangers: string[] = [];
    for (const { row, values } of await computeClosingTable()) {
      const computed = Object.values(values).flatMap(({ value }) =>
        typeof value === 'number' ? [value, 100 - value] : [],
      );
      const known = [0, 100, ...(unsaid[row.lesson] ?? []), ...computed];
      const audited = AUDIT_ROWS.find(({ lesson }) => lesson === row.lesson);
      const changes = [...(audited?.moves ?? []), ...(audited?.grows ?? [])];
      for (const number of changes.flatMap(({ before, after }) => [before, after])) {
        const decimals = String(number).split('.')[1]?.length ?? 0;
        if (!known.some((value) => value.toFixed(decimals) === number.toFixed(decimals))) {
          strangers.push(`lesson ${row.lesson}: ${number}`);
        }
      }
      expect(audited?.decision).toBe(row.decision);
    }

    expect(strangers).toEqual([]);
  });

  // Predict first: whose answer may a cache repeat to whom? Name everything that an answer of this
  // path depends on, before you look at the hints.
  describe('Exercise 17.1: what an answer depends on', lesson.exercise('17.1'), () => {
    const request = {
      method: 'GET',
      target: '/takip/TR-4800',
      headers: { authorization: 'b.M10.imza', 'x-istemci': 'mobil-kart' },
    };
    const withFields = (headers: Record<string, string | undefined>) => ({
      ...request,
      headers: { ...request.headers, ...headers },
    });

    /** The key of a request that has one. */
    const textOfKey = (asked: Parameters<typeof edgeCacheKey>[0]) => {
      const key = edgeCacheKey(asked);
      expect(key).toBeTypeOf('string');
      return key;
    };

    it('the same request has the same key, whatever else it says', () => {
      const key = edgeCacheKey(request);
      expect(key).toBeTypeOf('string');
      expect(edgeCacheKey(withFields({}))).toBe(key);
      expect(edgeCacheKey(withFields({ 'user-agent': 'x', 'x-kimlik': 'M99' }))).toBe(key);
    });

    it('another token has another key, and so has none at all', () => {
      const key = textOfKey(request);
      expect(textOfKey(withFields({ authorization: 'b.M11.imza' }))).not.toBe(key);
      expect(textOfKey(withFields({ authorization: 'bozuk' }))).not.toBe(key);
      expect(textOfKey(withFields({ authorization: undefined }))).not.toBe(key);
    });

    it('another kind of client has another key', () => {
      const keys = ['mobil-kart', 'web-sayfasi', 'satici-paneli', undefined].map((client) =>
        textOfKey(withFields({ 'x-istemci': client })),
      );
      expect(new Set(keys).size).toBe(4);
    });

    it('another target has another key, and the query belongs to the target', () => {
      const key = textOfKey(request);
      expect(textOfKey({ ...request, target: '/takip/TR-4801' })).not.toBe(key);
      expect(textOfKey({ ...request, target: '/takip/TR-4800?no=1' })).not.toBe(key);
      expect(textOfKey({ ...request, target: '/takip?no=TR-4800,TR-4801' })).not.toBe(
        textOfKey({ ...request, target: '/takip?no=TR-4801,TR-4800' }),
      );
    });

    it('a field that is missing is the same as an empty one', () => {
      const bare = { method: 'GET', target: '/takip', headers: {} };
      const empty = { ...bare, headers: { authorization: '', 'x-istemci': '' } };
      expect(edgeCacheKey(bare)).toBeTypeOf('string');
      expect(edgeCacheKey(bare)).toBe(edgeCacheKey(empty));
    });

    it('only a GET has a key', () => {
      expect(edgeCacheKey(request)).not.toBeNull();
      for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'get']) {
        expect(edgeCacheKey({ ...request, method }), method).toBeNull();
      }
    });

    it('token a|b of client c is not token a of client b|c, whatever the separator', () => {
      const keyOf = ([authorization, client, target]: readonly string[]) =>
        textOfKey({
          method: 'GET',
          target: target ?? '',
          headers: { authorization, 'x-istemci': client },
        });
      for (const separator of ['|', ',', ' ', '\n', '\0', '"', '","', '\\', ':', ';', '&', '/']) {
        const [left, right] = [`a${separator}b`, `b${separator}c`];
        // Of two neighbours the first has the separator at its end, or the second at its start.
        for (const [one, other] of [
          [
            [left, 'c', '/'],
            ['a', right, '/'],
          ],
          [
            ['c', left, '/'],
            [right, 'a', '/'],
          ],
          [
            ['x', left, 'c'],
            ['x', 'a', right],
          ],
          [
            ['x', 'c', left],
            ['x', right, 'a'],
          ],
          [
            [left, 'x', 'c'],
            ['a', 'x', right],
          ],
        ] as const) {
          expect(keyOf(one), JSON.stringify([one, other])).not.toBe(keyOf(other));
        }
      }
    });

    it('two requests share a key only if token, client and target are the same', async () => {
      const text = fc.string({
        unit: fc.constantFrom('a', '|', '"', ',', '\\', ' '),
        maxLength: 4,
      });
      const seen = new Map<string, string>();
      await expectLaw({ token: text, client: text, target: text }, ({ token, client, target }) => {
        const key = edgeCacheKey({
          method: 'GET',
          target,
          headers: { authorization: token, 'x-istemci': client },
        });
        const parts = JSON.stringify([token, client, target]);
        expect(seen.get(String(key)) ?? parts).toBe(parts);
        seen.set(String(key), parts);
      });
    });

    it('with one body for everybody the kind of client is not in the key, and the token still is', () => {
      const shared = { perClientBodies: false };
      const key = edgeCacheKey(request, shared);
      expect(key).toBeTypeOf('string');
      expect(edgeCacheKey(withFields({ 'x-istemci': 'web-sayfasi' }), shared)).toBe(key);
      expect(edgeCacheKey(withFields({ 'x-istemci': undefined }), shared)).toBe(key);
      expect(edgeCacheKey(withFields({ authorization: 'b.M3.imza' }), shared)).not.toBe(key);
      expect(edgeCacheKey({ ...request, method: 'POST' }, shared)).toBeNull();
    });

    it('per client is the default, also with options that do not say', () => {
      expect(edgeCacheKey(request, {})).toBe(edgeCacheKey(request));
      expect(edgeCacheKey(request, { perClientBodies: true })).toBe(edgeCacheKey(request));
      expect(edgeCacheKey(request)).not.toBe(edgeCacheKey(request, { perClientBodies: false }));
    });
  });

  describe('Exercise 17.2: an edge', lesson.exercise('17.2'), () => {
    /** An origin with one listener that can be exchanged, and an edge in front of it. */
    async function stage(
      listener: RequestListener,
      { capacity = 10, key = byTarget }: Partial<{ capacity: number; key: typeof byTarget }> = {},
    ) {
      const log: string[] = [];
      const stage = { listener };
      const origin = await startHttpServer((request, response) => {
        log.push(`${request.method} ${request.url}`);
        stage.listener(request, response);
      });
      const edge = await startEdge({ upstreamPort: origin.port, capacity, key }).catch(
        async (error) => {
          await origin.close();
          throw error;
        },
      );
      const client = openClient(edge.port);
      return Object.assign(stage, {
        log,
        origin,
        edge,
        send: client.send,
        async [Symbol.asyncDispose]() {
          client[Symbol.dispose]();
          await edge.close();
          await origin.close();
        },
      });
    }
    const byTarget = ({ target }: { target: string }): string | null => target;
    const json =
      (body: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
      (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(body);
      };

    it('a miss asks the balancer and passes on its answer; a hit repeats it and asks nobody', async () => {
      await using path = await stage(
        json('{"a":1}', 200, { 'x-kopya': 'k2', 'cache-control': 'private' }),
      );

      const miss = await path.send('/takip/TR-4800');
      expect(miss).toMatchObject({ status: 200, body: '{"a":1}' });
      expect(miss.headers).toMatchObject({
        'x-kenar': 'iska',
        'content-type': 'application/json',
        'x-kopya': 'k2',
        'cache-control': 'private',
      });
      const hit = await path.send('/takip/TR-4800');
      expect(hit).toMatchObject({ status: 200, body: '{"a":1}' });
      expect(hit.headers).toMatchObject({
        'x-kenar': 'isabet',
        'content-type': 'application/json',
      });
      expect(path.log).toEqual(['GET /takip/TR-4800']);
    });

    it('a hit says nothing about who answered the miss: x-kopya, x-eksik and cache-control stay away', async () => {
      await using path = await stage(
        json('{}', 200, { 'x-kopya': 'k1', 'x-eksik': 'ucret', 'cache-control': 'max-age=60' }),
      );

      expect((await path.send('/takip/1')).headers).toMatchObject({ 'x-eksik': 'ucret' });
      const { headers } = await path.send('/takip/1');
      expect(headers['x-kenar']).toBe('isabet');
      for (const field of ['x-kopya', 'x-eksik', 'cache-control'])
        expect(headers).not.toHaveProperty(field);
    });

    it('the bytes of a hit are those of the miss, also when they are no text', async () => {
      const bytes = Buffer.from([0, 255, 13, 10, 195, 40]);
      await using path = await stage((_, response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
      });
      const fetchBytes = async () => {
        const response = await fetch(`http://127.0.0.1:${path.edge.port}/takip/1`);
        return Buffer.from(await response.arrayBuffer());
      };

      expect(await fetchBytes()).toEqual(bytes);
      expect(await fetchBytes()).toEqual(bytes);
      expect(path.log).toHaveLength(1);
    });

    for (const status of [404, 403, 413, 400, 401, 502, 503, 201, 206]) {
      it(`a ${status} is passed on and never stored: it belongs to its moment`, async () => {
        await using path = await stage(json('{"hata":"x"}', status));

        for (const time of ['first', 'second']) {
          const answer = await path.send('/takip/1');
          expect(answer, time).toMatchObject({ status, body: '{"hata":"x"}' });
          expect(answer.headers['x-kenar'], time).toBe('iska');
        }
        expect(path.log).toHaveLength(2);
        path.listener = json('{"a":1}');
        expect(await path.send('/takip/1')).toMatchObject({ status: 200, body: '{"a":1}' });
      });
    }

    for (const directives of ['no-store', 'private, no-store', 'No-Store', 'max-age=60,no-store']) {
      it(`an answer with cache-control: ${directives} is passed on with it and not stored`, async () => {
        await using path = await stage(json('{}', 200, { 'cache-control': directives }));

        expect((await path.send('/takip/1')).headers['cache-control']).toBe(directives);
        expect((await path.send('/takip/1')).headers['x-kenar']).toBe('iska');
        expect(path.log).toHaveLength(2);
      });
    }

    it('a POST passes with its body, and neither uses an entry nor makes one', async () => {
      const bodies: string[] = [];
      await using path = await stage(async (request, response) => {
        let body = '';
        for await (const piece of request) body += piece;
        bodies.push(`${request.method} ${body}`);
        response.end('{}');
      });

      await path.send('/takip/1');
      const post = await path.send('/takip/1', { method: 'POST', body: 'x'.repeat(9_000) });
      expect(post.headers['x-kenar']).toBe('iska');
      await path.send('/takip/2', { method: 'POST', body: 'y' });
      expect((await path.send('/takip/2')).headers['x-kenar']).toBe('iska');
      expect(bodies).toEqual(['GET ', `POST ${'x'.repeat(9_000)}`, 'POST y', 'GET ']);
    });

    it('a request without a key passes through every time', async () => {
      await using path = await stage(json('{}'), { key: () => null });

      for (const _ of [1, 2, 3]) {
        expect((await path.send('/takip/1')).headers['x-kenar']).toBe('iska');
      }
      expect(path.log).toHaveLength(3);
    });

    it('the key gets method, target and fields as the client sent them', async () => {
      const asked: unknown[] = [];
      await using path = await stage(json('{}'), {
        key: (request) => {
          asked.push(request);
          return 'one for all';
        },
      });

      await path.send('/takip?no=1,2', {
        headers: { Authorization: 'b.M10.imza', 'X-Istemci': 'mobil-kart' },
      });
      expect(asked[0]).toMatchObject({
        method: 'GET',
        target: '/takip?no=1,2',
        headers: { authorization: 'b.M10.imza', 'x-istemci': 'mobil-kart' },
      });
      expect((await path.send('/takip/9')).headers['x-kenar']).toBe('isabet');
    });

    it('method, target, body and fields go on, without x-kimlik and without the fields of a connection', async () => {
      const seen: Record<string, unknown>[] = [];
      await using path = await stage((request, response) => {
        seen.push({ ...request.headers, url: request.url });
        response.end('{}');
      });

      await path.send('/takip/TR-4800?x=%20', {
        headers: {
          authorization: 'b.M10.imza',
          'x-istemci': 'mobil-kart',
          'x-kimlik': 'M99',
          connection: 'keep-alive, x-nur-hier',
          'x-nur-hier': '1',
          te: 'trailers',
        },
      });
      expect(seen[0]).toMatchObject({
        url: '/takip/TR-4800?x=%20',
        authorization: 'b.M10.imza',
        'x-istemci': 'mobil-kart',
      });
      for (const field of ['x-kimlik', 'x-nur-hier', 'te'])
        expect(seen[0]).not.toHaveProperty(field);
    });

    it('an answer that breaks off is not stored, and never reaches the client as a clean end', async () => {
      const half =
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"a"';
      const whole =
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}';
      let answers = 0;
      await using origin = await startTcpServer((socket) => {
        socket.once('data', () => {
          answers += 1;
          socket.end(answers === 1 ? half : whole);
        });
        socket.on('error', () => {});
      });
      await using edge = await startEdge({
        upstreamPort: origin.port,
        capacity: 10,
        key: byTarget,
      });
      using client = openClient(edge.port);

      const first = await client.send('/takip/1').catch(() => ({ status: 0 }));
      expect([0, 502], 'a cut connection, or a 502').toContain(first.status);
      const second = await client.send('/takip/1');
      expect(second).toMatchObject({ status: 200, body: '{"a":1}' });
      expect(second.headers['x-kenar']).toBe('iska');
    });

    it('its health is its own: /saglik is 200, also without a balancer, and is never forwarded', async () => {
      await using path = await stage(json('{}', 500));

      expect((await path.send('/saglik')).status).toBe(200);
      expect(path.log).toEqual([]);
      await path.origin.close();
      await using _held = await startRefusing('balancer', path.origin.port);
      expect((await path.send('/saglik')).status).toBe(200);
    });

    it('without a balancer an open page is answered, a new one is 502, and the edge goes on', async () => {
      await using path = await stage(json('{"a":1}'));

      await path.send('/takip/1');
      await path.origin.close();
      await using _held = await startRefusing('balancer', path.origin.port);
      expect(await path.send('/takip/2')).toMatchObject({ status: 502, body: UNREACHABLE_BODY });
      expect((await path.send('/takip/2')).headers['x-kenar']).toBe('iska');
      expect(await path.send('/takip/1')).toMatchObject({ status: 200, body: '{"a":1}' });
    });

    it('with room for one, two pages in turn never hit', async () => {
      await using path = await stage(json('{}'), { capacity: 1 });

      for (const _ of [1, 2, 3]) {
        for (const target of ['/takip/1', '/takip/2']) {
          expect((await path.send(target)).headers['x-kenar']).toBe('iska');
        }
      }
      expect((await path.send('/takip/2')).headers['x-kenar']).toBe('isabet');
    });

    it('with room for two, the page that was looked at longest ago goes', async () => {
      await using path = await stage(json('{}'), { capacity: 2 });
      const look = async (target: string) => (await path.send(target)).headers['x-kenar'];

      for (const target of ['/takip/1', '/takip/2', '/takip/1', '/takip/3']) await look(target);
      expect(await look('/takip/1')).toBe('isabet');
      expect(await look('/takip/2')).toBe('iska');
    });

    it('refuses a capacity that is no whole number of 1 or more', async () => {
      for (const capacity of [0, -1, 1.5, Number.NaN, Infinity]) {
        await expectRefusal(
          () => startEdge({ upstreamPort: 1, capacity, key: byTarget }),
          'capacity',
        );
      }
    });
  });

  describe('Exercise 17.3: a name that is remembered', lesson.exercise('17.3'), () => {
    const alive = () => false;

    it('asks in round 0, and whenever round and phase are a multiple of the TTL', () => {
      const asked: number[] = [];
      let now = 0;
      const policy = { answer: () => asked.push(now) };
      const roundsOf = (ttlRounds: number, phase: number) => {
        asked.length = 0;
        const resolver = createResolver({ policy, group: 'g1', ttlRounds, phase });
        for (now = 0; now < 19; now += 1) resolver.region(now, alive);
        return [...asked];
      };

      expect(roundsOf(6, 0)).toEqual([0, 6, 12, 18]);
      expect(roundsOf(6, 1)).toEqual([0, 5, 11, 17]);
      expect(roundsOf(6, 3)).toEqual([0, 3, 9, 15]);
      expect(roundsOf(3, 4)).toEqual([0, 2, 5, 8, 11, 14, 17]);
      expect(roundsOf(12, 0)).toEqual([0, 12]);
      expect(roundsOf(1, 0)).toHaveLength(19);
      expect(roundsOf(40, 0)).toEqual([0]);
    });

    it('repeats its answer in between, whether or not that region is still alive', () => {
      const policy = dnsRouting.createPolicy('latency', TABLES);
      const resolver = createResolver({ policy, group: 'g1', ttlRounds: 6, phase: 0 });
      const regions = Array.from({ length: 8 }, (_, round) =>
        resolver.region(round, (region) => round >= 2 && region === 'b34'),
      );
      expect(regions).toEqual([...Array(6).fill('b34'), 'b06', 'b06']);
    });

    it('tells the authority its group and what is marked down at that moment', () => {
      const queries: string[] = [];
      const resolver = createResolver({
        policy: {
          answer: ({ group, isMarkedDown }) => queries.push(`${group} ${isMarkedDown('b34')}`),
        },
        group: 'g3',
        ttlRounds: 2,
        phase: 0,
      });
      for (let round = 0; round < 4; round += 1) resolver.region(round, () => round === 2);
      expect(queries).toEqual(['g3 false', 'g3 true']);
    });

    it('asked twice in one round, it asks once', () => {
      let queries = 0;
      const policy = {
        answer: () => {
          queries += 1;
          return `answer ${queries}`;
        },
      };
      const resolver = createResolver({ policy, group: 'g1', ttlRounds: 2, phase: 0 });
      for (const round of [0, 0, 1, 1, 2, 2, 2]) resolver.region(round, alive);
      expect(queries).toBe(2);
      expect(resolver.region(2, alive)).toBe('answer 2');
    });

    it('remembers any answer, also one that means nothing', () => {
      let queries = 0;
      const policy = {
        answer: () => {
          queries += 1;
          return undefined;
        },
      };
      const resolver = createResolver({ policy, group: 'g1', ttlRounds: 5, phase: 0 });
      for (const round of [0, 1, 2]) resolver.region(round, alive);
      expect(queries).toBe(1);
    });

    it('four resolvers share one weighted policy: sixteen queries, and groups that move', () => {
      const policy = dnsRouting.createPolicy('weighted', TABLES);
      let queries = 0;
      const counted = {
        answer(query: Parameters<typeof policy.answer>[0]) {
          queries += 1;
          return policy.answer(query);
        },
      };
      const resolvers = ['g1', 'g2', 'g3', 'g4'].map((group, phase) =>
        createResolver({ policy: counted, group, ttlRounds: 6, phase }),
      );
      const rounds = Array.from({ length: 19 }, (_, round) =>
        resolvers.map((resolver) => resolver.region(round, alive)),
      );
      const changesOf = (index: number) =>
        rounds.flatMap((regions, round) =>
          regions[index] === rounds[round - 1]?.[index] ? [] : [`${round}: ${regions[index]}`],
        );

      expect(queries).toBe(16);
      expect(changesOf(0)).toEqual(['0: b34', '6: b06', '12: b35', '18: b34']);
      expect(changesOf(1)).toEqual(['0: b35', '11: b34', '17: b35']);
      expect(changesOf(2)).toEqual(['0: b06', '4: b34']);
      expect(changesOf(3)).toEqual(['0: b34', '3: b35', '9: b34', '15: b06']);
    });

    it('refuses a TTL that is no whole number of 1 or more, and a phase that is none of 0 or more', () => {
      const policy = dnsRouting.createPolicy('latency', TABLES);
      const good = { policy, group: 'g1', ttlRounds: 6, phase: 0 };
      expect(createResolver(good).region(0, alive)).toBe('b34');
      for (const ttlRounds of [0, -6, 1.5, Number.NaN, Infinity]) {
        expectRefusal(() => createResolver({ ...good, ttlRounds }), 'ttlRounds');
      }
      for (const phase of [-1, 0.5, Number.NaN, Infinity]) {
        expectRefusal(() => createResolver({ ...good, phase }), 'phase');
      }
    });
  });

  const parts = { startPath, createResolver };
  // A run takes a while, and two tests may look at the same one.
  const runs = new Map<string, Promise<PathRun>>();
  const runOf = (options: RunOptions): Promise<PathRun> => {
    const name = JSON.stringify(options) + (options.place ? 'placed' : '');
    const run = runs.get(name) ?? runPath(parts, options);
    runs.set(name, run);
    return run;
  };

  /** Runs the path. The first request that goes another way than planned is the message. */
  const walk = async (options: RunOptions) => {
    const { deviation, ...run } = await runOf(options);
    if (deviation) expect.fail(deviation);
    return run;
  };
  const stopAt = (round: number, ...units: Stop['unit'][]): Stop[] =>
    units.map((unit) => ({ unit, round }));

  /** What the fake services of 17.4 know: any shipment, in the one state of all. */
  const shipment = (takipNo: string) => ({
    takipNo,
    durum: 'dagitimda',
    bolge: '35',
    guncellenme: '2026-03-11T08:24:00Z',
    rota: ['34', '41', '35'],
  });
  const price = (takipNo: string) => ({
    takipNo,
    tarife: 9_600,
    indirim: 1_440,
    net: 8_160,
    sozlesmeNo: 'S7',
  });
  const answering = (value: unknown, status = 200): ServiceAnswer => ({
    status,
    body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  });
  const PANEL = ['TR-4809', 'TR-4900', 'TR-4901', 'TR-4902', 'TR-4903'];

  describe('Exercise 17.4: the gateway', lesson.exercise('17.4'), () => {
    type Call = GatewayOptions['call'];

    /** Answers as the services do, on paper. */
    const honest: Call = async (service, { target }) => {
      const record: (takipNo: string) => object = service === 'delivery' ? shipment : price;
      const [, list] = target.split('?no=');
      if (list !== undefined) return answering(list.split(',').map(record));
      return answering(record(target.split('/')[2] ?? ''));
    };

    function gatewayWith(options: Partial<GatewayOptions> = {}) {
      const calls: string[] = [];
      const requests: ServiceRequest[] = [];
      const { call = honest, ...switches } = options;
      const listener = createGateway({
        ...{ gate: true, bff: true, batch: true, partialPanel: false },
        ...switches,
        call: (service, request) => {
          calls.push(`${service} ${request.method} ${request.target}`);
          requests.push(request);
          return call(service, request);
        },
      });
      const server = createServer(listener);
      const send = (
        target: string,
        {
          client = 'mobil-kart',
          method = 'get',
          body,
          ...headers
        }: Record<string, string | undefined> = {},
      ) => {
        const fields: Record<string, string> = { authorization: 'b.M10.imza', 'x-istemci': client };
        for (const [name, value] of Object.entries(headers)) {
          if (value === undefined) delete fields[name];
          else fields[name] = value;
        }
        const request = supertest(server)[method as 'get' | 'post'](target).set(fields);
        return body === undefined ? request : request.send(body);
      };
      return { calls, requests, send };
    }
    const panelOf = (numbers: readonly string[]) => `/takip?no=${numbers.join(',')}`;

    describe('the gate', () => {
      const BAD_REQUESTS = [
        { what: 'a path that is not below /takip', target: '/yok/TR-4800', flaw: 'path' },
        { what: 'a path that only begins like /takip', target: '/takipler/TR-4800', flaw: 'path' },
        {
          what: 'a declared body of 2,049 bytes',
          target: '/takip/TR-4800',
          bytes: 2_049,
          flaw: 'size',
        },
        {
          what: 'a token of another form',
          target: '/takip/TR-4800',
          token: 'bozuk',
          flaw: 'token',
        },
        {
          what: 'a token with more behind it',
          target: '/takip/TR-4800',
          token: 'b.M10.imza2',
          flaw: 'token',
        },
        { what: 'no tracking number', target: '/takip', flaw: 'schema' },
        { what: 'an empty list', target: '/takip?no=', flaw: 'schema' },
        { what: 'a number of another form', target: '/takip/TR-48000', flaw: 'schema' },
        { what: 'one bad number in a list', target: '/takip?no=TR-4800,TR-48', flaw: 'schema' },
      ] as const;

      for (const { what, target, flaw, ...more } of BAD_REQUESTS) {
        const { status, body } = REFUSALS[flaw];
        it(`${what}: ${status} ${body}, and no service is called`, async () => {
          const { send, calls } = gatewayWith();
          const bytes = 'bytes' in more ? { method: 'post', body: 'x'.repeat(more.bytes) } : {};
          const token = 'token' in more ? { authorization: more.token } : {};

          const answer = await send(target, { ...bytes, ...token });
          expect(answer).toMatchObject({ status, text: body });
          expect(answer.headers['content-type']).toBe('application/json');
          expect(calls).toEqual([]);
        });
      }

      it('the checks go path, size, token, schema: the first that fails is the answer', async () => {
        const { send, calls } = gatewayWith();
        const oversized = { method: 'post', body: 'x'.repeat(9_000) };
        const token = { authorization: 'bozuk' };

        expect((await send('/yok', { ...oversized, ...token })).status).toBe(404);
        expect((await send('/takip', { ...oversized, ...token })).status).toBe(413);
        expect((await send('/takip', token)).status).toBe(401);
        expect((await send('/takip', { authorization: undefined })).status).toBe(401);
        expect((await send('/takip')).status).toBe(400);
        expect(calls).toEqual([]);
      });

      it('2,048 declared bytes pass', async () => {
        const { send } = gatewayWith();
        expect(
          (await send('/takip/TR-4800', { method: 'post', body: 'x'.repeat(2_048) })).status,
        ).toBe(200);
      });

      it('its health is its own', async () => {
        const { send, calls } = gatewayWith();
        expect((await send('/saglik', { authorization: undefined })).status).toBe(200);
        expect(calls).toEqual([]);
      });
    });

    describe('a body for each kind of client', () => {
      it('mobile: one call to delivery, and 78 bytes in its own order', async () => {
        const { send, calls } = gatewayWith();
        const { status, text } = await send('/takip/TR-4800');
        expect(status).toBe(200);
        expect(text).toBe(
          '{"takipNo":"TR-4800","durum":"dagitimda","guncellenme":"2026-03-11T08:24:00Z"}',
        );
        expect(Buffer.byteLength(text)).toBe(78);
        expect(calls).toEqual(['delivery GET /durum/TR-4800']);
      });

      it('web: one call to delivery, and 115 bytes', async () => {
        const { send, calls } = gatewayWith();
        const { text } = await send('/takip/TR-4800', { client: 'web-sayfasi' });
        expect(JSON.parse(text)).toEqual(shipment('TR-4800'));
        expect(Buffer.byteLength(text)).toBe(115);
        expect(calls).toEqual(['delivery GET /durum/TR-4800']);
      });

      it('panel: one call to each service, and 551 bytes for five shipments', async () => {
        const { send, calls } = gatewayWith();
        const { text } = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(Buffer.byteLength(text)).toBe(551);
        const { takipNo: _, ...ucret } = price('');
        expect(JSON.parse(text)).toEqual(
          PANEL.map((takipNo) => ({ takipNo, durum: 'dagitimda', ucret })),
        );
        expect(calls.toSorted()).toEqual([
          `delivery GET /durum?no=${PANEL}`,
          `pricing GET /ucret?no=${PANEL}`,
        ]);
      });

      it('a list of one is still a list', async () => {
        const { send } = gatewayWith();
        const { text } = await send(panelOf(['TR-4809']), { client: 'satici-paneli' });
        expect(JSON.parse(text)).toHaveLength(1);
      });

      it('both calls of a panel have begun before either is answered', async () => {
        const begun = gate();
        const asked = new Set<string>();
        const { send } = gatewayWith({
          call: async (service, request) => {
            asked.add(service);
            if (asked.size === 2) begun.open();
            await within(begun.opened, 'the second call to begin while the first one is open');
            return honest(service, request);
          },
        });
        const { text } = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(Buffer.byteLength(text)).toBe(551);
      });

      it('without batch endpoints a panel makes ten calls, and gets the same body', async () => {
        const { send, calls } = gatewayWith({ batch: false });
        const { text } = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(Buffer.byteLength(text)).toBe(551);
        expect(calls.toSorted()).toEqual([
          ...PANEL.map((number) => `delivery GET /durum/${number}`),
          ...PANEL.map((number) => `pricing GET /ucret/${number}`),
        ]);
      });

      it('one body for everybody: both services, 183 bytes, whoever asks', async () => {
        for (const client of ['mobil-kart', 'web-sayfasi', 'satici-paneli']) {
          const { send, calls } = gatewayWith({ bff: false });
          const { text } = await send('/takip/TR-4800', { client });
          expect(Buffer.byteLength(text), client).toBe(183);
          const { takipNo: _, ...ucret } = price('');
          expect(JSON.parse(text)).toEqual({ ...shipment('TR-4800'), ucret });
          expect(calls.toSorted()).toEqual([
            'delivery GET /durum/TR-4800',
            'pricing GET /ucret/TR-4800',
          ]);
        }
      });
    });

    describe('what goes on to the services', () => {
      it('the identity comes from the token, and the client’s own x-kimlik never arrives', async () => {
        const { send, requests } = gatewayWith();
        await send(panelOf(PANEL), {
          client: 'satici-paneli',
          authorization: 'b.M19.imza',
          'x-kimlik': 'M10',
          'X-Kimlik': 'M11',
          cookie: 'a=1',
        });
        expect(requests.map(({ headers }) => headers)).toEqual([
          { 'x-kimlik': 'M19' },
          { 'x-kimlik': 'M19' },
        ]);
      });

      for (const status of [404, 403]) {
        it(`a ${status} of delivery goes on to the client as it is`, async () => {
          const refusal = answering('{"hata":"x"}', status);
          const { send } = gatewayWith({ call: async () => refusal });
          expect(await send('/takip/TR-4800')).toMatchObject({ status, text: '{"hata":"x"}' });
        });

        it(`a ${status} of pricing goes on, unless delivery has one of its own`, async () => {
          const only = (refusing: string) =>
            gatewayWith({
              call: async (service, request) =>
                service === refusing ? answering(`"${service}"`, status) : honest(service, request),
            });
          const ask = { client: 'satici-paneli' };
          expect(await only('pricing').send(panelOf(PANEL), ask)).toMatchObject({
            status,
            text: '"pricing"',
          });
          const both = gatewayWith({
            call: async (service) =>
              answering(`"${service}"`, service === 'delivery' ? status : 404),
          });
          expect(await both.send(panelOf(PANEL), ask)).toMatchObject({
            status,
            text: '"delivery"',
          });
        });
      }

      it('without batch endpoints the first refusal of a list is the answer', async () => {
        const { send } = gatewayWith({
          batch: false,
          call: async (service, request) =>
            request.target.endsWith('4901')
              ? answering('{"hata":"x"}', 404)
              : honest(service, request),
        });
        const answer = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(answer).toMatchObject({ status: 404, text: '{"hata":"x"}' });
      });

      it('a service that can’t be reached is 502, and so is one that answers anything else', async () => {
        for (const failing of ['delivery', 'pricing']) {
          for (const fail of [
            () => Promise.reject(new Error('refused')),
            async () => answering('{"hata":"ulasilamadi"}', 502),
            async () => answering('', 500),
          ]) {
            const { send } = gatewayWith({
              call: (service, request) => (service === failing ? fail() : honest(service, request)),
            });
            const answer = await send(panelOf(PANEL), { client: 'satici-paneli' });
            expect(answer).toMatchObject({ status: 502, text: UNREACHABLE_BODY });
          }
        }
      });

      it('when both fail, one 502 is all that happens', async () => {
        const { send } = gatewayWith({ call: () => Promise.reject(new Error('refused')) });
        expect((await send(panelOf(PANEL), { client: 'satici-paneli' })).status).toBe(502);
      });
    });

    describe('half an answer', () => {
      const withoutPricing: Call = (service, request) =>
        service === 'pricing' ? Promise.reject(new Error('refused')) : honest(service, request);

      it('with partialPanel a list without prices is 200, says what is missing, and must not be stored', async () => {
        const { send } = gatewayWith({ partialPanel: true, call: withoutPricing });
        const answer = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(answer.status).toBe(200);
        expect(JSON.parse(answer.text)).toEqual(
          PANEL.map((takipNo) => ({ takipNo, durum: 'dagitimda', ucret: null })),
        );
        expect(answer.headers).toMatchObject({ 'x-eksik': 'ucret', 'cache-control': 'no-store' });
      });

      it('a whole answer says nothing of the kind', async () => {
        const { send } = gatewayWith({ partialPanel: true });
        const { headers } = await send(panelOf(PANEL), { client: 'satici-paneli' });
        expect(headers).not.toHaveProperty('x-eksik');
        expect(headers).not.toHaveProperty('cache-control');
      });

      it('without delivery there is nothing to be half of: 502', async () => {
        const { send } = gatewayWith({
          partialPanel: true,
          call: (service, request) =>
            service === 'delivery'
              ? Promise.reject(new Error('refused'))
              : honest(service, request),
        });
        expect((await send(panelOf(PANEL), { client: 'satici-paneli' })).status).toBe(502);
      });

      it('a refusal by pricing is a refusal, and no hole', async () => {
        const { send } = gatewayWith({
          partialPanel: true,
          call: async (service, request) =>
            service === 'pricing' ? answering('{"hata":"yetki"}', 403) : honest(service, request),
        });
        expect((await send(panelOf(PANEL), { client: 'satici-paneli' })).status).toBe(403);
      });
    });

    describe('without a gate', () => {
      const refuse: Call = async () => answering('{"hata":"x"}', 418);

      it('what it can’t route goes to delivery as it came: method, target, token, body', async () => {
        const { send, requests, calls } = gatewayWith({ gate: false, call: refuse });
        const body = 'x'.repeat(9_000);

        const answer = await send('/takip/TR-4800', {
          method: 'post',
          body,
          authorization: 'bozuk',
        });
        expect(answer).toMatchObject({ status: 418, text: '{"hata":"x"}' });
        expect(calls).toEqual(['delivery POST /takip/TR-4800']);
        expect(requests[0]?.headers).toEqual({ authorization: 'bozuk' });
        expect(requests[0]?.body?.toString()).toBe(body);
      });

      it('each of the four flaws costs one call to delivery and none to pricing, with any kind of body', async () => {
        for (const bff of [true, false]) {
          const { send, calls } = gatewayWith({ gate: false, bff, call: refuse });
          await send('/yok/TR-4800');
          await send('/takip');
          await send('/takip/TR-4800', { authorization: 'bozuk' });
          await send('/takip/TR-4800', { method: 'post', body: 'x'.repeat(2_049) });
          expect(calls).toEqual([
            'delivery GET /yok/TR-4800',
            'delivery GET /takip',
            'delivery GET /takip/TR-4800',
            'delivery POST /takip/TR-4800',
          ]);
        }
      });

      it('what passes all four is served as with a gate', async () => {
        const { send, calls } = gatewayWith({ gate: false });
        expect(Buffer.byteLength((await send('/takip/TR-4800')).text)).toBe(78);
        expect(calls).toEqual(['delivery GET /durum/TR-4800']);
      });

      it('a delivery that can’t be reached is 502 here, too', async () => {
        const { send } = gatewayWith({
          gate: false,
          call: () => Promise.reject(new Error('refused')),
        });
        expect(await send('/yok')).toMatchObject({ status: 502, text: UNREACHABLE_BODY });
      });
    });
  });

  describe('Exercise 17.5: delivery', lesson.exercise('17.5'), () => {
    const records = recordsOf();
    const translated = (takipNo: string) =>
      answering({
        takipNo,
        durum: 'dagitimda',
        bolge: '35',
        guncellenme: '2026-03-11T08:24:00.000Z',
      });

    function deliveryWith(
      ask: (trackingNo: string) => Promise<ServiceAnswer> = async (no) => translated(no),
    ) {
      const asked: string[] = [];
      const listener = createDelivery({
        records,
        ask: (number) => {
          asked.push(number);
          return ask(number);
        },
      });
      const server = createServer(listener);
      const send = (target: string, fields: Record<string, string> = { 'x-kimlik': 'M10' }) =>
        supertest(server).get(target).set(fields);
      return { asked, send, server };
    }

    it('one shipment: 115 bytes, and one question to the ambassador', async () => {
      const { send, asked } = deliveryWith();
      const { status, text } = await send('/durum/TR-4800');
      expect(status).toBe(200);
      expect(text).toBe(JSON.stringify(shipment('TR-4800')));
      expect(Buffer.byteLength(text)).toBe(115);
      expect(asked).toEqual(['TR-4800']);
    });

    it('a list: 581 bytes for five in the order asked, and a question for each', async () => {
      const { send, asked } = deliveryWith();
      const backwards = PANEL.toReversed();
      const { text } = await send(`/durum?no=${backwards}`, { 'x-kimlik': 'M19' });
      expect(Buffer.byteLength(text)).toBe(581);
      expect(JSON.parse(text)).toEqual(backwards.map(shipment));
      expect(asked.toSorted()).toEqual(PANEL);
    });

    it('a list of one is answered with a list', async () => {
      const { send } = deliveryWith();
      expect(JSON.parse((await send('/durum?no=TR-4800')).text)).toEqual([shipment('TR-4800')]);
    });

    it('what the ambassador says is passed on, without the milliseconds that readers here don’t know', async () => {
      const { send } = deliveryWith(async (takipNo) =>
        answering({ takipNo, durum: 'kabul', bolge: '6', guncellenme: '1999-12-31T23:59:59.000Z' }),
      );
      expect(JSON.parse((await send('/durum/TR-4800')).text)).toEqual({
        ...shipment('TR-4800'),
        ...{ durum: 'kabul', bolge: '6', guncellenme: '1999-12-31T23:59:59Z' },
      });
    });

    const REFUSED = [
      { what: 'an unknown number', target: '/durum/TR-0001', flaw: 'unknown' },
      { what: 'somebody else’s number', target: '/durum/TR-4801', flaw: 'foreign' },
      {
        what: 'a list with an unknown number at its end',
        target: '/durum?no=TR-4800,TR-0001',
        flaw: 'unknown',
      },
      {
        what: 'a list with a foreign number at its end',
        target: '/durum?no=TR-4800,TR-4801',
        flaw: 'foreign',
      },
      {
        what: 'a list in which a foreign number comes before an unknown one',
        target: '/durum?no=TR-4801,TR-0001',
        flaw: 'foreign',
      },
      {
        what: 'a list in which an unknown number comes before a foreign one',
        target: '/durum?no=TR-0001,TR-4801',
        flaw: 'unknown',
      },
    ] as const;
    for (const { what, target, flaw } of REFUSED) {
      const { status, body } = REFUSALS[flaw];
      it(`${what}: ${status} ${body}, and the ambassador is not asked`, async () => {
        const { send, asked } = deliveryWith();
        expect(await send(target)).toMatchObject({ status, text: body });
        expect(asked).toEqual([]);
      });
    }

    it('nobody in particular owns nothing', async () => {
      const { send, asked } = deliveryWith();
      expect((await send('/durum/TR-4800', {})).status).toBe(403);
      expect((await send('/durum/TR-4800', { 'x-kimlik': 'M1' })).status).toBe(403);
      expect((await send('/durum/__proto__', { 'x-kimlik': 'M10' })).status).toBe(404);
      expect(asked).toEqual([]);
    });

    it('an ambassador that can’t be reached, or answers anything but 200, is a 502', async () => {
      const failures = [
        () => Promise.reject(new Error('refused')),
        async () => answering({ hata: 'ulasilamadi' }, 502),
        async () => answering({ hata: 'bulunamadi' }, 404),
        async () => answering('', 204),
      ];
      for (const fail of failures) {
        const { send } = deliveryWith(fail);
        expect(await send('/durum/TR-4800')).toMatchObject({ status: 502, text: UNREACHABLE_BODY });
        const list = await send(`/durum?no=${PANEL}`, { 'x-kimlik': 'M19' });
        expect(list).toMatchObject({ status: 502, text: UNREACHABLE_BODY });
      }
    });

    it('one number of a list that fails fails the list', async () => {
      const { send } = deliveryWith((number) =>
        number === 'TR-4902'
          ? Promise.reject(new Error('cut'))
          : Promise.resolve(translated(number)),
      );
      expect((await send(`/durum?no=${PANEL}`, { 'x-kimlik': 'M19' })).status).toBe(502);
    });

    it('what a gateway without a gate sends here gets the four checks, in their order', async () => {
      const { send, asked, server } = deliveryWith();
      const good = { authorization: 'b.M10.imza' };
      const post = (target: string, bytes: number, fields: Record<string, string>) =>
        supertest(server).post(target).set(fields).send('x'.repeat(bytes));

      expect(await post('/yok', 9_000, {})).toMatchObject({ status: 404, text: '{"hata":"yol"}' });
      expect(await post('/takip', 9_000, {})).toMatchObject({
        status: 413,
        text: '{"hata":"boyut"}',
      });
      expect(await send('/takip', { authorization: 'bozuk' })).toMatchObject({
        status: 401,
        text: '{"hata":"belirtec"}',
      });
      expect(await send('/takip', {})).toMatchObject({ status: 401 });
      expect(await send('/takip', good)).toMatchObject({ status: 400, text: '{"hata":"sema"}' });
      expect(await send('/takip/TR-48', good)).toMatchObject({ status: 400 });
      expect(asked).toEqual([]);
    });
  });

  // Some of its tests run the path three times, which can take a while on a machine that is busy.
  const patient = { ...lesson.exercise('17.6'), timeout: 20_000 };
  describe('Exercise 17.6: the whole path', patient, () => {
    describe('undisturbed', () => {
      const STATUSES = { 200: 276, 404: 8, 400: 4, 401: 4, 403: 4, 413: 4 };
      // client, hits, balancer, held, delivery, pricing, application, carrier, bytesToClients,
      // bytesFromOrigin, serviceBytes, hopRequests
      const ROWS: [string, Partial<Switches>, number[]][] = [
        [
          'the full path: 41 of 300 requests reach the application',
          {},
          [300, 246, 54, 16, 38, 3, 41, 42, 39_008, 4_496, 6_199, 533],
        ],
        [
          'without a cache: 314 reach it, for the same bytes to the clients',
          { cache: false },
          [300, 0, 300, 16, 284, 30, 314, 396, 39_008, 39_008, 57_898, 2_006],
        ],
        [
          'without a gate: 57, and delivery sees what is wrong',
          { gate: false },
          [300, 246, 54, 0, 54, 3, 57, 42, 39_008, 4_496, 6_455, 549],
        ],
        [
          'without cache and gate: 330',
          { cache: false, gate: false },
          [300, 0, 300, 0, 300, 30, 330, 396, 39_008, 39_008, 58_154, 2_022],
        ],
        [
          'with one body for everybody: 82, and 72,872 bytes to the clients',
          { bff: false },
          [420, 363, 57, 16, 41, 41, 82, 33, 72_872, 6_443, 6_698, 682],
        ],
        [
          'with one body and no cache: 808',
          { bff: false, cache: false },
          [420, 0, 420, 16, 404, 404, 808, 396, 72_872, 72_872, 77_120, 2_860],
        ],
        [
          'with one body, no cache and no gate: 824',
          { bff: false, cache: false, gate: false },
          [420, 0, 420, 0, 420, 404, 824, 396, 72_872, 72_872, 77_376, 2_876],
        ],
        [
          'without batch endpoints: 65',
          { batch: false },
          [300, 246, 54, 16, 50, 15, 65, 42, 39_008, 4_496, 6_163, 557],
        ],
        [
          'with the geographic policy: 41 again, over a longer way',
          { policy: 'geographic' },
          [300, 246, 54, 16, 38, 3, 41, 42, 39_008, 4_496, 6_199, 533],
        ],
        [
          'with the weighted policy: 74, for groups that move leave their cache behind',
          { policy: 'weighted' },
          [300, 217, 83, 16, 67, 7, 74, 87, 39_008, 8_983, 13_002, 714],
        ],
      ];
      for (const [claim, switches, row] of ROWS) {
        it(claim, async () => {
          const { result } = await walk({ switches });
          const { client, hits, balancer, held, delivery, pricing, application, carrier } = result;
          const { bytesToClients, bytesFromOrigin, serviceBytes, hopRequests } = result;
          expect([
            ...[client, hits, balancer, held, delivery, pricing, application, carrier],
            ...[bytesToClients, bytesFromOrigin, serviceBytes, hopRequests],
          ]).toEqual(row);
          expect(result.ambassador).toBe(result.carrier);
          expect(result.answered).toBe(300);
          const served = switches.bff === false ? 396 : 276;
          expect(result.statuses).toEqual({ ...STATUSES, 200: served });
        });
      }

      it('per edge 150, 80 and 70 requests, per gateway 18 each, 16 name queries and 114 probes', async () => {
        const { result } = await walk({});
        expect(result).toMatchObject({
          edges: { b34: 150, b35: 80, b06: 70 },
          replicas: { k1: 18, k2: 18, k3: 18 },
          nameQueries: 16,
          probes: 114,
          inboundBodyBytes: 0,
          ambassadorBytes: 3_990,
          carrierBytes: 1_764,
        });
      });

      it('the gate keeps 36,000 bytes of foreign bodies away from the services', async () => {
        expect((await walk({ switches: { gate: false } })).result.inboundBodyBytes).toBe(36_000);
      });

      it('the latency policy makes 370 units of way, the geographic 580, the weighted 610', async () => {
        for (const [policy, distance] of [
          ['latency', 370],
          ['geographic', 580],
          ['weighted', 610],
        ] as const) {
          const { result } = await walk({ switches: policy === 'latency' ? {} : { policy } });
          expect(result.distance, policy).toBe(distance);
        }
      });

      it('the weighted policy sends 145, 101 and 54 requests to the edges, and binds the groups anew', async () => {
        const { result, bindings } = await walk({ switches: { policy: 'weighted' } });
        expect(result.edges).toEqual({ b34: 145, b35: 101, b06: 54 });
        expect(result.replicas).toEqual({ k1: 28, k2: 28, k3: 27 });
        expect(bindings[0]).toEqual({ g1: 'b34', g2: 'b35', g3: 'b06', g4: 'b34' });
        expect(bindings[18]).toEqual({ g1: 'b34', g2: 'b35', g3: 'b34', g4: 'b06' });
      });

      it('under the carrier’s second contract 1,764 bytes become 3,612, and no client sees a difference', async () => {
        const [first, second] = [await walk({}), await walk({ switches: { carrier: 'v2' } })];
        expect(second.result).toEqual({ ...first.result, carrierBytes: 3_612 });
        expect(second.requests.map(({ status, body }) => [status, body])).toEqual(
          first.requests.map(({ status, body }) => [status, body]),
        );
      });

      it('behind the real name server of lesson 1, over UDP, every count is the same', async () => {
        expect((await walk({ udp: true })).result).toEqual((await walk({})).result);
        const weighted = { switches: { policy: 'weighted' } } as const;
        expect((await walk({ ...weighted, udp: true })).result).toEqual(
          (await walk(weighted)).result,
        );
      });
    });

    describe('one unit stops at the start of round 5', () => {
      // answered, after, valid after, hits, balancer, application, carrier; without a cache: answered,
      // after, application, carrier
      const STOPS: [string, RunOptions, number[], number[]?][] = [
        [
          'edge b34: 26 views get no answer, until their names are asked for again',
          { stops: stopAt(5, 'b34') },
          [274, 229, 210, 216, 58, 48, 49],
          [274, 229, 288, 361],
        ],
        [
          'edge b34, and the authority does not look: 172 of 300',
          { switches: { nameHealth: false }, stops: stopAt(5, 'b34') },
          [172, 127, 116, 137, 35, 30, 30],
        ],
        [
          'the balancer: the pages that are open live on, 95 of 255, and without a cache none',
          { stops: stopAt(5, 'balancer') },
          [140, 95, 95, 123, 17, 16, 19],
          [45, 0, 45, 51],
        ],
        [
          'k2, and the balancer probes: one view',
          { stops: stopAt(5, 'k2') },
          [299, 254, 232, 245, 55, 41, 42],
          [294, 249, 308, 390],
        ],
        [
          'k2, and nobody looks: 14 views',
          { switches: { health: false }, stops: stopAt(5, 'k2') },
          [286, 241, 226, 239, 61, 39, 42],
          [215, 170, 222, 278],
        ],
        [
          'all three gateways: as without a balancer',
          { stops: stopAt(5, 'k1', 'k2', 'k3') },
          [140, 95, 95, 123, 177, 16, 19],
          [45, 0, 45, 51],
        ],
        [
          'delivery: 154',
          { stops: stopAt(5, 'delivery') },
          [154, 109, 95, 123, 177, 36, 19],
          [59, 14, 73, 51],
        ],
        [
          'pricing: the panel asks again and again, 132 carrier calls for fewer answers',
          { stops: stopAt(5, 'pricing') },
          [280, 235, 213, 228, 72, 57, 132],
          [272, 227, 286, 396],
        ],
        [
          'the ambassador: 182 requests at the application instead of 41',
          { stops: stopAt(5, 'ambassador') },
          [162, 117, 95, 123, 177, 182, 19],
          [67, 22, 314, 51],
        ],
        [
          'the carrier: the same, for nobody in front of the ambassador can tell',
          { stops: stopAt(5, 'carrier') },
          [162, 117, 95, 123, 177, 182, 19],
          [67, 22, 314, 51],
        ],
      ];
      for (const [claim, options, cached, uncached] of STOPS) {
        it(claim, async () => {
          const { result } = await walk(options);
          const { answered, answeredAfter, validAfter, hits, balancer, application, carrier } =
            result;
          expect([
            answered,
            answeredAfter,
            validAfter,
            hits,
            balancer,
            application,
            carrier,
          ]).toEqual(cached);
        });
        if (!uncached) continue;
        it(`without a cache, ${claim}`, async () => {
          const { result } = await walk({
            ...options,
            switches: { ...options.switches, cache: false },
          });
          const { answered, answeredAfter, application, carrier } = result;
          expect([answered, answeredAfter, application, carrier]).toEqual(uncached);
        });
      }

      it('pricing, with partialPanel: 20 views with a visible hole, each asked for anew', async () => {
        const switches = { partialPanel: true };
        const { result } = await walk({ switches, stops: stopAt(5, 'pricing') });
        expect(result).toMatchObject({ answered: 280, partial: 20, markedPartial: 20 });
        expect(result).toMatchObject({ hits: 228, balancer: 72, application: 57, carrier: 132 });
        const uncached = await walk({
          switches: { ...switches, cache: false },
          stops: stopAt(5, 'pricing'),
        });
        expect(uncached.result).toMatchObject({
          answered: 272,
          partial: 28,
          application: 286,
          carrier: 396,
        });
      });

      it('with edge b34 gone, g1 has moved in round 6, and g4 only in round 9', async () => {
        const { result, bindings } = await walk({ stops: stopAt(5, 'b34') });
        const first = (group: string) => bindings.findIndex((binding) => binding[group] !== 'b34');
        expect([first('g1'), bindings[6]?.g1]).toEqual([6, 'b06']);
        expect([first('g4'), bindings[9]?.g4]).toEqual([9, 'b35']);
        expect(result.client).toBe(274);
        expect(result.probes).toBe(100);
      });

      it('without gateways, the round that nobody knows of it is 502, and all later ones 503', async () => {
        const { result } = await walk({ stops: stopAt(5, 'k1', 'k2', 'k3') });
        expect(result.statuses).toMatchObject({ 502: 5, 503: 155 });
        const uncached = await walk({
          switches: { cache: false },
          stops: stopAt(5, 'k1', 'k2', 'k3'),
        });
        expect(uncached.result.statuses).toMatchObject({ 502: 18, 503: 237 });
      });
    });

    it('open pages outlive a dead unit, and what is not cached is asked again: hop by hop', async ({
      annotate,
    }) => {
      const stop = (...units: UnitName[]) =>
        runOf({ stops: units.map((unit) => ({ unit, round: 5 })) });
      const full = await runOf({});
      const [balancer, k2, pricing, ambassador] = [
        await stop('balancer'),
        await stop('k2'),
        await stop('pricing'),
        await stop('ambassador'),
      ];
      const rows = [
        { caption: 'undisturbed', run: full },
        { caption: 'b34 stops', run: await stop('b34') },
        { caption: 'balancer stops', run: balancer },
        { caption: 'k2 stops', run: k2 },
        { caption: 'k1, k2, k3 stop', run: await stop(...REPLICAS) },
        { caption: 'delivery stops', run: await stop('delivery') },
        { caption: 'pricing stops', run: pricing },
        { caption: 'ambassador stops', run: ambassador },
        { caption: 'carrier stops', run: await stop('carrier') },
      ];
      const lines = pathText(rows);

      await attachFigure(annotate, {
        title: "Open pages outlive a dead unit; what isn't cached is asked again",
        facts: [
          'For each run: the answered views, and for each hop the requests answered, the bytes of the bodies, and the share answered below 500 of all that came.',
          ...lines,
        ],
        option: () => pathFigure(rows),
        height: pathHeight(rows),
      });
      // Edges, balancer, gateways, delivery, pricing, ambassador, carrier.
      const requests = (run: PathRun) => hops(run).map((hop) => hop.requests);
      const shares = (run: PathRun) => hops(run).map(({ share }) => share);
      expect(requests(full)).toEqual([300, 54, 54, 38, 3, 42, 42]);
      expect(hops(full).map(({ bytes }) => bytes)).toEqual([
        39_008, 4_496, 4_496, 4_996, 1_203, 3_990, 1_764,
      ]);
      expect(shares(full)).toEqual([1, 1, 1, 1, 1, 1, 1]);

      // The edges still answer 140 of 300. Of 177 requests that they pass on, 160 find nobody.
      expect(requests(balancer)).toEqual([300, 17, 17, 15, 1, 19, 19]);
      expect(shares(balancer)).toEqual([140 / 300, 17 / 177, 1, 1, 1, 1, 1]);
      // One request comes to k2 before the health round, and is asked again.
      expect(requests(k2)).toEqual([300, 55, 54, 38, 3, 42, 42]);
      expect(shares(k2)).toEqual([299 / 300, 54 / 55, 54 / 55, 1, 1, 1, 1]);
      // No panel can be stored: each view of one is a miss again, with five calls to the carrier.
      expect(requests(pricing)).toEqual([300, 72, 72, 56, 1, 132, 132]);
      expect(shares(pricing)).toEqual([280 / 300, 52 / 72, 52 / 72, 1, 1 / 21, 1, 1]);
      // 161 + 21 = 182 requests at the application, undisturbed 41.
      expect(requests(ambassador)).toEqual([300, 177, 177, 161, 21, 19, 19]);
      // Where nobody has asked there is no share.
      const never = await runOf({ stops: [{ unit: 'balancer', round: 0 }] });
      expect(requests(never)).toEqual([300, 0, 0, 0, 0, 0, 0]);
      const nobody = undefined;
      expect(shares(never)).toEqual([0, 0, nobody, nobody, nobody, nobody, nobody]);

      // The same in words, a line for each run, each hop below itself.
      expect(lines).toHaveLength(rows.length);
      expect(new Set(lines.map((line) => line.indexOf('carrier ', 100))).size).toBe(1);
      expect(lines[6]).toContain(
        '; carrier 132, 5544 B, 100 %; 228 hits, 2 of 30 pages never open; ',
      );
    });

    describe('other inputs', () => {
      it('the weighted policy with a TTL of 3 or 12 rounds: names that live shorter empty more caches', async () => {
        for (const [ttlRounds, row] of [
          [3, [198, 102, 93, 106, 10_687, 702]],
          [12, [229, 71, 59, 63, 6_517, 462]],
        ] as const) {
          const { result } = await walk({ switches: { policy: 'weighted', ttlRounds } });
          const { hits, balancer, application, carrier, bytesFromOrigin, distance } = result;
          expect([hits, balancer, application, carrier, bytesFromOrigin, distance]).toEqual(row);
        }
      });

      it('edge b34 stops, with a TTL of 3 or 12 rounds: 291 or 234 views', async () => {
        for (const [ttlRounds, row] of [
          [3, [291, 48, 28]],
          [12, [234, 45, 8]],
        ] as const) {
          const { result } = await walk({ switches: { ttlRounds }, stops: stopAt(5, 'b34') });
          expect([result.answered, result.application, result.nameQueries]).toEqual(row);
        }
      });

      it('edge b34 stops under the other two policies: 266 views each, for 46 or 63 requests', async () => {
        for (const [policy, row] of [
          ['geographic', [266, 46]],
          ['weighted', [266, 63]],
        ] as const) {
          const { result } = await walk({ switches: { policy }, stops: stopAt(5, 'b34') });
          expect([result.answered, result.application]).toEqual(row);
        }
      });

      it('another edge stops: 262 with b35, 271 with b06', async () => {
        for (const [unit, row] of [
          ['b35', [262, 42]],
          ['b06', [271, 42]],
        ] as const) {
          const { result } = await walk({ stops: stopAt(5, unit) });
          expect([result.answered, result.application]).toEqual(row);
        }
      });

      it('later stops cost less: b34 in round 9, the balancer in round 10, delivery in round 12', async () => {
        for (const [unit, round, answered] of [
          ['b34', 9, 246],
          ['balancer', 10, 288],
          ['delivery', 12, 297],
        ] as const) {
          expect((await walk({ stops: stopAt(round, unit) })).result.answered, unit).toBe(answered);
        }
      });

      it('k1 or k3 stops and nobody looks: 286 or 285', async () => {
        for (const [unit, answered] of [
          ['k1', 286],
          ['k3', 285],
        ] as const) {
          const { result } = await walk({ switches: { health: false }, stops: stopAt(5, unit) });
          expect(result.answered, unit).toBe(answered);
        }
      });

      it('k1 and k2 stop: three views, and k3 does the rest', async () => {
        const { result } = await walk({ stops: stopAt(5, 'k1', 'k2') });
        expect(result).toMatchObject({
          answered: 297,
          balancer: 56,
          replicas: { k1: 6, k2: 6, k3: 41 },
        });
      });

      it('edge b34 and the balancer stop: 97', async () => {
        const { result } = await walk({ stops: stopAt(5, 'b34', 'balancer') });
        expect(result).toMatchObject({ answered: 97, answeredAfter: 52 });
      });

      it('the balancer stops before the first round: 300 answers of 502, and nothing hangs', async () => {
        const { result } = await walk({ stops: stopAt(0, 'balancer') });
        expect(result).toMatchObject({ answered: 0, statuses: { 502: 300 } });
      });

      it('k2 stops in round 8 and nobody looks: 291; the ambassador in round 9: 272', async () => {
        const blind = await walk({ switches: { health: false }, stops: stopAt(8, 'k2') });
        expect(blind.result.answered).toBe(291);
        expect((await walk({ stops: stopAt(9, 'ambassador') })).result.answered).toBe(272);
      });

      it('half as many sessions, or a third: nothing in the units knows how many there are', async () => {
        const { result } = await walk({ trace: { sessions: 10 } });
        expect(result).toMatchObject({
          client: 100,
          hits: 82,
          balancer: 18,
          held: 6,
          application: 13,
        });
        expect(result).toMatchObject({
          carrier: 14,
          bytesToClients: 12_998,
          bytesFromOrigin: 1_494,
        });
      });

      it('a balancer that places by the hash of the target: 16, 29 and 9, and all else is the same', async () => {
        const ring = algorithms.createRing(['k1', 'k2', 'k3'], 1_000);
        const pools = new Set<string>();
        const placed = await walk({
          place: (target, pool) => {
            pools.add(pool.join());
            return ring.lookup(target);
          },
        });
        const { result: rotated } = await walk({});
        expect(placed.result).toEqual({ ...rotated, replicas: { k1: 16, k2: 29, k3: 9 } });
        expect([...pools]).toEqual(['k1,k2,k3']);
      });

      it('a function that places gets only the gateways that are up', async () => {
        const { result } = await walk({
          place: (_, pool) => pool.at(-1) as string,
          stops: stopAt(5, 'k3'),
        });
        expect(result).toMatchObject({ answered: 295, replicas: { k1: 0, k2: 35, k3: 17 } });
      });
    });

    describe('and besides', () => {
      const config = (more: Partial<Parameters<typeof startPath>[0]> = {}) => {
        const records = recordsOf();
        return {
          ...FULL_PATH,
          records,
          startCarrier: () => startCarrierOf(records),
          startPricing: () => startPricingOf(records, { batch: true }),
          tap: async (_: string, port: number) => port,
          ...more,
        };
      };
      const look = async (port: number) => {
        using client = openClient(port);
        const headers = { authorization: 'b.M10.imza', 'x-istemci': 'mobil-kart' };
        return await client.send('/takip/TR-4800', { headers });
      };

      it('puts one tap in front of each of the eleven units, in any order', async () => {
        const tapped: string[] = [];
        const path = await startPath(
          config({
            tap: async (unit, port) => {
              tapped.push(unit);
              return port;
            },
          }),
        );
        await path.close();
        expect(tapped.toSorted()).toEqual(UNITS.toSorted());
      });

      it('neighbours know each other by the ports of the taps', async () => {
        const passed = new Set<string>();
        const taps: { close(): Promise<void> }[] = [];
        const path = await startPath(
          config({
            tap: async (unit, port) => {
              const tap = await startTap(unit, port, () => passed.add(unit));
              taps.push(tap);
              return tap.port;
            },
          }),
        );
        expect((await look(path.edgePort('b06'))).status).toBe(200);
        expect([...passed].toSorted()).toEqual([
          'ambassador',
          'b06',
          'balancer',
          'carrier',
          'delivery',
          'k1',
        ]);
        await path.endOfRound();
        expect(passed.size).toBe(10);
        await path.close();
        for (const tap of taps) await tap.close();
      });

      it('two paths share nothing: neither an entry, nor the rotation, nor a stop', async () => {
        const [first, second] = [await startPath(config()), await startPath(config())];
        const fields = async (path: typeof first) => {
          const { status, headers } = await look(path.edgePort('b34'));
          return `${status} ${headers['x-kenar']} ${headers['x-kopya'] ?? '-'}`;
        };
        expect(await fields(first)).toBe('200 iska k1');
        expect(await fields(second)).toBe('200 iska k1');
        await second.stop('balancer');
        await second.stop('b35');
        await Promise.all([first.endOfRound(), second.endOfRound()]);
        expect(first.isMarkedDown('b35')).toBe(false);
        expect(second.isMarkedDown('b35')).toBe(true);
        expect(await fields(first)).toBe('200 isabet -');
        await first.close();
        expect(await fields(second)).toBe('200 isabet -');
        await second.close();
      });

      it('nobody knows of a stop before the round has ended, and without probes never', async () => {
        const path = await startPath(config());
        await path.stop('b34');
        expect(path.isMarkedDown('b34')).toBe(false);
        await path.endOfRound();
        expect(REGIONS.map((region) => path.isMarkedDown(region))).toEqual([true, false, false]);
        await path.close();

        const blind = await startPath(config({ nameHealth: false }));
        await blind.stop('b34');
        await blind.endOfRound();
        expect(blind.isMarkedDown('b34')).toBe(false);
        await blind.close();
      });

      it('every unit can be stopped, twice, and closed after that', async () => {
        const path = await startPath(config());
        for (const unit of UNITS) {
          await path.stop(unit);
          await path.stop(unit);
        }
        await path.endOfRound();
        expect(REGIONS.every((region) => path.isMarkedDown(region))).toBe(true);
        await path.close();
        await path.close();
      });

      it('a unit that can’t be started rejects, and what ran by then is stopped', async () => {
        const failing = config({
          startPricing: () => Promise.reject(new Error('no pricing today')),
        });
        await expectRefusal(() => startPath(failing), 'no pricing today', Error);
      });
    });
  });

  describe('Exercise 17.7: predict first', lesson.exercise('17.7'), () => {
    const predicted = (
      switches: Partial<Switches> = {},
      trace: Parameters<typeof createTrace>[0] = {},
    ) => {
      const all = { ...FULL_PATH, ...switches };
      return predict(createTrace({ ...trace, bff: all.bff }), all);
    };
    // client, hits, balancer, held, delivery, pricing, application, carrier, bytesToClients,
    // bytesFromOrigin
    const inOrder = (prediction: ReturnType<typeof predict>) => [
      ...[prediction.client, prediction.hits, prediction.balancer, prediction.held],
      ...[prediction.delivery, prediction.pricing, prediction.application, prediction.carrier],
      ...[prediction.bytesToClients, prediction.bytesFromOrigin],
    ];
    const ROWS: [string, Partial<Switches>, number[]][] = [
      ['the full path', {}, [300, 246, 54, 16, 38, 3, 41, 42, 39_008, 4_496]],
      ['no cache', { cache: false }, [300, 0, 300, 16, 284, 30, 314, 396, 39_008, 39_008]],
      ['no gate', { gate: false }, [300, 246, 54, 0, 54, 3, 57, 42, 39_008, 4_496]],
      [
        'no cache, no gate',
        { cache: false, gate: false },
        [300, 0, 300, 0, 300, 30, 330, 396, 39_008, 39_008],
      ],
      ['one body', { bff: false }, [420, 363, 57, 16, 41, 41, 82, 33, 72_872, 6_443]],
      [
        'one body, no cache',
        { bff: false, cache: false },
        [420, 0, 420, 16, 404, 404, 808, 396, 72_872, 72_872],
      ],
      [
        'one body, no cache, no gate',
        { bff: false, cache: false, gate: false },
        [420, 0, 420, 0, 420, 404, 824, 396, 72_872, 72_872],
      ],
      ['no batch endpoints', { batch: false }, [300, 246, 54, 16, 50, 15, 65, 42, 39_008, 4_496]],
      [
        'one body, no batch endpoints',
        { bff: false, batch: false },
        [420, 363, 57, 16, 41, 41, 82, 33, 72_872, 6_443],
      ],
      [
        'the geographic policy',
        { policy: 'geographic' },
        [300, 246, 54, 16, 38, 3, 41, 42, 39_008, 4_496],
      ],
      [
        'the weighted policy',
        { policy: 'weighted' },
        [300, 217, 83, 16, 67, 7, 74, 87, 39_008, 8_983],
      ],
    ];
    for (const [what, switches, row] of ROWS) {
      it(`says it in advance: ${what}`, () => expect(inOrder(predicted(switches))).toEqual(row));
    }

    it('the weighted policy with a TTL of 3 or 12 rounds', () => {
      const short = predicted({ policy: 'weighted', ttlRounds: 3 });
      expect(short).toMatchObject({
        hits: 198,
        balancer: 102,
        application: 93,
        carrier: 106,
        bytesFromOrigin: 10_687,
      });
      const long = predicted({ policy: 'weighted', ttlRounds: 12 });
      expect(long).toMatchObject({
        hits: 229,
        balancer: 71,
        application: 59,
        carrier: 63,
        bytesFromOrigin: 6_517,
      });
    });

    it('without flaws: 270 hits, and 33 requests at the application', () => {
      const flaws = { flaws: false };
      expect(predicted({}, flaws)).toMatchObject({
        hits: 270,
        balancer: 30,
        held: 0,
        application: 33,
        carrier: 42,
      });
      expect(predicted({}, flaws)).toMatchObject({
        bytesToClients: 40_920,
        bytesFromOrigin: 4_092,
      });
      expect(predicted({ cache: false }, flaws)).toMatchObject({ application: 330, carrier: 420 });
      expect(predicted({ bff: false }, flaws)).toMatchObject({
        ...{
          client: 420,
          hits: 387,
          application: 66,
          bytesToClients: 76_860,
          bytesFromOrigin: 6_039,
        },
      });
    });

    it('with five views a session: 108 hits of 150', () => {
      expect(predicted({}, { views: 5 })).toMatchObject({
        ...{ client: 150, hits: 108, balancer: 42, held: 8, application: 37, carrier: 42 },
        ...{ bytesToClients: 19_506, bytesFromOrigin: 4_296 },
      });
      expect(predicted({ cache: false }, { views: 5 })).toMatchObject({
        application: 157,
        carrier: 198,
      });
    });

    it('with twenty views a session: 600 views for the same 41 requests', () => {
      expect(predicted({}, { views: 20 })).toMatchObject({
        ...{ client: 600, hits: 546, balancer: 54, application: 41 },
        ...{ bytesToClients: 79_928, bytesFromOrigin: 4_496 },
      });
    });

    it('with sixty sessions everything is twice as much', () => {
      const sixty = { sessions: 60 };
      expect(predicted({}, sixty)).toMatchObject({
        ...{ client: 600, hits: 492, balancer: 108, held: 32, application: 82, carrier: 84 },
        ...{ bytesToClients: 78_016, bytesFromOrigin: 8_992 },
      });
      expect(predicted({ cache: false }, sixty)).toMatchObject({ application: 628, carrier: 792 });
      expect(predicted({ bff: false }, sixty)).toMatchObject({
        ...{ client: 840, hits: 726, application: 164, bytesToClients: 145_744 },
      });
    });

    it('with ten sessions: 18 requests at the balancer', () => {
      expect(predicted({}, { sessions: 10 })).toMatchObject({
        ...{ client: 100, hits: 82, balancer: 18, held: 6, application: 13, carrier: 14 },
        ...{ bytesToClients: 12_998, bytesFromOrigin: 1_494 },
      });
    });

    it('a refusal is never stored: the same wrong view twice is twice as much', () => {
      for (const view of createTrace().filter(({ flaw }) => flaw !== null)) {
        const [once, twice] = [predict([view], FULL_PATH), predict([view, view], FULL_PATH)];
        expect(inOrder(twice), `${view.flaw}`).toEqual(inOrder(once).map((count) => 2 * count));
      }
    });

    it('an empty trace costs nothing', () => {
      expect(inOrder(predict([], FULL_PATH))).toEqual(Array(10).fill(0));
    });

    it('the lengths are those of the bodies that the trace expects', () => {
      const trace = createTrace().map((view) => ({
        ...view,
        requests: view.requests.map((request) => ({
          ...request,
          expected: { ...request.expected, body: 'ç' },
        })),
      }));
      expect(predict(trace, FULL_PATH)).toMatchObject({
        bytesToClients: 600,
        bytesFromOrigin: 108,
      });
    });

    it('for every trace and all switches: what no edge answers the balancer does, and bytes go along', () =>
      expectLaw(
        {
          sessions: fc.integer({ min: 1, max: 24 }),
          views: fc.integer({ min: 1, max: 8 }),
          flaws: fc.boolean(),
          cache: fc.boolean(),
          gate: fc.boolean(),
          bff: fc.boolean(),
          batch: fc.boolean(),
        },
        ({ sessions, views, flaws, ...switches }) => {
          const trace = { sessions, views, flaws };
          const all = predicted(switches, trace);
          const open = predicted({ ...switches, cache: false }, trace);
          expect(all.hits + all.balancer).toBe(all.client);
          expect(all.delivery + all.pricing).toBe(all.application);
          expect(all.bytesToClients).toBe(open.bytesToClients);
          expect(open.bytesFromOrigin).toBe(open.bytesToClients);
          expect(all.balancer).toBeLessThanOrEqual(open.balancer);
          expect(all.held).toBe(switches.gate ? open.held : 0);
        },
      ));
  });

  // Predict first: four of the sixteen decisions can't be defended by the rule. Which ones?
  describe('Exercise 17.8: can it be defended', lesson.exercise('17.8'), () => {
    describe('the closing table', () => {
      for (const row of AUDIT_ROWS) {
        const defensible = !NOT_DEFENSIBLE.includes(row.lesson);
        it(`lesson ${row.lesson}, ${row.decision}: ${defensible ? 'can' : "can't"} be defended`, () => {
          expect(auditDecision(row).defensible).toBe(defensible);
        });
      }
    });

    describe('other decisions', () => {
      const other = (before: number, after: number) => change('other', before, after);
      const requests = (before: number, after: number) => change('requests', before, after);
      const bytes = (before: number, after: number) => change('bytes', before, after);
      const answered = (before: number, after: number) => change('answered', before, after);

      const rows: [claim: string, moves: Change[], grows: Change[], defensible: boolean][] = [
        ['a measure on the left and any price: yes', [requests(9, 4)], [other(1, 2)], true],
        ['bytes are a measure', [bytes(9, 4)], [other(1, 2)], true],
        ['answers are a measure', [answered(4, 9)], [other(1, 2)], true],
        ['a measure that rises on the left is one too', [requests(4, 9)], [other(1, 2)], true],
        ['answers that fall on the left are a measure too', [answered(9, 4)], [other(1, 2)], true],
        ['the price may be the measure', [other(4, 1)], [bytes(0, 7)], true],
        ['answers that fall on the right are a price', [other(4, 1)], [answered(6, 0)], true],
        ['answers that rise on the right are no price', [requests(9, 4)], [answered(0, 6)], false],
        [
          'answers that rise on the right are a measure: another number may be the price',
          [other(4, 1)],
          [answered(0, 6), other(1, 2)],
          true,
        ],
        [
          'a measure that falls on the right is one: another number may be the price',
          [other(4, 1)],
          [bytes(9, 4), other(1, 2)],
          true,
        ],
        ['requests that fall on the right are no price', [bytes(9, 4)], [requests(9, 4)], false],
        ['bytes that fall on the right are no price', [requests(9, 4)], [bytes(9, 4)], false],
        ['what falls on the right is no price', [requests(9, 4)], [other(3, 2)], false],
        ['what rises on the left is no price', [requests(4, 9), other(1, 2)], [other(3, 2)], false],
        ['answers that fall on the left are no price', [answered(9, 4)], [other(3, 2)], false],
        ['nothing on the right side: no, whatever the left side says', [requests(9, 4)], [], false],
        ['nothing on the left side: yes, if the right side has both', [], [requests(0, 15)], true],
        ['nothing at all: no', [], [], false],
        [
          'no measure anywhere: no, however much is paid',
          [other(135, 45), other(3, 1)],
          [other(1, 100), other(0, 9)],
          false,
        ],
        ['a measure that stays the same is none', [requests(5, 5)], [other(1, 2)], false],
        ['a price that stays the same is none', [requests(9, 4)], [other(2, 2)], false],
        ['answers that stay the same are no price', [requests(9, 4)], [answered(6, 6)], false],
        [
          'what stays the same may stand in front of what counts',
          [bytes(7, 7), requests(9, 4)],
          [other(2, 2), answered(6, 6), other(1, 2)],
          true,
        ],
        [
          'the measure may come last on the right, behind the price',
          [other(4, 1)],
          [other(1, 2), bytes(4, 9)],
          true,
        ],
        ['a small change is a change', [answered(99.99998, 99.99999)], [other(1, 1 + 1e-9)], true],
        ['what was 0 can be a price and a measure', [other(4, 1)], [requests(0, 0.001)], true],
        ['what falls to 0 is a measure', [bytes(36_000, 0)], [other(1, 2)], true],
        ['from -5 to -2 is up', [requests(9, 4)], [other(-5, -2)], true],
        ['from -2 to -5 is down', [requests(9, 4)], [other(-2, -5)], false],
      ];
      for (const [claim, moves, grows, defensible] of rows) {
        it(claim, () => {
          expect(isDefensible(moves, grows)).toBe(defensible);
        });
      }

      it('neither the lesson nor the text of a decision is judged', () => {
        for (const lesson of [-1, 6, 12, 17.5]) {
          for (const decision of ['', 'layer 4', '__proto__']) {
            const named = { lesson, decision };
            const row = { ...named, moves: [requests(9, 4)], grows: [other(1, 2)] };
            expect(auditDecision(row).defensible).toBe(true);
            expect(auditDecision({ ...row, moves: [other(9, 4)] }).defensible).toBe(false);
          }
        }
      });
    });

    describe('laws', () => {
      it('the order of the numbers on a side does not matter', () =>
        expectLaw({ moves: drawnSide, grows: drawnSide }, ({ moves, grows }) => {
          const reversed = isDefensible([...moves].reverse(), [...grows].reverse());
          expect(reversed).toBe(isDefensible(moves, grows));
        }));

      it('a number that stays the same never changes the verdict, on whichever side', () =>
        expectLaw(
          { moves: drawnSide, grows: drawnSide, drawn: drawnChange, atLeft: fc.boolean() },
          ({ moves, grows, drawn, atLeft }) => {
            const same = { ...drawn, after: drawn.before };
            const [left, right] = atLeft ? [[same, ...moves], grows] : [moves, [same, ...grows]];
            expect(isDefensible(left, right)).toBe(isDefensible(moves, grows));
          },
        ));

      it('on the left side the direction never matters', () =>
        expectLaw({ moves: drawnSide, grows: drawnSide }, ({ moves, grows }) => {
          const swapped = moves.map(({ measure, before, after }) => change(measure, after, before));
          expect(isDefensible(swapped, grows)).toBe(isDefensible(moves, grows));
        }));

      it('one more number never makes a decision worse, on whichever side', () =>
        expectLaw(
          { moves: drawnSide, grows: drawnSide, more: drawnChange },
          ({ moves, grows, more }) => {
            if (!isDefensible(moves, grows)) return;
            expect(isDefensible([...moves, more], grows)).toBe(true);
            expect(isDefensible(moves, [...grows, more])).toBe(true);
          },
        ));

      it('turning around a right side of one number takes its price away, or gives it one', () =>
        expectLaw(
          { measure: fc.constantFrom(...MEASURES), before: drawnNumber, after: drawnNumber },
          ({ measure, before, after }) => {
            const moves = [change('requests', 9, 4)];
            const verdicts = [
              isDefensible(moves, [change(measure, before, after)]),
              isDefensible(moves, [change(measure, after, before)]),
            ];
            expect(verdicts.filter(Boolean)).toHaveLength(before === after ? 0 : 1);
          },
        ));
    });

    describe('bad input', () => {
      const good = change('requests', 9, 4);
      const price = change('other', 1, 2);

      for (const value of [NaN, Infinity, -Infinity]) {
        it(`refuses ${value}, on either side and wherever it stands`, () => {
          for (const field of ['before', 'after'] as const) {
            for (const measure of MEASURES) {
              const bad = { ...change(measure, 3, 8), [field]: value };
              expectRefusal(() => isDefensible([bad, good], [price]), field);
              expectRefusal(() => isDefensible([good, bad], [price]), field);
              expectRefusal(() => isDefensible([good], [bad, price]), field);
              expectRefusal(() => isDefensible([good], [price, bad]), field);
            }
          }
        });
      }

      it('refuses what is not finite even where it stays the same', () => {
        const infinite = change('other', Infinity, Infinity);
        expectRefusal(() => isDefensible([good, infinite], [price]), 'before');
        expectRefusal(() => isDefensible([good], [price, infinite]), 'before');
      });

      it('refuses what is not finite even where the right side is empty', () => {
        expectRefusal(() => isDefensible([change('other', 3, NaN)], []), 'after');
        expectRefusal(() => isDefensible([change('requests', Infinity, 3)], []), 'before');
      });

      it('refuses a measure that is none of the four', () => {
        for (const name of ['', 'request', 'Bytes', 'lines', 'constructor', 'toString']) {
          const measure = name as Measure;
          expectRefusal(() => isDefensible([change(measure, 9, 4)], [price]), 'measure');
          expectRefusal(() => isDefensible([good], [price, change(measure, 1, 2)]), 'measure');
          expectRefusal(() => isDefensible([good], [price, change(measure, 3, 3)]), 'measure');
          expectRefusal(() => isDefensible([change(measure, 9, 4)], []), 'measure');
        }
      });
    });
  });

  // Predict first: a number of your own runs goes into each of the four rows. On which side?
  describe('Exercise 17.9: four repairs', lesson.exercise('17.9'), () => {
    const counted = {
      6: '300 requests at the balancer become 54',
      7: '300 requests at the balancer become 54',
      13: '57 requests of the application become 41, and 36000 bytes become 0',
      15: '300 answered views become 162, on the right side',
    };
    for (const [lessonNumber, what] of Object.entries(counted)) {
      it(`lesson ${lessonNumber}: ${what}`, () => {
        const row = rowOf(Number(lessonNumber));
        const { moves = [], grows = [] } = repairsOf(RUNS_OF_THE_PATH)[row.lesson] ?? {};

        expect(repairRows([row], RUNS_OF_THE_PATH)).toEqual([
          { ...row, moves: [...row.moves, ...moves], grows: [...row.grows, ...grows] },
        ]);
      });
    }

    it('with what the path has counted, all sixteen can be defended', () => {
      const repaired = repairRows(AUDIT_ROWS, RUNS_OF_THE_PATH);

      const failing = repaired.filter((row) => !auditDecision(row).defensible);
      expect(repaired.map((row) => row.lesson)).toEqual(AUDIT_ROWS.map((row) => row.lesson));
      expect(failing).toEqual([]);
    });

    it('the other twelve stay as they are, in their places', () => {
      const others = (rows: readonly AuditRow[]) =>
        rows.map((row) => (NOT_DEFENSIBLE.includes(row.lesson) ? null : row));

      expect(others(repairRows(AUDIT_ROWS, RUNS_OF_THE_PATH))).toEqual(others(AUDIT_ROWS));
    });

    it('each number is from its own run, also where the runs count something else', () => {
      const added = repairRows(
        NOT_DEFENSIBLE.map((lessonNumber) => auditRow([], [], lessonNumber)),
        OTHER_RUNS,
      );

      expect(added.map(({ moves, grows }) => ({ moves, grows }))).toEqual([
        { moves: [change('requests', 21, 11)], grows: [] },
        { moves: [change('requests', 21, 11)], grows: [] },
        { moves: [change('requests', 32, 12), change('bytes', 33, 13)], grows: [] },
        { moves: [], grows: [change('answered', 14, 44)] },
      ]);
    });

    it('whatever the runs have counted, and whatever the rows say, the numbers are put behind', () => {
      const numbers = fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat());
      return expectLaw(
        {
          full: numbers,
          noCache: numbers,
          noGate: numbers,
          ambassadorStopped: numbers,
          drawn: fc.array(
            fc.record({
              lesson: fc.integer({ min: 1, max: 17 }),
              moves: drawnSide,
              grows: drawnSide,
            }),
          ),
        },
        ({ full, noCache, noGate, ambassadorStopped, drawn }) => {
          const runs = {
            full: auditedRun(full),
            noCache: auditedRun(noCache),
            noGate: auditedRun(noGate),
            ambassadorStopped: auditedRun(ambassadorStopped),
          };
          const rows = Object.freeze(
            drawn.map((row) => auditRow(row.moves, row.grows, row.lesson)),
          );

          expect(repairRows(rows, runs)).toEqual(
            rows.map((row) => {
              const { moves = [], grows = [] } = repairsOf(runs)[row.lesson] ?? {};
              return { ...row, moves: [...row.moves, ...moves], grows: [...row.grows, ...grows] };
            }),
          );
        },
      );
    });

    it('a row is found by its lesson: rows may come backwards, be missing, and have other texts', () => {
      const rows = [15, 13, 7, 2, 6].map((lessonNumber) => ({
        ...rowOf(lessonNumber),
        decision: `the decision of lesson ${23 - lessonNumber}`,
      }));
      const repaired = repairRows(Object.freeze(rows), RUNS_OF_THE_PATH);

      expect(repaired.map((row) => row.lesson)).toEqual([15, 13, 7, 2, 6]);
      expect(repaired.map((row) => row.decision)).toEqual(rows.map((row) => row.decision));
      expect(
        repaired.map((row, at) => [
          row.moves.length - (rows[at]?.moves.length ?? 0),
          row.grows.length - (rows[at]?.grows.length ?? 0),
        ]),
      ).toEqual([
        [0, 1],
        [2, 0],
        [1, 0],
        [0, 0],
        [1, 0],
      ]);
    });

    it('a lesson that comes twice is repaired twice', () => {
      const rows = [rowOf(13), rowOf(2), { ...rowOf(13) }];
      const repaired = repairRows(rows, RUNS_OF_THE_PATH);

      expect(repaired.map((row) => row.moves.length)).toEqual([3, 1, 3]);
    });

    it('a row that can be defended already gets its number all the same', () => {
      const row = auditRow([change('requests', 9, 4)], [change('other', 1, 2)], 6);

      expect(repairRows([row], RUNS_OF_THE_PATH)[0]?.moves).toEqual([
        change('requests', 9, 4),
        change('requests', 300, 54),
      ]);
    });

    it('runs that show no difference repair nothing: their numbers are added, and defend nothing', () => {
      const { full } = RUNS_OF_THE_PATH;
      const rows = NOT_DEFENSIBLE.map(rowOf);
      const repaired = repairRows(rows, {
        full,
        noCache: full,
        noGate: full,
        ambassadorStopped: full,
      });

      const added = (row: AuditRow) => row.moves.length + row.grows.length;
      expect(repaired.map((row, at) => added(row) - added(rows[at] ?? row))).toEqual([1, 1, 2, 1]);
      expect(repaired.map((row) => auditDecision(row).defensible)).toEqual([
        false,
        false,
        false,
        false,
      ]);
    });

    it('no rows are no rows, and the list is a new one', () => {
      const rows: readonly AuditRow[] = Object.freeze([rowOf(1), rowOf(2)]);

      expect(repairRows([], RUNS_OF_THE_PATH)).toEqual([]);
      expect(repairRows(rows, RUNS_OF_THE_PATH)).toEqual(rows);
      expect(repairRows(rows, RUNS_OF_THE_PATH)).not.toBe(rows);
    });

    it('with the runs of your own path all sixteen can be defended', async () => {
      repairRows(AUDIT_ROWS, RUNS_OF_THE_PATH); // to begin with: the runs take a second
      const runs = {
        full: (await walk({})).result,
        noCache: (await walk({ switches: { cache: false } })).result,
        noGate: (await walk({ switches: { gate: false } })).result,
        ambassadorStopped: (await walk({ stops: stopAt(5, 'ambassador') })).result,
      };

      const repaired = repairRows(AUDIT_ROWS, runs);
      expect(repaired).toEqual(repairRows(AUDIT_ROWS, RUNS_OF_THE_PATH));
      expect(repaired.filter((row) => !auditDecision(row).defensible)).toEqual([]);
    });
  });
});
