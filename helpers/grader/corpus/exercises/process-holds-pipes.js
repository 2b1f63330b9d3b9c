// Tries: to keep the grader waiting: a child inherits every pipe, and never closes them.
// Must: end in time, and have the child gone.
// Earns: 14.1

const { spawn } = (await reach('child_process')) ?? {};
try {
  spawn(process.execPath, ['-e', `setInterval(() => {}, 1000); // ${COURSE.mark}`], {
    detached: true,
    stdio: 'inherit',
  })
    .on('error', () => {})
    .unref();
} catch {}
