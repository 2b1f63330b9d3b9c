// What checks.mjs wants to know, taken from this machine. Nothing here needs a package.
import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as checks from './checks.mjs';

const { platform, arch, env } = process;
/** Servers that are opened at the same time: more than a lesson has. */
const SERVERS = 50;
/** How long a system may take to tell of a change. */
const WATCH_MS = 3_000;

/**
 * Every check, with what it has found out about this machine.
 *
 * @param root folder of the course
 */
export async function examine(root) {
  const manifest = readJson(join(root, 'package.json'));
  const lock = readJson(join(root, 'package-lock.json'))?.packages;
  const machine = { platform, arch, libc: libc() };
  const versionOf = (path) => readJson(join(root, path, 'package.json'))?.version;
  const engines = Object.keys(manifest?.devDependencies ?? {}).flatMap((name) => {
    const range = lock?.[`node_modules/${name}`]?.engines?.node;
    return range ? [{ package: name, range }] : [];
  });
  const [addresses, ports, watched, processes, parts, autocrlf, limit] = await Promise.all([
    localhostAddresses(),
    openServers(),
    watchFile(root),
    courseProcesses(root),
    nativeParts(root, lock, machine, versionOf),
    gitSetting(root, 'core.autocrlf'),
    openFileLimit(),
  ]);
  const temp = tryTemp();
  return [
    checks.nodeVersion({
      version: process.version,
      wanted: manifest?.engines?.node ?? '*',
      engines,
      platform,
    }),
    checks.installState({ manifest, lock, versionOf, machine, env }),
    checks.nativeParts({ parts, machine }),
    checks.nodeOptions({ env }),
    checks.folderPath({ root, platform }),
    checks.folderWritable({ tries: tryWriting(root), platform }),
    checks.tempFolder({ ...temp, platform }),
    checks.lineEndings({
      files: filesWithCrlf(root),
      autocrlf,
      attributes: readText(join(root, '.gitattributes')),
    }),
    checks.localhost({ ...addresses, platform }),
    checks.freePorts({ ...ports, ports: portsInUse(), platform }),
    checks.proxies({ env }),
    checks.watching({ root, ...watched, fileSystem: fileSystemOf(root), wsl: isWsl(), platform }),
    checks.leftovers({ ...processes, platform }),
    checks.clock({ now: Date.now(), newest: newestFile(root), platform }),
    checks.memory({ availableMegabytes: availableBytes() / 1_000_000 }),
    checks.openFiles({ limit }),
  ];
}

/**
 * Whether node_modules is not what package-lock.json says. Takes some milliseconds.
 *
 * @returns undefined in a folder that is no checkout, where nobody can tell
 */
export function packagesOutOfStep(root) {
  if (!existsSync(join(root, 'package-lock.json'))) return undefined;
  const finding = checks.installState({
    manifest: readJson(join(root, 'package.json')),
    lock: readJson(join(root, 'package-lock.json'))?.packages,
    versionOf: (path) => readJson(join(root, path, 'package.json'))?.version,
    machine: { platform, arch, libc: libc() },
    env,
  });
  return finding.state === 'ok' ? undefined : finding;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function codeOf(error) {
  return error?.code ?? error?.name ?? 'unknown error';
}

/** What a system says when it is asked by its own programs; undefined when it hasn't such a one. */
async function ask(file, args, options = {}) {
  try {
    const { stdout } = await promisify(execFile)(file, args, {
      timeout: 8_000,
      windowsHide: true,
      ...options,
    });
    return stdout;
  } catch {
    return undefined;
  }
}

function libc() {
  if (platform !== 'linux') return undefined;
  // Asking for the network too would take long.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

async function nativeParts(root, lock, machine, versionOf) {
  if (!lock) return [];
  const parts = checks
    .nativePackages({ lock, machine })
    .filter(({ path }) => versionOf(path) !== undefined);
  // A part for this machine that isn't there is what installState speaks of.
  return Promise.all(
    (parts.length > 0 ? parts : checks.nativePackages({ lock, machine })).map(async ({ path }) => ({
      package: path.replace(/^.*node_modules\//, ''),
      error: versionOf(path) === undefined ? undefined : await start(join(root, path), root),
    })),
  );
}

/** Loads a package's machine code, or looks whether its program may be run. */
async function start(folder, root) {
  const { main } = readJson(join(folder, 'package.json')) ?? {};
  try {
    if (main?.endsWith('.node')) {
      // In a process of its own: what is broken may end it.
      await promisify(execFile)(process.execPath, ['-e', 'require(process.argv[1])', folder], {
        cwd: root,
        timeout: 10_000,
        windowsHide: true,
      });
      return undefined;
    }
    for (const program of programsIn(folder)) accessSync(program, constants.X_OK);
    return undefined;
  } catch (error) {
    const said = /^(?:\w*Error): (.*)$/m.exec(error.stderr ?? '')?.[1];
    return said ?? error.message;
  }
}

function programsIn(folder) {
  const names = platform === 'win32' ? ['biome.exe', 'lib/tsc.exe'] : ['biome', 'lib/tsc'];
  return names.map((name) => join(folder, name)).filter((path) => existsSync(path));
}

// --- the checkout

/** Texts of the course that somebody has given the line endings of Windows. */
function filesWithCrlf(root) {
  const found = [];
  const look = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!/^(node_modules|reports|html|\..*)$/.test(entry.name)) look(path);
      } else if (/\.(ts|mjs|js|json|md|csv|yml|html|css)$/.test(entry.name) && entry.isFile()) {
        if (readText(path)?.includes('\r\n'))
          found.push(relative(root, path).replaceAll('\\', '/'));
      }
    }
  };
  look(root);
  return found;
}

async function gitSetting(root, key) {
  return (await ask('git', ['config', '--get', key], { cwd: root }))?.trim();
}

/** What a run writes: the report beside package.json, and Vite's caches. */
function tryWriting(root) {
  const places = [root, 'node_modules', 'node_modules/.vite', 'node_modules/.vite-temp', 'reports'];
  const tries = places
    .map((place) => (place === root ? root : join(root, place)))
    .filter((folder) => existsSync(folder))
    .map((folder) => {
      const path = relative(root, folder).replaceAll('\\', '/') || "The course's folder";
      const file = join(folder, `.doctor-${process.pid}`);
      try {
        writeFileSync(file, '');
        unlinkSync(file);
        return { path };
      } catch (error) {
        return { path, code: codeOf(error) };
      }
    });
  for (const file of ['grade.json', 'reports/junit.xml']) {
    if (!existsSync(join(root, file))) continue;
    try {
      accessSync(join(root, file), constants.W_OK);
    } catch (error) {
      tries.push({ path: file, code: codeOf(error) });
    }
  }
  return tries;
}

function tryTemp() {
  const path = tmpdir();
  try {
    const folder = mkdtempSync(join(path, 'traffic-layer-doctor-'));
    rmSync(folder, { recursive: true });
    const { bavail, bsize } = statfsSync(path);
    return { path, freeMegabytes: (bavail * bsize) / 1_000_000 };
  } catch (error) {
    return { path, code: codeOf(error) };
  }
}

function newestFile(root) {
  const times = ['package.json', 'package-lock.json', 'vitest.config.ts', 'lessons', 'helpers'].map(
    (name) => {
      try {
        return statSync(join(root, name)).mtimeMs;
      } catch {
        return 0;
      }
    },
  );
  return Math.max(...times);
}

// --- the network

async function localhostAddresses() {
  try {
    const found = await lookup('localhost', { all: true });
    return { addresses: [...new Set(found.map(({ address }) => address))] };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

/** Opens servers as a lesson does, and asks the last one of them. */
async function openServers() {
  const servers = [];
  try {
    for (let i = 0; i < SERVERS; i += 1) {
      const server = createServer((socket) => socket.end('hello'));
      servers.push(server);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    const socket = connect(servers.at(-1).address().port, '127.0.0.1');
    socket.setTimeout(3_000, () =>
      socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })),
    );
    const [answer] = await once(socket.setEncoding('utf8'), 'data');
    socket.destroy();
    if (answer !== 'hello') return { opened: servers.length, code: 'another answer' };
    return { opened: servers.length };
  } catch (error) {
    return { opened: Math.max(0, servers.length - 1), code: codeOf(error) };
  } finally {
    for (const server of servers) server.close();
  }
}

/** Only Linux tells without being asked for long. */
function portsInUse() {
  const range = readText('/proc/sys/net/ipv4/ip_local_port_range')?.trim().split(/\s+/).map(Number);
  const [, used, waiting] =
    /^TCP: inuse (\d+) orphan \d+ tw (\d+)/m.exec(readText('/proc/net/sockstat') ?? '') ?? [];
  if (!range || used === undefined) return undefined;
  return { all: range[1] - range[0] + 1, taken: Number(used) + Number(waiting) };
}

// --- watching

/** Changes a file in the course's folder and waits until the system tells. */
async function watchFile(root) {
  const file = join(root, `.doctor-watch-${process.pid}`);
  let watcher;
  try {
    writeFileSync(file, 'before');
    watcher = watch(file);
    const told = once(watcher, 'change', { signal: AbortSignal.timeout(WATCH_MS) });
    // macOS begins to listen some time after it was asked to.
    const started = performance.now();
    const again = setInterval(() => writeFileSync(file, `${performance.now()}`), 100);
    try {
      await told;
    } finally {
      clearInterval(again);
    }
    return { ms: performance.now() - started };
  } catch (error) {
    // Where nothing can be written, folderWritable says so.
    return ['AbortError', 'EACCES', 'EROFS', 'EPERM'].includes(
      error.name === 'AbortError' ? error.name : codeOf(error),
    )
      ? {}
      : { code: codeOf(error) };
  } finally {
    watcher?.close();
    rmSync(file, { force: true });
  }
}

function isWsl() {
  return platform === 'linux' && /microsoft/i.test(readText('/proc/version') ?? '');
}

function fileSystemOf(root) {
  const mounts = readText('/proc/self/mounts');
  if (mounts === undefined) return undefined;
  const all = mounts.split('\n').map((line) => line.split(' '));
  const holds = (point) => root === point || root.startsWith(point === '/' ? '/' : `${point}/`);
  const [best] = all
    .map(([, point = '', kind]) => ({ point: point.replaceAll('\\040', ' '), kind }))
    .filter(({ point, kind }) => kind && holds(point))
    .sort((a, b) => b.point.length - a.point.length);
  return best?.kind;
}

// --- processes and resources

/** Vitest's processes that were started in the course's folder. */
async function courseProcesses(root) {
  const all = await listProcesses();
  if (!all) return { unknown: 'this system does not list its processes' };
  const byId = new Map(all.map((one) => [one.pid, one]));
  const isVitest = ({ command }) => /\bvitest\b/.test(command);
  const real = safely(() => realpathSync(root)) ?? root;
  const candidates = all.filter((one) => isVitest(one) && one.pid !== process.pid);
  const processes = [];
  for (const one of candidates) {
    // The programs that npm, a shell or an editor has started are nobody's leftovers.
    if (!/vitest[\\/]dist[\\/]workers|\(vitest \d+\)/.test(one.command)) continue;
    const isHere = one.command.includes(real) || (await folderOf(one.pid)) === real;
    const parent = byId.get(one.parent);
    if (isHere) processes.push({ pid: one.pid, hasParent: Boolean(parent && isVitest(parent)) });
  }
  return { processes };
}

async function listProcesses() {
  if (platform === 'linux') {
    return readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid)) return [];
      const command = readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ');
      // The name in brackets may have brackets in itself.
      const parent = /\) \S (\d+)/.exec(readText(`/proc/${pid}/stat`) ?? '')?.[1];
      return command && parent ? [{ pid: Number(pid), parent: Number(parent), command }] : [];
    });
  }
  if (platform === 'win32') {
    const list = await ask('powershell.exe', [
      '-NoProfile',
      '-Command',
      'Get-CimInstance Win32_Process -Filter "Name=\'node.exe\'" | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CommandLine)" }',
    ]);
    return list && readList(list);
  }
  const list = await ask('ps', ['-axww', '-o', 'pid=,ppid=,command=']);
  return list && readList(list);
}

function readList(list) {
  return list.split('\n').flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), parent: Number(parent), command }] : [];
  });
}

/** In which folder a process runs. Windows doesn't tell. */
async function folderOf(pid) {
  if (platform === 'linux') return safely(() => readlinkSync(`/proc/${pid}/cwd`));
  if (platform === 'win32') return undefined;
  const found = await ask('lsof', ['-a', '-d', 'cwd', '-p', `${pid}`, '-Fn']);
  return /^n(.*)$/m.exec(found ?? '')?.[1];
}

function safely(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function availableBytes() {
  const { availableMemory } = process;
  return availableMemory ? availableMemory.call(process) : freemem();
}

/** Node.js raises its own limit as far as it may; what it starts has the same. */
async function openFileLimit() {
  if (platform === 'win32') return undefined;
  const limit = (await ask('sh', ['-c', 'ulimit -n']))?.trim();
  return limit === undefined || limit === 'unlimited' ? undefined : Number(limit);
}
