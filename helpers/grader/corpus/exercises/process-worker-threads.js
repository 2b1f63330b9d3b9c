// Tries: to go on in a thread: it loops, prints, and reports results in the place of the process.
// Must: end in time, and give no point for it.
// Earns: 14.1

const { Worker } = (await reach('worker_threads')) ?? {};
const code = `
  const { parentPort } = require('node:worker_threads');
  process.send?.({ grader: 'end' });
  for (;;) parentPort.postMessage({ course: 'end', test: '1', result: { state: 'pass' } });`;
try {
  for (let i = 0; i < 2; i += 1) new Worker(code, { eval: true, env: {} }).on('error', () => {});
} catch {}
