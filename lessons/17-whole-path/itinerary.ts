// Which units every single request should reach. The harness holds a run against it, so that the
// message of a red test can name the first request that went astray. It says more than exercise 17.7
// asks for, and stands here to be read afterwards.

import { GROUPS, TABLES } from '../01-dns-routing/routing.ts';
import { createPolicy } from '../01-dns-routing/solution.ts';
import {
  REGIONS,
  REPLICAS,
  type Region,
  type ReplicaName,
  SEEN_AT_THE_GATE,
  type Switches,
  UNITS,
  type UnitName,
  type View,
  type ViewRequest,
} from './given.ts';

/** A unit that stops at the start of a round, before the resolvers ask, and stays away. */
export interface Stop {
  readonly unit: UnitName;
  readonly round: number;
}

/** What should become of one request. */
export interface Leg {
  readonly view: View;
  readonly request: ViewRequest;
  /** The units that should answer it or a request made for it, in the order of `UNITS`. */
  readonly units: readonly UnitName[];
  /** Status that the client should get; 0 if it should get no answer. */
  readonly status: number;
  /** The body, where it is fixed: bodies from 500 on are everybody's own. */
  readonly body: string | undefined;
}

/**
 * Follows a whole trace on paper.
 *
 * @param options.place how the balancer chooses, instead of its rotation
 */
export function plan(
  trace: readonly View[],
  switches: Switches,
  options: {
    readonly stops?: readonly Stop[];
    readonly place?: ((target: string, pool: readonly string[]) => string) | undefined;
  } = {},
): Leg[] {
  const { stops = [], place } = options;
  const policy = createPolicy(switches.policy, TABLES);
  const stopped = new Set<UnitName>();
  const bindings = new Map<string, Region>();
  const stored = new Map<Region, Set<string>>(REGIONS.map((region) => [region, new Set()]));
  const legs: Leg[] = [];
  let markedDown: ReadonlySet<string> = new Set();
  let pool: readonly ReplicaName[] = REPLICAS;
  let rotation = 0;
  let round = -1;

  const beginRound = () => {
    if (round >= 0 && switches.health) pool = REPLICAS.filter((name) => !stopped.has(name));
    if (round >= 0 && switches.nameHealth) markedDown = new Set(stopped);
    round += 1;
    for (const stop of stops) if (stop.round === round) stopped.add(stop.unit);
    for (const [phase, group] of GROUPS.entries()) {
      if (round > 0 && (round + phase) % switches.ttlRounds !== 0) continue;
      const isMarkedDown = (region: string) => markedDown.has(region);
      bindings.set(group, policy.answer({ group, isMarkedDown }) as Region);
    }
  };

  /** What a gateway does with a request, and the units that take part in it. */
  const behindTheGateway = (view: View, request: ViewRequest) => {
    const units: UnitName[] = [];
    const done = (status: number, body?: string) => ({ units, status, body });
    const expected = () => done(request.expected.status, request.expected.body);
    const lists = view.client === 'panel' && switches.bff;
    let reachable = !stopped.has('delivery');

    if (SEEN_AT_THE_GATE.has(view.flaw)) {
      if (switches.gate) return expected();
      if (!reachable) return done(502);
      units.push('delivery');
      return expected();
    }
    const asked = lists ? view.numbers.length : 1;
    const calls = switches.batch ? 1 : asked;
    const wantsPrice = lists || !switches.bff;
    const priced = !wantsPrice || !stopped.has('pricing');
    const push = (count: number, unit: UnitName) => {
      for (let time = 0; time < count; time += 1) units.push(unit);
    };
    if (wantsPrice && priced) push(calls, 'pricing');
    if (reachable) {
      push(calls, 'delivery');
      if (view.flaw !== null) return expected();
      reachable = !stopped.has('ambassador') && !stopped.has('carrier');
      if (!stopped.has('ambassador')) push(asked, 'ambassador');
      if (reachable) push(asked, 'carrier');
    }
    if (!reachable) return done(502);
    if (!priced && !(lists && switches.partialPanel)) return done(502);
    if (priced) return expected();
    return done(200, withoutPrices(request.expected.body));
  };

  const follow = (view: View, request: ViewRequest): Omit<Leg, 'view' | 'request'> => {
    const region = bindings.get(view.group) as Region;
    if (stopped.has(region)) return { units: [], status: 0, body: undefined };
    const cacheable = switches.cache && request.method === 'GET';
    const { authorization, 'x-istemci': client } = request.headers;
    const key = JSON.stringify([switches.bff && client, authorization, request.target]);
    const cache = stored.get(region) as Set<string>;
    if (cacheable && cache.has(key)) {
      return { units: [region], status: 200, body: request.expected.body };
    }
    if (stopped.has('balancer')) return { units: [region], status: 502, body: undefined };
    const units: UnitName[] = [region, 'balancer'];
    if (pool.length === 0) return { units, status: 503, body: undefined };
    const replica = place
      ? (place(request.target, pool) as ReplicaName)
      : (pool[rotation++ % pool.length] as ReplicaName);
    if (stopped.has(replica)) return { units, status: 502, body: undefined };
    const behind = behindTheGateway(view, request);
    if (cacheable && behind.status === 200 && behind.body === request.expected.body) cache.add(key);
    return { ...behind, units: [...units, replica, ...behind.units] };
  };

  for (const view of trace) {
    while (round < view.round) beginRound();
    for (const request of view.requests) {
      const leg = follow(view, request);
      legs.push({ view, request, ...leg, units: inOrder(leg.units) });
    }
  }
  return legs;
}

/** A panel's body when nobody knows the prices. */
export function withoutPrices(body: string): string {
  const elements = JSON.parse(body) as object[];
  return JSON.stringify(elements.map((element) => ({ ...element, ucret: null })));
}

/** What became of one request, as the taps and the client saw it. */
export interface Seen {
  readonly units: readonly UnitName[];
  readonly status: number;
  readonly body: string;
}

/**
 * The first request of a run that did not go as planned, in words; `undefined` if there is none.
 *
 * Requests to the ambassador aren't compared while the carrier refuses them: how many of a list are
 * still asked for once one has failed is everybody's own.
 */
export function firstDeviation(planned: readonly Leg[], seen: readonly Seen[]): string | undefined {
  for (const [index, leg] of planned.entries()) {
    const came = seen[index];
    if (!came) return `The run ended before ${describe(leg)}.`;
    const failing = leg.status >= 500;
    const relevant = (units: readonly UnitName[]) =>
      inOrder(failing ? units.filter((unit) => unit !== 'ambassador') : units);
    const [wanted, got] = [relevant(leg.units), relevant(came.units)];
    const tail =
      `\n  wanted: ${printed(leg.units, leg.status, leg.body)}` +
      `\n  came:   ${printed(inOrder(came.units), came.status, came.body)}`;
    if (wanted.join() !== got.join()) {
      const extra = surplus(got, wanted);
      const missing = surplus(wanted, got);
      const what = [
        extra.length > 0 && `it reached ${extra.join(', ')} and shouldn't have`,
        missing.length > 0 && `it missed ${missing.join(', ')}`,
      ].filter(Boolean);
      return `The first request on another way than planned is ${describe(leg)}: ${what.join(', and ')}.${tail}`;
    }
    const sameBody = leg.body === undefined || leg.body === came.body;
    if (leg.status !== came.status || !sameBody) {
      return `The first request with another answer than planned is ${describe(leg)}.${tail}`;
    }
  }
  return undefined;
}

function describe({ view, request }: Leg): string {
  const flaw = view.flaw ? `, flaw: ${view.flaw}` : '';
  return (
    `view ${view.view} of session ${view.session} (${view.client}, ${view.group}, round ${view.round}` +
    `${flaw}), ${request.method} ${request.target}`
  );
}

function printed(units: readonly UnitName[], status: number, body: string | undefined): string {
  const answer = status === 0 ? 'no answer' : `${status}`;
  const bytes = status === 0 || body === undefined ? '' : `, ${Buffer.byteLength(body)} bytes`;
  return `${grouped(units).join(' > ') || 'no unit'} (${answer}${bytes})`;
}

/** `carrier x 5` for five in a row. */
function grouped(units: readonly UnitName[]): string[] {
  const counts = new Map<UnitName, number>();
  for (const unit of units) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  return [...counts].map(([unit, count]) => (count > 1 ? `${unit} x ${count}` : unit));
}

/** What the first list has more of than the second, each unit once. */
function surplus(units: readonly UnitName[], others: readonly UnitName[]): UnitName[] {
  const count = (list: readonly UnitName[], unit: UnitName) =>
    list.filter((other) => other === unit).length;
  return UNITS.filter((unit) => count(units, unit) > count(others, unit));
}

function inOrder(units: readonly UnitName[]): UnitName[] {
  return [...units].sort((a, b) => UNITS.indexOf(a) - UNITS.indexOf(b));
}
