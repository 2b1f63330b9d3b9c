// The closing table: for each lesson the decision that it is about, the number that the decision
// moves, and what grows in exchange. How the numbers are computed stands in closing-numbers.ts.
import { OUTCOMES, QUESTIONS_PER_STOP, SOURCE } from '#fixtures/source.ts';
import { PUBLISHED as AGGREGATION } from '../12-routing-and-aggregation/given.ts';
import { CLIENT_MIX } from '../14-backend-for-frontend/given.ts';
import { INVALID_SHARE } from '../16-gatekeeper/given.ts';
import { MEASURES } from './audit-rows.ts';
import type { ClosingValue } from './closing-numbers.ts';
import * as numbers from './closing-numbers.ts';

/** A number of a row that has changed. */
export interface DrawnChange<Name extends string = string> {
  /** What it counts, or its unit. */
  readonly what: string;
  /** Its name; without one it was 0. */
  readonly before?: Name;
  readonly after: Name;
}

/** One row of the closing table. */
export interface ClosingRow<Name extends string = string> {
  /** In the ids of the ledger: `17.table.<row>.<name>`. */
  readonly row: string;
  /** Number of the lesson. */
  readonly lesson: number;
  readonly decision: string;
  /** What the numbers say. */
  readonly claim: string;
  /**
   * Left column, with the name of a number in braces, and its decimals after a colon: 2 for a number
   * that isn't whole, unless given.
   */
  readonly moves: string;
  /** Right column, in the same form. */
  readonly grows: string;
  /** One change of each side, for the picture. */
  readonly drawn: { readonly moves: DrawnChange<Name>; readonly grows: DrawnChange<Name> };
  /** The numbers by name. They are computed once. */
  compute(): Promise<Readonly<Record<Name, ClosingValue>>>;
}

/** A row with its numbers. */
export interface ComputedRow {
  readonly row: ClosingRow;
  readonly values: Readonly<Record<string, ClosingValue>>;
}

export const CLOSING_TABLE: readonly ClosingRow[] = [
  closingRow({
    row: 'dns',
    lesson: 1,
    decision: 'routing policy',
    claim: 'DNS routing: the nearest region is 1.171 units away, and a failover lasts 39 to 905 s',
    moves:
      'latency policy {latencyDistance:3} distance units ' +
      '(geographic {geographicDistance:3}, weighted {weightedDistance:3})',
    grows:
      'failover window {windowMin} to {windowMax} s, ' +
      "{budgetMin} to {budgetMax} % of the month's outage budget",
    drawn: {
      moves: { what: 'distance', before: 'weightedDistance', after: 'latencyDistance' },
      grows: { what: 'window, s', before: 'windowMin', after: 'windowMax' },
    },
    compute: numbers.dns,
  }),
  closingRow({
    row: 'cdn',
    lesson: 2,
    decision: 'where the cache stands',
    claim: 'edge caching: a tenth of the reads reaches the application, in answers of 653 bytes',
    moves: 'reads at the application {reads.before} → {reads.after} /s',
    grows:
      'a body of {bodyBytes} bytes is {wireBytes:0} on the wire (×{wireRatio:3}); ' +
      'requests at the store stay near {storeRequests} /s',
    drawn: {
      moves: { what: 'reads/s', before: 'reads.before', after: 'reads.after' },
      grows: { what: 'bytes', before: 'bodyBytes', after: 'wireBytes' },
    },
    compute: numbers.cdn,
  }),
  closingRow({
    row: 'pushPull',
    lesson: 3,
    decision: 'how content spreads',
    claim: 'push and pull: pulling holds 42 requests/s at the origin, pushing sends 1,167 /s',
    moves: 'pull: {pull.originRequests} origin requests/s, {k01.behindCache} in the baseline',
    grows: 'push: {push.peak} pushes/s, {push.egress} Mbit/s, {push.stored} GB at the edges',
    drawn: {
      moves: { what: 'origin requests/s', before: 'k01.behindCache', after: 'pull.originRequests' },
      grows: { what: 'pushes/s', after: 'push.peak' },
    },
    compute: numbers.pushPull,
  }),
  closingRow({
    row: 'static',
    lesson: 4,
    decision: 'separate content path',
    claim: 'static content: 2,778 requests/s and 240 Mbit/s leave the application process',
    moves:
      'application process {rate.before} → {rate.after} requests/s, ' +
      '{egress.before} → {egress.after} Mbit/s',
    grows: 'content process {contentRate} requests/s, {contentEgress:2} Mbit/s',
    drawn: {
      moves: { what: 'requests/s', before: 'rate.before', after: 'rate.after' },
      grows: { what: 'requests/s elsewhere', after: 'contentRate' },
    },
    compute: numbers.statics,
  }),
  closingRow({
    row: 'balancer',
    lesson: 5,
    decision: 'distribution plus health checks',
    claim: 'load balancer: a failure loses 34 requests instead of 102,778, for 15 probes/s',
    moves:
      '{peakEdge} requests/s on at least {minReplicas} replicas; ' +
      'lost per failure {lostPerFailure.before:0} → {lostPerFailure.after}',
    grows: 'probes {healthLoad} /s, {healthLoadPercent:1} % of the load',
    drawn: {
      moves: {
        what: 'lost per failure',
        before: 'lostPerFailure.before',
        after: 'lostPerFailure.after',
      },
      grows: { what: 'probes/s', after: 'healthLoad' },
    },
    compute: numbers.balancer,
  }),
  closingRow({
    row: 'layer4',
    lesson: 6,
    decision: 'distribution per connection',
    claim: 'layer 4: 6 decisions for 63 requests, a skew of 4.00, and 5 replicas instead of 3',
    moves: '{decisionRate} decisions/s ({decisions} for {requests} requests)',
    grows: 'request skew {skew:2}; replicas {replicas.before} → {replicas.after}',
    drawn: {
      moves: { what: 'decisions', before: 'requests', after: 'decisions' },
      grows: { what: 'replicas', before: 'replicas.before', after: 'replicas.after' },
    },
    compute: numbers.perConnection,
  }),
  closingRow({
    row: 'layer7',
    lesson: 7,
    decision: 'content-aware routing',
    claim: 'layer 7: the skew falls from 4.00 to 1.07, for ten times as many decisions',
    moves: 'request skew {skew.before:2} → {skew.after:2}',
    grows:
      'decisions {decisionRate.before} → {decisionRate.after} /s; ' +
      'replicas {replicas.before} → {replicas.after}',
    drawn: {
      moves: { what: 'skew', before: 'skew.before', after: 'skew.after' },
      grows: { what: 'decisions/s', before: 'decisionRate.before', after: 'decisionRate.after' },
    },
    compute: numbers.perRequest,
  }),
  closingRow({
    row: 'algorithms',
    lesson: 8,
    decision: 'distribution rule',
    claim:
      'algorithms: a ring moves 26 % of the keys instead of 75, for 238 requests/s at the store',
    moves: 'keys moved {moved.modulo} → {moved.consistent} %',
    grows:
      'store load while caches warm up {store.before} → {store.consistent} /s ' +
      '({store.modulo} with modulo)',
    drawn: {
      moves: { what: '% of the keys', before: 'moved.modulo', after: 'moved.consistent' },
      grows: { what: 'store requests/s', before: 'store.before', after: 'store.consistent' },
    },
    compute: numbers.distributionRules,
  }),
  closingRow({
    row: 'reverseProxy',
    lesson: 9,
    decision: 'separating the roles',
    claim: 'reverse proxy: files are still answered, 6 of 6, and a query passes one hop more',
    moves: 'files answered when the replica-list process stops {contentAnswered} of {contentAsked}',
    grows:
      'hops {hops.before} → {hops.after}; outage {outage.before:1} → {outage.after:1} min/month',
    drawn: {
      moves: { what: 'files answered', after: 'contentAnswered' },
      grows: { what: 'hops', before: 'hops.before', after: 'hops.after' },
    },
    compute: numbers.roles,
  }),
  closingRow({
    row: 'stickiness',
    lesson: 10,
    decision: 'binding state to a replica',
    claim: 'sticky sessions: a fourth replica, and one that stops takes 33 of 100 sessions along',
    moves: 'replicas {replicas.before} → {replicas.after} for a utilisation of {targetUtilisation}',
    grows:
      'imbalance {imbalance.before:3} → {imbalance.after:3}; one replica stops: ' +
      '{lostSessions} of {sessions} sessions, {lostRequests} % of the requests',
    drawn: {
      moves: { what: 'replicas', before: 'replicas.before', after: 'replicas.after' },
      grows: { what: 'imbalance', before: 'imbalance.before', after: 'imbalance.after' },
    },
    compute: numbers.stickiness,
  }),
  closingRow({
    row: 'apiGateway',
    lesson: 11,
    decision: 'where edge work lives',
    claim: 'API gateway: 45 lines instead of 135, and nobody is answered when it stops',
    moves:
      'repeated lines {lines.before} → {lines.after}; ' +
      'units per responsibility {units.before} → {units.after}',
    grows:
      '{peakEdge} requests/s in one component; ' +
      'hop-requests {hopRequests.before} → {hopRequests.after} /s; ' +
      '{answeredWhenStopped} of {flows} flows when it stops',
    drawn: {
      moves: { what: 'lines', before: 'lines.before', after: 'lines.after' },
      grows: { what: 'hop-requests/s', before: 'hopRequests.before', after: 'hopRequests.after' },
    },
    compute: numbers.gatewayPlacement,
  }),
  closingRow({
    row: 'aggregation',
    lesson: 12,
    decision: 'many calls in one request',
    claim: 'aggregation: half the requests, in bodies of 764 bytes instead of 405',
    moves: 'requests at the edge {rate.before} → {rate.after} /s (×{rateRatio:2})',
    grows:
      'body {body.before:0} → {body.after:0} bytes; ' +
      'egress {egress.k01} (baseline) → {egress.after} Mbit/s',
    drawn: {
      moves: { what: 'requests/s', before: 'rate.before', after: 'rate.after' },
      grows: { what: 'bytes', before: 'body.before', after: 'body.after' },
    },
    compute: numbers.aggregatedCalls,
  }),
  closingRow({
    row: 'offloading',
    lesson: 13,
    decision: 'moving checks to the edge',
    claim: 'offloading: 107 lines instead of 171, and trust that leaves 3 services unprotected',
    moves:
      'lines {lines.before} → {lines.after}; ' +
      '{checksAtEdge} of {checks} checks at the edge, at {edgeRate} requests/s',
    grows:
      'unprotected services {unprotected.before} → {unprotected.after} of {services}, or ' +
      'verifications {verifications.before} → {verifications.after} /s',
    drawn: {
      moves: { what: 'lines', before: 'lines.before', after: 'lines.after' },
      grows: {
        what: 'verifications/s',
        before: 'verifications.before',
        after: 'verifications.after',
      },
    },
    compute: numbers.offloadedChecks,
  }),
  closingRow({
    row: 'bff',
    lesson: 14,
    decision: 'a body for each kind of client',
    claim: 'backend for frontend: no unused field of 37 is left, and one edge unit becomes three',
    moves:
      'unused fields {unused.before} → {unused.after}; requests {rate.before} → {rate.after} /s, ' +
      '{egress.before} → {egress.after} Mbit/s',
    grows:
      'edge units {edgeUnits.before} → {edgeUnits.after}; ' +
      'batch endpoints {batchEndpoints.before} → {batchEndpoints.after}',
    drawn: {
      moves: { what: 'Mbit/s', before: 'egress.before', after: 'egress.after' },
      grows: { what: 'edge units', before: 'edgeUnits.before', after: 'edgeUnits.after' },
    },
    compute: numbers.perClientBodies,
  }),
  closingRow({
    row: 'ambassador',
    lesson: 15,
    decision: 'a helper process',
    claim:
      'ambassador: the service sees one contract of two, and six units become twelve processes',
    moves:
      'contracts that the service sees {contracts.internal} (external {contracts.external}); ' +
      'usable units {usable.before} → {usable.after} of {units}',
    grows:
      'processes {processes.before} → {processes.after}; ' +
      'hop-requests {hopRequests.before} → {hopRequests.after} /s',
    drawn: {
      moves: { what: 'contracts', before: 'contracts.external', after: 'contracts.internal' },
      grows: { what: 'processes', before: 'processes.before', after: 'processes.after' },
    },
    compute: numbers.helperProcess,
  }),
  closingRow({
    row: 'gatekeeper',
    lesson: 16,
    decision: 'isolating validation',
    claim: 'gatekeeper: 486 of 514 requests/s are left, and 10 of 30 invalid ones pass the gate',
    moves:
      'behind the gate {edge.before} → {edge.after} requests/s, ' +
      'reads {reads.before} → {reads.after}',
    grows:
      'units with checks {unitsWithChecks.before} → {unitsWithChecks.after}; ' +
      '{notHeld} of {invalid} invalid requests are not held',
    drawn: {
      moves: { what: 'requests/s', before: 'edge.before', after: 'edge.after' },
      grows: {
        what: 'units with checks',
        before: 'unitsWithChecks.before',
        after: 'unitsWithChecks.after',
      },
    },
    compute: numbers.isolatedValidation,
  }),
];

/** Assumptions that the lessons on gateways add to those of the introductory course and to T and Y. */
export const ADDED_ASSUMPTIONS = {
  /** Lesson 12: share of the views that want the price. */
  priceShare: AGGREGATION.priceShare,
  /** Lesson 14: how many of the views come from each kind of client. */
  clientMix: CLIENT_MIX,
  /** Lesson 16: share of the requests that are invalid. */
  invalidShare: INVALID_SHARE,
} as const;

/** Facts about the course, by their names in the ledger: `17.course.<name>`. */
export const COURSE_FACTS: Readonly<Record<string, string | number>> = {
  title: SOURCE.title,
  language: SOURCE.language,
  license: SOURCE.licence,
  updated: SOURCE.updated,
  lessons: CLOSING_TABLE.length,
  outcomes: OUTCOMES.length,
  questionsPerStop: QUESTIONS_PER_STOP.length,
  measures: MEASURES.filter((measure) => measure !== 'other').length,
  addedAssumptions: Object.keys(ADDED_ASSUMPTIONS).length,
};

/** Computes all rows, one after another. */
export async function computeClosingTable(): Promise<ComputedRow[]> {
  const computed: ComputedRow[] = [];
  for (const row of CLOSING_TABLE) computed.push({ row, values: await row.compute() });
  return computed;
}

/** The table as text, one line a row: the decision, what it moves, and what grows in exchange. */
export function closingTableText(rows: readonly ComputedRow[]): string {
  return rows
    .map((computed) => {
      const { lesson, decision, moves, grows } = computed.row;
      const [left, right] = [moves, grows].map((column) =>
        column.replace(NUMBER, (_, name: string) => printed(computed, name)),
      );
      return `${lesson} ${decision}: ${left} | ${right}`;
    })
    .join('\n');
}

/** One number of a row, as its column prints it. */
export function printed({ row, values }: ComputedRow, name: string): string {
  const value = values[name]?.value ?? Number.NaN;
  const found = numbersIn(row).find((number) => number.name === name);
  return value.toFixed(found?.decimals ?? (Number.isInteger(value) ? 0 : 2));
}

/** The numbers that the columns of a row mention, from left to right. */
export function numbersIn({ moves, grows }: ClosingRow): { name: string; decimals?: number }[] {
  return [...(moves + grows).matchAll(NUMBER)].map(([, name = '', decimals]) => ({
    name,
    ...(decimals !== undefined && { decimals: Number(decimals) }),
  }));
}

/** `{name}` or `{name:decimals}`. */
const NUMBER = /\{([^:}]+)(?::(\d+))?\}/g;

/** Several tests look at the same numbers, and some of them take servers. */
function closingRow<Name extends string>({
  compute,
  ...row
}: Omit<ClosingRow<NoInfer<Name>>, 'compute'> & {
  compute(): Record<Name, ClosingValue> | Promise<Record<Name, ClosingValue>>;
}): ClosingRow<Name> {
  let values: Promise<Record<Name, ClosingValue>> | undefined;
  return {
    ...row,
    async compute() {
      values ??= Promise.resolve(compute());
      return await values;
    },
  };
}
