import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { ProcessTree } from './process-tree.ts';

/** What Vitest's main process may use, with everything below it. */
export interface RunLimits {
  /** Milliseconds for all lessons of the run. */
  readonly totalMs: number;
  /** Processes at the same time. Lesson 15 has 3 of its own, the others have none. */
  readonly processes: number;
  /** Memory of all of them together, 10^6 bytes. */
  readonly megabytes: number;
  /** Size of the folder that may be written to, 10^6 bytes. */
  readonly writtenMegabytes: number;
}

/** One run of Vitest in a sandbox. */
export interface VitestRun {
  /** The sandbox: the course's folder in it is the working directory. */
  readonly course: string;
  /** An empty folder that the run may write to. */
  readonly scratch: string;
  /** Configuration below the course's folder. */
  readonly config: string;
  /** Two digits each. */
  readonly lessons: readonly string[];
  readonly workers: number;
  readonly limits: RunLimits;
  readonly signal?: AbortSignal | undefined;
  /** What the child sends. The end of the run is told by returning true. */
  onMessage(message: unknown): boolean;
}

/** How a run ended. Every process of it is dead. */
export interface RunEnd {
  /** Whether it has told its own end. */
  readonly complete: boolean;
  /** Why it was ended before, or that it ended by itself: the rest of a sentence about it. */
  readonly reason?: string;
  /** A limit was reached: there is no use in trying again. */
  readonly limit?: 'time' | 'processes' | 'memory' | 'disk';
  /** The last 8,000 characters that it printed. */
  readonly output: string;
  /** Processes that could not be ended. */
  readonly leftBehind: number;
  readonly seconds: number;
}

/** Characters of output that are kept. The rest is read, so that nobody waits, and dropped. */
const OUTPUT_CHARACTERS = 8_000;

/** Milliseconds between two looks at what a run has started. */
const LOOK_MS = 250;

/** What a run gets of the grader's environment: what a program needs to start, and no secret. */
const PASSED_ON =
  /^(PATH|LANG|LC_\w+|TZ|SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|NUMBER_OF_PROCESSORS)$/i;

/** Vitest's process ends when the grader has been killed. Those below it watch their own parents. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.on('disconnect', () => process.exit(1));",
)}`;

/** Runs that go on. They must not outlive this process. */
const trees = new Set<ProcessTree>();
process.on('exit', () => {
  for (const tree of trees) tree.killNow();
});

/**
 * Runs Vitest in a process group of its own and resolves when nothing of it is left. It doesn't
 * reject, whatever the run does.
 */
export async function runVitest(run: VitestRun): Promise<RunEnd> {
  const started = performance.now();
  const mark = randomUUID();
  const child = fork(
    join(run.course, 'node_modules/vitest/vitest.mjs'),
    [
      ...['run', '--config', run.config, '--maxWorkers', String(run.workers)],
      // The other way writes the bundled configuration into node_modules, which is everybody's.
      ...['--configLoader', 'runner'],
    ],
    {
      cwd: run.course,
      execArgv: ['--import', END_WITH_PARENT],
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))),
        ...Object.fromEntries(
          ['HOME', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TMPDIR', 'TMP', 'TEMP'].map(
            (name) => [name, run.scratch],
          ),
        ),
        NO_COLOR: '1',
        GRADE_LESSONS: run.lessons.join(','),
        GRADE_SCRATCH: run.scratch,
        GRADE_MARK: mark,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // On Windows that would open a window.
      detached: process.platform !== 'win32',
    },
  );
  const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid, mark, run.course);
  if (tree) trees.add(tree);

  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_CHARACTERS);
    });
  }
  const over = new AbortController();
  const end = await new Promise<Pick<RunEnd, 'complete' | 'reason' | 'limit'>>((resolve) => {
    const { totalMs, processes, megabytes, writtenMegabytes } = run.limits;
    const stop = (reason: string, limit?: NonNullable<RunEnd['limit']>) =>
      resolve({ complete: false, reason, ...(limit && { limit }) });
    const timer = setTimeout(
      () => stop(`took more than ${Math.round(totalMs / 1_000)} s in all and was stopped`, 'time'),
      totalMs,
    );
    const looks = setInterval(() => {
      const use = tree?.look();
      if (!use) return;
      if (use.processes > processes) {
        stop(`had ${use.processes} processes, wanted at most ${processes}`, 'processes');
      } else if (use.megabytes > megabytes) {
        stop(`used ${Math.round(use.megabytes)} MB, wanted at most ${megabytes} MB`, 'memory');
      } else if (writtenBelow(run.scratch, writtenMegabytes * 1e6) > writtenMegabytes * 1e6) {
        stop(`wrote more than ${writtenMegabytes} MB of files`, 'disk');
      }
    }, LOOK_MS);
    over.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      clearInterval(looks);
    });
    run.signal?.addEventListener('abort', () => stop('was interrupted'), { signal: over.signal });
    if (run.signal?.aborted) stop('was interrupted');
    child.on('message', (message) => {
      if (!over.signal.aborted && run.onMessage(message)) resolve({ complete: true });
    });
    child.on('error', ({ message }) => stop(`could not be started: ${message}`));
    child.on('exit', async (code, signal) => {
      // Its last messages may arrive after its exit.
      if (child.connected) await Promise.race([once(child, 'disconnect'), sleep(500)]);
      stop(`ended before its time (${signal ?? `exit code ${code}`})`);
    });
  });
  over.abort();
  const leftBehind = (await tree?.kill()) ?? 0;
  if (tree) trees.delete(tree);
  if (child.connected) child.disconnect();
  // What has escaped could hold the pipes open.
  child.stdout?.destroy();
  child.stderr?.destroy();
  return {
    ...end,
    output: stripVTControlCharacters(output).replaceAll(`${run.course}/`, ''),
    leftBehind,
    seconds: (performance.now() - started) / 1_000,
  };
}

/** Bytes of the files below a folder. Counting ends at the limit, and each file counts 4 KB or more. */
function writtenBelow(folder: string, limit: number): number {
  let bytes = 0;
  const visit = (path: string) => {
    for (const name of readdirSync(path)) {
      if (bytes > limit) return;
      const stats = lstatSync(join(path, name), { throwIfNoEntry: false });
      bytes += Math.max(4_096, stats?.size ?? 0);
      if (stats?.isDirectory()) visit(join(path, name));
    }
  };
  try {
    visit(folder);
  } catch {} // what is just being deleted
  return bytes;
}
