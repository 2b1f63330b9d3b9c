// The edge that every client shares: one shipment a request, all that anybody knows about it.
import type { RequestListener } from 'node:http';
import type { ShipmentService } from './given.ts';

/**
 * Answers `GET /takip/<no>` with what all services know, in one body. It asks every service, for it
 * doesn't know who will read the answer.
 */
export function createSingleEdge(
  services: Readonly<Record<string, ShipmentService>>,
): RequestListener {
  return async (request, response) => {
    const trackingNo = /^\/takip\/([\w-]+)$/.exec(request.url ?? '')?.[1] ?? '';
    const parts = await Promise.all(
      Object.values(services).map((service) => service.one(trackingNo)),
    );
    const found = parts.every((part) => part !== undefined);
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? Object.assign({}, ...parts) : { hata: 'bulunamadi' }));
  };
}
