// Lesson 12: your file. Read README.md and routing-and-aggregation.spec.ts beside it, then replace the
// TODOs.
import type { RequestListener } from 'node:http';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  EdgeLoad,
  FetchedPart,
  MissingPartContract,
  Part,
  PlannedAnswer,
  RoutePlan,
  TrackingGatewayOptions,
  TrackingListenerOptions,
} from './given.ts';

/**
 * How many leaf fields a JSON value has: scalars, counted through all levels.
 *
 * A string, a boolean, a number (any number) and `null` count 1. An array or an object counts the sum
 * of its values, so an empty one counts 0, and the names of the keys don't matter.
 *
 * @throws {TypeError} when the value, or any value inside it, is `undefined`, a function, a symbol or
 *   a bigint: JSON can't carry those. The message has what `typeof` says of it.
 * @example countLeaves({ durum: 'kabul', rota: ['34', '41'], ucret: null }) // 4
 */
export function countLeaves(value: unknown): number {
  // TODO 12.1: a scalar is one; a container is the sum of what it contains.
  return todo('12.1 countLeaves');
}

/**
 * What a request is about, by its target alone. No network.
 *
 * The path is what stands before the first `?`. It is split at its slashes, and then each segment is
 * percent-decoded; nothing else happens to it: dots aren't resolved, letters keep their case.
 * - `/takip/<no>/<part>`: `route`, if the part is a key of the service map. It is the `service`.
 * - `/takip/<no>`: `aggregate`.
 * - Anything else, a segment that is empty, also the one after a closing slash, and one that can't be
 *   decoded: `notFound`.
 * `trackingNo` is the decoded segment. It is anything but empty, and may have a slash.
 *
 * @param serviceMap path segment to port; the ports aren't looked at
 * @param target the second word of the request line, as it came
 * @throws {RangeError} whose message names `serviceMap` when the map is empty
 * @example planRequest(new Map([['durum', 8471]]), '/takip/TR-4821/durum?x=1')
 * // { kind: 'route', service: 'durum', trackingNo: 'TR-4821' }
 */
export function planRequest(serviceMap: ReadonlyMap<string, number>, target: string): RoutePlan {
  // TODO 12.2: cut off the query, split, decode, and let the map decide.
  return todo('12.2 planRequest');
}

/**
 * One answer out of two parts, or the reason why there is none.
 *
 * The status part decides first. Is it `absent`: 404 with `REFUSALS.notFound`. Is it `failed`: 502 with
 * `REFUSALS.unreachable` or 504 with `REFUSALS.timeout`, by its reason. In both cases nobody looks at
 * the price part.
 *
 * Is it `found`, the answer is, by the price part and the contract:
 * - price `found`: 200 with the combined body.
 * - price `absent`: `null` 200 with `"ucret":null`; `fail` 404 with `REFUSALS.notFound`; `report` 200
 *   with `"ucret":null,"eksik":["ucret"]`.
 * - price `failed`: `null` and `fail` 502 or 504, by its reason, as above; `report` 200 with
 *   `"ucret":null,"ulasilamayan":["ucret"]`.
 *
 * The body of a 200 is JSON without white space: all keys of the status body with their values, in
 * their order, then `ucret`, then what the contract adds. A combined body's `ucret` has
 * the `PRICE_FIELDS` in their order and nothing else; the price part's own `takipNo` is dropped. Keys
 * are those that the bodies have themselves, whatever they are called.
 *
 * @param contract how a missing price is answered
 * @throws {TypeError} whose message names the field, when the body of a price part that is used lacks
 *   one of the `PRICE_FIELDS`; `null` is a value
 */
export function mergeTracking(
  status: Part,
  price: Part,
  contract: MissingPartContract,
): PlannedAnswer {
  // TODO 12.3: the status part decides first, then the price part and the contract.
  return todo('12.3 mergeTracking');
}

/**
 * Asks one service on 127.0.0.1 for one part: `GET /<service>/<trackingNo>`, both percent-encoded as
 * `encodeURIComponent` does it and otherwise as they are: the number `..` is asked for as `..`.
 *
 * Never rejects, whatever the service does. There are three endings:
 * - `found`: status 200, and the body is a JSON object.
 * - `absent`: status 404, whatever the body.
 * - `failed`. With the reason `timeout`: the answer was not complete `timeoutMs` after the call began,
 *   however much of it had come. With `unreachable`: everything else, such as a refused connection, one
 *   that breaks before the answer is complete, another status, or a 200 with another body.
 *
 * When the time is up, or the `signal` aborts, the connection is cut. An aborted call has failed with
 * the reason `unreachable`. Nothing stays behind: no timer, no connection.
 *
 * @param input.port TCP port of the service
 * @param input.timeoutMs milliseconds, above 0
 * @returns the part, and the bytes of the body, of whatever status, if it was complete; otherwise 0
 */
export async function fetchPart(input: {
  port: number;
  service: string;
  trackingNo: string;
  timeoutMs: number;
  signal?: AbortSignal;
}): Promise<FetchedPart> {
  // TODO 12.4: ask, and turn answer, refusal and silence into a part.
  return todo('12.4 fetchPart');
}

/**
 * What the gateway does with a request, without a server and without a network.
 *
 * In this order:
 * 1. `GET /sayac`, whatever its query: 200 with the counters as JSON, in the order `istek`, `bayt`,
 *    `tur`, `peakInFlight`, and in the same step all four are 0.
 * 2. A method other than GET, and what `planRequest` doesn't find: 404 with `REFUSALS.notFound`.
 * 3. `route`: one call. A part that is `found` is answered with 200 and its body as JSON, `absent` with
 *    404 and `failed` with 502 or 504, with the bodies that `mergeTracking` has for them.
 * 4. `aggregate`: `durum` and `ucret` are called at the same time, neither call waits for the other, and
 *    what `mergeTracking` makes of the two parts is the answer. Where it throws, because the price body
 *    lacks a field: 502 with `REFUSALS.unreachable`.
 * Every answer has `content-type: application/json`.
 *
 * A call that rejects, or throws, is a part that has failed, `unreachable`. No request may end the
 * process.
 *
 * Counters: `tur` goes up by 1 with each request of kind 3 or 4. `istek` goes up by 1 when a call is
 * started, `bayt` by its `bodyBytes` when it resolves. `peakInFlight` is raised when a call is started,
 * to the number of calls that are open then, itself included and those from before the last reading too.
 *
 * @throws {RangeError} at once, whose message names `serviceMap`, when the map has no `durum` or no
 *   `ucret`
 */
export function createTrackingListener(options: TrackingListenerOptions): RequestListener {
  // TODO 12.5: plan, ask, merge, answer; and count.
  return todo('12.5 createTrackingListener');
}

/**
 * The gateway on 127.0.0.1: `createTrackingListener` on a real server, whose calls are `fetchPart` to
 * the ports of the service map.
 *
 * `close()` stops listening, cuts all connections, also those to the services, and resolves when the
 * port is closed. `close({ drain: true })` lets running requests finish first.
 *
 * @param options.timeoutMs milliseconds that a service may take for its complete answer, above 0, at
 *   most 2,147,483,647
 * @throws {RangeError} (rejects) before it listens, when the map has no `durum` or no `ucret`, or when
 *   `timeoutMs` is out of range; the message names `serviceMap` or `timeoutMs`
 */
export async function startTrackingGateway(
  options: TrackingGatewayOptions,
): Promise<RunningServer> {
  // TODO 12.6: put the listener on a server, and fetchPart into the listener.
  return todo('12.6 startTrackingGateway');
}

/**
 * What separate calls and aggregation cost at the edge, at the scale of a baseline.
 *
 * The measured bodies are a model: only their ratios are carried over. The baseline has one request a
 * view with a body of `trackingBodyBytes`, the status part alone; a body of b measured bytes counts as
 * `trackingBodyBytes` x b / `statusBytes`. Of all views, the share `priceShare` wants the price too.
 * - `separate`: such a view sends a second request, whose body is the price.
 * - `aggregation`: every view sends one request. Such a view gets the combined body, any other one the
 *   bare status.
 * `bytesPerRequest` is the mean over all requests of the layout. Egress counts bodies only, 8 bits to a
 * byte and 10^6 to a Mbit. Nothing is rounded.
 *
 * The ratios are those of one view, aggregation over separate calls: of requests, and of bytes. They
 * don't depend on the peak, and hold for a peak of 0 too.
 *
 * @param input.peakReadsPerSecond views/s in the busiest hour, 0 or more
 * @param input.trackingBodyBytes bytes of the baseline's body, 0 or more
 * @param input.statusBytes measured, above 0
 * @param input.priceBytes measured, 0 or more
 * @param input.combinedBytes measured, 0 or more
 * @param input.priceShare 0 to 1
 * @throws {RangeError} whose message names the field that is out of range or not finite
 */
export function aggregationEffect(input: {
  peakReadsPerSecond: number;
  trackingBodyBytes: number;
  statusBytes: number;
  priceBytes: number;
  combinedBytes: number;
  priceShare: number;
}): { separate: EdgeLoad; aggregation: EdgeLoad; requestRatio: number; egressRatio: number } {
  // TODO 12.7: scale the bytes of one view, and divide by its requests for the mean.
  return todo('12.7 aggregationEffect');
}
