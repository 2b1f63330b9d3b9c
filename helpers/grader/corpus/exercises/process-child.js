// Tries: to start processes in every way that Node has.
// Must: have none of them running afterwards.
// Earns: 14.1

const { execPath } = process;
const code = `setInterval(() => {}, 1000); // ${COURSE.mark}`;
const childProcess = (await reach('child_process')) ?? {};
const cluster = (await reach('cluster')) ?? {};
for (const start of [
  () => childProcess.spawn(execPath, ['-e', code], { stdio: 'ignore' }),
  () => childProcess.fork('-e', [code], { execArgv: [] }),
  () => childProcess.execFile(execPath, ['-e', code]),
  () => childProcess.spawnSync(execPath, ['-e', `// ${COURSE.mark}`], { timeout: 500 }),
  () => {
    cluster.setupPrimary({ exec: execPath, args: ['-e', code] });
    cluster.fork();
  },
]) {
  try {
    start()?.on?.('error', () => {});
  } catch {}
}
