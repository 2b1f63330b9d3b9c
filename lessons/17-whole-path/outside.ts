// The units that the path is given: the carrier outside, and the pricing service.
import { type RunningServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import { SHIPMENT } from '../14-backend-for-frontend/given.ts';
import { startCarrier } from '../15-ambassador-and-sidecar/carrier.ts';
import { SHIPMENT as CARRIER_SHIPMENT } from '../15-ambassador-and-sidecar/given.ts';
import { REFUSALS, type Records } from './given.ts';

/** Starts the carrier of lesson 15. It knows every shipment, all of them in the same state. */
export function startCarrierOf(records: Records): Promise<RunningServer> {
  return startCarrier({
    shipments: [...records.keys()].map((trackingNo) => ({ ...CARRIER_SHIPMENT, trackingNo })),
  });
}

/**
 * Starts the pricing service. `GET /ucret/<no>` is answered with the price of one shipment, and if
 * there are batch endpoints `GET /ucret?no=<n1>,<n2>` with an array in the order asked. The header
 * field `x-kimlik` says who asks. A number that it doesn't know is 404, one of somebody else's 403;
 * the first of them is the answer.
 */
export async function startPricingOf(
  records: Records,
  { batch }: { batch: boolean },
): Promise<RunningServer> {
  return await startHttpServer((request, response) => {
    const asked = askedFor(request.url ?? '');
    const send = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    if (!asked || (asked.isList && !batch)) {
      send(404, REFUSALS.path.body);
      return;
    }
    for (const number of asked.numbers) {
      const record = records.get(number);
      const refusal =
        record === undefined
          ? REFUSALS.unknown
          : record.owner !== request.headers['x-kimlik'] && REFUSALS.foreign;
      if (refusal) {
        send(refusal.status, refusal.body);
        return;
      }
    }
    const prices = asked.numbers.map((takipNo) => ({ takipNo, ...SHIPMENT.ucret }));
    send(200, JSON.stringify(asked.isList ? prices : prices[0]));
  });
}

function askedFor(target: string): { isList: boolean; numbers: string[] } | undefined {
  const single = /^\/ucret\/([^/?]+)$/.exec(target)?.[1];
  if (single !== undefined) return { isList: false, numbers: [single] };
  const list = /^\/ucret\?no=([^&]+)$/.exec(target)?.[1];
  return list === undefined ? undefined : { isList: true, numbers: list.split(',') };
}
