// Lesson 7: your file. Read README.md and layer-7.spec.ts beside it, then replace the TODOs.
import { todo } from '#helpers/lesson/todo.ts';
import type {
  BurstReport,
  Distribution,
  Layer7Balancer,
  Layer7Options,
  PoolLayout,
  PoolLoad,
  PoolPlan,
  RequestRoute,
} from './given.ts';

/**
 * Where a request belongs, by the path of its target.
 *
 * The path is the `pathname` that `new URL(target, 'http://localhost')` has: without the query, and
 * with its dot segments resolved. If it is one of `writePaths`, letter for letter, the request is
 * a write; with any other path it is a read. A target that the URL parser rejects is a bad request,
 * and so is the empty one. Never throws.
 *
 * @param target the second word of the request line, as it came
 * @param writePaths such as `['/olay']`
 * @example routeOf('/olay?no=1', ['/olay']) // 'write'
 */
export function routeOf(target: string, writePaths: readonly string[]): RequestRoute {
  // TODO 7.1: compare the path alone, whole and letter for letter.
  return todo('7.1 routeOf');
}

/**
 * The value of a `Forwarded` field (RFC 7239) that says for whom a request is passed on.
 *
 * Our own element is `for=` and the client's address in quotes: an IPv4 address as it is, an IPv6
 * address in brackets and in lower case. An IPv4 address in IPv6 clothes (`::ffff:192.0.2.1`) is
 * that IPv4 address. If the address is not known, the element is `for=unknown`, without quotes.
 *
 * If the sender is trusted and has sent such a field, that value comes first, unchanged, then a comma
 * and a space, then ours. Otherwise ours stands alone.
 *
 * @param remoteAddress of the client's socket; `undefined` when it is gone
 * @param incoming the field as the client sent it, several of them joined with `, `; `undefined` or
 *   empty for none
 * @param trustIncoming whether whoever sent it may be believed
 * @example forwarded('2001:DB8::1', undefined, false) // 'for="[2001:db8::1]"'
 */
export function forwarded(
  remoteAddress: string | undefined,
  incoming: string | undefined,
  trustIncoming: boolean,
): string {
  // TODO 7.2: add yourself behind whoever was there before, if they may be believed.
  return todo('7.2 forwarded');
}

/**
 * A balancer on 127.0.0.1 that reads each request and decides for each one again.
 *
 * For each request, in this order:
 * 1. `routeOf` its target. A bad request is answered with 400, body `hedef okunamadi`.
 * 2. Its pool is `read` or `write`, the list as configured. If it is empty: 503, body `havuz bos`,
 *    header `retry-after: 1` (7.9).
 * 3. Its replica is the next one of the pool: `pool[turn % pool.length]`, and `turn` goes up by 1.
 *    Each pool has a `turn` of its own that starts at 0 and goes on for the balancer's whole life.
 * 4. `decisions` goes up by 1, and so does `distribution[replica].read` or `.write`.
 * 5. It is forwarded as `openForwarding` does it, which streams the response back. A replica that
 *    could not be reached is a 502, body `kopyaya ulasilamadi`.
 * A request that is answered in step 1 or 2 moves no counter but `outer`, and nothing is sent.
 *
 * `outer` is how many connections clients have opened, `inner` how many the balancer has opened to
 * replicas. To one replica no more than `innerConnectionsPerReplica` are open at the same time, also
 * if it is in both pools; further requests for it wait for one of them.
 *
 * Fields (7.8): the replica gets `forwarded` as the function of that name makes it, and with `via`
 * the field `via: <version> <via>`, after what the client's own `Via` says, a comma and a space; the
 * version is that of the client's request, such as `1.1`.
 *
 * Failures (7.9): the counters `unreachable`, `clientAborted`, `upstreamReset`, `upstreamTimeout`
 * and `attempts` are those of `openForwarding`, and `retry` and `headerTimeoutMs` are passed on to
 * it. Too late an answer is a 504, body `kopya zamaninda yanit vermedi`. Each further attempt of a
 * request takes the next steps of its own pool's turn until one leads to a replica that it has not
 * tried; when there is none left, it is a 502 and the turn stands still. Steps 1 to 4 happen once
 * for a request, so what counts is the replica chosen first.
 *
 * @param options see `Layer7Options`
 * @throws {RangeError} (rejects) before it listens, whose message names the field, when `read` is
 *   empty, when `read` or `write` has a name twice, or when `innerConnectionsPerReplica` is neither
 *   a whole number of 1 or more nor `Infinity`
 */
export async function startLayer7Balancer(options: Layer7Options): Promise<Layer7Balancer> {
  // TODO 7.3: route, pick, count, forward: for each request anew. 7.8 and 7.9 go on here.
  return todo('7.3 startLayer7Balancer');
}

/**
 * Sizes one pool for all requests, and two for the same requests kept apart.
 *
 * A pool has the fewest replicas that keep each at or under the safe rate, and
 * `toleratedFailures` more; a pool without load has none. Rates are sums of decimal numbers: one
 * that is above a whole number of safe rates by no more than a relative 1e-9 counts as equal to it.
 * Utilisation is the rate over `replicas x saturationRate`, with all replicas up, and 0 for a pool
 * that has none.
 *
 * @param input see `PoolLoad`
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example poolPlan({ readRate: 300, writeRate: 50, saturationRate: 400, safeRate: 200 }).splitCost
 * // 1: the read pool takes 2, the write pool 1, and 350 req/s on one pool take 2
 */
export function poolPlan(input: PoolLoad): PoolPlan {
  // TODO 7.4: round each pool up by itself, then compare the sums.
  return todo('7.4 poolPlan');
}

/**
 * What happens when writes are multiplied and nobody adds a replica: the pools keep the size that
 * `poolPlan` gives them at factor 1.
 *
 * A pool overflows when the rate of each of its replicas is strictly above the safe rate, by more
 * than a relative 1e-9. A pool without replicas has a utilisation of 0 and does not overflow.
 *
 * @param input see `PoolLoad`
 * @param factor what the write rate is multiplied by, 0 or more
 * @throws {RangeError} whose message names the field (or `factor`) that is out of range, not whole,
 *   or not finite
 */
export function burst(input: PoolLoad, factor: number): BurstReport {
  // TODO 7.4: keep the replicas of factor 1 while the writes grow.
  return todo('7.4 burst');
}

/**
 * Decides how to use a number of replicas under a burst of writes.
 *
 * The load is `readRate` and `burst x writeRate`. A pool holds when the rate of each of its replicas
 * is at or under `safeRate`, with a relative slack of 1e-9.
 *
 * - If the reads must be isolated, the answer is `split`: the read pool gets the fewest replicas that
 *   hold the reads, and the write pool all others, at least 1. Whether the write pool holds is then
 *   its own affair.
 * - If not, it is `combined`, with the whole budget.
 *
 * `saturationRate` and `toleratedFailures` come along with the input of `poolPlan` and decide
 * nothing here.
 *
 * @param input.burst what the write rate is multiplied by, 0 or more
 * @param input.budget replicas there are, a whole number of 1 or more
 * @param input.mustIsolateReads whether a burst of writes must not be felt by the reads
 * @returns the layout with its replicas; what it has no use for is 0
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @throws {Error} no `RangeError`: with isolation, when the replicas that the reads need leave none
 *   for the writes; the message has the word `read`. Without, when the combined pool does not hold;
 *   the message has the rate of each replica with two decimals
 */
export function choosePoolLayout(
  input: PoolLoad & { burst: number; budget: number; mustIsolateReads: boolean },
): PoolLayout {
  // TODO 7.5: with isolation the reads come first; without it, one division decides.
  return todo('7.5 choosePoolLayout');
}

/**
 * Fewest HTTP/1.1 connections to each replica with which a rate can pass.
 *
 * Such a connection carries one request at a time, so it takes as many as there are requests inside a
 * replica on average: the replica's share of the rate times the service time (Little's law), at
 * least 1. A product that is above a whole number by no more than a relative 1e-9 counts as that
 * number.
 *
 * @param input.rate req/s for all replicas together, above 0
 * @param input.serviceTimeSeconds that a replica takes for one request, above 0
 * @param input.replicas a whole number of 1 or more
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example innerConnections({ rate: 600, serviceTimeSeconds: 0.01, replicas: 3 }) // 2
 */
export function innerConnections(input: {
  rate: number;
  serviceTimeSeconds: number;
  replicas: number;
}): number {
  // TODO 7.6: how many requests are inside a replica at any moment?
  return todo('7.6 innerConnections');
}

/**
 * What `counters().distribution` of `startLayer7Balancer` will be after the clients have run,
 * without running anything.
 *
 * The clients number their requests from 0 over all of them. Request number g is an event when
 * g mod 5 = 4, and a tracking query otherwise. Events that find an empty write pool are refused, and
 * count for nobody.
 *
 * @param shares how many requests each client sends, whole numbers of 0 or more
 * @param read names of the read pool in configured order, at least one, no two alike
 * @param write names of the write pool, likewise, or empty
 * @throws {RangeError} whose message names `shares`, `read` or `write`
 * @example predictDistribution([4, 6], ['k1', 'k2'], ['k2'])
 * // { k1: { read: 4, write: 0 }, k2: { read: 4, write: 2 } }
 */
export function predictDistribution(
  shares: readonly number[],
  read: readonly string[],
  write: readonly string[],
): Distribution {
  // TODO 7.7: count the events, then deal both kinds out, each to its own pool.
  return todo('7.7 predictDistribution');
}
