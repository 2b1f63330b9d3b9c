import { fileURLToPath } from 'node:url';

/** A stack that was noted and is formatted only when somebody asks. */
export interface NotedStack {
  readonly stack: string;
}

/** Where the repository is, with a slash at its end, as it stands in stacks. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replaceAll('\\', '/');

/** Frames that are enough to get from a socket through Node and a library to the lesson. */
const FRAMES = 40;

/**
 * Notes who called, from the caller of `below` on. Costs a few microseconds: V8 writes the text on
 * the first look at `stack`.
 */
export function noteStack(below: (...args: never[]) => unknown, frames = FRAMES): NotedStack {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = frames;
  const noted = {} as NotedStack;
  Error.captureStackTrace(noted, below);
  Error.stackTraceLimit = limit;
  return noted;
}

/** One frame of a stack. */
export interface Frame {
  /** Path with forward slashes, or a module of Node such as `node:net`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The guards themselves stand between a call and what they replaced: they are never its site. */
const GUARD = /[\\/]helpers[\\/]lesson[\\/](?:leak|loopback)-guard\.ts/;

/** The lines of a stack below its head, as text. */
export function framesText({ stack }: NotedStack): string {
  const [, ...lines] = stack.split('\n');
  return lines.filter((line) => !GUARD.test(line)).join('\n');
}

/** The frames of a stack, innermost first. Frames without a file are left out. */
export function framesOf(noted: NotedStack): Frame[] {
  const frames: Frame[] = [];
  for (const text of framesText(noted).split('\n')) {
    const [, place, line, column] =
      /^\s+at (?:.*? \()?(?:async )?((?:file:|node:|\/|[a-zA-Z]:[\\/]).*?):(\d+):(\d+)\)?$/.exec(
        text,
      ) ?? [];
    if (!place) continue;
    const path = place.startsWith('file:') ? fromUrl(place) : place;
    const file = path.replaceAll('\\', '/').replace(/\?.*$/, '');
    frames.push({ file, line: Number(line), column: Number(column) });
  }
  return frames;
}

/** Whether the file belongs to Node or to an npm package. */
export function isForeign({ file }: Frame): boolean {
  return file.startsWith('node:') || file.includes('/node_modules/');
}

/**
 * The line a student should look at, such as `lessons/05-load-balancer/exercise.ts:42`: the
 * innermost one of the lesson, or, where the lesson has no part in it, of a helper.
 *
 * @returns undefined when the call came from nobody's code, as from a queue inside Node
 */
export function siteOf(noted: NotedStack): string | undefined {
  const own = framesOf(noted).filter((frame) => !isForeign(frame));
  const frame = own.find(({ file }) => !isHelper(file)) ?? own[0];
  if (!frame) return;
  const file = frame.file.startsWith(ROOT) ? frame.file.slice(ROOT.length) : frame.file;
  return `${file}:${frame.line}`;
}

/** A helper of the course, but not a helper's test. */
function isHelper(file: string): boolean {
  return file.startsWith(`${ROOT}helpers/`) && !file.endsWith('.test.ts');
}

function fromUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
