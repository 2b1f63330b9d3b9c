// Tries: to hang in the handlers that run when the process ends.
// Must: end in time, with all that was proved.
// Earns: 14.1

process.on('exit', () => {
  for (;;);
});
process.on('beforeExit', () => {
  for (;;);
});
