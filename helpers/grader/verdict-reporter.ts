import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { EARLY_END } from '../grading/guarded-pool.ts';
import { sealedFiles } from './sealed-pool.ts';
import type { LessonVerdict, TestVerdict } from './types.ts';

/** Tells the grader how every lesson ended. Results count only as far as they were signed. */
export class VerdictReporter implements Reporter {
  readonly #told = new Set<string>();

  onTestModuleEnd(module: TestModule): void {
    this.#tell(module);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) this.#tell(module);
    process.send?.({ grader: 'end' });
  }

  #tell(module: TestModule): void {
    if (this.#told.has(module.moduleId)) return;
    this.#told.add(module.moduleId);
    const verdict = verdictOf(module);
    if (verdict) process.send?.({ grader: 'lesson', verdict });
  }
}

function verdictOf(module: TestModule): LessonVerdict | undefined {
  const [, lesson] = /\/lessons\/(\d\d)-[^/]+\/[^/]+$/.exec(module.moduleId) ?? [];
  if (!lesson) return undefined;
  const signed = sealedFiles.get(module.moduleId);
  const tests = new Map(signed?.tests);
  for (const test of module.children.allTests()) {
    const early = earlyEndOf(test);
    if (early && !tests.has(early.name)) tests.set(early.name, early);
  }
  const early = module.errors().find(({ name }) => name === EARLY_END);
  const problem =
    signed?.overdue ??
    (early && { message: early.message, ...placeOf(early.stack) }) ??
    signed?.problem ??
    (signed?.isComplete ? undefined : { message: 'The file did not run to its end' });
  return { lesson, tests: [...tests.values()], ...(problem && { problem }) };
}

/** The test that was running when its process was ended. Its result comes from the pool itself. */
function earlyEndOf(test: TestCase): TestVerdict | undefined {
  const { state, errors } = test.result();
  const error = errors?.find(({ name }) => name === EARLY_END);
  if (state !== 'failed' || !error) return undefined;
  return {
    name: test.fullName,
    state: 'failed',
    errorName: EARLY_END,
    message: error.message,
    ...placeOf(error.stack),
  };
}

/** The innermost place in a lesson that a stack names, of the exercise if there is one. */
export function placeOf(stack: string | undefined): { at?: string } {
  const places = [...(stack ?? '').matchAll(/(lessons\/[\w-]+\/[\w.-]+:\d+):\d+/g)].map(
    ([, place]) => place ?? '',
  );
  const at = places.find((place) => place.includes('/exercise.ts:')) ?? places[0];
  return at ? { at } : {};
}
