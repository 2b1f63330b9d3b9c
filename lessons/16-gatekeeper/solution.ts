import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { Pool } from 'undici';
import { type CloseOptions, listen, type RunningServer } from '#helpers/lesson/http-server.ts';
import {
  type ApplicationAnswer,
  type BaselineRates,
  type CheckInputs,
  type Checks,
  DOMAIN_INPUTS,
  type ForwardClean,
  type GateEffect,
  type GateRequest,
  REQUEST_PARTS,
  type RequestCheck,
  type ShipmentRecord,
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
  const { maxBodyBytes } = limits;
  requireByteLimit(maxBodyBytes);
  return {
    yol: ({ yol }) => yol === PATH,
    sema: ({ takipNo }) => isTrackingNumber(takipNo),
    boyut: ({ govdeBayt }) => govdeBayt <= maxBodyBytes,
    belirtec: ({ belirtec }) => identityOf(belirtec) !== undefined,
  };
}

const PATH = '/takip';
// [0-9] says which digits are meant. In JavaScript \d means the same; in many languages it doesn't.
const TRACKING_NUMBER = /^TR-[0-9]{4}$/;
const TOKEN = /^b\.(M[0-9]+)\.imza$/;

/** The type first: a pattern turns what it tests into text, and `['TR-4821']` into a good number. */
function isTrackingNumber(value: unknown): boolean {
  return typeof value === 'string' && TRACKING_NUMBER.test(value);
}

/** Who a token says its bearer is, `undefined` unless all of it is well-formed. */
function identityOf(token: unknown): string | undefined {
  return typeof token === 'string' ? TOKEN.exec(token)?.[1] : undefined;
}

function requireByteLimit(maxBodyBytes: number): void {
  if (!Number.isInteger(maxBodyBytes) || maxBodyBytes < 0) {
    throw new RangeError(
      `maxBodyBytes must be a whole number of 0 or more bytes, got ${maxBodyBytes}`,
    );
  }
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
  const { reads } = check;
  if (reads.length === 0) throw new RangeError('reads must name at least one input, got none');
  const unknown = reads.find(
    (input) => !REQUEST_PARTS.includes(input) && !DOMAIN_INPUTS.includes(input),
  );
  if (unknown !== undefined) {
    throw new RangeError(`${unknown} is neither a part of the request nor an input of the domain`);
  }
  return reads.every((input) => REQUEST_PARTS.includes(input)) ? 'gate' : 'application';
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
  // A map finds its own keys and nothing else. An object would find `__proto__`, too.
  const recordOf = ({ takipNo }: GateRequest) =>
    typeof takipNo === 'string' ? records.get(takipNo) : undefined;
  return {
    varlik: (request) => recordOf(request) !== undefined,
    yetki: (request) => {
      const owner = recordOf(request)?.owner;
      const identity = identityOf(request.belirtec);
      // Without the guard, no owner would be the same as no identity.
      return owner !== undefined && owner === identity;
    },
  };
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
  const { requests, invalidShare, baseline } = input;
  if (!(invalidShare >= 0 && invalidShare <= 1)) {
    throw new RangeError(`invalidShare must be from 0 to 1, got ${invalidShare}`);
  }
  const passes = (checks: Checks) => (request: GateRequest) =>
    Object.values(checks).every((check) => check(request));
  const passesGate = passes(input.gate);
  const passesApplication = passes(input.application);
  const isInvalid = (request: GateRequest) => !passesGate(request) || !passesApplication(request);

  const reachOf = (reaching: readonly GateRequest[]) => ({
    reachingRequests: reaching.length,
    reachingInvalid: reaching.filter(isInvalid).length,
    reachingBytes: reaching.reduce((sum, { govdeBayt }) => sum + govdeBayt, 0),
  });
  const none = reachOf(requests);
  const gate = reachOf(requests.filter(passesGate));

  const total = none.reachingInvalid;
  const notHeld = gate.reachingInvalid;
  const held = total - notHeld;
  // Of the invalid ones, since invalidShare counts those; and unrounded, since 0.667 would be seen.
  const heldRatio = total === 0 ? 0 : held / total;
  const left = 1 - invalidShare * heldRatio;
  return {
    none,
    gate,
    invalid: { total, held, notHeld, heldRatio },
    load: {
      behindGate: baseline.edge * left,
      reads: baseline.reads * left,
      behindCache: baseline.behindCache * left,
    },
  };
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
  const guard = createGuard(options);
  // Node has invited the body before it calls a listener of `request`.
  return (request, response) => void guard(request, response, () => {});
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
  const { maxBodyBytes, upstreamPort } = options;
  const application = new Pool(`http://127.0.0.1:${upstreamPort}`, {
    // How long the application may take is not for its connections to say.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const guard = createGuard({
    maxBodyBytes,
    forward: async ({ identity, contentType, body }) => {
      // Made from nothing. Whoever deletes from the client's fields forgets one.
      const answer = await application.request({
        method: 'POST',
        path: PATH,
        headers: {
          'x-kimlik': identity,
          ...(contentType !== undefined && { 'content-type': contentType }),
        },
        body,
      });
      const type = answer.headers['content-type'];
      return {
        status: answer.statusCode,
        ...(type !== undefined && { contentType: String(type) }),
        body: Buffer.from(await answer.body.arrayBuffer()),
      };
    },
  });

  const server = createServer((request, response) => void guard(request, response, () => {}));
  // Without a listener of this event Node invites every body, before anybody has looked at the head.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    void guard(request, response, () => response.writeContinue());
  });
  const running = await listen(server);
  const close = async (how?: CloseOptions) => {
    await running.close(how);
    await application.destroy();
  };
  return { port: running.port, close, [Symbol.asyncDispose]: () => close() };
}

/** A gate that is told how to ask for a body. */
type Guard = (
  request: IncomingMessage,
  response: ServerResponse,
  inviteBody: () => void,
) => Promise<void>;

function createGuard(options: { maxBodyBytes: number; forward: ForwardClean }): Guard {
  const { maxBodyBytes, forward } = options;
  requireByteLimit(maxBodyBytes);

  return async (request, response, inviteBody) => {
    const { url = '', method, headers } = request;
    const declaredBytes = Number(headers['content-length'] ?? 0);
    const isEndless = declaredBytes > maxBodyBytes || headers['transfer-encoding'] !== undefined;
    const refuse = (status: number, hata: string) => {
      // Node would read the rest, however long, to find the next request behind it.
      if (isEndless && !request.complete) response.setHeader('connection', 'close');
      response.statusCode = status;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ hata }));
    };

    if (url.split('?', 1)[0] !== PATH) return refuse(404, 'yol');
    if (method !== 'POST') {
      response.setHeader('allow', 'POST');
      return refuse(405, 'yontem');
    }
    // Believed where it speaks against the stranger who wrote it, and only there.
    if (declaredBytes > maxBodyBytes) return refuse(413, 'boyut');
    const identity = identityOf(headers.authorization);
    if (identity === undefined) return refuse(401, 'belirtec');

    inviteBody();
    const body = await readBody(request, maxBodyBytes);
    if (body === 'brokenOff') return; // nobody is left to be answered
    if (body === 'tooLarge') return refuse(413, 'boyut');
    if (!holdsTrackingNumber(body)) return refuse(400, 'sema');

    const contentType = headers['content-type'];
    try {
      send(
        response,
        await forward({ identity, ...(contentType !== undefined && { contentType }), body }),
      );
    } catch {
      refuse(502, 'ulasilamadi');
    }
  };
}

/** Holds at most `maxBytes` bytes and one piece. Not an async iterator: leaving it cuts the socket. */
function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'tooLarge' | 'brokenOff'> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) {
        request.pause();
        resolve('tooLarge');
      } else pieces.push(piece);
    });
    request.on('end', () => resolve(Buffer.concat(pieces)));
    // Comes after `end`, too, when it has nothing left to say.
    request.on('close', () => resolve('brokenOff'));
  });
}

function holdsTrackingNumber(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    // Its own: what an object inherits was not in the request.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'takipNo')) {
      return false;
    }
    return isTrackingNumber((value as { takipNo: unknown }).takipNo);
  } catch {
    return false;
  }
}

function send(response: ServerResponse, { status, contentType, body }: ApplicationAnswer): void {
  if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new RangeError(`status must be from 200 to 599, got ${status}`);
  }
  // Throws at a line break, which would start a header of the application's choice.
  if (contentType !== undefined) response.setHeader('content-type', contentType);
  response.statusCode = status;
  response.end(body);
}
