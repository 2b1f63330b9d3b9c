import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { openClient } from './client.ts';
import { type RunningServer, startHttpServer } from './http-server.ts';
import { openRawConnection, rawExchange } from './raw.ts';
import { startTcpServer } from './tcp-server.ts';
import { printTally, sendTrackingRequests, startReplica } from './tracking.ts';

// What any program that passes HTTP requests on has to get right. Lessons 5, 7 and 9 build one each;
// these tests are written once, against what the three have in common.

/** Where a replica listens on 127.0.0.1. */
export interface Upstream {
  name: string;
  port: number;
}

/** What an extra may ask of a proxy. */
export interface ProxyOptions {
  retry?: boolean;
  headerTimeoutMs?: number;
  /** Only asked of a proxy that has an admin port, by X15. */
  adminPort?: number;
}

/** What a proxy counts. A failed attempt or an aborted request moves exactly one of the first four. */
export interface ProxyCounters {
  unreachable: number;
  clientAborted: number;
  upstreamReset: number;
  upstreamTimeout: number;
  attempts: number;
}

/** A proxy that is running. */
export interface ProxyUnderTest extends RunningServer {
  readonly adminPort?: number;
  counters(): ProxyCounters;
  /** Runs a round of health checks; only a proxy that has them. */
  probeNow?(): Promise<void>;
}

/** A lesson's proxy, as the extras start it. */
export interface ProxyKind {
  /** Starts it in front of the upstreams, which take turns in their order. */
  start(upstreams: readonly Upstream[], options?: ProxyOptions): Promise<ProxyUnderTest>;
  /** Body of its 502. */
  readonly badGatewayBody: string;
}

/** One graded extra: a claim and the test that shows it. */
export interface Extra {
  readonly id: string;
  /** Title of the test, without the id. */
  readonly claim: string;
  run(kind: ProxyKind): Promise<void>;
}

/** Generous: it only ends a test that is going to fail. What is awaited takes milliseconds. */
const PATIENCE_MS = 2_000;

/** Rejects with the claim if the event does not come. */
async function inTime<T>(what: string, event: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} did not happen within ${PATIENCE_MS} ms`);
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}

/** Resolves when the condition holds; looks again at every turn of the event loop. */
async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not happen within ${PATIENCE_MS} ms`);
    await delay(1);
  }
}

/** A promise and the function that fulfils it. */
function signal<T = void>(): { given: Promise<T>; give(value: T): void } {
  let give = (_value: T): void => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** A request on a connection of its own. Its errors are the test's business, and never uncaught. */
function ask(port: number, options: RequestOptions = {}): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    agent: false,
    path: '/takip?no=G0',
    ...options,
  });
  outgoing.on('error', () => {});
  return outgoing;
}

async function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await inTime('the response', once(outgoing, 'response'))) as [
    IncomingMessage,
  ];
  return response;
}

/** What the counters say, without the attempts. */
function failures(proxy: ProxyUnderTest) {
  const { unreachable, clientAborted, upstreamReset, upstreamTimeout } = proxy.counters();
  return { unreachable, clientAborted, upstreamReset, upstreamTimeout };
}

const NO_FAILURES = { unreachable: 0, clientAborted: 0, upstreamReset: 0, upstreamTimeout: 0 };

const headerHygieneOut: Extra = {
  id: 'X1',
  claim: 'what belongs to the client connection does not reach the replica',
  async run(kind) {
    const seen: IncomingMessage['headers'][] = [];
    await using replica = await startHttpServer((incoming, response) => {
      seen.push(incoming.headers);
      response.end();
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);

    await rawExchange(
      proxy.port,
      [
        'GET /takip?no=G0 HTTP/1.1',
        'Host: kargo.example',
        'Connection: keep-alive ,X-HOP, close',
        'X-Hop: 1',
        'Keep-Alive: timeout=7',
        'Proxy-Connection: keep-alive',
        'TE: trailers',
        'X-E2E: 2',
        '',
        '',
      ].join('\r\n'),
    );

    const [headers = {}] = seen;
    expect(headers['x-e2e'], 'a field for the replica').toBe('2');
    expect(headers.host, 'host is passed on').toBe('kargo.example');
    const crossed = ['x-hop', 'keep-alive', 'proxy-connection', 'te', 'upgrade'].filter(
      (name) => name in headers,
    );
    expect(crossed, 'fields that belong to the hop from the client to the balancer').toEqual([]);
    expect((headers.connection ?? '').toLowerCase()).not.toContain('x-hop');
  },
};

const headerHygieneBack: Extra = {
  id: 'X2',
  claim: 'what belongs to the replica connection does not reach the client',
  async run(kind) {
    await using replica = await startTcpServer((socket) =>
      socket.once('data', () =>
        socket.end(
          'HTTP/1.1 200 OK\r\nConnection: X-Internal\r\nX-Internal: secret\r\n' +
            'Keep-Alive: timeout=99\r\nUpgrade: h2c\r\nX-Kopya: k1\r\nContent-Length: 2\r\n\r\nok',
        ),
      ),
    );
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
    using client = openClient(proxy.port);

    const { headers, body } = await client.send('/takip?no=G0');

    expect(body).toBe('ok');
    expect(headers['x-kopya'], 'a field for the client').toBe('k1');
    expect(Object.keys(headers)).not.toContain('x-internal');
    expect(Object.keys(headers)).not.toContain('upgrade');
    expect(headers['keep-alive'] ?? '', "the replica's keep-alive").not.toContain('99');
  },
};

const reframing: Extra = {
  id: 'X3',
  claim: 'a chunked DELETE stays one request, and its body is not taken for another',
  async run(kind) {
    const seen: string[] = [];
    await using replica = await startHttpServer(async (incoming, response) => {
      let body = '';
      for await (const chunk of incoming) body += chunk;
      seen.push(`${incoming.method} ${incoming.url} ${JSON.stringify(body)}`);
      response.end('ok');
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

    await rawExchange(
      proxy.port,
      'DELETE /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
        `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    // A second, honest request would arrive behind a smuggled one.
    using client = openClient(proxy.port);
    await client.send('/b');

    expect(seen, 'requests that the replica saw').toEqual([
      `DELETE /a ${JSON.stringify(smuggled)}`,
      'GET /b ""',
    ]);
  },
};

const streaming: Extra = {
  id: 'X4',
  claim: 'bodies stream both ways: the first chunk arrives before the second one is sent',
  async run(kind) {
    const chunkArrived = signal();
    const uploadArrived = signal();
    await using replica = await startHttpServer(async (incoming, response) => {
      if (incoming.method === 'GET') {
        response.write('one ');
        await chunkArrived.given;
        response.end('two');
        return;
      }
      let body = '';
      for await (const chunk of incoming) {
        body += chunk;
        uploadArrived.give();
      }
      response.end(body);
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);

    const download = ask(proxy.port).end();
    const downloaded = await responseTo(download);
    let text = '';
    downloaded.on('data', (chunk) => {
      text += chunk;
      chunkArrived.give();
    });
    await inTime('the end of the download', once(downloaded, 'end'));
    expect(text).toBe('one two');

    const upload = ask(proxy.port, { method: 'POST' });
    upload.write('one ');
    await inTime('the first chunk of the upload at the replica', uploadArrived.given);
    upload.end('two');
    const uploaded = await responseTo(upload);
    expect((await uploaded.toArray()).join('')).toBe('one two');
  },
};

const BIG = 64 * 1024 * 1024;
const STANDSTILL_MS = 200;

const backPressure: Extra = {
  id: 'X5',
  claim: 'a reader that pauses stops the sender, in both directions, and no byte is lost',
  // The one test that waits for time to pass: that a sender stands still can't be told otherwise.
  async run(kind) {
    const chunk = Buffer.alloc(64 * 1024, 'traffic layer ');
    let offered = 0;
    /** Offers 64 MiB to a stream as fast as it takes them. */
    const offer = async (to: ServerResponse | ClientRequest): Promise<void> => {
      for (offered = 0; offered < BIG; ) {
        const more = to.write(chunk);
        offered += chunk.length;
        if (!more) await once(to, 'drain');
      }
      to.end();
    };
    const standstill = async (): Promise<number> => {
      for (;;) {
        const before = offered;
        await delay(STANDSTILL_MS);
        if (before > 0 && offered === before) return offered;
      }
    };
    const digest = async (from: IncomingMessage): Promise<{ bytes: number; hash: string }> => {
      const hash = createHash('sha1');
      let bytes = 0;
      for await (const part of from) {
        hash.update(part);
        bytes += part.length;
      }
      return { bytes, hash: hash.digest('hex') };
    };
    const whole = createHash('sha1');
    for (let bytes = 0; bytes < BIG; bytes += chunk.length) whole.update(chunk);
    const expected = { bytes: BIG, hash: whole.digest('hex') };

    const mayRead = signal();
    await using replica = await startHttpServer(async (incoming, response) => {
      if (incoming.method === 'GET') {
        void offer(response);
        return;
      }
      await mayRead.given;
      response.end(JSON.stringify(await digest(incoming)));
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);

    const download = await responseTo(ask(proxy.port).end());
    expect(await standstill(), 'bytes taken while the client does not read').toBeLessThan(BIG / 2);
    expect(await digest(download)).toEqual(expected);

    const upload = ask(proxy.port, { method: 'POST' });
    void offer(upload);
    expect(await standstill(), 'bytes taken while the replica does not read').toBeLessThan(BIG / 2);
    mayRead.give();
    const answer = await responseTo(upload);
    expect(JSON.parse((await answer.toArray()).join(''))).toEqual(expected);
  },
};

const clientAbort: Extra = {
  id: 'X6',
  claim: 'a client that leaves takes its upstream request with it',
  async run(kind) {
    for (const moment of ['before the headers', 'after the first chunk']) {
      const arrived = signal<ServerResponse>();
      await using replica = await startHttpServer((_incoming, response) => {
        if (moment === 'after the first chunk') response.write('one');
        arrived.give(response);
      });
      await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);

      const outgoing = ask(proxy.port).end();
      const response = await inTime('the request at the replica', arrived.given);
      const closed = once(response, 'close');
      if (moment === 'after the first chunk') {
        const incoming = await responseTo(outgoing);
        incoming.on('error', () => {});
        await inTime('the first chunk', once(incoming, 'data'));
      }
      outgoing.destroy();

      await inTime(`${moment}: the replica hearing that the client has left`, closed);
      expect(response.writableFinished, 'the response was cut, not finished').toBe(false);
      expect(response.socket?.destroyed ?? true, 'the upstream connection is gone').toBe(true);
      await until('the count', () => proxy.counters().clientAborted > 0);
      expect(failures(proxy), moment).toEqual({ ...NO_FAILURES, clientAborted: 1 });
    }
  },
};

const failureBeforeHeaders: Extra = {
  id: 'X7',
  claim: 'a replica that breaks off before its headers is a 502',
  async run(kind) {
    for (const how of ['close', 'reset'] as const) {
      await using replica = await startTcpServer((socket) =>
        socket.once('data', () => breakOff(socket, how)),
      );
      await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
      using client = openClient(proxy.port);

      const { status, body } = await client.send('/takip?no=G0');

      expect(status).toBe(502);
      expect(body).toBe(kind.badGatewayBody);
      expect(failures(proxy), `after a ${how}`).toEqual({ ...NO_FAILURES, unreachable: 1 });
    }
  },
};

function breakOff(socket: Socket, how: 'close' | 'reset'): void {
  if (how === 'close') socket.end();
  else socket.resetAndDestroy();
}

const failureAfterHeaders: Extra = {
  id: 'X8',
  claim: 'a truncated answer never looks complete: the client connection is cut',
  async run(kind) {
    const answers = {
      'content-length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789',
      chunked: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n',
    };
    for (const framing of ['content-length', 'chunked'] as const) {
      for (const how of ['close', 'reset'] as const) {
        const clientHasThem = signal();
        let first = true;
        await using replica = await startTcpServer((socket) =>
          socket.once('data', async () => {
            if (!first) {
              socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
              return;
            }
            first = false;
            socket.write(answers[framing]);
            await clientHasThem.given;
            breakOff(socket, how);
          }),
        );
        await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);

        const response = await responseTo(ask(proxy.port).end());
        const failed = once(response, 'error');
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes === 10) clientHasThem.give();
        });
        let ended = false;
        response.on('end', () => {
          ended = true;
        });
        // once() rejects on an error unless it is the error that is awaited.
        const [error] = await inTime('the error at the client', failed);

        const which = `${framing}, ${how}`;
        expect({ status: response.statusCode, bytes, ended }, which).toEqual({
          status: 200,
          bytes: 10,
          ended: false,
        });
        expect(response.complete, `${which}: the answer is not complete`).toBe(false);
        expect((error as NodeJS.ErrnoException).code, which).toBe('ECONNRESET');
        expect(failures(proxy), which).toEqual({ ...NO_FAILURES, upstreamReset: 1 });

        using client = openClient(proxy.port);
        expect((await client.send('/takip?no=G1')).status, 'the next request is served').toBe(200);
      }
    }
  },
};

const headerTimeout: Extra = {
  id: 'X9',
  claim: 'a replica that says nothing is a 504 after the header time-out, and is not asked twice',
  async run(kind) {
    const hungUp = signal();
    await using hung = await startTcpServer((socket) => {
      socket.resume(); // an unread socket never notices its end
      socket.on('close', () => hungUp.give());
    });
    await using other = await startReplica('k2');
    const upstreams = [{ name: 'k1', port: hung.port }, other];
    await using proxy = await kind.start(upstreams, { headerTimeoutMs: 200, retry: true });
    using client = openClient(proxy.port);

    const start = performance.now();
    const { status } = await client.send('/takip?no=G0');
    const took = performance.now() - start;

    expect(status).toBe(504);
    expect(took, 'milliseconds; timers are up to 10 ms early').toBeGreaterThanOrEqual(190);
    expect(took, 'milliseconds').toBeLessThan(1_000);
    await inTime('the end of the upstream connection', hungUp.given);
    expect(failures(proxy)).toEqual({ ...NO_FAILURES, upstreamTimeout: 1 });
    expect(proxy.counters().attempts, 'attempts').toBe(1);
  },
};

const malformedTarget: Extra = {
  id: 'X10',
  claim: 'a target that is no URL is a 400, and nothing else moves',
  async run(kind) {
    await using k1 = await startReplica('k1');
    await using k2 = await startReplica('k2');
    await using proxy = await kind.start([k1, k2]);
    const raw = (target: string) =>
      rawExchange(proxy.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

    const { text } = await raw('//');
    expect(text.split('\r\n')[0]).toMatch(/^HTTP\/1\.1 400 /);
    expect(k1.connections + k2.connections, 'connections to replicas').toBe(0);
    expect(proxy.counters()).toEqual({ ...NO_FAILURES, attempts: 0 });

    // Odd, and well-formed: not the proxy's business.
    const odd = await raw('/a//b?%zz');
    expect(odd.text).toMatch(/^HTTP\/1\.1 200 /);
    expect(odd.text.toLowerCase(), 'the rotation has not moved').toContain('x-kopya: k1');
  },
};

/** How often each status came for requests of one method, sent one after another. */
async function statuses(
  port: number,
  count: number,
  method: string,
  body?: string,
): Promise<string> {
  using client = openClient(port);
  const counts: Record<string, number> = {};
  for (let i = 0; i < count; i += 1) {
    const { status } = await client.send('/takip?no=G0', { method, ...(body && { body }) });
    counts[`kod ${status}`] = (counts[`kod ${status}`] ?? 0) + 1;
  }
  return printTally(counts);
}

const retryRefused: Extra = {
  id: 'X11',
  claim: 'a refused connection is retried whatever the method: 300 of 300 in 450 attempts',
  async run(kind) {
    for (const method of ['GET', 'POST']) {
      await using k1 = await startReplica('k1');
      const k2 = await startReplica('k2');
      await using k3 = await startReplica('k3');
      await k2.close();
      await using proxy = await kind.start([k1, k2, k3], { retry: true });

      if (method === 'GET') {
        const { tally } = await sendTrackingRequests(proxy.port, 300);
        expect(printTally(tally)).toBe('k1=150 k3=150');
      } else {
        expect(await statuses(proxy.port, 300, method, 'abc')).toBe('kod 200=300');
      }

      expect(proxy.counters(), method).toEqual({ ...NO_FAILURES, unreachable: 150, attempts: 450 });
    }
  },
};

/** Two upstreams, of which the first accepts, reads and resets. Says how the requests went. */
async function afterResets(kind: ProxyKind, method: string, body?: string): Promise<string> {
  let tried = 0;
  await using resetting = await startTcpServer((socket) =>
    socket.once('data', () => {
      tried += 1;
      socket.resetAndDestroy();
    }),
  );
  await using k2 = await startReplica('k2');
  const upstreams = [{ name: 'k1', port: resetting.port }, k2];
  await using proxy = await kind.start(upstreams, { retry: true });
  const seen = await statuses(proxy.port, 10, method, body);
  return `${seen}, k1 tried ${tried} times, unreachable ${proxy.counters().unreachable}`;
}

const retryIdempotent: Extra = {
  id: 'X11',
  claim: 'after a reset, a request that is idempotent and has no body goes to the other replica',
  async run(kind) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) {
      expect(await afterResets(kind, method), method).toBe(
        'kod 200=10, k1 tried 10 times, unreachable 10',
      );
    }
  },
};

const retryNotSafe: Extra = {
  id: 'X11',
  claim: 'after a reset, a POST, a PATCH or a PUT with a body is not repeated',
  async run(kind) {
    for (const [method, body] of [['POST'], ['PATCH'], ['PUT', 'abc']] as const) {
      expect(await afterResets(kind, method, body), `${method} ${body ?? ''}`).toBe(
        'kod 200=5 kod 502=5, k1 tried 5 times, unreachable 5',
      );
    }
  },
};

const retryExhausted: Extra = {
  id: 'X11',
  claim: 'when every replica has been tried once, the answer is a 502',
  async run(kind) {
    const upstreams: Upstream[] = [];
    for (const name of ['k1', 'k2', 'k3']) {
      const replica = await startReplica(name);
      await replica.close();
      upstreams.push({ name, port: replica.port });
    }
    await using proxy = await kind.start(upstreams, { retry: true });

    expect(await statuses(proxy.port, 1, 'GET')).toBe('kod 502=1');
    expect(proxy.counters()).toEqual({ ...NO_FAILURES, unreachable: 3, attempts: 3 });
  },
};

const noRetryByDefault: Extra = {
  id: 'X11',
  claim: 'without being asked to, it repeats nothing',
  async run(kind) {
    await using k1 = await startReplica('k1');
    const k2 = await startReplica('k2');
    await k2.close();
    await using proxy = await kind.start([k1, k2]);

    expect(await statuses(proxy.port, 10, 'GET')).toBe('kod 200=5 kod 502=5');
    expect(proxy.counters()).toEqual({ ...NO_FAILURES, unreachable: 5, attempts: 10 });
  },
};

const emptyPool: Extra = {
  id: 'X12',
  claim: 'an empty pool is a 503 with retry-after, and the rotation stands still',
  async run(kind) {
    let well = true;
    const start = (name: string) =>
      startHttpServer((_incoming, response) =>
        response.writeHead(well ? 200 : 500, { 'x-kopya': name }).end(),
      );
    await using k1 = await start('k1');
    await using k2 = await start('k2');
    await using proxy = await kind.start([
      { name: 'k1', port: k1.port },
      { name: 'k2', port: k2.port },
    ]);
    using client = openClient(proxy.port);

    expect((await client.send('/')).headers['x-kopya']).toBe('k1');
    well = false;
    await proxy.probeNow?.();
    const connections = k1.connections + k2.connections;
    const refused = await client.send('/');
    expect(refused.status).toBe(503);
    expect(refused.body).toBe('havuz bos');
    expect(refused.headers['retry-after']).toBe('1');
    expect(k1.connections + k2.connections, 'connections to replicas').toBe(connections);
    expect(proxy.counters().attempts, 'attempts').toBe(1);

    well = true;
    await proxy.probeNow?.();
    expect((await client.send('/')).headers['x-kopya'], "k2's turn, as before").toBe('k2');
  },
};

const adminPath: Extra = {
  id: 'X15',
  claim: 'with an admin port the status page is there alone, and users cannot read the pool',
  async run(kind) {
    await using k1 = await startReplica('k1');
    await using proxy = await kind.start([k1], { adminPort: 0 });
    using user = openClient(proxy.port);
    using admin = openClient(proxy.adminPort ?? 0);

    expect((await user.send('/yonet/durum')).headers['x-kopya'], 'like any other path').toBe('k1');
    const status = await admin.send('/yonet/durum');
    expect(status.status).toBe(200);
    expect(status.body).toBe(`{"ulasilamayan":0,"ayakta":[${k1.port}]}`);
    expect((await admin.send('/takip?no=G0')).status, 'the admin port serves nothing else').toBe(
      404,
    );
  },
};

const draining: Extra = {
  id: 'X16',
  claim: 'closing with drain lets the running answer finish, and waits for nothing else',
  async run(kind) {
    const mayFinish = signal();
    await using replica = await startHttpServer(async (_incoming, response) => {
      response.write('one ');
      await mayFinish.given;
      response.end('two');
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
    using client = openClient(proxy.port); // keeps its connection alive

    const firstChunk = signal();
    const outgoing = ask(proxy.port).end();
    const response = await responseTo(outgoing);
    let text = '';
    response.on('data', (chunk) => {
      text += chunk;
      firstChunk.give();
    });
    await inTime('the first chunk', firstChunk.given);
    const kept = client.send('/takip?no=G1');
    await until('the second request at the replica', () => proxy.counters().attempts === 2);

    const closed = proxy.close({ drain: true });
    const refused = await openRawConnection(proxy.port).then(
      (connection) => {
        connection.destroy();
        return 'accepted';
      },
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(['ECONNREFUSED', 'ECONNRESET'], 'a new connection').toContain(refused);
    mayFinish.give();
    await inTime('the end of the answer', once(response, 'end'));
    expect(text).toBe('one two');
    expect((await kept).body).toBe('one two');
    await inTime('the end of close()', closed);
  },
};

const ALL: readonly Extra[] = [
  headerHygieneOut,
  headerHygieneBack,
  reframing,
  streaming,
  backPressure,
  clientAbort,
  failureBeforeHeaders,
  failureAfterHeaders,
  headerTimeout,
  malformedTarget,
  retryRefused,
  retryIdempotent,
  retryNotSafe,
  retryExhausted,
  noRetryByDefault,
  emptyPool,
  adminPath,
  draining,
];

/**
 * The extras with these ids, in the order of the list. X11 has several. X13, recovery, is part of
 * lesson 5's own runs, and X14, `Forwarded`, of lesson 7's. Where they apply:
 *
 * | Extras | Lessons |
 * | --- | --- |
 * | X1 to X11, X16 | 5, 7, 9 |
 * | X12, X15 | 5 |
 *
 * @throws {Error} for an id that does not exist
 */
export function extras(...ids: string[]): Extra[] {
  const unknown = ids.filter((id) => !ALL.some((extra) => extra.id === id));
  if (unknown.length > 0) throw new Error(`there is no extra ${unknown.join(', ')}`);
  return ALL.filter(({ id }) => ids.includes(id));
}
