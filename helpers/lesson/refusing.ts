import { once } from 'node:events';
import { connect } from 'node:net';
import type { Replica } from './replica.ts';
import { startTcpServer } from './tcp-server.ts';

/**
 * A replica that refuses every connection, as one does whose process has died. Nobody listens on its
 * port, and no other program can be given it, as could be that of a server that was closed: a
 * connection to somewhere else holds it.
 *
 * @param localPort its port; by default one that the system chooses. That of a server which has just
 *   been closed stays refused in this way.
 */
export async function startRefusing(
  name: string,
  localPort?: number,
): Promise<Replica & AsyncDisposable> {
  const elsewhere = await startTcpServer(() => {});
  const holder = connect({
    host: '127.0.0.1',
    port: elsewhere.port,
    ...(localPort !== undefined && { localAddress: '127.0.0.1', localPort }),
  });
  await once(holder, 'connect');
  return {
    name,
    port: holder.localPort ?? 0,
    async [Symbol.asyncDispose]() {
      holder.destroy();
      await elsewhere.close();
    },
  };
}
