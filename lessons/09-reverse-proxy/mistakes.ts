import { mistakes } from '#helpers/grading/mistakes.ts';

const NEXT_TURN =
  'rule.turn += 1; // now, and not on success: or a dead target would keep its turn for ever';

export default mistakes({
  // Exercise 9.1
  'takes whatever Number() takes for a port': {
    replace: 'if (!/^[0-9]+$/.test(text)) return undefined;',
    by: "if (text === '' || !Number.isInteger(Number(text))) return undefined;",
    caughtBy: 'a rule that has a hexadecimal port is refused and quoted: /a=0x50',
  },
  'takes an empty target for a port': {
    replace: 'if (!/^[0-9]+$/.test(text)) return undefined;',
    by: 'if (!/^[0-9]*$/.test(text)) return undefined;',
    also: [{ replace: 'port >= 1 && port <= 65_535', by: 'port >= 0 && port <= 65_535' }],
    caughtBy: 'a rule that has nothing after its last comma is refused and quoted: /a=1,',
  },
  'ignores targets that are empty': {
    replace: `.split(',')
      .map(`,
    by: `.split(',')
      .filter((target) => target.trim() !== '')
      .map(`,
    caughtBy: 'a rule that has nothing between two commas is refused and quoted: /a=1,,2',
  },
  'lets port 0 through': {
    replace: 'port >= 1 && port <= 65_535',
    by: 'port <= 65_535',
    caughtBy: 'a rule that has port 0 is refused and quoted: /a=0',
  },
  'lets a port through that is too high': {
    replace: 'port >= 1 && port <= 65_535',
    by: 'port >= 1',
    caughtBy: 'a rule that has a port that is too high is refused and quoted: /a=65536',
  },
  'cuts a rule at its last =': {
    replace: "piece.indexOf('=')",
    by: "piece.lastIndexOf('=')",
    caughtBy: 'a rule that has a second = is refused and quoted: /a=8891=8892',
  },
  'takes every prefix that begins with *': {
    replace: "if (prefix !== '*' && !prefix.startsWith('/'))",
    by: "if (!prefix.startsWith('*') && !prefix.startsWith('/'))",
    caughtBy: 'a rule that has a prefix that only begins with * is refused and quoted: *.css=8891',
  },
  'does not look at the prefix': {
    replace: "if (prefix !== '*' && !prefix.startsWith('/'))",
    by: "if (prefix === '')",
    caughtBy:
      'a rule that has a prefix that begins with neither / nor * is refused and quoted: varlik=8891',
  },
  'says what is wrong and not where': {
    replace: `rule "\${piece}": \${reason}`,
    by: `\${reason}`,
    caughtBy: 'a rule that has no = is refused and quoted: /varlik 8891',
  },
  'lets a prefix have two rules': {
    replace: "refuse('this prefix has a rule already');",
    by: 'continue;',
    caughtBy: 'a prefix that has a rule already is refused, and * is no exception',
  },
  'lets * have two rules': {
    replace: 'rules.some((rule) => rule.prefix === prefix)',
    by: "prefix !== '*' && rules.some((rule) => rule.prefix === prefix)",
    caughtBy: 'a prefix that has a rule already is refused, and * is no exception',
  },
  'starts without any rule': {
    replace: "if (rules.length === 0) throw new SyntaxError('the text has no rule",
    by: "if (rules.length < 0) throw new SyntaxError('the text has no rule",
    caughtBy: 'a text without any rule is refused',
  },
  'does not trim prefixes': {
    replace: 'const prefix = piece.slice(0, equals).trim();',
    by: 'const prefix = piece.slice(0, equals);',
    caughtBy: 'empty pieces, and spaces around rules, prefixes and targets, change nothing',
  },
  'refuses the empty piece after the last semicolon': {
    replace: "if (piece === '') continue;",
    by: '',
    caughtBy: 'empty pieces, and spaces around rules, prefixes and targets, change nothing',
  },
  'gives a target that stands in the list twice one turn': {
    replace: 'rules.push({ prefix, targets });',
    by: 'rules.push({ prefix, targets: [...new Set(targets)] });',
    caughtBy: 'a target may stand in a list twice, and from 1 to 65535 everything is a port',
  },
  'puts the rule * at the end of the table': {
    replace: 'return rules;\n}',
    by: `return rules.sort((a, b) => Number(a.prefix === '*') - Number(b.prefix === '*'));
}`,
    caughtBy: 'rules stay in the order of the text, wherever the * stands',
  },

  // Exercise 9.2
  'compares text where a segment is meant': {
    replace:
      "return prefix.endsWith('/') || path.length === prefix.length || path[prefix.length] === '/';",
    by: 'return path.startsWith(prefix);',
    caughtBy: '/varliklar belongs to /varlik as published, and to * by segments',
  },
  'forgets that a path may be over after its prefix': {
    replace: 'path.length === prefix.length || ',
    by: '',
    caughtBy: '/varlik belongs to /varlik as published, and to /varlik by segments',
  },
  'wants a further slash after a prefix that ends with one': {
    replace: "prefix.endsWith('/') || ",
    by: '',
    caughtBy: 'a prefix that ends with a slash is one that ends a segment',
  },
  'lets the * take part in the order of the table': {
    replace: `prefix !== '*' &&
      path.startsWith(prefix) &&`,
    by: `(prefix === '*' || path.startsWith(prefix)) &&`,
    caughtBy: 'a * that is written first does not shadow the rules behind it',
  },
  'takes the longest prefix as published': {
    replace: "if (mode === 'published') return matching[0] ?? fallback;",
    by: '',
    caughtBy: 'as published the first match wins, by segments the longest',
  },
  'takes the first prefix by segments': {
    replace: "if (mode === 'published') return matching[0] ?? fallback;",
    by: 'if (mode) return matching[0] ?? fallback;',
    caughtBy: 'as published the first match wins, by segments the longest',
  },
  'lets a target that no URL can be made of end the process': {
    replace: "return 'bad-request'; // one client's",
    by: "throw new TypeError('Invalid URL'); // one client's",
    caughtBy: 'a target that no URL can be made of is a bad request, and so is the empty one',
  },
  'takes the empty target for the root': {
    replace: "if (target === '') return 'bad-request';",
    by: '',
    caughtBy: 'a target that no URL can be made of is a bad request, and so is the empty one',
  },
  'compares the raw target': {
    replace: "path = new URL(target, 'http://localhost').pathname;",
    by: "path = new URL(target, 'http://localhost').pathname && target;",
    caughtBy: '/takip/../varlik/x belongs to /varlik as published, and to /varlik by segments',
  },
  'compares the query along with the path': {
    replace: "path = new URL(target, 'http://localhost').pathname;",
    by: `const url = new URL(target, 'http://localhost');
    path = url.pathname + url.search;`,
    caughtBy: '/varlik?surum=2 belongs to /varlik as published, and to /varlik by segments',
  },
  'decodes the path before it compares': {
    replace: "path = new URL(target, 'http://localhost').pathname;",
    by: "path = decodeURIComponent(new URL(target, 'http://localhost').pathname);",
    caughtBy: '/varlik%2f..%2ftakip belongs to /varlik as published, and to * by segments',
  },
  'does not mind the case of a path': {
    replace: 'path.startsWith(prefix) &&',
    by: 'path.toLowerCase().startsWith(prefix) &&',
    caughtBy: '/VARLIK/x belongs to * as published, and to * by segments',
  },
  'returns a copy of the rule, whose turn nobody sees': {
    replace: "if (mode === 'published') return matching[0] ?? fallback;",
    by: "if (mode === 'published') return { ...(matching[0] ?? fallback) } as Rule;",
    caughtBy: 'what comes back is one of the rules themselves, and the table is left as it was',
  },

  // Exercise 9.3
  'keeps one turn for the whole forwarder': {
    replace: 'let table = tableOf(rules);',
    by: 'let table = tableOf(rules);\n  let turn = 0;',
    also: [
      { replace: 'targets[rule.turn % targets.length]', by: 'targets[turn % targets.length]' },
      { replace: NEXT_TURN, by: 'turn += 1;' },
    ],
    caughtBy: `assets between the queries take nobody's turn: {"k1":3,"k2":3}`,
  },
  'takes the next turn only when it was a success': {
    replace: NEXT_TURN,
    by: `if (tried.size > 0) rule.turn += 1;
          else response.on('finish', () => (rule.turn += Number(response.statusCode < 500)));`,
    caughtBy: 'V2, split, k1 stopped: assets 6/6, queries 4/6',
  },
  'puts its name in the place of the chain': {
    replace: 'const chain = incoming && trustIncomingHops ?',
    by: "const chain = incoming === ' ' ?",
    caughtBy: 'splitting adds a hop to every tracking query, and none to an asset request',
  },
  'writes its name in front of the chain': {
    replace: `\`\${incoming}\${HOP_SEPARATOR}\${name}\` : name;`,
    by: `\`\${name}\${HOP_SEPARATOR}\${incoming}\` : name;`,
    caughtBy: 'splitting adds a hop to every tracking query, and none to an asset request',
  },
  'takes an empty chain for a chain': {
    replace: 'const chain = incoming && trustIncomingHops ?',
    by: "const chain = headers['x-durak'] !== undefined && trustIncomingHops ?",
    caughtBy: 'an empty chain is no chain',
  },
  'does not say who could not reach the target': {
    replace: `answer(status, 'yok', { 'x-durak': \`\${known}\${HOP_SEPARATOR}ulasilamadi\` });`,
    by: "answer(status, known && 'yok');",
    caughtBy: 'a target that is dead is a 502 that names who could not reach it',
  },
  'answers 502 where it has no rule': {
    replace: "answer(404, 'kural yok');",
    by: "answer(502, 'yok');",
    caughtBy: 'where no rule matches, the answer is a 404, and nobody is asked',
  },
  'sends what no rule is for to the first target of the table': {
    replace: `if (!rule) {
      answer(404, 'kural yok');
      return;
    }

    const chain`,
    by: 'const chain',
    also: [
      {
        replace: "matchRule(table, request.url ?? '', 'published')",
        by: "matchRule(table, request.url ?? '', 'published') ?? table[0]!",
      },
    ],
    caughtBy: 'where no rule matches, the answer is a 404, and nobody is asked',
  },
  'lets Node add a Date': {
    replace: 'response.sendDate = false;',
    by: '',
    caughtBy:
      'no response has a Date of the forwarder: neither its own ones nor those it passes on',
  },
  'passes on the normalised path, and loses the query': {
    replace: 'const chain = incoming',
    by: "request.url = new URL(request.url ?? '/', 'http://localhost').pathname;\n    const chain = incoming",
    caughtBy: 'method, target, fields and body reach the component, and its answer the client',
  },
  'passes on the normalised target': {
    replace: 'const chain = incoming',
    by: `const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    request.url = pathname + search;
    const chain = incoming`,
    caughtBy: 'the rule is chosen by the normalised path, and the component gets the raw one',
  },
  'listens before it reads its rules': {
    replace: 'let table = tableOf(rules);',
    by: 'await startHttpServer(() => {});\n  let table = tableOf(rules);',
    caughtBy: 'a bad rule text is refused before anything listens',
  },
  'counts only what a client could use as forwarded': {
    replace: 'return { ...failures, forwarded };',
    by: 'return { ...failures, forwarded: forwarded - failures.attempts + failures.unreachable };',
    caughtBy: 'an answer counts as forwarded whatever its status, and a dead target as unreachable',
  },

  // Exercise 9.4
  'counts a 502 as answered': {
    replace: 'return { answered: requests - failures.length, failure: failures[0] };',
    by: 'return { answered: stopped === layout.entry ? 0 : requests, failure: failures[0] };',
    caughtBy: 'without running anything: split, yd stopped: assets 6/6, queries 0/6',
  },
  'charges the asset path for every forwarder': {
    replace: "if (stopped === layout.entry) return 'baglanti yok';",
    by: "if (stopped && layout.forwarders[stopped]) return 'baglanti yok';",
    caughtBy: 'without running anything: split, yd stopped: assets 6/6, queries 0/6',
  },
  'takes a refused connection for a 502': {
    replace: "if (stopped === layout.entry) return 'baglanti yok';",
    by: "if (stopped === layout.entry) return 'istemci > ulasilamadi';",
    caughtBy: 'without running anything: combined, tvyd stopped: assets 0/6, queries 0/6',
  },
  'lets the entry report a failure that happened farther inside': {
    replace: `return \`\${at}\${HOP_SEPARATOR}ulasilamadi\`;`,
    by: `return \`\${layout.entry}\${HOP_SEPARATOR}ulasilamadi\`;`,
    caughtBy: 'without running anything: V2, split, k1 stopped: assets 6/6, queries 4/6',
  },
  'starts the rotation at the second target': {
    replace: 'const turn = turns.get(key) ?? 0;',
    by: 'const turn = turns.get(key) ?? 1;',
    caughtBy: 'of ten queries to four replicas the first two have three, so it counts who stops',
  },
  'sends every request to the first target': {
    replace: 'turns.set(key, turn + 1);',
    by: 'turns.set(key, turn);',
    caughtBy: 'without running anything: V2, split, k1 stopped: assets 6/6, queries 4/6',
  },
  'believes in processes that the layout does not have': {
    replace:
      'if (stopped !== undefined && !layout.forwarders[stopped] && !layout.ends.includes(stopped)) {',
    by: "if (stopped === '') {",
    caughtBy: 'a name that the layout does not have is refused, and so are half requests',
  },
  'counts a request without a rule as answered': {
    replace: "if (!rule || rule === 'bad-request') return '-';",
    by: "if (!rule || rule === 'bad-request') return undefined;",
    caughtBy: 'where a forwarder has no rule the failure has no chain',
  },

  // Exercise 9.5
  'multiplies availabilities for copies': {
    replace: 'const hopDown = commonCause * down + ((1 - commonCause) * down) ** copiesPerHop;',
    by: 'const hopDown = 1 - component ** copiesPerHop + 0 * commonCause * down;',
    caughtBy: 'the published row of the layout "split2" comes out',
  },
  'gives copies to the base as well': {
    replace: 'const base = component ** baseComponents;',
    by: 'const base = (1 - hopDown) ** baseComponents;',
    caughtBy: 'the published row of the layout "split2" comes out',
  },
  'subtracts minutes that have been rounded': {
    replace: 'increaseMinutes: (base - availability) * monthMinutes,',
    by: `increaseMinutes:
      Math.round((1 - availability) * monthMinutes * 10) / 10 -
      Math.round((1 - base) * monthMinutes * 10) / 10,`,
    caughtBy: 'the published row of the layout "combined" comes out',
  },
  'adds unavailabilities': {
    replace: 'const availability = base * (1 - hopDown) ** addedHops;',
    by: 'const availability = 1 - baseComponents * down - addedHops * hopDown;',
    caughtBy: 'four components at 99.9 % are down for 172.5 minutes a month, four budgets',
  },
  'takes a month of 30.44 days': {
    replace: 'monthMinutes = PUBLISHED.monthMinutes, commonCause',
    by: 'monthMinutes = 30.44 * 1_440, commonCause',
    caughtBy:
      'a month has 43,200 minutes, and failures are independent, unless somebody says otherwise',
  },
  'takes the length of the chain for the hops that were added': {
    replace: '(1 - hopDown) ** addedHops',
    by: '(1 - hopDown) ** (addedHops && addedHops + 1)',
    caughtBy: 'the published row of the layout "combined" comes out',
  },
  'counts the common failures twice': {
    replace: '((1 - commonCause) * down) ** copiesPerHop',
    by: 'down ** copiesPerHop',
    caughtBy: 'if 10 % of the failures hit both copies, splitting costs 4.34 minutes and not 0.04',
  },
  'forgets the common cause': {
    replace: 'commonCause * down + ((1 - commonCause) * down) ** copiesPerHop',
    by: 'down ** copiesPerHop',
    caughtBy: 'if 10 % of the failures hit both copies, splitting costs 4.34 minutes and not 0.04',
  },
  'charges the whole outage to the hops': {
    replace: '(base - availability) * monthMinutes',
    by: '(1 - availability) * monthMinutes',
    caughtBy: 'the published row of the layout "none" comes out',
  },
  'takes a percentage for a share': {
    replace: 'if (!(value >= 0 && value <= 1))',
    by: 'if (!(value >= 0 && value <= 100))',
    caughtBy: 'chainAvailability refuses a component that makes no sense',
  },
  'lets a hop have no copy': {
    replace: 'requireCount({ copiesPerHop }, 1);',
    by: 'requireCount({ copiesPerHop }, 0);',
    caughtBy: 'chainAvailability refuses a copiesPerHop that makes no sense',
  },

  // Exercise 9.6
  'forgets that assets have to be isolated': {
    replace: "LAYOUTS.filter(({ layout }) => layout === 'split' || !mustIsolateAssets)",
    by: 'LAYOUTS.filter(({ layout }) => layout || mustIsolateAssets)',
    caughtBy: 'at most 50 min, isolation true: split x 2: 4 processes',
  },
  'buys the smallest increase instead of the fewest processes': {
    replace: '.sort((a, b) => a.processes - b.processes)',
    by: '.sort((a, b) => a.increaseMinutes - b.increaseMinutes)',
    caughtBy: 'at most 50 min, isolation false: combined x 1: 1 process',
  },
  'counts hops and forgets their copies': {
    replace: 'processes: addedHops * copiesPerHop,',
    by: 'processes: addedHops,',
    caughtBy: 'at most 50 min, isolation true: split x 2: 4 processes',
  },
  'refuses a limit that is met exactly': {
    replace: 'increaseMinutes <= maxIncreaseMinutes',
    by: 'increaseMinutes < maxIncreaseMinutes',
    caughtBy: 'a limit that is met exactly is met',
  },
  'compares the whole outage with the limit': {
    replace: 'const { increaseMinutes } = chainAvailability(chain);',
    by: 'const { outageMinutes: increaseMinutes } = chainAvailability(chain);',
    caughtBy: 'at most 50 min, isolation false: combined x 1: 1 process',
  },
  'reports what a layout would reach that is not allowed': {
    replace: "LAYOUTS.filter(({ layout }) => layout === 'split' || !mustIsolateAssets)",
    by: 'LAYOUTS',
    also: [
      {
        replace: '.filter(({ increaseMinutes }) => increaseMinutes <= maxIncreaseMinutes)',
        by: `.filter(({ layout }) => layout === 'split' || !mustIsolateAssets)
    .filter(({ increaseMinutes }) => increaseMinutes <= maxIncreaseMinutes)`,
      },
    ],
    caughtBy: 'at most 0.01 min with 2 copies, isolation true: the error has 0.09',
  },
  'calls a wish that cannot be met bad input': {
    replace: 'throw new Error(\n    `nothing adds',
    by: 'throw new RangeError(\n    `nothing adds',
    caughtBy: 'at most 0.01 min with 2 copies, isolation false: the error has 0.04',
  },
  'tries one copy fewer than allowed': {
    replace: 'Array.from({ length: maxCopies }',
    by: 'Array.from({ length: Math.max(1, maxCopies - 1) }',
    caughtBy: 'at most 0.01 min with 2 copies, isolation false: the error has 0.04',
  },

  // Exercise 9.7
  'empties the table before it reads the new one': {
    replace: 'table = tableOf(text);\n    },',
    by: 'table = [];\n      table = tableOf(text);\n    },',
    caughtBy: 'a bad text is refused as a whole, and the old table stays in force, with its turns',
  },
  'swallows a bad text': {
    replace: 'table = tableOf(text);\n    },',
    by: `try {
        table = tableOf(text);
      } catch {}
    },`,
    caughtBy: 'a bad text is refused as a whole, and the old table stays in force, with its turns',
  },
  'goes on with the turns of the old table': {
    replace: 'table = tableOf(text);\n    },',
    by: `const old = table;
      table = tableOf(text).map((rule, i) => ({ ...rule, turn: old[i]?.turn ?? 0 }));
    },`,
    caughtBy: 'a new table starts its turns at 0, and the counters go on',
  },
  'puts the new rules on top of the old ones': {
    replace: 'table = tableOf(text);\n    },',
    by: 'table = [...tableOf(text), ...table];\n    },',
    caughtBy: 'a rule that is new holds from the next request on, and one that is gone does not',
  },
  'restarts for new rules': {
    replace: 'table = tableOf(text);\n    },',
    by: 'table = tableOf(text);\n      server.server.closeAllConnections();\n    },',
    caughtBy: 'a request that is running ends where it began',
  },

  // Exercise 9.8
  'looks for its name in the last hop only': {
    replace: 'incoming.split(HOP_SEPARATOR).includes(name)',
    by: 'incoming.split(HOP_SEPARATOR).at(-1) === name',
    caughtBy: 'a 508 has no chain, and comes before the question whether there is a rule',
  },
  'takes a name that contains its own for its own': {
    replace: 'incoming.split(HOP_SEPARATOR).includes(name)',
    by: 'incoming.includes(name)',
    caughtBy: 'a name that contains the own one is another name',
  },
  'looks for a loop only in a chain that it trusts': {
    replace: 'if (incoming.split(HOP_SEPARATOR).includes(name)) {',
    by: 'if (trustIncomingHops && incoming.split(HOP_SEPARATOR).includes(name)) {',
    caughtBy: 'also a chain that is not trusted shows a loop',
  },
  'looks for a loop only where it has a rule': {
    replace: 'if (incoming.split(HOP_SEPARATOR).includes(name)) {',
    by: 'if (rule && incoming.split(HOP_SEPARATOR).includes(name)) {',
    caughtBy: 'a 508 has no chain, and comes before the question whether there is a rule',
  },
  'goes round until the header is too long': {
    replace: 'if (incoming.split(HOP_SEPARATOR).includes(name)) {',
    by: "if (name === '') {",
    caughtBy: 'P1: a forwarder whose rule leads back to itself answers 508 at the second request',
  },
  'believes every chain': {
    replace: 'const chain = incoming && trustIncomingHops ?',
    by: 'const chain = incoming ?',
    caughtBy: 'P2: whoever does not trust the chain that comes in starts a new one',
  },
  'names only itself although the chain is to be complete': {
    replace: 'const known = completeFailureChain ? chain : name;',
    by: 'const known = name;',
    caughtBy: 'P3: as published only the last hop is named; a complete chain names them all',
  },
  'names all hops although nobody asked for it': {
    replace: 'completeFailureChain = false',
    by: 'completeFailureChain = true',
    caughtBy: 'a target that is dead is a 502 that names who could not reach it',
  },
  'names hops that it does not trust when it fails': {
    replace: 'const known = completeFailureChain ? chain : name;',
    by: `const known =
          completeFailureChain && incoming ? \`\${incoming}\${HOP_SEPARATOR}\${name}\` : name;`,
    caughtBy: 'a complete chain has nothing in it that is not trusted',
  },
  'puts itself in the place of the Via that came in': {
    replace: `\${headers.via ? \`\${headers.via}, \` : ''}\${httpVersion}`,
    by: `\${httpVersion}`,
    caughtBy: 'P4: with via each hop adds itself to the field that the standard has for it',
  },
  'writes 1.1 into Via, whatever came in': {
    replace: `}\${httpVersion} \${name}\``,
    by: `}1.1 \${name}\``,
    caughtBy: 'P4: with via each hop adds itself to the field that the standard has for it',
  },
  'adds itself to Via although nobody asked for it': {
    replace: 'via = false }',
    by: 'via = true }',
    caughtBy: 'P4: with via each hop adds itself to the field that the standard has for it',
  },

  // Exercise 9.9
  'cuts the running responses although it was told to drain': {
    replace: 'await server.close(how);',
    by: 'await server.close(how && {});',
    caughtBy: 'X16: a drained proxy finishes what is running and takes nothing new',
  },
  'cuts its targets before the running responses are through': {
    replace: 'await server.close(how);',
    by: 'await forwarding[Symbol.asyncDispose]();\n    await server.close(how);',
    caughtBy: 'X16: a drained proxy finishes what is running and takes nothing new',
  },
  'drains although nobody asked for it': {
    replace: 'await server.close(how);',
    by: 'await server.close({ ...how, drain: true });',
    caughtBy: 'close() without drain cuts the response that is running',
  },
  'takes a turn before it has looked at the target': {
    replace: "if (rule === 'bad-request') {",
    by: `if (rule === 'bad-request') {
      for (const one of table) one.turn += 1;`,
    caughtBy: 'X10: a target that no URL can be made of is a 400, and moves nothing',
  },

  // Exercise 9.10
  'does not repeat what it was asked to repeat': {
    replace: 'openForwarding({ retry, headerTimeoutMs })',
    by: 'openForwarding({ retry: retry && false, headerTimeoutMs })',
    caughtBy:
      'P6: k1 stopped: with retries all six queries are answered, and k1 has cost three attempts',
  },
  'repeats although nobody asked for it': {
    replace: 'openForwarding({ retry, headerTimeoutMs })',
    by: 'openForwarding({ retry: retry ?? true, headerTimeoutMs })',
    caughtBy: 'V4, combined, k1 stopped: assets 6/6, queries 4/6',
  },
  'waits for response headers for ever': {
    replace: 'openForwarding({ retry, headerTimeoutMs })',
    by: 'openForwarding({ retry, headerTimeoutMs: headerTimeoutMs && undefined })',
    caughtBy: 'a 504 has the body and the chain of a 502',
  },
  'answers a time-out with a 502': {
    replace: "answer(status, 'yok', {",
    by: "answer(status && 502, 'yok', {",
    caughtBy: 'a 504 has the body and the chain of a 502',
  },
  'asks a target again that has just failed': {
    replace: 'if (port !== undefined && !tried.has(port)) return port;',
    by: 'if (port !== undefined) return port;',
    caughtBy: 'a retry passes over every turn of a target that has been tried',
  },
  'falls back on another rule when its own has nobody left': {
    replace: 'if (targets.every((port) => tried.has(port))) return undefined;',
    by: `if (targets.every((port) => tried.has(port))) {
          const others = table.flatMap((one) => one.targets);
          return others.find((port) => !tried.has(port));
        }`,
    caughtBy: 'a retry stays within its rule: when that has nobody left, it is a 502',
  },
  'looks the rule up anew for a retry': {
    replace: 'const { targets } = rule;',
    by: `const now = matchRule(table, request.url ?? '', 'published');
        const { targets } = typeof now === 'object' ? now : rule;`,
    caughtBy: 'a retry stays in the table that its request began with',
  },
});
