// Tries: the same with a process in between that ends at once, so that nobody is its parent, and
//   with a shell that ignores every polite signal.
// Must: have them gone before the results are written.
// Earns: 14.1

const { spawn } = (await reach('child_process')) ?? {};
const inner = `
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  process.title = 'init';
  const { writeFileSync } = require('node:fs');
  setInterval(() => {
    try { writeFileSync(${JSON.stringify(COURSE.evidence)} + '/orphan-' + process.pid, ''); } catch {}
  }, 200); // ${COURSE.mark}`;
const outer = `
  require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], {
    detached: true, stdio: 'ignore', env: {}, cwd: '/'
  }).unref();`;
try {
  spawn(process.execPath, ['-e', outer], { stdio: 'ignore', env: {}, cwd: '/' }).on(
    'error',
    () => {},
  );
  spawn('sh', ['-c', `trap "" TERM INT HUP; exec -a init sleep 600 # ${COURSE.mark}`], {
    detached: true,
    stdio: 'ignore',
  }).on('error', () => {});
} catch {}
