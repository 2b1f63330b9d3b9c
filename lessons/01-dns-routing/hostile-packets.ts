// Datagrams that no honest client sends. Exercise 1.7 has to survive them.
import { HEADER_BYTES } from './name-service.ts';

/** A datagram, and what is wrong with it. */
export interface HostilePacket {
  readonly flaw: string;
  readonly packet: Buffer;
}

/** The packet cut at every length, from nothing to all but its last byte. */
export function truncations(packet: Buffer): HostilePacket[] {
  return Array.from(packet, (_, length) => ({
    flaw: `cut to ${length} of ${packet.length} bytes`,
    packet: packet.subarray(0, length),
  }));
}

/** A header that announces as many records as it is told to. Its id is 0xbad0. */
function header(counts: readonly [number, number, number, number], flags = 0): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  [0xbad0, flags, ...counts].forEach((word, index) => {
    bytes.writeUInt16BE(word, 2 * index);
  });
  return bytes;
}

/** Type A, class IN. */
const A_IN = Buffer.from([0, 1, 0, 1]);

function pointerTo(offset: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(0xc000 | offset);
  return bytes;
}

/**
 * Names without an end: a compressed name goes on where its pointer points to, and these point to
 * themselves, to each other, or to what is no name (RFC 1035 section 4.1.4).
 */
export function pointerLoops(): HostilePacket[] {
  const question = (...name: Buffer[]) => Buffer.concat([header([1, 0, 0, 0]), ...name, A_IN]);
  const label = Buffer.from('\x05takip', 'latin1');
  return [
    { flaw: 'a pointer to itself', packet: question(pointerTo(12)) },
    { flaw: 'a label, and a pointer back to it', packet: question(label, pointerTo(12)) },
    { flaw: 'two pointers to each other', packet: question(pointerTo(14), pointerTo(12)) },
    { flaw: 'a pointer forward', packet: question(pointerTo(18), label, Buffer.from([0])) },
    { flaw: 'a pointer out of the packet', packet: question(pointerTo(0x3fff)) },
    { flaw: 'a pointer into the header', packet: question(pointerTo(4)) },
    { flaw: 'half a pointer', packet: question(pointerTo(12)).subarray(0, 13) },
    { flaw: 'two thousand pointers that lead to one to itself', packet: pointerChain(2_000) },
  ];
}

/** Each pointer leads to the one before it, and a record's name to the last of them. */
function pointerChain(length: number): Buffer {
  const opt = Buffer.from('000029 04d0 00000000 0000 0063 0000'.replaceAll(' ', ''), 'hex');
  opt.writeUInt16BE(2 * length + 4, 9);
  opt.writeUInt16BE(2 * length, 13);
  const start = HEADER_BYTES + 1 + A_IN.length + opt.length;
  const chain = Array.from({ length }, (_, at) => pointerTo(start + 2 * Math.max(0, at - 1)));
  const last = pointerTo(start + 2 * (length - 1));
  const root = Buffer.from([0]);
  return Buffer.concat([
    header([1, 0, 0, 2]),
    root,
    A_IN,
    opt,
    ...chain,
    last,
    A_IN,
    Buffer.alloc(6),
  ]);
}

/**
 * Random bytes, the same at every run. The first bytes of half of them say that they are a query with
 * one question, or they would all be turned away at the door.
 */
export function noise(count: number, bytes: number): HostilePacket[] {
  let state = 2_463_534_242; // Marsaglia's xorshift, 32 bits, with his own seed
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0xff;
  };
  return Array.from({ length: count }, (_, index) => {
    const packet = Buffer.from(Array.from({ length: bytes }, random));
    if (index % 2 === 1) header([1, 0, 0, 1 + ((index % 4) >> 1)]).copy(packet);
    return { flaw: `${bytes} random bytes, number ${index}`, packet };
  });
}

/** Headers that promise what does not come, or more than anybody may ask at once. */
export function lies(query: Buffer): HostilePacket[] {
  const question = query.subarray(HEADER_BYTES);
  const asked = (counts: [number, number, number, number], ...rest: Buffer[]) =>
    Buffer.concat([header(counts), question, ...rest]);
  const opt = (length: number, option: string) => {
    const record = Buffer.from(`00002904d0000000000000${option}`, 'hex');
    record.writeUInt16BE(length, 9);
    return record;
  };
  const txt = Buffer.from('000010000100000000ffff05', 'hex');
  return [
    { flaw: 'no question', packet: header([0, 0, 0, 0]) },
    { flaw: '200 questions', packet: asked([200, 0, 0, 0], ...Array(199).fill(question)) },
    { flaw: '65,535 records in every section', packet: asked([65_535, 65_535, 65_535, 65_535]) },
    { flaw: 'an answer in the query', packet: asked([1, 1, 0, 0], question, Buffer.alloc(6)) },
    { flaw: 'an authority in the query', packet: asked([1, 0, 1, 0], question, Buffer.alloc(6)) },
    {
      flaw: 'three additional records',
      packet: asked([1, 0, 0, 3], opt(0, ''), opt(0, ''), opt(0, '')),
    },
    { flaw: 'two OPT records', packet: asked([1, 0, 0, 2], opt(0, ''), opt(0, '')) },
    { flaw: 'a missing OPT record', packet: asked([1, 0, 0, 1]) },
    {
      flaw: 'an OPT record that ends behind the packet',
      packet: asked([1, 0, 0, 1], opt(12, '000a0008aaaa')),
    },
    {
      flaw: 'an option that ends behind the packet',
      packet: asked([1, 0, 0, 1], opt(4, '000affff')),
    },
    {
      flaw: 'an OPT record whose name is not the root',
      packet: asked([1, 0, 0, 1], Buffer.from('c00c002904d0000000000000', 'hex')),
    },
    { flaw: 'a text that ends behind the packet', packet: asked([1, 0, 0, 1], txt) },
    { flaw: 'two texts that end behind the packet', packet: asked([1, 0, 0, 2], txt, txt) },
    {
      flaw: 'a label of 191 bytes',
      packet: Buffer.concat([
        header([1, 0, 0, 0]),
        Buffer.alloc(192, 0xbf),
        Buffer.from([0]),
        A_IN,
      ]),
    },
    {
      flaw: 'a name of 300 bytes',
      packet: Buffer.concat([
        header([1, 0, 0, 0]),
        ...Array(6).fill(Buffer.alloc(50, 49)),
        Buffer.from([0]),
        A_IN,
      ]),
    },
  ];
}
