import { Worker } from 'node:worker_threads';
import type { RunnerTask, RunnerTestSuite } from 'vitest';
import { TestRunner } from 'vitest';
import {
  MEMORY_NOTE,
  MEMORY_PER_HEAP,
  MEMORY_VARIABLE,
  type Progress,
  printedBy,
  WATCHDOG_VARIABLE,
} from './progress.ts';

/** Milliseconds to wait after the last test for what a student's code may still throw. */
const AFTERMATH_MS = 20;

/**
 * Milliseconds between two signs of life of a test that goes on. A loop gives none; a test that works
 * for long, as some of lesson 17 do on a busy machine, ends by its own time-out.
 */
const ALIVE_MS = 1_000;

// Taken at load time: an exercise may replace them later.
const send = process.send?.bind(process);
const { setTimeout, setInterval, clearInterval, setImmediate } = globalThis;

/**
 * Vitest's runner for a student's file, in a process of its own. It tells the guarded pool which
 * test is running and how it ended, and charges errors that are thrown outside of every test to the
 * test that was running, or had run last: Vitest only reports them for the run as a whole.
 */
export default class StudentRunner extends TestRunner {
  /** The test that is running, or ran last. */
  #test: RunnerTask | undefined;
  #running = false;
  #alive: NodeJS.Timeout | undefined;
  /** What was thrown outside of every test. */
  #strays: Error[] = [];

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    guardProcess();
    this.#label(process.stdout);
    this.#label(process.stderr);
    process.on('uncaughtException', (error) => this.#charge(error, 'An error was thrown'));
    process.on('unhandledRejection', (error) => this.#charge(error, 'A promise was rejected'));
  }

  override async onBeforeRunTask(task: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(task);
    if (task.type !== 'test') return;
    this.#test = task;
    this.#running = true;
    const sign: Progress = { course: 'start', test: task.id };
    tell(sign);
    clearInterval(this.#alive);
    this.#alive = setInterval(() => tell(sign), ALIVE_MS).unref();
  }

  /** Node reports a rejection one turn late. Without this turn the next test would be charged. */
  async onTaskFinished(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task as never);
    if (task.type !== 'test') return;
    clearInterval(this.#alive);
    this.#running = false;
    this.#ended(task);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    if ('filepath' in suite) {
      await new Promise<void>((resolve) => setTimeout(resolve, AFTERMATH_MS));
      for (const error of this.#strays) fail(suite, error);
    }
    await super.onAfterRunSuite(suite);
  }

  #charge(thrown: unknown, what: string): void {
    const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
    const error = new Error(`${what}, and nothing handles it: ${cause.message}`);
    error.name = cause.name;
    error.stack = cause.stack ?? '';
    this.#strays.push(error);
    const test = this.#test;
    if (!test) return;
    fail(test, error);
    if (this.#running) return;
    this.#ended(test);
    // Vitest has sent the result already.
    const { onTaskUpdate } = this as { onTaskUpdate?: (packs: unknown[], events: []) => void };
    onTaskUpdate?.call(this, [[test.id, test.result, test.meta]], []);
  }

  /** Writes the test's id before the first thing that it prints. */
  #label(stream: NodeJS.WriteStream & Blocking): void {
    // Written in the background, the output of a loop would fill the memory before anyone sees it.
    stream._handle?.setBlocking?.(true);
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    let printing: string | undefined;
    stream.write = (...args: unknown[]) => {
      const test = this.#test?.id;
      if (test && test !== printing) write(printedBy(test));
      printing = test;
      return write(...args);
    };
  }

  #ended({ id, result, meta }: RunnerTask): void {
    tell({ course: 'end', test: id, result, meta });
  }
}

function fail(task: RunnerTask, { name, message, stack }: Error): void {
  task.result ??= { state: 'fail' };
  task.result.state = 'fail';
  task.result.errors = [...(task.result.errors ?? []), { name, message, stack: stack ?? '' }];
}

function tell(progress: Progress): void {
  // What can't be cloned, Vitest can't send either; and nobody listens when the channel is closed.
  if (!process.connected) return;
  try {
    send?.(progress);
  } catch {}
}

/** The part of a pipe that Node keeps to itself. Windows has it blocking from the start. */
interface Blocking {
  readonly _handle?: { setBlocking?(blocking: boolean): void };
}

/** Keeps the process from outliving the run, from eating all memory and from leaving by the door. */
function guardProcess(): void {
  // If the parent is gone, nobody reads the results any more.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.exit = (code = process.exitCode) => {
    throw new Error(`process.exit(${code ?? ''}) would end the whole run: return or throw instead`);
  };
  // A thread still sees both when the code hangs in a loop, or fills buffers, which V8's heap limit
  // does not count.
  const memoryBytes = Number(process.env[MEMORY_VARIABLE]) * 1e6;
  new Worker(new URL('./watchdog.mjs', import.meta.url), {
    workerData: {
      heapBytes: memoryBytes / MEMORY_PER_HEAP,
      memoryBytes,
      memoryNote: MEMORY_NOTE,
      descriptor: Number(process.env[WATCHDOG_VARIABLE]),
    },
    execArgv: [],
    env: {},
  }).unref();
}
