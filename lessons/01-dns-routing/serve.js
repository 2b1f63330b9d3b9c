// Runs the name server of exercise 1.7 until Ctrl+C, to be asked by hand. See README.md, "By hand".
//
//     node lessons/01-dns-routing/serve.js [geographic | latency | weighted] [exercise | solution]
//
// JavaScript, because Node 20 does not run TypeScript by itself; Vite loads the lesson's files.
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [kind = 'geographic', implementation = 'exercise'] = process.argv.slice(2);

/** Loads a TypeScript file of this folder. */
async function load(file) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return (await runnerImport(path, { configFile: false, logLevel: 'error' })).module;
}

const { createPolicy, startNameServer } = await load(`${implementation}.ts`);
const { NAME_SERVICE, LOOPBACK_SUBNETS } = await load('name-service.ts');
const { TABLES } = await load('routing.ts');

const marked = new Set();
const server = await startNameServer({
  ...NAME_SERVICE,
  subnets: [...NAME_SERVICE.subnets, ...LOOPBACK_SUBNETS],
  policy: createPolicy(kind, TABLES),
  ttlSeconds: 300,
  isMarkedDown: (region) => marked.has(region),
  port: 5_300,
});
console.log(`${kind}, from ${implementation}.ts. Ask with`);
console.log(`  dig @127.0.0.1 -p ${server.port} ${NAME_SERVICE.name}`);
console.log(
  `Type a region (${TABLES.regions.join(', ')}) to mark it down, and again to mark it up.`,
);

for await (const line of createInterface({ input: process.stdin })) {
  const region = line.trim();
  if (!TABLES.regions.includes(region)) continue;
  if (!marked.delete(region)) marked.add(region);
  console.log(`Marked down: ${[...marked].join(', ') || 'none'}`);
}
await server.close();
