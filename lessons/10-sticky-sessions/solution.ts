import { createServer, type IncomingMessage } from 'node:http';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import { listen } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import {
  type Binding,
  type BindingRule,
  type CrashReport,
  type ScaleOutReport,
  type SessionPlan,
  type SessionPlanInput,
  type StickyBalancer,
  type StickyBalancerOptions,
  VIRTUAL_NODES,
} from './given.ts';
import { type Client, requestsOf } from './mix.ts';
import { createRing, hashKey } from './ring.ts';

/** Relative slack of comparisons and round-ups: binary fractions are not exact. */
const SLACK = 1e-9;

/**
 * Binds clients to replicas by name, so that a client's requests always go to the same replica.
 *
 * `stickyModulo`: the replica at index `hashKey(name)` mod n of the list. `stickyConsistent`: the
 * replica that owns the name on the ring (`createRing`). `ring.ts` has both functions. The bad input
 * below is refused at once, and not by the binding that is returned.
 *
 * @param replicas names, in list order
 * @param virtualNodes positions of one replica on the ring; checked under both rules
 * @returns the name of a client's replica
 * @throws {RangeError} naming `replicas` when the list is empty or has a name twice, or
 *   `virtualNodes` when it is not a whole number of 1 or more
 * @throws {TypeError} naming `rule` for any other rule, `notSticky` included: it binds nobody
 * @example bind('stickyModulo', ['k1', 'k2', 'k3'])('buyuk-0') // 3287649635 mod 3 = 2: 'k3'
 */
export function bind(
  rule: 'stickyModulo' | 'stickyConsistent',
  replicas: readonly string[],
  virtualNodes: number = VIRTUAL_NODES,
): Binding {
  requireNames('replicas', replicas);
  requireWhole('virtualNodes', virtualNodes, 1);
  switch (rule) {
    case 'stickyModulo':
      return (client) => replicas[hashKey(client) % replicas.length] as string;
    case 'stickyConsistent': {
      const ring = createRing(replicas, virtualNodes); // once: it is sorted, and never changes
      return (client) => ring.lookup(client);
    }
    default:
      throw new TypeError(`rule must be stickyModulo or stickyConsistent, got ${String(rule)}`);
  }
}

/**
 * How many requests each replica gets from a mix of clients.
 *
 * `notSticky` deals out single requests in turn: request r, counted from 0 over all clients, goes to
 * the replica at index r mod n. The other rules send all requests of a client where `bind` says.
 *
 * @returns requests by replica; every replica is there, in list order, also with 0
 * @throws {RangeError} naming `requests` when a client's are negative or not whole; `replicas` and
 *   `virtualNodes` as `bind` does it (the list under every rule, `virtualNodes` under those that bind)
 * @throws {Error} whose message has the name of a client that is there twice
 * @throws {TypeError} naming `rule` when it is none of the three
 * @example loadByReplica([{ name: 'a', requests: 3 }, { name: 'b', requests: 2 }], 'notSticky',
 *   ['k1', 'k2']) // 3 and 2: k1 k2 k1, then k2 k1
 */
export function loadByReplica(
  clients: readonly Client[],
  rule: BindingRule,
  replicas: readonly string[],
  virtualNodes?: number,
): Map<string, number> {
  requireNames('replicas', replicas);
  requireClients(clients);
  const load = new Map(replicas.map((replica) => [replica, 0]));
  if (rule === 'notSticky') {
    // One turn over all requests ends where the total says. Dealing them out one by one, with a
    // counter outside of the loop over the clients, gives the same.
    const requests = requestsOf(clients);
    const each = Math.floor(requests / replicas.length);
    const left = requests % replicas.length;
    for (const [index, replica] of replicas.entries()) {
      load.set(replica, each + (index < left ? 1 : 0));
    }
    return load;
  }
  const binding = bind(rule, replicas, virtualNodes);
  for (const { name, requests } of clients) add(load, binding(name), requests);
  return load;
}

/**
 * How uneven a load is: the largest one over a fair share.
 *
 * @param load requests by replica; one with 0 counts as well
 * @returns 1 for a perfect split, the number of replicas when one of them has everything
 * @throws {RangeError} naming `load` when there are no requests in it
 * @example loadImbalance(new Map([['k1', 30], ['k2', 10]])) // 30 / 40 x 2 = 1.5
 */
export function loadImbalance(load: ReadonlyMap<string, number>): number {
  const requests = [...load.values()].reduce((sum, one) => sum + one, 0);
  if (requests === 0) throw new RangeError('load must have requests in it, got none');
  return (largest(load) / requests) * load.size;
}

/**
 * What happens to sessions and to the peak when the list of replicas changes, usually because it
 * grows.
 *
 * A client is rebound when its replica differs between the two lists; under `notSticky` nobody is.
 * `peakFall` is 1 - (largest load after / largest load before), whichever replicas they are on.
 *
 * @returns see `ScaleOutReport`; `reboundShare` is of all requests, nothing is rounded
 * @throws {RangeError} naming `requests` when the mix has none; everything else as `loadByReplica`
 * @example scaleOut([{ name: 'a', requests: 12 }], 'notSticky', ['k1', 'k2', 'k3'],
 *   ['k1', 'k2', 'k3', 'k4']) // { reboundClients: 0, reboundShare: 0, peakFall: 1 - 3 / 4 }
 */
export function scaleOut(
  clients: readonly Client[],
  rule: BindingRule,
  before: readonly string[],
  after: readonly string[],
  virtualNodes?: number,
): ScaleOutReport {
  const requests = requireRequests(clients);
  const largestAfter = largest(loadByReplica(clients, rule, after, virtualNodes));
  const largestBefore = largest(loadByReplica(clients, rule, before, virtualNodes));
  const rebound = movedClients(clients, rule, before, after, virtualNodes);
  return {
    reboundClients: rebound.length,
    reboundShare: requestsOf(rebound) / requests,
    peakFall: 1 - largestAfter / largestBefore,
  };
}

/**
 * What happens to sessions when one replica stops and the balancer binds its clients among those
 * that are left.
 *
 * Bound sessions are the clients that were bound to it. Lost sessions are all clients whose replica
 * changes with the list, for their session stays behind. Under `notSticky` sessions are kept
 * somewhere else: everything is 0.
 *
 * @param replicas the list with the one that stops
 * @param stopped its name
 * @returns see `CrashReport`; `boundShare` is of all requests, nothing is rounded
 * @throws in this order: {RangeError} naming `stopped` when it is not in the list; {Error} whose
 *   message has its name when it is the only one; {RangeError} naming `requests` when the mix has
 *   none; {TypeError} naming `rule` when it is none of the three. Everything else as `loadByReplica`.
 */
export function crash(
  clients: readonly Client[],
  rule: BindingRule,
  replicas: readonly string[],
  stopped: string,
  virtualNodes?: number,
): CrashReport {
  if (!replicas.includes(stopped)) {
    throw new RangeError(`stopped must be one of ${replicas.join(', ')}, got ${stopped}`);
  }
  if (replicas.length === 1) throw new Error(`${stopped} is the only replica: nobody is left`);
  const requests = requireRequests(clients);
  requireNames('replicas', replicas);
  requireClients(clients);
  if (rule === 'notSticky') return { boundSessions: 0, boundShare: 0, lostSessions: 0 };

  const binding = bind(rule, replicas, virtualNodes);
  const bound = clients.filter(({ name }) => binding(name) === stopped);
  const survivors = replicas.filter((replica) => replica !== stopped);
  return {
    boundSessions: bound.length,
    boundShare: requestsOf(bound) / requests,
    // By a remainder of n - 1 nearly everybody moves, and not only the clients of the stopped one.
    lostSessions: movedClients(clients, rule, replicas, survivors, virtualNodes).length,
  };
}

/**
 * The share of all requests that the largest session sends. However many replicas there are, these
 * requests stay together.
 *
 * @returns above 0, at most 1
 * @throws {RangeError} naming `requests` when the mix has none
 * @example serialShare([{ name: 'a', requests: 30 }, { name: 'b', requests: 10 }]) // 0.75
 */
export function serialShare(clients: readonly Client[]): number {
  const requests = requireRequests(clients);
  return Math.max(...clients.map((client) => client.requests)) / requests;
}

/**
 * By how much n replicas divide the load of the one that has the largest session, when everything
 * else is spread evenly over all of them: 1 / (s + (1 - s) / n), Amdahl's law.
 *
 * @param share serial share s, above 0, at most 1
 * @param replicas n, a whole number of 1 or more, or `Infinity`: then it is the ceiling 1 / s
 * @throws {RangeError} naming `share` or `replicas` when it is out of range or not whole
 * @example speedup(0.5, 2) // 1 / (0.5 + 0.25) = 1.33...
 */
export function speedup(share: number, replicas: number): number {
  requireShare('share', share);
  if (replicas !== Number.POSITIVE_INFINITY) requireWhole('replicas', replicas, 1);
  return 1 / (share + (1 - share) / replicas);
}

/**
 * The fewest replicas with which the one that has the largest session stays within the target, by
 * the model of `speedup`: its rate is peakRate / speedup(share, n), its utilisation that rate over
 * `saturation`.
 *
 * "Within" allows a relative excess of 1e-9. A target that the largest session alone reaches (again
 * to 1e-9) takes `Infinity` replicas, except where one replica carries the whole peak.
 *
 * @param input.peakRate req/s, above 0
 * @param input.share serial share, above 0, at most 1
 * @param input.saturation req/s at which a replica is saturated, above 0
 * @param input.target share of the saturation, above 0, at most 1
 * @returns a whole number of 1 or more, or `Infinity`
 * @throws {RangeError} naming the field that is out of range or not finite
 * @example replicasForTarget({ peakRate: 300, share: 0.2, saturation: 200, target: 0.5 })
 * // 300 x (0.2 + 0.8 / 6) = 100: 6
 */
export function replicasForTarget(input: {
  peakRate: number;
  share: number;
  saturation: number;
  target: number;
}): number {
  const { peakRate, share, saturation, target } = input;
  requireRate('peakRate', peakRate);
  requireShare('share', share);
  requireRate('saturation', saturation);
  requireShare('target', target);
  // The share of the peak that one replica may carry. s + (1 - s) / n has to stay within it.
  const allowed = (target * saturation) / peakRate;
  if (allowed * (1 + SLACK) >= 1) return 1;
  const room = allowed - share;
  if (room <= allowed * SLACK) return Number.POSITIVE_INFINITY;
  return ceilWithSlack((1 - share) / room);
}

/**
 * The fewest replicas that carry the peak when the fullest of them gets `imbalance` times a fair
 * share, however many there are: imbalance x peakRate / safeRate, rounded up.
 *
 * The round-up forgives a relative excess of 1e-9.
 *
 * @param input.peakRate req/s, above 0
 * @param input.imbalance largest load over a fair share, above 0
 * @param input.safeRate req/s that one replica may carry, above 0
 * @returns a whole number of 1 or more
 * @throws {RangeError} naming the field that is not above 0 or not finite
 * @example replicasForImbalance({ peakRate: 500, imbalance: 1.5, safeRate: 200 }) // 3.75: 4
 */
export function replicasForImbalance(input: {
  peakRate: number;
  imbalance: number;
  safeRate: number;
}): number {
  const { peakRate, imbalance, safeRate } = input;
  requireRate('peakRate', peakRate);
  requireRate('imbalance', imbalance);
  requireRate('safeRate', safeRate);
  return ceilWithSlack((imbalance * peakRate) / safeRate);
}

/**
 * The rate that the fullest replica has at the least, whatever binds clients to replicas: it can't
 * be below a fair share, and it can't be below the largest session.
 *
 * @param peakRate req/s, above 0
 * @param share of the largest session, above 0, at most 1
 * @param replicas a whole number of 1 or more
 * @returns req/s
 * @throws {RangeError} naming the argument that is out of range, not whole or not finite
 * @example trueLowerBound(400, 0.2, 4) // 100: a quarter is more than the largest session's 80
 */
export function trueLowerBound(peakRate: number, share: number, replicas: number): number {
  requireRate('peakRate', peakRate);
  requireShare('share', share);
  requireWhole('replicas', replicas, 1);
  return peakRate * Math.max(share, 1 / replicas);
}

/**
 * Decides whether sessions may stay in the replicas, and how many replicas that takes.
 *
 * `stickyConsistent` with 200 virtual nodes, and no session store, if both limits hold (a value equal
 * to its limit holds): the worst crash of one replica ends at most `maxLostSessionShare` of the
 * sessions (bound sessions over clients; 1 when there is only one replica), and one more replica,
 * named `k` and the new number of replicas, rebinds clients with at most `maxReboundShare` of the
 * requests. Otherwise `notSticky`, with a session store.
 *
 * `replicas` is what `replicasForImbalance` says for the imbalance of the chosen rule on the given
 * list, unrounded.
 *
 * @throws {RangeError} naming `maxLostSessionShare` or `maxReboundShare` when it is not from 0 to 1.
 *   Everything else as the functions above; `replicas`, too, when it has the new name already.
 */
export function sessionPlan(input: SessionPlanInput): SessionPlan {
  const { clients, replicas, peakRate, safeRate, maxLostSessionShare, maxReboundShare } = input;
  requireLimit('maxLostSessionShare', maxLostSessionShare);
  requireLimit('maxReboundShare', maxReboundShare);

  const lostShares = replicas.map((stopped) =>
    replicas.length === 1
      ? 1
      : crash(clients, 'stickyConsistent', replicas, stopped).boundSessions / clients.length,
  );
  const grown = [...replicas, `k${replicas.length + 1}`];
  const { reboundShare } = scaleOut(clients, 'stickyConsistent', replicas, grown);

  const sticky = Math.max(...lostShares) <= maxLostSessionShare && reboundShare <= maxReboundShare;
  const rule = sticky ? 'stickyConsistent' : 'notSticky';
  const imbalance = loadImbalance(loadByReplica(clients, rule, replicas));
  return {
    rule,
    replicas: replicasForImbalance({ peakRate, imbalance, safeRate }),
    needsSessionStore: !sticky,
  };
}

/**
 * Starts a balancer on a free port of 127.0.0.1 whose clients give their name in the header
 * `x-client`.
 *
 * Each request goes where `rule` says: to the replica that `bind` gives for the client's name, or,
 * if `notSticky`, to the replica whose turn it is, beginning with the first of the list. Method,
 * target, headers and body are forwarded, status, headers and body passed back. Nothing is kept for
 * a TCP connection: clients may share one, and one client may use several.
 *
 * `setReplicas` binds anew and begins the turn with the first replica again. Requests under way are
 * not disturbed, also those of replicas that are in the list no more. A list with a name twice is
 * refused, and the old one stays in force. A list may be empty, also at the start.
 *
 * Answers of its own, in this order: 400 with body `x-client missing` to a request without that
 * header, if the rule binds; 503 with body `havuz bos` if the list is empty; 502 with body
 * `kopyaya ulasilamadi` if the replica can't be reached.
 *
 * @throws {RangeError} naming `replicas` for a name that is there twice (the promise rejects;
 *   `setReplicas` throws); the rest as `bind`, unless the list is empty
 */
export async function startStickyBalancer(options: StickyBalancerOptions): Promise<StickyBalancer> {
  const { rule, virtualNodes } = options;
  // A choice belongs to its list, and is exchanged with it: the turn begins anew, and no request
  // sees the binding of one list with the ports of another.
  let choose = chooser(rule, options.replicas, virtualNodes);
  const forwarding = openForwarding();
  const server = createServer((request, response) => {
    if (rule !== 'notSticky' && !request.headers['x-client']) {
      response.writeHead(400).end('x-client missing');
      return;
    }
    const replica = choose(request);
    if (!replica) {
      response.writeHead(503).end('havuz bos');
      return;
    }
    forwarding.forward(request, response, {
      choose: () => replica.port,
      refuse: () => response.writeHead(502).end('kopyaya ulasilamadi'),
    });
  });
  const { port, close } = await listen(server);
  const closeBoth: StickyBalancer['close'] = async (how) => {
    await close(how);
    await forwarding[Symbol.asyncDispose]();
  };
  return {
    port,
    setReplicas(replicas) {
      choose = chooser(rule, replicas, virtualNodes);
    },
    close: closeBoth,
    [Symbol.asyncDispose]: () => closeBoth(),
  };
}

/** The replica of a request; none if the list is empty. */
function chooser(
  rule: BindingRule,
  replicas: readonly Replica[],
  virtualNodes: number | undefined,
): (request: IncomingMessage) => Replica | undefined {
  if (replicas.length === 0) return () => undefined; // nothing to bind to
  const names = replicas.map(({ name }) => name);
  if (rule === 'notSticky') {
    requireNames('replicas', names);
    let turn = 0;
    return () => {
      const replica = replicas[turn % replicas.length];
      turn += 1;
      return replica;
    };
  }
  const binding = bind(rule, names, virtualNodes);
  const byName = new Map(replicas.map((replica) => [replica.name, replica]));
  return ({ headers }) => byName.get(binding(String(headers['x-client'])));
}

/**
 * Binds clients by how much they send: the largest one first, each to the replica that has the least
 * so far. Of equal clients the one that stands first in the mix comes first, of equal replicas the
 * one that stands first in the list.
 *
 * The binding knows the clients of the mix and nobody else.
 *
 * @throws {RangeError} as `loadByReplica` for `requests` and `replicas`; the binding throws one that
 *   has the name of a client that it doesn't know
 * @throws {Error} whose message has the name of a client that is there twice
 * @example bindByLoad([{ name: 'a', requests: 5 }, { name: 'b', requests: 9 }], ['k1', 'k2'])('a')
 * // 'k2': b is larger and has got k1
 */
export function bindByLoad(clients: readonly Client[], replicas: readonly string[]): Binding {
  requireNames('replicas', replicas);
  requireClients(clients);
  const load = new Map(replicas.map((replica) => [replica, 0]));
  const bound = new Map<string, string>();
  // A sorted copy: the sort is stable, which keeps the order of equal clients.
  for (const { name, requests } of [...clients].sort((a, b) => b.requests - a.requests)) {
    const least = Math.min(...load.values());
    const replica = replicas.find((one) => load.get(one) === least) as string;
    bound.set(name, replica);
    add(load, replica, requests);
  }
  return (client) => {
    const replica = bound.get(client);
    if (replica === undefined) throw new RangeError(`${client} is not in the mix`);
    return replica;
  };
}

/** The clients whose replica differs between two lists. */
function movedClients(
  clients: readonly Client[],
  rule: BindingRule,
  before: readonly string[],
  after: readonly string[],
  virtualNodes: number | undefined,
): Client[] {
  if (rule === 'notSticky') return [];
  const bindBefore = bind(rule, before, virtualNodes);
  const bindAfter = bind(rule, after, virtualNodes);
  return clients.filter(({ name }) => bindBefore(name) !== bindAfter(name));
}

function add(load: Map<string, number>, replica: string, requests: number): void {
  load.set(replica, (load.get(replica) ?? 0) + requests);
}

function largest(load: ReadonlyMap<string, number>): number {
  return Math.max(...load.values());
}

function ceilWithSlack(value: number): number {
  return Math.max(1, Math.ceil(value - value * SLACK));
}

function requireNames(field: string, names: readonly string[]): void {
  if (names.length === 0) throw new RangeError(`${field} must not be empty`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`${field} has the name ${twice} twice`);
}

function requireClients(clients: readonly Client[]): void {
  const names = new Set<string>();
  for (const { name, requests } of clients) {
    requireWhole(`requests of ${name}`, requests, 0);
    if (names.has(name)) throw new Error(`the client ${name} is there twice`);
    names.add(name);
  }
}

/** All requests of a mix that has some. */
function requireRequests(clients: readonly Client[]): number {
  const requests = requestsOf(clients);
  if (requests === 0) throw new RangeError('the clients must send requests, got none');
  return requests;
}

function requireWhole(field: string, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`${field} must be a whole number of ${least} or more, got ${value}`);
  }
}

function requireRate(field: string, value: number): void {
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`${field} must be above 0 and finite, got ${value}`);
  }
}

function requireShare(field: string, value: number): void {
  if (!(value > 0 && value <= 1)) {
    throw new RangeError(`${field} must be above 0 and at most 1, got ${value}`);
  }
}

function requireLimit(field: string, value: number): void {
  if (!(value >= 0 && value <= 1)) {
    throw new RangeError(`${field} must be from 0 to 1, got ${value}`);
  }
}
