import { type HttpClient, openClient } from '#helpers/lesson/client.ts';
import type { Distribution } from './given.ts';

/** How many requests each of six clients sends: the mix of lesson 6. */
export const MIX: readonly number[] = [1, 2, 4, 8, 16, 32];

/** Every fifth request is a status event: near the 4.29 reads that come on one write at the peak. */
export const EVENT_EVERY = 5;

/** Whether request number `g` is an event. It counts from 0, over all clients. */
export function isEvent(g: number): boolean {
  return g % EVENT_EVERY === EVENT_EVERY - 1;
}

/** How a run of the clients differs from the published one. */
export interface ClientRunOptions {
  /** What the clients take for the path of events; `/olay` unless given. */
  eventPath?: string;
  /** All clients at the same time, instead of one after another. */
  atOnce?: boolean;
}

/** What a run of the clients counted, on their side of the balancer. */
export interface ClientRun {
  readonly clients: number;
  readonly requests: number;
  /** Tracking queries sent. */
  readonly takip: number;
  /** Status events sent. */
  readonly olay: number;
  /** Connections that the clients needed. */
  readonly connections: number;
  /** Answers with status 200, by the replica that `x-kopya` names and by what had been sent. */
  readonly answers: Distribution;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/**
 * Runs the clients: each opens one connection, sends its share of requests one after another, and
 * closes. Request j of client i asks for `/takip?no=I<i>-<j>`, or for the same number of `/olay` when
 * `isEvent` says so of its number over all clients.
 *
 * @param shares requests of each client, in the order in which they run
 * @throws what breaks a connection; an answer with any status does not
 */
export async function runClients(
  port: number,
  shares: readonly number[],
  { eventPath = '/olay', atOnce = false }: ClientRunOptions = {},
): Promise<ClientRun> {
  const answers: Distribution = {};
  const statuses: Record<number, number> = {};
  const sent = { read: 0, write: 0 };
  let connections = 0;
  let g = 0;

  const ask = async (client: HttpClient, no: string) => {
    const kind = isEvent(g++) ? 'write' : 'read';
    sent[kind] += 1;
    const path = kind === 'write' ? eventPath : '/takip';
    const { status, headers } = await client.send(`${path}?no=${no}`);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status !== 200) return;
    const replica = String(headers['x-kopya']);
    answers[replica] ??= { read: 0, write: 0 };
    answers[replica][kind] += 1;
  };
  const run = async (share: number, i: number) => {
    using client = openClient(port);
    for (let j = 0; j < share; j++) await ask(client, `I${i}-${j}`);
    connections += client.connections;
  };
  if (atOnce) await Promise.all(shares.map(run));
  else for (const [i, share] of shares.entries()) await run(share, i);

  return {
    clients: shares.length,
    requests: g,
    takip: sent.read,
    olay: sent.write,
    connections,
    answers,
    statuses,
  };
}
