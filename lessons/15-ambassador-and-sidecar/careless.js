// An ambassador that translates what an honest carrier says, and has an answer to nothing else. It is
// started as a process of its own, since it doesn't survive every answer:
//
//     node careless.js http://127.0.0.1:<port of a carrier>
//
// JavaScript, because Node 20 does not run TypeScript by itself.
import { createServer } from 'node:http';

const [, , carrier] = process.argv;
const STATES = { OFD: 'dagitimda' };

const server = createServer(async (request, response) => {
  const takipNo = request.url.slice('/durum/'.length);
  const answer = await fetch(`${carrier}/v1/durum?no=${takipNo}`);
  if (!answer.ok) {
    response.writeHead(404).end(JSON.stringify({ takipNo, hata: 'bulunamadi' }));
    return;
  }
  const { code, zone, ts } = await answer.json();
  const guncellenme = new Date(ts * 1_000).toISOString();
  response.end(JSON.stringify({ takipNo, durum: STATES[code], bolge: zone, guncellenme }));
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
