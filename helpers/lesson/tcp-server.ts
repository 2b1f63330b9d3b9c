import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ListenOptions, RunningServer } from './http-server.ts';

/** A running TCP server. */
export interface TcpServer extends RunningServer {
  /** Connections that clients have opened so far. */
  readonly connections: number;
  /** Node's own server, for a lesson that has to look deeper. */
  readonly server: Server;
}

/**
 * Starts a real TCP server on 127.0.0.1. Closing it destroys the sockets that are still open, so a
 * peer that never hangs up cannot hold a lesson; with `drain` it waits for them instead.
 *
 * An error of a single connection is ignored unless `onConnection` listens for it: peers that
 * reset are part of the lessons.
 *
 * @throws whatever `listen` reports, such as EADDRINUSE for a port that is taken
 */
export async function startTcpServer(
  onConnection: (socket: Socket) => void,
  options: ListenOptions = {},
): Promise<TcpServer> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    onConnection(socket);
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  const close = ({ drain = false } = {}): Promise<void> => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    if (!drain) for (const socket of open) socket.destroy();
    return closed;
  };

  return {
    port,
    server,
    get connections() {
      return connections;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
