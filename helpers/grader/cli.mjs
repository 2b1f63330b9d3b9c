// `npm run grade`. Plain JavaScript, since Node 20 can't run TypeScript: Vite can.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('cli.ts', import.meta.url)), {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  logLevel: 'error',
  // Node 20 doesn't know `using`.
  oxc: { target: 'es2022' },
});
process.exitCode = await module.main(process.argv.slice(2));
