// The pieces of the path: everything that lessons 1 to 16 ask you to write. What you have written is
// yours; the rest is lent from the solutions, one export at a time, until you have.

import { openPieces, type PathPiece, type Piece } from '#helpers/lesson/pieces.ts';
import * as dnsRoutingReference from '../01-dns-routing/solution.ts';
import * as edgeCachingReference from '../02-edge-caching/solution.ts';
import * as pushAndPullReference from '../03-push-and-pull/solution.ts';
import * as staticContentReference from '../04-static-content/solution.ts';
import * as loadBalancerReference from '../05-load-balancer/solution.ts';
import * as layer4Reference from '../06-layer-4/solution.ts';
import * as layer7Reference from '../07-layer-7/solution.ts';
import * as algorithmsReference from '../08-algorithms/solution.ts';
import * as reverseProxyReference from '../09-reverse-proxy/solution.ts';
import * as stickySessionsReference from '../10-sticky-sessions/solution.ts';
import * as apiGatewayReference from '../11-api-gateway/solution.ts';
import * as aggregationReference from '../12-routing-and-aggregation/solution.ts';
import * as offloadingReference from '../13-offloading/solution.ts';
import * as backendForFrontendReference from '../14-backend-for-frontend/solution.ts';
import * as ambassadorReference from '../15-ambassador-and-sidecar/solution.ts';
import * as gatekeeperReference from '../16-gatekeeper/solution.ts';

export type { Piece };

const box = openPieces();

export const dnsRouting = await box.take(
  '01-dns-routing',
  dnsRoutingReference,
  () => import('../01-dns-routing/exercise.ts'),
  {
    splitRequests: '1.1',
    shareDeviation: '1.2',
    createPolicy: '1.3',
    failoverCost: '1.4',
    predictFailover: '1.5',
    chooseTtl: '1.6',
    startNameServer: '1.7',
  },
);

export const edgeCaching = await box.take(
  '02-edge-caching',
  edgeCachingReference,
  () => import('../02-edge-caching/exercise.ts'),
  {
    measureResponse: '2.1',
    LruCache: '2.2',
    createOrigin: '2.3',
    createEdge: '2.3',
    runCacheChain: '2.4',
    judgeSecondCache: '2.5',
    edgeBackToBaseline: '2.6',
    bottleneck: '2.6',
  },
);

export const pushAndPull = await box.take(
  '03-push-and-pull',
  pushAndPullReference,
  () => import('../03-push-and-pull/exercise.ts'),
  {
    distributionCost: '3.1',
    planDistribution: '3.2',
    simulateDistribution: '3.3',
    distributionBackToBaseline: '3.4',
    defendPlan: '3.4',
    createContentOrigin: '3.5',
    createEdgeNode: '3.5',
  },
);

export const staticContent = await box.take(
  '04-static-content',
  staticContentReference,
  () => import('../04-static-content/exercise.ts'),
  {
    assetTotals: '4.1',
    createSiteProcess: '4.2',
    measurePageLoad: '4.3',
    assetTraffic: '4.4',
    layoutTable: '4.4',
    scalingPlan: '4.4',
    chooseNameTtls: '4.5',
    originAssetLoad: '4.6',
  },
);

export const loadBalancer = await box.take(
  '05-load-balancer',
  loadBalancerReference,
  () => import('../05-load-balancer/exercise.ts'),
  {
    replicaLoad: '5.1',
    planCapacity: '5.1',
    failureBill: '5.2',
    chooseProbeInterval: '5.3',
    HealthTracker: '5.4',
    startBalancer: '5.5',
    detectionWindow: '5.9',
    startProbing: '5.9',
  },
);

export const layer4 = await box.take(
  '06-layer-4',
  layer4Reference,
  () => import('../06-layer-4/exercise.ts'),
  {
    requestBytes: '6.1',
    mixBytes: '6.1',
    skew: '6.2',
    imbalance: '6.2',
    startLayer4Balancer: '6.3',
    assignConnections: '6.4',
    replicasNeeded: '6.5',
    replicasThatHold: '6.5',
    chooseRecycleLimit: '6.6',
  },
);

export const layer7 = await box.take(
  '07-layer-7',
  layer7Reference,
  () => import('../07-layer-7/exercise.ts'),
  {
    routeOf: '7.1',
    forwarded: '7.2',
    startLayer7Balancer: '7.3',
    poolPlan: '7.4',
    burst: '7.4',
    choosePoolLayout: '7.5',
    innerConnections: '7.6',
    predictDistribution: '7.7',
  },
);

export const algorithms = await box.take(
  '08-algorithms',
  algorithmsReference,
  () => import('../08-algorithms/exercise.ts'),
  {
    roundRobin: '8.1',
    leastConnections: '8.1',
    hashKey: '8.2',
    createRing: '8.3',
    moduloPlacement: '8.3',
    placementImbalance: '8.4',
    movedShare: '8.4',
    chooseVirtualNodes: '8.4',
    warmUpBill: '8.5',
    startPickingBalancer: '8.6',
    createRotatingLeastConnections: '8.7',
  },
);

export const reverseProxy = await box.take(
  '09-reverse-proxy',
  reverseProxyReference,
  () => import('../09-reverse-proxy/exercise.ts'),
  {
    parseRules: '9.1',
    matchRule: '9.2',
    startForwarder: '9.3',
    predictReach: '9.4',
    chainAvailability: '9.5',
    chooseForwarderLayout: '9.6',
  },
);

export const stickySessions = await box.take(
  '10-sticky-sessions',
  stickySessionsReference,
  () => import('../10-sticky-sessions/exercise.ts'),
  {
    bind: '10.1',
    loadByReplica: '10.2',
    loadImbalance: '10.2',
    scaleOut: '10.3',
    crash: '10.3',
    serialShare: '10.4',
    speedup: '10.4',
    replicasForTarget: '10.5',
    replicasForImbalance: '10.6',
    trueLowerBound: '10.7',
    sessionPlan: '10.8',
    startStickyBalancer: '10.9',
    bindByLoad: '10.10',
  },
);

export const apiGateway = await box.take(
  '11-api-gateway',
  apiGatewayReference,
  () => import('../11-api-gateway/exercise.ts'),
  {
    measurePlacement: '11.1',
    edgeLoad: '11.2',
    choosePlacement: '11.3',
    startApiGateway: '11.4',
    startSystem: '11.5',
  },
);

export const aggregation = await box.take(
  '12-routing-and-aggregation',
  aggregationReference,
  () => import('../12-routing-and-aggregation/exercise.ts'),
  {
    countLeaves: '12.1',
    planRequest: '12.2',
    mergeTracking: '12.3',
    fetchPart: '12.4',
    createTrackingListener: '12.5',
    startTrackingGateway: '12.6',
    aggregationEffect: '12.7',
  },
);

export const offloading = await box.take(
  '13-offloading',
  offloadingReference,
  () => import('../13-offloading/exercise.ts'),
  {
    createRule: '13.1',
    offload: '13.2',
    trustBill: '13.3',
    chooseTrust: '13.3',
    startOffloadedEdge: '13.4',
    withGatewayProof: '13.5',
    proofBill: '13.5',
    withExpiringProof: '13.6',
  },
);

export const backendForFrontend = await box.take(
  '14-backend-for-frontend',
  backendForFrontendReference,
  () => import('../14-backend-for-frontend/exercise.ts'),
  {
    selectFields: '14.1',
    viewCost: '14.2',
    layoutDemands: '14.3',
    mixEffect: '14.4',
    createClientEdges: '14.5',
  },
);

export const ambassador = await box.take(
  '15-ambassador-and-sidecar',
  ambassadorReference,
  () => import('../15-ambassador-and-sidecar/exercise.ts'),
  {
    externalPath: '15.1',
    toInternal: '15.2',
    classifyFailure: '15.3',
    startAmbassador: '15.4',
    contractsSeen: '15.5',
    placementCost: '15.6',
  },
);

export const gatekeeper = await box.take(
  '16-gatekeeper',
  gatekeeperReference,
  () => import('../16-gatekeeper/exercise.ts'),
  {
    gateChecks: '16.1',
    placeCheck: '16.2',
    applicationChecks: '16.3',
    gateEffect: '16.4',
    createGatekeeper: '16.5',
    startGatekeeper: '16.5',
  },
);

/** Every export of the sixteen lessons, in their order, and whose it is. */
export const PIECES: readonly Piece[] = box.pieces;

/** Units of the running path, and what they are made of. */
const UNITS = {
  'name layer': ['1.3 createPolicy'],
  'edge caches': ['2.2 LruCache'],
  'load balancer': ['5.4 HealthTracker', '5.5 startBalancer', '8.3 createRing'],
  gateways: ['12.3 mergeTracking', '14.1 selectFields', '16.1 gateChecks'],
  delivery: ['16.3 applicationChecks'],
  ambassador: ['15.4 startAmbassador'],
};

/** The pieces that the running path is made of, in the order in which a request meets them. */
export const PATH_PIECES: readonly PathPiece[] = Object.entries(UNITS).flatMap(([unit, labels]) =>
  PIECES.filter(({ exercise, name }) => labels.includes(`${exercise} ${name}`)).map((piece) => ({
    unit,
    ...piece,
  })),
);
