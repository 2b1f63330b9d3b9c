// Lesson 16: your file. Read README.md and gatekeeper.spec.ts beside it, then replace the TODOs.
import type { RequestListener } from 'node:http';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  BaselineRates,
  CheckInputs,
  Checks,
  ForwardClean,
  GateEffect,
  GateRequest,
  RequestCheck,
  ShipmentRecord,
} from './given.ts';

/**
 * The four checks that a gate makes on the request alone. None of them throws, whatever the request
 * holds.
 *
 * - `yol`: the path is `/takip`.
 * - `sema`: the tracking number is a string, and from its first to its last character `TR-` and four
 *   ASCII digits.
 * - `boyut`: the body has at most `maxBodyBytes` bytes.
 * - `belirtec`: the token is a string, and from its first to its last character `b.M`, one or more
 *   ASCII digits, and `.imza`. That is its form. Nothing is verified.
 *
 * @throws {RangeError} when `maxBodyBytes` is not a whole number of 0 or more; the message names it
 * @example gateChecks({ maxBodyBytes: 2_048 }).sema({ yol: '/', takipNo: 'TR-48210', govdeBayt: 0 })
 * // false
 */
export function gateChecks(limits: {
  maxBodyBytes: number;
}): Record<'yol' | 'sema' | 'boyut' | 'belirtec', RequestCheck> {
  // TODO 16.1: the type first, then the whole text from its first to its last character.
  return todo('16.1 gateChecks');
}

/**
 * Where a check belongs, from what it has to look at.
 *
 * Only parts of the request (`REQUEST_PARTS`): `gate`. At least one input that needs the
 * application's data (`DOMAIN_INPUTS`): `application`. Names are compared exactly.
 *
 * @throws {RangeError} when an input is in neither list, which must not slip to the edge; the
 *   message has its name
 * @throws {RangeError} when there are no inputs: a check at the gate that looks at nothing decides
 *   nothing; the message names `reads`
 * @example placeCheck({ reads: ['takipNo', 'gonderi kaydi'] }) // 'application'
 */
export function placeCheck(check: Pick<CheckInputs, 'reads'>): 'gate' | 'application' {
  // TODO 16.2: look at what the check reads, and refuse what is in neither list.
  return todo('16.2 placeCheck');
}

/**
 * The two checks that need the application's data. Each is right by itself, whether or not any
 * other check has run, and neither throws, whatever the request holds.
 *
 * - `varlik`: there is a record of this tracking number.
 * - `yetki`: there is a record, the token is well-formed as exercise 16.1 has it, and the record's
 *   owner is the part of the token between its dots.
 *
 * @param records the shipments, by tracking number
 * @example const { yetki } = applicationChecks(new Map([['TR-4821', { owner: 'M7' }]]));
 * yetki({ yol: '/takip', takipNo: 'TR-4821', belirtec: 'b.M7.imza', govdeBayt: 0 }) // true
 */
export function applicationChecks(
  records: ReadonlyMap<string, ShipmentRecord>,
): Record<'varlik' | 'yetki', RequestCheck> {
  // TODO 16.3: ask yourself what each comparison says when both sides are missing.
  return todo('16.3 applicationChecks');
}

/**
 * What a gate changes: for the requests of a set, and for the baseline.
 *
 * A request is invalid if any check of either record fails, and held if a check of the gate does.
 * Without a gate all requests reach the application, with one those that are not held. With
 * h = held / invalid, each rate is multiplied by 1 - invalidShare x h. Where nothing is invalid, and
 * in an empty set, h is 0 and the rates stay as they are. Nothing is rounded.
 *
 * @param input.gate checks on the request alone, such as those of exercise 16.1; under any names
 * @param input.application checks with domain data, such as those of exercise 16.3; under any names
 * @param input.invalidShare share of the requests at the edge that are invalid in any way, in the
 *   same mix as in the set
 * @param input.baseline requests/s: at the edge, reads, reads behind the cache
 * @throws {RangeError} when `invalidShare` is not from 0 to 1; the message names it
 */
export function gateEffect(input: {
  requests: readonly GateRequest[];
  gate: Checks;
  application: Checks;
  invalidShare: number;
  baseline: BaselineRates;
}): GateEffect {
  // TODO 16.4: which requests are invalid, which of those are held, and what is left of each rate.
  return todo('16.4 gateEffect');
}

/**
 * A gate as a listener: it refuses what the request alone shows to be invalid, and hands on the
 * rest through `forward`.
 *
 * The checks, in this order; the first one that fails is the answer. Each of these bodies is
 * `application/json` and has a `content-length`.
 * 1. The path is `/takip`: else 404 `{"hata":"yol"}`. The path is the target up to the first `?`;
 *    what follows is ignored and not passed on. Nothing about it is decoded or tidied up.
 * 2. The method is POST: else 405 `{"hata":"yontem"}` and `allow: POST`; to a HEAD without the body.
 * 3. The declared `content-length` is at most `maxBodyBytes`: else 413 `{"hata":"boyut"}`.
 * 4. `authorization` is a token of the form of exercise 16.1: else 401 `{"hata":"belirtec"}`.
 * 5. The body, which is not read before this point, has at most `maxBodyBytes` bytes: else 413 as
 *    above, as soon as one byte more has come. Only a body without a declared length gets this far.
 * 6. The body is a JSON object with a `takipNo` of its own that has the form of exercise 16.1: else
 *    400 `{"hata":"sema"}`.
 *
 * No refusal waits for a body. One that leaves a body unread, or half read, of which more than
 * `maxBodyBytes` are declared, or no length at all, says `connection: close`, and the gate hangs up
 * instead of reading the rest. After any other refusal the connection is there for the next request.
 *
 * What passes is handed to `forward` once: the identity from the token, the `content-type` if there
 * is one, the body as it came. A refused request is not handed to it, nor one that breaks off before
 * its body is complete. Its answer goes to the client: status, content type (none if it has none)
 * and body, whatever they are. If `forward` throws or rejects, or if its answer can't be sent (a
 * status that is not from 200 to 599, a content type that no header may hold): 502
 * `{"hata":"ulasilamadi"}`.
 *
 * @throws {RangeError} as `gateChecks`
 */
export function createGatekeeper(options: {
  maxBodyBytes: number;
  forward: ForwardClean;
}): RequestListener {
  // TODO 16.5: refuse on the head first; read no more of the body than you have to.
  return todo('16.5 createGatekeeper');
}

/**
 * The gate of `createGatekeeper` as a server of its own, in front of an application on a port.
 *
 * To the application goes `POST /takip` with the body, `x-kimlik` (the identity), the client's
 * `content-type` if it sent one, and nothing else that the client wrote: no other header, and not
 * its `x-kimlik`. If the application can't be reached, or breaks off its answer: 502 as above.
 *
 * A client that sends `expect: 100-continue` waits to be asked for its body. It is asked (100) once
 * the checks 1 to 4 have passed; a refusal by one of these is the only thing that it gets.
 *
 * `close()` cuts what is open; `close({ drain: true })` lets running requests finish first. Either
 * closes the connections to the application, too.
 *
 * @param options.upstreamPort TCP port of the application on 127.0.0.1
 * @throws {RangeError} (rejects) as `gateChecks`
 */
export async function startGatekeeper(options: {
  maxBodyBytes: number;
  upstreamPort: number;
}): Promise<RunningServer> {
  // TODO 16.5: the listener on a server of its own, and a request to the application made from nothing.
  return todo('16.5 startGatekeeper');
}
