import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  // Exercise 1.1
  'rounds each quota by itself': {
    replace: 'const whole = Math.floor(quota);',
    by: 'const whole = Math.round(quota);',
    also: [{ replace: 'for (const part of shortest) part.whole += 1;', by: 'void shortest;' }],
    caughtBy: 'quotas that are rounded one by one add up to 513, and the split to 514',
  },
  'gives what is left to the first resolvers instead of the largest fractions': {
    replace: '[...parts].sort((a, b) => b.fraction - a.fraction).slice(0, left)',
    by: 'parts.slice(0, left)',
    caughtBy:
      'the largest of 40 resolvers sends 23.35 % of the requests, more than b06 is meant to get',
  },
  'gives what is left to the smallest fractions': {
    replace: 'b.fraction - a.fraction',
    by: 'a.fraction - b.fraction',
    caughtBy: '10 requests/s among 4 are 5 2 2 1',
  },
  'gives all that is left to the largest resolver': {
    replace: 'for (const part of shortest) part.whole += 1;',
    by: 'for (const _ of shortest) if (parts[0]) parts[0].whole += 1;',
    caughtBy: 'with 1000 requests/s the largest of 40 sends 234',
  },
  'loses what is left': {
    replace: 'for (const part of shortest) part.whole += 1;',
    by: 'void shortest;',
    caughtBy: 'nothing is lost, whatever is split',
  },
  'splits the requests equally': {
    replace: '(_, j) => 1 / (j + 1)',
    by: '() => 1',
    caughtBy:
      'the largest of 40 resolvers sends 23.35 % of the requests, more than b06 is meant to get',
  },
  'counts the resolvers from 1': {
    replace: '1 / (j + 1)',
    by: '1 / (j + 2)',
    caughtBy: 'a split with whole numbers only, without any fraction, comes to the same',
  },
  'orders the result by fraction': {
    replace: 'return parts.map(({ whole }) => whole);',
    by: 'return [...parts].sort((a, b) => b.fraction - a.fraction).map(({ whole }) => whole);',
    caughtBy: 'no resolver sends more than the one before it',
  },
  'refuses to split nothing': {
    replace: 'requireCount({ requestsPerSecond }, 0);',
    by: 'requireCount({ requestsPerSecond }, 1);',
    caughtBy: '0 requests/s among 3 are 0 0 0',
  },
  'splits any rate, negative and broken ones too': {
    replace: 'requireCount({ requestsPerSecond }, 0);',
    by: '',
    caughtBy: 'splitRequests refuses a requestsPerSecond that makes no sense',
  },
  'splits among no resolvers, or half a one': {
    replace: 'requireCount({ resolverCount }, 1);',
    by: '',
    caughtBy: 'splitRequests refuses a resolverCount that makes no sense',
  },

  // Exercise 1.2
  'does not halve the deviation': {
    replace: 'return sum(differences) / 2;',
    by: 'return sum(differences);',
    caughtBy: 'geographic: a share of 0.07588 would have to move',
  },
  'takes the largest difference': {
    replace: 'return sum(differences) / 2;',
    by: 'return Math.max(...differences);',
    caughtBy: 'what is missing in two regions and too much in two others is counted in full',
  },
  'averages the differences over the regions': {
    replace: 'return sum(differences) / 2;',
    by: 'return sum(differences) / differences.length;',
    caughtBy: 'latency: a share of 0.05058 would have to move',
  },
  'adds up what is too much and overlooks what is missing': {
    replace: 'Math.abs((observed[region] ?? 0) - share)',
    by: 'Math.max(0, (observed[region] ?? 0) - share)',
    also: [{ replace: 'return sum(differences) / 2;', by: 'return sum(differences);' }],
    caughtBy: 'observed shares need not add up to 1, and nothing observed at all is 0.5',
  },
  'lets too much and too little cancel out': {
    replace: 'Math.abs((observed[region] ?? 0) - share)',
    by: '(observed[region] ?? 0) - share',
    caughtBy: 'weighted: a share of 0.02179 would have to move',
  },
  'compares only the regions that were observed': {
    replace: 'const differences = Object.entries(target).map(([region, share]) =>',
    by: `const differences = Object.entries(target).filter(([region]) => region in observed)
    .map(([region, share]) =>`,
    caughtBy: 'a region that nothing was observed of has a share of 0',
  },
  'stretches the observed shares until they add up to 1': {
    replace: 'Math.abs((observed[region] ?? 0) - share)',
    by: 'Math.abs((observed[region] ?? 0) / (sum(Object.values(observed)) || 1) - share)',
    caughtBy: 'observed shares need not add up to 1, and nothing observed at all is 0.5',
  },
  'knows the regions of the lesson only': {
    replace: 'const differences = Object.entries(target).map(([region, share]) =>',
    by: `const differences = Object.entries(target)
    .filter(([region]) => ['b34', 'b35', 'b06'].includes(region))
    .map(([region, share]) =>`,
    caughtBy: 'the names and the order of the regions do not matter',
  },
  'overlooks a region that the target does not know': {
    replace: '!Object.hasOwn(target, region)',
    by: 'target === undefined',
    caughtBy: 'a region that the target does not know is refused by its name',
  },
  'takes what every object inherits for a region': {
    replace: '!Object.hasOwn(target, region)',
    by: '!(region in target)',
    caughtBy: 'a region that the target does not know is refused by its name',
  },
  'refuses negative shares, and calculates with NaN': {
    replace: '!(share >= 0 && share < Infinity)',
    by: 'share < 0',
    caughtBy: 'a share that is negative or no finite number is refused on both sides',
  },
  'looks at the observed shares and trusts the target': {
    replace: '[...Object.entries(observed), ...Object.entries(target)]',
    by: 'Object.entries(observed)',
    caughtBy: 'a share that is negative or no finite number is refused on both sides',
  },
  'does not check that the target adds up to 1': {
    replace: 'Math.abs(targetSum - 1) > 1e-9',
    by: 'Number.isNaN(targetSum)',
    caughtBy: 'targets that do not add up to 1 are refused, and binary fractions are forgiven',
  },
  'wants the target to add up to 1 exactly': {
    replace: 'Math.abs(targetSum - 1) > 1e-9',
    by: 'targetSum !== 1',
    caughtBy: 'targets that do not add up to 1 are refused, and binary fractions are forgiven',
  },

  // Exercise 1.3, geographic
  'hands out the region of the table, whether it is alive or not': {
    replace: `if (!query.isMarkedDown(region)) return region;
            tried.add(region);`,
    by: 'return region;',
    caughtBy: 'a region that is marked down is replaced by its backup, and comes back',
  },
  'hands out a backup without asking whether that one is alive': {
    replace: 'region = tables.backup[region];',
    by: `region = tables.backup[region];
            if (region !== undefined) return region;`,
    caughtBy: 'where the backup is marked down too, its own backup takes over',
  },
  'gives up when the backup is down as well': {
    replace: 'region !== undefined && !tried.has(region)',
    by: 'region !== undefined && tried.size < 2',
    caughtBy: 'where the backup is marked down too, its own backup takes over',
  },
  'takes the first live region instead of the backup': {
    replace: 'region = tables.backup[region];',
    by: 'region = tables.regions.find((other) => !query.isMarkedDown(other));',
    caughtBy: 'a region that is marked down is replaced by its backup, and comes back',
  },
  'answers the last region of a chain that has no live one': {
    replace: `            region = tables.backup[region];
          }
          throw noLiveRegion(query);`,
    by: `            region = tables.backup[region];
          }
          return region as Region;`,
    caughtBy: 'a chain of backups without a live region is an error: no live region',
  },
  'follows backups in a circle for ever': {
    replace: 'region !== undefined && !tried.has(region)',
    by: 'region !== undefined',
    caughtBy: 'a chain of backups without a live region is an error: no live region',
    hangs: true,
  },
  'takes any live region when the chain of backups has none': {
    replace: `            region = tables.backup[region];
          }
          throw noLiveRegion(query);`,
    by: `            region = tables.backup[region];
          }
          const other = tables.regions.find((live) => !query.isMarkedDown(live));
          if (other !== undefined) return other;
          throw noLiveRegion(query);`,
    caughtBy: 'a chain of backups without a live region is an error: no live region',
  },
  'knows the published table only': {
    replace: 'entryOf(tables.geographic, query.group)',
    by: "{ g1: 'b34', g2: 'b35', g3: 'b34', g4: 'b06' }[query.group] as string",
    caughtBy: 'another table gives other answers',
  },
  'takes what every object inherits for a group': {
    replace: '!Object.hasOwn(table, group)',
    by: '!(group in table)',
    caughtBy: 'geographic names a group that it does not know',
  },

  // Exercise 1.3, latency
  'gives a tie to the region that comes last': {
    replace: 'unitsTo(region) < unitsTo(nearest)',
    by: 'unitsTo(region) <= unitsTo(nearest)',
    caughtBy:
      'of equal distances the first in the order of the regions wins, however the matrix is written',
  },
  'goes through the regions in the order of the matrix': {
    replace: 'for (const region of tables.regions) {',
    by: 'for (const region of Object.keys(distance)) {',
    caughtBy:
      'of equal distances the first in the order of the regions wins, however the matrix is written',
  },
  'takes the region that is furthest away': {
    replace: 'unitsTo(region) < unitsTo(nearest)',
    by: 'unitsTo(region) > unitsTo(nearest)',
    caughtBy: 'g3 and g4 have a nearer region than the one that the table sends them to',
  },
  'takes the nearest region, whether it is alive or not': {
    replace: `if (query.isMarkedDown(region)) continue;
            // Not`,
    by: '// Not',
    caughtBy: 'of the regions that are left the nearest takes over',
  },
  'sends a group whose nearest region is down to the backup of that': {
    replace: `if (query.isMarkedDown(region)) continue;
            // Not`,
    by: '// Not',
    also: [
      {
        replace: 'return nearest;',
        by: 'return query.isMarkedDown(nearest) ? (tables.backup[nearest] as Region) : nearest;',
      },
    ],
    caughtBy: 'of the regions that are left the nearest takes over',
  },
  'answers nothing when every region is down': {
    replace: `if (nearest === undefined) throw noLiveRegion(query);
          return nearest;`,
    by: 'return nearest as Region;',
    caughtBy: 'no live region is nearer than the answer, and none before it is as near',
  },
  'sends a group that nobody knows to the first region': {
    replace: 'const distance = entryOf(tables.distance, query.group);',
    by: 'const distance = tables.distance[query.group] ?? {};',
    caughtBy: 'latency names a group that it does not know',
  },

  // Exercise 1.3, weighted
  'moves the position by one, whatever it passes over': {
    replace: 'position = (at + 1) % pattern.length;',
    by: 'position = (position + 1) % pattern.length;',
    caughtBy: 'entries that are passed over are used up',
  },
  'keeps a position for each group': {
    replace: 'let position = 0;',
    by: 'const positions: Record<ClientGroup, number> = {};',
    also: [
      {
        replace: 'const at = (position + step) % pattern.length;',
        by: 'const at = ((positions[query.group] ?? 0) + step) % pattern.length;',
      },
      {
        replace: 'position = (at + 1) % pattern.length;',
        by: 'positions[query.group] = (at + 1) % pattern.length;',
      },
    ],
    caughtBy: 'all groups move the same position',
  },
  'keeps one position for all policies': {
    replace: 'let position = 0;',
    by: '',
    also: [
      {
        replace: 'function sum(values: readonly number[]): number {',
        by: 'let position = 0;\n\nfunction sum(values: readonly number[]): number {',
      },
    ],
    caughtBy: 'two policies do not share their position',
  },
  'begins the pattern again after an error': {
    replace: `            return region;
          }
          throw noLiveRegion(query);`,
    by: `            return region;
          }
          position = 0;
          throw noLiveRegion(query);`,
    caughtBy: 'an error leaves the position where it was',
  },
  'begins with the second entry': {
    replace: 'let position = 0;',
    by: 'let position = 1;',
    caughtBy: 'answers go through the pattern and begin again',
  },
  'answers region by region: five times the first, three times the second, twice the third': {
    replace: 'const { pattern } = tables;',
    by: `const { regions } = tables;
      const pattern = [...tables.pattern].sort((a, b) => regions.indexOf(a) - regions.indexOf(b));`,
    caughtBy: 'answers go through the pattern and begin again',
  },
  'hands out the entry of the pattern, whether it is alive or not': {
    replace: `if (query.isMarkedDown(region)) continue;
            position`,
    by: 'position',
    caughtBy: 'entries that are passed over are used up',
  },
  'takes any live region when the pattern has none': {
    replace: `            return region;
          }
          throw noLiveRegion(query);`,
    by: `            return region;
          }
          const other = tables.regions.find((live) => !query.isMarkedDown(live));
          if (other !== undefined) return other;
          throw noLiveRegion(query);`,
    caughtBy: 'a pattern without a live entry is an error, although another region is alive',
  },
  'answers groups that nobody knows': {
    replace: `entryOf(tables.distance, query.group);
          for`,
    by: 'for',
    caughtBy: 'weighted names a group that it does not know',
  },

  // Exercise 1.4
  'takes the window for the outage': {
    replace: 'const equivalentOutageSeconds = dropped / requestsPerSecond;',
    by: 'const equivalentOutageSeconds = windowSeconds;',
    caughtBy: 'TTL 300 s: a window of 305 s is worth 112.66 s of full outage',
  },
  'reckons with a month of 31 days': {
    replace: '(equivalentOutageSeconds / budgetSeconds) * 100',
    by: '(equivalentOutageSeconds / 2_678.4) * 100',
    caughtBy: 'TTL 300 s: a window of 305 s is worth 112.66 s of full outage',
  },
  'reckons with a month of 30 days, whatever the budget': {
    replace: '(equivalentOutageSeconds / budgetSeconds) * 100',
    by: '(equivalentOutageSeconds / 2_592) * 100',
    caughtBy: '31 days: 57906 dropped in 305 s are 112.66 s, 4.21 %, 36.94 % lost',
  },
  'gives shares where percent are asked for': {
    replace: '(equivalentOutageSeconds / budgetSeconds) * 100',
    by: 'equivalentOutageSeconds / budgetSeconds',
    caughtBy: 'TTL 900 s: a window of 905 s is worth 370.05 s of full outage',
  },
  'compares the dropped requests with the accepted ones': {
    replace: '(dropped / requestsInWindow) * 100',
    by: '(dropped / (requestsInWindow - dropped)) * 100',
    caughtBy: 'two rulers for one event: 305 s on the status page, 36.9 % of their requests lost',
  },
  'rounds on the way': {
    replace: 'const equivalentOutageSeconds = dropped / requestsPerSecond;',
    by: 'const equivalentOutageSeconds = Math.round((dropped / requestsPerSecond) * 100) / 100;',
    caughtBy: 'two rulers for one event: 305 s on the status page, 36.9 % of their requests lost',
  },
  'divides nothing by nothing': {
    replace: 'dropped === 0 ? 0 : (dropped / requestsInWindow) * 100',
    by: '(dropped / requestsInWindow) * 100',
    caughtBy: 'nothing dropped in no time costs nothing',
  },
  'believes in requests that were dropped in no time': {
    replace: 'windowSeconds === 0 && dropped > 0',
    by: 'windowSeconds < 0',
    caughtBy: 'something dropped in a window of 0 s is refused',
  },
  'takes any number of dropped requests, negative and broken ones too': {
    replace: 'requireNotNegative({ dropped, windowSeconds });',
    by: 'requireNotNegative({ windowSeconds });',
    caughtBy: 'failoverCost refuses a dropped that makes no sense',
  },
  'divides by a rate or a budget of 0': {
    replace: 'requirePositive({ requestsPerSecond, budgetSeconds });',
    by: 'requireNotNegative({ requestsPerSecond, budgetSeconds });',
    caughtBy: 'failoverCost refuses a budgetSeconds that makes no sense',
  },

  // Exercise 1.5
  'forgets that the first and the last second both count': {
    replace: 'ttlSeconds + detectionSeconds - 1,',
    by: 'ttlSeconds + detectionSeconds,',
    caughtBy: 'TTL 300 s: a failure lasts at most 309 s, and drops 47212 requests on average',
  },
  'ignores the detection delay': {
    replace: 'longestWindowSeconds: ttlSeconds + detectionSeconds - 1,',
    by: 'longestWindowSeconds: ttlSeconds - 1,',
    also: [{ replace: '(ttlSeconds - 1) / 2 + detectionSeconds', by: '(ttlSeconds - 1) / 2' }],
    caughtBy: 'TTL 30 s: a failure lasts at most 39 s, and drops 7252 requests on average',
  },
  'takes the TTL for the longest window': {
    replace: 'longestWindowSeconds: ttlSeconds + detectionSeconds - 1,',
    by: 'longestWindowSeconds: ttlSeconds,',
    caughtBy: 'TTL 900 s: a failure lasts at most 909 s, and drops 136012 requests on average',
  },
  'waits half a TTL on average, as if time had no seconds': {
    replace: '(ttlSeconds - 1) / 2 + detectionSeconds',
    by: 'ttlSeconds / 2 + detectionSeconds',
    caughtBy: 'TTL 60 s: a failure lasts at most 69 s, and drops 11692 requests on average',
  },
  'counts the longest window for everybody': {
    replace: '(ttlSeconds - 1) / 2 + detectionSeconds',
    by: 'ttlSeconds + detectionSeconds - 1',
    caughtBy: 'the model agrees in every second in which b34 could fail: TTL 12 s, detection 5 s',
  },
  'drops the requests to all regions': {
    replace: 'boundRequestsPerSecond * (',
    by: '514 * (',
    caughtBy: 'TTL 30 s: a failure lasts at most 39 s, and drops 7252 requests on average',
  },
  'rounds the mean': {
    replace: 'meanDropped: boundRequestsPerSecond * ((ttlSeconds - 1) / 2 + detectionSeconds),',
    by: 'meanDropped: Math.round(boundRequestsPerSecond * ((ttlSeconds - 1) / 2 + detectionSeconds)),',
    caughtBy: 'the mean is not rounded, and nobody bound drops nothing',
  },
  'takes a detection that outlasts the TTL': {
    replace: 'detectionSeconds > ttlSeconds',
    by: 'detectionSeconds === Infinity',
    caughtBy: 'predictFailover refuses a detectionSeconds that makes no sense',
  },
  'refuses a detection as long as the TTL': {
    replace: 'detectionSeconds > ttlSeconds',
    by: 'detectionSeconds >= ttlSeconds',
    caughtBy: 'the model agrees in every second in which b34 could fail: TTL 12 s, detection 12 s',
  },
  'takes half a second for a TTL': {
    replace: 'requireCount({ ttlSeconds }, 1);',
    by: 'requirePositive({ ttlSeconds });',
    caughtBy: 'predictFailover refuses a ttlSeconds that makes no sense',
  },

  // Exercise 1.6
  'refuses a value that is equal to its limit': {
    replace: 'budgetSharePercent <= maxBudgetSharePercent && upstreamQueries <= maxUpstreamQueries',
    by: 'budgetSharePercent < maxBudgetSharePercent && upstreamQueries < maxUpstreamQueries',
    caughtBy: 'a failure within 0.5 % and 1600 queries take a TTL of 30 s',
  },
  'looks at the budget only': {
    replace: 'budgetSharePercent <= maxBudgetSharePercent && upstreamQueries <= maxUpstreamQueries',
    by: 'budgetSharePercent <= maxBudgetSharePercent',
    caughtBy: 'no TTL serves both ends when both limits are too tight',
  },
  'looks at the queries only': {
    replace: 'budgetSharePercent <= maxBudgetSharePercent && upstreamQueries <= maxUpstreamQueries',
    by: 'upstreamQueries <= maxUpstreamQueries',
    caughtBy: 'a failure within 1 % and 1000 queries take a TTL of 60 s',
  },
  'takes the TTL with the cheapest failure': {
    replace: 'a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds',
    by: 'a.budgetSharePercent - b.budgetSharePercent',
    caughtBy: 'a failure within 14.27 % and 1600 queries take a TTL of 300 s',
  },
  'takes the longest TTL': {
    replace: 'a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds',
    by: 'b.ttlSeconds - a.ttlSeconds',
    caughtBy: 'fewest queries decide, not the longest TTL, and of equal ones the smallest TTL',
  },
  'takes the first of equal rows': {
    replace: 'a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds',
    by: 'a.upstreamQueries - b.upstreamQueries',
    caughtBy: 'fewest queries decide, not the longest TTL, and of equal ones the smallest TTL',
  },
  'takes the last row that keeps the limits': {
    replace:
      '.sort((a, b) => a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds)',
    by: '.reverse()',
    caughtBy: 'the order of the rows does not matter, and they stay as they are',
  },
  'sorts the rows that it was given': {
    replace: 'const [best] = rows\n',
    by: 'const [best] = (rows as FailoverRow[])\n    .sort((a, b) => a.ttlSeconds - b.ttlSeconds)\n',
    caughtBy: 'the order of the rows does not matter, and they stay as they are',
  },
  'falls back to the first row when nothing keeps both limits': {
    replace: 'if (!best) {',
    by: 'if (!best && rows[0]) return rows[0].ttlSeconds;\n  if (!best) {',
    caughtBy: 'no TTL serves both ends when both limits are too tight',
  },
  'answers undefined for a table without rows': {
    replace: 'if (!best) {',
    by: 'if (!best && rows.length > 0) {',
    also: [{ replace: 'return best.ttlSeconds;', by: 'return best?.ttlSeconds as number;' }],
    caughtBy: 'no TTL serves both ends when there are no rows',
  },

  // Exercise 1.7: answers
  'tells everybody the same address': {
    replace: 'return addresses[policy.answer({ group, isMarkedDown })];',
    by: "return addresses[regions[0] ?? ''];",
    caughtBy: 'an A query gets the address of the region that the policy chose, and its TTL',
  },
  'hands out the base TTL whatever it was told': {
    replace: "{ type: 'A', name: question.name, ttl: ttlSeconds, data }",
    by: "{ type: 'A', name: question.name, ttl: 300, data }",
    caughtBy: 'an A query gets the address of the region that the policy chose, and its TTL',
  },
  'forgets to say that it is in charge': {
    replace: '(isAuthoritative ? AUTHORITATIVE : 0)',
    by: '0',
    caughtBy: 'id and question come back, AA says who answers, and no recursion is offered',
  },
  'offers recursion, which it cannot do': {
    replace: '(isAuthoritative ? AUTHORITATIVE : 0)',
    by: '(isAuthoritative ? AUTHORITATIVE | 0x0080 : 0)',
    caughtBy: 'id and question come back, AA says who answers, and no recursion is offered',
  },
  'sends the question back without its id': {
    replace: 'id: message.readUInt16BE(0),',
    by: 'id: 1,',
    caughtBy: 'id and question come back, AA says who answers, and no recursion is offered',
  },
  'does not repeat that recursion was desired': {
    replace: '(OPCODE | RECURSION_DESIRED)',
    by: 'OPCODE',
    caughtBy: 'of the flags of a query RD comes back, and the others do not',
  },
  'copies all flags of the query': {
    replace: '(OPCODE | RECURSION_DESIRED)',
    by: '0x7fff',
    caughtBy: 'of the flags of a query RD comes back, and the others do not',
  },
  'spells the question in lower case': {
    replace: 'query?.bytes.copy(response, HEADER_BYTES);',
    by: "response.write(response.toString('latin1', 12).toLowerCase(), 12, 'latin1');",
    caughtBy: 'the case of the letters does not matter, and comes back as it was sent',
  },
  'spells the owner of the address as it is configured': {
    replace: "{ type: 'A', name: question.name,",
    by: "{ type: 'A', name: ownName,",
    caughtBy: 'the case of the letters does not matter, and comes back as it was sent',
  },
  'takes names that differ in case for different ones': {
    replace: 'return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());',
    by: 'return name;',
    caughtBy: 'the case of the letters does not matter, and comes back as it was sent',
  },
  'writes I in lower case as Turkish does': {
    replace: 'return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());',
    by: "return name.toLocaleLowerCase('tr');",
    caughtBy: 'the case of the letters does not matter, and comes back as it was sent',
  },
  'gives letters beyond a to z a case': {
    replace: 'return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());',
    by: 'return name.toLowerCase();',
    caughtBy: 'the Kelvin sign is no k, although JavaScript makes one of it',
  },
  'reads the health of the regions once, at the start': {
    replace: 'const soa = soaRecord(zone, options.soa);',
    by: `const soa = soaRecord(zone, options.soa);
  const marked = new Set(regions.filter(isMarkedDown));`,
    also: [
      {
        replace: 'policy.answer({ group, isMarkedDown })',
        by: 'policy.answer({ group, isMarkedDown: (region) => marked.has(region) })',
      },
    ],
    caughtBy: 'a change of health takes effect with the next query',
  },
  'remembers its own answers': {
    replace: 'return addresses[policy.answer({ group, isMarkedDown })];',
    by: `const known = chosen.get(group) ?? policy.answer({ group, isMarkedDown });
      chosen.set(group, known);
      return addresses[known];`,
    also: [
      {
        replace: 'const soa = soaRecord(zone, options.soa);',
        by: `const soa = soaRecord(zone, options.soa);
  const chosen = new Map<string, string>();`,
      },
    ],
    caughtBy: 'a change of health takes effect with the next query',
  },
  'asks the policy before it knows whether an address is wanted': {
    replace: 'const asked = lowerCase(question.name);',
    by: `const asked = lowerCase(question.name);
    addressFor(fallbackGroup);`,
    caughtBy: 'only an address is chosen: other queries leave the policy where it stands',
  },
  'has nothing for who asks for anything': {
    replace: "type === held || type === 'ANY'",
    by: 'type === held',
    caughtBy: 'type ANY gets what the name holds',
  },
  'sends an OPT record to whoever asks': {
    replace: 'edns: edns && opt(rcode, client, scope)',
    by: 'edns: opt(rcode, client, scope)',
    caughtBy: 'an OPT record comes back to whoever has sent one, and to nobody else',
  },
  'ignores EDNS': {
    replace: 'edns: edns && opt(rcode, client, scope)',
    by: '',
    caughtBy: 'an OPT record comes back to whoever has sent one, and to nobody else',
  },
  'falls over the second close()': {
    replace: 'closed ??= new Promise(',
    by: 'closed = new Promise(',
    caughtBy: 'close() frees the port, and may be called twice',
  },
  'starts with a fraction of a second as its TTL': {
    replace: '!Number.isInteger(ttlSeconds) || ',
    by: '',
    caughtBy: 'refuses to start with a wrong ttlSeconds',
  },
  'starts without an address for a region': {
    replace: "if (!isIPv4(addresses[region] ?? '')) {",
    by: "if (region in addresses && !isIPv4(addresses[region] ?? '')) {",
    caughtBy: 'refuses to start with a wrong b06',
  },

  // Exercise 1.7: negative answers
  'denies the name when only the type is missing': {
    replace: 'const exists = asked === ownZone || isWithin(ownName, asked);',
    by: 'const exists = false;',
    caughtBy:
      'a type that the name does not have: the name exists, says the SOA record, and no more',
  },
  'answers every type with an IPv4 address': {
    replace: "if (asked === ownName && wants('A')) {",
    by: 'if (asked === ownName) {',
    caughtBy:
      'a type that the name does not have: the name exists, says the SOA record, and no more',
  },
  'says no without the SOA record, so that nobody may remember it': {
    replace: 'RCODE.NXDOMAIN, { authorities: [soa] });',
    by: 'RCODE.NXDOMAIN);',
    caughtBy: 'a name that does not exist in the zone: NXDOMAIN, which may be remembered for 60 s',
  },
  'finds every name in the zone': {
    replace: 'const exists = asked === ownZone || isWithin(ownName, asked);',
    by: 'const exists = true;',
    caughtBy: 'a name that does not exist in the zone: NXDOMAIN, which may be remembered for 60 s',
  },
  'denies the zone, and with it all that is below': {
    replace: 'const exists = asked === ownZone || isWithin(ownName, asked);',
    by: 'const exists = asked === ownName;',
    caughtBy: 'the zone exists, and so does each name on the way to the one that has an address',
  },
  'does not answer for its own zone': {
    replace:
      "if (asked === ownZone && wants('SOA')) return reply(RCODE.NOERROR, { answers: [soa] });",
    by: '',
    caughtBy: 'the SOA record of the zone is an answer when it is asked for',
  },
  'lets a no be remembered for as long as an address': {
    replace: 'const soa = soaRecord(zone, options.soa);',
    by: 'const soa = { ...soaRecord(zone, options.soa), ttl: ttlSeconds };',
    caughtBy: 'a negative answer may be remembered for as long as the SOA record says',
  },
  'takes a name that ends alike for one in the zone': {
    replace: 'return name === zone || name.endsWith(`.',
    by: 'return name.endsWith(`',
    caughtBy: 'a name outside the zone is refused, and AA is not set',
  },
  'denies names that are not its business': {
    replace: 'isWithin(asked, ownZone)) return reply(RCODE.REFUSED);',
    by: 'isWithin(asked, ownZone)) return reply(RCODE.NXDOMAIN);',
    caughtBy: 'a name outside the zone is refused, and AA is not set',
  },
  'claims to be in charge of what it refuses': {
    replace: 'const isAuthoritative = rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN;',
    by: 'const isAuthoritative = true;',
    caughtBy: 'a name outside the zone is refused, and AA is not set',
  },
  'does not look at the class': {
    replace: "question.class !== 'IN' || ",
    by: '',
    caughtBy: 'any class but IN is refused, and comes back as it was',
  },
  'repeats the question as dns-packet has understood it': {
    replace: 'query?.bytes.copy(response, HEADER_BYTES);',
    by: '',
    caughtBy: 'any class but IN is refused, and comes back as it was',
  },
  'takes everything for a query': {
    replace: 'if (message.readUInt16BE(2) & OPCODE) return pack(message, RCODE.NOTIMP);',
    by: '',
    caughtBy: 'every opcode but 0 is not implemented, and comes back',
  },
  'answers an update as if it had been a query': {
    replace: '(OPCODE | RECURSION_DESIRED)',
    by: 'RECURSION_DESIRED',
    caughtBy: 'every opcode but 0 is not implemented, and comes back',
  },
  'says nothing at all when no region is live': {
    replace: 'return undefined; // no live region at this moment; the next query may find one',
    by: "throw new Error('no live region');",
    caughtBy: 'without a live region the server fails, and recovers',
  },
  'denies the name when no region is live': {
    replace: 'if (data === undefined) return reply(RCODE.SERVFAIL);',
    by: 'if (data === undefined) return reply(RCODE.NXDOMAIN, { authorities: [soa] });',
    caughtBy: 'without a live region the server fails, and recovers',
  },
  'takes any version of EDNS for its own': {
    replace: 'edns !== undefined && edns.ednsVersion !== 0;',
    by: 'false;',
    caughtBy: 'another version of EDNS is BADVERS, and its options are not looked at',
  },
  'loses the upper bits of BADVERS': {
    replace: 'extendedRcode: rcode >> 4,',
    by: 'extendedRcode: 0,',
    caughtBy: 'another version of EDNS is BADVERS, and its options are not looked at',
  },

  // Exercise 1.7: client subnet
  'takes the resolver for the client, although it says for whom it asks': {
    replace: 'table.find(client?.address ?? sender)',
    by: 'table.find(sender)',
    caughtBy: 'each published network is of its group, and the scope of the answer is that network',
  },
  'does not look at the source address': {
    replace: 'const place = table.find(client?.address ?? sender);',
    by: 'const place = client?.address ? table.find(client.address) : undefined;',
    caughtBy: 'without the option the source address decides, and no option comes back',
  },
  'uses the client subnet and does not say so': {
    replace: 'options: data ? [{ code: CLIENT_SUBNET, ip: undefined, data }] : [],',
    by: 'options: [],',
    caughtBy: 'each published network is of its group, and the scope of the answer is that network',
  },
  'leaves the scope at 0, so that one answer serves everybody': {
    replace: 'data?.writeUInt8(scope, 3);',
    by: '',
    caughtBy: 'family, prefix and address come back, and the scope says for whom the answer is',
  },
  'returns the prefix that was sent as the scope': {
    replace: '(place?.prefixLength ?? client.bits);',
    by: 'client.data.readUInt8(2);',
    caughtBy: 'family, prefix and address come back, and the scope says for whom the answer is',
  },
  'gives everybody the answer for somebody from nowhere': {
    replace: '(place?.prefixLength ?? client.bits);',
    by: '(place?.prefixLength ?? 0);',
    caughtBy: 'a network in no table gets the answer of the fallback group, for nobody but itself',
  },
  'ties to a network what is the same for everybody': {
    replace: 'records: Records = {}, scope = 0)',
    by: 'records: Records = {}, scope = 24)',
    caughtBy: 'what is the same for everybody has a scope of 0',
  },
  'takes 0.0.0.0 for the address of who keeps it secret': {
    replace: 'address: prefix > 0 ? option.ip : undefined',
    by: 'address: option.ip',
    caughtBy:
      'a client that keeps its address to itself is judged by its source, with a scope of 0',
  },
  'answers a malformed client subnet as if it were not there': {
    replace: "if (subnet === 'malformed') return reply(RCODE.FORMERR);",
    by: '',
    caughtBy:
      'a malformed client subnet is a FORMERR with the question, and nobody asks the policy',
  },
  'does not count the bytes of the address': {
    replace: "if (bytes.length !== Math.ceil(prefix / 8)) return 'malformed';",
    by: '',
    caughtBy:
      'a malformed client subnet is a FORMERR with the question, and nobody asks the policy',
  },
  'does not look behind the prefix': {
    replace: "if ((bytes.at(-1) ?? 0) & behindPrefix) return 'malformed';",
    by: 'void behindPrefix;',
    caughtBy:
      'a malformed client subnet is a FORMERR with the question, and nobody asks the policy',
  },
  'takes every family but IPv4 for IPv6': {
    replace: 'const bits = [0, 32, 128][family];',
    by: 'const bits = family === 1 ? 32 : 128;',
    caughtBy:
      'a malformed client subnet is a FORMERR with the question, and nobody asks the policy',
  },

  // Exercise 1.7: hostile packets
  'answers responses, and so starts a conversation without end': {
    replace: 'if (message.readUInt16BE(2) & RESPONSE) return undefined;',
    by: '',
    caughtBy: 'a response is never answered, whatever it says',
  },
  'reads an id where there is no header': {
    replace: 'if (message.length < HEADER_BYTES) return undefined; // not even an id to answer to',
    by: 'if (message.length < 4) return undefined;',
    also: [
      {
        replace: 'const query = parse(message);',
        by: 'const query = message.length < HEADER_BYTES ? undefined : parse(message);',
      },
    ],
    caughtBy: 'a query cut anywhere is a FORMERR, and silence where not even its header is left',
  },
  'says nothing to what it cannot read': {
    replace: 'if (!query) return pack(message, RCODE.FORMERR);',
    by: 'if (!query) return undefined;',
    caughtBy: 'a query cut anywhere is a FORMERR, and silence where not even its header is left',
  },
  'lets an error of dns-packet out of the socket': {
    replace: `return { question, bytes, edns };
  } catch {
    return undefined;
  }`,
    by: `return { question, bytes, edns };
  } finally {
    // nothing
  }`,
    also: [
      {
        replace: `} catch {
      // Such as port 0, which Node refuses to send to. Nobody is owed an answer to that.
    }`,
        by: `} finally {
      // nothing
    }`,
      },
    ],
    caughtBy: 'names that lead back to themselves are a FORMERR, and take no time',
  },
  'answers the first of 200 questions': {
    replace: 'if (questions !== 1 || answers',
    by: 'if (questions === 0 || answers',
    caughtBy: '200 questions are one FORMERR, and so is a length that lies',
  },
  'believes every length': {
    replace: 'if (!(decode.bytes <= message.length)) return undefined;',
    by: '',
    caughtBy: '200 questions are one FORMERR, and so is a length that lies',
  },
  'repeats a name that it has not understood': {
    replace: 'if (!bytes.subarray(0, -2).equals(repeated.subarray(0, -2))) return undefined;',
    by: '',
    caughtBy: 'a name that cannot be repeated byte for byte is neither looked up nor repeated',
  },
});
