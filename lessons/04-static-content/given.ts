// What lesson 4 hands to the student: types, and the inputs of the derivations.
import {
  K01,
  T10_EDGES,
  T13_PAGE_ASSETS,
  T14_PAGE_LOADS_PER_USER_PER_DAY,
} from '#fixtures/assumptions.ts';

/** What one process of the site is there for. */
export interface SiteRole {
  /** Whether it answers `/takip/<no>`. */
  readonly servesTracking: boolean;
  /** Whether it answers `/varlik/<name>`. */
  readonly servesAssets: boolean;
}

/** `combined`: one process serves everything. `split`: assets have a process of their own. */
export type Layout = 'combined' | 'split';

/** What a process has handled since its counter was last read. */
export interface Counter {
  /** Tracking queries. */
  takip: number;
  /** Assets. */
  varlik: number;
  /** Bytes of their bodies, headers not included. */
  bayt: number;
}

/** Traffic of one process, or of all processes of one kind, at the peak. */
export interface Traffic {
  requestsPerSecond: number;
  mbit: number;
}

/** What the assets of a page add at the peak. */
export interface AssetTraffic {
  pageLoadsPerDay: number;
  /** page loads/s */
  peakPageLoads: number;
  /** requests/s */
  peakAssetRequests: number;
  /** Mbit/s, decimal, bodies only */
  assetMbit: number;
}

/** The introductory course's calculation, which left the assets out. */
export interface Baseline {
  /** requests/s: tracking queries and status events. */
  peakRateAtEdge: number;
  /** Mbit/s of tracking answers, bodies only. */
  readEgressMbit: number;
}

/** Who carries what: the baseline, the one process of the combined layout, the two of the split. */
export type LayoutTable = Record<
  'baseline' | 'combinedApplication' | 'splitApplication' | 'splitContent',
  Traffic
>;

/** Processes that a load takes, and the resource that asks for the most of them. */
export interface Need {
  processes: number;
  binding: 'requests' | 'bandwidth';
}

/** What each layout takes, and which of them to run. */
export interface ScalingPlan {
  combined: Need;
  splitApplication: Need;
  splitContent: Need;
  layout: Layout;
}

/** A name that clients resolve. */
export interface SiteName {
  readonly name: string;
  /** Whether what stands behind it can be had elsewhere when a region is lost. */
  readonly survivesRegionLoss: boolean;
}

/** The published inputs of the traffic table. */
export const PUBLISHED = {
  users: K01.users,
  pageLoadsPerUserPerDay: T14_PAGE_LOADS_PER_USER_PER_DAY,
  peakFactor: K01.peakFactor,
  assetsPerPage: T13_PAGE_ASSETS.count,
  bytesPerPage: T13_PAGE_ASSETS.totalBytes,
} as const;

export const BASELINE: Baseline = {
  peakRateAtEdge: K01.peakRate,
  readEgressMbit: K01.readEgressMbit,
};

/** The published inputs of the load at the origin: each edge fetches each asset once a day. */
export const ORIGIN = {
  assets: T13_PAGE_ASSETS.count,
  bytes: T13_PAGE_ASSETS.totalBytes,
  edges: T10_EDGES,
  refreshesPerDay: 1,
} as const;

/** reads/s that still reach the application behind lesson 2's edge cache, as published there. */
export const READS_BEHIND_EDGE_CACHE = 41.76;
