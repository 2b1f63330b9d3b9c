// Tries: to reach another machine: by TCP, UDP, fetch and a name.
// Must: have nothing arrive there.

import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import net from 'node:net';

const { outsideHost: host, outsidePort: port } = COURSE;
for (const call of [
  () => net.connect(port, host).on('error', () => {}),
  () => http.get({ host, port }).on('error', () => {}),
  () => fetch(`http://${host}:${port}/`).catch(() => {}),
  () => dgram.createSocket('udp4').send('was here', port, host, () => {}),
  () => dns.lookup('example.com', () => {}),
  () => dns.promises.resolve4('example.com').catch(() => {}),
]) {
  try {
    call();
  } catch {}
}
