import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  answerHere,
  FLOWS,
  type Flow,
  type Middleware,
  type Stamp,
  startGateway,
  startService,
  type Unit,
} from '#helpers/lesson/gateway.ts';
import type { CloseOptions } from '#helpers/lesson/http-server.ts';
import type { Clock } from '#helpers/lesson/manual-clock.ts';
import {
  type Check,
  type Lines,
  type OffloadedEdge,
  type Offloading,
  PROOF_HEADER,
  type ProofBill,
  type Rule,
  TRUST_MODES,
  type TrustBill,
  type TrustMode,
  type TrustRequirements,
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
  const metadata = new Set(metadataInputs);
  const domain = new Set(domainInputs);
  for (const input of metadata) {
    if (domain.has(input)) throw new Error(`"${input}" is both metadata and domain data`);
  }

  const domainOf = (check: Check, inputs: readonly string[]) =>
    inputs.filter((input) => {
      if (!metadata.has(input) && !domain.has(input)) {
        throw new Error(`check "${check.name}" has an input that no list has: "${input}"`);
      }
      return domain.has(input);
    });
  // Both lists of a check are looked at, whoever asks: a slip of the pen in the one that doesn't
  // matter now would matter later.
  const domainInputsIn = (check: Check) => ({
    required: domainOf(check, check.reads),
    optional: domainOf(check, check.optional),
  });

  return {
    isPortable: (check) => domainInputsIn(check).required.length === 0,
    domainInputsOf: (check) => domainInputsIn(check).required,
    missingFields: (checks) =>
      checks
        .map(domainInputsIn)
        .filter(({ required }) => required.length === 0)
        .reduce((sum, { optional }) => sum + optional.length, 0),
  };
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
  requireServices(services);
  const names = new Set<string>();
  for (const { name, lines } of checks) {
    if (!(lines >= 0 && lines < Infinity)) {
      throw new RangeError(`lines of "${name}" must be a number of 0 or more, got ${lines}`);
    }
    if (names.has(name)) throw new Error(`check "${name}" is there twice`);
    names.add(name);
  }

  const moving = checks.filter((check) => rule.isPortable(check));
  const staying = checks.filter((check) => !rule.isPortable(check));
  const everyService = linesOf([], checks, services);
  const offloaded = linesOf(moving, staying, services);
  return {
    edge: moving.map(({ name }) => name),
    stay: staying.map(({ name }) => name),
    everyService,
    offloaded,
    ratio: everyService.total === 0 ? 1 : offloaded.total / everyService.total,
    missingFields: rule.missingFields(checks),
  };
}

/** One function for both placements, so that they can't be counted differently. */
function linesOf(atEdge: readonly Check[], inServices: readonly Check[], count: number): Lines {
  const sum = (checks: readonly Check[]) => checks.reduce((total, { lines }) => total + lines, 0);
  const edge = sum(atEdge);
  const services = count * sum(inServices);
  return { edge, services, total: edge + services };
}

function requireServices(services: number): void {
  if (!Number.isInteger(services) || services < 1) {
    throw new RangeError(`services must be a whole number of 1 or more, got ${services}`);
  }
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
  requireServices(services);
  if (!(edgeRate >= 0 && edgeRate < Infinity)) {
    throw new RangeError(`edgeRate must be a rate of 0 req/s or more, got ${edgeRate}`);
  }
  const atGateway = mode !== 'noGateway';
  const inServices = mode !== 'gatewayTrusted';
  return {
    units: (atGateway ? 1 : 0) + (inServices ? services : 0),
    // A request meets one service, however many there are.
    verificationsPerSecond: edgeRate * ((atGateway ? 1 : 0) + (inServices ? 1 : 0)),
    unprotectedServices: inServices ? 0 : services,
  };
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
  const { services, edgeRate, gatewayCanBeBypassed, gatewayRequired = false } = input;
  const { maxUnits = Infinity, maxVerificationsPerSecond = Infinity } = input;
  const [best] = TRUST_MODES.map((mode) => ({ mode, ...trustBill(mode, services, edgeRate) }))
    .filter(
      ({ mode, units, verificationsPerSecond, unprotectedServices }) =>
        units <= maxUnits &&
        verificationsPerSecond <= maxVerificationsPerSecond &&
        !(gatewayCanBeBypassed && unprotectedServices > 0) &&
        !(gatewayRequired && mode === 'noGateway'),
    )
    // Sorting is stable, so the order of the modes decides what is equal.
    .sort((a, b) => a.units - b.units || a.verificationsPerSecond - b.verificationsPerSecond);
  return best?.mode;
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
  const { mode, edgeChecks, serviceChecks, stamp } = options;
  const before = checksBeforeOwn(mode, edgeChecks);
  const services = new Map(
    await Promise.all(
      FLOWS.map(async (flow) => {
        const chain = [chainLink(flow, [...before, ...serviceChecks[flow]])];
        return [flow, await startService(flow, chain)] as const;
      }),
    ),
  );
  const servicePorts = new Map([...services].map(([flow, { port }]) => [flow, port]));
  const gateway =
    mode === 'noGateway'
      ? undefined
      : await startGateway({
          serviceMap: servicePorts,
          chain: [chainLink('gateway', edgeChecks)],
          stamp,
        });

  const servicePort = (flow: Flow) => servicePorts.get(flow) as number;
  const close = async (how?: CloseOptions) => {
    // The gateway first: it is what still asks the services.
    await gateway?.close(how);
    await Promise.all([...services.values()].map((service) => service.close(how)));
  };
  return {
    addressOf: (flow) => gateway?.port ?? servicePort(flow),
    servicePort,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** The edge checks that a service runs before its own. */
function checksBeforeOwn(
  mode: TrustMode,
  edgeChecks: readonly RunnableCheck[],
): readonly RunnableCheck[] {
  if (mode === 'noGateway') return edgeChecks;
  if (mode === 'gatewayTrusted') return [];
  const again = edgeChecks.filter(({ name }) => name === 'token');
  if (again.length === 0) {
    throw new RangeError('edgeChecks must have one named "token" for services to run again');
  }
  return again;
}

/** The gateway and the services differ in their lists, and in nothing else. */
function chainLink(unit: Unit, checks: readonly RunnableCheck[]): Middleware {
  return async (request, response) => {
    for (const check of checks) {
      const status = await check.run(unit, request);
      if (status === 0) continue;
      answerHere(request, response, status);
      return false;
    }
    return true;
  };
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
  const sign = signer(options.secret);
  return {
    stamp: ({ method, path }, headers) => ({
      ...headers,
      [PROOF_HEADER]: sign(`${method} ${path}`),
    }),
    check: {
      name: 'proof',
      run: (_unit, { method, url, headers }) =>
        isSameText(headers[PROOF_HEADER], sign(`${method} ${url}`)) ? 0 : 401,
    },
  };
}

function signer(secret: string): (text: string) => string {
  // An HMAC with an empty key works, and anybody can compute it.
  if (secret === '') throw new RangeError('secret must not be empty');
  return (text) => createHmac('sha256', secret).update(text).digest('hex');
}

/** In a time that doesn't tell how much was right. A wrong length is no secret. */
function isSameText(given: string | string[] | undefined, wanted: string): boolean {
  if (typeof given !== 'string') return false;
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
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
  requireServices(services);
  if (!Number.isInteger(requests) || requests < 0) {
    throw new RangeError(`requests must be a whole number of 0 or more, got ${requests}`);
  }
  return {
    tokenVerifications: requests,
    proofChecks: requests,
    units: 1 + services,
    unprotected: 0,
  };
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
  const { secret, clock, windowMs } = options;
  const sign = signer(secret);
  if (!Number.isInteger(windowMs) || windowMs < 1) {
    throw new RangeError(`windowMs must be a whole number of 1 or more, got ${windowMs}`);
  }
  const now = () => Math.floor(clock.now());
  /** The times of the proofs that have passed, by nonce. */
  const used = new Map<string, number>();

  // With each request, so that no timer has to be stopped. What a service has to remember, and to
  // look through, are the requests of two windows at most: a proof may be one window ahead.
  const forgetOld = () => {
    for (const [nonce, time] of used) if (time < now() - windowMs) used.delete(nonce);
  };

  return {
    stamp({ method, path }, headers) {
      const [time, nonce] = [now(), randomUUID()];
      const signature = sign(`${method} ${path} ${time} ${nonce}`);
      return { ...headers, [PROOF_HEADER]: `${time}:${nonce}:${signature}` };
    },
    check: {
      name: 'proof',
      run(_unit, { method, url, headers }) {
        forgetOld();
        const [time, nonce = '', signature, ...more] = String(headers[PROOF_HEADER]).split(':');
        // The signature before everything else: nobody but the gateway may fill the memory.
        const wanted = sign(`${method} ${url} ${time} ${nonce}`);
        if (more.length > 0 || !isSameText(signature, wanted)) return 401;
        // The other way round, "is it too far away", a time that is no number would pass.
        const inWindow = Math.abs(now() - Number(time)) <= windowMs;
        if (!inWindow || used.has(nonce)) return 401;
        used.set(nonce, Number(time));
        return 0;
      },
    },
    remembered() {
      forgetOld();
      return used.size;
    },
  };
}
