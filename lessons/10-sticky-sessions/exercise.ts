import { todo } from '#helpers/lesson/todo.ts';
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
import type { Client } from './mix.ts';

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
  // TODO 10.1: both rules start from the same hash of the name.
  return todo('10.1 bind');
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
  // TODO 10.2: the unit is a request if the choice is free, and a client if it is bound.
  return todo('10.2 loadByReplica');
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
  // TODO 10.2: the fullest replica decides.
  return todo('10.2 loadImbalance');
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
  // TODO 10.3: compare two bindings client by client, and the largest loads.
  return todo('10.3 scaleOut');
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
  // TODO 10.3: who was bound to it, and whose replica changes?
  return todo('10.3 crash');
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
  // TODO 10.4: the largest session over everything.
  return todo('10.4 serialShare');
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
  // TODO 10.4: what stays together, and what n replicas share.
  return todo('10.4 speedup');
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
  // TODO 10.5: solve for n, and mind the target that no n reaches.
  return todo('10.5 replicasForTarget');
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
  // TODO 10.6: how many safe rates does the fullest replica stand for?
  return todo('10.6 replicasForImbalance');
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
  // TODO 10.7: two things that no binding gets around.
  return todo('10.7 trueLowerBound');
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
  // TODO 10.8: the worst crash, then growth, then the replicas.
  return todo('10.8 sessionPlan');
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
  // TODO 10.9: find the replica for every request anew; openForwarding brings it there.
  return todo('10.9 startStickyBalancer');
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
  // TODO 10.10: the largest client first, to whoever has the least.
  return todo('10.10 bindByLoad');
}
