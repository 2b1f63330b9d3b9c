// The measurement of lesson 6, and connections on which nothing is HTTP.
import { connect, type Socket } from 'node:net';
import { disposable } from '#helpers/lesson/proxy-extras.ts';
import type { Layer4Balancer, Layer4Options } from './given.ts';
import {
  type ClientOptions,
  type CountingReplica,
  readCounts,
  runClients,
  startReplicas,
} from './replicas.ts';

/** What a run of a mix is asked for beyond its shares. */
export interface MixOptions extends ClientOptions {
  replicas: number;
  /** Requests after which the replicas close a connection; never, unless given. */
  cap?: number | undefined;
}

/** What a run of a mix has measured. Lists have one entry per replica, `k1` first. */
export interface MixReport {
  /** Clients that ran, and the requests that they sent, all of them answered. */
  readonly clients: number;
  readonly sent: number;
  /** Who answered the requests of each client. */
  readonly answeredBy: string[][];
  /** What the replicas say: requests, and the same for each path. */
  readonly requests: number[];
  readonly takip: number[];
  readonly olay: number[];
  /** What the balancer says. */
  readonly connections: number[];
  readonly decisions: number;
  readonly bytes: number;
}

/**
 * The procedure of this lesson: starts replicas and a balancer in front of them, lets the clients
 * run one after another, and then reads all counters.
 *
 * @param shares requests of each client
 */
export async function measureMix(
  startLayer4Balancer: (options: Layer4Options) => Promise<Layer4Balancer>,
  shares: readonly number[],
  { replicas: count, cap, ...options }: MixOptions,
): Promise<MixReport> {
  await using replicas = await startReplicas(count, cap);
  await using balancer = disposable(await startLayer4Balancer({ replicas }));
  const answeredBy = await runClients(balancer.port, shares, options);
  return {
    clients: answeredBy.length,
    sent: answeredBy.flat().length,
    answeredBy,
    ...(await readCounters(balancer, replicas)),
  };
}

/** The counters of the balancer and of its replicas. */
export async function readCounters(
  balancer: Layer4Balancer,
  replicas: readonly CountingReplica[],
): Promise<Omit<MixReport, 'clients' | 'sent' | 'answeredBy'>> {
  const { decisions, connections, bytes } = balancer.counters();
  const counts = await Promise.all(replicas.map(readCounts));
  return {
    requests: counts.map(({ istek }) => istek),
    takip: counts.map(({ yol }) => yol['/takip'] ?? 0),
    olay: counts.map(({ yol }) => yol['/olay'] ?? 0),
    // A name that the balancer doesn't list shows as NaN.
    connections: replicas.map(({ name }) => connections[name] ?? Number.NaN),
    decisions,
    bytes,
  };
}

/** A plain socket to a port of 127.0.0.1, which may go on sending when the peer has ended. */
export async function openSocket(port: number): Promise<Socket & Disposable> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  socket.on('error', () => {}); // a peer that resets is part of the lesson
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}

/** Bytes of which no four repeat: what is lost, doubled or misplaced shows. A multiple of four. */
export function patternOf(bytes: number): Buffer {
  const words = new Uint32Array(bytes / 4);
  for (let index = 0; index < words.length; index++) words[index] = index;
  return Buffer.from(words.buffer);
}

/**
 * Reads like a slow peer: one piece, and then nothing for a turn of the event loop, so that whoever
 * sends has to wait again and again.
 *
 * @returns what came, once there are as many bytes as wanted or the peer ends
 * @throws {Error} (rejects) when the connection breaks before that
 */
export function readSlowly(socket: Socket, wanted = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const finish = () => resolve(Buffer.concat(pieces));
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= wanted) finish();
      socket.pause();
      setImmediate(() => socket.resume());
    });
    socket.on('end', finish);
    socket.on('close', () => reject(new Error(`the connection broke after ${bytes} bytes`)));
  });
}
