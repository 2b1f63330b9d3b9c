import { createServer } from 'node:http';
import { openClient } from '#helpers/lesson/client.ts';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import {
  type HttpServer,
  listen,
  type RunningServer,
  startHttpServer,
} from '#helpers/lesson/http-server.ts';
import { disposable } from '#helpers/lesson/proxy-extras.ts';
import { startRefusing } from '#helpers/lesson/refusing.ts';
import { type Forwarder, type ForwarderOptions, HOP_SEPARATOR, PATHS } from './given.ts';
import type { Layout } from './layouts.ts';

/** What every end process answers, 43 bytes. */
export const ANSWER = '{"durum":"aktarma merkezinde","bolge":"35"}';

/**
 * Starts a process at the end of the chain, such as the asset server or a replica. It answers every
 * request with `ANSWER`, and adds its name to the chain.
 */
export async function startEnd(name: string): Promise<HttpServer> {
  return await startHttpServer((request, response) => {
    const incoming = request.headers['x-durak'];
    response.sendDate = false;
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'x-durak': incoming ? `${incoming}${HOP_SEPARATOR}${name}` : name,
      })
      .end(ANSWER);
  });
}

/** A process that passes everything on, and doesn't ask where it has been. */
export interface PassThrough extends RunningServer {
  /** Requests that have come so far. */
  readonly requests: number;
}

/**
 * Starts a process that adds its name to the chain and passes every request on to one port.
 *
 * @param options.target asked for each request
 * @param options.maxHeaderBytes how much it reads of a header before it gives up with 431; 16,384 as
 *   every Node server does, unless given
 */
export async function startPassThrough(options: {
  name: string;
  target: () => number;
  maxHeaderBytes?: number;
}): Promise<PassThrough> {
  const { name, target, maxHeaderBytes: maxHeaderSize = 16_384 } = options;
  const forwarding = openForwarding();
  let requests = 0;
  const server = await listen(
    createServer({ maxHeaderSize }, (request, response) => {
      requests += 1;
      const incoming = request.headers['x-durak'];
      forwarding.forward(request, response, {
        choose: (tried) => (tried.size === 0 ? target() : undefined),
        fields: { 'x-durak': incoming ? `${incoming}${HOP_SEPARATOR}${name}` : name },
        refuse: (status) => response.writeHead(status).end(),
      });
    }),
  );
  const close: HttpServer['close'] = async (how) => {
    await server.close(how);
    await forwarding[Symbol.asyncDispose]();
  };
  return {
    port: server.port,
    get requests() {
      return requests;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** What a client counted on one path. */
export interface PathRun {
  readonly sent: number;
  /** Answers with status 200. */
  readonly answered: number;
  /**
   * Requests by the chain that they came back with: `-` where there was none, `baglanti yok` where
   * no connection was possible. Sorted by chain, as text.
   */
  readonly chains: Readonly<Record<string, number>>;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/**
 * Sends GET requests for one path, one after another.
 *
 * @throws what breaks a connection that had come about
 */
export async function askFor(path: string, port: number, requests: number): Promise<PathRun> {
  using client = openClient(port);
  const outcomes: string[] = [];
  const statuses: Record<number, number> = {};
  for (let number = 0; number < requests; number++) {
    try {
      const { status, headers } = await client.send(path);
      statuses[status] = (statuses[status] ?? 0) + 1;
      outcomes.push(String(headers['x-durak'] ?? '-'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      outcomes.push('baglanti yok');
    }
  }
  const chains: Record<string, number> = {};
  for (const chain of outcomes.sort()) chains[chain] = (chains[chain] ?? 0) + 1;
  return { sent: requests, answered: statuses[200] ?? 0, chains, statuses };
}

/** The published client: asset requests, and then as many tracking queries. */
export async function runClient(
  port: number,
  requests: number,
): Promise<{ asset: PathRun; track: PathRun }> {
  const asset = await askFor(PATHS.asset, port, requests);
  const track = await askFor(PATHS.track, port, requests);
  return { asset, track };
}

/** A run as the lesson prints it: `4/6: tv > yd > k2 (2), ...`. */
export function printRun({ answered, sent, chains }: PathRun): string {
  const counts = Object.entries(chains).map(([chain, count]) => `${chain} (${count})`);
  return `${answered}/${sent}: ${counts.join(', ')}`;
}

/** A layout whose processes run. Disposing it stops them all. */
export interface RunningLayout extends AsyncDisposable {
  /** Where clients connect. */
  readonly port: number;
  /** The forwarder with this name. */
  forwarder(name: string): Forwarder;
  /** Stops one process, as if it had been killed. */
  stop(name: string): Promise<void>;
}

/**
 * Starts the processes of a layout: the end processes, and each forwarder once those are there that
 * it passes on to.
 *
 * @param startForwarder the student's
 * @param options what all forwarders get besides name and rules
 */
export async function startLayout(
  layout: Layout,
  startForwarder: (options: ForwarderOptions) => Promise<Forwarder>,
  options: Omit<ForwarderOptions, 'name' | 'rules'> = {},
): Promise<RunningLayout> {
  const running = new Map<string, RunningServer>();
  const forwarders = new Map<string, Forwarder>();
  const stopAll = async () => {
    await Promise.all([...running.values()].map((process) => process[Symbol.asyncDispose]()));
  };

  const portOf = async (name: string): Promise<number> => {
    const process = running.get(name) ?? (await start(name));
    return process.port;
  };
  const start = async (name: string): Promise<Forwarder> => {
    const rules: string[] = [];
    for (const { prefix, targets } of layout.forwarders[name] ?? []) {
      const ports: number[] = [];
      for (const target of targets) ports.push(await portOf(target));
      rules.push(`${prefix}=${ports.join()}`);
    }
    const forwarder = disposable(
      await startForwarder({ ...options, name, rules: rules.join(';') }),
    );
    running.set(name, forwarder);
    forwarders.set(name, forwarder);
    return forwarder;
  };
  const found = <T>(name: string, among: ReadonlyMap<string, T>): T => {
    const process = among.get(name);
    if (!process) throw new RangeError(`the layout has no "${name}"`);
    return process;
  };

  try {
    for (const name of layout.ends) running.set(name, await startEnd(name));
    return {
      port: await portOf(layout.entry),
      forwarder: (name) => found(name, forwarders),
      async stop(name) {
        const { port, close } = found(name, running);
        await close();
        // Held, or the next server of another test might be given it, and answer in its place.
        const held = await startRefusing(name, port);
        running.set(`${name}, stopped`, {
          ...held,
          close: async () => await held[Symbol.asyncDispose](),
        });
      },
      [Symbol.asyncDispose]: stopAll,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
