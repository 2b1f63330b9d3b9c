import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TestVerdict } from './types.ts';

/** What a sealed process tells its pool. */
export type SealedMessage =
  /** A test has ended. Told again when it fails afterwards. */
  | { readonly about: 'test'; readonly test: TestVerdict }
  /** The file did not run as it should have. */
  | { readonly about: 'problem'; readonly message: string; readonly at?: string }
  /** The last test has ended, and what it had left behind. */
  | { readonly about: 'end' };

/** A message with its number and its proof, as it goes over the channel. */
export interface Envelope {
  readonly sealed: string;
  readonly proof: string;
}

/** Name of the configuration's field in which the pool hands the key over. */
export const KEY_FIELD = 'sealKey';

/** A key for one process. */
export const makeKey = (): string => randomBytes(32).toString('hex');

/** Signs the messages of one process, in their order. */
export function signer(key: string): (message: SealedMessage) => Envelope {
  const { stringify } = JSON;
  // A key that is a text would be copied into the pool that all small buffers of the process share,
  // each time that it is used.
  const bytes = Buffer.alloc(key.length, key);
  const secret = createSecretKey(bytes);
  bytes.fill(0);
  let number = 0;
  return (message) => {
    number += 1;
    const sealed = stringify([number, message]);
    return { sealed, proof: createHmac('sha256', secret).update(sealed).digest('hex') };
  };
}

/** Opens the envelopes of one process. What isn't signed, or comes twice, gives nothing. */
export function opener(key: string): (envelope: Envelope) => SealedMessage | undefined {
  let last = 0;
  return ({ sealed, proof }) => {
    if (typeof sealed !== 'string' || typeof proof !== 'string') return undefined;
    const wanted = createHmac('sha256', key).update(sealed).digest();
    const given = Buffer.from(proof, 'hex');
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    const [number, message] = JSON.parse(sealed) as [number, SealedMessage];
    if (number <= last) return undefined;
    last = number;
    return message;
  };
}

export function isEnvelope(message: unknown): message is Envelope {
  return typeof message === 'object' && message !== null && 'sealed' in message;
}
