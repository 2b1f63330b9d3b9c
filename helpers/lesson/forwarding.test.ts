import { describe, expect, it } from 'vitest';
import { openClient } from './client.ts';
import { openForwarding } from './forwarding.ts';
import { startHttpServer } from './http-server.ts';
import { type ProxyKind, proxyExtras } from './proxy-extras.ts';
import { rawExchange } from './raw.ts';
import { eventually, gate, within } from './waiting.ts';

/** The least program on it: one rotation. */
const kind: ProxyKind = {
  badGateway: { body: 'no' },
  async start(replicas, options) {
    const forwarding = openForwarding(options);
    let turn = 0;
    const server = await startHttpServer((request, response) => {
      try {
        new URL(request.url ?? '', 'http://x');
      } catch {
        response.writeHead(400).end();
        return;
      }
      forwarding.forward(request, response, {
        choose(tried) {
          if (tried.size === replicas.length) return undefined;
          for (;;) {
            const port = replicas[turn++ % replicas.length]?.port ?? 0;
            if (!tried.has(port)) return port;
          }
        },
        refuse: (status) => response.writeHead(status).end('no'),
      });
    });
    const close = async (how?: { drain?: boolean }) => {
      await server.close(how);
      await forwarding[Symbol.asyncDispose]();
    };
    return {
      port: server.port,
      counters: forwarding.counters,
      close,
      [Symbol.asyncDispose]: () => close(),
    };
  },
};

describe('forwarding', () => {
  it('sends on a body that its client waited to be invited to send', async () => {
    await using replica = await startHttpServer(async (request, response) => {
      let bytes = 0;
      for await (const piece of request) bytes += (piece as Buffer).length;
      response.end(`${bytes} bytes, expect ${request.headers.expect}`);
    });
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
    const { text } = await rawExchange(
      proxy.port,
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
    );
    expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/);
    expect(text).toContain('3 bytes, expect undefined');
  });

  it('opens no more connections to a target than it may, and counts them', async () => {
    const held: (() => void)[] = [];
    await using replica = await startHttpServer((_request, response) => {
      held.push(() => response.end());
    });
    for (const connectionsPerTarget of [1, 2]) {
      const forwarding = openForwarding({ connectionsPerTarget });
      await using _closes = forwarding;
      await using proxy = await startHttpServer((request, response) =>
        forwarding.forward(request, response, {
          choose: () => replica.port,
          refuse: (status) => response.writeHead(status).end(),
        }),
      );
      using client = openClient(proxy.port, { sockets: 3 });
      const answers = Promise.all(['/1', '/2', '/3'].map((path) => client.send(path)));
      for (let answered = 0; answered < 3; ) {
        await eventually(
          () => held.length,
          (inside) => inside === Math.min(connectionsPerTarget, 3 - answered),
        );
        for (const release of held.splice(0)) {
          release();
          answered += 1;
        }
      }
      expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(forwarding.connections).toBe(connectionsPerTarget);
      expect(forwarding.counters()).toMatchObject({ attempts: 3, responses: 3 });
    }
  });

  it('never sends a request whose client leaves, or whose time is up, while it waits', async () => {
    const seen: (string | undefined)[] = [];
    const finish = gate();
    await using replica = await startHttpServer(async ({ url }, response) => {
      seen.push(url);
      response.write('first,');
      await finish.opened;
      response.end('second');
    });
    const forwarding = openForwarding({ connectionsPerTarget: 1, headerTimeoutMs: 500 });
    await using _closes = forwarding;
    await using proxy = await startHttpServer((request, response) =>
      forwarding.forward(request, response, {
        choose: () => replica.port,
        refuse: (status) => response.writeHead(status).end(),
      }),
    );
    using client = openClient(proxy.port, { sockets: 3 });
    const count = (counter: 'attempts' | 'clientAborted' | 'responses', wanted: number) =>
      eventually(
        () => forwarding.counters()[counter],
        (now) => now === wanted,
      );

    // This one is in time, and keeps the connection.
    const first = client.send('/1');
    await count('responses', 1);
    const leaving = new AbortController();
    const ask = { method: 'POST', body: 'abc', signal: leaving.signal };
    const left = expect(client.send('/2', ask)).rejects.toThrow(/abort/i);
    await count('attempts', 2);
    leaving.abort();
    await left;
    await count('clientAborted', 1);
    // When its time is up, so is that of the one before, which nobody waits for any more.
    expect((await within(client.send('/3'), 'the answer to /3')).status).toBe(504);
    finish.open();

    expect((await within(first, 'the answer to /1')).body).toBe('first,second');
    expect((await within(client.send('/4'), 'the answer to /4')).status).toBe(200);
    expect(seen, 'requests at the replica').toEqual(['/1', '/4']);
    expect(forwarding.connections, 'whoever is not sent takes no connection along').toBe(1);
    expect(forwarding.counters()).toMatchObject({
      clientAborted: 1,
      unreachable: 0,
      upstreamTimeout: 1,
    });
  });

  it('asks for the options of a whole server by its name, as undici has no asterisk', async () => {
    await using replica = await startHttpServer(({ method, url }, response) =>
      response.end(`${method} ${url}`),
    );
    await using proxy = await kind.start([{ name: 'k1', port: replica.port }]);
    const { text } = await rawExchange(
      proxy.port,
      'OPTIONS * HTTP/1.1\r\nHost: kargo.example\r\nConnection: close\r\n\r\n',
    );
    expect(text).toContain('OPTIONS http://kargo.example');
  });

  for (const { title, timeoutMs, run } of proxyExtras(
    'X1',
    'X2',
    'X3',
    'X4',
    'X5',
    'X6',
    'X7',
    'X8',
    'X9',
    'X10',
    'X11',
    'X16',
  ))
    it(title, { timeout: timeoutMs }, () => run(kind));
});
