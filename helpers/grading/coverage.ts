import type { TestModule, Vitest } from 'vitest/node';
import { lessonFolders } from './course.ts';
import { loadLedger } from './ledger.ts';

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
 * of which only some tests were asked for can't be judged and is left out.
 */
export function ledgerCoverage(vitest: Vitest): LedgerCoverage {
  const asserted = new Set<string>();
  const refuted = new Set<string>();
  let total = 0;
  const missing: string[] = [];
  for (const { number, folder } of lessonFolders(vitest.config.root)) {
    const module = vitest.state
      .getTestModules()
      .find(
        ({ project, moduleId }) =>
          project.name === 'solutions' && moduleId.includes(`/lessons/${folder}/`),
      );
    if (!module || !ranWhole(module)) continue;
    for (const test of module.children.allTests('passed')) {
      for (const assertion of test.meta().published ?? []) {
        asserted.add(assertion.id);
        if (assertion.refuted) refuted.add(assertion.id);
      }
    }
    const ids = [...loadLedger(number).keys()];
    total += ids.length;
    missing.push(...ids.filter((id) => !asserted.has(id)));
  }
  return { total, asserted: total - missing.length, refuted: [...refuted].sort(), missing };
}

/** False if a name pattern, a line number or a skip has left tests out. */
function ranWhole(module: TestModule): boolean {
  return [...module.children.allTests()].every((test) => test.result().state !== 'skipped');
}
