// The six checks as code that runs, and what they need: tokens, shipments, a contract. Each run is
// counted by the unit in which it takes place.
import type { IncomingMessage } from 'node:http';
import { type Flow, pathOf, type Unit } from '#helpers/lesson/gateway.ts';
import { claimedSubject, hasValidToken } from '#helpers/lesson/token.ts';

/** A check that can run in any unit. */
export interface RunnableCheck {
  readonly name: string;
  /** @returns 0 to go on, otherwise the status to answer with */
  run(unit: Unit, request: IncomingMessage): Promise<number> | number;
}

/** A shipment, of which a check needs no more than whose it is. */
export interface Shipment {
  readonly number: string;
  readonly owner: string;
}

/** The shipments of the tracking service, by their number. */
const SHIPMENTS: ReadonlyMap<string, Shipment> = new Map(
  [
    { number: 'TR-4821', owner: 's1' },
    { number: 'TR-9007', owner: 's2' },
  ].map((shipment) => [shipment.number, shipment]),
);

/** The contract of the batch job, and how many records a day it covers. */
export const CONTRACT = { name: 'S7', recordsPerDay: 60 } as const;

/** Bytes that a request may declare as the length of its body. */
export const MAX_BODY_BYTES = 1024;

/** One line of the access log. */
export interface LogEntry {
  /** Where it was written. */
  readonly unit: Unit;
  readonly method: string;
  readonly path: string;
  /** As the token claims it: the log is written before anybody has looked at the signature. */
  readonly subject: string | undefined;
  /** Only the service that has the shipments can fill it in. */
  readonly shipment?: Shipment;
}

/** The checks of one system, with what they leave behind. */
export interface CheckHarness {
  /** Those that read metadata only, in the order in which they run. */
  readonly edgeChecks: readonly RunnableCheck[];
  /** Those that stay, by service. */
  readonly serviceChecks: Readonly<Record<Flow, readonly RunnableCheck[]>>;
  /** Runs so far of a check in a unit. The quota runs once for each record. */
  runs(unit: Unit, check: string): number;
  /** Lines of the access log so far. */
  log(): readonly LogEntry[];
  /** The same check, with its runs counted here. */
  counted(check: RunnableCheck): RunnableCheck;
}

/** Makes the checks. The daily counter of the contract starts at 0. */
export function createCheckHarness(): CheckHarness {
  const runs = new Map<string, number>();
  const log: LogEntry[] = [];
  let recordsToday = 0;

  const count = (unit: Unit, check: string, times = 1) => {
    const key = `${unit} ${check}`;
    runs.set(key, (runs.get(key) ?? 0) + times);
  };
  const counted = (check: RunnableCheck): RunnableCheck => ({
    name: check.name,
    run(unit, request) {
      count(unit, check.name);
      return check.run(unit, request);
    },
  });

  const quota: RunnableCheck = {
    name: 'quota',
    run(unit, { headers }) {
      const records = Number(headers['x-batch'] ?? 1);
      if (!Number.isInteger(records) || records < 1) return 400;
      count(unit, 'quota', records);
      if (recordsToday + records > CONTRACT.recordsPerDay) return 429;
      recordsToday += records;
      return 0;
    },
  };

  return {
    edgeChecks: [
      counted({
        name: 'log',
        run(unit, request) {
          const shipment = unit === 'takip' ? shipmentOf(request) : undefined;
          log.push({
            unit,
            method: request.method ?? 'GET',
            path: pathOf(request),
            subject: claimedSubject(request.headers.authorization),
            ...(shipment && { shipment }),
          });
          return 0;
        },
      }),
      counted({
        name: 'token',
        run: (_unit, request) => (hasValidToken(request.headers.authorization) ? 0 : 401),
      }),
      counted({ name: 'rate', run: () => 0 }), // no test comes near a limit
      counted({
        name: 'size',
        run: (_unit, { headers }) =>
          Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES ? 413 : 0,
      }),
    ],
    serviceChecks: {
      takip: [
        counted({
          name: 'ownership',
          run(_unit, request) {
            // Never one that is unknown against one that isn't given: both would be undefined.
            const shipment = shipmentOf(request);
            return shipment && shipment.owner === claimedSubject(request.headers.authorization)
              ? 0
              : 403;
          },
        }),
      ],
      olay: [],
      ucret: [quota],
    },
    runs: (unit, check) => runs.get(`${unit} ${check}`) ?? 0,
    log: () => [...log],
    counted,
  };
}

/** The shipment that the path of a request ends with. */
function shipmentOf(request: IncomingMessage): Shipment | undefined {
  return SHIPMENTS.get(pathOf(request).split('/').at(-1) ?? '');
}
