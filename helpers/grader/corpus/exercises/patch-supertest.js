// Tries: to replace the client that the tests ask with: it answers what the tests of the 404s and of
//   the 400s want to hear.
// Must: refuse the import, or give no point.

import request from 'supertest';

const answerOf = (url) =>
  /^\/takip(?:[/?]|$)/.test(url)
    ? { status: 400, text: '{"hata":"sema"}' }
    : { status: 404, text: '{"hata":"bulunamadi"}' };
for (const type of [request.Test, Object.getPrototypeOf(request.Test ?? class {})]) {
  try {
    type.prototype.then = function forged(resolve) {
      const { pathname } = new URL(this.url);
      return Promise.resolve({ ...answerOf(pathname), type: 'application/json', body: {} }).then(
        resolve,
      );
    };
  } catch {}
}
