// Counting taps: between a unit and those who ask it, and seen by neither of them.
import { connect, type Socket } from 'node:net';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
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
 * Puts a tap in front of a unit. It passes bytes on as they come, in both directions, reads along, and
 * reports what the unit has answered. What a stopped unit leaves unanswered is no passage: the tap
 * then cuts the connection, as the unit would.
 *
 * @param port of the unit, on 127.0.0.1
 * @param report called before the end of the answer is passed on; for a probe that was answered with
 *   `'probe'`, and with `'unanswered'` when the unit can't be reached or breaks off, probes left out
 */
export async function startTap(
  unit: UnitName,
  port: number,
  report: (passage: Passage | 'probe' | 'unanswered') => void,
): Promise<Tap> {
  let underWay = 0;
  let waiting: (() => void)[] = [];
  const isOver = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };

  const answered = (request: Message, answer: Message) => {
    const [method = '', target = ''] = request.start.split(' ');
    if (target === HEALTH_TARGET) {
      report('probe');
      return;
    }
    const body = Buffer.concat(answer.pieces);
    report({
      ...{ unit, method, target },
      requestBytes: request.length ?? request.bytes,
      status: statusOf(answer),
      body: body.toString(),
      bytes: body.length,
      edgeField: answer.fields.get('x-kenar'),
    });
  };

  const server = await startTcpServer((client: Socket) => {
    /** Requests without an answer, in their order: HTTP/1.1 answers them in the same one. */
    const asked: Message[] = [];
    let toUnit: Socket | undefined;

    const cut = () => {
      client.destroy();
      toUnit?.destroy();
      for (const { start } of asked.splice(0)) {
        if (start.split(' ')[1] !== HEALTH_TARGET) report('unanswered');
        isOver();
      }
    };
    const open = (): Socket => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      const answers = readMessages({
        isBodiless: (answer) => {
          const status = statusOf(answer);
          return asked[0]?.start.startsWith('HEAD ') || status === 204 || status === 304;
        },
        onEnd: (answer) => {
          // Below 200 it is such as "go on with your body".
          const request = statusOf(answer) < 200 ? undefined : asked.shift();
          if (!request) return;
          answered(request, answer);
          isOver();
        },
      });
      socket.on('data', (bytes) => {
        answers(bytes);
        client.write(bytes);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        // An idle connection that ends is nobody's loss: the next request opens another one, or finds
        // that it can't. Were it passed on, that request could be lost before it gets here.
        if (toUnit === socket) toUnit = undefined;
        if (asked.length > 0) cut();
      });
      return socket;
    };
    const requests = readMessages({
      onHead: (request) => {
        underWay += 1;
        asked.push(request);
      },
    });
    client.setNoDelay(true);
    client.on('data', (bytes) => {
      requests(bytes);
      toUnit ??= open();
      toUnit.write(bytes);
    });
    client.on('close', cut);
  });
  return {
    port: server.port,
    async idle() {
      while (underWay > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    close: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A request or an answer, as far as it has come (RFC 9112). */
interface Message {
  /** Request line or status line. */
  readonly start: string;
  /** By names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the body, if they are known in advance. */
  readonly length: number | undefined;
  /** The body that has come, without the framing of chunks. */
  readonly pieces: Buffer[];
  bytes: number;
}

function statusOf({ start }: Message): number {
  return Number(start.split(' ')[1]);
}

/**
 * Reads the messages of one direction of a connection, piece by piece.
 *
 * @param on.isBodiless whether a message has no body, whatever its fields say
 * @returns what takes the next bytes
 */
function readMessages(on: {
  onHead?: (message: Message) => void;
  onEnd?: (message: Message) => void;
  isBodiless?: (message: Message) => boolean | undefined;
}): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let message: Message | undefined;
  /** Bytes still to come: of the body, or of the chunk that is being read. */
  let missing = 0;
  let isChunked = false;

  const end = (whole: Message) => {
    message = undefined;
    on.onEnd?.(whole);
  };
  const take = (whole: Message, count: number) => {
    const piece = rest.subarray(0, count);
    rest = rest.subarray(piece.length);
    whole.pieces.push(piece);
    whole.bytes += piece.length;
    missing -= piece.length;
  };
  /** @returns the text up to the separator, which is taken out with it; `undefined` if it is to come */
  const upTo = (separator: string): string | undefined => {
    const at = rest.indexOf(separator);
    if (at < 0) return undefined;
    const text = rest.toString('latin1', 0, at);
    rest = rest.subarray(at + separator.length);
    return text;
  };
  /** @returns whether it has got on */
  const step = (): boolean => {
    if (!message) {
      const head = upTo('\r\n\r\n');
      if (head === undefined) return false;
      message = readHead(head);
      isChunked = /\bchunked\b/i.test(message.fields.get('transfer-encoding') ?? '');
      missing = isChunked ? 0 : (message.length ?? 0);
      on.onHead?.(message);
      const isOver = on.isBodiless?.(message) || (!isChunked && missing === 0);
      if (isOver) end(message);
      return true;
    }
    if (missing > 0) {
      if (rest.length === 0) return false;
      take(message, missing);
      if (missing === 0 && !isChunked) end(message);
      return true;
    }
    // The line of the next chunk's size, after the empty end of the line of the chunk before.
    if (message.bytes > 0 && rest.subarray(0, 2).toString() === '\r\n') upTo('\r\n');
    const last = /^0+(;[^\r]*)?\r\n/.test(rest.toString('latin1', 0, 20));
    const line = upTo(last ? '\r\n\r\n' : '\r\n');
    if (line === undefined) return false;
    if (last) end(message);
    else missing = Number.parseInt(line, 16) || 0;
    return true;
  };
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (step());
  };
}

function readHead(head: string): Message {
  const [start = '', ...lines] = head.split('\r\n');
  const fields = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = fields.get('content-length');
  return {
    start,
    fields,
    length: length === undefined ? undefined : Number(length),
    pieces: [],
    bytes: 0,
  };
}
