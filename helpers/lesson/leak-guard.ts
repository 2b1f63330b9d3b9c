// Fails a test that leaves something open, says where it was opened, and closes it. Installed by
// being imported, before anything else can take a copy of what it replaces.
import { ChildProcess } from 'node:child_process';
import dgram from 'node:dgram';
import diagnostics from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { afterAll, beforeEach, type TestContext } from 'vitest';
import {
  framesOf,
  framesText,
  isForeign,
  type NotedStack,
  noteStack,
  siteOf,
} from './call-site.ts';
import { connectOptions } from './loopback-guard.ts';
import { replace } from './replace.ts';

/** How long what is being closed already may take. Only a test that leaves something waits. */
const GRACE_MS = 250;
/** The same for a process: it needs the system's scheduler, too. */
const CHILD_GRACE_MS = 1_000;
/** Turns of the event loop for what needs no I/O, such as an immediate or a promise's `finally`. */
const GRACE_TURNS = 3;
/** Sockets and timers come in thousands: what is closed is forgotten from this many on. */
const SWEEP_FROM = 256;
/** After any of these a server listens, or never will. */
const STARTED = ['listening', errorMonitor, 'close'] as const;

// Taken before they are replaced, here and by fake timers.
const { setTimeout, clearTimeout, setImmediate } = globalThis;

/** Where and when something was opened. */
interface Origin {
  readonly noted: NotedStack;
  /** Number of the test that was running, 0 between tests and in `beforeAll`. */
  readonly test: number;
  /** What to call it. */
  readonly name: string;
}

/** Something that was left open. */
interface Leak {
  readonly name: string;
  readonly noted: NotedStack;
  /** What to listen to for its end; a timer has none. */
  readonly emitter?: NodeJS.EventEmitter;
  close(): void;
}

/** One kind of thing that can be left open. */
class Registry<T extends object> {
  readonly #isOpen: (thing: T) => boolean;
  readonly #opened = new Map<T, Origin>();
  #sweepAt = SWEEP_FROM;

  constructor(isOpen: (thing: T) => boolean) {
    this.#isOpen = isOpen;
  }

  add(thing: T, origin: Origin): void {
    this.#opened.set(thing, origin);
    if (this.#opened.size < this.#sweepAt) return;
    this.open();
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#opened.size);
  }

  forget(thing: T): void {
    this.#opened.delete(thing);
  }

  /** What is still open; the rest is forgotten. */
  open(): ReadonlyMap<T, Origin> {
    for (const thing of this.#opened.keys()) {
      if (!this.#isOpen(thing)) this.#opened.delete(thing);
    }
    return this.#opened;
  }
}

type Timer = { _destroyed?: boolean };

/** What all copies of this module share: shared workers may load it once for every lesson. */
interface State {
  /** Number of the test that is running, 0 between tests. */
  test: number;
  tests: number;
  readonly servers: Registry<net.Server>;
  readonly sockets: Registry<net.Socket>;
  readonly accepted: Registry<net.Socket>;
  readonly datagrams: Registry<dgram.Socket>;
  readonly children: Registry<ChildProcess>;
  readonly timers: Registry<Timer>;
  /** Waits of `node:timers/promises`; aborting ends one without anybody hearing of it. */
  readonly waits: Registry<AbortController>;
  /** Where servers were opened, those that are closed included. */
  readonly origins: WeakMap<net.Server, Origin>;
  /** Servers that will listen in a moment. */
  readonly starting: WeakSet<net.Server>;
}

const KEY = Symbol.for('traffic-layer.leak-guard');
const shared = globalThis as { [KEY]?: State };

function newState(): State {
  const starting = new WeakSet<net.Server>();
  return {
    test: 0,
    tests: 0,
    starting,
    origins: new WeakMap(),
    servers: new Registry((server) => server.listening || starting.has(server)),
    sockets: new Registry((socket) => !socket.destroyed),
    accepted: new Registry((socket) => !socket.destroyed),
    datagrams: new Registry(() => true),
    children: new Registry(({ pid, exitCode, signalCode }) => {
      return pid !== undefined && exitCode === null && signalCode === null;
    }),
    timers: new Registry((timer) => timer._destroyed === false),
    waits: new Registry(({ signal }) => !signal.aborted),
  };
}

shared[KEY] ??= install(newState());
const state = shared[KEY];

/**
 * Fails every test that leaves a server, a connection, a timer or a child process open, and closes
 * what was left, so that the next test starts clean. What is opened outside of tests has until the
 * end of the file. The setup file calls it once for every test file.
 *
 * A test that has failed is spared the message: what it left open follows from where it stopped.
 *
 * Connections that a pool keeps alive (node:http's agents, fetch, undici) are no leaks while they
 * are idle: they live as long as the server at their other end, and that has to be closed.
 */
export function guardLeaks(): void {
  beforeEach(({ task, onTestFinished }: TestContext) => {
    state.tests += 1;
    state.test = state.tests;
    // Registered first, so it runs last: after the test's own hooks and fixtures.
    onTestFinished(async () => {
      const { test } = state;
      const leaks = await waitForLeaks((origin) => origin.test === test);
      await closeAll(leaks);
      state.test = 0;
      if (leaks.length > 0 && task.result?.state !== 'fail') throw leakError(leaks, 'The test');
    });
  });
  // Vitest runs these hooks in reverse order: this one is the last of its file.
  afterAll(async () => {
    const leaks = await waitForLeaks(() => true);
    await closeAll([...leaks, ...pooledSockets()]);
    if (leaks.length > 0) {
      throw leakError(leaks, 'Outside of its tests (in beforeAll, for example), the file');
    }
  });
}

/** What is still open after a moment of grace. Returns at once when nothing is. */
async function waitForLeaks(counts: (origin: Origin) => boolean): Promise<Leak[]> {
  let leaks = findLeaks(counts);
  for (let turn = 0; leaks.length > 0 && turn < GRACE_TURNS; turn += 1) {
    await nextTurn();
    leaks = findLeaks(counts);
  }
  if (leaks.every(({ emitter }) => !emitter)) return leaks;
  const isChild = leaks.some(({ emitter }) => emitter instanceof ChildProcess);
  await untilClosed(isChild ? CHILD_GRACE_MS : GRACE_MS, () => {
    leaks = findLeaks(counts);
    return leaks;
  });
  return leaks;
}

/** Resolves when nothing that can close is open any more, or when the time is over. */
async function untilClosed(ms: number, find: () => readonly Leak[]): Promise<void> {
  let over = false;
  let wake = () => {};
  const timer = setTimeout(() => {
    over = true;
    wake();
  }, ms);
  const heard = new Set<NodeJS.EventEmitter>();
  const hear = () => wake();
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const emitters = find().flatMap(({ emitter }) => emitter ?? []);
    if (emitters.length === 0 || over) break;
    for (const emitter of emitters) {
      if (heard.has(emitter)) continue;
      heard.add(emitter);
      for (const event of ['close', 'exit', 'free']) emitter.on(event, hear);
    }
    await changed;
    // A socket's end reaches its server, and the server's code, a turn later. And on a busy machine
    // the time may be over before this process had its turn.
    for (let turn = 0; turn < (over ? GRACE_TURNS : 1); turn += 1) await nextTurn();
  }
  clearTimeout(timer);
  for (const emitter of heard) {
    for (const event of ['close', 'exit', 'free']) emitter.off(event, hear);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function findLeaks(counts: (origin: Origin) => boolean): Leak[] {
  const leaks: Leak[] = [];
  for (const [server, origin] of state.servers.open()) {
    if (counts(origin)) leaks.push(serverLeak(server, origin));
  }
  for (const [socket, origin] of state.accepted.open()) {
    const server = serverOf(socket);
    // While a server listens, its connections are its own business.
    if (!counts(origin) || server?.listening) continue;
    const opened = server && state.origins.get(server);
    const name = `connection accepted by the ${opened?.name ?? 'server'}, which is closed;`;
    leaks.push(socketLeak(socket, { ...origin, name, noted: opened?.noted ?? origin.noted }));
  }
  for (const [socket, origin] of state.sockets.open()) {
    if (!counts(origin) || isPooled(socket, origin)) continue;
    const request = requestOn(socket);
    const name = request
      ? `request ${request.method} ${request.path}, still without its whole answer, on a ${origin.name}`
      : origin.name;
    leaks.push(socketLeak(socket, { ...origin, name }));
  }
  for (const [socket, origin] of state.datagrams.open()) {
    if (!counts(origin)) continue;
    leaks.push({ ...origin, emitter: socket, close: () => socket.close() });
  }
  for (const [child, origin] of state.children.open()) {
    if (!counts(origin)) continue;
    leaks.push({ ...origin, emitter: child, close: () => killChild(child) });
  }
  for (const [timer, origin] of state.timers.open()) {
    if (!counts(origin)) continue;
    if (!isOwn(origin)) state.timers.forget(timer);
    else leaks.push({ ...origin, close: () => clearTimer(timer) });
  }
  for (const [controller, origin] of state.waits.open()) {
    if (!counts(origin)) continue;
    if (!isOwn(origin)) state.waits.forget(controller);
    else leaks.push({ ...origin, close: () => controller.abort() });
  }
  return leaks;
}

function serverLeak(server: net.Server, origin: Origin): Leak {
  const address = server.address();
  const where =
    typeof address === 'string'
      ? ` on ${address}`
      : address
        ? ` on ${address.address}:${address.port}`
        : '';
  const connections = [...state.accepted.open().keys()].filter((s) => serverOf(s) === server);
  const count = connections.length;
  const held = count === 0 ? '' : count === 1 ? ' with 1 connection' : ` with ${count} connections`;
  return {
    name: `${origin.name}${where}${held}`,
    noted: origin.noted,
    emitter: server,
    close() {
      server.close();
      for (const socket of connections) cut(socket);
    },
  };
}

function socketLeak(socket: net.Socket, { name, noted }: Origin): Leak {
  return { name, noted, emitter: socket, close: () => cut(socket) };
}

/** Connections that pools keep alive at the end of a file, whose servers are closed by now. */
function pooledSockets(): Leak[] {
  return [...state.sockets.open()].map(([socket, origin]) => socketLeak(socket, origin));
}

/** Closes what was left, and waits until it is closed. */
async function closeAll(leaks: readonly Leak[]): Promise<void> {
  if (leaks.length === 0) return;
  const open = new Set(leaks);
  for (const leak of leaks) {
    const done = () => open.delete(leak);
    if (leak.emitter) leak.emitter.once('close', done).once('exit', done);
    else done();
    leak.close();
  }
  await untilClosed(CHILD_GRACE_MS, () => [...open]);
}

function cut(socket: net.Socket): void {
  // What its owner thinks of it has been said by the failed test.
  socket.on('error', ignore);
  requestOn(socket)?.on('error', ignore);
  socket.destroy();
}

function killChild(child: ChildProcess): void {
  child.on('error', ignore);
  child.kill('SIGKILL');
  for (const stream of child.stdio) stream?.destroy();
}

function clearTimer(timer: Timer): void {
  clearTimeout(timer as NodeJS.Timeout);
  clearImmediate(timer as NodeJS.Immediate);
}

function ignore(): void {}

function leakError(leaks: readonly Leak[], who: string): Error {
  const lines = leaks.map(({ name, noted }) => {
    const site = siteOf(noted);
    return `  - ${name}${site ? ` opened at ${site}` : ''}`;
  });
  const error = new Error(
    `${who} left ${leaks.length === 1 ? 'something' : `${leaks.length} things`} open:\n` +
      `${[...new Set(lines)].join('\n')}\n` +
      'Close what you open: `await using` does it for the servers and clients of the helpers.',
  );
  error.name = 'LeakError';
  // The report shows the line that opened the first of them.
  const frames = leaks[0] ? framesText(leaks[0].noted) : '';
  error.stack = `${error.name}: ${error.message}\n${frames}`;
  return error;
}

// --- what something is

function serverOf(socket: net.Socket): net.Server | undefined {
  return (socket as { server?: net.Server }).server;
}

/** The request of node:http that is under way on the connection. */
function requestOn(socket: net.Socket): ClientRequest | undefined {
  const { _httpMessage } = socket as { _httpMessage?: ClientRequest | null };
  return _httpMessage && 'path' in _httpMessage ? _httpMessage : undefined;
}

/** Held by an agent of node:http and idle, or by a pool of undici, fetch's own included. */
function isPooled(socket: net.Socket, origin: Origin): boolean {
  if (socket.listenerCount('agentRemove') > 0) return !requestOn(socket);
  return framesOf(origin.noted).some(
    ({ file }) => file.includes('/node_modules/undici/') || file.startsWith('node:internal/deps/'),
  );
}

/** Opened by the lesson, an exercise or a helper, and not by Node or a library for itself. */
function isOwn({ noted }: Origin): boolean {
  const [caller] = framesOf(noted);
  return caller !== undefined && !isForeign(caller);
}

// --- where it is noted that something opens

function install(state: State): State {
  const open = (below: (...args: never[]) => unknown, name: string, frames?: number): Origin => ({
    noted: noteStack(below, frames),
    test: state.test,
    name,
  });

  replace(net.Server.prototype, 'listen', (listen) => {
    return function listenGuarded(this: unknown, ...args) {
      const server = this as net.Server;
      const origin = open(listenGuarded, `${kindOf(server)} server`);
      state.origins.set(server, origin);
      state.servers.add(server, origin);
      state.starting.add(server);
      const emitter: NodeJS.EventEmitter = server;
      const started = () => {
        state.starting.delete(server);
        for (const event of STARTED) emitter.off(event, started);
      };
      const result = listen.apply(this, args);
      for (const event of STARTED) emitter.on(event, started);
      return result;
    };
  });

  replace(net.Socket.prototype, 'connect', (connect) => {
    return function connectGuarded(this: unknown, ...args) {
      const { host, port, path } = connectOptions(args);
      const target = path ? String(path) : `${host || 'localhost'}:${port}`;
      state.sockets.add(this as net.Socket, open(connectGuarded, `connection to ${target}`));
      return connect.apply(this, args);
    };
  });

  diagnostics.subscribe('net.server.socket', (message: unknown) => {
    const { socket } = message as { socket: net.Socket };
    state.accepted.add(socket, { noted: { stack: '' }, test: state.test, name: 'connection' });
  });

  replace(dgram.Socket.prototype, 'bind', (bind) => {
    return function bindGuarded(this: unknown, ...args) {
      state.datagrams.add(this as dgram.Socket, open(bindGuarded, 'UDP socket'));
      return bind.apply(this, args);
    };
  });
  replace(dgram.Socket.prototype, 'close', (close) => {
    return function closeGuarded(this: unknown, ...args) {
      state.datagrams.forget(this as dgram.Socket);
      return close.apply(this, args);
    };
  });

  replace(ChildProcess.prototype, 'spawn', (spawn) => {
    return function spawnGuarded(this: unknown, ...args) {
      const result = spawn.apply(this, args);
      const child = this as ChildProcess;
      const name = `child process ${child.spawnargs?.join(' ')} (pid ${child.pid})`;
      state.children.add(child, open(spawnGuarded, name));
      return result;
    };
  });

  // Timers come in thousands, and their owner is the one who calls: few frames do.
  const FEW = 12;
  for (const [name, what] of [
    ['setTimeout', 'timeout'],
    ['setInterval', 'interval'],
    ['setImmediate', 'immediate'],
  ] as const) {
    replace(timers, name, (set) => {
      return function setGuarded(this: unknown, ...args) {
        const timer = set.apply(this, args) as Timer;
        const wait = name === 'setImmediate' ? '' : ` of ${args[1] ?? 1} ms`;
        state.timers.add(timer, open(setGuarded, `${what}${wait}`, FEW));
        return timer;
      };
    });
    globalThis[name] = timers[name] as never;
  }
  guardWaits(state, (below, name) => open(below, name, FEW));

  // `import { setTimeout } from 'node:timers/promises'` gets the replaced function too.
  syncBuiltinESMExports();
  return state;
}

/** `await setTimeout(ms)` holds the process like a timer, but there is no timer to look at. */
function guardWaits(
  state: State,
  open: (below: (...args: never[]) => unknown, name: string) => Origin,
): void {
  const track = (
    below: (...args: never[]) => unknown,
    name: string,
    options: { signal?: AbortSignal } = {},
  ) => {
    const controller = new AbortController();
    state.waits.add(controller, open(below, name));
    const signals = [controller.signal, ...(options?.signal ? [options.signal] : [])];
    return { controller, options: { ...options, signal: AbortSignal.any(signals) } };
  };
  for (const [name, at] of [
    ['setTimeout', 2],
    ['setImmediate', 1],
  ] as const) {
    replace(timersPromises, name, (set) => {
      return function waitGuarded(this: unknown, ...args) {
        const given = args[at];
        // What isn't in order, Node refuses by itself.
        if (!isInOrder(given)) return set.apply(this, args);
        const wait = name === 'setTimeout' ? ` of ${args[0] ?? 1} ms` : '';
        const { controller, options } = track(waitGuarded, `awaited ${name}${wait}`, given);
        args.length = at;
        const waited = set.call(this, ...args, options) as Promise<unknown>;
        return new Promise((resolve, reject) => {
          const ended = (settle: (result: never) => void) => (result: unknown) => {
            // Closed by the guard: nobody should hear of it, and run into the next test.
            if (controller.signal.aborted) return;
            state.waits.forget(controller);
            settle(result as never);
          };
          waited.then(ended(resolve), ended(reject));
        });
      };
    });
  }
  replace(timersPromises, 'setInterval', (set) => {
    return function intervalGuarded(this: unknown, ...args) {
      const [ms, value, given] = args;
      if (!isInOrder(given)) return set.apply(this, args);
      return (async function* ticks() {
        // From the first tick on: before that, nothing runs.
        const name = `awaited setInterval of ${ms ?? 1} ms`;
        const { controller, options } = track(ticks, name, given);
        try {
          yield* set.call(undefined, ms, value, options) as AsyncGenerator<unknown>;
        } finally {
          if (controller.signal.aborted) await new Promise(() => {});
          state.waits.forget(controller);
        }
      })();
    };
  });
}

function isInOrder(options: unknown): options is { signal?: AbortSignal } | undefined {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null) return false;
  const { signal } = options as { signal?: unknown };
  return signal === undefined || (signal instanceof AbortSignal && !signal.aborted);
}

function kindOf(server: net.Server): string {
  const isHttp = 'requestTimeout' in server;
  const isTls = 'setSecureContext' in server;
  return isHttp ? (isTls ? 'HTTPS' : 'HTTP') : isTls ? 'TLS' : 'TCP';
}
