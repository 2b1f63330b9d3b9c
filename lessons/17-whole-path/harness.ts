// Plays a trace on a path that runs: asks the resolvers, sends the clients' requests one after another,
// stops units, and counts at the taps.
import { type HttpClient, openClient } from '#helpers/lesson/client.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { startRefusing } from '#helpers/lesson/refusing.ts';
import { CLIENT_SUBNETS, NAME_SERVICE } from '../01-dns-routing/name-service.ts';
import { GROUPS, type RoutingPolicy, TABLES } from '../01-dns-routing/routing.ts';
import { exchange, openUdpClient } from '../01-dns-routing/udp-client.ts';
import {
  type Authority,
  FULL_PATH,
  type PathParts,
  REFUSALS,
  REGIONS,
  REPLICAS,
  type Region,
  type RunningPath,
  type RunResult,
  type Switches,
  type UnitName,
  type View,
} from './given.ts';
import {
  firstDeviation,
  type Leg,
  plan,
  type Seen,
  type Stop,
  withoutPrices,
} from './itinerary.ts';
import { startCarrierOf, startPricingOf } from './outside.ts';
import { dnsRouting } from './pieces.ts';
import { type Passage, startTap, type Tap } from './tap.ts';
import { createTrace, recordsOf, roundsOf, type TraceOptions } from './trace.ts';

/** What one run of the path differs in. */
export interface RunOptions {
  /** Against `FULL_PATH`. */
  readonly switches?: Partial<Switches>;
  /** Against the published trace. */
  readonly trace?: Omit<TraceOptions, 'bff'>;
  readonly stops?: readonly Stop[];
  /** How the balancer chooses, instead of its rotation. */
  readonly place?: (target: string, pool: readonly string[]) => string;
  /** Whether the resolvers ask the name server of lesson 1, over UDP. */
  readonly udp?: boolean;
}

/** A run that has ended, with everything stopped again. */
export interface PathRun {
  readonly result: RunResult;
  /** The first request that did not go as planned, in words. */
  readonly deviation: string | undefined;
  /** What became of the requests, in their order. */
  readonly requests: readonly Tracked[];
  /** Requests that came to a unit that had stopped. They are in no count of the result. */
  readonly unanswered: Readonly<Partial<Record<UnitName, number>>>;
  /** The region of each group, by round. */
  readonly bindings: readonly Readonly<Record<string, Region>>[];
}

/** What became of one request. */
export interface Tracked extends Seen {
  readonly view: View;
  /** Whether the answer says that something is missing from it. */
  readonly marked: boolean;
  /** What the taps have seen of it, in their order. */
  readonly passages: readonly Passage[];
}

/**
 * Runs the path once, with fresh units.
 *
 * @throws what the parts throw; whatever was started is stopped then, too
 */
export async function runPath(parts: PathParts, options: RunOptions = {}): Promise<PathRun> {
  const { stops = [], place, udp = false } = options;
  const switches: Switches = { ...FULL_PATH, ...options.switches };
  const trace = createTrace({ ...options.trace, bff: switches.bff });
  const records = recordsOf(options.trace?.sessions);
  const planned = plan(trace, switches, { stops, place });
  await using opened = new Opened();
  const keep = async (starting: Promise<RunningServer>) => opened.use(await starting);

  let probes = 0;
  const unanswered: Partial<Record<UnitName, number>> = {};
  const passages: Passage[] = [];
  const taps: Tap[] = [];
  const ports = new Map<UnitName, number>();
  const path = await parts.startPath({
    ...switches,
    records,
    startCarrier: () => keep(startCarrierOf(records)),
    startPricing: () => keep(startPricingOf(records, switches)),
    tap: async (unit, port) => {
      ports.set(unit, port);
      const tap = await startTap(unit, port, (passage) => {
        if (passage === 'probe') probes += 1;
        else if (passage === 'unanswered') unanswered[unit] = (unanswered[unit] ?? 0) + 1;
        else passages.push(passage);
      });
      taps.push(opened.use(tap));
      return tap.port;
    },
    ...(place && { place }),
  });
  opened.defer(() => path.close());

  let nameQueries = 0;
  const policy = dnsRouting.createPolicy(switches.policy, TABLES);
  const asked = udp ? await askOverUdp(policy, path, opened) : policy;
  const authority: Authority<string | Promise<string>> = {
    answer(query) {
      nameQueries += 1;
      return asked.answer(query);
    },
  };
  const resolvers = GROUPS.map((group, phase) => {
    const { ttlRounds } = switches;
    return parts.createResolver({ policy: authority, group, ttlRounds, phase });
  });
  const clients = new Map<Region, HttpClient>();
  opened.defer(() => {
    for (const client of clients.values()) client[Symbol.dispose]();
  });

  const requests: Tracked[] = [];
  const bindings: Record<string, Region>[] = [];
  let distance = 0;
  for (let round = 0; round < roundsOf(trace); round += 1) {
    for (const { unit } of stops.filter((stop) => stop.round === round)) {
      await path.stop(unit);
      opened.use(await holdPort(unit, ports.get(unit)));
    }
    const binding: Record<string, Region> = {};
    for (const [index, group] of GROUPS.entries()) {
      const isMarkedDown = (region: string) => path.isMarkedDown(region);
      const region = (await resolvers[index]?.region(round, isMarkedDown)) as Region;
      if (!REGIONS.includes(region)) {
        throw new Error(`the resolver of ${group} says ${region}, wanted one of ${REGIONS}`);
      }
      binding[group] = region;
    }
    bindings.push(binding);

    for (const view of trace.filter((one) => one.round === round)) {
      const region = binding[view.group] as Region;
      distance += TABLES.distance[view.group]?.[region] ?? 0;
      const client = clients.get(region) ?? openClient(path.edgePort(region));
      clients.set(region, client);
      for (const { target, ...ask } of view.requests) {
        const before = passages.length;
        // An edge that has stopped refuses, or cuts: there is no answer then.
        const answer = await client.send(target, ask).catch(() => undefined);
        // A unit may answer before all that it has asked for has come back.
        for (const tap of taps) await tap.idle();
        const passed = passages.slice(before);
        requests.push({
          view,
          status: answer?.status ?? 0,
          body: answer?.body ?? '',
          marked: answer?.headers['x-eksik'] !== undefined,
          units: passed.map(({ unit }) => unit),
          passages: passed,
        });
      }
    }
    await path.endOfRound();
  }
  return {
    result: { ...count(requests, planned, stops), nameQueries, probes, distance },
    deviation: firstDeviation(planned, requests),
    requests,
    bindings,
    unanswered,
  };
}

/** What has been opened and has to be closed, the last one first. Node 20 has no AsyncDisposableStack. */
class Opened implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    // One that fails to close must not keep the others open.
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Keeps the port of a stopped unit free: another program could be given it, and would answer. */
async function holdPort(unit: UnitName, port: number | undefined): Promise<AsyncDisposable> {
  if (port === undefined) throw new Error(`startPath has put no tap in front of ${unit}`);
  try {
    return await startRefusing(unit, port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`stop('${unit}') has resolved, and ${unit} still listens on its port`);
  }
}

/** A policy behind the name server of lesson 1: each answer comes over UDP. */
async function askOverUdp(
  policy: RoutingPolicy,
  path: RunningPath,
  opened: Opened,
): Promise<Authority<Promise<string>>> {
  const server = await dnsRouting.startNameServer({
    ...NAME_SERVICE,
    policy,
    ttlSeconds: 300,
    isMarkedDown: (region) => path.isMarkedDown(region),
  });
  opened.use(server);
  const client = opened.use(await openUdpClient(server.port));
  return {
    async answer({ group }) {
      const home = CLIENT_SUBNETS.find((network) => network.group === group);
      const { answers = [] } = await exchange(client, { edns: { subnet: home?.subnet ?? '' } });
      const address = answers.find(({ type }) => type === 'A');
      const data = address && 'data' in address ? address.data : undefined;
      const region = REGIONS.find((name) => NAME_SERVICE.addresses[name] === data);
      return region ?? `no address (${String(data)})`;
    },
  };
}

type Counted = Omit<RunResult, 'nameQueries' | 'probes' | 'distance'>;

function count(
  requests: readonly Tracked[],
  planned: readonly Leg[],
  stops: readonly Stop[],
): Counted {
  const passages = requests.flatMap((request) => request.passages);
  const at = (...units: readonly UnitName[]) => passages.filter(({ unit }) => units.includes(unit));
  const bytes = (list: readonly Passage[]) => list.reduce((sum, one) => sum + one.bytes, 0);
  const services = at('delivery', 'pricing');
  const calls = {
    client: at(...REGIONS).length,
    balancer: at('balancer').length,
    delivery: at('delivery').length,
    pricing: at('pricing').length,
    application: services.length,
    ambassador: at('ambassador').length,
    carrier: at('carrier').length,
  };
  const gateways = at(...REPLICAS);

  const begin = Math.min(Infinity, ...stops.map(({ round }) => round));
  const outcomes = new Map<View, Outcome>();
  for (const [index, request] of requests.entries()) {
    const outcome = outcomeOf(request, planned[index] as Leg);
    const before = outcomes.get(request.view);
    outcomes.set(request.view, before === undefined || before === outcome ? outcome : 'failed');
  }
  const views = (wanted: Outcome) =>
    [...outcomes].filter(([, outcome]) => outcome === wanted).map(([view]) => view);
  const answered = views('answered');
  const after = answered.filter(({ round }) => round >= begin);

  return {
    ...calls,
    hits: at(...REGIONS).filter(({ edgeField }) => edgeField === 'isabet').length,
    held: requests.filter(isHeld).length,
    edges: countEach(REGIONS, at(...REGIONS)),
    replicas: countEach(REPLICAS, gateways),
    statuses: countStatuses(requests),
    bytesToClients: bytes(at(...REGIONS)),
    bytesFromOrigin: bytes(at('balancer')),
    serviceBytes: bytes(services),
    inboundBodyBytes: services.reduce((sum, one) => sum + one.requestBytes, 0),
    ambassadorBytes: bytes(at('ambassador')),
    carrierBytes: bytes(at('carrier')),
    hopRequests:
      calls.client +
      calls.balancer +
      gateways.length +
      calls.application +
      calls.ambassador +
      calls.carrier,
    answered: answered.length,
    partial: views('partial').length,
    markedPartial: requests.filter(({ marked }) => marked).length,
    answeredAfter: after.length,
    validAfter: after.filter(({ flaw }) => flaw === null).length,
  };
}

type Outcome = 'answered' | 'partial' | 'failed';

/** Against what the client would get from an undisturbed path, whatever was planned for this one. */
function outcomeOf({ status, body, view }: Tracked, { request: { expected } }: Leg): Outcome {
  if (status === expected.status && body === expected.body) return 'answered';
  const isList = view.client === 'panel' && body.startsWith('[');
  return isList && status === 200 && body === withoutPrices(expected.body) ? 'partial' : 'failed';
}

/** A gateway's own refusal: one of four answers, and nobody was asked for it. */
function isHeld({ passages }: Tracked): boolean {
  const atGateway = passages.find(({ unit }) => REPLICAS.some((name) => name === unit));
  const asked = passages.some(({ unit }) => unit === 'delivery' || unit === 'pricing');
  const refusals = [REFUSALS.path, REFUSALS.schema, REFUSALS.size, REFUSALS.token];
  return (
    atGateway !== undefined &&
    !asked &&
    refusals.some(({ status, body }) => status === atGateway.status && body === atGateway.body)
  );
}

function countEach<Name extends UnitName>(
  names: readonly Name[],
  passages: readonly Passage[],
): Record<Name, number> {
  return Object.fromEntries(
    names.map((name) => [name, passages.filter(({ unit }) => unit === name).length]),
  ) as Record<Name, number>;
}

/** Requests without an answer are not among them. */
function countStatuses(requests: readonly Tracked[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of requests) {
    if (status > 0) counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
