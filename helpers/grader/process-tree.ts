import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A process, as the system lists it. */
export interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** With the id it names one process for ever; the id alone is given again. */
  readonly started: string;
  readonly megabytes: number;
}

/** What a tree of processes uses. */
export interface TreeUse {
  readonly processes: number;
  /** Memory in use, 10^6 bytes. Shared pages count in each. */
  readonly megabytes: number;
}

/**
 * Everything that one child process has started, also what has left its group, lost its parent or
 * cleaned its environment: each of the four leads to the others.
 *
 * A process that does all of that at once, between two looks and before its parent ends, is not
 * found. On Windows only the chain of parents is known.
 */
export class ProcessTree {
  readonly #root: number;
  readonly #mark: string;
  readonly #folder: string;
  /** Processes that belong to the tree, by id and start. */
  readonly #known = new Set<string>();
  /** Processes that were looked at and don't. */
  readonly #strangers = new Set<string>();
  readonly #groups = new Set<number>();

  /**
   * @param root process id of the child, which leads its own group
   * @param mark text in the environment of all that it starts
   * @param folder absolute path in which all of it starts
   */
  constructor(root: number, mark: string, folder: string) {
    this.#root = root;
    this.#mark = mark;
    this.#folder = folder;
    // Not the root's group when the child is gone already: its number may be somebody else's.
    for (const { pid, group } of this.#find()) if (pid === root) this.#groups.add(group);
  }

  /** Looks for what is new. To be called often, since a parent that ends breaks the chain. */
  look(): TreeUse {
    const found = this.#find();
    return {
      processes: found.length,
      megabytes: found.reduce((sum, { megabytes }) => sum + megabytes, 0),
    };
  }

  /**
   * Ends all of them.
   *
   * @returns how many are still there after five seconds, which is 0 unless the system is at its end
   */
  async kill(): Promise<number> {
    if (process.platform === 'win32') return killOnWindows(this.#root);
    for (let i = 0; i < 100; i += 1) {
      // First all are stopped, then all ended: while one is running it can start another.
      const stopped = new Set<number>();
      for (let fresh = true; fresh; ) {
        fresh = false;
        for (const { pid } of this.#find('again')) {
          if (stopped.has(pid)) continue;
          stopped.add(pid);
          fresh = true;
          signal(pid, 'SIGSTOP');
        }
      }
      if (stopped.size === 0) return 0;
      for (const pid of stopped) signal(pid, 'SIGKILL');
      await setTimeout(i < 5 ? 10 : 50);
    }
    return this.#find('again').length;
  }

  /** The same in one go, for the last moment of this process. */
  killNow(): void {
    if (process.platform === 'win32') {
      signal(this.#root, 'SIGKILL');
      return;
    }
    for (const { pid } of this.#find('again')) signal(pid, 'SIGKILL');
  }

  #find(strangers?: 'again'): Listed[] {
    if (strangers) this.#strangers.clear();
    const all = listProcesses();
    const byParent = new Map<number, Listed[]>();
    for (const one of all) {
      const siblings = byParent.get(one.parent);
      if (siblings) siblings.push(one);
      else byParent.set(one.parent, [one]);
    }
    const found = new Map<number, Listed>();
    const add = (one: Listed) => {
      if (found.has(one.pid) || one.pid === process.pid) return;
      found.set(one.pid, one);
      this.#known.add(keyOf(one));
      // Its own group, or the root's; never that of this process, should one have joined it.
      if (one.group === one.pid) this.#groups.add(one.group);
      for (const child of byParent.get(one.pid) ?? []) add(child);
    };
    for (const one of all) {
      if (this.#known.has(keyOf(one)) || (one.pid === this.#root && one.parent === process.pid)) {
        add(one);
      } else if (this.#groups.has(one.group)) add(one);
    }
    const marked = process.platform === 'darwin' ? markedOnDarwin(this.#mark) : undefined;
    for (const one of all) {
      if (found.has(one.pid) || this.#strangers.has(keyOf(one))) continue;
      if (marked ? marked.has(one.pid) : this.#isOurs(one.pid)) add(one);
      else this.#strangers.add(keyOf(one));
    }
    return [...found.values()];
  }

  #isOurs(pid: number): boolean {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(this.#mark)) return true;
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      return folder === this.#folder || folder.startsWith(`${this.#folder}/`);
    } catch {
      return false; // gone by now, or somebody else's
    }
  }
}

function keyOf({ pid, started }: Listed): string {
  return `${pid} ${started}`;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {} // gone by now
}

/** All processes of this machine; none on Windows. */
export function listProcesses(): Listed[] {
  if (process.platform === 'linux') return listInProc();
  return process.platform === 'win32' ? [] : listWithPs();
}

function listInProc(): Listed[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name stands in brackets and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state, parent, group] = fields;
      // A zombie is over; whoever should have asked for its exit code hasn't yet.
      if (state === 'Z' || state === 'X') return [];
      return {
        pid: Number(name),
        parent: Number(parent),
        group: Number(group),
        started: fields[19] ?? '',
        megabytes: (Number(fields[21]) * 4_096) / 1e6,
      };
    } catch {
      return []; // gone by now
    }
  });
}

function listWithPs(): Listed[] {
  const list = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=,stat=,lstart='], {
    encoding: 'utf8',
    maxBuffer: 20e6,
  });
  return list.split('\n').flatMap((line) => {
    const [pid, parent, group, kilobytes, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith('Z')) return [];
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      started: started.join(' '),
      megabytes: Number(kilobytes) / 1e3,
    };
  });
}

function markedOnDarwin(mark: string): Set<number> {
  const list = execFileSync('ps', ['-Eww', '-A', '-o', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 50e6,
  });
  const lines = list.split('\n').filter((line) => line.includes(mark));
  return new Set(lines.map((line) => Number.parseInt(line, 10)));
}

async function killOnWindows(root: number): Promise<number> {
  try {
    await promisify(execFile)('taskkill', ['/PID', String(root), '/T', '/F']);
    return 0;
  } catch {
    return 0; // 128: it was gone already, and Windows knows no more of what it had started
  }
}
