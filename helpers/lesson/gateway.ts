// The services and the gateway of the lessons in which a gateway is given (11 and 13): what they
// teach is where checks stand, and not how a request gets to its service.
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import { openForwarding } from './forwarding.ts';
import { type HttpServer, type RunningServer, startHttpServer } from './http-server.ts';

/** What one service answers: tracking queries, status events, fees. It is the service's name too. */
export type Flow = 'takip' | 'olay' | 'ucret';

/** The flows, in the order in which the course lists them. */
export const FLOWS: readonly Flow[] = ['takip', 'olay', 'ucret'];

/** A component in which something is implemented. */
export type Unit = 'gateway' | Flow;

/**
 * One link of the chain that a server runs before it does its own work. `false`: the link has
 * answered the request itself and left its body unread.
 */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>;

/** The headers of a request as a gateway forwards them, made from those that it has got. */
export type Stamp = (
  request: { method: string; path: string },
  headers: IncomingHttpHeaders,
) => OutgoingHttpHeaders;

/** A service that runs. */
export interface Service extends RunningServer {
  /** Requests that have come to it so far, those that its chain has rejected included. */
  readonly requests: number;
}

/** What a gateway needs to know. */
export interface GatewayOptions {
  /** The first segment of the paths of each service, and its TCP port on 127.0.0.1. */
  readonly serviceMap: ReadonlyMap<string, number>;
  /** Run in this order for each request, before its service is looked up. */
  readonly chain: readonly Middleware[];
}

/** The path of a request without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

/** The first segment of the path of a request, as it came; `''` if there is none. */
export function firstSegment(request: IncomingMessage): string {
  return pathOf(request).split('/')[1] ?? '';
}

/** Components that the request has passed with this one: its header `x-hops` and 1. */
export function hopsWithThisOne({ headers }: IncomingMessage): number {
  return (Number(headers['x-hops']) || 0) + 1;
}

/** Answers a request with JSON, without passing it on, and says how many components it has passed. */
export function answerHere(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-hops': String(hopsWithThisOne(request)),
  });
  response.end(JSON.stringify(body));
}

/** Starts a service. It answers 200 with `{}` to each request that its chain lets pass. */
export async function startService(flow: Flow, chain: readonly Middleware[]): Promise<Service> {
  let requests = 0;
  const { port, close } = await startHttpServer((request, response) => {
    requests += 1;
    void runChain(chain, request, response, flow, () => {
      answerHere(request, response, 200);
    });
  });
  return {
    port,
    get requests() {
      return requests;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * Starts a gateway: runs the chain, and forwards what passes it to the service that the first
 * segment of the path names.
 *
 * Answers of its own, besides those of the chain: 404 with `{"hata":"bulunamadi"}` if there is no
 * such service, 502 with `{"hata":"ulasilamadi"}` if it can't be reached.
 *
 * @param options.stamp exchanges the headers of a request before it is forwarded
 * @throws {RangeError} naming `serviceMap` when it is empty
 */
export async function startGateway({
  serviceMap,
  chain,
  stamp,
}: GatewayOptions & { readonly stamp?: Stamp | undefined }): Promise<RunningServer> {
  if (serviceMap.size === 0) throw new RangeError('serviceMap must name a service, it is empty');
  const forwarding = openForwarding();
  const server = await startHttpServer((request, response) => {
    void runChain(chain, request, response, 'gateway', () => {
      const target = serviceMap.get(firstSegment(request));
      if (target === undefined) {
        answerHere(request, response, 404, { hata: 'bulunamadi' });
        return;
      }
      const hops = hopsWithThisOne(request);
      if (stamp) {
        const { method = 'GET', url = '/' } = request;
        // Whatever has been taken away must not be forwarded either, so all headers are exchanged.
        request.headers = stamp({ method, path: url }, request.headers) as IncomingHttpHeaders;
      }
      forwarding.forward(request, response, {
        choose: () => target,
        fields: { 'x-hops': String(hops) },
        refuse: (status) => answerHere(request, response, status, { hata: 'ulasilamadi' }),
      });
    });
  });
  const close: HttpServer['close'] = async (how) => {
    await server.close(how);
    await forwarding[Symbol.asyncDispose]();
  };
  return { port: server.port, close, [Symbol.asyncDispose]: () => close() };
}

/** Runs a chain, and then what comes after it, unless a link has answered. */
async function runChain(
  chain: readonly Middleware[],
  request: IncomingMessage,
  response: ServerResponse,
  unit: Unit,
  next: () => void,
): Promise<void> {
  try {
    for (const link of chain) {
      // Node throws a body away that nobody has read, once the answer is out.
      if (!(await link(request, response))) return;
    }
    // Its client may have left while a link was at work. Nobody needs an answer any more.
    if (!response.destroyed) next();
  } catch (error) {
    // A check that fails must not let its request pass, and must not end the process either.
    console.error(`${unit}: a request could not be handled`, error);
    if (response.headersSent) response.destroy();
    else answerHere(request, response, 500);
  }
}
