// The responsibilities as running code, the servers that they are installed in, and the traffic.
import { openClient } from '#helpers/lesson/client.ts';
import {
  answerHere,
  FLOWS,
  type Flow,
  firstSegment,
  type GatewayOptions,
  type Middleware,
  type Service,
  startGateway,
  startService,
  type Unit,
} from '#helpers/lesson/gateway.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { GOOD_TOKEN, hasValidToken } from '#helpers/lesson/token.ts';
import { LINES, type Responsibility } from './given.ts';

/** What a system of gateway and services is built from. */
export interface Harness {
  /**
   * Installs a responsibility in a unit. Each call is one installation and is counted as such, so
   * call it once for a unit and a responsibility, and not once for a request.
   */
  middleware(unit: Unit, responsibility: Responsibility): Middleware;
  /** Starts the service of a flow. It runs the chain and answers 200. */
  startService(flow: Flow, chain: readonly Middleware[]): Promise<RunningServer>;
  /** Starts the reference gateway. Its contract is that of exercise 11.4. */
  startGateway(options: GatewayOptions): Promise<RunningServer>;
}

/** Three services that run, and the gateway in front of them if there is one. */
export interface System {
  /** The TCP port on 127.0.0.1 that a client has to know for this flow. */
  addressOf(flow: Flow): number;
  /** The TCP port of the flow's service itself. */
  servicePort(flow: Flow): number;
  /** Stops the gateway; without one it does nothing. */
  stopGateway(): Promise<void>;
  /** Stops one service. */
  stopService(flow: Flow): Promise<void>;
  /** Stops everything that still runs. */
  close(): Promise<void>;
}

/** A harness that counts. Disposing it closes whatever still runs. */
export interface CountingHarness extends Harness, AsyncDisposable {
  /** All installations so far, in the order of the calls. */
  readonly installations: readonly {
    readonly unit: Unit;
    readonly responsibility: Responsibility;
  }[];
  /** Lines installed at the gateway and in the services together. */
  lines(): { gateway: number; services: number };
  /** How many requests a responsibility has looked at in a unit; `undefined` if it isn't there. */
  runs(unit: Unit, responsibility: Responsibility): number | undefined;
  /** Requests that have come to the service of a flow. */
  requests(flow: Flow): number;
  /** What `log` has written. */
  readonly log: readonly string[];
}

/** Opens a harness. `rateLimit` is how many requests each installation of `rate` lets pass. */
export function openHarness({ rateLimit = 1_000 } = {}): CountingHarness {
  const installations: { unit: Unit; responsibility: Responsibility }[] = [];
  const runs = new Map<string, number>();
  const services = new Map<Flow, Service>();
  const running: RunningServer[] = [];
  const log: string[] = [];

  const implementation = (unit: Unit, responsibility: Responsibility): Middleware => {
    switch (responsibility) {
      case 'route':
        return (request, response) => {
          if ((FLOWS as readonly string[]).includes(firstSegment(request))) return true;
          answerHere(request, response, 404, { hata: 'bulunamadi' });
          return false;
        };
      case 'token':
        return (request, response) => {
          if (hasValidToken(request.headers.authorization)) return true;
          answerHere(request, response, 401);
          return false;
        };
      case 'rate': {
        let left = rateLimit;
        return (request, response) => {
          left -= 1;
          if (left >= 0) return true;
          answerHere(request, response, 429);
          return false;
        };
      }
      case 'log':
        return ({ method, url }) => {
          log.push(`${unit}: ${method} ${url}`);
          return true;
        };
      case 'format':
        // An old name of a header becomes the new one. Whatever reads or rewrites bodies doesn't
        // belong to the responsibilities that can be done on metadata.
        return ({ headers }) => {
          if (headers['x-sube'] !== undefined) headers['x-branch'] = headers['x-sube'];
          delete headers['x-sube'];
          return true;
        };
    }
  };

  const key = (unit: Unit, responsibility: Responsibility) => `${unit} ${responsibility}`;
  const kept = <T extends RunningServer>(server: T): T => {
    running.push(server);
    return server;
  };

  return {
    installations,
    log,
    middleware(unit, responsibility) {
      const run = implementation(unit, responsibility);
      const name = key(unit, responsibility);
      installations.push({ unit, responsibility });
      runs.set(name, runs.get(name) ?? 0);
      return (request, response) => {
        runs.set(name, (runs.get(name) ?? 0) + 1);
        return run(request, response);
      };
    },
    async startService(flow, chain) {
      const service = kept(await startService(flow, chain));
      services.set(flow, service);
      return service;
    },
    startGateway: async (options) => kept(await startGateway(options)),
    lines() {
      const lines = { gateway: 0, services: 0 };
      for (const { unit, responsibility } of installations) {
        lines[unit === 'gateway' ? 'gateway' : 'services'] += LINES[responsibility];
      }
      return lines;
    },
    runs: (unit, responsibility) => runs.get(key(unit, responsibility)),
    requests: (flow) => services.get(flow)?.requests ?? 0,
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((server) => server.close()));
    },
  };
}

/** One request as a client sends it. */
export interface FlowRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** What a client asks of each flow. */
export const REQUESTS: Readonly<Record<Flow, FlowRequest>> = {
  takip: { method: 'GET', path: '/takip/TR-4821' },
  olay: { method: 'POST', path: '/olay', body: '{}' },
  ucret: { method: 'GET', path: '/ucret/TR-4821' },
};

/** 30 tracking queries and 7 status events: what comes at the peak within 36/500 s, 72 ms. */
export const TRACE: readonly Flow[] = [
  ...Array<Flow>(30).fill('takip'),
  ...Array<Flow>(7).fill('olay'),
];

/** What a count on the trace is as a rate per second. */
export function perSecond(count: number): number {
  return (count * 500) / 36;
}

/** Answer to one request of a client. */
export interface FlowAnswer {
  readonly status: number;
  /** Components that the request has touched, by the header `x-hops`. */
  readonly hops: number;
}

/** Sends the trace with the good token, one request after the other. */
export async function sendTrace(addressOf: (flow: Flow) => number): Promise<FlowAnswer[]> {
  using takip = openClient(addressOf('takip'));
  using olay = openClient(addressOf('olay'));
  const answers: FlowAnswer[] = [];
  for (const flow of TRACE) {
    const { path, ...ask } = REQUESTS[flow];
    const client = flow === 'takip' ? takip : olay;
    const headers = { authorization: `Bearer ${GOOD_TOKEN}` };
    const { status, headers: answered } = await client.send(path, { ...ask, headers });
    answers.push({ status, hops: Number(answered['x-hops']) });
  }
  return answers;
}

/** How a connection ends that a stopped server has refused, or has reset. Both are no answer. */
const NO_ANSWER = new Set<unknown>(['ECONNREFUSED', 'ECONNRESET']);

/**
 * The status that each flow is answered with, over a new connection; `undefined` where there is no
 * answer.
 */
export async function statuses(
  addressOf: (flow: Flow) => number,
  token: string = GOOD_TOKEN,
): Promise<(number | undefined)[]> {
  const found: (number | undefined)[] = [];
  for (const flow of FLOWS) {
    using client = openClient(addressOf(flow));
    const { path, ...ask } = REQUESTS[flow];
    try {
      const headers = { authorization: `Bearer ${token}` };
      found.push((await client.send(path, { ...ask, headers })).status);
    } catch (error) {
      if (!NO_ANSWER.has((error as NodeJS.ErrnoException).code)) throw error;
      found.push(undefined);
    }
  }
  return found;
}

/** How many of the flows are answered: with a status below 500. */
export function countAnswered(statuses: readonly (number | undefined)[]): number {
  return statuses.filter((status) => status !== undefined && status < 500).length;
}
