// Lesson 2: your file. Read README.md and edge-caching.spec.ts beside it, then replace the TODOs.
import type { Server } from 'node:http';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  BackToBaseline,
  Baseline,
  Bottleneck,
  CacheChain,
  EdgeOptions,
  LinkCapacities,
  MeasuredEdge,
  MeasuredResponse,
  MeasureOptions,
  OriginOptions,
  SecondCacheVerdict,
} from './given.ts';

/**
 * What an answer costs on the wire: sends one GET on a socket of its own, and counts every byte
 * that comes back.
 *
 * The request is `GET <path> HTTP/1.1`, `Host: 127.0.0.1:<port>`, then `requestHeaders`, and no
 * other line. Header bytes reach from the first byte to the end of the first empty line, whose two
 * bytes belong to them. Body bytes are all that follow, as they come over the wire:
 * - none with status 204 or 304;
 * - with `transfer-encoding: chunked` to the end of the chunk of size 0 and the empty line after
 *   it, framing counted; what looks like that chunk inside of another one doesn't end it;
 * - otherwise as many as `content-length` promises, without waiting for the server to hang up;
 * - with neither, all that comes until the server hangs up.
 *
 * Interim answers (status 1xx) are not expected. When the promise settles, the socket is destroyed,
 * whether the server would have kept it alive or not.
 *
 * @throws {Error} (rejects) with what `connect` reports, such as `code` ECONNREFUSED
 * @throws {Error} (rejects) whose message contains `timeout`, when the exchange is not complete
 *   `timeoutMs` after its beginning, however many bytes have come
 * @throws {Error} (rejects at once) whose message contains `closed`, when the server hangs up or
 *   breaks the connection before the header block or the promised body is complete
 * @example (await measureResponse(origin.port, '/takip/TR900010')).wireBytes // 636
 */
export function measureResponse(
  port: number,
  path: string,
  options: MeasureOptions = {},
): Promise<MeasuredResponse> {
  // TODO 2.1: collect bytes until the answer is complete, then hang up yourself.
  return todo('2.1 measureResponse');
}

/**
 * A cache that holds a limited number of values, and gives up the one that was used longest ago.
 *
 * Keys are any strings. A lookup that finds its key makes it the most recent one.
 */
export class LruCache<V> {
  /**
   * @param capacity keys that it holds, a whole number of 1 or more
   * @throws {RangeError} whose message contains `capacity`
   */
  constructor(capacity: number) {
    // TODO 2.2: refuse what is no capacity, and begin with nothing.
    todo('2.2 LruCache');
  }

  /** Keys that it holds now. */
  get size(): number {
    // TODO 2.2: how many keys are there?
    return todo('2.2 size');
  }

  /** The value, which is the most recent one from now on; undefined if the key is not there. */
  get(key: string): V | undefined {
    // TODO 2.2: a key that is found becomes the most recent one.
    return todo('2.2 get');
  }

  /**
   * Stores a value as the most recent one. One that is there under the same key is replaced, and
   * nothing is given up for that. A new key, when the cache is full, takes the place of the least
   * recent one.
   *
   * @throws {TypeError} whose message contains `undefined`, when the value is undefined: `get` could
   *   not tell it from a miss; the cache stays as it was
   */
  set(key: string, value: V): void {
    // TODO 2.2: make room, if there has to be any, then store.
    todo('2.2 set');
  }
}

/**
 * The application's own server, with a cache between itself and its store. It is returned before it
 * listens.
 *
 * `/takip/<no>`, where `<no>` is one character or more up to the end of the target, none of them a
 * `/`, and used as it stands (nothing is decoded, and a `?` is a character like any other):
 * 1. If the JSON text `{"takip":"<no>","durum":"aktarma","bolge":"b34"}` is longer than `bodyBytes`:
 *    414 with an empty body, counted nowhere.
 * 2. Otherwise `istek` goes up by 1, and `<no>` is looked up in the cache, an `LruCache` of
 *    `cacheCapacity`. Found: `isabet` goes up by 1. Not found: `depo`, an access to the store, goes
 *    up by 1, and the body is built and kept: the JSON text, and blanks up to `bodyBytes`.
 * 3. The answer is 200 with two header fields and no other of its own: `content-type:
 *    application/json`, and `content-length`.
 *
 * `/sayac`: 200, `content-type: application/json`, `{"istek":I,"isabet":H,"depo":D}`. Counted
 * nowhere, and resets nothing.
 *
 * Any other target: 404 with an empty body, counted nowhere. GET and HEAD are treated alike, but for
 * the body that HEAD doesn't get. Any other method at the two targets: 405 with `allow: GET, HEAD`
 * and an empty body, counted nowhere.
 *
 * @throws {RangeError} whose message names the field that is not a whole number of 1 or more
 */
export function createOrigin(options: OriginOptions): Server {
  // TODO 2.3: count, look up, build what is missing, answer.
  return todo('2.3 createOrigin');
}

/**
 * A shared cache in front of the origin. It is returned before it listens, and its connections to
 * the origin are kept alive and used again; all of them are closed when the server closes.
 *
 * `/takip/<no>`, `/sayac`, other targets and other methods: as the origin takes them. The counters
 * are `{"istek":..,"isabet":..,"iska":..,"kokenIstek":..,"kokenBayt":..}`.
 *
 * For a tracking query `istek` goes up by 1, and the target is looked up as it stands, for GET and
 * HEAD under the same key, in an `LruCache` of `cacheCapacity`.
 * - Found: `isabet` goes up by 1. The answer is the stored one, with `x-kenar: isabet`.
 * - Not found: `iska` and `kokenIstek` go up by 1, and a GET with the same target goes to the
 *   origin, for a HEAD too. No header field of the client is sent along, so that no answer can
 *   depend on one.
 *
 * What the origin's answer becomes:
 * - 200, complete: `kokenBayt` goes up by the bytes of the body, headers not counted. The answer is
 *   stored as the most recent one, unless a `cache-control` of it contains the directive `no-store`,
 *   `private` or `no-cache` (in any case, with or without an argument; what stands inside of a
 *   quoted argument is no directive). The client gets it with `x-kenar: iska`.
 * - Any other status of 200 or more, complete: the same status, an empty body, `x-kenar: iska`.
 *   Nothing is stored.
 * - None, or one whose body breaks off: 502, an empty body, `x-kenar: iska`. Nothing is stored. But
 *   a kept connection that breaks before an answer has begun was closed by the origin while it was
 *   idle: then the request is repeated on another one, until a new connection has failed.
 *   `kokenIstek` doesn't move for that.
 *
 * A 200 has these header fields and no other of the edge's own: `content-type` as the origin sent
 * it, `content-length`, `x-kenar`, and `cache-control` if the origin sent any; other answers have
 * `x-kenar`, and `cache-control` likewise. A client that goes away stops nothing: the fetch goes on
 * and its answer is stored. Misses at the same time are fetched each for itself.
 *
 * Coalescing (2.7), if `coalesceMisses` is true: while a fetch for a key is on its way, further
 * misses of that key move `istek` and `iska`, but not `kokenIstek`, and wait for it. All of them get
 * its answer, a 502 and another status too, with `x-kenar: iska`; a request that comes later tries
 * again. But an answer that may not be stored because of its directives (or of its age, see below)
 * belongs to the request that fetched it: each one that waited then fetches for itself, and moves
 * `kokenIstek`.
 *
 * Age (2.7), if a `clock` is given: every answer from the store has the field `age`, the whole
 * seconds since it came from the origin, plus the origin's own `age` if it sent one (something else
 * than digits counts as none, and 2^31 is the most that is said). On a miss the origin's own `age` is passed on, if there is one.
 * `s-maxage`, or else `max-age`, is the number of seconds for which an answer is fresh: from that
 * age on it is not found any more, and an answer that old on arrival is not stored. Something else
 * than digits, quoted or not, counts as 0. Without such a directive an answer stays until it is
 * evicted. Without a clock these directives say nothing to the edge, and no `age` is sent.
 *
 * @throws {RangeError} whose message names the field: `originPort` from 1 to 65535,
 *   `cacheCapacity` of 1 or more, both whole numbers
 */
export function createEdge(options: EdgeOptions): Server {
  // TODO 2.3: hit or miss; fetch on a miss, store what may be stored, answer.
  return todo('2.3 createEdge');
}

/**
 * Sends a trace through caches that stand one behind the other, and counts what each of them sees.
 *
 * Each request is looked up in the first cache, and only where that has missed in the next one, and
 * so on; what none of them has comes from the store. Every cache that it passed has the key
 * afterwards. All caches give up the key that was used longest ago, and nothing else makes one
 * disappear.
 *
 * @param trace keys, read once and from front to back
 * @param capacities keys in each cache, whole numbers of 1 or more; with none, all goes to the store
 * @throws {RangeError} whose message contains `capacity`
 * @example runCacheChain(['a', 'b', 'a'], [1, 2])
 * // { requests: 3, layers: [{ lookups: 3, hits: 0, ... }, { lookups: 3, hits: 1, ... }],
 * //   storeRequests: 2 }
 */
export function runCacheChain(trace: Iterable<string>, capacities: readonly number[]): CacheChain {
  // TODO 2.4: let each key walk through the layers until one has it.
  return todo('2.4 runCacheChain');
}

/**
 * Whether the application's cache is still worth having once there is an edge in front of it.
 *
 * It is worth what it adds: the requests that the edge has missed and it still has. It is kept if
 * their share of all requests that reach the application is at least `minSavedShare`, and if
 * anything reaches the application at all.
 *
 * @param trace begins a new run of the same trace; called once
 * @param capacities keys in each cache, whole numbers of 1 or more
 * @param rule.minSavedShare 0 to 1
 * @throws {RangeError} whose message contains `minSavedShare`, or `capacity`
 */
export function judgeSecondCache(
  trace: () => Iterable<string>,
  capacities: { edge: number; application: number },
  rule: { minSavedShare: number },
): SecondCacheVerdict {
  // TODO 2.5: what does the second cache add behind the first one?
  return todo('2.5 judgeSecondCache');
}

/**
 * Puts what was measured with an edge into the formulas of the introductory course.
 *
 * All reads go to users over the user's link, with the bytes of an answer of the edge. Reads that
 * the edge can't answer reach the application, and their answers go over the origin's link with the
 * bytes of an answer of the origin. Reads behind the cache are those that no cache answers. Writes
 * pass all caches and reach the store. Egress is in Mbit/s of 10^6 bits. Nothing is rounded.
 *
 * @throws {RangeError} whose message names the field: `edgeHitRatio` or `storeRequestShare` outside
 *   0 to 1, `wireBytesAtEdge` or `wireBytesAtOrigin` not above 0, `peakReads` or `peakWrites` below
 *   0, or any of them not finite
 */
export function edgeBackToBaseline(measured: MeasuredEdge, baseline: Baseline): BackToBaseline {
  // TODO 2.6: two links, two sizes of an answer.
  return todo('2.6 edgeBackToBaseline');
}

/**
 * Which link is too full.
 *
 * The utilisation of a link is its egress over its capacity: `readEgressMbit` for the user link,
 * `originEgressMbit` for the origin link. If both are at or below `maxUtilisation`: `none`.
 * Otherwise the link with the higher utilisation, and `both` if they are equal.
 *
 * @param traffic Mbit/s, 0 or more
 * @param capacityMbit Mbit/s, above 0
 * @param maxUtilisation above 0, at most 1
 * @throws {RangeError} whose message names the field that is out of range or not finite
 * @example bottleneck({ readEgressMbit: 2, originEgressMbit: 1 }, { userLink: 10, originLink: 1.25 },
 *   0.5) // 'origin link': 0.8, against 0.2
 */
export function bottleneck(
  traffic: Pick<BackToBaseline, 'readEgressMbit' | 'originEgressMbit'>,
  capacityMbit: LinkCapacities,
  maxUtilisation: number,
): Bottleneck {
  // TODO 2.6: compare the utilisations, with the limit and with each other.
  return todo('2.6 bottleneck');
}
