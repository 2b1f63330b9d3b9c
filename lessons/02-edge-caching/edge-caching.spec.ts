// Lesson 2: edge caching
//
// The introductory course put a cache beside the application and took its hit ratio for granted:
// 0.90. Now a cache stands at the edge, next to the user, and reaches the same hit ratio there.
// Which numbers change and which don't? And is the old cache behind it still worth having? You know
// how a user's request finds the edge (lesson 1). You leave with an edge that is a real shared
// cache, with what a hit weighs on the wire, and with a rule for the second cache.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
//
// These tests take more than a second together: three traces of 200,000 requests go through three
// caches each, and every claim about a server is tried on sockets.
import { once } from 'node:events';
import { get, type RequestListener, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  K01,
  T6_DAYS_ON_THE_WAY,
  T7_BURST_LENGTH,
  T8_OPEN_BURSTS,
  T9_CACHE_CAPACITY,
  T10_EDGES,
  T11_COMMON_OBJECTS,
} from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { attachFigure, bars, lines } from '#helpers/lesson/figure.ts';
import { type HttpServer, listen, startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { ManualClock } from '#helpers/lesson/manual-clock.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { openRawConnection } from '#helpers/lesson/raw.ts';
import { startTcpServer, type TcpServer } from '#helpers/lesson/tcp-server.ts';
import { TodoError } from '#helpers/lesson/todo.ts';
import { eventually, gate, within } from '#helpers/lesson/waiting.ts';
import {
  bottleneck,
  createEdge,
  createOrigin,
  edgeBackToBaseline,
  judgeSecondCache,
  LruCache,
  measureResponse,
  runCacheChain,
} from './exercise.ts';
import {
  ACTIVE_SHIPMENTS,
  BURST_LENGTHS,
  type CacheChain,
  type EdgeOptions,
  type MeasuredEdge,
  PUBLISHED_TRACE,
  QUERIES_PER_SHIPMENT,
  SERVER_CACHE_CAPACITY,
  TRACE_WINDOW_SECONDS,
} from './given.ts';
import {
  ask,
  askInTurn,
  countersOf,
  headerLines,
  startGivenOrigin,
  trackingAnswer,
  trackingNumbers,
  type WireAnswer,
  type WireRequest,
} from './servers.ts';
import { type TraceOptions, trackingTrace } from './trace.ts';

const lesson = openLesson(import.meta.url);

const bodyBytes: number = K01.bodyBytes;
const body = 'x'.repeat(bodyBytes);
const json = { 'content-type': 'application/json' };
const sized = { ...json, 'content-length': bodyBytes };
const capacities = { cacheCapacity: SERVER_CACHE_CAPACITY };

const plain: RequestListener = (_request, response) =>
  void response.writeHead(200, sized).end(body);
/** The answer of an edge, which says in `x-kenar` where it has it from. */
const fromEdge =
  (state: 'isabet' | 'iska'): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { ...sized, 'x-kenar': state }).end(body);

type Weight = Pick<WireAnswer, 'headerBytes' | 'bodyBytes' | 'wireBytes'>;
const wire = ({ headerBytes, bodyBytes, wireBytes }: Weight): Weight => ({
  headerBytes,
  bodyBytes,
  wireBytes,
});
const onTheWire = (headers: number, bytes = bodyBytes) => ({
  headerBytes: headers,
  bodyBytes: bytes,
  wireBytes: headers + bytes,
});
const statesOf = (answers: readonly WireAnswer[]) =>
  answers.map(({ headers }) => headers['x-kenar']).join(' ');

/** The keys of a published trace. Each is made once, and read by many tests. */
const fullTraces = new Map<number, { keys: string[]; distinct: number }>();
function fullTrace(burstLength: number): { keys: string[]; distinct: number } {
  let trace = fullTraces.get(burstLength);
  if (!trace) {
    const keys = [...trackingTrace({ ...PUBLISHED_TRACE, burstLength })];
    trace = { keys, distinct: new Set(keys).size };
    fullTraces.set(burstLength, trace);
  }
  return trace;
}

/** A tenth of it, for grading in milliseconds. */
const shortTrace = (change: Partial<TraceOptions>) =>
  trackingTrace({ ...PUBLISHED_TRACE, requests: 20_000, ...change });

describe('Lesson 2: edge caching', () => {
  it('480 bytes of body are 636 on the wire from the origin, and 651 or 653 from an edge', async ({
    annotate,
  }) => {
    await using origin = await startHttpServer(plain);
    await using miss = await startHttpServer(fromEdge('iska'));
    await using hit = await startHttpServer(fromEdge('isabet'));

    const answers: WireAnswer[] = [];
    for (const { port } of [origin, miss, hit]) answers.push(await ask(port, '/takip/TR900011'));

    const asText = (key: 'headerBytes' | 'wireBytes') =>
      answers.map((answer) => answer[key]).join(', ');
    await attachFigure(annotate, {
      title: `${asText('headerBytes')} bytes of header in front of a body of ${bodyBytes}`,
      facts: [
        `On the wire an answer of the origin, a miss and a hit at the edge are ${asText('wireBytes')} bytes.`,
        'Of the header Node writes 103 bytes, whatever the handler does.',
      ],
      option: () =>
        bars({
          unit: 'header bytes',
          categories: ['origin', 'edge, miss', 'edge, hit'],
          stacked: true,
          series: [
            { name: 'status, end', starts: ['http/1.1', ''] },
            { name: 'type', starts: ['content-type'] },
            { name: 'length', starts: ['content-length'] },
            { name: 'x-kenar', starts: ['x-kenar'] },
            { name: 'Date', starts: ['date'] },
            { name: 'connection', starts: ['connection', 'keep-alive'] },
          ].map(({ name, starts }) => ({
            name,
            values: answers.map(({ head }) =>
              headerLines(head)
                .filter(({ line }) => starts.includes(line.split(/[: ]/)[0]?.toLowerCase() ?? ''))
                .reduce((sum, { bytes }) => sum + bytes, 0),
            ),
          })),
        }),
    });
    expect(answers.map(wire)).toEqual([onTheWire(156), onTheWire(171), onTheWire(173)]);
  });

  it('of the 156 header bytes the handler wrote 53, and Node 103', async () => {
    await using origin = await startHttpServer(plain);

    const counted = headerLines((await ask(origin.port, '/takip/TR900010')).head);

    expect(counted.map(({ line, bytes }) => [line.split(':')[0], bytes])).toEqual([
      ['HTTP/1.1 200 OK', 17],
      ['content-type', 32],
      ['content-length', 21],
      ['Date', 37], // always 29 characters of date, whatever the day
      ['Connection', 24],
      ['Keep-Alive', 23],
      ['', 2], // the empty line belongs to the header
    ]);
    expect(17 + 37 + 24 + 23 + 2).toBe(103);
  });

  // One change at a time. 156 is not a property of the answer: it belongs to this set of fields, on
  // this protocol, between these two parties.
  const changes: {
    change: string;
    answer?: RequestListener;
    request?: WireRequest;
    server?: { keepAliveTimeout?: number; maxRequestsPerSocket?: number };
    headers: number;
    bytes?: number;
  }[] = [
    {
      change: 'a request that says Connection: close',
      request: { headers: ['Host: a', 'Connection: close'] },
      headers: 128,
    },
    { change: 'a request in HTTP/1.0', request: { version: '1.0', headers: [] }, headers: 128 },
    {
      change: 'a handler that writes the head and no content-length',
      answer: (_request, response) => void response.writeHead(200, json).end(body),
      headers: 163, // transfer-encoding: chunked is 28 bytes, content-length: 480 was 21
      bytes: '1e0\r\n'.length + bodyBytes + '\r\n0\r\n\r\n'.length,
    },
    {
      change: 'a handler that leaves the head to Node and sends the body in one call',
      answer: (_request, response) =>
        void response.setHeader('content-type', 'application/json').end(body),
      headers: 156,
    },
    {
      change: 'a content-type with a charset, which now looks like a miss at the edge',
      answer: (_request, response) =>
        void response
          .writeHead(200, { ...sized, 'content-type': 'application/json; charset=utf-8' })
          .end(body),
      headers: 171,
    },
    { change: 'keepAliveTimeout 72000', server: { keepAliveTimeout: 72_000 }, headers: 157 },
    { change: 'keepAliveTimeout 0', server: { keepAliveTimeout: 0 }, headers: 133 },
    { change: 'maxRequestsPerSocket 100', server: { maxRequestsPerSocket: 100 }, headers: 165 },
    {
      change: 'an answer without Date',
      answer: (_request, response) => {
        response.sendDate = false;
        response.writeHead(200, sized).end(body);
      },
      headers: 119,
    },
    {
      change: 'a body of 1000 bytes',
      answer: (_request, response) =>
        void response.writeHead(200, { ...json, 'content-length': 1_000 }).end('x'.repeat(1_000)),
      headers: 157,
      bytes: 1_000,
    },
    {
      change: 'field names in upper case',
      answer: (_request, response) =>
        void response
          .writeHead(200, { 'CONTENT-TYPE': 'application/json', 'CONTENT-LENGTH': bodyBytes })
          .end(body),
      headers: 156,
    },
    { change: 'HEAD instead of GET', request: { method: 'HEAD' }, headers: 156, bytes: 0 },
    {
      change: 'another host, an agent, a language and an encoding in the request',
      request: {
        headers: [
          'Host: parcels.example:8443',
          'User-Agent: curl/8',
          'Accept: */*',
          'Accept-Encoding: gzip',
          'Accept-Language: tr',
          'Connection: keep-alive',
        ],
      },
      headers: 156,
    },
  ];
  for (const { change, answer = plain, request = {}, server = {}, headers, bytes } of changes) {
    it(`${change}: ${headers} header bytes`, async () => {
      await using origin = await startHttpServer(answer);
      Object.assign(origin.server, server);

      const answered = await ask(origin.port, '/takip/TR900010', request);

      expect(wire(answered)).toEqual(onTheWire(headers, bytes));
    });
  }

  it('an HTTP/1.1 request without Host is refused with 400', async () => {
    await using origin = await startHttpServer(plain);
    using socket = await openRawConnection(origin.port);

    await socket.write('GET /takip/TR900010 HTTP/1.1\r\n\r\n');
    await socket.readUntil((received) => received.includes('\r\n\r\n'));

    expect(socket.text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('fetch and the default agent see 636 bytes, and a client that keeps nothing alive sees 608', async () => {
    await using origin = await startHttpServer(plain);
    const sockets: Socket[] = [];
    origin.server.on('connection', (socket) => sockets.push(socket));

    await (await fetch(origin.url)).text();
    for (const options of [{}, { agent: false as const }]) {
      const [response] = await once(get(origin.url, options), 'response');
      await text(response);
    }

    expect(sockets.map(({ bytesWritten }) => bytesWritten)).toEqual([636, 636, 128 + bodyBytes]);
  });

  it('a hit ratio of 0.90 was an assumption, and three results rest on it', () => {
    expect(K01.hitRatio).toBePublished('02.baseline.hitRatio');
    expect(K01.hitRatio).toBePublished('02.baseline.hitRatioPrinted');
    expect(K01.hitRatio * 100).toBePublished('02.baseline.hitRatioPercent');
    expect(K01.peakReads).toBePublished('02.baseline.peakReads');
    expect(K01.peakWrites).toBePublished('02.baseline.peakWrites');
    expect(bodyBytes).toBePublished('02.baseline.bodyBytes');

    const behindCache = K01.peakReads * (1 - K01.hitRatio);

    expect(behindCache).toBePublished('02.baseline.readsBehindCache');
    expect(behindCache + K01.peakWrites).toBePublished('02.baseline.requestsReachingStore');
    expect((K01.peakReads * bodyBytes * 8) / 1e6).toBePublished('02.baseline.readEgress');
  });

  it('a shipment on its way is asked for ten times a day, thirty times in all', () => {
    expect(K01.users * K01.queriesPerUserPerDay).toBePublished('02.baseline.queriesPerDay');
    expect(K01.newShipmentsPerDay).toBePublished('02.baseline.newShipmentsPerDay');
    expect(T6_DAYS_ON_THE_WAY).toBePublished('02.daysOnTheWay');
    expect(ACTIVE_SHIPMENTS).toBePublished('02.activeShipments');
    expect(QUERIES_PER_SHIPMENT).toBePublished('02.queriesPerShipment');

    // The trace takes ten for the queries of one shipment in all. They are those of one day.
    expect(K01.trackingQueriesPerDay / K01.newShipmentsPerDay).toBe(10 * T6_DAYS_ON_THE_WAY);
  });

  it('the trace is 480 seconds of the busiest hour: 200000 requests, 100 bursts at a time', () => {
    expect(TRACE_WINDOW_SECONDS).toBePublished('02.traceWindow');
    expect(T7_BURST_LENGTH).toBePublished('02.burstLength');
    expect(T8_OPEN_BURSTS).toBePublished('02.openBursts');
    expect(PUBLISHED_TRACE).toMatchObject({
      burstLength: T7_BURST_LENGTH,
      openBursts: T8_OPEN_BURSTS,
    });
    expect(fullTrace(T7_BURST_LENGTH).keys.length).toBePublished('02.traceRequests');
    // 416.67 is the rate with two decimals; with it the trace would be 1.6 requests longer.
    expect(K01.peakReads * TRACE_WINDOW_SECONDS).toBeCloseTo(200_001.6, 6);
  });

  it('bursts take turns from the second one on, and single keys come between them', () => {
    const start = (burstLength: number, count: number) =>
      [...shortTrace({ burstLength, requests: count })].join(' ');

    expect(start(5, 12)).toBe('G2 G3 G4 G5 G6 D1 D2 D3 D4 D5 G7 G8');
    expect(fullTrace(10).keys.slice(0, 2)).toEqual(['G2', 'G3']);
    expect(fullTrace(10).keys.slice(98, 100)).toEqual(['G100', 'G1']);
  });

  it('20046 shipments and not 20000: 99 bursts are unfinished, and lack 460 queries', () => {
    const distinct = BURST_LENGTHS.map((length) => fullTrace(length).distinct);
    expect(distinct).toEqual([20_046, 120_044, 180_049]);

    const queries = new Map<string, number>();
    for (const key of fullTrace(10).keys) queries.set(key, (queries.get(key) ?? 0) + 1);
    const unfinished = [...queries.values()].filter((count) => count < 10);
    const lacking = unfinished.reduce((sum, count) => sum + 10 - count, 0);

    expect(unfinished).toHaveLength(99);
    expect(lacking).toBe(460);
    expect(distinct[0]).toBe(20_000 + lacking / 10);
  });

  // Predict first: a body of 480 bytes, as JSON, over HTTP/1.1. How many bytes are on the wire?
  describe('Exercise 2.1: bytes on the wire', lesson.exercise('2.1'), () => {
    for (const { what, answer, headers } of [
      { what: 'the origin', answer: plain, headers: 156 },
      { what: 'an edge that misses', answer: fromEdge('iska'), headers: 171 },
      { what: 'an edge that hits', answer: fromEdge('isabet'), headers: 173 },
    ]) {
      it(`an answer of ${what} has ${headers} header bytes`, async () => {
        await using server = await startHttpServer(answer);

        const measured = await measureResponse(server.port, '/takip/TR900011');

        expect(measured).toMatchObject({ status: 200, ...onTheWire(headers) });
      });
    }

    it('one answer of the origin is 156 + 480 = 636 bytes', async () => {
      await using server = await startHttpServer(plain);

      const measured = await measureResponse(server.port, '/takip/TR900010');

      expect(measured.headerBytes).toBePublished('02.wire.direct.header');
      expect(measured.bodyBytes).toBePublished('02.wire.direct.body');
      expect(measured.wireBytes).toBePublished('02.wire.direct.wire');
    });

    it('the request is two lines, with the path as it stands', async () => {
      await using server = await startGivenOrigin();

      await measureResponse(server.port, '/takip/..?a=%2F');

      expect(
        server.asked.map(({ method, url, rawHeaders }) => [method, url, ...rawHeaders]),
      ).toEqual([['GET', '/takip/..?a=%2F', 'Host', `127.0.0.1:${server.port}`]]);
    });

    it('header fields of the request follow after Host, each as given', async () => {
      await using server = await startGivenOrigin();

      const requestHeaders = { 'X-Shipment': 'TR 1', accept: '*/*' };
      const measured = await measureResponse(server.port, '/takip/TR900010', { requestHeaders });

      expect(server.asked[0]?.rawHeaders.slice(2)).toEqual(['X-Shipment', 'TR 1', 'accept', '*/*']);
      expect(wire(measured)).toEqual(onTheWire(156)); // what is asked costs nothing here
    });

    it('a request that says Connection: close gets 128 header bytes', async () => {
      await using server = await startHttpServer(plain);

      const requestHeaders = { Connection: 'close' };
      const measured = await measureResponse(server.port, '/', { requestHeaders });

      expect(wire(measured)).toEqual(onTheWire(128));
      expect(measured.headers.connection).toBe('close');
    });

    it('names of fields come in lower case, values without blanks, several lines as one', async () => {
      await using server = await startScriptedServer([
        'HTTP/1.1 200 OK\r\nX-Two:  a \r\ncontent-LENGTH:2\r\nx-two:b:c\r\n\r\nok',
      ]);

      const { status, headers } = await measureResponse(server.port, '/');

      expect({ status, headers }).toEqual({
        status: 200,
        headers: { 'x-two': 'a, b:c', 'content-length': '2' },
      });
    });

    it('an answer in many small pieces weighs the same', async () => {
      const answer = `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh\r\n\r\n`;
      await using server = await startScriptedServer([...answer]);

      const measured = await measureResponse(server.port, '/');

      expect(wire(measured)).toEqual(onTheWire(answer.length - 5, 5));
    });

    it('a body may contain empty lines', async () => {
      await using server = await startScriptedServer([
        'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n\r\n\r\n--\r\n\r\nab',
      ]);
      expect(wire(await measureResponse(server.port, '/'))).toEqual(onTheWire(39, 12));
    });

    it('a chunked answer is counted with its framing: 163 and 492 bytes', async () => {
      await using server = await startHttpServer((_request, response) => {
        response.writeHead(200, json).end(body);
      });
      const measured = await measureResponse(server.port, '/');
      expect(wire(measured)).toEqual({ headerBytes: 163, bodyBytes: 492, wireBytes: 655 });
    });

    it('a chunk may contain what looks like the last one, and a trailer may follow that', async () => {
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n';
      const chunks = ['A;note=1\r\n', 'ab\r\n0\r\n\r\ne', '\r\n', '0\r\n', 'x-sum: 1\r\n', '\r\n'];
      await using server = await startScriptedServer([head, ...chunks]);

      const measured = await measureResponse(server.port, '/');

      expect(wire(measured)).toEqual(onTheWire(head.length, chunks.join('').length));
    });

    it('an answer that does not say how long it is ends when the server hangs up', async () => {
      await using server = await startScriptedServer(
        ['HTTP/1.1 200 OK\r\n\r\nuntil', ' here'],
        'end',
      );
      expect(wire(await measureResponse(server.port, '/'))).toEqual(onTheWire(19, 10));
    });

    it.for([
      ['204 No Content', ''],
      ['304 Not Modified', 'Content-Length: 480\r\n'],
      ['200 OK', 'Content-Length: 0\r\n'],
    ])('nobody waits for the body of a %s that has none', async ([status, field]) => {
      const answer = `HTTP/1.1 ${status}\r\n${field}\r\n`;
      await using server = await startScriptedServer([answer]);

      const measured = await measureResponse(server.port, '/');

      expect(wire(measured)).toEqual(onTheWire(answer.length, 0));
    });

    it('afterwards the socket is gone, although the server would keep it alive', async () => {
      await using server = await startHttpServer(plain);
      const accepted = once(server.server, 'connection');

      await measureResponse(server.port, '/');

      const [socket] = await accepted;
      if (!socket.destroyed) await within(once(socket, 'close'), 'the client to hang up');
    });

    it('a closed port is reported as what it is: ECONNREFUSED', async () => {
      const server = await startTcpServer(() => {});
      await server.close();
      const refused = Promise.resolve(measureResponse(server.port, '/'));
      await expect(failureOf(refused)).resolves.toMatchObject({ code: 'ECONNREFUSED' });
    });

    it.for([
      ['says nothing', []],
      ['stops after half a header block', ['HTTP/1.1 200 OK\r\nDa']],
      ['stops in the body', ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab']],
    ] as const)('a server that %s is given up when the time is over', async ([, pieces]) => {
      await using server = await startScriptedServer(pieces);
      const accepted = once(server.server, 'connection');

      const failure = await failureOf(measureResponse(server.port, '/', { timeoutMs: 20 }));

      expect(failure.message).toContain('timeout');
      const [socket] = await accepted;
      if (!socket.destroyed) await within(once(socket, 'close'), 'the client to hang up');
    });

    it('the time is for the whole exchange: a byte now and then does not stretch it', async () => {
      await using server = await startTcpServer((socket) => {
        const timer = setInterval(() => socket.write('x'), 2);
        socket.on('close', () => clearInterval(timer));
      });
      const failure = await failureOf(
        within(measureResponse(server.port, '/', { timeoutMs: 100 }), 'the time to be over'),
      );
      expect(failure.message).toContain('timeout');
    });

    it.for([
      ['says nothing', ['']],
      ['is in the header block', ['HTTP/1.1 200 OK\r\n']],
      ['is in the body', ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab']],
      ['is in a chunk', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab']],
    ] as const)('a server that hangs up while it %s is reported at once', async ([, pieces]) => {
      await using server = await startScriptedServer(pieces, 'end');
      const failure = await failureOf(
        within(measureResponse(server.port, '/', { timeoutMs: 60_000 }), 'the end to be noticed'),
      );
      expect(failure.message).toContain('closed');
    });
  });

  // Predict first: three places, and the keys 11 12 13 11 14 11 12. How many hits? And how many if
  // the key that came first has to go, instead of the one that was used longest ago?
  describe('Exercise 2.2: a cache that forgets', lesson.exercise('2.2'), () => {
    /** Looks up and stores, as a server does. */
    const run = (capacity: number, keys: string[]) => {
      const cache = new LruCache<string>(capacity);
      return keys.map((key) => {
        if (cache.get(key) !== undefined) return 'isabet';
        cache.set(key, key);
        return 'iska';
      });
    };

    it.for([
      ['11 12 13 14 11', 3, 'iska iska iska iska iska'],
      ['11 12 13 11 14 11 12', 3, 'iska iska iska isabet iska isabet iska'],
      ['11 12 13 11 14 11 12', 2, 'iska iska iska iska iska isabet iska'],
      ['11 11 11 11 11', 3, 'iska isabet isabet isabet isabet'],
      ['11 12 11 12', 1, 'iska iska iska iska'],
    ] as const)('the keys %s, with %d places: %s', ([keys, capacity, states]) => {
      expect(run(capacity, keys.split(' ')).join(' ')).toBe(states);
    });

    it('four keys in turn never hit with three places, and always with four', () => {
      const keys = Array.from({ length: 12 }, (_, index) => `k${index % 4}`);
      expect(run(3, keys)).not.toContain('isabet');
      expect(run(4, keys).slice(4)).not.toContain('iska');
    });

    it('storing under a key that is there replaces, makes it the most recent, and evicts nothing', () => {
      const cache = new LruCache<number>(2);
      cache.set('a', 1);
      cache.set('b', 2);
      cache.set('b', 3);
      expect([cache.size, cache.get('b'), cache.get('a')]).toEqual([2, 3, 1]);

      cache.set('b', 4); // from here on a is the least recent one
      cache.set('c', 5);
      expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 4, 5]);
    });

    it('a lookup that finds nothing changes nothing', () => {
      const cache = new LruCache<number>(2);
      cache.set('a', 1);
      cache.set('b', 2);
      expect(cache.get('c')).toBeUndefined();
      expect([cache.size, cache.get('a'), cache.get('b')]).toEqual([2, 1, 2]);
    });

    it('any string is a key, and any value but undefined a value', () => {
      const cache = new LruCache<unknown>(9);
      const keys = ['', '__proto__', 'constructor', '0', '10', '9'];
      for (const key of keys) expect(cache.get(key), key).toBeUndefined();
      const values = [null, false, 0, '', Number.NaN, {}];
      keys.forEach((key, index) => void cache.set(key, values[index]));
      expect(keys.map((key) => cache.get(key))).toEqual(values);
      expect(cache.size).toBe(6);
    });

    it('two caches share nothing', () => {
      const [one, other] = [new LruCache<number>(2), new LruCache<number>(2)];
      one.set('a', 1);
      expect([other.size, other.get('a')]).toEqual([0, undefined]);
    });

    it('for every sequence of keys it holds those that were used last', () =>
      expectLaw(
        {
          capacity: fc.integer({ min: 1, max: 5 }),
          steps: fc.array(fc.tuple(fc.boolean(), fc.constantFrom(...'abcdefg')), { maxLength: 60 }),
        },
        ({ capacity, steps }) => {
          const cache = new LruCache<number>(capacity);
          let used: [key: string, value: number][] = []; // the least recent one first
          steps.forEach(([stores, key], step) => {
            const held = used.find(([name]) => name === key);
            const others = used.filter(([name]) => name !== key);
            if (stores) {
              cache.set(key, step);
              used = [...others.slice(held || others.length < capacity ? 0 : 1), [key, step]];
            } else {
              expect(cache.get(key)).toBe(held?.[1]);
              if (held) used = [...others, held];
            }
            expect(cache.size).toBe(used.length);
          });
        },
      ));

    it('undefined is no value, and what was there stays', () => {
      const cache = new LruCache<number | undefined>(1);
      cache.set('a', 1);
      for (const key of ['a', 'b']) {
        expectRefusal(() => cache.set(key, undefined), 'undefined', TypeError);
      }
      expect([cache.size, cache.get('a')]).toEqual([1, 1]);
    });

    it.for([0, -1, 1.5, Number.NaN, Infinity])('a capacity of %d is refused', (capacity) => {
      expectRefusal(() => new LruCache(capacity), 'capacity');
    });
  });

  describe('Exercise 2.3: origin and edge', lesson.exercise('2.3'), () => {
    const wrongPaths = [
      '/',
      '/takip',
      '/takip/',
      '/takip/a/b',
      '/Takip/a',
      '/sayac/',
      '/sayac?a',
      '/x',
    ];
    const otherMethods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

    describe('the origin', () => {
      const startOrigin = (options = {}) =>
        listen(createOrigin({ ...capacities, bodyBytes, ...options }));

      it('its answer is 480 bytes of body behind 156 of header', async () => {
        await using origin = await startOrigin();

        const answer = await ask(origin.port, '/takip/TR900010');

        expect(answer.status).toBe(200);
        expect(answer.bodyBytes).toBePublished('02.wire.direct.body');
        expect(answer.headerBytes).toBePublished('02.wire.direct.header');
        expect(answer.wireBytes).toBePublished('02.wire.direct.wire');
      });

      it('its header block has the two fields of the handler, those of Node, and no other', async () => {
        await using origin = await startOrigin();
        const { headers } = await ask(origin.port, '/takip/TR900010');
        const { date, ...others } = headers;
        expect(date).toHaveLength(29);
        expect(others).toEqual({
          'content-type': 'application/json',
          'content-length': '480',
          connection: 'keep-alive',
          'keep-alive': 'timeout=5',
        });
      });

      it('the body is the state as JSON, filled up with blanks', async () => {
        await using origin = await startOrigin();
        const answer = await ask(origin.port, '/takip/TR900010');
        const stated = '{"takip":"TR900010","durum":"aktarma","bolge":"b34"}';
        expect(stated).toHaveLength(52);
        expect(answer.body.toString()).toBe(stated.padEnd(480));
      });

      it('three numbers that come once each are three accesses to the store', async () => {
        await using origin = await startOrigin();

        await askInTurn(origin.port, trackingNumbers('10 11 12'));

        // No number came twice: 0 hits say nothing about the cache.
        expect(await countersOf(origin)).toBe('{"istek":3,"isabet":0,"depo":3}');
      });

      it('a number that comes again is answered by the cache, with the same bytes', async () => {
        await using origin = await startOrigin();
        const answers = await askInTurn(origin.port, trackingNumbers('11 12 13 11 14 11 12'));

        expect(await countersOf(origin)).toBe('{"istek":7,"isabet":2,"depo":5}');
        expect(answers.map(wire)).toEqual(Array(7).fill(onTheWire(156)));
        expect(answers[3]?.body).toEqual(answers[0]?.body);
      });

      it('a body of 1000 bytes has one more digit in its header: 157', async () => {
        await using origin = await startOrigin({ bodyBytes: 1_000 });
        expect(wire(await ask(origin.port, '/takip/TR900010'))).toEqual(onTheWire(157, 1_000));
      });

      it('HEAD is counted like GET, and gets the header block alone', async () => {
        await using origin = await startOrigin();
        const head = await ask(origin.port, '/takip/TR900010', { method: 'HEAD' });
        const whole = await ask(origin.port, '/takip/TR900010');

        expect(wire(head)).toEqual(onTheWire(156, 0));
        expect(head.headers['content-length']).toBe('480');
        expect(wire(whole)).toEqual(onTheWire(156));
        expect(await countersOf(origin)).toBe('{"istek":2,"isabet":1,"depo":1}');
      });

      it('a number is used as it stands: nothing is decoded, and every character counts', async () => {
        await using origin = await startOrigin();
        const numbers = ['A', '%41', 'A?', 'A?b=%2F', 'a"\\b', '..'];
        for (const number of numbers) {
          const { body: answer } = await ask(origin.port, `/takip/${number}`);
          expect(JSON.parse(answer.toString()), number).toMatchObject({ takip: number });
        }
        expect(await countersOf(origin)).toBe('{"istek":6,"isabet":0,"depo":6}');
      });

      it('a number for which the body is too short gets 414, and is counted nowhere', async () => {
        await using origin = await startOrigin();
        using client = openClient(origin.port);
        const numbers = ['n'.repeat(437), `${'n'.repeat(435)}"`, 'n'.repeat(9_000)];

        for (const number of numbers) {
          const { status, body: none } = await client.send(`/takip/${number}`);
          expect([status, none]).toEqual([414, '']);
        }
        expect((await client.send(`/takip/${'n'.repeat(436)}`)).body).toHaveLength(480);
        expect(await countersOf(origin)).toBe('{"istek":1,"isabet":0,"depo":1}');
      });

      it('the counters are JSON, count no request for themselves, and go on counting', async () => {
        await using origin = await startOrigin();
        await ask(origin.port, '/takip/TR900010');
        using client = openClient(origin.port);

        const first = await client.send('/sayac');

        expect(first.headers['content-type']).toBe('application/json');
        expect(first.body).toBe('{"istek":1,"isabet":0,"depo":1}');
        expect((await client.send('/sayac')).body).toBe(first.body);
      });

      it('any other path is 404, and any other method 405 with what is allowed', async () => {
        await using origin = await startOrigin();
        await expectRefusals(origin.port);
        expect(await countersOf(origin)).toBe('{"istek":0,"isabet":0,"depo":0}');
      });

      it('it refuses a capacity or a body that is no whole number of 1 or more', () => {
        for (const bad of [0, 1.5, Number.NaN]) {
          expectRefusal(() => createOrigin({ cacheCapacity: bad, bodyBytes }), 'cacheCapacity');
          expectRefusal(() => createOrigin({ ...capacities, bodyBytes: bad }), 'bodyBytes');
        }
      });
    });

    // The edge stands in front of an origin that is given: it turns green without the one above.
    describe('the edge', () => {
      it('two numbers, three rounds: two misses of 651 bytes, four hits of 653', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);

        const numbers = trackingNumbers('11 12');
        const answers = await askInTurn(edge.port, [...numbers, ...numbers, ...numbers]);

        expect(SERVER_CACHE_CAPACITY).toBePublished('02.serverCacheCapacity');
        answers.forEach(({ headers, ...answer }, index) => {
          const row = `02.wire.r${index + 1}`;
          expect(headers['x-kenar']).toBePublished(`${row}.state`);
          expect(answer.bodyBytes).toBePublished(`${row}.body`);
          expect(answer.headerBytes).toBePublished(`${row}.header`);
          expect(answer.wireBytes).toBePublished(`${row}.wire`);
        });
        const hit = answers.at(-1) as WireAnswer;
        expect(hit.wireBytes / hit.bodyBytes).toBePublished('02.wire.ratio');
        expect(hit.wireBytes / hit.bodyBytes).toBePublished('02.back.wireToBody');
      });

      it('its counters tell two requests to the origin, for 960 bytes of bodies', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);

        const numbers = trackingNumbers('11 12');
        await askInTurn(edge.port, [...numbers, ...numbers, ...numbers]);

        const counters = await countersOf(edge);
        expect(counters).toBePublished('02.edge.counters.body');
        for (const [name, count] of Object.entries(JSON.parse(counters))) {
          expect(count).toBePublished(`02.edge.counters.${name}`);
        }
        expect(origin.asked).toHaveLength(2);
      });

      it('what it answers is what the origin said, whether it asked or had it', async () => {
        const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
        await using origin = await startGivenOrigin((_request, response) => {
          response.setHeader('content-type', 'image/png').end(everyByte);
        });
        await using edge = await startEdge(origin.port);

        const [miss, hit] = await askInTurn(edge.port, ['a', 'a']);

        for (const answer of [miss, hit]) {
          expect(answer?.body).toEqual(everyByte);
          expect(answer?.headers).toMatchObject({ 'content-type': 'image/png' });
        }
      });

      it('the least recently used answer has to go', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);

        const answers = await askInTurn(edge.port, trackingNumbers('11 12 13 11 14 11 12'));

        expect(statesOf(answers)).toBe('iska iska iska isabet iska isabet iska');
        expect(await countersOf(edge)).toBe(counted({ istek: 7, isabet: 2, kokenBayt: 5 * 480 }));
      });

      it('HEAD is answered from a stored GET', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);
        await ask(edge.port, '/takip/a');

        const head = await ask(edge.port, '/takip/a', { method: 'HEAD' });

        expect(wire(head)).toEqual(onTheWire(173, 0));
        expect(head.headers).toMatchObject({ 'x-kenar': 'isabet', 'content-length': '480' });
        expect(origin.asked).toHaveLength(1);
      });

      it('a HEAD that misses leaves a whole answer behind', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);

        const head = await ask(edge.port, '/takip/a', { method: 'HEAD' });
        const whole = await ask(edge.port, '/takip/a');

        expect(wire(head)).toEqual(onTheWire(171, 0));
        expect(wire(whole)).toEqual(onTheWire(173));
        expect(origin.asked.map(({ method }) => method)).toEqual(['GET']);
        expect(await countersOf(edge)).toBe(counted({ istek: 2, isabet: 1, kokenBayt: 480 }));
      });

      it('any other path is 404, any other method 405, and the origin hears of neither', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);
        await expectRefusals(edge.port);
        expect(await countersOf(edge)).toBe(counted({ istek: 0, isabet: 0, kokenBayt: 0 }));
        expect(origin.asked).toEqual([]);
      });

      it('the target goes to the origin as it stands, and is the key as it stands', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port, { cacheCapacity: 20 });
        const targets = [
          'A',
          '%41',
          'A?',
          'A?b=1',
          '..',
          '%2e%2e',
          'a"b',
          'a%2Fb',
          'a;b',
          '\\',
        ].map((number) => `/takip/${number}`);

        const answers: WireAnswer[] = [];
        for (const target of targets) answers.push(await ask(edge.port, target));

        expect(statesOf(answers)).toBe(targets.map(() => 'iska').join(' '));
        expect(origin.asked.map(({ url }) => url)).toEqual(targets);
      });

      it('nothing that a client adds reaches the origin', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);

        await ask(edge.port, '/takip/a', {
          headers: ['Host: evil.example', 'Cookie: user=1', 'Authorization: Basic eA==', 'X-A: b'],
        });

        const [asked] = origin.asked;
        expect(asked?.headers).toMatchObject({ host: `127.0.0.1:${origin.port}` });
        for (const name of ['cookie', 'authorization', 'x-a']) {
          expect(asked?.headers, name).not.toHaveProperty(name);
        }
      });

      it('an origin that cannot be reached is a 502, which nobody stores', async () => {
        const origin = await startGivenOrigin();
        await origin.close();
        await using edge = await startEdge(origin.port);

        for (let round = 1; round <= 2; round += 1) {
          expect(await failedAnswer(edge.port)).toEqual([502, 'iska', '']);
        }
        expect(await countersOf(edge)).toBe(counted({ istek: 2, isabet: 0, kokenBayt: 0 }));
      });

      for (const { what, head, part } of [
        { what: 'a length', head: `Content-Length: ${bodyBytes}`, part: body.slice(0, 100) },
        { what: 'chunks', head: 'Transfer-Encoding: chunked', part: `1e0\r\n${body}\r\n` },
      ]) {
        it(`half a body is a 502 and not stored, if it was announced by ${what}`, async () => {
          let whole = false;
          await using origin = await startGivenOrigin((request, response) => {
            if (whole) trackingAnswer(request, response);
            else request.socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${part}`);
          });
          await using edge = await startEdge(origin.port);

          expect(await failedAnswer(edge.port)).toEqual([502, 'iska', '']);
          whole = true;
          const answers = await askInTurn(edge.port, ['a', 'a']);

          expect(statesOf(answers)).toBe('iska isabet');
          expect(answers.map(({ bodyBytes: bytes }) => bytes)).toEqual([480, 480]);
          expect(await countersOf(edge)).toBe(counted({ istek: 3, isabet: 1, kokenBayt: 480 }));
        });
      }

      for (const { what, answer } of [
        { what: 'with a status below 100', answer: 'HTTP/1.1 099 Low\r\n\r\n' },
        { what: 'in another protocol', answer: 'SMTP ready\r\n\r\n' },
        { what: 'with nothing at all', answer: '' },
      ]) {
        it(`an origin that answers ${what} has not answered: 502`, async () => {
          await using origin = await startScriptedServer([answer], 'end');
          await using edge = await startEdge(origin.port);
          expect(await failedAnswer(edge.port)).toEqual([502, 'iska', '']);
          expect(await failedAnswer(edge.port)).toEqual([502, 'iska', '']);
        });
      }

      it('a chunked answer is stored, and sent on with its length', async () => {
        await using origin = await startGivenOrigin((_request, response) => {
          response.writeHead(200, json);
          response.write(body.slice(0, 200));
          response.end(body.slice(200));
        });
        await using edge = await startEdge(origin.port);

        const answers = await askInTurn(edge.port, ['a', 'a']);

        expect(answers.map(wire)).toEqual([onTheWire(171), onTheWire(173)]);
        expect(answers[1]?.body.toString()).toBe(body);
      });

      it.for([204, 301, 304, 404, 414, 500, 503])(
        'an answer of %d is passed on without its body, and not stored',
        async (status) => {
          await using origin = await startGivenOrigin((_request, response) => {
            response.writeHead(status).end(status === 204 || status === 304 ? undefined : body);
          });
          await using edge = await startEdge(origin.port);

          expect(await failedAnswer(edge.port)).toEqual([status, 'iska', '']);
          expect(await failedAnswer(edge.port)).toEqual([status, 'iska', '']);
          expect(origin.connections).toBe(1); // whose body was read to its end
          expect(await countersOf(edge)).toBe(counted({ istek: 2, isabet: 0, kokenBayt: 0 }));
        },
      );

      // A bar stands between two lines of the field.
      for (const cacheControl of [
        'no-store',
        'private',
        'no-cache',
        'No-Store',
        'max-age=600, PRIVATE',
        'max-age=600,no-store,public',
        'private="x-user"',
        'note="a, b" , no-store',
        'note="a\\", b", private',
        'public | no-store',
      ]) {
        it(`an answer with cache-control: ${cacheControl} is passed on and not stored`, async () => {
          const lines = cacheControl.split(' | ');
          await using origin = await startGivenOrigin(withCacheControl(lines));
          await using edge = await startEdge(origin.port);

          const answers = await askInTurn(edge.port, ['a', 'a']);

          expect(statesOf(answers)).toBe('iska iska');
          expect(answers.map(({ bodyBytes: bytes }) => bytes)).toEqual([480, 480]);
          for (const { headers } of answers) {
            expect(headers['cache-control']).toBe(lines.join(', '));
          }
          expect(await countersOf(edge)).toBe(counted({ istek: 2, isabet: 0, kokenBayt: 960 }));
        });
      }

      for (const cacheControl of [
        'public',
        'max-age=600',
        'note="no-store"',
        'note="a, private, no-store"',
        'note="\\", no-store"',
        'no-stored, privateer, x-no-cache',
        'note=private',
        'public | note="no-store"',
      ]) {
        it(`an answer with cache-control: ${cacheControl} is stored, and says so again`, async () => {
          const lines = cacheControl.split(' | ');
          await using origin = await startGivenOrigin(withCacheControl(lines));
          await using edge = await startEdge(origin.port);

          const answers = await askInTurn(edge.port, ['a', 'a']);

          expect(statesOf(answers)).toBe('iska isabet');
          for (const { headers } of answers) {
            expect(headers['cache-control']).toBe(lines.join(', '));
          }
        });
      }

      it('an answer that may not be stored does not push out one that is', async () => {
        await using origin = await startGivenOrigin((request, response) => {
          if (request.url === '/takip/b') response.setHeader('cache-control', 'private');
          trackingAnswer(request, response);
        });
        await using edge = await startEdge(origin.port, { cacheCapacity: 1 });
        expect(statesOf(await askInTurn(edge.port, ['a', 'b', 'a']))).toBe('iska iska isabet');
      });

      it('one connection to the origin serves one miss after another, and goes with the edge', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port);
        await askInTurn(edge.port, ['a', 'b', 'c', 'd']);
        expect(origin.connections).toBe(1);

        await edge.close();

        const open = await eventually(
          () => openConnections(origin.server),
          (count) => count === 0,
        );
        expect(open).toBe(0);
      });

      it('a fetch that is on its way ends with the edge, and is not repeated', async () => {
        const arrived = gate<Socket>();
        await using origin = await startGivenOrigin((request, response) => {
          if (request.url === '/takip/held') arrived.open(request.socket);
          else trackingAnswer(request, response);
        });
        await using edge = await startEdge(origin.port);
        await askInTurn(edge.port, ['a']); // its connection is kept
        using client = await openRawConnection(edge.port);
        await client.write('GET /takip/held HTTP/1.1\r\nHost: a\r\n\r\n');
        const socket = await within(arrived.opened, 'the request to reach the origin');

        const cut = once(socket, 'close');
        await edge.close();
        await within(cut, 'the connection to the origin to be closed');

        await ask(origin.port, '/takip/last'); // whatever came before it would be known by now
        const asked = origin.asked.map(({ url }) => url);
        expect(asked).toEqual(['/takip/a', '/takip/held', '/takip/last']);
      });

      it('a kept connection that the origin has closed costs another connection, and no 502', async () => {
        let requests = 0;
        await using origin = await startTcpServer((socket) => {
          let served = 0;
          socket.on('data', () => {
            requests += 1;
            served += 1;
            // A second request on the same connection finds it closed.
            if (served === 2) socket.destroy();
            else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bodyBytes}\r\n\r\n${body}`);
          });
        });
        await using edge = await startEdge(origin.port);

        const answers = await askInTurn(edge.port, ['a', 'b']);

        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect([requests, origin.connections]).toEqual([3, 2]);
        expect(await countersOf(edge)).toBe(counted({ istek: 2, isabet: 0, kokenBayt: 960 }));
      });

      it('a client that goes away stops nothing: the answer is stored', async () => {
        const held = gate();
        const arrived = gate();
        await using origin = await startGivenOrigin((request, response) => {
          arrived.open();
          void held.opened.then(() => trackingAnswer(request, response));
        });
        await using edge = await startEdge(origin.port);
        await leaveAfter(edge, () => arrived.opened);

        held.open();
        const stored = await eventually(
          () => countersOf(edge),
          (counters) => counters.includes('"kokenBayt":480'),
        );

        expect(stored).toBe(counted({ istek: 1, isabet: 0, kokenBayt: 480 }));
        expect(statesOf(await askInTurn(edge.port, ['a']))).toBe('isabet');
      });

      it('five misses of one number at the same time are five requests to the origin', async () => {
        const held = gate();
        await using origin = await startGivenOrigin((request, response) => {
          void held.opened.then(() => trackingAnswer(request, response));
        });
        await using edge = await startEdge(origin.port);

        const answers = askAtOnce(edge.port, 5);
        await eventually(
          () => origin.asked.length,
          (count) => count === 5,
        );
        held.open();

        expect(statesOf(await answers)).toBe('iska iska iska iska iska');
        expect(await countersOf(edge)).toBe(counted({ istek: 5, isabet: 0, kokenBayt: 5 * 480 }));
      });

      it('it refuses a port or a capacity that is out of range', () => {
        for (const bad of [0, -1, 1.5, Number.NaN]) {
          expectRefusal(() => createEdge({ originPort: bad, cacheCapacity: 3 }), 'originPort');
          expectRefusal(() => createEdge({ originPort: 80, cacheCapacity: bad }), 'cacheCapacity');
        }
        expectRefusal(() => createEdge({ originPort: 65_536, cacheCapacity: 3 }), 'originPort');
      });
    });

    describe('both together', () => {
      const startBoth = async (edgeCapacity: number, originCapacity: number, bytes = bodyBytes) => {
        const origin = await listen(
          createOrigin({ cacheCapacity: originCapacity, bodyBytes: bytes }),
        );
        const edge = await startEdge(origin.port, { cacheCapacity: edgeCapacity });
        return {
          origin,
          edge,
          async [Symbol.asyncDispose]() {
            await edge.close();
            await origin.close();
          },
        };
      };

      it('of six requests at the edge two reach the application: it counts them and the direct one', async () => {
        await using both = await startBoth(SERVER_CACHE_CAPACITY, SERVER_CACHE_CAPACITY);
        const { origin, edge } = both;

        const direct = await ask(origin.port, '/takip/TR900010');
        const numbers = trackingNumbers('11 12');
        const answers = await askInTurn(edge.port, [...numbers, ...numbers, ...numbers]);

        expect([direct, ...answers].map(({ wireBytes }) => wireBytes)).toEqual([
          636, 651, 651, 653, 653, 653, 653,
        ]);
        expect(await countersOf(edge)).toBePublished('02.edge.counters.body');
        const counters = await countersOf(origin);
        expect(counters).toBePublished('02.origin.counters.body');
        for (const [name, count] of Object.entries(JSON.parse(counters))) {
          expect(count).toBePublished(`02.origin.counters.${name}`);
        }
      });

      it.for([
        ['V1', 3, 3, '11 12 13 14 11', 'mmmmm', [5, 0, 5, 5, 2_400], [5, 0, 5]],
        ['V2', 3, 3, '11 12 13 11 14 11 12', 'mmmhmhm', [7, 2, 5, 5, 2_400], [5, 1, 4]],
        ['V3', 2, 5, '11 12 13 11 14 11 12', 'mmmmmhm', [7, 1, 6, 6, 2_880], [6, 2, 4]],
        [
          'V4',
          2,
          5,
          '11 12 13 14 11 12 13 14 11 12 13 14',
          'mmmmmmmmmmmm',
          [12, 0, 12, 12, 5_760],
          [12, 8, 4],
        ],
        ['V5', 3, 3, '11 11 11 11 11', 'mhhhh', [5, 4, 1, 1, 480], [1, 0, 1]],
      ] as const)(
        '%s: with %d places at the edge and %d behind it, %s gives %s',
        async ([, edgeCapacity, originCapacity, sequence, states, edgeCounts, originCounts]) => {
          await using both = await startBoth(edgeCapacity, originCapacity);

          const answers = await askInTurn(both.edge.port, trackingNumbers(sequence));

          const asLetters = answers.map(({ headers }) =>
            headers['x-kenar'] === 'isabet' ? 'h' : 'm',
          );
          expect(asLetters.join('')).toBe(states);
          expect(Object.values(JSON.parse(await countersOf(both.edge)))).toEqual(edgeCounts);
          expect(Object.values(JSON.parse(await countersOf(both.origin)))).toEqual(originCounts);
        },
      );

      it('V6: with bodies of 1000 bytes the headers are 157, 172 and 174', async () => {
        await using both = await startBoth(3, 3, 1_000);

        const direct = await ask(both.origin.port, '/takip/TR900010');
        const answers = await askInTurn(both.edge.port, trackingNumbers('11 11'));

        expect([direct, ...answers].map(wire)).toEqual([
          onTheWire(157, 1_000),
          onTheWire(172, 1_000),
          onTheWire(174, 1_000),
        ]);
        expect(await countersOf(both.edge)).toBe(
          counted({ istek: 2, isabet: 1, kokenBayt: 1_000 }),
        );
        expect(await countersOf(both.origin)).toBe('{"istek":2,"isabet":0,"depo":2}');
      });

      it('a number that is too long passes the edge, comes back as 414, and both stay up', async () => {
        await using both = await startBoth(3, 3);

        const answer = await failedAnswer(both.edge.port, 'n'.repeat(437));

        expect(answer).toEqual([414, 'iska', '']);
        expect(await countersOf(both.edge)).toBe(counted({ istek: 1, isabet: 0, kokenBayt: 0 }));
        expect(await countersOf(both.origin)).toBe('{"istek":0,"isabet":0,"depo":0}');
      });
    });

    /** Asks for what neither server has, and with methods that neither takes. */
    async function expectRefusals(port: number): Promise<void> {
      using client = openClient(port);
      for (const path of wrongPaths) {
        for (const method of ['GET', 'POST']) {
          const { status, body: none } = await client.send(path, { method });
          expect([method, path, status, none]).toEqual([method, path, 404, '']);
        }
      }
      for (const path of ['/takip/TR900010', '/sayac']) {
        for (const method of otherMethods) {
          // node:http's client would send a body with the others unframed.
          const data = /^P/.test(method) && { body: 'data' };
          const answer = await client.send(path, { method, ...data });
          expect([method, answer.status, answer.headers.allow, answer.body]).toEqual([
            method,
            405,
            'GET, HEAD',
            '',
          ]);
        }
      }
    }
  });

  // Predict first: an edge and an application cache, 1000 keys each, and the same 200000 requests.
  // How many hits does the second one have?
  describe('Exercise 2.4: caches in series', lesson.exercise('2.4'), () => {
    /** Runs over the published traces take a while: each is made once. */
    const chains = new Map<string, CacheChain>();
    const chainOf = (burstLength: number, capacities: number[]): CacheChain => {
      const name = `${burstLength}: ${capacities}`;
      let chain = chains.get(name);
      if (!chain) {
        chain = runCacheChain(fullTrace(burstLength).keys, capacities);
        chains.set(name, chain);
      }
      return chain;
    };
    const capacity = T9_CACHE_CAPACITY;
    const layersOf = ({ layers: [edge, application] }: CacheChain) => {
      if (!edge || !application) throw new Error('layers: wanted two of them');
      return { edge, application };
    };

    it.for(BURST_LENGTHS)('a burst of %d gives the published row', (burstLength) => {
      const single = chainOf(burstLength, [capacity]);
      const chain = chainOf(burstLength, [capacity, capacity]);

      const row = `02.burst${burstLength}`;
      const { edge, application } = layersOf(chain);
      expect(capacity).toBePublished('02.cacheCapacity');
      expect(single.layers[0]?.hitRatio).toBePublished(`${row}.singleHitRatio`);
      expect(edge.hitRatio).toBePublished(`${row}.edgeHitRatio`);
      expect(application.lookups).toBePublished(`${row}.reachingApplication`);
      expect(application.hitRatio).toBePublished(`${row}.applicationHitRatio`);
      expect(chain.storeRequests).toBePublished(`${row}.reachingStore`);
    });

    it('the store does not notice the edge; the application gets a tenth of the requests', () => {
      const single = chainOf(10, [capacity]);
      const chain = chainOf(10, [capacity, capacity]);
      const { edge, application } = layersOf(chain);

      expect(single.storeRequests).toBePublished('02.burst10.storeWithoutEdge');
      expect(chain.storeRequests).toBePublished('02.burst10.storeWithEdge');
      expect(chain.storeRequests / single.storeRequests).toBePublished('02.burst10.storeRatio');
      const before = single.layers[0]?.lookups ?? 0;
      expect(before).toBePublished('02.burst10.applicationBefore');
      expect(application.lookups).toBePublished('02.burst10.applicationAfter');
      expect(application.lookups / before).toBePublished('02.burst10.applicationRatio');
      expect(edge.hitRatio).toBePublished('02.back.edgeHitRatio');
      expect(application.hitRatio * 100).toBePublished('02.back.applicationCacheContribution');
    });

    it('the hit ratio of the introductory course says that all ten queries come together', () => {
      const { edge } = layersOf(chainOf(10, [capacity, capacity]));
      expect(Math.abs(edge.hitRatio - K01.hitRatio) * 100).toBePublished(
        '02.burst10.differenceToV9',
      );

      // Half of them together, and it is 0.40; two of ten, and hardly anything is left.
      const half = layersOf(chainOf(5, [capacity, capacity]));
      expect(half.edge.hitRatio).toBePublished('02.burst5.ratioInProse');
      expect(BURST_LENGTHS[1]).toBePublished('02.burstLengthVaried.b5');
      expect(BURST_LENGTHS[2]).toBePublished('02.burstLengthVaried.b2');
    });

    it('a miss passes two hops without an edge and three with one', () => {
      const hops = (chain: CacheChain) => chain.layers.length + 1; // and the store
      expect(hops(chainOf(10, [capacity]))).toBePublished('02.hops.missWithoutEdge');
      expect(hops(chainOf(10, [capacity, capacity]))).toBePublished('02.hops.missWithEdge');
    });

    it('a first cache does not know that there is a second one: edge and single cache are equal', () => {
      // No finding: the same trace, the same capacity, the same rule.
      for (const length of BURST_LENGTHS) {
        const { edge } = layersOf(chainOf(length, [capacity, capacity]));
        expect(chainOf(length, [capacity]).layers).toEqual([edge]);
      }
    });

    it('what 1000 keys lose to single requests shows at a burst of 2: 0.0759 instead of 0.1', () => {
      const { edge } = layersOf(chainOf(2, [capacity, capacity]));
      const bursts = (2 - 1) / QUERIES_PER_SHIPMENT; // the second query of each burst
      expect(edge.hitRatio.toFixed(4)).toBe('0.0759');
      expect(bursts).toBe(0.1);

      const twice = runCacheChain(shortTrace({ burstLength: 2 }), [2 * capacity]);
      const once = runCacheChain(shortTrace({ burstLength: 2 }), [capacity]);
      expect(once.layers[0]?.hitRatio).toBe(0.07525);
      expect(twice.layers[0]?.hitRatio).toBeGreaterThan(0.09);
    });

    it('each number reaches the store once, unless some cache gives up one that comes again', () => {
      const distinct = (length: number) => fullTrace(length).distinct;
      const store = (length: number) => chainOf(length, [capacity, capacity]).storeRequests;

      // Not because the last cache held them all: it has 1000 places.
      expect(store(10)).toBe(distinct(10));
      expect(store(5)).toBe(distinct(5));
      expect(store(2)).toBe(184_418);
      expect(distinct(2)).toBe(180_049);
    });

    for (const { row, burst, open = T8_OPEN_BURSTS, sizes, counts } of [
      { row: 'S4', burst: 10, sizes: [1_000, 1_000], counts: [2_046, 0, 2_046] },
      { row: 'S14', burst: 5, sizes: [1_000, 1_000], counts: [12_044, 0, 12_044] },
      { row: 'S15', burst: 2, sizes: [1_000, 1_000], counts: [18_495, 37, 18_458] },
      { row: 'S16', burst: 10, sizes: [100, 100], counts: [3_128, 108, 3_020] },
      { row: 'S17', burst: 10, sizes: [99, 99], counts: [4_139, 121, 4_018] },
      { row: 'S18', burst: 10, sizes: [100, 1_000], counts: [3_128, 1_082, 2_046] },
      { row: 'S19', burst: 5, sizes: [200, 1_000], counts: [13_015, 882, 12_133] },
      { row: 'S20', burst: 3, open: 50, sizes: [200, 200], counts: [17_001, 0, 17_001] },
    ]) {
      it(`${row}: of 20000 requests ${counts[2]} are left to the store`, () => {
        const chain = runCacheChain(shortTrace({ burstLength: burst, openBursts: open }), sizes);
        const { application } = layersOf(chain);
        expect([application.lookups, application.hits, chain.storeRequests]).toEqual(counts);
      });
    }

    it('a cache behind many edges earns hits: of 240 misses it answers 220', () => {
      // Twelve edges, each of which misses the page's twenty objects once.
      const objects = Array.from({ length: T11_COMMON_OBJECTS }, (_, index) => `object ${index}`);
      const misses = Array.from({ length: T10_EDGES }, () => objects).flat();

      const [shared] = runCacheChain(misses, [capacity]).layers;

      expect(shared).toEqual({ lookups: 240, hits: 220, misses: 20, hitRatio: 220 / 240 });
    });

    it('a hit ratio belongs to the trace, and a second cache lives on what the first one is too small for', async ({
      annotate,
    }) => {
      const requests = 5_000;
      const run = (edgeCapacity: number) =>
        Array.from({ length: QUERIES_PER_SHIPMENT }, (_, index) => {
          const trace = shortTrace({ burstLength: index + 1, requests });
          return layersOf(runCacheChain(trace, [edgeCapacity, capacity]));
        });
      const [equal, small] = [run(capacity), run(T8_OPEN_BURSTS)];

      const shares = (runs: typeof equal, layer: 'edge' | 'application') =>
        runs.map((layers, index) => [index + 1, layers[layer].hitRatio] as const);
      const reaching = (runs: typeof equal) =>
        [1, 5, 10].map((length) => runs[length - 1]?.application.lookups).join(', ');
      await attachFigure(annotate, {
        title: 'A hit ratio belongs to the trace, and the second cache gets the leftovers',
        facts: [
          `Of ${requests} requests at bursts of 1, 5 and 10 the application gets ${reaching(equal)}.`,
          `Behind an edge with ${T8_OPEN_BURSTS} keys instead of ${capacity} it gets ${reaching(small)}.`,
          'The cache behind an edge of its own size hits next to nothing at any burst.',
        ],
        option: () =>
          lines({
            x: { name: 'burst length (queries of ten)' },
            y: { name: 'hit ratio' },
            series: [
              { name: 'edge, 1000 keys', points: shares(equal, 'edge') },
              { name: 'cache behind it', points: shares(equal, 'application') },
              { name: 'edge, 100 keys', points: shares(small, 'edge') },
              { name: 'cache behind that one', points: shares(small, 'application') },
            ],
          }),
      });
      const ratios = shares(equal, 'edge').map(([, ratio]) => ratio);
      expect(ratios).toEqual([...ratios].sort((a, b) => a - b));
      expect(Math.max(...shares(equal, 'application').map(([, ratio]) => ratio))).toBeLessThan(
        0.01,
      );
      expect(small.at(-1)?.application.hitRatio).toBeGreaterThan(0.25);
    });

    it('without requests all counts are 0, and so is the hit ratio', () => {
      expect(runCacheChain([], [2, 3])).toEqual({
        requests: 0,
        layers: Array(2).fill({ lookups: 0, hits: 0, misses: 0, hitRatio: 0 }),
        storeRequests: 0,
      });
    });

    it('without caches every request reaches the store', () => {
      expect(runCacheChain(['a', 'a', 'b'], [])).toEqual({
        requests: 3,
        layers: [],
        storeRequests: 3,
      });
    });

    it('a trace is read once', () => {
      let readings = 0;
      const once: Iterable<string> = {
        *[Symbol.iterator]() {
          readings += 1;
          yield* ['a', 'b', 'a'];
        },
      };
      expect(runCacheChain(once, [1, 2, 3]).layers.map(({ hits }) => hits)).toEqual([0, 1, 0]);
      expect(readings).toBe(1);
    });

    it('for every trace, what one cache misses is what the next one is asked for', () =>
      expectLaw(
        {
          keys: fc.array(fc.constantFrom(...'abcdefghij'), { maxLength: 80 }),
          sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
        },
        ({ keys, sizes }) => {
          const { requests, layers, storeRequests } = runCacheChain(keys, sizes);
          const asked = [...layers.map(({ lookups }) => lookups), storeRequests];
          expect(asked[0]).toBe(keys.length);
          expect(requests).toBe(keys.length);
          layers.forEach(({ lookups, hits, misses }, index) => {
            expect(hits + misses).toBe(lookups);
            expect(asked[index + 1]).toBe(misses);
          });
          // Whatever stands in front, a cache that forgets nothing makes each key reach the store once.
          if (sizes.some((size) => size >= 10)) expect(storeRequests).toBe(new Set(keys).size);
        },
      ));

    it('a capacity that is no whole number of 1 or more is refused', () => {
      for (const bad of [0, 2.5, Number.NaN]) {
        expectRefusal(() => runCacheChain(['a'], [1, bad]), 'capacity');
      }
    });
  });

  describe('Exercise 2.5: is the second cache worth keeping', lesson.exercise('2.5'), () => {
    const rule = { minSavedShare: 0.01 };

    it('behind an edge of 100 keys it answers 0.3721 of what it gets: leftovers are no law', () => {
      const sizes = { edge: 100, application: T9_CACHE_CAPACITY };
      const verdict = judgeSecondCache(() => fullTrace(10).keys, sizes, rule);
      expect(printed(verdict)).toBe('11882 0.3721 true');
    });

    it('at a burst of 2 it saves 397 of 184815 requests, and 0.21 % is not enough', () => {
      const both = { edge: T9_CACHE_CAPACITY, application: T9_CACHE_CAPACITY };
      const verdict = judgeSecondCache(() => fullTrace(2).keys, both, rule);
      expect(printed(verdict)).toBe('397 0.0021 false');
      expect(verdict.savedShare).toBe(397 / 184_815);
    });

    for (const { burst, open = T8_OPEN_BURSTS, edge, application, expected } of [
      { burst: 5, edge: 200, application: 1_000, expected: '882 0.0678 true' },
      { burst: 2, edge: 1_000, application: 1_000, expected: '37 0.0020 false' },
      { burst: 10, edge: 100, application: 100, expected: '108 0.0345 true' },
      { burst: 10, edge: 1_000, application: 1_000, expected: '0 0.0000 false' },
      { burst: 3, open: 50, edge: 200, application: 200, expected: '0 0.0000 false' },
    ]) {
      it(`20000 requests at a burst of ${burst}, ${edge} and ${application} keys: ${expected}`, () => {
        const trace = () => shortTrace({ burstLength: burst, openBursts: open });
        expect(printed(judgeSecondCache(trace, { edge, application }, rule))).toBe(expected);
      });
    }

    it('a share that just reaches the threshold is enough', () => {
      // Five requests reach the second cache, and it has one of them.
      const trace = () => ['a', 'b', 'c', 'd', 'a'];
      const sizes = { edge: 1, application: 4 };
      const verdict = judgeSecondCache(trace, sizes, { minSavedShare: 1 / 5 });
      expect(verdict).toEqual({ savedStoreRequests: 1, savedShare: 1 / 5, keep: true });
      expect(judgeSecondCache(trace, sizes, { minSavedShare: 0.21 }).keep).toBe(false);
    });

    it('where nothing reaches it there is nothing to keep it for, at any threshold', () => {
      for (const minSavedShare of [0, 0.01, 1]) {
        const verdict = judgeSecondCache(() => [], { edge: 1, application: 1 }, { minSavedShare });
        expect(verdict).toEqual({ savedStoreRequests: 0, savedShare: 0, keep: false });
      }
    });

    it('the trace is asked for once, and may be one that can be read only once', () => {
      let calls = 0;
      const trace = () => {
        calls += 1;
        return ['a', 'b', 'a'].values();
      };
      const verdict = judgeSecondCache(trace, { edge: 1, application: 2 }, { minSavedShare: 0 });
      expect([verdict.savedStoreRequests, calls]).toEqual([1, 1]);
    });

    it('it refuses a threshold that is no share, and a capacity that is none', () => {
      const sizes = { edge: 1, application: 1 };
      for (const minSavedShare of [-0.01, 1.01, Number.NaN]) {
        expectRefusal(() => judgeSecondCache(() => [], sizes, { minSavedShare }), 'minSavedShare');
      }
      expectRefusal(() => judgeSecondCache(() => [], { ...sizes, edge: 0 }, rule), 'capacity');
      expectRefusal(
        () => judgeSecondCache(() => [], { ...sizes, application: 0 }, rule),
        'capacity',
      );
    });

    function printed(verdict: ReturnType<typeof judgeSecondCache>): string {
      return `${verdict.savedStoreRequests} ${verdict.savedShare.toFixed(4)} ${verdict.keep}`;
    }
  });

  // Predict first: the introductory course needed 1.60 Mbit/s for its answers. With an edge there are
  // two links. How much does each of them carry?
  describe('Exercise 2.6: back to the baseline', lesson.exercise('2.6'), () => {
    const baseline = { peakReads: K01.peakReads, peakWrites: K01.peakWrites };
    /** What exercises 2.3 and 2.4 measured. */
    const measured: MeasuredEdge = {
      edgeHitRatio: 179_954 / PUBLISHED_TRACE.requests,
      storeRequestShare: 20_046 / PUBLISHED_TRACE.requests,
      wireBytesAtEdge: 653,
      wireBytesAtOrigin: 636,
    };
    const burst5 = {
      ...measured,
      edgeHitRatio: 79_956 / PUBLISHED_TRACE.requests,
      storeRequestShare: 120_044 / PUBLISHED_TRACE.requests,
    };
    const burst2 = {
      ...measured,
      edgeHitRatio: 15_185 / PUBLISHED_TRACE.requests,
      storeRequestShare: 184_418 / PUBLISHED_TRACE.requests,
    };

    it('with an edge the application gets 41.76 reads a second, and the store what it got before', () => {
      const back = edgeBackToBaseline(measured, baseline);

      expect(back.readsReachingApplication).toBePublished('02.back.readsReachingApplication.after');
      expect(back.readsBehindCache).toBePublished('02.back.readsBehindCache.after');
      expect(back.requestsReachingStore).toBePublished('02.back.requestsReachingStore.after');
    });

    it('the user side carries 2.18 Mbit/s and the origin link 0.21', () => {
      const back = edgeBackToBaseline(measured, baseline);

      expect(back.readEgressMbit).toBePublished('02.back.readEgress.after');
      expect(back.originEgressMbit).toBePublished('02.back.originEgress.after');
      expect(back.originToUserEgress).toBePublished('02.back.originToUserEgress');
    });

    it('an edge that never hits, and bodies alone, give back the introductory course', () => {
      const before = edgeBackToBaseline(
        {
          edgeHitRatio: 0,
          storeRequestShare: 1 - K01.hitRatio,
          wireBytesAtEdge: bodyBytes,
          wireBytesAtOrigin: bodyBytes,
        },
        baseline,
      );

      expect(before.readsReachingApplication).toBePublished(
        '02.back.readsReachingApplication.before',
      );
      expect(before.readsBehindCache).toBePublished('02.back.readsBehindCache.before');
      expect(before.requestsReachingStore).toBePublished('02.back.requestsReachingStore.before');
      expect(before.readEgressMbit).toBePublished('02.back.readEgress.before');
      expect(before.originEgressMbit).toBePublished('02.back.originEgress.before');
      expect(before.originToUserEgress).toBe(1);
    });

    it.for([
      ['a burst of 5', burst5, '250.09 347.31 1.27 0.5846'],
      ['a burst of 2', burst2, '385.03 481.43 1.96 0.9000'],
    ] as const)('%s leaves more to the origin', ([, input, expected]) => {
      const back = edgeBackToBaseline(input, baseline);
      const printed = [
        back.readsReachingApplication.toFixed(2),
        back.requestsReachingStore.toFixed(2),
        back.originEgressMbit.toFixed(2),
        back.originToUserEgress.toFixed(4),
      ];
      expect(printed.join(' ')).toBe(expected);
      expect(back.readEgressMbit.toFixed(2)).toBe('2.18'); // users ask for the same
    });

    it('charging misses their own 651 bytes changes 2.1767 into 2.1760, and nothing in print', () => {
      const back = (wireBytesAtEdge: number) =>
        edgeBackToBaseline({ ...measured, wireBytesAtEdge }, baseline).readEgressMbit;
      const { edgeHitRatio } = measured;

      const exact = edgeHitRatio * back(653) + (1 - edgeHitRatio) * back(651);

      expect(back(653).toFixed(4)).toBe('2.1767');
      expect(exact.toFixed(4)).toBe('2.1760');
      expect(exact).toBePublished('02.back.readEgress.after');
    });

    it('1.360 is no bound: Connection: close makes it 1.302', () => {
      const ratio = (bytes: number) =>
        edgeBackToBaseline({ ...measured, wireBytesAtEdge: bytes }, baseline).readEgressMbit /
        edgeBackToBaseline({ ...measured, wireBytesAtEdge: bodyBytes }, baseline).readEgressMbit;
      expect(ratio(653)).toBePublished('02.back.wireToBody');
      expect(ratio(145 + bodyBytes).toFixed(3)).toBe('1.302');
    });

    it('for every edge the links carry what their side of the misses makes them carry', () =>
      expectLaw(
        {
          edgeHitRatio: fc.double({ min: 0, max: 1, noNaN: true }),
          wireBytesAtEdge: fc.integer({ min: 1, max: 5_000 }),
          wireBytesAtOrigin: fc.integer({ min: 1, max: 5_000 }),
          peakReads: fc.integer({ min: 1, max: 10_000 }),
        },
        ({ peakReads, ...links }) => {
          const input = { storeRequestShare: 0.5, ...links };
          const back = edgeBackToBaseline(input, { peakReads, peakWrites: 7 });
          const hits = peakReads - back.readsReachingApplication;
          expect(hits).toBeCloseTo(peakReads * links.edgeHitRatio, 6);
          expect(back.originEgressMbit * 1e6).toBeCloseTo(
            back.readsReachingApplication * links.wireBytesAtOrigin * 8,
            3,
          );
          expect(back.originToUserEgress * back.readEgressMbit).toBeCloseTo(
            back.originEgressMbit,
            6,
          );
          expect(back.requestsReachingStore).toBeCloseTo(back.readsBehindCache + 7, 9);
        },
      ));

    it('without reads there is no egress, and the share of the misses is still one', () => {
      const back = edgeBackToBaseline(measured, { peakReads: 0, peakWrites: 5 });
      expect([back.readEgressMbit, back.requestsReachingStore]).toEqual([0, 5]);
      expect(back.originToUserEgress.toFixed(4)).toBe('0.0976');
      expect(
        edgeBackToBaseline({ ...measured, edgeHitRatio: 1 }, baseline).originToUserEgress,
      ).toBe(0);
    });

    for (const { field, bad } of [
      { field: 'edgeHitRatio', bad: [-0.1, 1.1, Number.NaN] },
      { field: 'storeRequestShare', bad: [-0.1, 1.1, Number.NaN] },
      { field: 'wireBytesAtEdge', bad: [0, -1, Number.NaN, Infinity] },
      { field: 'wireBytesAtOrigin', bad: [0, -1, Number.NaN, Infinity] },
      { field: 'peakReads', bad: [-1, Number.NaN, Infinity] },
      { field: 'peakWrites', bad: [-1, Number.NaN, Infinity] },
    ]) {
      it(`${field}: what makes no sense is refused`, () => {
        for (const value of bad) {
          const input = { ...measured, ...baseline, [field]: value };
          expectRefusal(() => edgeBackToBaseline(input, input), field);
        }
      });
    }

    describe('which link becomes the bottleneck', () => {
      /** A cable to the users, and a thin line to the origin. Mbit/s. */
      const links = { userLink: 10, originLink: 2.5 };
      const traffic = (input: MeasuredEdge) => edgeBackToBaseline(input, baseline);
      const withoutEdge = { ...measured, edgeHitRatio: 0, wireBytesAtEdge: 636 };

      it('without an edge the origin link is too full, and with one no link is', () => {
        expect(bottleneck(traffic(withoutEdge), links, 0.5)).toBe('origin link');
        expect(bottleneck(traffic(measured), links, 0.5)).toBe('none');
      });

      it('the same edge does not help when only two of ten queries come together', () => {
        expect(bottleneck(traffic(burst5), links, 0.5)).toBe('origin link'); // 0.509
        expect(bottleneck(traffic(burst2), links, 0.5)).toBe('origin link'); // 0.784
      });

      it('where the edge takes the load off the origin link, the user link fills first', () => {
        const narrow = { userLink: 4, originLink: 2.5 };
        expect(bottleneck(traffic(measured), narrow, 0.5)).toBe('user link'); // 0.544, 0.085
        expect(bottleneck(traffic(burst2), narrow, 0.5)).toBe('origin link'); // 0.544, 0.784
      });

      it('what counts is the utilisation, and not how much a link carries', () => {
        const carried = { readEgressMbit: 8, originEgressMbit: 1 };
        expect(bottleneck(carried, { userLink: 10, originLink: 1 }, 0.5)).toBe('origin link');
        expect(bottleneck(carried, { userLink: 8, originLink: 10 }, 0.5)).toBe('user link');
      });

      it('a link at the limit is not too full, and two that are equally full are both named', () => {
        const carried = { readEgressMbit: 4, originEgressMbit: 2 };
        const twice = { userLink: 8, originLink: 4 };
        expect(bottleneck(carried, twice, 0.5)).toBe('none');
        expect(bottleneck(carried, twice, 0.49)).toBe('both');
        const nothing = { readEgressMbit: 0, originEgressMbit: 0 };
        expect(bottleneck(nothing, twice, 0.01)).toBe('none');
        expect(bottleneck(carried, { userLink: 4, originLink: 2 }, 1)).toBe('none');
      });

      for (const { field, bad } of [
        { field: 'readEgressMbit', bad: [-1, Number.NaN, Infinity] },
        { field: 'originEgressMbit', bad: [-1, Number.NaN, Infinity] },
        { field: 'userLink', bad: [0, -1, Number.NaN, Infinity] },
        { field: 'originLink', bad: [0, -1, Number.NaN, Infinity] },
        { field: 'maxUtilisation', bad: [0, -0.5, 1.01, Number.NaN] },
      ]) {
        it(`${field}: what makes no sense is refused by the decision`, () => {
          for (const value of bad) {
            const input = { ...traffic(measured), ...links, maxUtilisation: 0.5, [field]: value };
            expectRefusal(() => bottleneck(input, input, input.maxUtilisation), field);
          }
        });
      }
    });
  });

  // Predict first: five users ask for the same number in the same moment, and the edge has not got
  // it. How many requests does the origin see?
  describe('Exercise 2.7: coalescing and age', lesson.exercise('2.7'), () => {
    describe('coalescing', () => {
      const coalesceMisses = true;
      const waitFor = (edge: { port: number }, istek: number) =>
        eventually(
          () => countersOf(edge),
          (counters) => counters.startsWith(`{"istek":${istek},`),
        );
      /** Holds every answer back until the gate is opened. */
      const heldBack = (held: Promise<void>, answer: RequestListener): RequestListener => {
        return (request, response) => void held.then(() => answer(request, response));
      };

      it('five requests for one absent number become one, and all five are told iska', async () => {
        const held = gate();
        await using origin = await listen(createOrigin({ ...capacities, bodyBytes }));
        using upstream = openClient(origin.port);
        // Stands between edge and origin, and lets an answer go when all five have arrived.
        const forward = async (target: string, response: ServerResponse) => {
          const answer = await upstream.send(target);
          response.writeHead(answer.status, sized).end(answer.body);
        };
        await using forwarder = await startHttpServer(
          heldBack(held.opened, ({ url = '' }, response) => void forward(url, response)),
        );
        await using edge = await startEdge(forwarder.port, { coalesceMisses });

        const answers = askAtOnce(edge.port, 5);
        await waitFor(edge, 5);
        held.open();

        expect(statesOf(await answers)).toBe('iska iska iska iska iska');
        expect((await answers).map(wire)).toEqual(Array(5).fill(onTheWire(171)));
        expect(await countersOf(edge)).toBe(
          '{"istek":5,"isabet":0,"iska":5,"kokenIstek":1,"kokenBayt":480}',
        );
        expect(await countersOf(origin)).toBe('{"istek":1,"isabet":0,"depo":1}');
      });

      it.for([
        ['before its answer', ''],
        ['in its body', `HTTP/1.1 200 OK\r\nContent-Length: ${bodyBytes}\r\n\r\nxx`],
      ] as const)(
        'a fetch that fails %s fails all five, and a later request tries again',
        async ([, start]) => {
          const held = gate();
          let fails = true;
          await using origin = await startGivenOrigin(
            heldBack(held.opened, (request, response) => {
              if (fails) request.socket.end(start);
              else trackingAnswer(request, response);
            }),
          );
          await using edge = await startEdge(origin.port, { coalesceMisses });

          const answers = askAtOnce(edge.port, 5);
          await waitFor(edge, 5);
          held.open();

          expect((await answers).map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
          expect(origin.asked).toHaveLength(1);
          fails = false;
          expect(statesOf(await askInTurn(edge.port, ['a', 'a']))).toBe('iska isabet');
          expect(await countersOf(edge)).toBe(
            '{"istek":7,"isabet":1,"iska":6,"kokenIstek":2,"kokenBayt":480}',
          );
        },
      );

      it('another status is shared too, and not stored', async () => {
        const held = gate();
        await using origin = await startGivenOrigin(
          heldBack(held.opened, (_request, response) => void response.writeHead(503).end(body)),
        );
        await using edge = await startEdge(origin.port, { coalesceMisses });

        const answers = askAtOnce(edge.port, 5);
        await waitFor(edge, 5);
        held.open();

        expect((await answers).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
        expect(origin.asked).toHaveLength(1);
        await ask(edge.port, '/takip/a');
        expect(origin.asked).toHaveLength(2);
      });

      it.for(['private', 'no-store', 'no-cache'])(
        'an answer with %s belongs to one client: each of the others fetches its own',
        async (directive) => {
          const held = gate();
          let answered = 0;
          await using origin = await startGivenOrigin(
            heldBack(held.opened, (_request, response) => {
              answered += 1;
              response.setHeader('cache-control', directive).end(`for client ${answered}`);
            }),
          );
          await using edge = await startEdge(origin.port, { coalesceMisses });

          const answers = askAtOnce(edge.port, 5);
          await waitFor(edge, 5);
          expect(origin.asked).toHaveLength(1);
          held.open();

          const bodies = (await answers).map((answer) => answer.body.toString()).sort();
          expect(bodies).toEqual([1, 2, 3, 4, 5].map((client) => `for client ${client}`));
          expect(await countersOf(edge)).toBe(counted({ istek: 5, isabet: 0, kokenBayt: 5 * 12 }));
        },
      );

      it('clients that go away, the first one too, do not cancel the fetch for the others', async () => {
        const held = gate();
        const arrived = gate();
        await using origin = await startGivenOrigin((_request, response) => {
          response.writeHead(200, sized).write(body.slice(0, 100));
          arrived.open();
          void held.opened.then(() => response.end(body.slice(100)));
        });
        await using edge = await startEdge(origin.port, { coalesceMisses });

        await leaveAfter(edge, () => arrived.opened);
        const stays = ask(edge.port, '/takip/a');
        await waitFor(edge, 2);
        await leaveAfter(edge, () => waitFor(edge, 3));
        held.open();

        expect(wire(await stays)).toEqual(onTheWire(171));
        expect(statesOf(await askInTurn(edge.port, ['a']))).toBe('isabet');
        expect(origin.asked).toHaveLength(1);
      });

      it('HEAD and GET wait for the same fetch', async () => {
        const held = gate();
        await using origin = await startGivenOrigin(heldBack(held.opened, trackingAnswer));
        await using edge = await startEdge(origin.port, { coalesceMisses });

        const head = ask(edge.port, '/takip/a', { method: 'HEAD' });
        await waitFor(edge, 1);
        const whole = ask(edge.port, '/takip/a');
        await waitFor(edge, 2);
        held.open();

        expect([wire(await head), wire(await whole)]).toEqual([onTheWire(171, 0), onTheWire(171)]);
        expect(origin.asked.map(({ method }) => method)).toEqual(['GET']);
      });

      it('nobody waits for the fetch of another number', async () => {
        const held = gate();
        await using origin = await startGivenOrigin((request, response) => {
          if (request.url === '/takip/b') trackingAnswer(request, response);
          else void held.opened.then(() => trackingAnswer(request, response));
        });
        await using edge = await startEdge(origin.port, { coalesceMisses });

        const slow = ask(edge.port, '/takip/a');
        await waitFor(edge, 1);
        const other = await within(ask(edge.port, '/takip/b'), 'the answer for another number');
        held.open();

        expect([other.status, (await slow).status]).toEqual([200, 200]);
      });

      it('a fetch that is done is not remembered: an evicted number is fetched anew', async () => {
        await using origin = await startGivenOrigin();
        await using edge = await startEdge(origin.port, { coalesceMisses, cacheCapacity: 1 });
        expect(statesOf(await askInTurn(edge.port, ['a', 'b', 'a', 'a']))).toBe(
          'iska iska iska isabet',
        );
        expect(origin.asked).toHaveLength(3);
      });

      it('what was stale on arrival is for one client, too', async () => {
        const held = gate();
        await using origin = await startGivenOrigin(
          heldBack(held.opened, withCacheControl(['max-age=0'])),
        );
        await using edge = await startEdge(origin.port, {
          coalesceMisses,
          clock: new ManualClock(),
        });

        const answers = askAtOnce(edge.port, 3);
        await waitFor(edge, 3);
        held.open();
        await answers;

        expect(origin.asked).toHaveLength(3);
      });
    });

    describe('age', () => {
      /** An edge with a clock, in front of an origin whose answers have these fields. */
      async function startAged(fields: Record<string, string> = {}) {
        const clock = new ManualClock();
        const origin = await startGivenOrigin((request, response) => {
          for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
          trackingAnswer(request, response);
        });
        const edge = await startEdge(origin.port, { clock });
        return {
          clock,
          origin,
          edge,
          async ask(seconds: number): Promise<string> {
            await clock.advance(seconds * 1_000);
            const { headers } = await ask(edge.port, '/takip/a');
            return headers.age === undefined
              ? `${headers['x-kenar']}`
              : `${headers['x-kenar']} ${headers.age}`;
          },
          async [Symbol.asyncDispose]() {
            await edge.close();
            await origin.close();
          },
        };
      }

      it('every answer from the store says its age, in 8 bytes, and a miss says none', async () => {
        await using aged = await startAged();
        const answers = await askInTurn(aged.edge.port, ['a', 'a']);
        expect(answers.map(wire)).toEqual([onTheWire(171), onTheWire(173 + 'age: 0\r\n'.length)]);
        expect(answers[1]?.headers).toMatchObject({ age: '0', 'x-kenar': 'isabet' });
      });

      it('the age is in whole seconds since the answer came', async () => {
        await using aged = await startAged();
        await aged.clock.advance(700);
        expect(await aged.ask(0)).toBe('iska');
        expect(await aged.ask(0.999)).toBe('isabet 0');
        expect(await aged.ask(0.001)).toBe('isabet 1');
        expect(await aged.ask(59.9)).toBe('isabet 60');
        const head = await ask(aged.edge.port, '/takip/a', { method: 'HEAD' });
        expect(head.headers.age).toBe('60');
      });

      it('what the answer had behind it when it came is added, and passed on with a miss', async () => {
        await using aged = await startAged({ age: '40' });
        expect(await aged.ask(0)).toBe('iska 40');
        expect(await aged.ask(2.5)).toBe('isabet 42');
      });

      it.for(['soon', '-1', '1.5', ''])('an age of %j is none', async (age) => {
        await using aged = await startAged({ age });
        expect(await aged.ask(0)).toBe('iska');
        expect(await aged.ask(3)).toBe('isabet 3');
      });

      it('after max-age an answer is not found any more, and the next one is fresh again', async () => {
        await using aged = await startAged({ 'cache-control': 'max-age=60' });
        expect(await aged.ask(0)).toBe('iska');
        expect(await aged.ask(59.999)).toBe('isabet 59');
        expect(await aged.ask(0.001)).toBe('iska');
        expect(await aged.ask(59)).toBe('isabet 59');
        expect(await countersOf(aged.edge)).toBe(counted({ istek: 4, isabet: 2, kokenBayt: 960 }));
      });

      for (const { cacheControl, seconds } of [
        { cacheControl: 'max-age=600, s-maxage=10', seconds: 10 },
        { cacheControl: 's-maxage=600, max-age=10', seconds: 600 },
        { cacheControl: 'S-MaxAge="30"', seconds: 30 },
        { cacheControl: 'max-age=20, max-age=50', seconds: 20 },
        { cacheControl: 'note="max-age=5", max-age=40', seconds: 40 },
      ]) {
        it(`${cacheControl} keeps an answer for ${seconds} seconds`, async () => {
          await using aged = await startAged({ 'cache-control': cacheControl });
          expect(await aged.ask(0)).toBe('iska');
          expect(await aged.ask(seconds - 1)).toBe(`isabet ${seconds - 1}`);
          expect(await aged.ask(1)).toBe('iska');
        });
      }

      it('time that an answer has spent elsewhere counts: max-age=60 at the age of 50 leaves 10', async () => {
        await using aged = await startAged({ 'cache-control': 'max-age=60', age: '50' });
        expect(await aged.ask(0)).toBe('iska 50');
        expect(await aged.ask(9)).toBe('isabet 59');
        expect(await aged.ask(1)).toBe('iska 50');
      });

      for (const cacheControl of [
        'max-age=0',
        's-maxage=0, max-age=60',
        'max-age=soon',
        'max-age=-1',
        'max-age',
        'max-age=40',
      ]) {
        it(`${cacheControl} at the age of 40 is stale on arrival: passed on, not stored`, async () => {
          await using aged = await startAged({ 'cache-control': cacheControl, age: '40' });
          expect(await aged.ask(0)).toBe('iska 40');
          expect(await aged.ask(0)).toBe('iska 40');
        });
      }

      it('what is stale on arrival does not push out what is fresh', async () => {
        await using origin = await startGivenOrigin((request, response) => {
          const answer =
            request.url === '/takip/b' ? withCacheControl(['max-age=0']) : trackingAnswer;
          answer(request, response);
        });
        const clock = new ManualClock();
        await using edge = await startEdge(origin.port, { cacheCapacity: 1, clock });
        expect(statesOf(await askInTurn(edge.port, ['a', 'b', 'a']))).toBe('iska iska isabet');
      });

      it('without such a directive an answer stays, however old it gets', async () => {
        await using aged = await startAged({ 'cache-control': 'public' });
        expect(await aged.ask(0)).toBe('iska');
        expect(await aged.ask(86_400)).toBe('isabet 86400');
        expect(await aged.ask(5e9)).toBe(`isabet ${2 ** 31}`);
      });

      it('when the fetch of a stale answer fails, it is a 502 and not the old one', async () => {
        await using aged = await startAged({ 'cache-control': 'max-age=60' });
        await aged.ask(0);
        await aged.origin.close();
        await aged.clock.advance(60_000);
        expect(await failedAnswer(aged.edge.port)).toEqual([502, 'iska', '']);
      });

      it('without a clock max-age ends nothing, and no age is sent', async () => {
        await using origin = await startGivenOrigin((request, response) => {
          response.setHeader('age', '40');
          withCacheControl(['max-age=0'])(request, response);
        });
        await using edge = await startEdge(origin.port);
        const answers = await askInTurn(edge.port, ['a', 'a']);
        expect(statesOf(answers)).toBe('iska isabet');
        for (const { headers } of answers) expect(headers).not.toHaveProperty('age');
      });
    });
  });
});

/** The edge of the exercise, listening. */
function startEdge(originPort: number, options: Partial<EdgeOptions> = {}): Promise<HttpServer> {
  return listen(createEdge({ originPort, ...capacities, ...options }));
}

/** The counters of an edge at which every miss was a request to the origin. */
function counted(counts: { istek: number; isabet: number; kokenBayt: number }): string {
  const { istek, isabet, kokenBayt } = counts;
  const iska = istek - isabet;
  return JSON.stringify({ istek, isabet, iska, kokenIstek: iska, kokenBayt });
}

/** Status, state and body of an answer that may have no body at all. */
async function failedAnswer(port: number, number = 'a'): Promise<unknown[]> {
  using client = openClient(port);
  const answer = await client.send(`/takip/${number}`);
  return [answer.status, answer.headers['x-kenar'], answer.body];
}

function askAtOnce(port: number, count: number): Promise<WireAnswer[]> {
  return Promise.all(Array.from({ length: count }, () => ask(port, '/takip/a')));
}

/** A client that asks, waits for something else than the answer, and goes; the server has noticed. */
async function leaveAfter(edge: HttpServer, event: () => Promise<unknown>): Promise<void> {
  const accepted = once(edge.server, 'connection');
  using client = await openRawConnection(edge.port);
  const [socket] = await accepted;
  await client.write('GET /takip/a HTTP/1.1\r\nHost: a\r\n\r\n');
  await within(event(), 'the request to arrive');
  const gone = once(socket, 'close');
  client.destroy();
  await gone;
}

/** Answers every connection's first bytes with these pieces, whatever they ask for. */
function startScriptedServer(pieces: readonly string[], then?: 'end'): Promise<TcpServer> {
  const answer = async (socket: Socket) => {
    socket.setNoDelay(true); // each piece is a packet of its own
    for (const piece of pieces) {
      if (piece) socket.write(piece, 'latin1');
      await nextTurn();
    }
    if (then === 'end') socket.end();
  };
  return startTcpServer((socket) => void socket.once('data', () => void answer(socket)));
}

function withCacheControl(lines: readonly string[]): RequestListener {
  return (request, response) => {
    response.setHeader('cache-control', lines);
    trackingAnswer(request, response);
  };
}

function openConnections(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}

/** What a promise rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TodoError) throw error;
    return error as NodeJS.ErrnoException;
  }
  return expect.fail('the promise must reject, but it resolved');
}
