import { setMaxListeners } from 'node:events';
import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { DAYS_PER_MONTH } from '#fixtures/assumptions.ts';
import { startHttpServer } from '#helpers/lesson/http-server.ts';
import type { Clock } from '#helpers/lesson/manual-clock.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import type {
  Balancer,
  BalancerOptions,
  BalancerStatus,
  CapacityPlan,
  Failure,
  Probe,
  Prober,
} from './given.ts';

/**
 * Load and utilisation of each replica that is left when some are gone.
 *
 * With none left both are `Infinity`.
 *
 * @param input.peakRate req/s that all replicas together have to carry, above 0
 * @param input.saturationRate req/s that one replica is planned to carry at most, above 0
 * @param input.replicas how many there are, 1 or more
 * @param input.failed how many of them are gone, 0 to `replicas`
 * @returns `rate` in req/s, and `utilisation`, which is the rate over the saturation rate
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example replicaLoad({ peakRate: 600, saturationRate: 400, replicas: 3, failed: 1 })
 * // { rate: 300, utilisation: 0.75 }
 */
export function replicaLoad(input: {
  peakRate: number;
  saturationRate: number;
  replicas: number;
  failed: number;
}): { rate: number; utilisation: number } {
  const { peakRate, saturationRate, replicas, failed } = input;
  requirePositive({ peakRate, saturationRate });
  requireCount({ replicas }, 1);
  requireCount({ failed }, 0);
  if (failed > replicas) throw new RangeError(`failed is ${failed}, but there are ${replicas}`);
  // All gone: a division by 0, which is Infinity and just what the contract asks for.
  const rate = peakRate / (replicas - failed);
  return { rate, utilisation: rate / saturationRate };
}

/**
 * How many replicas a peak needs, with and without losses to survive.
 *
 * A plan holds its target when the utilisation of each replica that is left is at or below it.
 * Binary fractions can put a quotient a hair above a whole number, as in 171 / (100 x 0.57); a
 * quotient that is above it by no more than a relative 1e-9 counts as that number.
 *
 * @param input.peakRate req/s, above 0
 * @param input.saturationRate req/s of one replica, above 0
 * @param input.targetUtilisation above 0, at most 1
 * @param input.toleratedFailures replicas that may be gone at the same time, 0 or more
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example planCapacity({ peakRate: 600, saturationRate: 400, targetUtilisation: 0.5,
 *   toleratedFailures: 1 }).replicas // 4
 */
export function planCapacity(input: {
  peakRate: number;
  saturationRate: number;
  targetUtilisation: number;
  toleratedFailures: number;
}): CapacityPlan {
  const { peakRate, saturationRate, targetUtilisation, toleratedFailures } = input;
  requirePositive({ peakRate, saturationRate });
  requireShare({ targetUtilisation });
  requireCount({ toleratedFailures }, 0);

  const safeRate = saturationRate * targetUtilisation;
  const minReplicas = Math.max(1, ceilWithSlack(peakRate / safeRate));
  // The target has to hold for those that are left, so losses come on top of the minimum.
  const replicas = minReplicas + toleratedFailures;
  const load = (failed: number) => replicaLoad({ peakRate, saturationRate, replicas, failed });
  const before = load(0);
  const after = load(toleratedFailures);
  return {
    safeRate,
    minReplicas,
    replicas,
    perReplicaRate: before.rate,
    utilisation: before.utilisation,
    afterFailureRate: after.rate,
    afterFailureUtilisation: after.utilisation,
  };
}

/**
 * What a failure costs until somebody has noticed it: the requests that went to the dead replica.
 *
 * Every failure is taken to fall in the peak hour, and to lose one replica's share of the peak for
 * the whole window. A month has 30 days.
 *
 * @param input.peakRate req/s, above 0
 * @param input.replicas 1 or more
 * @param input.dailyRequests requests/day, above 0
 * @param input.failuresPerMonth 0 or more, fractions allowed
 * @param input.windowSeconds from the failure until no request goes there any more, 0 or more
 * @returns dropped requests per failure and per month, neither of them rounded, and the share of
 *   the month's requests that was answered: 0 to 1, never below 0
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 */
export function failureBill(input: {
  peakRate: number;
  replicas: number;
  dailyRequests: number;
  failuresPerMonth: number;
  windowSeconds: number;
}): { perFailure: number; perMonth: number; availability: number } {
  const { peakRate, replicas, dailyRequests, failuresPerMonth, windowSeconds } = input;
  requirePositive({ peakRate, dailyRequests });
  requireCount({ replicas }, 1);
  requireNotNegative({ failuresPerMonth, windowSeconds });

  // No rounding on the way: 171.30 req/s x 600 s is 102,780, and two requests too many.
  const perFailure = (peakRate / replicas) * windowSeconds;
  const perMonth = perFailure * failuresPerMonth;
  return {
    perFailure,
    perMonth,
    availability: Math.max(0, 1 - perMonth / (dailyRequests * DAYS_PER_MONTH)),
  };
}

/**
 * The intervals between two rounds of probes that both sides can live with.
 *
 * Too long an interval drops too many requests: at most `maxDroppedPerFailure` may be lost in one
 * interval by one replica's share of the peak. Too short a one makes the probes themselves a load:
 * the probes of all replicas may be at most `maxProbeShare` of the peak. Both limits are whole
 * milliseconds inside the permitted range; a limit that misses a whole number by no more than a
 * relative 1e-9 counts as that number.
 *
 * @param input.peakRate req/s, above 0
 * @param input.replicas 1 or more
 * @param input.maxDroppedPerFailure requests, 0 or more (nothing meets 0)
 * @param input.maxProbeShare above 0, at most 1
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @throws {Error} when no interval fits; its message has both limits in whole milliseconds
 */
export function chooseProbeInterval(input: {
  peakRate: number;
  replicas: number;
  maxDroppedPerFailure: number;
  maxProbeShare: number;
}): { minMs: number; maxMs: number } {
  const { peakRate, replicas, maxDroppedPerFailure, maxProbeShare } = input;
  requirePositive({ peakRate });
  requireCount({ replicas }, 1);
  requireNotNegative({ maxDroppedPerFailure });
  requireShare({ maxProbeShare });

  const maxMs = floorWithSlack((1_000 * maxDroppedPerFailure * replicas) / peakRate);
  const minMs = ceilWithSlack((1_000 * replicas) / (maxProbeShare * peakRate));
  if (minMs > maxMs) {
    // Not a RangeError: each wish is a sensible one, they just can't both be had.
    throw new Error(
      `no interval fits: the probe share asks for ${minMs} ms or more, the drops for ${maxMs} ms or less`,
    );
  }
  return { minMs, maxMs };
}

/**
 * Which replicas are up, from the verdicts of their probes. Pure book-keeping: no clock, no
 * network.
 *
 * Every replica starts up. One that is up goes down after `fall` failures in a row, one that is
 * down comes back after `rise` successes in a row. A verdict that agrees with the state ends the
 * row.
 */
export class HealthTracker {
  readonly #fall: number;
  readonly #rise: number;
  // A Map keeps the order in which its keys came, and that is the configured one.
  readonly #states = new Map<string, { up: boolean; against: number }>();

  /**
   * @param replicas names, at least one, no two alike
   * @param options.fall failures in a row until down, a whole number of 1 or more
   * @param options.rise successes in a row until up, a whole number of 1 or more
   * @throws {RangeError} whose message names `replicas`, `fall` or `rise`
   */
  constructor(replicas: readonly string[], options: { fall: number; rise: number }) {
    const { fall, rise } = options;
    requireCount({ fall }, 1);
    requireCount({ rise }, 1);
    if (replicas.length === 0) throw new RangeError('replicas is empty, wanted at least one');
    for (const name of replicas) {
      if (this.#states.has(name)) throw new RangeError(`replicas has "${name}" twice`);
      this.#states.set(name, { up: true, against: 0 });
    }
    this.#fall = fall;
    this.#rise = rise;
  }

  /**
   * Notes the verdict of one probe.
   *
   * @param ok whether the replica answered as a healthy one does
   * @throws {RangeError} when the replica is unknown; the message has its name
   */
  record(replica: string, ok: boolean): void {
    const state = this.#states.get(replica);
    if (!state) throw new RangeError(`replica "${replica}" is unknown`);
    state.against = ok === state.up ? 0 : state.against + 1;
    if (state.against === (state.up ? this.#fall : this.#rise)) {
      state.up = ok;
      state.against = 0;
    }
  }

  /** Names of the replicas that are up, in configured order. A new array at each call. */
  up(): string[] {
    return [...this.#states].filter(([, { up }]) => up).map(([name]) => name);
  }
}

/**
 * A load balancer on 127.0.0.1, in front of replicas that speak HTTP.
 *
 * For each request, in this order:
 * 1. The target `/yonet/durum`, exactly and with any method, is answered with 200,
 *    `content-type: application/json` and `{"ulasilamayan":<unreachable>,"ayakta":[<ports>]}`: the
 *    ports of the replicas that are up, in configured order. Nothing moves.
 * 2. A target that `new URL(target, 'http://x')` throws at is answered with 400. Nothing moves and
 *    nothing is sent. (5.6)
 * 3. The pool is the replicas that are up, in configured order. If it is empty: 503, body
 *    `havuz bos`, header `retry-after: 1` (5.8). Nothing moves.
 * 4. The replica is `pool[rotation % pool.length]`, and then `rotation` goes up by 1. It is one
 *    counter for the whole life of the balancer, and starts at 0.
 * 5. Method, target, headers and body are forwarded, and status, headers and body copied back, both
 *    bodies as streams.
 * 6. If the attempt ends without response headers: `unreachable` goes up by 1, and the answer is
 *    502, body `kopyaya ulasilamadi`. The replica stays up: only probes take it out.
 *
 * Health check, unless `health` is false: every `intervalMs` (never, if that is 0) and at each
 * `probeNow()`, GET `/saglik` of every replica at once, those that are down included. The first
 * round comes one interval after the start. A probe succeeds if status 200 comes within
 * `timeoutMs`; `HealthTracker` judges. Probes move neither the rotation nor a counter, and one that
 * is still running when the balancer closes changes nothing.
 *
 * Headers (5.6): in both directions the hop-by-hop fields stay behind: `connection` and all that it
 * names, `keep-alive`, `proxy-connection`, `te`, `trailer`, `transfer-encoding` and `upgrade`, in
 * whichever case. `host` and `content-length` pass, whoever names them. A request body that came
 * with `transfer-encoding` is sent on in chunks. With `adminPort` the status page stands on that
 * port of its own, which answers 404 to everything else, and on `port` its target is one like any
 * other.
 *
 * Failures (5.7): each of them moves exactly one counter of the status.
 * - The client goes away before its response is complete: the attempt is cut, `clientAborted`.
 * - The replica breaks off after its response headers: the client's connection is cut,
 *   `upstreamReset`. A truncated response never looks complete.
 * - No response headers `headerTimeoutMs` after the attempt began: the attempt is cut, and the
 *   answer is 504, `upstreamTimeout`.
 * `attempts` counts every attempt to reach a replica, failed ones included, probes not.
 *
 * Retries (5.8), if `retry` is true: an attempt that moved `unreachable` is followed by another one
 * if that is safe. Nothing was sent, because no connection came about: always. Something may have
 * been sent: only for GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and only if the request has no
 * body, that is neither `transfer-encoding` nor a `content-length` above 0. Each attempt looks at
 * the pool anew, and takes the next steps of the rotation until one leads to a replica that this
 * request has not tried. When there is none left: 502.
 *
 * @param options see `BalancerOptions`; everything but `replicas` and `health` may be left out
 * @throws {RangeError} (rejects) before it listens, when `replicas` is empty or has a name twice, or
 *   when `fall` or `rise` is not a whole number of 1 or more; the message names the field
 */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { replicas, health, adminPort, headerTimeoutMs, retry = false } = options;
  // Without a health check nothing is ever recorded, and everybody stays up.
  const tracker = new HealthTracker(
    replicas.map(({ name }) => name),
    health || { fall: 1, rise: 1 },
  );
  const counters = {
    unreachable: 0,
    clientAborted: 0,
    upstreamReset: 0,
    upstreamTimeout: 0,
    attempts: 0,
  };
  // Connections to the replicas are kept and used again. undici's Pool would do that faster, but
  // does not say whether a request that failed had been sent, and exercise 5.8 depends on it.
  const agent = new Agent({ keepAlive: true });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every probe that runs listens to it
  let draining = false;
  let rotation = 0;

  const pool = (): Replica[] => {
    const up = new Set(tracker.up());
    return replicas.filter(({ name }) => up.has(name));
  };

  /** Next replica that this request has not tried; `undefined`, and no step, if there is none. */
  const choose = (tried: ReadonlySet<Replica>): Replica | undefined => {
    const candidates = pool();
    if (candidates.every((replica) => tried.has(replica))) return undefined;
    for (;;) {
      const replica = candidates[rotation % candidates.length];
      rotation += 1;
      if (replica && !tried.has(replica)) return replica;
    }
  };

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const client = request.socket;
    const withBody = hasBody(request.headers);
    const repeatable = !withBody && IDEMPOTENT.has(request.method ?? '');
    const tried = new Set<Replica>();
    let outgoing: ClientRequest | undefined;
    // Once the outcome of the request is settled, whatever else breaks is a consequence of it.
    let settled = false;

    const answer = (status: number, body: string, headers: OutgoingHttpHeaders = {}) => {
      settled = true;
      request.resume(); // the rest of an upload, or the next request would never be read
      response.writeHead(status, { ...headers, ...(draining && { connection: 'close' }) });
      response.end(body);
    };

    const attempt = (): void => {
      const replica = choose(tried);
      if (!replica) {
        if (tried.size > 0) answer(502, 'kopyaya ulasilamadi');
        else answer(503, 'havuz bos', { 'retry-after': '1' });
        return;
      }
      tried.add(replica);
      counters.attempts += 1;
      let maySent = false;
      let incoming: IncomingMessage | undefined;
      const upstream = httpRequest({
        host: '127.0.0.1',
        port: replica.port,
        method: request.method,
        path: request.url,
        headers: requestHeaders(request.headers),
        agent,
      });
      outgoing = upstream;

      const timer =
        headerTimeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              counters.upstreamTimeout += 1;
              answer(504, 'kopya zamaninda yanit vermedi');
              upstream.destroy();
            }, headerTimeoutMs);

      // Nothing leaves before the connection stands. Until then any other replica may have the
      // request: whatever its method, and with its body still unread.
      upstream.on('socket', (socket) => {
        const send = () => {
          maySent = true;
          if (withBody) {
            upstream.flushHeaders(); // the first piece of the body may be long in coming
            request.pipe(upstream);
          } else upstream.end();
        };
        if (socket.connecting) socket.once('connect', send);
        else send();
      });

      upstream.on('response', (message) => {
        const { statusCode = 0, statusMessage } = message;
        if (statusCode < 100) {
          upstream.destroy(); // no status at all, and writeHead would throw at it
          return;
        }
        incoming = message;
        clearTimeout(timer);
        response.writeHead(statusCode, statusMessage, {
          ...endToEnd(message.headers),
          ...(draining && { connection: 'close' }),
        });
        response.flushHeaders();
        message.pipe(response); // stops reading while the client does
      });

      // However an attempt ends, it ends in 'close'; what 'error' says is known by then.
      upstream.on('error', () => {});
      upstream.on('close', () => {
        clearTimeout(timer);
        if (settled || incoming?.complete) return;
        if (incoming) {
          settled = true;
          counters.upstreamReset += 1;
          client.destroy(); // end() would make the rest that is missing look like the end
          return;
        }
        counters.unreachable += 1;
        if (retry && (!maySent || repeatable)) attempt();
        else answer(502, 'kopyaya ulasilamadi');
      });
    };

    const clientLeft = () => {
      if (settled) return;
      settled = true;
      counters.clientAborted += 1;
      outgoing?.destroy();
    };
    // The client's socket, and not its response: of two pipelined requests the second has a
    // response without a socket, which never hears that the client has gone.
    client.on('close', clientLeft);
    response.on('finish', () => {
      client.off('close', clientLeft);
      if (!settled && !request.complete) {
        // The replica has answered without waiting for the whole upload. Nobody wants the rest.
        outgoing?.destroy();
        request.resume();
      }
      settled = true;
    });
    attempt();
  };

  const statusBody = () =>
    JSON.stringify({ ulasilamayan: counters.unreachable, ayakta: pool().map(({ port }) => port) });

  /** @returns whether the request was for the status page */
  const answerStatus = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.url !== STATUS_PATH) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(statusBody());
    return true;
  };

  const data = await startHttpServer((request, response) => {
    if (adminPort === undefined && answerStatus(request, response)) return;
    if (!isTarget(request.url)) {
      response.writeHead(400).end('hedef okunamadi');
      return;
    }
    forward(request, response);
  }, options);
  const servers = [data];

  if (adminPort !== undefined) {
    try {
      const admin = await startHttpServer(
        (request, response) => {
          if (!answerStatus(request, response)) response.writeHead(404).end();
        },
        { port: adminPort },
      );
      servers.push(admin);
    } catch (error) {
      await data.close();
      throw error;
    }
  }

  const probeNow = async (): Promise<void> => {
    if (!health) return;
    // All at once: one that hangs must not keep the others waiting.
    await Promise.all(
      replicas.map(async ({ name, port }) => {
        const ok = await isHealthy(port, health.timeoutMs, closing.signal);
        if (!closing.signal.aborted) tracker.record(name, ok);
      }),
    );
  };
  const timer =
    health && health.intervalMs > 0
      ? setInterval(() => void probeNow(), health.intervalMs)
      : undefined;

  const close = async ({ drain = false } = {}): Promise<void> => {
    draining = true;
    clearInterval(timer);
    closing.abort();
    await Promise.all(servers.map((server) => server.close({ drain })));
    agent.destroy(); // connections to the replicas that wait for another request
  };

  return {
    port: data.port,
    ...(servers[1] && { adminPort: servers[1].port }),
    status: (): BalancerStatus => ({ ...counters, up: tracker.up() }),
    probeNow,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * How long a failed replica keeps getting requests, if failures fall at any moment between two
 * rounds of probes.
 *
 * A replica that crashed refuses its next probe at once. One that hangs accepts it, and the verdict
 * is in only when the probe has timed out. Either way `fall` probes in a row have to fail.
 *
 * @param input.failure `crash` or `hang`
 * @param input.intervalMs milliseconds between two rounds, above 0
 * @param input.timeoutMs milliseconds that a probe may take, above 0, at most `intervalMs`
 * @param input.fall a whole number of 1 or more
 * @returns milliseconds: the mean over all moments, and the bound that no moment exceeds
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite
 * @example detectionWindow({ failure: 'crash', intervalMs: 1_000, timeoutMs: 300, fall: 1 })
 * // { expectedMs: 500, worstMs: 1_000 }
 */
export function detectionWindow(input: {
  failure: Failure;
  intervalMs: number;
  timeoutMs: number;
  fall: number;
}): { expectedMs: number; worstMs: number } {
  const { failure, intervalMs, timeoutMs, fall } = input;
  requireSchedule({ intervalMs, timeoutMs });
  requireCount({ fall }, 1);
  // The first probe that can fail starts within one interval, on average after half of it. Each
  // further one starts an interval later, and only the last one's own duration counts.
  const lastProbe = (fall - 1) * intervalMs + (failure === 'hang' ? timeoutMs : 0);
  return { expectedMs: intervalMs / 2 + lastProbe, worstMs: intervalMs + lastProbe };
}

/**
 * Runs a health check: a round of probes every `intervalMs`, the first one `intervalMs` after the
 * start, all replicas at once and those that are down too.
 *
 * A probe fails when it resolves with false, rejects, throws, or has not settled `timeoutMs` after
 * its start; what it says later counts for nothing. The verdicts are judged as `HealthTracker`
 * does it.
 *
 * @param options.replicas names, at least one, no two alike
 * @param options.probe asks one replica; may never settle
 * @param options.intervalMs milliseconds, above 0
 * @param options.timeoutMs milliseconds, above 0, at most `intervalMs`
 * @param options.fall failures in a row until down
 * @param options.rise successes in a row until up
 * @param options.clock the only source of time
 * @param options.onChange called with the replicas that are up, whenever that has changed
 * @throws {RangeError} whose message names the field that is wrong
 */
export function startProbing(options: {
  replicas: readonly string[];
  probe: Probe;
  intervalMs: number;
  timeoutMs: number;
  fall: number;
  rise: number;
  clock: Clock;
  onChange?: (up: string[]) => void;
}): Prober {
  const { replicas, probe, intervalMs, timeoutMs, fall, rise, clock, onChange } = options;
  requireSchedule({ intervalMs, timeoutMs });
  const tracker = new HealthTracker(replicas, { fall, rise });
  const timers = new Set<{ cancel(): void }>();
  let stopped = false;

  const after = (ms: number, run: () => void) => {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
    return timer;
  };

  const ask = (replica: string) => {
    let settled = false;
    // Whoever comes first decides: the answer or the deadline. The other finds the case closed.
    const settle = (ok: boolean) => {
      if (settled || stopped) return;
      settled = true;
      deadline.cancel();
      timers.delete(deadline);
      const before = tracker.up();
      tracker.record(replica, ok);
      const up = tracker.up();
      if (up.length !== before.length) onChange?.(up);
    };
    const deadline = after(timeoutMs, () => settle(false));
    // The async wrapper makes a probe that throws look like one that rejects.
    (async () => probe(replica))().then(settle, () => settle(false));
  };
  const round = () => {
    after(intervalMs, round);
    for (const replica of replicas) ask(replica);
  };
  after(intervalMs, round);

  return {
    up: () => tracker.up(),
    stop() {
      stopped = true;
      for (const timer of timers) timer.cancel();
    },
  };
}

const STATUS_PATH = '/yonet/durum';

/** Methods that a replica may be asked twice, RFC 9110 section 9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** Fields that are meant for the next hop only, RFC 9110 section 7.6.1. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fields that nobody can have taken away by naming them in `Connection`. */
const ALWAYS_PASSED = new Set(['host', 'content-length']);

/** The fields without those of this hop. Node has turned their names into lower case. */
function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set(
    (headers.connection ?? '').split(',').map((option) => option.trim().toLowerCase()),
  );
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => ALWAYS_PASSED.has(name) || !(HOP_BY_HOP.has(name) || named.has(name)),
    ),
  );
}

/** As `endToEnd`, and a body that came in chunks is framed again. */
function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = endToEnd(headers);
  // Node frames the body of a GET, HEAD or DELETE only if it is told to. Without a frame the
  // replica would read the body as the next request: request smuggling.
  if (headers['transfer-encoding']) passed['transfer-encoding'] = 'chunked';
  return passed;
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return Boolean(headers['transfer-encoding']) || Number(headers['content-length'] ?? 0) > 0;
}

function isTarget(target: string | undefined): boolean {
  try {
    new URL(target ?? '', 'http://x'); // URL.canParse is the shorter way; it is as old as Node 20
    return true;
  } catch {
    return false;
  }
}

/** One probe: whether `/saglik` answers 200 within `timeoutMs` ms. Never rejects. */
function isHealthy(port: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    // A connection of its own: one kept from before says nothing about who can connect now.
    const probe = httpRequest({ host: '127.0.0.1', port, path: '/saglik', agent: false, signal });
    const verdict = (ok: boolean) => {
      clearTimeout(deadline);
      resolve(ok);
      probe.destroy(); // the body is of no interest, and may never end
    };
    // Not the request's `timeout` option: that one starts anew with every byte that comes.
    const deadline = setTimeout(() => verdict(false), timeoutMs);
    probe.on('response', ({ statusCode }) => verdict(statusCode === 200));
    probe.on('error', () => verdict(false));
    probe.end();
  });
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity))
      throw new RangeError(`${name} is ${value}, wanted above 0`);
  }
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value < Infinity))
      throw new RangeError(`${name} is ${value}, wanted 0 or more`);
  }
}

function requireShare(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value <= 1))
      throw new RangeError(`${name} is ${value}, wanted above 0 to 1`);
  }
}

function requireCount(fields: Record<string, number>, least: number): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(`${name} is ${value}, wanted a whole number of ${least} or more`);
    }
  }
}

function requireSchedule({
  intervalMs,
  timeoutMs,
}: {
  intervalMs: number;
  timeoutMs: number;
}): void {
  requirePositive({ intervalMs, timeoutMs });
  if (timeoutMs > intervalMs) {
    throw new RangeError(`timeoutMs is ${timeoutMs}, wanted at most intervalMs, ${intervalMs}`);
  }
}

/** Relative size of the noise that a few operations on binary fractions leave behind. */
const SLACK = 1e-9;
const ceilWithSlack = (x: number) => Math.ceil(x - x * SLACK);
const floorWithSlack = (x: number) => Math.floor(x + x * SLACK);
