import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { type RunningServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import {
  type EdgeLoad,
  type FetchedPart,
  type GatewayCounters,
  type MissingPartContract,
  type Part,
  type PlannedAnswer,
  PRICE_FIELDS,
  REFUSALS,
  type RoutePlan,
  type TrackingGatewayOptions,
  type TrackingListenerOptions,
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
  switch (typeof value) {
    case 'object':
      if (value === null) return 1;
      return Object.values(value).reduce((sum: number, inner) => sum + countLeaves(inner), 0);
    case 'string':
    case 'boolean':
    case 'number':
      return 1;
    default:
      throw new TypeError(`JSON has no ${typeof value}, so it is no leaf field either`);
  }
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
  if (serviceMap.size === 0) throw new RangeError('serviceMap is empty, wanted a service or more');
  const [before, first, trackingNo, part, ...rest] = segmentsOf(target);
  if (before !== '' || first !== 'takip' || !trackingNo || rest.length > 0) return NOWHERE;
  if (part === undefined) return { kind: 'aggregate', trackingNo };
  // Strangers choose the part. A Map has the keys that were put there; a plain object also has
  // `constructor`, `__proto__` and others.
  return serviceMap.has(part) ? { kind: 'route', service: part, trackingNo } : NOWHERE;
}

const NOWHERE: RoutePlan = { kind: 'notFound' };

/** The decoded segments, beginning with what stands before the first slash; none if one can't be decoded. */
function segmentsOf(target: string): string[] {
  try {
    // Splitting comes first: in a decoded path nobody can tell which slashes separate.
    return pathOf(target).split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** What stands before the query. */
function pathOf(target: string): string {
  return target.split('?', 1)[0] as string;
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
  if (status.state !== 'found') return answerWithout(status);
  // A literal with a spread makes own keys. Assigning to `__proto__` would change the prototype instead.
  const withPrice = (ucret: object | null, added: object = {}): PlannedAnswer => ({
    status: 200,
    body: JSON.stringify({ ...status.body, ucret, ...added }),
  });
  if (price.state === 'found') return withPrice(priceFields(price.body));
  if (contract === 'report') {
    // "There is none" and "I don't know" are different facts, also for the reader.
    const field = price.state === 'failed' ? 'ulasilamayan' : 'eksik';
    return withPrice(null, { [field]: ['ucret'] });
  }
  if (contract === 'null' && price.state === 'absent') return withPrice(null);
  return answerWithout(price);
}

/** The answer if this part is needed, and missing. */
function answerWithout(part: Exclude<Part, { state: 'found' }>): PlannedAnswer {
  if (part.state === 'absent') return { status: 404, body: REFUSALS.notFound };
  if (part.reason === 'timeout') return { status: 504, body: REFUSALS.timeout };
  return UNREACHABLE;
}

const UNREACHABLE: PlannedAnswer = { status: 502, body: REFUSALS.unreachable };

/** A list of names that are let through: a field that pricing adds doesn't reach the client. */
function priceFields(body: object): object {
  const fields = new Map(Object.entries(body));
  return Object.fromEntries(
    PRICE_FIELDS.map((name) => {
      if (!fields.has(name)) throw new TypeError(`the price body lacks "${name}"`);
      return [name, fields.get(name)];
    }),
  );
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
  const { port, service, trackingNo, timeoutMs, signal } = input;
  return await new Promise((resolve) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      // As text, and not through a URL, which would resolve the number `..`.
      path: `/${encodeURIComponent(service)}/${encodeURIComponent(trackingNo)}`,
      // A connection of its own. A pool saves the handshake, and has to deal with connections that the
      // service is about to close.
      agent: false,
      ...(signal && { signal }),
    });
    // The first ending counts: a promise resolves once.
    const end = (part: Part, bodyBytes = 0) => {
      clearTimeout(deadline);
      resolve({ part, bodyBytes });
    };
    // One deadline for all of it. The socket's own time-out starts anew with each byte.
    const deadline = setTimeout(() => {
      end({ state: 'failed', reason: 'timeout' });
      outgoing.destroy();
    }, timeoutMs);
    outgoing.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const body = Buffer.concat(pieces);
        end(partOf(response.statusCode, body), body.length);
      });
    });
    outgoing.on('error', () => {}); // what broke it doesn't matter, and unheard it would end the process
    // Comes last, whatever happened. After a complete answer it changes nothing any more.
    outgoing.on('close', () => end({ state: 'failed', reason: 'unreachable' }));
    outgoing.end();
  });
}

function partOf(status: number | undefined, body: Buffer): Part {
  if (status === 404) return { state: 'absent' };
  const value = status === 200 ? parsed(body) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { state: 'failed', reason: 'unreachable' };
  }
  return { state: 'found', body: value };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
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
  const { serviceMap, contract, call } = options;
  for (const service of ['durum', 'ucret']) {
    if (!serviceMap.has(service)) throw new RangeError(`serviceMap has no "${service}"`);
  }
  let counters = noCounters();
  let inFlight = 0;

  const ask = async (service: string, trackingNo: string): Promise<Part> => {
    counters.istek += 1;
    inFlight += 1;
    counters.peakInFlight = Math.max(counters.peakInFlight, inFlight);
    try {
      const { part, bodyBytes } = await call(service, trackingNo);
      counters.bayt += bodyBytes;
      return part;
    } catch {
      return { state: 'failed', reason: 'unreachable' };
    } finally {
      inFlight -= 1;
    }
  };

  const answerTo = async ({ method, url = '' }: IncomingMessage): Promise<PlannedAnswer> => {
    if (method !== 'GET') return { status: 404, body: REFUSALS.notFound };
    if (pathOf(url) === '/sayac') {
      const body = JSON.stringify(counters);
      counters = noCounters();
      return { status: 200, body };
    }
    const plan = planRequest(serviceMap, url);
    if (plan.kind === 'notFound') return { status: 404, body: REFUSALS.notFound };
    counters.tur += 1;
    if (plan.kind === 'route') {
      const part = await ask(plan.service, plan.trackingNo);
      return part.state === 'found'
        ? { status: 200, body: JSON.stringify(part.body) }
        : answerWithout(part);
    }
    // Both are asked before either is awaited. `ask` never rejects, so neither is left behind.
    const [status, price] = await Promise.all([
      ask('durum', plan.trackingNo),
      ask('ucret', plan.trackingNo),
    ]);
    return mergeTracking(status, price, contract);
  };

  return (request, response) => {
    const send = ({ status, body }: PlannedAnswer) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
    answerTo(request).then(send, () => send(UNREACHABLE));
  };
}

/** In the order that `/sayac` prints them in. */
function noCounters(): GatewayCounters {
  return { istek: 0, bayt: 0, tur: 0, peakInFlight: 0 };
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
  const { serviceMap, contract, timeoutMs } = options;
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS)) {
    throw new RangeError(`timeoutMs is ${timeoutMs}, wanted above 0, at most ${LONGEST_TIMER_MS}`);
  }
  const calls = new AbortController();
  const server = await startHttpServer(
    createTrackingListener({
      serviceMap,
      contract,
      call: (service, trackingNo) => {
        const port = serviceMap.get(service) as number; // planned requests have keys of the map only
        return fetchPart({ port, service, trackingNo, timeoutMs, signal: calls.signal });
      },
    }),
  );
  const close: RunningServer['close'] = async (how) => {
    await server.close(how);
    // Those that wait for the answer are gone. A call that is still open would keep its service busy.
    calls.abort();
  };
  return { port: server.port, close, [Symbol.asyncDispose]: () => close() };
}

/** Node's timers know no more, and fire at once beyond it. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
  for (const [name, value] of Object.entries(input)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`${name} is ${value}, wanted a finite number of 0 or more`);
    }
  }
  const { peakReadsPerSecond, trackingBodyBytes, priceShare } = input;
  const { statusBytes, priceBytes, combinedBytes } = input;
  if (statusBytes === 0) throw new RangeError('statusBytes is 0, wanted above 0');
  if (priceShare > 1) throw new RangeError(`priceShare is ${priceShare}, wanted 0 to 1`);

  // Measured bytes of one view. What the price adds differs: a body of its own, or the rest of a
  // combined one.
  const separateBytes = statusBytes + priceShare * priceBytes;
  const aggregatedBytes = statusBytes + priceShare * (combinedBytes - statusBytes);
  const load = (requestsPerView: number, bytesPerView: number): EdgeLoad => {
    const requestsPerSecond = peakReadsPerSecond * requestsPerView;
    const bytesPerRequest = (trackingBodyBytes * bytesPerView) / statusBytes / requestsPerView;
    const megabitPerSecond = (requestsPerSecond * bytesPerRequest * 8) / 1e6;
    return { requestsPerSecond, bytesPerRequest, megabitPerSecond };
  };
  return {
    separate: load(1 + priceShare, separateBytes),
    aggregation: load(1, aggregatedBytes),
    requestRatio: 1 / (1 + priceShare),
    egressRatio: aggregatedBytes / separateBytes,
  };
}
