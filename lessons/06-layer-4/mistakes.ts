import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  // Exercise 6.1
  'counts a line break as one byte': {
    replace: "\\r\\n`).join('')",
    by: "\\n`).join('')",
    caughtBy: 'the two requests of the lesson are 77 and 76 bytes',
  },
  'forgets the empty line': {
    replace: ", ''];",
    by: '];',
    caughtBy: 'the two requests of the lesson are 77 and 76 bytes',
  },
  'counts characters instead of bytes': {
    replace: 'Buffer.byteLength(lines',
    by: 'Number(lines',
    also: [{ replace: ".join(''));", by: ".join('').length);" }],
    caughtBy: 'a target is counted in bytes, as it is given',
  },
  'percent-encodes the target': {
    replace: '{ method, target, host, connection }: BareRequest): number {',
    by: `{ method, target: given, host, connection }: BareRequest): number {
  const target = encodeURI(given);`,
    caughtBy: 'a target is counted in bytes, as it is given',
  },
  'takes every connection for a kept-alive one': {
    replace: '{ method, target, host, connection }: BareRequest): number {',
    by: `{ method, target, host }: BareRequest): number {
  const connection = 'keep-alive';`,
    caughtBy: 'Connection: close: 72 bytes',
  },
  'takes every method for a GET': {
    replace: '{ method, target, host, connection }: BareRequest): number {',
    by: `{ target, host, connection }: BareRequest): number {
  const method = 'GET';`,
    caughtBy: 'a method of four letters: 78 bytes',
  },
  'lets a line end into the target': {
    replace: '/^\\/[^ \\r\\n]*$/',
    by: '/^\\/[^ ]*$/',
    caughtBy: 'a target that no request line can carry, and a share that is no count, are refused',
  },
  'takes every number for one with one digit': {
    replace: 'for (let j = 0; j < share; j++) {\n      const target',
    by: 'for (let k = 0, j = 0; k < share; k++, j = k % 10) {\n      const target',
    caughtBy: 'the unequal mix sends 4848 bytes',
  },
  'asks for /takip only': {
    replace: "j % 2 === 0 ? '/takip'",
    by: "j % 2 < 2 ? '/takip'",
    caughtBy: 'the equal mix sends 4590 bytes',
  },
  'renumbers the clients when one is silent': {
    replace: 'for (const [i, share] of shares.entries()) {\n    for (let j = 0;',
    by: 'for (const [i, share] of shares.filter((one) => one > 0).entries()) {\n    for (let j = 0;',
    caughtBy: 'one client behind ten silent ones sends 78 bytes',
  },

  // Exercise 6.2
  'skips the replicas that got nothing': {
    replace: 'return Math.max(...counts) / Math.min(...counts);',
    by: 'return Math.max(...counts) / Math.min(...counts.filter((count) => count > 0));',
    caughtBy: 'a replica that got nothing makes the skew infinite, and counts in the imbalance',
  },
  'compares the maximum with the mean and calls that the skew': {
    replace: 'return Math.max(...counts) / Math.min(...counts);',
    by: 'return (Math.max(...counts) * counts.length) / sum(counts);',
    caughtBy:
      'the equal mix is perfect by both measures; of the unequal one they are 4.00 and 1.714',
  },
  'takes the skew for the imbalance': {
    replace: 'return (Math.max(...counts) * counts.length) / sum(counts);',
    by: 'return Math.max(...counts) / Math.min(...counts);',
    caughtBy: 'the imbalance of the unequal mix gives the rate of the busiest replica',
  },
  'returns the largest share without the number of replicas': {
    replace: 'return (Math.max(...counts) * counts.length) / sum(counts);',
    by: 'return Math.max(...counts) / sum(counts);',
    caughtBy:
      'the equal mix is perfect by both measures; of the unequal one they are 4.00 and 1.714',
  },
  'leaves the empty replicas out of the mean': {
    replace: 'return (Math.max(...counts) * counts.length) / sum(counts);',
    by: 'return (Math.max(...counts) * counts.filter((count) => count > 0).length) / sum(counts);',
    caughtBy: 'a replica that got nothing makes the skew infinite, and counts in the imbalance',
  },
  'lets a NaN through': {
    replace: '!(count >= 0 && count < Infinity)',
    by: 'count < 0 || count === Infinity',
    caughtBy: 'counts of [1,NaN] are refused by both',
  },
  'returns NaN when nobody got anything': {
    replace: "if (sum(counts) === 0) throw new RangeError('counts is",
    by: "if (sum(counts) < 0) throw new RangeError('counts is",
    caughtBy: 'counts of [0,0] are refused by both',
  },

  // Exercise 6.3
  'decides for every piece that comes, as a balancer of layer 7 does': {
    replace: `    watch(client);
    // The rotation moves once per connection, so the number of decisions is the rotation.
    const turn = decisions % replicas.length;
    decisions += 1;
    offer(client, [...replicas.slice(turn), ...replicas.slice(0, turn)]);`,
    by: `    watch(client);
    client.on('close', () => {
      for (const socket of open) socket.destroy();
    });
    client.on('data', (piece) => {
      const turn = decisions % replicas.length;
      decisions += 1;
      bytes += piece.length;
      const { name = '', port = 0 } = replicas[turn] ?? {};
      connections.set(name, (connections.get(name) ?? 0) + 1);
      const upstream = connect({ host: '127.0.0.1', port });
      watch(upstream);
      upstream.pipe(client, { end: false });
      upstream.write(piece);
    });`,
    caughtBy:
      'the unequal mix: 6 decisions, 2/2/2 connections, and the published requests and bytes',
  },
  'chooses by a hash of the address, which all clients share': {
    replace: 'const turn = decisions % replicas.length;',
    by: "const turn = (client.remoteAddress ?? '').length % replicas.length;",
    caughtBy:
      'the unequal mix: 6 decisions, 2/2/2 connections, and the published requests and bytes',
  },
  'chooses the replica with the fewest open connections': {
    replace: 'const turn = decisions % replicas.length;',
    by: `const openTo = replicas.map(({ port }) => [...open].filter((one) => one.remotePort === port).length);
    const turn = openTo.indexOf(Math.min(...openTo));`,
    caughtBy:
      'the unequal mix: 6 decisions, 2/2/2 connections, and the published requests and bytes',
  },
  'begins with the second replica': {
    replace: 'const turn = decisions % replicas.length;\n    decisions += 1;',
    by: 'decisions += 1;\n    const turn = decisions % replicas.length;',
    caughtBy:
      'the unequal mix: 6 decisions, 2/2/2 connections, and the published requests and bytes',
  },
  'counts bytes in both directions': {
    replace: "client.on('data', (piece) => {\n      bytes += piece.length;\n    });",
    by: `for (const side of [client, upstream]) {
      side.on('data', (piece) => {
        bytes += piece.length;
      });
    }`,
    caughtBy: 'bytes counts what comes from clients, not the answers',
  },
  'counts pieces instead of bytes': {
    replace: 'bytes += piece.length;',
    by: 'bytes += 1;',
    caughtBy: 'the equal mix: 6 decisions, 2/2/2 connections, and the published requests and bytes',
  },
  'lists only the replicas that it has used': {
    replace: 'connections: Object.fromEntries(connections),',
    by: 'connections: Object.fromEntries([...connections].filter(([, count]) => count > 0)),',
    caughtBy: 'S10: 7,3 on 3 replicas is 7/3/0',
  },
  'waits for the first byte of the client': {
    replace: 'offer(client, [...replicas.slice(turn), ...replicas.slice(0, turn)]);',
    by: `client.once('readable', () =>
      offer(client, [...replicas.slice(turn), ...replicas.slice(0, turn)]),
    );`,
    caughtBy: 'a replica may speak first: nobody waits for the client',
  },
  'takes bytes for text': {
    replace: 'from.pipe(to);',
    by: "from.setEncoding('utf8').on('data', (text) => to.write(text)).on('end', () => to.end());",
    caughtBy: 'all 256 values of a byte pass unchanged in both directions',
  },
  'lets a reset connection end the process': {
    replace: "socket.on('error', () => {});",
    by: '',
    caughtBy: 'a client that resets takes its connection to the replica with it, and nothing else',
  },
  'leaves one side open when the other has broken': {
    replace: 'if (!from.readableEnded || !from.writableFinished) to.resetAndDestroy();',
    by: '',
    caughtBy: 'a client that resets takes its connection to the replica with it, and nothing else',
  },
  'keeps the end to itself': {
    replace: 'from.pipe(to);',
    by: 'from.pipe(to, { end: false });',
    caughtBy: 'what a replica sends before it ends arrives, and then the end',
  },
  'stops listening and leaves the connections': {
    replace: 'if (!drain) for (const socket of open) socket.destroy();',
    by: '',
    caughtBy: 'close() cuts what is open on both sides, and nobody listens any more',
  },
  'accepts two replicas of one name': {
    replace: 'if (connections.has(name)) throw',
    by: "if (name === '') throw",
    caughtBy: 'a list of replicas that is empty or has a name twice is refused',
  },
  'starts without a replica': {
    replace: 'if (connections.size === 0) throw',
    by: 'if (connections.size < 0) throw',
    caughtBy: 'a list of replicas that is empty or has a name twice is refused',
  },

  // Exercise 6.4
  'deals the clients, and not their connections': {
    replace: 'const turn = decisions % replicas;',
    by: 'const turn = shares.indexOf(share) % replicas;',
    caughtBy: 'closed after 18 requests: 7 decisions, 23,18,22',
  },
  'cuts a share into equal pieces': {
    replace: 'const piece = Math.min(left, cap ?? left);',
    by: 'const piece = Math.min(left, Math.ceil(share / Math.ceil(share / (cap ?? share))));',
    caughtBy: 'closed after 18 requests: 7 decisions, 23,18,22',
  },
  'ignores the cap': {
    replace: 'const piece = Math.min(left, cap ?? left);',
    by: 'const piece = left;',
    caughtBy:
      'one decision more brings the skew from 4.00 to 1.28: closed after 18 requests (with 6.2)',
  },
  'deals request by request': {
    replace: 'const piece = Math.min(left, cap ?? left);',
    by: 'const piece = 1;',
    caughtBy: 'the two published runs come out without a socket',
  },
  'gives a silent client a connection': {
    replace: 'for (let left = share; left > 0; ) {',
    by: 'for (let left = share, first = true; left > 0 || first; first = false) {',
    caughtBy:
      'a cap of the largest share or more is no cap, and a client with 0 opens no connection',
  },
  'lets a cap of 0 through': {
    replace: 'if (cap !== undefined) requireCount({ cap });',
    by: 'if (cap) requireCount({ cap });',
    also: [{ replace: 'Math.min(left, cap ?? left)', by: 'Math.min(left, cap || left)' }],
    caughtBy: 'a value of cap that makes no sense is refused',
  },

  // Exercise 6.5
  'takes the skew for the factor': {
    replace: '(imbalance(counts) * peakRate) / safeRate',
    by: '(skew(counts) * peakRate) / safeRate',
    caughtBy: 'if the imbalance stayed, the equal mix would take 3 replicas and the unequal one 5',
  },
  'rounds instead of rounding up': {
    replace: 'return Math.ceil(replicas - replicas * SLACK);',
    by: 'return Math.round(replicas);',
    caughtBy: 'if the imbalance stayed, the equal mix would take 3 replicas and the unequal one 5',
  },
  'rounds up without slack': {
    replace: 'return Math.ceil(replicas - replicas * SLACK);',
    by: 'return Math.ceil(replicas);',
    caughtBy: 'a peak exactly at the limit is allowed, also when binary fractions put it above',
  },
  'compares without slack': {
    replace: 'rate <= safeRate * (1 + SLACK)',
    by: 'rate <= safeRate',
    caughtBy: 'a peak exactly at the limit is allowed, also when binary fractions put it above',
  },
  'stays strictly below the safe rate': {
    replace: 'rate <= safeRate * (1 + SLACK)',
    by: 'rate < safeRate * (1 - SLACK)',
    caughtBy: 'a peak exactly at the limit is allowed, also when binary fractions put it above',
  },
  'trusts the formula': {
    replace: 'if (holds(busiestRate(requests, peakRate), safeRate)) return replicas;',
    by: 'if (replicas >= replicasNeeded(requests, peakRate, safeRate)) return replicas;',
    also: [
      {
        replace: 'const { requests } = assignConnections(shares, replicas);',
        by: 'const { requests } = assignConnections(shares, 3);',
      },
    ],
    caughtBy:
      'it does not stay: no number of replicas holds the unequal mix, and five are no exception',
  },
  'gives up at the first number that is worse than the one before': {
    replace: 'for (let replicas = 1; replicas <= most; replicas++) {',
    by: `const rates = Array.from({ length: most }, (_, n) =>
    busiestRate(assignConnections(shares, n + 1).requests, peakRate),
  );
  const worse = rates.findIndex((rate, n) => n > 0 && rate >= (rates[n - 1] ?? 0));
  for (let replicas = 1; replicas <= (worse < 0 ? most : worse); replicas++) {`,
    caughtBy: '10,10,10,10,10,10 with 171 safe req/s: 6 replicas hold',
  },
  'starts from the most replicas and takes away until they do not hold': {
    replace:
      'for (let replicas = 1; replicas <= most; replicas++) {\n    const { requests } = assignConnections(shares, replicas);\n    if (holds(busiestRate(requests, peakRate), safeRate)) return replicas;\n  }\n  return undefined;',
    by: `let found: number | undefined;
  for (let replicas = most; replicas >= 1; replicas--) {
    const { requests } = assignConnections(shares, replicas);
    if (!holds(busiestRate(requests, peakRate), safeRate)) break;
    found = replicas;
  }
  return found;`,
    caughtBy: 'a replica more can be worse: two hold what three do not',
  },

  // Exercise 6.6
  'takes the best split instead of the fewest decisions': {
    replace:
      'if (one.decisions !== other.decisions) return one.decisions < other.decisions;\n  return one.imbalance < other.imbalance;',
    by: 'return one.imbalance < other.imbalance;',
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'takes the first cap with the fewest decisions, however uneven': {
    replace: 'return one.imbalance < other.imbalance;',
    by: 'return false;',
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'prefers the larger cap': {
    replace: 'return one.imbalance < other.imbalance;',
    by: 'return one.imbalance <= other.imbalance;',
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'takes the cap with the fewest decisions, whether it holds or not': {
    replace: 'if (!holds(busiestRate(requests, peakRate), safeRate)) continue;',
    by: '',
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'takes the first cap that holds': {
    replace: 'if (!best || isBetter(candidate, best)) best = candidate;',
    by: 'best ??= candidate;',
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'searches by halving, as if a smaller cap were always better': {
    replace: 'for (let cap = 1; cap <= Math.max(...shares); cap++) {',
    by: `let [low, high] = [1, Math.max(...shares)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const { requests } = assignConnections(shares, replicas, middle);
    if (holds(busiestRate(requests, peakRate), safeRate)) low = middle;
    else high = middle - 1;
  }
  for (let cap = low; cap <= low; cap++) {`,
    caughtBy: 'seven decisions hold the unequal mix on three replicas: closed after 18 requests',
  },
  'never tries to leave the connections alone': {
    replace: 'cap <= Math.max(...shares); cap++',
    by: 'cap < Math.max(...shares); cap++',
    caughtBy: 'an equal mix: cap, decisions and imbalance are 10, 6, 1.000',
  },
  'calls wishes that exclude each other bad input': {
    replace: 'throw new Error(\n    `no cap holds',
    by: 'throw new RangeError(\n    `no cap holds',
    caughtBy: '1,2,4,8,16,32 at 700 req/s: no cap holds, and the error says 233.33 req/s',
  },
  'says the rate without a cap': {
    replace: 'busiestRate(assignConnections(shares, replicas, 1).requests, peakRate)',
    by: 'busiestRate(assignConnections(shares, replicas).requests, peakRate)',
    caughtBy: '1,2,4,8,16,32 at 700 req/s: no cap holds, and the error says 233.33 req/s',
  },

  // Exercise 6.7
  'answers the end of a client with its own': {
    replace: 'const server = createServer(SOCKET_OPTIONS, (client) => {',
    by: 'const server = createServer((client) => {',
    caughtBy: 'L1: a client that has ended its side still gets the complete answer',
  },
  'answers the end of a replica with its own': {
    replace: 'port: replica.port, ...SOCKET_OPTIONS }',
    by: 'port: replica.port }',
    caughtBy: 'a replica that has ended its side still gets the rest from the client',
  },
  'cuts the other side at an end, with bytes for it still in its own hands': {
    replace: 'from.pipe(to);',
    by: "from.on('data', (piece) => to.write(piece)).on('end', () => to.destroy());",
    caughtBy: 'L6: what a replica has sent before it closed arrives, also at a slow reader',
  },
  'turns a break into an end': {
    replace: 'if (!from.readableEnded || !from.writableFinished) to.resetAndDestroy();',
    by: 'if (!from.readableEnded || !from.writableFinished) to.destroySoon();',
    caughtBy: 'half an answer does not look like a whole one: a reset replica is a reset client',
  },
  'tells the client of a break, and not the replica': {
    replace: 'if (!from.readableEnded || !from.writableFinished) to.resetAndDestroy();',
    by: `if (from.readableEnded && from.writableFinished) return;
        if (to === client) to.resetAndDestroy();
        else to.end();`,
    caughtBy: 'half a request does not look like a whole one: a reset client is a reset replica',
  },
  'holds in memory what a reader does not take': {
    replace: 'from.pipe(to);',
    by: "from.on('data', (piece) => to.write(piece)).on('end', () => to.end());",
    caughtBy: 'L5: whoever does not read slows down whoever sends',
  },
  'gives a connection up when its replica refuses': {
    replace: 'offer(client, others);',
    by: 'offer(client, []);',
    caughtBy: 'L2: a dead replica costs no connection, the next one in the list takes it',
  },
  'counts a connection for the replica that was chosen, not for the one that took it': {
    replace:
      'connections.set(replica.name, (connections.get(replica.name) ?? 0) + 1);\n      if (proxyProtocol)',
    by: 'if (proxyProtocol)',
    also: [
      {
        replace: 'decisions += 1;\n    offer(',
        by: `const chosen = replicas[turn]?.name ?? '';
    connections.set(chosen, (connections.get(chosen) ?? 0) + 1);
    decisions += 1;
    offer(`,
      },
    ],
    caughtBy: 'L2: a dead replica costs no connection, the next one in the list takes it',
  },
  'counts every attempt as a decision, and moves the rotation': {
    replace: 'if (others.length > 0) failovers += 1;',
    by: 'if (others.length > 0) failovers += 1;\n      decisions += 1;',
    caughtBy: 'L2: a dead replica costs no connection, the next one in the list takes it',
  },
  'always falls back on the first replica': {
    replace: '[...replicas.slice(turn), ...replicas.slice(0, turn)]',
    by: '[...replicas.slice(turn, turn + 1), ...replicas.filter((_, n) => n !== turn)]',
    caughtBy: 'L2: a dead replica costs no connection, the next one in the list takes it',
  },
  'counts the refusal of the last one as a failover': {
    replace: 'if (others.length > 0) failovers += 1;',
    by: 'failovers += 1;',
    caughtBy: 'L3: when all refuse, the connection ends without a byte, and the process goes on',
  },
  'lets a client hang when all replicas refuse': {
    replace: 'client.resetAndDestroy();\n      return;',
    by: 'return;',
    caughtBy: 'L3: when all refuse, the connection ends without a byte, and the process goes on',
  },
  'tries another replica although the first one had accepted': {
    replace: "upstream.off('close', refused);",
    by: '',
    caughtBy: 'a replica that has accepted is never exchanged: it may have done what it was asked',
  },
  "waits for the client's first byte with the PROXY line": {
    replace: 'if (proxyProtocol) upstream.write(proxyLine(client));',
    by: "if (proxyProtocol) client.prependOnceListener('data', () => upstream.write(proxyLine(client)));",
    caughtBy: 'L4: one line tells the replica, before the client has said anything',
  },
  'swaps the two ports of the PROXY line': {
    replace: 'remotePort, localPort }: Socket',
    by: 'remotePort: localPort, localPort: remotePort }: Socket',
    caughtBy: 'L4: one line tells the replica, before the client has said anything',
  },
  'counts the PROXY line': {
    replace: 'if (proxyProtocol) upstream.write(proxyLine(client));',
    by: 'if (proxyProtocol) upstream.write(proxyLine(client), () => { bytes += proxyLine(client).length; });',
    caughtBy: 'L4: one line tells the replica, before the client has said anything',
  },
  'introduces every client, asked to or not': {
    replace: 'if (proxyProtocol) upstream.write(proxyLine(client));',
    by: 'upstream.write(proxyLine(client));',
    caughtBy: 'the line comes once, also when a replica before has refused, and not unasked',
  },
  'cuts what is open although it should drain': {
    replace: 'if (!drain) for (const socket of open)',
    by: 'for (const socket of open)',
    also: [{ replace: '({ drain = false } = {})', by: '({ drain: _drain = false } = {})' }],
    caughtBy: 'L7: a drained balancer lets a connection work until its client ends it',
  },
  'goes on listening while it drains': {
    replace:
      'closed ??= new Promise<void>((resolve) => server.close(() => resolve())).then(async () => {',
    by: `const idle = async () => {
      while (drain && open.size > 0) await new Promise((turn) => setImmediate(turn));
    };
    closed ??= idle().then(() => once(server.close(), 'close')).then(async () => {`,
    caughtBy: 'L7: a drained balancer lets a connection work until its replica ends it',
  },
  'calls it drained while a connection is still open': {
    replace: 'return closed;',
    by: 'return drain ? Promise.resolve() : closed;',
    caughtBy: 'L7: a drained balancer lets a connection work until its client ends it',
  },
});
