// What lesson 14 hands to the student: types, the three kinds of client, and the published inputs.
import { K01 } from '#fixtures/assumptions.ts';

/** The body that a single edge sends, or any other that is put together from what services know. */
export type ShipmentRecord = Readonly<Record<string, unknown>>;

/** A kind of client, and what it shows. */
export interface ClientKind {
  /** Such as `mobile`. */
  readonly name: string;
  /** Top-level fields of the record that it wants, in its order. */
  readonly fields: readonly string[];
  /** Shipments in one view: a whole number of 1 or more. */
  readonly records: number;
}

/** Which service a top-level field comes from. */
export type Ownership = Readonly<Record<string, string>>;

/** One common body for all clients, or an edge unit for each kind of them. */
export type EdgeLayout = 'single' | 'bff';

/** What one view of a client is measured on. */
export interface World {
  /** The combined body of one shipment. */
  readonly record: ShipmentRecord;
  readonly ownership: Ownership;
  /** Whether each service answers for several tracking numbers at once. */
  readonly batchEndpoints: boolean;
}

/** What one view of a client costs. */
export interface ViewCost {
  /** From the client to the edge. */
  requests: number;
  /** bytes of the bodies that it gets, as JSON in UTF-8. */
  bytes: number;
  /** Leaf fields in them. */
  leaves: number;
  /** Those of the leaf fields that it didn't ask for. */
  unusedLeaves: number;
  /** From the edge to services. */
  internalRequests: number;
}

/** What a layout asks of the people who run it, and of the services behind it. */
export interface LayoutDemands {
  edgeUnits: number;
  /** Kinds of client whose body changes. */
  clientsTouched: number;
  /** Services that must answer for several tracking numbers at once, in alphabetical order. */
  batchEndpoints: string[];
}

/** A kind of client in a mix: its share of the views, and what one view of it costs. */
export interface MixPart {
  /** 0 to 1. */
  readonly share: number;
  /** Requests of one view. */
  readonly requests: number;
  /** bytes of one view, all its requests together. */
  readonly bytes: number;
}

/** What the edge carries. */
export interface EdgeLoad {
  requestsPerSecond: number;
  /** Mean body. */
  bytesPerRequest: number;
  /** Bodies only; M is 10^6. */
  megabitPerSecond: number;
}

/** What a service says about one shipment: its number, and the fields that the service owns. */
export type ShipmentPart = Readonly<Record<string, unknown>> & { readonly takipNo: string };

/** A service behind the edge, with its single endpoint and its batch endpoint. */
export interface ShipmentService {
  /** Undefined when it has no record of that number. */
  one(trackingNo: string): Promise<ShipmentPart | undefined>;
  /** Those that it has a record of, each once, in any order. */
  many(trackingNos: readonly string[]): Promise<ShipmentPart[]>;
}

/** The shipment of all published bodies. The order of the keys is that of the body. */
export const SHIPMENT = {
  takipNo: 'TR-4821',
  durum: 'dagitimda',
  bolge: '35',
  guncellenme: '2026-03-11T08:24:00Z',
  rota: ['34', '41', '35'],
  ucret: { tarife: 9_600, indirim: 1_440, net: 8_160, sozlesmeNo: 'S7' },
} as const satisfies ShipmentRecord;

export const OWNERSHIP = {
  takipNo: 'delivery',
  durum: 'delivery',
  bolge: 'delivery',
  guncellenme: 'delivery',
  rota: 'delivery',
  ucret: 'pricing',
} as const satisfies Ownership;

/** The published world: the services have batch endpoints for whoever asks for them. */
export const WORLD: World = { record: SHIPMENT, ownership: OWNERSHIP, batchEndpoints: true };

/** Most clients show one shipment. A seller looks at a list. */
export const CLIENTS = [
  { name: 'mobile', fields: ['takipNo', 'durum', 'guncellenme'], records: 1 },
  { name: 'web', fields: ['takipNo', 'durum', 'bolge', 'guncellenme', 'rota'], records: 1 },
  { name: 'panel', fields: ['takipNo', 'durum', 'ucret'], records: 5 },
] as const satisfies readonly ClientKind[];

export type ClientName = (typeof CLIENTS)[number]['name'];

/** Shares of the views. */
export type ClientMix = Readonly<Record<ClientName, number>>;

/** Most views are a recipient who looks at one shipment. */
export const CLIENT_MIX: ClientMix = { mobile: 0.6, web: 0.3, panel: 0.1 };

/** The mobile share halved; the web page takes the rest. */
export const HALVED_MOBILE_MIX: ClientMix = { mobile: 0.3, web: 0.6, panel: 0.1 };

/** views/s in the busiest hour: in the introductory course a view was one request. */
export const VIEWS_PER_SECOND = K01.peakReads;

/** bytes of a tracking answer in the introductory course; it has no price in it. */
export const BASELINE_BODY_BYTES = K01.bodyBytes;

/**
 * Leaf fields of a JSON value: a scalar or `null` counts 1, an array or object what its values
 * count together.
 */
export function leafCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + leafCount(inner), 0);
}

const { ucret: _price, ...STATUS } = SHIPMENT;

/** bytes of what the model says about a shipment without its price: the baseline's 480 are of that. */
export const STATUS_BYTES = Buffer.byteLength(JSON.stringify(STATUS));

/** From the bytes of the model to those of the introductory course. */
export const SCALE = BASELINE_BODY_BYTES / STATUS_BYTES;
