import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openClient } from './client.ts';
import { startHttpServer } from './http-server.ts';
import { openRawConnection } from './raw.ts';
import { startTcpServer } from './tcp-server.ts';

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('must be rejected'),
    (error: NodeJS.ErrnoException) => error,
  );

/** Whether somebody listens. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const open = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return open;
}

describe('startHttpServer', () => {
  it('listens on a free port of 127.0.0.1 and answers', async () => {
    await using server = await startHttpServer((request, response) =>
      response.end(`${request.method} ${request.url}`),
    );

    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(server.server.address()).toMatchObject({ address: '127.0.0.1', port: server.port });
    expect(await (await fetch(`${server.url}/orders`)).text()).toBe('GET /orders');
  });

  it('counts connections, not requests', async () => {
    await using server = await startHttpServer((_request, response) => response.end());
    using first = openClient(server.port);
    using second = openClient(server.port);

    for (let n = 0; n < 3; n += 1) await first.send('/');
    await second.send('/');

    expect(server.connections).toBe(2);
  });

  it('closing cuts a request that nobody answers, and frees the port', async () => {
    const server = await startHttpServer(() => {});
    const request = get(server.url);
    const failed = once(request, 'response').catch((error: NodeJS.ErrnoException) => error);
    await once(server.server, 'request');

    await server.close();
    await server.close();

    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    expect(await isListening(server.port)).toBe(false);
  });

  it('closing does not wait for connections that are kept alive', async () => {
    await using server = await startHttpServer((_request, response) => response.end());
    using client = openClient(server.port);
    await client.send('/');

    await server.close();

    expect(await rejection(client.send('/'))).toMatchObject({
      code: expect.stringMatching(/ECONNRE/),
    });
  });

  it('with drain, running responses finish', async () => {
    let finish = () => {};
    const server = await startHttpServer((_request, response) => {
      response.write('first, ');
      finish = () => response.end('last');
    });
    server.server.keepAliveTimeout = 0; // an idle connection stays: the drain has to end it
    using client = openClient(server.port);
    const answer = client.send('/');
    await once(server.server, 'request');

    const closed = server.close({ drain: true });
    expect(await isListening(server.port)).toBe(false);
    finish();

    expect((await answer).body).toBe('first, last');
    await closed;
  }, 5_000);

  it('with drain, a reader who is slow gets the whole of a large answer', async () => {
    const body = 'x'.repeat(20_000_000);
    const server = await startHttpServer((_request, response) => response.end(body));
    const request = get(server.url);
    const [response] = await once(request, 'response');

    const closed = server.close({ drain: true });
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;

    expect(bytes).toBe(body.length);
    await closed;
  });

  it('with drain, idle connections and those that have sent half a request are cut', async () => {
    const server = await startHttpServer((_request, response) => response.end());
    using idle = openClient(server.port);
    await idle.send('/');
    using half = await openRawConnection(server.port);
    await half.write('GET / HTTP/1.1\r\nHos');

    await server.close({ drain: true });

    expect(await half.ended).toMatch(/end|error/);
    expect(idle.connections).toBe(1);
  });

  it('a second close cuts what a drain is still waiting for', async () => {
    const server = await startHttpServer((_request, response) => response.write('for ever'));
    using client = openClient(server.port);
    const answer = rejection(client.send('/'));
    await once(server.server, 'request');

    const drained = server.close({ drain: true });
    await server.close();

    await drained;
    expect(await answer).toMatchObject({ code: 'ECONNRESET' });
  });

  it('takes a port, and rejects when it is taken', async () => {
    await using server = await startHttpServer(() => {});

    const error = await rejection(startHttpServer(() => {}, { port: server.port }));
    expect(error.code).toBe('EADDRINUSE');

    await server.close();
    await using again = await startHttpServer(() => {}, { port: server.port });
    expect(again.port).toBe(server.port);
  });
});

describe('startTcpServer', () => {
  it('hands over connections and counts them', async () => {
    await using server = await startTcpServer((socket) => socket.end('here'));
    for (let n = 0; n < 2; n += 1) {
      using connection = await openRawConnection(server.port);
      await connection.ended;
      expect(connection.text).toBe('here');
    }

    expect(server.connections).toBe(2);
  });

  it('closing cuts peers that never hang up, and frees the port', async () => {
    const server = await startTcpServer((socket) => socket.write('x'));
    using connection = await openRawConnection(server.port);
    await connection.readUntil((received) => received.length > 0);

    await server.close();
    await server.close();

    expect(await connection.ended).toMatch(/end|error/);
    expect(await isListening(server.port)).toBe(false);
  });

  it('with drain, it waits until they hang up', async () => {
    const server = await startTcpServer((socket) => socket.pipe(socket));
    using connection = await openRawConnection(server.port);
    await connection.write('a');
    await connection.readUntil((received) => received.length > 0);

    let isClosed = false;
    const closed = server.close({ drain: true }).then(() => {
      isClosed = true;
    });
    await connection.write('b');
    await connection.readUntil((received) => received.length > 1);
    expect(isClosed).toBe(false);
    connection.end();

    await closed;
    expect(isClosed).toBe(true);
  });

  it('outlives a connection that breaks', async () => {
    await using server = await startTcpServer((socket) => socket.resume());
    const socket = connect(server.port, '127.0.0.1');
    const accepted = once(server.server, 'connection');
    await once(socket, 'connect');
    const [peer] = await accepted;
    const gone = new Promise((resolve) => peer.once('close', resolve));

    socket.resetAndDestroy();
    await gone;

    expect(await isListening(server.port)).toBe(true);
  });

  it('rejects when the port is taken', async () => {
    await using server = await startTcpServer(() => {});
    const error = await rejection(startTcpServer(() => {}, { port: server.port }));
    expect(error.code).toBe('EADDRINUSE');
  });
});

describe('openClient', () => {
  it('sends method, headers and body, and reads the whole answer', async () => {
    await using server = await startHttpServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(201, { 'x-echo': request.headers['x-sent'] });
      response.write(`${request.method} `);
      response.end(`${request.url} ${body}`);
    });
    using client = openClient(server.port);

    const answer = await client.send('/orders', {
      method: 'POST',
      headers: { 'x-sent': 'yes' },
      body: 'three parcels',
    });

    expect(answer.status).toBe(201);
    expect(answer.headers['x-echo']).toBe('yes');
    expect(answer.body).toBe('POST /orders three parcels');
  });

  it('keeps one connection, also when requests are sent together', async () => {
    await using server = await startHttpServer((_request, response) => response.end());
    using client = openClient(server.port);

    await Promise.all([client.send('/'), client.send('/'), client.send('/')]);
    await client.send('/');

    expect(client.connections).toBe(1);
    expect(server.connections).toBe(1);
  });

  it('opens as many as it may', async () => {
    await using server = await startHttpServer((_request, response) => response.end());
    using client = openClient(server.port, { sockets: 2 });

    await Promise.all([client.send('/'), client.send('/'), client.send('/')]);

    expect(client.connections).toBe(2);
  });

  it('leaves no listeners behind on a connection that is used again and again', async () => {
    let socket: Socket | undefined;
    await using server = await startHttpServer((_request, response) => response.end());
    const connected = channel('net.client.socket');
    const note = (message: unknown) => {
      socket = (message as { socket: Socket }).socket;
    };
    connected.subscribe(note);
    using client = openClient(server.port);
    await client.send('/');
    connected.unsubscribe(note);
    const before = socket?.listenerCount('connect');

    for (let n = 0; n < 3; n += 1) await client.send('/');

    expect(before).toBeTypeOf('number');
    expect(socket?.listenerCount('connect')).toBe(before);
  });

  it('opens a new one when the server has closed the old one', async () => {
    await using server = await startHttpServer((_request, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    );
    using client = openClient(server.port);

    await client.send('/');
    await client.send('/');

    expect(client.connections).toBe(2);
  });

  it('rejects when nobody listens, and counts no connection', async () => {
    const server = await startHttpServer(() => {});
    await server.close();
    using client = openClient(server.port);

    expect(await rejection(client.send('/'))).toMatchObject({ code: 'ECONNREFUSED' });
    expect(client.connections).toBe(0);
  });

  it('rejects when an answer breaks off', async () => {
    await using server = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half', () => response.destroy());
    });
    using client = openClient(server.port);

    expect(await rejection(client.send('/'))).toMatchObject({ code: 'ECONNRESET' });
  });

  it('gives up by signal', async () => {
    const controller = new AbortController();
    await using server = await startHttpServer(() => controller.abort());
    using client = openClient(server.port);

    const error = await rejection(client.send('/', { signal: controller.signal }));
    expect(error.name).toBe('AbortError');
  });
});
