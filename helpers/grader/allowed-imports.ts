// What a submission's exercise may import. Loaded by Vitest's main process and by every worker.

/** Modules of Node, without `node:`. The rest would get at files, processes or the grader itself. */
export const BUILTINS: ReadonlySet<string> = new Set([
  'assert',
  'assert/strict',
  'buffer',
  'crypto',
  'dgram',
  'dns',
  'dns/promises',
  'events',
  'http',
  'http2',
  'https',
  'net',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers',
  'timers/promises',
  'tls',
  'url',
  'util',
  'util/types',
  'zlib',
]);

/** Packages of npm. */
export const PACKAGES: ReadonlySet<string> = new Set(['dns-packet', 'undici']);

/** Files of helpers/lesson, without `.ts`: the tools, not the judges. */
export const HELPERS: ReadonlySet<string> = new Set([
  'client',
  'decision-rates',
  'forwarding',
  'gateway',
  'http-server',
  'manual-clock',
  'raw',
  'refusing',
  'replica',
  'tcp-server',
  'todo',
  'token',
  'tracking',
  'waiting',
  'watched-sender',
]);

/** Files of a lesson that no exercise has a reason to import. */
const JUDGES = /^(?:solution|mistakes|exercise|.*[.-]figure|processes|.*\.spec)$/;

const EXERCISE = /\/lessons\/[^/]+\/exercise\.ts$/;

/** Whether a module, by its file, is the code of a submission. */
export function isExercise(file: string | null | undefined): boolean {
  return typeof file === 'string' && EXERCISE.test(file.replaceAll('\\', '/').replace(/\?.*$/, ''));
}

/**
 * Why an exercise may not import that.
 *
 * @param specifier as it stands in the file
 * @returns undefined when it may
 */
export function refusalOf(specifier: string): string | undefined {
  if (isAllowed(specifier)) return;
  return (
    `exercise.ts imports "${specifier}", which the grader does not give to an exercise. ` +
    'It may import the given files of its lesson, the helpers that open clients and servers, ' +
    'undici, dns-packet, and those modules of Node that have nothing to do with files or processes'
  );
}

function isAllowed(specifier: string): boolean {
  const [, helper] = /^#helpers\/lesson\/([\w-]+)\.ts$/.exec(specifier) ?? [];
  if (helper) return HELPERS.has(helper);
  if (/^#fixtures\/[\w-]+\.ts$/.test(specifier)) return true;
  const [, given] = /^\.\/([\w.-]+)\.ts$/.exec(specifier) ?? [];
  if (given) return !JUDGES.test(given);
  const [, foreign] = /^\.\.\/\d\d-[\w-]+\/([\w.-]+)\.ts$/.exec(specifier) ?? [];
  if (foreign) return !JUDGES.test(foreign);
  return PACKAGES.has(specifier) || BUILTINS.has(specifier.replace(/^node:/, ''));
}
