import { existsSync, readFileSync } from 'node:fs';

/** One number (or text) that the course publishes. */
export interface PublishedRecord {
  readonly id: string;
  readonly value: number | string | boolean;
  /** Decimals in print. Only numbers have it. */
  readonly digits?: number;
  readonly unit: string;
  readonly kind: 'assumption' | 'measured' | 'computed';
  /** Where the number stands in the lesson. */
  readonly where: string;
}

/** All records of one lesson or more, by id. */
export type Ledger = ReadonlyMap<string, PublishedRecord>;

const LEDGERS = new URL('../../fixtures/published/', import.meta.url);

/**
 * Reads `fixtures/published/NN.json`. Empty for a lesson that publishes nothing.
 *
 * @param lesson two digits, such as `05`
 * @param folder where the ledgers are, with a slash at its end
 * @throws {Error} when a record is malformed, or two have the same id
 */
export function loadLedger(lesson: string, folder: URL = LEDGERS): Ledger {
  const file = new URL(`${lesson}.json`, folder);
  if (!existsSync(file)) return new Map();
  const ledger = new Map<string, PublishedRecord>();
  for (const record of JSON.parse(readFileSync(file, 'utf8')) as PublishedRecord[]) {
    const { id, value, digits } = record;
    if (!id?.startsWith(`${lesson}.`)) throw new Error(`${lesson}.json: id "${id}" is malformed`);
    if (ledger.has(id)) throw new Error(`${lesson}.json: two records have the id "${id}"`);
    if ((typeof value === 'number') !== Number.isInteger(digits)) {
      throw new Error(`${lesson}.json: "${id}" needs "digits" if, and only if, it is a number`);
    }
    ledger.set(id, record);
  }
  return ledger;
}

/** The value as the course prints it. */
export function inPrint(record: PublishedRecord): string {
  return format(record.value, record.digits);
}

/**
 * A computed value in the form in which the record is printed: a number with the record's decimals
 * (as `toFixed` does it, so 256.945, which is a little less in binary, prints 256.94), anything
 * else as text. A value of another type than the record's shows its type and so can't match.
 */
export function asInPrint(record: PublishedRecord, value: unknown): string {
  return typeof value === typeof record.value
    ? format(value as PublishedRecord['value'], record.digits)
    : `${String(value)} (${typeof value})`;
}

function format(value: PublishedRecord['value'], digits: number | undefined): string {
  return typeof value === 'number' && digits !== undefined ? value.toFixed(digits) : String(value);
}

/** The ids of the ledger that are spelt most like `id`, nearest first. */
export function nearestIds(ledger: Ledger, id: string, count = 3): string[] {
  return [...ledger.keys()]
    .map((known) => ({ known, edits: editDistance(known, id) }))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, count)
    .map(({ known }) => known);
}

/** Levenshtein's distance: single-character edits that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
