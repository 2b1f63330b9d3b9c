import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  createMethodsRPC,
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type WorkerRequest,
} from 'vitest/node';
import { isProgress } from './progress.ts';

/** What an exercise may use before its process is ended. */
export interface Limits {
  /** Milliseconds without a sign of life: no test started, none ended. */
  silentMs: number;
  /** Bytes that one file may print. */
  outputBytes: number;
}

/** Why a file's process ended before its tests did. */
export interface Incident {
  readonly kind: 'silent' | 'output' | 'memory' | 'died';
  /** Id of the test that was running; none while the file was being loaded. */
  readonly test: string | undefined;
  /** Tests that had ended by then, whether or not Vitest has heard of it. */
  readonly ended: ReadonlyMap<string, boolean>;
  /** In the student's language, such as `gave no sign of life for 8 s: is there an endless loop?` */
  readonly reason: string;
}

/** Incidents of the newest run of each file, by project name and module id. */
export const incidents = new Map<string, Incident>();

/** Key of a file in `incidents`. */
export function incidentKey(project: string, moduleId: string): string {
  return `${project} ${moduleId}`;
}

/**
 * A pool of processes, one for each file, that always comes to an end.
 *
 * Vitest has no time limit for a file: an endless loop in an exercise would keep the run waiting
 * for ever, and no timer inside the process can fire. This pool watches from outside. A process
 * that gives no sign of life, prints without end or dies is ended, what it was doing is noted in
 * `incidents`, and the other files are graded as if nothing had happened.
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
  readonly #limits: Limits;
  #child: ChildProcess | undefined;
  #file: string | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #running: string | undefined;
  #ended = new Map<string, boolean>();
  #printed = 0;
  #lastWords = '';

  constructor(options: PoolOptions, limits: Limits) {
    super(options);
    this.#project = options.project;
    this.#limits = limits;
  }

  override async start(): Promise<void> {
    const child = fork(this.entrypoint, [], {
      env: this.env as NodeJS.ProcessEnv,
      execArgv: this.execArgv,
      stdio: 'pipe',
      serialization: 'advanced',
    });
    this.#child = child;
    this.#capture(child, 'stdout');
    this.#capture(child, 'stderr');
    child.on('message', (message: unknown) => this.#hear(message));
    child.on('exit', (code, signal) => this.#died(code, signal));
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run' || message.type === 'collect') {
      this.#file = message.context.files[0]?.filepath;
      this.#running = undefined;
      this.#ended = new Map();
      this.#printed = 0;
      if (this.#file) incidents.delete(incidentKey(this.#project.name, this.#file));
      this.#watch();
    }
    // A child that has just died can't be written to; its exit is reported by itself.
    if (this.#child?.connected) this.#child.send(message);
  }

  override on(event: string, callback: (arg: unknown) => void): void {
    this.#child?.on(event, callback);
  }

  override off(event: string, callback: (arg: unknown) => void): void {
    this.#child?.off(event, callback);
  }

  override async stop(): Promise<void> {
    clearTimeout(this.#watchdog);
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    // The file is graded by now. Whatever its code still has in mind, it must not outlive the run.
    child.kill('SIGKILL');
    await exited;
  }

  #hear(message: unknown): void {
    if (isProgress(message)) {
      this.#running = message.course === 'start' ? message.test : undefined;
      if (message.course === 'end') this.#ended.set(message.test, message.passed);
      this.#watch();
    } else if ((message as { type?: string }).type === 'testfileFinished') {
      clearTimeout(this.#watchdog);
      this.#file = undefined;
    }
  }

  #watch(): void {
    clearTimeout(this.#watchdog);
    if (!this.#file) return;
    const { silentMs } = this.#limits;
    this.#watchdog = setTimeout(
      () =>
        this.#end(
          'silent',
          `gave no sign of life for ${silentMs / 1000} s. Look for an endless loop, or for a wait that nothing ends`,
        ),
      silentMs,
    );
  }

  #capture(child: ChildProcess, type: 'stdout' | 'stderr'): void {
    const log = createMethodsRPC(this.#project).onUserConsoleLog;
    child[type]?.setEncoding('utf8').on('data', (content: string) => {
      this.#printed += Buffer.byteLength(content);
      this.#lastWords = (this.#lastWords + content).slice(-4_000);
      const { outputBytes } = this.#limits;
      if (this.#printed > outputBytes) {
        this.#end('output', `printed more than ${outputBytes / 1_000_000} MB`);
        return;
      }
      const taskId = this.#running;
      log({ content, type, time: Date.now(), size: 1, ...(taskId && { taskId }) });
    });
  }

  #end(kind: Incident['kind'], reason: string): void {
    this.#note(kind, reason);
    this.#child?.kill('SIGKILL');
  }

  #died(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.#watchdog);
    if (/heap out of memory|invalid array length Allocation failed/i.test(this.#lastWords)) {
      this.#note('memory', 'ran out of memory. Look for something that grows without end');
    } else {
      this.#note(
        'died',
        `ended its process (${signal ?? `exit code ${code}`}) before its tests did`,
      );
    }
  }

  /** Keeps the first reason: what comes after it are its consequences. */
  #note(kind: Incident['kind'], reason: string): void {
    if (!this.#file) return;
    const key = incidentKey(this.#project.name, this.#file);
    if (incidents.has(key)) return;
    incidents.set(key, { kind, reason, test: this.#running, ended: this.#ended });
  }
}
