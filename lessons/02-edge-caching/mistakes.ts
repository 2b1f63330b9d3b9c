import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  'does not count the empty line': {
    replace: 'const headerBytes = emptyLine + 4;',
    by: 'const headerBytes = emptyLine + 2;',
    caughtBy: 'an answer of the origin has 156 header bytes',
  },
  'measures with Connection: close': {
    replace: "...own, '', '']",
    by: "'Connection: close', ...own, '', '']",
    caughtBy: 'an answer of the origin has 156 header bytes',
  },
  'keeps the names of fields as they came': {
    replace: 'line.slice(0, colon).toLowerCase()',
    by: 'line.slice(0, colon)',
    caughtBy: 'names of fields come in lower case, values without blanks, several lines as one',
  },
  'keeps only the last of several lines of a field': {
    replace: 'headers[name] = name in headers ?',
    by: 'headers[name] = !name ?',
    caughtBy: 'names of fields come in lower case, values without blanks, several lines as one',
  },
  'waits for the body that a 304 announces': {
    replace: 'if (status === 204 || status === 304) return 0;',
    by: 'if (status === 204) return 0;',
    caughtBy: 'nobody waits for the body of a 304 Not Modified that has none',
  },
  'takes the first thing that looks like the last chunk for it': {
    replace: 'return chunkedLength(come);',
    by: "return come.includes('0\\r\\n\\r\\n') ? come.indexOf('0\\r\\n\\r\\n') + 5 : undefined;",
    caughtBy: 'a chunk may contain what looks like the last one, and a trailer may follow that',
  },
  'forgets the framing of chunks': {
    replace: 'if (trailer && lineEnd === at) return at + 2;',
    by: 'if (trailer && lineEnd === at) return at - 10;',
    caughtBy: 'a chunked answer is counted with its framing: 163 and 492 bytes',
  },
  'takes half a body for a whole one when the server hangs up': {
    replace: 'return come.length < Number(promised) ? undefined : Number(promised);',
    by: 'return ended || come.length >= Number(promised) ? come.length : undefined;',
    caughtBy: 'a server that hangs up while it is in the body is reported at once',
  },
  'starts the time-out anew with every byte': {
    replace: 'received = Buffer.concat([received, chunk]);',
    by: 'received = Buffer.concat([received, chunk]);\n      timer.refresh();',
    caughtBy: 'the time is for the whole exchange: a byte now and then does not stretch it',
  },
  'leaves the socket to the server, which would keep it alive': {
    replace: '      socket.destroy();\n      act();',
    by: '      act();',
    caughtBy: 'afterwards the socket is gone, although the server would keep it alive',
  },
  'lets a server that has hung up run into the time-out': {
    replace: "    socket.on('close', closed);\n",
    by: '',
    caughtBy: 'a server that hangs up while it says nothing is reported at once',
  },
  'reports a refused connection as a closed one': {
    replace: '(connected ? closed() : settle(() => reject(error)))',
    by: 'closed()',
    caughtBy: 'a closed port is reported as what it is: ECONNREFUSED',
    also: [{ replace: "socket.on('error', (error) =>", by: "socket.on('error', () =>" }],
  },

  // Exercise 2.2
  'gives up the key that came first': {
    replace:
      '    this.#entries.delete(key);\n    this.#entries.set(key, value);\n    return value;',
    by: '    return value;',
    caughtBy:
      'the keys 11 12 13 11 14 11 12, with 3 places: iska iska iska isabet iska isabet iska',
  },
  'never forgets': {
    replace: 'this.#entries.size === this.#capacity',
    by: 'this.#entries.size === Infinity',
    caughtBy: 'the keys 11 12 13 14 11, with 3 places: iska iska iska iska iska',
  },
  'holds one key more than it should': {
    replace: 'this.#entries.size === this.#capacity',
    by: 'this.#entries.size > this.#capacity',
    caughtBy: 'four keys in turn never hit with three places, and always with four',
  },
  'makes room for a key that is there': {
    replace: '!this.#entries.delete(key) && this.#entries.size === this.#capacity',
    by: 'this.#entries.size === this.#capacity',
    caughtBy:
      'storing under a key that is there replaces, makes it the most recent, and evicts nothing',
  },
  'replaces a value and leaves it where it was': {
    replace: '!this.#entries.delete(key)',
    by: '!this.#entries.has(key)',
    caughtBy:
      'storing under a key that is there replaces, makes it the most recent, and evicts nothing',
  },
  'takes a stored 0 or an empty text for a miss': {
    replace: 'if (value === undefined) return undefined;',
    by: 'if (!value) return undefined;',
    caughtBy: 'any string is a key, and any value but undefined a value',
  },
  'stores undefined': {
    replace: 'if (value === undefined) throw',
    by: 'if (key === undefined) throw',
    caughtBy: 'undefined is no value, and what was there stays',
  },
  'accepts a cache without places': {
    replace: 'requireCount({ capacity });',
    by: '',
    caughtBy: 'a capacity of 0 is refused',
  },

  // Exercise 2.3
  'forgets the content-length': {
    replace: "{ 'content-type': 'application/json', 'content-length': body.length }",
    by: "{ 'content-type': 'application/json' }",
    caughtBy: 'its answer is 480 bytes of body behind 156 of header',
  },
  'adds a charset to the content-type': {
    replace: "{ 'content-type': 'application/json', 'content-length'",
    by: "{ 'content-type': 'application/json; charset=utf-8', 'content-length'",
    caughtBy: 'its answer is 480 bytes of body behind 156 of header',
  },
  'does not fill the body up': {
    replace: "body = Buffer.alloc(bodyBytes, ' ');\n      body.write(text);",
    by: 'body = Buffer.from(text);',
    caughtBy: 'the body is the state as JSON, filled up with blanks',
  },
  'fills the body up with zero bytes': {
    replace: "Buffer.alloc(bodyBytes, ' ')",
    by: 'Buffer.alloc(bodyBytes)',
    caughtBy: 'the body is the state as JSON, filled up with blanks',
  },
  'writes JSON by hand, and a quotation mark breaks it': {
    replace: "JSON.stringify({ takip: no, durum: 'aktarma', bolge: 'b34' })",
    by: `'{"takip":"' + no + '","durum":"aktarma","bolge":"b34"}'`,
    caughtBy: 'a number is used as it stands: nothing is decoded, and every character counts',
  },
  'decodes the number': {
    replace: '.exec(url) ?? []',
    by: '.exec(decodeURIComponent(url)) ?? []',
    caughtBy: 'a number is used as it stands: nothing is decoded, and every character counts',
  },
  'cuts the target at the question mark': {
    replace: '.exec(url) ?? []',
    by: ".exec(url.split('?')[0] ?? '') ?? []",
    caughtBy: 'a number is used as it stands: nothing is decoded, and every character counts',
  },
  'keeps nothing at the origin': {
    replace: '      cache.set(no, body);\n',
    by: '',
    caughtBy: 'a number that comes again is answered by the cache, with the same bytes',
  },
  'cuts a body that is too long': {
    replace: 'if (Buffer.byteLength(text) > bodyBytes) {',
    by: 'if (Buffer.byteLength(text) > Infinity) {',
    caughtBy: 'a number for which the body is too short gets 414, and is counted nowhere',
  },
  'counts what it refuses with 414': {
    replace: 'response.statusCode = 414;',
    by: 'counters.istek += 1;\n      response.statusCode = 414;',
    caughtBy: 'a number for which the body is too short gets 414, and is counted nowhere',
  },
  'takes HEAD for a forbidden method': {
    replace: "if (method !== 'GET' && method !== 'HEAD') {",
    by: "if (method !== 'GET') {",
    caughtBy: 'HEAD is counted like GET, and gets the header block alone',
  },
  'answers a POST as if it were a GET': {
    replace: "if (method !== 'GET' && method !== 'HEAD') {",
    by: "if (method === '') {",
    caughtBy: 'any other path is 404, and any other method 405 with what is allowed',
  },
  'does not say which methods are allowed': {
    replace: "    response.setHeader('allow', 'GET, HEAD');\n",
    by: '',
    caughtBy: 'any other path is 404, and any other method 405 with what is allowed',
  },
  'resets the counters when they are read': {
    replace: 'response.end(JSON.stringify(counters));',
    by: 'response.end(JSON.stringify(counters));\n    for (const name in counters) counters[name] = 0;',
    caughtBy: 'the counters are JSON, count no request for themselves, and go on counting',
  },
  'counts header bytes as bytes from the origin': {
    replace: 'counters.kokenBayt += answer.body.length;',
    by: 'counters.kokenBayt += answer.body.length + 156;',
    caughtBy: 'its counters tell two requests to the origin, for 960 bytes of bodies',
  },
  'stores nothing at the edge': {
    replace: 'if (mayShare(answer)) cache.set(target, answer);',
    by: '',
    caughtBy: 'two numbers, three rounds: two misses of 651 bytes, four hits of 653',
  },
  'adds a charset at the edge': {
    replace: "response.setHeader('content-type', contentType);",
    by: "response.setHeader('content-type', contentType + '; charset=utf-8');",
    caughtBy: 'two numbers, three rounds: two misses of 651 bytes, four hits of 653',
  },
  'leaves the framing of an answer to Node': {
    replace: "      response.setHeader('content-length', body.length);\n",
    by: '      response.flushHeaders();\n',
    caughtBy: 'two numbers, three rounds: two misses of 651 bytes, four hits of 653',
  },
  'turns every body into text': {
    replace: 'response.end(status === 200 ? body : undefined);',
    by: "response.end(status === 200 ? body.toString('utf8') : undefined);",
    caughtBy: 'what it answers is what the origin said, whether it asked or had it',
  },
  'asks the origin for a HEAD that it has stored': {
    replace: 'const stored = cache.get(target);',
    by: "const stored = request.method === 'GET' ? cache.get(target) : undefined;",
    caughtBy: 'HEAD is answered from a stored GET',
  },
  'sends a HEAD on as a HEAD, and stores the empty answer': {
    replace: 'const target = request.url as string;',
    by: 'const target = request.url as string;\n    method = request.method;',
    also: [
      {
        replace: '  let closed = false;',
        by: '  let closed = false;\n  let method: string | undefined;',
      },
      { replace: 'path: target, agent }', by: 'path: target, method, agent }' },
    ],
    caughtBy: 'a HEAD that misses leaves a whole answer behind',
  },
  'asks through a URL, which rewrites the target': {
    replace: "{ host: '127.0.0.1', port: originPort, path: target, agent },",
    by: "new URL(target, 'http://127.0.0.1:' + originPort), { agent },",
    caughtBy: 'the target goes to the origin as it stands, and is the key as it stands',
  },
  'sends the fields of the client along': {
    replace: 'const target = request.url as string;',
    by: 'const target = request.url as string;\n    fields = request.headers;',
    also: [
      { replace: '  let closed = false;', by: '  let closed = false;\n  let fields = {};' },
      { replace: 'path: target, agent }', by: 'path: target, headers: fields, agent }' },
    ],
    caughtBy: 'nothing that a client adds reaches the origin',
  },
  'stores a 502': {
    replace: 'if (answer.status !== 200) return answer;',
    by: `if (answer.status !== 200) {
      cache.set(target, answer);
      return answer;
    }`,
    caughtBy: 'an origin that cannot be reached is a 502, which nobody stores',
  },
  'serves half a body, again and again': {
    replace: `  const body = await buffer(incoming);
  if (!incoming.complete) throw new Error('the body has broken off');`,
    by: `  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', () => {});
  await new Promise((resolve) => incoming.on('close', resolve));
  const body = Buffer.concat(chunks);`,
    caughtBy: 'half a body is a 502 and not stored, if it was announced by a length',
  },
  'stumbles over a status that is none': {
    replace: 'if (status < 200) throw',
    by: 'if (status < 0) throw',
    caughtBy: 'an origin that answers with a status below 100 has not answered: 502',
  },
  'counts the body of an error': {
    replace: `    if (answer.status !== 200) return answer;
    counters.kokenBayt += answer.body.length;`,
    by: `    counters.kokenBayt += answer.body.length;
    if (answer.status !== 200) return answer;`,
    caughtBy: 'an answer of 500 is passed on without its body, and not stored',
  },
  'passes the body of an error on': {
    replace: 'response.end(status === 200 ? body : undefined);',
    by: 'response.end(body);',
    caughtBy: 'an answer of 500 is passed on without its body, and not stored',
  },
  'compares directives with their case': {
    replace: 'const directive = name.toLowerCase();',
    by: 'const directive = name;',
    caughtBy: 'an answer with cache-control: No-Store is passed on and not stored',
  },
  'takes the whole field for one directive': {
    replace: "!['no-store', 'private', 'no-cache'].some((name) => directives.has(name))",
    by: "!['no-store', 'private', 'no-cache'].includes(cacheControl ?? '')",
    caughtBy: 'an answer with cache-control: max-age=600, PRIVATE is passed on and not stored',
  },
  'looks for the words anywhere in the field': {
    replace: "!['no-store', 'private', 'no-cache'].some((name) => directives.has(name))",
    by: "!/no-store|private|no-cache/i.test(cacheControl ?? '')",
    caughtBy: 'an answer with cache-control: note="no-store" is stored, and says so again',
  },
  'cuts the field at every comma, quoted ones too': {
    replace: '/([^\\s",=]+)(?:\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s",]*)))?/g',
    by: '/([^\\s,=]+)(?:=([^,]*))?/g',
    caughtBy:
      'an answer with cache-control: note="a, private, no-store" is stored, and says so again',
  },
  'ends a quoted argument at an escaped quotation mark': {
    replace: '"((?:[^"\\\\]|\\\\.)*)"',
    by: '"([^"]*)"',
    caughtBy: 'an answer with cache-control: note="\\", no-store" is stored, and says so again',
  },
  'shares what is private': {
    replace: "['no-store', 'private', 'no-cache']",
    by: "['no-store', 'no-cache']",
    caughtBy: 'an answer with cache-control: private is passed on and not stored',
  },
  'takes no-cache for a word without meaning': {
    replace: "['no-store', 'private', 'no-cache']",
    by: "['no-store', 'private']",
    caughtBy: 'an answer with cache-control: no-cache is passed on and not stored',
  },
  'keeps cache-control to itself': {
    replace: "if (cacheControl !== undefined) response.setHeader('cache-control', cacheControl);",
    by: '',
    caughtBy: 'an answer with cache-control: public is stored, and says so again',
  },
  'opens a connection for every miss': {
    replace: 'new Agent({ keepAlive: true })',
    by: 'new Agent({ keepAlive: false })',
    caughtBy: 'one connection to the origin serves one miss after another, and goes with the edge',
  },
  'leaves its connections to the origin open': {
    replace: '    agent.destroy();\n',
    by: '',
    caughtBy: 'one connection to the origin serves one miss after another, and goes with the edge',
  },
  'repeats a fetch that its own end has cut': {
    replace: 'outgoing.reusedSocket && !answered && !closed',
    by: 'outgoing.reusedSocket && !answered',
    caughtBy: 'a fetch that is on its way ends with the edge, and is not repeated',
  },
  'takes a kept connection that has been closed for an unreachable origin': {
    replace: 'outgoing.reusedSocket && !answered && !closed',
    by: 'outgoing.reusedSocket && answered && !closed',
    caughtBy: 'a kept connection that the origin has closed costs another connection, and no 502',
  },
  'stops the fetch when the client leaves': {
    replace: '    counters.iska += 1;\n',
    by: `    counters.iska += 1;
    response.on('close', () => {
      if (!coalesceMisses && !response.writableFinished) running?.destroy();
    });
`,
    also: [
      { replace: '  let closed = false;', by: '  let closed = false;\n  let running: any;' },
      { replace: '      outgoing.end();', by: '      outgoing.end();\n      running = outgoing;' },
    ],
    caughtBy: 'a client that goes away stops nothing: the answer is stored',
  },

  // Exercise 2.4
  'looks the second cache up for every request': {
    replace: '        found = true;\n        break;',
    by: '        found = true;\n        continue;',
    caughtBy: 'a burst of 10 gives the published row',
  },
  'stores a key in the last cache alone': {
    replace: 'layer.cache.set(key, true);',
    by: 'if (layer === layers.at(-1)) layer.cache.set(key, true);',
    caughtBy: 'a burst of 10 gives the published row',
  },
  'counts what the last cache was asked for as store requests': {
    replace: 'if (!found) storeRequests += 1;',
    by: 'if (!found || layers.at(-1)?.cache.get(key) === undefined) storeRequests = layers.at(-1)?.lookups ?? 0;',
    caughtBy: 'a burst of 2 gives the published row',
  },
  'divides nothing by nothing': {
    replace: 'hitRatio: lookups === 0 ? 0 : hits / lookups',
    by: 'hitRatio: hits / lookups',
    caughtBy: 'without requests all counts are 0, and so is the hit ratio',
  },
  'reads the trace once to count it and once more': {
    replace: '  let requests = 0;',
    by: '  let requests = [...trace].length * 0;',
    caughtBy: 'a trace is read once',
  },

  // Exercise 2.5
  'judges the second cache by the hits of the first': {
    replace: 'const [, application] = runCacheChain(',
    by: 'const [application] = runCacheChain(',
    caughtBy: '20000 requests at a burst of 10, 1000 and 1000 keys: 0 0.0000 false',
  },
  'puts the caches into the wrong order': {
    replace: '[capacities.edge, capacities.application]',
    by: '[capacities.application, capacities.edge]',
    caughtBy: 'behind an edge of 100 keys it answers 0.3721 of what it gets: leftovers are no law',
  },
  'divides by all requests instead of those that reach the application': {
    replace: 'savedShare: hitRatio,',
    by: 'savedShare: hits / Math.max(1, [...trace()].length),',
    caughtBy: 'at a burst of 2 it saves 397 of 184815 requests, and 0.21 % is not enough',
  },
  'wants more than the threshold': {
    replace: 'hitRatio >= rule.minSavedShare',
    by: 'hitRatio > rule.minSavedShare',
    caughtBy: 'a share that just reaches the threshold is enough',
  },
  'keeps a cache that nothing reaches': {
    replace: 'keep: lookups > 0 && ',
    by: 'keep: lookups >= 0 && ',
    caughtBy: 'where nothing reaches it there is nothing to keep it for, at any threshold',
  },

  // Exercise 2.6
  'rounds the hit ratio before it is used': {
    replace: 'const missed = 1 - edgeHitRatio;',
    by: 'const missed = 1 - Number(edgeHitRatio.toFixed(4));',
    caughtBy:
      'with an edge the application gets 41.76 reads a second, and the store what it got before',
  },
  'counts a megabit as 2^20 bits': {
    replace: '(bytesPerSecond * 8) / 1e6',
    by: '(bytesPerSecond * 8) / 2 ** 20',
    caughtBy: 'the user side carries 2.18 Mbit/s and the origin link 0.21',
  },
  'charges the origin link with the bytes of the edge': {
    replace: 'mbit(peakReads * missed * wireBytesAtOrigin)',
    by: 'mbit(peakReads * missed * wireBytesAtEdge)',
    also: [{ replace: '(missed * wireBytesAtOrigin) / wireBytesAtEdge', by: 'missed * 1' }],
    caughtBy: 'the user side carries 2.18 Mbit/s and the origin link 0.21',
  },
  'takes what reaches the application for what reaches the store': {
    replace: 'peakReads * storeRequestShare',
    by: 'peakReads * missed',
    caughtBy: 'a burst of 2 leaves more to the origin',
  },
  'lets the caches answer writes': {
    replace: 'requestsReachingStore: readsBehindCache + peakWrites',
    by: 'requestsReachingStore: readsBehindCache + peakWrites * missed',
    caughtBy:
      'with an edge the application gets 41.76 reads a second, and the store what it got before',
  },
  'divides the egress of two idle links': {
    replace: '(missed * wireBytesAtOrigin) / wireBytesAtEdge',
    by: '(peakReads * missed * wireBytesAtOrigin) / (peakReads * wireBytesAtEdge)',
    caughtBy: 'without reads there is no egress, and the share of the misses is still one',
  },
  'names the link that carries more': {
    replace: "return user > origin ? 'user link' : 'origin link';",
    by: "return readEgressMbit > originEgressMbit ? 'user link' : 'origin link';",
    caughtBy: 'what counts is the utilisation, and not how much a link carries',
  },
  'takes a link at its limit for one that is too full': {
    replace: 'Math.max(user, origin) <= maxUtilisation',
    by: 'Math.max(user, origin) < maxUtilisation',
    caughtBy: 'a link at the limit is not too full, and two that are equally full are both named',
  },
  'names one of two links that are equally full': {
    replace: "  if (user === origin) return 'both';\n",
    by: '',
    caughtBy: 'a link at the limit is not too full, and two that are equally full are both named',
  },

  // Exercise 2.7
  'remembers a fetch for ever': {
    replace: '.finally(() => underWay.delete(target))',
    by: '',
    caughtBy: 'a fetch that is done is not remembered: an evicted number is fetched anew',
  },
  'counts those who wait as requests to the origin': {
    replace: '    if (running) {\n',
    by: '    if (running) {\n      counters.kokenIstek += 1;\n',
    caughtBy: 'five requests for one absent number become one, and all five are told iska',
  },
  'hands the private answer of one client to the others': {
    replace: 'return mayShare(answer) ? answer : fetchAnswer(target);',
    by: 'return answer;',
    caughtBy: 'an answer with private belongs to one client: each of the others fetches its own',
  },
  'hands an answer that is stale on arrival to the others': {
    replace: 'return mayShare(answer) ? answer : fetchAnswer(target);',
    by: 'return answer.isPublic ? answer : fetchAnswer(target);',
    caughtBy: 'what was stale on arrival is for one client, too',
  },
  'lets everybody fetch for himself when the one fetch fails': {
    replace: 'return mayShare(answer) ? answer : fetchAnswer(target);',
    by: 'return mayShare(answer) && answer.status !== 502 ? answer : fetchAnswer(target);',
    caughtBy:
      'a fetch that fails before its answer fails all five, and a later request tries again',
  },
  'lets one number wait for another': {
    replace: 'const running = underWay.get(target);',
    by: 'const [running] = underWay.values();',
    caughtBy: 'nobody waits for the fetch of another number',
  },
  'stops the common fetch when its first client leaves': {
    replace: '    counters.iska += 1;\n',
    by: `    counters.iska += 1;
    response.on('close', () => {
      if (coalesceMisses && !response.writableFinished) running?.destroy();
    });
`,
    also: [
      { replace: '  let closed = false;', by: '  let closed = false;\n  let running: any;' },
      { replace: '      outgoing.end();', by: '      outgoing.end();\n      running = outgoing;' },
    ],
    caughtBy: 'clients that go away, the first one too, do not cancel the fetch for the others',
  },
  'tells the age in milliseconds': {
    replace: 'receivedAt) / 1_000)',
    by: 'receivedAt) / 1)',
    caughtBy: 'the age is in whole seconds since the answer came',
  },
  'rounds the age up': {
    replace: 'const since = Math.floor(',
    by: 'const since = Math.round(',
    caughtBy: 'the age is in whole seconds since the answer came',
  },
  'gives a miss an age': {
    replace: "state === 'isabet' ? ageOf(answer) : ageOnArrival",
    by: 'ageOf(answer)',
    caughtBy: 'every answer from the store says its age, in 8 bytes, and a miss says none',
  },
  'forgets the age that an answer came with': {
    replace: 'Math.min(since + ageOnArrival, MAX_SECONDS)',
    by: 'Math.min(since + ageOnArrival * 0, MAX_SECONDS)',
    caughtBy: 'what the answer had behind it when it came is added, and passed on with a miss',
  },
  'takes any text for an age': {
    replace: 'ageOnArrival: secondsIn(headers.age)',
    by: 'ageOnArrival: headers.age === undefined ? undefined : Number(headers.age)',
    caughtBy: 'an age of "1.5" is none',
  },
  'lets max-age win over s-maxage': {
    replace: "directives.get('s-maxage') ?? directives.get('max-age')",
    by: "directives.get('max-age') ?? directives.get('s-maxage')",
    caughtBy: 'max-age=600, s-maxage=10 keeps an answer for 10 seconds',
  },
  'keeps an answer for one second too long': {
    replace: 'ageOf(answer) < answer.freshSeconds',
    by: 'ageOf(answer) <= answer.freshSeconds',
    caughtBy: 'after max-age an answer is not found any more, and the next one is fresh again',
  },
  'obeys the last of two equal directives': {
    replace: 'if (!directives.has(directive)) directives.set(',
    by: 'directives.set(',
    caughtBy: 'max-age=20, max-age=50 keeps an answer for 20 seconds',
  },
  'keeps an answer for ever whose max-age it cannot read': {
    replace: '(secondsIn(fresh) ?? 0)',
    by: '(secondsIn(fresh) ?? Infinity)',
    caughtBy: 'max-age=soon at the age of 40 is stale on arrival: passed on, not stored',
  },
  'stores what is stale on arrival': {
    replace: 'if (mayShare(answer)) cache.set(target, answer);',
    by: 'if (answer.isPublic) cache.set(target, answer);',
    caughtBy: 'what is stale on arrival does not push out what is fresh',
  },
  'serves the old answer when the fetch fails': {
    replace: '.catch(() => UNREACHABLE)',
    by: '.catch(() => cache.get(target) ?? UNREACHABLE)',
    caughtBy: 'when the fetch of a stale answer fails, it is a 502 and not the old one',
  },
  'obeys max-age without a clock': {
    replace: '!clock || ageOf(answer)',
    by: 'ageOf(answer)',
    caughtBy: 'without a clock max-age ends nothing, and no age is sent',
  },
  'sends an age without a clock': {
    replace: 'if (clock && age !== undefined)',
    by: 'if (age !== undefined)',
    caughtBy: 'without a clock max-age ends nothing, and no age is sent',
  },
});
