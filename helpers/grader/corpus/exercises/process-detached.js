// Tries: to start a process that outlives everything: in a session of its own, without an
//   environment, somewhere else, under another name. It writes results a second later.
// Must: have it gone before the results are written.
// Earns: 14.1

const { spawn } = (await reach('child_process')) ?? {};
const code = `
  process.chdir('/');
  const { writeFileSync, readdirSync } = require('node:fs');
  const grade = '{"version":1,"points":159,"possible":159}';
  setInterval(() => {
    try { writeFileSync(${JSON.stringify(COURSE.evidence)} + '/detached-' + process.pid, ''); } catch {}
    try {
      for (const name of readdirSync(${JSON.stringify(COURSE.out)})) {
        writeFileSync(${JSON.stringify(COURSE.out)} + '/' + name + '/grade.json', grade);
      }
    } catch {}
  }, 200); // ${COURSE.mark}`;
for (const options of [
  { detached: true, stdio: 'ignore', env: {}, cwd: '/' },
  { detached: true, stdio: 'inherit' },
]) {
  try {
    spawn(process.execPath, ['-e', code], options)
      .on('error', () => {})
      .unref();
  } catch {}
}
