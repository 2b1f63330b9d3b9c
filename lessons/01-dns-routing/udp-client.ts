// How the tests of exercise 1.7 talk to a name server: datagrams over UDP, as they are.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import {
  type DecodedPacket,
  decode,
  encode,
  type OptAnswer,
  type PacketOpt,
  type RecordClass,
  type RecordType,
} from 'dns-packet';
import { PATIENCE_MS } from '#helpers/lesson/waiting.ts';
import {
  CLIENT_SUBNET,
  EDNS_PAYLOAD_BYTES,
  HEADER_BYTES,
  NAME_SERVICE,
  RCODE,
} from './name-service.ts';

/** A UDP socket that talks to one port of 127.0.0.1. The system drops what others send to it. */
export interface UdpClient extends AsyncDisposable {
  /** Sends one datagram. */
  send(packet: Uint8Array): void;
  /**
   * The next datagram that has come or will come, in the order of arrival. Rejects when none comes for
   * `PATIENCE_MS`.
   *
   * @param what completes "waited in vain for ..."
   */
  next(what?: string): Promise<Buffer>;
}

/**
 * Opens a UDP socket.
 *
 * @param port of the peer, on 127.0.0.1
 * @param from own address; some systems have no other one than 127.0.0.1
 * @throws {Error} (rejects) with code EADDRNOTAVAIL when this machine has no such address
 */
export async function openUdpClient(port: number, from = '127.0.0.1'): Promise<UdpClient> {
  const socket = createSocket('udp4');
  const arrived: Buffer[] = [];
  let waiting:
    | { what: string; resolve(packet: Buffer): void; reject(error: Error): void }
    | undefined;
  try {
    socket.bind(0, from);
    await once(socket, 'listening');
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
  } catch (error) {
    socket.close();
    throw error;
  }
  // One timer for all waits, as thousands of them follow each other.
  const patience = setTimeout(() => {
    waiting?.reject(new Error(`waited ${PATIENCE_MS} ms in vain for ${waiting.what}`));
    waiting = undefined;
  }, PATIENCE_MS);
  socket.on('message', (packet) => {
    if (waiting) waiting.resolve(packet);
    else arrived.push(packet);
    waiting = undefined;
  });
  // Such as ECONNREFUSED, where nobody listens.
  socket.on('error', (error) => {
    waiting?.reject(error);
    waiting = undefined;
  });
  return {
    send: (packet) => socket.send(packet),
    next(what = 'a response') {
      const first = arrived.shift();
      if (first) return Promise.resolve(first);
      patience.refresh();
      return new Promise((resolve, reject) => {
        waiting = { what, resolve, reject };
      });
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(patience);
      await closeSocket(socket);
    },
  };
}

/** A UDP server on 127.0.0.1 that says what it is told to. */
export interface Responder extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts a UDP server that sends all that the function returns back to where the datagram came from. It
 * is as much of a name server as a demonstration needs: it understands nothing.
 */
export async function startResponder(
  respond: (packet: Buffer) => readonly Buffer[],
): Promise<Responder> {
  const socket = createSocket('udp4');
  socket.on('message', (packet, { port, address }) => {
    for (const response of respond(packet)) socket.send(response, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, [Symbol.asyncDispose]: () => closeSocket(socket) };
}

async function closeSocket(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

/** What an OPT record may say. */
export interface Edns {
  /** Sent as Client Subnet. Bits of the address behind its prefix have to be 0. */
  readonly subnet?: string;
  /** Sent as Client Subnet as it is, in place of `subnet`: family, prefix length, scope, address. */
  readonly subnetBytes?: Buffer;
  readonly version?: number;
  readonly payloadBytes?: number;
}

/** The OPT record of a query (RFC 6891). */
export function optRecord({
  subnet,
  subnetBytes,
  version = 0,
  payloadBytes,
}: Edns = {}): OptAnswer {
  const [ip = '', bits] = subnet?.split('/') ?? [];
  const options: PacketOpt[] = subnetBytes
    ? [{ code: CLIENT_SUBNET, ip: undefined, data: subnetBytes }]
    : subnet === undefined
      ? []
      : [{ code: CLIENT_SUBNET, family: isIPv4(ip) ? 1 : 2, ip, sourcePrefixLength: Number(bits) }];
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: payloadBytes ?? EDNS_PAYLOAD_BYTES,
    extendedRcode: 0,
    ednsVersion: version,
    flags: 0,
    flag_do: false,
    options,
  };
}

/** A query. What is not given is that of an ordinary one: the A record of the service, no EDNS. */
export interface Query {
  readonly id?: number;
  readonly name?: string;
  /** One that dns-packet has no word for is `UNKNOWN_65`, with its number. */
  readonly type?: RecordType | 'ANY' | `UNKNOWN_${number}`;
  readonly class?: RecordClass;
  /** Bits of the header behind the id, such as `RECURSION_DESIRED`. */
  readonly flags?: number;
  readonly edns?: Edns;
}

/** The bytes of a query. */
export function packQuery(query: Query = {}): Buffer {
  const { id = 1, name = NAME_SERVICE.name, type = 'A', flags = 0, edns } = query;
  return encode({
    type: 'query',
    id,
    flags,
    questions: [{ name, type: type as RecordType, class: query.class ?? 'IN' }],
    additionals: edns ? [optRecord(edns)] : [],
  });
}

/** A response, unpacked. */
export interface Response extends DecodedPacket {
  /** Name of the response code, from header and OPT record, such as `NXDOMAIN`. */
  readonly rcode: string;
  /** Its OPT record, if it has one. */
  readonly edns: OptAnswer | undefined;
  /** As it came. */
  readonly bytes: Buffer;
}

/** Unpacks a response. */
export function readResponse(bytes: Buffer): Response {
  const packet = decode(bytes);
  const edns = packet.additionals?.find((record): record is OptAnswer => record.type === 'OPT');
  const code = (bytes.readUInt16BE(2) & 0xf) | ((edns?.extendedRcode ?? 0) << 4);
  const rcode = Object.entries(RCODE).find(([, value]) => value === code)?.[0] ?? String(code);
  return { ...packet, rcode, edns, bytes };
}

/** Sends a query and resolves with the next datagram that comes, unpacked. */
export async function exchange(client: UdpClient, query: Query | Buffer = {}): Promise<Response> {
  client.send(Buffer.isBuffer(query) ? query : packQuery(query));
  return readResponse(await client.next());
}

/** The Client Subnet option of a response, in hex: family, prefix length, scope, address. */
export function subnetOf({ edns }: Response): string | undefined {
  const option = edns?.options.find(({ code }) => code === CLIENT_SUBNET);
  return option?.data
    ?.toString('hex')
    .replace(/^(....)(..)(..)/, '$1 $2 $3 ')
    .trim();
}

/**
 * Sends a datagram that may or may not be answered, and behind it a query that has to be. Resolves with
 * what came back for the first one, or `undefined`: a server takes datagrams as they come, so after the
 * answer to the second there will be none to the first.
 */
export async function provoke(client: UdpClient, packet: Buffer): Promise<Buffer | undefined> {
  client.send(packet);
  client.send(packQuery({ id: CONTROL_ID }));
  const responses: Buffer[] = [];
  for (;;) {
    const response = await client.next('an answer to the query behind the datagram');
    const isControl = response.length >= HEADER_BYTES && response.readUInt16BE(0) === CONTROL_ID;
    if (isControl) return responses[0];
    responses.push(response);
  }
}

/** Id of the query by which `provoke` finds out that a server is still there. */
const CONTROL_ID = 0x600d;
