// What the lesson starts from: the checks, what each of them reads, and how long it is.
import type { Flow } from '#helpers/lesson/gateway.ts';
import type { CloseOptions } from '#helpers/lesson/http-server.ts';

/** A check as the rule sees it: a decision or a record that is made for each request. */
export interface Check {
  readonly name: string;
  /** Required inputs: without them it can't decide. */
  readonly reads: readonly string[];
  /** Inputs that it would like to have in its record. They don't change its decision. */
  readonly optional: readonly string[];
  /** How long one implementation is. */
  readonly lines: number;
}

/** Inputs that come with the request itself. */
export const METADATA_INPUTS = ['headers', 'path', 'source address', 'content length'] as const;

/** Inputs that come from the system's data. */
export const DOMAIN_INPUTS = ['shipment record', 'contract record', 'daily counter'] as const;

/** The six checks. The lengths are invented; they carry an order of magnitude. */
export const CHECKS = [
  { name: 'token', reads: ['headers'], optional: [], lines: 12 },
  { name: 'rate', reads: ['source address', 'headers'], optional: [], lines: 9 },
  { name: 'size', reads: ['content length'], optional: [], lines: 5 },
  { name: 'log', reads: ['path', 'headers'], optional: ['shipment record'], lines: 6 },
  { name: 'ownership', reads: ['headers', 'shipment record'], optional: [], lines: 14 },
  { name: 'quota', reads: ['contract record', 'daily counter'], optional: [], lines: 11 },
] as const satisfies readonly Check[];

/** The three services: tracking, status events, fees. */
export const SERVICES = 3;

/** Says of checks whether they may move to the edge. */
export interface Rule {
  /** Whether all that the check requires comes with the request. */
  isPortable(check: Check): boolean;
  /** The required inputs that are domain data, in the order of the check. */
  domainInputsOf(check: Check): string[];
  /** Record fields that the edge can't fill in: optional domain inputs of portable checks. */
  missingFields(checks: readonly Check[]): number;
}

/** Lines at the edge and in all services together. */
export interface Lines {
  readonly edge: number;
  readonly services: number;
  readonly total: number;
}

/** Which checks move, and what that saves. */
export interface Offloading {
  /** Names of the checks that move, in the order of the list. */
  readonly edge: string[];
  /** Names of those that stay. */
  readonly stay: string[];
  /** Every check in every service. */
  readonly everyService: Lines;
  /** Portable checks at the edge, the others in every service. */
  readonly offloaded: Lines;
  /** Lines offloaded over lines in every service. */
  readonly ratio: number;
  /** Record fields that the edge can't fill in. */
  readonly missingFields: number;
}

/**
 * Who verifies the token: each service (there is no gateway), the gateway alone (the services trust
 * whatever comes), or both.
 */
export type TrustMode = 'noGateway' | 'gatewayTrusted' | 'both';

/** The modes, in the order in which ties are decided. */
export const TRUST_MODES: readonly TrustMode[] = ['noGateway', 'gatewayTrusted', 'both'];

/** What a trust mode costs, and what it leaves open. */
export interface TrustBill {
  /** Units that carry the verification. */
  readonly units: number;
  readonly verificationsPerSecond: number;
  /** Services that answer a direct request whose token nobody has verified. */
  readonly unprotectedServices: number;
}

/** What a trust mode is chosen by. */
export interface TrustRequirements {
  /** Whether anybody can reach a service without passing the gateway. */
  readonly gatewayCanBeBypassed: boolean;
  /** There is a gateway for other reasons, so `noGateway` is out of the question. */
  readonly gatewayRequired?: boolean;
  readonly services: number;
  /** req/s at the edge. */
  readonly edgeRate: number;
  /** Units that may carry the verification; no limit if left out. */
  readonly maxUnits?: number;
  /** Verifications/s; no limit if left out. */
  readonly maxVerificationsPerSecond?: number;
}

/** A system of three services, with a gateway before them or without. */
export interface OffloadedEdge extends AsyncDisposable {
  /** The TCP port that clients have to know for this flow. */
  addressOf(flow: Flow): number;
  /** The TCP port of the service itself. */
  servicePort(flow: Flow): number;
  /** Closes whatever still runs. Safe to call twice. */
  close(options?: CloseOptions): Promise<void>;
}

/** What the proof of a gateway costs, and what it leaves open. */
export interface ProofBill {
  /** Tokens that are verified. */
  readonly tokenVerifications: number;
  /** Proofs that the services check. */
  readonly proofChecks: number;
  /** Units that check anything: a token or a proof. */
  readonly units: number;
  /** Services that answer a direct request without verification. */
  readonly unprotected: number;
}

/** Request header in which the gateway puts its proof. */
export const PROOF_HEADER = 'x-gateway-proof';
