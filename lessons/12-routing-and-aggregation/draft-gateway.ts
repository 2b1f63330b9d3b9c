import { openClient } from '#helpers/lesson/client.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import { type GatewayCounters, PRICE_FIELDS, REFUSALS } from './given.ts';

/**
 * A first draft of the gateway. Every published number comes out right on it, and it is wrong three
 * times: it asks one service after the other, it takes whatever goes wrong for "there is no price",
 * and a service that has stopped ends the whole process unless it is the one with the prices.
 */
export async function startDraftGateway(
  serviceMap: ReadonlyMap<string, number>,
): Promise<HttpServer> {
  const none: GatewayCounters = { istek: 0, bayt: 0, tur: 0, peakInFlight: 0 };
  let counters = { ...none };
  let inFlight = 0;

  const ask = async (service: string, trackingNo: string) => {
    using client = openClient(serviceMap.get(service) ?? 0);
    counters.istek += 1;
    inFlight += 1;
    counters.peakInFlight = Math.max(counters.peakInFlight, inFlight);
    try {
      const answer = await client.send(`/${service}/${trackingNo}`);
      counters.bayt += Buffer.byteLength(answer.body);
      return answer;
    } finally {
      inFlight -= 1;
    }
  };

  return await startHttpServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    const [, first, trackingNo = '', part] = (request.url ?? '').split('/');
    if (first === 'sayac') {
      response.end(JSON.stringify(counters));
      counters = { ...none };
      return;
    }
    counters.tur += 1;
    const asked = await ask(part ?? 'durum', trackingNo);
    if (asked.status !== 200) {
      response.writeHead(404).end(REFUSALS.notFound);
    } else if (part) {
      response.end(asked.body);
    } else {
      const price = await ask('ucret', trackingNo).catch(() => undefined);
      const fields = price?.status === 200 ? JSON.parse(price.body) : undefined;
      const ucret = fields && Object.fromEntries(PRICE_FIELDS.map((name) => [name, fields[name]]));
      response.end(JSON.stringify({ ...JSON.parse(asked.body), ucret: ucret ?? null }));
    }
  });
}
