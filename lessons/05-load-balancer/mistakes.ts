import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  'forgets the target utilisation and plans with the saturation rate': {
    replace: 'ceilWithSlack(peakRate / safeRate)',
    by: 'ceilWithSlack(peakRate / saturationRate)',
    caughtBy: 'three replicas carry the peak, and four carry it with one of them gone',
  },
  'answers 3 when asked for one tolerated failure': {
    replace: 'const replicas = minReplicas + toleratedFailures;',
    by: 'const replicas = minReplicas;',
    caughtBy: 'three replicas carry the peak, and four carry it with one of them gone',
  },
  "spreads the dead replica's load over all replicas, itself included": {
    replace: 'const rate = peakRate / (replicas - failed);',
    by: 'const rate = peakRate / replicas + (failed * peakRate) / replicas / replicas;',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'divides by the safe rate to get the utilisation': {
    replace: 'return { rate, utilisation: rate / saturationRate };',
    by: 'return { rate, utilisation: rate / (saturationRate / 2) };',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'rounds with Math.round before the number is printed': {
    replace: 'return { rate, utilisation: rate / saturationRate };',
    by: 'return { rate: Math.round(rate * 100) / 100, utilisation: rate / saturationRate };',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'takes a plain ceil, and one replica too many at the boundary': {
    replace: 'const ceilWithSlack = (x: number) => Math.ceil(x - x * SLACK);',
    by: 'const ceilWithSlack = (x: number) => Math.ceil(x);',
    caughtBy: 'a quotient that is whole but for binary noise takes no extra replica',
  },
  'plans no replica at all for a very small peak': {
    replace: 'Math.max(1, ceilWithSlack(peakRate / safeRate))',
    by: 'Math.max(0, Math.ceil(peakRate / safeRate - 1e-9))',
    caughtBy: 'a peak below the safe rate takes one replica, and two if one may be lost',
  },
  'lets more replicas fail than there are': {
    replace: 'if (failed > replicas) throw new RangeError(',
    by: 'if (failed > Infinity) throw new RangeError(',
    caughtBy: "replicaLoad refuses a 'failed' that makes no sense",
  },
  'lets NaN through': {
    replace: 'if (!(value > 0 && value < Infinity))',
    by: 'if (value <= 0 || value === Infinity)',
    caughtBy: "planCapacity refuses a 'peakRate' that makes no sense",
  },
  'charges the whole peak to the failure': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = peakRate * windowSeconds;',
    caughtBy: 'with a health check a failure drops 34.26 requests, 97 in a month',
  },
  'charges the average rate instead of the peak': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = (dailyRequests / 86_400 / replicas) * windowSeconds;',
    caughtBy: 'with a health check a failure drops 34.26 requests, 97 in a month',
  },
  'multiplies a rounded rate': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = Number((peakRate / replicas).toFixed(2)) * windowSeconds;',
    caughtBy: 'with a repair by hand it drops 102,778, 289,834 in a month: 3000 times as many',
  },
  'divides the drop by a month of peak traffic': {
    replace: '1 - perMonth / (dailyRequests * DAYS_PER_MONTH)',
    by: '1 - perMonth / (peakRate * 86_400 * 30)',
    caughtBy: 'with a repair by hand it drops 102,778, 289,834 in a month: 3000 times as many',
  },
  'rounds the month to whole requests': {
    replace: 'const perMonth = perFailure * failuresPerMonth;',
    by: 'const perMonth = Math.round(perFailure * failuresPerMonth);',
    caughtBy: 'the 97 requests of a month are 96.61 before they are printed',
  },
  'lets the availability fall below 0': {
    replace: 'Math.max(0, 1 - perMonth',
    by: 'Math.max(-Infinity, 1 - perMonth',
    caughtBy: 'availability never falls below 0',
  },
  'takes plain floor and ceil for the interval': {
    replace: 'const floorWithSlack = (x: number) => Math.floor(x + x * SLACK);',
    by: 'const floorWithSlack = (x: number) => Math.floor(x);',
    caughtBy: 'limits that are whole but for binary noise are those whole numbers: 43 to 87 ms',
  },
  'counts the probes of one replica only': {
    replace: '(1_000 * replicas) / (maxProbeShare * peakRate)',
    by: '1_000 / (maxProbeShare * peakRate)',
    caughtBy:
      '34.26 drops and a share of 3 % leave 195 to 200 ms: Y3 is the last value that passes',
  },
  'returns an interval although none fits': {
    replace: 'if (minMs > maxMs) {',
    by: 'if (minMs > Infinity) {',
    caughtBy: "where nothing fits, the error has both limits: '292' and '200' ms",
  },
  'calls two wishes that exclude each other bad input': {
    replace: 'throw new Error(\n      `no interval fits',
    by: 'throw new RangeError(\n      `no interval fits',
    caughtBy: "where nothing fits, the error has both limits: '292' and '200' ms",
  },
  'counts failures in total instead of in a row': {
    replace: 'state.against = ok === state.up ? 0 : state.against + 1;',
    by: 'state.against += ok === state.up ? 0 : 1;',
    caughtBy: "only a row counts: '--+---' with { fall: 3, rise: 1 } gives 'uuuuud'",
  },
  'uses the threshold for going down in both directions': {
    replace: 'state.up ? this.#fall : this.#rise',
    by: 'state.up ? this.#fall : this.#fall',
    caughtBy: "only a row counts: '-++' with { fall: 1, rise: 2 } gives 'ddu'",
  },
  'never lets a dead replica come back': {
    replace: 'state.up = ok;',
    by: 'state.up = false;',
    caughtBy: 'one failed probe takes k2 out, one success puts it back in its place',
  },
  'makes one replica pay for the failures of another': {
    replace: 'this.#states.set(name, { up: true, against: 0 });',
    by: 'this.#states.set(name, [...this.#states.values()][0] ?? { up: true, against: 0 });',
    caughtBy: 'one replica says nothing about another',
  },
  'charges a hang like a crash': {
    replace: "(failure === 'hang' ? timeoutMs : 0)",
    by: '0',
    caughtBy:
      '34.26 is what the worst crash drops; the average one drops 17.13, the worst hang 51.39',
  },
  'takes a whole interval for the average': {
    replace: 'expectedMs: intervalMs / 2 + lastProbe',
    by: 'expectedMs: intervalMs + lastProbe',
    caughtBy:
      '34.26 is what the worst crash drops; the average one drops 17.13, the worst hang 51.39',
  },
  'adds the time-out once for each failed probe': {
    replace: "(fall - 1) * intervalMs + (failure === 'hang' ? timeoutMs : 0)",
    by: "(fall - 1) * intervalMs + (failure === 'hang' ? fall * timeoutMs : 0)",
    caughtBy: "a 'hang' at 200 ms, time-out 100 ms, threshold 3: 600 and 700 ms",
  },
  'probes at the start': {
    replace: '  after(intervalMs, round);\n\n  return {',
    by: '  round();\n\n  return {',
    caughtBy: 'the first round comes one interval after the start, and each asks every replica',
  },
  'stops asking a replica that is down': {
    replace: 'for (const replica of replicas) ask(replica);',
    by: 'for (const replica of tracker.up()) ask(replica);',
    caughtBy: 'the first round comes one interval after the start, and each asks every replica',
  },
  'waits for a probe for ever': {
    replace: 'const deadline = after(timeoutMs, () => settle(false));',
    by: 'const deadline = after(timeoutMs, () => {});',
    caughtBy: "a running health check agrees with the formula: a 'hang', threshold 1",
  },
  'believes an answer that comes after the deadline': {
    replace: 'if (settled || stopped) return;',
    by: 'if (stopped) return;',
    caughtBy: 'a verdict that comes after its time-out counts for nothing',
  },
  'lets a throwing probe end the health check': {
    replace: '(async () => probe(replica))()',
    by: 'probe(replica)',
    caughtBy: 'a probe that throws has failed, and the health check goes on',
  },
  'leaves its timers running when it is stopped': {
    replace: 'for (const timer of timers) timer.cancel();',
    by: 'timers.clear();',
    caughtBy: 'after stop() no timer is left, and a late verdict changes nothing',
  },
  'lets a late verdict change a stopped health check': {
    replace: 'if (settled || stopped) return;',
    by: 'if (settled) return;',
    caughtBy: 'after stop() no timer is left, and a late verdict changes nothing',
  },

  // Exercise 5.5
  'steps over dead replicas of the whole list without moving the counter': {
    replace: 'const replica = candidates[rotation % candidates.length];',
    by: `const turn = replicas.map((_, step) => replicas[(rotation + step) % replicas.length]);
      const replica = turn.find((one) => one && candidates.includes(one));`,
    caughtBy: 'k2 dies: who looks answers 300 of 300, who does not loses 100',
  },
  'probes, and never takes a dead replica out': {
    replace: 'if (!closing.signal.aborted) tracker.record(name, ok);',
    by: 'if (!closing.signal.aborted) tracker.record(name, ok || true);',
    caughtBy: 'k2 dies: who looks answers 300 of 300, who does not loses 100',
  },
  'takes any answer to a probe for good health': {
    replace: 'verdict(statusCode === 200)',
    by: 'verdict(statusCode !== undefined)',
    caughtBy: 'a replica whose health check answers 500 is out, although its port is open',
  },
  'retries instead of checking': {
    replace: 'if (!closing.signal.aborted) tracker.record(name, ok);',
    by: 'if (!closing.signal.aborted) tracker.record(name, ok || true);',
    also: [{ replace: 'retry = false }', by: 'retry = true }' }],
    caughtBy: 'k2 dies: who looks answers 300 of 300, who does not loses 100',
  },
  'moves the rotation on a 503': {
    replace: 'if (candidates.every((replica) => tried.has(replica))) return undefined;',
    by: `if (candidates.every((replica) => tried.has(replica))) {
      rotation += 1;
      return undefined;
    }`,
    caughtBy:
      "'V5': 3 replicas, 10 requests, killed [ 'k1', 'k2', 'k3' ]: 'kod 503=10', and all is well after the restart",
  },
  'moves the rotation once for each probe': {
    replace: 'if (!health) return;',
    by: `if (!health) return;
    rotation += replicas.length;`,
    caughtBy:
      "'V2': 5 replicas, 100 requests, killed [ 'k1', 'k4' ]: 'k2=33 k3=34 k5=33', and all is well after the restart",
  },
  'starts the rotation anew when the pool changes': {
    replace: 'let rotation = 0;',
    by: 'let rotation = 0;\n  let poolSize = replicas.length;',
    also: [
      {
        replace: 'const candidates = pool();',
        by: `const candidates = pool();
    if (candidates.length !== poolSize) rotation = 0;
    poolSize = candidates.length;`,
      },
    ],
    caughtBy:
      "'V2': 5 replicas, 100 requests, killed [ 'k1', 'k4' ]: 'k2=33 k3=34 k5=33', and all is well after the restart",
  },
  'takes the replicas in the order of their names': {
    replace: 'return replicas.filter(({ name }) => up.has(name));',
    by: `return replicas
      .filter(({ name }) => up.has(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));`,
    caughtBy: 'replicas take turns in the order of the list',
  },
  'takes a replica out because of a failure that a user met': {
    replace: 'counters.unreachable += 1;',
    by: 'counters.unreachable += 1;\n        tracker.record(replica.name, false);',
    caughtBy: 'user traffic never marks a replica down: only a probe does',
  },
  'counts a failed probe as unreachable': {
    replace: "probe.on('error', () => verdict(false));",
    by: "probe.on('error', () => verdict(false));\n    probe.on('error', () => onFailure());",
    also: [
      {
        replace: 'health.timeoutMs, closing.signal);',
        by: `health.timeoutMs, closing.signal, () => {
          counters.unreachable += 1;
        });`,
      },
      {
        replace: 'timeoutMs: number, signal: AbortSignal): Promise<boolean> {',
        by: 'timeoutMs: number, signal: AbortSignal, onFailure: () => void): Promise<boolean> {',
      },
    ],
    caughtBy: 'user traffic never marks a replica down: only a probe does',
  },
  'probes one replica after another': {
    replace: `await Promise.all(
      replicas.map(async ({ name, port }) => {`,
    by: 'for (const { name, port } of replicas) {',
    also: [
      {
        replace: `tracker.record(name, ok);
      }),
    );`,
        by: 'tracker.record(name, ok);\n    }',
      },
    ],
    caughtBy: 'a round asks all replicas at once, those that are out included',
  },
  'probes only the replicas that are up': {
    replace: 'replicas.map(async ({ name, port }) => {',
    by: 'pool().map(async ({ name, port }) => {',
    caughtBy: 'a round asks all replicas at once, those that are out included',
  },
  'waits for a probe until it is answered': {
    replace: 'setTimeout(() => verdict(false), timeoutMs)',
    by: 'setTimeout(() => {}, timeoutMs)',
    caughtBy: 'a replica that accepts and never answers is out after one round of probes',
  },
  'takes every replica out at its first failed probe': {
    replace: 'health || { fall: 1, rise: 1 },',
    by: 'health ? { ...health, fall: Math.min(1, health.fall) } : { fall: 1, rise: 1 },',
    caughtBy: 'the thresholds are those of the health check: two failures, two successes',
  },
  'never probes by itself': {
    replace: 'health && health.intervalMs > 0',
    by: 'health && health.intervalMs < 0',
    caughtBy: 'with an interval the balancer probes by itself',
  },
  'probes at the start, before the first interval is over': {
    replace: `  const timer =
    health && health.intervalMs > 0`,
    by: `  if (health && health.intervalMs > 0) await probeNow();
  const timer =
    health && health.intervalMs > 0`,
    caughtBy: 'before the first interval is over nobody has been probed',
  },
  'probes on after close()': {
    replace: 'clearInterval(timer);',
    by: 'timer?.unref();',
    also: [
      {
        replace: 'agent: false, signal });',
        by: 'agent: false });\n    void signal;',
      },
    ],
    caughtBy: 'close() frees the port and probes no more',
  },
  'takes the verdict of a probe that close() has cut': {
    replace: 'if (!closing.signal.aborted) tracker.record(name, ok);',
    by: 'tracker.record(name, ok);',
    caughtBy: 'a probe that is still running when the balancer closes changes nothing',
  },
  'listens before it looks at its options': {
    replace: 'const { replicas, health, adminPort, headerTimeoutMs, retry = false } = options;',
    by: `const { replicas, health, adminPort, headerTimeoutMs, retry = false } = options;
  await (await startHttpServer(() => {}, options)).close();`,
    caughtBy: 'what it refuses, it refuses before it listens',
  },
  'serves the status page for every target that begins like it': {
    replace: 'if (request.url !== STATUS_PATH) return false;',
    by: 'if (!request.url?.startsWith(STATUS_PATH)) return false;',
    caughtBy: 'the status page moves no counter, whatever the method',
  },
  'moves the rotation for the status page': {
    replace: "response.writeHead(200, { 'content-type': 'application/json' })",
    by: "rotation += 1;\n    response.writeHead(200, { 'content-type': 'application/json' })",
    caughtBy: 'the status page moves no counter, whatever the method',
  },
  'lists the dead replicas on the status page too': {
    replace: 'ayakta: pool().map(',
    by: 'ayakta: replicas.map(',
    caughtBy: 'k2 dies: who looks answers 300 of 300, who does not loses 100',
  },
  'forwards the path and forgets the query': {
    replace: 'path: request.url,',
    by: "path: request.url?.split('?')[0],",
    caughtBy: 'method, target, fields and body reach the replica, and its answer the client',
  },

  // Exercise 5.6
  'passes on all fields of a request, those of the hop included': {
    replace: 'const passed = endToEnd(headers);',
    by: 'const passed: OutgoingHttpHeaders = { ...headers };',
    caughtBy: 'X1: fields of the hop from the client stay behind, all others arrive',
  },
  'drops the well-known fields of the hop and not those that Connection names': {
    replace: "(headers.connection ?? '').split(',')",
    by: "''.split(',')",
    caughtBy: 'X1: fields of the hop from the client stay behind, all others arrive',
  },
  'minds the case of the names in Connection': {
    replace: 'option.trim().toLowerCase()',
    by: 'option.trim()',
    caughtBy: 'X1: fields of the hop from the client stay behind, all others arrive',
  },
  'leaves the blanks around the names in Connection': {
    replace: 'option.trim().toLowerCase()',
    by: 'option.toLowerCase()',
    caughtBy: 'X1: fields of the hop from the client stay behind, all others arrive',
  },
  "puts its own address into the request's host": {
    replace: 'const passed = endToEnd(headers);',
    by: 'const passed = endToEnd(headers);\n  delete passed.host;',
    caughtBy: 'X1: fields of the hop from the client stay behind, all others arrive',
  },
  'passes on all fields of a response, those of the hop included': {
    replace: '...endToEnd(message.headers),',
    by: '...message.headers,',
    caughtBy: 'X2: fields of the hop from the replica stay behind, all others arrive',
  },
  'takes transfer-encoding away and does not frame the body again': {
    replace: "if (headers['transfer-encoding']) passed['transfer-encoding'] = 'chunked';",
    by: '',
    caughtBy: 'X3: a body that came in chunks is framed again, and is no second request',
  },
  'lets a client have content-length taken away': {
    replace: "const ALWAYS_PASSED = new Set(['host', 'content-length']);",
    by: "const ALWAYS_PASSED = new Set(['host']);",
    caughtBy: 'X3: a body that came in chunks is framed again, and is no second request',
  },
  'forwards a target that no URL can be made of': {
    replace: 'if (!isTarget(request.url)) {',
    by: "if (!isTarget(request.url && '/')) {",
    caughtBy: 'X10: a target that no URL can be made of is a 400, and moves nothing',
  },
  'refuses targets that merely look odd': {
    replace: "new URL(target ?? '', 'http://x'); //",
    by: "if (!/^\\/[a-z]/.test(target ?? '')) throw new Error('odd'); //",
    caughtBy: 'X10: a target that no URL can be made of is a 400, and moves nothing',
  },
  'moves the rotation before it looks at the target': {
    replace: "response.writeHead(400).end('hedef okunamadi');",
    by: "rotation += 1;\n      response.writeHead(400).end('hedef okunamadi');",
    caughtBy: 'X10: a target that no URL can be made of is a 400, and moves nothing',
  },
  'leaves the status page on the data port although it has a port of its own': {
    replace: 'if (adminPort === undefined && answerStatus(request, response)) return;',
    by: 'if (answerStatus(request, response)) return;',
    caughtBy:
      'X15: with an admin port the status page is there alone, and users cannot read the pool',
  },
  'serves the status for every path of the admin port': {
    replace: 'if (!answerStatus(request, response)) response.writeHead(404).end();',
    by: 'if (!answerStatus(request, response)) response.end(statusBody());',
    caughtBy:
      'X15: with an admin port the status page is there alone, and users cannot read the pool',
  },

  // Exercise 5.7
  'collects the whole response before it passes it on': {
    replace: 'message.pipe(response); //',
    by: `void message.toArray().then(
          (pieces) => response.end(Buffer.concat(pieces)),
          () => {},
        ); //`,
    caughtBy: 'X4: both bodies pass piece by piece, without waiting for the next one',
  },
  'collects the whole upload before it passes it on': {
    replace: 'request.pipe(upstream);',
    by: `void request.toArray().then(
              (pieces) => upstream.end(Buffer.concat(pieces)),
              () => {},
            );`,
    caughtBy: 'X4: both bodies pass piece by piece, without waiting for the next one',
  },
  'writes to the client without asking whether it reads': {
    replace: 'message.pipe(response); //',
    by: `message.on('data', (piece) => response.write(piece));
        message.on('end', () => response.end()); //`,
    caughtBy: 'X5: whoever does not read slows down whoever sends',
  },
  'writes to the replica without asking whether it reads': {
    replace: 'request.pipe(upstream);',
    by: `request.on('data', (piece) => upstream.write(piece));
            request.on('end', () => upstream.end());`,
    caughtBy: 'X5: whoever does not read slows down whoever sends',
  },
  'does not notice that the client has gone': {
    replace: "client.on('close', clientLeft);",
    by: '',
    caughtBy: 'X6: a replica learns at once that its client has gone',
  },
  'counts a client that has gone, and lets the replica work on': {
    replace: `counters.clientAborted += 1;
      outgoing?.destroy();`,
    by: 'counters.clientAborted += 1;',
    caughtBy: 'X6: a replica learns at once that its client has gone',
  },
  'blames the replica for a client that has gone': {
    replace: `settled = true;
      counters.clientAborted += 1;`,
    by: 'counters.clientAborted += 1;',
    caughtBy: 'X6: a replica learns at once that its client has gone',
  },
  'answers 503 for a replica that cannot be reached': {
    replace: "else answer(502, 'kopyaya ulasilamadi');",
    by: "else answer(503, 'kopyaya ulasilamadi');",
    caughtBy: 'X7: a replica that breaks off before it answers is a 502',
  },
  'ends a truncated response as if it were complete': {
    replace: 'client.destroy(); //',
    by: 'response.end(); //',
    caughtBy: 'X8: a response that breaks off never looks complete',
  },
  'lets the client wait for the rest of a truncated response': {
    replace: 'client.destroy(); //',
    by: '//',
    caughtBy: 'X8: a response that breaks off never looks complete',
  },
  'counts a response that breaks off as unreachable': {
    replace: 'counters.upstreamReset += 1;',
    by: 'counters.unreachable += 1;',
    caughtBy: 'X8: a response that breaks off never looks complete',
  },
  'waits for response headers for ever': {
    replace: 'headerTimeoutMs === undefined',
    by: 'headerTimeoutMs !== null',
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'lets the header time-out cut a body that takes longer': {
    replace: `incoming = message;
        clearTimeout(timer);`,
    by: 'incoming = message;',
    also: [
      {
        replace: "answer(504, 'kopya zamaninda yanit vermedi');",
        by: `if (response.headersSent) client.destroy();
              else answer(504, 'kopya zamaninda yanit vermedi');`,
      },
    ],
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'retries after a time-out': {
    replace: "answer(504, 'kopya zamaninda yanit vermedi');",
    by: '',
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'answers 504 and leaves the connection to the replica open': {
    replace: `yanit vermedi');
              upstream.destroy();`,
    by: "yanit vermedi');",
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'cuts the running responses although it was told to drain': {
    replace: 'server.close({ drain })',
    by: 'server.close()',
    caughtBy: 'X16: a drained proxy finishes what is running and takes nothing new',
  },
  'drains although nobody asked for it': {
    replace: 'server.close({ drain })',
    by: 'server.close({ drain: drain || true })',
    caughtBy: 'close() without drain cuts the response that is running',
  },

  // Exercise 5.8
  'repeats requests that nobody wanted repeated': {
    replace: 'retry = false }',
    by: 'retry = true }',
    caughtBy: 'without being asked to, the balancer repeats nothing: every second request is a 502',
  },
  'repeats a request that may have been carried out': {
    replace: 'if (retry && (!maySent || repeatable)) attempt();',
    by: 'if (retry) attempt();',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'repeats a POST that has no body': {
    replace: "const repeatable = !withBody && IDEMPOTENT.has(request.method ?? '');",
    by: 'const repeatable = !withBody;',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'repeats a PUT whose body has been streamed away': {
    replace: "const repeatable = !withBody && IDEMPOTENT.has(request.method ?? '');",
    by: "const repeatable = IDEMPOTENT.has(request.method ?? '');",
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'never repeats a request that has been sent': {
    replace: 'if (retry && (!maySent || repeatable)) attempt();',
    by: 'if (retry && !maySent) attempt();',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'repeats only idempotent requests, although nothing was sent': {
    replace: 'if (retry && (!maySent || repeatable)) attempt();',
    by: 'if (retry && repeatable) attempt();',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'sends the body before there is a connection': {
    replace: `if (socket.connecting) socket.once('connect', send);
        else send();`,
    by: 'void socket;\n        send();',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'forgets which replicas a request has tried': {
    replace: 'tried.add(replica);',
    by: 'if (tried.size === 0) tried.add({ ...replica });',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'does not move the rotation for a retry': {
    replace: 'rotation += 1;',
    by: 'if (tried.size === 0 || (replica && tried.has(replica))) rotation += 1;',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'counts a request with its retries as one attempt': {
    replace: 'counters.attempts += 1;',
    by: 'if (tried.size === 1) counters.attempts += 1;',
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'counts only the failures that the client gets to see': {
    replace: `counters.unreachable += 1;
        if (retry && (!maySent || repeatable)) attempt();
        else answer(`,
    by: `if (!(retry && (!maySent || repeatable))) counters.unreachable += 1;
        if (retry && (!maySent || repeatable)) attempt();
        else answer(`,
    caughtBy: 'X11: a request is repeated only where that is safe',
  },
  'retries in the pool that the request began with': {
    replace: 'let rotation = 0;',
    by: `let rotation = 0;
  const pools = new WeakMap<ReadonlySet<Replica>, Replica[]>();`,
    also: [
      {
        replace: 'const candidates = pool();',
        by: `const candidates = pools.get(tried) ?? pool();
    pools.set(tried, candidates);`,
      },
    ],
    caughtBy: 'a retry looks at the pool of its own moment',
  },
  'does not say when to come back': {
    replace: "answer(503, 'havuz bos', { 'retry-after': '1' });",
    by: "answer(503, 'havuz bos');",
    caughtBy:
      'X12: an empty pool is a 503 that says when to come back, and the rotation stands still',
  },
  'asks the dead when nobody else is left': {
    replace: 'const candidates = pool();',
    by: 'const candidates = pool().length > 0 ? pool() : [...replicas];',
    caughtBy:
      'X12: an empty pool is a 503 that says when to come back, and the rotation stands still',
  },
});
