import { openClient } from '#helpers/lesson/client.ts';
import { type GatewayCounters, PUBLISHED } from './given.ts';
import type { DomainServices } from './services.ts';

/** The three ways to get at a shipment's status and price. */
export type AccessWay = 'separate' | 'routing' | 'aggregation';

/** A program that takes part. */
export type Station = 'client' | 'gateway' | 'durum' | 'ucret';

/** A message from one program to another. */
export interface Message {
  readonly from: Station;
  readonly to: Station;
  readonly text: string;
}

/** What the requests for one page view came to. */
export interface AccessRun {
  readonly way: AccessWay;
  readonly clientRequests: number;
  /** Different addresses that the client had to know for them. */
  readonly knownAddresses: number;
  /** Bytes of all bodies that the client got. */
  readonly clientBytes: number;
  /** Statuses and bodies that the client got, in order. */
  readonly answers: readonly { readonly status: number; readonly body: string }[];
  /** What the gateway counted meanwhile. */
  readonly counters: GatewayCounters;
  /** All messages, in the order in which they happened. */
  readonly messages: readonly Message[];
}

/** The requests of one page view: who is asked for what, in order. */
export function requestsOf(
  way: AccessWay,
  trackingNo: string,
): { to: Exclude<Station, 'client'>; target: string }[] {
  const parts = ['durum', 'ucret'] as const;
  if (way === 'separate') return parts.map((to) => ({ to, target: `/${to}/${trackingNo}` }));
  if (way === 'routing') {
    return parts.map((part) => ({ to: 'gateway', target: `/takip/${trackingNo}/${part}` }));
  }
  return [{ to: 'gateway', target: `/takip/${trackingNo}` }];
}

/** The addresses that the published run's clients had to know. */
export function publishedAddresses(way: AccessWay): Set<number> {
  return new Set(requestsOf(way, 'TR-4821').map(({ to }) => PUBLISHED.ports[to]));
}

/**
 * Measures one way: sets the gateway's counters to zero, sends the requests of one page view one after
 * another, and reads the counters.
 */
export async function measureAccess(
  way: AccessWay,
  gateway: { readonly port: number },
  services: DomainServices,
  trackingNo = 'TR-4821',
): Promise<AccessRun> {
  const messages: Message[] = [];
  const caller = way === 'separate' ? 'client' : 'gateway';
  services.onMessage = ({ service, kind, text, bytes }) =>
    messages.push(
      kind === 'asked'
        ? { from: caller, to: service, text: `GET ${text}` }
        : { from: service, to: caller, text: `${text}, ${bytes} bytes` },
    );
  const ports = { gateway: gateway.port, durum: services.durum.port, ucret: services.ucret.port };
  const requests = requestsOf(way, trackingNo);
  await readCounters(gateway);

  const answers: { status: number; body: string }[] = [];
  for (const { to, target } of requests) {
    using client = openClient(ports[to]);
    if (to === 'gateway') messages.push({ from: 'client', to, text: `GET ${target}` });
    const { status, body } = await client.send(target);
    answers.push({ status, body });
    if (to !== 'gateway') continue;
    messages.push({ from: to, to: 'client', text: `${status}, ${Buffer.byteLength(body)} bytes` });
  }
  services.onMessage = () => {};

  return {
    way,
    clientRequests: answers.length,
    knownAddresses: new Set(requests.map(({ to }) => ports[to])).size,
    clientBytes: answers.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0),
    answers,
    counters: await readCounters(gateway),
    messages,
  };
}

/** Reads the counters of a gateway, which sets them to zero. */
export async function readCounters(gateway: { readonly port: number }): Promise<GatewayCounters> {
  using client = openClient(gateway.port);
  return JSON.parse((await client.send('/sayac')).body);
}
