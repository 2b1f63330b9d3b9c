import { connect } from 'node:net';
import {
  type HttpServer,
  type RunningServer,
  startHttpServer,
} from '#helpers/lesson/http-server.ts';
import { startRefusing } from '#helpers/lesson/refusing.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { eventually, gate } from '#helpers/lesson/waiting.ts';

/** A balancer that decides once a connection, and what it has decided. */
export interface ConnectionBalancer extends RunningServer {
  readonly decisions: number;
}

/**
 * Starts a layer 4 balancer, the one of lesson 6 at its barest: the next replica for each
 * connection, and then bytes both ways, unread.
 */
export async function startConnectionBalancer(
  replicas: readonly Replica[],
): Promise<ConnectionBalancer> {
  let decisions = 0;
  const server = await startTcpServer((client) => {
    const upstream = connect({
      host: '127.0.0.1',
      port: replicas[decisions++ % replicas.length]?.port ?? 0,
    });
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
  });
  return {
    port: server.port,
    get decisions() {
      return decisions;
    },
    close: server.close,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Replicas that keep their requests inside until they are told to answer. */
export interface HoldingReplicas extends AsyncDisposable {
  readonly replicas: readonly Replica[];
  /** Targets of all requests that have arrived so far, in order. */
  readonly seen: readonly string[];
  /**
   * Resolves with the requests inside each replica, in the order of the names, when that many are
   * inside all of them together; when patience runs out, with what is there then.
   */
  filled(requests: number): Promise<number[]>;
  /** Answers what is inside, and from now on every request at once. */
  release(): void;
}

/** Starts replicas that hold their answers. */
export async function startHoldingReplicas(...names: string[]): Promise<HoldingReplicas> {
  const told = gate();
  const inside = names.map(() => 0);
  const seen: string[] = [];
  const servers: HttpServer[] = [];
  for (const [index, name] of names.entries()) {
    const server = await startHttpServer(async (request, response) => {
      seen.push(request.url ?? '');
      inside[index] = (inside[index] ?? 0) + 1;
      response.on('close', () => {
        inside[index] = (inside[index] ?? 0) - 1;
      });
      await told.opened;
      response.writeHead(200, { 'x-kopya': name }).end();
    });
    servers.push(server);
  }
  return {
    replicas: names.map((name, index) => ({ name, port: servers[index]?.port ?? 0 })),
    seen,
    filled: (requests) =>
      eventually(
        () => [...inside],
        (now) => now.reduce((sum, count) => sum + count, 0) === requests,
      ),
    release: told.open,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Replicas that refuse every connection; disposing the list lets go of their ports. */
export async function startRefusingReplicas(
  ...names: string[]
): Promise<readonly Replica[] & AsyncDisposable> {
  const replicas = await Promise.all(names.map((name) => startRefusing(name)));
  return Object.assign(replicas, {
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
    },
  });
}
