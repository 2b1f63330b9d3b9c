// What a test of back-pressure needs: somebody who sends more than anybody may hold, and sees when it
// is taken no more.
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Bytes that a watched sender offers. */
const OFFERED_BYTES = 64 * 1024 * 1024;

/**
 * Bytes that may have been taken from a sender whose reader has stopped: what the system holds in
 * the buffers of two connections, with room to spare.
 */
export const MOST_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

/**
 * The one wait for time that a lesson has: whether somebody has stopped can't be seen in less. Looked
 * at again and again, and not once after the whole time: a process that a busy machine has kept
 * waiting has not stood still.
 */
const STANDSTILL = { looks: 10, everyMs: 20 };

const BLOCK_BYTES = 64 * 1024;
const BLOCKS = OFFERED_BYTES / BLOCK_BYTES;
const BLOCK = Buffer.alloc(BLOCK_BYTES, 'aktarma merkezinde ');

/** Sends what is always the same 64 MiB, and is watched while it does. */
export interface WatchedSender {
  /** Bytes that a stream has taken from it so far. */
  readonly acceptedBytes: number;
  /** Starts counting from 0 again, for the next `offer`. */
  reset(): void;
  /** Offers all as fast as the stream takes it, and ends it. Resolves early if it is closed. */
  offer(stream: Writable): Promise<void>;
  /** Resolves when nothing has been taken for 200 ms in which the process was running. */
  standstill(): Promise<void>;
}

/** A sender that has offered nothing yet. */
export function watchedSender(): WatchedSender {
  let acceptedBytes = 0;
  return {
    get acceptedBytes() {
      return acceptedBytes;
    },
    reset() {
      acceptedBytes = 0;
    },
    async offer(stream) {
      for (let index = 0; index < BLOCKS && !stream.destroyed; index++) {
        acceptedBytes += BLOCK_BYTES;
        if (!stream.write(numbered(Buffer.from(BLOCK), index))) {
          await new Promise<void>((resolve) => {
            const go = () => {
              stream.off('drain', go).off('close', go);
              resolve();
            };
            stream.on('drain', go).on('close', go);
          });
        }
      }
      stream.end();
    },
    async standstill() {
      for (let still = 0; still < STANDSTILL.looks; ) {
        const before = acceptedBytes;
        await new Promise((resolve) => setTimeout(resolve, STANDSTILL.everyMs));
        still = acceptedBytes === before ? still + 1 : 0;
      }
    },
  };
}

/** What `readOffered` says when nothing is missing and nothing is wrong. */
export const ALL_ARRIVED = `all ${OFFERED_BYTES} bytes, in order`;

/**
 * Reads what a watched sender offers until the stream ends, and says whether it is that. A socket
 * stays open for writing.
 *
 * @throws what breaks the stream off
 */
export async function readOffered(body: Readable): Promise<string> {
  // Compared piece by piece with one block: a hash of both sides takes ten times as long.
  const block = Buffer.from(BLOCK);
  let bytes = 0;
  let wrongAt: number | undefined;
  body.on('data', (piece: Buffer) => {
    for (let at = 0; at < piece.length; ) {
      const start = bytes % BLOCK_BYTES;
      const length = Math.min(BLOCK_BYTES - start, piece.length - at);
      numbered(block, Math.floor(bytes / BLOCK_BYTES));
      if (piece.compare(block, start, start + length, at, at + length) !== 0) wrongAt ??= bytes;
      bytes += length;
      at += length;
    }
  });
  await finished(body, { writable: false });
  if (wrongAt !== undefined) return `${bytes} bytes, the first wrong ones from byte ${wrongAt} on`;
  return bytes === OFFERED_BYTES ? ALL_ARRIVED : `${bytes} of ${OFFERED_BYTES} bytes`;
}

/** No two blocks alike, so that one which is lost, doubled or misplaced shows. */
function numbered(block: Buffer, index: number): Buffer {
  block.writeUInt32BE(index);
  return block;
}
