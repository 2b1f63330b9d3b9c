// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

const COMBINED = '63 requests are 63 decisions, and the skew is 1.07 instead of 4.00';
const SPLIT = '17 queries for each of three replicas, 12 events for the fourth, and none leaks';

export default mistakes({
  // 7.1
  'compares the raw target, query included': {
    replace: `path = new URL(target, 'http://localhost').pathname;`,
    by: `path = new URL(target, 'http://localhost') && target;`,
    caughtBy: '"/olay?no=1" is a write',
  },
  'cuts off the query by hand and leaves the dots where they are': {
    replace: `path = new URL(target, 'http://localhost').pathname;`,
    by: `path = new URL(target, 'http://localhost') && (target.split('?')[0] ?? '');`,
    caughtBy: '"/x/../olay" is a write',
  },
  'takes whatever begins like a write path for a write': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `writePaths.some((one) => path.startsWith(one)) ? 'write'`,
    caughtBy: '"/olaylar" is a read',
  },
  'takes a write path anywhere in the target for a write': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `writePaths.some((one) => target.includes(one)) ? 'write'`,
    caughtBy: 'a path stands in the target, and nowhere else',
  },
  'forgives a slash at the end': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `writePaths.includes(path.replace(/(.)\\/$/, '$1')) ? 'write'`,
    caughtBy: '"/olay/" is a read',
  },
  'ignores the case of a path': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `writePaths.includes(path.toLowerCase()) ? 'write'`,
    caughtBy: '"/OLAY" is a read',
  },
  'decodes what is percent-encoded': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `writePaths.includes(path.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)) ? 'write'`,
    caughtBy: '"/ol%61y" is a read',
  },
  'has /olay written into the code': {
    replace: `writePaths.includes(path) ? 'write'`,
    by: `path === '/olay' ? 'write'`,
    caughtBy: 'which paths are writes is configuration',
  },
  'lets the URL parser throw': {
    replace: `return 'bad-request'; // one client's`,
    by: `throw new TypeError('bad target'); // one client's`,
    caughtBy: '"//" is a bad-request',
  },
  'takes an empty target for the root': {
    replace: `if (target === '') return 'bad-request';`,
    by: '',
    caughtBy: '"" is a bad-request',
  },
  'glues the target to the host, so that // is a path': {
    replace: `path = new URL(target, 'http://localhost').pathname;`,
    by: 'path = new URL(`http://localhost${target}`).pathname;',
    caughtBy: '"//" is a bad-request',
  },

  // 7.2
  'writes an IPv6 address without brackets': {
    replace: 'for="[${address}]"',
    by: 'for="${address}"',
    caughtBy: 'a client at ::1 is for="[::1]"',
  },
  'leaves the letters of an IPv6 address as they are': {
    replace: 'const address = remoteAddress.toLowerCase();',
    by: 'const address = remoteAddress;',
    caughtBy: 'a client at 2001:DB8::1 is for="[2001:db8::1]"',
  },
  'takes an IPv4 address in IPv6 clothes for IPv6': {
    replace: 'if (mapped) return `for="${mapped}"`;',
    by: '',
    caughtBy: 'a client at ::ffff:127.0.0.1 is for="127.0.0.1"',
  },
  'leaves out the quotes around IPv4': {
    replace: ': `for="${address}"`;',
    by: ': `for=${address}`;',
    caughtBy: 'a client at 127.0.0.1 is for="127.0.0.1"',
  },
  'prints an address that it does not know': {
    replace: `if (!remoteAddress) return 'for=unknown';`,
    by: `if (!remoteAddress) return 'for="undefined"';`,
    caughtBy: 'a client at an unknown address is for=unknown',
  },
  'believes everybody': {
    replace: 'appended(trustIncoming ? incoming : undefined, own)',
    by: 'appended(incoming, own)',
    caughtBy: 'what somebody outside says about himself is dropped',
  },
  'overwrites what a trusted hop has written': {
    replace: 'appended(trustIncoming ? incoming : undefined, own)',
    by: 'own',
    caughtBy: 'a hop that is trusted is kept, and ours comes last',
  },
  'puts itself in front of who came before': {
    replace: 'return incoming ? `${incoming}, ${own}` : own;',
    by: 'return incoming ? `${own}, ${incoming}` : own;',
    caughtBy: 'a hop that is trusted is kept, and ours comes last',
  },
  'appends to an empty field': {
    replace: 'return incoming ? `${incoming}, ${own}` : own;',
    by: 'return incoming !== undefined ? `${incoming}, ${own}` : own;',
    caughtBy: 'several fields stay in their order, and an empty one counts as none',
  },

  // 7.3
  'has one turn for both pools': {
    replace:
      'const pools = { read: { replicas: read, turn: 0 }, write: { replicas: write, turn: 0 } };',
    by: `let turn = 0;
  const withTurn = (replicas: readonly Replica[]) => ({
    replicas,
    get turn() {
      return turn;
    },
    set turn(next: number) {
      turn = next;
    },
  });
  const pools = { read: withTurn(read), write: withTurn(write) };`,
    caughtBy:
      'S4: 1,2,4,8,16,32 on k1,k2,k3,k4,k5 and k1,k2,k3,k4,k5 gives 11/10/10/10/10 and 3/3/2/2/2',
  },
  'decides once for each connection and pool': {
    replace:
      '          replica = pool.replicas[pool.turn % pool.replicas.length];\n          pool.turn += 1;',
    by: `          const kept = (socket as { kept?: Record<string, Replica | undefined> }).kept ?? {};
          Object.assign(socket, { kept });
          replica = kept[route] ??= pool.replicas[pool.turn++ % pool.replicas.length];`,
    caughtBy: COMBINED,
  },
  'opens a connection to a replica for each request': {
    replace: `      fields: {
        forwarded:`,
    by: `      fields: {
        connection: 'close',
        forwarded:`,
    caughtBy: 'six connections from clients become four to replicas',
  },
  'takes whoever has the fewest open requests, which is the first when nothing is open': {
    replace: 'replica = pool.replicas[pool.turn % pool.replicas.length];',
    by: 'replica = pool.replicas.find(({ port }) => !tried.has(port));',
    caughtBy: COMBINED,
  },
  'sends events to the read pool': {
    replace: 'const pool = pools[route];',
    by: 'const pool = pools.read;',
    caughtBy: SPLIT,
  },
  'counts every request as a read': {
    replace: 'add(distribution, replica.name, route, 1);',
    by: `add(distribution, replica.name, 'read', 1);`,
    caughtBy: COMBINED,
  },
  'moves on before it picks': {
    replace: `          replica = pool.replicas[pool.turn % pool.replicas.length];
          pool.turn += 1;`,
    by: `          pool.turn += 1;
          replica = pool.replicas[pool.turn % pool.replicas.length];`,
    caughtBy: COMBINED,
  },
  'forgets the write paths that it was given': {
    replace: `routeOf(request.url ?? '', writePaths)`,
    by: `routeOf(request.url ?? '', ['/olay'])`,
    caughtBy: 'S-4: once the balancer knows the new path, the published table is back',
  },
  'learns of a replica when it first picks it': {
    replace: 'const distribution = zeros([...names(read), ...names(write)]);',
    by: `const distribution: Distribution = new Proxy(zeros([]), {
    get: (counts, name: string) => (counts[name] ??= { read: 0, write: 0 }),
  });`,
    caughtBy:
      'every replica has its zeros before the first request, also one that is in both pools',
    also: [
      { replace: 'structuredClone(distribution)', by: 'structuredClone({ ...distribution })' },
    ],
  },
  'hands out the counts that it goes on counting with': {
    replace: 'structuredClone(distribution)',
    by: '{ ...distribution }',
    caughtBy:
      'every replica has its zeros before the first request, also one that is in both pools',
  },
  'checks the names of both pools together': {
    replace: `requireReplicas('read', names(read), 1);
  requireReplicas('write', names(write), 0);
  if`,
    by: `requireReplicas('read', [...names(read), ...names(write)], 1);
  if`,
    caughtBy: COMBINED,
  },
  'starts with an empty read pool': {
    replace: `requireReplicas('read', names(read), 1);`,
    by: `requireReplicas('read', names(read), 0);`,
    caughtBy: 'it refuses an empty read pool, a name that comes twice, and a limit below 1',
  },
  'takes any limit': {
    replace:
      'if (innerConnectionsPerReplica !== Infinity) requireCount({ innerConnectionsPerReplica }, 1);',
    by: '',
    caughtBy: 'it refuses an empty read pool, a name that comes twice, and a limit below 1',
  },

  // 7.4
  'rounds the sum instead of each pool': {
    replace: 'splitCost: read.replicas + write.replicas - combined.replicas',
    by: 'splitCost: replicasFor(readRate + writeRate, input.safeRate) - combined.replicas',
    caughtBy: 'one pool takes three replicas, two take 3 + 1: the split costs one',
  },
  'rounds to the nearest replica': {
    replace: 'return Math.max(1, ceilWithSlack(rate / safeRate));',
    by: 'return Math.round(rate / safeRate);',
    caughtBy: 'one pool takes three replicas, two take 3 + 1: the split costs one',
  },
  'plans with the saturation rate instead of the safe one': {
    replace: 'replicasFor(rate, safeRate) + toleratedFailures',
    by: 'replicasFor(rate, saturationRate) + toleratedFailures',
    caughtBy: 'one pool takes three replicas, two take 3 + 1: the split costs one',
  },
  'calls the rate over the safe rate a utilisation': {
    replace: 'utilisation: utilisation(rate, replicas, saturationRate)',
    by: 'utilisation: utilisation(rate, replicas, safeRate)',
    caughtBy: 'one pool takes three replicas, two take 3 + 1: the split costs one',
  },
  'takes an overflow for a utilisation above 1': {
    replace: 'writeOverflows: overflows(writes, plan.write.replicas, safeRate)',
    by: 'writeOverflows: overflows(writes, plan.write.replicas, saturationRate)',
    caughtBy: 'the published row for 3 times the writes comes out',
  },
  'takes the safe rate itself for an overflow': {
    replace: 'rate / replicas > safeRate * (1 + SLACK)',
    by: 'rate / replicas >= safeRate',
    caughtBy: 'C6: other rates take 2 at 0.500, 1 at 0.500, 1 at 0.500, cost 0',
  },
  'calls binary noise an overflow': {
    replace: 'rate / replicas > safeRate * (1 + SLACK)',
    by: 'rate / replicas > safeRate',
    caughtBy:
      'a rate that is whole but for binary noise takes no extra replica, and is no overflow',
  },
  'takes a plain ceil, and one replica too many at the boundary': {
    replace: 'const ceilWithSlack = (x: number) => Math.ceil(x - x * SLACK);',
    by: 'const ceilWithSlack = (x: number) => Math.ceil(x);',
    caughtBy:
      'a rate that is whole but for binary noise takes no extra replica, and is no overflow',
  },
  'adds replicas while the burst grows': {
    replace: 'const plan = poolPlan(input);',
    by: 'const plan = poolPlan({ ...input, writeRate: input.writeRate * factor });',
    caughtBy: 'the published row for 3 times the writes comes out',
  },
  'lets the burst multiply the reads as well': {
    replace: 'const total = readRate + writes;',
    by: 'const total = (readRate + writeRate) * factor;',
    caughtBy: 'the published row for 2 times the writes comes out',
  },
  'judges the shared pool by its writes alone': {
    replace: 'combinedOverflows: overflows(total, plan.combined.replicas, safeRate)',
    by: 'combinedOverflows: overflows(writes, plan.combined.replicas, safeRate)',
    caughtBy:
      'the shared pool passes its target at twice the writes, the write pool only at three times',
  },
  'keeps one spare replica for both pools together': {
    replace: 'const write = sized(writeRate, input);',
    by: 'const write = sized(writeRate, { ...input, toleratedFailures: 0 });',
    caughtBy:
      'holding the target with any one replica gone takes 4, or 4 + 2: the split then costs two',
  },
  'quotes the utilisation with the spare replicas gone': {
    replace: 'utilisation: utilisation(rate, replicas, saturationRate)',
    by: 'utilisation: utilisation(rate, replicas - toleratedFailures, saturationRate)',
    caughtBy:
      'holding the target with any one replica gone takes 4, or 4 + 2: the split then costs two',
  },
  'keeps a replica for writes that never come': {
    replace: 'rate === 0 ? 0 : replicasFor(rate, safeRate) + toleratedFailures',
    by: 'replicasFor(rate, safeRate) + toleratedFailures',
    caughtBy: 'a pool without load has no replica, nothing to tolerate, and costs nothing',
  },
  'keeps spare replicas for a pool that has none': {
    replace: 'rate === 0 ? 0 : replicasFor(rate, safeRate) + toleratedFailures',
    by: '(rate === 0 ? 0 : replicasFor(rate, safeRate)) + toleratedFailures',
    caughtBy: 'a pool without load has no replica, nothing to tolerate, and costs nothing',
  },
  'divides by the replicas of an empty pool': {
    replace: 'return replicas === 0 ? 0 : rate / (replicas * saturationRate);',
    by: 'return rate / (replicas * saturationRate);',
    caughtBy: 'a pool without load has no replica, nothing to tolerate, and costs nothing',
  },
  'lets NaN through': {
    replace: 'if (!(value >= 0 && value < Infinity))',
    by: 'if (value < 0 || value === Infinity)',
    caughtBy: "poolPlan and burst refuse a 'readRate' that makes no sense",
  },
  'takes a burst of less than nothing': {
    replace: 'requireNotNegative({ factor });',
    by: '',
    caughtBy: 'burst refuses a factor that makes no sense',
  },

  // 7.5
  'splits whatever the question': {
    replace: 'if (mustIsolateReads) {',
    by: 'if (mustIsolateReads || budget > 3) {',
    caughtBy: 'without a reason to isolate, one pool gets the whole budget',
  },
  'takes the fewest replicas that hold, and not the budget': {
    replace: `{ layout: 'combined', combined: budget, read: 0, write: 0 }`,
    by: `{ layout: 'combined', combined: replicasFor(total, safeRate), read: 0, write: 0 }`,
    caughtBy: 'without a reason to isolate, one pool gets the whole budget',
  },
  'forgets the burst': {
    replace: 'const total = readRate + writeRate * factor;',
    by: 'const total = readRate + writeRate;',
    caughtBy: '203.70 for each of three replicas is too much, and the error says so',
  },
  'says no without saying how far off it is': {
    replace:
      '`${(total / budget).toFixed(2)} req/s for each of ${budget} replicas, wanted at most ${safeRate}`',
    by: '`the load does not fit`',
    caughtBy: '203.70 for each of three replicas is too much, and the error says so',
  },
  'calls a load that does not fit bad input': {
    replace: 'throw new Error(\n      `${(total / budget)',
    by: 'throw new RangeError(\n      `${(total / budget)',
    caughtBy: '203.70 for each of three replicas is too much, and the error says so',
  },
  'isolates the reads and leaves nothing for the writes': {
    replace: 'if (read >= budget) {',
    by: 'if (read > budget) {',
    caughtBy: 'three replicas cannot isolate the reads: nothing would be left for the writes',
  },
  'gives the writes what they need, and the reads the rest': {
    replace: "return { layout: 'split', combined: 0, read, write: budget - read };",
    by: `const write = Math.min(budget - 1, replicasFor(writeRate * factor, safeRate));
    return { layout: 'split', combined: 0, read: budget - write, write };`,
    caughtBy:
      'with isolation the reads get what they need, and the writes the rest, be it too little',
  },
  'refuses isolation when the write pool does not hold': {
    replace: 'if (read >= budget) {',
    by: 'if (read >= budget || overflows(writeRate * factor, budget - read, safeRate)) {',
    caughtBy:
      'with isolation the reads get what they need, and the writes the rest, be it too little',
  },
  'takes a read pool of one replica for no reads at all': {
    replace: 'const read = readRate === 0 ? 0 : replicasFor(readRate, safeRate);',
    by: 'const read = replicasFor(readRate, safeRate);',
    caughtBy:
      'without reads all replicas are for the writes, and without writes one is kept for them',
  },
  'takes a budget of no replica': {
    replace: 'requireCount({ budget }, 1);',
    by: '',
    caughtBy: "choosePoolLayout refuses a 'budget' that makes no sense",
  },

  // 7.6
  'forgets that the replicas share the rate': {
    replace: '(rate / replicas) * serviceTimeSeconds',
    by: 'rate * serviceTimeSeconds',
    caughtBy: '416.67 req/s of 0.02 s on 3 replicas take 3 each',
  },
  'rounds the connections to the nearest': {
    replace: 'Math.max(1, ceilWithSlack((rate / replicas) * serviceTimeSeconds))',
    by: 'Math.max(1, Math.round((rate / replicas) * serviceTimeSeconds))',
    caughtBy: '513.89 req/s of 0.02 s on 1 replicas take 11 each',
  },
  'counts one connection more for binary noise': {
    replace: 'Math.max(1, ceilWithSlack((rate / replicas) * serviceTimeSeconds))',
    by: 'Math.max(1, Math.ceil((rate / replicas) * serviceTimeSeconds))',
    caughtBy: '300 req/s of 0.07 s on 3 replicas take 7 each',
  },
  'leaves the limit off and believes the four': {
    replace: 'connectionsPerTarget: innerConnectionsPerReplica,',
    by: 'connectionsPerTarget: Infinity,',
    caughtBy: '24 clients at once, limit 1: 1,1,1,1 are inside the replicas, the rest waits',
  },
  'gives each pool its own connections': {
    replace: 'connectionsPerTarget: innerConnectionsPerReplica,',
    by: 'connectionsPerTarget: innerConnectionsPerReplica * 2,',
    caughtBy: 'the limit is for a replica, also if it is in both pools',
  },
  'knows no limit but one connection': {
    replace: 'connectionsPerTarget: innerConnectionsPerReplica,',
    by: 'connectionsPerTarget: 1,',
    caughtBy: '24 clients at once, limit 8: 6,6,6,6 are inside the replicas, the rest waits',
  },

  // 7.7
  'starts the path pattern anew for each client': {
    replace: 'const events = Math.floor(requests / EVENT_EVERY);',
    by: 'const events = shares.reduce((sum, share) => sum + Math.floor(share / 5), 0);',
    caughtBy: 'it predicts both published tables',
  },
  'calls the first of five requests an event': {
    replace: 'const events = Math.floor(requests / EVENT_EVERY);',
    by: 'const events = Math.ceil(requests / EVENT_EVERY);',
    caughtBy: 'it predicts both published tables',
  },
  'deals the remainder to the last replicas': {
    replace: 'Math.ceil((count - i) / pool.length)',
    by: 'Math.floor((count + i) / pool.length)',
    caughtBy: 'it predicts both published tables',
  },
  'goes on dealing events where the queries stopped': {
    replace: `deal(events, write, 'write');`,
    by: `const from = (requests - events) % Math.max(1, write.length);
  deal(events, [...write.slice(from), ...write.slice(0, from)], 'write');`,
    caughtBy: 'five replicas in one pool take 11/10/10/10/10 queries and 3/3/2/2/2 events',
  },
  'hands the events to the read pool when there is no other': {
    replace: `deal(events, write, 'write');`,
    by: `deal(events, write.length > 0 ? write : read, 'write');`,
    caughtBy: 'without a write pool the events count for nobody',
  },
  'takes half a request': {
    replace: 'for (const share of shares) requireCount({ shares: share }, 0);',
    by: 'for (const share of shares) requireNotNegative({ shares: share });',
    caughtBy: 'it refuses shares, and pools, that make no sense',
  },

  // 7.8
  'answers 400 after it has decided': {
    replace: `    if (route === 'bad-request') {
      answer(400, 'hedef okunamadi');`,
    by: `    if (route === 'bad-request') {
      decisions += 1;
      answer(400, 'hedef okunamadi');`,
    caughtBy: 'X10: a target that no URL can be made of is a 400, and moves nothing',
  },
  'passes on what the client claims about itself': {
    replace: 'forwarded: forwarded(socket.remoteAddress, headers.forwarded, trustForwarded),',
    by: 'forwarded: headers.forwarded ?? forwarded(socket.remoteAddress, undefined, false),',
    caughtBy: 'X14: the replica learns for whom it works, and a claim from outside is replaced',
  },
  'trusts nobody, whatever it was told': {
    replace: 'forwarded: forwarded(socket.remoteAddress, headers.forwarded, trustForwarded),',
    by: 'forwarded: forwarded(socket.remoteAddress, headers.forwarded, false),',
    caughtBy: 'X14: with a hop in front that is trusted, the balancer adds itself at the end',
  },
  "knows nobody's address": {
    replace: 'forwarded(socket.remoteAddress, headers.forwarded, trustForwarded)',
    by: 'forwarded(undefined, headers.forwarded, trustForwarded)',
    caughtBy: 'X14: the replica learns for whom it works, and a claim from outside is replaced',
  },
  'overwrites Via': {
    replace: 'via: appended(headers.via, `${httpVersion} ${via}`)',
    by: 'via: `${httpVersion} ${via}`',
    caughtBy: 'S-1: a balancer with a name adds it to Via, behind whoever came before',
  },
  'always writes version 1.1 into Via': {
    replace: '`${httpVersion} ${via}`',
    by: '`1.1 ${via}`',
    caughtBy: 'S-1: a balancer with a name adds it to Via, behind whoever came before',
  },
  'adds itself to Via without a name': {
    replace: '...(via && { via: appended(headers.via, `${httpVersion} ${via}`) }),',
    by: 'via: appended(headers.via, `${httpVersion} ${via}`),',
    caughtBy: 'S-1: one without a name leaves Via as it came',
  },

  // 7.9
  'counts a decision only when the replica answers': {
    replace: 'if (tried.size === 0) {',
    by: "response.on('finish', () => (decisions -= response.statusCode === 502 ? 1 : 0));\n        if (tried.size === 0) {",
    caughtBy: 'a dead replica costs its share of both streams: 16 of 63 are 502',
  },
  'picks from an empty pool': {
    replace: 'if (pool.replicas.length === 0) {',
    by: 'if (pool.replicas.length < 0) {',
    caughtBy:
      'X12: with an empty write pool events are a 503 that says when to come back, and reads go on',
  },
  'sends events to the read pool when there is no other': {
    replace: 'const pool = pools[route];',
    by: 'const pool = pools[route].replicas.length > 0 ? pools[route] : pools.read;',
    caughtBy:
      'X12: with an empty write pool events are a 503 that says when to come back, and reads go on',
  },
  'never says when to come back': {
    replace: `answer(503, 'havuz bos', { 'retry-after': '1' });`,
    by: `answer(503, 'havuz bos');`,
    caughtBy:
      'X12: with an empty write pool events are a 503 that says when to come back, and reads go on',
  },
  'counts each attempt as a decision': {
    replace: 'if (tried.size === 0) {',
    by: 'if (tried.size >= 0) {',
    caughtBy: 'an attempt takes the next step of its own pool, and the request counts once',
  },
  'goes on with the other pool when its own has failed': {
    replace: 'if (pool.replicas.every(({ port }) => tried.has(port))) return undefined;',
    by: `if (pool.replicas.every(({ port }) => tried.has(port)))
          return write.find(({ port }) => !tried.has(port))?.port;`,
    caughtBy: 'when all of a pool have been tried it is a 502, and the turn stands still',
  },
  'takes one more step when nobody is left': {
    replace: 'if (pool.replicas.every(({ port }) => tried.has(port))) return undefined;',
    by: `if (pool.replicas.every(({ port }) => tried.has(port))) {
          pool.turn += 1;
          return undefined;
        }`,
    caughtBy: 'when all of a pool have been tried it is a 502, and the turn stands still',
  },
  'tries a replica again that has failed': {
    replace: '} while (!replica || tried.has(replica.port));',
    by: '} while (!replica);',
    caughtBy: 'an attempt passes over a replica that has been tried, wherever the turn stands',
  },
  'repeats nothing, although it was asked to': {
    replace: '    headerTimeoutMs,\n    retry,\n',
    by: '    headerTimeoutMs,\n',
    caughtBy: 'an attempt takes the next step of its own pool, and the request counts once',
  },
  'waits for ever': {
    replace: '    headerTimeoutMs,\n    retry,\n',
    by: '    retry,\n',
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'calls a late answer a bad gateway': {
    replace: `answer(status, status === 504 ?`,
    by: `answer(502, status === 504 ?`,
    caughtBy: 'X9: a replica that does not answer in time is a 504, and is left',
  },
  'cuts what is running although it was asked to drain': {
    replace: 'await server.close(how);',
    by: 'await server.close();',
    caughtBy: 'X16: a drained proxy finishes what is running and takes nothing new',
  },
  'answers a 502 without saying why': {
    replace: `      refuse: (status) =>
        answer(status, status === 504 ? 'kopya zamaninda yanit vermedi' : 'kopyaya ulasilamadi'),`,
    by: `      refuse: (status) => answer(status, ''),`,
    caughtBy: 'X7: a replica that breaks off before it answers is a 502',
  },
});
