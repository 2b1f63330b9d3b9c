// What the spec puts around the student's gate: the application in both of its forms, and requests
// that no client would send.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import {
  type CloseOptions,
  type HttpServer,
  type RunningServer,
  startHttpServer,
} from '#helpers/lesson/http-server.ts';
import { type RawExchangeOptions, rawExchange } from '#helpers/lesson/raw.ts';
import { within } from '#helpers/lesson/waiting.ts';
import { draftApplicationChecks, draftGateChecks } from './first-draft.ts';
import {
  type ApplicationAnswer,
  BODY_LIMIT,
  type CleanRequest,
  type GateRequest,
  RECORDS,
} from './given.ts';

/** A request that has reached the application. */
export interface Arrival {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An application that notes what reaches it. */
export interface CountingApplication extends HttpServer {
  readonly arrivals: readonly Arrival[];
  /** Bytes of all bodies that have arrived. */
  readonly bytes: number;
}

const json = (status: number, value: object): ApplicationAnswer => ({
  status,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

/** The tracking number in a body, `undefined` where there is none. */
function trackingNumberIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()).takipNo;
  } catch {
    return undefined;
  }
}

/**
 * The application behind a gate: it believes the identity that it is handed, and makes the two
 * checks that need a record.
 */
export function answerBehindGate({ identity, body }: CleanRequest): ApplicationAnswer {
  const takipNo = trackingNumberIn(body);
  const record = RECORDS.get(String(takipNo));
  if (!record) return json(404, { hata: 'bulunamadi' });
  if (record.owner !== identity) return json(403, { hata: 'yetki' });
  return json(200, { takipNo, durum: 'aktarma' });
}

/** The application without a gate: it makes all six checks, in the gate's order. */
function answerToAnybody({ method, target, headers, body }: Arrival): ApplicationAnswer {
  const takipNo = trackingNumberIn(body);
  const request: GateRequest = {
    yol: target.replace(/\?.*/, ''),
    takipNo,
    belirtec: headers.authorization,
    govdeBayt: body.length,
  };
  const checks = { ...draftGateChecks(BODY_LIMIT), ...draftApplicationChecks(RECORDS) };
  const fails = (name: string) => !checks[name]?.(request);
  if (fails('yol')) return json(404, { hata: 'yol' });
  if (method !== 'POST') return json(405, { hata: 'yontem' });
  if (fails('boyut')) return json(413, { hata: 'boyut' });
  if (fails('belirtec')) return json(401, { hata: 'belirtec' });
  if (fails('sema')) return json(400, { hata: 'sema' });
  if (fails('varlik')) return json(404, { hata: 'bulunamadi' });
  if (fails('yetki')) return json(403, { hata: 'yetki' });
  return json(200, { takipNo, durum: 'aktarma' });
}

/**
 * Starts the application.
 *
 * @param before called with each request that has arrived, and waited for before it is answered
 */
export async function startApplication({
  behindGate = true,
  port = 0,
  before = async () => {},
}: {
  /** Whether it takes the identity from `x-kimlik`, or judges the whole request itself. */
  behindGate?: boolean;
  port?: number;
  before?: (arrival: Arrival) => Promise<unknown>;
} = {}): Promise<CountingApplication> {
  const arrivals: Arrival[] = [];
  const server = await startHttpServer(
    async (request, response) => {
      const arrival = await receive(request);
      arrivals.push(arrival);
      await before(arrival);
      const { headers, body } = arrival;
      const answer = behindGate
        ? answerBehindGate({ identity: String(headers['x-kimlik']), body })
        : answerToAnybody(arrival);
      response.writeHead(answer.status, {
        'content-type': answer.contentType,
        'content-length': answer.body.length,
      });
      response.end(answer.body);
    },
    { port },
  );
  return Object.defineProperties(server, {
    arrivals: { value: arrivals },
    bytes: { get: () => arrivals.reduce((sum, { body }) => sum + body.length, 0) },
  }) as CountingApplication;
}

async function receive(request: IncomingMessage): Promise<Arrival> {
  const { method = '', url = '', headers } = request;
  return { method, target: url, headers, body: await buffer(request) };
}

/** What stands in the gate's place where there is none: it forwards everything as it comes. */
export async function startPassThrough(upstreamPort: number): Promise<RunningServer> {
  const forwarding = openForwarding();
  const server = await startHttpServer((request, response) =>
    forwarding.forward(request, response, {
      choose: (tried) => (tried.has(upstreamPort) ? undefined : upstreamPort),
      refuse: (status) => void response.writeHead(status).end(),
    }),
  );
  const close = async (how?: CloseOptions) => {
    await server.close(how);
    await forwarding[Symbol.asyncDispose]();
  };
  return { port: server.port, close, [Symbol.asyncDispose]: () => close() };
}

/** A request as it goes over the wire. The body is written as it stands, whatever the fields say. */
export function rawRequest({
  method = 'POST',
  target = '/takip',
  token = 'b.M7.imza',
  fields = [],
  body = '',
}: {
  method?: string;
  target?: string;
  token?: string | undefined;
  /** Such as `content-length: 5`. */
  fields?: readonly string[];
  body?: string;
} = {}): string {
  const head = [`${method} ${target} HTTP/1.1`, 'host: site', `authorization: ${token}`, ...fields];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** A body in chunks, with the empty one that ends it. */
export const chunked = (...pieces: readonly string[]): string =>
  [...pieces, ''].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');

/** A raw exchange, and its answer taken apart. An invitation (100) is no answer and is left out. */
export async function askRaw(port: number, request: string, options: RawExchangeOptions = {}) {
  const exchange = await within(rawExchange(port, request, options), 'the end of the connection');
  return { ...exchange, ...parseAnswer(exchange.text) };
}

/** Takes an answer apart. */
export function parseAnswer(text: string) {
  const invited = text.startsWith(INVITATION);
  const answer = invited ? text.slice(INVITATION.length) : text;
  const end = answer.indexOf('\r\n\r\n');
  return {
    /** Whether the body was asked for before the answer came. */
    invited,
    status: Number(answer.slice(9, 12)),
    head: answer.slice(0, end).toLowerCase(),
    body: answer.slice(end + 4),
  };
}

/** What a server sends that wants the body of a request which expects to be asked for it. */
export const INVITATION = 'HTTP/1.1 100 Continue\r\n\r\n';
