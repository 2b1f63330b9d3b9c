// What lesson 3 hands to the student: types and the published inputs.
import {
  K01,
  SECONDS_PER_DAY,
  T1_TTL_SECONDS,
  T6_DAYS_ON_THE_WAY,
  T10_EDGES,
  T11_COMMON_OBJECTS,
  T12_PRIVATE_REQUESTING_EDGES,
  T14_PAGE_LOADS_PER_USER_PER_DAY,
} from '#fixtures/assumptions.ts';

/** How content gets to an edge: fetched on its first miss, or sent before anybody asks. */
export type Model = 'push' | 'pull';

/** A kind of content that is decided about as one. */
export interface ContentClass {
  /** Such as `common`. */
  readonly name: string;
  readonly objects: number;
  /** At how many of the edges each of the objects is requested. */
  readonly requestingEdges: number;
}

/** What it takes to get the objects of a class to the edges, once. */
export interface DistributionCost {
  /** Requests from edges to the origin, if the class is pulled. */
  pullRequests: number;
  /** Copies that are sent, if it is pushed. */
  pushCopies: number;
  /** Pushed copies that nobody ever asks for. */
  wastedCopies: number;
  /** Wasted copies over pushed copies, 0 to 1. */
  wastedShare: number;
}

/** How each of the two classes travels. */
export type DistributionPlan = Readonly<Record<'common' | 'private', Model>>;

/** The three plans that the lesson compares. */
export const PLANS = {
  pull: { common: 'pull', private: 'pull' },
  push: { common: 'push', private: 'push' },
  hybrid: { common: 'push', private: 'pull' },
} as const satisfies Record<string, DistributionPlan>;

/** What is simulated. */
export interface DistributionOptions {
  readonly edges: number;
  /** turns that an edge serves a pulled copy before it fetches it again. */
  readonly ttl: number;
  /** How many turns are simulated, counted from 1. */
  readonly turns: number;
  /** turn in which one common object changes. */
  readonly updateTurn: number;
  /** turns between the expiry of one edge and that of the next, all within one TTL. */
  readonly phaseStride: number;
  /** The classes `common` and `private`, in any order. */
  readonly classes: readonly ContentClass[];
}

/** What a simulated run counted. */
export interface DistributionRun {
  /** Requests from the edges to the origin. */
  originRequests: number;
  /** Copies that were sent before any request, without those of the update. */
  pushedObjects: number;
  /** Those of the pushed copies that nobody asks for. */
  wastedCopies: number;
  /** edge turns: one edge that serves the old version in one turn counts 1. */
  staleTurns: number;
  /** The same for each edge, in their order. */
  staleTurnsPerEdge: number[];
  /** Transfers from the origin's side: pulled answers, pushed copies and update pushes. */
  messages: number;
}

/** The numbers of the introductory course that this lesson is measured against. */
export interface Baseline {
  /** reads/s in the busiest hour. */
  readonly peakReads: number;
  /** writes/s in the busiest hour. */
  readonly peakWrites: number;
  /** Status events in a day. */
  readonly eventsPerDay: number;
  /** bytes in the body of a tracking answer. */
  readonly bodyBytes: number;
  /** Mbit/s of status events that arrive. */
  readonly writeIngressMbit: number;
  /** Mbit/s of tracking answers that leave. */
  readonly readEgressMbit: number;
}

/** What a run means at the size of the baseline. Nothing is rounded; M is 10^6 and G is 10^9. */
export interface BackToBaseline {
  /** origin requests/s when everything is pulled. */
  originRatePull: number;
  /** origin requests/s under the hybrid. */
  originRateHybrid: number;
  /** pushes/s in the busiest hour, when private answers are pushed. */
  peakPushesPerSecond: number;
  pushesPerDay: number;
  /** Mbit/s of those pushes, bodies only. */
  pushMbit: number;
  /** Push bandwidth over that of the arriving status events. */
  pushOverWriteIngress: number;
  /** Push bandwidth over that of the leaving answers. */
  pushOverReadEgress: number;
  /** MB on one edge that holds the answers of all active shipments. */
  edgeMegabytes: number;
  /** GB of the same on all edges. */
  allEdgesGigabytes: number;
  /** MB of the private answers that are held somewhere when they are pulled. */
  pullMegabytes: number;
  /** Storage under push over storage under pull. */
  storageRatio: number;
  /** reads/s that one edge gets. */
  requestsPerEdge: number;
  /** Answers with the old version that one update costs under pull, with a turn taken for 1 s. */
  staleAnswers: number;
}

/** What `defendPlan` returns. */
export interface Defence {
  plan: DistributionPlan;
  /** Fewest requesting edges at which the private class would be pushed; null: at no number. */
  pushPrivateFrom: number | null;
  /** Today's reads may grow by this factor until pulling the common class is at its limit. */
  readFactor: number;
  /** Today's writes may grow by this factor until pushing the private class is at its limit. */
  writeFactor: number;
}

/** What lesson 2 counted: different answers among the queries of its window. */
const PRIVATE_OBJECTS = 20_046;

/** The published run. A turn is an abstract step, taken for 1 s where a rate is multiplied in. */
export const PUBLISHED: DistributionOptions & {
  readonly classes: readonly [common: ContentClass, privateClass: ContentClass];
} = {
  edges: T10_EDGES,
  ttl: T1_TTL_SECONDS,
  turns: 900,
  updateTurn: 100,
  /** Spreads the expiry of the twelve edges over the TTL of 300 turns. */
  phaseStride: 27,
  classes: [
    { name: 'common', objects: T11_COMMON_OBJECTS, requestingEdges: T10_EDGES },
    { name: 'private', objects: PRIVATE_OBJECTS, requestingEdges: T12_PRIVATE_REQUESTING_EDGES },
  ],
};

/** Lesson 2's measuring window, in which its 20,046 answers were counted. */
export const WINDOW_SECONDS = 480;

/** Shipments that are on their way at the same time, from lesson 2. */
export const ACTIVE_SHIPMENTS = K01.newShipmentsPerDay * T6_DAYS_ON_THE_WAY;

export const BASELINE: Baseline = {
  peakReads: K01.peakReads,
  peakWrites: K01.peakWrites,
  eventsPerDay: K01.statusEventsPerDay,
  bodyBytes: K01.bodyBytes,
  writeIngressMbit: K01.writeIngressMbit,
  readEgressMbit: K01.readEgressMbit,
};

/** requests/s in the busiest hour, from what happens in a day. */
export function peakRateOf(perDay: number): number {
  return (perDay / SECONDS_PER_DAY) * K01.peakFactor;
}

/** page loads/s in the busiest hour: each of them asks for the common objects. */
export const PEAK_PAGE_LOADS = peakRateOf(K01.users * T14_PAGE_LOADS_PER_USER_PER_DAY);
