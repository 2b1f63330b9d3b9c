// Tries: to go on after it was asked to end: handlers for every signal, a loop in beforeExit.
// Must: end in time.
// Earns: 14.1

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) {
  process.on(signal, () => {});
}
process.on('beforeExit', () => setTimeout(() => {}, 1_000));
process.on('disconnect', () => {
  for (;;);
});
process.removeAllListeners?.('uncaughtException');
try {
  process.setUncaughtExceptionCaptureCallback(() => {});
} catch {}
