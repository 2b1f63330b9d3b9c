import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import getPort from 'get-port';
import type { Replica } from './replica.ts';
import { startTcpServer } from './tcp-server.ts';

/**
 * A replica that refuses every connection, as one does whose process has died. Nobody listens on its
 * port, and no other program can be given it, as could be that of a server that was closed: a
 * connection to somewhere else holds it.
 *
 * That connection asks for its port by number. One that the system had chosen could be chosen again
 * for a connection to this very port, which would then be connected to itself: on Linux that is one
 * attempt in 20,000.
 *
 * @param localPort its port; by default one that the system chooses. That of a server which has just
 *   been closed stays refused in this way.
 */
export async function startRefusing(
  name: string,
  localPort?: number,
): Promise<Replica & AsyncDisposable> {
  const elsewhere = await startTcpServer(() => {});
  try {
    const holder = await hold(elsewhere.port, localPort);
    return {
      name,
      port: holder.localPort ?? 0,
      async [Symbol.asyncDispose]() {
        holder.destroy();
        await elsewhere.close();
      },
    };
  } catch (error) {
    await elsewhere.close();
    throw error;
  }
}

/** Connects from a port of its own, or from any that is free. */
async function hold(port: number, localPort?: number): Promise<Socket> {
  for (let again = 3; ; again -= 1) {
    const holder = connect({
      ...{ host: '127.0.0.1', port, localAddress: '127.0.0.1' },
      localPort: localPort ?? (await getPort({ host: '127.0.0.1' })),
    });
    try {
      await once(holder, 'connect');
      return holder;
    } catch (error) {
      // Between the choice and the connection another program may have been given the port.
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (localPort !== undefined || !isTaken || again === 0) throw error;
    }
  }
}
