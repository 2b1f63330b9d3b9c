import dgram from 'node:dgram';
import dns, { lookup as namedLookup, resolve4 as namedResolve4 } from 'node:dns';
import dnsPromises from 'node:dns/promises';
import { once } from 'node:events';
import http, { get as namedGet } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { fetch as undiciFetch, request as undiciRequest } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { startHttpServer } from './http-server.ts';
import {
  connectOptions,
  isLoopback,
  OutsideLoopbackError,
  takeRefusals,
} from './loopback-guard.ts';
import { startTcpServer } from './tcp-server.ts';

/** Documentation addresses (RFC 5737, RFC 3849): even a guard that fails calls nobody. */
const OUTSIDE = '192.0.2.1';
const OUTSIDE_V6 = '2001:db8::1';

/** The error that the client delivered, or the refusal behind it. */
function refusalIn(error: unknown): OutsideLoopbackError {
  const { cause } = error as Error;
  const refusal = error instanceof OutsideLoopbackError ? error : cause;
  expect(refusal, String(error)).toBeInstanceOf(OutsideLoopbackError);
  return refusal as OutsideLoopbackError;
}

const failure = (emitter: NodeJS.EventEmitter) =>
  new Promise((resolve) => emitter.once('error', resolve));

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('the call must be refused'),
    (error: unknown) => error,
  );

describe('isLoopback', () => {
  it.for([
    undefined,
    null,
    '',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'replica-1.localhost',
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ])('%o is', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.for([
    'example.com',
    'localhost.example.com',
    'notlocalhost',
    '.localhost.example',
    '128.0.0.1',
    '126.255.255.255',
    '0.0.0.0',
    '::',
    '::2',
    '::ffff:8.8.8.8',
    '2130706433', // 127.0.0.1 for inet_aton, which some systems ask
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '127.0.0.01',
    '127.0.0.1 ',
    '127.0.0.1.example.com',
    '[::1]',
    '::1%eth0',
    2130706433,
    { toString: () => '127.0.0.1' },
  ])('%o is not', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

describe('connectOptions', () => {
  it.for([
    { args: [{ port: 1, host: 'a' }], options: { port: 1, host: 'a' } },
    { args: [1, 'a', () => {}], options: { port: 1, host: 'a' } },
    { args: ['1', () => {}], options: { port: '1' } },
    { args: ['/tmp/socket'], options: { path: '/tmp/socket' } },
    { args: [[{ port: 1 }, null]], options: { port: 1 } },
  ])('reads $args', ({ args, options }) => {
    expect(connectOptions(args)).toEqual(options);
  });
});

describe('what stays on loopback is let through', () => {
  it('http and fetch, by address and by name', async () => {
    await using server = await startHttpServer((_request, response) => response.end('here'));
    const agent = new http.Agent();

    const byAddress = await fetch(server.url);
    const byName = await new Promise<http.IncomingMessage>((resolve) =>
      namedGet({ host: 'localhost', family: 4, port: server.port, agent }, resolve),
    );
    byName.resume();
    await once(byName, 'end');

    expect(await byAddress.text()).toBe('here');
    expect(byName.statusCode).toBe(200);
    agent.destroy();
  });

  it('a socket of the file system', async () => {
    const path =
      process.platform === 'win32'
        ? `\\\\.\\pipe\\guard-${process.pid}`
        : join(tmpdir(), `guard-${process.pid}.sock`);
    const server = net.createServer((socket) => socket.end('here')).listen(path);
    await once(server, 'listening');

    const socket = net.connect(path);
    const [data] = await once(socket, 'data');

    expect(String(data)).toBe('here');
    await once(socket, 'close');
    await new Promise((resolve) => server.close(resolve));
  });

  it('a datagram, connected or not', async () => {
    const receiver = dgram.createSocket('udp4').bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address();
    const sender = dgram.createSocket('udp4');

    sender.send(Buffer.from('-one-'), 1, 3, port, '127.0.0.1');
    const [one] = await once(receiver, 'message');
    sender.send('two', port);
    const [two] = await once(receiver, 'message');
    sender.connect(port, '127.0.0.1');
    await once(sender, 'connect');
    sender.send(Buffer.from('three'), 1, 3);
    const [three] = await once(receiver, 'message');

    expect([one, two, three].map(String)).toEqual(['one', 'two', 'hre']);
    sender.close();
    receiver.close();
  });

  it('a resolver whose servers were set to loopback', async () => {
    const answering = dgram.createSocket('udp4').bind(0, '127.0.0.1');
    await once(answering, 'listening');
    answering.on('message', (query, from) => {
      const refusedByServer = Buffer.from(query);
      refusedByServer.writeUInt16BE(0x8003, 2); // an answer, and its code is NXDOMAIN
      answering.send(refusedByServer, from.port, from.address);
    });
    const servers = [`127.0.0.1:${answering.address().port}`];

    const resolver = new dnsPromises.Resolver();
    resolver.setServers(servers);
    const withCallback = new dns.Resolver();
    withCallback.setServers(servers);

    const first = await rejection(resolver.resolve4('tracking.example'));
    const second = await new Promise((resolve) => withCallback.resolve4('a.example', resolve));
    expect(first).toMatchObject({ code: 'ENOTFOUND' });
    expect(second).toMatchObject({ code: 'ENOTFOUND' });

    const before = dns.getServers();
    dns.setServers(servers);
    const third = await new Promise((resolve) => dns.resolve4('b.example', resolve));
    const fourth = await rejection(dns.promises.resolve('c.example'));
    dns.setServers(before);
    expect(third).toMatchObject({ code: 'ENOTFOUND' });
    expect(fourth).toMatchObject({ code: 'ENOTFOUND' });
    answering.close();
  });

  it('a name that a lookup of its own leads to loopback', async () => {
    await using server = await startTcpServer((socket) => socket.end('here'));

    const socket = net.connect({
      host: 'replica.example',
      port: server.port,
      lookup: (_name, { all }, done) =>
        all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    });
    const [data] = await once(socket, 'data');
    await once(socket, 'close');

    expect(String(data)).toBe('here');
  });

  it('lookup of localhost and of addresses, with its promisified form', async () => {
    const { address } = await promisify(dns.lookup)('localhost', { family: 4 });

    expect(address).toBe('127.0.0.1');
    expect(await dnsPromises.lookup(OUTSIDE)).toEqual({ address: OUTSIDE, family: 4 });
  });
});

describe('what leaves loopback is refused, with a message that names the call', () => {
  // The tests of this block answer for what they tried.
  afterEach(() => {
    expect(takeRefusals()).not.toEqual([]);
  });

  const streams: Record<string, { target: string; call: () => Promise<unknown> }> = {
    http: {
      target: 'tracking.example:80',
      call: () => failure(http.get('http://tracking.example/path')),
    },
    https: {
      target: 'tracking.example:8443',
      call: () => failure(https.get('https://tracking.example:8443/')),
    },
    http2: {
      target: 'tracking.example:443',
      call: () => failure(http2.connect('https://tracking.example')),
    },
    fetch: {
      target: 'tracking.example:443',
      call: () => rejection(fetch('https://tracking.example')),
    },
    undici: {
      target: 'tracking.example:443',
      call: () => rejection(undiciRequest('https://tracking.example')),
    },
    net: { target: `${OUTSIDE}:80`, call: () => failure(net.connect(80, OUTSIDE)) },
    tls: { target: `${OUTSIDE}:443`, call: () => failure(tls.connect(443, OUTSIDE)) },
  };
  it.for(Object.entries(streams))('%s', async ([client, { target, call }]) => {
    const error = refusalIn(await call());

    expect(error.code).toBe('ERR_OUTSIDE_LOOPBACK');
    expect(error.message).toMatch(
      new RegExp(
        `^${client} to ${target} was refused: the course's tests stay on 127\\.0\\.0\\.1 ` +
          `\\(called at helpers/lesson/loopback-guard\\.test\\.ts:\\d+\\)$`,
      ),
    );
    // Vitest opens the first line of the stack that is no library's.
    expect(error.stack).not.toContain('-guard.ts:');
  });

  it.for([
    { host: OUTSIDE_V6, port: 80 },
    { host: '2130706433', port: 80 },
    { host: '0.0.0.0', port: 80 },
    { host: { toString: () => '127.0.0.1' } as unknown as string, port: 80 },
  ])('a socket to $host', async (options) => {
    const socket = new net.Socket();
    let connected = false;
    socket.on('connect', () => {
      connected = true;
    });

    socket.connect(options);
    socket.write('waits for a connection that never comes');

    refusalIn(await failure(socket));
    expect(connected).toBe(false);
    expect(socket.destroyed).toBe(true);
  });

  it('fetch of the undici package', async () => {
    const error = refusalIn(await rejection(undiciFetch(`http://${OUTSIDE}/`)));
    expect(error.message).toContain(`undici to ${OUTSIDE}:80`);
  });

  it('fetch that a server redirects to the outside', async () => {
    await using server = await startHttpServer((_request, response) =>
      response.writeHead(302, { location: `http://${OUTSIDE}/` }).end(),
    );

    const error = refusalIn(await rejection(fetch(server.url)));

    // Who imports undici gets it as fetch's engine too.
    expect(error.message).toMatch(/^(fetch|undici) to 192\.0\.2\.1:80 was/);
  });

  it('a lookup of its own that leads a name to the outside, localhost included', async () => {
    for (const host of ['localhost', 'replica.example']) {
      for (const answer of [OUTSIDE, 'replica.example']) {
        const socket = net.connect({
          host,
          port: 80,
          lookup: (_name, { all }, done) =>
            all ? done(null, [{ address: answer, family: 4 }]) : done(null, answer, 4),
        });
        expect(refusalIn(await failure(socket)).message).toContain(`${host}:80 (${answer})`);
      }
    }
  });

  it('dgram: send with a callback, send without, connect', async () => {
    const socket = dgram.createSocket('udp4');

    const sent = await new Promise((resolve) => socket.send('x', 53, OUTSIDE, resolve));
    const ranged = new Promise((resolve) =>
      socket.send(Buffer.from('xx'), 0, 1, 53, OUTSIDE, resolve),
    );
    expect(refusalIn(sent).message).toContain(`dgram to ${OUTSIDE}:53`);
    refusalIn(await ranged);

    socket.send('x', 53, OUTSIDE);
    refusalIn(await failure(socket));
    socket.connect(53, 'tracking.example');
    refusalIn(await failure(socket));
    const connected = await new Promise((resolve) => socket.connect(53, OUTSIDE, resolve as never));
    refusalIn(connected);
    socket.close();
  });

  it.for([
    'lookup',
    'resolve',
    'resolve4',
    'resolve6',
    'resolveAny',
    'resolveCaa',
    'resolveCname',
    'resolveMx',
    'resolveNaptr',
    'resolveNs',
    'resolvePtr',
    'resolveSoa',
    'resolveSrv',
    'resolveTxt',
  ] as const)('dns.%s, with a callback and with a promise', async (name) => {
    const query = dns[name] as (host: string, done: (error: unknown) => void) => void;
    const error = refusalIn(await new Promise((resolve) => query('tracking.example', resolve)));
    expect(error.message).toMatch(
      new RegExp(`^dns\\.${name} to tracking\\.example was .*loopback-guard\\.test\\.ts:\\d+\\)$`),
    );

    const promised = refusalIn(await rejection(dnsPromises[name]('tracking.example') as never));
    expect(promised.message).toContain(`dns.promises.${name} to tracking.example`);
  });

  it('dns.reverse and dns.lookupService', async () => {
    refusalIn(await new Promise((resolve) => dns.reverse(OUTSIDE, resolve)));
    refusalIn(await rejection(dnsPromises.reverse(OUTSIDE)));
    refusalIn(await new Promise((resolve) => dns.lookupService(OUTSIDE, 80, resolve)));
    refusalIn(await rejection(dnsPromises.lookupService(OUTSIDE, 80)));
  });

  it('functions of node:dns that were imported by name', async () => {
    refusalIn(await new Promise((resolve) => namedLookup('tracking.example', resolve)));
    refusalIn(await new Promise((resolve) => namedResolve4('tracking.example', resolve)));
  });

  it("a resolver that asks the system's servers, or others outside", async () => {
    for (const servers of [
      undefined,
      [OUTSIDE],
      ['127.0.0.53'],
      ['[::1]:53'],
      ['127.0.0.1:5300', `[${OUTSIDE_V6}]:53`],
    ]) {
      const resolver = new dns.Resolver();
      const promising = new dnsPromises.Resolver();
      if (servers) {
        resolver.setServers(servers);
        promising.setServers(servers);
      }
      const error = await new Promise((resolve) => resolver.resolve4('a.example', resolve));
      expect(refusalIn(error).message).toContain('dns.resolve4 to a.example');
      refusalIn(await rejection(promising.resolve4('a.example')));
    }
  });
});

it('a refusal is kept, so that code which swallows the error fails its test nevertheless', async () => {
  await fetch(`http://${OUTSIDE}/`).catch(() => {});

  const refusals = takeRefusals();

  expect(refusals.map(({ client, target }) => `${client} ${target}`)).toEqual([
    `fetch ${OUTSIDE}:80`,
  ]);
});

it('a port that was free a moment ago is refused by the system, and not by the guard', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));

  expect(await failure(net.connect(port))).toMatchObject({
    code: expect.stringMatching(/ECONNREFUSED/),
  });
});
