// Who sends requests, and how many. The sizes are inputs of the model: nobody has counted them.

/** One client with a session. */
export interface Client {
  /** Such as `orta-3`. */
  readonly name: string;
  /** Requests that it sends: a whole number of 0 or more. */
  readonly requests: number;
}

/** How many clients of one size there are, and how many requests each of them sends. */
export interface ClientGroup {
  readonly clients: number;
  readonly requests: number;
}

/** A mix of clients of three sizes. */
export interface MixSizes {
  /** `buyuk-0`: the integration of one big seller, which asks for everything in one session. */
  readonly big: ClientGroup;
  /** `orta-0` and on: sellers of middle size. */
  readonly mid: ClientGroup;
  /** `kucuk-0` and on: small sellers, who ask rarely. */
  readonly small: ClientGroup;
}

/** The mix whose numbers the lesson publishes. */
export const MIX: MixSizes = {
  big: { clients: 1, requests: 2_000 },
  mid: { clients: 9, requests: 400 },
  small: { clients: 90, requests: 50 },
};

/** A fiftieth of it with the same names, for real servers. */
export const SCALED_MIX: MixSizes = {
  big: { clients: 1, requests: 40 },
  mid: { clients: 9, requests: 8 },
  small: { clients: 90, requests: 1 },
};

/** The clients of a mix: the big ones first, then the middle ones, then the small ones. */
export function createMix({ big, mid, small }: MixSizes = MIX): Client[] {
  return [...group('buyuk', big), ...group('orta', mid), ...group('kucuk', small)];
}

function group(size: string, { clients, requests }: ClientGroup): Client[] {
  return Array.from({ length: clients }, (_, index) => ({ name: `${size}-${index}`, requests }));
}

/** All requests of these clients. */
export function requestsOf(clients: readonly Client[]): number {
  return clients.reduce((sum, { requests }) => sum + requests, 0);
}
