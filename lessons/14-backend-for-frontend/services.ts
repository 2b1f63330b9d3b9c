// The services behind the edge, as fakes that write down who asked them for what.
import type { ShipmentPart, ShipmentService } from './given.ts';

/** One call of an edge to a service. */
export interface Call {
  readonly service: string;
  readonly endpoint: keyof ShipmentService;
  readonly trackingNos: readonly string[];
}

export interface FakeServices {
  /** By name. */
  readonly services: Readonly<Record<string, ShipmentService>>;
  /** In the order in which they came. */
  readonly calls: readonly Call[];
}

/** What each service knows, by its name. */
export type Stock = Readonly<Record<string, readonly ShipmentPart[]>>;

/** Five shipments. Delivery and pricing list them in different orders, and TR-9007 has no price. */
export const STOCK = {
  delivery: [
    {
      takipNo: 'TR-4821',
      durum: 'dagitimda',
      bolge: '35',
      guncellenme: '2026-03-11T08:24:00Z',
      rota: ['34', '41', '35'],
    },
    {
      takipNo: 'TR-9007',
      durum: 'kabul',
      bolge: '34',
      guncellenme: '2026-03-11T07:02:00Z',
      rota: ['34'],
    },
    {
      takipNo: 'TR-1130',
      durum: 'aktarma',
      bolge: '41',
      guncellenme: '2026-03-11T06:40:00Z',
      rota: ['06', '41'],
    },
    {
      takipNo: 'TR-2750',
      durum: 'teslim',
      bolge: '06',
      guncellenme: '2026-03-10T16:05:00Z',
      rota: ['35', '06'],
    },
    {
      takipNo: 'TR-6604',
      durum: 'dagitimda',
      bolge: '16',
      guncellenme: '2026-03-11T08:11:00Z',
      rota: ['34', '16'],
    },
  ],
  pricing: [
    { takipNo: 'TR-6604', ucret: { tarife: 4_000, indirim: 0, net: 4_000, sozlesmeNo: 'S2' } },
    { takipNo: 'TR-2750', ucret: { tarife: 7_200, indirim: 720, net: 6_480, sozlesmeNo: 'S4' } },
    { takipNo: 'TR-1130', ucret: { tarife: 5_500, indirim: 550, net: 4_950, sozlesmeNo: 'S7' } },
    { takipNo: 'TR-4821', ucret: { tarife: 9_600, indirim: 1_440, net: 8_160, sozlesmeNo: 'S7' } },
  ],
} as const satisfies Stock;

/**
 * Services that answer from a stock. A batch answer comes in the order of the stock, whatever the
 * order of the question.
 *
 * @param beforeAnswer is awaited before each answer; what it throws is what the caller gets
 */
export function openServices(
  stock: Stock = STOCK,
  beforeAnswer: (call: Call) => Promise<void> | void = () => {},
): FakeServices {
  const calls: Call[] = [];
  const open = (service: string, parts: readonly ShipmentPart[]): ShipmentService => {
    const answer = async (endpoint: Call['endpoint'], trackingNos: readonly string[]) => {
      const call = { service, endpoint, trackingNos: [...trackingNos] };
      calls.push(call);
      await beforeAnswer(call);
      return parts.filter(({ takipNo }) => trackingNos.includes(takipNo));
    };
    return {
      one: async (trackingNo) => (await answer('one', [trackingNo]))[0],
      many: (trackingNos) => answer('many', trackingNos),
    };
  };
  const services = Object.fromEntries(
    Object.entries(stock).map(([name, parts]) => [name, open(name, parts)]),
  );
  return { services, calls };
}
