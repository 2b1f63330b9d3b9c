// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

/** Replaces the finish of the hash, steps 3 to 5. */
const finish = `  h ^= h >>> finalShift1;
  h = Math.imul(h, finalMultiplier);
  h ^= h >>> finalShift2;`;
const step2 = 'h = Math.imul(h ^ text.charCodeAt(index), prime);';
const step4 = 'h = Math.imul(h, finalMultiplier);';
const lookup = `        if ((positions[middle] as Position).at < hash) low = middle + 1;`;
const owner = 'return (positions[low % positions.length] as Position).replica;';
const label = '`${replica}#${v}`';
const fewest = 'return open.indexOf(Math.min(...open));';
const upstreamError = `    upstream.on('error', () => {
      done();`;
const clientGone = `    response.on('close', () => {
      done();
      if (!response.writableEnded) upstream.destroy();
    });`;
const answerError = `      answer.on('error', () => {
        done();
        response.destroy(); // an end would make half an answer look like a whole one
      });`;

export default mistakes({
  // 8.1
  'round robin goes to the replica after the one that is due': {
    replace: 'return arrival % open.length;',
    by: 'return (arrival + 1) % open.length;',
    caughtBy: 'round robin takes turns and does not look',
  },
  'round robin remembers its turn instead of reading the arrival number': {
    replace: 'return arrival % open.length;',
    by: 'turn += 1;\n  return (turn - 1) % open.length;',
    also: [
      {
        replace: 'function requireChoice(',
        by: 'let turn = 0;\nfunction requireChoice(',
      },
    ],
    caughtBy: 'round robin takes turns and does not look',
  },
  'equal counts go to the last of them': {
    replace: fewest,
    by: 'return open.lastIndexOf(Math.min(...open));',
    caughtBy: 'slow pool, leastConnections: requests are split 53/126/121 and wait 56.99 ticks',
  },
  'the fullest replica is chosen': {
    replace: fewest,
    by: 'return open.indexOf(Math.max(...open));',
    caughtBy: 'equal pool, leastConnections: requests are split 112/102/86 and wait 1.9 ticks',
  },
  'counts are compared as texts': {
    replace: fewest,
    by: 'return open.indexOf(Number([...open].map(String).sort()[0]));',
    caughtBy: 'of the open counts [12,3,9] least connections takes index 1',
  },
  'the counts of the caller are sorted in place': {
    replace: fewest,
    by: 'const least = (open as number[]).sort((a, b) => a - b)[0];\n  return open.indexOf(least as number);',
    caughtBy: 'leastConnections is pure: it leaves the counts alone and forgets every call',
  },
  'an empty list gives an index': {
    replace:
      "if (open.length === 0) throw new RangeError('no replica to choose from: open is empty');",
    by: '',
    caughtBy: 'leastConnections refuses an empty list: no replica',
  },
  'half a request is taken for a count': {
    replace: "for (const count of open) requireWhole('a count in open', count, 0);",
    by: '',
    caughtBy: 'roundRobin refuses half a request',
  },
  'the arrival number is not checked': {
    replace: "requireWhole('arrival', arrival, 0);",
    by: '',
    caughtBy: 'leastConnections refuses a negative arrival',
  },

  // 8.2
  'the finishing steps 3 to 5 are left out': {
    replace: finish,
    by: '',
    caughtBy: 'the text "G1000000" has the hash 711200445',
  },
  'the product comes before the xor, as in FNV-1': {
    replace: step2,
    by: 'h = Math.imul(h, prime) ^ text.charCodeAt(index);',
    caughtBy: 'the text "G1000000" has the hash 711200445',
  },
  'both products are rounded doubles': {
    replace: step2,
    by: 'h = (((h ^ text.charCodeAt(index)) >>> 0) * prime) >>> 0;',
    also: [{ replace: step4, by: 'h = ((h >>> 0) * finalMultiplier) >>> 0;' }],
    caughtBy: 'the text "G1000000" has the hash 711200445',
  },
  'the products of step 2 are rounded doubles': {
    replace: step2,
    by: 'h = (((h ^ text.charCodeAt(index)) >>> 0) * prime) >>> 0;',
    caughtBy: 'the text "G1000000" has the hash 711200445',
  },
  'the shifts are signed': {
    replace: finish,
    by: finish.replaceAll('>>>', '>>'),
    caughtBy: 'the text "G1000001" has the hash 2453670530',
  },
  "the finish is MurmurHash3's, in full": {
    replace: finish,
    by: `  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;`,
    caughtBy: 'the text "G1000000" has the hash 711200445',
  },
  'the hash is left signed': {
    replace: 'return h >>> 0; // xor and Math.imul give signed numbers',
    by: 'return h;',
    caughtBy: 'the text "G1000001" has the hash 2453670530',
  },
  'the text is cut into UTF-8 bytes': {
    replace: `  for (let index = 0; index < text.length; index += 1) {
    ${step2}
  }`,
    by: '  for (const byte of Buffer.from(text)) h = Math.imul(h ^ byte, prime);',
    caughtBy: 'the text "ş" has the hash 913150984',
  },
  'the text is cut into code points': {
    replace: `  for (let index = 0; index < text.length; index += 1) {
    ${step2}
  }`,
    by: '  for (const point of text) h = Math.imul(h ^ (point.codePointAt(0) as number), prime);',
    caughtBy: 'the text "😀" has the hash 3835382634',
  },
  'a number is hashed as if it were a text': {
    replace:
      "if (typeof text !== 'string') throw new TypeError(`text must be a string, got ${typeof text}`);",
    by: '',
    caughtBy: 'refuses 1000000, which is not a text',
  },

  // 8.3
  'the key goes to the position before it': {
    replace: owner,
    by: 'return (positions[(low || positions.length) - 1] as Position).replica;',
    caughtBy: 'ring, V = 1: 55768 of 100 000 keys move when k4 joins',
  },
  'a key exactly on a position goes to the next one': {
    replace: lookup,
    by: lookup.replace('< hash', '<= hash'),
    caughtBy: 'a key exactly on a position belongs to it',
  },
  'past the last position the keys stay with the last one': {
    replace: owner,
    by: 'return (positions[Math.min(low, positions.length - 1)] as Position).replica;',
    caughtBy: 'G1019888 lies above the last position and so belongs to the first',
  },
  'positions are sorted as texts': {
    replace: 'positions.sort((a, b) => a.at - b.at);',
    by: 'positions.sort((a, b) => (String(a.at) < String(b.at) ? -1 : 1));',
    caughtBy: 'a ring with one virtual node each has three positions, sorted as numbers',
  },
  'labels have no separator': {
    replace: label,
    by: '`${replica}${v}`',
    caughtBy: 'a ring with one virtual node each has three positions, sorted as numbers',
  },
  'labels are written with a dash': {
    replace: label,
    by: '`${replica}-${v}`',
    caughtBy: 'a ring with one virtual node each has three positions, sorted as numbers',
  },
  'labels are numbered from 1': {
    replace: label,
    by: '`${replica}#${v + 1}`',
    caughtBy: 'a ring with one virtual node each has three positions, sorted as numbers',
  },
  'of equal positions the later one wins': {
    replace: 'positions.sort((a, b) => a.at - b.at);',
    by: 'positions.reverse().sort((a, b) => a.at - b.at);',
    caughtBy: 'of equal positions the one that was listed first owns the keys',
  },
  'the ring takes a name twice': {
    replace:
      'if (twice !== undefined) throw new RangeError(`replicas has the name ${twice} twice`);',
    by: '',
    caughtBy: 'a ring refuses a name that stands there twice',
  },
  'half a virtual node is rounded up': {
    replace: "requireWhole('virtualNodes', virtualNodes, 1);",
    by: '',
    caughtBy: 'a ring refuses half a virtual node',
  },
  'modulo looks at its list when the first key comes': {
    replace: `  requireNames(replicas);
  return (key) => replicas[hashKey(key) % replicas.length] as string;`,
    by: `  return (key) => {
    requireNames(replicas);
    return replicas[hashKey(key) % replicas.length] as string;
  };`,
    caughtBy: 'modulo refuses an empty list at once',
  },

  // 8.4
  'a replica without keys is left out of the imbalance': {
    replace: '* replicas.length;',
    by: '* counts.filter((count) => count > 0).length;',
    caughtBy: 'the imbalance of [k1,k1,k1] on [k1,k2,k3] is 3',
  },
  'a replica that nobody knows is counted': {
    replace: 'throw new RangeError(`placement names ${replica}, which is not among the replicas`);',
    by: 'continue;',
    caughtBy: 'refuses a placement on an unknown replica',
  },
  'moved keys are set against the keys that stay': {
    replace: 'return moved / before.length;',
    by: 'return moved / (before.length - moved || 1);',
    caughtBy: 'from [k1,k2] to [k1,k3] a share of 0.5 moves',
  },
  'placements of different keys are compared': {
    replace: 'if (before.length === 0 || before.length !== after.length) {',
    by: 'if (before.length === 0) {',
    caughtBy: 'refuses placements of different keys',
  },
  'the candidates are searched by halving': {
    replace: `  for (const virtualNodes of [...candidates].sort((a, b) => a - b)) {
    const positions = after.length * virtualNodes;
    if (positions > maxPositions) return undefined; // and so is every larger one`,
    by: `  const sorted = [...candidates].sort((a, b) => a - b);
  const splits = (virtualNodes: number) =>
    [before, after].every((replicas) => {
      const ring = createRing(replicas, virtualNodes);
      return placementImbalance(keys.map((key) => ring.lookup(key)), replicas) <= maxImbalance;
    });
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (splits(sorted[middle] as number)) high = middle;
    else low = middle + 1;
  }
  for (const virtualNodes of sorted.slice(low, low + 1)) {
    const positions = after.length * virtualNodes;
    if (positions > maxPositions) return undefined;`,
    caughtBy:
      'an imbalance up to 1.1 on at most 10000 positions takes 50 of [1,10,50,100,200,400,1000]',
  },
  'the candidate with the best split wins, not the smallest': {
    replace: '[...candidates].sort((a, b) => a - b)',
    by: '[...candidates].sort((a, b) => b - a)',
    caughtBy: 'candidates may come in any order and stay as they are',
  },
  'candidates are tried in the order in which they come': {
    replace: '[...candidates].sort((a, b) => a - b)',
    by: 'candidates',
    caughtBy: 'candidates may come in any order and stay as they are',
  },
  "the caller's candidates are sorted in place": {
    replace: '[...candidates].sort((a, b) => a - b)',
    by: '(candidates as number[]).sort((a, b) => a - b)',
    caughtBy: 'candidates may come in any order and stay as they are',
  },
  'only the split after growth is looked at': {
    replace: '    if (placementImbalance(placedBefore, before) > maxImbalance) continue;\n',
    by: '',
    caughtBy: 'the limit on imbalance holds before growth as well as after, and may be met exactly',
  },
  'only the split before growth is looked at': {
    replace: '    if (placementImbalance(placedAfter, after) > maxImbalance) continue;\n',
    by: '',
    caughtBy: 'the limit on imbalance holds before growth as well as after, and may be met exactly',
  },
  'a split exactly at the limit is turned down': {
    replace: 'if (placementImbalance(placedAfter, after) > maxImbalance) continue;',
    by: 'if (placementImbalance(placedAfter, after) >= maxImbalance) continue;',
    caughtBy: 'the limit on imbalance holds before growth as well as after, and may be met exactly',
  },
  'the size of the ring is that before growth': {
    replace: 'const positions = after.length * virtualNodes;',
    by: 'const positions = before.length * virtualNodes;',
    caughtBy: 'an imbalance up to 1.1 on at most 4000 positions takes 1000 of [1,10,100,1000]',
  },
  'the size of the ring has no limit': {
    replace: 'if (positions > maxPositions) return undefined;',
    by: '',
    caughtBy: 'nothing is chosen when the only one that does needs 4000 positions',
  },
  'a candidate is checked when its turn comes': {
    replace:
      "for (const candidate of candidates) requireWhole('each of candidates', candidate, 1);",
    by: '',
    caughtBy: 'refuses a candidate of 0, although 1 would win',
  },

  // 8.5
  'moved keys are added to the normal misses, and counted twice': {
    replace: 'const missRatio = movedShare + (1 - movedShare) * (1 - hitRatio);',
    by: 'const missRatio = movedShare + (1 - hitRatio);',
    caughtBy: '0.74849 moved, hit ratio 0.9, 60 s: 0.7736, 322.35, 419.57, 3.02, 16841',
  },
  'keys that stay never miss': {
    replace: 'const missRatio = movedShare + (1 - movedShare) * (1 - hitRatio);',
    by: 'const missRatio = movedShare;',
    caughtBy: '0.26477 moved, hit ratio 0.9, 60 s: 0.3383, 140.96, 238.18, 1.71, 5957',
  },
  'the writes are forgotten': {
    replace: 'const storeRate = readsBehindCache + writeRate;',
    by: 'const storeRate = readsBehindCache;',
    caughtBy: '0.74849 moved, hit ratio 0.9, 60 s: 0.7736, 322.35, 419.57, 3.02, 16841',
  },
  'writes pass through the cache': {
    replace: 'const storeRate = readsBehindCache + writeRate;',
    by: 'const storeRate = (readRate + writeRate) * missRatio;',
    caughtBy: 'with nothing moved the store sees what it always sees',
  },
  'extra requests never fall below 0': {
    replace: 'extraRequests: (storeRate - baselineStoreRate) * windowSeconds,',
    by: 'extraRequests: Math.max(0, (storeRate - baselineStoreRate) * windowSeconds),',
    caughtBy: 'with nothing moved the store sees what it always sees',
  },
  'a baseline of 0 is divided by': {
    replace:
      "if (baselineStoreRate === 0) throw new RangeError('baselineStoreRate must be above 0, got 0');",
    by: '',
    caughtBy: 'refuses a baselineStoreRate of 0',
  },
  'NaN passes for a share': {
    replace: 'if (!(value >= 0 && value <= most)) {',
    by: 'if (value < 0 || value > most) {',
    caughtBy: 'refuses a movedShare of NaN',
  },

  // 8.6
  'the count is never lowered': {
    replace: '      openByName.set(name, (openByName.get(name) ?? 0) - 1);',
    by: '',
    caughtBy: 'sockets and model agree to the tick: slow pool, leastConnections',
  },
  'the count is lowered again at every event that follows': {
    replace: '      isOpen = false;\n',
    by: '',
    caughtBy: 'a client that gives up frees the replica at once, and only its own request',
  },
  'the count is raised when the answer begins': {
    replace: '    openByName.set(name, (openByName.get(name) ?? 0) + 1);\n',
    by: '',
    also: [
      {
        replace: "    upstream.on('response', (answer) => {\n",
        by: `    upstream.on('response', (answer) => {
      openByName.set(name, (openByName.get(name) ?? 0) + 1);\n`,
      },
    ],
    caughtBy: 'sockets and model agree to the tick: equal pool, leastConnections',
  },
  'the count is raised a moment later': {
    replace: '    openByName.set(name, (openByName.get(name) ?? 0) + 1);\n',
    by: '    setImmediate(() => openByName.set(name, (openByName.get(name) ?? 0) + 1));\n',
    caughtBy:
      'the rule gets the counts, the arrival number and the raw target, and the count rises at once',
  },
  'a replica that dies keeps its count': {
    replace: `${upstreamError}`,
    by: "    upstream.on('error', () => {\n      isOpen = false;",
    caughtBy: 'a replica that dies while it holds a request gives 502, and its count is 0 by then',
  },
  'a client that gives up is not noticed': {
    replace: clientGone,
    by: '',
    caughtBy: 'a client that gives up frees the replica at once, and only its own request',
  },
  'the replica works on for a client that has gone': {
    replace: '      if (!response.writableEnded) upstream.destroy();\n',
    by: '',
    caughtBy: 'a client that gives up frees the replica at once, and only its own request',
  },
  'half an answer is ended as if it were whole': {
    replace: answerError,
    by: answerError.replace('response.destroy();', 'response.end();'),
    caughtBy: 'half an answer never looks whole: chunks, and the replica closes after 10 bytes',
  },
  'the 502 carries the name of a replica': {
    replace: "response.writeHead(502).end('kopyaya ulasilamadi');",
    by: "response.writeHead(502, { 'x-kopya': name }).end('kopyaya ulasilamadi');",
    caughtBy: 'a replica that is not there gives 502, without a name, and its count is 0 again',
  },
  'the answer comes without the name of its replica': {
    replace: "{ ...endToEnd(answer), 'x-kopya': name }",
    by: '{ ...endToEnd(answer) }',
    caughtBy: 'the request arrives whole, and so does the answer, with the name of the replica',
  },
  'the query is lost on the way': {
    replace: '      path: incoming.url,\n',
    by: '      path: path(incoming.url),\n',
    also: [
      {
        replace: 'function requireDistinct(',
        by: "const path = (url = '/') => new URL(url, 'http://localhost').pathname;\nfunction requireDistinct(",
      },
    ],
    caughtBy: 'the request arrives whole, and so does the answer, with the name of the replica',
  },
  'the body of the request is left behind': {
    replace: '    incoming.pipe(upstream);',
    by: '    incoming.resume();\n    upstream.end();',
    also: [
      {
        replace: '      headers: endToEnd(incoming),',
        by: "      headers: { ...endToEnd(incoming), 'content-length': '0' },",
      },
    ],
    caughtBy: 'the request arrives whole, and so does the answer, with the name of the replica',
  },
  'the headers of the request are left behind': {
    replace: '      headers: endToEnd(incoming),\n',
    by: '',
    caughtBy: 'sockets and model agree to the tick: equal pool, roundRobin',
  },
  'every answer is a 200': {
    replace: 'response.writeHead(answer.statusCode ?? 502, {',
    by: 'response.writeHead(200, {',
    caughtBy: 'the request arrives whole, and so does the answer, with the name of the replica',
  },
  'an empty pool uses up an arrival number': {
    replace: "      response.writeHead(503).end('havuz bos');",
    by: "      arrivals += 1;\n      response.writeHead(503).end('havuz bos');",
    caughtBy: 'an empty pool answers 503, asks no rule, and costs no arrival number',
  },
  'a new list begins to count arrivals anew': {
    replace: '      pick = newPick;',
    by: '      pick = newPick;\n      arrivals = 0;',
    caughtBy: 'a replica that stays keeps its count, and one that leaves finishes what it has',
  },
  'a new list forgets the open requests': {
    replace: '      pick = newPick;',
    by: '      pick = newPick;\n      openByName.clear();',
    caughtBy: 'a replica that stays keeps its count, and one that leaves finishes what it has',
  },
  'the old rule stays when the list changes': {
    replace: '      pick = newPick;',
    by: '',
    caughtBy: 'k4 joins by modulo: 293 of 400 cached parcels are asked of the origin again',
  },
  'a bad list is put in force before it is refused': {
    replace: `      requireDistinct(newReplicas);
      replicas = newReplicas;`,
    by: `      replicas = newReplicas;
      requireDistinct(newReplicas);`,
    caughtBy: 'a name that stands there twice is refused, and the old list stays in force',
  },
  'close leaves the connections to the replicas open': {
    replace: '    agent.destroy();\n',
    by: '',
    caughtBy: 'close leaves no connection to a replica behind, idle ones included',
  },

  // 8.7
  'ties go to the lowest index again': {
    replace: '    const first = next < open.length ? next : 0;',
    by: '    const first = 0;',
    caughtBy: 'looking at the queue does not cost fairness, the tie rule does: 500 other seeds',
  },
  'the search begins at the replica chosen last': {
    replace: '    next = best + 1;',
    by: '    next = best;',
    caughtBy: 'equal replicas take turns',
  },
  'the search begins where the arrival number says': {
    replace: '    const first = next < open.length ? next : 0;',
    by: '    const first = arrival % open.length;',
    caughtBy: 'the turn goes on from the replica chosen last, whatever the arrival number',
  },
  'the turn moves on by one at each call': {
    replace: '    next = best + 1;',
    by: '    next = first + 1;',
    caughtBy: 'the turn goes on from the replica chosen last, whatever the arrival number',
  },
  'the last of equal ones is kept': {
    replace: 'if ((open[index] as number) < (open[best] as number)) best = index;',
    by: 'if ((open[index] as number) <= (open[best] as number)) best = index;',
    caughtBy:
      'the published requests with turns on ties, equal replicas: 1.71, 2, 614, 573/554/552',
  },
  'all rules share one memory': {
    replace: '  let next = 0;\n',
    by: '',
    also: [
      {
        replace: 'function requireWhole(',
        by: 'let next = 0;\nfunction requireWhole(',
      },
    ],
    caughtBy: 'two rules do not share their memory',
  },
  'a turn past the end of a shorter list wraps around by remainder': {
    replace: '    const first = next < open.length ? next : 0;',
    by: '    const first = next % open.length;',
    caughtBy: 'the list may grow and shrink between two calls',
  },
});
