// What lesson 2 puts around the student's servers: an origin to stand behind an edge, and a reader
// that counts bytes.
import type { IncomingMessage, RequestListener } from 'node:http';
import { K01 } from '#fixtures/assumptions.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import { rawExchange } from '#helpers/lesson/raw.ts';
import type { MeasuredResponse } from './given.ts';

/** An answer as the origin of the lesson gives it: 480 bytes of JSON, and two header fields. */
export const trackingAnswer: RequestListener = (request, response) => {
  const no = (request.url ?? '').replace('/takip/', '');
  const body = JSON.stringify({ takip: no, durum: 'aktarma', bolge: 'b34' }).padEnd(K01.bodyBytes);
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
};

/** An origin that keeps nothing, and remembers what it was asked. */
export interface GivenOrigin extends HttpServer {
  /** The requests that have come, in order. */
  readonly asked: readonly IncomingMessage[];
}

/** Starts an origin that answers every request alike. */
export async function startGivenOrigin(
  answer: RequestListener = trackingAnswer,
): Promise<GivenOrigin> {
  const asked: IncomingMessage[] = [];
  const server = await startHttpServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  return Object.defineProperty(server, 'asked', { value: asked }) as GivenOrigin;
}

/** An answer, byte by byte. */
export interface WireAnswer extends MeasuredResponse {
  body: Buffer;
  /** The header block as text, its empty line included. */
  head: string;
}

/** What to send. */
export interface WireRequest {
  /** `GET` unless given. */
  method?: string;
  /** `1.1` unless given. */
  version?: string;
  /** Lines after the request line; one `Host` unless given. */
  headers?: readonly string[];
}

const EMPTY_LINE = '\r\n\r\n';

/** Reads one answer that says how long it is, on a socket of its own, and hangs up. */
export async function ask(
  port: number,
  target: string,
  { method = 'GET', version = '1.1', headers = [`Host: 127.0.0.1:${port}`] }: WireRequest = {},
): Promise<WireAnswer> {
  const request = [`${method} ${target} HTTP/${version}`, ...headers, '', ''].join('\r\n');
  const complete = (received: Buffer) => {
    const head = headOf(received);
    if (head === undefined) return false;
    const promised = method === 'HEAD' ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (promised >= 0) return received.length >= head.length + promised;
    return /^transfer-encoding: chunked/im.test(head) && received.subarray(-7).equals(LAST_CHUNK);
  };
  const { received } = await rawExchange(port, request, { until: complete });
  const head = headOf(received) ?? '';
  const fields = head
    .split('\r\n')
    .slice(1, -2)
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    });
  return {
    status: Number(head.split(' ', 2)[1]),
    headers: Object.fromEntries(fields),
    headerBytes: head.length,
    bodyBytes: received.length - head.length,
    wireBytes: received.length,
    body: received.subarray(head.length),
    head,
  };
}

/** End of the data, and the chunk of size 0 behind it. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

function headOf(received: Buffer): string | undefined {
  const end = received.indexOf(EMPTY_LINE);
  return end < 0 ? undefined : received.toString('latin1', 0, end + EMPTY_LINE.length);
}

/** Asks for numbers such as `TR900011`, each after the answer to the one before. */
export async function askInTurn(port: number, numbers: readonly string[]): Promise<WireAnswer[]> {
  const answers: WireAnswer[] = [];
  for (const number of numbers) answers.push(await ask(port, `/takip/${number}`));
  return answers;
}

/** `11 12` stands for `TR900011` and `TR900012`. */
export function trackingNumbers(short: string): string[] {
  return short.split(' ').map((number) => `TR9000${number}`);
}

/** The body of `/sayac`, as it came. */
export async function countersOf(server: { port: number }): Promise<string> {
  return (await ask(server.port, '/sayac')).body.toString();
}

/** A header block line by line, with the bytes of each, its CR LF included. */
export function headerLines(head: string): { line: string; bytes: number }[] {
  return head
    .split('\r\n')
    .slice(0, -1)
    .map((line) => ({ line, bytes: line.length + 2 }));
}
