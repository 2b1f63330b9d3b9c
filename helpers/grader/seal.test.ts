import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeTestBed, tinyLesson } from '../grading/test-bed.ts';
import { refusalOf } from './allowed-imports.ts';
import { problemOf } from './forbidden-imports.ts';
import { runVitest } from './run.ts';
import { makeKey, opener, signer } from './sealed-messages.ts';
import type { LessonVerdict } from './types.ts';

/** The bodies of an exercise whose every test is passed. */
const HONEST = {
  halve: 'return n / 2;',
  record: 'return { a: 1, b: [2, { c: 3 }] };',
  members: 'return new Set([1, 2, 3]);',
  refuse: "throw new RangeError('n must be positive');",
  text: "return 'abc';",
  call: 'spy(1);',
  doubled: 'return TABLE.map((n) => 2 * n);',
  status: 'return 200;',
};
/** The same with nothing right in it. */
const WRONG: typeof HONEST = {
  halve: 'return 0;',
  record: 'return {};',
  members: 'return new Set();',
  refuse: '',
  text: "return 'x';",
  call: 'spy(1); spy(2);',
  doubled: 'return [];',
  status: 'return 500;',
};

function exercise(bodies: Partial<typeof HONEST>, top = ''): string {
  const { halve, record, members, refuse, text, call, doubled, status } = { ...WRONG, ...bodies };
  return `import { TABLE } from './given.ts';
${top}
export async function halve(n: any): Promise<any> { ${halve} }
export function record(): any { ${record} }
export function members(): any { ${members} }
export function refuse(): any { ${refuse} }
export function text(): any { ${text} }
export function call(spy: any): any { ${call} }
export function doubled(): any { ${doubled} }
export function status(): any { ${status} }
`;
}

function lesson(number: string, text: string): Record<string, string> {
  const folder = `lessons/${number}-bed`;
  return {
    ...tinyLesson(number, 'Bed', text),
    [`${folder}/given.ts`]: `export const TABLE = [1, 2, 3];
export class Model {
  half(n: number): number { return n / 2; }
}
export function isHalf(half: number, of: number): boolean { return 2 * half === of; }
`,
    [`${folder}/bed.spec.ts`]: `import http from 'node:http';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { startHttpServer } from '#helpers/lesson/http-server.ts';
import { call, doubled, halve, members, record, refuse, status, text } from './exercise.ts';
import { isHalf, Model, TABLE } from './given.ts';

const lesson = openLesson(import.meta.url);

describe('Lesson ${number}: bed', () => {
  describe('Exercise ${number}.1: doubling', lesson.exercise('${number}.1'), () => {
    it('number', async () => expect(await halve(4)).toBe(2));
    it('model', async () => expect(await halve(8)).toBe(new Model().half(8)));
    it('predicate', async () => expect(isHalf(await halve(10), 10)).toBe(true));
    it('resolves', async () => { await expect(halve(6)).resolves.toBe(3); });
    it('close', async () => expect(await halve(3)).toBeCloseTo(1.5));
    it('equal', () => expect(record()).toEqual({ a: 1, b: [2, { c: 3 }] }));
    it('strict', () => expect(record()).toStrictEqual({ a: 1, b: [2, { c: 3 }] }));
    it('matches', () => expect(record()).toMatchObject({ b: [2, { c: 3 }] }));
    it('property', () => expect(record()).toHaveProperty('b', [2, { c: 3 }]));
    it('member', () => expect([record()]).toContainEqual({ a: 1, b: [2, { c: 3 }] }));
    it('json', () => expect(JSON.stringify(record())).toBe('{"a":1,"b":[2,{"c":3}]}'));
    it('set', () => expect(members()).toEqual(new Set([1, 2, 3])));
    it('throws', () => expect(() => refuse()).toThrow(new RangeError('n must be positive')));
    it('refuses', () => expectRefusal(() => refuse(), 'n must'));
    it('rejects', async () => {
      await expect((async () => refuse())()).rejects.toThrow(RangeError);
    });
    it('text', () => expect(text()).toMatch(/^abc$/));
    it('contains', () => expect(text()).toContain('abc'));
    it('long', () => expect(text()).toHaveLength(3));
    it('calls', () => {
      const spy = vi.fn();
      call(spy);
      expect(spy).toHaveBeenCalledOnce();
    });
    it('calls back', () => {
      call((argument: unknown) => expect(argument).toBe(1));
    });
    it('calls not', () => {
      const spy = vi.fn();
      call(spy);
      expect(spy).not.toHaveBeenCalledWith(2);
    });
    it('table', () => expect(doubled()).toEqual(TABLE.map((n) => 2 * n)));
    it('sum', () => expect([...doubled(), 0].reduce((a, b) => a + b)).toBe(12));
    it('server', async () => {
      await using server = await startHttpServer((_request, response) => {
        response.writeHead(status()).end();
      });
      using client = openClient(server.port);
      expect((await client.send('/')).status).toBe(200);
    });
    it('fetched', async () => {
      await using server = await startHttpServer((_request, response) => {
        response.writeHead(status(), { connection: 'close' }).end();
      });
      const [response] = await once(http.get({ port: server.port }), 'response');
      response.resume();
      expect(response.statusCode).toBe(200);
    });
  });
});
`,
  };
}

const MATCHES = 'asymmetricMatch: () => true';

/** An attack: the file, and what the run has to say about it where that is certain. */
interface Attack {
  readonly file: string;
  readonly says?: RegExp;
}

const attack = (bodies: Partial<typeof HONEST>, top?: string, says?: RegExp): Attack => ({
  file: exercise(bodies, top),
  ...(says && { says }),
});

/** Swallows what an attempt throws: what counts is that nothing came of it. */
const tries = (...attempts: string[]): string =>
  attempts.map((code) => `try { ${code} } catch {}`).join('\n');

const attacks: Record<string, Attack> = {
  'values that match everything': attack({
    halve: `return { ${MATCHES} };`,
    record: `return { ${MATCHES} };`,
    members: `return { ${MATCHES} };`,
    refuse: `throw { ${MATCHES}, message: 'n must', name: 'RangeError' };`,
    text: `return { ${MATCHES} };`,
    doubled: `return [0, 0, 0].map(() => ({ ${MATCHES} }));`,
  }),
  'errors that match everything': attack({
    refuse: `throw Object.assign(new TypeError('no'), { ${MATCHES} });`,
  }),
  'getters that match everything': attack({
    record: `return { get a() { return { ${MATCHES} }; }, get b() { return { ${MATCHES} }; } };`,
    members: `return new (class { get asymmetricMatch() { return () => true; } })();`,
  }),
  'getters that add a match when they are read': attack({
    record: `const b = {} as any;
      return { b, get a() { b.asymmetricMatch = () => true; return 1; } };`,
  }),
  'a proxy that matches everything': attack({
    record: `return new Proxy({}, {
      has: () => true, get: (_t, key) => key === 'asymmetricMatch' ? () => true : undefined,
    });`,
  }),
  'an inherited match': attack({
    record: `return Object.create({ ${MATCHES} });`,
    doubled: `return [Object.create({ ${MATCHES} })];`,
  }),
  'a set of nothing that says it is a set': attack({
    members: `return { constructor: Set, size: 3, [Symbol.toStringTag]: 'Set',
      *[Symbol.iterator]() {}, has: () => true };`,
  }),
  'a set of a class of its own': attack({
    members: `return Object.assign(new (class extends Set {
      get size() { return 3; } *[Symbol.iterator](): any {} })(), { constructor: Set });`,
  }),
  'a set whose own methods lie': attack({
    members: `return Object.defineProperties(new Set(), {
      size: { value: 3 }, [Symbol.iterator]: { value: function* () {} } });`,
  }),
  'thenables and promises that never call back': attack({
    halve: `return 0;`,
    refuse: `return Object.assign(Promise.resolve(), { then: (ok: any) => Promise.resolve() });`,
  }),
  'a promise whose own then lies': {
    file: exercise({}).replace(
      /export async function halve.*/,
      `export function halve(n: any): any {
        const promise = Promise.resolve(0) as any;
        promise.then = () => Promise.resolve();
        promise.finally = () => Promise.resolve();
        return promise;
      }`,
    ),
  },
  'texts that agree with everything': attack({
    text: `return { match: () => true, includes: () => true, indexOf: () => 0,
      [Symbol.toStringTag]: 'String', toString: () => 'abc' };`,
  }),
  'errors that are instances by a trick': attack({
    refuse: `Object.defineProperty(RangeError, Symbol.hasInstance, { value: () => true });
      throw new Error('n');`,
  }),
  'mocks that are made to forget': attack({
    call: `spy(1); spy(2); spy(3); ${tries(
      'spy.mockClear(); spy(1);',
      'spy.mock.calls.length = 1;',
      "Reflect.get(spy, 'mockReset').call(spy); spy(1);",
      'spy.mockImplementation(() => {}).mockClear(); spy(1);',
      "Object.getOwnPropertyDescriptor(spy, 'mock').get().calls.length = 1;",
    )}
    queueMicrotask(() => { try { spy.mock.calls.length = 1; } catch {} });
    //# sourceURL=/node_modules/vitest/dist/index.js
    `,
  }),
  'an assertion whose failure is swallowed': attack({
    call: 'try { spy(1); spy(2); spy("checked"); } catch {}',
  }),
  'Object.is and the comparison of arrays': attack(
    {},
    tries(
      'Object.is = () => true;',
      'Object.keys = () => [];',
      'Array.isArray = (() => true) as any;',
      'Object.prototype.toString.call = () => "[object X]";',
      'Object.hasOwn = () => true;',
      'Array.prototype.some = () => true;',
    ),
  ),
  'Object.is without catching what it throws': attack(
    {},
    'Object.is = () => true;',
    /Cannot assign to read only property 'is'/,
  ),
  'prototypes of everything': attack(
    {},
    `for (const [owner, ...names] of [
      [Object.prototype, 'toString', 'valueOf', 'hasOwnProperty', 'asymmetricMatch', 'toJSON'],
      [Array.prototype, 'push', 'map', 'filter', 'every', 'some', 'toJSON', Symbol.iterator],
      [Map.prototype, 'get', 'has', 'set'], [Set.prototype, 'has', 'add'],
      [Promise.prototype, 'then', 'catch', 'finally'], [Function.prototype, 'call', 'apply', 'bind'],
      [String.prototype, 'includes', 'match'], [RegExp.prototype, 'test', 'exec', Symbol.match],
      [Error.prototype, 'name', 'message', 'toString'], [Number.prototype, 'toFixed', 'valueOf'],
      [Symbol.prototype, 'toString'], [JSON, 'stringify', 'parse'], [Reflect, 'get', 'apply'],
      [Math, 'abs', 'round'], [Object, 'is', 'entries'], [Error, 'captureStackTrace'],
      [Object.getPrototypeOf(function* () {}()), 'next'], [Date, 'now'],
    ] as any[]) for (const name of names) {
      try { owner[name] = () => true; } catch {}
      try { Object.defineProperty(owner, name, { value: () => true }); } catch {}
      try { delete owner[name]; } catch {}
    }`,
  ),
  'global names by assignment': attack(
    {},
    tries(
      '(JSON as any) = { stringify: () => "{}" };',
      '(Object as any) = { is: () => true };',
      '(Promise as any) = class {};',
      '(setTimeout as any) = () => {};',
      '(fetch as any) = () => {};',
      '(RangeError as any) = Error;',
    ),
  ),
  'the global object': attack(
    {},
    tries(
      `const worker = (globalThis as any)['__vitest' + '_worker__'];
       worker.rpc.onCancel('x');
       for (const file of worker.evaluatedModules.idToModuleMap.keys()) console.log(file);`,
      `const matchers = (globalThis as any)[Symbol.for('$$jest-matchers-object')];
       matchers.customEqualityTesters.push(() => true);`,
      `const expects = (globalThis as any)[Symbol.for('expect-global')];
       expects.extend({ toBe: () => ({ pass: true, message: () => '' }) });`,
      `Object.defineProperty(globalThis, 'JSON', { value: {} });`,
      `const real = Function('return this')();
       real[Symbol.for('expect-global')].extend({ toBe: () => ({ pass: true }) });`,
      `const real = (0, eval)('this');
       real[Symbol.for('expect-global')].extend({ toBe: () => ({ pass: true }) });`,
      `const F = (async () => {}).constructor as any;
       F('return this')().then((real: any) => real[Symbol.for('expect-global')].extend({}));`,
    ),
  ),
  'this at the top': attack(
    {},
    `const real: any = this ?? (() => this)();
    ${tries(`real[Symbol.for('expect-global')].extend({ toBe: () => ({ pass: true }) });`)}
    if (real) throw new Error('this is the global object');`,
    /^(?!.*this is the global object)/s,
  ),
  'what the stack shows': attack(
    {},
    tries(
      `Error.prepareStackTrace = (_e: any, sites: any[]) => sites.map((s) => s.getThis?.());
       for (const found of new Error().stack as any) found?.[Symbol.for('expect-global')].extend({});`,
      'Error.stackTraceLimit = 0;',
    ),
  ),
  'given constants': attack(
    { doubled: `(TABLE as any).length = 0; (TABLE as any).push(6); return [12];` },
    `import * as given from './given.ts';
    ${tries(
      '(TABLE as any).splice(0, 3);',
      '(TABLE as any)[0] = 0; (TABLE as any)[1] = 0; (TABLE as any)[2] = 0;',
      "Object.defineProperty(given, 'TABLE', { value: [] });",
      '(given as any).TABLE = [];',
      'Object.setPrototypeOf(TABLE, { map: () => [], __proto__: Array.prototype });',
    )}`,
  ),
  'given models': attack(
    {},
    `import * as given from './given.ts';
    ${tries(
      'given.Model.prototype.half = () => 0;',
      "Object.defineProperty(given.Model.prototype, 'half', { value: () => 0 });",
      "Object.defineProperty(given, 'isHalf', { value: () => true });",
      "Object.defineProperty(given, 'Model', { get: () => class { half() { return 0; } } });",
      '(given as any).isHalf = () => true;',
    )}`,
  ),
  'the classes of node:http': attack(
    {},
    `import http, { IncomingMessage, ServerResponse } from 'node:http';
    import net from 'node:net';
    import { EventEmitter } from 'node:events';
    ${tries(
      "Object.defineProperty(IncomingMessage.prototype, 'statusCode', { get: () => 200, set() {} });",
      '(ServerResponse.prototype as any).writeHead = function () { this.statusCode = 200; return this; };',
      '(http as any).request = (http as any).get = () => {};',
      '(http.Agent.prototype as any).addRequest = () => {};',
      '(http.globalAgent as any).createConnection = () => {};',
      '(net.Socket.prototype as any).write = () => true;',
      '(EventEmitter.prototype as any).emit = () => true;',
      '(EventEmitter as any).once = async () => [{ statusCode: 200, resume() {} }];',
      '(http as any).ServerResponse = class {};',
    )}`,
  ),
  'imports of what judges': attack({}, "import { expect } from 'vitest';", /imports "vitest"/),
  'imports of Vitest under a name that is put together': attack(
    {},
    "const name = 'vi' + 'test';\nconst { expect } = await import(name);",
    /whose name is computed/,
  ),
  'imports through a data URL': attack(
    {},
    "import 'data:text/javascript,globalThis.x=1';",
    /imports "data:/,
  ),
  'the files of the machine': attack({}, "import fs from 'node:fs';", /imports "node:fs"/),
  'require and its cache': attack(
    {},
    `declare const require: any, module: any;
    ${tries(
      "require('node:module').createRequire('/')('vm');",
      'Object.assign(require.cache, {});',
      "module.constructor._load('fs');",
    )}`,
  ),
  'import.meta': attack({}, 'console.log((import.meta as any).env);', /more of import\.meta/),
  "Vite's own names": attack(
    {},
    "declare const __vite_ssr_import__: any;\nawait __vite_ssr_import__('node:fs');",
    /belongs to Vitest/,
  ),
  'the process': attack(
    { halve: `(process as any).exit(0); return 0;`, text: '(process as any).reallyExit(0);' },
    `import { default as own, kill, exit } from 'node:process';
    import * as all from 'node:process';
    ${tries('kill(process.ppid, "SIGKILL");', 'exit(0);', '(all as any).reallyExit(0);')}
    for (const it of [process, own, (globalThis as any).process] as any[]) {
      ${tries(
        'it.send({ grader: "end" });',
        'it.emit("message", { __vitest_worker_request__: true, type: "stop" });',
        'it.removeAllListeners();',
        'it.kill(it.ppid, "SIGKILL");',
        'it.binding("fs");',
        'it.dlopen({}, "/x");',
        'it.getBuiltinModule("fs").writeFileSync("lessons/x", "");',
        'it.channel.unref();',
        'it.mainModule.require("fs");',
        'it.stdout._handle.close();',
        'it.abort();',
      )}
    }`,
  ),
  "the grader's pipes": attack(
    {},
    `import net from 'node:net';
    for (const fd of [3, 4, 5]) {
      ${tries(
        'new net.Socket({ fd, writable: true } as any).write("garbage");',
        'new (net.Socket.prototype as any).constructor({ fd }).write("garbage");',
        'new (console as any)._stdout.constructor({ fd }).write("garbage");',
        'net.createServer().listen({ fd } as any).on("error", () => {});',
      )}
    }`,
  ),
  'forged messages on stdout': attack(
    {},
    `console.log('##vso[task.complete result=Succeeded;]');
    console.log('::set-output name=points::100');
    process.stdout.write('\\0test:x\\0' + JSON.stringify({ grader: 'end' }) + '\\n');`,
  ),
  'agents of undici that answer themselves': attack(
    {},
    `import * as undici from 'undici';
    const all = undici as any;
    if (all.MockAgent || all.setGlobalDispatcher || all.default?.MockAgent) throw new Error('there');`,
    /^(?!.*there)/s,
  ),
  'the classes of undici': attack(
    { status: `(globalThis as any).hits = 1; return 500;` },
    `import { Client, Pool, Agent, Dispatcher } from 'undici';
    for (const it of [Client, Pool, Agent, Dispatcher] as any[]) {
      ${tries('it.prototype.dispatch = () => true;', 'it.prototype.request = async () => ({});')}
    }
    if (Client.prototype.dispatch.toString().length < 20) throw new Error('it was replaced');`,
    /^(?!.*it was replaced)/s,
  ),
  'timers that are not theirs': attack({
    status: `${tries(`
      let timer: any = setTimeout(() => {}, 1e5);
      for (let i = 0, next = timer._idleNext; next && i < 50; i += 1, next = next._idleNext) {
        next._onTimeout?.(); next._idleTimeout = 0;
      }
      Object.getPrototypeOf(timer).refresh = () => {};
      clearTimeout(timer);`)} return 500;`,
  }),
  'what it finds on a walk through everything in reach': {
    get file() {
      return exercise({}, WALK);
    },
    says: /\b[5-9]\d{3} objects: none can be changed/,
  },
  'text that is a comment in a script and none in a module': attack(
    {},
    `let x = 1, y = 2;
const z = x<!--y + \`
}).call(undefined); throw new Error('it has escaped'); await (async function () {
\`; // \``,
    /^(?!.*it has escaped)/s,
  ),
  'a rejection, then exit': attack({ halve: 'throw undefined;', record: 'throw [];' }),
};

/** Walks through everything that an exercise gets hold of, and names what it could change there. */
const WALK = `
import assert from 'node:assert'; import buffer from 'node:buffer'; import crypto from 'node:crypto';
import dgram from 'node:dgram'; import dns from 'node:dns'; import events from 'node:events';
import http from 'node:http'; import http2 from 'node:http2'; import https from 'node:https';
import net from 'node:net'; import path from 'node:path'; import perf from 'node:perf_hooks';
import proc from 'node:process'; import stream from 'node:stream'; import web from 'node:stream/web';
import timers from 'node:timers'; import promises from 'node:timers/promises'; import tls from 'node:tls';
import url from 'node:url'; import util from 'node:util'; import zlib from 'node:zlib';
import * as undici from 'undici'; import * as given from './given.ts';
import * as client from '#helpers/lesson/client.ts'; import * as server from '#helpers/lesson/http-server.ts';
import * as forwarding from '#helpers/lesson/forwarding.ts'; import * as waiting from '#helpers/lesson/waiting.ts';

const all: any = globalThis;
const names = ('Object Function Array Number Boolean String Symbol Date Promise RegExp Error TypeError ' +
  'JSON Math Intl ArrayBuffer Atomics Uint8Array DataView Map BigInt Set WeakMap WeakSet WeakRef Proxy ' +
  'Reflect URL URLSearchParams TextEncoder AbortController AbortSignal Event EventTarget Blob Buffer ' +
  'performance Headers Request Response FormData crypto ReadableStream DOMException').split(' ');
const timer = setTimeout(() => {}, 1);
clearTimeout(timer);
const roots: [string, any][] = [
  ...names.map((name): [string, any] => [name, all[name]]),
  ...Object.entries({ assert, buffer, crypto, dgram, dns, events, http, http2, https, net, path, perf,
    stream, web, timers, promises, tls, url, util, zlib, undici, given, client, server, forwarding, waiting }),
  ['timer', Object.getPrototypeOf(timer)],
  ['generator', (function* () {})()], ['async generator', (async function* () {})()],
  ['iterator', [][Symbol.iterator]()], ['matches', 'a'.matchAll(/a/g)], ['promise', Promise.resolve()],
  ['function', Object.getPrototypeOf(async () => {})],
];
const seen = new Set<any>();
const found: string[] = [];
while (roots.length > 0) {
  const [name, value] = roots.pop()!;
  if (value === null || !/object|function/.test(typeof value) || seen.has(value)) continue;
  seen.add(value);
  // The agent of everybody counts its connections.
  if (value === http.globalAgent || value === https.globalAgent) continue;
  const keys = Reflect.ownKeys(value);
  if (keys.includes('__vitest_worker__')) found.push(name + ' is the global object');
  if (keys.includes('_linkedBinding')) found.push(name + ' is the process');
  const isShared = typeof value === 'function' || keys.includes('constructor');
  if (isShared && Object.isExtensible(value)) found.push(name + ' can get more');
  for (const key of keys) {
    const { writable, value: inner, get, set } = Object.getOwnPropertyDescriptor(value, key)!;
    if (isShared && writable && typeof inner === 'function') found.push(name + '.' + String(key));
    roots.push([name + '.' + String(key), inner]);
    if (isShared) roots.push([name + ' get', get], [name + ' set', set]);
    // A module's exports stand behind getters.
    if (get && !/[. ]/.test(name)) try { roots.push([name + '.' + String(key), value[key]]); } catch {}
  }
  roots.push(['prototype of ' + name, Object.getPrototypeOf(value)]);
}
if (proc === undefined) found.push('no process');
throw new Error(seen.size + ' objects: ' + (found.join(', ') || 'none can be changed'));
`;

const NUMBERS = Object.keys(attacks).map((_, i) => String(20 + i));

describe('the seal', () => {
  const verdicts = new Map<string, LessonVerdict>();
  let hasEnded = false;

  beforeAll(async () => {
    const files = Object.values(attacks).map(({ file }, i) => lesson(NUMBERS[i] as string, file));
    using bed = makeTestBed(
      Object.assign(
        {},
        ...files,
        lesson('18', exercise(HONEST)),
        lesson('19', exercise({})),
      ) as Record<string, string>,
    );
    const lessons = ['18', '19', ...NUMBERS];
    const end = await runVitest({
      course: bed.root,
      scratch: join(bed.root, '.scratch'),
      config: 'helpers/grader/grade.config.ts',
      lessons,
      workers: 2,
      limits: { totalMs: 110_000, processes: 20, megabytes: 4_000, writtenMegabytes: 100 },
      onMessage(message) {
        const { grader, verdict } = message as { grader: string; verdict: LessonVerdict };
        if (grader === 'lesson') verdicts.set(verdict.lesson, verdict);
        return grader === 'end';
      },
    });
    hasEnded = end.complete;
    expect(end.complete, end.output).toBe(true);
  }, 120_000);

  const passed = (number: string) => {
    const tests = verdicts.get(number)?.tests ?? [];
    return tests.flatMap(({ name, state }) =>
      state === 'passed' ? [name.split(' > ').at(-1)] : [],
    );
  };

  it('an honest file passes every test', () => {
    expect(hasEnded).toBe(true);
    const { tests = [], problem } = verdicts.get('18') ?? {};
    expect(tests.filter(({ state }) => state !== 'passed')).toEqual([]);
    expect(problem).toBeUndefined();
    expect(tests).toHaveLength(25);
  });

  it('a file with nothing right in it passes none, and each is told why', () => {
    const { tests = [], problem } = verdicts.get('19') ?? {};
    expect(problem).toBeUndefined();
    expect(tests).toHaveLength(25);
    expect(passed('19')).toEqual([]);
    expect(tests[0]).toMatchObject({
      errorName: 'AssertionError',
      message: expect.stringContaining('expected +0 to be 2') as string,
      at: expect.stringMatching(/^lessons\/19-bed\/bed\.spec\.ts:\d+$/) as string,
    });
  });

  it.for(Object.keys(attacks).map((name, i) => [name, NUMBERS[i] as string] as const))(
    'no test is passed by %s',
    ([name, number]) => {
      const verdict = verdicts.get(number);
      expect(verdict, 'it has a verdict').toBeDefined();
      expect(passed(number)).toEqual([]);
      const { says } = attacks[name] as Attack;
      if (!says) return;
      const texts = [verdict?.problem, ...(verdict?.tests ?? [])].map((it) => it?.message ?? '');
      expect(texts.join('\n')).toMatch(says);
    },
  );
});

describe('what an exercise may import', () => {
  it.for([
    './given.ts',
    '../05-load-balancer/given.ts',
    '#helpers/lesson/http-server.ts',
    '#fixtures/assumptions.ts',
    'node:http',
    'events',
    'undici',
  ])('%s', (specifier) => {
    expect(refusalOf(specifier)).toBeUndefined();
  });

  it.for([
    './solution.ts',
    './x.spec.ts',
    './given.ts?raw',
    '../../helpers/grader/seal.ts',
    '#helpers/lesson/published.ts',
    '#helpers/grader/seal.ts',
    '#fixtures/published/05.json',
    '/etc/passwd',
    'file:///etc/passwd',
    ...['fs', 'module', 'vm', 'inspector', 'worker_threads', 'child_process', 'v8', 'cluster'].map(
      (name) => `node:${name}`,
    ),
    'fs/promises',
    'node:test',
    '@vitest/runner',
    'vite',
  ])('not %s', (specifier) => {
    expect(refusalOf(specifier)).toContain(`imports "${specifier}"`);
  });

  it('a type costs nothing, wherever it comes from', () => {
    expect(problemOf("import type { Vitest } from 'vitest/node';")).toBeUndefined();
  });

  it('the place is that of the import', () => {
    expect(problemOf("const a = 1;\nawait import('node:fs');")).toMatchObject({ at: 19 });
  });
});

describe('signed messages', () => {
  const key = makeKey();

  it('are opened once, in their order', () => {
    const [sign, open] = [signer(key), opener(key)];
    const [first, second] = [sign({ about: 'end' }), sign({ about: 'end' })];
    expect(open(first)).toEqual({ about: 'end' });
    expect(open(first), 'a second time').toBeUndefined();
    expect(open(second)).toEqual({ about: 'end' });
  });

  it('are nothing when they are changed, or signed by another process', () => {
    const envelope = signer(key)({ about: 'end' });
    expect(opener(makeKey())(envelope)).toBeUndefined();
    expect(opener(key)({ ...envelope, sealed: '[2,{"about":"end"}]' })).toBeUndefined();
    expect(opener(key)({ ...envelope, proof: '' })).toBeUndefined();
    expect(opener(key)({ sealed: 1, proof: [] } as never)).toBeUndefined();
  });
});
