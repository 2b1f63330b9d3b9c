import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Replica } from '#helpers/lesson/replica.ts';
import type {
  Assignment,
  BareRequest,
  Layer4Balancer,
  Layer4Options,
  RecycleLimit,
} from './given.ts';

/**
 * Bytes that a request puts on the wire: the request line, a `Host` field, a `Connection` field and
 * the empty line, each with its two end bytes. There is no body and no other field.
 *
 * Text is counted in bytes of its UTF-8 form, as given: nothing is percent-encoded for the caller.
 *
 * @throws {RangeError} whose message names `target` when it does not begin with `/`, or contains a
 *   space, CR or LF
 * @example requestBytes({ method: 'GET', target: '/', host: 'a', connection: 'close' })
 * // 'GET / HTTP/1.1', 'Host: a', 'Connection: close' and '': 16 + 9 + 19 + 2 = 46
 */
export function requestBytes({ method, target, host, connection }: BareRequest): number {
  if (!/^\/[^ \r\n]*$/.test(target)) {
    throw new RangeError(
      `target is ${JSON.stringify(target)}, wanted a "/" and no space or line end`,
    );
  }
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, `Connection: ${connection}`, ''];
  // Adding up constants would do as well: 4 + 9 + 2 + ... Written out, it can be compared with a
  // captured request, line by line.
  return Buffer.byteLength(lines.map((line) => `${line}\r\n`).join(''));
}

/**
 * Bytes that the clients of a mix send together.
 *
 * Client i sends `shares[i]` requests: request j, from 0, is a kept-alive GET for
 * `/takip?no=I<i>-<j>` if j is even and for `/olay?no=I<i>-<j>` if it is odd. A client with a share
 * of 0 sends nothing and keeps its number.
 *
 * @param shares requests of each client, in client order; an empty mix sends 0 bytes
 * @param host value of the `Host` field
 * @throws {RangeError} whose message names `shares` when one is negative or not whole
 */
export function mixBytes(shares: readonly number[], host: string): number {
  requireShares(shares);
  let bytes = 0;
  for (const [i, share] of shares.entries()) {
    for (let j = 0; j < share; j++) {
      const target = `${j % 2 === 0 ? '/takip' : '/olay'}?no=I${i}-${j}`;
      bytes += requestBytes({ method: 'GET', target, host, connection: 'keep-alive' });
    }
  }
  return bytes;
}

/**
 * How far apart the extremes are: the largest count over the smallest one.
 *
 * Every configured replica counts, also one that got nothing: then the skew is `Infinity`.
 *
 * @param counts connections or requests of each replica
 * @returns 1 when all are equal
 * @throws {RangeError} whose message names `counts` when they are empty or all 0, or when one is
 *   negative or not finite
 * @example skew([10, 20, 40]) // 4
 */
export function skew(counts: readonly number[]): number {
  requireCounts(counts);
  // A smallest count of 0 makes it a division by 0, which is Infinity and just what is asked for.
  return Math.max(...counts) / Math.min(...counts);
}

/**
 * How much more the busiest replica carries than a fair share: its share of the sum times the
 * number of replicas, which is the maximum over the mean.
 *
 * A rate per replica times the imbalance is the rate of the busiest one.
 *
 * @param counts connections or requests of each replica, those with 0 included
 * @returns 1 for a perfect split, the number of replicas when one has everything
 * @throws {RangeError} as `skew` does
 * @example imbalance([10, 20, 30]) // 30 / 60 x 3 = 1.5
 */
export function imbalance(counts: readonly number[]): number {
  requireCounts(counts);
  // Multiplied first: whole counts stay exact until the one division.
  return (Math.max(...counts) * counts.length) / sum(counts);
}

/**
 * A layer 4 balancer on 127.0.0.1. It knows connections and bytes, and nothing of what they mean.
 *
 * For each connection that it accepts:
 * 1. It decides, at once and before a byte has come: the replica is `replicas[r % n]`, and then r
 *    goes up by 1. r starts at 0. `decisions` goes up by 1.
 * 2. It opens one connection to that replica. When it stands, the replica's entry of `connections`
 *    goes up by 1.
 * 3. It copies the bytes of both directions unchanged, until both are through. Whoever reads slowly
 *    gets everything. `bytes` counts those that come from the client, and no others.
 * 4. When one side ends, what it has sent is delivered, and then the end is. When one side breaks,
 *    the other is cut. Neither ends the process.
 *
 * What it owes to both sides (6.7):
 * - Half-close: an end is the end of one direction. The other one works on until it ends, too.
 * - A break is passed on as a break: the other side's connection is reset, and does not end as if
 *   all had come.
 * - Back-pressure: it takes no more from one side than the other one takes, but for the buffers of
 *   two connections.
 * - A replica that refuses: nothing has been sent yet, so the connection is offered to the next
 *   replica of the list, behind the last one to the first, to each at most once. `failovers` counts
 *   those further offers. r does not move for them. Once a replica has accepted, it is never
 *   exchanged for another one. When all have refused, the client's connection is reset.
 * - With `proxyProtocol` the replica first gets the line
 *   `PROXY TCP4 <client address> <balancer address> <client port> <balancer port>` and CR LF
 *   (PROXY protocol, version 1), before the client has said anything. `bytes` does not include it.
 * - `close({ drain: true })` stops listening at once and resolves when the open connections have
 *   ended by themselves.
 *
 * @throws {RangeError} (rejects) before it listens, when `replicas` is empty or has a name twice; the
 *   message names `replicas`
 */
export async function startLayer4Balancer(options: Layer4Options): Promise<Layer4Balancer> {
  const { replicas, proxyProtocol = false } = options;
  const connections = new Map<string, number>();
  for (const { name } of replicas) {
    if (connections.has(name)) throw new RangeError(`replicas has "${name}" twice`);
    connections.set(name, 0);
  }
  if (connections.size === 0) throw new RangeError('replicas is empty, wanted at least one');
  let decisions = 0;
  let failovers = 0;
  let bytes = 0;
  const open = new Set<Socket>();

  const watch = (socket: Socket): void => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // What broke a connection is of no interest, and without a listener it would end the process.
    socket.on('error', () => {});
  };

  /** Offers the connection to the first of the candidates, and to the others if it refuses. */
  const offer = (client: Socket, [replica, ...others]: readonly Replica[]): void => {
    if (!replica) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: replica.port, ...SOCKET_OPTIONS });
    watch(upstream);
    const clientLeft = () => upstream.destroy();
    const refused = () => {
      client.off('close', clientLeft);
      if (client.destroyed) return;
      if (others.length > 0) failovers += 1;
      offer(client, others);
    };
    client.on('close', clientLeft);
    upstream.on('close', refused);
    upstream.on('connect', () => {
      client.off('close', clientLeft);
      upstream.off('close', refused);
      connections.set(replica.name, (connections.get(replica.name) ?? 0) + 1);
      if (proxyProtocol) upstream.write(proxyLine(client));
      join(client, upstream);
    });
  };

  const join = (client: Socket, upstream: Socket): void => {
    // Only now: a listener makes the bytes flow, and before there was nowhere to put them.
    client.on('data', (piece) => {
      bytes += piece.length;
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // pipe() stops reading while the other side does not take, and passes the end on.
      from.pipe(to);
      // Not on 'error' alone: a socket that was cut on this side has none. And a socket that closes
      // in order may leave behind bytes that the other one is still sending.
      from.on('close', () => {
        if (!from.readableEnded || !from.writableFinished) to.resetAndDestroy();
      });
    }
  };

  const server = createServer(SOCKET_OPTIONS, (client) => {
    watch(client);
    // The rotation moves once per connection, so the number of decisions is the rotation.
    const turn = decisions % replicas.length;
    decisions += 1;
    offer(client, [...replicas.slice(turn), ...replicas.slice(0, turn)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  let closed: Promise<void> | undefined;
  const close: Layer4Balancer['close'] = ({ drain = false } = {}) => {
    closed ??= new Promise<void>((resolve) => server.close(() => resolve())).then(async () => {
      // The server waits for the connections that it accepted, and knows nothing of those behind it.
      await Promise.all([...open].map((socket) => new Promise((done) => socket.on('close', done))));
    });
    if (!drain) for (const socket of open) socket.destroy();
    return closed;
  };

  return {
    port: (server.address() as AddressInfo).port,
    counters: () => ({
      decisions,
      connections: Object.fromEntries(connections),
      bytes,
      failovers,
    }),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Of both connections, or an end that comes from one side would be an end for both directions. */
const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  // Whoever wrote the bytes has decided when to send them. Held back to be sent with later ones, a
  // short answer would wait for the acknowledgement of the one before.
  noDelay: true,
};

function proxyLine({ remoteAddress, localAddress, remotePort, localPort }: Socket): string {
  // A client that has gone while we were connecting has no address any more.
  if (!remoteAddress) return 'PROXY UNKNOWN\r\n';
  return `PROXY TCP4 ${remoteAddress} ${localAddress} ${remotePort} ${localPort}\r\n`;
}

/**
 * Predicts what the balancer does with the clients of a mix that come one after another.
 *
 * Each client opens a connection, and the connections are dealt round robin. With a cap, a replica
 * closes a connection after that many requests, and the client opens another one for the next: the
 * share is cut into pieces of at most `cap`, and the pieces are dealt, in order.
 *
 * @param shares requests of each client, in client order; a client with 0 opens no connection
 * @param replicas how many there are, 1 or more
 * @param cap requests that a connection may carry, 1 or more; no limit unless given
 * @throws {RangeError} whose message names `shares`, `replicas` or `cap`: what is not whole, a share
 *   below 0, `replicas` or `cap` below 1
 * @example assignConnections([3, 1], 2)
 * // { requests: [3, 1], connections: [1, 1], decisions: 2 }
 * assignConnections([3, 1], 2, 2) // pieces 2, 1 and 1
 * // { requests: [3, 1], connections: [2, 1], decisions: 3 }
 */
export function assignConnections(
  shares: readonly number[],
  replicas: number,
  cap?: number,
): Assignment {
  requireShares(shares);
  requireCount({ replicas });
  if (cap !== undefined) requireCount({ cap });
  const requests = new Array<number>(replicas).fill(0);
  const connections = new Array<number>(replicas).fill(0);
  let decisions = 0;
  for (const share of shares) {
    for (let left = share; left > 0; ) {
      const piece = Math.min(left, cap ?? left);
      const turn = decisions % replicas;
      requests[turn] = (requests[turn] ?? 0) + piece;
      connections[turn] = (connections[turn] ?? 0) + 1;
      decisions += 1;
      left -= piece;
    }
  }
  return { requests, connections, decisions };
}

/**
 * The published formula: how many replicas a peak needs if the imbalance stays what it is.
 *
 * That is the imbalance times the peak over the safe rate, rounded up. A quotient that is above a
 * whole number by no more than a relative 1e-9 counts as that number.
 *
 * @param counts requests of each replica, as measured
 * @param peakRate req/s, above 0
 * @param safeRate req/s that one replica may carry, above 0
 * @throws {RangeError} whose message names `counts` (as `imbalance` does), or `peakRate` or
 *   `safeRate` when it is not above 0 or not finite
 */
export function replicasNeeded(
  counts: readonly number[],
  peakRate: number,
  safeRate: number,
): number {
  requireRates({ peakRate, safeRate });
  const replicas = (imbalance(counts) * peakRate) / safeRate;
  return Math.ceil(replicas - replicas * SLACK);
}

// Which of the two would you sign? The second. The first takes an imbalance that was measured on
// three replicas for a property of the traffic. It is one of the traffic and of the number of
// replicas, and a connection cannot be split, whatever the number is.

/**
 * The fewest replicas that hold: for each number from 1 on the connections of the mix are dealt
 * anew, without a cap, and the busiest replica's share of the requests is its share of the peak.
 *
 * A replica holds when its rate is at or under the safe rate, or above it by no more than a relative
 * 1e-9.
 *
 * @param shares requests of each client, in client order
 * @param peakRate req/s, above 0
 * @param safeRate req/s that one replica may carry, above 0
 * @param maxReplicas the last number to try, a whole one of 1 or more
 * @returns `undefined` when no number up to `maxReplicas` holds
 * @throws {RangeError} whose message names the field: `shares` when they hold no request or one is
 *   negative or not whole, a rate that is not above 0 or not finite, `maxReplicas`
 */
export function replicasThatHold(
  shares: readonly number[],
  peakRate: number,
  safeRate: number,
  maxReplicas: number,
): number | undefined {
  requireTraffic(shares);
  requireRates({ peakRate, safeRate });
  requireCount({ maxReplicas });
  // With as many replicas as clients each connection has one to itself, and more do not help.
  const most = Math.min(maxReplicas, shares.length);
  for (let replicas = 1; replicas <= most; replicas++) {
    const { requests } = assignConnections(shares, replicas);
    if (holds(busiestRate(requests, peakRate), safeRate)) return replicas;
  }
  return undefined;
}

/**
 * After how many requests a connection should be closed, so that a given number of replicas holds
 * and as few decisions as possible are paid for it.
 *
 * Caps from 1 to the largest share are tried; the largest share stands for no cap at all. Of those
 * with which the busiest replica holds, as in `replicasThatHold`, the one with the fewest decisions
 * is best, of equal ones that with the smaller imbalance of the requests, and then the smaller cap.
 *
 * @param shares requests of each client, in client order
 * @param replicas how many there are, 1 or more
 * @param peakRate req/s, above 0
 * @param safeRate req/s that one replica may carry, above 0
 * @throws {RangeError} whose message names the field, as in `replicasThatHold`
 * @throws {Error} when none holds; its message has the rate of the busiest replica with a cap of 1,
 *   in req/s with two decimals
 */
export function chooseRecycleLimit(
  shares: readonly number[],
  replicas: number,
  peakRate: number,
  safeRate: number,
): RecycleLimit {
  requireTraffic(shares);
  requireCount({ replicas });
  requireRates({ peakRate, safeRate });
  let best: RecycleLimit | undefined;
  // Every cap is tried: the imbalance goes up and down with it, so there is nothing to search by
  // halving. In ascending order, so that of equal ones the smaller cap is met first.
  for (let cap = 1; cap <= Math.max(...shares); cap++) {
    const { requests, decisions } = assignConnections(shares, replicas, cap);
    if (!holds(busiestRate(requests, peakRate), safeRate)) continue;
    const candidate = { cap, decisions, imbalance: imbalance(requests) };
    if (!best || isBetter(candidate, best)) best = candidate;
  }
  if (best) return best;
  // Not a RangeError: every input is a sensible one, but together they can't be had.
  const rate = busiestRate(assignConnections(shares, replicas, 1).requests, peakRate);
  throw new Error(
    `no cap holds: even one request per connection leaves ${rate.toFixed(2)} req/s on the busiest ` +
      `of ${replicas} replicas, and ${safeRate} are safe`,
  );
}

function isBetter(one: RecycleLimit, other: RecycleLimit): boolean {
  if (one.decisions !== other.decisions) return one.decisions < other.decisions;
  return one.imbalance < other.imbalance;
}

/** Above this relative difference two numbers differ by more than binary fractions do. */
const SLACK = 1e-9;

const holds = (rate: number, safeRate: number) => rate <= safeRate * (1 + SLACK);

const busiestRate = (requests: readonly number[], peakRate: number) =>
  (Math.max(...requests) / sum(requests)) * peakRate;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function requireShares(shares: readonly number[]): void {
  const bad = shares.find((share) => !(Number.isSafeInteger(share) && share >= 0));
  if (bad !== undefined) throw new RangeError(`shares has ${bad}, wanted whole numbers from 0 on`);
}

function requireTraffic(shares: readonly number[]): void {
  requireShares(shares);
  if (sum(shares) === 0) throw new RangeError('shares has no request at all');
}

function requireCounts(counts: readonly number[]): void {
  const bad = counts.find((count) => !(count >= 0 && count < Infinity));
  if (bad !== undefined) throw new RangeError(`counts has ${bad}, wanted finite numbers from 0 on`);
  if (sum(counts) === 0) throw new RangeError('counts is empty, or all of it is 0');
}

function requireCount(field: Record<string, number>): void {
  for (const [name, value] of Object.entries(field)) {
    if (!(Number.isSafeInteger(value) && value >= 1)) {
      throw new RangeError(`${name} is ${value}, wanted a whole number of 1 or more`);
    }
  }
}

function requireRates(rates: Record<string, number>): void {
  for (const [name, rate] of Object.entries(rates)) {
    if (!(rate > 0 && rate < Infinity)) {
      throw new RangeError(`${name} is ${rate}, wanted req/s above 0`);
    }
  }
}
