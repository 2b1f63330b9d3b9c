import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '#helpers/lesson/manual-clock.ts';
import type {
  Balancer,
  BalancerOptions,
  CapacityPlan,
  Failure,
  Probe,
  Prober,
  ReplicaAddress,
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
  return { perFailure, perMonth, availability: Math.max(0, 1 - perMonth / (dailyRequests * 30)) };
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
 * Starts a load balancer on 127.0.0.1 in front of identical replicas.
 *
 * Every request takes the next step of one rotation, which indexes the replicas that are up at that
 * moment, in configured order; method, target, header fields and body are passed on, and so is the
 * answer, both as streams. `/yonet/durum`, whatever the method, answers the status as JSON: how many
 * attempts found nobody (`ulasilamayan`), and the ports of the replicas that are up (`ayakta`).
 * Nobody up: 503 with the body `havuz bos` and `retry-after: 1`. The replica cannot be reached: 502
 * with the body `kopyaya ulasilamadi`.
 *
 * With a health check, a round of probes, one GET `/saglik` to each replica at the same time, runs
 * every `intervalMs`, the first one `intervalMs` after the start. Status 200 within `timeoutMs` is a
 * success, and `HealthTracker` judges. What happens to users' requests changes nobody's state.
 *
 * Exercise 5.6: fields that belong to one connection do not cross it, in neither direction (RFC 9110,
 * section 7.6.1), and a body stays framed. A target that `new URL(target, 'http://x')` rejects is
 * answered with 400, and nothing else moves. With `adminPort` the status is served there alone.
 *
 * Exercise 5.7: a client that leaves takes its upstream request with it (`clientAborted`). A replica
 * that breaks off before its headers is a 502 (`unreachable`), after them it cuts the client's
 * connection (`upstreamReset`); one that has sent no headers within `headerTimeoutMs` is a 504
 * (`upstreamTimeout`). A failed attempt or an aborted request moves exactly one of the four.
 *
 * Exercise 5.8: with `retry`, an attempt that failed before any header is repeated on another
 * replica, each replica at most once for a request, never after a time-out. Where the connection was
 * refused that is so for every request; where something may have been sent, only for GET, HEAD,
 * OPTIONS, TRACE, PUT and DELETE without a body (RFC 9110, section 9.2.2). All tried: 502.
 *
 * @throws {RangeError} as a rejection, before anything listens, when `replicas` is empty or has a
 *   name twice, or `fall` or `rise` is not a whole number of 1 or more
 */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { replicas, health, retry = false, headerTimeoutMs } = options;
  // Without a health check nobody ever records a verdict, so everybody stays up.
  const tracker = new HealthTracker(
    replicas.map(({ name }) => name),
    health || { fall: 1, rise: 1 },
  );
  const counts = {
    unreachable: 0,
    clientAborted: 0,
    upstreamReset: 0,
    upstreamTimeout: 0,
    attempts: 0,
  };
  const agent = new Agent({ keepAlive: true });
  let rotation = 0;
  let closed = false;

  const pool = (): ReplicaAddress[] => {
    const up = new Set(tracker.up());
    return replicas.filter(({ name }) => up.has(name));
  };

  const answerStatus = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ ulasilamayan: counts.unreachable, ayakta: pool().map(({ port }) => port) }),
    );
  };

  /** Takes steps of the rotation until it comes to a replica that this request has not tried. */
  const choose = (candidates: ReplicaAddress[], tried: Set<string>): ReplicaAddress | undefined => {
    if (candidates.every(({ name }) => tried.has(name))) return undefined;
    for (;;) {
      const replica = candidates[rotation % candidates.length];
      rotation += 1;
      if (replica && !tried.has(replica.name)) return replica;
    }
  };

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const tried = new Set<string>();
    let outgoing: ClientRequest | undefined;
    let over = false;

    /** Notes how the request ended, once. Says whether it was this call that ended it. */
    const end = (counter?: keyof typeof counts): boolean => {
      if (over) return false;
      over = true;
      if (counter) counts[counter] += 1;
      return true;
    };
    const answer = (status: number, body: string, headers: OutgoingHttpHeaders = {}): void => {
      response.writeHead(status, headers).end(body);
    };

    const attempt = (): void => {
      const replica = choose(pool(), tried);
      if (!replica) {
        if (!end()) return;
        if (tried.size > 0) answer(502, 'kopyaya ulasilamadi');
        else answer(503, 'havuz bos', { 'retry-after': '1' });
        return;
      }
      tried.add(replica.name);
      counts.attempts += 1;

      let bodyStarted = false;
      let answered = false;
      const current = httpRequest({
        host: '127.0.0.1',
        port: replica.port,
        method: request.method,
        path: request.url,
        headers: forRequest(request),
        agent,
      });
      outgoing = current;
      const deadline =
        headerTimeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              if (!end('upstreamTimeout')) return;
              current.destroy();
              answer(504, 'kopya zamaninda yanitlamadi');
            }, headerTimeoutMs);

      current.on('socket', (socket) => {
        // Before the connection stands nothing has left: that is what makes a refusal repeatable.
        const send = () => {
          bodyStarted = true;
          request.pipe(current);
        };
        if (socket.connecting) socket.once('connect', send);
        else send();
      });
      current.on('response', (incoming) => {
        answered = true;
        clearTimeout(deadline);
        incoming.on('error', () => {
          // An end that looks clean would pass a truncated answer off as a whole one.
          if (end('upstreamReset')) response.destroy();
        });
        response.writeHead(
          incoming.statusCode ?? 502,
          incoming.statusMessage,
          endToEnd(incoming.rawHeaders),
        );
        // The headers leave at once. A body may be a long time coming.
        response.flushHeaders();
        incoming.pipe(response);
      });
      current.on('error', () => {
        clearTimeout(deadline);
        if (over || answered) return;
        request.unpipe(current);
        counts.unreachable += 1;
        if (retry && (!bodyStarted || isRepeatable(request))) attempt();
        else if (end()) answer(502, 'kopyaya ulasilamadi');
      });
      current.on('close', () => clearTimeout(deadline));
    };

    // A client that breaks off its upload is noticed by the close below; unheard, it would throw.
    request.on('error', () => {});
    response.on('close', () => {
      if (response.writableFinished) end();
      else if (end('clientAborted')) outgoing?.destroy();
    });
    attempt();
  };

  const server = createServer((request, response) => {
    const target = request.url ?? '/';
    if (options.adminPort === undefined && target === '/yonet/durum') answerStatus(response);
    else if (!URL.canParse(target, 'http://x')) response.writeHead(400).end();
    else forward(request, response);
    // While draining, a connection that has just become idle has nothing left to wait for.
    response.on('close', () => {
      if (closed) setImmediate(() => server.closeIdleConnections());
    });
  });
  const admin = createServer((request, response) => {
    if (request.url === '/yonet/durum') answerStatus(response);
    else response.writeHead(404).end();
  });

  const probes = new Set<ClientRequest>();
  const probe = (replica: ReplicaAddress, timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      // A connection of its own: what is asked is whether the replica accepts one.
      const asked = httpRequest({
        host: '127.0.0.1',
        port: replica.port,
        path: '/saglik',
        agent: false,
      });
      probes.add(asked);
      const deadline = setTimeout(() => asked.destroy(), timeoutMs);
      asked.on('response', (incoming) => {
        incoming.on('error', () => {});
        incoming.resume();
        resolve(incoming.statusCode === 200);
      });
      asked.on('error', () => {});
      asked.on('close', () => {
        clearTimeout(deadline);
        probes.delete(asked);
        resolve(false); // changes nothing if a response has come
      });
      asked.end();
    });
  const probeNow = async (): Promise<void> => {
    if (!health) return;
    await Promise.all(
      replicas.map(async (replica) => {
        const ok = await probe(replica, health.timeoutMs);
        if (!closed) tracker.record(replica.name, ok);
      }),
    );
  };

  const port = await listen(server, options.port ?? 0);
  const adminPort =
    options.adminPort === undefined ? undefined : await listen(admin, options.adminPort);
  const timer =
    health && health.intervalMs > 0
      ? setInterval(() => void probeNow(), health.intervalMs)
      : undefined;

  const close = async ({ drain = false } = {}): Promise<void> => {
    closed = true;
    clearInterval(timer);
    for (const asked of probes) asked.destroy();
    const stopped = [server, admin]
      .filter(({ listening }) => listening)
      .map((running) => new Promise((resolve) => running.close(resolve)));
    for (const running of [server, admin]) {
      if (drain) running.closeIdleConnections();
      else running.closeAllConnections();
    }
    await Promise.all(stopped);
    agent.destroy();
  };

  return {
    port,
    ...(adminPort !== undefined && { adminPort }),
    status: () => ({ ...counts, up: tracker.up() }),
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

/** Fields that belong to one connection (RFC 9110, section 7.6.1). `Connection` can name more. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/**
 * The fields that may cross the balancer, as the flat list of names and values that Node reads and
 * writes: a record would fold fields that come more than once.
 */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const fields: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    fields.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  }
  const named = fields
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((option) => option.trim().toLowerCase()));
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return fields.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function forRequest(request: IncomingMessage): string[] {
  const headers = endToEnd(request.rawHeaders);
  // The framing went with the hop. Without a new one Node would write the body of a GET or DELETE
  // behind the request as it is, and the replica would take it for the next request.
  if (request.headers['transfer-encoding']) headers.push('transfer-encoding', 'chunked');
  return headers;
}

/** Whether a request that may have been sent can be sent again (RFC 9110, section 9.2.2). */
function isRepeatable({ method = '', headers }: IncomingMessage): boolean {
  const idempotent = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'].includes(method);
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
  // A body that was streamed away can't be replayed.
  return idempotent && !hasBody;
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
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
