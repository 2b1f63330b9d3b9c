// The sixty requests: as values for the model, and as real HTTP requests for the servers.
import type { GateRequest } from './given.ts';

/** Requests in the set. */
export const REQUEST_COUNT = 60;
/** The pattern of the flaws repeats after this many requests. */
export const PERIOD = 12;
/** bytes of an ordinary body, and of one that is too large. */
export const BODY_BYTES = { base: 120, oversize: 9_000 } as const;

/** The one thing that is wrong with a request. */
export interface Flaw {
  readonly kind: string;
  readonly change: Partial<GateRequest>;
}

export const BASE_REQUEST: GateRequest = {
  yol: '/takip',
  takipNo: 'TR-4821',
  belirtec: 'b.M7.imza',
  govdeBayt: BODY_BYTES.base,
};

/**
 * The flaw of request i, by i mod 12. Half of every twelve have one. That is not a realistic error
 * rate: each kind comes equally often, so that each check has as much to do.
 */
export const FLAWS: ReadonlyMap<number, Flaw> = new Map([
  [6, { kind: 'unknown path', change: { yol: '/yok' } }],
  [7, { kind: 'no tracking number', change: { takipNo: undefined } }],
  [8, { kind: 'oversize', change: { govdeBayt: BODY_BYTES.oversize } }],
  [9, { kind: 'malformed token', change: { belirtec: 'bozuk' } }],
  [10, { kind: 'unknown shipment', change: { takipNo: 'TR-0001' } }],
  [11, { kind: "somebody else's shipment", change: { belirtec: 'b.M3.imza' } }],
]);

/** The requests of the model, or a variation of them. */
export function requestSet({
  count = REQUEST_COUNT,
  base = BASE_REQUEST,
  flaws = FLAWS,
}: {
  count?: number;
  base?: GateRequest;
  flaws?: ReadonlyMap<number, Flaw>;
} = {}): GateRequest[] {
  return Array.from({ length: count }, (_, i) => ({ ...base, ...flaws.get(i % PERIOD)?.change }));
}

/** A body of exactly so many bytes: a JSON object, padded with the key `dolgu`. */
export function paddedBody(takipNo: unknown, bytes: number): string {
  const body = (dolgu: string) => JSON.stringify({ takipNo, dolgu });
  return body('x'.repeat(bytes - body('').length));
}

/** A request of the set as HTTP sends it. */
export function toHttp({ yol, takipNo, belirtec, govdeBayt }: GateRequest) {
  return {
    path: yol,
    method: 'POST',
    headers: { authorization: String(belirtec), 'content-type': 'application/json' },
    body: paddedBody(takipNo, govdeBayt),
  };
}
