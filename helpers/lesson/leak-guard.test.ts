import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const COURSE = fileURLToPath(new URL('../../', import.meta.url)).replaceAll('\\', '/');

/** A lesson whose tests leave things open. What a line opens is named by a comment at its end. */
const LEAKS = `
import { execFile, spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setInterval as ticks, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { startHttpServer } from '${COURSE}helpers/lesson/http-server.ts';
import { openClient } from '${COURSE}helpers/lesson/client.ts';
import { startTcpServer } from '${COURSE}helpers/lesson/tcp-server.ts';

let port = 0;
let closed = [];

describe('leaves', () => {
  it('a server', async () => {
    const server = net.createServer().listen(0, '127.0.0.1'); // a server
    await once(server, 'listening');
    port = server.address().port;
  });
  it('next to the server: it is closed, and its port is free', async () => {
    const server = net.createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await new Promise((resolve) => server.close(resolve));
  });
  it('a server of a helper, with a client', async () => {
    const server = await startHttpServer((request, response) => response.end()); // a helper's server
    await openClient(server.port).send('/');
  });
  it('a server that is about to listen', () => {
    http.createServer().listen(0, '127.0.0.1'); // a server about to listen
  });
  it('a client socket', async () => {
    const socket = net.connect(shared.port, '127.0.0.1'); // a client socket
    await once(socket, 'connect');
    socket.on('close', () => closed.push('client socket'));
  });
  it('next to the client socket: it is closed', () => {
    expect(closed).toEqual(['client socket']);
  });
  it('an accepted socket', async () => {
    const accepted = new Promise((resolve) => {
      const server = net.createServer((socket) => { // an accepted socket's server
        server.close();
        resolve(socket);
      });
      server.listen(0, '127.0.0.1', () => { // an accepted socket
        const client = net.connect({ port: server.address().port, allowHalfOpen: true }); // its client
        client.on('connect', () => client.unref());
      });
    });
    await accepted;
  });
  it('a request without an answer', async () => {
    const request = http.get({ port: shared.port, path: '/orders', agent: new http.Agent({ keepAlive: true }) }); // a request
    await once(request, 'socket');
  });
  it('a timeout', () => {
    setTimeout(() => closed.push('timeout'), 3_000); // a timeout
  });
  it('an interval, unrefed', () => {
    setInterval(() => closed.push('interval'), 20).unref(); // an interval
  });
  it('next to the interval: it is cleared', async () => {
    closed = [];
    await sleep(60);
    expect(closed).toEqual([]);
  });
  it('an immediate that sets itself again', () => {
    const again = () => setImmediate(again); // an immediate
    again();
  });
  it('a wait', () => {
    sleep(100).then(() => closed.push('wait')); // a wait
  });
  it('next to the wait: nobody hears of it', async () => {
    await sleep(150);
    expect(closed).toEqual([]);
  });
  it('ticks', () => {
    (async () => { for await (const _ of ticks(20)) closed.push('tick'); })(); // ticks
  });
  it('next to the ticks: they have stopped', async () => {
    await sleep(60);
    expect(closed).toEqual([]);
  });
  it('a child process', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); // a child process
    await once(child, 'spawn');
    closed = [child];
  });
  it('next to the child process: it is dead', () => {
    expect(closed[0].signalCode).toBe('SIGKILL');
    closed = [];
  });
  it('a udp socket', async () => {
    const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1'); // a udp socket
    await once(socket, 'listening');
  });
  it('a udp socket that was bound by sending', async () => {
    const socket = dgram.createSocket('udp4');
    await new Promise((resolve) => socket.send('x', 9, '127.0.0.1', resolve)); // a sending socket
  });
  it('three things', () => {
    for (let n = 0; n < 3; n += 1) setTimeout(() => {}, 3_000); // three
  });
});

const shared = {};
beforeAll(async () => {
  const server = await startTcpServer((socket) => socket.resume());
  shared.port = server.port;
  shared.server = server;
  shared.http = await startHttpServer((request, response) => response.end('here'));
  shared.client = openClient(shared.http.port);
  shared.interval = setInterval(() => {}, 1_000);
});
afterAll(async () => {
  clearInterval(shared.interval);
  await shared.server.close();
  await shared.http.close();
});

describe('is clean:', () => {
  it('a server and its client, disposed', async () => {
    await using server = await startHttpServer((request, response) => response.end('here'));
    using client = openClient(server.port);
    await client.send('/');
    await (await fetch(server.url)).text();
    await new Promise((resolve) => http.get(server.url, (response) => response.resume().on('end', resolve)));
  });
  it('servers that are closed by hooks of the test', async ({ onTestFinished }) => {
    const server = await startHttpServer((request, response) => response.end('here'));
    onTestFinished(() => server.close());
  });
  it('connections that pools keep alive to a server of the file', async () => {
    await shared.client.send('/');
    await (await fetch(shared.http.url)).text();
    await new Promise((resolve) => http.get(shared.http.url, (response) => response.resume().on('end', resolve)));
  });
  it('a socket that is being closed', async () => {
    const socket = net.connect(shared.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.end();
  });
  it('a child that is being killed, and one that has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    child.kill();
    await new Promise((resolve) => execFile(process.execPath, ['-e', '0'], resolve));
  });
  it('a timer that ran, one that was cleared, one that is cleared in a moment, and a fake one', async () => {
    await sleep(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    clearTimeout(setTimeout(() => {}, 3_000));
    const last = setTimeout(() => {}, 3_000);
    Promise.resolve().then(() => clearTimeout(last));
    setImmediate(() => {});
    for await (const _ of ticks(1)) break;

    vi.useFakeTimers();
    let ran = false;
    setTimeout(() => { ran = true; }, 3_000);
    setInterval(() => {}, 1_000);
    vi.advanceTimersByTime(3_000);
    expect(ran).toBe(true);
    vi.useRealTimers();
    expect(vi.isFakeTimers()).toBe(false);
  });
  it('timers of Node and of libraries', async () => {
    await expect.poll(() => 1).toBe(1);
    const signal = AbortSignal.timeout(3_000);
    await (await fetch(shared.http.url, { signal })).text();
  });
});

it('a test that fails for another reason is told that reason alone', () => {
  setTimeout(() => {}, 3_000);
  expect(1).toBe(2);
});

it('code that swallows a refused connection fails its test', async () => {
  await fetch('http://192.0.2.1/').catch(() => {}); // a refusal
});

it('code that lets a refused connection through is told once', async () => {
  await fetch('http://192.0.2.1/');
});
`;

const FILE_LEAK = `
import { once } from 'node:events';
import net from 'node:net';
import { beforeAll, it } from 'vitest';

beforeAll(async () => {
  const server = net.createServer().listen(0, '127.0.0.1'); // the file's server
  await once(server, 'listening');
});
it('is clean', () => {});
`;

interface Assertion {
  fullName: string;
  status: string;
  failureMessages: string[];
}

interface Results {
  testResults: { name: string; status: string; message: string; assertionResults: Assertion[] }[];
}

describe.each([{ isolate: true }, { isolate: false }])('a run with %o', ({ isolate }) => {
  let folder: string;
  let results: Results;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'leaks '));
    await mkdir(join(folder, 'lessons'));
    await writeFile(join(folder, 'lessons/leaks.spec.ts'), LEAKS);
    await writeFile(join(folder, 'lessons/file-leak.spec.ts'), FILE_LEAK);
    await symlink(`${COURSE}node_modules`, join(folder, 'node_modules'), 'junction');
    const test = {
      include: ['lessons/*.spec.ts'],
      setupFiles: [`${COURSE}helpers/lesson/setup.ts`],
      pool: 'forks',
      maxWorkers: 1,
      isolate,
      reporters: ['json'],
      outputFile: join(folder, 'results.json'),
    };
    const config = join(folder, 'vitest.config.mjs');
    await writeFile(config, `export default ${JSON.stringify({ test })}`);
    const args = [`${COURSE}node_modules/vitest/vitest.mjs`, 'run', '--root', folder];
    const output = await new Promise<string>((resolve) =>
      execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) =>
        resolve(`${stdout}\n${stderr}`),
      ),
    );
    const written = await readFile(join(folder, 'results.json'), 'utf8').catch(() => output);
    results = JSON.parse(written) as Results;
  });
  afterAll(() => rm(folder, { recursive: true }));

  const fileOf = (name: string) => {
    const file = results.testResults.find((result) => result.name.endsWith(name));
    if (!file) throw new Error(`no results of ${name}`);
    return file;
  };
  const tests = () => fileOf('leaks.spec.ts').assertionResults;
  const messageOf = (fullName: string) => {
    const test = tests().find((assertion) => assertion.fullName === fullName);
    if (!test) throw new Error(`no test "${fullName}"`);
    return test.failureMessages.join('\n');
  };
  /** Where the line with the comment stands. */
  const site = (comment: string, source = LEAKS, file = 'leaks.spec.ts') => {
    const index = source.split('\n').findIndex((line) => line.endsWith(`// ${comment}`));
    expect(index, comment).toBeGreaterThan(0);
    return `/lessons/${file}:${index + 1}`;
  };

  it.for([
    ['a server', 'TCP server on 127.0.0.1:', 'a server'],
    ['a server of a helper, with a client', 'HTTP server on 127.0.0.1:', "a helper's server"],
    ['a server that is about to listen', 'HTTP server', 'a server about to listen'],
    ['a client socket', 'connection to 127.0.0.1:', 'a client socket'],
    ['an accepted socket', 'connection accepted by the TCP server', 'an accepted socket'],
    ['a request without an answer', 'request GET /orders', 'a request'],
    ['a timeout', 'timeout of 3000 ms', 'a timeout'],
    ['an interval, unrefed', 'interval of 20 ms', 'an interval'],
    ['an immediate that sets itself again', 'immediate', 'an immediate'],
    ['a wait', 'awaited setTimeout of 100 ms', 'a wait'],
    ['ticks', 'awaited setInterval of 20 ms', 'ticks'],
    ['a child process', 'child process ', 'a child process'],
    ['a udp socket', 'UDP socket', 'a udp socket'],
    ['a udp socket that was bound by sending', 'UDP socket', 'a sending socket'],
  ] as const)('%s is reported, with the line that opened it', ([title, name, comment]) => {
    const message = messageOf(`leaves ${title}`);

    expect(message).toContain('LeakError: The test left ');
    expect(message).toContain(`  - ${name}`);
    expect(message).toMatch(new RegExp(`opened at \\S.*${site(comment)}\\n`));
  });

  it('the connections of a server are told with it, and not one by one', () => {
    const message = messageOf('leaves a server of a helper, with a client');
    expect(message).toContain(' with 1 connection opened at');
    expect(message).toContain('left something open');
  });

  it('things that were opened at one line are told once', () => {
    const message = messageOf('leaves three things');
    expect(message).toContain('left 3 things open');
    expect(message.match(/opened at/g)).toHaveLength(1);
  });

  it('what a test leaves is closed before the next one, which stays green', () => {
    const next = tests().filter(({ fullName }) => fullName.includes('next to'));
    expect(next).toHaveLength(6);
    for (const test of next) expect(test.failureMessages, test.fullName).toEqual([]);
  });

  it('clean tests stay green', () => {
    const clean = tests().filter(({ fullName }) => fullName.startsWith('is clean:'));
    expect(clean).toHaveLength(7);
    for (const test of clean) expect(test.failureMessages, test.fullName).toEqual([]);
  });

  it('a test that fails for another reason is told that reason alone', () => {
    const message = messageOf('a test that fails for another reason is told that reason alone');
    expect(message).toContain('expected 1 to be 2');
    expect(message).not.toContain('LeakError');
  });

  it('a refused connection fails its test once, whether or not its code swallows the error', () => {
    const swallowed = messageOf('code that swallows a refused connection fails its test');
    expect(swallowed).toMatch(
      new RegExp(`OutsideLoopbackError: fetch to 192.0.2.1:80 .*${site('a refusal')}\\)`),
    );
    const through = tests().find(({ fullName }) => fullName.startsWith('code that lets'));
    expect(through?.failureMessages).toHaveLength(1);
    expect(through?.failureMessages[0]).toContain('fetch failed');
  });

  it('a server that beforeAll has opened is reported at the end of its file', () => {
    const { status, message, assertionResults } = fileOf('file-leak.spec.ts');

    expect(assertionResults.map((test) => test.status)).toEqual(['passed']);
    expect(status).toBe('failed');
    expect(message).toContain('Outside of its tests');
    expect(message).toContain(site("the file's server", FILE_LEAK, 'file-leak.spec.ts'));
  });
});
