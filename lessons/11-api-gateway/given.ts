// The model of the lesson: what has to be done at the edge, how long it is, and where it may stand.
import { K01 } from '#fixtures/assumptions.ts';

/** One of the five jobs that are done on every request before an application sees it. */
export type Responsibility = 'route' | 'token' | 'rate' | 'log' | 'format';

/** Lines of one implementation of each. Invented: only their order of magnitude is meant. */
export const LINES: Readonly<Record<Responsibility, number>> = {
  route: 7,
  token: 12,
  rate: 9,
  log: 6,
  format: 11,
};

/** In the order in which the course lists them. */
export const RESPONSIBILITIES = Object.keys(LINES) as Responsibility[];

/** Where each responsibility is implemented. It may be in both lists. */
export interface Placement<R extends string = string> {
  /** In the gateway. If the list is empty there is no gateway. */
  readonly gateway: readonly R[];
  /** In every service. */
  readonly services: readonly R[];
}

/** The three placements that the lesson compares. */
export const PLACEMENTS = {
  everyService: { gateway: [], services: RESPONSIBILITIES },
  gateway: { gateway: RESPONSIBILITIES, services: [] },
  mixed: { gateway: ['route', 'rate', 'log', 'token'], services: ['token', 'format'] },
} as const satisfies Record<string, Placement<Responsibility>>;

export type PlacementName = keyof typeof PLACEMENTS;

/** What a placement costs and what it gives. */
export interface PlacementMeasures {
  /** Addresses that a client has to know. */
  addresses: number;
  /** Lines at the gateway. */
  edgeLines: number;
  /** Lines in the services, counted once for each service. */
  serviceLines: number;
  /** Components that carry one responsibility, mean over all responsibilities; not rounded. */
  unitsPerResponsibility: number;
  /** Components that one request touches. */
  hops: number;
  /** Services that are reached through the gateway. */
  flowsThroughGateway: number;
  /** Services that a client still reaches once the gateway has stopped. */
  flowsWhenGatewayStopped: number;
}

/** What the components carry at the edge. */
export interface EdgeLoad {
  /** The component that carries most, `gateway` or the name of a service. */
  busiest: string;
  /** req/s that it carries. */
  ratePerSecond: number;
  /** That rate over the rate of the busiest service; 1 where nothing is carried at all. */
  ratioToBusiestService: number;
  /** Requests per second times the components that each of them touches. */
  hopRequestsPerSecond: number;
}

/** A placement that may be chosen. */
export interface Candidate {
  readonly name: string;
  readonly placement: Placement;
}

/** What a placement has to meet. Limits are inclusive; one that is left out restricts nothing. */
export interface Requirements {
  readonly maxHops?: number;
  readonly maxUnitsPerResponsibility?: number;
  readonly minFlowsWhenGatewayStopped?: number;
  /** Responsibilities that have to hold for a request that comes around the gateway as well. */
  readonly enforcedWhenBypassed?: readonly string[];
}

/** What tracking queries and status events bring at the peak, in req/s. */
export const PEAK_FLOWS = [
  { service: 'takip', ratePerSecond: K01.peakReads },
  { service: 'olay', ratePerSecond: K01.peakWrites },
] as const;

/** Lesson 10, quoted: req/s that one replica carries, and the imbalance of bound sessions. */
export const STICKY = { safeRate: 200, imbalance: 1.173 } as const;

/** Components on the way of each flow, before there was a gateway. */
export const FLOW_PATHS: Readonly<Record<string, readonly string[]>> = {
  takip: ['tracking service', 'store'],
  olay: ['event service', 'store'],
  ucret: ['fee service', 'store'],
};

/** The components that every one of the flows touches. */
export function onEveryFlow(paths: Readonly<Record<string, readonly string[]>>): string[] {
  const [first = [], ...others] = Object.values(paths);
  return first.filter((component) => others.every((path) => path.includes(component)));
}
