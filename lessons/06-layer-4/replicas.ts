// The replicas of lesson 6, and the six clients that ask them.
import { openClient } from '#helpers/lesson/client.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { within } from '#helpers/lesson/waiting.ts';
import { PUBLISHED } from './given.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** What a replica says of itself on `/sayac`. */
export interface ReplicaCounts {
  /** Its name. */
  readonly ad: string;
  /** Requests that it has seen. */
  readonly istek: number;
  /** The same for each path; one that was never asked for is absent. */
  readonly yol: Readonly<Partial<Record<string, number>>>;
}

/** A running replica. `connections` counts those that clients, or a balancer, have opened. */
export interface CountingReplica extends HttpServer, Replica {}

/**
 * Starts a replica that counts its requests. `/sayac` is answered with `ReplicaCounts` and counted
 * nowhere. Any other path is counted, without its query, and answered with 52 bytes of JSON and the
 * replica's name in `x-kopya`.
 *
 * @param cap requests after which it closes a connection; never, unless given
 */
export async function startReplica(name: string, cap?: number): Promise<CountingReplica> {
  let istek = 0;
  const yol: Partial<Record<string, number>> = {};
  const server = await startHttpServer((request, response) => {
    response.sendDate = false; // so that an answer has the same bytes at any time
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path === '/sayac') {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ad: name, istek, yol }));
      return;
    }
    istek += 1;
    yol[path] = (yol[path] ?? 0) + 1;
    response
      .writeHead(200, { ...JSON_TYPE, 'x-kopya': name })
      .end('{"durum":"aktarma merkezinde","bolge":"35","adim":4}');
  });
  // The answer to the last one carries `Connection: close`, and the client opens another.
  if (cap !== undefined) server.server.maxRequestsPerSocket = cap;
  return Object.defineProperty(server, 'name', { value: name }) as CountingReplica;
}

/** Starts `k1` to `k<count>`; disposing the list closes them all. */
export async function startReplicas(
  count: number,
  cap?: number,
): Promise<CountingReplica[] & AsyncDisposable> {
  const replicas: CountingReplica[] = [];
  for (let number = 1; number <= count; number++) {
    replicas.push(await startReplica(`k${number}`, cap));
  }
  return Object.assign(replicas, {
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  });
}

/** Asks a replica for its counts: on its own port, since through the balancer it would be traffic. */
export async function readCounts({ port }: Replica): Promise<ReplicaCounts> {
  using client = openClient(port);
  return JSON.parse((await client.send('/sayac')).body) as ReplicaCounts;
}

/** Target of request j of client i, both from 0: `/takip` for even j, `/olay` for odd ones. */
export function targetOf(i: number, j: number): string {
  return `${j % 2 === 0 ? '/takip' : '/olay'}?no=I${i}-${j}`;
}

/** How the clients differ from the published ones. */
export interface ClientOptions {
  /** False sends `Connection: close`, and opens a connection for every request. */
  keepAlive?: boolean;
}

/**
 * Client i: sends its share of GET requests, one after another, on one connection that it keeps
 * alive, and closes it. With a share of 0 it opens none.
 *
 * @returns who answered, request by request: the values of `x-kopya`
 * @throws {Error} when the connection breaks, or an answer is not a replica's
 */
export async function runClient(
  port: number,
  i: number,
  share: number,
  { keepAlive = true }: ClientOptions = {},
): Promise<string[]> {
  using client = openClient(port);
  const headers = { Host: PUBLISHED.host, ...(!keepAlive && { Connection: 'close' }) };
  const send = async () => {
    const answeredBy: string[] = [];
    for (let j = 0; j < share; j++) {
      const target = targetOf(i, j);
      const answer = await client.send(target, { headers });
      const name = answer.headers['x-kopya'];
      if (answer.status !== 200 || typeof name !== 'string') {
        throw new Error(`GET ${target} was answered with ${answer.status}, and by no replica`);
      }
      answeredBy.push(name);
    }
    return answeredBy;
  };
  return await within(send(), `the ${share} answers to client ${i}`, 3_000);
}

/**
 * The clients of a mix, one after another: who comes first is dealt first, and together they would
 * come in any order.
 *
 * @param shares requests of each client
 * @returns for each client who answered, request by request
 */
export async function runClients(
  port: number,
  shares: readonly number[],
  options?: ClientOptions,
): Promise<string[][]> {
  const answeredBy: string[][] = [];
  for (const [i, share] of shares.entries()) {
    answeredBy.push(await runClient(port, i, share, options));
  }
  return answeredBy;
}
