// One program in a process of its own: `node bench/serve.mjs <kind> <port of a replica>...`. Tells
// its parent the port that it listens on.
import { Agent, createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const [kind, ...ports] = process.argv.slice(2);
const replicas = ports.map((port, index) => ({ name: `k${index + 1}`, port: Number(port) }));
// What the others get by default is one connection per request: a fair match keeps them alive.
const agent = new Agent({ keepAlive: true, maxSockets: 50 });
let turn = 0;
const next = () => `http://127.0.0.1:${replicas[turn++ % replicas.length].port}`;

const kinds = {
  'layer 7, lesson 7': async () => {
    const { startLayer7Balancer } = await solution('07-layer-7');
    return await startLayer7Balancer({
      read: replicas,
      write: replicas,
      innerConnectionsPerReplica: Number.POSITIVE_INFINITY,
    });
  },
  'layer 4, lesson 6': async () => {
    const { startLayer4Balancer } = await solution('06-layer-4');
    return await startLayer4Balancer({ replicas });
  },
  'http-proxy': async () => {
    const { default: httpProxy } = await import('http-proxy');
    const proxy = httpProxy.createProxyServer({ agent });
    return await listening((request, response) => proxy.web(request, response, { target: next() }));
  },
  'http-proxy-middleware': async () => {
    const { createProxyMiddleware } = await import('http-proxy-middleware');
    const middleware = createProxyMiddleware({ agent, target: next(), router: next });
    return await listening((request, response) => middleware(request, response, () => {}));
  },
  httpxy: async () => {
    const { createProxyServer } = await import('httpxy');
    const proxy = createProxyServer({ agent });
    return await listening((request, response) => proxy.web(request, response, { target: next() }));
  },
  '@fastify/http-proxy': async () => {
    const { default: fastify } = await import('fastify');
    const { default: httpProxy } = await import('@fastify/http-proxy');
    const app = fastify();
    // Undici's pools, as that package has them from the start.
    app.register(httpProxy, { upstream: '', replyOptions: { getUpstream: next } });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server.address();
  },
};

const { port } = await kinds[kind]();
process.send(port);
process.on('disconnect', () => process.exit());

/** The reference of a lesson, translated by Vite as the tests have it. */
async function solution(lesson) {
  const { runnerImport } = await import('vite');
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { module } = await runnerImport(`${root}lessons/${lesson}/solution.ts`, {
    root,
    configFile: false,
    oxc: { target: 'node20' }, // which has no `using`
    logLevel: 'error',
  });
  return module;
}

async function listening(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address();
}
