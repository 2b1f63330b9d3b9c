// The tracking service that several lessons stand a balancer or a proxy in front of: its replicas,
// and the client that asks them.

import { openClient } from './client.ts';
import { type HttpServer, type ListenOptions, startHttpServer } from './http-server.ts';

/** A running replica of the tracking service. */
export interface TrackingReplica extends HttpServer {
  /** Such as `k1`; every answer carries it in `x-kopya`. */
  readonly name: string;
}

/**
 * Starts a replica. `GET /saglik` is answered with `ayakta`; anything else with the state of the
 * parcel whose number is the query parameter `no`, `-` when there is none. For `no=G0` the body
 * has 100 bytes.
 *
 * Closing it looks to everybody else like the death of its process. Starting another one with the
 * same name and port brings it back.
 *
 * @throws whatever `listen` reports, such as EADDRINUSE for a port that is taken
 */
export async function startReplica(
  name: string,
  options: ListenOptions = {},
): Promise<TrackingReplica> {
  const server = await startHttpServer((request, response) => {
    // Split by hand: a URL parser throws at some targets, and one request must not end a replica.
    const [path, query = ''] = (request.url ?? '').split('?', 2);
    response.setHeader('x-kopya', name);
    if (path === '/saglik') {
      response.end('ayakta');
      return;
    }
    const no = new URLSearchParams(query).get('no') ?? '-';
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        no,
        durum: 'aktarma merkezinde',
        bolge: '35',
        adim: 4,
        rota: ['kabul', 'cikis', 'aktarma-34'],
      }),
    );
  }, options);
  // The server's own counters are getters, and stay so.
  return Object.defineProperty(server, 'name', { value: name }) as TrackingReplica;
}

/** Starts `k1` to `k<count>`; disposing the list closes them all, and what was added to it. */
export async function startReplicas(count: number): Promise<TrackingReplica[] & AsyncDisposable> {
  const replicas: TrackingReplica[] = [];
  for (let number = 1; number <= count; number++) replicas.push(await startReplica(`k${number}`));
  return Object.assign(replicas, {
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  });
}

/** What a run of the client counted. */
export interface TrackingRun {
  /** Answers with status 200. */
  readonly answered: number;
  /** All others. */
  readonly failed: number;
  /**
   * Answers by who gave them: the value of `x-kopya` for status 200, `kod <status>` otherwise.
   * Sorted by key, as text.
   */
  readonly tally: Readonly<Record<string, number>>;
  /** Connections that the client needed. */
  readonly connections: number;
}

/**
 * Asks for `count` parcels: `GET /takip?no=G0`, `G1` and so on. One request after another on one
 * connection, unless `concurrency` asks for more of both.
 *
 * @param options.from number of the first parcel
 * @param options.concurrency requests under way at the same time, each on its own connection
 * @throws what breaks a connection; an answer with any status does not
 */
export async function sendTrackingRequests(
  port: number,
  count: number,
  options: { from?: number; concurrency?: number } = {},
): Promise<TrackingRun> {
  const { from = 0, concurrency = 1 } = options;
  using client = openClient(port, { sockets: concurrency });
  const counts = new Map<string, number>();
  let answered = 0;
  let next = from;
  const ask = async () => {
    while (next < from + count) {
      const { status, headers } = await client.send(`/takip?no=G${next++}`);
      if (status === 200) answered += 1;
      const key = status === 200 ? String(headers['x-kopya'] ?? '-') : `kod ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, ask));

  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    answered,
    failed: count - answered,
    tally: Object.fromEntries(sorted),
    connections: client.connections,
  };
}

/** A tally as the lessons print it: `k1=100 k2=100 k3=100`. */
export function printTally(tally: TrackingRun['tally']): string {
  return Object.entries(tally)
    .map(([outcome, count]) => `${outcome}=${count}`)
    .join(' ');
}

/**
 * Runs a scenario in which a server has to come back on the port that it had. Between its end and
 * its return another program may be given that port. Then the scenario can't go on, and begins anew
 * with other ports; any other failure is the scenario's own.
 */
export async function withReusedPorts<T>(scenario: () => Promise<T>): Promise<T> {
  for (let again = 3; ; again -= 1) {
    try {
      return await scenario();
    } catch (error) {
      if (again === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
