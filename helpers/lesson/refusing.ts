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
    const holder = await hold(elsewhere.port, localPort).catch(async (error) => {
      // Another program's connection may have been given the port since. It holds it as well as ours.
      if (localPort !== undefined && isTaken(error) && !(await isListening(localPort))) return;
      throw error;
    });
    return {
      name,
      port: holder?.localPort ?? localPort ?? 0,
      async [Symbol.asyncDispose]() {
        holder?.destroy();
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
      if (localPort !== undefined || !isTaken(error) || again === 0) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

async function isListening(port: number): Promise<boolean> {
  const attempt = connect({ host: '127.0.0.1', port });
  try {
    await once(attempt, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    attempt.destroy();
  }
}
