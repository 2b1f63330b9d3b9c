// A thread in the process that runs a student's file. While that file loops, no timer and no
// listener of its own thread fires, but this one's do. It ends the process when it eats all memory
// or when nobody waits for it any more, and finds out which line is executing when it is asked.
//
// JavaScript, since Node starts the thread by itself, without Vite. See runner.ts for its data.
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { SourceMap } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';

/** How long the line is looked for in a process that eats memory. */
const MEMORY_MS = 250;
/** How often its memory is measured, which takes some microseconds. */
const MEASURE_MS = 50;
/** Frames that are enough to get from a library to the lesson. */
const FRAMES = 50;

const { heapBytes, memoryBytes, memoryNote, descriptor } = workerData;
const { ppid } = process;
const atStart = process.memoryUsage.rss();

// The pool holds the other end. It asks with the number of milliseconds that it will wait.
const pool = descriptor ? new Socket({ fd: descriptor }).unref() : undefined;
pool?.setEncoding('utf8').on('data', (text) => locate({ ms: Number.parseInt(text, 10) }, answer));
pool?.on('error', () => {});
// Windows gives a process no other parent when its own is gone.
pool?.on('close', end);

let looksLeft = 3;
let isLooking = false;
let isFull = false;
setInterval(() => {
  if (process.ppid !== ppid) end();
  const used = process.memoryUsage.rss();
  if (looksLeft > 0 && !isLooking && used - atStart > heapBytes / 2) {
    looksLeft -= 1;
    isLooking = true;
    // When V8 runs out of heap, it ends the process without a word on the line.
    locate({ ms: MEMORY_MS, goesOn: true }, (found) => {
      isLooking = false;
      if (found.frames.length === 0) return;
      looksLeft = 0;
      answer(found);
    });
  }
  if (isFull || used <= memoryBytes) return;
  isFull = true;
  writeSync(2, memoryNote);
  setTimeout(end, 2 * MEMORY_MS);
  locate({ ms: MEMORY_MS }, (found) => answer(found, end));
}, MEASURE_MS);

function end() {
  try {
    // Processes that it has started belong to its group.
    if (process.platform !== 'win32') process.kill(-process.pid, 'SIGKILL');
  } catch {}
  process.kill(process.pid, 'SIGKILL');
}

function answer(found, done = () => {}) {
  if (pool) pool.write(`${JSON.stringify(found)}\n`, done);
  else done();
}

/**
 * Stops the other thread in the lesson, and looks where that is.
 *
 * The inspector reaches a thread through an interrupt, which V8 looks for in every turn of a loop and
 * at every call, also inside a regular expression, a sort or Atomics.wait, but not in a call into
 * Node that doesn't come back.
 *
 * @param {{ ms: number, goesOn?: boolean }} options how long to look, and whether the thread goes on
 *   afterwards; else it stays where it is, since it will be ended
 * @param {(found: object) => void} done called once, with a `Sighting` of progress.ts
 */
function locate({ ms, goesOn = false }, done) {
  const scripts = new Map();
  let found = { thread: 'deaf', frames: [] };
  let isDone = false;
  let session;
  const finish = () => {
    if (isDone) return;
    isDone = true;
    if (goesOn) session?.disconnect();
    done(found);
  };
  setTimeout(finish, ms);
  try {
    session = new Session();
    session.connectToMainThread();
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params));
    session.on('Debugger.paused', ({ params }) => {
      if (isDone) return;
      const frames = params.callFrames
        .slice(0, FRAMES)
        .map((frame) => place(frame, scripts.get(frame.location.scriptId)))
        .filter((frame) => frame !== undefined);
      if (frames.length > 0 && found.frames.length === 0) found = { thread: 'busy', frames };
      if (frames.some(({ file }) => file.endsWith('/exercise.ts'))) {
        found = { thread: 'busy', frames };
        finish();
        return;
      }
      // Between two calls of the lesson Node's own code runs. From now on a pause in that takes effect
      // when the lesson's is next: a loop of process.nextTick is hardly ever met there by chance.
      session.post('Debugger.setBlackboxPatterns', { patterns: ['^node:', '/node_modules/'] });
      session.post('Debugger.resume');
      setTimeout(() => isDone || session.post('Debugger.pause'), 1 + Math.random() * 10);
    });
    session.post('Debugger.enable', (error) => {
      if (!error && found.thread === 'deaf') found = { thread: 'idle', frames: [] };
    });
    session.post('Debugger.pause');
  } catch {
    // The permission model can forbid it.
    session = undefined;
    found = { thread: 'unknown', frames: [] };
    finish();
  }
}

/** A frame as the TypeScript file has it; nothing for Node's own and for a library's. */
function place({ functionName, location }, script) {
  try {
    const url = script?.url ?? '';
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    const file = path.replaceAll('\\', '/').replace(/\?.*$/, '');
    if (!/^(?:\/|[a-zA-Z]:\/)/.test(file) || file.includes('/node_modules/')) return;
    const { line, column } = original(location, script.sourceMapURL ?? '');
    return { name: functionName, file, line: line + 1, column: column + 1 };
  } catch {
    // Code that is made at run time can name itself anything, and bring any map.
  }
}

/** Where a place, counted from 0, is in the source that Vite has made the script from. */
function original({ lineNumber, columnNumber }, mapUrl) {
  const [, base64] = /^data:application\/json;.*?base64,(.*)$/.exec(mapUrl) ?? [];
  if (base64) {
    const map = new SourceMap(JSON.parse(Buffer.from(base64, 'base64').toString('utf8')));
    const { originalLine, originalColumn } = map.findEntry(lineNumber, columnNumber);
    if (originalLine !== undefined) return { line: originalLine, column: originalColumn };
  }
  return { line: lineNumber, column: columnNumber };
}
