import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunnerTask, RunnerTestSuite } from 'vitest';
import StudentRunner from '../grading/runner.ts';
import { checkChanges, type Openings, seal, takeHidden } from './seal.ts';
import { KEY_FIELD, type SealedMessage, signer } from './sealed-messages.ts';
import type { TestVerdict } from './types.ts';

// Taken at load time, before the process is sealed.
const send = process.send?.bind(process);

/** Characters of a message that are passed on. */
const MESSAGE_CHARACTERS = 2_000;

type Test = Extract<RunnerTask, { type: 'test' }>;

/** The runner of a submission's file: seals the process before the spec loads, and signs results. */
export default class SealedRunner extends StudentRunner {
  readonly #sign: ReturnType<typeof signer>;
  readonly #root: string;
  /** Tests that have ended, with the state that was told. */
  readonly #told = new Map<Test, string | undefined>();

  constructor(config: ConstructorParameters<typeof StudentRunner>[0]) {
    const { [KEY_FIELD]: key } = config as unknown as Record<string, string>;
    delete (config as unknown as Record<string, string>)[KEY_FIELD];
    if (!key) throw new Error('A sealed runner needs the key of its pool');
    super(config);
    this.#sign = signer(key);
    this.#root = config.root.replaceAll('\\', '/');
  }

  override async importFile(
    ...[file, source]: Parameters<StudentRunner['importFile']>
  ): Promise<unknown> {
    if (source !== 'collect') return await super.importFile(file, source);
    const { evaluator } = (this as unknown as { moduleRunner: { evaluator: unknown } })
      .moduleRunner;
    try {
      seal(evaluator, openingsOf(dirname(file)));
      return await super.importFile(file, source);
    } catch (error) {
      const { message, stack } = error as Error;
      this.#tell({
        about: 'problem',
        message: cut(`exercise.ts cannot be loaded: ${message}`),
        ...this.#placeOf(stack),
      });
      throw error;
    }
  }

  override async onTaskFinished(test?: RunnerTask): Promise<void> {
    await super.onTaskFinished();
    const hidden = takeHidden();
    checkChanges();
    if (hidden && test?.result?.state === 'pass') throw hidden;
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task);
    if (task.type === 'test') this.#tellTest(task);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    // What was thrown after a test's end is charged to it.
    for (const [test, state] of this.#told) {
      if (test.result?.state !== state) this.#tellTest(test);
    }
    const [error] = suite.result?.errors ?? [];
    if (error) {
      this.#tell({ about: 'problem', message: cut(error.message), ...this.#placeOf(error.stack) });
    }
    this.#tell({ about: 'end' });
  }

  #tellTest(test: Test): void {
    const state = test.result?.state;
    this.#told.set(test, state);
    const [error] = test.result?.errors ?? [];
    const verdict: TestVerdict = {
      name: nameOf(test),
      state: state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : 'skipped',
      ...(error && {
        errorName: cut(String(error.name)),
        message: cut(String(error.message)),
        ...this.#placeOf(error.stack),
      }),
    };
    this.#tell({ about: 'test', test: verdict });
  }

  /** The innermost line of the exercise in a stack, or else of the lesson. */
  #placeOf(stack: unknown): { at?: string } {
    const places = String(stack ?? '')
      .replaceAll('\\', '/')
      .split(`${this.#root}/`)
      .flatMap((text) => /^(lessons\/[\w-]+\/[\w.-]+:\d+)/.exec(text)?.[1] ?? []);
    const at = places.find((place) => place.includes('/exercise.ts:')) ?? places[0];
    return at ? { at } : {};
  }

  #tell(message: SealedMessage): void {
    send?.(this.#sign(message));
  }
}

function nameOf(test: Test): string {
  const names = [test.name];
  for (let suite = test.suite; suite && !('filepath' in suite); suite = suite.suite) {
    names.unshift(suite.name);
  }
  return names.join(' > ');
}

/** What the given files of a lesson change while they test. */
function openingsOf(folder: string): Openings {
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.ts') && name !== 'exercise.ts')
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  return {
    usesNock: texts.some((text) => /from 'nock'/.test(text)),
    inherits: texts.flatMap((text) =>
      [...text.matchAll(/defineProperty\(Object\.prototype, '(\w+)'/g)].map(
        ([, name]) => name ?? '',
      ),
    ),
  };
}

function cut(text: string): string {
  return text.slice(0, MESSAGE_CHARACTERS);
}
