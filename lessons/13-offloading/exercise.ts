import type { Flow, Stamp } from '#helpers/lesson/gateway.ts';
import type { Clock } from '#helpers/lesson/manual-clock.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  Check,
  OffloadedEdge,
  Offloading,
  ProofBill,
  Rule,
  TrustBill,
  TrustMode,
  TrustRequirements,
} from './given.ts';
import type { RunnableCheck } from './harness.ts';

/**
 * The rule that says which checks may move to the edge, for the inputs that are metadata and those
 * that are domain data.
 *
 * A check is portable if every input that it requires is metadata; optional inputs don't count, and
 * one that requires nothing is portable. Missing fields are counted over the portable checks only:
 * their optional inputs that are domain data. Names are the same only if they are the same text,
 * upper and lower case included.
 *
 * @throws {Error} whose message has the name of an input that is in both lists
 * @returns all three functions throw an {Error} whose message has the names of the check and of the
 *   input when they meet one that is in neither list, required or optional, in whichever check
 * @example createRule(['path'], ['tariff']).domainInputsOf(
 *   { name: 'price', reads: ['path', 'tariff'], optional: [], lines: 1 }) // ['tariff']
 */
export function createRule(
  metadataInputs: readonly string[],
  domainInputs: readonly string[],
): Rule {
  // TODO 13.1: sort inputs by the two lists; required ones decide, optional ones may get lost.
  return todo('13.1 createRule');
}

/**
 * Splits checks by the rule, and compares the lines of two placements.
 *
 * Every service: all checks in each service, none at the edge. Offloaded: the portable checks once,
 * at the edge, and those that stay in each service. The ratio is the total of the second over that
 * of the first, not rounded; without any lines it is 1.
 *
 * @param services how many there are
 * @throws {RangeError} naming `services` when it is not a whole number of 1 or more, or `lines` when
 *   those of a check are negative or not finite (they may be fractions)
 * @throws {Error} whose message has the name of a check that is there twice
 * @throws {Error} where the rule throws
 * @example offload([{ name: 'a', reads: [], optional: [], lines: 4 }], 2, rule).offloaded
 *   // { edge: 4, services: 0, total: 4 }, and everyService.total is 8
 */
export function offload(checks: readonly Check[], services: number, rule: Rule): Offloading {
  // TODO 13.2: split the checks by the rule, and add up what each placement has.
  return todo('13.2 offload');
}

/**
 * What a trust mode costs with N services, and what it leaves open.
 *
 * `noGateway`: each service verifies what comes to it. `gatewayTrusted`: the gateway verifies, and
 * every service answers whatever comes to it directly. `both`: the gateway verifies, and then the
 * one service verifies again that answers.
 *
 * @param edgeRate req/s at the edge; each of them is for one service
 * @throws {RangeError} naming `services` when it is not a whole number of 1 or more, or `edgeRate`
 *   when it is negative or not finite
 * @example trustBill('both', 2, 10) // { units: 3, verificationsPerSecond: 20, unprotectedServices: 0 }
 */
export function trustBill(mode: TrustMode, services: number, edgeRate: number): TrustBill {
  // TODO 13.3: who verifies in this mode, and how often one request is verified.
  return todo('13.3 trustBill');
}

/**
 * Decides where tokens are verified.
 *
 * Out of the question is a mode that needs more units or verifications/s than allowed (as many is
 * allowed); one that leaves a service unprotected, if the gateway can be bypassed; and `noGateway`, if
 * a gateway is required. Of the others the one with the fewest units, then the fewest
 * verifications/s, then the first of `noGateway`, `gatewayTrusted`, `both`.
 *
 * @returns undefined when no mode is left
 * @throws {RangeError} as `trustBill`
 */
export function chooseTrust(input: TrustRequirements): TrustMode | undefined {
  // TODO 13.3: leave out what is out of the question, then take the cheapest.
  return todo('13.3 chooseTrust');
}

/**
 * Starts three services, and, unless the mode is `noGateway`, a gateway before them.
 *
 * With a gateway it runs all edge checks, and clients know its port only; without one every service
 * runs them, and clients know the services' ports. In mode `both` each service runs the edge check
 * with the name `token` once more. After that each service runs its own checks. Checks run in the
 * order of their list, each with the name of the unit in which it runs. The first status that isn't
 * 0 is the answer (its body is free), and nothing after it runs. What the gateway has rejected
 * doesn't reach a service. A check that throws is a 500 to its client, and lets nothing pass.
 *
 * `close()` closes everything; `addressOf` and `servicePort` still answer.
 *
 * @param options.stamp handed to the gateway
 * @throws {RangeError} (the promise rejects) naming `token` in mode `both` when no edge check has
 *   that name: nothing would be verified twice
 */
export async function startOffloadedEdge(options: {
  mode: TrustMode;
  edgeChecks: readonly RunnableCheck[];
  serviceChecks: Readonly<Record<Flow, readonly RunnableCheck[]>>;
  stamp?: Stamp;
}): Promise<OffloadedEdge> {
  // TODO 13.4: give each unit its list of checks, and start services and gateway.
  return todo('13.4 startOffloadedEdge');
}

/**
 * A proof with which services recognise what the gateway has forwarded.
 *
 * `stamp` returns a copy of the headers in which `x-gateway-proof` is the proof, whatever was in that
 * header before: the HMAC-SHA-256, in lower-case hex, of the method, a space and the path, key
 * `secret`. The path is the target of the request as it is forwarded, query included. `check`, named
 * `proof`, gives 0 to a request that has the right proof, and 401 to one that has none or another
 * one, whatever its length. It compares in a time that doesn't depend on how much of a proof is
 * right (`timingSafeEqual`; not graded).
 *
 * The proof is bound to method and path, and not to the moment: a request that somebody has recorded
 * can be sent again.
 *
 * @throws {RangeError} naming `secret` when it is empty
 */
export function withGatewayProof(options: { secret: string }): {
  stamp: Stamp;
  check: RunnableCheck;
} {
  // TODO 13.5: sign what a request is, and recompute it in the service.
  return todo('13.5 withGatewayProof');
}

/**
 * What the proof buys and costs: the gateway verifies the token of each request, the service that
 * answers checks the proof.
 *
 * @param requests all of them come through the gateway
 * @returns `units` are those that check a token or a proof
 * @throws {RangeError} naming `services` when it is not a whole number of 1 or more, or `requests`
 *   when it is not one of 0 or more
 */
export function proofBill(services: number, requests: number): ProofBill {
  // TODO 13.5: what each request costs, and who checks anything.
  return todo('13.5 proofBill');
}

/**
 * A proof that is good for one request, and for a short time.
 *
 * `stamp` returns a copy of the headers in which `x-gateway-proof` is `<time>:<nonce>:<signature>`,
 * whatever was in that header before. The time is `clock.now()` in whole milliseconds, rounded down;
 * the nonce is a text that no other proof has, of hex digits and hyphens; the signature is the
 * HMAC-SHA-256, in lower-case hex, of method, path, time and nonce with a space between each two,
 * key `secret`. Method and path are as in `withGatewayProof`.
 *
 * `check`, named `proof`, gives 401 to a request whose proof is missing, has another form, is signed
 * wrongly, is more than `windowMs` older or younger than `clock.now()`, rounded down as well, or has
 * a nonce that it has let pass before; otherwise 0. Only a proof that passes uses up its nonce. As
 * long as its time is within the window a nonce is remembered, and then forgotten.
 *
 * @param options.clock that of the unit which uses the result: the gateway its stamp, a service its
 *   check. Their clocks may differ, but by no more than the window.
 * @param options.windowMs milliseconds
 * @returns `remembered()` is the number of nonces that it remembers now
 * @throws {RangeError} naming `secret` when it is empty, or `windowMs` when it is not a whole number
 *   of 1 or more
 */
export function withExpiringProof(options: { secret: string; clock: Clock; windowMs: number }): {
  stamp: Stamp;
  check: RunnableCheck;
  remembered(): number;
} {
  // TODO 13.6: sign the moment and a nonce, too, and remember what has passed.
  return todo('13.6 withExpiringProof');
}
