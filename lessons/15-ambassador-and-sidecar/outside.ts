// A carrier that isn't there: answers inside the process what an honest one would never say.
import { syncBuiltinESMExports } from 'node:module';
import nock from 'nock';

// Importing nock has switched it on, and other lessons share this process.
nock.restore();

/** The world outside, while it is intercepted. Disposing it gives back the real one. */
export interface Outside extends Disposable {
  /** Address of the carrier. The name exists nowhere. */
  readonly carrier: URL;
  /** Says what is answered to which call: `at('http://carrier.test').get('/a').reply(200)`. */
  at(origin: string): nock.Scope;
}

/**
 * From now on every call to a host other than 127.0.0.1, made with the built-in `fetch` or with
 * `node:http`, gets what was prescribed for it, or an error. Calls of the undici package aren't seen.
 */
export function interceptOutside(): Outside {
  nock.activate();
  // Whoever has written `import { request } from 'node:http'` is intercepted, too.
  syncBuiltinESMExports();
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
  return {
    carrier: new URL('http://carrier.test'),
    at: (origin) => nock(origin),
    [Symbol.dispose]() {
      nock.abortPendingRequests();
      nock.cleanAll();
      nock.enableNetConnect();
      nock.restore();
      syncBuiltinESMExports();
    },
  };
}
