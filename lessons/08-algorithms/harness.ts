import { EventEmitter, once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Answer, type HttpClient, openClient } from '#helpers/lesson/client.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import type { Balancer, RequestPicker } from './balancer.ts';
import { QUEUE } from './given.ts';
import { type QueueReport, sum } from './queue.ts';

/** The tracking number that a request asks for. */
export function trackingNumberOf(path: string): string {
  return new URL(path, 'http://localhost').searchParams.get('no') ?? '';
}

/** A rule that looks at the key alone: the request goes where a placement puts its number. */
export function pickByKey(
  names: readonly string[],
  placementOf: (key: string) => string,
): RequestPicker {
  return (_open, _arrival, { path }) => names.indexOf(placementOf(trackingNumberOf(path)));
}

/** A request that a replica has received and whose response it holds. */
interface Held {
  readonly arrival: number;
  readonly finish: number;
  readonly response: ServerResponse;
}

/** A replica whose time is the harness's clock: it serves one request at a time, in virtual ticks. */
interface VirtualReplica {
  readonly server: HttpServer;
  readonly held: Held[];
  freeAt: number;
  work: number;
  waits: number;
  requests: number;
}

/** What a run through the balancer takes. */
export interface VirtualRun {
  /** Ticks that each request needs on a healthy replica. */
  readonly costs: readonly number[];
  /** Cost multiplier of each replica, `k1` first. */
  readonly multipliers: readonly number[];
  readonly startPickingBalancer: (replicas: readonly Replica[]) => Promise<Balancer>;
  /** Ends the run when it aborts, as the signal of a test does at its time-out. */
  readonly signal: AbortSignal;
}

/**
 * The queue model over real sockets. Nobody sleeps: the clock is a number, and a replica holds each
 * response until the clock has reached its finish tick.
 *
 * For each arrival the clock moves on by the interval, the responses that are due are ended and
 * awaited, the open counts are noted, and the request is sent; the next one follows when a replica
 * has received it.
 *
 * @returns the queue model's report, and the open counts after everything is finished
 * @throws {Error} when a request is answered although no replica has received it
 */
export async function runOnVirtualClock({
  costs,
  multipliers,
  startPickingBalancer,
  signal,
}: VirtualRun): Promise<QueueReport & { readonly openAtEnd: readonly number[] }> {
  let clock = 0;
  const bell = new EventEmitter();
  await using pool = await startVirtualReplicas(multipliers, () => clock, bell);
  const { replicas } = pool;
  await using balancer = await startPickingBalancer(
    replicas.map(({ server: { port } }, index) => ({ name: `k${index + 1}`, port })),
  );
  // The client must not wait for a free connection: its requests pile up at the replicas.
  using client = openClient(balancer.port, { sockets: Number.POSITIVE_INFINITY });
  const answers: Promise<Answer>[] = [];
  const timeUp = whenAborted(signal);
  let maxQueue = 0;

  const release = async (untilTick: number) => {
    for (const { held } of replicas) {
      for (let next = held[0]; next && next.finish <= untilTick; next = held[0]) {
        held.shift();
        next.response.end();
        await Promise.race([answers[next.arrival], timeUp]);
      }
    }
  };

  for (const [arrival, cost] of costs.entries()) {
    clock = arrival * QUEUE.arrivalIntervalTicks;
    await release(clock);
    maxQueue = Math.max(maxQueue, ...balancer.open());
    const received = once(bell, 'received');
    const answer = client.send(`/takip?no=G${arrival}`, { headers: { 'x-cost': String(cost) } });
    answer.catch(() => {}); // whoever awaits it hears of it; at the end of a failed test nobody does
    answers.push(answer);
    await Promise.race([received, timeUp, answer.then((early) => tooEarly(arrival, early))]);
  }
  await release(Number.POSITIVE_INFINITY);

  return {
    meanWait: sum(replicas.map(({ waits }) => waits)) / costs.length,
    maxQueue,
    finish: Math.max(...replicas.map(({ freeAt }) => freeAt)),
    work: replicas.map(({ work }) => work),
    requests: replicas.map(({ requests }) => requests),
    openAtEnd: balancer.open(),
  };
}

/** Rejects when the signal aborts. One listener for a whole run, where each request could have one. */
function whenAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {}); // it may abort when nobody waits any more
  return aborted;
}

async function startVirtualReplicas(
  multipliers: readonly number[],
  now: () => number,
  bell: EventEmitter,
): Promise<AsyncDisposable & { readonly replicas: readonly VirtualReplica[] }> {
  const replicas = await Promise.all(
    multipliers.map(async (multiplier): Promise<VirtualReplica> => {
      const server = await startHttpServer((request, response) => {
        const cost = Number(request.headers['x-cost']);
        if (!(cost > 0)) {
          response.writeHead(400).end('x-cost is missing');
          return;
        }
        const start = Math.max(now(), replica.freeAt);
        const finish = start + cost * multiplier;
        replica.waits += start - now();
        replica.work += cost * multiplier;
        replica.freeAt = finish;
        replica.requests += 1;
        const arrival = Number(trackingNumberOf(request.url ?? '').slice(1));
        replica.held.push({ arrival, finish, response });
        bell.emit('received');
      });
      const replica: VirtualReplica = {
        server,
        held: [],
        freeAt: 0,
        work: 0,
        waits: 0,
        requests: 0,
      };
      return replica;
    }),
  );
  return {
    replicas,
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map(({ server }) => server.close()));
    },
  };
}

function tooEarly(arrival: number, { status, body }: Answer): never {
  throw new Error(
    `request ${arrival} was answered with ${status} "${body}" although no replica has received it`,
  );
}

/** What one round of questions cost. */
export interface CacheRound {
  /** Requests that the caches passed on to the origin. */
  readonly originRequests: number;
  /** Requests that each replica received. */
  readonly requests: readonly number[];
}

/** Replicas with a local cache each, in front of one origin. */
export interface CachedReplicas extends AsyncDisposable {
  readonly replicas: readonly Replica[];
  /** Asks for all keys through the client, in order, one at a time. */
  ask(client: HttpClient, keys: readonly string[], signal: AbortSignal): Promise<CacheRound>;
}

/**
 * Starts one replica for each name, and the origin behind them. A replica answers from its cache
 * what it has been asked before, and asks the origin for the rest.
 */
export async function startCachedReplicas(names: readonly string[]): Promise<CachedReplicas> {
  let originRequests = 0;
  const requests = names.map(() => 0);
  const origin = await startHttpServer((request, response) => {
    originRequests += 1;
    response.end(`the state of ${trackingNumberOf(request.url ?? '')}`);
  });
  const originClient = openClient(origin.port);
  const servers = await Promise.all(
    names.map((_name, index) => {
      const cache = new Map<string, string>();
      const answer = async (request: IncomingMessage, response: ServerResponse) => {
        requests[index] = (requests[index] ?? 0) + 1;
        const key = trackingNumberOf(request.url ?? '');
        let body = cache.get(key);
        if (body === undefined) {
          ({ body } = await originClient.send(request.url ?? '/'));
          cache.set(key, body);
        }
        response.end(body);
      };
      return startHttpServer((request, response) => {
        answer(request, response).catch(() => response.destroy());
      });
    }),
  );

  return {
    replicas: names.map((name, index) => ({ name, port: servers[index]?.port ?? 0 })),
    async ask(client, keys, signal) {
      const before = { originRequests, requests: [...requests] };
      const timeUp = whenAborted(signal);
      for (const key of keys) {
        const answer = client.send(`/takip?no=${key}`);
        answer.catch(() => {}); // as above
        const { status, body } = await Promise.race([answer, timeUp]);
        if (status !== 200 || body !== `the state of ${key}`) {
          throw new Error(`the answer for ${key} was ${status} "${body}"`);
        }
      }
      return {
        originRequests: originRequests - before.originRequests,
        requests: requests.map((count, index) => count - (before.requests[index] ?? 0)),
      };
    },
    async [Symbol.asyncDispose]() {
      originClient[Symbol.dispose]();
      await Promise.all([origin, ...servers].map((server) => server.close()));
    },
  };
}

/** A replica that answers nothing until the test does. */
export interface HoldingReplica extends AsyncDisposable {
  readonly port: number;
  /** The responses of the requests received so far, in order. */
  readonly held: readonly ServerResponse[];
  /** Resolves when that many requests have been received since the start. */
  received(count: number, signal: AbortSignal): Promise<void>;
  /** Dies: stops listening and cuts every connection. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** Starts a replica that holds every response; the test ends them. */
export async function startHoldingReplica(): Promise<HoldingReplica> {
  const held: ServerResponse[] = [];
  const bell = new EventEmitter();
  const server = await startHttpServer((_request, response) => {
    held.push(response);
    bell.emit('received');
  });
  return {
    port: server.port,
    held,
    async received(count, signal) {
      while (held.length < count) await once(bell, 'received', { signal });
    },
    close: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** How a response ended that a client has begun to read. */
export interface Ending {
  readonly status: number;
  /** Bytes of the body that came. */
  readonly bytes: number;
  /** False if the response broke off. */
  readonly complete: boolean;
  /** Code of the error, such as `ECONNRESET`; none after a clean end. */
  readonly error: string | undefined;
}

/**
 * Sends a GET request, waits for the first bytes of the answer's body, calls `whenBegun` and then
 * reads on until the response ends or breaks off.
 */
export async function readToItsEnd(
  port: number,
  whenBegun: () => void,
  signal: AbortSignal,
): Promise<Ending> {
  const outgoing = httpRequest({ host: '127.0.0.1', port, path: '/', agent: false, signal });
  const [response] = (await once(outgoing.end(), 'response', { signal })) as [IncomingMessage];
  let bytes = 0;
  let begun = false;
  let error: string | undefined;
  // A broken connection is reported at the request, at the response, or at both.
  outgoing.on('error', () => {});
  response.on('error', (reason: NodeJS.ErrnoException) => {
    error = reason.code ?? reason.message;
  });
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (!begun) whenBegun();
    begun = true;
  });
  await new Promise((resolve) => response.on('close', resolve));
  return { status: response.statusCode ?? 0, bytes, complete: response.complete, error };
}
