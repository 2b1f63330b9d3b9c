import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { RunnerTaskResult, RunnerTaskResultPack } from 'vitest';
import {
  createMethodsRPC,
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type TestModule,
  type WorkerRequest,
} from 'vitest/node';
import {
  isProgress,
  MEMORY_NOTE,
  MEMORY_PER_HEAP,
  MEMORY_VARIABLE,
  type Place,
  PRINTED_BY,
  type Progress,
  parseSighting,
  type Sighting,
  WATCHDOG_VARIABLE,
} from './progress.ts';

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

/** Milliseconds that a process which is about to be ended has to say which line it is executing. */
const SIGHTING_MS = 1_000;
/** How much sooner the process itself stops looking, so that its answer comes in time. */
const ANSWER_MS = 200;
/** Bytes of an answer. One with all its frames has a tenth of it. */
const SIGHTING_BYTES = 100_000;

/** How late a timer may be before it proves that it was this process that had stopped. */
const LATE_MS = 2_000;

/** Milliseconds that a test has to end when the run is cancelled. */
const CANCEL_MS = 300;

/** Number of the pipe between the pool and a process's watchdog: the first that is free. */
const WATCHDOG_PIPE = 4;

/** How the reports begin that a process prints when it runs out of memory, or is aborted. */
const NATIVE_REPORT =
  /<--- Last few GCs --->|-{5} Native stack trace -{5}|\[course: out of memory\]/;

/** Processes that are running. They must not outlive this one. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) endTree(child);
});

/**
 * A pool of processes, one for each file, that always comes to an end.
 *
 * Vitest has no time limit for a file: an endless loop in an exercise would keep the run waiting
 * for ever, and no timer inside the process can fire. This pool watches from outside. A process
 * that gives no sign of life or prints without end is ended, after its watchdog (watchdog.mjs) has
 * said which line was executing. However a process ends before its tests do, the pool completes the
 * file's results in its place: tests that had ended keep their result, the one that was running
 * fails with the reason and the line, the rest are skipped. To Vitest and to every reporter that is
 * a file that has failed like any other.
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

/**
 * One process of the pool, and what is believed of it. A stricter pool overrides `childOptions` and
 * `accepts`.
 */
export class GuardedWorker extends ForksPoolWorker {
  override readonly name: string = 'guarded-forks';
  readonly #project: PoolOptions['project'];
  readonly #vitest: ReturnType<typeof createMethodsRPC>;
  readonly #limits: Required<Limits>;
  readonly #offCancel: () => void;
  /** What Vitest hears of the process. */
  readonly #events = new EventEmitter();
  #child: ChildProcess | undefined;
  /** The file, from the moment when it is sent until its results are complete. */
  #file: string | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #running: string | undefined;
  #ended = new Map<string, Progress & { course: 'end' }>();
  /** Why this pool ended the process, if it did. */
  #verdict: ((where: string) => string) | undefined;
  /** What the process was doing when it was ended. */
  #seen: Sighting | undefined;
  #printed = 0;
  #lastWords = '';
  /** Whether what comes on stderr is Node's own report of its end. */
  #isDying = false;

  constructor(options: PoolOptions, limits: Limits) {
    super(options);
    this.#project = options.project;
    this.#vitest = createMethodsRPC(options.project, { collect: options.method === 'collect' });
    this.#limits = { heapMb: 512, ...limits };
    this.#offCancel = options.project.vitest.onCancel((reason) => {
      if (reason === 'keyboard-input') this.#cancel();
    });
  }

  override async start(): Promise<void> {
    const child = fork(this.entrypoint, [], this.childOptions());
    this.#child = child;
    children.add(child);
    this.#capture(child, 'stdout');
    this.#capture(child, 'stderr');
    this.#listen(child);
    child.on('message', (message) => this.#hear(message));
    child.on('error', (error) => this.#events.listenerCount('error') && this.#tell('error', error));
    child.on('exit', (code, signal) => {
      children.delete(child);
      endTree(child); // what it has started and left behind
      void this.#died(child, signal ?? `exit code ${code}`);
    });
  }

  /** How the process is started: its environment, Node's own arguments, its pipes. */
  protected childOptions(): ForkOptions & { env: NodeJS.ProcessEnv; execArgv: string[] } {
    const { heapMb } = this.#limits;
    return {
      env: {
        ...this.env,
        [MEMORY_VARIABLE]: String(MEMORY_PER_HEAP * heapMb),
        [WATCHDOG_VARIABLE]: String(WATCHDOG_PIPE),
      } as NodeJS.ProcessEnv,
      execArgv: [...this.execArgv, `--max-old-space-size=${heapMb}`],
      stdio: ['pipe', 'pipe', 'pipe', 'ipc', 'pipe'],
      serialization: 'advanced',
      // In a group of its own it can be ended with everything that it has started. Windows does
      // that by itself, and would open a window.
      detached: process.platform !== 'win32',
    };
  }

  /**
   * Whether a message of the process is believed: one of `Progress`, one of Vitest's, or anything
   * that the exercise sends. What isn't believed is no sign of life either.
   */
  protected accepts(_message: unknown): boolean {
    return true;
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
    this.#offCancel();
    this.#fileIsOver();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    endTree(child);
    await exited;
  }

  #hear(message: unknown): void {
    if (!this.accepts(message)) return;
    if (isProgress(message)) {
      this.#running = message.course === 'start' ? message.test : undefined;
      this.#seen = undefined;
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
    const started = performance.now();
    this.#watchdog = setTimeout(() => {
      // Ctrl-Z, or a machine that was suspended: then the silence was this process's own.
      if (performance.now() - started > silentMs + LATE_MS) this.#watch();
      else this.#end((where) => silence(silentMs, where, this.#seen?.thread));
    }, silentMs);
  }

  /** Ctrl-C in watch mode: Vitest asks the process to stop after its test, which may loop. */
  #cancel(): void {
    setTimeout(() => {
      if (!this.#file || !this.#child) return;
      this.#verdict ??= () => 'was cancelled';
      endTree(this.#child);
    }, CANCEL_MS);
  }

  /** Hears what the watchdog says when it is asked, or when the memory is full. */
  #listen(child: ChildProcess): void {
    const pipe = child.stdio[WATCHDOG_PIPE] as Duplex | undefined;
    let text = '';
    pipe?.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-SIGHTING_BYTES);
      const [line, ...rest] = text.split('\n');
      if (rest.length === 0) return;
      text = rest.join('\n');
      const seen = parseSighting(line ?? '');
      // A thread that is busy with its garbage has been seen before that.
      if (seen?.frames.length || !this.#seen) this.#seen = seen;
      this.#events.emit('seen');
    });
    pipe?.on('error', () => {}); // the process is gone, and that is told elsewhere
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
        (where) =>
          `printed more than ${outputBytes / 1_000_000} MB and was stopped${where}. ` +
          'Look for a console.log in a loop',
      );
    }
    // What Node says of its own memory tells a student nothing.
    this.#isDying ||= type === 'stderr' && NATIVE_REPORT.test(this.#lastWords);
    if (this.#isDying && type === 'stderr') return;
    const shown = content.slice(0, Math.max(0, SHOWN_BYTES - before));
    if (!shown) return;
    void this.#vitest.onUserConsoleLog({
      content: shown,
      type,
      time: Date.now(),
      size: 1,
      ...(taskId && { taskId }),
    });
  }

  #end(verdict: (where: string) => string): void {
    const child = this.#child;
    if (this.#verdict || !child) return;
    this.#verdict = verdict;
    const end = () => {
      clearTimeout(timer);
      this.#events.off('seen', end);
      endTree(child);
    };
    const timer = setTimeout(end, SIGHTING_MS);
    this.#events.once('seen', end);
    (child.stdio[WATCHDOG_PIPE] as Duplex | undefined)?.write(`${SIGHTING_MS - ANSWER_MS}\n`);
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
      const places = this.#places();
      const place = places.find(({ file }) => file.endsWith('/exercise.ts')) ?? places[0];
      const where = place ? ` at ${place.file.slice(this.#root.length + 1)}:${place.line}` : '';
      const reason =
        this.#verdict?.(where) ??
        (outOfMemory
          ? `ran out of memory and was stopped${where}. Look for something that grows without end`
          : `ended the whole process (${how}). Look for process.exit, process.abort or process.kill`);
      await this.#complete(file, reason, places);
      this.#answer('testfileFinished');
    } else {
      this.#tell('exit');
    }
  }

  get #root(): string {
    return this.#project.vitest.config.root;
  }

  /** The lines of the course that were executing when the process was ended, innermost first. */
  #places(): Place[] {
    return (this.#seen?.frames ?? []).filter(
      ({ file }) => file.startsWith(`${this.#root}/`) && !file.includes('/node_modules/'),
    );
  }

  /** Completes the results of a file whose process is gone. */
  async #complete(file: string, reason: string, places: readonly Place[]): Promise<void> {
    const module = this.#project.vitest.state
      .getTestModules()
      .find(({ project, moduleId }) => project.name === this.#project.name && moduleId === file);
    if (!module) return;
    const packs: RunnerTaskResultPack[] = [];
    for (const test of module.children.allTests()) {
      const ended = this.#ended.get(test.id);
      if (ended) packs.push([test.id, ended.result, ended.meta]);
      else if (test.id === this.#running) {
        packs.push([test.id, failure(`This test ${reason}.`, places), test.meta()]);
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
    packs.push([module.id, failure(`${this.#suspect(module)} ${reason}.`, places), module.meta()]);
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

/** In the stack, where Vitest and every reporter look for the line, with the lines around it. */
function failure(message: string, places: readonly Place[]): RunnerTaskResult {
  const frames = places.map(
    ({ name, file, line, column }) => `    at ${name || '<anonymous>'} (${file}:${line}:${column})`,
  );
  const stack = frames.length > 0 ? [`${EARLY_END}: ${message}`, ...frames].join('\n') : '';
  return { state: 'fail', errors: [{ name: EARLY_END, message, stack }] };
}

/** What a process that gave no sign of life is told. */
function silence(ms: number, where: string, thread: Sighting['thread'] | undefined): string {
  const stopped = `gave no sign of life for ${ms / 1_000} s and was stopped`;
  if (where) return `${stopped}${where}. Look for an endless loop there, or around it`;
  if (thread === 'deaf') {
    return (
      `${stopped} inside a call into Node, which hides its line. ` +
      'Look for a call that does not come back, such as execSync, or for one on something huge'
    );
  }
  if (thread === 'idle') {
    return `${stopped}. No line of the course was executing: look for a wait that never ends`;
  }
  return `${stopped}. Look for an endless loop, or for a wait that never ends`;
}

/** Ends a process and those that it has started. */
function endTree(child: ChildProcess): void {
  try {
    if (child.pid && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
  } catch {} // all of them are gone
  child.kill('SIGKILL');
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
