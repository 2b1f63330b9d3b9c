// `npm run bench`: how fast the references of lessons 6 and 7 are beside programs that people use.
// Every program has each round, in turn, so that a machine which slows down slows all of them.
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sendRequests, startReplicas } from './traffic.mjs';

const ROUNDS = 3;
const CONNECTIONS = 50;
const WARM_UP_REQUESTS = 10_000;
const REQUESTS = 40_000;
/** A tick of Linux's accounts of processes: `getconf CLK_TCK`, 100 wherever Node runs. */
const TICKS_PER_SECOND = 100;

/** What is compared. The first of each group is the course's own, and the others' measure. */
const groups = [
  {
    title: 'Layer 7',
    programs: [
      ...['layer 7, lesson 7', '@fastify/http-proxy', 'http-proxy'],
      ...['http-proxy-middleware', 'httpxy'],
    ].map((kind) => ({ kind, start: startOurs })),
    installed: [
      { kind: 'nginx', config: nginxConfig },
      { kind: 'haproxy', config: (ports, port) => haproxyConfig('http', ports, port) },
    ],
  },
  {
    title: 'Layer 4',
    programs: [{ kind: 'layer 4, lesson 6', start: startOurs }],
    installed: [{ kind: 'haproxy', config: (ports, port) => haproxyConfig('tcp', ports, port) }],
  },
];

const folder = mkdtempSync(join(tmpdir(), 'traffic-layer-bench-'));
const replicas = await startReplicas();
try {
  for (const { title, programs, installed } of groups) {
    const found = installed.filter(({ kind }) => spawnSync(kind, ['-v']).status === 0);
    const all = [...programs, ...found.map((program) => ({ ...program, start: startInstalled }))];
    for (const { kind } of installed) {
      if (!found.some((program) => program.kind === kind)) console.log(`${kind}: not installed`);
    }
    await compare(title, all);
  }
} finally {
  replicas.close();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(title, programs) {
  const rounds = new Map(programs.map(({ kind }) => [kind, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const program of programs) {
      const { port, pid, stop } = await program.start(program);
      try {
        await sendRequests(port, { connections: CONNECTIONS, requests: WARM_UP_REQUESTS });
        const before = cpuSeconds(pid);
        const seconds = await sendRequests(port, { connections: CONNECTIONS, requests: REQUESTS });
        rounds.get(program.kind).push({
          rate: REQUESTS / seconds,
          cpuMicroseconds: ((cpuSeconds(pid) - before) / REQUESTS) * 1e6,
        });
      } finally {
        await stop();
      }
    }
  }
  const [{ kind: first }] = programs;
  const ours = {
    rate: median(rounds.get(first), 'rate'),
    cpu: median(rounds.get(first), 'cpuMicroseconds'),
  };
  console.log(
    `\n${title}: medians of ${ROUNDS} rounds of ${REQUESTS} requests, ${CONNECTIONS} connections`,
  );
  console.log(
    `${''.padEnd(24)}${'req/s'.padStart(8)}${'µs CPU'.padStart(8)}   ours to it: req/s    CPU`,
  );
  for (const { kind } of programs) {
    const rate = median(rounds.get(kind), 'rate');
    const cpu = median(rounds.get(kind), 'cpuMicroseconds');
    console.log(
      kind.padEnd(24) +
        rate.toFixed(0).padStart(8) +
        cpu.toFixed(1).padStart(8) +
        (ours.rate / rate).toFixed(2).padStart(20) +
        (ours.cpu / cpu).toFixed(2).padStart(7),
    );
  }
}

/** A Node program: the course's own, or a package that this folder has installed. */
async function startOurs({ kind }) {
  const serve = fileURLToPath(new URL('serve.mjs', import.meta.url));
  const child = fork(serve, [kind, ...replicas.ports.map(String)]);
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`${kind} did not start`);
    }),
  ]);
  return { port, pid: child.pid, stop: () => end(child) };
}

/** A program of the system, with a configuration that asks for one process and one thread. */
async function startInstalled({ kind, config }) {
  const port = await freePort();
  const file = join(folder, `${kind}.conf`);
  writeFileSync(file, config(replicas.ports, port));
  const child = spawn(kind, kind === 'nginx' ? ['-p', folder, '-c', file] : ['-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (let attempt = 0; ; attempt++) {
    try {
      await sendRequests(port, { connections: 1, requests: 1 });
      break;
    } catch (error) {
      if (attempt === 100 || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return { port, pid: child.pid, stop: () => end(child) };
}

function nginxConfig(ports, port) {
  return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 10000000;
  upstream replicas { ${ports.map((each) => `server 127.0.0.1:${each};`).join(' ')} keepalive 64; keepalive_requests 10000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://replicas; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header Forwarded "for=\\"$remote_addr\\"";
    }
  }
}
`;
}

function haproxyConfig(mode, ports, port) {
  return `global
  nbthread 1
defaults
  mode ${mode}
  timeout connect 5s
  timeout client 30s
  timeout server 30s
${mode === 'http' ? '  option forwardfor\n  http-reuse always\n' : ''}listen traffic
  bind 127.0.0.1:${port}
  balance roundrobin
${ports.map((each, index) => `  server k${index + 1} 127.0.0.1:${each}`).join('\n')}
`;
}

/** CPU that a process has used so far, where the system tells; NaN elsewhere. */
function cpuSeconds(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  // After the name, which may contain anything and stands in brackets, the 12th and 13th field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function median(rounds, field) {
  const sorted = rounds.map((round) => round[field]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
