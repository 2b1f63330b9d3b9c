import type { ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import { REFUSALS } from './given.ts';

/** Name of a domain service: its segment in the gateway's paths. */
export type ServiceName = 'durum' | 'ucret';

/**
 * What a domain service does with a request.
 * - `answers`: what its records say.
 * - `never answers`: takes the request, and that is all.
 * - `stalls`: falls silent in the middle of its body.
 * - `trickles`: sends one byte after another, without end.
 * - `breaks off`: cuts the connection in the middle of its body.
 * - `hangs up`: cuts the connection without a word.
 * - a status and a body: answers with them.
 */
export type Behaviour =
  | 'answers'
  | 'never answers'
  | 'stalls'
  | 'trickles'
  | 'breaks off'
  | 'hangs up'
  | { readonly status: number; readonly body: string };

/** A message that a domain service got or gave. */
export interface ServiceMessage {
  readonly service: ServiceName;
  readonly kind: 'asked' | 'answered';
  /** The request target, or the status of the answer. */
  readonly text: string;
  /** Bytes of the body. */
  readonly bytes: number;
}

/** A domain service that is running. */
export interface DomainService extends HttpServer {
  /** Tracking number to record. The order of a record's keys is that of the body. */
  readonly records: Map<string, object>;
  /** May be changed at any time; holds for the requests that come after. */
  behaviour: Behaviour;
  /** Targets of all requests so far, as they came. */
  readonly asked: readonly string[];
  /** Requests whose connection is over, one way or the other. */
  readonly ended: number;
}

/** The two domain services. */
export interface DomainServices extends AsyncDisposable {
  /** Delivery operations (_teslimat-op_), on `/durum/<no>`. */
  readonly durum: DomainService;
  /** Pricing (_ücretlendirme_), on `/ucret/<no>`. */
  readonly ucret: DomainService;
  /** What a gateway is told: path segment to port. */
  readonly serviceMap: ReadonlyMap<string, number>;
  /** Hears of each message, in the order in which they happen. */
  onMessage: (message: ServiceMessage) => void;
}

/** How the domain services are started. */
export interface DomainServicesOptions {
  /**
   * Barrier mode: neither service answers before both have been asked. One that has waited this many
   * milliseconds for the other gives up and answers 503.
   */
  readonly barrierLimitMs?: number;
}

/** Records of the delivery service. */
export const STATUS_RECORDS: Readonly<Record<string, object>> = {
  'TR-4821': {
    durum: 'dagitimda',
    bolge: '35',
    guncellenme: '2026-03-11T08:24:00Z',
    rota: ['34', '41', '35'], // the last three steps
  },
  'TR-9007': {
    durum: 'kabul',
    bolge: '34',
    guncellenme: '2026-03-11T07:02:00Z',
    rota: ['34'],
  },
};

/** Records of the pricing service. It has none for TR-9007. */
export const PRICE_RECORDS: Readonly<Record<string, object>> = {
  'TR-4821': { tarife: 9_600, indirim: 1_440, net: 8_160, sozlesmeNo: 'S7' },
};

/**
 * Starts the two domain services. `GET /<service>/<no>` is answered with 200 and `takipNo` followed by
 * the record, or with 404 and `{"hata":"bulunamadi"}`.
 */
export async function startDomainServices(
  options: DomainServicesOptions = {},
): Promise<DomainServices> {
  const { barrierLimitMs } = options;
  const barrier = barrierLimitMs === undefined ? undefined : createBarrier(barrierLimitMs);
  const tell = (message: ServiceMessage) => services.onMessage(message);
  const durum = await startDomainService('durum', STATUS_RECORDS, tell, barrier);
  const ucret = await startDomainService('ucret', PRICE_RECORDS, tell, barrier);
  const services: DomainServices = {
    durum,
    ucret,
    serviceMap: new Map([
      ['durum', durum.port],
      ['ucret', ucret.port],
    ]),
    onMessage: () => {},
    async [Symbol.asyncDispose]() {
      barrier?.open();
      await Promise.all([durum.close(), ucret.close()]);
    },
  };
  return services;
}

async function startDomainService(
  service: ServiceName,
  records: Readonly<Record<string, object>>,
  tell: (message: ServiceMessage) => void,
  barrier: Barrier | undefined,
): Promise<DomainService> {
  const asked: string[] = [];
  let ended = 0;
  // A Map: strangers choose the numbers, and every plain object has a "constructor".
  const known = new Map(Object.entries(records));

  const server = await startHttpServer(async (request, response) => {
    const { behaviour } = domainService;
    const target = request.url ?? '';
    asked.push(target);
    tell({ service, kind: 'asked', text: target, bytes: 0 });
    response.on('close', () => {
      ended += 1;
    });
    if (barrier && !(await barrier.bothAsked(service))) {
      response.writeHead(503).end();
      return;
    }
    if (typeof behaviour === 'object') {
      response.writeHead(behaviour.status).end(behaviour.body);
      return;
    }
    const trackingNo = lastSegment(target);
    const record = known.get(trackingNo);
    const status = record ? 200 : 404;
    const body = record ? JSON.stringify({ takipNo: trackingNo, ...record }) : REFUSALS.notFound;
    const bytes = Buffer.byteLength(body);
    response.writeHead(status, { 'content-type': 'application/json' });
    if (behaviour !== 'answers') {
      misbehave(behaviour, response, body);
      return;
    }
    tell({ service, kind: 'answered', text: String(status), bytes });
    response.end(body);
  });

  const domainService: DomainService = Object.defineProperties(server, {
    records: { value: known },
    behaviour: { value: 'answers', writable: true },
    asked: { value: asked },
    ended: { get: () => ended },
  }) as DomainService;
  return domainService;
}

/** Decoded if that is possible: no target may end the service. */
function lastSegment(target: string): string {
  const segment = target.slice(target.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function misbehave(behaviour: Behaviour, response: ServerResponse, body: string): void {
  const half = body.slice(0, body.length / 2);
  if (behaviour === 'stalls') response.write(half);
  if (behaviour === 'breaks off') response.write(half, () => response.destroy());
  if (behaviour === 'hangs up') response.destroy();
  if (behaviour === 'trickles') {
    const drip = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(drip));
  }
}

interface Barrier {
  /** Resolves with true once the other service is asked too, with false at the limit. */
  bothAsked(service: ServiceName): Promise<boolean>;
  /** Lets all go. */
  open(): void;
}

function createBarrier(limitMs: number): Barrier {
  const waiting: { service: ServiceName; go(both: boolean): void }[] = [];
  return {
    bothAsked: (service) =>
      new Promise((resolve) => {
        const other = waiting.findIndex((one) => one.service !== service);
        if (other >= 0) {
          waiting.splice(other, 1)[0]?.go(true);
          resolve(true);
          return;
        }
        const limit = setTimeout(() => me.go(false), limitMs);
        const me = {
          service,
          go(both: boolean) {
            clearTimeout(limit);
            if (waiting.includes(me)) waiting.splice(waiting.indexOf(me), 1);
            resolve(both);
          },
        };
        waiting.push(me);
      }),
    open() {
      for (const one of [...waiting]) one.go(false);
    },
  };
}
