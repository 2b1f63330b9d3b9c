// Tries: to have the process end with code 0 whatever the tests found, and to print that all is well.
// Must: give no point: nobody asks for an exit code.

const leave = () => {
  try {
    process.exitCode = 0;
  } catch {}
  process._rawDebug?.('Tests  159 passed (159)');
};
leave();
process.on('exit', leave);
