// Seals a process before a submission's first line runs in it. Everything is done with the realm's own
// functions while they are still the real ones; see docs/grading.md for what it can't promise.

import http from 'node:http';
import https from 'node:https';
import { createRequire, isBuiltin } from 'node:module';
import net from 'node:net';
import * as builtinProcess from 'node:process';
import { types } from 'node:util';
import { chai, expect, vi } from 'vitest';
import { BUILTINS, isExercise, PACKAGES, refusalOf } from './allowed-imports.ts';

const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
// Object's own, which throws: a seal that could not be made is no seal.
const { defineProperty, freeze, hasOwn, preventExtensions, getOwnPropertyNames, isFrozen } = Object;
const { isProxy, isPromise, isMap, isSet } = types;
const NativePromise = Promise;
const promiseThen = Promise.prototype.then;
const { toStringTag } = Symbol;

// biome-ignore lint/suspicious/noExplicitAny: any method, of whatever
type Func = (this: any, ...args: never[]) => unknown;
type Key = string | symbol;

// --- 1. What everybody shares: intrinsics, and the classes of Node and of npm

/**
 * Prototypes whose methods are called millions of times. They are made fixed, so that V8 keeps its
 * short ways; the others let an instance have a method of its own, as much code on npm wants it.
 */
const HOT: readonly object[] = [
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  BigInt.prototype,
  Symbol.prototype,
  Map.prototype,
  Set.prototype,
  WeakMap.prototype,
  WeakSet.prototype,
  Promise.prototype,
  RegExp.prototype,
  Date.prototype,
  ArrayBuffer.prototype,
  getPrototypeOf(Uint8Array.prototype) as object,
];
/** On a hot prototype, what an instance may have of its own all the same. */
const OWN_ALLOWED: ReadonlySet<Key> = new Set(['toString', 'toLocaleString', 'toJSON', 'valueOf']);
/** On Function.prototype, what is called so often that it is fixed. */
const FIXED_OF_FUNCTIONS: ReadonlySet<Key> = new Set(['apply', 'call']);

const locked = new WeakSet<object>();
/** What exercises export. It is theirs, also where a given module passes it on. */
const ofExercises = new WeakSet<object>();

/** Nock puts something else there while it intercepts. Only in lessons that use it these stay open. */
const OF_NOCK: ReadonlySet<Key> = new Set(['append', 'delete', 'set']);
let leavesHeaders = false;

/**
 * Makes an object and all functions, prototypes and plain objects that it leads to unchangeable.
 * Instances of classes are left alone: they have state.
 */
function lock(start: unknown, name: string): void {
  const queue: [unknown, string, boolean][] = [[start, name, true]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [value, path, isRoot] = next;
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) continue;
    if (locked.has(value) || ofExercises.has(value) || isProxy(value)) continue;
    if (types.isModuleNamespaceObject(value)) continue;
    if (!isRoot && typeof value === 'object' && !isPlain(value) && !isPrototype(value)) {
      // An instance has state. What it can do is locked.
      queue.push([getPrototypeOf(value), `prototype of ${path}`, true]);
      continue;
    }
    locked.add(value);
    const parent = getPrototypeOf(value);
    if (parent && isPrototype(parent)) queue.push([parent, `prototype of ${path}`, true]);
    for (const key of ownKeys(value)) {
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (!descriptor) continue;
      const inner = `${path}.${String(key)}`;
      if ('value' in descriptor) {
        // A class's prototype is locked even where it looks like an instance.
        queue.push([descriptor.value, inner, key === 'prototype']);
      }
      queue.push([descriptor.get, inner, true], [descriptor.set, inner, true]);
      fix(value, key, descriptor, path);
    }
    if (!staysOpen(value)) preventExtensions(value);
  }
}

/** What Object.prototype may get while tests run: a spec tries what an inherited property does. */
let inheritable: ReadonlySet<Key> = new Set();
let ownOfObjects: ReadonlySet<Key> = new Set();

/** The first assertion that failed since the last call while an exercise was on the stack. */
export function takeHidden(): unknown {
  const hidden = failedInside;
  failedInside = undefined;
  return hidden;
}

/**
 * Looks after what could not be made unchangeable.
 *
 * @throws {Error} which says what was changed
 */
export function checkChanges(): void {
  if (inheritable.size === 0) return;
  for (const key of ownKeys(Object.prototype)) {
    if (ownOfObjects.has(key) || inheritable.has(key)) continue;
    throw new Error(`Object.prototype was changed: it has ${String(key)} now`);
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function');
}

function isNocks(value: object): boolean {
  return leavesHeaders && (value === Headers || value === Headers.prototype);
}

function staysOpen(value: object): boolean {
  if (value === Object.prototype && inheritable.size > 0) return true;
  return ArrayBuffer.isView(value) || isNocks(value);
}

function isPlain(value: object): boolean {
  const parent = getPrototypeOf(value);
  return parent === null || parent === Object.prototype || Array.isArray(value);
}

function isPrototype(value: object): boolean {
  const owner = getOwnPropertyDescriptor(value, 'constructor')?.value as unknown;
  if (typeof owner !== 'function') return isPlain(value);
  return getOwnPropertyDescriptor(owner, 'prototype')?.value === value || isPlain(value);
}

function fix(target: object, key: Key, descriptor: PropertyDescriptor, path: string): void {
  if (target === Error && (key === 'stackTraceLimit' || key === 'prepareStackTrace')) return;
  if (isNocks(target) && OF_NOCK.has(key)) return;
  // Dns-packet counts bytes in properties of its functions.
  if (typeof target === 'function' && descriptor.writable && isPrimitive(descriptor.value)) return;
  if (!descriptor.configurable) {
    // Node keeps some state of its instances there, under symbols of its own.
    if (typeof descriptor.value === 'function') defineProperty(target, key, { writable: false });
    return;
  }
  if (!('value' in descriptor)) {
    defineProperty(target, key, { configurable: false });
  } else if (isOverridable(target, key)) {
    defineProperty(target, key, overridable(target, key, descriptor, path));
  } else {
    defineProperty(target, key, { writable: false, configurable: false });
  }
}

function isOverridable(target: object, key: Key): boolean {
  if (typeof target === 'function' && target !== Function.prototype) return false;
  if (HOT.includes(target)) return OWN_ALLOWED.has(key);
  if (target === Function.prototype) return !FIXED_OF_FUNCTIONS.has(key);
  return hasOwn(target, 'constructor');
}

/** A function that has no prototype, frozen. */
function setter({ set }: { set: (this: unknown, own: unknown) => void }) {
  return freeze(set);
}

/** A property that can't be changed, but that an instance can have one of its own in front of. */
function overridable(
  target: object,
  key: Key,
  { value, enumerable }: PropertyDescriptor,
  path: string,
): PropertyDescriptor {
  return {
    enumerable: Boolean(enumerable),
    configurable: false,
    get: freeze(() => value as unknown),
    set: setter({
      set(this: unknown, own: unknown) {
        if (this === target || this === null || typeof this !== 'object') {
          if (typeof this !== 'function' || this === target) {
            throw new TypeError(`The grader does not let ${String(key)} of ${path} be replaced`);
          }
        }
        const options = { value: own, writable: true, enumerable: true, configurable: true };
        defineProperty(this as object, key, options);
      },
    }),
  };
}

/** Global names that Vitest, nock and the course's guards put something else in, now and then. */
const CHANGING: ReadonlySet<string> = new Set([
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'FormData',
  'global',
  'globalThis',
  'Headers',
  'process',
  'queueMicrotask',
  'Request',
  'Response',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

/** Names that belong to Vitest and to the helpers. */
const isInternal = (name: string): boolean => /^__|^VITEST/.test(name);

function lockGlobals(): void {
  for (const name of getOwnPropertyNames(globalThis)) {
    if (isInternal(name) || /^(?:global|globalThis|process|console)$/.test(name)) continue;
    // Experimental ones warn when they are looked at, and need a file.
    if (/^(?:local|session)Storage$/.test(name)) continue;
    const value = (globalThis as Record<string, unknown>)[name];
    lock(value, name);
    const descriptor = getOwnPropertyDescriptor(globalThis, name);
    if (!descriptor?.configurable || CHANGING.has(name)) continue;
    defineProperty(globalThis, name, {
      value,
      writable: false,
      enumerable: Boolean(descriptor.enumerable),
      configurable: false,
    });
  }
  for (const [name, value] of hiddenIntrinsics()) lock(value, name);
  lock(Buffer[Symbol.species as never], 'Buffer');
  lock(Error.prepareStackTrace, 'Error.prepareStackTrace');
}

function hiddenIntrinsics(): [string, unknown][] {
  const timeout = setTimeout(() => {}, 0);
  const immediate = setImmediate(() => {});
  clearTimeout(timeout);
  clearImmediate(immediate);
  const text = 'a'[Symbol.iterator]();
  const of = (value: unknown) => getPrototypeOf(value as object);
  return [
    ['Timeout.prototype', of(timeout)],
    ['Immediate.prototype', of(immediate)],
    ['GeneratorFunction.prototype', of(function* () {})],
    ['AsyncGeneratorFunction.prototype', of(async function* () {})],
    ['AsyncFunction.prototype', of(async () => {})],
    ['Generator.prototype', of((function* () {})())],
    ['AsyncGenerator.prototype', of((async function* () {})())],
    ['ArrayIterator.prototype', of([][Symbol.iterator]())],
    ['StringIterator.prototype', of(text)],
    ['MapIterator.prototype', of(new Map()[Symbol.iterator]())],
    ['SetIterator.prototype', of(new Set()[Symbol.iterator]())],
    ['RegExpStringIterator.prototype', of('a'.matchAll(/a/g))],
    ['Iterator.prototype', of(of(text))],
  ].map(([name, value]) => [name as string, value]);
}

// --- 2. The judges: expect, its matchers, the mocks

/** An assertion that has failed inside of a call that an exercise has made. */
let failedInside: unknown;

/** The assertions that are comparing right now, innermost last. */
const comparing: object[] = [];

/** Functions `asymmetricMatch` of Vitest's own matchers, such as those of `expect.any`. */
const genuine = new WeakSet<object>();

/** Assertions that go into what they compare. */
const DEEP =
  /equal|match|contain|property|calledwith|returnedwith|oneof|throw|satisfy|include|eql/i;

function sealMatchers(): void {
  for (const source of [expect, expect.not] as unknown as Record<string, Func>[]) {
    for (const [name, argument] of [
      ['any', Object],
      ['anything', undefined],
      ['arrayContaining', []],
      ['closeTo', 1],
      ['objectContaining', {}],
      ['schemaMatching', { '~standard': {} }],
      ['stringContaining', ''],
      ['stringMatching', ''],
    ] as const) {
      let matcher: unknown;
      try {
        matcher = source[name]?.call(source, argument as never);
      } catch {}
      const own = (matcher as { asymmetricMatch?: unknown } | undefined)?.asymmetricMatch;
      if (typeof own === 'function') genuine.add(own);
    }
  }

  const flag = chai.util.flag as (assertion: object, name: string, value?: unknown) => unknown;
  // `equals` asks whether `asymmetricMatch` is a function through this method, and through it alone:
  // of any but Vitest's own, it hears during a comparison that it isn't one.
  const objectToString = Object.prototype.toString;
  const guarded = {
    toString(this: unknown) {
      const assertion = typeof this === 'function' ? comparing.at(-1) : undefined;
      if (assertion && !genuine.has(this as object) && flag(assertion, 'object') !== this) {
        return '[object Object]';
      }
      return apply(objectToString, this, []);
    },
  };
  defineProperty(Object.prototype, 'toString', { value: guarded.toString });

  const { Assertion } = chai;
  const { prototype } = Assertion as unknown as { prototype: object };
  for (const key of ownKeys(prototype)) {
    const descriptor = getOwnPropertyDescriptor(prototype, key);
    if (!descriptor?.configurable || key === 'constructor' || key === 'assert') continue;
    const name = String(key);
    if (typeof descriptor.value === 'function') {
      const method = descriptor.value as Func;
      defineProperty(prototype, key, {
        value: named(name, function (this: object, ...args: never[]) {
          checkChanges();
          if (name !== 'withTest') judge(name, flag(this, 'object'), args);
          comparing.push(this);
          try {
            return apply(method, this, args);
          } catch (error) {
            // What the exercise calls back may assert something, and the exercise may hide it.
            if (filesOfStack().some((file) => isExercise(file))) failedInside ??= error;
            throw error;
          } finally {
            comparing.pop();
          }
        }),
      });
    } else if (name === 'resolves' || name === 'rejects') {
      const { get } = descriptor as { get: Func };
      defineProperty(prototype, key, {
        get: named(name, function (this: object) {
          const awaited = flag(this, 'object');
          if (typeof awaited !== 'function' || name === 'resolves')
            flag(this, 'object', native(awaited));
          return apply(get, this, []);
        }),
      });
    }
  }
  lock(prototype, 'the prototype of assertions');
  for (const key of ownKeys(expect)) {
    // Chai writes its flags there whenever somebody asks for an asymmetric matcher.
    if (key === '__flags') continue;
    const descriptor = getOwnPropertyDescriptor(expect, key);
    if (descriptor) fix(expect, key, descriptor, 'expect');
  }
  preventExtensions(expect);
  const state = globalThis as Record<symbol, { customEqualityTesters?: object } | undefined>;
  const testers = state[Symbol.for('$$jest-matchers-object')]?.customEqualityTesters;
  if (testers) freeze(testers);
}

function named<F extends Func>(name: string, value: F): F {
  defineProperty(value, 'name', { value: name });
  return value;
}

/**
 * A promise whose `then` is the real one: another could say that everything is well and never call
 * what compares.
 */
function native(value: unknown): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
  if (!isPromise(value) && typeof (value as { then?: unknown }).then !== 'function') return value;
  return new NativePromise((resolve, reject) => {
    if (isPromise(value)) apply(promiseThen, value, [resolve, reject]);
    else resolve(value);
  });
}

/** Objects that are looked at before a comparison. Larger ones nobody compares. */
const MOST_OBJECTS = 200_000;

/** Refuses values that would have a say in their own comparison. */
function judge(matcher: string, actual: unknown, args: readonly unknown[]): void {
  if (/^toMatch$|^match(?:es)?$|^string$/.test(matcher) && typeof actual !== 'string') {
    throw new TypeError(`${matcher} compares a text, and the value is ${typeof actual}`);
  }
  if (!DEEP.test(matcher)) return;
  let rest = MOST_OBJECTS;
  const seen = new Set<object>();
  // Where sets and maps are compared, what is compared with them may have no getters either.
  const isStrict = args.some((arg) => holdsCollection(arg));
  const queue: unknown[] = [actual];
  while (queue.length > 0) {
    const value = queue.pop();
    if (value === null || typeof value !== 'object' || seen.has(value)) continue;
    seen.add(value);
    rest -= 1;
    if (rest < 0) return;
    const problem = problemOf(value);
    if (problem) throw new TypeError(`A value that a test compares ${problem}`);
    if (ArrayBuffer.isView(value)) continue;
    if (isMap(value)) for (const pair of mapEntries(value)) queue.push(...pair);
    else if (isSet(value)) for (const member of setValues(value)) queue.push(member);
    for (const key of ownKeys(value)) {
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (descriptor && 'value' in descriptor) queue.push(descriptor.value);
      else if (isStrict && descriptor?.enumerable) {
        throw new TypeError(`A value that a test compares has a getter, "${String(key)}"`);
      }
    }
  }
}

const mapEach = Map.prototype.forEach;
const setEach = Set.prototype.forEach;
function mapEntries(map: unknown): [unknown, unknown][] {
  const pairs: [unknown, unknown][] = [];
  apply(mapEach, map, [(value: unknown, key: unknown) => pairs.push([key, value])]);
  return pairs;
}
function setValues(set: unknown): unknown[] {
  const values: unknown[] = [];
  apply(setEach, set, [(value: unknown) => values.push(value)]);
  return values;
}

function holdsCollection(start: unknown): boolean {
  const seen = new Set<object>();
  const queue: unknown[] = [start];
  while (queue.length > 0) {
    const value = queue.pop();
    if (value === null || typeof value !== 'object' || seen.has(value)) continue;
    if (isMap(value) || isSet(value)) return true;
    seen.add(value);
    if (seen.size > 10_000 || ArrayBuffer.isView(value)) continue;
    for (const key of ownKeys(value)) {
      queue.push(getOwnPropertyDescriptor(value, key)?.value as unknown);
    }
  }
  return false;
}

/** What is wrong with a value, as the rest of a sentence. */
function problemOf(value: object): string | undefined {
  if (isProxy(value)) return 'is a Proxy';
  for (let owner: object | null = value; owner && !isProxy(owner); owner = getPrototypeOf(owner)) {
    if (hasOwn(owner, 'asymmetricMatch')) {
      if (owner !== value && isVitests(owner)) return;
      if (owner === value || !isVitests(owner)) return 'has a method "asymmetricMatch"';
    }
    if (locked.has(owner)) continue;
    if (owner === value && (isMap(value) || isSet(value)) && ownKeys(value).length === 0) continue;
    if (hasOwn(owner, toStringTag) && !types.isModuleNamespaceObject(owner)) {
      return 'says through Symbol.toStringTag that it is something else';
    }
    if (owner === value && hasOwn(owner, 'constructor') && !isPrototype(owner)) {
      return 'has a constructor of its own';
    }
    for (const name of ['@@__IMMUTABLE_SET__@@', '@@__IMMUTABLE_KEYED__@@', 'isEqualNode']) {
      if (hasOwn(owner, name)) return `has "${name}"`;
    }
    if (isMap(value) || isSet(value)) return 'is a collection with methods of its own';
  }
  return undefined;
}

function isVitests(owner: object): boolean {
  const match = getOwnPropertyDescriptor(owner, 'asymmetricMatch')?.value as object | undefined;
  return match !== undefined && genuine.has(match);
}

/** Lets only specs and Vitest look into a mock or reset it: exercises get mocks as arguments. */
function sealMocks(): void {
  const { fn } = vi;
  const check = (key: Key) => {
    if (!/^(?:mock|get|with)/.test(String(key)) || !isCalledByExercise()) return;
    throw new TypeError(`An exercise may call a spy, not use its ${String(key)}`);
  };
  const guarded = (...args: never[]) =>
    new Proxy(apply(fn, vi, args) as object, {
      get(mock, key) {
        check(key);
        return (mock as Record<Key, unknown>)[key];
      },
      getOwnPropertyDescriptor(mock, key) {
        check(key);
        return getOwnPropertyDescriptor(mock, key);
      },
      defineProperty(mock, key, descriptor) {
        check('mock');
        return Reflect.defineProperty(mock, key, descriptor);
      },
    });
  defineProperty(vi, 'fn', { value: guarded });
}

const { captureStackTrace } = Error;
let isRaw = false;
/** Files on the stack, innermost first. */
function filesOfStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  isRaw = true;
  const noted = {} as { stack: string[] };
  captureStackTrace(noted);
  const { stack } = noted;
  isRaw = false;
  Error.stackTraceLimit = limit;
  return stack;
}

/** Whether the innermost file on the stack that isn't Node's or this one is an exercise, or none is. */
function isCalledByExercise(): boolean {
  const files = filesOfStack().filter(
    (file) => file && !file.startsWith('node:') && !file.endsWith('/helpers/grader/seal.ts'),
  );
  return files.length === 0 || isExercise(files[0]);
}

/** Stacks are Vitest's business: who writes them himself sees the functions that are on them. */
function sealStacks(): void {
  const { prepareStackTrace } = Error;
  const raw = (_error: unknown, sites: NodeJS.CallSite[]) =>
    sites.map((site) => site.getFileName() ?? '');
  defineProperty(Error, 'prepareStackTrace', {
    get: () => (isRaw ? raw : prepareStackTrace),
    set: () => {},
    enumerable: false,
    configurable: false,
  });
}

// --- 3. The process

/** What would reach the grader, end the process or get at what is forbidden to import. */
const DENIED = [
  'abort',
  'binding',
  'chdir',
  'disconnect',
  'dlopen',
  'execve',
  'exit',
  'getBuiltinModule',
  'kill',
  'reallyExit',
  'send',
  'setUncaughtExceptionCaptureCallback',
] as const;

/** The process as an exercise sees it. */
function safeProcess(): object {
  const facade: Record<string, unknown> = {};
  for (const name of ['arch', 'argv0', 'pid', 'platform', 'release', 'title', 'version'] as const) {
    facade[name] = process[name];
  }
  facade.versions = freeze({ ...process.versions });
  facade.argv = [process.execPath, 'exercise.ts'];
  facade.execArgv = [];
  facade.execPath = process.execPath;
  facade.env = { NODE_ENV: 'test' };
  for (const name of ['cwd', 'cpuUsage', 'emitWarning', 'memoryUsage', 'nextTick', 'uptime']) {
    facade[name] = bound(process, name);
  }
  facade.hrtime = Object.assign(bound(process, 'hrtime'), {
    bigint: bound(process.hrtime, 'bigint'),
  });
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    facade[name] = freeze({
      isTTY: false,
      write: (text: unknown) => stream.write(String(text)),
    });
  }
  for (const name of ['on', 'once', 'off', 'addListener', 'removeListener', 'emit']) {
    facade[name] = () => facade;
  }
  for (const name of DENIED) {
    facade[name] = () => {
      throw new Error(`process.${name} is not there for an exercise: return or throw instead`);
    };
  }
  return freeze(facade);
}

function bound(owner: object, name: string): Func {
  const method = (owner as Record<string, Func>)[name] as Func;
  return (...args) => apply(method, owner, args);
}

/** The console as an exercise sees it: the real one's methods, also those that a spec has replaced. */
function safeConsole(): object {
  const real = console as unknown as Record<string, Func>;
  const names = Object.keys(real).filter((name) => typeof real[name] === 'function');
  return freeze(
    Object.fromEntries(
      names.map((name) => [name, (...args: never[]) => apply(real[name] as Func, console, args)]),
    ),
  );
}

/** Takes away from the real process what must not be reached through it either. */
function sealProcess(): void {
  // Vitest and the runner have taken theirs.
  delete (process as { send?: unknown }).send;
  for (const name of [
    '_debugEnd',
    '_debugProcess',
    '_getActiveHandles',
    '_getActiveRequests',
    '_kill',
    '_linkedBinding',
    'binding',
    'dlopen',
    'getBuiltinModule',
    'mainModule',
    'report',
  ]) {
    if (!getOwnPropertyDescriptor(process, name)?.configurable) continue;
    defineProperty(process, name, { value: undefined, configurable: false });
  }
}

/** The agents of requests that name none are shared, and can't be frozen: they count connections. */
function sealAgents(): void {
  for (const agent of [http.globalAgent, https.globalAgent]) {
    for (let owner: object | null = agent; owner; owner = getPrototypeOf(owner)) {
      for (const key of ownKeys(owner)) {
        if (hasOwn(agent, key) || owner === Object.prototype) continue;
        const { value } = getOwnPropertyDescriptor(owner, key) ?? {};
        if (typeof value === 'function') defineProperty(agent, key, { value });
      }
    }
    const { options, _events } = agent as unknown as { options: object; _events: object };
    freeze(options);
    freeze(_events);
    for (const key of ['options', 'protocol', 'defaultPort']) {
      defineProperty(agent, key, { writable: false, configurable: false });
    }
  }
  for (const module of [http, https]) {
    const { globalAgent } = module;
    defineProperty(module, 'globalAgent', { value: globalAgent, writable: false });
  }
}

/** A socket on a number would be one on the grader's own pipes. */
function sealSockets(): void {
  const { Socket } = net;
  const Guarded: typeof Socket = new Proxy(Socket, {
    construct: (target, args, newTarget): object => {
      const { fd, handle } = (args[0] ?? {}) as { fd?: unknown; handle?: unknown };
      if (fd !== undefined || (handle && isCalledByExercise())) {
        throw new TypeError('A socket on a file descriptor is not there for an exercise');
      }
      return Reflect.construct(target, args, newTarget === Guarded ? target : newTarget) as object;
    },
    apply: () => {
      throw new TypeError('net.Socket needs new');
    },
  });
  defineProperty(Socket.prototype, 'constructor', { value: Guarded });
  const guardPath = (owner: object, name: string) => {
    const method = (owner as Record<string, Func>)[name] as Func;
    defineProperty(owner, name, {
      value: named(name, function (this: unknown, ...args: never[]) {
        const [argument] = args as unknown[];
        const first = (Array.isArray(argument) ? argument[0] : argument) as { path?: unknown };
        const isPath = typeof first === 'string' && Number.isNaN(Number(first));
        if (isPath || (typeof first === 'object' && first && (first.path || 'fd' in first))) {
          if (isCalledByExercise()) throw new TypeError('An exercise uses ports, not paths');
        }
        return apply(method, this, args);
      }),
    });
  };
  guardPath(net.Server.prototype, 'listen');
  guardPath(Socket.prototype, 'connect');
  sealedSocket = Guarded;
}
let sealedSocket: unknown;

// --- 4. What an exercise sees

/** Names that exports of a module don't get through to an exercise. */
const HIDDEN: Readonly<Record<string, RegExp>> = {
  crypto: /^setEngine$|^setFips$/,
  http2: /^performServerHandshake$/,
  undici:
    /^(?:MockAgent|MockClient|MockPool|MockCallHistory|MockCallHistoryLog|mockErrors|SnapshotAgent|setGlobalDispatcher|setGlobalOrigin|install|cacheStores)$/,
};

const views = new WeakMap<object, object>();

/** A module as an exercise sees it: its exports, live, in an object that nobody else has. */
function viewOf(module: object, name: string): object {
  const known = views.get(module);
  if (known) return known;
  const view: Record<string, unknown> = {};
  views.set(module, view);
  for (const key of ownKeys(module)) {
    if (typeof key === 'symbol' || HIDDEN[name]?.test(key)) continue;
    defineProperty(view, key, {
      enumerable: true,
      get: freeze(() => shown((module as Record<string, unknown>)[key], name)),
    });
  }
  return freeze(view);
}

function shown(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return freeze([...(value as unknown[])]);
  if (value === net.Socket) return sealedSocket;
  // The exports as a whole, such as the default one. Some modules export a function with properties.
  if (value && typeof value === 'object' && !locked.has(value) && isPlain(value)) {
    return viewOf(value, name);
  }
  return value;
}

/** Locks what the exports of a module of Node or npm lead to; the exports themselves have views. */
function lockExports(module: object, name: string): void {
  for (const exports of [module, (module as { default?: object }).default]) {
    if (!exports || (typeof exports !== 'object' && typeof exports !== 'function')) continue;
    if (typeof exports === 'function') lock(exports, name);
    for (const key of ownKeys(exports)) {
      if (key === 'fips') continue; // warns when it is looked at
      const value = (exports as Record<Key, unknown>)[key];
      if (key === 'default' || value === process || value === globalThis) continue;
      if (typeof value === 'function') lock(value, `${name}.${String(key)}`);
      else if (value && typeof value === 'object' && !isPlain(value)) {
        lock(getPrototypeOf(value), `prototype of ${name}.${String(key)}`);
      } else if (value && typeof value === 'object') {
        for (const inner of ownKeys(value)) {
          const part = getOwnPropertyDescriptor(value, inner)?.value as unknown;
          if (typeof part === 'function') lock(part, `${name}.${String(key)}.${String(inner)}`);
        }
      }
    }
  }
}

// --- 5. Modules

/** The part of Vite's module runner that the seal needs. */
interface Evaluator {
  runInlinedModule(context: Context, code: string, module: { file: string }): Promise<unknown>;
  compiledFunctionArgumentsNames?: string[];
  compiledFunctionArgumentsValues?: unknown[];
  _createCJSGlobals?: () => object;
}
interface Context {
  readonly __vite_ssr_exports__: object;
  readonly __vite_ssr_import_meta__: { url: string; filename: string; dirname: string };
  readonly __vite_ssr_import__: (name: string, ...rest: unknown[]) => Promise<object>;
  readonly __vite_ssr_dynamic_import__: (name: string, ...rest: unknown[]) => Promise<object>;
}

/** Looks after every module that is evaluated from now on. */
function sealModules(evaluator: Evaluator): void {
  const run = evaluator.runInlinedModule;
  const { names, values } = endowments();
  const derived = Object.create(evaluator, {
    compiledFunctionArgumentsNames: { value: names },
    compiledFunctionArgumentsValues: { value: values },
    env: { value: {} },
    _createCJSGlobals: {
      value: () => ({
        require: () => {
          throw new Error('exercise.ts uses require, which is not there: use import');
        },
      }),
    },
  }) as Evaluator;

  evaluator.runInlinedModule = async (context, code, module) => {
    if (!isExercise(module.file)) {
      const result = (await apply(run, evaluator, [context, code, module])) as unknown;
      hardenModule(context.__vite_ssr_exports__, module.file);
      return result;
    }
    const { url, filename, dirname } = context.__vite_ssr_import_meta__;
    const guarded = (load: Context['__vite_ssr_import__']) => {
      return async (name: string, ...rest: unknown[]) => {
        const [kind, id] = checked(String(name));
        const loaded = await load(String(name), ...rest);
        if (kind === 'own') return viewOfGiven(loaded);
        if (PACKAGES.has(id)) lockExports(loaded, id);
        return viewOf(loaded, id);
      };
    };
    const own = {
      ...context,
      __vite_ssr_import_meta__: { url, filename, dirname },
      __vite_ssr_import__: guarded(context.__vite_ssr_import__),
      __vite_ssr_dynamic_import__: guarded(context.__vite_ssr_dynamic_import__),
    };
    // In a function of its own: at the top of a script, `this` is the global object.
    const wrapped = `await (async function () {${code}\n}).call(undefined);`;
    const result = (await apply(run, derived, [own, wrapped, module])) as unknown;
    const { __vite_ssr_exports__: exports } = context;
    for (const key of ownKeys(exports)) {
      const value = (exports as Record<Key, unknown>)[key];
      if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
        ofExercises.add(value);
      }
    }
    freeze(exports);
    return result;
  };
}

/** What Vite has made of an import, checked once more: its text can be made up while it runs. */
function checked(name: string): ['own' | 'foreign', string] {
  const path = name.replaceAll('\\', '/');
  const bare = name.replace(/^node:/, '');
  if (isBuiltin(name)) {
    if (BUILTINS.has(bare)) return ['foreign', bare];
  } else {
    const [, packageName] =
      /^(?!data:)[^?]*\/node_modules\/([^@/?][^/?]*)\/[^?]*$/.exec(path) ?? [];
    // What Oxc makes `await using` of.
    if (path.startsWith('/@id/__x00__@oxc-project+runtime')) return ['own', path];
    if (packageName && PACKAGES.has(packageName)) return ['foreign', packageName];
    if (PACKAGES.has(name)) return ['foreign', name];
    const [, file] = /^[^?:]*\/((?:lessons|helpers|fixtures)\/[\w./-]+\.ts)$/.exec(path) ?? [];
    const specifier = file
      ?.replace(/^lessons\/(\d\d-[\w-]+)\//, '../$1/')
      .replace(/^(helpers|fixtures)\//, '#$1/');
    if (specifier && !specifier.includes('/./') && refusalOf(specifier) === undefined) {
      return ['own', specifier];
    }
    if (refusalOf(name) === undefined) return ['own', name];
  }
  throw new Error(refusalOf(name) ?? `exercise.ts imports "${name}", which it may not`);
}

/** A given module as an exercise sees it. Maps and sets can't be frozen, so it gets copies. */
function viewOfGiven(module: object): object {
  const known = views.get(module);
  if (known) return known;
  const view: Record<string, unknown> = {};
  views.set(module, view);
  for (const key of ownKeys(module)) {
    if (typeof key === 'symbol') continue;
    let copy: unknown;
    defineProperty(view, key, {
      enumerable: true,
      get: freeze(() => {
        const value = (module as Record<string, unknown>)[key];
        if (isMap(value)) copy ??= new Map(mapEntries(value));
        else if (isSet(value)) copy ??= new Set(setValues(value));
        return copy ?? value;
      }),
    });
  }
  return freeze(view);
}

/** Nothing that a module of the course exports can be changed by whoever imports it. */
function hardenModule(exports: object, file: string): void {
  if (isFrozen(exports)) return;
  const name = file.replace(/^.*\/(?=lessons\/|helpers\/|fixtures\/)/, '');
  for (const key of ownKeys(exports)) {
    if (typeof key === 'symbol') continue;
    lockGiven((exports as Record<string, unknown>)[key], `${key} of ${name}`);
  }
  freeze(exports);
}

function lockGiven(value: unknown, name: string): void {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
  if (typeof value === 'object' && !isPlain(value)) {
    if (isMap(value)) for (const [key, inner] of mapEntries(value)) lock([key, inner], name);
    return;
  }
  lock(value, name);
}

/** Arguments of the function that an exercise's module is run in: they hide the global names. */
function endowments(): { names: string[]; values: unknown[] } {
  const scope: Record<string, unknown> = {};
  for (const name of getOwnPropertyNames(globalThis)) {
    if (isInternal(name) && /^[\w$]+$/.test(name)) scope[name] = undefined;
  }
  for (const name of CHANGING) scope[name] = (globalThis as Record<string, unknown>)[name];
  scope.process = safeProcess();
  scope.console = safeConsole();
  // Nock replaces it while a test runs.
  scope.fetch = named('fetch', (...args: never[]) => (globalThis.fetch as Func)(...args));
  const own: Record<Key, unknown> = Object.create(null) as Record<Key, unknown>;
  const facade: object = new Proxy(own, {
    get: (_target, key) => {
      if (hasOwn(own, key)) return own[key];
      if (typeof key === 'symbol' || isInternal(key)) return undefined;
      return hasOwn(scope, key) ? scope[key] : (globalThis as Record<string, unknown>)[key];
    },
    has: (_target, key) => hasOwn(own, key) || (typeof key === 'string' && key in globalThis),
  });
  scope.globalThis = facade;
  scope.global = facade;
  scope.self = facade;
  // `node:process` has it as its default export, and its members as the others.
  views.set(builtinProcess, freeze({ ...(scope.process as object), default: scope.process }));
  return { names: Object.keys(scope), values: Object.values(scope) };
}

// ---

/** What a lesson's own tests change, and what therefore has to stay open in it. */
export interface Openings {
  /** Whether it intercepts calls to the outside with nock. */
  readonly usesNock: boolean;
  /** Names that it gives Object.prototype for the time of a test. */
  readonly inherits: readonly string[];
}

/**
 * Seals the process. To be called once, after the setup files and before the spec is imported.
 *
 * @param evaluator of the module runner that will import the spec
 */
export function seal(evaluator: unknown, { usesNock, inherits }: Openings): void {
  leavesHeaders = usesNock;
  inheritable = new Set(inherits);
  ownOfObjects = new Set(ownKeys(Object.prototype));
  const require = createRequire(import.meta.url);
  sealStacks();
  sealMatchers();
  sealMocks();
  sealProcess();
  sealSockets();
  sealAgents();
  for (const name of BUILTINS) {
    if (name === 'process') continue;
    lockExports(require(`node:${name}`) as object, `node:${name}`);
  }
  sealModules(evaluator as Evaluator);
  lockGlobals();
  // Small buffers share a pool. The next ones get another than what came over the channel did.
  for (let left = 2 * Buffer.poolSize; left > 0; left -= 1_024) Buffer.allocUnsafe(1_024);
}
