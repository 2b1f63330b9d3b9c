// `npm run grade`, and with --scale `npm run grade:scale`. Plain JavaScript, since Node 20 can't run
// TypeScript: Vite can.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [first, ...rest] = process.argv.slice(2);
const [file, args] = first === '--scale' ? ['scale.ts', rest] : ['cli.ts', process.argv.slice(2)];
const { module } = await runnerImport(fileURLToPath(new URL(file, import.meta.url)), {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  logLevel: 'error',
  // Node 20 doesn't know `using`.
  oxc: { target: 'es2022' },
});
process.exitCode = await module.main(args);
