// The world outside: a carrier that speaks two contracts, on a real server.
import type { RequestListener } from 'node:http';
import {
  type HttpServer,
  type ListenOptions,
  startHttpServer,
} from '#helpers/lesson/http-server.ts';
import { type ContractVersion, SHIPMENT, type Shipment } from './given.ts';

/** What a contract says about a shipment, as its JSON text. */
export function carrierBody(version: ContractVersion, shipment: Shipment): string {
  const { code, state, region, updatedAt } = shipment;
  return JSON.stringify(
    version === 'v1'
      ? { code, zone: region, ts: Math.floor(Date.parse(updatedAt) / 1_000) }
      : { state, region: { code: region }, updatedAt },
  );
}

/** A running carrier. */
export interface Carrier extends HttpServer {
  /** Targets of the requests that have come so far, as they stood in the request line. */
  readonly targets: readonly string[];
  /** From now on the handler answers everything; without one, the carrier is honest again. */
  misbehave(handler?: RequestListener): void;
}

/** How a carrier is started. */
export interface CarrierOptions extends ListenOptions {
  /** What it knows of; `SHIPMENT` unless given. */
  readonly shipments?: readonly Shipment[];
}

/**
 * Starts a carrier. `GET /v1/durum?no=<no>` and `GET /v2/status/<no>` are answered as `carrierBody`
 * has it, an unknown number with 404 and `{"error":"not_found"}`.
 *
 * @throws whatever `listen` reports, such as EADDRINUSE for a port that is taken
 */
export async function startCarrier(options: CarrierOptions = {}): Promise<Carrier> {
  const { shipments = [SHIPMENT], ...listening } = options;
  const targets: string[] = [];
  let misbehaviour: RequestListener | undefined;

  const server = await startHttpServer((request, response) => {
    targets.push(request.url ?? '');
    if (misbehaviour) {
      misbehaviour(request, response);
      return;
    }
    const asked = askedFor(request.url ?? '');
    const shipment = shipments.find(({ trackingNo }) => trackingNo === asked?.trackingNo);
    response.setHeader('content-type', 'application/json');
    if (asked && shipment) response.end(carrierBody(asked.version, shipment));
    else response.writeHead(404).end(JSON.stringify({ error: 'not_found' }));
  }, listening);

  return Object.assign(server, {
    targets,
    misbehave(handler?: RequestListener) {
      misbehaviour = handler;
    },
  });
}

function askedFor(target: string): { version: ContractVersion; trackingNo: string } | undefined {
  const { pathname, searchParams } = new URL(target, 'http://carrier.test');
  if (pathname === '/v1/durum') return { version: 'v1', trackingNo: searchParams.get('no') ?? '' };
  const [, segment] = /^\/v2\/status\/([^/]+)$/.exec(pathname) ?? [];
  return segment ? { version: 'v2', trackingNo: decodeURIComponent(segment) } : undefined;
}
