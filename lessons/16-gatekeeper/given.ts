// What lesson 16 hands to the student: types, the inputs of the derivations, and the layouts.
import { K01 } from '#fixtures/assumptions.ts';

/** A request as the checks see it: the only parts of it that anybody looks at. */
export interface GateRequest {
  /** Path. */
  yol: string;
  /** Tracking number. It comes from a stranger and may be of any type. */
  takipNo?: unknown;
  /** Token. */
  belirtec?: unknown;
  /** Bytes of the body. */
  govdeBayt: number;
}

/** One check: whether the request passes it. */
export type RequestCheck = (request: GateRequest) => boolean;

/** Checks by name. */
export type Checks = Readonly<Record<string, RequestCheck>>;

/** A check with its inputs, which are all that its placement depends on. */
export interface CheckInputs {
  readonly name: string;
  readonly reads: readonly string[];
}

/** Inputs that a request brings along. */
export const REQUEST_PARTS: readonly string[] = ['yol', 'takipNo', 'belirtec', 'govdeBayt'];
/** Inputs that only the application has: the shipment's record. */
export const DOMAIN_INPUTS: readonly string[] = ['gonderi kaydi'];

/** The six checks of the lesson. */
export const CHECKS: readonly CheckInputs[] = [
  { name: 'yol', reads: ['yol'] },
  { name: 'sema', reads: ['takipNo'] },
  { name: 'boyut', reads: ['govdeBayt'] },
  { name: 'belirtec', reads: ['belirtec'] },
  { name: 'varlik', reads: ['takipNo', 'gonderi kaydi'] },
  { name: 'yetki', reads: ['takipNo', 'belirtec', 'gonderi kaydi'] },
];

/** What the application knows about a shipment. */
export interface ShipmentRecord {
  readonly owner: string;
}

/** The shipments, by tracking number. */
export const RECORDS: ReadonlyMap<string, ShipmentRecord> = new Map([
  ['TR-4821', { owner: 'M7' }],
  ['TR-9007', { owner: 'M3' }],
]);

/** bytes, inclusive: the largest body that the gate lets through. */
export const BODY_LIMIT = 2_048;

/** Share of the requests at the edge that are invalid: old clients, expired tokens, retries. */
export const INVALID_SHARE = 0.08;
/** The same, doubled, to see how much hangs on it. */
export const INVALID_SHARE_DOUBLED = 0.16;

/** The application's units: tracking, events, pricing. */
export const SERVICES: readonly string[] = ['takip', 'olay', 'ucret'];

/** Who does what, as a layout declares it. */
export interface GateLayout {
  /** Units that get bytes as a stranger sent them. */
  readonly touchRawInput: readonly string[];
  /** The application's addresses that a stranger can reach. */
  readonly publicAddresses: readonly string[];
  /** Units that carry validation code. */
  readonly carryChecks: readonly string[];
}

/** The two layouts. With a gate the services keep the checks that need a record. */
export const LAYOUTS: Readonly<Record<'none' | 'gate', GateLayout>> = {
  none: { touchRawInput: SERVICES, publicAddresses: ['the application'], carryChecks: SERVICES },
  gate: { touchRawInput: ['gate'], publicAddresses: [], carryChecks: ['gate', ...SERVICES] },
};

/** What reaches the application. */
export interface ApplicationReach {
  reachingRequests: number;
  /** Those among them that are invalid. */
  reachingInvalid: number;
  /** Bytes of their bodies. */
  reachingBytes: number;
}

/** The baseline's rates, requests/s. */
export interface BaselineRates {
  edge: number;
  reads: number;
  behindCache: number;
}

/** The rates of the introductory course. */
export const BASELINE: BaselineRates = {
  edge: K01.peakRate,
  reads: K01.peakReads,
  behindCache: K01.readsBehindCache,
};

/** What a gate changes. */
export interface GateEffect {
  /** Without a gate. */
  none: ApplicationReach;
  gate: ApplicationReach;
  invalid: {
    total: number;
    /** Refused before they reach the application. */
    held: number;
    notHeld: number;
    /** held / total, 0 where nothing is invalid. */
    heldRatio: number;
  };
  /** requests/s that are left behind the gate. */
  load: { behindGate: number; reads: number; behindCache: number };
}

/** A request as the gate hands it on. Method and path are always `POST /takip`. */
export interface CleanRequest {
  /** Who asks, from the token: such as `M7`. */
  identity: string;
  /** The client's `content-type`, if it sent one. */
  contentType?: string;
  /** The body, byte for byte as it came. */
  body: Buffer;
}

/** What the application answers. */
export interface ApplicationAnswer {
  /** 200 to 599. */
  status: number;
  contentType?: string;
  body: Buffer;
}

/** How a gate gets a request to the application. */
export type ForwardClean = (request: CleanRequest) => Promise<ApplicationAnswer>;
