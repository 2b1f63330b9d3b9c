// The six checks as one writes them at first. They judge all sixty requests of the set as they
// should. The spec shows what else they let pass, so copy nothing from here.
import type { Checks, ShipmentRecord } from './given.ts';

/** The four checks that look at the request. */
export function draftGateChecks(maxBodyBytes: number): Checks {
  return {
    yol: ({ yol }) => yol === '/takip',
    sema: ({ takipNo }) => /TR-\d{4}/.test(String(takipNo)),
    boyut: ({ govdeBayt }) => govdeBayt <= maxBodyBytes,
    belirtec: ({ belirtec }) => /b\.M\d+\.imza/.test(String(belirtec)),
  };
}

/** The two checks that need the shipment's record. */
export function draftApplicationChecks(records: ReadonlyMap<string, ShipmentRecord>): Checks {
  const byNumber: Record<string, ShipmentRecord> = Object.fromEntries(records);
  return {
    varlik: ({ takipNo }) => byNumber[String(takipNo)] !== undefined,
    yetki: ({ takipNo, belirtec }) =>
      byNumber[String(takipNo)]?.owner === String(belirtec).split('.')[1],
  };
}
