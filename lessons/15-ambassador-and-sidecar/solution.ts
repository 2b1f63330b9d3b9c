import { createServer } from 'node:http';
import { listen, type RunningServer } from '#helpers/lesson/http-server.ts';
import {
  type AmbassadorOptions,
  type CallFailure,
  type ContractVersion,
  type InternalStatus,
  type LocalAnswer,
  MalformedCarrierAnswer,
  type Placement,
  type PlacementCost,
  type Runtime,
  type StateTable,
  UnknownCarrierState,
} from './given.ts';

/**
 * The target of the outbound call: `/v1/durum?no=<no>` or `/v2/status/<no>`.
 *
 * The number is percent-encoded, so that it stays one value whatever characters it has: a blank is
 * `%20`, and `&`, `=`, `/`, `?`, `#`, `%` and `+` are encoded, too.
 *
 * @throws {RangeError} naming `version` when it is neither, or `trackingNo` when it is empty, `.` or
 *   `..` (URL parsers take these for steps in a path, encoded or not) or can't be encoded because it
 *   has half a surrogate pair in it
 * @example externalPath('v1', 'TR 1&x=2') // '/v1/durum?no=TR%201%26x%3D2'
 * @example externalPath('v2', 'TR/1') // '/v2/status/TR%2F1'
 */
export function externalPath(version: ContractVersion, trackingNo: string): string {
  requireVersion(version);
  if (!isTrackingNo(trackingNo)) {
    throw new RangeError(`trackingNo must not be empty or dots alone, got "${trackingNo}"`);
  }
  const no = encoded(trackingNo);
  return version === 'v1' ? `/v1/durum?no=${no}` : `/v2/status/${no}`;
}

/**
 * Translates the carrier's body, parsed already, into what the service gets.
 *
 * v1: `{ "code": text, "zone": text, "ts": number }`, `ts` in Unix seconds. v2: `{ "state": text,
 * "region": { "code": text }, "updatedAt": text }`. Other fields are ignored; a field that is missing
 * or inherited is not there.
 *
 * `updatedAt` has the form of RFC 3339: date, `T`, time with seconds, perhaps a fraction of them, then
 * `Z` or an offset such as `+03:00`. Everything else that `Date.parse` reads is malformed.
 *
 * `guncellenme` is in UTC, with three decimals and `Z`, and says the whole second: under both contracts
 * the instant is rounded down, also before 1970. `durum` is what `states` says for the carrier's word;
 * names that every object inherits are not in the table.
 *
 * @returns an object with exactly the four keys of `InternalStatus`, in its order
 * @throws {RangeError} naming `version` when it is neither
 * @throws {MalformedCarrierAnswer} when the body is no object (an array isn't one), a field is missing
 *   or of the wrong type, or the instant can't be read, isn't finite, or is more than a `Date` can hold
 * @throws {UnknownCarrierState} when all that is in order, and the table has no such state
 * @example JSON.stringify(toInternal('v1', 'TR-1', { code: 'OFD', zone: '6', ts: 0 }, STATES))
 * // {"takipNo":"TR-1","durum":"dagitimda","bolge":"6","guncellenme":"1970-01-01T00:00:00.000Z"}
 */
export function toInternal(
  version: ContractVersion,
  trackingNo: string,
  body: unknown,
  states: StateTable,
): InternalStatus {
  requireVersion(version);
  // From here on there is one contract: two texts and a number.
  const { state, region, seconds } = version === 'v1' ? readV1(body) : readV2(body);
  const instant = new Date(Math.floor(seconds) * 1_000);
  if (Number.isNaN(instant.getTime())) {
    throw new MalformedCarrierAnswer(`${seconds} s is no instant that a Date can hold`);
  }
  if (!Object.hasOwn(states, state)) throw new UnknownCarrierState(state);
  return {
    takipNo: trackingNo,
    durum: states[state] as string,
    bolge: region,
    guncellenme: instant.toISOString(),
  };
}

/**
 * The answer of the ambassador to a call that went wrong. There is one for every failure, and this
 * function never throws because of one:
 *
 * | failure                                                             | status | `hata`             |
 * | ------------------------------------------------------------------- | ------ | ------------------ |
 * | the call threw because its deadline was over                        | 504    | `zaman-asimi`      |
 * | it threw for any other reason                                       | 502    | `ulasilamadi`      |
 * | status 404                                                          | 404    | `bulunamadi`       |
 * | any other status but 200                                            | 502    | `tasiyici-hatasi`  |
 * | the body threw `UnknownCarrierState`                                | 502    | `bilinmeyen-durum` |
 * | it threw anything else, such as a SyntaxError of `JSON.parse`       | 502    | `bozuk-yanit`      |
 *
 * The deadline was over if what was thrown, or its `cause`, or the cause of that, and so on, has the
 * `name` `TimeoutError`. `fetch` throws what its signal was aborted with, `node:http` an `AbortError`
 * whose cause it is. No message and no `code` says so: an ETIMEDOUT is the system's, not ours. Anything
 * may have been thrown, also what is no error, and a chain of causes may lead back to itself.
 *
 * @returns body: `{"takipNo":<trackingNo>,"hata":<hata>}` as JSON text
 * @throws {RangeError} naming `status` for 200: that is no failure
 * @example classifyFailure('TR-1', { at: 'status', status: 503 })
 * // { status: 502, body: '{"takipNo":"TR-1","hata":"tasiyici-hatasi"}' }
 */
export function classifyFailure(trackingNo: string, failure: CallFailure): LocalAnswer {
  const answer = (status: number, hata: string): LocalAnswer => ({
    status,
    body: JSON.stringify({ takipNo: trackingNo, hata }),
  });
  switch (failure.at) {
    case 'call':
      return isTimeout(failure.error) ? answer(504, 'zaman-asimi') : answer(502, 'ulasilamadi');
    case 'status':
      if (failure.status === 200) throw new RangeError('status 200 is no failure');
      return failure.status === 404 ? answer(404, 'bulunamadi') : answer(502, 'tasiyici-hatasi');
    case 'body':
      return failure.error instanceof UnknownCarrierState
        ? answer(502, 'bilinmeyen-durum')
        : answer(502, 'bozuk-yanit');
  }
}

/**
 * Starts an ambassador on a free port of 127.0.0.1: services ask it, and it asks the carrier.
 *
 * `GET /durum/<no>` makes one outbound call, GET to `externalPath` at the carrier. A 200 that can be
 * translated is answered with 200 and the JSON text of `toInternal`, everything else with what
 * `classifyFailure` says. `<no>` is percent-decoded once; a query behind it is not part of it.
 *
 * `GET /sayac` makes none. It is answered with `{"surum":<version>,"yol":<target>,"bayt":<bytes>}` of
 * the latest outbound call whose body has come completely, whatever its status; before the first one
 * with yol `-` and bayt 0. Reading it changes nothing.
 *
 * Anything else makes no outbound call and is answered with 404 and `{"hata":"bulunamadi"}`: another
 * method, another path, no number, a further segment, a malformed escape, the numbers `.` and `..`.
 * All bodies are `application/json`.
 *
 * An outbound call has one deadline, `timeoutMs` from its start to the last byte of its body, whatever
 * its status was. Only a complete body is judged: by status, then as JSON, then by `toInternal`.
 * Redirects are not followed: a 302 is a status like any other. No answer of a carrier, and no way in
 * which it fails to answer, ends the ambassador or leaves a service without an answer.
 *
 * The call is made with the built-in `fetch` or with `node:http`.
 *
 * @throws {RangeError} naming `version` when it is neither, or `timeoutMs` when it is not a whole
 *   number from 1 to 2147483647 (the promise rejects)
 */
export async function startAmbassador(options: AmbassadorOptions): Promise<RunningServer> {
  const { version, carrier, states, timeoutMs } = options;
  requireVersion(version);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS) {
    throw new RangeError(
      `timeoutMs must be whole, from 1 to ${LONGEST_TIMEOUT_MS}, got ${timeoutMs}`,
    );
  }
  let latest = { surum: version, yol: '-', bayt: 0 };

  // Each try covers one way to fail. One around everything couldn't tell them apart.
  const ask = async (trackingNo: string): Promise<LocalAnswer> => {
    const target = externalPath(version, trackingNo);
    let status: number;
    let body: Buffer;
    try {
      const response = await fetch(new URL(target, carrier), {
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs), // also while the body comes
      });
      status = response.status;
      body = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      return classifyFailure(trackingNo, { at: 'call', error });
    }
    latest = { surum: version, yol: target, bayt: body.length };
    if (status !== 200) return classifyFailure(trackingNo, { at: 'status', status });
    try {
      const internal = toInternal(version, trackingNo, JSON.parse(body.toString()), states);
      return { status: 200, body: JSON.stringify(internal) };
    } catch (error) {
      return classifyFailure(trackingNo, { at: 'body', error });
    }
  };

  const server = createServer(async ({ method, url = '' }, response) => {
    const [path = ''] = url.split('?', 1);
    const trackingNo = method === 'GET' ? numberIn(path) : undefined;
    let answer: LocalAnswer = { status: 404, body: JSON.stringify({ hata: 'bulunamadi' }) };
    if (trackingNo !== undefined) answer = await ask(trackingNo);
    else if (method === 'GET' && path === '/sayac') {
      answer = { status: 200, body: JSON.stringify(latest) };
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  return await listen(server);
}

/**
 * How many contracts a consumer sees that compares texts: the number of distinct ones among the bodies
 * that it got for the same fact.
 *
 * Another order of keys, another blank or another spelling of the same instant is another contract.
 *
 * @returns 0 for no bodies
 * @example contractsSeen(['{"a":1,"b":2}', '{"b":2,"a":1}']) // 2
 */
export function contractsSeen(bodies: readonly string[]): number {
  return new Set(bodies).size;
}

/**
 * What it costs to put shared work into units, or next to them.
 *
 * A unit can use the work if the placement supports its runtime. Linked in (a library), the work is in
 * every artefact that can use it: a new version rebuilds and republishes each of them. As a process of
 * its own (a sidecar) it is one artefact, and no service is published again; it stands next to every
 * unit, also next to one whose runtime it doesn't support.
 *
 * |          | rebuilt | republished | processes per unit | in all n units | local hops |
 * | -------- | ------- | ----------- | ------------------ | -------------- | ---------- |
 * | library  | usable  | usable      | 1                  | n              | 1          |
 * | sidecar  | 1       | 0           | 2                  | 2n             | 2          |
 *
 * `pathHops` is 1, the gateway, plus the local hops; `hopRequestsPerSecond` is the peak times that.
 *
 * @param units the runtime of each unit, by its name
 * @param peakPerSecond requests/s, 0 or more
 * @returns all counts, in the order of `PlacementCost`; nothing is rounded
 * @throws {RangeError} naming `units` or `runtimes` when there are none, or `peakPerSecond` when it is
 *   negative or not finite
 * @example placementCost({ a: 'A', b: 'B' }, { separateProcess: false, runtimes: ['A'] }, 100)
 * // one usable unit, two processes, two hops: 200 hop-requests/s
 */
export function placementCost(
  units: Readonly<Record<string, Runtime>>,
  placement: Placement,
  peakPerSecond: number,
): PlacementCost {
  const { separateProcess, runtimes } = placement;
  const runtimesOfUnits = Object.values(units);
  if (runtimesOfUnits.length === 0) throw new RangeError('units: there are none');
  if (runtimes.length === 0) throw new RangeError('runtimes: there are none');
  if (!Number.isFinite(peakPerSecond) || peakPerSecond < 0) {
    throw new RangeError(`peakPerSecond must be 0 or more requests/s, got ${peakPerSecond}`);
  }
  const usableUnits = runtimesOfUnits.filter((runtime) => runtimes.includes(runtime)).length;
  const processesPerUnit = separateProcess ? 2 : 1;
  const localHops = processesPerUnit; // a request passes each of them
  const pathHops = GATEWAY_HOPS + localHops;
  return {
    usableUnits,
    rebuiltUnits: separateProcess ? 1 : usableUnits,
    republishedServices: separateProcess ? 0 : usableUnits,
    processesPerUnit,
    totalProcesses: processesPerUnit * runtimesOfUnits.length,
    localHops,
    pathHops,
    hopRequestsPerSecond: peakPerSecond * pathHops,
  };
}

/** ms; timers can't count further. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

const GATEWAY_HOPS = 1;

function requireVersion(version: ContractVersion): void {
  if (version !== 'v1' && version !== 'v2') {
    throw new RangeError(`version must be v1 or v2, got ${String(version)}`);
  }
}

function isTrackingNo(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..';
}

function encoded(trackingNo: string): string {
  try {
    return encodeURIComponent(trackingNo);
  } catch {
    throw new RangeError('trackingNo has half a surrogate pair in it, which no URL can carry');
  }
}

/** The tracking number in the path of a request to the ambassador, if there is one. */
function numberIn(path: string): string | undefined {
  const [, segment] = /^\/durum\/([^/]+)$/.exec(path) ?? [];
  if (segment === undefined) return undefined;
  try {
    const trackingNo = decodeURIComponent(segment);
    return isTrackingNo(trackingNo) ? trackingNo : undefined;
  } catch {
    return undefined;
  }
}

/** What both contracts say, in one shape. */
interface Reading {
  /** The carrier's word. */
  readonly state: string;
  readonly region: string;
  /** Unix seconds, perhaps with a fraction. */
  readonly seconds: number;
}

function readV1(body: unknown): Reading {
  const seconds = field(body, 'ts');
  if (typeof seconds !== 'number') throw new MalformedCarrierAnswer('ts must be a number');
  return { state: textField(body, 'code'), region: textField(body, 'zone'), seconds };
}

function readV2(body: unknown): Reading {
  const updatedAt = textField(body, 'updatedAt');
  const seconds = RFC_3339.test(updatedAt) ? Date.parse(updatedAt) / 1_000 : Number.NaN;
  if (Number.isNaN(seconds)) throw new MalformedCarrierAnswer(`no instant: "${updatedAt}"`);
  return {
    state: textField(body, 'state'),
    region: textField(field(body, 'region'), 'code'),
    seconds,
  };
}

/** `Date.parse` reads much more than that, partly in the time zone of the machine. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

function field(body: unknown, name: string): unknown {
  // An array is refused a line further down: it has none of the fields.
  if (typeof body !== 'object' || body === null) {
    throw new MalformedCarrierAnswer(`wanted an object with ${name}`);
  }
  if (!Object.hasOwn(body, name)) throw new MalformedCarrierAnswer(`${name} is missing`);
  return (body as Record<string, unknown>)[name];
}

function textField(body: unknown, name: string): string {
  const value = field(body, name);
  if (typeof value !== 'string') throw new MalformedCarrierAnswer(`${name} must be text`);
  return value;
}

/** Whether what was thrown, or a cause of it, is that of a deadline. */
function isTimeout(thrown: unknown): boolean {
  const seen = new Set<unknown>();
  let error = thrown;
  while (typeof error === 'object' && error !== null && !seen.has(error)) {
    if ((error as Error).name === 'TimeoutError') return true;
    seen.add(error);
    error = (error as Error).cause;
  }
  return false;
}
