import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  'lets a name that is listed twice count as one file': {
    replace: 'if (names.has(name)) throw',
    by: 'if (false) throw',
    caughtBy: 'a name that is listed twice is refused, wherever it stands, and named',
  },
  'compares a file with its neighbour only': {
    replace: '    names.add(name);',
    by: '    names.clear();\n    names.add(name);',
    caughtBy: 'a tracking page needs 20 files of 216000 bytes',
    also: [
      { replace: 'let total = 0;', by: 'let total = 0;\n  let count = 0;' },
      { replace: 'total += bytes;', by: 'total += bytes;\n    count = names.size;' },
      {
        replace: 'return { count: names.size, bytes: total };',
        by: 'return { count, bytes: total };',
      },
    ],
  },
  'counts files of equal size once': {
    replace: 'return { count: names.size, bytes: total };',
    by: 'return { count: new Set(assets.map(({ bytes }) => bytes)).size, bytes: total };',
    caughtBy: 'files that are equally large are several files',
  },
  'does not count a file without bytes': {
    replace: 'return { count: names.size, bytes: total };',
    by: 'return { count: assets.filter(({ bytes }) => bytes > 0).length, bytes: total };',
    caughtBy: 'a file of 0 bytes is a file, and an empty page has none',
  },
  'takes half a byte': {
    replace: '!Number.isInteger(bytes) || bytes < 0',
    by: '!(bytes >= 0)',
    caughtBy: 'a size of 0.5 bytes is refused, and its file named',
  },

  'does not enforce the split: the application still serves assets': {
    replace: 'role.servesAssets ? files.get',
    by: 'role ? files.get',
    caughtBy: 'V6: a client that asks the split application for assets gets 404, twenty times',
  },
  'lets the content process answer for tracking': {
    replace: 'role.servesTracking ? TRACKING_PATH',
    by: 'role ? TRACKING_PATH',
    caughtBy: 'the content process does not answer for tracking',
  },
  'does not reset the counter by reading it': {
    replace: 'if (!isHead) counts = { takip: 0, varlik: 0, bayt: 0 };',
    by: '',
    caughtBy: 'a reading is three numbers as plain text, counts nothing, and starts anew',
  },
  'resets the counter before it is read': {
    replace: 'const { takip, varlik, bayt } = counts;',
    by: 'counts = { takip: 0, varlik: 0, bayt: 0 };\n      const { takip, varlik, bayt } = counts;',
    caughtBy: 'a reading is three numbers as plain text, counts nothing, and starts anew',
  },
  'resets the counter by HEAD, too': {
    replace: 'if (!isHead) counts =',
    by: 'counts =',
    caughtBy: 'HEAD is a request of no bytes, and does not reset the counter',
  },
  'counts the response headers as well': {
    replace: 'return isHead ? 0 : (body?.length ?? 0);',
    by: 'return isHead ? 0 : (body?.length ?? 0) + JSON.stringify(headers).length;',
    caughtBy: 'combined, the application handles the whole page load; split, one request of 21',
  },
  'has one counter for all processes': {
    replace: 'let counts: Counter = { takip: 0, varlik: 0, bayt: 0 };',
    by: `const common = globalThis as { sayac?: Counter };
  let counts = (common.sayac ??= { takip: 0, varlik: 0, bayt: 0 });`,
    caughtBy: 'two processes have two counters',
  },
  'handles every unknown path as a tracking query': {
    replace: 'TRACKING_PATH.exec(path)?.[1] : undefined',
    by: "(TRACKING_PATH.exec(path)?.[1] ?? 'TR') : undefined",
    caughtBy: '404, and nothing else, for another path, such as the icon that browsers ask for',
  },
  'lets everything after /takip/ be a tracking number': {
    replace: String.raw`/^\/takip\/((?:[\w\-.~!$&'()*+,;=:@]|%[\da-f]{2})+)$/i`,
    by: String.raw`/^\/takip\/(.+)$/`,
    caughtBy: "a tracking number is one segment, and stays as it is: 'TR%2F1' is not decoded",
  },
  'decodes the tracking number': {
    replace: 'trackingBody(number));',
    by: 'trackingBody(decodeURIComponent(number)));',
    caughtBy: "a tracking number is one segment, and stays as it is: 'TR%2F1' is not decoded",
  },
  'lets a long tracking number grow the body': {
    replace: 'if (number.length > LONGEST_NUMBER) {',
    by: 'if (number.length > 8_192) {',
    caughtBy: 'a tracking number of 450 characters fills the body, one of 451 gets 414',
  },
  'refuses the longest tracking number that fits': {
    replace: 'number.length > LONGEST_NUMBER',
    by: 'number.length >= LONGEST_NUMBER',
    caughtBy: 'a tracking number of 450 characters fills the body, one of 451 gets 414',
  },
  'forgets to pad the tracking answer': {
    replace: '.padEnd(K01.bodyBytes)',
    by: '',
    caughtBy: 'a tracking answer is its JSON and spaces, 480 bytes in all',
  },
  'builds a file path from the request': {
    replace:
      'const file = role.servesAssets ? files.get(decodeOnce(ASSET_PATH.exec(path)?.[1])) : undefined;',
    by: `const fs = process.getBuiltinModule('node:fs');
    const disk = process.getBuiltinModule('node:path').join(process.cwd(), path);
    const known = role.servesAssets ? files.get(decodeOnce(ASSET_PATH.exec(path)?.[1])) : undefined;
    const file =
      known ??
      (path.startsWith('/varlik/') && fs.existsSync(disk) && fs.statSync(disk).isFile()
        ? { body: fs.readFileSync(disk), etag: '"disk"' }
        : undefined);`,
    caughtBy:
      '404, and nothing else, for a path with dots, also where tidying it up would lead to an asset',
  },
  'falls over an asset that does not exist': {
    replace: 'if (file) {',
    by: "if (role.servesAssets && path.startsWith('/varlik/')) {",
    also: [{ replace: 'etag: file.etag,', by: 'etag: file!.etag,' }],
    caughtBy: '404, and nothing else, for an asset that does not exist',
  },
  'has the path tidied up by a URL parser': {
    replace: String.raw`(request.url ?? '').replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*$/s, '')`,
    by: "(URL.parse?.(request.url ?? '', 'http://site') ?? new URL('http://site' + request.url)).pathname",
    caughtBy:
      '404, and nothing else, for a path with dots, also where tidying it up would lead to an asset',
  },
  'decodes the path before it is taken apart': {
    replace: 'ASSET_PATH.exec(path)',
    by: 'ASSET_PATH.exec(decodeOnce(path))',
    caughtBy: '404, and nothing else, for encoded slashes and backslashes, and slashes too many',
  },
  'decodes until nothing is left to decode': {
    replace: 'return decodeURIComponent(segment);',
    by: `const decoded = decodeURIComponent(segment);
    return decoded === segment ? segment : decodeOnce(decoded);`,
    caughtBy: '404, and nothing else, for what was encoded twice',
  },
  'does not decode names at all': {
    replace: 'return decodeURIComponent(segment);',
    by: 'return segment;',
    caughtBy:
      "names are decoded once: /varlik/ku%C5%9F%20resmi.svg is the file 'ku\u015f resmi.svg'",
  },
  'takes a plus for a space, as in a form': {
    replace: 'return decodeURIComponent(segment);',
    by: "return decodeURIComponent(segment.replaceAll('+', ' '));",
    caughtBy: "names are decoded once: /varlik/a+b.svg is the file 'a+b.svg'",
  },
  'falls over a percent sign that encodes nothing': {
    replace: "  } catch {\n    return '';\n  }",
    by: '  } finally {\n  }',
    caughtBy: '404, and nothing else, for a percent sign that encodes nothing',
  },
  'keeps the assets in an object that has properties of its own': {
    replace: 'const files = new Map(assets.map(({ name, bytes }) => [name, toFile(bytes)]));',
    by: `const table: Record<string, ReturnType<typeof toFile>> = {};
  for (const { name, bytes } of assets) table[name] = toFile(bytes);
  const files = { get: (name: string) => table[name] };`,
    caughtBy: '404, and nothing else, for a property that every object has',
  },
  'takes a name in any case': {
    replace: 'files.get(decodeOnce(ASSET_PATH.exec(path)?.[1]))',
    by: 'files.get(decodeOnce(ASSET_PATH.exec(path)?.[1]).toLowerCase())',
    caughtBy: '404, and nothing else, for an asset under a name that is only nearly its own',
  },
  'drops a slash at the end of the path': {
    replace: String.raw`const ASSET_PATH = /^\/varlik\/([^/]+)$/;`,
    by: String.raw`const ASSET_PATH = /^\/varlik\/([^/]+)\/?$/;`,
    caughtBy: '404, and nothing else, for a folder, or an asset as a folder',
  },
  'takes two slashes for one': {
    replace: String.raw`const ASSET_PATH = /^\/varlik\/([^/]+)$/;`,
    by: String.raw`const ASSET_PATH = /^\/+varlik\/+([^/]+)$/;`,
    caughtBy: '404, and nothing else, for encoded slashes and backslashes, and slashes too many',
  },
  'ends a name at a null byte, as C does': {
    replace: 'return decodeURIComponent(segment);',
    by: "return decodeURIComponent(segment).replace(/\\0.*$/s, '');",
    caughtBy: '404, and nothing else, for an encoded null byte',
  },
  'takes overlong UTF-8 for what it means': {
    replace: 'return decodeURIComponent(segment);',
    by: "return decodeURIComponent(segment.replace(/%c0%ae/gi, '.').replace(/%c0%af/gi, '/'));",
    caughtBy: '404, and nothing else, for overlong UTF-8 and other bytes that are no text',
  },
  'takes the query for a part of the name': {
    replace: String.raw`.replace(/\?.*$/s, '')`,
    by: '',
    caughtBy: 'a query chooses nothing: it is ignored, whatever it says',
  },
  'does not understand a target in absolute form': {
    replace: String.raw`.replace(/^https?:\/\/[^/?]*/i, '')`,
    by: '',
    caughtBy: 'a target in absolute form means its path, as a proxy may send it',
  },
  'looks for the path anywhere in the target': {
    replace: String.raw`.replace(/^https?:\/\/[^/?]*/i, '')`,
    by: String.raw`.replace(/^.*(?=\/(varlik|takip|sayac))/i, '')`,
    caughtBy:
      '404, and nothing else, for a target in absolute form that climbs, has no path, or is no http',
  },
  'answers every method as if it were GET': {
    replace: "if (request.method !== 'GET' && !isHead) {",
    by: 'if (false) {',
    caughtBy: 'POST is answered with 405 and the methods that there are, and counts nothing',
  },
  'does not say which methods there are': {
    replace: "answer(405, { allow: 'GET, HEAD' });",
    by: 'answer(405, {});',
    caughtBy: 'DELETE is answered with 405 and the methods that there are, and counts nothing',
  },
  'answers HEAD without a length': {
    replace: "const length = status === 304 ? {} : { 'content-length'",
    by: "const length = status === 304 || isHead ? {} : { 'content-length'",
    caughtBy: 'HEAD of an asset has status and headers of the GET, and no body',
  },
  'answers HEAD with the length of the body that it does not send': {
    replace: "{ 'content-length': body?.length ?? 0 }",
    by: "{ 'content-length': isHead ? 0 : (body?.length ?? 0) }",
    caughtBy: 'HEAD of a tracking query has status and headers of the GET, and no body',
  },
  'counts the bytes that HEAD does not send': {
    replace: 'return isHead ? 0 : (body?.length ?? 0);',
    by: 'return body?.length ?? 0;',
    caughtBy: 'HEAD is a request of no bytes, and does not reset the counter',
  },
  'does not count HEAD as a request': {
    replace: 'counts.varlik += 1;',
    by: 'counts.varlik += isHead ? 0 : 1;',
    caughtBy: 'HEAD is a request of no bytes, and does not reset the counter',
  },
  'knows no HEAD': {
    replace: "request.method !== 'GET' && !isHead",
    by: "request.method !== 'GET'",
    caughtBy: 'HEAD of the counter has status and headers of the GET, and no body',
  },
  'makes the tag weak': {
    replace: 'etag: `"${createHash',
    by: 'etag: `W/"${createHash',
    caughtBy: 'equal content has one strong tag, in every process; other content has another',
  },
  'makes the tag of size and time': {
    replace: "createHash('sha256').update(body).digest('base64url')",
    by: 'bytes}-${process.hrtime.bigint()',
    caughtBy: 'equal content has one strong tag, in every process; other content has another',
  },
  'gives every asset the same tag': {
    replace: "createHash('sha256').update(body).digest('base64url')",
    by: "'v1'",
    caughtBy: 'equal content has one strong tag, in every process; other content has another',
  },
  'compares the whole field with the tag': {
    replace: 'ifNoneMatch?.match(/"[^"]*"/g)?.includes(etag) ?? false',
    by: 'ifNoneMatch === etag',
    caughtBy: 'if-none-match with a list with the tag is answered with 304',
  },
  'compares strongly': {
    replace: 'ifNoneMatch?.match(/"[^"]*"/g)',
    by: 'ifNoneMatch?.match(/(?:W\\/)?"[^"]*"/g)',
    caughtBy: 'if-none-match with the tag, weak is answered with 304',
  },
  'looks for the text of the tag anywhere in the field': {
    replace: 'ifNoneMatch?.match(/"[^"]*"/g)?.includes(etag) ?? false',
    by: 'ifNoneMatch?.includes(etag.slice(1, -1)) ?? false',
    caughtBy: 'if-none-match with a longer tag is answered with 200',
  },
  'does not know the star': {
    replace: "if (ifNoneMatch?.trim() === '*') return true;",
    by: '',
    caughtBy: 'if-none-match with a star is answered with 304',
  },
  'takes any star for the star': {
    replace: "ifNoneMatch?.trim() === '*'",
    by: "ifNoneMatch?.includes('*')",
    caughtBy: 'if-none-match with a star in quotes is answered with 200',
  },
  'takes a field that is there for one that matches': {
    replace: "if (ifNoneMatch?.trim() === '*') return true;",
    by: 'if (ifNoneMatch !== undefined) return true;',
    caughtBy: 'if-none-match with another tag is answered with 200',
  },
  'answers 304 without the tag': {
    replace: 'answer(304, headers)',
    by: 'answer(304, {})',
    caughtBy: 'if-none-match with the tag is answered with 304',
  },
  'does not count a 304': {
    replace: 'counts.varlik += 1;',
    by: "counts.varlik += listsTag(request.headers['if-none-match'], file.etag) ? 0 : 1;",
    caughtBy: 'if-none-match with the tag is answered with 304',
  },
  'counts the bytes that a 304 saves': {
    replace: '? answer(304, headers)',
    by: '? answer(304, headers) + file.body.length',
    caughtBy: 'if-none-match with a star is answered with 304',
  },
  'answers every request that has a tag with 304': {
    replace: "const path = (request.url ?? '')",
    by: `if (request.headers['if-none-match'] === '*') {
      answer(304, {});
      return;
    }
    const path = (request.url ?? '')`,
    caughtBy: 'a tag makes nothing of what does not exist, or is made anew each time',
  },
  'calls the whole file a part of itself': {
    replace: 'answer(200, headers, file.body)',
    by: 'answer(request.headers.range ? 206 : 200, headers, file.body)',
    caughtBy: 'a range is ignored: the whole file comes, and says that it has no parts',
  },
  'promises ranges that it does not serve': {
    replace: "'accept-ranges': 'none'",
    by: "'accept-ranges': 'bytes'",
    caughtBy: 'a range is ignored: the whole file comes, and says that it has no parts',
  },

  'does not clear the counters first': {
    replace: '  await readCounter(application);\n  await readCounter(content);\n',
    by: '',
    caughtBy: 'what happened before the measurement is not part of it',
  },
  'asks the content process for tracking, too': {
    replace: 'await load(application, trackingPath);',
    by: 'await load(assetProcess, trackingPath);',
    caughtBy: 'split, the published counts come out',
  },
  'asks the application for everything in either layout': {
    replace: "layout === 'combined' ? application : content",
    by: "layout === 'combined' ? application : application",
    caughtBy: 'split, the published counts come out',
  },
  'counts the tracking query only': {
    replace: 'applicationRequests: takip + varlik',
    by: 'applicationRequests: takip',
    caughtBy: 'combined, the published counts come out',
  },
  'asks for all assets at once': {
    replace: 'for (const path of assetPaths) await load(assetProcess, path);',
    by: 'await Promise.all(assetPaths.map((path) => load(assetProcess, path)));',
    also: [
      {
        replace: 'openClient(ports.content)',
        by: 'openClient(ports.content, { sockets: 6 })',
      },
    ],
    caughtBy: 'one request after another goes out, the targets in the order of the list',
  },
  'asks for the assets before the page': {
    replace: '  await load(application, trackingPath);\n',
    by: '',
    also: [
      {
        replace: 'await load(assetProcess, path);',
        by: 'await load(assetProcess, path);\n  await load(application, trackingPath);',
      },
    ],
    caughtBy: 'a tracking query that fails ends it with its path and status, before any asset',
  },
  'takes an error page for an asset': {
    replace: 'if (status !== 200) throw',
    by: "if (status !== 200 && !path.startsWith('/varlik/')) throw",
    caughtBy: 'split, a missing asset ends the measurement with its name and status',
  },
  'takes any status from 200 to 299 for the asset': {
    replace: 'if (status !== 200) throw',
    by: 'if (status < 200 || status > 299) throw',
    caughtBy: 'an asset of which only a part comes was not loaded either',
  },
  'reads a counter that is none as 0': {
    replace: 'if (!bayt) throw new Error(',
    by: 'if (!bayt) return { takip: 0, varlik: 0, bayt: 0 };\n  if (!bayt) throw new Error(',
    caughtBy: 'a counter that is refused, or reads something else, is no measurement',
  },
  'reads both counters at the same time': {
    replace: '  await readCounter(application);\n  await readCounter(content);\n',
    by: '  await Promise.all([readCounter(application), readCounter(content)]);\n',
    caughtBy: 'one request after another goes out, the targets in the order of the list',
  },
  'leaves the other process busy when it gives up': {
    replace: '  await readCounter(application);\n  await readCounter(content);\n',
    by: '  await Promise.all([readCounter(application), readCounter(content)]);\n',
    also: [
      {
        replace: 'using application = openClient(ports.application);',
        by: `const application = {
    async send(path: string) {
      const response = await fetch(\`http://127.0.0.1:\${ports.application}\${path}\`);
      return { status: response.status, body: await response.text() };
    },
  } as unknown as HttpClient;`,
      },
    ],
    caughtBy: 'when it ends early no request is under way, not even to the other process',
  },
  'leaves the answer that ends it half-read': {
    replace: 'using application = openClient(ports.application);',
    by: `const application = {
    async send(path: string) {
      const response = await fetch(\`http://127.0.0.1:\${ports.application}\${path}\`);
      return { status: response.status, body: response.ok ? await response.text() : '' };
    },
  } as unknown as HttpClient;`,
    caughtBy: 'the answer that ends it is not left half-read',
  },
  'says that somebody refused, and not how': {
    replace: 'const { status, body } = await client.send(path);',
    by: `const { status, body } = await client.send(path).catch(() => {
    throw new Error(path + ' could not be loaded');
  });`,
    caughtBy: 'split, with nobody at the port of the content it is refused',
  },

  'forgets the peak factor': {
    replace: '(pageLoadsPerDay / SECONDS_PER_DAY) * peakFactor',
    by: 'pageLoadsPerDay / SECONDS_PER_DAY',
    caughtBy: 'two page loads of two million users are 2777.78 asset requests/s and 240.00 Mbit/s',
  },
  'multiplies the bytes of the page by the number of assets': {
    replace: '(peakPageLoads * bytesPerPage * 8) / 1e6',
    by: '(peakPageLoads * assetsPerPage * bytesPerPage * 8) / 1e6',
    caughtBy: 'the table: what the baseline left out is on the application, or beside it',
  },
  'multiplies rounded page loads': {
    replace: 'const peakPageLoads = (pageLoadsPerDay / SECONDS_PER_DAY) * peakFactor;',
    by: 'const peakPageLoads = Number(((pageLoadsPerDay / SECONDS_PER_DAY) * peakFactor).toFixed(2));',
    caughtBy: 'two page loads of two million users are 2777.78 asset requests/s and 240.00 Mbit/s',
  },
  "adds the page's own tracking query once more": {
    replace: 'requestsPerSecond: peakRateAtEdge + peakAssetRequests,',
    by: 'requestsPerSecond: peakRateAtEdge + peakAssetRequests + traffic.peakPageLoads,',
    caughtBy: 'the table: what the baseline left out is on the application, or beside it',
  },
  'counts bandwidth in binary megabits': {
    replace: '(peakPageLoads * bytesPerPage * 8) / 1e6',
    by: '(peakPageLoads * bytesPerPage * 8) / 2 ** 20',
    caughtBy: 'the table: what the baseline left out is on the application, or beside it',
  },
  'forgets that a byte has eight bits': {
    replace: '(peakPageLoads * bytesPerPage * 8) / 1e6',
    by: '(peakPageLoads * bytesPerPage) / 1e6',
    caughtBy: 'two page loads of two million users are 2777.78 asset requests/s and 240.00 Mbit/s',
  },
  'leaves the assets with the application after the split': {
    replace: 'splitApplication: { ...own },',
    by: 'splitApplication: { requestsPerSecond: peakRateAtEdge + peakAssetRequests, mbit: readEgressMbit },',
    caughtBy: 'the table: what the baseline left out is on the application, or beside it',
  },
  'lets the baseline of the table be anything': {
    replace:
      'requireNotNegative({ peakAssetRequests, assetMbit, peakRateAtEdge, readEgressMbit });',
    by: '',
    caughtBy: 'layoutTable refuses loads that make no sense',
  },
  'adds up what both resources ask for': {
    replace: 'const larger = Math.max(requests, bandwidth);',
    by: 'const larger = requests + bandwidth;',
    caughtBy: 'where every link is narrow bandwidth binds, and combined takes 13 instead of 14',
  },
  'plans by requests only': {
    replace: 'const larger = Math.max(requests, bandwidth);',
    by: 'const larger = requests;',
    caughtBy: 'where every link is narrow bandwidth binds, and combined takes 13 instead of 14',
  },
  'rounds processes to the nearest number': {
    replace: 'Math.ceil(larger - larger * SLACK)',
    by: 'Math.round(larger)',
    caughtBy: 'where code is slow and links are wide the split takes 3 processes instead of 9',
  },
  'takes a plain ceil, and one process too many for binary noise': {
    replace: 'Math.ceil(larger - larger * SLACK)',
    by: 'Math.ceil(larger)',
    caughtBy: 'binary noise takes no extra process, and decides no tie',
  },
  'lets binary noise decide which resource binds': {
    replace: 'bandwidth > requests * (1 + SLACK)',
    by: 'bandwidth > requests',
    caughtBy: 'binary noise takes no extra process, and decides no tie',
  },
  'lets bandwidth bind in a tie': {
    replace: 'bandwidth > requests * (1 + SLACK)',
    by: 'bandwidth >= requests',
    caughtBy: 'where both resources ask for equally many it is the requests that bind',
  },
  'plans no process where there is no load': {
    replace: 'Math.max(1, Math.ceil(larger',
    by: 'Math.max(0, Math.ceil(larger',
    caughtBy: 'without page loads there is nothing to split, but a name needs somebody who answers',
  },
  'gives the combined process the capacity of one that runs no code': {
    replace: 'processesFor(table.combinedApplication, capacity.application)',
    by: 'processesFor(table.combinedApplication, capacity.content)',
    caughtBy: 'where code is slow and links are wide the split takes 3 processes instead of 9',
  },
  'runs the combined layout in a tie': {
    replace: 'combined.processes < splitProcesses',
    by: 'combined.processes <= splitProcesses',
    caughtBy: 'with equally many processes it is the split, whose kinds can be scaled apart',
  },
  'compares combined with the larger half of the split': {
    replace: 'splitApplication.processes + splitContent.processes',
    by: 'Math.max(splitApplication.processes, splitContent.processes)',
    caughtBy: 'where every link is narrow bandwidth binds, and combined takes 13 instead of 14',
  },
  'lets a process carry nothing': {
    replace: 'requirePositive({ requestsPerSecond: capacity',
    by: 'requireNotNegative({ requestsPerSecond: capacity',
    caughtBy: 'scalingPlan refuses capacities and loads that make no sense',
  },

  "gives both names the application's TTL": {
    replace: 'survivesRegionLoss || row.budgetSharePercent <= limit',
    by: 'row.budgetSharePercent <= limit',
    caughtBy: 'with a limit of 0.50 % the application takes 30 s, and content 900 s',
  },
  'tests the limit with less than': {
    replace: 'row.budgetSharePercent <= limit',
    by: 'row.budgetSharePercent < limit',
    caughtBy: 'with a limit of 0.50 % the application takes 30 s, and content 900 s',
  },
  'takes the smallest TTL within the limit': {
    replace: 'a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds',
    by: 'a.ttlSeconds - b.ttlSeconds',
    caughtBy: 'with a limit of 1 % the application takes 60 s, and content still 900 s',
  },
  'takes the larger TTL of equally many queries': {
    replace: 'a.ttlSeconds - b.ttlSeconds)',
    by: 'b.ttlSeconds - a.ttlSeconds)',
    caughtBy: 'of equally many queries the smaller TTL, whatever the order of the rows',
  },
  'takes the last row, whichever it is': {
    replace:
      '.sort((a, b) => a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds);',
    by: '.reverse();',
    caughtBy: 'of equally many queries the smaller TTL, whatever the order of the rows',
  },
  "sorts the caller's rows": {
    replace: 'const [best] = rows\n',
    by: `const [best] = (rows as FailoverRow[])
      .sort((a, b) => a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds)\n`,
    caughtBy: 'of equally many queries the smaller TTL, whatever the order of the rows',
  },
  'leaves a name without a TTL out': {
    replace: 'if (!best)',
    by: 'if (!best) return { name, ttlSeconds: 0, upstreamQueries: 0 };\n    if (!best)',
    caughtBy: 'with a limit of 0.4 % there is no TTL for the application, and one for content',
  },

  'forgets how often the edges come back': {
    replace: 'const rounds = input.edges * input.refreshesPerDay;',
    by: 'const rounds = input.edges;',
    caughtBy:
      'with a TTL of 300 s it is 69120 requests and 746.50 MB: 240 takes names that stay valid',
  },
  'multiplies all bytes by the number of assets once more': {
    replace: '(input.bytes * rounds) / 1e6',
    by: '(input.assets * input.bytes * rounds) / 1e6',
    caughtBy: 'each edge fetches each asset once a day: 240 requests and 2.59 MB',
  },
  'counts megabytes in binary': {
    replace: '(input.bytes * rounds) / 1e6',
    by: '(input.bytes * rounds) / 2 ** 20',
    caughtBy: 'each edge fetches each asset once a day: 240 requests and 2.59 MB',
  },
  'takes an edge that fetches nothing for bad input': {
    replace: 'if (!(value >= 0 && value < Infinity)) {',
    by: 'if (!(value > 0 && value < Infinity)) {',
    caughtBy: 'files that are never fetched: 0 requests and 0.00 MB a day',
  },
  'lets NaN through': {
    replace: 'if (!(value >= 0 && value < Infinity)) {',
    by: 'if (value < 0 || value === Infinity) {',
    caughtBy: "assetTraffic refuses a 'users' that makes no sense",
  },
});
