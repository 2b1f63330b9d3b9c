// Lesson 6: your file. Read README.md and layer-4.spec.ts beside it, then replace the TODOs.
import { todo } from '#helpers/lesson/todo.ts';
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
export function requestBytes(request: BareRequest): number {
  // TODO 6.1: count what leaves the socket, line by line, each with its CR and LF.
  return todo('6.1 requestBytes');
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
  // TODO 6.1: add up the requests of every client.
  return todo('6.1 mixBytes');
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
  // TODO 6.2: compare the extremes.
  return todo('6.2 skew');
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
  // TODO 6.2: compare the largest count with the mean.
  return todo('6.2 imbalance');
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
  // TODO 6.3: choose, count, connect, copy both ways, and tie the two lifetimes together.
  return todo('6.3 startLayer4Balancer');
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
  // TODO 6.4: cut the shares into pieces, and deal the pieces.
  return todo('6.4 assignConnections');
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
  // TODO 6.5: the imbalance times what a perfect split would need, rounded up.
  return todo('6.5 replicasNeeded');
}

// Which of the two would you sign, the number above or the one below? Write down why, in a sentence:
//

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
  // TODO 6.5: deal the connections anew for each number of replicas.
  return todo('6.5 replicasThatHold');
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
  // TODO 6.6: try every cap, drop those that do not hold, and take the cheapest.
  return todo('6.6 chooseRecycleLimit');
}
