// The numbers of the closing table, row by row. Each is computed by the exercises of its lesson, on
// the inputs that the lesson publishes; what a lesson measures on real servers is measured here, too.
import {
  K01,
  outageBudgetMinutes,
  T1_TTL_SECONDS,
  T4_RESOLVERS,
  T7_BURST_LENGTH,
  T9_CACHE_CAPACITY,
  Y3_HEALTH_CHECK,
  Y4_REQUESTS_PER_CONNECTION,
} from '#fixtures/assumptions.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { decisionRates } from '#helpers/lesson/decision-rates.ts';
import { FLOWS } from '#helpers/lesson/gateway.ts';
import { listen } from '#helpers/lesson/http-server.ts';
import { disposable } from '#helpers/lesson/proxy-extras.ts';
import { startReplicas } from '#helpers/lesson/tracking.ts';
import * as lesson01 from '../01-dns-routing/routing.ts';
import { simulate } from '../01-dns-routing/simulation.ts';
import * as lesson02 from '../02-edge-caching/given.ts';
import { startGivenOrigin } from '../02-edge-caching/servers.ts';
import { trackingTrace } from '../02-edge-caching/trace.ts';
import * as lesson03 from '../03-push-and-pull/given.ts';
import * as lesson04 from '../04-static-content/given.ts';
import * as lesson05 from '../05-load-balancer/given.ts';
import * as lesson06 from '../06-layer-4/given.ts';
import { measureMix } from '../06-layer-4/harness.ts';
import { MIX as LAYER_7_MIX, runClients as runLayer7Clients } from '../07-layer-7/clients.ts';
import * as lesson07 from '../07-layer-7/given.ts';
import * as lesson08 from '../08-algorithms/given.ts';
import { trackingNumbers } from '../08-algorithms/keys.ts';
import * as lesson09 from '../09-reverse-proxy/given.ts';
import { combinedLayout, type Layout, splitLayout } from '../09-reverse-proxy/layouts.ts';
import { type PathRun, runClient, startLayout } from '../09-reverse-proxy/servers.ts';
import * as lesson10 from '../10-sticky-sessions/given.ts';
import { createMix } from '../10-sticky-sessions/mix.ts';
import * as lesson11 from '../11-api-gateway/given.ts';
import { perSecond, sendTrace } from '../11-api-gateway/harness.ts';
import { measureAccess } from '../12-routing-and-aggregation/access.ts';
import * as lesson12 from '../12-routing-and-aggregation/given.ts';
import { startDomainServices } from '../12-routing-and-aggregation/services.ts';
import * as lesson13 from '../13-offloading/given.ts';
import { createCheckHarness } from '../13-offloading/harness.ts';
import * as lesson14 from '../14-backend-for-frontend/given.ts';
import { startCarrier } from '../15-ambassador-and-sidecar/carrier.ts';
import * as lesson15 from '../15-ambassador-and-sidecar/given.ts';
import { askForShipment } from '../15-ambassador-and-sidecar/service.ts';
import * as lesson16 from '../16-gatekeeper/given.ts';
import { requestSet } from '../16-gatekeeper/requests.ts';
import {
  aggregation,
  algorithms,
  ambassador,
  apiGateway,
  backendForFrontend,
  dnsRouting,
  edgeCaching,
  gatekeeper,
  layer4,
  layer7,
  loadBalancer,
  offloading,
  pushAndPull,
  reverseProxy,
  staticContent,
  stickySessions,
} from './pieces.ts';

/** One number of the closing table. */
export interface ClosingValue {
  /** Not rounded. */
  readonly value: number;
  /** Id of the one record of a lesson's ledger that says the same. */
  readonly repeats: string;
}

/** A number of the table, and the record that it repeats. */
const repeat = (repeats: string, value: number): ClosingValue => ({ value, repeats });

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const bytes = (text: string) => Buffer.byteLength(text);

/** Three replicas, and one more. */
const THREE = ['k1', 'k2', 'k3'];
const FOUR = [...THREE, 'k4'];

/** Lesson 1: three policies for an hour, and two failovers. */
export function dns() {
  const { REQUEST_RATE, TABLES, DURATION_SECONDS, FAILURE } = lesson01;
  const resolverRates = dnsRouting.splitRequests(REQUEST_RATE, T4_RESOLVERS.count);
  const distance = (kind: lesson01.PolicyKind) =>
    simulate(dnsRouting.createPolicy(kind, TABLES), {
      ttlSeconds: T1_TTL_SECONDS,
      durationSeconds: DURATION_SECONDS.policies,
      resolverRates,
    }).unitDistance;
  const failover = (ttlSeconds: number) => {
    const run = simulate(dnsRouting.createPolicy('geographic', TABLES), {
      ttlSeconds,
      durationSeconds: DURATION_SECONDS.failover,
      resolverRates,
      failure: FAILURE,
    });
    const cost = dnsRouting.failoverCost(run, REQUEST_RATE, outageBudgetMinutes() * 60);
    return { ...run, ...cost };
  };
  const fast = failover(Math.min(...lesson01.TTLS_SECONDS));
  const slow = failover(Math.max(...lesson01.TTLS_SECONDS));

  return {
    latencyDistance: repeat('01.policy.latency.unitDistance', distance('latency')),
    geographicDistance: repeat('01.policy.geographic.unitDistance', distance('geographic')),
    weightedDistance: repeat('01.policy.weighted.unitDistance', distance('weighted')),
    windowMin: repeat('01.failover.ttl30.window', fast.windowSeconds),
    windowMax: repeat('01.failover.ttl900.window', slow.windowSeconds),
    budgetMin: repeat('01.failover.ttl30.budgetShare', fast.budgetSharePercent),
    budgetMax: repeat('01.failover.ttl900.budgetShare', slow.budgetSharePercent),
  };
}

/** Lesson 2: a miss and a hit on the wire, and the trace through an edge and the old cache. */
export async function cdn() {
  await using origin = await startGivenOrigin();
  const cacheCapacity = lesson02.SERVER_CACHE_CAPACITY;
  await using edge = await listen(
    edgeCaching.createEdge({ originPort: origin.port, cacheCapacity }),
  );
  const path = '/takip/TR900011';
  const fromOrigin = await edgeCaching.measureResponse(origin.port, path);
  await edgeCaching.measureResponse(edge.port, path); // a miss
  const hit = await edgeCaching.measureResponse(edge.port, path);

  const trace = trackingTrace({ ...lesson02.PUBLISHED_TRACE, burstLength: T7_BURST_LENGTH });
  const capacities = [T9_CACHE_CAPACITY, T9_CACHE_CAPACITY];
  const { requests, storeRequests, layers } = edgeCaching.runCacheChain(trace, capacities);
  const before = edgeCaching.edgeBackToBaseline(
    {
      edgeHitRatio: 0,
      storeRequestShare: 1 - K01.hitRatio,
      wireBytesAtEdge: K01.bodyBytes,
      wireBytesAtOrigin: K01.bodyBytes,
    },
    K01,
  );
  const after = edgeCaching.edgeBackToBaseline(
    {
      edgeHitRatio: layers[0]?.hitRatio ?? Number.NaN,
      storeRequestShare: storeRequests / requests,
      wireBytesAtEdge: hit.wireBytes,
      wireBytesAtOrigin: fromOrigin.wireBytes,
    },
    K01,
  );

  return {
    'reads.before': repeat(
      '02.back.readsReachingApplication.before',
      before.readsReachingApplication,
    ),
    'reads.after': repeat('02.back.readsReachingApplication.after', after.readsReachingApplication),
    bodyBytes: repeat('02.baseline.bodyBytes', K01.bodyBytes),
    wireBytes: repeat('02.wire.r3.wire', hit.wireBytes),
    wireRatio: repeat('02.wire.ratio', hit.wireBytes / hit.bodyBytes),
    // Without the edge. Behind it lesson 2 computes 138.98: the store notices nothing of it.
    storeRequests: repeat('02.back.requestsReachingStore.before', before.requestsReachingStore),
  };
}

/** Lesson 3: everything pulled, and every private answer pushed. */
export function pushPull() {
  const { PUBLISHED, PLANS, BASELINE } = lesson03;
  const [, privates] = PUBLISHED.classes;
  const back = pushAndPull.distributionBackToBaseline(
    {
      pull: pushAndPull.simulateDistribution(PLANS.pull, PUBLISHED),
      hybrid: pushAndPull.simulateDistribution(PLANS.hybrid, PUBLISHED),
    },
    {
      edges: PUBLISHED.edges,
      windowSeconds: lesson03.WINDOW_SECONDS,
      activeShipments: lesson03.ACTIVE_SHIPMENTS,
      privateObjects: privates.objects,
    },
    BASELINE,
  );

  return {
    'pull.originRequests': repeat('03.back.originRatePull', back.originRatePull),
    'k01.behindCache': repeat(
      '03.baseline.readsBehindCache',
      BASELINE.peakReads * (1 - K01.hitRatio),
    ),
    'push.peak': repeat('03.back.peakPushes', back.peakPushesPerSecond),
    'push.egress': repeat('03.back.pushBandwidth', back.pushMbit),
    'push.stored': repeat('03.back.allEdgesGigabytes', back.allEdgesGigabytes),
  };
}

/** Lesson 4: who carries the files of a page. */
export function statics() {
  const traffic = staticContent.assetTraffic(lesson04.PUBLISHED);
  const { combinedApplication, splitApplication, splitContent } = staticContent.layoutTable(
    traffic,
    lesson04.BASELINE,
  );

  return {
    'rate.before': repeat(
      '04.peak.combinedApplication.requests',
      combinedApplication.requestsPerSecond,
    ),
    'rate.after': repeat('04.peak.splitApplication.requests', splitApplication.requestsPerSecond),
    'egress.before': repeat('04.peak.combinedApplication.mbit', combinedApplication.mbit),
    'egress.after': repeat('04.peak.splitApplication.mbit', splitApplication.mbit),
    contentRate: repeat('04.peak.splitContent.requests', splitContent.requestsPerSecond),
    contentEgress: repeat('04.peak.splitContent.mbit', splitContent.mbit),
  };
}

/** Lesson 5: a plan for the peak, and a failure that is noticed by hand or by a probe. */
export function balancer() {
  const { PUBLISHED } = lesson05;
  const { peakRate } = PUBLISHED;
  const { minReplicas } = loadBalancer.planCapacity({ ...PUBLISHED, toleratedFailures: 0 });
  const bill = (windowSeconds: number) =>
    loadBalancer.failureBill({ ...PUBLISHED, replicas: minReplicas, windowSeconds });
  const { intervalMs } = Y3_HEALTH_CHECK;
  const probes = lesson05.probeLoad({ replicas: minReplicas, intervalMs, peakRate });

  return {
    peakEdge: repeat('05.given.peakRate', peakRate),
    minReplicas: repeat('05.capacity.minReplicas', minReplicas),
    'lostPerFailure.before': repeat(
      '05.bill.manual.perFailure',
      bill(PUBLISHED.recoverySeconds).perFailure,
    ),
    'lostPerFailure.after': repeat(
      '05.bill.probe.perFailure',
      bill(PUBLISHED.probeWindowSeconds).perFailure,
    ),
    healthLoad: repeat('05.probe.rate', probes.rate),
    healthLoadPercent: repeat('05.probe.share', probes.shareOfPeak * 100),
  };
}

/** Lesson 6: six clients, of which one sends half of the requests, through a running balancer. */
export async function perConnection() {
  const { PUBLISHED, MIXES } = lesson06;
  const { peakRate, safeRate, replicas } = PUBLISHED;
  const measure = (shares: readonly number[]) =>
    measureMix(layer4.startLayer4Balancer, shares, { replicas });
  const equal = await measure(MIXES.equal);
  const unequal = await measure(MIXES.unequal);
  const needed = (counts: readonly number[]) => layer4.replicasNeeded(counts, peakRate, safeRate);
  const rates = decisionRates(peakRate, Y4_REQUESTS_PER_CONNECTION);

  return {
    decisionRate: repeat('06.rate.perConnection', rates.perConnection),
    requests: repeat('06.unequal.requests', unequal.sent),
    decisions: repeat('06.unequal.decisions', unequal.decisions),
    skew: repeat('06.unequal.skew.req', layer4.skew(unequal.requests)),
    'replicas.before': repeat('06.cap.equal.replicas', needed(equal.requests)),
    'replicas.after': repeat('06.cap.unequal.replicas', needed(unequal.requests)),
  };
}

/** Lesson 7: the same clients through both balancers, and the plan for two pools. */
export async function perRequest() {
  const { PUBLISHED, skew } = lesson07;
  const rates = decisionRates(PUBLISHED.peakRate, PUBLISHED.requestsPerConnection);
  const { combined, read, write } = layer7.poolPlan(PUBLISHED);

  return {
    'skew.before': repeat('07.ref.layer4.skew', skew(await answeredThroughLayer4())),
    'skew.after': repeat('07.combined.skew', skew(await decidedByLayer7())),
    'decisionRate.before': repeat('07.rate.layer4', rates.perConnection),
    'decisionRate.after': repeat('07.rate.layer7', rates.perRequest),
    'replicas.before': repeat('07.pool.combined.replicas', combined.replicas),
    'replicas.after': repeat('07.pool.split.replicas', read.replicas + write.replicas),
  };
}

/** Requests that each of three replicas has answered behind the balancer of lesson 6. */
async function answeredThroughLayer4(): Promise<number[]> {
  await using replicas = await startReplicas(THREE.length);
  await using running = disposable(await layer4.startLayer4Balancer({ replicas }));
  const { answers } = await runLayer7Clients(running.port, LAYER_7_MIX);
  return replicas.map(({ name }) => requestsOf(answers[name]));
}

/** Requests that the balancer of lesson 7 has decided for each of four replicas in one pool. */
async function decidedByLayer7(): Promise<number[]> {
  await using replicas = await startReplicas(lesson07.REPLICAS.length);
  await using running = disposable(
    await layer7.startLayer7Balancer({
      read: replicas,
      write: replicas,
      innerConnectionsPerReplica: 1,
    }),
  );
  await runLayer7Clients(running.port, LAYER_7_MIX);
  const { distribution } = running.counters();
  return replicas.map(({ name }) => requestsOf(distribution[name]));
}

/** A replica that is in no list has got nothing. */
function requestsOf(counts: lesson07.ReplicaCounts = { read: 0, write: 0 }): number {
  return counts.read + counts.write;
}

/** Lesson 8: 100,000 tracking numbers move when a fourth replica comes. */
export function distributionRules() {
  const keys = trackingNumbers();
  const moved = (placementOn: (replicas: readonly string[]) => (key: string) => string) =>
    algorithms.movedShare(keys.map(placementOn(THREE)), keys.map(placementOn(FOUR)));
  const byModulo = moved((replicas) => algorithms.moduloPlacement(replicas));
  const byRing = moved((replicas) => {
    const ring = algorithms.createRing(replicas, lesson08.VIRTUAL_NODES.v1000);
    return (key) => ring.lookup(key);
  });
  const storeRate = (movedShare: number) =>
    algorithms.warmUpBill({
      movedShare,
      readRate: lesson08.BASELINE.peakReadPerSecond,
      writeRate: lesson08.BASELINE.peakWritePerSecond,
      hitRatio: lesson08.CACHE_HIT_RATIO,
      baselineStoreRate: lesson08.BASELINE.storePerSecond,
      windowSeconds: lesson08.WARM_UP_WINDOW_SECONDS,
    }).storeRate;

  return {
    'moved.modulo': repeat('08.placement.modulo.movedPercent', byModulo * 100),
    'moved.consistent': repeat('08.placement.consistent.v1000.movedPercent', byRing * 100),
    'store.before': repeat('08.warmUp.baseline.storeRate', storeRate(0)),
    'store.consistent': repeat('08.warmUp.consistent.storeRate', storeRate(byRing)),
    'store.modulo': repeat('08.warmUp.modulo.storeRate', storeRate(byModulo)),
  };
}

/** Lesson 9: both layouts run, and in the split one the process with the replica list stops. */
export async function roles() {
  const { PUBLISHED, chainLength } = lesson09;
  const split = await runLayout(splitLayout(), 'yd');
  const combined = await runLayout(combinedLayout());
  const hops = ({ chains }: PathRun) => chainLength(Object.keys(chains)[0] ?? '');
  const outage = ({ forwarders }: Layout) =>
    reverseProxy.chainAvailability({
      component: PUBLISHED.component,
      baseComponents: PUBLISHED.baseComponents,
      monthMinutes: PUBLISHED.monthMinutes,
      addedHops: Object.keys(forwarders).length,
      copiesPerHop: 1,
    }).outageMinutes;

  return {
    contentAnswered: repeat('09.splitStopped.asset.answered', split.last.asset.answered),
    contentAsked: repeat('09.splitStopped.asset.sent', split.last.asset.sent),
    'hops.before': repeat('09.combined.track.chainLength', hops(combined.first.track)),
    'hops.after': repeat('09.split.track.chainLength', hops(split.first.track)),
    'outage.before': repeat('09.chain.combined.outage', outage(combinedLayout())),
    'outage.after': repeat('09.chain.split.outage', outage(splitLayout())),
  };
}

/** The client's first run through a layout, and its last one, with a process stopped in between. */
async function runLayout(layout: Layout, stopped?: string) {
  const { requests } = lesson09.PUBLISHED;
  await using running = await startLayout(layout, reverseProxy.startForwarder);
  const first = await runClient(running.port, requests);
  if (stopped === undefined) return { first, last: first };
  await running.stop(stopped);
  return { first, last: await runClient(running.port, requests) };
}

/** Lesson 10: a hundred clients, of which one sends a fifth of the requests. */
export function stickiness() {
  const { CAPACITY } = lesson10;
  const clients = createMix();
  const imbalance = (rule: lesson10.BindingRule, replicas: readonly string[]) =>
    stickySessions.loadImbalance(stickySessions.loadByReplica(clients, rule, replicas));
  const needed = (factor: number) =>
    stickySessions.replicasForImbalance({
      peakRate: CAPACITY.peakRate,
      imbalance: factor,
      safeRate: CAPACITY.saturation * CAPACITY.target,
    });
  const { boundSessions, boundShare } = stickySessions.crash(
    clients,
    'stickyConsistent',
    THREE,
    'k1',
  );

  return {
    targetUtilisation: repeat('10.given.targetUtilisation', CAPACITY.target),
    'replicas.before': repeat('10.needed.withoutStickiness', needed(1)),
    'replicas.after': repeat(
      '10.needed.four.replicas',
      needed(imbalance('stickyConsistent', FOUR)),
    ),
    'imbalance.before': repeat('10.load.notSticky.three.imbalance', imbalance('notSticky', THREE)),
    'imbalance.after': repeat(
      '10.load.stickyConsistent.three.imbalance',
      imbalance('stickyConsistent', THREE),
    ),
    lostSessions: repeat('10.crash.stickyConsistent.boundSessions', boundSessions),
    sessions: repeat('10.load.clients', clients.length),
    lostRequests: repeat('10.crash.stickyConsistent.boundPercent', boundShare * 100),
  };
}

/** Lesson 11: the edge's five responsibilities in every service, and in one gateway. */
export function gatewayPlacement() {
  const { PLACEMENTS, LINES, PEAK_FLOWS } = lesson11;
  const services = FLOWS.length;
  const everyService = apiGateway.measurePlacement(PLACEMENTS.everyService, LINES, services);
  const gateway = apiGateway.measurePlacement(PLACEMENTS.gateway, LINES, services);
  const without = apiGateway.edgeLoad(PEAK_FLOWS, false);
  const through = apiGateway.edgeLoad(PEAK_FLOWS, true);

  return {
    'lines.before': repeat('11.placement.everyService.serviceLines', everyService.serviceLines),
    'lines.after': repeat('11.placement.gateway.edgeLines', gateway.edgeLines),
    'units.before': repeat(
      '11.placement.everyService.unitsPerResponsibility',
      everyService.unitsPerResponsibility,
    ),
    'units.after': repeat(
      '11.placement.gateway.unitsPerResponsibility',
      gateway.unitsPerResponsibility,
    ),
    peakEdge: repeat('11.rates.edge', through.ratePerSecond),
    'hopRequests.before': repeat('11.rates.hopRequests.everyService', without.hopRequestsPerSecond),
    'hopRequests.after': repeat('11.rates.hopRequests.gateway', through.hopRequestsPerSecond),
    answeredWhenStopped: repeat(
      '11.placement.gateway.flowsWhenGatewayStopped',
      gateway.flowsWhenGatewayStopped,
    ),
    flows: repeat('11.given.services', services),
  };
}

/** Lesson 12: the bodies of one page view through a running gateway, at the scale of the baseline. */
export async function aggregatedCalls() {
  await using services = await startDomainServices();
  await using gateway = disposable(
    await aggregation.startTrackingGateway({
      serviceMap: services.serviceMap,
      contract: 'null',
      timeoutMs: 5_000,
    }),
  );
  const bodiesOf = async (way: 'routing' | 'aggregation') =>
    (await measureAccess(way, gateway, services)).answers.map(({ body }) => bytes(body));
  const [statusBytes = Number.NaN, priceBytes = Number.NaN] = await bodiesOf('routing');
  const [combinedBytes = Number.NaN] = await bodiesOf('aggregation');
  const effect = (priceShare: number) =>
    aggregation.aggregationEffect({
      peakReadsPerSecond: K01.peakReads,
      trackingBodyBytes: K01.bodyBytes,
      statusBytes,
      priceBytes,
      combinedBytes,
      priceShare,
    });
  const priced = effect(lesson12.PUBLISHED.priceShare);
  const k01 = effect(0).separate; // nobody wants the price: one request a view, as in K01

  return {
    'rate.before': repeat('12.load.separate.rate', priced.separate.requestsPerSecond),
    'rate.after': repeat('12.load.aggregation.rate', priced.aggregation.requestsPerSecond),
    rateRatio: repeat('12.ratio.requests', priced.requestRatio),
    'body.before': repeat('12.load.separate.body', priced.separate.bytesPerRequest),
    'body.after': repeat('12.load.aggregation.body', priced.aggregation.bytesPerRequest),
    'egress.k01': repeat('12.load.k01.egress', k01.megabitPerSecond),
    'egress.after': repeat('12.load.aggregation.egress', priced.aggregation.megabitPerSecond),
  };
}

/** Lesson 13: the rule on six checks, the trust bill, and a running gateway that makes the checks. */
export async function offloadedChecks() {
  const { CHECKS, SERVICES, METADATA_INPUTS, DOMAIN_INPUTS } = lesson13;
  const rule = offloading.createRule(METADATA_INPUTS, DOMAIN_INPUTS);
  const { everyService, offloaded, edge } = offloading.offload(CHECKS, SERVICES, rule);
  const bill = (mode: lesson13.TrustMode) => offloading.trustBill(mode, SERVICES, K01.peakRate);
  const none = bill('noGateway');

  return {
    'lines.before': repeat('13.lines.everyService.total', everyService.total),
    'lines.after': repeat('13.lines.offloaded.total', offloaded.total),
    checksAtEdge: repeat(
      '13.rule.portable',
      CHECKS.filter((check) => rule.isPortable(check)).length,
    ),
    checks: repeat('13.given.checks', CHECKS.length),
    edgeRate: repeat('13.rates.edgeChecks', perSecond(await runsAtEdge(edge))),
    'unprotected.before': repeat('13.trust.noGateway.unprotected', none.unprotectedServices),
    'unprotected.after': repeat(
      '13.trust.gatewayTrusted.unprotected',
      bill('gatewayTrusted').unprotectedServices,
    ),
    services: repeat('13.given.services', SERVICES),
    'verifications.before': repeat('13.trust.noGateway.verifications', none.verificationsPerSecond),
    'verifications.after': repeat(
      '13.trust.both.verifications',
      bill('both').verificationsPerSecond,
    ),
  };
}

/** How often each of these checks runs at the gateway, on the trace of lessons 11 and 13. */
async function runsAtEdge(checks: readonly string[]): Promise<number> {
  const harness = createCheckHarness();
  const { edgeChecks, serviceChecks } = harness;
  await using system = disposable(
    await offloading.startOffloadedEdge({ mode: 'gatewayTrusted', edgeChecks, serviceChecks }),
  );
  await sendTrace((flow) => system.addressOf(flow));
  return sum(checks.map((check) => harness.runs('gateway', check))) / checks.length;
}

/** Lesson 14: one body for everybody, and one for each kind of client. */
export function perClientBodies() {
  const single = edgeLayout('single');
  const bff = edgeLayout('bff');

  return {
    'unused.before': repeat('14.single.total.unusedLeaves', single.unusedLeaves),
    'unused.after': repeat('14.bff.total.unusedLeaves', bff.unusedLeaves),
    'rate.before': repeat('14.load.single.rate', single.requestsPerSecond),
    'rate.after': repeat('14.load.bff.rate', bff.requestsPerSecond),
    'egress.before': repeat('14.load.single.egress', single.megabitPerSecond),
    'egress.after': repeat('14.load.bff.egress', bff.megabitPerSecond),
    'edgeUnits.before': repeat('14.single.edgeUnits', single.edgeUnits),
    'edgeUnits.after': repeat('14.bff.edgeUnits', bff.edgeUnits),
    'batchEndpoints.before': repeat('14.single.batchEndpoints', single.batchEndpoints.length),
    'batchEndpoints.after': repeat('14.bff.batchEndpoints', bff.batchEndpoints.length),
  };
}

function edgeLayout(layout: lesson14.EdgeLayout) {
  const { CLIENTS, CLIENT_MIX, WORLD, OWNERSHIP, SCALE, VIEWS_PER_SECOND } = lesson14;
  const views = CLIENTS.map((client) => ({
    share: CLIENT_MIX[client.name],
    ...backendForFrontend.viewCost(client, layout, WORLD),
  }));
  return {
    unusedLeaves: sum(views.map(({ unusedLeaves }) => unusedLeaves)),
    ...backendForFrontend.mixEffect(views, SCALE, VIEWS_PER_SECOND),
    ...backendForFrontend.layoutDemands(CLIENTS, layout, OWNERSHIP, {
      name: 'sigorta',
      wantedBy: ['panel'],
    }),
  };
}

/** Lesson 15: a running carrier, an ambassador for each of its contracts, and where to put them. */
export async function helperProcess() {
  const { UNITS, LIBRARY, SIDECAR, PEAK_RATE } = lesson15;
  const { internal, external } = await contractBodies();
  const library = ambassador.placementCost(UNITS, LIBRARY, PEAK_RATE);
  const sidecar = ambassador.placementCost(UNITS, SIDECAR, PEAK_RATE);

  return {
    'contracts.internal': repeat('15.contracts.internal', ambassador.contractsSeen(internal)),
    'contracts.external': repeat('15.contracts.external', ambassador.contractsSeen(external)),
    'usable.before': repeat('15.placement.library.usableUnits', library.usableUnits),
    'usable.after': repeat('15.placement.sidecar.usableUnits', sidecar.usableUnits),
    units: repeat('15.given.units', Object.keys(UNITS).length),
    'processes.before': repeat('15.placement.library.totalProcesses', library.totalProcesses),
    'processes.after': repeat('15.placement.sidecar.totalProcesses', sidecar.totalProcesses),
    'hopRequests.before': repeat('15.placement.library.hopRequests', library.hopRequestsPerSecond),
    'hopRequests.after': repeat('15.placement.sidecar.hopRequests', sidecar.hopRequestsPerSecond),
  };
}

/** The same fact under both contracts: as the carrier says it, and as the service gets it. */
async function contractBodies(): Promise<{ internal: string[]; external: string[] }> {
  const { SHIPMENT, STATES } = lesson15;
  await using carrier = await startCarrier();
  using outside = openClient(carrier.port);
  const internal: string[] = [];
  const external: string[] = [];
  for (const version of ['v1', 'v2'] as const) {
    const path = ambassador.externalPath(version, SHIPMENT.trackingNo);
    external.push((await outside.send(path)).body);
    await using running = await ambassador.startAmbassador({
      version,
      carrier: new URL(carrier.url),
      states: STATES,
      timeoutMs: 5_000,
    });
    internal.push((await askForShipment(running.port, SHIPMENT.trackingNo)).body);
  }
  return { internal, external };
}

/** Lesson 16: sixty requests, of which a gate holds what the request alone shows. */
export function isolatedValidation() {
  const { BODY_LIMIT, RECORDS, BASELINE, INVALID_SHARE, LAYOUTS } = lesson16;
  const effect = (invalidShare: number) =>
    gatekeeper.gateEffect({
      requests: requestSet(),
      gate: gatekeeper.gateChecks({ maxBodyBytes: BODY_LIMIT }),
      application: gatekeeper.applicationChecks(RECORDS),
      invalidShare,
      baseline: BASELINE,
    });
  const none = effect(0);
  const gate = effect(INVALID_SHARE);

  return {
    'edge.before': repeat('16.load.none.behindGate', none.load.behindGate),
    'edge.after': repeat('16.load.t3_008.behindGate', gate.load.behindGate),
    'reads.before': repeat('16.load.none.reads', none.load.reads),
    'reads.after': repeat('16.load.t3_008.reads', gate.load.reads),
    'unitsWithChecks.before': repeat(
      '16.layout.none.unitsWithChecks',
      LAYOUTS.none.carryChecks.length,
    ),
    'unitsWithChecks.after': repeat(
      '16.layout.gate.unitsWithChecks',
      LAYOUTS.gate.carryChecks.length,
    ),
    notHeld: repeat('16.invalid.notHeld', gate.invalid.notHeld),
    invalid: repeat('16.invalid.total', gate.invalid.total),
  };
}
