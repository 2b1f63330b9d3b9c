import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { LessonFolder } from '../grading/course.ts';
import { BrokenSubmission, collect, EXERCISE_BYTES } from './collect.ts';
import { makeZip, type TestEntry, writeFolder } from './test-submissions.ts';
import type { Collected } from './types.ts';

const COURSE: LessonFolder[] = ['01-one', '02-two'].map((folder) => ({
  number: folder.slice(0, 2),
  folder,
  title: folder,
  exercises: new Map(),
}));
const [ONE, TWO] = ['lessons/01-one/exercise.ts', 'lessons/02-two/exercise.ts'];

const home = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-collect-'));
afterAll(() => rmSync(home, { recursive: true }));
let count = 0;
function place(): string {
  count += 1;
  return join(home, String(count));
}

function fromFolder(files: Readonly<Record<string, string | Buffer>>): Promise<Collected> {
  return collect(writeFolder(place(), files), COURSE);
}

function fromZip(entries: readonly TestEntry[] | Buffer): Promise<Collected> {
  const file = `${place()}.zip`;
  writeFileSync(file, Buffer.isBuffer(entries) ? entries : makeZip(entries));
  return collect(file, COURSE);
}

/** What was taken, and the notes as one text each. */
async function told(collecting: Promise<Collected>) {
  const { exercises, notes } = await collecting;
  return {
    taken: Object.fromEntries(exercises),
    notes: notes.map(({ about, message }) => `${about}: ${message}`),
  };
}

async function broken(collecting: Promise<Collected>): Promise<BrokenSubmission> {
  const error = await collecting.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(BrokenSubmission);
  return error as BrokenSubmission;
}

const taken = { '01-one': 'one', '02-two': 'two' };

describe('collecting from a folder', () => {
  it('takes the exercises of lessons that exist, and nothing else', async () => {
    const files = {
      [ONE]: 'one',
      [TWO]: 'two',
      'lessons/03-three/exercise.ts': 'three',
      'lessons/01-one/one.spec.ts': 'spec',
      'lessons/01-one/deep/exercise.ts': 'deep',
      'package.json': '{}',
    };
    expect(await told(fromFolder(files))).toEqual({ taken, notes: [] });
  });

  it('finds the course one level below the top, and says so', async () => {
    expect(
      await told(fromFolder({ [`anna-main/${ONE}`]: 'one', [`anna-main/${TWO}`]: 'two' })),
    ).toEqual({
      taken,
      notes: [expect.stringMatching(/^anna-main: .*one level below the top/)],
    });
  });

  it('keeps a text as it is: CR LF, umlauts, a mark at its beginning', async () => {
    const { exercises } = await fromFolder({ [ONE]: '// grün\r\nexport {};\r\n', [TWO]: '' });
    expect(exercises.get('01-one')).toBe('// grün\r\nexport {};\r\n');
    expect(exercises.get('02-two')).toBe('');
  });

  it.each([
    ['a NUL', Buffer.from('one\0'), /is no text in UTF-8/],
    ['invalid UTF-8', Buffer.from([0x6f, 0xff, 0xfe]), /is no text in UTF-8/],
    [
      'more than 256 KB',
      Buffer.alloc(EXERCISE_BYTES + 1, 'x'),
      /has 257 KB, wanted at most 256 KB/,
    ],
  ])('leaves a file with %s, and takes the others', async (_, content, message) => {
    const { taken, notes } = await told(fromFolder({ [ONE]: content, [TWO]: 'two' }));
    expect(taken).toEqual({ '02-two': 'two' });
    expect(notes).toEqual([expect.stringMatching(message)]);
  });

  it('takes a file of exactly 256 KB', async () => {
    const { exercises } = await fromFolder({ [ONE]: 'x'.repeat(EXERCISE_BYTES) });
    expect(exercises.get('01-one')).toHaveLength(EXERCISE_BYTES);
  });

  it('leaves a folder that is called exercise.ts', async () => {
    const { taken, notes } = await told(fromFolder({ [`${ONE}/index.ts`]: '', [TWO]: 'two' }));
    expect(taken).toEqual({ '02-two': 'two' });
    expect(notes).toEqual([
      `${ONE}: It is a folder, wanted a file, so it was not taken and counts as missing`,
    ]);
  });

  it.skipIf(process.platform === 'win32')('opens no pipe', async () => {
    const folder = writeFolder(place(), { [TWO]: 'two', 'lessons/01-one/x': '' });
    execFileSync('mkfifo', [join(folder, ONE)]);
    const { notes } = await told(collect(folder, COURSE));
    expect(notes).toEqual([expect.stringMatching(/is neither a file nor a folder/)]);
  });

  describe.skipIf(process.platform === 'win32')('follows no link', () => {
    it('that is the file', async () => {
      const folder = writeFolder(place(), { [TWO]: 'two', 'lessons/01-one/secret.ts': 'secret' });
      symlinkSync('secret.ts', join(folder, ONE));
      const { taken, notes } = await told(collect(folder, COURSE));
      expect(taken).toEqual({ '02-two': 'two' });
      expect(notes).toEqual([expect.stringMatching(/is a link, and links are not followed/)]);
    });

    it('that is the lesson', async () => {
      const folder = writeFolder(place(), { [TWO]: 'two', 'elsewhere/exercise.ts': 'secret' });
      symlinkSync('../elsewhere', join(folder, 'lessons/01-one'));
      const { taken, notes } = await told(collect(folder, COURSE));
      expect(taken).toEqual({ '02-two': 'two' });
      expect(notes).toEqual([expect.stringMatching(/is reached through a link/)]);
    });

    it('that is the folder of the lessons, or the submission', async () => {
      const elsewhere = writeFolder(place(), { [ONE]: 'secret' });
      const folder = place();
      mkdirSync(folder);
      symlinkSync(join(elsewhere, 'lessons'), join(folder, 'lessons'));
      expect((await broken(collect(folder, COURSE))).message).toMatch(/There is no lessons/);
      const link = place();
      symlinkSync(elsewhere, link);
      expect((await broken(collect(link, COURSE))).message).toMatch(/It is a link/);
    });
  });

  it('is broken when it holds no exercise, two courses, or does not exist', async () => {
    expect((await broken(fromFolder({ 'readme.txt': '' }))).message).toMatch(/There is no lessons/);
    const two = fromFolder({ [`anna/${ONE}`]: '', [`ben/${ONE}`]: '' });
    expect((await broken(two)).message).toMatch(/There are 2 courses in it .*name each of them/);
    expect((await broken(collect(place(), COURSE))).message).toMatch(/does not exist/);
  });
});

describe('collecting from a zip file', () => {
  it('takes the exercises, also one level below the top', async () => {
    const entries = [ONE, TWO].map((path, i) => ({ path, content: ['one', 'two'][i] ?? '' }));
    expect(await told(fromZip([{ path: 'lessons/' }, ...entries]))).toEqual({ taken, notes: [] });
    const below = entries.map((entry) => ({ ...entry, path: `anna-main/${entry.path}` }));
    const { taken: found, notes } = await told(fromZip([{ path: '__MACOSX/x' }, ...below]));
    expect(found).toEqual(taken);
    expect(notes).toEqual([expect.stringMatching(/^anna-main: /)]);
  });

  it('takes what Windows has packed with backslashes', async () => {
    const { exercises } = await fromZip([{ path: ONE.replaceAll('/', '\\'), content: 'one' }]);
    expect(exercises.get('01-one')).toBe('one');
  });

  it.each<[string, Partial<TestEntry>, RegExp]>([
    ['is a link', { mode: 0o120777, content: '../02-two/exercise.ts' }, /is a link/],
    ['is a device', { mode: 0o020666 }, /is neither a file nor a folder/],
    ['claims 50 MB', { claimedSize: 50e6 }, /has 48829 KB, wanted at most 256 KB/],
    [
      'is larger than it claims',
      { content: 'x'.repeat(1e6), claimedSize: 3 },
      /cannot be unpacked \(it has more than 262144 bytes\)/,
    ],
    ['has another length than announced', { content: 'one', claimedSize: 2 }, /it is damaged/],
    ['has another checksum than announced', { content: 'one', checksum: 1 }, /it is damaged/],
    ['is binary', { content: Buffer.from([0]) }, /is no text in UTF-8/],
  ])('leaves an entry that %s, and takes the others', async (_, entry, message) => {
    const { taken, notes } = await told(
      fromZip([
        { path: ONE, ...entry },
        { path: TWO, content: 'two' },
      ]),
    );
    expect(taken).toEqual({ '02-two': 'two' });
    expect(notes).toEqual([expect.stringMatching(message)]);
  });

  it('takes neither of two entries of the same name', async () => {
    const entries = [ONE, ONE, TWO].map((path) => ({ path, content: 'two' }));
    const { taken, notes } = await told(fromZip(entries));
    expect(taken).toEqual({ '02-two': 'two' });
    expect(notes).toEqual([expect.stringMatching(/stands 2 times in the zip file/)]);
  });

  it('takes nothing from below an entry that is a link', async () => {
    const entries = [
      { path: 'lessons/01-one', mode: 0o120777, content: '/etc' },
      { path: ONE, content: 'one' },
      { path: TWO, content: 'two' },
    ];
    expect((await told(fromZip(entries))).taken).toEqual({ '02-two': 'two' });
  });

  it.each([
    '../lessons/01-one/exercise.ts',
    '/lessons/01-one/exercise.ts',
    'C:\\lessons\\01-one\\exercise.ts',
    `x/../${ONE}`,
  ])('takes nothing from a path that escapes: %s', async (path) => {
    const { taken, notes } = await told(
      fromZip([
        { path, content: 'one' },
        { path: TWO, content: 'two' },
      ]),
    );
    expect(taken).toEqual({ '02-two': 'two' });
    expect(notes).toEqual([expect.stringMatching(/Its path leaves the zip file/)]);
  });

  it('counts what escapes after the twentieth', async () => {
    const escaping = Array.from({ length: 1_000 }, (_, i) => ({ path: `../${i}` }));
    const { notes } = await told(fromZip([...escaping, { path: TWO, content: 'two' }]));
    expect(notes).toHaveLength(21);
    expect(notes.at(-1)).toMatch(/980 more paths/);
  });

  it('is broken when it is encrypted, cut off, or no zip file', async () => {
    const encrypted = await broken(fromZip([{ path: ONE, content: 'one', encrypted: true }]));
    expect(encrypted.message).toMatch(/it is encrypted\. Ask for it again/);
    const whole = makeZip([{ path: ONE, content: 'one' }]);
    expect((await broken(fromZip(whole.subarray(0, -30)))).message).toMatch(/no whole zip file/);
    expect((await broken(fromZip(whole.subarray(40)))).message).toMatch(/cannot be read/);
    expect((await broken(fromZip(Buffer.from('hello')))).message).toMatch(/no whole zip file/);
    expect((await broken(fromZip(Buffer.alloc(0)))).message).toMatch(/no whole zip file/);
  });

  it('is broken, and nothing worse, wherever a byte is wrong', async () => {
    const whole = makeZip([
      { path: ONE, content: 'one' },
      { path: TWO, content: 'two' },
    ]);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      const result = await fromZip(damaged).catch((error: unknown) => error);
      if (result instanceof Error) expect(result, `byte ${at}`).toBeInstanceOf(BrokenSubmission);
      else {
        for (const text of (result as Collected).exercises.values())
          expect(text).toMatch(/^(one|two)$/);
      }
    }
  });
});
