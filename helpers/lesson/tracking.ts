import { openClient } from './client.ts';
import { type HttpServer, type ListenOptions, startHttpServer } from './http-server.ts';

/** A running replica: a process that answers tracking queries and health checks. */
export interface Replica extends HttpServer {
  /** Such as `k1`. */
  readonly name: string;
}

/**
 * Starts a replica. `/saglik` answers `ayakta`; every other target answers the tracking record of
 * the query parameter `no`, or of `-` without one: 100 bytes of JSON for `no=G0`. Each answer names
 * the replica in `x-kopya`.
 */
export async function startReplica(name: string, options: ListenOptions = {}): Promise<Replica> {
  const server = await startHttpServer((request, response) => {
    response.setHeader('x-kopya', name);
    if (request.url === '/saglik') {
      response.end('ayakta');
      return;
    }
    const no = new URL(request.url ?? '/', 'http://x').searchParams.get('no') ?? '-';
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
  return Object.assign(server, { name });
}

/** What a client saw. */
export interface TrackingResult {
  /** Answers with status 200. */
  readonly answered: number;
  /** All other answers, and requests without one. */
  readonly failed: number;
  /**
   * How often each outcome came, sorted by name: the replica's name for status 200, else
   * `kod <status>`.
   */
  readonly tally: Readonly<Record<string, number>>;
  /** Connections that it took to send them all. */
  readonly connections: number;
}

/**
 * Sends `GET /takip?no=G0`, `G1`, ... one after another over one keep-alive connection, as the
 * published runs did, and counts who answered.
 *
 * @param port where the balancer listens on 127.0.0.1
 */
export async function sendTrackingRequests(port: number, count: number): Promise<TrackingResult> {
  using client = openClient(port);
  const outcomes = new Map<string, number>();
  let answered = 0;
  for (let i = 0; i < count; i += 1) {
    const { status, headers } = await client.send(`/takip?no=G${i}`);
    const outcome = status === 200 ? String(headers['x-kopya']) : `kod ${status}`;
    if (status === 200) answered += 1;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const tally = Object.fromEntries([...outcomes].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { answered, failed: count - answered, tally, connections: client.connections };
}

/** A tally as the lessons print it: `k1=100 k2=100 k3=100`. */
export function printTally(tally: TrackingResult['tally']): string {
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
