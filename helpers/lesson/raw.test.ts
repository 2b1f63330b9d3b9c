import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startHttpServer } from './http-server.ts';
import { openRawConnection, rawExchange } from './raw.ts';
import { startTcpServer } from './tcp-server.ts';

describe('rawExchange', () => {
  it('counts every byte of both directions', async () => {
    let serverGot = 0;
    let serverSent = 0;
    await using server = await startHttpServer((request, response) => {
      const { socket } = request;
      response.end('here');
      socket.once('close', () => {
        serverGot = socket.bytesRead;
        serverSent = socket.bytesWritten;
      });
    });
    const request = 'GET /orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

    const exchange = await rawExchange(server.port, request);
    await server.close();

    expect(exchange.ended).toBe('end');
    expect(exchange.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n(4\r\nhere\r\n0\r\n\r\n|here)$/,
    );
    expect(exchange.sentBytes).toBe(Buffer.byteLength(request));
    expect(exchange.sentBytes).toBe(serverGot);
    expect(exchange.receivedBytes).toBe(serverSent);
    expect(exchange.received.length).toBe(exchange.receivedBytes);
  });

  it('sends a request as it stands, however malformed', async () => {
    const targets: string[] = [];
    await using server = await startHttpServer((request, response) => {
      targets.push(request.url ?? '');
      response.end();
    });

    const odd = await rawExchange(
      server.port,
      'GET // HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    const broken = await rawExchange(server.port, Buffer.from('GET / HTTP/9.9\r\n\r\n'));

    expect(odd.text).toContain('200 OK');
    expect(targets).toEqual(['//']);
    expect(broken.text).toContain('400 Bad Request');
  });

  it('ends as soon as what has come satisfies the predicate, and hangs up', async () => {
    const hungUp: Promise<unknown>[] = [];
    await using server = await startTcpServer((socket) => {
      hungUp.push(once(socket, 'close'));
      socket.write('220 ready\r\n');
      socket.write(Buffer.from([0xff, 0x00]));
    });

    const { ended, text, receivedBytes } = await rawExchange(server.port, '', {
      until: (received) => received.includes(0),
    });

    expect(ended).toBe('until');
    expect(text).toBe('220 ready\r\n\u00ff\u0000'); // latin1: a byte, a character
    expect(receivedBytes).toBe(13);
    await Promise.all(hungUp);
  });

  it('says so when the peer hangs up before the predicate holds', async () => {
    await using server = await startTcpServer((socket) => socket.end('half'));

    const { ended, text } = await rawExchange(server.port, 'x', {
      until: (received) => received.includes('whole'),
    });

    expect([ended, text]).toEqual(['end', 'half']);
  });

  it('a connection that breaks is an outcome, with its error', async () => {
    await using server = await startTcpServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });

    const { ended, error } = await rawExchange(server.port, 'x');

    expect(ended).toBe('error');
    expect(error?.code).toBe('ECONNRESET');
  });

  it('rejects when nobody listens', async () => {
    const server = await startTcpServer(() => {});
    await server.close();

    await expect(rawExchange(server.port, 'x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it("rejects with the signal's reason, and cuts the connection", async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let cut: Promise<unknown> | undefined;
    await using server = await startTcpServer((socket) => {
      socket.resume();
      cut = once(socket, 'close');
      controller.abort(reason);
    });

    await expect(rawExchange(server.port, 'x', { signal: controller.signal })).rejects.toBe(reason);
    await cut;
    await expect(rawExchange(server.port, 'x', { signal: controller.signal })).rejects.toBe(reason);
  });

  it("rejects with the predicate's own error", async () => {
    await using server = await startTcpServer((socket) => socket.write('x'));
    const until = () => {
      throw new Error('from the predicate');
    };
    await expect(rawExchange(server.port, '', { until })).rejects.toThrow('from the predicate');
  });
});

describe('openRawConnection', () => {
  it('writes and reads in steps', async () => {
    await using server = await startTcpServer((socket) => socket.pipe(socket));
    using connection = await openRawConnection(server.port);

    await connection.write('one');
    expect(String(await connection.readUntil((received) => received.length >= 3))).toBe('one');
    await connection.write(Buffer.from('two'));
    expect(String(await connection.readUntil((received) => received.length >= 6))).toBe('onetwo');

    expect([connection.sentBytes, connection.receivedBytes]).toEqual([6, 6]);
    expect(connection.state).toBe('open');
    connection.end();
    expect(await connection.ended).toBe('end');
  });

  it('tells what had come when the connection is over before what was awaited', async () => {
    await using server = await startTcpServer((socket) => socket.end('half'));
    using connection = await openRawConnection(server.port);

    await expect(connection.readUntil(() => false)).rejects.toThrow(
      'The peer hung up before what was awaited. 4 bytes had come: "half"',
    );
  });

  it('is cut when it is disposed', async () => {
    let peer: Socket | undefined;
    await using server = await startTcpServer((socket) => {
      peer = socket.resume();
      socket.write('ready');
    });
    const connection = await openRawConnection(server.port);
    await connection.readUntil((received) => received.length > 0);
    const gone = once(peer as Socket, 'close');

    connection[Symbol.dispose]();

    expect(await connection.ended).toBe('cut');
    await gone;
    await expect(connection.write('x')).rejects.toThrow();
  });
});
