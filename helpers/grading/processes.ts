import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/**
 * The processes whose environment holds a text, after they have had two seconds to go.
 *
 * @returns a line for each, or why this system can't tell
 */
export async function processesWith(
  text: string,
): Promise<readonly string[] | { readonly unknown: string }> {
  if (process.platform === 'win32') {
    return { unknown: 'Windows shows nobody the environment of another process' };
  }
  const find = process.platform === 'linux' ? findInProc : findWithPs;
  let found = find(text);
  for (let i = 0; i < 20 && found.length > 0; i += 1) {
    await setTimeout(100);
    found = find(text);
  }
  return found;
}

function findInProc(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const found = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text);
      return found ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8')}`] : [];
    } catch {
      return []; // gone by now, or somebody else's
    }
  });
}

function findWithPs(text: string): string[] {
  const list = execFileSync('ps', ['-Eww', '-A', '-o', 'pid,command'], { encoding: 'utf8' });
  return list.split('\n').filter((line) => line.includes(text));
}
