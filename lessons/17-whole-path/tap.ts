// Counting taps: between a unit and those who ask it, and seen by neither of them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { type RunningServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import type { UnitName } from './given.ts';

/** A request that a unit has answered, completely. */
export interface Passage {
  readonly unit: UnitName;
  readonly method: string;
  readonly target: string;
  /** Bytes of the body that came with it. */
  readonly requestBytes: number;
  readonly status: number;
  readonly body: string;
  /** Bytes of `body`. */
  readonly bytes: number;
  /** The edge's own field `x-kenar`, `isabet` for a hit. */
  readonly edgeField: string | undefined;
}

/** A tap that runs. */
export interface Tap extends RunningServer {
  /** Resolves when every request that has come is over. At once if none is under way. */
  idle(): Promise<void>;
}

/** What a health check asks. It is no traffic. */
const HEALTH_TARGET = '/saglik';

/**
 * Puts a tap in front of a unit: a proxy that passes everything on as it is and reports what the unit
 * has answered. What a stopped unit leaves unanswered is no passage; the tap then cuts the connection,
 * as the unit would.
 *
 * @param port of the unit, on 127.0.0.1
 * @param report called before the answer is passed on; for a probe that was answered with `'probe'`,
 *   and with `'unanswered'` when the unit can't be reached or breaks off, probes left out
 */
export async function startTap(
  unit: UnitName,
  port: number,
  report: (passage: Passage | 'probe' | 'unanswered') => void,
): Promise<Tap> {
  const underWay = new Set<Promise<void>>();
  const pool = new Pool(`http://127.0.0.1:${port}`, { headersTimeout: 0, bodyTimeout: 0 });

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/' } = request;
    const body = await readAll(request);
    const answer = await pool.request({
      method,
      path: target,
      headers: endToEnd(request.rawHeaders),
      ...(body.length > 0 && { body }),
      responseHeaders: 'raw',
    });
    const answered = Buffer.from(await answer.body.arrayBuffer());
    const { statusCode: status } = answer;
    const headers = endToEnd(
      (answer.headers as unknown as Buffer[]).map((text) => text.toString('latin1')),
    );
    if (target === HEALTH_TARGET) report('probe');
    else {
      report({
        unit,
        method,
        target,
        requestBytes: body.length,
        status,
        body: answered.toString(),
        bytes: answered.length,
        edgeField: fieldOf(headers, 'x-kenar'),
      });
    }
    response.writeHead(status, headers);
    response.end(answered);
  };

  const server = await startHttpServer((request, response) => {
    const passed = pass(request, response)
      .catch(() => {
        if (request.url !== HEALTH_TARGET) report('unanswered');
        response.destroy();
      })
      .finally(() => underWay.delete(passed));
    underWay.add(passed);
  });
  const close = async () => {
    await server.close();
    await pool.destroy();
  };
  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return { port: server.port, idle, close, [Symbol.asyncDispose]: close };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** About a connection, and not about a message; both sides of a tap have connections of their own. */
const PER_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length']);

/** The fields of a message, names and values in turn, without those about its connection. */
function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at] as string, raw[at + 1] as string];
    if (!PER_CONNECTION.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

function fieldOf(fields: readonly string[], wanted: string): string | undefined {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === wanted);
  return at < 0 ? undefined : fields[at + 1];
}
