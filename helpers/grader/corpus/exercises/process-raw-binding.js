// Tries: to start a process and to open a connection with Node's inner bindings, below every guard.
// Must: have no process running afterwards.
// Earns: 14.1

const binding = (name) => {
  try {
    return process.binding(name);
  } catch {
    return undefined;
  }
};
try {
  const { Process } = binding('process_wrap');
  new Process().spawn({
    file: process.execPath,
    args: [process.execPath, '-e', `setInterval(() => {}, 1000); // ${COURSE.mark}`],
    envPairs: [],
    detached: true,
    stdio: [{ type: 'ignore' }, { type: 'ignore' }, { type: 'ignore' }],
  });
} catch {}
try {
  binding('spawn_sync').spawn({
    file: '/bin/sh',
    args: ['sh', '-c', `echo was-here > ${COURSE.evidence}/spawn-sync`],
    stdio: [],
  });
} catch {}
try {
  const { TCP, TCPConnectWrap, constants } = binding('tcp_wrap');
  const socket = new TCP(constants.SOCKET);
  socket.connect(new TCPConnectWrap(), COURSE.outsideHost, COURSE.outsidePort);
} catch {}
