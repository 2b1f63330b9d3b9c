// The plan of a distribution, carried out over real servers: one origin, and edges in front of it.
import type { Server } from 'node:http';
import { type Answer, type Ask, openClient } from '#helpers/lesson/client.ts';
import { listen, type RunningServer } from '#helpers/lesson/http-server.ts';
import type { DistributionPlan } from './given.ts';

/** Who builds the servers. None of them listens yet. */
export interface ScenarioServers {
  createOrigin(): { server: Server; publish(id: string): void };
  createEdge(options: { originPort: number }): Server;
}

/** How much there is of everything. */
export interface ScenarioSize {
  readonly edges: number;
  /** `ortak-1`, `ortak-2` and so on; each is asked for at every edge. */
  readonly common: number;
  /** `ozel-1`, `ozel-2` and so on; number i is asked for at edge (i - 1) mod edges, and nowhere else. */
  readonly private: number;
}

/** What the servers counted. */
export interface ScenarioRun {
  /** Requests that came to the origin, up to the end. */
  readonly originRequests: number;
  /** Copies that were sent before the first request. */
  readonly pushesBeforeUpdate: number;
  /** Those of them that nobody had asked for by the update. */
  readonly wasted: number;
  /** Edges that still answer with version 1 after the update. */
  readonly staleEdges: number;
  /** Copies and updates that were sent, and requests to the origin. */
  readonly messages: number;
}

/** The size that the lesson states its results for. */
export const SCENARIO_SIZE: ScenarioSize = { edges: 12, common: 20, private: 24 };

/** The object that is updated. */
const UPDATED = 'ortak-1';

/**
 * Carries out a plan, one request after another.
 *
 * First the pushes that the plan calls for; then every edge is asked once for each common object;
 * then each private object once, at its edge. After that `ortak-1` is published as version 2, sent
 * to all edges if common objects are pushed, and asked for once more at every edge.
 *
 * @throws {Error} at the first answer that isn't what it should be
 */
export async function runScenario(
  plan: DistributionPlan,
  { createOrigin, createEdge }: ScenarioServers,
  size: ScenarioSize = SCENARIO_SIZE,
): Promise<ScenarioRun> {
  const { server, publish } = createOrigin();
  await using origin = await listen(server);
  await using edges = startNone();
  for (let edge = 0; edge < size.edges; edge += 1) {
    edges.push(await listen(createEdge({ originPort: origin.port })));
  }
  using originClient = clientOf('the origin', origin.port);
  using clients = listOf(edges.map(({ port }, edge) => clientOf(`edge ${edge}`, port)));

  const common = numbered('ortak', size.common);
  const privates = numbered('ozel', size.private);
  const sum = async (counter: 'itilen' | 'istenmeyen') => {
    let total = 0;
    for (const client of clients) {
      const counted = await client.counters();
      total += counted[counter] ?? 0;
    }
    return total;
  };

  for (const id of [
    ...(plan.common === 'push' ? common : []),
    ...(plan.private === 'push' ? privates : []),
  ]) {
    for (const client of clients) await client.put(id, 'surum-1');
  }
  const pushesBeforeUpdate = await sum('itilen');

  for (const client of clients) {
    for (const id of common) await client.get(id, ['surum-1']);
  }
  for (const [index, id] of privates.entries()) {
    await clients[index % size.edges]?.get(id, ['surum-1']);
  }
  const wasted = await sum('istenmeyen');

  publish(UPDATED);
  if (plan.common === 'push') {
    for (const client of clients) await client.put(UPDATED, 'surum-2');
  }
  let staleEdges = 0;
  for (const client of clients) {
    if ((await client.get(UPDATED, ['surum-1', 'surum-2'])) === 'surum-1') staleEdges += 1;
  }

  const originRequests = (await originClient.counters()).istek ?? 0;
  const messages = (await sum('itilen')) + originRequests;
  return { originRequests, pushesBeforeUpdate, wasted, staleEdges, messages };
}

/** `ortak-1`, `ortak-2`, ... */
function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}

/** A list of servers to add to; disposing it closes them all. */
function startNone(): RunningServer[] & AsyncDisposable {
  const servers: RunningServer[] = [];
  return Object.assign(servers, {
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
    },
  });
}

/** Disposing the list disposes what is in it. */
function listOf<T extends Disposable>(things: T[]): T[] & Disposable {
  return Object.assign(things, {
    [Symbol.dispose]() {
      for (const thing of things) thing[Symbol.dispose]();
    },
  });
}

/** A client that knows what to expect, and says who answered something else. */
function clientOf(name: string, port: number) {
  const client = openClient(port);
  const ask = async (status: number, path: string, options: Ask = {}): Promise<Answer> => {
    const answer = await client.send(path, options);
    if (answer.status === status) return answer;
    const { method = 'GET' } = options;
    throw new Error(`${name} answered ${answer.status} to ${method} ${path}, wanted ${status}`);
  };
  return {
    async counters(): Promise<Record<string, number | undefined>> {
      return JSON.parse((await ask(200, '/sayac')).body);
    },
    async put(id: string, body: string): Promise<void> {
      await ask(204, `/nesne/${id}`, { method: 'PUT', body });
    },
    async get(id: string, bodies: readonly string[]): Promise<string> {
      const { body } = await ask(200, `/nesne/${id}`);
      if (bodies.includes(body)) return body;
      throw new Error(
        `${name} answered ${JSON.stringify(body)} to GET /nesne/${id}, wanted ${bodies.join(' or ')}`,
      );
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
