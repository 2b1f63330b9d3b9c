import { connect, type Socket } from 'node:net';

/** How a connection stands: `end` is the peer's FIN, `error` what broke it, `cut` our own doing. */
export type RawState = 'open' | 'end' | 'error' | 'cut';

/**
 * A TCP connection to 127.0.0.1 on which nothing is interpreted: what is written is what goes over
 * the wire, and every byte is counted. Disposing it destroys it.
 */
export interface RawConnection extends Disposable {
  /** Payload bytes handed to the system so far; TCP's and IP's own headers are not counted. */
  readonly sentBytes: number;
  /** Payload bytes that have come so far. */
  readonly receivedBytes: number;
  /** All that has come so far. */
  readonly received: Buffer;
  /** `received` as latin1, one character a byte, so that no byte is lost or merged. */
  readonly text: string;
  /** Whether the peer can still send, and if not, why. */
  readonly state: RawState;
  /** What broke the connection, where `state` is `error`. */
  readonly error: NodeJS.ErrnoException | undefined;
  /** Sends bytes; text goes out as latin1. Resolves once they are handed to the system. */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Resolves with all that has come as soon as it satisfies the predicate.
   *
   * @throws {Error} when the connection is over before that; the message shows what had come
   */
  readUntil(predicate: (received: Buffer) => boolean): Promise<Buffer>;
  /** Resolves when the peer has hung up, or the connection has broken or been destroyed. */
  readonly ended: Promise<Exclude<RawState, 'open'>>;
  /** Sends our FIN: nothing more will be written, and the peer may still answer. */
  end(): void;
  /** Cuts the connection. */
  destroy(): void;
}

/** How a raw exchange went. */
export interface RawExchange {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly received: Buffer;
  /** `received` as latin1, one character a byte. */
  readonly text: string;
  /** `until`: the predicate held. `end`: the peer hung up. `error`: the connection broke. */
  readonly ended: 'until' | 'end' | 'error';
  /** What broke the connection, with its `code`, such as ECONNRESET. */
  readonly error?: NodeJS.ErrnoException;
}

/** When a raw exchange is over. */
export interface RawExchangeOptions {
  /** `end`, the default, waits until the peer hangs up; a predicate ends it by what has come. */
  until?: 'end' | ((received: Buffer) => boolean);
  /** Cuts the connection and rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Opens a connection to a port of 127.0.0.1.
 *
 * @throws what `connect` reports, such as ECONNREFUSED where nobody listens
 */
export async function openRawConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return watch(socket);
}

/**
 * Sends one request as it stands and collects the answer: for malformed requests that no client
 * would send, and for counting what a request costs on the wire.
 *
 * A connection that breaks is an outcome, `ended: 'error'`, and not an exception: what a server
 * does to a request that it doesn't like is what such a test looks at.
 *
 * @throws what `connect` reports, or the reason of the signal
 * @example
 * const { text } = await rawExchange(port, 'GET // HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
 */
export async function rawExchange(
  port: number,
  request: string | Uint8Array,
  { until = 'end', signal }: RawExchangeOptions = {},
): Promise<RawExchange> {
  signal?.throwIfAborted();
  using connection = await openRawConnection(port);
  const cut = () => connection.destroy();
  signal?.addEventListener('abort', cut, { once: true });
  try {
    signal?.throwIfAborted(); // it may have been aborted while we were connecting
    // A peer that hangs up half-way has answered nevertheless: the state says how it ended.
    connection.write(request).catch(() => {});
    let held = false;
    if (until === 'end') await connection.ended;
    else {
      held = await connection.readUntil(until).then(
        () => true,
        (error: unknown) => {
          if (connection.state === 'open') throw error; // the predicate's own error
          return false;
        },
      );
    }
    signal?.throwIfAborted();
    const { sentBytes, received, text, state, error } = connection;
    return {
      sentBytes,
      receivedBytes: received.length,
      received,
      text,
      ended: held ? 'until' : state === 'error' ? 'error' : 'end',
      ...(error && { error }),
    };
  } finally {
    signal?.removeEventListener('abort', cut);
  }
}

function watch(socket: Socket): RawConnection {
  const chunks: Buffer[] = [];
  const waiting = new Set<() => void>();
  let state: RawState = 'open';
  let failure: NodeJS.ErrnoException | undefined;
  let tell: (state: Exclude<RawState, 'open'>) => void;
  const ended = new Promise<Exclude<RawState, 'open'>>((resolve) => {
    tell = resolve;
  });

  const wake = () => {
    for (const check of [...waiting]) check();
  };
  const over = (reason: Exclude<RawState, 'open'>) => {
    if (state !== 'open') return;
    state = reason;
    tell(reason);
    wake();
  };
  const received = () => {
    if (chunks.length > 1) chunks.splice(0, chunks.length, Buffer.concat(chunks));
    return chunks[0] ?? Buffer.alloc(0);
  };

  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  socket.on('end', () => over('end'));
  socket.on('error', (error) => {
    failure ??= error;
    over('error');
  });
  socket.on('close', () => over('cut'));

  return {
    get sentBytes() {
      return socket.bytesWritten;
    },
    get receivedBytes() {
      return socket.bytesRead;
    },
    get received() {
      return received();
    },
    get text() {
      return received().toString('latin1');
    },
    get state() {
      return state;
    },
    get error() {
      return failure;
    },
    ended,
    write: (data) =>
      new Promise((resolve, reject) => {
        const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    readUntil: (predicate) =>
      new Promise((resolve, reject) => {
        const check = () => {
          try {
            const bytes = received();
            if (predicate(bytes)) resolve(bytes);
            else if (state === 'open') return;
            else
              reject(new Error(`${HOW_IT_ENDED[state]} before what was awaited. ${shown(bytes)}`));
          } catch (error) {
            reject(error as Error);
          }
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

const HOW_IT_ENDED = {
  end: 'The peer hung up',
  error: 'The connection broke',
  cut: 'The connection was cut on this side',
} as const;

function shown(bytes: Buffer): string {
  const start = JSON.stringify(bytes.subarray(0, 200).toString('latin1'));
  return `${bytes.length} bytes had come${bytes.length > 0 ? `: ${start}` : ''}`;
}
