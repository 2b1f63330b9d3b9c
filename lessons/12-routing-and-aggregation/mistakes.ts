import { mistakes } from '#helpers/grading/mistakes.ts';

const PARALLEL = `const [status, price] = await Promise.all([
      ask('durum', plan.trackingNo),
      ask('ucret', plan.trackingNo),
    ]);`;

const MERGED = 'body: JSON.stringify({ ...status.body, ucret, ...added }),';

const FOUND_AND_FOUND = 'status found, price found, contract null: 200 with 183 bytes';

export default mistakes({
  // Exercise 12.1
  'counts the keys at the top instead of the leaves': {
    replace: 'sum + countLeaves(inner), 0);',
    by: 'sum + Math.min(1, countLeaves(inner)), 0);',
    caughtBy: 'TR-4821 carries 12 leaf fields in two bodies, and 11 in one',
  },
  'takes null for nothing': {
    replace: 'if (value === null) return 1;',
    by: 'if (value === null) return 0;',
    caughtBy: 'the hole of TR-9007 is a leaf field: null says something',
  },
  'counts an empty container as one': {
    replace: '(sum: number, inner) => sum + countLeaves(inner), 0);',
    by: '(sum: number, inner) => sum + countLeaves(inner), 0) || 1;',
    caughtBy: '{} counts 0',
  },
  'counts a container besides what it contains': {
    replace: '(sum: number, inner) => sum + countLeaves(inner), 0);',
    by: '(sum: number, inner) => sum + countLeaves(inner), 1);',
    caughtBy: 'a container has the leaf fields of what it contains, together',
  },
  'takes undefined for null': {
    replace: "    case 'string':",
    by: "    case 'undefined':\n    case 'string':",
    caughtBy: 'JSON has no undefined, neither at the top nor inside',
  },
  'counts what JSON would leave out': {
    replace: "    case 'string':",
    by: "    case 'function':\n    case 'symbol':\n    case 'string':",
    caughtBy: 'JSON has no function, neither at the top nor inside',
  },
  'counts a bigint as a number': {
    replace: "    case 'number':",
    by: "    case 'bigint':\n    case 'number':",
    caughtBy: 'JSON has no bigint, neither at the top nor inside',
  },
  'counts only numbers that JSON can write': {
    replace: "    case 'number':\n      return 1;",
    by: "      return 1;\n    case 'number':\n      return Number.isFinite(value) ? 1 : 0;",
    caughtBy: 'every number is one leaf field, also those that JSON writes as null',
  },

  // Exercise 12.2
  'looks the part up in a plain object': {
    replace: 'return serviceMap.has(part) ?',
    by: 'return part in Object.fromEntries(serviceMap) ?',
    caughtBy: '"/takip/TR-4821/constructor" leads nowhere',
  },
  'has the two parts built in': {
    replace: 'return serviceMap.has(part) ?',
    by: "return part === 'durum' || part === 'ucret' ?",
    caughtBy: 'the map decides which parts there are, and the ports do not matter',
  },
  'wants a port that is a number above 0': {
    replace: 'return serviceMap.has(part) ?',
    by: 'return serviceMap.get(part) ?',
    caughtBy: 'the map decides which parts there are, and the ports do not matter',
  },
  'decodes before it splits': {
    replace: "return pathOf(target).split('/').map(decodeURIComponent);",
    by: "return decodeURIComponent(pathOf(target)).split('/');",
    caughtBy: '/takip/TR%2F1 is aggregate TR/1',
  },
  'does not decode': {
    replace: "return pathOf(target).split('/').map(decodeURIComponent);",
    by: "return pathOf(target).split('/');",
    caughtBy: '/takip/TR%2F1 is aggregate TR/1',
  },
  'decodes twice': {
    replace: "split('/').map(decodeURIComponent);",
    by: "split('/').map(decodeURIComponent).map(decodeURIComponent);",
    caughtBy: '/takip/%252F is aggregate %2F',
  },
  'decodes a query before it cuts it off': {
    replace: "return pathOf(target).split('/').map(decodeURIComponent);",
    by: "return target.split('/').map(decodeURIComponent).join('/').split('?', 1)[0]!.split('/');",
    caughtBy: '/takip/TR-4821?% is aggregate TR-4821',
  },
  'takes the query for a part of the path': {
    replace: "return target.split('?', 1)[0] as string;",
    by: 'return target;',
    caughtBy: '/takip/TR-4821?dil=tr is aggregate TR-4821',
  },
  'throws at an escape that is none': {
    replace: `  } catch {
    return [];
  }`,
    by: `  } catch (error) {
    throw error;
  }`,
    caughtBy: '"/takip/%" leads nowhere',
  },
  'takes an escape that is none as it stands': {
    replace: `  } catch {
    return [];
  }`,
    by: `  } catch {
    return pathOf(target).split('/');
  }`,
    caughtBy: '"/takip/%" leads nowhere',
  },
  'lets a URL resolve the dots': {
    replace: 'segmentsOf(target);\n  if',
    by: "segmentsOf(new URL(target, 'http://x').pathname);\n  if",
    caughtBy: '/takip/.. is aggregate ..',
  },
  'ignores empty segments': {
    replace: 'segmentsOf(target);\n  if (before',
    by: "['', ...segmentsOf(target).filter(Boolean)];\n  if (before",
    caughtBy: '"/takip//durum" leads nowhere',
  },
  'ignores a closing slash': {
    replace: 'if (part === undefined) return',
    by: 'if (!part) return',
    caughtBy: '"/takip/TR-4821/" leads nowhere',
  },
  'ignores what comes after the part': {
    replace: '!trackingNo || rest.length > 0)',
    by: '!trackingNo || rest.length > 9)',
    caughtBy: '"/takip/TR-4821/durum/x" leads nowhere',
  },
  'takes an empty number': {
    replace: '!trackingNo || rest',
    by: 'trackingNo === undefined || rest',
    caughtBy: '"/takip/" leads nowhere',
  },
  'takes any first segment': {
    replace: "before !== '' || first !== 'takip' ||",
    by: "before !== '' || !first ||",
    caughtBy: '"/Takip/TR-4821" leads nowhere',
  },
  'takes a target that does not begin with a slash': {
    replace: 'segmentsOf(target);\n  if',
    by: "segmentsOf(target.replace(/^\\/?/, '/'));\n  if",
    caughtBy: '"takip/TR-4821" leads nowhere',
  },
  'compares parts without their case': {
    replace: 'return serviceMap.has(part) ?',
    by: 'return serviceMap.has(part.toLowerCase()) ?',
    caughtBy: '"/takip/TR-4821/Durum" leads nowhere',
  },
  'takes an empty map for one that knows nothing': {
    replace: 'if (serviceMap.size === 0)',
    by: 'if (serviceMap.size < 0)',
    caughtBy: 'an empty map is refused: its gateway could answer nothing',
  },

  // Exercise 12.3
  'leaves the second tracking number in the price': {
    replace: 'return Object.fromEntries(\n    PRICE_FIELDS.map(',
    by: "return Object.fromEntries(\n    (['takipNo', ...PRICE_FIELDS]).map(",
    caughtBy: FOUND_AND_FOUND,
  },
  'merges both bodies flat': {
    replace: MERGED,
    by: 'body: JSON.stringify(ucret ? { ...status.body, ...ucret } : { ...status.body, ucret, ...added }),',
    caughtBy: FOUND_AND_FOUND,
  },
  'nests both bodies': {
    replace: MERGED,
    by: 'body: JSON.stringify({ durum: status.body, ucret, ...added }),',
    caughtBy: FOUND_AND_FOUND,
  },
  'leaves a missing price out': {
    replace: MERGED,
    by: 'body: JSON.stringify({ ...status.body, ...(ucret && { ucret }), ...added }),',
    caughtBy: 'as published a price that does not exist is a hole, and the answer is a 200',
  },
  'puts an empty object where there is no price': {
    replace: "price.state === 'absent') return withPrice(null);",
    by: "price.state === 'absent') return withPrice({});",
    caughtBy: 'as published a price that does not exist is a hole, and the answer is a 200',
  },
  'puts the body of the 404 where there is no price': {
    replace: "price.state === 'absent') return withPrice(null);",
    by: "price.state === 'absent') return withPrice(JSON.parse(REFUSALS.notFound));",
    caughtBy: 'as published a price that does not exist is a hole, and the answer is a 200',
  },
  'passes on every field that the price has': {
    replace: 'return Object.fromEntries(\n    PRICE_FIELDS.map(',
    by: `fields.delete('takipNo');
  for (const name of PRICE_FIELDS) if (!fields.has(name)) throw new TypeError(name);
  if (fields) return Object.fromEntries(fields);
  return Object.fromEntries(
    PRICE_FIELDS.map(`,
    caughtBy: 'null is a value, and the order of the price fields is fixed',
  },
  'takes a failed price for none': {
    replace: "if (contract === 'null' && price.state === 'absent')",
    by: "if (contract === 'null')",
    caughtBy: 'status found, price unreachable, contract null: 502 with 22 bytes',
  },
  'reports what failed as missing': {
    replace: "price.state === 'failed' ? 'ulasilamayan' : 'eksik'",
    by: "'eksik'",
    caughtBy: 'status found, price timeout, contract report: 200 with 153 bytes',
  },
  'reports only what could not be reached in the first place': {
    replace: "if (contract === 'report') {",
    by: "if (contract === 'report' && !(price.state === 'failed' && price.reason === 'timeout')) {",
    caughtBy: 'status found, price timeout, contract report: 200 with 153 bytes',
  },
  'reports a failure before the hole': {
    replace: MERGED,
    by: 'body: JSON.stringify({ ...status.body, ...added, ucret }),',
    caughtBy: 'status found, price absent, contract report: 200 with 146 bytes',
  },
  'answers with a hole although the contract is to fail': {
    replace: "if (contract === 'null' && price",
    by: 'if (price',
    caughtBy: 'status found, price absent, contract fail: 404 with 21 bytes',
  },
  'lets the price decide first': {
    replace: "if (status.state !== 'found') return answerWithout(status);",
    by: `if (price.state === 'failed') return answerWithout(price);
  if (status.state !== 'found') return answerWithout(status);`,
    caughtBy: 'status absent, price timeout, contract null: 404 with 21 bytes',
  },
  'takes a status that has failed for one that does not exist': {
    replace: "if (status.state !== 'found') return answerWithout(status);",
    by: "if (status.state !== 'found') return answerWithout({ state: 'absent' });",
    caughtBy: 'status unreachable, price found, contract null: 502 with 22 bytes',
  },
  'has one status for both kinds of failure': {
    replace: "if (part.reason === 'timeout') return { status: 504, body: REFUSALS.timeout };",
    by: '',
    caughtBy: 'status timeout, price found, contract null: 504 with 22 bytes',
  },
  'leaves out what the price lacks': {
    replace: `if (!fields.has(name)) throw new TypeError(\`the price body lacks "\${name}"\`);`,
    by: '',
    caughtBy: 'a price without "net" is refused where it is used, and only there',
  },
  'looks at a price that nobody asked for': {
    replace: "if (status.state !== 'found') return answerWithout(status);",
    by: `if (price.state === 'found') priceFields(price.body);
  if (status.state !== 'found') return answerWithout(status);`,
    caughtBy: 'a price without "net" is refused where it is used, and only there',
  },
  'takes null for a field that is lacking': {
    replace: 'if (!fields.has(name))',
    by: 'if (!fields.get(name))',
    caughtBy: 'null is a value, and the order of the price fields is fixed',
  },
  'copies the price by assignment, and reads what it inherits then': {
    replace: 'const fields = new Map(Object.entries(body));',
    by: `const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) copy[name] = value;
  const fields = { has: (name: string) => name in copy, get: (name: string) => copy[name] };`,
    caughtBy:
      'a key called __proto__ is a key: it hides no missing price, and is not lost from a status',
  },
  'copies the status by assignment, and loses a key': {
    replace: MERGED,
    by: 'body: JSON.stringify(Object.assign({}, status.body, { ucret }, added)),',
    caughtBy:
      'a key called __proto__ is a key: it hides no missing price, and is not lost from a status',
  },
  'writes into the status part': {
    replace: MERGED,
    by: 'body: JSON.stringify(Object.assign(status.body, { ucret }, added)),',
    caughtBy: 'the parts are left as they were',
  },

  // Exercise 12.4
  'counts characters instead of bytes': {
    replace: 'end(partOf(response.statusCode, body), body.length);',
    by: 'end(partOf(response.statusCode, body), body.toString().length);',
    caughtBy:
      'bytes are bytes and not characters: a status with three letters of two bytes has 118',
  },
  'counts the bytes of found parts only': {
    replace: 'end(partOf(response.statusCode, body), body.length);',
    by: 'end(partOf(response.statusCode, body), response.statusCode === 200 ? body.length : 0);',
    caughtBy: 'absent: a 404, whatever its body, which is counted',
  },
  'takes an error of the service for "no record"': {
    replace: 'if (status === 404) return',
    by: 'if (status !== 200) return',
    caughtBy: 'failed, unreachable: a 500; its 115 bytes are counted',
  },
  'takes every status that begins with a 4 for "no record"': {
    replace: 'if (status === 404) return',
    by: 'if (status && status >= 400 && status < 500) return',
    caughtBy: 'failed, unreachable: a 410; its 21 bytes are counted',
  },
  'takes every success for a part': {
    replace: 'const value = status === 200 ?',
    by: 'const value = status && status < 300 ?',
    caughtBy: 'failed, unreachable: a 201; its 115 bytes are counted',
  },
  'takes a list for an object': {
    replace: 'value === null || Array.isArray(value)) {',
    by: 'value === null) {',
    caughtBy: 'failed, unreachable: a 200 with a list; its 5 bytes are counted',
  },
  'takes null for an object': {
    replace: 'value === null || Array.isArray(value)) {',
    by: 'Array.isArray(value)) {',
    caughtBy: 'failed, unreachable: a 200 with null; its 4 bytes are counted',
  },
  'takes any JSON for an object': {
    replace: "if (typeof value !== 'object' || value === null || Array.isArray(value)) {",
    by: 'if (value === undefined) {',
    caughtBy: 'failed, unreachable: a 200 with a number; its 1 bytes are counted',
  },
  'parses whatever comes': {
    replace: `  } catch {
    return undefined;
  }`,
    by: `  } catch (error) {
    return { hata: String(error) };
  }`,
    caughtBy: 'failed, unreachable: a 200 with HTML; its 6 bytes are counted',
  },
  'rejects when nobody listens': {
    replace: 'return await new Promise((resolve) => {',
    by: 'return await new Promise((resolve, reject) => {',
    also: [{ replace: "outgoing.on('error', () => {});", by: "outgoing.on('error', reject);" }],
    caughtBy: 'failed, unreachable: nobody listens',
  },
  'waits for the end of a body that has broken off': {
    replace: "outgoing.on('close', () => end({ state: 'failed', reason: 'unreachable' }));",
    by: "outgoing.on('error', () => end({ state: 'failed', reason: 'unreachable' }));",
    caughtBy: 'failed, unreachable: the service breaks off, and no byte counts',
  },
  'judges a 404 by its status line': {
    replace: 'const pieces: Buffer[] = [];',
    by: "const pieces: Buffer[] = [];\n      if (response.statusCode === 404) end({ state: 'absent' });",
    caughtBy: 'a 404 that breaks off is not a 404: it is no answer',
  },
  'takes what has come for the whole': {
    replace: "      response.on('end', () => {",
    by: "      response.on('close', () => {",
    also: [
      {
        replace: "outgoing.on('close', () => end(",
        by: "outgoing.on('close', () => setImmediate(end, ",
      },
    ],
    caughtBy: 'a 404 that breaks off is not a 404: it is no answer',
  },
  'waits only for the head of the answer': {
    replace: 'const pieces: Buffer[] = [];',
    by: 'const pieces: Buffer[] = [];\n      clearTimeout(deadline);',
    caughtBy: 'failed, timeout: the service stalls',
  },
  'starts the deadline anew with each byte': {
    replace: "response.on('data', (piece: Buffer) => pieces.push(piece));",
    by: "response.on('data', (piece: Buffer) => deadline.refresh() && pieces.push(piece));",
    caughtBy: 'one deadline for all of it: a service that trickles is cut off when its time is up',
  },
  'takes silence for a service that is not there': {
    replace: "end({ state: 'failed', reason: 'timeout' });\n",
    by: '',
    caughtBy: 'failed, timeout: the service never answers',
  },
  'leaves the connection of a late answer open': {
    replace: 'outgoing.destroy();\n    }, timeoutMs)',
    by: '}, timeoutMs)',
    caughtBy: 'one deadline for all of it: a service that trickles is cut off when its time is up',
  },
  'does not listen to the signal': {
    replace: '...(signal && { signal }),',
    by: '...(signal && {}),',
    caughtBy: 'a signal ends a call at once, as unreachable, and its connection too',
  },
  'leaves its timer behind': {
    replace: 'clearTimeout(deadline);\n      resolve',
    by: 'resolve',
    caughtBy: 'found: a 200 whose body is a JSON object, and the bytes that it had',
  },
  'puts the number into the path as it is': {
    replace: 'encodeURIComponent(trackingNo)',
    by: 'encodeURI(trackingNo)',
    caughtBy: 'the number "TR/1" is asked for as /durum/TR%2F1',
  },
  'lets a URL resolve the number': {
    replace: 'encodeURIComponent(trackingNo)',
    by: "new URL(encodeURIComponent(trackingNo), 'http://x/y/').pathname.slice(3)",
    caughtBy: 'the number ".." is asked for as /durum/..',
  },

  // Exercise 12.5
  'asks one service after the other': {
    replace: PARALLEL,
    by: `const status = await ask('durum', plan.trackingNo);
    const price = await ask('ucret', plan.trackingNo);`,
    caughtBy: 'both services are asked before either has answered',
  },
  'asks for the price only if there is a status': {
    replace: PARALLEL,
    by: `const status = await ask('durum', plan.trackingNo);
    const price: Part =
      status.state === 'found' ? await ask('ucret', plan.trackingNo) : { state: 'absent' };`,
    caughtBy: 'both services are asked before either has answered',
  },
  'mixes up the two parts': {
    replace: 'return mergeTracking(status, price, contract);',
    by: 'return mergeTracking(price, status, contract);',
    caughtBy: 'routing passes on what the service has, aggregation makes one body of both',
  },
  'has one contract for everybody': {
    replace: 'return mergeTracking(status, price, contract);',
    by: "return mergeTracking(status, price, contract && 'null');",
    caughtBy: 'contract report: all sixteen pairs of parts are answered as they are merged',
  },
  'lets a call that rejects end the request': {
    replace: `    } catch {
      return { state: 'failed', reason: 'unreachable' };
    } finally {`,
    by: '    } finally {',
    caughtBy: 'a call that throws at once is one too, and a report says so',
  },
  'takes a call that rejects for "no record"': {
    replace: `    } catch {
      return { state: 'failed', reason: 'unreachable' };`,
    by: `    } catch {
      return { state: 'absent' };`,
    caughtBy: 'a call that rejects is a service that cannot be reached',
  },
  'routes a missing part as the contract says': {
    replace: ': answerWithout(part);',
    by: ": contract === 'report' ? { status: 200, body: 'null' } : answerWithout(part);",
    caughtBy: 'routing knows the same three endings: 404, 502 and 504, in every contract',
  },
  'answers every routed failure with a 404': {
    replace: ': answerWithout(part);',
    by: ": answerWithout({ state: 'absent' });",
    caughtBy: 'routing knows the same three endings: 404, 502 and 504, in every contract',
  },
  'answers what it could not merge with a 500': {
    replace: 'answerTo(request).then(send, () => send(UNREACHABLE));',
    by: "answerTo(request).then(send, () => send({ status: 500, body: '{}' }));",
    caughtBy: 'a price that lacks a field is a 502 in every contract, and is routed as it is',
  },
  'calls whatever part somebody asks for': {
    replace: 'const plan = planRequest(serviceMap, url);',
    by: `const [, , no = '', part] = pathOf(url).split('/');
    const planned = planRequest(serviceMap, url);
    const plan: RoutePlan =
      planned.kind === 'notFound' && part
        ? { kind: 'route', service: part, trackingNo: no }
        : planned;`,
    caughtBy: 'what leads nowhere is a 404: no service is called, and it is no round',
  },
  'counts every request as a round': {
    replace: "    if (method !== 'GET') return",
    by: "    if (pathOf(url) !== '/sayac') counters.tur += 1;\n    if (method !== 'GET') return",
    also: [{ replace: '    counters.tur += 1;\n', by: '' }],
    caughtBy: 'what leads nowhere is a 404: no service is called, and it is no round',
  },
  'counts a round for each call': {
    replace: 'counters.istek += 1;',
    by: 'counters.istek += 1;\n    counters.tur += 1;',
    also: [{ replace: '    counters.tur += 1;\n    if (plan', by: '    if (plan' }],
    caughtBy: 'the counters start at zero, in this order, and a reading sets them to zero',
  },
  'does not look at the method': {
    replace: "if (method !== 'GET') return",
    by: "if (method === '') return",
    caughtBy: 'POST is answered with 404, calls nobody and resets nothing',
  },
  'goes on counting after a reading': {
    replace: 'counters = noCounters();\n      return',
    by: 'return',
    caughtBy: 'the counters start at zero, in this order, and a reading sets them to zero',
  },
  'wants the path of the counters without a query': {
    replace: "if (pathOf(url) === '/sayac') {",
    by: "if (url === '/sayac') {",
    caughtBy: 'the counters start at zero, in this order, and a reading sets them to zero',
  },
  'counts a call when it has been answered': {
    replace: '    counters.istek += 1;\n',
    by: '',
    also: [
      {
        replace: 'counters.bayt += bodyBytes;',
        by: 'counters.bayt += bodyBytes;\n      counters.istek += 1;',
      },
    ],
    caughtBy: 'a call that fails was made: it counts as a call, and has no bytes',
  },
  'counts only the bytes of found parts': {
    replace: 'counters.bayt += bodyBytes;',
    by: "counters.bayt += part.state === 'found' ? bodyBytes : 0;",
    caughtBy: 'the body of a 404 and that of a 500 are bytes too',
  },
  'never notices that a call is over': {
    replace: 'inFlight -= 1;',
    by: 'inFlight -= 0;',
    caughtBy: 'routing has one call open, and two requests at the same time have two',
  },
  'reports the calls of a request instead of those that are open': {
    replace: 'counters.peakInFlight = Math.max(counters.peakInFlight, inFlight);',
    by: 'counters.peakInFlight = Math.min(2, counters.istek);',
    caughtBy: 'routing has one call open, and two requests at the same time have two',
  },
  'forgets the open calls at a reading': {
    replace: 'counters = noCounters();\n      return',
    by: 'counters = noCounters();\n      inFlight = 0;\n      return',
    caughtBy: 'a call that is open while the counters are read is open still',
  },
  'begins a reading with the calls that are open': {
    replace: 'counters = noCounters();\n      return',
    by: 'counters = { ...noCounters(), peakInFlight: inFlight };\n      return',
    caughtBy: 'a call that is open while the counters are read is open still',
  },
  'leaves the content type to the client': {
    replace: "response.writeHead(status, { 'content-type': 'application/json' }).end(body);",
    by: 'response.writeHead(status).end(body);',
    caughtBy: 'routing passes on what the service has, aggregation makes one body of both',
  },
  'prints the counters in another order': {
    replace: 'return { istek: 0, bayt: 0, tur: 0, peakInFlight: 0 };',
    by: 'return { tur: 0, istek: 0, bayt: 0, peakInFlight: 0 };',
    caughtBy: 'the counters start at zero, in this order, and a reading sets them to zero',
  },
  'finds out about a part that is not in the map when somebody asks': {
    replace: "for (const service of ['durum', 'ucret']) {",
    by: "for (const service of ['durum']) {",
    caughtBy: 'a map without both parts is refused before there is a listener',
  },

  // Exercise 12.6
  'asks delivery for everything': {
    replace: 'const port = serviceMap.get(service) as number;',
    by: "const port = serviceMap.get(service && 'durum') as number;",
    caughtBy: 'routing leaves the bytes as they are, byte for byte',
  },
  'makes its calls one after the other': {
    replace: 'const calls = new AbortController();',
    by: `const calls = new AbortController();
  let last: Promise<unknown> = Promise.resolve();`,
    also: [
      {
        replace:
          'return fetchPart({ port, service, trackingNo, timeoutMs, signal: calls.signal });',
        by: `const next = last.then(() =>
          fetchPart({ port, service, trackingNo, timeoutMs, signal: calls.signal }),
        );
        last = next;
        return next;`,
      },
    ],
    caughtBy: 'the barrier: services that answer only once both are asked get both questions',
  },
  'gives services all the time that they want': {
    replace: 'trackingNo, timeoutMs, signal: calls.signal });',
    by: 'trackingNo, timeoutMs: LONGEST_TIMER_MS, signal: calls.signal });',
    caughtBy: 'a ucret service that stalls is a 504, for routing and for aggregation',
  },
  'starts with a time that no timer knows': {
    replace: 'timeoutMs <= LONGEST_TIMER_MS)) {',
    by: 'timeoutMs <= Infinity)) {',
    caughtBy: 'a map without both parts, and a time that no timer knows, are refused',
  },
  'starts without any time': {
    replace: 'if (!(timeoutMs > 0 &&',
    by: 'if (!(timeoutMs >= 0 &&',
    caughtBy: 'a map without both parts, and a time that no timer knows, are refused',
  },
  'leaves its calls to the services open when it closes': {
    replace: 'calls.abort();',
    by: '',
    caughtBy: 'close() cuts what is open on both sides, and then nobody listens',
  },
  'waits for its calls although it was told to cut': {
    replace: 'await server.close(how);',
    by: 'await server.close({ ...how, drain: true });',
    caughtBy: 'close() cuts what is open on both sides, and then nobody listens',
  },
  'cuts although it was told to drain': {
    replace: 'await server.close(how);',
    by: 'await server.close(how && {});',
    caughtBy: 'close({ drain: true }) lets a running request have its answer',
  },
  'cuts its calls before it has drained': {
    replace: 'await server.close(how);',
    by: 'calls.abort(how);\n    await server.close(how);',
    caughtBy: 'close({ drain: true }) lets a running request have its answer',
  },

  // Exercise 12.7
  'scales aggregation by the sum of both bodies': {
    replace: 'const aggregatedBytes = statusBytes + priceShare * (combinedBytes - statusBytes);',
    by: 'const aggregatedBytes = statusBytes + priceShare * (priceBytes + 0 * combinedBytes);',
    caughtBy:
      'half the requests and nearly the same egress: bytes follow the fields, not the envelopes',
  },
  'takes a third of 1250 for the rounded rate': {
    replace: 'const requestsPerSecond = peakReadsPerSecond * requestsPerView;',
    by: `const requestsPerSecond =
      (peakReadsPerSecond === 416.67 ? 1_250 / 3 : peakReadsPerSecond) * requestsPerView;`,
    caughtBy:
      'half the requests and nearly the same egress: bytes follow the fields, not the envelopes',
  },
  'forgets to divide by the requests of a view': {
    replace: '/ statusBytes / requestsPerView;',
    by: '/ statusBytes;',
    caughtBy:
      'half the requests and nearly the same egress: bytes follow the fields, not the envelopes',
  },
  'halves the mean whatever the share': {
    replace: '/ statusBytes / requestsPerView;',
    by: '/ statusBytes / Math.ceil(requestsPerView);',
    caughtBy: 'if forty percent of the views want the price, both layouts send about 2 Mbit/s',
  },
  'sends the combined body to everybody': {
    replace: 'priceShare * (combinedBytes - statusBytes);',
    by: '(combinedBytes - statusBytes);',
    caughtBy: 'if forty percent of the views want the price, both layouts send about 2 Mbit/s',
  },
  'sends the price to everybody who calls separately': {
    replace: 'const separateBytes = statusBytes + priceShare * priceBytes;',
    by: 'const separateBytes = statusBytes + priceBytes;',
    caughtBy: 'if forty percent of the views want the price, both layouts send about 2 Mbit/s',
  },
  'takes a megabit for 2^20 bits': {
    replace: '* 8) / 1e6;',
    by: '* 8) / 2 ** 20;',
    caughtBy:
      'half the requests and nearly the same egress: bytes follow the fields, not the envelopes',
  },
  'rounds the mean body on the way': {
    replace: 'const megabitPerSecond = (requestsPerSecond * bytesPerRequest * 8) / 1e6;',
    by: 'const megabitPerSecond = (requestsPerSecond * Math.round(bytesPerRequest) * 8) / 1e6;',
    caughtBy: 'requests times their mean body is the egress, and the ratios are those of the loads',
  },
  'divides loads that may be 0': {
    replace: 'requestRatio: 1 / (1 + priceShare),',
    by: 'requestRatio: peakReadsPerSecond / (peakReadsPerSecond * (1 + priceShare)),',
    caughtBy: 'the ratios are those of one view: they hold at night too, when nobody asks',
  },
  'turns the ratios around': {
    replace: 'egressRatio: aggregatedBytes / separateBytes,',
    by: 'egressRatio: separateBytes / aggregatedBytes,',
    caughtBy:
      'half the requests and nearly the same egress: bytes follow the fields, not the envelopes',
  },
  'lets a status have no bytes': {
    replace: 'if (statusBytes === 0) throw',
    by: 'if (statusBytes < 0) throw',
    caughtBy: 'a status of 0 bytes has no ratio to anything, and a share is at most 1',
  },
  'takes a percentage for a share': {
    replace: 'if (priceShare > 1) throw',
    by: 'if (priceShare > 100) throw',
    caughtBy: 'a status of 0 bytes has no ratio to anything, and a share is at most 1',
  },
  'lets an infinite load through': {
    replace: 'value < Infinity)) {',
    by: 'value <= Infinity)) {',
    caughtBy: 'peakReadsPerSecond has to be finite, and not negative',
  },
});
