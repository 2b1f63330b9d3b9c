// Lesson 17: your file. Read README.md and whole-path.spec.ts beside it, then replace the TODOs.
import type { RequestListener } from 'node:http';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type { AuditedRun, AuditedRunName, AuditRow } from './audit-rows.ts';
import type {
  DeliveryOptions,
  EdgeOptions,
  EdgeRequest,
  GatewayOptions,
  PathConfig,
  Prediction,
  Resolver,
  ResolverOptions,
  RunningPath,
  Switches,
  View,
} from './given.ts';
// What you have written in the lessons before stands in these, and where you haven't, it is lent:
// import { ambassador, edgeCaching, gatekeeper, loadBalancer } from './pieces.ts';

/**
 * The key under which an edge may keep the answer to a request. Two requests may share a key only if
 * their answers have to be the same.
 *
 * Only a GET has a key. It is made of the kind of client (`x-istemci`), the token (`authorization`)
 * and the whole target, query included. A header field that is missing counts as empty. No value of
 * one of them, whatever characters it has, can be taken for a part of another.
 *
 * @param options.perClientBodies whether the kinds of client get bodies of their own; true unless
 *   given. Without them the kind of client is not in the key.
 * @returns `null` for any other method: neither look up nor store
 */
export function edgeCacheKey(
  request: EdgeRequest,
  options: { perClientBodies?: boolean } = {},
): string | null {
  // TODO 17.1: everything that the answer depends on, joined so that no two requests collide.
  return todo('17.1 edgeCacheKey');
}

/**
 * Starts an edge on a free port of 127.0.0.1, with a cache in it, in front of the load balancer.
 *
 * `GET /saglik` is answered with 200 by the edge itself, whether or not the balancer is there, and is
 * never forwarded.
 *
 * A request whose `key` is in the cache is a hit: it is answered with the status, the `content-type`
 * and the body that are stored, and nobody else is asked. Any other request goes to the balancer,
 * with its method, target, body and header fields, without `x-kimlik` and without what is meant for
 * one connection only (RFC 9110 section 7.6.1). Its answer goes to the client: status, body, and of
 * the header fields `content-type`, `cache-control`, `x-kopya` and `x-eksik`.
 *
 * Stored is an answer that came completely, to a GET that has a key, with status 200 and without
 * `no-store` in its `cache-control`. An answer that breaks off is not stored, and reaches the client
 * as a 502 or as a connection that is cut, never as a clean end. When the cache is full, the entry
 * that was used longest ago goes.
 *
 * Each answer but that of `/saglik` says `x-kenar: isabet` for a hit, and `x-kenar: iska` for anything
 * else. The balancer can't be reached: 502 `{"hata":"ulasilamadi"}`, and the edge goes on.
 *
 * @throws {RangeError} (rejects) whose message contains `capacity`, when it is not a whole number of 1
 *   or more
 */
export async function startEdge(options: EdgeOptions): Promise<RunningServer> {
  // TODO 17.2: look up, or forward; store only what is complete, a 200, and may be stored.
  return todo('17.2 startEdge');
}

/**
 * A resolver: asks the authority now and then, and in between repeats what it was told.
 *
 * It asks in the first round that it is asked for, and in every round r for which r + `phase` is a
 * multiple of `ttlRounds`. In all other rounds it gives its latest answer, whether or not that region
 * is still alive. However often it is asked in one round, the authority is asked once.
 *
 * The answer is whatever the policy answers, a region or the promise of one, and is passed on as it
 * is.
 *
 * @throws {RangeError} whose message names `ttlRounds` when it is not a whole number of 1 or more, or
 *   `phase` when it is not a whole number of 0 or more
 * @example const resolver = createResolver({ policy, group: 'g1', ttlRounds: 6, phase: 0 });
 * resolver.region(0, isMarkedDown) // asks, and so again in the rounds 6, 12, 18
 */
export function createResolver<Answer>(options: ResolverOptions<Answer>): Resolver<Answer> {
  // TODO 17.3: remember the answer and the round in which it was given.
  return todo('17.3 createResolver');
}

/**
 * The listener of a gateway: the gate, and behind it a body for each kind of client.
 *
 * `/saglik` is 200. For any other request there are four checks, in this order, and the first that
 * fails is answered with its entry of `REFUSALS`, as `application/json`:
 * 1. `path`: the path, which is the target up to the first `?`, is `/takip` or below it.
 * 2. `size`: the declared `content-length` is at most `BODY_LIMIT`.
 * 3. `token`: `authorization` has the form `b.M<digits>.imza` (lesson 16).
 * 4. `schema`: there is at least one tracking number, and each is `TR-` and four digits. Numbers are
 *    the segment behind `/takip/`, or the list in `/takip?no=<n1>,<n2>`, with plain commas.
 *
 * With `gate` the gateway makes these answers itself, and no service is called. Without it, it sends
 * what one of the four would refuse to delivery in a single call, with method, target, `authorization`
 * and body as they came, and passes on what delivery answers.
 *
 * What passes all four is asked for in `GET` calls, with the identity from the token in `x-kimlik`. No
 * field of the client is copied. By the kind of client (`x-istemci`, see `CLIENT_FIELD`):
 * - mobile and web: one number, delivery alone, `/durum/<no>`. The body has the client's
 *   `SHOWN_FIELDS`, in their order.
 * - panel: a list, delivery and pricing at the same time, one call each, `/durum?no=<n1>,<n2>` and
 *   `/ucret?no=<n1>,<n2>`. The body is an array of the client's `SHOWN_FIELDS`, `ucret` being the
 *   price without its `takipNo`. Without `batch` each service is asked once for each number.
 *
 * Without `bff` the kind of client doesn't matter: delivery and pricing are both asked for the one
 * number, and the body is the combined one of lesson 12.
 *
 * An answer of delivery other than 200 goes on as it is if it is 404 or 403; otherwise one of pricing
 * does, by the same rule. Anything else that is not 200, and a service that can't be reached: 502
 * `{"hata":"ulasilamadi"}`. With `partialPanel`, a panel whose prices nobody can be reached for gets
 * 200 with `"ucret":null` in every element, and the header fields `x-eksik: ucret` and
 * `cache-control: no-store`.
 */
export function createGateway(options: GatewayOptions): RequestListener {
  // TODO 17.4: the four checks first, then the calls, then the body of this kind of client.
  return todo('17.4 createGateway');
}

/**
 * The listener of the delivery service: what it knows about shipments is what the ambassador says.
 *
 * `GET /durum/<no>` is about one shipment, and its answer is an object. `GET /durum?no=<n1>,<n2>` is
 * about several, and its answer is an array in the order asked, also for one. `x-kimlik` says who
 * asks. For each number:
 * - it is in no record: 404 `{"hata":"bulunamadi"}`;
 * - its owner is not who asks: 403 `{"hata":"yetki"}`.
 * Both are checked before the ambassador is asked, and for all numbers of a list: the first refusal is
 * the answer to the whole list, and nothing of it is asked for.
 *
 * Otherwise the ambassador is asked once for each number. An element of the body has `takipNo`,
 * `durum`, `bolge` and `guncellenme` of its answer, and `rota`, which is `ROUTE`. Milliseconds of
 * `.000` are left out of `guncellenme`. If the ambassador can't be reached, or answers anything but
 * 200: 502 `{"hata":"ulasilamadi"}`.
 *
 * For any other path delivery makes the four checks of the gate, in its order, with its answers: that
 * is what a gateway without a gate sends here. All bodies are `application/json`.
 */
export function createDelivery(options: DeliveryOptions): RequestListener {
  // TODO 17.5: judge all numbers before the ambassador is asked for any.
  return todo('17.5 createDelivery');
}

/**
 * Starts the whole path: eleven units, each with a tap in front of it that its neighbours know in its
 * place.
 *
 * - The ambassador (15) asks the carrier, under the contract that `carrier` names.
 * - Delivery asks the ambassador, `GET /durum/<no>`.
 * - The gateways k1, k2, k3 call delivery and pricing, and say who they are in `x-kopya`.
 * - The balancer (5) goes round the gateways that are up, from k1 on, and never tries a second one. With
 *   `place` the function chooses. Without a gateway that is up: 503. One that can't be reached: 502.
 * - The edges b34, b35, b06 ask the balancer. Their keys are those of `edgeCacheKey`, per kind of
 *   client if `bff` says so; without `cache` nothing has a key. They hold `CACHE_CAPACITY` answers.
 *
 * `endOfRound` is the health round: with `health` the balancer probes its gateways, with `nameHealth`
 * the authority probes the edges, each with `GET /saglik` through the tap and `DEADLINE_MS`. One
 * failure is enough. Until the round ends, nobody knows of a unit that has stopped; without the
 * switch, nobody ever does, and it counts as up.
 *
 * A unit that is stopped counts as one that can't be reached. Two paths share nothing. `close` stops
 * everything that this function has started, and the carrier and pricing, too.
 *
 * @throws whatever a unit throws that can't start; what already runs is stopped then
 */
export async function startPath(config: PathConfig): Promise<RunningPath> {
  // TODO 17.6: start from the far end; every unit only needs the port of the next one.
  return todo('17.6 startPath');
}

/**
 * What an undisturbed run of a trace will count, said in advance: no unit stops, and no server is
 * started.
 *
 * Of the switches, those count that a run without failures depends on: `cache`, `gate`, `bff`,
 * `batch`, `policy` and `ttlRounds`. Groups are bound to regions as the four resolvers of lesson 1's
 * groups bind them, resolver k with the phase k, in rounds from 0 to the last one of the trace.
 *
 * Bytes are those of the bodies. A request is answered with the body that the trace expects.
 */
export function predict(trace: readonly View[], switches: Switches): Prediction {
  // TODO 17.7: walk the trace once, with a set of what the edges have stored.
  return todo('17.7 predict');
}

/**
 * Judges a decision by the course's rule.
 *
 * A decision can be defended if both hold. A number that changes, on either side of its row, is one
 * of the three measures (`requests`, `bytes`, `answered`); whether it rises or falls doesn't matter.
 * And a number on the right side is a price: it rises, or it falls and its measure is `answered`. It
 * need not be the same number, and any measure can be a price. A number with the same value before
 * and after hasn't changed, and counts for neither. However small a change is, it is one.
 *
 * The text of the decision and its lesson aren't judged, and the row isn't written to.
 *
 * @returns `reason`: a sentence for people
 * @throws {RangeError} naming `before`, or else `after`, when it isn't finite, or `measure` when it is
 *   none of the four, on either side and whichever the verdict would be
 * @example auditDecision({ lesson: 2, decision: 'a cache',
 *   moves: [{ measure: 'requests', before: 300, after: 54 }],
 *   grows: [{ measure: 'other', before: 0, after: 3 }] }).defensible // true: three caches are a price
 */
export function auditDecision(row: AuditRow): { defensible: boolean; reason: string } {
  // TODO 17.8: refuse bad numbers, drop what hasn't changed, look for a measure, then for a price.
  return todo('17.8 auditDecision');
}

/**
 * Adds to four rows of the closing table what the path has counted, so that they can be defended.
 *
 * | lesson | side  | measure  | before                    | after                        |
 * | ------ | ----- | -------- | ------------------------- | ---------------------------- |
 * | 6, 7   | moves | requests | `noCache.balancer`        | `full.balancer`              |
 * | 13     | moves | requests | `noGate.application`      | `full.application`           |
 * | 13     | moves | bytes    | `noGate.inboundBodyBytes` | `full.inboundBodyBytes`      |
 * | 15     | grows | answered | `full.answered`           | `ambassadorStopped.answered` |
 *
 * They are put behind the numbers that are there, in this order. A row is known by its `lesson`:
 * wherever it stands, whatever else it says, and as often as it comes. Rows of other lessons stay as
 * they are, and a lesson that is missing isn't added.
 *
 * @param runs the numbers are those of these runs, whatever they are
 * @returns a new list in the order of `rows`; neither `rows` nor anything in it is written to
 * @example repairRows([row6], runs)[0]?.moves.at(-1)
 *   // { measure: 'requests', before: 300, after: 54 } with the runs of the whole path
 */
export function repairRows(
  rows: readonly AuditRow[],
  runs: Readonly<Record<AuditedRunName, AuditedRun>>,
): AuditRow[] {
  // TODO 17.9: copy the rows, and add the numbers of the runs to the four that need them.
  return todo('17.9 repairRows');
}
