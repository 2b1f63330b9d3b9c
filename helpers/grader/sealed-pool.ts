import { mkdirSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { PoolOptions, PoolWorker, WorkerRequest } from 'vitest/node';
import { GuardedWorker, type Limits } from '../grading/guarded-pool.ts';
import { isEnvelope, KEY_FIELD, makeKey, opener, type SealedMessage } from './sealed-messages.ts';
import type { TestVerdict } from './types.ts';

/** What a file's process has proved to have come from its runner. */
export interface SealedFile {
  /** By full name. */
  readonly tests: Map<string, TestVerdict>;
  problem?: { readonly message: string; readonly at?: string };
  /** The file has used up its time. That it then gives no sign of life is this pool's doing. */
  overdue?: { readonly message: string };
  /** Whether the runner has told the end of the file. */
  isComplete: boolean;
}

/** By the path of the spec. */
export const sealedFiles = new Map<string, SealedFile>();

/**
 * What Vitest's runner may ask of Vitest. An exercise that got hold of the channel could otherwise
 * cancel the run, copy files as attachments or write snapshots.
 */
const BELIEVED: ReadonlySet<unknown> = new Set([
  'fetch',
  'getCountOfFailedTests',
  'onCollected',
  'onQueued',
  'onTaskArtifactRecord',
  'onTaskUpdate',
  'onUnhandledError',
  'resolve',
  'resolveSnapshotPath',
  'snapshotSaved',
]);

/** What the processes of a pool may use, and what they may reach. */
export interface SealedLimits extends Limits {
  /**
   * Milliseconds for one file. After them nothing is a sign of life any more, so that the file ends
   * `silentMs` later: a lesson whose tests all wait in vain can't use up the time of the others.
   */
  readonly fileMs: number;
  /** A folder in which Vitest puts what it has transformed. Of it, they may write to `own` alone. */
  readonly scratch: string;
  /** Whether the lesson's own tests start processes. */
  readonly startsProcesses: boolean;
}

/** The guarded pool, for a submission: it believes only results that the sealed runner has signed. */
export function sealedPool(limits: SealedLimits): {
  name: string;
  createPoolWorker: (options: PoolOptions) => PoolWorker;
} {
  return {
    name: 'sealed-forks',
    createPoolWorker: (options) => new SealedWorker(options, limits),
  };
}

class SealedWorker extends GuardedWorker {
  readonly #root: string;
  readonly #limits: SealedLimits;
  readonly #key = makeKey();
  readonly #open = opener(this.#key);
  #results: SealedFile | undefined;
  /** Point in time at which the file should be over. */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(options: PoolOptions, limits: SealedLimits) {
    super(options, limits);
    this.#root = options.project.vitest.config.root;
    this.#limits = limits;
  }

  protected override childOptions(): ReturnType<GuardedWorker['childOptions']> {
    const options = super.childOptions();
    const { scratch, startsProcesses } = this.#limits;
    const own = join(scratch, 'own');
    mkdirSync(own, { recursive: true });
    return {
      ...options,
      env: { ...options.env, TMPDIR: own, TMP: own, TEMP: own },
      execArgv: [
        ...options.execArgv,
        // No eval and no new Function: their code would see the real global object.
        '--disallow-code-generation-from-strings',
        // Memory that was freed and is handed out again may hold the key, as it came over the channel.
        '--zero-fill-buffers',
        ...permissions({
          read: [this.#root, realpathSync(join(this.#root, 'node_modules')), realpathSync(scratch)],
          write: [realpathSync(own)],
          startsProcesses,
        }),
      ],
    };
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'start') {
      const { context } = message;
      const config = { ...context.config, [KEY_FIELD]: this.#key };
      super.send({ ...message, context: { ...context, config } });
      return;
    }
    const file = message.type === 'run' ? message.context.files[0]?.filepath : undefined;
    if (file) {
      this.#results = { tests: new Map(), isComplete: false };
      sealedFiles.set(file, this.#results);
      this.#deadline = performance.now() + this.#limits.fileMs;
    }
    super.send(message);
  }

  protected override accepts(message: unknown): boolean {
    if (performance.now() > this.#deadline) {
      if (this.#results && !this.#results.isComplete) {
        const seconds = this.#limits.fileMs / 1_000;
        const message = `It took more than ${seconds} s in all and was stopped`;
        this.#results.overdue ??= { message };
      }
      return false;
    }
    if (isEnvelope(message)) {
      const opened = this.#open(message);
      if (opened) this.#note(opened);
      return false; // it is not Vitest's business
    }
    const { t, m } = (message ?? {}) as { t?: unknown; m?: unknown };
    return t !== 'q' || BELIEVED.has(m);
  }

  #note(message: SealedMessage): void {
    const results = this.#results;
    if (!results || results.isComplete) return;
    if (message.about === 'end') results.isComplete = true;
    else if (message.about === 'problem') results.problem ??= message;
    else {
      const { name } = message.test;
      const before = results.tests.get(name);
      // A test that has failed stays so. Two of one name can't be told apart: both have failed.
      if (before && before.state !== 'passed') return;
      if (before && message.test.state === 'passed') {
        results.tests.set(name, {
          ...before,
          state: 'failed',
          message: 'Two tests have this name',
        });
      } else results.tests.set(name, message.test);
    }
  }
}

/** What a process may do, as arguments of Node's permission model where this version has it. */
function permissions(options: {
  read: readonly string[];
  write: readonly string[];
  startsProcesses: boolean;
}): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  // Node 20 and 22 have the model too, but no inspector with it, and asking for it ends the process:
  // nobody would learn which line an endless loop is in.
  if (!known.has('--permission') || !known.has('--allow-inspector')) return [];
  return [
    '--permission',
    ...options.read.map((folder) => `--allow-fs-read=${folder}${sep}`),
    ...options.write.map((folder) => `--allow-fs-write=${folder}${sep}`),
    // The watchdog is a thread that looks through the inspector; connections are for the course's
    // own guard to judge. Not every version knows all three.
    ...['--allow-worker', '--allow-inspector', '--allow-net'].filter((flag) => known.has(flag)),
    ...(options.startsProcesses ? ['--allow-child-process'] : []),
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
  ];
}
