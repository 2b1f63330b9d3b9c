import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  AmbassadorOptions,
  CallFailure,
  ContractVersion,
  InternalStatus,
  LocalAnswer,
  Placement,
  PlacementCost,
  Runtime,
  StateTable,
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
  // TODO 15.1: one value, two places in a URL: encode it first.
  return todo('15.1 externalPath');
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
  // TODO 15.2: check the shape, find the instant in seconds, look the state up, build four keys.
  return todo('15.2 toInternal');
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
  // TODO 15.3: one answer for each row of the table.
  return todo('15.3 classifyFailure');
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
  // TODO 15.4: one try around the call, one around the body; `listen` makes the server run.
  return todo('15.4 startAmbassador');
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
  // TODO 15.5: texts, not meanings.
  return todo('15.5 contractsSeen');
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
  // TODO 15.6: who can use it, and is it a process of its own?
  return todo('15.6 placementCost');
}
