// Lesson 2: one good answer. Read your own first.
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
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
  const { requestHeaders = {}, timeoutMs = 2_000 } = options;
  const own = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...own, '', ''];
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    let connected = false;
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (act: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      act(); // a promise settles once: what comes later changes nothing
    };
    // Not the socket's own time-out: that one starts anew with every byte that comes.
    const timer = setTimeout(() => {
      const error = new Error(`timeout: no complete answer in ${timeoutMs} ms`);
      settle(() => reject(error));
    }, timeoutMs);
    const look = (ended: boolean) => {
      const measured = measure(received, ended);
      if (measured) settle(() => resolve(measured));
    };
    const closed = () => {
      const error = new Error(`closed by the server after ${received.length} bytes`);
      settle(() => reject(error));
    };
    socket.on('connect', () => {
      connected = true;
      socket.write(lines.join('\r\n'));
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      look(false);
    });
    socket.on('end', () => look(true));
    socket.on('error', (error) => (connected ? closed() : settle(() => reject(error))));
    socket.on('close', closed);
  });
}

/** The answer in these bytes, if it is complete. */
function measure(received: Buffer, ended: boolean): MeasuredResponse | undefined {
  const emptyLine = received.indexOf('\r\n\r\n');
  if (emptyLine < 0) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, emptyLine).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const status = Number(statusLine.split(' ')[1]);
  const headerBytes = emptyLine + 4;
  const bodyBytes = bodyLength(received.subarray(headerBytes), status, headers, ended);
  if (bodyBytes === undefined) return undefined;
  return { status, headers, headerBytes, bodyBytes, wireBytes: headerBytes + bodyBytes };
}

/** Bytes of the body, or undefined while some are still to come. RFC 9112, section 6.3. */
function bodyLength(
  come: Buffer,
  status: number,
  headers: Record<string, string>,
  ended: boolean,
): number | undefined {
  if (status === 204 || status === 304) return 0;
  if (/\bchunked$/i.test(headers['transfer-encoding'] ?? '')) return chunkedLength(come);
  const promised = headers['content-length'];
  if (promised === undefined) return ended ? come.length : undefined;
  return come.length < Number(promised) ? undefined : Number(promised);
}

/** Bytes of a chunked body with its framing, or undefined while some are still to come. */
function chunkedLength(come: Buffer): number | undefined {
  let at = 0;
  let trailer = false;
  for (;;) {
    const lineEnd = come.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    if (trailer && lineEnd === at) return at + 2;
    // parseInt stops at the extensions that may stand behind a size.
    const size = trailer ? 0 : Number.parseInt(come.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2;
    if (size > 0) at += size + 2;
    else trailer = true;
  }
}

/**
 * A cache that holds a limited number of values, and gives up the one that was used longest ago.
 *
 * Keys are any strings. A lookup that finds its key makes it the most recent one.
 */
export class LruCache<V> {
  readonly #capacity: number;
  /** In the order of use: a Map iterates in the order of insertion. */
  readonly #entries = new Map<string, V>();
  /**
   * Stands before the least recent key. Entries only ever leave in front of it and come in at the
   * end, so it need not begin anew: a new iterator would step over every place that has been given
   * up, and an eviction would take four times as long.
   */
  readonly #leastRecent = this.#entries.keys();

  /**
   * @param capacity keys that it holds, a whole number of 1 or more
   * @throws {RangeError} whose message contains `capacity`
   */
  constructor(capacity: number) {
    requireCount({ capacity });
    this.#capacity = capacity;
  }

  /** Keys that it holds now. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value, which is the most recent one from now on; undefined if the key is not there. */
  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // Taken out and put in again, it stands at the end. A list of nodes that are linked both ways
    // would do the same in more lines; an array would look through all of its keys.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
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
    if (value === undefined) throw new TypeError(`the value of ${key} is undefined`);
    if (!this.#entries.delete(key) && this.#entries.size === this.#capacity) {
      this.#entries.delete(this.#leastRecent.next().value as string);
    }
    this.#entries.set(key, value);
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
  const { cacheCapacity, bodyBytes } = options;
  requireCount({ cacheCapacity, bodyBytes });
  const cache = new LruCache<Buffer>(cacheCapacity);
  const counters = { istek: 0, isabet: 0, depo: 0 };

  return createServer((request, response) => {
    const no = route(request, response, counters);
    if (no === undefined) return;
    // JSON.stringify, and not a template: a number may contain a quotation mark.
    const text = JSON.stringify({ takip: no, durum: 'aktarma', bolge: 'b34' });
    if (Buffer.byteLength(text) > bodyBytes) {
      response.statusCode = 414;
      response.end();
      return;
    }
    counters.istek += 1;
    let body = cache.get(no);
    if (body) counters.isabet += 1;
    else {
      counters.depo += 1;
      body = Buffer.alloc(bodyBytes, ' ');
      body.write(text);
      cache.set(no, body);
    }
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      .end(body);
  });
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
  const { originPort, cacheCapacity, coalesceMisses = false, clock } = options;
  requireCount({ originPort, cacheCapacity });
  if (originPort > 65_535) throw new RangeError(`originPort is ${originPort}, at most 65535`);
  const cache = new LruCache<OriginAnswer>(cacheCapacity);
  const counters = { istek: 0, isabet: 0, iska: 0, kokenIstek: 0, kokenBayt: 0 };
  const agent = new Agent({ keepAlive: true });
  const underWay = new Map<string, Promise<OriginAnswer>>();
  let closed = false;

  /** seconds */
  const ageOf = ({ receivedAt, ageOnArrival = 0 }: OriginAnswer) => {
    const since = Math.floor(((clock?.now() ?? receivedAt) - receivedAt) / 1_000);
    return Math.min(since + ageOnArrival, MAX_SECONDS);
  };
  const isFresh = (answer: OriginAnswer) => !clock || ageOf(answer) < answer.freshSeconds;
  /** Whether anybody but the one who asked may get it. */
  const mayShare = (answer: OriginAnswer) => answer.isPublic && isFresh(answer);

  const askOrigin = (target: string) =>
    new Promise<OriginAnswer>((resolve, reject) => {
      let answered = false;
      const outgoing = httpRequest(
        // `path`, and not a URL: that one would rewrite `/takip/..` and others.
        { host: '127.0.0.1', port: originPort, path: target, agent },
        (incoming) => {
          answered = true;
          readAnswer(incoming, clock?.now() ?? 0).then(resolve, reject);
        },
      );
      outgoing.on('error', (error) => {
        // Each attempt uses up a kept connection, so this ends. A GET may be repeated, RFC 9110
        // section 9.2.2.
        if (outgoing.reusedSocket && !answered && !closed) askOrigin(target).then(resolve, reject);
        else reject(error);
      });
      outgoing.end();
    });

  const fetchAnswer = async (target: string): Promise<OriginAnswer> => {
    counters.kokenIstek += 1;
    const answer = await askOrigin(target).catch(() => UNREACHABLE);
    if (answer.status !== 200) return answer;
    counters.kokenBayt += answer.body.length;
    if (mayShare(answer)) cache.set(target, answer);
    return answer;
  };

  const fetchOrWait = async (target: string): Promise<OriginAnswer> => {
    const running = underWay.get(target);
    if (running) {
      const answer = await running;
      return mayShare(answer) ? answer : fetchAnswer(target);
    }
    // It never rejects, and it has stored the answer before it is out of the way: nobody can come
    // in between and fetch again.
    const fetching = fetchAnswer(target).finally(() => underWay.delete(target));
    underWay.set(target, fetching);
    return fetching;
  };

  const send = (response: ServerResponse, answer: OriginAnswer, state: 'isabet' | 'iska') => {
    const { status, body, contentType, cacheControl, ageOnArrival } = answer;
    const age = state === 'isabet' ? ageOf(answer) : ageOnArrival;
    response.statusCode = status;
    if (status === 200) {
      if (contentType !== undefined) response.setHeader('content-type', contentType);
      response.setHeader('content-length', body.length);
    }
    response.setHeader('x-kenar', state);
    if (cacheControl !== undefined) response.setHeader('cache-control', cacheControl);
    if (clock && age !== undefined) response.setHeader('age', age);
    response.end(status === 200 ? body : undefined);
  };

  const server = createServer((request, response) => {
    if (route(request, response, counters) === undefined) return;
    const target = request.url as string;
    counters.istek += 1;
    const stored = cache.get(target);
    if (stored && isFresh(stored)) {
      counters.isabet += 1;
      send(response, stored, 'isabet');
      return;
    }
    counters.iska += 1;
    const fetching = coalesceMisses ? fetchOrWait(target) : fetchAnswer(target);
    void fetching.then((answer) => send(response, answer, 'iska'));
  });
  server.on('close', () => {
    closed = true;
    agent.destroy();
  });
  return server;
}

/** What the origin said, as the edge keeps it. */
interface OriginAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly contentType?: string | undefined;
  readonly cacheControl?: string | undefined;
  /** Whether its directives let a shared cache keep it and use it again. */
  readonly isPublic: boolean;
  /** seconds */
  readonly freshSeconds: number;
  /** seconds, if the origin sent an age */
  readonly ageOnArrival?: number | undefined;
  /** ms on the clock */
  readonly receivedAt: number;
}

/** Stands for every answer that didn't come, or not to its end. */
const UNREACHABLE: OriginAnswer = {
  status: 502,
  body: Buffer.alloc(0),
  isPublic: true,
  freshSeconds: Infinity,
  receivedAt: 0,
};

/** Largest number of seconds that a cache has to know, RFC 9111 section 1.2.2. */
const MAX_SECONDS = 2 ** 31;

/** Reads an answer to its end; rejects if it breaks off. */
async function readAnswer(incoming: IncomingMessage, receivedAt: number): Promise<OriginAnswer> {
  const { statusCode: status = 0, headers } = incoming;
  // Before anything is stored or sent: half a body would be served as a whole one, again and again.
  const body = await buffer(incoming);
  if (!incoming.complete) throw new Error('the body has broken off');
  if (status < 200) throw new Error(`${status} is no status of an answer`);
  const cacheControl = headers['cache-control']; // node:http has joined several lines
  const directives = directivesOf(cacheControl);
  const fresh = directives.get('s-maxage') ?? directives.get('max-age');
  return {
    status,
    body,
    contentType: headers['content-type'],
    cacheControl,
    // This edge can't ask whether an answer still holds, so `no-cache` means to fetch every time.
    isPublic: !['no-store', 'private', 'no-cache'].some((name) => directives.has(name)),
    freshSeconds: fresh === undefined ? Infinity : (secondsIn(fresh) ?? 0),
    ageOnArrival: secondsIn(headers.age),
    receivedAt,
  };
}

function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : undefined;
}

/** Names in lower case, with the argument or ''. Of two alike the first one counts. */
function directivesOf(cacheControl = ''): Map<string, string> {
  const directives = new Map<string, string>();
  // A name, and behind `=` a quoted string or a token. Splitting at commas would cut quoted ones.
  const pattern = /([^\s",=]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*)))?/g;
  for (const [, name = '', quoted, token = ''] of cacheControl.matchAll(pattern)) {
    const directive = name.toLowerCase();
    if (!directives.has(directive)) directives.set(directive, quoted ?? token);
  }
  return directives;
}

/**
 * What both servers have in common: answers everything that is not a tracking query.
 *
 * @returns the number that is asked for, or undefined if the answer is given
 */
function route(
  request: IncomingMessage,
  response: ServerResponse,
  counters: Record<string, number>,
): string | undefined {
  const { url = '', method = '' } = request;
  const [, no] = /^\/takip\/([^/]+)$/.exec(url) ?? [];
  if (no === undefined && url !== '/sayac') {
    response.statusCode = 404;
    response.end();
    return undefined;
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.statusCode = 405;
    response.setHeader('allow', 'GET, HEAD');
    response.end();
    return undefined;
  }
  if (no === undefined) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(counters));
  }
  return no;
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
  const layers = capacities.map((capacity) => ({
    cache: new LruCache<true>(capacity),
    lookups: 0,
    hits: 0,
  }));
  let requests = 0;
  let storeRequests = 0;
  for (const key of trace) {
    requests += 1;
    let found = false;
    for (const layer of layers) {
      layer.lookups += 1;
      if (layer.cache.get(key)) {
        layer.hits += 1;
        found = true;
        break;
      }
      // On the way to the store or on the way back makes no difference: nobody else is asking.
      layer.cache.set(key, true);
    }
    if (!found) storeRequests += 1;
  }
  return {
    requests,
    layers: layers.map(({ lookups, hits }) => ({
      lookups,
      hits,
      misses: lookups - hits,
      hitRatio: lookups === 0 ? 0 : hits / lookups,
    })),
    storeRequests,
  };
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
  requireShares({ minSavedShare: rule.minSavedShare });
  const [, application] = runCacheChain(trace(), [capacities.edge, capacities.application]).layers;
  const { lookups = 0, hits = 0, hitRatio = 0 } = application ?? {};
  // The share is the second cache's hit ratio; what makes it the right number is who looks it up.
  return {
    savedStoreRequests: hits,
    savedShare: hitRatio,
    keep: lookups > 0 && hitRatio >= rule.minSavedShare,
  };
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
  const { edgeHitRatio, storeRequestShare, wireBytesAtEdge, wireBytesAtOrigin } = measured;
  const { peakReads, peakWrites } = baseline;
  requireShares({ edgeHitRatio, storeRequestShare });
  requirePositive({ wireBytesAtEdge, wireBytesAtOrigin });
  requireNotNegative({ peakReads, peakWrites });
  const missed = 1 - edgeHitRatio;
  const readsBehindCache = peakReads * storeRequestShare;
  return {
    readsReachingApplication: peakReads * missed,
    readsBehindCache,
    requestsReachingStore: readsBehindCache + peakWrites,
    readEgressMbit: mbit(peakReads * wireBytesAtEdge),
    originEgressMbit: mbit(peakReads * missed * wireBytesAtOrigin),
    // Not the quotient of the two above: without traffic that would be 0 / 0.
    originToUserEgress: (missed * wireBytesAtOrigin) / wireBytesAtEdge,
  };
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
  const { readEgressMbit, originEgressMbit } = traffic;
  const { userLink, originLink } = capacityMbit;
  requireNotNegative({ readEgressMbit, originEgressMbit });
  requirePositive({ userLink, originLink, maxUtilisation });
  requireShares({ maxUtilisation });
  const user = readEgressMbit / userLink;
  const origin = originEgressMbit / originLink;
  if (Math.max(user, origin) <= maxUtilisation) return 'none';
  if (user === origin) return 'both';
  return user > origin ? 'user link' : 'origin link';
}

/** Mbit/s of so many bytes per second; bandwidth is sold in powers of ten. */
const mbit = (bytesPerSecond: number) => (bytesPerSecond * 8) / 1e6;

function requireCount(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} is ${value}, wanted a whole number of 1 or more`);
    }
  }
}

function requireShares(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} is ${value}, wanted 0 to 1`);
  }
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity)) {
      throw new RangeError(`${name} is ${value}, wanted above 0`);
    }
  }
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`${name} is ${value}, wanted 0 or more`);
    }
  }
}
