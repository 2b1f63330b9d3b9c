import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COURSE_ROOT } from '../grading/course.ts';
import * as checks from './checks.mjs';
import { printable } from './print.mjs';
import { examine, packagesOutOfStep } from './probes.mjs';
import { satisfies } from './ranges.mjs';

const byName = { ...checks };
type Checks = typeof byName;
type Check = Exclude<keyof Checks, 'nativePackages'>;
type Input<C extends Check> = Parameters<Checks[C]>[0];
/** What is handed in, what has to come out, and what has to be said. */
type Row<C extends Check> = [C, Input<C>, checks.Finding['state'], RegExp?];

const row = <C extends Check>(...given: Row<C>) => given as unknown as Row<Check>;

const linux = { platform: 'linux', arch: 'x64', libc: 'glibc' };
const engines = [{ package: 'vite', range: '^20.19.0 || >=22.12.0' }];
const node = { wanted: '>=20.19', engines, platform: 'linux' };
const lock: checks.Lock = {
  '': { devDependencies: { tool: '1.0.0' } },
  'node_modules/tool': { version: '1.0.0' },
  'node_modules/tool/node_modules/deep': { version: '2.0.0' },
  'node_modules/only-for-wasm': { version: '1.0.0', optional: true },
  'node_modules/@tool/linux-x64': {
    version: '1.0.0',
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
    libc: ['glibc'],
  },
  'node_modules/@tool/linux-x64-musl': {
    version: '1.0.0',
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
    libc: ['musl'],
  },
  'node_modules/@tool/win32-x64': { version: '1.0.0', optional: true, os: ['win32'], cpu: ['x64'] },
};
const installed = {
  'node_modules/tool': '1.0.0',
  'node_modules/tool/node_modules/deep': '2.0.0',
  'node_modules/@tool/linux-x64': '1.0.0',
};
const install = (versions: Readonly<Record<string, string>>): Input<'installState'> => ({
  manifest: { devDependencies: { tool: '1.0.0' } },
  lock,
  versionOf: (path) => versions[path],
  machine: linux,
  env: {},
});
const { 'node_modules/@tool/linux-x64': _, ...withoutNative } = installed;

describe('every check has both outcomes, on every platform', () => {
  it.each([
    row('nodeVersion', { ...node, version: 'v20.19.0' }, 'ok'),
    row('nodeVersion', { ...node, version: 'v24.1.0' }, 'ok'),
    row('nodeVersion', { ...node, version: 'v18.20.0' }, 'problem', /needs >=20\.19/),
    row('nodeVersion', { ...node, version: 'v22.11.0' }, 'problem', /vite needs \^20/),
    row('nodeVersion', { ...node, version: 'v18.20.0', platform: 'win32' }, 'problem', /winget/),
    row('nodeVersion', { ...node, version: 'v18.20.0', platform: 'darwin' }, 'problem', /brew/),
    row('nodeVersion', { ...node, version: 'v25.0.0' }, 'warning', /odd/),
    row('nodeVersion', { ...node, version: 'v28.0.0' }, 'warning', /newer/),

    row('nodeOptions', { env: {} }, 'ok'),
    row('nodeOptions', { env: { NODE_OPTIONS: '--inspect-brk' } }, 'warning', /--inspect-brk/),
    row('nodeOptions', { env: { NODE_ENV: 'production' } }, 'warning', /leaves out/),

    row('installState', install(installed), 'ok', /All 3/),
    row('installState', install({}), 'problem', /Nothing is installed.*npm ci/s),
    row(
      'installState',
      { ...install({}), env: { NODE_ENV: 'production' } },
      'problem',
      /--include=dev/,
    ),
    row(
      'installState',
      install({ 'node_modules/tool': '1.0.0' }),
      'problem',
      /1 package missing: deep\./,
    ),
    row(
      'installState',
      install({ ...installed, 'node_modules/tool': '1.0.1' }),
      'problem',
      /tool \(1\.0\.1, wanted 1\.0\.0\)/,
    ),
    row(
      'installState',
      install(withoutNative),
      'problem',
      /parts for this system are missing.*@tool\/linux-x64\./s,
    ),
    row(
      'installState',
      install({ ...withoutNative, 'node_modules/@tool/win32-x64': '1.0.0' }),
      'problem',
      /comes from another system.*win32.*Delete node_modules/s,
    ),
    row(
      'installState',
      { ...install(installed), machine: { ...linux, libc: 'musl' } },
      'problem',
      /linux-x64-musl/,
    ),
    row(
      'installState',
      { ...install(installed), manifest: { devDependencies: { tool: '2.0.0', more: '1.0.0' } } },
      'problem',
      /disagree about tool and more/,
    ),
    row(
      'installState',
      { ...install(installed), lock: undefined },
      'problem',
      /package-lock\.json is missing/,
    ),
    row(
      'installState',
      { ...install(installed), manifest: undefined },
      'problem',
      /package\.json is missing/,
    ),

    row(
      'nativeParts',
      { parts: [{ package: 'a' }, { package: 'b' }], machine: linux },
      'ok',
      /2 parts for linux x64 glibc/,
    ),
    row(
      'nativeParts',
      { parts: [{ package: 'a', error: 'invalid ELF header\nat x' }], machine: linux },
      'problem',
      /a does not start: invalid ELF header\./,
    ),
    row(
      'nativeParts',
      { parts: [{ package: 'a', error: 'x' }], machine: { platform: 'win32', arch: 'x64' } },
      'problem',
      /Redistributable/,
    ),
    row(
      'nativeParts',
      { parts: [{ package: 'a', error: 'x' }], machine: { platform: 'darwin', arch: 'arm64' } },
      'problem',
      /Rosetta/,
    ),
    row(
      'nativeParts',
      { parts: [], machine: { platform: 'aix', arch: 'ppc64' } },
      'problem',
      /aix ppc64/,
    ),

    row('lineEndings', { files: [] }, 'ok'),
    row(
      'lineEndings',
      { files: [], autocrlf: 'true', attributes: '* text=auto eol=lf\n' },
      'ok',
      /overrides/,
    ),
    row('lineEndings', { files: [], autocrlf: 'true' }, 'warning', /core\.autocrlf/),
    row(
      'lineEndings',
      { files: ['a', 'b', 'c', 'd', 'e'] },
      'warning',
      /5 files with CRLF \(a, b, c and 2 more\)/,
    ),

    row('folderPath', { root: '/home/anna/course', platform: 'linux' }, 'ok'),
    row(
      'folderPath',
      { root: '/home/anna/my course%20b/größe', platform: 'linux' },
      'ok',
      /a %, a space and letters/,
    ),
    row('folderPath', { root: '/home/anna/c#', platform: 'linux' }, 'problem', /"#"/),
    row('folderPath', { root: 'C:\\c#\\course', platform: 'win32' }, 'problem', /"#".*C:\\course/s),
    row('folderPath', { root: '/home/what?', platform: 'darwin' }, 'problem', /"\?"/),
    row('folderPath', { root: '/home/back\\slash', platform: 'linux' }, 'problem'),
    row('folderPath', { root: 'C:\\Users\\anna\\course', platform: 'win32' }, 'ok'),
    row('folderPath', { root: `C:\\${'long\\'.repeat(40)}`, platform: 'win32' }, 'warning', /260/),
    row('folderPath', { root: 'C:\\a%20b', platform: 'win32' }, 'warning', /"%"/),
    row('folderPath', { root: '/home/a:b', platform: 'linux' }, 'warning', /npx/),
    row(
      'folderPath',
      { root: '/Users/anna/Library/Mobile Documents/x', platform: 'darwin' },
      'warning',
      /keeps in step/,
    ),

    row('folderWritable', { tries: [{ path: 'a' }], platform: 'linux' }, 'ok'),
    row(
      'folderWritable',
      { tries: [{ path: 'a' }, { path: 'node_modules', code: 'EACCES' }], platform: 'linux' },
      'problem',
      /node_modules can't.*chown/s,
    ),
    row(
      'folderWritable',
      { tries: [{ path: 'a', code: 'EPERM' }], platform: 'win32' },
      'problem',
      /attrib/,
    ),
    row(
      'folderWritable',
      { tries: [{ path: 'a', code: 'ENOSPC' }], platform: 'linux' },
      'problem',
      /Make room/,
    ),

    row('tempFolder', { path: '/tmp', freeMegabytes: 5_000, platform: 'linux' }, 'ok'),
    row('tempFolder', { path: '/tmp', freeMegabytes: 12.7, platform: 'linux' }, 'warning', /12 MB/),
    row('tempFolder', { path: '/tmp', code: 'EROFS', platform: 'linux' }, 'problem', /TMPDIR/),
    row('tempFolder', { path: 'C:\\t', code: 'EPERM', platform: 'win32' }, 'problem', /set TEMP/),

    row('localhost', { addresses: ['127.0.0.1', '::1'], platform: 'linux' }, 'ok'),
    row('localhost', { addresses: ['::1'], platform: 'linux' }, 'warning', /\/etc\/hosts/),
    row(
      'localhost',
      { code: 'ENOTFOUND', platform: 'win32' },
      'warning',
      /ENOTFOUND.*drivers\\etc\\hosts/s,
    ),
    row(
      'localhost',
      { addresses: ['93.184.216.34'], platform: 'linux' },
      'problem',
      /not this machine/,
    ),

    row('freePorts', { opened: 50, platform: 'linux' }, 'ok'),
    row('freePorts', { opened: 50, ports: { all: 28_232, taken: 4_100 }, platform: 'linux' }, 'ok'),
    row(
      'freePorts',
      { opened: 50, ports: { all: 1_000, taken: 900 }, platform: 'linux' },
      'warning',
      /900 of the 1000/,
    ),
    row(
      'freePorts',
      { opened: 0, code: 'EADDRNOTAVAIL', platform: 'linux' },
      'problem',
      /ip link set lo up/,
    ),
    row(
      'freePorts',
      { opened: 0, code: 'EADDRNOTAVAIL', platform: 'darwin' },
      'problem',
      /restart/,
    ),
    row(
      'freePorts',
      { opened: 7, code: 'EMFILE', platform: 'linux' },
      'problem',
      /After 7 servers/,
    ),
    row('freePorts', { opened: 0, code: 'EACCES', platform: 'win32' }, 'problem', /firewall/),
    row('freePorts', { opened: 0, code: 'EPERM', platform: 'linux' }, 'problem', /sandbox/),
    row(
      'freePorts',
      { opened: 50, code: 'ETIMEDOUT', platform: 'linux' },
      'problem',
      /could not be reached/,
    ),

    row('proxies', { env: {} }, 'ok'),
    row('proxies', { env: { https_proxy: 'http://proxy:3128' } }, 'ok', /don't use it/),
    row(
      'proxies',
      { env: { HTTP_PROXY: 'http://proxy:3128', NODE_USE_ENV_PROXY: '1' } },
      'problem',
      /NO_PROXY/,
    ),
    row(
      'proxies',
      {
        env: {
          HTTP_PROXY: 'http://proxy:3128',
          NODE_USE_ENV_PROXY: '1',
          no_proxy: 'localhost,127.0.0.1',
        },
      },
      'ok',
    ),

    row('watching', { root: '/a', ms: 3.2, wsl: false, platform: 'linux' }, 'ok', /4 ms/),
    row('watching', { root: '/a', wsl: false, platform: 'linux' }, 'warning', /did not tell/),
    row(
      'watching',
      { root: '/a', code: 'ENOSPC', wsl: false, platform: 'linux' },
      'problem',
      /max_user_watches/,
    ),
    row(
      'watching',
      { root: '/a', code: 'EMFILE', wsl: false, platform: 'darwin' },
      'problem',
      /Close programs/,
    ),
    row('watching', { root: '/a', code: 'EIO', wsl: false, platform: 'linux' }, 'problem', /EIO/),
    row(
      'watching',
      { root: '/mnt/c/course', ms: 1, wsl: true, platform: 'linux' },
      'warning',
      /disk of Windows/,
    ),
    row('watching', { root: '/mnt/c/course', ms: 1, wsl: false, platform: 'linux' }, 'ok'),
    row(
      'watching',
      { root: '/a', ms: 1, fileSystem: 'nfs4', wsl: false, platform: 'linux' },
      'warning',
      /nfs4/,
    ),
    row(
      'watching',
      { root: '\\\\server\\a', ms: 1, wsl: false, platform: 'win32' },
      'warning',
      /network drive/,
    ),

    row('leftovers', { processes: [], platform: 'linux' }, 'ok'),
    row('leftovers', { processes: [{ pid: 1, hasParent: true }], platform: 'linux' }, 'ok'),
    row(
      'leftovers',
      {
        processes: [
          { pid: 7, hasParent: false },
          { pid: 8, hasParent: true },
        ],
        platform: 'linux',
      },
      'warning',
      /kill -9 7`/,
    ),
    row(
      'leftovers',
      {
        processes: [
          { pid: 7, hasParent: false },
          { pid: 9, hasParent: false },
        ],
        platform: 'win32',
      },
      'warning',
      /2 processes.*taskkill \/F \/PID 7 \/PID 9/s,
    ),
    row('leftovers', { unknown: 'no ps', platform: 'aix' }, 'ok', /Not known: no ps/),

    row(
      'clock',
      { now: Date.UTC(2026, 0, 2), newest: Date.UTC(2026, 0, 1), platform: 'linux' },
      'ok',
      /2026-01-02 00:00/,
    ),
    row(
      'clock',
      { now: Date.UTC(2025, 0, 1), newest: Date.UTC(2025, 0, 11), platform: 'linux' },
      'warning',
      /10 days behind/,
    ),
    row('clock', { now: 0, newest: 1e12, platform: 'win32' }, 'warning', /Sync now/),

    row('memory', { availableMegabytes: 8_000 }, 'ok', /8\.0 GB/),
    row('memory', { availableMegabytes: 600 }, 'warning'),
    row('memory', { availableMegabytes: 200 }, 'problem'),

    row('openFiles', { limit: 4_096 }, 'ok'),
    row('openFiles', {}, 'ok'),
    row('openFiles', { limit: 512 }, 'warning', /ulimit -n/),
    row('openFiles', { limit: 100 }, 'problem'),
  ])('%s(%j) is %s', (check, input, state, said) => {
    const finding = (byName[check] as (input: unknown) => checks.Finding)(input);

    expect(finding.state).toBe(state);
    expect(`${finding.found}\n${finding.fix}`).toMatch(said ?? /./);
    // One sentence what was found, and one what mends it, unless all is well.
    expect(finding.found).toMatch(/^[^\n]+\.$/);
    if (state === 'ok') expect(finding.fix).toBeUndefined();
    else expect(finding.fix).toMatch(/^[^\n]+\.$/);
  });

  it('no check is without a row that is well and one that is not', () => {
    const source = readFileSync(join(COURSE_ROOT, 'helpers/doctor/probes.mjs'), 'utf8');
    const used = [...source.matchAll(/^ {4}checks\.(\w+)\(/gm)].map(([, name]) => name);
    const names = Object.keys(checks).filter((name) => name !== 'nativePackages');
    expect(used.toSorted()).toEqual(names.toSorted());
  });
});

describe('ranges of versions', () => {
  it.each([
    ['v20.19.0', '>=20.19', true],
    ['20.18.9', '>=20.19', false],
    ['22.12.0', '^20.19.0 || >=22.12.0', true],
    ['21.0.0', '^20.19.0 || >=22.12.0', false],
    ['23.5.0', '^20.0.0 || ^22.0.0 || >=24.0.0', false],
    ['20.12.0', '>=18.20.0 <20 || >=20.12.1', false],
    ['18.20.1', '>=18.20.0 <20 || >=20.12.1', true],
    ['0.4.9', '>= 0.4', true],
    ['14.2.0', '^10 || ^12 || >=14', true],
    ['13.7.1', '^13.7', true],
    ['20.1.0', '20 || 22.x', true],
    ['22.9.0', '20 || 22.x', true],
    ['21.9.0', '20 || 22.x', false],
    ['1.2.9', '~1.2.3', true],
    ['1.3.0', '~1.2.3', false],
    ['20.0.0', '>20', false],
    ['21.0.0', '>20', true],
    ['20.5.0', '<=20', true],
    ['20.5.0', '*', true],
    ['20.5.0', 'a range that nobody can read', true],
  ])('%s in %s is %s', (version, range, expected) => {
    expect(satisfies(version, range)).toBe(expected);
  });
});

describe('the table', () => {
  const findings: checks.Finding[] = [
    { name: 'One', state: 'ok', found: 'Fine.' },
    { name: 'Another', state: 'problem', found: 'Bad.', fix: 'Mend it.' },
    { name: 'Third', state: 'warning', found: 'Hm.', fix: 'Look.' },
  ];

  it('has a row for each check, with the fix below it, and counts', () => {
    expect(printable(findings)).toEqual([
      '  ok       One      Fine.',
      '  problem  Another  Bad.',
      '                    Mend it.',
      '  warning  Third    Hm.',
      '                    Look.',
      '',
      '  1 problem, 1 warning.',
    ]);
    expect(printable(findings.slice(0, 1)).at(-1)).toBe('  Everything is in order.');
  });

  it('is only what is wrong, when it is asked to be brief', () => {
    expect(printable(findings, { isBrief: true })).toHaveLength(4);
    expect(printable(findings.slice(0, 1), { isBrief: true })).toEqual([]);
  });
});

describe('npm run doctor', () => {
  it('looks at this machine, says something to each check, and leaves nothing behind', async () => {
    const before = readdirSync(COURSE_ROOT);

    const findings = await examine(COURSE_ROOT);

    expect(findings.map(({ name }) => name)).toHaveLength(
      new Set(findings.map(({ name }) => name)).size,
    );
    expect(findings).toHaveLength(16);
    // Not Ports: who has just run the whole course has many of them waiting for their end.
    for (const name of ['Packages', 'Native code', 'Node.js', 'Watching']) {
      expect(findings).toContainEqual(expect.objectContaining({ name, state: 'ok' }));
    }
    expect(readdirSync(COURSE_ROOT)).toEqual(before);
  });

  it('needs no package: where nothing is installed, it says so and exits with 1', async () => {
    using course = checkout();

    const { code, output } = await doctor(course.root);

    expect(output).toMatch(/problem {2}Packages +Nothing is installed yet\.\n +Run `npm ci`/);
    expect(output).toMatch(/(?:ok|warning) +Ports/);
    expect(code).toBe(1);
  });

  it('finds a package of another version, and one that is gone', async () => {
    using course = checkout();
    course.install('vite', '8.0.0');

    const { code, output } = await doctor(course.root, '--brief');

    expect(output).toMatch(/problem {2}Packages +\d+ packages missing/);
    expect(output).not.toMatch(/^ {2}ok/m);
    expect(code).toBe(1);
    expect(packagesOutOfStep(course.root)?.state).toBe('problem');
    expect(packagesOutOfStep(COURSE_ROOT)).toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')('finds machine code that does not start', async () => {
    using course = checkout();
    symlinkSync(join(COURSE_ROOT, 'node_modules'), join(course.root, 'all'));
    for (const name of readdirSync(join(COURSE_ROOT, 'node_modules'))) {
      if (name !== '@rolldown' && !name.startsWith('.')) {
        symlinkSync(join(course.root, 'all', name), join(course.root, 'node_modules', name));
      }
    }
    cpSync(
      join(COURSE_ROOT, 'node_modules/@rolldown'),
      join(course.root, 'node_modules/@rolldown'),
      { recursive: true },
    );
    for (const name of readdirSync(join(course.root, 'node_modules/@rolldown'))) {
      const folder = join(course.root, 'node_modules/@rolldown', name);
      for (const file of readdirSync(folder)) {
        if (file.endsWith('.node')) writeFileSync(join(folder, file), 'this is no machine code');
      }
    }

    const { output } = await doctor(course.root, '--brief');

    expect(output).toMatch(/problem {2}Native code +@rolldown\/binding-\S+ does not start: /);
    expect(output).not.toContain('Packages');
  });

  it('finds files with CRLF, and a folder whose name Vite can not read', async () => {
    using course = checkout(process.platform === 'win32' ? 'a#b' : 'what?');
    mkdirSync(join(course.root, 'lessons/01-x'), { recursive: true });
    writeFileSync(join(course.root, 'lessons/01-x/exercise.ts'), 'a\r\nb\r\n');

    const { output } = await doctor(course.root, '--brief');

    expect(output).toMatch(
      /warning {2}Line endings +1 file with CRLF \(lessons\/01-x\/exercise\.ts\)/,
    );
    expect(output).toMatch(/problem {2}Folder /);
  });

  it.skipIf(process.platform === 'win32')(
    'finds a worker that has lost its parent, and not one that has it',
    async () => {
      using course = checkout();
      const worker = join(course.root, 'node_modules/vitest/dist/workers/forks.js');
      mkdirSync(join(worker, '..'), { recursive: true });
      writeFileSync(worker, 'setTimeout(() => {}, 60_000); console.log(process.pid);');
      // A parent that starts a worker, and goes or stays.
      const parent = join(course.root, 'vitest.mjs');
      writeFileSync(
        parent,
        `import { spawn } from 'node:child_process';
       const child = spawn(process.execPath, [process.argv[2]], { stdio: 'inherit', detached: true });
       if (process.argv[3] === 'goes') child.unref();`,
      );
      const start = async (mode: string) => {
        const starter = spawn(process.execPath, [parent, worker, mode], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [pid] = (await new Promise((resolve) =>
          starter.stdout.setEncoding('utf8').once('data', (text) => resolve([text])),
        )) as [string];
        return { starter, pid: Number(pid) };
      };
      const lost = await start('goes');
      const kept = await start('stays');
      try {
        const { output } = await doctor(course.root, '--brief');

        expect(output).toMatch(
          new RegExp(
            `warning  Leftovers +1 process .*: ${lost.pid}\\.\n +End them: \`kill -9 ${lost.pid}\``,
          ),
        );
        expect(output).not.toContain(String(kept.pid));
      } finally {
        for (const { pid, starter } of [lost, kept]) {
          process.kill(pid, 'SIGKILL');
          starter.kill('SIGKILL');
        }
      }
    },
  );
});

/** A checkout with the doctor in it and nothing installed. */
function checkout(name = 'course') {
  const outside = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-doctor-test-'));
  const root = join(outside, name);
  for (const file of ['package.json', 'package-lock.json', 'helpers/doctor', '.gitattributes']) {
    cpSync(join(COURSE_ROOT, file), join(root, file), { recursive: true });
  }
  mkdirSync(join(root, 'node_modules'));
  return {
    root,
    install(name: string, version: string) {
      const folder = join(root, 'node_modules', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
    },
    [Symbol.dispose]: () => rmSync(outside, { recursive: true, force: true }),
  };
}

function doctor(root: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'helpers/doctor/cli.mjs'), ...args],
      { env: { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' } },
      (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}
