import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

/** One answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What to ask for. */
export interface Ask {
  /** `GET` unless given. */
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  /** Gives up on the request: its connection is destroyed and the promise rejects. */
  signal?: AbortSignal;
}

/** A client that keeps its connections alive, and counts them. */
export interface HttpClient extends Disposable {
  /** Connections opened so far. Stays at 1 as long as the peer keeps the first one open. */
  readonly connections: number;
  /** Sends one request and reads the whole answer. Rejects if the connection breaks. */
  send(path: string, ask?: Ask): Promise<Answer>;
}

/** How many connections the client may hold. */
export interface ClientOptions {
  /** Parallel connections at most; 1 unless given. `Infinity` never makes a request wait. */
  sockets?: number;
}

/**
 * Opens the course's common client: keep-alive connections to one port of 127.0.0.1.
 *
 * It is built on Node's own agent: for the few hundred requests of a lesson it costs as little as
 * any library, and what it does is what most Node programs do.
 */
export function openClient(port: number, { sockets = 1 }: ClientOptions = {}): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  let connections = 0;

  const send = (path: string, { method = 'GET', headers, body, signal }: Ask = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          agent,
          headers: { ...headers },
          ...(signal && { signal }),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      outgoing.on('socket', (socket) => {
        // `reusedSocket` doesn't tell: it is false, too, for a request that waited for its turn.
        if (!socket.connecting) return;
        socket.once('connect', () => {
          connections += 1;
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  return {
    get connections() {
      return connections;
    },
    send,
    [Symbol.dispose]: () => agent.destroy(),
  };
}
