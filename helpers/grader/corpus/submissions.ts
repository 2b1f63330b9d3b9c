// Hostile submissions whose trick isn't in the text of an exercise file: what else is in the folder,
// what the exercise file is instead of a text, and zip files.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tinyExercise } from '../../grading/test-bed.ts';
import { makeZip, type TestEntry, writeFolder } from '../test-submissions.ts';
import { SMALL, type Surroundings } from './corpus.ts';

/** A submission of the corpus that is made, not written. */
export interface HostileSubmission {
  readonly name: string;
  readonly tries: string;
  readonly must: string;
  /** Exercises of the attacked lesson whose points are its to get; none by default. */
  readonly earns?: readonly string[];
  /** Whether the honest lesson can be found at all. It can unless this says no. */
  readonly honest?: false;
  /** Systems on which it can't be made. */
  readonly notOn?: NodeJS.Platform;
  /**
   * Makes it.
   *
   * @param folder path where the submission is to be; its parent exists
   * @returns what to grade, when it is another path
   */
  make(folder: string, surroundings: Surroundings): string | undefined;
}

const ALL = ['91.1', '91.2'];
const exerciseOf = ({ folder }: { folder: string }) => `lessons/${folder}/exercise.ts`;
const attacked = exerciseOf(SMALL.attacked);
const honest = exerciseOf(SMALL.honest);
/** The whole answer to either of the small lessons. */
export const SOLVED = tinyExercise('return n / 2;');
/** Wrong answers to everything. */
const WRONG = 'export const double = async () => -1;\nexport const halve = async () => -2;\n';

/** Writes a file and the folders that it stands in. */
export function write(folder: string, path: string, content: string | Buffer): void {
  writeFolder(folder, { [path]: content });
}

/** Writes a zip file that no packer would write. */
function writeZip(file: string, entries: readonly TestEntry[]): void {
  writeFileSync(file, makeZip(entries));
}

/** Lays the honest lesson into a submission. */
function writeHonest(folder: string): void {
  write(folder, honest, SOLVED);
}

/** A submission whose exercise file is something else than the text of one. */
function instead(
  name: string,
  tries: string,
  put: (path: string, surroundings: Surroundings) => void,
  more: Partial<HostileSubmission> = {},
): HostileSubmission {
  return {
    name: `file-${name}`,
    tries,
    must: 'not take it, say so, and grade the other lesson',
    ...more,
    make(folder, surroundings) {
      writeHonest(folder);
      const path = join(folder, attacked);
      mkdirSync(dirname(path), { recursive: true });
      put(path, surroundings);
      return undefined;
    },
  };
}

/** A submission with more in it than exercise files. */
function beside(
  name: string,
  tries: string,
  files: (surroundings: Surroundings) => Readonly<Record<string, string>>,
): HostileSubmission {
  return {
    name: `beside-${name}`,
    tries,
    must: 'take nothing but the exercise files',
    make(folder, surroundings) {
      writeHonest(folder);
      const all = { [attacked]: WRONG, ...files(surroundings) };
      for (const [path, text] of Object.entries(all)) write(folder, path, text);
      return undefined;
    },
  };
}

/** A zip file. What isn't hostile in it is the honest lesson and a wrong answer. */
function zipped(
  name: string,
  tries: string,
  put: (
    zip: string,
    plain: { path: string; content: string }[],
    surroundings: Surroundings,
  ) => void,
  more: Partial<HostileSubmission> = {},
): HostileSubmission {
  return {
    name: `zip-${name}`,
    tries,
    must: 'take what is honest in it, write nothing outside, and stay small',
    ...more,
    make(folder, surroundings) {
      const zip = `${folder}.zip`;
      const plain = [
        { path: honest, content: SOLVED },
        { path: attacked, content: WRONG },
      ];
      put(zip, plain, surroundings);
      return zip;
    },
  };
}

const passingSpec = `import { describe, it } from 'vitest';
describe('Lesson 91: Attacked', () => { it('passes', () => {}); });
`;

export const HOSTILE_SUBMISSIONS: readonly HostileSubmission[] = [
  instead('is-a-folder', 'to be a folder', (path) => mkdirSync(path)),
  instead(
    'is-a-link-to-the-solution',
    "to be a link to the course's solution",
    (path, { root }) => symlinkSync(`${root}/lessons/${SMALL.attacked.folder}/solution.ts`, path),
    { notOn: 'win32' },
  ),
  instead(
    'is-a-link-to-a-device',
    'to be read for ever',
    (path) => symlinkSync('/dev/zero', path),
    {
      notOn: 'win32',
    },
  ),
  instead(
    'is-a-link-to-itself',
    'to be a link that leads in a circle',
    (path) => symlinkSync(path, path),
    {
      notOn: 'win32',
    },
  ),
  instead(
    'is-a-pipe',
    'to keep whoever opens it waiting',
    (path) => void execFileSync('mkfifo', [path]),
    {
      notOn: 'win32',
    },
  ),
  instead('is-huge', 'to be 50 MB of valid TypeScript', (path) =>
    writeFileSync(path, `${SOLVED}\n${`// ${'x'.repeat(97)}\n`.repeat(5e5)}`),
  ),
  instead('is-binary', 'to be an executable', (path) =>
    writeFileSync(path, Buffer.from([0x7f, 0x45, 0x4c, 0x46, ...Array(5_000).keys()])),
  ),
  instead('is-utf-16', 'to be text in another encoding', (path) =>
    writeFileSync(path, Buffer.from(`\ufeff${SOLVED}`, 'utf16le')),
  ),
  instead('is-empty', 'to be empty', (path) => writeFileSync(path, ''), {
    must: 'give no point for it, and grade the other lesson',
  }),
  instead(
    'has-crlf-and-bom',
    'nothing: it is the honest solution, saved by an editor on Windows',
    (path) => writeFileSync(path, `\ufeff${SOLVED.replaceAll('\n', '\r\n')}`),
    { must: 'give every point', earns: ALL },
  ),
  instead(
    'is-one-deep-expression',
    'to overflow the stack of whoever parses it',
    (path) => writeFileSync(path, `export const x = ${'['.repeat(60_000)}${']'.repeat(60_000)};\n`),
    { must: 'give no point for it, and grade the other lesson' },
  ),
  {
    name: 'folder-is-a-link-to-the-course',
    tries: "to have its lesson be a link to another submission's, which is solved",
    must: 'not follow it',
    notOn: 'win32',
    make(folder, { submissions }) {
      writeHonest(folder);
      symlinkSync(
        `${submissions}/whole-course/lessons/${SMALL.attacked.folder}`,
        join(folder, 'lessons', SMALL.attacked.folder),
      );
      return undefined;
    },
  },
  {
    name: 'folder-has-links-in-a-circle',
    tries: 'to keep whoever walks through it busy for ever',
    must: 'end in time',
    notOn: 'win32',
    make(folder) {
      writeHonest(folder);
      write(folder, attacked, WRONG);
      symlinkSync(folder, join(folder, 'again'));
      symlinkSync('..', join(folder, 'lessons', '99-again'));
      symlinkSync('/', join(folder, 'root'));
      return undefined;
    },
  },
  {
    name: '=HYPERLINK("http:,,127.0.0.1")',
    tries: 'to be a formula in the table of grades, by its name',
    must: 'write a table that calculates nothing',
    notOn: 'win32',
    make(folder) {
      writeHonest(folder);
      write(folder, attacked, WRONG);
      return undefined;
    },
  },
  {
    name: '::error::$(touch owned)`touch owned`"<b>\n::set-output name=points::3',
    tries: 'to be a command of a shell and of a workflow, markup and two lines, by its name',
    must: 'treat it as a name',
    notOn: 'win32',
    make(folder) {
      writeHonest(folder);
      write(folder, attacked, WRONG);
      return undefined;
    },
  },
  beside('configurations', 'to configure the run that grades it', ({ evidence }) => {
    const config = `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(`${evidence}/config`)}, '');
export default { test: { passWithNoTests: true, include: ['nothing'], testNamePattern: 'nothing' } };
`;
    return {
      'vitest.config.ts': config,
      'vite.config.ts': config,
      'vitest.workspace.ts': config,
      'lessons/91-attacked/vitest.config.ts': config,
      'helpers/grader/grade.config.ts': config,
      'package.json':
        '{"type":"commonjs","imports":{"#helpers/*":"./mine/*"},"scripts":{"grade":"true"}}',
      'tsconfig.json': '{"extends":"/dev/zero"}',
      '.npmrc': 'script-shell=/bin/true',
      '.env': 'VITE_POINTS=3',
      '.node-version': '0.1.0',
    };
  }),
  beside('specs', 'to be judged by its own spec, given code and helpers', () => ({
    'lessons/91-attacked/attacked.spec.ts': passingSpec,
    'lessons/91-attacked/another.spec.ts': passingSpec,
    'lessons/91-attacked/README.md': '# Lesson 91: nothing to do\n',
    'lessons/91-attacked/given.ts': 'export const CLIENTS = [];',
    'lessons/91-attacked/services.ts': 'export {};',
    'lessons/91-attacked/solution.ts': SOLVED,
    'helpers/lesson/bad-input.ts': 'export const expectRefusal = () => {};',
    'helpers/lesson/property.ts': 'export const expectLaw = () => {};',
    'helpers/lesson/setup.ts': '',
  })),
  beside('ledgers-and-snapshots', 'to publish its own numbers', () => ({
    'fixtures/published/91.json': '[]',
    'fixtures/assumptions.ts': 'export const K01 = {};',
    'lessons/91-attacked/__snapshots__/attacked.spec.ts.snap':
      '// Vitest Snapshot v1\n\nexports[`x`] = `1`;\n',
    'reports/junit.xml': '<testsuites tests="3" failures="0"/>',
    'grade.json': '{"version":1,"points":3,"possible":3}',
  })),
  beside('modules', 'to bring its own Vitest, and caches that are used first', ({ evidence }) => ({
    'node_modules/vitest/vitest.mjs': `require('fs').writeFileSync('${evidence}/vitest', '')`,
    'node_modules/vitest/package.json': '{"name":"vitest","version":"4.1.12"}',
    'node_modules/.vite/vitest/results.json': '{"version":"4.1.12","results":[]}',
    'node_modules/.cache/traffic-layer/roster.json': '{"version":1,"lessons":[]}',
    'lessons/node_modules/supertest/index.js': 'module.exports = () => {};',
    'lessons/91-attacked/node_modules/fast-check/index.js': 'module.exports = {};',
    'lessons/91-attacked/mocks.js': 'export {};',
    '__mocks__/supertest.js': 'export default () => {};',
    '.git/hooks/post-checkout': `#!/bin/sh\ntouch ${evidence}/hook\n`,
    '.gitattributes': '* filter=evil',
  })),
  zipped('that-escapes', 'to unpack outside of its folder', (zip, plain, { evidence, root, out }) =>
    writeZip(zip, [
      ...plain,
      ...[
        '../owned',
        '../../../owned',
        `${evidence}/owned`,
        `${root}/owned`,
        'lessons/../../owned',
      ].map((path) => ({ path, content: 'owned' })),
      { path: `${out}/control-solution/grade.json`, content: '{}' },
      { path: '..\\..\\owned', content: 'owned' },
      { path: 'C:\\owned', content: 'owned' },
    ]),
  ),
  zipped('with-links', 'to unpack a link, and then through it', (zip, plain, { evidence, root }) =>
    writeZip(zip, [
      plain[0] ?? { path: '', content: '' },
      { path: 'lessons/link', content: evidence, mode: 0o120777 },
      { path: 'lessons/link/owned', content: 'owned' },
      {
        path: attacked,
        content: `${root}/lessons/${SMALL.attacked.folder}/solution.ts`,
        mode: 0o120777,
      },
    ]),
  ),
  zipped('bomb', 'to be a thousand times as large when it is unpacked', (zip, plain) =>
    writeZip(zip, [
      plain[0] ?? { path: '', content: '' },
      { path: attacked, content: Buffer.alloc(1e8, 0x20) },
      { path: 'lessons/zeros', content: Buffer.alloc(1e8) },
    ]),
  ),
  zipped('bomb-that-lies', 'the same, with a header that says it is small', (zip, plain) =>
    writeZip(zip, [
      plain[0] ?? { path: '', content: '' },
      { path: attacked, content: Buffer.alloc(1e8, 0x20), claimedSize: 1_000 },
    ]),
  ),
  zipped(
    'with-two-of-a-name',
    'to show one file to whoever looks at it and another to the grader',
    (zip, plain) => writeZip(zip, [...plain, { path: attacked, content: SOLVED }]),
  ),
  zipped(
    'of-nothing-but-overlaps',
    'to have ten thousand entries that all are the same bytes',
    (zip, plain) =>
      writeZip(zip, [
        ...plain,
        ...Array.from({ length: 1e4 }, (_, i) => ({
          path: `lessons/${i}`,
          content: '',
          claimedSize: 1e9,
          at: 0,
        })),
      ]),
  ),
  zipped(
    'cut-off',
    'nothing: an upload broke off in the middle',
    (zip) => writeFileSync(zip, Buffer.from('PK\x03\x04 and no more', 'latin1')),
    { honest: false, must: 'call it broken, and go on' },
  ),
  zipped(
    'encrypted',
    'to keep what it holds to itself',
    (zip, plain) =>
      writeZip(
        zip,
        plain.map((entry) => ({ ...entry, encrypted: true })),
      ),
    { honest: false, must: 'call it broken, and go on' },
  ),
  {
    name: 'missing',
    tries: 'nothing: there is no such folder',
    must: 'call it broken, and go on',
    honest: false,
    make: () => undefined,
  },
  {
    name: 'empty',
    tries: 'nothing: there is nothing in it',
    must: 'call it broken, and go on',
    honest: false,
    make(folder) {
      mkdirSync(folder);
      return undefined;
    },
  },
  {
    name: 'whole-course',
    tries: 'nothing: the folder of a student, with more than the exercises in it',
    must: 'take the two exercise files',
    earns: ALL,
    make(folder, { root }) {
      const lessons = ['lessons/01-dns-routing', dirname(attacked), dirname(honest)];
      for (const part of [...lessons, 'helpers/lesson', 'package.json', 'vitest.config.ts']) {
        cpSync(join(root, part), join(folder, part), { recursive: true });
      }
      writeHonest(folder);
      write(folder, attacked, SOLVED);
      return undefined;
    },
  },
];
