import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Vitest UI, running in a process of its own. Disposing it ends the process and waits for that. */
export interface VitestUi extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts what `npm run ui` starts, without opening a window, for some of the lessons.
 *
 * @param filters as on Vitest's command line, such as `lessons/05`
 * @throws {Error} when the process ends before its page is there; the message has what it printed
 */
export async function startVitestUi(...filters: string[]): Promise<VitestUi> {
  const port = await getPort({ host: '127.0.0.1' });
  const url = `http://127.0.0.1:${port}/__vitest__/`;
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const options = [
    '--open=false',
    '--api.host=127.0.0.1',
    `--api.port=${port}`,
    '--api.strictPort',
  ];
  const child = spawn(process.execPath, [vitest, 'watch', '--ui', ...options, ...filters], {
    cwd: ROOT,
    env: outsideOfVitest(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');

  let printed = '';
  const collect = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  child.stderr.on('data', collect);
  child.stdout.on('data', collect);
  await new Promise<void>((resolve, reject) => {
    // The report of the first run is printed when the page has long been served.
    child.stdout.on('data', () => {
      fetch(url).then(() => resolve(), ignore);
    });
    closed.then(
      () => reject(new Error(`Vitest UI ended before it served a page:\n${printed}`)),
      reject,
    );
  });

  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await closed;
    },
  };
}

function ignore(): void {}

/** What this run's own Vitest has put into the environment must not reach another one. */
function outsideOfVitest(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(VITEST|TEST|NODE_ENV|MODE|DEV|PROD|SSR|BASE_URL|FIGURES)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}
