// What a program between client and server owes to both, written once: lessons 05, 07 and 09 run
// these extras against their own balancer or proxy. A lesson hands in a `ProxyKind`, and its spec
// turns each extra into a test:
//
//   for (const { title, timeoutMs, run } of proxyExtras('X1', 'X2'))
//     it(title, { timeout: timeoutMs }, () => run(kind));
//
//   lesson 05  X1 to X11 and X16; X12, X13 and X15 need health checks or a status page and stand in
//              its spec
//   lesson 07  X1 to X11 and X16; X12 (empty write pool) and X14 (Forwarded) are its own
//   lesson 09  X1 to X11 and X16
import { once } from 'node:events';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request as startRequest,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';
import { type Answer, openClient } from './client.ts';
import {
  type CloseOptions,
  type HttpServer,
  type RunningServer,
  startHttpServer,
} from './http-server.ts';
import { openRawConnection, rawExchange } from './raw.ts';
import { startRefusing } from './refusing.ts';
import type { Replica } from './replica.ts';
import { startTcpServer, type TcpServer } from './tcp-server.ts';
import { eventually, gate, PATIENCE_MS, within } from './waiting.ts';
import { ALL_ARRIVED, MOST_IN_FLIGHT_BYTES, readOffered, watchedSender } from './watched-sender.ts';

/** What a proxy counts. A failed attempt or an aborted request moves one of the first four. */
export interface ProxyCounters {
  /** Attempts that ended without response headers. */
  unreachable: number;
  /** Requests whose client went away before its response was complete. */
  clientAborted: number;
  /** Attempts that broke off after the response headers. */
  upstreamReset: number;
  /** Attempts that had no response headers in time. */
  upstreamTimeout: number;
  /** Attempts to reach a replica on behalf of a client, failed ones included. */
  attempts: number;
}

/** A running proxy. Its clients' requests go to its replicas in turn, from the first on. */
export interface ProxyUnderTest extends RunningServer {
  /** A counter that the program doesn't have yet is left out or `undefined`, and reads as 0. */
  counters(): { [Name in keyof ProxyCounters]?: number | undefined };
  /** Names of the replicas that may be chosen, where the program keeps such a list. */
  up?(): string[];
}

/** What an extra asks of a proxy beyond its defaults. */
export interface ProxyOptions {
  retry?: boolean;
  /** Milliseconds from the start of an attempt to its response headers. */
  headerTimeoutMs?: number;
}

/** How a lesson starts its program for the extras. */
export interface ProxyKind {
  /** Without a health check, and with any number of connections to a replica. */
  start(replicas: readonly Replica[], options?: ProxyOptions): Promise<ProxyUnderTest>;
  /** The 502 of a replica that could not be reached. */
  readonly badGateway: { readonly body: string; readonly headers?: Record<string, string> };
}

/**
 * Makes a program that a student has started safe to dispose: disposing it closes it unless that
 * has been done, and fails with a sentence when `close()` never comes to an end.
 */
export function disposable<T extends { close(options?: CloseOptions): Promise<void> }>(
  program: T,
): T & AsyncDisposable {
  let closing: Promise<void> | undefined;
  let closed = false;
  const close = program.close.bind(program);
  return Object.assign(program, {
    close(options?: CloseOptions) {
      closing = close(options);
      closing.then(
        () => {
          closed = true;
        },
        () => {},
      );
      return closing;
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      // One that is draining, and has failed its test, may never get to the end of that.
      await within(closing ? close().catch(() => {}) : close(), 'close() to resolve');
    },
  });
}

/** One graded extra: one test. */
export interface ProxyExtra {
  /** A claim, with the extra's number in front. */
  readonly title: string;
  /** Milliseconds that the test may take. */
  readonly timeoutMs: number;
  run(kind: ProxyKind): Promise<void>;
}

/** The extras with these numbers, in the order asked for. */
export function proxyExtras(...ids: ProxyExtraId[]): ProxyExtra[] {
  return ids.map((id) => {
    const [title, run, timeoutMs = 5_000] = EXTRAS[id];
    return { title: `${id}: ${title}`, run, timeoutMs };
  });
}

export type ProxyExtraId = keyof typeof EXTRAS;

const EXTRAS = {
  X1: ['fields of the hop from the client stay behind, all others arrive', requestFields],
  X2: ['fields of the hop from the replica stay behind, all others arrive', responseFields],
  X3: ['a body that came in chunks is framed again, and is no second request', framedAgain],
  X4: ['both bodies pass piece by piece, without waiting for the next one', streams],
  X5: ['whoever does not read slows down whoever sends', backPressure, 20_000],
  X6: ['a replica learns at once that its client has gone', clientLeaves],
  X7: ['a replica that breaks off before it answers is a 502', breaksBeforeHeaders],
  X8: ['a response that breaks off never looks complete', breaksAfterHeaders],
  X9: ['a replica that does not answer in time is a 504, and is left', answersTooLate],
  X10: ['a target that no URL can be made of is a 400, and moves nothing', malformedTargets],
  X11: ['a request is repeated only where that is safe', retriesWhereSafe, 40_000],
  X16: ['a drained proxy finishes what is running and takes nothing new', drains],
} as const satisfies Record<
  string,
  readonly [title: string, run: (kind: ProxyKind) => Promise<void>, timeoutMs?: number]
>;

// Header hygiene

async function requestFields(kind: ProxyKind): Promise<void> {
  const seen: IncomingHttpHeaders[] = [];
  await using replica = await startNamed('k1', (request, response) => {
    seen.push(request.headers);
    response.end();
  });
  await using proxy = await kind.start([replica]);

  await get(proxy, '/takip?no=G0', {
    host: 'kargo.example',
    connection: 'keep-alive , X-HOP',
    'x-hop': '1',
    'keep-alive': 'timeout=7',
    'proxy-connection': 'keep-alive',
    te: 'trailers',
    upgrade: 'h2c',
    'x-e2e': '2',
  });

  const [fields = {}] = seen;
  expect(seen, 'requests at the replica').toHaveLength(1);
  expect(fields['x-e2e'], 'x-e2e is for the replica').toBe('2');
  expect(fields.host, 'host is passed on unchanged').toBe('kargo.example');
  for (const name of ['x-hop', 'keep-alive', 'proxy-connection', 'te', 'upgrade']) {
    expect(fields[name], `${name} is for the proxy and must not reach the replica`).toBeUndefined();
  }
  expect(
    (fields.connection ?? '').toLowerCase(),
    "a connection field at the replica is the proxy's own",
  ).not.toContain('x-hop');
}

async function responseFields(kind: ProxyKind): Promise<void> {
  await using replica = await startNamed('k1', (_request, response) => {
    response.setHeader('connection', 'X-Internal');
    response.setHeader('x-internal', 'secret');
    response.setHeader('keep-alive', 'timeout=99');
    response.setHeader('upgrade', 'h2c');
    response.end();
  });
  await using proxy = await kind.start([replica]);

  const { headers } = await get(proxy, '/takip?no=G0');

  expect(headers['x-kopya'], 'x-kopya is for the client').toBe('k1');
  for (const name of ['x-internal', 'upgrade']) {
    expect(headers[name], `${name} is for the proxy and must not reach the client`).toBeUndefined();
  }
  expect(headers['keep-alive'], "keep-alive, if present, is the proxy's own").not.toBe(
    'timeout=99',
  );
}

async function framedAgain(kind: ProxyKind): Promise<void> {
  const body = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  const frames = {
    'transfer-encoding: chunked': {
      fields: 'Connection: close\r\nTransfer-Encoding: chunked\r\n',
      bytes: `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    },
    'content-length, named by Connection': {
      fields: `Connection: close, Content-Length\r\nContent-Length: ${body.length}\r\n`,
      bytes: body,
    },
  };
  for (const [framing, { fields, bytes }] of Object.entries(frames)) {
    const requests: string[] = [];
    const another = gate();
    await using replica = await startNamed('k1', async (request, response) => {
      const received = await textOf(request);
      requests.push(`${request.method} ${request.url} "${received}"`);
      if (requests.length > 1) another.open();
      // A body that has not come may be on its way as a second request: this one waits for it.
      if (!received) await within(another.opened, 'the body').catch(() => {});
      response.end();
    });
    await using proxy = await kind.start([replica]);

    const { text } = await within(
      rawExchange(proxy.port, `DELETE /a HTTP/1.1\r\nHost: x\r\n${fields}\r\n${bytes}`),
      'the answer to the DELETE',
      2 * PATIENCE_MS,
    );

    expect(requests, `requests that the replica sees (${framing})`).toEqual([
      `DELETE /a "${body}"`,
    ]);
    expect(text, framing).toMatch(/^HTTP\/1\.1 200 /);
  }
}

async function malformedTargets(kind: ProxyKind): Promise<void> {
  await using first = await startNamed('k1', (_request, response) => response.end());
  await using second = await startNamed('k2', (_request, response) => response.end());
  await using proxy = await kind.start([first, second]);
  const ask = async (target: string) => {
    const { text } = await within(
      rawExchange(proxy.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
      `the answer to GET ${target}`,
    );
    return { status: Number(text.split(' ')[1]), replica: /^x-kopya: (\w+)/im.exec(text)?.[1] };
  };

  expect(await ask('/takip')).toEqual({ status: 200, replica: 'k1' });
  const before = proxy.counters();
  for (const target of ['//', '///', '//:80', '//[', '//%']) {
    expect(await ask(target), `GET ${target}`).toEqual({ status: 400, replica: undefined });
  }
  expect(proxy.counters(), 'a 400 moves no counter').toEqual(before);

  // The rotation has not moved either. And a target that merely looks odd is none of our business.
  const odd = ['//host', '/a//b', '/%zz', '/[', 'http://h/x', '/..'];
  for (const [index, target] of odd.entries()) {
    expect(await ask(target), `GET ${target}`).toEqual({
      status: 200,
      replica: index % 2 === 0 ? 'k2' : 'k1',
    });
  }
}

// Streams

async function streams(kind: ProxyKind): Promise<void> {
  const clientHasFirst = gate();
  const replicaHasFirst = gate();
  await using replica = await startNamed('k1', async (request, response) => {
    if (request.method === 'GET') {
      response.write('first,');
      await clientHasFirst.opened;
      response.end('second');
    } else {
      response.end(await textOf(request, replicaHasFirst.open));
    }
  });
  await using proxy = await kind.start([replica]);
  using agent = closingAgent();

  const down = startRequest({ ...to(proxy, agent), path: '/indir' }).end();
  const incoming = await responseTo(down, 'the response, of which the replica has sent one piece');
  const received = await within(
    textOf(incoming, clientHasFirst.open),
    'the second piece, which the replica sends once the client has the first',
  );
  expect(received).toBe('first,second');

  const up = startRequest({ ...to(proxy, agent), path: '/yukle', method: 'POST' });
  const response = responseTo(up, 'the answer to the upload', 2 * PATIENCE_MS);
  response.catch(() => {}); // awaited below
  up.write('first,');
  await within(replicaHasFirst.opened, 'the replica to get the first piece of the upload');
  up.end('second');
  expect(await textOf(await response)).toBe('first,second');
}

async function backPressure(kind: ProxyKind): Promise<void> {
  const sender = watchedSender();
  const reading = gate();
  await using replica = await startNamed('k1', async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200);
      await sender.offer(response);
    } else {
      await reading.opened;
      response.end(await readOffered(request));
    }
  });
  await using proxy = await kind.start([replica]);
  using agent = closingAgent();

  const incoming = await responseTo(
    startRequest({ ...to(proxy, agent), path: '/indir' }).end(),
    'the response headers',
  );
  await sender.standstill();
  expect(
    sender.acceptedBytes,
    'bytes taken from a replica whose client does not read',
  ).toBeLessThanOrEqual(MOST_IN_FLIGHT_BYTES);
  expect(await within(readOffered(incoming), 'the whole download', 8_000)).toBe(ALL_ARRIVED);

  sender.reset();
  const up = startRequest({ ...to(proxy, agent), path: '/yukle', method: 'POST' });
  const answer = responseTo(up, 'the answer to the upload', 15_000);
  answer.catch(() => {}); // awaited below
  const offered = sender.offer(up);
  await sender.standstill();
  expect(
    sender.acceptedBytes,
    'bytes taken from a client whose replica does not read',
  ).toBeLessThanOrEqual(MOST_IN_FLIGHT_BYTES);
  reading.open();
  expect(await textOf(await answer)).toBe(ALL_ARRIVED);
  await offered;
}

async function clientLeaves(kind: ProxyKind): Promise<void> {
  for (const moment of ['before the response headers', 'after the first piece of the body']) {
    const arrived = gate();
    const closed = gate<{ finished: boolean; upstreamGone: boolean }>();
    let hold = true;
    await using replica = await startNamed('k1', (request, response) => {
      if (!hold) {
        response.end('ok');
        return;
      }
      response.on('close', () =>
        closed.open({
          finished: response.writableFinished,
          upstreamGone: request.socket.destroyed,
        }),
      );
      if (moment.startsWith('after')) response.write('first');
      arrived.open();
    });
    await using proxy = await kind.start([replica]);
    using agent = closingAgent();

    const request = startRequest({ ...to(proxy, agent), path: '/takip' }).end();
    request.on('error', () => {}); // our own doing
    await within(arrived.opened, 'the request to reach the replica');
    if (moment.startsWith('after')) {
      const incoming = await responseTo(request, 'the response headers');
      await within(once(incoming, 'data'), 'the first piece of the body');
    }
    request.destroy();

    const seen = await within(closed.opened, `the replica to learn that its client left ${moment}`);
    expect(seen, moment).toEqual({ finished: false, upstreamGone: true });
    if (proxy.up) expect(proxy.up(), 'the replica has done nothing wrong').toEqual(['k1']);
    hold = false;
    expect((await get(proxy, '/takip')).status, 'the next request').toBe(200);
    await expectFailures(proxy, { clientAborted: 1 }, moment);
  }
}

// Failures

async function breaksBeforeHeaders(kind: ProxyKind): Promise<void> {
  const failures: Record<string, (socket: Socket) => void> = {
    'closes when it is connected to': (socket) => socket.end(),
    'reads the request and closes': (socket) => socket.once('data', () => socket.end()),
    'reads the request and resets': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  };
  for (const [failure, fail] of Object.entries(failures)) {
    await using broken = await startBroken('k1', fail);
    await using good = await startNamed('k2', (_request, response) => response.end());
    await using proxy = await kind.start([broken, good]);

    expectBadGateway(kind, await get(proxy, '/takip?no=G0'), `k1 ${failure}`);
    expect((await get(proxy, '/takip?no=G1')).headers['x-kopya'], 'the next request').toBe('k2');
    await expectFailures(proxy, { unreachable: 1 }, `k1 ${failure}`);
  }
}

async function breaksAfterHeaders(kind: ProxyKind): Promise<void> {
  const framings = {
    'content-length: 100': '0123456789',
    'transfer-encoding: chunked': 'a\r\n0123456789\r\n',
  };
  const failures = {
    closes: (socket: Socket) => socket.end(),
    resets: (socket: Socket) => socket.resetAndDestroy(),
  };
  for (const [framing, bytes] of Object.entries(framings)) {
    for (const [failure, fail] of Object.entries(failures)) {
      const what = `${framing}, k1 ${failure} after 10 bytes of the body`;
      const clientHasThem = gate();
      await using broken = await startBroken('k1', (socket) =>
        socket.once('data', async () => {
          socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${bytes}`);
          await clientHasThem.opened; // otherwise they may be lost on the way
          fail(socket);
        }),
      );
      await using good = await startNamed('k2', (_request, response) => response.end());
      await using proxy = await kind.start([broken, good]);
      using agent = closingAgent();

      const request = startRequest({ ...to(proxy, agent), path: '/takip' }).end();
      const incoming = await responseTo(request, `the response headers (${what})`);
      let received = 0;
      const outcome = new Promise<string>((resolve) => {
        incoming.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
        incoming.on('end', () => resolve('a clean end'));
      });
      incoming.on('data', (piece: Buffer) => {
        received += piece.length;
        if (received === 10) clientHasThem.open();
      });

      expect(
        {
          outcome: await within(outcome, `the client to be told that the rest is lost (${what})`),
          status: incoming.statusCode,
          received,
          complete: incoming.complete,
        },
        what,
      ).toEqual({ outcome: 'ECONNRESET', status: 200, received: 10, complete: false });
      expect((await get(proxy, '/takip')).headers['x-kopya'], 'the next request').toBe('k2');
      await expectFailures(proxy, { upstreamReset: 1 }, what);
    }
  }
}

async function answersTooLate(kind: ProxyKind): Promise<void> {
  const headerTimeoutMs = 400;
  const finish = gate();
  const left = gate();
  await using slow = await startNamed('k1', async (_request, response) => {
    response.write('first,');
    await finish.opened;
    response.end('second');
  });
  await using hung = await startBroken('k2', (socket) => {
    socket.resume(); // a socket that nobody reads never notices its end
    socket.on('close', () => left.open());
  });
  await using good = await startNamed('k3', (_request, response) => response.end());
  await using proxy = await kind.start([slow, hung, good], { headerTimeoutMs, retry: true });
  using agent = closingAgent();

  // This response begins in time. How long its body takes is nobody's business.
  const request = startRequest({ ...to(proxy, agent), path: '/takip' }).end();
  const incoming = await responseTo(request, 'the response headers of k1');
  const body = textOf(incoming);
  body.catch(() => {}); // awaited below

  const start = performance.now();
  const { status } = await get(proxy, '/takip');
  const tookMs = performance.now() - start;

  expect(status, 'k2 reads the request and never answers').toBe(504);
  expect(tookMs, 'ms until the 504').toBeGreaterThanOrEqual(headerTimeoutMs - 10);
  expect(tookMs, 'ms until the 504').toBeLessThan(headerTimeoutMs + 1_000);
  await within(left.opened, 'the connection to k2 to be cut');
  expect(proxy.counters().attempts, 'attempts: a time-out is not retried').toBe(2);
  finish.open();
  expect(await within(body, 'the rest of the response of k1')).toBe('first,second');
  expect((await get(proxy, '/takip')).headers['x-kopya'], 'the next request').toBe('k3');
  await expectFailures(proxy, { upstreamTimeout: 1 }, 'after one time-out');
}

// Retries

async function retriesWhereSafe(kind: ProxyKind): Promise<void> {
  // k2 refuses, so nothing has been sent: the next one may be asked, whatever the method.
  for (const method of ['GET', 'POST']) {
    await using k1 = await startNamed('k1', (request, response) => request.pipe(response));
    await using k3 = await startNamed('k3', (request, response) => request.pipe(response));
    await using k2 = await startRefusing('k2');
    await using proxy = await kind.start([k1, k2, k3], { retry: true });
    using client = openClient(proxy.port);

    const tally: Record<string, number> = {};
    for (let number = 0; number < 300; number++) {
      const ask = method === 'POST' ? { method, body: `olay ${number}` } : { method };
      const { status, headers, body } = await within(client.send('/takip', ask), 'an answer');
      const key = status === 200 ? String(headers['x-kopya']) : `status ${status}`;
      tally[key] = (tally[key] ?? 0) + 1;
      if (ask.body) expect(body, 'what k1 or k3 got as body').toBe(ask.body);
    }

    const { unreachable, attempts } = proxy.counters();
    expect({ ...tally, unreachable, attempts }, `300 ${method}, k2 refuses`).toEqual({
      k1: 150,
      k3: 150,
      unreachable: 150,
      attempts: 450, // 300 that were answered, and every second one had met k2 first
    });
  }

  // k1 has read the request and resets. It may have done what it was asked to do.
  const cases = [
    ...['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => ({ method, body: '', repeatable: true })),
    ...['POST', 'PATCH'].map((method) => ({ method, body: '', repeatable: false })),
    { method: 'PUT', body: 'abc', repeatable: false }, // streamed away, it can't be sent again
  ];
  for (const { method, body, repeatable } of cases) {
    let asked = 0;
    await using k1 = await startBroken('k1', (socket) =>
      socket.once('data', () => {
        asked += 1;
        socket.resetAndDestroy();
      }),
    );
    await using k2 = await startNamed('k2', (request, response) => {
      request.resume().on('end', () => response.end());
    });
    await using proxy = await kind.start([k1, k2], { retry: true });
    using client = openClient(proxy.port);

    const statuses: Record<string, number> = {};
    for (let number = 0; number < 10; number++) {
      const { status } = await within(
        client.send('/takip', body ? { method, body } : { method }),
        `the answer to ${method}`,
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
    }

    const { unreachable, attempts } = proxy.counters();
    expect(
      { statuses, asked, unreachable, attempts },
      `10 ${method}${body && ' with a body'}, k1 reads and resets`,
    ).toEqual(
      repeatable
        ? { statuses: { 200: 10 }, asked: 10, unreachable: 10, attempts: 20 }
        : { statuses: { 200: 5, 502: 5 }, asked: 5, unreachable: 5, attempts: 10 },
    );
  }

  // Everybody resets: each is asked once, and then it is over.
  const asked: string[] = [];
  const resets = (name: string) =>
    startBroken(name, (socket) =>
      socket.once('data', () => {
        asked.push(name);
        socket.resetAndDestroy();
      }),
    );
  await using k1 = await resets('k1');
  await using k2 = await resets('k2');
  await using proxy = await kind.start([k1, k2], { retry: true });
  expectBadGateway(kind, await get(proxy, '/takip'), 'everybody resets');
  expect(asked, 'attempts of one request, at most one for each replica').toEqual(['k1', 'k2']);
  await expectFailures(proxy, { unreachable: 2 }, 'everybody resets');
}

// Shutdown

async function drains(kind: ProxyKind): Promise<void> {
  const finish = gate();
  await using replica = await startNamed('k1', async (_request, response) => {
    response.write('first,');
    await finish.opened;
    response.end('second');
  });
  await using proxy = await kind.start([replica]);
  using agent = closingAgent({ keepAlive: true });

  const request = startRequest({ ...to(proxy, agent), path: '/takip' }).end();
  const incoming = await responseTo(request, 'the response headers');
  const firstPiece = gate();
  const body = textOf(incoming, firstPiece.open);
  body.catch(() => {}); // awaited below
  await within(firstPiece.opened, 'the first piece of the body');

  let closed = false;
  const closing = proxy.close({ drain: true });
  closing.then(
    () => {
      closed = true;
    },
    () => {},
  );

  const connected = await eventually(
    () =>
      openRawConnection(proxy.port).then(
        (connection) => {
          connection.destroy();
          return 'accepted';
        },
        (error: NodeJS.ErrnoException) => error.code,
      ),
    (outcome) => outcome !== 'accepted',
  );
  expect(connected, 'a new connection while the proxy drains').toBe('ECONNREFUSED');
  expect(closed, 'close() has resolved although a response is running').toBe(false);

  finish.open();
  expect(await within(body, 'the rest of the response that was running')).toBe('first,second');
  expect(incoming.complete, 'the response is complete').toBe(true);
  await within(closing, 'close() to resolve, with an idle client that keeps its connection', 500);
}

// The bench

/** A replica that does what the extra says; its answers carry its name. */
async function startNamed(
  name: string,
  handler: RequestListener,
): Promise<HttpServer & { name: string }> {
  const server = await startHttpServer(async (request, response) => {
    response.setHeader('x-kopya', name);
    try {
      await handler(request, response);
    } catch {
      response.destroy(); // the request's body has broken off; what that means is for the test to say
    }
  });
  return Object.defineProperty(server, 'name', { value: name }) as HttpServer & { name: string };
}

/** A replica of which only the connections are real. */
async function startBroken(
  name: string,
  onConnection: (socket: Socket) => void,
): Promise<TcpServer & { name: string }> {
  const server = await startTcpServer(onConnection);
  return Object.defineProperty(server, 'name', { value: name }) as TcpServer & { name: string };
}

/** Asks once, on a connection of its own. */
async function get(
  { port }: RunningServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  using client = openClient(port);
  return await within(client.send(path, { headers }), `the answer to GET ${path}`);
}

function closingAgent(options: { keepAlive?: boolean } = {}): Agent & Disposable {
  const agent = new Agent(options);
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

function to({ port }: RunningServer, agent: Agent): RequestOptions {
  return { host: '127.0.0.1', port, agent };
}

async function responseTo(
  request: ReturnType<typeof startRequest>,
  what: string,
  ms?: number,
): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  return await within(response, what, ms);
}

/** The whole body; `onPiece` hears of each piece. Rejects if it breaks off. */
function textOf(body: Readable, onPiece: () => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    body.on('data', (piece: Buffer) => {
      pieces.push(piece);
      onPiece();
    });
    body.on('error', reject);
    body.on('end', () => resolve(Buffer.concat(pieces).toString()));
  });
}

/**
 * Compares the failure counters; those that are not named are 0. To be called after a further
 * request has passed, so that a failure which is counted twice has had time to be.
 */
async function expectFailures(
  proxy: ProxyUnderTest,
  moved: Partial<Omit<ProxyCounters, 'attempts'>>,
  what: string,
): Promise<void> {
  const expected = {
    unreachable: 0,
    clientAborted: 0,
    upstreamReset: 0,
    upstreamTimeout: 0,
    ...moved,
  };
  const read = () => {
    const {
      unreachable,
      clientAborted = 0,
      upstreamReset = 0,
      upstreamTimeout = 0,
    } = proxy.counters();
    return { unreachable, clientAborted, upstreamReset, upstreamTimeout };
  };
  // A proxy may count a moment after the other side has noticed.
  const counters = await eventually(
    read,
    (now) => JSON.stringify(now) === JSON.stringify(expected),
    500,
  );
  expect(counters, `counters of the failures (${what})`).toEqual(expected);
}

function expectBadGateway(kind: ProxyKind, answer: Answer, what: string): void {
  const { body, headers = {} } = kind.badGateway;
  expect({ status: answer.status, body: answer.body }, what).toEqual({ status: 502, body });
  expect(answer.headers, what).toMatchObject(headers);
}
