import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Replica } from '#helpers/lesson/replica.ts';
import type { Balancer, BalancerOptions, RequestPicker } from './balancer.ts';
import { HASH } from './given.ts';
import type {
  Position,
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
  requireChoice(open, arrival);
  return arrival % open.length;
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
  requireChoice(open, arrival);
  // indexOf gives the first of equal ones. A loop that replaces its best on "strictly fewer" reads
  // as well; sorting would do more work and, done in place, change the caller's counts.
  return open.indexOf(Math.min(...open));
};

function requireChoice(open: readonly number[], arrival: number): void {
  if (open.length === 0) throw new RangeError('no replica to choose from: open is empty');
  for (const count of open) requireWhole('a count in open', count, 0);
  requireWhole('arrival', arrival, 0);
}

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
  if (typeof text !== 'string') throw new TypeError(`text must be a string, got ${typeof text}`);
  const { offset, prime, finalShift1, finalMultiplier, finalShift2 } = HASH;
  let h: number = offset;
  // Math.imul is the exact 32-bit product. BigInt would be as right and about a hundred times slower.
  for (let index = 0; index < text.length; index += 1) {
    h = Math.imul(h ^ text.charCodeAt(index), prime);
  }
  h ^= h >>> finalShift1;
  h = Math.imul(h, finalMultiplier);
  h ^= h >>> finalShift2;
  return h >>> 0; // xor and Math.imul give signed numbers
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
  requireNames(replicas);
  requireWhole('virtualNodes', virtualNodes, 1);
  const positions: Position[] = [];
  for (const replica of replicas) {
    for (let v = 0; v < virtualNodes; v += 1) {
      positions.push({ at: hashKey(`${replica}#${v}`), replica });
    }
  }
  // The sort is stable, which keeps equal positions in the order in which they were added.
  positions.sort((a, b) => a.at - b.at);

  return {
    positions,
    lookup(key) {
      const hash = hashKey(key);
      let low = 0;
      let high = positions.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((positions[middle] as Position).at < hash) low = middle + 1;
        else high = middle;
      }
      // Past the last position the circle begins again.
      return (positions[low % positions.length] as Position).replica;
    },
  };
}

/**
 * Places a key by the remainder of its hash: the replica at index hash mod n of the list.
 *
 * @throws {RangeError} naming `replicas`, at once and not at the first key, when the list is empty
 *   or has a name twice
 * @example moduloPlacement(['k1', 'k2', 'k3'])('G1000000') // 'k1'
 */
export function moduloPlacement(replicas: readonly string[]): (key: string) => string {
  requireNames(replicas);
  return (key) => replicas[hashKey(key) % replicas.length] as string;
}

function requireNames(replicas: readonly string[]): void {
  if (replicas.length === 0) throw new RangeError('replicas must not be empty');
  const twice = replicas.find((name, index) => replicas.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`replicas has the name ${twice} twice`);
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
  if (placement.length === 0) throw new RangeError('placement must not be empty');
  // An array of counts: a Map of them would hash every name twice, and there are 100 000.
  const indexOf = new Map(replicas.map((replica, index) => [replica, index]));
  const counts = replicas.map(() => 0);
  for (const replica of placement) {
    const index = indexOf.get(replica);
    if (index === undefined) {
      throw new RangeError(`placement names ${replica}, which is not among the replicas`);
    }
    counts[index] = (counts[index] as number) + 1;
  }
  return (Math.max(...counts) / placement.length) * replicas.length;
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
  if (before.length === 0 || before.length !== after.length) {
    throw new RangeError(
      `before and after must place the same keys, got ${before.length} and ${after.length}`,
    );
  }
  let moved = 0;
  for (let index = 0; index < before.length; index += 1) {
    if (before[index] !== after[index]) moved += 1;
  }
  return moved / before.length;
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
  const { before, after, keys, candidates, maxImbalance, maxPositions } = options;
  if (keys.length === 0) throw new RangeError('keys must not be empty');
  for (const candidate of candidates) requireWhole('each of candidates', candidate, 1);

  // Imbalance goes up and down as virtual nodes are added, so halving the list could miss the
  // smallest one that fits. Each has to be tried, from the smallest on.
  for (const virtualNodes of [...candidates].sort((a, b) => a - b)) {
    const positions = after.length * virtualNodes;
    if (positions > maxPositions) return undefined; // and so is every larger one
    const place = (replicas: readonly string[]) => {
      const ring = createRing(replicas, virtualNodes);
      return keys.map((key) => ring.lookup(key));
    };
    const placedBefore = place(before);
    if (placementImbalance(placedBefore, before) > maxImbalance) continue;
    const placedAfter = place(after);
    if (placementImbalance(placedAfter, after) > maxImbalance) continue;
    return { virtualNodes, positions, movedShare: movedShare(placedBefore, placedAfter) };
  }
  return undefined;
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
  const { movedShare, readRate, writeRate, hitRatio, baselineStoreRate, windowSeconds } = input;
  requireRange({ movedShare, hitRatio }, 1);
  requireRange({ readRate, writeRate, baselineStoreRate, windowSeconds }, Number.MAX_VALUE);
  if (baselineStoreRate === 0) throw new RangeError('baselineStoreRate must be above 0, got 0');

  const missRatio = movedShare + (1 - movedShare) * (1 - hitRatio);
  const readsBehindCache = readRate * missRatio;
  const storeRate = readsBehindCache + writeRate; // writes pass no cache
  return {
    missRatio,
    readsBehindCache,
    storeRate,
    ratioToBaseline: storeRate / baselineStoreRate,
    extraRequests: (storeRate - baselineStoreRate) * windowSeconds,
  };
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
export async function startPickingBalancer(options: BalancerOptions): Promise<Balancer> {
  requireDistinct(options.replicas);
  let { replicas, pick } = options;
  let arrivals = 0;
  const openByName = new Map<string, number>();
  const open = () => replicas.map(({ name }) => openByName.get(name) ?? 0);
  // Without a limit on sockets, as is the default: 63 requests may wait at one replica.
  const agent = new Agent({ keepAlive: true });

  const server = createServer((incoming, response) => {
    if (replicas.length === 0) {
      response.writeHead(503).end('havuz bos');
      return;
    }
    const path = incoming.url ?? '/';
    const chosen = pick(open(), arrivals, { path });
    arrivals += 1;
    forward(incoming, response, replicas[chosen] as Replica);
  });

  const forward = (incoming: IncomingMessage, response: ServerResponse, replica: Replica) => {
    const { name, port } = replica;
    openByName.set(name, (openByName.get(name) ?? 0) + 1);
    let isOpen = true;
    const done = () => {
      if (!isOpen) return; // a failure is often followed by a "close", which is not a second one
      isOpen = false;
      openByName.set(name, (openByName.get(name) ?? 0) - 1);
    };

    const upstream = request({
      host: '127.0.0.1',
      port,
      agent,
      method: incoming.method,
      path: incoming.url,
      headers: endToEnd(incoming),
    });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer), 'x-kopya': name });
      response.flushHeaders(); // the client sees the beginning although the body may take its time
      answer.on('end', () => {
        done();
        response.end();
      });
      answer.on('error', () => {
        done();
        response.destroy(); // an end would make half an answer look like a whole one
      });
      answer.pipe(response, { end: false });
    });
    upstream.on('error', () => {
      done();
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end('kopyaya ulasilamadi');
    });
    response.on('close', () => {
      done();
      if (!response.writableEnded) upstream.destroy();
    });
    incoming.pipe(upstream);
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    agent.destroy();
    return closed;
  };

  return {
    port,
    open,
    setReplicas(newReplicas: readonly Replica[], newPick: RequestPicker) {
      requireDistinct(newReplicas);
      replicas = newReplicas;
      pick = newPick;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function requireDistinct(replicas: readonly Replica[]): void {
  if (replicas.length > 0) requireNames(replicas.map(({ name }) => name));
}

/**
 * Headers for the other side. `connection` and `keep-alive` speak of one connection, and the
 * balancer has two; lesson 5 does this thoroughly.
 */
function endToEnd({ headers }: IncomingMessage) {
  const { connection, 'keep-alive': keepAlive, ...rest } = headers;
  return rest;
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
  // The memory is the rule's own. In a variable of the module, two pools would share it.
  let next = 0;
  return (open, arrival) => {
    requireChoice(open, arrival);
    const first = next < open.length ? next : 0;
    let best = first;
    for (let step = 1; step < open.length; step += 1) {
      const index = (first + step) % open.length;
      if ((open[index] as number) < (open[best] as number)) best = index;
    }
    next = best + 1;
    return best;
  };
}

function requireWhole(field: string, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`${field} must be a whole number of ${least} or more, got ${value}`);
  }
}

function requireRange(fields: Record<string, number>, most: number): void {
  for (const [field, value] of Object.entries(fields)) {
    if (!(value >= 0 && value <= most)) {
      throw new RangeError(
        `${field} must be ${most === 1 ? 'from 0 to 1' : 'finite and not negative'}, got ${value}`,
      );
    }
  }
}
