import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { COURSE_ROOT } from './course.ts';
import type { Grade } from './grade.ts';
import { processesWith } from './processes.ts';

/** Limits for courses that are to reach them. The real ones would take a student's patience. */
export const SHORT_LIMITS = { silentMs: 3_000, testTimeoutMs: 1_200, heapMb: 100 };

/** A run of Vitest that is over. */
export interface BedRun {
  readonly code: number | null;
  /** Both streams, without colours. */
  readonly output: string;
  readonly seconds: number;
  /** Processes of the run that are still there, or why nobody can tell. */
  readonly leftBehind: readonly string[] | { readonly unknown: string };
}

/** A small course in the system's folder for temporary files. Disposing it deletes it. */
export interface TestBed extends Disposable {
  readonly root: string;
  write(path: string, text: string): void;
  read(path: string): string;
  grade(): Grade;
  /** Starts Vitest. Resolves when it has ended. */
  vitest(args: readonly string[], options?: BedOptions): Promise<BedRun>;
}

/** How a test takes part in a run. */
export interface BedOptions {
  /** Whether it has a group of its own, as a shell gives to every command line. */
  ownGroup?: boolean;
  onStart?: (child: BedChild) => void;
  /** Called with everything that was printed so far. */
  onOutput?: (output: string, child: BedChild) => void;
}

/** What a test may do with a run that goes on. */
export interface BedChild {
  kill(signal: NodeJS.Signals): void;
  /** Sends a signal to its whole group, as a terminal does. Asks for `ownGroup`. */
  killGroup(signal: NodeJS.Signals): void;
  /** Closes the pipes that it prints on, as `head` does when it has enough. */
  closeOutput(): void;
}

/**
 * Copies the course's machinery into a new folder, with the files that are given and none of the
 * lessons.
 *
 * The configuration is the course's own text with shorter limits, replaced here: so it is the file
 * that students run which is tested, and it needs no switch that only tests would use.
 */
export function makeTestBed(
  files: Readonly<Record<string, string>>,
  limits?: typeof SHORT_LIMITS,
): TestBed {
  // On macOS the folder for temporary files is a symlink, and Vite goes by real paths.
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-'));
  for (const name of ['package.json', 'tsconfig.json', 'helpers', 'fixtures']) {
    cpSync(join(COURSE_ROOT, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(COURSE_ROOT, 'node_modules'), join(root, 'node_modules'), 'junction');
  const temporary = join(root, 'tmp');
  mkdirSync(temporary);
  let config = readFileSync(join(COURSE_ROOT, 'vitest.config.ts'), 'utf8');
  const replacements = [
    ['export default defineConfig({', "export default defineConfig({ cacheDir: '.cache',"],
    ...(limits
      ? [
          ['silentMs: 8_000', `silentMs: ${limits.silentMs}`],
          ['heapMb: 512', `heapMb: ${limits.heapMb}`],
          ['testTimeout: 5_000', `testTimeout: ${limits.testTimeoutMs}`],
        ]
      : []),
  ] as [string, string][];
  for (const [text, by] of replacements) {
    if (!config.includes(text)) throw new Error(`vitest.config.ts lacks "${text}"`);
    config = config.replace(text, by);
  }

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  write('vitest.config.ts', config);
  for (const [path, text] of Object.entries(files)) write(path, text);

  return {
    root,
    write,
    read,
    grade: () => JSON.parse(read('grade.json')) as Grade,
    async vitest(args, { ownGroup = false, onStart, onOutput } = {}) {
      const mark = randomUUID();
      const { VITEST: _, NODE_OPTIONS: __, ...env } = process.env;
      for (const name of Object.keys(env)) if (/^VITEST_/.test(name)) delete env[name];
      const started = performance.now();
      const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
        cwd: root,
        env: {
          ...{ ...env, NO_COLOR: '1', COURSE_TEST_BED: mark, CI: '' },
          // A Vitest that is killed leaves its own folder there.
          ...{ TMPDIR: temporary, TMP: temporary, TEMP: temporary },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: ownGroup,
        // Less than a test has: if it fails, nothing is left behind either.
        timeout: 290_000,
        killSignal: 'SIGKILL',
      });
      const handle: BedChild = {
        kill: (signal) => child.kill(signal),
        killGroup: (signal) => process.kill(-(child.pid ?? Number.NaN), signal),
        closeOutput: () => {
          child.stdout.destroy();
          child.stderr.destroy();
        },
      };
      onStart?.(handle);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += stripVTControlCharacters(text);
          onOutput?.(output, handle);
        });
      }
      const [code] = (await once(child, 'close')) as [number | null];
      return {
        code,
        output,
        seconds: (performance.now() - started) / 1_000,
        leftBehind: await processesWith(`COURSE_TEST_BED=${mark}`),
      };
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The exercise file of `tinyLesson` that nobody has started. */
export function tinyStub(number: string): string {
  return `import { todo } from '#helpers/lesson/todo.ts';

export async function double(n: number): Promise<number> {
  // TODO ${number}.1: twice n.
  return todo('${number}.1 double');
}
export async function halve(n: number): Promise<number> {
  // TODO ${number}.2: half of n.
  return todo('${number}.2 halve');
}
`;
}

/** The exercise file of `tinyLesson` with `halve` as given: a body, an expression statement each. */
export function tinyExercise(halve: string, top = ''): string {
  return `${top}
export async function double(n: number): Promise<number> {
  return n + n;
}
export async function halve(n: number): Promise<number> {
  ${halve}
}
`;
}

/**
 * A lesson with a demonstration and two exercises, the first with one graded test and the second
 * with two: `halves 4` and `halves 6`.
 */
export function tinyLesson(
  number: string,
  title: string,
  exercise: string,
): Record<string, string> {
  const folder = `lessons/${number}-${title.toLowerCase()}`;
  const hints = ['nudge', 'approach', 'near-solution']
    .map(
      (level, i) =>
        `<details><summary>Hint ${i + 1}: ${level}</summary>\n\nThe ${level}.\n\n</details>\n`,
    )
    .join('\n');
  return {
    [`${folder}/README.md`]: `# Lesson ${number}: ${title}

## Exercises

### Exercise ${number}.1: doubling

${hints}
### Exercise ${number}.2: halving

${hints}
`,
    [`${folder}/${title.toLowerCase()}.spec.ts`]: `import { describe, expect, it } from 'vitest';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { double, halve } from './exercise.ts';

const lesson = openLesson(import.meta.url);

describe('Lesson ${number}: ${title}', () => {
  it('two and two make four', () => {
    expect(2 + 2).toBe(4);
  });
  describe('Exercise ${number}.1: doubling', lesson.exercise('${number}.1'), () => {
    it('doubles 2', async () => {
      expect(await double(2)).toBe(4);
    });
  });
  describe('Exercise ${number}.2: halving', lesson.exercise('${number}.2'), () => {
    it('halves 4', async () => {
      expect(await halve(4)).toBe(2);
    });
    it('halves 6', async () => {
      expect(await halve(6)).toBe(3);
    });
  });
});
`,
    [`${folder}/exercise.ts`]: exercise,
    [`${folder}/solution.ts`]: tinyExercise('return n / 2;'),
  };
}
