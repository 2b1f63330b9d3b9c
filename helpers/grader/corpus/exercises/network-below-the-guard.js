// Tries: to take back what the guard has replaced: from a fresh copy of the module, or from a socket
//   that is made by hand.
// Must: have nothing arrive there.

const net = (await reach('net')) ?? {};
const { outsideHost: host, outsidePort: port } = COURSE;
try {
  const socket = new net.Socket();
  delete net.Socket.prototype.connect;
  socket.on('error', () => {});
  socket.connect({ host, port });
} catch {}
try {
  const server = net.createServer().listen(0);
  const { constructor: TCP } = server._handle;
  const handle = new TCP(0);
  const request = { oncomplete() {} };
  handle.connect(request, host, port);
  server.close();
} catch {}
