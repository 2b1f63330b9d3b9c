// Lesson 17: one good answer. `exercise.ts` has the same exports, with the same contracts.
import type { IncomingMessage, RequestListener } from 'node:http';
import { Pool } from 'undici';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import {
  type CloseOptions,
  type RunningServer,
  startHttpServer,
} from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { GROUPS, TABLES } from '../01-dns-routing/routing.ts';
import { STATES } from '../15-ambassador-and-sidecar/given.ts';
import {
  type AuditedRun,
  type AuditedRunName,
  type AuditRow,
  type Change,
  MEASURES,
} from './audit-rows.ts';
import {
  BODY_LIMIT,
  CACHE_CAPACITY,
  CLIENT_FIELD,
  type ClientName,
  DEADLINE_MS,
  type DeliveryOptions,
  type EdgeOptions,
  type EdgeRequest,
  type GatewayOptions,
  type PathConfig,
  type Prediction,
  REFUSALS,
  REGIONS,
  REPLICAS,
  type Resolver,
  type ResolverOptions,
  ROUTE,
  type RunningPath,
  SEEN_AT_THE_GATE,
  type ServiceAnswer,
  type ServiceRequest,
  SHOWN_FIELDS,
  type Switches,
  UNREACHABLE_BODY,
  type UnitName,
  type View,
} from './given.ts';
import {
  aggregation,
  ambassador,
  backendForFrontend,
  dnsRouting,
  edgeCaching,
  gatekeeper,
  loadBalancer,
} from './pieces.ts';

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
  const { method, target, headers } = request;
  const { perClientBodies = true } = options;
  // HEAD may be answered from the same entry, in theory. Nobody sends one here.
  if (method !== 'GET') return null;
  const client = perClientBodies ? (headers['x-istemci'] ?? '') : '';
  // A list in JSON has quotes around its values, and escapes those inside. Any separator without
  // such an escape can stand in a token.
  return JSON.stringify([client, headers.authorization ?? '', target]);
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
  const { upstreamPort, capacity, key } = options;
  const cache = new edgeCaching.LruCache<Stored>(capacity);
  const balancer = openNeighbour(upstreamPort);

  const server = await startHttpServer(async (request, response) => {
    const { method = 'GET', url: target = '/' } = request;
    if (target === HEALTH_TARGET) {
      request.resume();
      response.writeHead(200).end('ayakta');
      return;
    }
    const headers = endToEnd(request);
    const cacheKey = method === 'GET' ? key({ method, target, headers }) : null;
    const stored = cacheKey === null ? undefined : cache.get(cacheKey);
    if (stored) {
      request.resume();
      const { status, contentType, body } = stored;
      response.writeHead(status, { ...contentType, 'x-kenar': 'isabet' }).end(body);
      return;
    }
    try {
      const body = await readBody(request);
      // Who asks is for the gateway to say. A client that says it itself is not believed.
      delete headers['x-kimlik'];
      // Rejects when the answer breaks off, so what follows is about a complete one.
      const answer = await balancer.ask({ method, target, headers, body });
      const { status } = answer;
      const contentType = pick(answer.headers, ['content-type']);
      if (cacheKey !== null && status === 200 && !forbidsStoring(answer.headers)) {
        cache.set(cacheKey, { status, contentType, body: answer.body });
      }
      const passed = pick(answer.headers, ['cache-control', 'x-kopya', 'x-eksik']);
      response.writeHead(status, { ...contentType, ...passed, 'x-kenar': 'iska' });
      response.end(answer.body);
    } catch {
      response.writeHead(502, { ...JSON_TYPE, 'x-kenar': 'iska' }).end(UNREACHABLE_BODY);
    }
  });
  return alsoClosing(server, balancer);
}

/** An answer as a cache keeps it. */
interface Stored {
  readonly status: number;
  readonly contentType: Record<string, string>;
  readonly body: Buffer;
}

/** RFC 9111 section 5.2.2.5. The directives are a list, and their names have no case. */
function forbidsStoring({ 'cache-control': directives = '' }: Fields): boolean {
  return directives.split(',').some((directive) => directive.trim().toLowerCase() === 'no-store');
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
  const { policy, group, ttlRounds, phase } = options;
  requireWhole('ttlRounds', ttlRounds, 1);
  requireWhole('phase', phase, 0);
  // Not `undefined` for "nothing yet": nobody has said that a region can't be that.
  let remembered: { readonly round: number; readonly answer: Answer } | undefined;
  return {
    region(round, isMarkedDown) {
      const isDue = (round + phase) % ttlRounds === 0 && remembered?.round !== round;
      if (!remembered || isDue) {
        remembered = { round, answer: policy.answer({ group, isMarkedDown }) };
      }
      return remembered.answer;
    },
  };
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
  const { gate, bff, batch, partialPanel, call } = options;

  /** One answer for all the numbers: a batch call, or one call for each. */
  const ask = async (
    service: 'delivery' | 'pricing',
    { numbers, isList, identity }: Accepted,
  ): Promise<ServiceAnswer> => {
    const path = service === 'delivery' ? '/durum' : '/ucret';
    const one = (target: string) =>
      call(service, { method: 'GET', target, headers: { 'x-kimlik': identity } });
    if (!isList) return await one(`${path}/${numbers[0]}`);
    if (batch) return await one(`${path}?no=${numbers.join(',')}`);
    const answers = await Promise.all(numbers.map((number) => one(`${path}/${number}`)));
    const refusal = answers.find(({ status }) => status !== 200);
    return refusal ?? { status: 200, body: Buffer.from(`[${answers.map(bodyText).join(',')}]`) };
  };

  const serve = async (accepted: Accepted, client: ClientName | undefined): Promise<Reply> => {
    const isPanel = bff && client === 'panel';
    const wantsPrice = isPanel || !bff;
    // Both begin before either has answered. A pricing that fails must not reject while delivery is
    // still awaited: nobody would handle that.
    const [delivered, priced] = await Promise.allSettled([
      ask('delivery', accepted),
      wantsPrice ? ask('pricing', accepted) : undefined,
    ]);
    if (delivered.status === 'rejected') return UNREACHABLE;
    if (delivered.value.status !== 200) return refusalOf(delivered.value);
    const shipments = recordsIn(delivered.value);
    if (priced.status === 'rejected') {
      if (!isPanel || !partialPanel) return UNREACHABLE;
      const body = shipments.map((shipment) => shown({ ...shipment, ucret: null }, client));
      // Stored, the hole would outlive its reason.
      return { ...json(body), headers: { 'x-eksik': 'ucret', 'cache-control': 'no-store' } };
    }
    if (priced.value && priced.value.status !== 200) return refusalOf(priced.value);
    const prices = priced.value ? recordsIn(priced.value) : [];
    const combined = shipments.map((shipment, index) => withPrice(shipment, prices[index]));
    const bodies = bff && client ? combined.map((whole) => shown(whole, client)) : combined;
    return json(accepted.isList ? bodies : bodies[0]);
  };

  return async (request, response) => {
    const { method = 'GET', url: target = '/', headers } = request;
    const send = ({ status, body, headers: more }: Reply) =>
      response.writeHead(status, { ...JSON_TYPE, ...more }).end(body);
    if (target === HEALTH_TARGET) {
      request.resume();
      response.writeHead(200).end('ayakta');
      return;
    }
    const judged = judge(request);
    if (!('refusal' in judged)) {
      request.resume();
      const client = CLIENTS.find((name) => CLIENT_FIELD[name] === headers['x-istemci']);
      send(await serve(judged, client).catch(() => UNREACHABLE));
      return;
    }
    if (gate) {
      request.resume(); // the rest of a body that nobody wants, or the next request would not be read
      send(REFUSALS[judged.refusal]);
      return;
    }
    try {
      const body = await readBody(request);
      const { authorization } = headers;
      const passedOn = { ...(authorization !== undefined && { authorization }) };
      const answer = await call('delivery', { method, target, headers: passedOn, body });
      send({ status: answer.status, body: bodyText(answer) });
    } catch {
      send(UNREACHABLE);
    }
  };
}

/** What is sent back, as JSON text. */
interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const UNREACHABLE: Reply = { status: 502, body: UNREACHABLE_BODY };
const CLIENTS = Object.keys(CLIENT_FIELD) as ClientName[];

/** A request that has passed the four checks. */
interface Accepted {
  readonly numbers: readonly string[];
  readonly isList: boolean;
  /** From the token, such as `M10`. */
  readonly identity: string;
}

/** The four checks of a gate, on what everybody can see. Delivery makes the same ones. */
function judge(
  request: IncomingMessage,
): Accepted | { refusal: 'path' | 'size' | 'token' | 'schema' } {
  const checks = gatekeeper.gateChecks({ maxBodyBytes: BODY_LIMIT });
  const { url = '/', headers } = request;
  const [path = ''] = url.split('?', 1);
  const isBelow = path.startsWith(`${PATH}/`);
  const query = url.slice(path.length);
  const [, list] = /^\?no=([^&]*)$/.exec(query) ?? [];
  const numbers = isBelow ? [path.slice(PATH.length + 1)] : (list?.split(',') ?? []);
  const seen = {
    // Lesson 16 knows one path. Here the number may stand below it.
    yol: isBelow ? PATH : path,
    belirtec: headers.authorization,
    govdeBayt: Number(headers['content-length'] ?? 0),
  };
  if (!checks.yol(seen)) return { refusal: 'path' };
  if (!checks.boyut(seen)) return { refusal: 'size' };
  if (!checks.belirtec(seen)) return { refusal: 'token' };
  const isWellFormed = numbers.every((takipNo) => checks.sema({ ...seen, takipNo }));
  if (numbers.length === 0 || !isWellFormed) return { refusal: 'schema' };
  return { numbers, isList: !isBelow, identity: (headers.authorization ?? '').split('.')[1] ?? '' };
}

function refusalOf(answer: ServiceAnswer): Reply {
  const passesOn = answer.status === 404 || answer.status === 403;
  return passesOn ? { status: answer.status, body: bodyText(answer) } : UNREACHABLE;
}

function recordsIn(answer: ServiceAnswer): Record<string, unknown>[] {
  return [JSON.parse(bodyText(answer))].flat();
}

/** The combined body of lesson 12; without a price it stays as it is. */
function withPrice(
  shipment: Record<string, unknown>,
  price: Record<string, unknown> | undefined,
): Record<string, unknown> {
  if (!price) return shipment;
  const found = (body: object) => ({ state: 'found', body }) as const;
  return JSON.parse(aggregation.mergeTracking(found(shipment), found(price), 'fail').body);
}

/** What a client shows of a shipment (lesson 14). */
function shown(whole: Record<string, unknown>, client: ClientName): Record<string, unknown> {
  return backendForFrontend.selectFields(whole, SHOWN_FIELDS[client]);
}

function json(value: unknown): Reply {
  return { status: 200, body: JSON.stringify(value) };
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
  const { records, ask } = options;
  const { varlik, yetki } = gatekeeper.applicationChecks(records);

  const refusalOfNumber = (takipNo: string, identity: string) => {
    // Lesson 16 takes the identity out of a token. The gateway has done that, and passes it on alone.
    const seen = { yol: PATH, takipNo, belirtec: `b.${identity}.imza`, govdeBayt: 0 };
    if (!varlik(seen)) return REFUSALS.unknown;
    return yetki(seen) ? undefined : REFUSALS.foreign;
  };

  const shipment = async (takipNo: string): Promise<Record<string, unknown>> => {
    const answer = await ask(takipNo);
    if (answer.status !== 200) throw new Error(`the ambassador answered ${answer.status}`);
    const { durum, bolge, guncellenme } = JSON.parse(bodyText(answer));
    // The ambassador writes whole seconds with three decimals. Readers here have agreed on none.
    const instant = String(guncellenme).replace('.000Z', 'Z');
    return { takipNo, durum, bolge, guncellenme: instant, rota: ROUTE };
  };

  const reply = async (request: IncomingMessage): Promise<Reply> => {
    const asked = /^\/durum(?:\/([^/?]+)|\?no=([^&]+))$/.exec(request.url ?? '');
    if (!asked) {
      const judged = judge(request);
      // What passes all four can't come from the gateway, which would have asked for `/durum`.
      return 'refusal' in judged ? REFUSALS[judged.refusal] : REFUSALS.path;
    }
    const [, one, list = ''] = asked;
    const numbers = one === undefined ? list.split(',') : [one];
    const identity = String(request.headers['x-kimlik'] ?? '');
    for (const number of numbers) {
      const refusal = refusalOfNumber(number, identity);
      if (refusal) return refusal;
    }
    const shipments = await Promise.all(numbers.map(shipment));
    return json(one === undefined ? shipments : shipments[0]);
  };

  return async (request, response) => {
    request.resume();
    const { status, body } = await reply(request).catch(() => UNREACHABLE);
    response.writeHead(status, JSON_TYPE).end(body);
  };
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
  const units = new Map<UnitName, RunningServer>();
  const taps = new Map<UnitName, number>();
  const neighbours: Neighbour[] = [];
  const tapOf = (unit: UnitName) => taps.get(unit) as number;

  const start = async (name: UnitName, starting: Promise<RunningServer>) => {
    const unit = await starting;
    units.set(name, unit);
    taps.set(name, await config.tap(name, unit.port));
  };
  const neighbour = (unit: UnitName) => {
    const opened = openNeighbour(tapOf(unit));
    neighbours.push(opened);
    return opened;
  };
  const close = async () => {
    await Promise.all([...units.values()].map((unit) => unit.close()));
    await Promise.all(neighbours.map((opened) => opened[Symbol.asyncDispose]()));
  };

  try {
    // From the far end: a unit has to know nobody but the next one.
    await start('carrier', config.startCarrier());
    await start('pricing', config.startPricing());
    const toCarrier = ambassador.startAmbassador({
      version: config.carrier,
      carrier: new URL(`http://127.0.0.1:${tapOf('carrier')}`),
      states: STATES,
      timeoutMs: DEADLINE_MS,
    });
    await start('ambassador', toCarrier);
    const helper = neighbour('ambassador');
    const delivery = createDelivery({
      records: config.records,
      ask: (number) => helper.ask({ method: 'GET', target: `/durum/${number}`, headers: {} }),
    });
    await start('delivery', startHttpServer(delivery));

    const services = { delivery: neighbour('delivery'), pricing: neighbour('pricing') };
    const gateway = createGateway({
      ...config,
      call: (service, request) => services[service].ask(request),
    });
    for (const name of REPLICAS) {
      const replica = startHttpServer((request, response) => {
        response.setHeader('x-kopya', name);
        gateway(request, response);
      });
      await start(name, replica);
    }

    const replicas = REPLICAS.map((name) => ({ name, port: tapOf(name) }));
    const balancer = await startPlacingBalancer(replicas, config);
    await start('balancer', Promise.resolve(balancer));
    for (const region of REGIONS) {
      const edge = startEdge({
        upstreamPort: tapOf('balancer'),
        capacity: CACHE_CAPACITY,
        key: (request) =>
          config.cache ? edgeCacheKey(request, { perClientBodies: config.bff }) : null,
      });
      await start(region, edge);
    }
    const edges = watch(REGIONS.map((name) => ({ name, port: tapOf(name) })));

    return {
      edgePort: tapOf,
      isMarkedDown: (region) => !edges.up().includes(region),
      endOfRound: async () => {
        await Promise.all([
          config.health && balancer.probeNow(),
          config.nameHealth && edges.probeNow(),
        ]);
      },
      stop: async (unit) => {
        await units.get(unit)?.close();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A balancer that is told when to probe. */
interface ProbingBalancer extends RunningServer {
  probeNow(): Promise<void>;
}

/** Lesson 5's balancer, unless there is a function that chooses: that one has only a rotation. */
async function startPlacingBalancer(
  replicas: readonly Replica[],
  { place, health }: PathConfig,
): Promise<ProbingBalancer> {
  if (!place) {
    return await loadBalancer.startBalancer({
      replicas,
      health: health && { ...ONE_FAILURE, intervalMs: 0, timeoutMs: DEADLINE_MS },
    });
  }
  const watched = watch(replicas);
  const forwarding = openForwarding();
  const server = await startHttpServer((request, response) => {
    const pool = watched.up();
    const refuse = (status: number) => {
      request.resume();
      response.writeHead(status, JSON_TYPE).end(UNREACHABLE_BODY);
    };
    if (pool.length === 0) {
      refuse(503);
      return;
    }
    const chosen = place(request.url ?? '', pool);
    const port = replicas.find(({ name }) => name === chosen)?.port;
    forwarding.forward(request, response, {
      choose: ({ size }) => (size > 0 ? undefined : port),
      refuse,
    });
  });
  return { ...alsoClosing(server, forwarding), probeNow: watched.probeNow };
}

const ONE_FAILURE = { fall: 1, rise: 1 };

/** Who of some units is up, by their latest probes. */
function watch(units: readonly Replica[]): { up(): string[]; probeNow(): Promise<void> } {
  const tracker = new loadBalancer.HealthTracker(
    units.map(({ name }) => name),
    ONE_FAILURE,
  );
  return {
    up: () => tracker.up(),
    async probeNow() {
      await Promise.all(
        units.map(async ({ name, port }) => tracker.record(name, await isHealthy(port))),
      );
    },
  };
}

async function isHealthy(port: number): Promise<boolean> {
  // A probe opens a connection of its own: one that is kept could be alive with nobody left to answer.
  await using unit = openNeighbour(port);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const probe = { method: 'GET', target: HEALTH_TARGET, headers: {} };
  return await unit.ask(probe, signal).then(
    ({ status }) => status === 200,
    () => false,
  );
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
  const { cache, gate, bff, batch } = switches;
  const regionOf = bind(trace, switches);
  const stored = new Set<string>();
  const sum = {
    client: 0,
    hits: 0,
    balancer: 0,
    held: 0,
    delivery: 0,
    pricing: 0,
    carrier: 0,
    bytesToClients: 0,
    bytesFromOrigin: 0,
  };
  for (const view of trace) {
    const isList = view.client === 'panel' && bff;
    for (const { method, target, headers, expected } of view.requests) {
      const bytes = Buffer.byteLength(expected.body);
      sum.client += 1;
      sum.bytesToClients += bytes;
      const key = edgeCacheKey({ method, target, headers }, { perClientBodies: bff });
      const entry = `${regionOf(view)} ${key}`;
      if (cache && key !== null && stored.has(entry)) {
        sum.hits += 1;
        continue;
      }
      sum.balancer += 1;
      sum.bytesFromOrigin += bytes;
      if (SEEN_AT_THE_GATE.has(view.flaw)) {
        // Somebody has to look at it. Without a gate that is delivery.
        if (gate) sum.held += 1;
        else sum.delivery += 1;
        continue;
      }
      const calls = isList && !batch ? view.numbers.length : 1;
      sum.delivery += calls;
      if (isList || !bff) sum.pricing += calls;
      if (view.flaw !== null) continue; // refused by the services, before the ambassador is asked
      sum.carrier += isList ? view.numbers.length : 1;
      stored.add(entry);
    }
  }
  return { ...sum, application: sum.delivery + sum.pricing };
}

/** The region of a view, with a fresh policy and with every region alive. */
function bind(trace: readonly View[], switches: Switches): (view: View) => string {
  const policy = dnsRouting.createPolicy(switches.policy, TABLES);
  const resolvers = GROUPS.map((group, phase) =>
    createResolver({ policy, group, ttlRounds: switches.ttlRounds, phase }),
  );
  const rounds = Math.max(-1, ...trace.map(({ round }) => round)) + 1;
  // In the order in which the resolvers ask: the weighted policy answers them from one pattern.
  const bindings = Array.from({ length: rounds }, (_, round) =>
    resolvers.map((resolver) => resolver.region(round, () => false)),
  );
  return ({ round, group }) => bindings[round]?.[GROUPS.indexOf(group)] as string;
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
  const all = [...row.moves, ...row.grows];
  // Before the unchanged ones are left out: Infinity hasn't changed into Infinity, and is no number
  // to defend anything with.
  for (const change of all) requireChange(change);

  const measured = all.some((change) => isChange(change) && change.measure !== 'other');
  const paid = row.grows.some(isPrice);
  if (!measured && !paid) return { defensible: false, reason: `${NO_MEASURE}; ${NO_PRICE}` };
  if (!measured) return { defensible: false, reason: NO_MEASURE };
  if (!paid) return { defensible: false, reason: NO_PRICE };
  return { defensible: true, reason: 'a number that somebody notices moves, and it has its price' };
}

const NO_MEASURE = 'neither side has a request, a byte or an answer that changes';
const NO_PRICE = 'nothing on the right side is a price';

function requireChange(change: Change): void {
  for (const side of ['before', 'after'] as const) {
    if (!Number.isFinite(change[side])) {
      throw new RangeError(`${side} must be a finite number, got ${change[side]}`);
    }
  }
  if (!MEASURES.includes(change.measure)) {
    throw new RangeError(`measure must be one of ${MEASURES.join(', ')}, got ${change.measure}`);
  }
}

function isChange({ before, after }: Change): boolean {
  return before !== after;
}

/** The share that is still answered is the one measure of which less is worse. */
function isPrice({ measure, before, after }: Change): boolean {
  return measure === 'answered' ? after < before : after > before;
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
  const { full, noCache, noGate, ambassadorStopped } = runs;
  // Layers 4 and 7 decide how the load is spread. What load there is to spread, the cache decides.
  const spread: Change[] = [
    { measure: 'requests', before: noCache.balancer, after: full.balancer },
  ];
  const offloaded: Change[] = [
    { measure: 'requests', before: noGate.application, after: full.application },
    { measure: 'bytes', before: noGate.inboundBodyBytes, after: full.inboundBodyBytes },
  ];
  const helped: Change[] = [
    { measure: 'answered', before: full.answered, after: ambassadorStopped.answered },
  ];

  return rows.map((row) => {
    switch (row.lesson) {
      case 6:
      case 7:
        return { ...row, moves: [...row.moves, ...spread] };
      case 13:
        return { ...row, moves: [...row.moves, ...offloaded] };
      case 15:
        // On the right: one more process is one more that can stop.
        return { ...row, grows: [...row.grows, ...helped] };
      default:
        return row;
    }
  });
}

const PATH = '/takip';
const HEALTH_TARGET = '/saglik';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Header fields of a message, by names in lower case. */
type Fields = Record<string, string>;

/** What a neighbour has answered. */
interface NeighbourAnswer extends ServiceAnswer {
  readonly headers: Fields;
}

/** Whoever is next on the path, behind one port. */
interface Neighbour extends AsyncDisposable {
  /** Rejects when the neighbour can't be reached, and when its answer breaks off. */
  ask(request: ServiceRequest, signal?: AbortSignal): Promise<NeighbourAnswer>;
}

/** Opens connections to a neighbour as they are needed, and keeps them. */
function openNeighbour(port: number): Neighbour {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  return {
    async ask({ method, target, headers, body }, signal) {
      const answer = await pool.request({
        method,
        path: target,
        headers,
        ...(body && body.length > 0 && { body }),
        ...(signal && { signal }),
      });
      return {
        status: answer.statusCode,
        headers: flat(answer.headers),
        body: Buffer.from(await answer.body.arrayBuffer()),
      };
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

/** A server that closes something else when it is closed. */
function alsoClosing(server: RunningServer, other: AsyncDisposable): RunningServer {
  const close = async (how?: CloseOptions) => {
    await server.close(how);
    await other[Symbol.asyncDispose]();
  };
  return { port: server.port, close, [Symbol.asyncDispose]: () => close() };
}

/** RFC 9110 section 7.6.1, and what undici says itself or has no use for. */
const NOT_PASSED_ON = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'expect',
]);

/** The fields of a request that go on to the next hop. */
function endToEnd({ headers }: IncomingMessage): Fields {
  const named = (headers.connection ?? '').toLowerCase().split(',');
  const own = new Set([...NOT_PASSED_ON, ...named.map((name) => name.trim())]);
  return Object.fromEntries(Object.entries(flat(headers)).filter(([name]) => !own.has(name)));
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Fields {
  const fields: Fields = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) fields[name] = String(value);
  }
  return fields;
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function bodyText({ body }: ServiceAnswer): string {
  return body.toString();
}

function requireWhole(name: string, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number of ${least} or more, got ${value}`);
  }
}
