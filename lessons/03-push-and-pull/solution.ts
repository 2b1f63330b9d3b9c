import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type {
  BackToBaseline,
  Baseline,
  ContentClass,
  Defence,
  DistributionCost,
  DistributionOptions,
  DistributionPlan,
  DistributionRun,
  Model,
} from './given.ts';

/**
 * What it takes to get the objects of one class to the edges, by either model.
 *
 * Pull fetches each object once at each edge that is asked for it. Push sends each object to each
 * edge. A pushed copy at an edge where nobody asks is wasted.
 *
 * @param contentClass.objects 0 or more
 * @param contentClass.requestingEdges at how many edges each object is requested, 0 to `edges`
 * @param edges how many there are, 1 or more
 * @returns `pullRequests`, `pushCopies` and `wastedCopies`, and `wastedShare`: the wasted share of
 *   the pushed copies, 0 to 1, which depends on the edges alone and so has a value without objects
 * @throws {RangeError} whose message names `objects`, `requestingEdges` or `edges`, when it is out
 *   of range or not whole
 * @example distributionCost({ objects: 100, requestingEdges: 5 }, 8)
 * // { pullRequests: 500, pushCopies: 800, wastedCopies: 300, wastedShare: 0.375 }
 */
export function distributionCost(
  contentClass: { objects: number; requestingEdges: number },
  edges: number,
): DistributionCost {
  const { objects, requestingEdges } = contentClass;
  requireWhole({ edges }, 1);
  requireWhole({ objects, requestingEdges }, 0);
  if (requestingEdges > edges) {
    throw new RangeError(`requestingEdges is ${requestingEdges}, but there are ${edges} edges`);
  }
  const pullRequests = objects * requestingEdges;
  const pushCopies = objects * edges;
  return {
    pullRequests,
    pushCopies,
    wastedCopies: pushCopies - pullRequests,
    // Not wasted over pushed copies: without objects that would be 0 / 0.
    wastedShare: 1 - requestingEdges / edges,
  };
}

/**
 * Decides for each class by itself whether it is pushed or pulled.
 *
 * A class is pushed exactly when its wasted share, as `distributionCost` gives it and unrounded, is
 * at most `rule.maxWastedShare`.
 *
 * @param classes each with a name of its own; any text is a name
 * @param edges how many there are, 1 or more
 * @param rule.maxWastedShare 0 to 1
 * @returns the decision under the name of each class; empty when there are no classes
 * @throws {RangeError} whose message names `maxWastedShare`, or what `distributionCost` refuses
 * @throws {Error} when two classes have one name; its message has that name
 */
export function planDistribution(
  classes: readonly ContentClass[],
  edges: number,
  rule: { maxWastedShare: number },
): Record<string, Model> {
  const { maxWastedShare } = rule;
  requireShare({ maxWastedShare });
  // A Map, since a plain object has heard of `constructor` before the first class is in it.
  const plan = new Map<string, Model>();
  for (const { name, ...contentClass } of classes) {
    if (plan.has(name)) throw new Error(`two classes are called ${name}`);
    const { wastedShare } = distributionCost(contentClass, edges);
    plan.set(name, wastedShare <= maxWastedShare ? 'push' : 'pull');
  }
  return Object.fromEntries(plan);
}

/**
 * Counts what a plan costs, for getting the content to the edges and for keeping one object up to
 * date. No servers and no chance: everything is counted.
 *
 * Start: a class that is pushed adds its push copies to `pushedObjects` and `messages`, and its
 * wasted copies to `wastedCopies`. One that is pulled adds its pull requests to `originRequests` and
 * `messages`.
 *
 * Then one common object is followed on all edges, for the turns 1 to `turns`. Every edge starts
 * with version 1, and edge k = 0, 1, ... with a copy that expires in turn
 * 1 + (`phaseStride` x k mod `ttl`). In each turn, in this order:
 *
 * 1. In turn `updateTurn` the object gets version 2. If common objects are pushed, every edge gets
 *    it, for one message an edge. `pushedObjects` does not count these.
 * 2. If common objects are pulled, each edge whose copy expires in this turn fetches the version
 *    that the origin has now, for one origin request and one message. That copy expires `ttl` turns
 *    later.
 * 3. Each edge that has version 1 although there is a version 2 is stale in this turn.
 *
 * @param plan how each class travels; all four combinations are plans
 * @param options.edges 1 or more
 * @param options.ttl turns, 1 or more
 * @param options.turns 0 or more; with 0 there are only the costs of the start
 * @param options.updateTurn 1 or more; one that is above `turns` never comes
 * @param options.phaseStride turns, 0 or more
 * @param options.classes holds `common` and `private`, in any order
 * @throws {RangeError} whose message names the option that is out of range or not whole, or what
 *   `distributionCost` refuses
 * @throws {Error} when `classes` has no `common` or no `private`; its message names the one missing
 */
export function simulateDistribution(
  plan: DistributionPlan,
  options: DistributionOptions,
): DistributionRun {
  const { edges, ttl, turns, updateTurn, phaseStride, classes } = options;
  requireWhole({ edges, ttl, updateTurn }, 1);
  requireWhole({ turns, phaseStride }, 0);

  let originRequests = 0;
  let pushedObjects = 0;
  let wastedCopies = 0;
  let messages = 0;

  for (const name of ['common', 'private'] as const) {
    const contentClass = classes.find((candidate) => candidate.name === name);
    if (!contentClass) throw new Error(`classes: there is no ${name}`);
    const cost = distributionCost(contentClass, edges);
    if (plan[name] === 'push') {
      pushedObjects += cost.pushCopies;
      wastedCopies += cost.wastedCopies;
      messages += cost.pushCopies;
    } else {
      originRequests += cost.pullRequests;
      messages += cost.pullRequests;
    }
  }

  const copies = Array.from({ length: edges }, (_, edge) => ({
    version: 1,
    expiresAt: 1 + ((phaseStride * edge) % ttl),
    staleTurns: 0,
  }));
  for (let turn = 1; turn <= turns; turn += 1) {
    const current = turn >= updateTurn ? 2 : 1;
    // A push arrives before anybody looks.
    if (plan.common === 'push' && turn === updateTurn) {
      for (const copy of copies) copy.version = current;
      messages += edges;
    }
    for (const copy of copies) {
      if (plan.common === 'pull' && turn >= copy.expiresAt) {
        copy.version = current;
        copy.expiresAt = turn + ttl;
        originRequests += 1;
        messages += 1;
      }
      // After the refresh: who has just fetched the new version serves no old one in this turn.
      if (copy.version < current) copy.staleTurns += 1;
    }
  }

  const staleTurnsPerEdge = copies.map(({ staleTurns }) => staleTurns);
  return {
    originRequests,
    pushedObjects,
    wastedCopies,
    staleTurns: staleTurnsPerEdge.reduce((sum, staleTurns) => sum + staleTurns, 0),
    staleTurnsPerEdge,
    messages,
  };
}

/**
 * What simulated runs mean at the size of the baseline: rates, bandwidth, storage, and answers with
 * the old version.
 *
 * Every status event changes one private answer, and a push sends it to every edge. Reads spread
 * evenly over the edges. Storage under push holds the answers of all active shipments on every edge;
 * under pull it holds each of `privateObjects` once. A turn is taken for 1 s. M is 10^6, G is 10^9,
 * and nothing is rounded.
 *
 * @param run the runs under pull and under the hybrid, of which only these counts are read
 * @param setting.edges above 0
 * @param setting.windowSeconds s in which the runs' requests came, above 0
 * @param setting.activeShipments each has one private answer
 * @param setting.privateObjects private answers asked for in the window, above 0
 * @param baseline its `bodyBytes`, `writeIngressMbit` and `readEgressMbit` have to be above 0
 * @throws {RangeError} whose message names the one of these that is not above 0
 */
export function distributionBackToBaseline(
  run: {
    pull: Pick<DistributionRun, 'originRequests' | 'staleTurns'>;
    hybrid: Pick<DistributionRun, 'originRequests'>;
  },
  setting: {
    edges: number;
    windowSeconds: number;
    activeShipments: number;
    privateObjects: number;
  },
  baseline: Baseline,
): BackToBaseline {
  const { edges, windowSeconds, activeShipments, privateObjects } = setting;
  const { peakReads, peakWrites, eventsPerDay } = baseline;
  const { bodyBytes, writeIngressMbit, readEgressMbit } = baseline;
  requirePositive({ edges, windowSeconds, privateObjects });
  requirePositive({ bodyBytes, writeIngressMbit, readEgressMbit });

  const peakPushesPerSecond = peakWrites * edges;
  const pushMbit = (peakPushesPerSecond * bodyBytes * 8) / 1e6;
  const edgeMegabytes = (activeShipments * bodyBytes) / 1e6;
  const pullMegabytes = (privateObjects * bodyBytes) / 1e6;
  const requestsPerEdge = peakReads / edges;
  return {
    originRatePull: run.pull.originRequests / windowSeconds,
    originRateHybrid: run.hybrid.originRequests / windowSeconds,
    peakPushesPerSecond,
    pushesPerDay: eventsPerDay * edges,
    pushMbit,
    pushOverWriteIngress: pushMbit / writeIngressMbit,
    pushOverReadEgress: pushMbit / readEgressMbit,
    edgeMegabytes,
    allEdgesGigabytes: (edgeMegabytes * edges) / 1e3,
    pullMegabytes,
    storageRatio: (edgeMegabytes * edges) / pullMegabytes,
    requestsPerEdge,
    staleAnswers: run.pull.staleTurns * requestsPerEdge,
  };
}

/**
 * The plan that you would defend, and what would change your mind.
 *
 * Each class is judged by itself:
 * - The common class is pulled when the stale answers that one update costs under pull are at most
 *   `limits.staleAnswers`, and pushed otherwise.
 * - The private class is pushed when both hold: the bandwidth of its pushes is at most
 *   `limits.pushMbit`, and its wasted share, as `distributionCost` gives it, is at most
 *   `limits.wastedShare`. Otherwise it is pulled.
 *
 * @param figures two results of `distributionBackToBaseline`, 0 or more and finite
 * @param setting.edges 1 or more
 * @param setting.requestingEdges at how many edges a private object is requested, 0 to `edges`
 * @param limits.staleAnswers answers with the old version that one update may cost, 0 or more;
 *   `Infinity` is no limit
 * @param limits.pushMbit Mbit/s for pushes of private answers, 0 or more; `Infinity` is no limit
 * @param limits.wastedShare of the pushed private copies, 0 to 1
 * @returns `plan`; `pushPrivateFrom`, the fewest requesting edges, 0 to `edges`, at which the
 *   private class would be pushed with all else as it is, or null where there is no such number;
 *   `readFactor` and `writeFactor`, the limit on stale answers over their figure and the limit on
 *   bandwidth over its figure, `Infinity` where the figure is 0. Below 1 the limit is exceeded
 *   today; above, it says by how much reads or writes may grow until it is reached.
 * @throws {RangeError} whose message names the value that is out of range or not whole, by its
 *   name alone or with its parameter, as in `limits.pushMbit`
 */
export function defendPlan(
  figures: Pick<BackToBaseline, 'staleAnswers' | 'pushMbit'>,
  setting: { edges: number; requestingEdges: number },
  limits: { staleAnswers: number; pushMbit: number; wastedShare: number },
): Defence {
  const { edges, requestingEdges } = setting;
  const costs = {
    'figures.staleAnswers': figures.staleAnswers,
    'figures.pushMbit': figures.pushMbit,
  };
  requireNotNegative(costs);
  requireFinite(costs);
  requireNotNegative({
    'limits.staleAnswers': limits.staleAnswers,
    'limits.pushMbit': limits.pushMbit,
  });
  requireShare({ wastedShare: limits.wastedShare });

  const wasteFits = (requesting: number) =>
    distributionCost({ objects: 1, requestingEdges: requesting }, edges).wastedShare <=
    limits.wastedShare;
  const bandwidthFits = figures.pushMbit <= limits.pushMbit;
  // Asked for in any case: bad numbers of edges are refused, however narrow the link is.
  const wasteFitsToday = wasteFits(requestingEdges);

  // Counted up instead of solved for: edges x (1 - limit) is not always whole where it should be.
  let fewest = 0;
  while (!wasteFits(fewest)) fewest += 1;

  return {
    plan: {
      common: figures.staleAnswers <= limits.staleAnswers ? 'pull' : 'push',
      private: bandwidthFits && wasteFitsToday ? 'push' : 'pull',
    },
    // However many edges ask, they don't make the bandwidth smaller.
    pushPrivateFrom: bandwidthFits ? fewest : null,
    readFactor: factorUpTo(limits.staleAnswers, figures.staleAnswers),
    writeFactor: factorUpTo(limits.pushMbit, figures.pushMbit),
  };
}

/** 0 / 0 has no value, but what costs nothing may grow without end. */
function factorUpTo(limit: number, figure: number): number {
  return figure === 0 ? Infinity : limit / figure;
}

/**
 * The server that has the content.
 *
 * `GET /nesne/<id>` is answered 200 with `content-type: text/plain` and the body `surum-<v>`. The
 * version v is 1 until `publish(id)` raises it by 1. Any id is an object: `<id>` is everything after
 * `/nesne/`, as it was sent and not decoded, not empty and without a `/`. Each of these requests is
 * counted.
 *
 * `GET /sayac` is answered 200 with `content-type: application/json` and the count,
 * `{"istek":<count>}`.
 *
 * Another method on one of these paths is 405 with `allow: GET`; any other path is 404, whatever
 * the method. Neither is counted.
 *
 * @returns a server that does not listen yet, and what raises the version of an object
 */
export function createContentOrigin(): { server: Server; publish(id: string): void } {
  // Not a plain object: an id comes from outside, and may be called `constructor`.
  const versions = new Map<string, number>();
  const versionOf = (id: string) => versions.get(id) ?? 1;
  let requests = 0;

  const server = createServer((request, response) => {
    const target = targetOf(request);
    if (!target) answerNotFound(response);
    else if (request.method !== 'GET') refuseMethod(response, 'GET');
    else if (target.kind === 'counters') answerJson(response, { istek: requests });
    else {
      requests += 1;
      answerText(response, `surum-${versionOf(target.id)}`);
    }
  });
  return { server, publish: (id) => void versions.set(id, versionOf(id) + 1) };
}

/**
 * One edge: it stores what arrives, be it fetched or sent. Copies are bytes, kept until a push
 * replaces them.
 *
 * `GET /nesne/<id>`, with ids as at the origin:
 * - With a copy: 200, `content-type: text/plain`, `x-kenar: isabet`, and the copy. An empty copy is
 *   a copy.
 * - Without: the same path is fetched from 127.0.0.1:`originPort`. A complete answer with status 200
 *   is stored, and answered with `content-type: text/plain` and `x-kenar: iska`. A copy that has
 *   been pushed while the fetch was under way is newer, and is not replaced.
 * - An answer with another status is passed on, status and body, with `x-kenar: iska`. It is not
 *   stored, and redirects are not followed.
 * - When the origin cannot be reached, or its answer breaks off: 502 with `x-kenar: iska`, nothing
 *   stored.
 *
 * `PUT /nesne/<id>` stores the request body, also an empty one, also in place of a copy, and is
 * answered 204. A body that breaks off before its end stores nothing and counts nothing.
 *
 * `GET /sayac` is answered 200 with `content-type: application/json` and
 * `{"istek":..,"isabet":..,"iska":..,"itilen":..,"istenmeyen":..}`. istek counts the GETs of
 * `/nesne/<id>` and is always isabet + iska, whatever comes of a fetch; itilen counts PUTs;
 * istenmeyen is the number of ids that came by PUT and that no GET has asked for, neither before the
 * PUT nor after it.
 *
 * Another method on `/nesne/<id>` is 405 with `allow: GET, PUT`, on `/sayac` with `allow: GET`; any
 * other path is 404, whatever the method. Neither is counted. No request ends the edge, not even one
 * whose client leaves.
 *
 * @param options.originPort TCP port on 127.0.0.1
 * @returns a server that does not listen yet
 */
export function createEdgeNode(options: { originPort: number }): Server {
  const { originPort } = options;
  const copies = new Map<string, Buffer>();
  const pushed = new Set<string>();
  const asked = new Set<string>();
  const counts = { isabet: 0, iska: 0, itilen: 0 };
  const agent = new Agent({ keepAlive: true });

  const get = async (id: string, response: ServerResponse): Promise<void> => {
    asked.add(id);
    const copy = copies.get(id);
    // Absence is what makes a miss. An empty copy would be falsy as a string.
    if (copy !== undefined) {
      counts.isabet += 1;
      answerText(response.setHeader('x-kenar', 'isabet'), copy);
      return;
    }
    counts.iska += 1;
    response.setHeader('x-kenar', 'iska');
    try {
      const { status, contentType, body } = await fetchFrom(originPort, id, agent);
      if (status === 200) {
        // What has been pushed in the meantime is newer than what was asked for before it.
        if (!copies.has(id)) copies.set(id, body);
        answerText(response, body);
      } else {
        if (contentType !== undefined) response.setHeader('content-type', contentType);
        response.writeHead(status).end(body);
      }
    } catch {
      response.writeHead(502).end();
    }
  };

  const put = async (id: string, request: IncomingMessage, response: ServerResponse) => {
    let body: Buffer;
    try {
      body = await readBody(request);
    } catch {
      return; // the client has gone, and there is nobody to answer
    }
    counts.itilen += 1;
    pushed.add(id);
    copies.set(id, body);
    response.writeHead(204).end();
  };

  const server = createServer((request, response) => {
    const target = targetOf(request);
    if (!target) answerNotFound(response);
    else if (target.kind === 'counters') {
      if (request.method !== 'GET') return refuseMethod(response, 'GET');
      const { isabet, iska, itilen } = counts;
      const istenmeyen = [...pushed].filter((id) => !asked.has(id)).length;
      answerJson(response, { istek: isabet + iska, isabet, iska, itilen, istenmeyen });
    } else if (request.method === 'GET') void get(target.id, response);
    else if (request.method === 'PUT') void put(target.id, request, response);
    else refuseMethod(response, 'GET, PUT');
  });
  // Who closes the edge knows nothing of its connections to the origin.
  return server.on('close', () => agent.destroy());
}

/** What a request is for. */
type Target = { kind: 'object'; id: string } | { kind: 'counters' };

function targetOf({ url = '' }: IncomingMessage): Target | undefined {
  if (url === '/sayac') return { kind: 'counters' };
  const id = /^\/nesne\/([^/]+)$/.exec(url)?.[1];
  return id === undefined ? undefined : { kind: 'object', id };
}

/** An answer of the origin that has come whole. */
interface Fetched {
  status: number;
  contentType: string | undefined;
  body: Buffer;
}

/** Rejects when there is no answer, or not all of one. `fetch` would follow redirects, too. */
async function fetchFrom(port: number, id: string, agent: Agent): Promise<Fetched> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path: `/nesne/${id}`, agent }, resolve)
      .on('error', reject)
      .end();
  });
  const body = await readBody(response);
  const { statusCode = 0, headers } = response;
  return { status: statusCode, contentType: headers['content-type'], body };
}

/** All bytes of a message. Rejects when it breaks off, so that half a body is never stored. */
async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

// After writeHead() it would be too late for a content-length, and the body would go in chunks.
function answerText(response: ServerResponse, body: string | Buffer): void {
  response.setHeader('content-type', 'text/plain').end(body);
}

function answerJson(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
}

function answerNotFound(response: ServerResponse): void {
  response.writeHead(404).end();
}

/** A 405 has to say what is allowed: RFC 9110, section 15.5.6. */
function refuseMethod(response: ServerResponse, allow: string): void {
  response.writeHead(405, { allow }).end();
}

function requireWhole(fields: Record<string, number>, least: number): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(Number.isInteger(value) && value >= least)) {
      throw new RangeError(`${name} must be a whole number of ${least} or more, got ${value}`);
    }
  }
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0)) throw new RangeError(`${name} must be above 0, got ${value}`);
  }
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0)) throw new RangeError(`${name} must be 0 or more, got ${value}`);
  }
}

function requireFinite(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isFinite(value)) throw new RangeError(`${name} must be finite, got ${value}`);
  }
}

function requireShare(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} must be 0 to 1, got ${value}`);
  }
}
