import { expect } from 'vitest';
import { asInPrint, inPrint, type Ledger, loadLedger, nearestIds } from '../grading/ledger.ts';

declare module 'vitest' {
  interface Matchers<T> {
    /**
     * The computed value, formatted with the decimals of the ledger record, is the published one.
     * With `.not`, the published claim is refuted, which counts as asserted too.
     *
     * @param id such as `05.capacity.minReplicas`; an unknown one fails and suggests the nearest
     */
    toBePublished(id: string): void;
  }
}

const ledgers = new Map<string, Ledger>();

function ledgerOf(id: string): Ledger {
  const lesson = id.slice(0, id.indexOf('.'));
  let ledger = ledgers.get(lesson);
  if (!ledger) {
    ledger = loadLedger(lesson);
    ledgers.set(lesson, ledger);
  }
  return ledger;
}

expect.extend({
  toBePublished(value: unknown, id: string) {
    const record = ledgerOf(id).get(id);
    if (!record) {
      const nearest = nearestIds(ledgerOf(id), id);
      throw new Error(
        `The ledger has no "${id}". ` +
          (nearest.length ? `Nearest: ${nearest.join(', ')}` : 'It has no record of that lesson.'),
      );
    }
    const published = inPrint(record);
    const received = asInPrint(record, value);
    const { task } = this as typeof this & { task?: { meta: import('vitest').TaskMeta } };
    if (task) {
      task.meta.published ??= [];
      task.meta.published.push({ id, received, refuted: Boolean(this.isNot) });
    }
    const unit = record.unit && ` ${record.unit}`;
    return {
      pass: received === published,
      message: () =>
        this.isNot
          ? `The course publishes ${published}${unit} (${record.where}), and this test is there to ` +
            `refute it, but the code computed the same. Ledger: ${id}`
          : `The course publishes ${published}${unit}: ${record.where}.\n` +
            `Your code gives ${received}${unit}. Ledger: ${id}`,
      actual: received,
      expected: published,
    };
  },
});
