/** One virtual node: a place on the ring, and the replica that owns it. */
export interface Position {
  /** Unsigned 32-bit hash of the label, such as `k3#17`. */
  readonly at: number;
  readonly replica: string;
}

/** A consistent hash ring. */
export interface Ring {
  /** All positions, ascending by `at`. */
  readonly positions: readonly Position[];
  /** The replica that owns a key. */
  lookup(key: string): string;
}

/** What `chooseVirtualNodes` decides on. */
export interface VirtualNodeOptions {
  /** Names of the replicas before the pool grows. */
  readonly before: readonly string[];
  /** Names of the replicas afterwards. */
  readonly after: readonly string[];
  readonly keys: readonly string[];
  /** Virtual nodes per replica to try, in any order. */
  readonly candidates: readonly number[];
  /** Limit on the imbalance, before and after. A value equal to the limit is fine. */
  readonly maxImbalance: number;
  /** Limit on the ring's size after growth, in positions. */
  readonly maxPositions: number;
}

/** The decision of `chooseVirtualNodes`. */
export interface VirtualNodeChoice {
  /** Virtual nodes per replica. */
  readonly virtualNodes: number;
  /** Positions on the ring after growth. */
  readonly positions: number;
  /** Share of the keys that growth moves, 0 to 1. */
  readonly movedShare: number;
}

/** What `warmUpBill` calculates with. Rates are in requests per second, shares go from 0 to 1. */
export interface WarmUpInput {
  /** Share of the keys whose replica has changed. */
  readonly movedShare: number;
  readonly readRate: number;
  readonly writeRate: number;
  /** Share of the reads that a warm cache answers. */
  readonly hitRatio: number;
  /** What reaches the store when nothing has moved. */
  readonly baselineStoreRate: number;
  /** How long the moved keys stay cold. */
  readonly windowSeconds: number;
}

/** What the store sees while moved keys are cold. Nothing is rounded. */
export interface WarmUpBill {
  /** Share of the reads that the caches don't answer. */
  readonly missRatio: number;
  /** Reads that reach the store, per second. */
  readonly readsBehindCache: number;
  /** Reads and writes that reach the store, per second. */
  readonly storeRate: number;
  readonly ratioToBaseline: number;
  /** Requests over the whole window that the store would not have seen otherwise. */
  readonly extraRequests: number;
}
