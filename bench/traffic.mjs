// Both ends of the measured path in one process: four replicas, and a client with many connections.
// Neither parses HTTP, so that the program between them is what limits the rate.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export const BODY_BYTES = 480;
/** Stands at the end of the body and nowhere else: the client needs no other frame. */
const END = 0x23;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const RESPONSE = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${BODY_BYTES}\r\n\r\n${' '.repeat(BODY_BYTES - 1)}#`,
);
const REQUEST = Buffer.from('GET /takip?no=TR900011 HTTP/1.1\r\nHost: kargo.example\r\n\r\n');

/** @returns ports of four replicas, which answer every request with 480 bytes, until `close()` */
export async function startReplicas() {
  const sockets = new Set();
  const servers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const server = createServer({ noDelay: true }, (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        socket.on('error', () => {});
        let head = Buffer.alloc(0);
        socket.on('data', (bytes) => {
          head = head.length > 0 ? Buffer.concat([head, bytes]) : bytes;
          for (let at = head.indexOf(BLANK_LINE); at >= 0; at = head.indexOf(BLANK_LINE)) {
            head = head.subarray(at + BLANK_LINE.length);
            socket.write(RESPONSE);
          }
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return {
    ports: servers.map((server) => server.address().port),
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Sends `requests` requests on `connections` connections, one after another on each.
 *
 * @returns seconds from the first to the last
 */
export async function sendRequests(port, { connections, requests }) {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  let left = requests;
  const started = performance.now();
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          const send = () => (left-- > 0 ? socket.write(REQUEST) : resolve());
          socket.on('data', (bytes) => {
            if (bytes.includes(END)) send();
          });
          socket.on('close', () => reject(new Error('the program has closed a connection')));
          socket.on('error', reject);
          send();
        }),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  for (const socket of sockets) socket.removeAllListeners().destroy();
  return seconds;
}
