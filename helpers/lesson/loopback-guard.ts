// Keeps every connection of the course on loopback. Installed by being imported, before anything
// else can take a copy of what it replaces.
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { afterAll, beforeEach, type TestContext } from 'vitest';
import { framesOf, framesText, type NotedStack, noteStack, siteOf } from './call-site.ts';
import { type Func, replace } from './replace.ts';

/** Which client a call was made with. */
export type Client =
  | 'http'
  | 'https'
  | 'http2'
  | 'fetch'
  | 'undici'
  | 'net'
  | 'tls'
  | 'dgram'
  | `dns.${string}`;

/** What a client gets that has tried to leave the machine. */
export class OutsideLoopbackError extends Error {
  override readonly name = 'OutsideLoopbackError';
  readonly code = 'ERR_OUTSIDE_LOOPBACK';
  readonly client: Client;
  /** Host, with its port where the call has one. */
  readonly target: string;

  constructor(client: Client, target: string, noted: NotedStack) {
    const site = siteOf(noted);
    super(
      `${client} to ${target} was refused: the course's tests stay on 127.0.0.1` +
        (site ? ` (called at ${site})` : ''),
    );
    this.client = client;
    this.target = target;
    // The report shows the line that called, not this file.
    this.stack = `${this.name}: ${this.message}\n${framesText(noted)}`;
  }
}

/** What all copies of this module share: shared workers may load it once for every lesson. */
interface State {
  /** What was refused since the last look. */
  refusals: OutsideLoopbackError[];
  /** Who called fetch, by `host:port`: the connection is opened later, from a queue. */
  readonly fetches: Map<string, NotedStack>;
  /** Resolvers whose servers were set, so that they don't ask the system's. */
  readonly ownServers: WeakSet<object>;
}

const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');
// Written out: not every version of Node compares mapped addresses with rules for IPv4.
LOOPBACK.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');

/** Functions that ask a name server. */
const QUERY = /^(?:resolve|reverse$)/;

const KEY = Symbol.for('traffic-layer.loopback-guard');
const shared = globalThis as { [KEY]?: State };
const state: State = shared[KEY] ?? {
  refusals: [],
  fetches: new Map(),
  ownServers: new WeakSet(),
};
if (!shared[KEY]) {
  shared[KEY] = state;
  install();
}

/**
 * Fails every test whose code has tried to leave loopback, also when the code has swallowed the
 * error. The setup file calls it once for every test file.
 */
export function guardLoopback(): void {
  const outside: OutsideLoopbackError[] = takeRefusals();
  beforeEach(({ task, onTestFinished }: TestContext) => {
    outside.push(...takeRefusals());
    onTestFinished(() => {
      const [refusal] = takeRefusals();
      if (!refusal) return;
      if (!(task.result?.errors ?? []).some((error) => isAbout(error, refusal))) throw refusal;
    });
  });
  // Vitest runs these hooks in reverse order: this one is the last of its file.
  afterAll(() => {
    const [refusal] = [...outside.splice(0), ...takeRefusals()];
    if (refusal) throw refusal;
  });
}

/** Whether a failed test's error, or what caused it, is the refusal. */
function isAbout(error: { message?: string; cause?: unknown }, refusal: Error): boolean {
  if (error.message?.includes(refusal.message)) return true;
  return typeof error.cause === 'object' && error.cause !== null && isAbout(error.cause, refusal);
}

/** What was refused since the last look. A test that takes them answers for them. */
export function takeRefusals(): OutsideLoopbackError[] {
  const { refusals } = state;
  state.refusals = [];
  return refusals;
}

/**
 * Whether a host to connect to is this machine's loopback: an address in canonical spelling out of
 * 127.0.0.0/8 or ::1 (or 127.0.0.0/8 mapped to IPv6), `localhost`, or a name below it. No host at
 * all means localhost to Node. Anything else, such as `2130706433` or `0.0.0.0`, is not, whatever
 * the system would make of it.
 */
export function isLoopback(host: unknown): boolean {
  if (host === undefined || host === null || host === '') return true;
  if (typeof host !== 'string') return false;
  if (net.isIP(host) !== 0) return isLoopbackAddress(host);
  return /^(?:.+\.)?localhost\.?$/i.test(host);
}

function isLoopbackAddress(address: string): boolean {
  if (address.includes('%')) return false; // a zone: who knows which interface that is
  return LOOPBACK.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4');
}

function install(): void {
  guardStreams();
  guardFetch();
  guardDatagrams();
  guardNames();
  // `import { lookup } from 'node:dns'` gets the replaced function too.
  syncBuiltinESMExports();
}

function refuse(client: Client, target: string, noted: NotedStack): OutsideLoopbackError {
  const error = new OutsideLoopbackError(client, target, noted);
  state.refusals.push(error);
  return error;
}

// --- TCP, and all that is built on it

/** Every client of Node and of npm ends here: http, https, http2, fetch, undici, tls. */
function guardStreams(): void {
  replace(net.Socket.prototype, 'connect', (connect) => {
    return function connectOnLoopback(this: unknown, ...args: unknown[]) {
      const options = connectOptions(args);
      const { host, port, path, lookup } = options;
      const target = path ? String(path) : `${host}:${port}`;
      const isLocal = path ? isLocalPipe(path) : isLoopback(host);
      // A lesson may have a resolver of its own. Then its answers decide.
      const isNamed = !path && typeof host === 'string' && net.isIP(host) === 0;
      if (isNamed && typeof lookup === 'function') {
        return connect.apply(this, [
          ...withOptions(args, {
            ...options,
            lookup: checkedLookup(lookup as Func, target, noteStack(connectOnLoopback)),
          }),
        ]);
      }
      if (isLocal) return connect.apply(this, args);

      const socket = this as net.Socket;
      const noted = noteStack(connectOnLoopback);
      const fetching = state.fetches.get(target);
      state.fetches.delete(target);
      const error = fetching
        ? refuse('fetch', target, fetching)
        : refuse(clientOf(noted), target, noted);
      // As a connection that fails: what is written waits for it, and the error comes a tick later.
      (socket as { connecting: boolean }).connecting = true;
      process.nextTick(() => socket.destroy(error));
      return socket;
    };
  });
}

/** What `connect(options)`, `connect(port, host)`, `connect(path)` and Node itself pass. */
export function connectOptions(args: readonly unknown[]): Record<string, unknown> {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) return first as Record<string, unknown>;
  if (typeof first === 'string' && !isPort(first)) return { path: first };
  return { port: first, ...(typeof second === 'string' && { host: second }) };
}

function isPort(text: string): boolean {
  return text.trim() !== '' && Number(text) >= 0;
}

function withOptions(args: unknown[], options: object): unknown[] {
  if (!Array.isArray(args[0])) {
    const callback = args.at(-1);
    return typeof callback === 'function' ? [options, callback] : [options];
  }
  args[0][0] = options; // Node marks its own array with a symbol, so it has to stay that array
  return args;
}

function checkedLookup(lookup: Func, target: string, noted: NotedStack): Func {
  return function checked(this: unknown, ...args) {
    const callback = args.pop() as Func;
    return lookup.call(this, ...args, (error: unknown, found: unknown, family: unknown) => {
      const answers = Array.isArray(found) ? found : [{ address: found }];
      const strange = answers.find(({ address }) => !isAddressOnLoopback(address));
      if (error || !strange) return callback(error, found, family);
      return callback(refuse(clientOf(noted), `${target} (${strange.address})`, noted));
    });
  };
}

function isAddressOnLoopback(address: unknown): boolean {
  return typeof address === 'string' && net.isIP(address) !== 0 && isLoopbackAddress(address);
}

/** A path is a socket of this machine, except for a named pipe of another one on Windows. */
function isLocalPipe(path: unknown): boolean {
  return process.platform !== 'win32' || !/^[\\/]{2}[^.?\\/]/.test(String(path));
}

/** Which client it was shows in the stack, on the way from the lesson to the socket. */
function clientOf(noted: NotedStack): Client {
  const files = framesOf(noted).map(({ file }) => file);
  const has = (part: string) => files.some((file) => file.includes(part));
  if (has('/node_modules/undici/')) return 'undici';
  if (has('node:internal/deps/undici')) return 'fetch';
  if (has('node:internal/http2')) return 'http2';
  if (has('node:https')) return 'https';
  if (has('node:_http')) return 'http';
  if (has('node:_tls') || has('node:internal/tls')) return 'tls';
  return 'net';
}

/** fetch opens its connection from a queue, where the caller doesn't show any more. */
function guardFetch(): void {
  const { fetch } = globalThis;
  if (!fetch) return;
  globalThis.fetch = function fetchOnLoopback(input, init) {
    const address = typeof input === 'object' && 'url' in input ? input.url : String(input);
    if (URL.canParse(address)) {
      const { hostname, port, protocol } = new URL(address);
      const host = hostname.replace(/^\[|\]$/g, '');
      if (!isLoopback(host)) {
        const target = `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
        state.fetches.set(target, noteStack(fetchOnLoopback));
      }
    }
    return fetch(input, init);
  };
  Object.defineProperty(globalThis.fetch, 'name', { value: 'fetch' });
}

// --- UDP

function guardDatagrams(): void {
  replace(dgram.Socket.prototype, 'send', (send) => {
    return function sendOnLoopback(this: unknown, ...args: unknown[]) {
      const socket = this as dgram.Socket;
      const [port, address] = sendTarget(args);
      // What isn't a text, Node refuses by itself.
      if (isLoopback(address) || typeof address !== 'string' || isConnected(socket)) {
        return send.apply(this, args);
      }
      const error = refuse('dgram', `${address}:${port}`, noteStack(sendOnLoopback));
      const callback = args.at(-1);
      process.nextTick(() => {
        if (typeof callback === 'function') callback(error);
        else socket.emit('error', error);
      });
    };
  });
  replace(dgram.Socket.prototype, 'connect', (connect) => {
    return function connectOnLoopback(this: unknown, ...args: unknown[]) {
      const socket = this as dgram.Socket;
      const [port, address] = args;
      if (typeof address !== 'string' || isLoopback(address)) return connect.apply(this, args);
      const error = refuse('dgram', `${address}:${port}`, noteStack(connectOnLoopback));
      const callback = args.at(-1);
      process.nextTick(() => {
        if (typeof callback === 'function') callback(error);
        else socket.emit('error', error);
      });
    };
  });
}

/** Port and address out of `send(msg, [offset, length,] [port], [address], [callback])`. */
function sendTarget(args: readonly unknown[]): [port: unknown, address: unknown] {
  const [, second, third, fourth, fifth] = args;
  const hasRange = Boolean(fifth) || (Boolean(fourth) && typeof fourth !== 'function');
  return hasRange ? [fourth, fifth] : [second, third];
}

function isConnected(socket: dgram.Socket): boolean {
  try {
    return Boolean(socket.remoteAddress());
  } catch {
    return false;
  }
}

// --- names

function guardNames(): void {
  guardLookups(dns, 'dns', delivered);
  guardLookups(dns.promises, 'dns.promises', rejected);

  for (const [module, path, deliver] of [
    [dns, 'dns', delivered],
    [dns.promises, 'dns.promises', rejected],
  ] as const) {
    const { prototype } = module.Resolver as unknown as { prototype: Record<string, Func> };
    // The resolver of the module: it asks the system's servers. `dns.setServers` puts functions of a
    // new resolver in the place of these.
    for (const name of Object.keys(module).filter((key) => QUERY.test(key))) {
      replace(module, name, () => {
        return function query(this: unknown, ...args: unknown[]) {
          return deliver(args, () => refuseName(path, name, args, query));
        };
      });
    }
    for (const name of Object.keys(prototype).filter((key) => QUERY.test(key))) {
      replace(prototype, name, (original) => {
        return function query(this: unknown, ...args: unknown[]) {
          if (asksLoopback(this as dns.Resolver)) return original.apply(this, args);
          return deliver(args, () => refuseName(path, name, args, query));
        };
      });
    }
    const { setServers } = prototype as { setServers: Func };
    prototype.setServers = function setOwnServers(this: unknown, ...args: unknown[]) {
      setServers.apply(this, args);
      state.ownServers.add(this as object);
    };
  }
}

/** `lookup` and `lookupService` ask the system, which may ask anybody. */
function guardLookups(
  module: object,
  path: string,
  deliver: (args: unknown[], refusal: () => OutsideLoopbackError) => unknown,
): void {
  for (const name of ['lookup', 'lookupService']) {
    replace(module, name, (original) => {
      return function lookup(this: unknown, ...args: unknown[]) {
        const [host] = args;
        // An address needs no question, and what isn't a text, Node refuses by itself.
        const isSettled = name === 'lookup' && net.isIP(String(host)) !== 0;
        if (typeof host !== 'string' || isSettled || isLoopback(host)) {
          return original.apply(this, args);
        }
        return deliver(args, () => refuseName(path, name, args, lookup));
      };
    });
  }
}

function refuseName(path: string, name: string, args: unknown[], below: Func) {
  return refuse(`${path}.${name}` as Client, String(args[0]), noteStack(below));
}

function delivered(args: unknown[], refusal: () => OutsideLoopbackError): undefined {
  const callback = args.at(-1);
  const error = refusal();
  if (typeof callback !== 'function') throw error;
  process.nextTick(() => callback(error));
}

function rejected(_args: unknown[], refusal: () => OutsideLoopbackError): Promise<never> {
  return Promise.reject(refusal());
}

/**
 * Whether the resolver's servers were set, and all of them are on loopback, at a port of their own.
 * At the usual port, 53, the system's resolver may listen and pass the question on.
 */
function asksLoopback(resolver: dns.Resolver): boolean {
  if (!state.ownServers.has(resolver)) return false;
  return resolver.getServers().every((server) => {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(net.isIP(server) === 0 ? server : '') ?? [];
    return Boolean(host) && isLoopback(host) && port !== '53';
  });
}
