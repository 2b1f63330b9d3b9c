import { readFileSync } from 'node:fs';
import { listProcesses } from './process-tree.ts';

/**
 * Megabytes that a process and everything that it has started hold in memory at this moment, shared
 * pages counted by share.
 *
 * @returns `undefined` where the system doesn't say (it does on Linux)
 */
export function memoryOfTree(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const parents = new Map(listProcesses().map(({ pid, parent }) => [pid, parent]));
  let kilobytes = 0;
  for (const pid of parents.keys()) {
    if (!isBelow(pid, root, parents)) continue;
    kilobytes += Number(/^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
  }
  return kilobytes / 1_024;
}

function isBelow(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
    if (at === root) return true;
  }
  return false;
}

/** Empty when the process has gone, or is somebody else's. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
