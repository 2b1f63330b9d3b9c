// What lesson 15 hands to the student: types, error classes, and the inputs of its calculations.
import { K01 } from '#fixtures/assumptions.ts';

/** Which of the carrier's two contracts an ambassador speaks. */
export type ContractVersion = 'v1' | 'v2';

/** What the service gets for a shipment. The keys stand in this order in its JSON text. */
export interface InternalStatus {
  /** Tracking number. */
  readonly takipNo: string;
  /** State, in the service's own word, such as `dagitimda`. */
  readonly durum: string;
  /** Region, such as `35`. */
  readonly bolge: string;
  /** When the carrier last saw it: `YYYY-MM-DDThh:mm:ss.000Z`, in whole seconds. */
  readonly guncellenme: string;
}

/** The carrier's words for a state, and the service's. Only its own keys count. */
export type StateTable = Readonly<Record<string, string>>;

/** How an ambassador is started. */
export interface AmbassadorOptions {
  readonly version: ContractVersion;
  /** Where the carrier is, such as `http://carrier.test`; what stands behind the host is ignored. */
  readonly carrier: URL;
  readonly states: StateTable;
  /** ms from the start of a call to the last byte of its body; whole, from 1 to 2147483647. */
  readonly timeoutMs: number;
}

/** What the ambassador sends to the service. */
export interface LocalAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

/** Where an outbound call went wrong. */
export type CallFailure =
  /** It threw before its body had come completely. */
  | { readonly at: 'call'; readonly error: unknown }
  /** It ended in a complete answer with a status other than 200. */
  | { readonly at: 'status'; readonly status: number }
  /** It ended in a 200 whose body could not be parsed or translated: what that threw. */
  | { readonly at: 'body'; readonly error: unknown };

/** The carrier's body is not what its contract says. */
export class MalformedCarrierAnswer extends Error {
  override readonly name = 'MalformedCarrierAnswer';
}

/** The carrier's body is in order, and its word for the state is in no table. */
export class UnknownCarrierState extends Error {
  override readonly name = 'UnknownCarrierState';
  /** The carrier's word. */
  readonly state: string;

  constructor(state: string) {
    super(`the state table has no "${state}"`);
    this.state = state;
  }
}

/** What runs a unit's code, such as `A`. A library serves only its own. */
export type Runtime = string;

/** Where the shared work is put. */
export interface Placement {
  /** Whether it is a process next to each unit (a sidecar) or linked into it (a library). */
  readonly separateProcess: boolean;
  /** The runtimes whose units can use it. */
  readonly runtimes: readonly Runtime[];
}

/** What a placement costs, with one copy of each unit. */
export interface PlacementCost {
  /** Units that can use the shared work. */
  readonly usableUnits: number;
  /** Artefacts to build again when its version changes. */
  readonly rebuiltUnits: number;
  /** Artefacts of services to publish again for that. */
  readonly republishedServices: number;
  readonly processesPerUnit: number;
  readonly totalProcesses: number;
  /** Processes in an edge unit that a request passes. */
  readonly localHops: number;
  /** The gateway's hop and the local ones. */
  readonly pathHops: number;
  /** hop-requests/s */
  readonly hopRequestsPerSecond: number;
}

/** One fact, as both contracts tell it. */
export interface Shipment {
  readonly trackingNo: string;
  /** Word for the state in v1. */
  readonly code: string;
  /** Word for the state in v2. */
  readonly state: string;
  readonly region: string;
  /** RFC 3339 text, as v2 gives it; v1 gives the same instant in Unix seconds. */
  readonly updatedAt: string;
}

export const SHIPMENT: Shipment = {
  trackingNo: 'TR-4821',
  code: 'OFD',
  state: 'out_for_delivery',
  region: '35',
  updatedAt: '2026-03-11T08:24:00Z',
};

export const STATES: StateTable = { OFD: 'dagitimda', out_for_delivery: 'dagitimda' };

/** The three services and their runtimes. */
export const SERVICES: Readonly<Record<string, Runtime>> = { takip: 'A', olay: 'A', ucret: 'B' };

/** The edge before and after each kind of client was given a unit of its own (lesson 14). */
export const EDGE_UNITS: Readonly<Record<'before' | 'after', Readonly<Record<string, Runtime>>>> = {
  before: { kenar: 'A' },
  after: { 'kenar-mobil': 'A', 'kenar-web': 'A', 'kenar-panel': 'B' },
};

/** All deployment units and their runtimes. */
export const UNITS: Readonly<Record<string, Runtime>> = { ...SERVICES, ...EDGE_UNITS.after };

/** The shared work as a library: written once, for runtime A. */
export const LIBRARY: Placement = { separateProcess: false, runtimes: ['A'] };

/** The same as a process: reached by a local call, whatever the caller is written in. */
export const SIDECAR: Placement = { separateProcess: true, runtimes: ['A', 'B'] };

/** requests/s that arrive at the gateway in the busiest hour. */
export const PEAK_RATE: number = K01.peakRate;

/** Hops of a request through lesson 11's gateway: the gateway and one service. */
export const GATEWAY_PATH = ['gateway', 'service'] as const;

/** Ports of the run in which the published figures were taken. No figure depends on them. */
export const SOURCE_PORTS = { carrier: 8481, ambassadorV1: 8480, ambassadorV2: 8489 } as const;
