import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How a running server is asked to stop. */
export interface CloseOptions {
  /** Let the responses that are running finish. Without it every open connection is cut. */
  drain?: boolean;
}

/** A server that is running. Disposing it is `close()`. */
export interface RunningServer extends AsyncDisposable {
  /** The TCP port on 127.0.0.1. */
  readonly port: number;
  /** Stops listening, cuts what is open, and resolves when nothing is left. Safe to call twice. */
  close(options?: CloseOptions): Promise<void>;
}

/** A running HTTP server. */
export interface HttpServer extends RunningServer {
  /** Address without a path, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Connections that clients have opened so far. */
  readonly connections: number;
  /** Node's own server, for a lesson that has to look deeper. */
  readonly server: Server;
}

/** Where a server listens. */
export interface ListenOptions {
  /** TCP port; 0, the default, lets the system choose a free one. */
  port?: number;
}

/**
 * Starts a real HTTP server on 127.0.0.1.
 *
 * Disposing it also cuts the connections that the handler left unanswered, so a lesson about hung
 * requests ends as promptly as any other. To a client that looks just like the server's process
 * being killed.
 *
 * @throws whatever `listen` reports, such as EADDRINUSE for a port that is taken
 */
export async function startHttpServer(
  handler: RequestListener,
  options: ListenOptions = {},
): Promise<HttpServer> {
  return await listen(createServer(handler), options);
}

/**
 * Makes a server of Node's, such as one that a student has created, listen on 127.0.0.1. From then
 * on it is the same as one that `startHttpServer` has started.
 *
 * @throws whatever `listen` reports, such as EADDRINUSE for a port that is taken
 */
export async function listen(server: Server, options: ListenOptions = {}): Promise<HttpServer> {
  const open = new Set<Socket>();
  const answering = new Set<Socket>();
  let connections = 0;
  let draining = false;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    answering.add(socket);
    response.on('close', () => {
      answering.delete(socket);
      // Kept alive, it would hold up the drain until it times out.
      if (draining) socket.destroySoon();
    });
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening'); // rejects if the server cannot start
  const { port } = server.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  const close = ({ drain = false }: CloseOptions = {}): Promise<void> => {
    // Node's close() takes a response that is still being sent to a slow reader for idle, and cuts it.
    if (drain) server.closeIdleConnections = () => {};
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    if (drain) {
      draining = true;
      for (const socket of open) if (!answering.has(socket)) socket.destroy();
    } else {
      server.closeAllConnections(); // close() alone waits for open requests
    }
    return closed;
  };

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    server,
    get connections() {
      return connections;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
