import { createHash } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LessonFolder } from '../grading/course.ts';

/** The lesson that is made of the others: their solutions are lent to it. */
export const CAPSTONE = '17';

/** A folder in which one submission, or one lesson of it, is graded. Disposing it deletes it. */
export interface Sandbox extends Disposable {
  /** The course with the submission's exercises. */
  readonly course: string;
  /** An empty folder to write to. */
  readonly scratch: string;
  /** Files of the course that are not as they were laid there, the added and the deleted too. */
  changes(): string[];
}

/** The files of a course as they were when grading began. Disposing it deletes all sandboxes. */
export interface Workshop extends Disposable {
  /** Changes with every file of the course that a grade can depend on. */
  readonly courseHash: string;
  /**
   * Lays a submission over the course.
   *
   * @param lessons what is graded there, two digits each
   * @param exercises texts by folder below `lessons/`
   * @param lent whether the solutions of the lessons before the last one are there
   */
  open(
    lessons: readonly string[],
    exercises: ReadonlyMap<string, string>,
    lent: 'lent' | 'sealed',
  ): Sandbox;
  /** The course with all its solutions, to learn what counts. */
  openReference(): Sandbox;
  /** Packages' files that were changed since. All sandboxes share them. */
  changedModules(): string[];
}

/** A file of a sandbox, as it was laid there. */
interface Laid {
  readonly hash: string;
  readonly touched: number;
}

/** What a run needs of the course besides its lessons. */
const PARTS = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'helpers', 'fixtures'];

/** What is there to examine the course, and not needed to run it. */
const LEFT_OUT = /\.test\.ts$|^helpers\/(ui|grader\/corpus)\//;

const PREFIX = 'traffic-layer-grade-';

/** An exercise that was not handed in. Lesson 17 is then lent the solution. */
const NOTHING = '// Not handed in.\nexport {};\n';

/** Folders that are there. They must not outlive this process. */
const folders = new Set<string>();
process.on('exit', () => {
  for (const folder of folders) remove(folder);
});

/**
 * Copies the course into the system's folder for temporary files, once: every sandbox is made of
 * that copy, so what is changed in the course while it grades changes no grade.
 *
 * Sandboxes are copies and not links, which would let a submission write into all of them. It is
 * some 200 small files, in 30 ms.
 *
 * @param root folder of the course
 */
export function openWorkshop(root: string, lessons: readonly LessonFolder[]): Workshop {
  removeLeftovers();
  const home = mkdtempSync(join(realpathSync(tmpdir()), `${PREFIX}${process.pid}-`));
  folders.add(home);
  const template = join(home, 'course');
  const files = new Map<string, string>();
  const parts = [...PARTS, ...lessons.map(({ folder }) => `lessons/${folder}`)];
  for (const path of parts.flatMap((part) => filesBelow(root, part))) {
    if (LEFT_OUT.test(path)) continue;
    const content = readFileSync(join(root, path));
    write(template, path, content);
    files.set(path, hash(content));
  }
  const paths = [...files.keys()].sort();
  // What stands in the course's own exercise files is anybody's, and grades nothing.
  const counted = paths.filter((path) => !/^lessons\/[^/]+\/exercise\.ts$/.test(path));
  const modules = realpathSync(join(root, 'node_modules'));
  const installed = touchedBelow(modules);
  let count = 0;

  const open = (wanted: (path: string) => boolean, exercises: ReadonlyMap<string, string>) => {
    count += 1;
    const folder = join(home, String(count));
    const [course, scratch] = [join(folder, 'course'), join(folder, 'scratch')];
    mkdirSync(scratch, { recursive: true });
    const laid = new Map<string, Laid>();
    for (const path of counted) {
      if (!wanted(path)) continue;
      mkdirSync(dirname(join(course, path)), { recursive: true });
      copyFileSync(join(template, path), join(course, path));
      laid.set(path, { hash: files.get(path) ?? '', touched: touched(join(course, path)) });
    }
    for (const { folder } of lessons) {
      const path = `lessons/${folder}/exercise.ts`;
      if (!laid.has(`lessons/${folder}/README.md`)) continue;
      const text = exercises.get(folder) ?? NOTHING;
      write(course, path, text);
      laid.set(path, { hash: hash(text), touched: touched(join(course, path)) });
    }
    symlinkSync(modules, join(course, 'node_modules'), 'junction');
    return {
      course,
      scratch,
      changes: () => changes(course, laid, modules),
      [Symbol.dispose]: () => remove(folder),
    };
  };

  return {
    courseHash: hash(counted.map((path) => `${path} ${files.get(path)}\n`).join('')),
    open(graded, exercises, lent) {
      const last = lessons.find(({ number }) => number === CAPSTONE)?.folder;
      return open((path) => {
        const [, folder = '', name] = /^lessons\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
        if (name === 'mistakes.ts') return false;
        if (name === 'solution.ts') return lent === 'lent' && folder !== last;
        return folder === '' || lent === 'lent' || graded.includes(folder.slice(0, 2));
      }, exercises);
    },
    changedModules() {
      const now = touchedBelow(modules);
      const paths = new Set([...installed.keys(), ...now.keys()]);
      return [...paths].filter((path) => installed.get(path) !== now.get(path));
    },
    openReference: () => open((path) => !path.endsWith('/mistakes.ts'), new Map()),
    [Symbol.dispose]() {
      remove(home);
      folders.delete(home);
    },
  };
}

function filesBelow(root: string, path: string): string[] {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isFile()) return [path];
  if (!stats.isDirectory()) return [];
  return readdirSync(join(root, path))
    .filter((name) => name !== 'node_modules')
    .flatMap((name) => filesBelow(root, `${path}/${name}`));
}

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function changes(course: string, laid: ReadonlyMap<string, Laid>, modules: string): string[] {
  const found = new Set<string>();
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(course, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      if (path === 'node_modules' && entry.isSymbolicLink()) {
        if (sameLink(join(course, path), modules)) found.add(path);
      } else if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && isAsLaid(join(course, path), laid.get(path))) found.add(path);
      else added.push(path);
    }
  };
  const added: string[] = [];
  try {
    visit('');
  } catch (error) {
    added.push(String((error as NodeJS.ErrnoException).path ?? error).replace(`${course}/`, ''));
  }
  const missing = ['node_modules', ...laid.keys()].filter((path) => !found.has(path));
  return [...new Set([...added, ...missing])].sort();
}

/** When the file, or its name, mode or owner, was changed last. No program can set that back. */
function touched(path: string): number {
  return lstatSync(path).ctimeMs;
}

/** Without what Vite and this grader keep there: that decides nothing. */
function touchedBelow(modules: string): Map<string, number> {
  const found = new Map<string, number>();
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(modules, folder), { withFileTypes: true })) {
      const path = `${folder}${entry.name}`;
      if (folder === '' && /^\.(cache|vite|vite-temp)$/.test(path)) continue;
      if (entry.isDirectory()) visit(`${path}/`);
      else found.set(path, touched(join(modules, path)));
    }
  };
  visit('');
  return found;
}

function isAsLaid(path: string, laid: Laid | undefined): boolean {
  if (laid === undefined) return false;
  if (touched(path) === laid.touched) return true;
  // There, a virus scanner may have been at it.
  return process.platform === 'win32' && hash(readFileSync(path)) === laid.hash;
}

function sameLink(link: string, target: string): boolean {
  // Windows adds a backslash to a junction's target.
  return readlinkSync(link).replace(/[\\/]$/, '') === target.replace(/[\\/]$/, '');
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {} // the next run of the grader tries again
}

/** A grader that was ended by force can't clean up behind itself. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) remove(join(tmpdir(), name));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
