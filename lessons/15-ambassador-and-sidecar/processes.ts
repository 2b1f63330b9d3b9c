// The careless ambassador, in a process that may die.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A running process. Disposing it ends it. */
export interface CarelessAmbassador extends AsyncDisposable {
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number | null>;
}

/** Starts `careless.js` for a carrier's v1. */
export async function startCarelessAmbassador(carrierUrl: string): Promise<CarelessAmbassador> {
  const script = fileURLToPath(new URL('careless.js', import.meta.url));
  const child = spawn(process.execPath, [script, carrierUrl], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return {
    port: await portOf(child, ended),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

async function portOf({ stdout }: ChildProcess, ended: Promise<unknown>): Promise<number> {
  const line = stdout && once(stdout, 'data');
  const said = await Promise.race([line, ended.then(() => undefined)]);
  if (!said) throw new Error('the careless ambassador ended before it listened');
  return Number(String(said[0]));
}
