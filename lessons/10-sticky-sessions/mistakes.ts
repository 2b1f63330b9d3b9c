// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

const modulo = 'return (client) => replicas[hashKey(client) % replicas.length] as string;';
const ring = `      const ring = createRing(replicas, virtualNodes); // once: it is sorted, and never changes
      return (client) => ring.lookup(client);`;
const deal = `    const requests = requestsOf(clients);
    const each = Math.floor(requests / replicas.length);
    const left = requests % replicas.length;
    for (const [index, replica] of replicas.entries()) {
      load.set(replica, each + (index < left ? 1 : 0));
    }
    return load;`;
const addUp =
  'for (const { name, requests } of clients) add(load, binding(name), requests);\n  return load;';
const imbalance = 'return (largest(load) / requests) * load.size;';
const fall = 'peakFall: 1 - largestAfter / largestBefore,';
const lost = 'lostSessions: movedClients(clients, rule, replicas, survivors, virtualNodes).length,';
const share = 'return Math.max(...clients.map((client) => client.requests)) / requests;';
const amdahl = 'return 1 / (share + (1 - share) / replicas);';
const forTarget = 'return ceilWithSlack((1 - share) / room);';
const forImbalance = 'return ceilWithSlack((imbalance * peakRate) / safeRate);';
const bound = 'return peakRate * Math.max(share, 1 / replicas);';
const lostShare =
  ": crash(clients, 'stickyConsistent', replicas, stopped).boundSessions / clients.length,";
const decision =
  'const sticky = Math.max(...lostShares) <= maxLostSessionShare && reboundShare <= maxReboundShare;';
const missing = `    if (rule !== 'notSticky' && !request.headers['x-client']) {
      response.writeHead(400).end('x-client missing');
      return;
    }
    const replica = choose(request);`;
const exchange = '      choose = chooser(rule, replicas, virtualNodes);';
const byHeader = "return ({ headers }) => byName.get(binding(String(headers['x-client'])));";
const sorted = '[...clients].sort((a, b) => b.requests - a.requests)';
const first = 'replicas.find((one) => load.get(one) === least) as string;';

export default mistakes({
  // 10.1
  'modulo counts the replicas from 1': {
    replace: modulo,
    by: 'return (client) => replicas[(hashKey(client) + 1) % replicas.length] as string;',
    caughtBy:
      'on three and on four replicas buyuk-0 is bound to k3 k4 by modulo, to k1 k4 on the ring',
  },
  'modulo looks at the length of the name': {
    replace: modulo,
    by: 'return (client) => replicas[client.length % replicas.length] as string;',
    caughtBy:
      'on three and on four replicas orta-1 is bound to k2 k3 by modulo, to k1 k1 on the ring',
  },
  'the ring always has 1000 virtual nodes': {
    replace: ring,
    by: '      const ring = createRing(replicas, 1000);\n      return (client) => ring.lookup(client);',
    caughtBy:
      'stickyConsistent gives 3 replicas these big, middle and small clients: 1+1+31 0+3+26 0+5+33',
  },
  'the ring has 100 virtual nodes where nothing is said': {
    replace: '  virtualNodes: number = VIRTUAL_NODES,\n): Binding {',
    by: '  virtualNodes: number = VIRTUAL_NODES / 2,\n): Binding {',
    caughtBy:
      'stickyConsistent gives 4 replicas these big, middle and small clients: 0+1+21 0+3+18 0+4+23 1+1+28',
  },
  'the number of virtual nodes is ignored': {
    replace: ring,
    by: '      const ring = createRing(replicas, VIRTUAL_NODES);\n      return (client) => ring.lookup(client);',
    caughtBy: 'the number of virtual nodes is 200, or whatever is said',
  },
  'a client keeps the turn in which it was first seen': {
    replace: modulo,
    by: `{
      const seen = new Map<string, string>();
      return (client) => {
        const replica = seen.get(client) ?? (replicas[seen.size % replicas.length] as string);
        seen.set(client, replica);
        return replica;
      };
    }`,
    caughtBy:
      'on three and on four replicas orta-1 is bound to k2 k3 by modulo, to k1 k1 on the ring',
  },
  'modulo moves on at each call': {
    replace: modulo,
    by: `{
      let calls = 0;
      return (client) => replicas[(hashKey(client) + Math.floor(calls++ / 50)) % replicas.length] as string;
    }`,
    caughtBy: 'a binding forgets every call: a client is bound the same, whoever came in between',
  },
  'virtual nodes are checked on the ring only': {
    replace: "requireWhole('virtualNodes', virtualNodes, 1);",
    by: "if (rule === 'stickyConsistent') requireWhole('virtualNodes', virtualNodes, 1);",
    caughtBy: 'stickyModulo refuses 1.5 virtual nodes',
  },
  'bad lists are refused at the first client only': {
    replace: modulo,
    by: `return (client) => {
        requireNames('replicas', replicas);
        return replicas[hashKey(client) % replicas.length] as string;
      };`,
    also: [
      {
        replace: "  requireNames('replicas', replicas);\n  requireWhole('virtualNodes'",
        by: "  requireWhole('virtualNodes'",
      },
    ],
    caughtBy: 'stickyModulo refuses a list that is empty or has a name twice, at once',
  },
  'an unknown rule is taken for the ring': {
    replace:
      'throw new TypeError(`rule must be stickyModulo or stickyConsistent, got ${String(rule)}`);',
    by: 'return (client) => createRing(replicas, virtualNodes).lookup(client);',
    caughtBy: 'there is no binding by the rule notSticky',
  },

  // 10.2
  'the turn begins again with each client': {
    replace: deal,
    by: `    for (const { requests } of clients) {
      for (let r = 0; r < requests; r += 1) add(load, replicas[r % replicas.length] as string, 1);
    }
    return load;`,
    caughtBy: 'notSticky, three replicas: the published mix loads them as published',
  },
  'without stickiness clients take turns instead of requests': {
    replace: deal,
    by: `    for (const [turn, { requests }] of clients.entries()) {
      add(load, replicas[turn % replicas.length] as string, requests);
    }
    return load;`,
    caughtBy:
      'without stickiness one turn runs over all requests, and does not restart with a client',
  },
  'clients are counted instead of their requests': {
    replace: addUp,
    by: 'for (const { name } of clients) add(load, binding(name), 1);\n  return load;',
    caughtBy: 'stickyConsistent, three replicas: the published mix loads them as published',
  },
  'a replica without clients is left out': {
    replace: addUp,
    by: `for (const { name, requests } of clients) add(load, binding(name), requests);
  for (const [replica, requests] of load) if (requests === 0) load.delete(replica);
  return load;`,
    caughtBy: 'with V = 1 three replicas get 7000/3100/0, four get 1850/3100/0/5150',
  },
  'replicas stand in the order in which clients find them': {
    replace:
      '  const binding = bind(rule, replicas, virtualNodes);\n  for (const { name, requests } of clients) add(',
    by: '  const binding = bind(rule, replicas, virtualNodes);\n  load.clear();\n  for (const { name, requests } of clients) add(',
    caughtBy: 'stickyModulo, three replicas: the published mix loads them as published',
  },
  'the load has always 200 virtual nodes': {
    replace: 'const binding = bind(rule, replicas, virtualNodes);\n  for (const { name, requests }',
    by: 'const binding = bind(rule, replicas);\n  for (const { name, requests }',
    caughtBy: 'with V = 1000 three replicas get 3300/4050/2750, four get 700/2850/1550/5000',
  },
  'half a request is taken for one': {
    replace: 'requireWhole(`requests of ${name}`, requests, 0);',
    by: 'if (!(requests >= 0)) throw new RangeError(`requests of ${name}`);',
    caughtBy: 'notSticky refuses a mix or a list that makes no sense',
  },
  'a client may be there twice': {
    replace: 'if (names.has(name)) throw new Error(`the client ${name} is there twice`);',
    by: '',
    caughtBy: 'stickyModulo refuses a mix or a list that makes no sense',
  },
  'imbalance is the largest load over the smallest': {
    replace: imbalance,
    by: 'return largest(load) / Math.min(...load.values());',
    caughtBy: 'a load of 2/1 has an imbalance of 1.333',
  },
  'imbalance leaves out replicas that have nothing': {
    replace: imbalance,
    by: 'return (largest(load) / requests) * [...load.values()].filter((one) => one > 0).length;',
    caughtBy: 'a load of 30/0/0 has an imbalance of 3.000',
  },
  'imbalance is a share': {
    replace: imbalance,
    by: 'return largest(load) / requests;',
    caughtBy: 'stickyConsistent: the published mix is as uneven as published',
  },
  'no load is perfectly even': {
    replace: "if (requests === 0) throw new RangeError('load must have requests in it, got none');",
    by: 'if (requests === 0) return 1;',
    caughtBy: 'refuses a load without requests',
  },

  // 10.3
  'the fall is measured on the replica that was the fullest before': {
    replace: fall,
    by: `peakFall: (() => {
      const loadBefore = loadByReplica(clients, rule, before, virtualNodes);
      const loadAfter = loadByReplica(clients, rule, after, virtualNodes);
      const fullest = before.find((one) => loadBefore.get(one) === largestBefore) as string;
      return 1 - (loadAfter.get(fullest) ?? largestAfter) / largestBefore;
    })(),`,
    caughtBy:
      'a fourth replica takes 25.01 % off the fullest one if nobody is bound, and little if they are',
  },
  'the peak never rises': {
    replace: fall,
    by: 'peakFall: Math.max(0, 1 - largestAfter / largestBefore),',
    caughtBy: 'with V = 1000 40 clients are rebound, and the largest load falls by -0.2346',
  },
  'the fall is compared by imbalance': {
    replace: fall,
    by: 'peakFall: 1 - (largestAfter * after.length) / (largestBefore * before.length),',
    caughtBy:
      'a fourth replica takes 25.01 % off the fullest one if nobody is bound, and little if they are',
  },
  'the rebound share is one of clients': {
    replace: 'reboundShare: requestsOf(rebound) / requests,',
    by: 'reboundShare: rebound.length / clients.length,',
    caughtBy:
      'a fourth replica rebinds 77 of 100 clients by modulo, 30 on the ring, and nobody without',
  },
  'only clients of the new replica count as rebound': {
    replace: 'return clients.filter(({ name }) => bindBefore(name) !== bindAfter(name));',
    by: 'return clients.filter(({ name }) => !before.includes(bindAfter(name)));',
    caughtBy:
      'a fourth replica rebinds 77 of 100 clients by modulo, 30 on the ring, and nobody without',
  },
  'a mix without requests gives shares that are no numbers': {
    replace:
      "if (requests === 0) throw new RangeError('the clients must send requests, got none');",
    by: '',
    caughtBy: 'refuses a mix without requests, a bad list on either side, and an unknown rule',
  },
  'only the sessions of the stopped replica are lost': {
    replace: lost,
    by: 'lostSessions: bound.length,',
    caughtBy: 'stickyModulo: k1 stops with 36 sessions bound to it, and 63 are lost',
  },
  'the lost sessions are reported as bound': {
    replace: 'boundSessions: bound.length,',
    by: 'boundSessions: movedClients(clients, rule, replicas, survivors, virtualNodes).length,',
    caughtBy:
      'k1 stops: 36 sessions are bound to it by modulo, 33 on the ring, none without stickiness',
  },
  'the stopped replica stays in the list': {
    replace: 'const survivors = replicas.filter((replica) => replica !== stopped);',
    by: 'const survivors = replicas;',
    caughtBy: 'stickyConsistent: k1 stops with 33 sessions bound to it, and 33 are lost',
  },
  'the bound share is one of clients': {
    replace: 'boundShare: requestsOf(bound) / requests,',
    by: 'boundShare: bound.length / clients.length,',
    caughtBy:
      'k1 stops: 36 sessions are bound to it by modulo, 33 on the ring, none without stickiness',
  },
  'without stickiness a third of the sessions is lost': {
    replace:
      "if (rule === 'notSticky') return { boundSessions: 0, boundShare: 0, lostSessions: 0 };",
    by: `if (rule === 'notSticky') {
    const part = Math.floor(clients.length / replicas.length);
    return { boundSessions: part, boundShare: 1 / replicas.length, lostSessions: part };
  }`,
    caughtBy: 'without stickiness nothing hangs on a replica, whichever stops',
  },
  'the mix is looked at before the stopped replica': {
    replace: '  if (!replicas.includes(stopped)) {',
    by: '  requireRequests(clients);\n  if (!replicas.includes(stopped)) {',
    caughtBy:
      'refuses in this order: a stranger, the only replica, a mix without requests, an unknown rule',
  },

  // 10.4
  'the serial share is one of the clients': {
    replace: share,
    by: 'return 1 / clients.length;',
    caughtBy: 'the largest session sends 0.1980 of all requests',
  },
  'the largest session is the first one': {
    replace: share,
    by: 'return (clients[0] as Client).requests / requests;',
    caughtBy: 'the largest one may stand anywhere in the mix',
  },
  'the serial share is rounded before it is used': {
    replace: amdahl,
    by: 'return 1 / (Number(share.toFixed(4)) + (1 - Number(share.toFixed(4))) / replicas);',
    caughtBy: '3 replicas divide the peak as the table publishes it',
  },
  'the serial part is shared as well': {
    replace: amdahl,
    by: 'return 1 / ((share + (1 - share)) / replicas);',
    caughtBy: '8 replicas divide the peak as the table publishes it',
  },
  'the rest is divided among the other replicas only': {
    replace: amdahl,
    by: 'return 1 / (share + (1 - share) / Math.max(1, replicas - 1));',
    caughtBy: '4 replicas divide the peak as the table publishes it',
  },
  'endless replicas are refused': {
    replace: 'if (replicas !== Number.POSITIVE_INFINITY) requireWhole(',
    by: 'requireWhole(',
    caughtBy:
      'replicas without limit divide it 5.05 times, and never below the 101.76 req/s of one session',
  },
  'a share of more than everything is accepted': {
    replace:
      'if (!(value > 0 && value <= 1)) {\n    throw new RangeError(`${field} must be above 0 and',
    by: 'if (!(value > 0)) {\n    throw new RangeError(`${field} must be above 0 and',
    caughtBy: 'refuses a share of 1.01',
  },

  // 10.5
  'the search goes along the published table': {
    replace: forTarget,
    by: 'return [1, 3, 4, 8, 16, 64].find((n) => share + (1 - share) / n <= allowed) ?? 64;',
    caughtBy: 'five replicas are enough for 0.50, not eight: the table only leaves them out',
  },
  'replicas are rounded to the nearest number': {
    replace: forTarget,
    by: 'return Math.max(1, Math.round((1 - share) / room));',
    caughtBy: 'a share of 0.1980 takes 5, 8, 23 replicas for 0.5, 0.4, 0.3',
  },
  'the ceiling is ignored': {
    replace: 'if (room <= allowed * SLACK) return Number.POSITIVE_INFINITY;',
    by: '',
    caughtBy: 'a share of 0.3000 takes 8, 62, Infinity replicas for 0.5, 0.4, 0.3',
  },
  'the largest session is added to a fair share of everything': {
    replace: forTarget,
    by: 'return ceilWithSlack(1 / room);',
    caughtBy: 'a share of 0.1000 takes 4, 5, 7 replicas for 0.5, 0.4, 0.3',
  },
  'the target is forgotten': {
    replace: 'const allowed = (target * saturation) / peakRate;',
    by: 'const allowed = saturation / peakRate;',
    caughtBy: 'five replicas are enough for 0.50, not eight: the table only leaves them out',
  },
  'a peak of one session needs endless replicas, even where one carries it': {
    replace: '  if (allowed * (1 + SLACK) >= 1) return 1;\n',
    by: '',
    caughtBy: 'a peak that one replica carries takes one, also if it is all one session',
  },
  'a target that is just reached by the largest session takes very many replicas': {
    replace: 'if (room <= allowed * SLACK) return',
    by: 'if (room < 0) return',
    caughtBy: 'a target that the largest session alone reaches is out of reach',
  },
  'a plain ceil takes one replica too many at the boundary': {
    replace: 'return Math.max(1, Math.ceil(value - value * SLACK));',
    by: 'return Math.max(1, Math.ceil(value));',
    caughtBy: 'a quotient that is whole but for binary noise takes no extra replica',
  },

  // 10.6
  'the imbalance is forgotten': {
    replace: forImbalance,
    by: 'return ceilWithSlack(peakRate / safeRate);',
    caughtBy: 'the imbalance seen on three replicas asks for four',
  },
  'the replicas for the imbalance are rounded': {
    replace: forImbalance,
    by: 'return Math.max(1, Math.round((imbalance * peakRate) / safeRate));',
    caughtBy: 'the imbalance seen on three replicas asks for four',
  },
  'the imbalance is applied to the rounded number of replicas': {
    replace: forImbalance,
    by: 'return ceilWithSlack(imbalance * ceilWithSlack(peakRate / safeRate));',
    caughtBy: 'the imbalance seen on four replicas asks for four',
  },
  'a tiny peak takes no replica': {
    replace: 'return Math.max(1, Math.ceil(value - value * SLACK));',
    by: 'return Math.ceil(value - value * SLACK - 1e-9);',
    caughtBy:
      'a quotient that is whole but for binary noise takes no extra replica, and there is always one',
  },

  // 10.7
  'the load of the model is taken for the lower bound': {
    replace: bound,
    by: 'return peakRate / speedup(share, replicas);',
    caughtBy: 'three replicas carry 171.30 req/s at least, four 128.47, six and more 101.76',
  },
  'the bound is the largest session alone': {
    replace: bound,
    by: 'return peakRate * share;',
    caughtBy: 'three replicas carry 171.30 req/s at least, four 128.47, six and more 101.76',
  },
  'the bound is a fair share alone': {
    replace: bound,
    by: 'return peakRate / replicas;',
    caughtBy: 'whoever has everything needs everything, and one replica has everything',
  },
  'both bounds are added': {
    replace: bound,
    by: 'return peakRate * Math.min(1, share + 1 / replicas);',
    caughtBy: 'no binding gets below it, whoever draws it',
  },

  // 10.8
  'only the crash of k1 is looked at': {
    replace: decision,
    by: 'const sticky =\n    (lostShares[0] as number) <= maxLostSessionShare && reboundShare <= maxReboundShare;',
    caughtBy: 'limits of 0.35 and 0.4000 ask for a session store',
  },
  'the average crash is looked at': {
    replace: decision,
    by: `const average = lostShares.reduce((sum, one) => sum + one, 0) / lostShares.length;
  const sticky = average <= maxLostSessionShare && reboundShare <= maxReboundShare;`,
    caughtBy: 'limits of 0.35 and 0.4000 ask for a session store',
  },
  'lost sessions are counted in requests': {
    replace: lostShare,
    by: ": crash(clients, 'stickyConsistent', replicas, stopped).boundShare,",
    caughtBy: 'limits of 0.385 and 0.4000 let the sessions stay',
  },
  'rebinding is counted in clients': {
    replace: "const { reboundShare } = scaleOut(clients, 'stickyConsistent', replicas, grown);",
    by: `const { reboundClients } = scaleOut(clients, 'stickyConsistent', replicas, grown);
  const reboundShare = reboundClients / clients.length;`,
    caughtBy: 'limits of 0.4 and 0.3500 ask for a session store',
  },
  'one limit that holds is enough': {
    replace: decision,
    by: decision.replace('&&', '||'),
    caughtBy: 'limits of 0.4 and 0.3000 ask for a session store',
  },
  'a limit must not be reached': {
    replace: decision,
    by: decision.replaceAll('<=', '<'),
    caughtBy: 'limits of 0.38 and 0.4000 let the sessions stay',
  },
  'a single replica has nothing to lose': {
    replace: '      ? 1\n',
    by: '      ? 0\n',
    caughtBy: 'a list of 1 with limits 0.99 and 1: notSticky, 3 replicas',
  },
  'the imbalance is always that of the ring': {
    replace: 'loadImbalance(loadByReplica(clients, rule, replicas));',
    by: "loadImbalance(loadByReplica(clients, 'stickyConsistent', replicas));",
    caughtBy: 'limits of 0.4 and 0.3000 ask for a session store',
  },
  'the imbalance is that of the grown list': {
    replace: 'loadImbalance(loadByReplica(clients, rule, replicas));',
    by: 'loadImbalance(loadByReplica(clients, rule, grown));',
    caughtBy: 'a list of 2 with limits 0.5 and 0.37: stickyConsistent, 3 replicas',
  },
  'the imbalance is rounded': {
    replace:
      'return {\n    rule,\n    replicas: replicasForImbalance({ peakRate, imbalance, safeRate }),',
    by: 'return {\n    rule,\n    replicas: replicasForImbalance({ peakRate, imbalance: Number(imbalance.toFixed(3)), safeRate }),',
    caughtBy:
      'the imbalance goes in as it is: rounded to 1.173 it would save a replica that is needed',
  },

  // 10.9
  'the binding is kept for a TCP connection': {
    replace: 'const replica = choose(request);',
    by: 'const replica = bound.get(request.socket) ?? choose(request);\n    if (replica) bound.set(request.socket, replica);',
    also: [
      {
        replace: '  const forwarding = openForwarding();',
        by: '  const forwarding = openForwarding();\n  const bound = new WeakMap<object, Replica>();',
      },
    ],
    caughtBy:
      'stickyModulo: clients that share a connection go to their own replicas, whoever came first',
  },
  'a client without a name is bound like any other': {
    replace: missing,
    by: 'const replica = choose(request);',
    caughtBy: 'stickyConsistent: a request without a name is a 400, also when the pool is empty',
  },
  'the pool is looked at before the name': {
    replace: missing,
    by: `const replica = choose(request);
    if (replica && rule !== 'notSticky' && !request.headers['x-client']) {
      response.writeHead(400).end('x-client missing');
      return;
    }`,
    caughtBy: 'stickyModulo: a request without a name is a 400, also when the pool is empty',
  },
  'a name is asked for without stickiness as well': {
    replace: "if (rule !== 'notSticky' && !request.headers['x-client']) {",
    by: "if (!request.headers['x-client']) {",
    caughtBy:
      'without stickiness requests take turns from the first replica on, with a name or without',
  },
  'a new list is not bound anew': {
    replace: exchange,
    by: '      chooser(rule, replicas, virtualNodes);',
    caughtBy: 'a new list binds anew, from the next request on',
  },
  'the turn goes on when the list changes': {
    replace:
      '    let turn = 0;\n    return () => {\n      const replica = replicas[turn % replicas.length];\n      turn += 1;\n      return replica;\n    };',
    by: '    return () => {\n      const replica = replicas[turns.next % replicas.length];\n      turns.next += 1;\n      return replica;\n    };',
    also: [
      {
        replace: '/** The replica of a request;',
        by: 'const turns = { next: 0 };\n\n/** The replica of a request;',
      },
    ],
    caughtBy: 'the turn begins with the first replica again',
  },
  'a client keeps the replica that it was first bound to': {
    replace: byHeader,
    by: `return ({ headers }) => {
    const client = String(headers['x-client']);
    const replica = firstBound.get(client) ?? byName.get(binding(client));
    if (replica) firstBound.set(client, replica);
    return replica;
  };`,
    also: [
      {
        replace: '/** The replica of a request;',
        by: 'const firstBound = new Map<string, Replica>();\n\n/** The replica of a request;',
      },
    ],
    caughtBy: 'a new list binds anew, from the next request on',
  },
  'ports are remembered by name': {
    replace: byHeader,
    by: `for (const one of replicas) if (!ports.has(one.name)) ports.set(one.name, one);
  return ({ headers }) => {
    const name = binding(String(headers['x-client']));
    return byName.has(name) ? ports.get(name) : undefined;
  };`,
    also: [
      {
        replace: '/** The replica of a request;',
        by: 'const ports = new Map<string, Replica>();\n\n/** The replica of a request;',
      },
    ],
    caughtBy: 'a replica that has moved to another port keeps its clients',
  },
  'a bad list is put in force before it is refused': {
    replace: exchange,
    by: `      choose = () => undefined;
      choose = chooser(rule, replicas, virtualNodes);`,
    caughtBy:
      'a name that is there twice is refused, and the old list stays in force with its turn',
  },
  'a name may be there twice without stickiness': {
    replace: "    requireNames('replicas', names);\n    let turn = 0;",
    by: '    let turn = 0;',
    caughtBy:
      'refuses a name that is there twice, half a virtual node, and a rule that does not exist',
  },
  'a binding is made for an empty list as well': {
    replace: 'if (replicas.length === 0) return () => undefined; // nothing to bind to',
    by: '',
    caughtBy: 'stickyModulo: a request without a name is a 400, also when the pool is empty',
  },
  'the number of virtual nodes is not passed on': {
    replace: 'const binding = bind(rule, names, virtualNodes);',
    by: 'const binding = bind(rule, names);',
    caughtBy: 'the number of virtual nodes is 200, or the one in the options',
  },
  'a new list cuts what is under way': {
    replace: exchange,
    by: '      choose = chooser(rule, replicas, virtualNodes);\n      void forwarding[Symbol.asyncDispose]();\n      forwarding = openForwarding();',
    also: [
      {
        replace: '  const forwarding = openForwarding();',
        by: '  let forwarding = openForwarding();',
      },
    ],
    caughtBy: 'a response that is under way arrives, although its replica has left the list',
  },
  'a replica that cannot be reached is answered like an empty pool': {
    replace: 'refuse: () => response.writeHead(502)',
    by: 'refuse: () => response.writeHead(503)',
    caughtBy:
      'a replica that cannot be reached is a 502 for its own clients, until it is taken out',
  },
  'requests are sent without their body': {
    replace: '    forwarding.forward(request, response, {',
    by: "    delete request.headers['content-length'];\n    forwarding.forward(request, response, {",
    caughtBy: 'method, target, headers and body arrive, and status, headers and body come back',
  },

  // 10.10
  'clients are placed in the order of the mix': {
    replace: sorted,
    by: '[...clients]',
    caughtBy: 'the largest goes first, and equal ones go in order to the first of the emptiest',
  },
  'the smallest client is placed first': {
    replace: sorted,
    by: '[...clients].sort((a, b) => a.requests - b.requests)',
    caughtBy: '3 replicas get 3400/3350/3350: an imbalance of 1.010, with every client bound',
  },
  'the replica with the fewest clients gets the next one': {
    replace: 'add(load, replica, requests);\n  }\n  return (client) => {',
    by: 'add(load, replica, 1);\n  }\n  return (client) => {',
    caughtBy: '3 replicas get 3400/3350/3350: an imbalance of 1.010, with every client bound',
  },
  'of equal replicas the last one gets the client': {
    replace: first,
    by: '[...replicas].reverse().find((one) => load.get(one) === least) as string;',
    caughtBy: 'the largest goes first, and equal ones go in order to the first of the emptiest',
  },
  "the caller's mix is sorted": {
    replace: sorted,
    by: '(clients as Client[]).sort((a, b) => b.requests - a.requests)',
    caughtBy: 'the mix stays in its order',
  },
  'a stranger is bound to the first replica': {
    replace:
      'if (replica === undefined) throw new RangeError(`${client} is not in the mix`);\n    return replica;',
    by: 'return replica ?? (replicas[0] as string);',
    caughtBy:
      'refuses a stranger, a client that is there twice, and a mix or a list that makes no sense',
  },
});
