// What lesson 12 hands to the student: the numbers it starts from, the wire's fixed texts, and types.

/** The published inputs of this lesson that are its own; the others are K01's. */
export const PUBLISHED = {
  /** Share of the views that want the price, 0 to 1: the page shows both on one screen. */
  priceShare: 1,
  /** The same, if only some views want it. */
  lowPriceShare: 0.4,
  /** TCP ports of the published run. No number depends on them. */
  ports: { durum: 8_471, ucret: 8_472, gateway: 8_473 },
} as const;

/** The fields that a price contributes to the combined answer, in their order. */
export const PRICE_FIELDS = ['tarife', 'indirim', 'net', 'sozlesmeNo'] as const;

/** Bodies of the answers that carry no part. */
export const REFUSALS = {
  /** With 404. */
  notFound: '{"hata":"bulunamadi"}',
  /** With 502. */
  unreachable: '{"hata":"ulasilamadi"}',
  /** With 504. */
  timeout: '{"hata":"zaman-asimi"}',
} as const;

/** What the gateway knows about one part once a service has been asked for it. */
export type Part =
  /** The service has it. */
  | { state: 'found'; body: object }
  /** The service says that it doesn't exist. */
  | { state: 'absent' }
  /** Nobody knows. */
  | { state: 'failed'; reason: 'unreachable' | 'timeout' };

/** A part, and the bytes that came for it. */
export interface FetchedPart {
  part: Part;
  /** Bytes of the body, of whatever status; 0 if it was not complete. */
  bodyBytes: number;
}

/** The ways to answer when the price is missing. */
export const CONTRACTS = ['null', 'fail', 'report'] as const;

/** What the gateway promises for a missing price: a hole, a failure, or a report. */
export type MissingPartContract = (typeof CONTRACTS)[number];

/** What a request is about. */
export type RoutePlan =
  | { kind: 'route'; service: string; trackingNo: string }
  | { kind: 'aggregate'; trackingNo: string }
  | { kind: 'notFound' };

/** An answer before it is sent. */
export interface PlannedAnswer {
  status: number;
  /** JSON text. */
  body: string;
}

/** What the gateway counts between itself and the services, with the names that `/sayac` has. */
export interface GatewayCounters {
  /** Service calls that were started. */
  istek: number;
  /** Bytes of the service bodies that came in completely, 404 bodies included. */
  bayt: number;
  /** Rounds: tracking requests of clients that were routed or aggregated. */
  tur: number;
  /** The most service calls that were open at the same moment. */
  peakInFlight: number;
}

/** What a listener needs. */
export interface TrackingListenerOptions {
  /** Path segment to TCP port on 127.0.0.1. */
  readonly serviceMap: ReadonlyMap<string, number>;
  readonly contract: MissingPartContract;
  /** Asks a service, which is a key of the map, for one part. */
  call(service: string, trackingNo: string): Promise<FetchedPart>;
}

/** What a gateway needs. */
export interface TrackingGatewayOptions {
  /** Path segment to TCP port on 127.0.0.1. */
  readonly serviceMap: ReadonlyMap<string, number>;
  readonly contract: MissingPartContract;
  /** Milliseconds that a service may take for its complete answer. */
  readonly timeoutMs: number;
}

/** What arrives at the edge, and what leaves it. Nothing is rounded. */
export interface EdgeLoad {
  requestsPerSecond: number;
  /** Mean body of one request, bytes. */
  bytesPerRequest: number;
  /** Egress, bodies only: Mbit/s of 10^6 bits. */
  megabitPerSecond: number;
}
