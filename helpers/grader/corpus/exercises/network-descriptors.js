// Tries: to open sockets on the process's own file descriptors, and to write to its parent through
//   them.
// Must: believe nothing that isn't signed, and go on.
// Earns: 14.1

import net from 'node:net';

const server = net.createServer().listen(0, '127.0.0.1');
const TCP = server._handle?.constructor;
server.close();
export function viewCost() {
  for (let fd = 3; fd < 40; fd += 1) {
    try {
      const handle = new TCP(0);
      if (handle.open(fd) === 0) new net.Socket({ handle }).write('{"grader":"end"}\n');
    } catch {}
    try {
      new net.Socket({ fd, readable: false, writable: true }).on('error', () => {}).write('{}\n');
    } catch {}
  }
  return { requests: 1 };
}
