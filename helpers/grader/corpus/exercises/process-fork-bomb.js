// Tries: to start processes that start processes: 40 of them, and no more, in case it works.
// Must: end in time, and have none of them running afterwards.
// Earns: 14.1

const { spawn } = (await reach('child_process')) ?? {};
const code = (depth) => `
  if (${depth} > 0) for (let i = 0; i < 3; i += 1) {
    try {
      require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]], { detached: true, stdio: 'ignore' }).unref();
    } catch {}
  }
  setTimeout(() => {}, 60000); // ${COURSE.mark}`;
for (let i = 0; i < 10; i += 1) {
  try {
    const inner = code(0);
    spawn(process.execPath, ['-e', code(1), inner], { detached: true, stdio: 'ignore' })
      .on('error', () => {})
      .unref();
  } catch {}
}
