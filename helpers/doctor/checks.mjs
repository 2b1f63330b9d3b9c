// What can be wrong with a machine or a checkout. Each check gets everything that it looks at handed
// in and says what was found, in one sentence, and what mends it on this platform, in one more. So a
// test can show every outcome everywhere. What is handed in comes from probes.mjs.
import { numbersOf, satisfies } from './ranges.mjs';

/** The newest line of Node.js that the course was run with. */
const NEWEST_TESTED = 26;
/** Longest path below the course's folder, caches included. */
const LONGEST_PATH = 120;
/** Where Windows stops, if nobody has told it otherwise. */
const WINDOWS_PATH = 260;
/** Megabytes for two processes with a student's file each, and Vitest. */
const ENOUGH_MEMORY = 1_000;
const LITTLE_MEMORY = 400;
/** Files, sockets included, that a lesson may have open, with room. */
const ENOUGH_FILES = 1_024;
const LITTLE_FILES = 256;
const ENOUGH_DISK = 200;
const DAY_MS = 86_400_000;

const ok = (name, found) => ({ name, state: 'ok', found });
const warning = (name, found, fix) => ({ name, state: 'warning', found, fix });
const problem = (name, found, fix) => ({ name, state: 'problem', found, fix });

/** The sentence for this platform. */
function onPlatform(platform, sentences) {
  return sentences[platform] ?? sentences.other;
}

/** `a`, `a and b`, `a, b and 3 more`. */
function listed(things, most = 3) {
  const shown = things.slice(0, most);
  if (things.length > most) return `${shown.join(', ')} and ${things.length - most} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : `${shown[0]}`;
}

function count(number, thing, things = `${thing}s`) {
  return `${number} ${number === 1 ? thing : things}`;
}

// --- Node.js

export function nodeVersion({ version, wanted, engines, platform }) {
  const name = 'Node.js';
  const [major] = numbersOf(version);
  const fix = `Install Node.js 24 ${onPlatform(platform, {
    win32: '(`winget install OpenJS.NodeJS.LTS`)',
    darwin: '(`brew install node@24`, or `nvm install 24`)',
    other: '(`nvm install 24`, or from nodejs.org)',
  })}, then run \`npm ci\` again.`;
  if (!satisfies(version, wanted)) {
    return problem(name, `It is ${version}, and the course needs ${wanted}.`, fix);
  }
  const refusing = engines.filter(({ range }) => !satisfies(version, range));
  if (refusing.length > 0) {
    const [{ package: first, range }] = refusing;
    const found = `It is ${version}, and ${first} needs ${range}.`;
    return problem(name, found, fix);
  }
  if (major % 2 === 1) {
    const found = `It is ${version}; lines with an odd number are never supported for long.`;
    return warning(name, found, fix);
  }
  if (major > NEWEST_TESTED) {
    const found = `It is ${version}, newer than the ${NEWEST_TESTED} that the course was tried with.`;
    return warning(name, found, `If something fails that should not: ${fix}`);
  }
  return ok(name, `It is ${version}.`);
}

export function nodeOptions({ env }) {
  const name = 'Environment';
  const { NODE_OPTIONS: options = '', NODE_ENV: mode } = env;
  if (options.trim() !== '') {
    return warning(
      name,
      `NODE_OPTIONS is "${options}", and every process of the course gets that too.`,
      'Take NODE_OPTIONS out of the environment if a run fails for no reason that you can see.',
    );
  }
  if (mode === 'production') {
    return warning(
      name,
      'NODE_ENV is "production", so npm leaves out everything that the course needs.',
      'Take NODE_ENV out of the environment, then run `npm ci`.',
    );
  }
  return ok(name, 'Nothing in it changes how Node.js runs.');
}

// --- what npm has installed

/**
 * Whether node_modules is what package-lock.json says.
 *
 * @param versionOf the version of an installed package, undefined if it isn't there
 */
export function installState({ manifest, lock, versionOf, machine, env }) {
  const name = 'Packages';
  const fix =
    env?.NODE_ENV === 'production' || env?.npm_config_omit
      ? "Run `npm ci --include=dev` in the course's folder."
      : "Run `npm ci` in the course's folder.";
  if (!manifest || !lock) {
    const missing = manifest ? 'package-lock.json' : 'package.json';
    return problem(
      name,
      `${missing} is missing or can't be read.`,
      `Get it back: \`git checkout -- ${missing}\`.`,
    );
  }
  const wantedByLock = lock['']?.devDependencies ?? {};
  const wanted = manifest.devDependencies ?? {};
  const changed = [...new Set([...Object.keys(wanted), ...Object.keys(wantedByLock)])].filter(
    (key) => wanted[key] !== wantedByLock[key],
  );
  if (changed.length > 0) {
    return problem(
      name,
      `package.json and package-lock.json disagree about ${listed(changed)}.`,
      'Run `npm install` if you meant to change package.json, else `git checkout -- package.json package-lock.json`, then `npm ci`.',
    );
  }
  const packages = Object.entries(lock).filter(([path]) => path.startsWith('node_modules/'));
  const nameOf = (path) => path.replace(/^.*node_modules\//, '');
  const missing = [];
  const wrong = [];
  for (const [path, entry] of packages) {
    const version = versionOf(path);
    if (version === undefined) {
      // A build for another platform, or what only such a build needs.
      if (!entry.optional && !entry.devOptional) missing.push(nameOf(path));
    } else if (version !== entry.version) {
      wrong.push(`${nameOf(path)} (${version}, wanted ${entry.version})`);
    }
  }
  if (
    missing.length > 0 &&
    missing.length ===
      packages.filter(([, { optional, devOptional }]) => !optional && !devOptional).length
  ) {
    return problem(name, 'Nothing is installed yet.', fix);
  }
  if (missing.length > 0) {
    return problem(name, `${count(missing.length, 'package')} missing: ${listed(missing)}.`, fix);
  }
  if (wrong.length > 0) {
    return problem(name, `Not what package-lock.json wants: ${listed(wrong)}.`, fix);
  }
  const absent = nativePackages({ lock, machine }).filter(
    ({ path }) => versionOf(path) === undefined,
  );
  if (absent.length > 0) {
    const others = packages.filter(
      ([path, entry]) => entry.os && !fitsMachine(entry, machine) && versionOf(path) !== undefined,
    );
    const why =
      others.length > 0
        ? `node_modules comes from another system (it has ${listed(others.map(([path]) => nameOf(path)))})`
        : 'The parts for this system are missing';
    return problem(
      name,
      `${why}: there is no ${listed(absent.map(({ path }) => nameOf(path)))}.`,
      'Delete node_modules and run `npm ci` on this system, without `--omit=optional`.',
    );
  }
  return ok(
    name,
    `All ${packages.filter(([path]) => versionOf(path) !== undefined).length} are as package-lock.json wants them.`,
  );
}

/** The packages with machine code that fit this machine. */
export function nativePackages({ lock, machine }) {
  return Object.entries(lock)
    .filter(
      ([path, entry]) => path !== '' && entry.optional && entry.os && fitsMachine(entry, machine),
    )
    .map(([path, entry]) => ({ path, version: entry.version }));
}

function fitsMachine({ os, cpu, libc }, machine) {
  const has = (list, value) => !list || list.includes(value);
  return has(os, machine.platform) && has(cpu, machine.arch) && (!libc || has(libc, machine.libc));
}

/**
 * Whether the machine code that the tools bring along starts.
 *
 * @param parts the packages for this machine, each with what it said when it was loaded
 */
export function nativeParts({ parts, machine }) {
  const name = 'Native code';
  const { platform, arch, libc } = machine;
  const system = [platform, arch, platform === 'linux' && libc].filter(Boolean).join(' ');
  if (parts.length === 0) {
    return problem(
      name,
      `The tools of the course come without a build for ${system}.`,
      'Use Node.js for one of the usual systems: Linux, macOS or Windows on x64 or arm64.',
    );
  }
  const broken = parts.filter(({ error }) => error !== undefined);
  if (broken.length > 0) {
    const [{ package: first, error }] = broken;
    return problem(
      name,
      `${first} does not start: ${firstLine(error)}.`,
      onPlatform(platform, {
        win32:
          'Install the Visual C++ Redistributable, see whether a virus scanner has taken the file, then delete node_modules and run `npm ci`.',
        darwin:
          'Delete node_modules and run `npm ci` with the same Node.js (arm64 or Rosetta) that you run the course with.',
        other: 'Delete node_modules and run `npm ci` on this system.',
      }),
    );
  }
  return ok(name, `${count(parts.length, 'part')} for ${system} start.`);
}

function firstLine(text) {
  return String(text).split('\n')[0].replace(/\.$/, '');
}

// --- the checkout

/**
 * @param files texts of the course with CRLF at the ends of their lines
 * @param autocrlf what `git config core.autocrlf` says, if anything
 * @param attributes text of .gitattributes, if it is there
 */
export function lineEndings({ files, autocrlf, attributes }) {
  const name = 'Line endings';
  const isSettled = /^\*\s.*\beol=lf\b/m.test(attributes ?? '');
  if (files.length > 0) {
    return warning(
      name,
      `${count(files.length, 'file')} with CRLF (${listed(files)}): every test runs with them, but \`npm run lint\` and shell scripts refuse them.`,
      'Run `npm run format`, and set your editor to LF (.editorconfig says so already).',
    );
  }
  if (autocrlf === 'true' && !isSettled) {
    return warning(
      name,
      'Git turns LF into CRLF here (core.autocrlf is true), and .gitattributes does not forbid it.',
      'Run `git checkout -- .gitattributes`, or `git config core.autocrlf input`.',
    );
  }
  return ok(
    name,
    autocrlf === 'true' ? 'LF, since .gitattributes overrides core.autocrlf.' : 'LF everywhere.',
  );
}

export function folderPath({ root, platform }) {
  const name = 'Folder';
  const move = (why) =>
    `Move the course to a path ${why}, such as ${onPlatform(platform, {
      win32: 'C:\\course',
      other: '~/course',
    })}; node_modules can come along.`;
  const bad = ['#', '?', ...(platform === 'win32' ? [] : ['\\'])].find((sign) =>
    root.includes(sign),
  );
  if (bad) {
    return problem(
      name,
      `The path ${root} has a "${bad}" in it, and Vite can't read files there.`,
      move(`without "${bad}"`),
    );
  }
  if (platform === 'win32' && root.length + LONGEST_PATH > WINDOWS_PATH) {
    return warning(
      name,
      `The path has ${root.length} characters, so files in node_modules come near the ${WINDOWS_PATH} that Windows allows.`,
      move('that is shorter'),
    );
  }
  if (platform === 'win32' && /%|[&^!]/.test(root)) {
    const [sign] = /%|[&^!]/.exec(root) ?? [];
    return warning(
      name,
      `The path has a "${sign}" in it, which the command line of Windows reads as its own.`,
      move(`without "${sign}"`),
    );
  }
  if (platform !== 'win32' && root.includes(':')) {
    return warning(
      name,
      'The path has a ":" in it, so `npm run` and `npx` do not find the programs in node_modules.',
      move('without ":"'),
    );
  }
  const synced = /OneDrive|Dropbox|Google ?Drive|iCloud|Mobile Documents|CloudStorage/i.exec(root);
  if (synced) {
    return warning(
      name,
      `The course is in a folder that ${synced[0]} keeps in step: it locks files and starts tests anew.`,
      move('outside of it'),
    );
  }
  const strange = [
    /%[0-9a-f]{2}/i.test(root) && 'a %',
    root.includes(' ') && 'a space',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is the range
    /[^\x00-\x7f]/.test(root) && 'letters outside of ASCII',
  ].filter(Boolean);
  return ok(
    name,
    strange.length > 0
      ? `Its path has ${listed(strange)}, which is no problem.`
      : 'Its path is plain.',
  );
}

/** @param tries what was written, and the code of the error if it failed */
export function folderWritable({ tries, platform }) {
  const name = 'Writing';
  const failed = tries.filter(({ code }) => code !== undefined);
  if (failed.length === 0) return ok(name, 'The report and the caches can be written.');
  const [{ path, code }] = failed;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return problem(
    name,
    `${path} can't be written (${code}).`,
    full
      ? 'Make room on this disk.'
      : onPlatform(platform, {
          win32:
            'Move the course out of folders that Windows protects, and take back "read-only": `attrib -r /s`.',
          other:
            'Take the folder back if root owns it: `sudo chown -R "$(id -un)" .`. If the disk is read-only, copy the course to another one.',
        }),
  );
}

export function tempFolder({ path, code, freeMegabytes, platform }) {
  const name = 'Temporary files';
  const variable = platform === 'win32' ? 'TEMP' : 'TMPDIR';
  if (code !== undefined) {
    return problem(
      name,
      `${path} can't be written (${code}).`,
      `Make it writable, or set ${variable} to a folder that is.`,
    );
  }
  if (freeMegabytes !== undefined && freeMegabytes < ENOUGH_DISK) {
    return warning(
      name,
      `${path} has ${Math.floor(freeMegabytes)} MB left.`,
      `Make room there, or set ${variable} to a folder with more.`,
    );
  }
  return ok(name, `${path} can be written.`);
}

// --- the network

/** @param addresses what `localhost` is, or undefined with `code` if nobody knows it */
export function localhost({ addresses, code, platform }) {
  const name = 'localhost';
  const hosts = onPlatform(platform, {
    win32: 'C:\\Windows\\System32\\drivers\\etc\\hosts',
    other: '/etc/hosts',
  });
  const fix = `Put the line \`127.0.0.1 localhost\` into ${hosts}.`;
  if (!addresses || addresses.length === 0) {
    return warning(name, `This system doesn't know the name (${code ?? 'no address'}).`, fix);
  }
  const strange = addresses.find((address) => !/^127\.|^::1$/.test(address));
  if (strange) return problem(name, `It leads to ${strange}, which is not this machine.`, fix);
  if (!addresses.some((address) => address.startsWith('127.'))) {
    return warning(name, `It is ${listed(addresses)} only; the course listens on 127.0.0.1.`, fix);
  }
  return ok(name, `It is ${listed(addresses)}.`);
}

/**
 * @param code of the error when servers were opened on free ports of 127.0.0.1 and asked, if any
 * @param ports how many ports the system gives out, and how many of them are taken, if it tells
 */
export function freePorts({ code, opened, ports, platform }) {
  const name = 'Ports';
  const restart =
    'Wait two minutes, end programs that open many connections, or restart the machine.';
  if (code === 'EADDRNOTAVAIL') {
    return problem(
      name,
      '127.0.0.1 can not be listened on (EADDRNOTAVAIL): it is missing, or no port is free.',
      onPlatform(platform, {
        linux: `Switch loopback on with \`ip link set lo up\`. If it is on: ${restart}`,
        other: restart,
      }),
    );
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return problem(
      name,
      `After ${opened} servers there was none more (${code}).`,
      'Raise the limit of open files, see below.',
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return problem(
      name,
      `Nothing may listen on 127.0.0.1 here (${code}).`,
      onPlatform(platform, {
        win32: 'Allow Node.js in the firewall and the virus scanner, also for private networks.',
        other: 'Leave the sandbox or the container that forbids it, or allow it there.',
      }),
    );
  }
  if (code !== undefined) {
    return problem(
      name,
      `A server on 127.0.0.1 could not be reached (${code}).`,
      'Allow Node.js in the firewall, the VPN and the virus scanner, and try again.',
    );
  }
  if (ports && ports.taken > 0.8 * ports.all) {
    return warning(
      name,
      `${ports.taken} of the ${ports.all} ports for connections are taken.`,
      restart,
    );
  }
  return ok(name, `${opened} servers listened on 127.0.0.1 and answered.`);
}

export function proxies({ env }) {
  const name = 'Proxy';
  const value = (variable) => env[variable] ?? env[variable.toLowerCase()] ?? '';
  const set = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].filter((variable) => value(variable));
  if (set.length === 0) return ok(name, 'None is set.');
  const exceptions = value('NO_PROXY').split(/[\s,]+/);
  const spared = exceptions.some((host) => /^(\*|127\.0\.0\.1|127\.0\.0\.0\/8)$/.test(host));
  const isUsed = Boolean(env.NODE_USE_ENV_PROXY) || /--use-env-proxy/.test(env.NODE_OPTIONS ?? '');
  if (isUsed && !spared) {
    return problem(
      name,
      `Node.js uses ${listed(set)} (NODE_USE_ENV_PROXY), also for 127.0.0.1, where every test talks to.`,
      'Set NO_PROXY=127.0.0.1,localhost, or take NODE_USE_ENV_PROXY out of the environment.',
    );
  }
  return ok(name, `${listed(set)} is set; tests on 127.0.0.1 don't use it.`);
}

// --- watching, processes, resources

/**
 * @param ms how long it took until a change was noticed; undefined if it was not
 * @param code of the error if nothing could be watched
 * @param fileSystem kind of the disk, if the system tells
 * @param wsl whether this is Linux on Windows
 */
export function watching({ root, ms, code, fileSystem, wsl, platform }) {
  const name = 'Watching';
  if (code === 'ENOSPC' || code === 'EMFILE') {
    return problem(
      name,
      `The system has no watches left (${code}), so \`npm run learn\` sees no change.`,
      onPlatform(platform, {
        linux:
          'Close editors, or raise the limit: `sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512`.',
        other: 'Close programs that watch many files, or raise the limit of open files.',
      }),
    );
  }
  if (wsl && /^\/mnt\/[a-z](\/|$)/.test(root)) {
    return warning(
      name,
      'The course is on a disk of Windows, and Linux hears of no change there.',
      'Copy the course into the home folder of Linux (`cp -r . ~/course`) and run `npm ci` there.',
    );
  }
  if (
    /^(nfs\d?|cifs|smb\w*|9p|fuse\.sshfs|vboxsf|fuse\.vmhgfs-fuse|afpfs|webdav)$/i.test(
      fileSystem ?? '',
    ) ||
    root.startsWith('\\\\')
  ) {
    return warning(
      name,
      `The course is on a disk of another machine (${fileSystem ?? 'a network drive'}), which may tell of changes late or never.`,
      'Copy the course to a disk of this machine, and run `npm ci` there.',
    );
  }
  if (code !== undefined) {
    return problem(
      name,
      `Nothing can be watched here (${code}).`,
      'Copy the course to a disk of this machine.',
    );
  }
  if (ms === undefined) {
    return warning(
      name,
      'A file was changed, and the system did not tell, so `npm run learn` may not notice what you save.',
      'Copy the course to a disk of this machine. In a container, work on a volume instead of a mounted folder.',
    );
  }
  return ok(name, `A change was noticed after ${Math.ceil(ms)} ms.`);
}

/**
 * Processes of the course whose run is over.
 *
 * @param processes of the course's folder, each with whether the one that has started it is there
 */
export function leftovers({ processes, unknown, platform }) {
  const name = 'Leftovers';
  if (!processes) return ok(name, `Not known: ${unknown}.`);
  const lost = processes.filter(({ hasParent }) => !hasParent).map(({ pid }) => pid);
  if (lost.length === 0) return ok(name, 'No process of an earlier run is left.');
  return warning(
    name,
    `${count(lost.length, 'process', 'processes')} of an earlier run ${lost.length === 1 ? 'is' : 'are'} left: ${listed(lost, 8)}.`,
    onPlatform(platform, {
      win32: `End them: \`taskkill /F ${lost.map((pid) => `/PID ${pid}`).join(' ')}\`.`,
      other: `End them: \`kill -9 ${lost.join(' ')}\`.`,
    }),
  );
}

/**
 * @param now time of the clock
 * @param newest when the newest file of the course was written
 */
export function clock({ now, newest, platform }) {
  const name = 'Clock';
  const fix = onPlatform(platform, {
    win32: 'Set it: Settings, Time & language, Sync now.',
    darwin: 'Set it: System Settings, General, Date & Time, automatically.',
    other:
      'Set it: `sudo timedatectl set-ntp true` (on WSL: `wsl --shutdown` in Windows, and start again).',
  });
  if (now < newest - DAY_MS) {
    const behind = Math.round((newest - now) / DAY_MS);
    return warning(
      name,
      `It is ${count(behind, 'day')} behind the files of the course, so npm may refuse certificates.`,
      fix,
    );
  }
  return ok(name, `It says ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`);
}

export function memory({ availableMegabytes }) {
  const name = 'Memory';
  const found = `${(availableMegabytes / 1_000).toFixed(1)} GB are free.`;
  const fix = 'End other programs, or give the container or virtual machine more.';
  if (availableMegabytes < LITTLE_MEMORY) return problem(name, found, fix);
  if (availableMegabytes < ENOUGH_MEMORY) return warning(name, found, fix);
  return ok(name, found);
}

/** @param limit files that one process may have open; undefined if the system sets none */
export function openFiles({ limit }) {
  const name = 'Open files';
  if (limit === undefined) return ok(name, 'The system sets no limit.');
  const found = `One process may have ${limit} open.`;
  const fix = 'Raise the limit in this terminal: `ulimit -n 4096`.';
  if (limit < LITTLE_FILES) return problem(name, found, fix);
  if (limit < ENOUGH_FILES) return warning(name, found, fix);
  return ok(name, found);
}
