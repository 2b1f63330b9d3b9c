import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LessonFolder } from '../grading/course.ts';
import type { Collected, Note } from './types.ts';
import { openZip, type ZipEntry, ZipError, type ZipFile } from './zip.ts';

/** Bytes of an exercise file. The longest solution has a tenth of it. */
export const EXERCISE_BYTES = 256 * 1_024;

/** Notes about entries of a zip file. A submission can have thousands of them. */
const MOST_NOTES = 20;

/** A submission out of which nothing can be taken. The message says why, and what to do. */
export class BrokenSubmission extends Error {
  override readonly name = 'BrokenSubmission';
  readonly notes: readonly Note[];

  constructor(message: string, notes: readonly Note[] = []) {
    super(message);
    this.notes = notes;
  }
}

/** Why a file is not taken, or what it holds. */
type Found = { readonly refused: string } | { readonly content: Buffer } | undefined;

/** A folder or a zip file, as collecting sees it. Paths have forward slashes. */
interface Source {
  /** Folders at the top. */
  readonly top: readonly string[];
  /** Whether that is a folder, and none that a link leads to. */
  isFolder(path: string): Promise<boolean>;
  find(path: string): Promise<Found>;
}

/**
 * Takes the exercise files of the course's lessons out of a submission: the text of
 * `lessons/<folder>/exercise.ts`, and nothing else. No link is followed and nothing is written.
 *
 * @param path a folder or a zip file, with an extra folder level on top or without
 * @throws {BrokenSubmission} when nothing can be taken
 */
export async function collect(path: string, lessons: readonly LessonFolder[]): Promise<Collected> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) throw new BrokenSubmission('It does not exist. Look for a slip in its name');
  if (stats.isSymbolicLink()) {
    throw new BrokenSubmission('It is a link, and links are not followed. Name what it points to');
  }
  const notes: Note[] = [];
  if (stats.isDirectory()) return take(await folderSource(path), lessons, notes);
  if (!stats.isFile()) throw new BrokenSubmission('It is neither a folder nor a zip file');
  try {
    await using zip = await openZip(path);
    return await take(zipSource(zip, notes), lessons, notes);
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    throw new BrokenSubmission(
      `The zip file cannot be read: ${error.message}. Ask for it again, packed without a password`,
      notes,
    );
  }
}

async function take(
  source: Source,
  lessons: readonly LessonFolder[],
  notes: Note[],
): Promise<Collected> {
  const top = await findTop(source, lessons, notes);
  const exercises = new Map<string, string>();
  for (const { folder } of lessons) {
    const path = `lessons/${folder}/exercise.ts`;
    const found = await source.find(`${top}${path}`);
    if (!found) continue;
    const text = 'content' in found ? textOf(found.content) : undefined;
    if (text !== undefined) {
      exercises.set(folder, text);
      continue;
    }
    const why = 'refused' in found ? found.refused : 'is no text in UTF-8';
    notes.push({ about: path, message: `It ${why}, so it was not taken and counts as missing` });
  }
  if (exercises.size > 0) return { exercises, notes };
  throw new BrokenSubmission(
    'There is no lessons/<lesson>/exercise.ts in it that can be graded. Wanted: the folder of the ' +
      'course, or a zip file of it',
    notes,
  );
}

/** Where `lessons` stands: at the top, or one level below, as in the zip files that GitHub makes. */
async function findTop(
  source: Source,
  lessons: readonly LessonFolder[],
  notes: Note[],
): Promise<string> {
  const holds = async (top: string) => {
    for (const { folder } of lessons) {
      if (await source.isFolder(`${top}lessons/${folder}`)) return true;
    }
    return false;
  };
  if (await holds('')) return '';
  const found: string[] = [];
  for (const name of source.top) if (await holds(`${name}/`)) found.push(name);
  const [name] = found;
  if (found.length > 1) {
    throw new BrokenSubmission(
      `There are ${found.length} courses in it (${found.slice(0, 5).join(', ')}), wanted one. ` +
        'If each is a submission, name each of them',
    );
  }
  if (name === undefined) return '';
  notes.push({
    about: name,
    message: 'The course was found in this folder, one level below the top',
  });
  return `${name}/`;
}

/** The text, if it is one: without a NUL, and valid UTF-8. */
function textOf(content: Buffer): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

const tooLarge = (bytes: number) =>
  `has ${Math.ceil(bytes / 1_024)} KB, wanted at most ${EXERCISE_BYTES / 1_024} KB`;

// --- folders

async function folderSource(root: string): Promise<Source> {
  const entries = await readdir(root, { withFileTypes: true });
  const isFolder = async (path: string) => {
    // Every folder on the way, since any of them could be a link.
    for (const folder of pathsTo(path)) {
      if (!(await stat(join(root, folder)))?.isDirectory()) return false;
    }
    return true;
  };
  return {
    top: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    isFolder,
    async find(path) {
      const stats = await stat(join(root, path));
      if (!stats) return undefined;
      if (!(await isFolder(path.slice(0, path.lastIndexOf('/'))))) {
        return { refused: 'is reached through a link, and links are not followed' };
      }
      return readFile(join(root, path), stats);
    },
  };
}

async function stat(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

async function readFile(path: string, stats: Stats): Promise<Found> {
  if (stats.isSymbolicLink()) return { refused: 'is a link, and links are not followed' };
  if (stats.isDirectory()) return { refused: 'is a folder, wanted a file' };
  if (!stats.isFile()) return { refused: 'is neither a file nor a folder' };
  if (stats.size > EXERCISE_BYTES) return { refused: tooLarge(stats.size) };
  try {
    // It may have become a link, or a pipe that never opens, since it was looked at.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const content = Buffer.alloc(EXERCISE_BYTES + 1);
      let length = 0;
      while (length < content.length) {
        const { bytesRead } = await handle.read(content, length, content.length - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length > EXERCISE_BYTES) return { refused: tooLarge(length) };
      return { content: content.subarray(0, length) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { refused: `cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
}

// --- zip files

function zipSource(zip: ZipFile, notes: Note[]): Source {
  const byPath = new Map<string, ZipEntry[]>();
  const folders = new Set<string>();
  let escaping = 0;
  for (const entry of zip.entries) {
    const { path } = entry;
    if (escapes(path)) {
      escaping += 1;
      if (escaping > MOST_NOTES) continue;
      const about = path.slice(0, 200);
      notes.push({ about, message: 'Its path leaves the zip file, so it was not taken' });
      continue;
    }
    const plain = path.replace(/\/$/, '');
    const same = byPath.get(plain);
    if (same) same.push(entry);
    else byPath.set(plain, [entry]);
    const above = pathsTo(plain);
    for (const folder of entry.kind === 'folder' ? above : above.slice(0, -1)) folders.add(folder);
  }
  if (escaping > MOST_NOTES) {
    const message = `${escaping - MOST_NOTES} more paths leave the zip file`;
    notes.push({ about: 'zip file', message });
  }
  return {
    top: [...folders].filter((folder) => !folder.includes('/') && folder !== '__MACOSX'),
    isFolder: async (path) => folders.has(path),
    async find(path) {
      const [entry, ...others] = byPath.get(path) ?? [];
      if (!entry) return undefined;
      if (others.length > 0)
        return { refused: `stands ${others.length + 1} times in the zip file` };
      const above = pathsTo(path).slice(0, -1);
      if (above.some((folder) => byPath.get(folder)?.some(({ kind }) => kind !== 'folder'))) {
        return { refused: 'is reached through a link, and links are not followed' };
      }
      if (entry.kind === 'symlink') return { refused: 'is a link, and links are not followed' };
      if (entry.kind === 'folder') return { refused: 'is a folder, wanted a file' };
      if (entry.kind === 'special') return { refused: 'is neither a file nor a folder' };
      if (entry.size > EXERCISE_BYTES) return { refused: tooLarge(entry.size) };
      try {
        return { content: await zip.read(entry, EXERCISE_BYTES) };
      } catch (error) {
        // One that lies about its size is no reason to leave the others. An encrypted one is: they
        // all are, and a person has to ask for the password.
        if (!(error instanceof ZipError) || entry.encrypted) throw error;
        return { refused: `cannot be unpacked (${error.message})` };
      }
    },
  };
}

function escapes(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.split('/').includes('..');
}

/** `a/b/c` has `a`, `a/b` and `a/b/c`. */
function pathsTo(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
