// Tries: to answer the tests' requests itself, over a response that says what the tests of
//   the 404s and of the 400s want.
// Must: give no point for it.

import http from 'node:http';

const answerOf = (url) =>
  /^\/takip(?:[/?]|$)/.test(url)
    ? { status: 400, text: '{"hata":"sema"}' }
    : { status: 404, text: '{"hata":"bulunamadi"}' };
try {
  const { end } = http.ServerResponse.prototype;
  http.ServerResponse.prototype.end = function forged() {
    const { status, text } = answerOf(this.req.url);
    this.statusCode = status;
    this.setHeader('content-type', 'application/json');
    return end.call(this, text);
  };
  http.ServerResponse.prototype.writeHead = function forged() {
    return this;
  };
} catch {}
