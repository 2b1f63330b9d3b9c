import type { Vitest } from 'vitest/node';
import { lessonFolders } from './course.ts';
import { loadLedger } from './ledger.ts';
import { modulesOf, testsOf } from './modules.ts';

/** How much of the ledgers a run of `solutions` has asserted. */
export interface LedgerCoverage {
  /** Records of the lessons that ran whole. */
  readonly total: number;
  readonly asserted: number;
  /** Ids whose claim a test refutes; they count as asserted. */
  readonly refuted: readonly string[];
  /** Ids that no passing test has asserted. */
  readonly missing: readonly string[];
}

/**
 * Compares the ledger of every lesson that ran whole with what its passing tests asserted. A lesson
 * of which a name pattern or a skip has left tests out can't be judged, nor one that can't be loaded.
 */
export function ledgerCoverage(vitest: Vitest): LedgerCoverage {
  const asserted = new Set<string>();
  const refuted = new Set<string>();
  let total = 0;
  const missing: string[] = [];
  const modules = vitest.state.getTestModules();
  for (const folder of lessonFolders(vitest.config.root)) {
    const tests = testsOf(modulesOf(modules, 'solutions', folder));
    if (tests.length === 0 || tests.some((test) => test.result().state === 'skipped')) continue;
    for (const test of tests) {
      if (test.result().state !== 'passed') continue;
      for (const assertion of test.meta().published ?? []) {
        asserted.add(assertion.id);
        if (assertion.refuted) refuted.add(assertion.id);
      }
    }
    const ids = [...loadLedger(folder.number).keys()];
    total += ids.length;
    missing.push(...ids.filter((id) => !asserted.has(id)));
  }
  return { total, asserted: total - missing.length, refuted: [...refuted].sort(), missing };
}
