import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { RunnerTaskResult, RunnerTaskResultPack } from 'vitest';
import {
  createMethodsRPC,
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type TestModule,
  type WorkerRequest,
} from 'vitest/node';
import { isProgress, MEMORY_NOTE, MEMORY_VARIABLE, PRINTED_BY, type Progress } from './progress.ts';

/** What an exercise may use before its process is ended. */
export interface Limits {
  /**
   * Milliseconds without a sign of life: no module asked for, no test started, none ended. More than
   * a test's time-out, so that a test that waits in vain ends by that.
   */
  silentMs: number;
  /** Bytes that one file may print. */
  outputBytes: number;
  /** Megabytes of JavaScript heap. The whole process, buffers included, may use three times that. */
  heapMb?: number;
}

/** Name of the error of a test, or of a file, whose process came to an early end. */
export const EARLY_END = 'EarlyEnd';

/** Bytes of a file's output that are passed on. Nobody reads a megabyte. */
const SHOWN_BYTES = 10_000;

/** Processes that are running. They must not outlive this one. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * A pool of processes, one for each file, that always comes to an end.
 *
 * Vitest has no time limit for a file: an endless loop in an exercise would keep the run waiting
 * for ever, and no timer inside the process can fire. This pool watches from outside. A process
 * that gives no sign of life or prints without end is ended. However a process ends before its
 * tests do, the pool completes the file's results in its place: tests that had ended keep their
 * result, the one that was running fails with the reason, the rest are skipped. To Vitest and to
 * every reporter that is a file that has failed like any other.
 */
export function guardedPool(limits: Limits): {
  name: string;
  createPoolWorker: (options: PoolOptions) => PoolWorker;
} {
  return {
    name: 'guarded-forks',
    createPoolWorker: (options) => new GuardedWorker(options, limits),
  };
}

class GuardedWorker extends ForksPoolWorker {
  override readonly name = 'guarded-forks';
  readonly #project: PoolOptions['project'];
  readonly #vitest: ReturnType<typeof createMethodsRPC>;
  readonly #limits: Required<Limits>;
  /** What Vitest hears of the process. */
  readonly #events = new EventEmitter();
  #child: ChildProcess | undefined;
  /** The file, from the moment when it is sent until its results are complete. */
  #file: string | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #running: string | undefined;
  #ended = new Map<string, Progress & { course: 'end' }>();
  /** Why this pool ended the process, if it did. */
  #verdict: string | undefined;
  #printed = 0;
  #lastWords = '';

  constructor(options: PoolOptions, limits: Limits) {
    super(options);
    this.#project = options.project;
    this.#vitest = createMethodsRPC(options.project, { collect: options.method === 'collect' });
    this.#limits = { heapMb: 512, ...limits };
  }

  override async start(): Promise<void> {
    const { heapMb } = this.#limits;
    const child = fork(this.entrypoint, [], {
      env: { ...this.env, [MEMORY_VARIABLE]: String(3 * heapMb) } as NodeJS.ProcessEnv,
      execArgv: [...this.execArgv, `--max-old-space-size=${heapMb}`],
      stdio: 'pipe',
      serialization: 'advanced',
    });
    this.#child = child;
    children.add(child);
    this.#capture(child, 'stdout');
    this.#capture(child, 'stderr');
    child.on('message', (message) => this.#hear(message));
    child.on('error', (error) => this.#events.listenerCount('error') && this.#tell('error', error));
    child.on('exit', (code, signal) => {
      children.delete(child);
      void this.#died(child, signal ?? `exit code ${code}`);
    });
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'stop') {
      // The file is graded. Its process isn't asked, since it may be in a loop: stop() ends it.
      setImmediate(() => this.#answer('stopped'));
      return;
    }
    if (message.type === 'run' || message.type === 'collect') {
      this.#file = message.context.files[0]?.filepath;
      this.#watch();
    }
    // A process that has just died can't be written to; its exit is reported by itself.
    // One that dies during the write would raise an error here, were it not for the callback.
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  override on(event: string, callback: (arg: unknown) => void): void {
    this.#events.on(event, callback);
  }

  override off(event: string, callback: (arg: unknown) => void): void {
    this.#events.off(event, callback);
  }

  override async stop(): Promise<void> {
    this.#fileIsOver();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  #hear(message: unknown): void {
    if (isProgress(message)) {
      this.#running = message.course === 'start' ? message.test : undefined;
      if (message.course === 'end') this.#ended.set(message.test, message);
    } else if (isVitests(message)) {
      if (message.type === 'testfileFinished') this.#fileIsOver();
      this.#tell('message', message);
    } else return;
    this.#watch();
  }

  #tell(event: string, arg?: unknown): void {
    this.#events.emit(event, arg);
  }

  #answer(type: 'stopped' | 'testfileFinished'): void {
    this.#tell('message', { __vitest_worker_response__: true, type });
  }

  #fileIsOver(): void {
    clearTimeout(this.#watchdog);
    this.#file = undefined;
  }

  #watch(): void {
    clearTimeout(this.#watchdog);
    if (!this.#file) return;
    const { silentMs } = this.#limits;
    this.#watchdog = setTimeout(
      () =>
        this.#end(
          `gave no sign of life for ${silentMs / 1_000} s and was stopped. ` +
            'Look for an endless loop, or for a wait that never ends',
        ),
      silentMs,
    );
  }

  #capture(child: ChildProcess, type: 'stdout' | 'stderr'): void {
    let taskId: string | undefined;
    child[type]?.setEncoding('utf8').on('data', (text: string) => {
      const [first = '', ...parts] = text.split(PRINTED_BY);
      this.#print(type, first, taskId);
      for (let i = 0; i < parts.length; i += 2) {
        taskId = parts[i];
        this.#print(type, parts[i + 1] ?? '', taskId);
      }
    });
  }

  #print(type: 'stdout' | 'stderr', content: string, taskId: string | undefined): void {
    const before = this.#printed;
    this.#printed += Buffer.byteLength(content);
    this.#lastWords = (this.#lastWords + content).slice(-8_000);
    const { outputBytes } = this.#limits;
    if (this.#printed > outputBytes) {
      this.#end(
        `printed more than ${outputBytes / 1_000_000} MB and was stopped. ` +
          'Look for a console.log in a loop',
      );
    }
    const shown = content.slice(0, Math.max(0, SHOWN_BYTES - before));
    // The heap dump of a dying process tells a student nothing.
    if (!shown || shown.includes(MEMORY_NOTE) || isHeapError(shown)) return;
    void this.#vitest.onUserConsoleLog({
      content: shown,
      type,
      time: Date.now(),
      size: 1,
      ...(taskId && { taskId }),
    });
  }

  #end(reason: string): void {
    this.#verdict ??= reason;
    this.#child?.kill('SIGKILL');
  }

  async #died(child: ChildProcess, how: string): Promise<void> {
    // Its last messages and its last words may arrive after its exit. A process that it has
    // started can hold the pipes open, so there is a limit.
    const rest = [once(child, 'close'), child.connected && once(child, 'disconnect')];
    await Promise.race([Promise.all(rest), new Promise((resolve) => setTimeout(resolve, 500))]);
    const file = this.#file;
    this.#fileIsOver();
    if (file) {
      const outOfMemory = this.#lastWords.includes(MEMORY_NOTE) || isHeapError(this.#lastWords);
      const reason =
        this.#verdict ??
        (outOfMemory
          ? 'ran out of memory and was stopped. Look for something that grows without end'
          : `ended the whole process (${how}). Look for process.exit, process.abort or process.kill`);
      await this.#complete(file, reason);
      this.#answer('testfileFinished');
    } else {
      this.#tell('exit');
    }
  }

  /** Completes the results of a file whose process is gone. */
  async #complete(file: string, reason: string): Promise<void> {
    const module = this.#project.vitest.state
      .getTestModules()
      .find(({ project, moduleId }) => project.name === this.#project.name && moduleId === file);
    if (!module) return;
    const packs: RunnerTaskResultPack[] = [];
    for (const test of module.children.allTests()) {
      const ended = this.#ended.get(test.id);
      if (ended) packs.push([test.id, ended.result, ended.meta]);
      else if (test.id === this.#running) {
        packs.push([test.id, failure(`This test ${reason}.`), test.meta()]);
      } else if (test.result().state === 'pending') {
        packs.push([test.id, { state: 'skip' }, test.meta()]);
      }
    }
    const states = new Map(packs.map(([id, result]) => [id, result?.state]));
    for (const suite of module.children.allSuites()) {
      if (suite.state() !== 'pending') continue;
      const tests = [...suite.children.allTests()].map(({ id }) => states.get(id) ?? 'pass');
      const worst = (['fail', 'skip', 'pass'] as const).find((state) => tests.includes(state));
      packs.push([suite.id, { state: worst ?? 'skip' }, suite.meta()]);
    }
    packs.push([module.id, failure(`${this.#suspect(module)} ${reason}.`), module.meta()]);
    await this.#vitest.onTaskUpdate(packs, [[module.id, 'suite-finished', undefined]]);
  }

  #suspect(module: TestModule): string {
    const title = (id: string | undefined) =>
      [...module.children.allTests()].find((test) => test.id === id)?.name;
    const running = title(this.#running);
    if (running) return `The test "${running}"`;
    const last = title([...this.#ended.keys()].at(-1));
    if (last) return `What "${last}" had left behind`;
    return 'Loading exercise.ts';
  }
}

function failure(message: string): RunnerTaskResult {
  return { state: 'fail', errors: [{ name: EARLY_END, message, stack: '' }] };
}

function isHeapError(text: string): boolean {
  return /JavaScript heap out of memory|Fatal JavaScript (invalid size|out of memory)/i.test(text);
}

/** What Vitest sends itself. An exercise can call process.send too, with anything. */
function isVitests(message: unknown): message is { type?: string } {
  return (
    typeof message === 'object' &&
    message !== null &&
    ('__vitest_worker_response__' in message || 't' in message)
  );
}
