import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProcessTree } from './process-tree.ts';

/** A child's program. Every process prints its id, and none ends by itself. */
const PROGRAMS = {
  'stays below its parent': `start({});`,
  'leaves the group': `start({ detached: true });`,
  'leaves the group and cleans its environment': `start({ detached: true, env: {} });`,
  'leaves the group and the folder': `start({ detached: true, cwd: '/' });`,
  'loses its parent': `start({ detached: true, cwd: '/' }, 'process.exit()');`,
  'loses its parent and cleans its environment': `start({ detached: true, env: {} }, 'process.exit()');`,
};

const PRELUDE = `
const { spawn } = require('node:child_process');
const wait = 'setInterval(() => {}, 1e6);';
const say = 'console.log(process.pid);';
// A process that starts another, and then goes on or doesn't.
const start = (options, then = '') => {
  const inner = \`\${say}\${wait}\`;
  const outer = \`\${say}
    const options = \${JSON.stringify(options)};
    const child = require('node:child_process').spawn(process.execPath, ['-e', \${JSON.stringify(inner)}],
      { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', (id) => { process.stdout.write(id, () => { \${then} }); });
    \${wait}\`;
  spawn(process.execPath, ['-e', outer], { stdio: 'inherit' });
};
console.log(process.pid);
setInterval(() => {}, 1e6);
`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(process.platform === 'win32')('a tree of processes ends when one of it', () => {
  it.for(Object.entries(PROGRAMS))('%s', async ([, program]) => {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-tree-'));
    const mark = randomUUID();
    const child = spawn(process.execPath, ['-e', PRELUDE + program], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { MARK: mark },
    });
    const tree = new ProcessTree(child.pid ?? 0, mark, folder);
    try {
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      while (printed.split('\n').length < 4) await once(child.stdout, 'data');
      const pids = printed.trim().split('\n').map(Number);
      expect(pids).toHaveLength(3);
      expect(tree.look().processes).toBeGreaterThanOrEqual(2);
      expect(await tree.kill()).toBe(0);
      // Zombies whose parent doesn't ask for them are over, and can still be signalled.
      await expect
        .poll(() => pids.filter((pid) => isRunning(pid) && tree.look().processes > 0))
        .toEqual([]);
    } finally {
      tree.killNow();
      rmSync(folder, { recursive: true });
    }
  });

  it('does not end its own process, nor one that only looks alike', async () => {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-tree-'));
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
      stdio: 'ignore',
      env: { MARK: randomUUID() },
    });
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
      cwd: folder,
      detached: true,
      stdio: 'ignore',
    });
    try {
      await once(child, 'spawn');
      const tree = new ProcessTree(child.pid ?? 0, randomUUID(), folder);
      expect(tree.look().processes).toBe(1);
      expect(await tree.kill()).toBe(0);
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    } finally {
      child.kill('SIGKILL');
      const gone = once(stranger, 'exit');
      stranger.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true });
    }
  });
});
