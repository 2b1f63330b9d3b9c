// What lesson 17 hands to the student: the words of the path, its configuration, and what a run of it
// counts.
import { T2_REGIONS } from '#fixtures/assumptions.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import type { PolicyKind, RoutingQuery } from '../01-dns-routing/routing.ts';
import { REFUSALS as TRACKING_REFUSALS } from '../12-routing-and-aggregation/given.ts';
import { CLIENTS, type ClientName, SHIPMENT } from '../14-backend-for-frontend/given.ts';
import type { ContractVersion } from '../15-ambassador-and-sidecar/given.ts';
import type { ShipmentRecord } from '../16-gatekeeper/given.ts';

/** Largest body that a client may declare, in bytes (lesson 16). */
export { BODY_LIMIT } from '../16-gatekeeper/given.ts';
/** Kinds of client: 0.60, 0.30 and 0.10 of the views (lesson 14). */
export type { ClientName };

/** A region, and the edge that stands in it. */
export type Region = (typeof T2_REGIONS)[number];

/** The regions, in the order in which the authority lists them. */
export const REGIONS: readonly Region[] = T2_REGIONS;

/** A gateway behind the load balancer. */
export type ReplicaName = 'k1' | 'k2' | 'k3';

/** The gateways, in the order of the rotation. */
export const REPLICAS: readonly ReplicaName[] = ['k1', 'k2', 'k3'];

/** A program of the path. */
export type UnitName =
  | Region
  | 'balancer'
  | ReplicaName
  | 'delivery'
  | 'pricing'
  | 'ambassador'
  | 'carrier';

/** The eleven units, from the client's end to the carrier's. */
export const UNITS: readonly UnitName[] = [
  ...REGIONS,
  'balancer',
  ...REPLICAS,
  'delivery',
  'pricing',
  'ambassador',
  'carrier',
];

/** Value of the header field `x-istemci`, by which a client says what it is. */
export const CLIENT_FIELD: Readonly<Record<ClientName, string>> = {
  mobile: 'mobil-kart',
  web: 'web-sayfasi',
  panel: 'satici-paneli',
};

/** Top-level fields of a shipment that each client shows, in its order (lesson 14). */
export const SHOWN_FIELDS = Object.fromEntries<readonly string[]>(
  CLIENTS.map(({ name, fields }) => [name, fields]),
) as Readonly<Record<ClientName, readonly string[]>>;

/** Cities of the route that delivery adds to what the ambassador says. */
export const ROUTE: readonly string[] = SHIPMENT.rota;

/** Keys that an edge's cache holds. No run needs so many, so none is ever given up. */
export const CACHE_CAPACITY = 1_000;

/** Rounds for which a resolver remembers an answer. A round is the capstone's step of time. */
export const TTL_ROUNDS = 6;

/**
 * Milliseconds that a probe may take, and so may the carrier. A stopped unit refuses at once, so no
 * number hangs on it; it is long, because a busy machine must not look like one.
 */
export const DEADLINE_MS = 10_000;

/** How a client's request can be wrong. */
export type Flaw = 'path' | 'schema' | 'size' | 'token' | 'unknown' | 'foreign';

/** Flaws that a request shows by itself. The other two only a record shows. */
export const SEEN_AT_THE_GATE: ReadonlySet<Flaw | null> = new Set([
  'path',
  'schema',
  'size',
  'token',
]);

/** What is answered to a request. */
export interface Expected {
  readonly status: number;
  readonly body: string;
}

/** The answer to each flaw, wherever on the path somebody notices it. */
export const REFUSALS: Readonly<Record<Flaw, Expected>> = {
  path: { status: 404, body: '{"hata":"yol"}' },
  schema: { status: 400, body: '{"hata":"sema"}' },
  size: { status: 413, body: '{"hata":"boyut"}' },
  token: { status: 401, body: '{"hata":"belirtec"}' },
  unknown: { status: 404, body: '{"hata":"bulunamadi"}' },
  foreign: { status: 403, body: '{"hata":"yetki"}' },
};

/** With 502: a unit could not be reached. */
export const UNREACHABLE_BODY = TRACKING_REFUSALS.unreachable;

/** What can be switched on the path. `FULL_PATH` has the defaults. */
export interface Switches {
  /** Whether the edges store answers; without it they pass everything through. */
  readonly cache: boolean;
  /** Whether the gateways refuse what they can; without it delivery has to. */
  readonly gate: boolean;
  /** A body for each kind of client; without it one combined body for everybody. */
  readonly bff: boolean;
  /** Whether the services answer for several tracking numbers at once. */
  readonly batch: boolean;
  /** Whether the panel gets its list without prices when pricing can't be reached. */
  readonly partialPanel: boolean;
  /** How the authority chooses a region (lesson 1). */
  readonly policy: PolicyKind;
  /** Rounds for which a resolver remembers an answer, 1 or more. */
  readonly ttlRounds: number;
  /** Contract that the ambassador speaks with the carrier (lesson 15). */
  readonly carrier: ContractVersion;
  /** Whether the balancer probes its replicas at the end of a round. */
  readonly health: boolean;
  /** Whether the authority probes the edges at the end of a round. */
  readonly nameHealth: boolean;
}

/** Every switch as the course recommends it. */
export const FULL_PATH: Switches = {
  cache: true,
  gate: true,
  bff: true,
  batch: true,
  partialPanel: false,
  policy: 'latency',
  ttlRounds: TTL_ROUNDS,
  carrier: 'v1',
  health: true,
  nameHealth: true,
};

/** The shipments, by tracking number. */
export type Records = ReadonlyMap<string, ShipmentRecord>;

/** What `startPath` is given: the switches, the world outside, and the taps. */
export interface PathConfig extends Switches {
  readonly records: Records;
  /** Starts the carrier. It speaks both contracts. */
  startCarrier(): Promise<RunningServer>;
  /** Starts the pricing service: `GET /ucret/<no>`, and `GET /ucret?no=<n1>,<n2>` with `batch`. */
  startPricing(): Promise<RunningServer>;
  /**
   * Puts a counting tap in front of a unit.
   *
   * @param port of the unit
   * @returns the tap's port: what the unit's neighbours get to know, instead of the unit's own
   */
  tap(unit: UnitName, port: number): Promise<number>;
  /**
   * How the balancer chooses, instead of its rotation: the replica for a request target.
   *
   * @param pool the replicas that are up, never empty
   */
  readonly place?: (target: string, pool: readonly string[]) => string;
}

/** A path that runs. */
export interface RunningPath {
  /** Port of the tap in front of an edge. */
  edgePort(region: Region): number;
  /** What the authority knows: whether the region's edge has failed its latest probe. */
  isMarkedDown(region: string): boolean;
  /** The health round: the balancer probes its replicas, and the authority the edges. */
  endOfRound(): Promise<void>;
  /** Stops a unit for good: closes its listener, cuts its connections, and waits. Twice is fine. */
  stop(unit: UnitName): Promise<void>;
  /** Stops everything that still runs. */
  close(): Promise<void>;
}

/** A request from a unit to a service. Names of header fields are in lower case. */
export interface ServiceRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** What a service answers, complete. A call that rejects has not reached it. */
export interface ServiceAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** What `createGateway` needs. */
export interface GatewayOptions extends Pick<Switches, 'gate' | 'bff' | 'batch' | 'partialPanel'> {
  /** Asks a service. Rejects when it can't be reached. */
  call(service: 'delivery' | 'pricing', request: ServiceRequest): Promise<ServiceAnswer>;
}

/** What `createDelivery` needs. */
export interface DeliveryOptions {
  readonly records: Records;
  /** Asks the ambassador for one shipment: `GET /durum/<no>`. Rejects when it can't be reached. */
  ask(trackingNo: string): Promise<ServiceAnswer>;
}

/** A request as an edge sees it. Names of header fields are in lower case. */
export interface EdgeRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What `startEdge` needs. */
export interface EdgeOptions {
  /** Port of the load balancer on 127.0.0.1. */
  readonly upstreamPort: number;
  /** Answers that the cache holds, a whole number of 1 or more. */
  readonly capacity: number;
  /** The cache key of a request; `null`: neither looked up nor stored. */
  key(request: EdgeRequest): string | null;
}

/** Who answers a resolver. An answer is a region, or the promise of one. */
export interface Authority<Answer> {
  answer(query: RoutingQuery): Answer;
}

/** What `createResolver` needs. */
export interface ResolverOptions<Answer> {
  readonly policy: Authority<Answer>;
  /** The client group that the resolver asks for. */
  readonly group: string;
  /** Rounds for which an answer is remembered, a whole number of 1 or more. */
  readonly ttlRounds: number;
  /** The resolver asks in the rounds r for which r + phase is a multiple of the TTL; 0 or more. */
  readonly phase: number;
}

/** A resolver with its memory. */
export interface Resolver<Answer> {
  /** The region for a round. Rounds are asked for in ascending order and without gaps. */
  region(round: number, isMarkedDown: (region: string) => boolean): Answer;
}

/** One request of a view, with the answer that a path without failures gives. */
export interface ViewRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly expected: Expected;
}

/** One look at one open page. */
export interface View {
  /** Number of the session, from 0. */
  readonly session: number;
  /** Number of the view in its session, from 0. */
  readonly view: number;
  readonly round: number;
  readonly client: ClientName;
  /** Client group, `g1` to `g4`. */
  readonly group: string;
  /** Tracking numbers that the page shows. */
  readonly numbers: readonly string[];
  /** What is wrong with it, if anything is. */
  readonly flaw: Flaw | null;
  /** One, or one for each number of a panel that has to ask for each. */
  readonly requests: readonly ViewRequest[];
}

/** What `predict` says about an undisturbed run. Requests, and bytes of bodies. */
export interface Prediction {
  /** Requests of the clients. */
  readonly client: number;
  /** Those that an edge answered from its cache. */
  readonly hits: number;
  /** Requests that the balancer answered; so with the units below. */
  readonly balancer: number;
  /** Refused by a gateway before a service was asked. */
  readonly held: number;
  readonly delivery: number;
  readonly pricing: number;
  /** delivery + pricing: the first of the three measures. */
  readonly application: number;
  readonly carrier: number;
  /** Bytes, edges to clients. */
  readonly bytesToClients: number;
  /** Bytes, balancer to edges. */
  readonly bytesFromOrigin: number;
}

/** What a run counted. */
export interface RunResult extends Prediction {
  readonly ambassador: number;
  /** Requests of the edges, by region. */
  readonly edges: Readonly<Record<Region, number>>;
  /** Requests of the gateways, by replica. */
  readonly replicas: Readonly<Record<ReplicaName, number>>;
  /** Answers that clients got, by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Bytes, services to gateways. */
  readonly serviceBytes: number;
  /** Bytes of request bodies that reached a service. */
  readonly inboundBodyBytes: number;
  /** Bytes, ambassador to delivery. */
  readonly ambassadorBytes: number;
  /** Bytes, carrier to ambassador. */
  readonly carrierBytes: number;
  /** Requests over all hops, the clients' included. */
  readonly hopRequests: number;
  /** Questions to the authority. */
  readonly nameQueries: number;
  /** Probes that were answered. */
  readonly probes: number;
  /** Units of lesson 1, summed up over the views. */
  readonly distance: number;
  /** Views whose every request got the status and body of an undisturbed run. */
  readonly answered: number;
  /** Views that got all but the prices. */
  readonly partial: number;
  /** Answers that said so, in `x-eksik`. */
  readonly markedPartial: number;
  /** Answered views from the first stop on. */
  readonly answeredAfter: number;
  /** Those of them that were valid. */
  readonly validAfter: number;
}

/** What the student builds for the path, as the runner uses it. */
export interface PathParts {
  startPath(config: PathConfig): Promise<RunningPath>;
  createResolver<Answer>(options: ResolverOptions<Answer>): Resolver<Answer>;
}
