// The servers around the balancer: replicas that keep sessions, a session store, a balancer that
// keeps its bindings in cookies, and a driver that plays all clients of a mix.
import { createServer, type IncomingMessage } from 'node:http';
import { openClient } from '#helpers/lesson/client.ts';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import { listen, type RunningServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import type { Replica } from '#helpers/lesson/replica.ts';
import { within } from '#helpers/lesson/waiting.ts';
import type { StickyBalancer } from './given.ts';
import { type Client, requestsOf } from './mix.ts';

/** How many requests each client has sent, by its name. */
type Sessions = Map<string, number>;

/** One more request of the client that the request names in `x-client`; which one it is. */
function count(sessions: Sessions, client: string): number {
  const requests = (sessions.get(client) ?? 0) + 1;
  sessions.set(client, requests);
  return requests;
}

function clientOf({ headers }: IncomingMessage): string {
  return String(headers['x-client'] ?? '-');
}

/** A process of its own that keeps the sessions of all replicas. */
export interface SessionStore extends RunningServer {
  /** Requests that it has answered. */
  operations(): number;
}

/** Starts a store. Each request counts one more for the client in `x-client` and gets its count. */
export async function startSessionStore(): Promise<SessionStore> {
  const sessions: Sessions = new Map();
  let operations = 0;
  const server = await startHttpServer((request, response) => {
    operations += 1;
    response.end(String(count(sessions, clientOf(request))));
  });
  return Object.assign(server, { operations: () => operations });
}

/** A running replica. */
export interface SessionReplica extends RunningServer, Replica {
  /** A copy of what it has in its memory. */
  sessions(): Sessions;
}

/** How replicas keep their sessions. */
export interface SessionOptions {
  /** Where they ask for a session, one request each time. Without it they use their memory. */
  readonly store?: RunningServer;
  /** What each of them has in its memory when it starts, by its name; nothing unless given. */
  readonly memory?: ReadonlyMap<string, Sessions>;
}

/**
 * Starts a replica. It answers 200 with body `ok`, its name in `x-kopya`, and `x-session: new` for
 * the first request of a client that it knows of, or `kept` for a later one.
 */
export async function startSessionReplica(
  name: string,
  { store, memory }: SessionOptions = {},
): Promise<SessionReplica> {
  const sessions: Sessions = new Map(memory?.get(name));
  const storeClient = store && openClient(store.port, { sockets: Number.POSITIVE_INFINITY });
  const server = await startHttpServer((request, response) => {
    const client = clientOf(request);
    const answer = (requests: number) =>
      response
        .writeHead(200, { 'x-kopya': name, 'x-session': requests === 1 ? 'new' : 'kept' })
        .end('ok');
    if (!storeClient) {
      answer(count(sessions, client));
      return;
    }
    storeClient.send('/', { headers: { 'x-client': client } }).then(
      ({ body }) => answer(Number(body)),
      () => response.destroy(),
    );
  });
  const close = async () => {
    storeClient?.[Symbol.dispose]();
    await server.close();
  };
  return {
    name,
    port: server.port,
    sessions: () => new Map(sessions),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Starts a replica for each name; disposing the list closes them all. */
export async function startSessionReplicas(
  names: readonly string[],
  options: SessionOptions = {},
): Promise<SessionReplica[] & AsyncDisposable> {
  const replicas = await Promise.all(names.map((name) => startSessionReplica(name, options)));
  return Object.assign(replicas, {
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  });
}

/** How one pass of all clients went. */
export interface Pass {
  /** Requests that each replica answered, sorted by its name. */
  readonly load: ReadonlyMap<string, number>;
  /** Answers with `x-session: new`. */
  readonly newAnswers: number;
  /** Clients that got such an answer at least once. */
  readonly newClients: number;
  /** The share of all requests that those clients sent, 0 to 1. */
  readonly newShare: number;
}

/** Plays the clients of a mix. */
export interface Driver extends Disposable {
  /**
   * Has every client send its requests, one request at a time: clients in order, and all requests
   * of one client in a row.
   *
   * @throws {Error} when an answer is not a replica's, or does not come
   */
  pass(clients: readonly Client[]): Promise<Pass>;
}

/**
 * Opens a driver. It has one keep-alive connection for all of its clients, as a proxy of a company
 * would have, and returns to each client the cookie that it was given.
 */
export function openDriver(port: number): Driver {
  const client = openClient(port);
  const cookies = new Map<string, string>();

  const pass = async (clients: readonly Client[]): Promise<Pass> => {
    const load = new Map<string, number>();
    const newcomers = new Set<Client>();
    let newAnswers = 0;
    for (const one of clients) {
      for (let sent = 0; sent < one.requests; sent += 1) {
        const cookie = cookies.get(one.name);
        const { status, headers, body } = await within(
          client.send('/', { headers: { 'x-client': one.name, ...(cookie && { cookie }) } }),
          `the answer to ${one.name}`,
        );
        const replica = String(headers['x-kopya']);
        const session = headers['x-session'];
        if (status !== 200 || (session !== 'new' && session !== 'kept')) {
          throw new Error(`${one.name} got ${status} "${body}", wanted the answer of a replica`);
        }
        load.set(replica, (load.get(replica) ?? 0) + 1);
        const [given] = headers['set-cookie'] ?? [];
        if (given) cookies.set(one.name, given.split(';', 1)[0] as string);
        if (session === 'kept') continue;
        newAnswers += 1;
        newcomers.add(one);
      }
    }
    return {
      load: new Map([...load].sort(([a], [b]) => (a < b ? -1 : 1))),
      newAnswers,
      newClients: newcomers.size,
      newShare: requestsOf([...newcomers]) / requestsOf(clients),
    };
  };

  return {
    pass,
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

/**
 * Starts a balancer that stores its bindings where most real ones do, at the clients: a client
 * without a cookie gets the replica whose turn it is, and `set-cookie: kopya=<name>`; one that comes
 * with a cookie goes where it says, as long as that replica is in the list.
 */
export async function startCookieBalancer(replicas: readonly Replica[]): Promise<StickyBalancer> {
  const forwarding = openForwarding();
  let list = replicas;
  let turn = 0;
  const server = createServer((request, response) => {
    const [, bound] = /(?:^|; )kopya=([^;]+)/.exec(request.headers.cookie ?? '') ?? [];
    let replica = list.find(({ name }) => name === bound);
    if (!replica) {
      replica = list[turn % list.length];
      turn += 1;
      if (replica) response.setHeader('set-cookie', `kopya=${replica.name}`);
    }
    forwarding.forward(request, response, {
      choose: (tried) => (tried.size === 0 ? replica?.port : undefined),
      refuse: (status) => response.writeHead(status).end(),
    });
  });
  const { port, close } = await listen(server);
  const closeBoth = async () => {
    await Promise.all([close(), forwarding[Symbol.asyncDispose]()]);
  };
  return {
    port,
    setReplicas(newReplicas) {
      list = newReplicas;
    },
    close: closeBoth,
    [Symbol.asyncDispose]: closeBoth,
  };
}
