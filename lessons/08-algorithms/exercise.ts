import { todo } from '#helpers/lesson/todo.ts';
import type { Balancer, BalancerOptions } from './balancer.ts';
import type {
  Ring,
  VirtualNodeChoice,
  VirtualNodeOptions,
  WarmUpBill,
  WarmUpInput,
} from './placement.ts';
import type { Picker } from './queue.ts';

/**
 * Takes turns: request i goes to replica i mod n, whatever is open.
 *
 * Pure: the same input gives the same output.
 *
 * @param open requests of each replica that are not finished, in list order
 * @param arrival number of the request, from 0
 * @returns index of the chosen replica
 * @throws {RangeError} `no replica` when `open` is empty; a message that names `open` or `arrival`
 *   when a count in it, or the arrival, is negative or not a whole number
 * @example roundRobin([2, 0, 0], 4) // 1
 */
export const roundRobin: Picker = (open, arrival) => {
  // TODO 8.1: the arrival number decides; the counts do not.
  return todo('8.1 roundRobin');
};

/**
 * Chooses the replica with the fewest open requests, and of equal ones the first.
 *
 * Pure: the same input gives the same output, and `open` stays as it was.
 *
 * @param open requests of each replica that are not finished, in list order
 * @param arrival number of the request, from 0
 * @returns index of the chosen replica
 * @throws {RangeError} `no replica` when `open` is empty; a message that names `open` or `arrival`
 *   when a count in it, or the arrival, is negative or not a whole number
 * @example leastConnections([2, 1, 1], 4) // 1
 */
export const leastConnections: Picker = (open, arrival) => {
  // TODO 8.1: find the smallest count, and keep the first of equal ones.
  return todo('8.1 leastConnections');
};

/**
 * The lesson's hash: FNV-1a with 32 bits over the UTF-16 code units of the text, and a short finish.
 *
 * Step 1: h = `HASH.offset`. Step 2, for each code unit: h = (h xor unit) x `HASH.prime`. Step 3:
 * h = h xor (h shifted right by `finalShift1`). Step 4: h = h x `finalMultiplier`. Step 5: h = h xor
 * (h shifted right by `finalShift2`). Products are exact and modulo 2^32, shifts are unsigned. The
 * constants are in `given.ts`.
 *
 * @returns a whole number from 0 to 2^32 - 1
 * @throws {TypeError} whose message names `text` when it is not a string
 * @example hashKey('k1#0') // 62790507
 */
export function hashKey(text: string): number {
  // TODO 8.2: take in one code unit after the other, then finish. The constants are HASH of given.ts.
  return todo('8.2 hashKey');
}

/**
 * Builds a consistent hash ring.
 *
 * Each replica owns `virtualNodes` positions, at the hashes of `k3#0`, `k3#1`, ... Positions are
 * ascending; equal ones stay in list order, then in the order of their numbers. A key belongs to the
 * first position at or above its hash, and past the last position to the first one.
 *
 * @param virtualNodes positions per replica, 1 or more
 * @throws {RangeError} naming `replicas` when the list is empty or has a name twice, or
 *   `virtualNodes` when it is below 1 or not a whole number
 * @example createRing(['k1', 'k2', 'k3'], 1).lookup('G1000000') // 'k2'
 */
export function createRing(replicas: readonly string[], virtualNodes: number): Ring {
  // TODO 8.3: hash the labels, sort the positions, search by halving.
  return todo('8.3 createRing');
}

/**
 * Places a key by the remainder of its hash: the replica at index hash mod n of the list.
 *
 * @throws {RangeError} naming `replicas`, at once and not at the first key, when the list is empty
 *   or has a name twice
 * @example moduloPlacement(['k1', 'k2', 'k3'])('G1000000') // 'k1'
 */
export function moduloPlacement(replicas: readonly string[]): (key: string) => string {
  // TODO 8.3: the remainder of the hash is an index of the list.
  return todo('8.3 moduloPlacement');
}

/**
 * How uneven a placement is: the keys of the fullest replica over the keys of a fair share.
 *
 * @param placement the replica of each key, in key order
 * @param replicas all replicas; one without a key counts
 * @returns 1 for a perfect split, the number of replicas when one has everything
 * @throws {RangeError} naming `placement` when it is empty or names a replica that is not in the list
 * @example placementImbalance(['k1', 'k1', 'k2'], ['k1', 'k2']) // 2 of 3 keys x 2 replicas: 1.333...
 */
export function placementImbalance(
  placement: readonly string[],
  replicas: readonly string[],
): number {
  // TODO 8.4: count the keys of each replica; the fullest one decides.
  return todo('8.4 placementImbalance');
}

/**
 * Share of the keys whose replica differs between two placements.
 *
 * @param before the replica of each key, in key order
 * @param after the same keys, in the same order
 * @returns 0 to 1
 * @throws {RangeError} naming `before` when the two differ in length or are empty
 * @example movedShare(['k1', 'k2'], ['k1', 'k3']) // 0.5
 */
export function movedShare(before: readonly string[], after: readonly string[]): number {
  // TODO 8.4: compare the two placements key by key.
  return todo('8.4 movedShare');
}

/**
 * The smallest number of virtual nodes that splits the keys well enough, before and after growth, on
 * a ring that is not too large.
 *
 * @param options.candidates may come in any order, and stay as they are; none fits an empty list
 * @param options.maxImbalance a value equal to the limit is fine
 * @param options.maxPositions limit on the ring after growth; equal is fine
 * @returns the choice, or `undefined` when no candidate keeps all three limits
 * @throws {RangeError} naming `keys` when there are none, or `candidates` when any of them, whichever
 *   would win, is below 1 or not a whole number
 */
export function chooseVirtualNodes(options: VirtualNodeOptions): VirtualNodeChoice | undefined {
  // TODO 8.4: try the candidates, smallest first, against all three limits.
  return todo('8.4 chooseVirtualNodes');
}

/**
 * What moved keys cost the store while their new replicas are cold.
 *
 * For the whole window a moved key never hits a cache, and the others miss as always; the store also
 * takes all writes. The baseline is not recomputed.
 *
 * @returns unrounded values; `extraRequests` may be negative
 * @throws {RangeError} naming the field: `movedShare` or `hitRatio` outside of 0 to 1; `readRate`,
 *   `writeRate` or `windowSeconds` negative or not finite; `baselineStoreRate` not above 0 or not
 *   finite
 * @example warmUpBill({ movedShare: 0.5, readRate: 100, writeRate: 20, hitRatio: 0.9,
 *   baselineStoreRate: 30, windowSeconds: 60 }).storeRate // 100 x 0.55 + 20 = 75
 */
export function warmUpBill(input: WarmUpInput): WarmUpBill {
  // TODO 8.5: split the reads into moved keys and the rest.
  return todo('8.5 warmUpBill');
}

/**
 * Starts a balancer on a free port of 127.0.0.1.
 *
 * For each request that finds a replica it calls `pick` with the open counts, the arrival number
 * (from 0, one more at each call of `pick`, whatever `setReplicas` does) and the raw target; it
 * raises the chosen count at once, in the same turn; it forwards method, target, headers and body;
 * and it copies status, headers and body back and adds `x-kopya: <name>`. It never waits for a free
 * connection to a replica.
 *
 * The count is lowered exactly once: when the replica's response has ended or failed, or when the
 * client has given up, in which case the request to the replica is destroyed. It is lowered before
 * the client's response is ended. Counts belong to names: a replica that stays in the list keeps its
 * count, and one that has left finishes what it has.
 *
 * A replica that can't be reached, or fails before its response begins, gives 502 with body
 * `kopyaya ulasilamadi`; a list without replicas gives 503 with body `havuz bos`; neither has
 * `x-kopya`. A failure after that destroys the client's connection.
 *
 * @throws {RangeError} naming `replicas` for a name that stands in the list twice (the promise
 *   rejects)
 */
export function startPickingBalancer(options: BalancerOptions): Promise<Balancer> {
  // TODO 8.6: forward with node:http, and lower each count once, on every way out.
  return todo('8.6 startPickingBalancer');
}

/**
 * Makes a rule that chooses the replica with the fewest open requests and lets equal ones take
 * turns: its search begins at the index after the one chosen last, goes around the whole list, and
 * keeps the first of the fewest that it meets.
 *
 * The first search begins at index 0, and so does one whose beginning would lie past the end of the
 * list. The list may have another length at each call. Each rule remembers its own last choice; a
 * call that throws changes nothing.
 *
 * The rule takes and refuses what `leastConnections` does: `no replica` for an empty `open`, and a
 * `RangeError` that names `open` or `arrival` for a number that is negative or not whole.
 *
 * @example const pick = createRotatingLeastConnections();
 * [pick([0, 0, 0], 0), pick([0, 0, 0], 1), pick([1, 1, 0], 2), pick([1, 0, 0], 3)] // [0, 1, 2, 1]
 */
export function createRotatingLeastConnections(): Picker {
  // TODO 8.7: remember where the next search begins.
  return todo('8.7 createRotatingLeastConnections');
}
