// Tries: to take ports and keep them, over servers that nobody closes.
// Must: have every port free afterwards.
// Earns: 14.1

import http from 'node:http';
import net from 'node:net';

for (let i = 0; i < 50; i += 1) {
  const server = i % 2 ? http.createServer() : net.createServer();
  server.on('error', () => {}).listen({ port: i === 0 ? COURSE.port : 0, host: '127.0.0.1' });
  server.unref();
}
