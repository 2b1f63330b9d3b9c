// How a request gets to a replica and the response back: what lesson 05 teaches, done on undici's
// connection pools. The lessons after it decide where a request goes, and leave the way to this.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import type { ProxyCounters } from './proxy-extras.ts';

/** What all requests of one program have in common. */
export interface ForwardingOptions {
  /** Connections to one target that may be open at the same time; `Infinity` is no limit. */
  connectionsPerTarget?: number;
  /** Milliseconds from the start of an attempt to its response headers; no limit if left out. */
  headerTimeoutMs?: number | undefined;
  /** Whether an attempt without an answer may be followed by another, where that is safe. */
  retry?: boolean | undefined;
}

/** How one request is to be forwarded. */
export interface Route {
  /**
   * The port on 127.0.0.1 that the next attempt goes to.
   *
   * @param tried ports that this request has been sent to
   * @returns `undefined` when there is none left
   */
  choose(tried: ReadonlySet<number>): number | undefined;
  /** Fields that the target gets instead of the client's with these names, in lower case. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Answers the client itself: no target could be reached (502), or none answered in time (504). */
  refuse(status: 502 | 504): void;
}

/** Forwards requests, and counts what becomes of them. Disposing it closes its connections. */
export interface Forwarding extends AsyncDisposable {
  /** `responses` are attempts that came back with response headers, whatever their status. */
  counters(): ProxyCounters & { responses: number };
  /** Connections that it has opened to the targets so far. */
  readonly connections: number;
  /**
   * Sends one request on its way. The response is written as the target's comes in.
   *
   * One that waits for a connection when its client leaves, or when its time is up, is never sent.
   */
  forward(request: IncomingMessage, response: ServerResponse, route: Route): void;
}

/** Methods that a replica may be asked twice, RFC 9110 section 9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** Fields that are meant for the next hop only, RFC 9110 section 7.6.1. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Not one of them, but Node's server has met the expectation: it has invited the body.
  'expect',
]);

/** Fields that nobody can have taken away by naming them in `Connection`. */
const ALWAYS_PASSED = new Set(['host', 'content-length']);

/** Opens the connections of one program, as they are needed. */
export function openForwarding(options: ForwardingOptions = {}): Forwarding {
  const { connectionsPerTarget = Infinity, headerTimeoutMs, retry = false } = options;
  const counters = {
    unreachable: 0,
    clientAborted: 0,
    upstreamReset: 0,
    upstreamTimeout: 0,
    attempts: 0,
    responses: 0,
  };
  const pools = new Map<number, Pool>();
  let connections = 0;

  const poolOf = (port: number): Pool => {
    let pool = pools.get(port);
    if (!pool) {
      pool = new Pool(`http://127.0.0.1:${port}`, {
        connections: connectionsPerTarget === Infinity ? null : connectionsPerTarget,
        // How long a target may take is for the program to say, and not for its connections.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      pool.on('connect', () => {
        connections += 1;
      });
      pools.set(port, pool);
    }
    return pool;
  };

  const forward = (request: IncomingMessage, response: ServerResponse, route: Route): void => {
    const client = request.socket;
    const withBody = hasBody(request.headers);
    const repeatable = !withBody && IDEMPOTENT.has(request.method ?? '');
    const tried = new Set<number>();
    let cut: (() => void) | undefined;
    let deadline: NodeJS.Timeout | undefined;
    // Once the outcome of the request is settled, whatever else breaks is a consequence of it.
    let settled = false;

    const refuse = (status: 502 | 504) => {
      settled = true;
      request.resume(); // the rest of an upload, or the next request would never be read
      route.refuse(status);
    };

    const attempt = (): void => {
      const port = route.choose(tried);
      if (port === undefined) {
        refuse(502);
        return;
      }
      tried.add(port);
      counters.attempts += 1;
      let maySent = false;
      let answered = false;
      const body = withBody ? new PassThrough() : null;
      if (headerTimeoutMs !== undefined) {
        deadline = setTimeout(() => {
          counters.upstreamTimeout += 1;
          refuse(504);
          cut?.();
        }, headerTimeoutMs);
      }

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(controller) {
          maySent = true;
          // It has waited for a connection, and its client has gone. Throwing gives the connection
          // to the next in line; abort() would take it along.
          if (settled) throw new Error('nobody waits for it any more');
          cut = () => controller.abort(new Error('nobody waits for it any more'));
          // Not before: without a connection any other replica may have it, with its body unread.
          if (body) request.pipe(body);
        },
        onResponseStart(controller, status, headers, statusMessage) {
          if (status < 200) return;
          answered = true;
          counters.responses += 1;
          clearTimeout(deadline);
          response.writeHead(status, statusMessage, endToEnd(headers as IncomingHttpHeaders));
          // A piece of the body that has come along takes them with it, in one packet.
          process.nextTick(() => response.flushHeaders());
          response.on('drain', () => controller.resume());
        },
        onResponseData(controller, piece) {
          if (!response.write(piece)) controller.pause();
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError(_controller, _error) {
          clearTimeout(deadline);
          if (body) request.unpipe(body);
          if (settled) return;
          if (answered) {
            settled = true;
            counters.upstreamReset += 1;
            client.destroy(); // end() would make the rest that is missing look like the end
            return;
          }
          counters.unreachable += 1;
          if (retry && (!maySent || repeatable)) attempt();
          else refuse(502);
        },
      };
      poolOf(port).dispatch(
        {
          method: request.method as Dispatcher.HttpMethod,
          path: pathOf(request),
          headers: { ...endToEnd(request.headers), ...route.fields },
          body,
        },
        handler,
      );
    };

    const clientLeft = () => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      counters.clientAborted += 1;
      cut?.();
    };
    // The client's socket, and not its response: of two pipelined requests the second has a
    // response without a socket, which never hears that the client has gone.
    client.on('close', clientLeft);
    response.on('finish', () => {
      client.off('close', clientLeft);
      // The replica may have answered without waiting for the whole upload. Nobody wants the rest.
      if (!settled && !request.complete) request.resume();
      settled = true;
    });
    attempt();
  };

  return {
    counters: () => ({ ...counters }),
    get connections() {
      return connections;
    },
    forward,
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** The fields without those of this hop. Node and undici have their names in lower case. */
function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const { connection = '' } = headers;
  const named =
    connection === '' || connection === 'keep-alive'
      ? undefined
      : new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
  const passed: Record<string, string | string[]> = {};
  for (const name in headers) {
    if (!ALWAYS_PASSED.has(name) && (HOP_BY_HOP.has(name) || named?.has(name))) continue;
    const value = headers[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/**
 * The target as it came, except for the asterisk of `OPTIONS *`: undici doesn't send it, and the
 * name of the server without a path means the same (RFC 9112, section 3.2.4).
 */
function pathOf({ method, url = '/', headers: { host = '127.0.0.1' } }: IncomingMessage): string {
  return method === 'OPTIONS' && url === '*' ? `http://${host}` : url;
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return Boolean(headers['transfer-encoding']) || Number(headers['content-length'] ?? 0) > 0;
}
