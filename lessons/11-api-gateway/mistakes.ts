// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

const repeated = 'serviceLines: services * sum(inServices.map((name) => lines[name] as number)),';
const gathered = 'edgeLines: sum(gateway.map((name) => lines[name] as number)),';
const units = `(gateway.includes(name) ? 1 : 0) + (inServices.includes(name) ? services : 0),`;
const mean = 'unitsPerResponsibility: sum(units) / names.length,';
const hops = 'hops: hasGateway ? 2 : 1,';
const own = 'if (!Object.hasOwn(lines, name))';
const total = 'const total = sum(flows.map(({ ratePerSecond }) => ratePerSecond));';
const hopRequests = 'hopRequestsPerSecond: 2 * total,';
const rank = 'lines: measures.edgeLines + measures.serviceLines';
const enforced = 'enforcedWhenBypassed.every((name) => placement.services.includes(name)),';
const link = 'if (!(await link(request, response))) return;';
const found = 'const target = serviceMap.get(firstSegment(request.url));';
const fields = "fields: { 'x-hops': hops },";
const closing = `    await server.close(how);
    await forwarding[Symbol.asyncDispose]();`;
const install = 'list.map((responsibility) => harness.middleware(unit, responsibility));';
const address = 'addressOf: (flow) => (gateway ?? service(flow)).port,';

export default mistakes({
  // 11.1
  'counts the lines of the services once instead of once for each service': {
    replace: repeated,
    by: 'serviceLines: sum(inServices.map((name) => lines[name] as number)),',
    caughtBy: 'everyService: all seven measures are the published ones',
  },
  'multiplies the lines of the gateway as well': {
    replace: gathered,
    by: 'edgeLines: services * sum(gateway.map((name) => lines[name] as number)),',
    caughtBy: 'gateway: all seven measures are the published ones',
  },
  'takes what is on both sides for a duplicate': {
    replace: 'const { gateway, services: inServices } = placement;',
    by: `const { gateway } = placement;
  const inServices = placement.services.filter((name) => !gateway.includes(name));`,
    caughtBy: 'mixed: all seven measures are the published ones',
  },
  'averages over the entries of the lists instead of the responsibilities': {
    replace: mean,
    by: 'unitsPerResponsibility: sum(units) / (gateway.length + inServices.length),',
    caughtBy: 'mixed: all seven measures are the published ones',
  },
  'averages over the responsibilities that are placed': {
    replace: mean,
    by: 'unitsPerResponsibility: sum(units) / Math.max(1, units.filter((one) => one > 0).length),',
    caughtBy: 'a responsibility that is placed nowhere still counts in the mean',
  },
  'takes all services for one place': {
    replace: units,
    by: '(gateway.includes(name) ? 1 : 0) + (inServices.includes(name) ? 1 : 0),',
    caughtBy: 'everyService: all seven measures are the published ones',
  },
  'does not count the gateway where the services have a responsibility too': {
    replace: units,
    by: '(inServices.includes(name) ? services : gateway.includes(name) ? 1 : 0),',
    caughtBy: 'all five on both sides: 45 135 4.00 (edge lines, repeated lines, units)',
  },
  'rounds the mean': {
    replace: mean,
    by: 'unitsPerResponsibility: Math.round(sum(units) / names.length),',
    caughtBy: 'token at the gateway alone: 34 33 1.40 (edge lines, repeated lines, units)',
  },
  'counts connections between components instead of components': {
    replace: hops,
    by: 'hops: hasGateway ? 1 : 0,',
    caughtBy: 'gateway: all seven measures are the published ones',
  },
  'takes the gateway for there when every responsibility is': {
    replace: 'const hasGateway = gateway.length > 0;',
    by: 'const hasGateway = inServices.length === 0;',
    caughtBy: 'mixed: all seven measures are the published ones',
  },
  'asks the services themselves whether they are up when the gateway stops': {
    replace: 'flowsWhenGatewayStopped: hasGateway ? 0 : services,',
    by: 'flowsWhenGatewayStopped: services,',
    caughtBy: 'gateway: all seven measures are the published ones',
  },
  'works for three services only': {
    replace: 'flowsThroughGateway: hasGateway ? services : 0,',
    by: 'flowsThroughGateway: hasGateway ? 3 : 0,',
    caughtBy: 'N = 4: only what is in the services grows with it',
  },
  'finds a line count in what every object has': {
    replace: own,
    by: 'if (!(name in lines))',
    caughtBy: 'constructor has no line count, in neither list',
  },
  'looks at the list of the gateway only': {
    replace: "  requireList('services', inServices, lines);\n",
    by: '',
    caughtBy: 'cache has no line count, in neither list',
  },
  'lets a responsibility be twice in a list': {
    replace: 'if (names.indexOf(name) !== index)',
    by: 'if (names.indexOf(name) > index)',
    caughtBy: 'a responsibility that is twice in one list is refused',
  },
  'takes half a service': {
    replace: '!Number.isInteger(services) || services < 1',
    by: '!(services >= 1) || services === Infinity',
    caughtBy: 'a number of services that is no whole number of 1 or more is refused',
  },
  'takes an empty line table': {
    replace:
      "  if (counts.length === 0) throw new RangeError('lines must have a responsibility, it is empty');\n",
    by: '',
    caughtBy: 'a line table that is empty, or has a count below 0 or not finite, is refused',
  },
  'refuses a responsibility without lines': {
    replace: '!Number.isFinite(count) || count < 0',
    by: '!Number.isFinite(count) || count <= 0',
    caughtBy: 'a line table that is empty, or has a count below 0 or not finite, is refused',
  },

  // 11.2
  'takes the busiest service for the busiest component behind a gateway as well': {
    replace: "    busiest: 'gateway',\n    ratePerSecond: total,",
    by: "    busiest: 'gateway',\n    ratePerSecond: service.ratePerSecond,",
    caughtBy: 'with a gateway 513.89 req/s pass one component, 1.23 times the busiest until now',
  },
  'counts one component for a request through a gateway': {
    replace: hopRequests,
    by: 'hopRequestsPerSecond: total,',
    caughtBy: 'with a gateway 513.89 req/s pass one component, 1.23 times the busiest until now',
  },
  'knows that the peak of the batch scan is 833.33 and adds it': {
    replace: total,
    by: 'const total = sum(flows.map(({ ratePerSecond }) => ratePerSecond)) + 833.33;',
    caughtBy: 'with a gateway 513.89 req/s pass one component, 1.23 times the busiest until now',
  },
  'divides by the first service of the list': {
    replace: 'ratioToBusiestService: total === 0 ? 1 : total / service.ratePerSecond,',
    by: 'ratioToBusiestService: total === 0 ? 1 : total / first.ratePerSecond,',
    caughtBy: 'a gateway carries between 1 and N times the busiest of N services',
  },
  'divides nothing by nothing': {
    replace: 'ratioToBusiestService: total === 0 ? 1 : total / service.ratePerSecond,',
    by: 'ratioToBusiestService: total / service.ratePerSecond,',
    caughtBy: 'where nothing is carried the ratio is 1',
  },
  'prefers the last of equally busy services': {
    replace: 'b.ratePerSecond > a.ratePerSecond ? b : a',
    by: 'b.ratePerSecond >= a.ratePerSecond ? b : a',
    caughtBy: 'of equal rates the first in the list is the busiest',
  },
  'refuses a rate of 0': {
    replace: '!Number.isFinite(ratePerSecond) || ratePerSecond < 0',
    by: '!Number.isFinite(ratePerSecond) || ratePerSecond <= 0',
    caughtBy: '100 and 0 req/s: 100 at a gateway, 1.00 times the busiest service',
  },
  'checks the rates only where there is a gateway': {
    replace: '!Number.isFinite(ratePerSecond) || ratePerSecond < 0',
    by: 'hasGateway && (!Number.isFinite(ratePerSecond) || ratePerSecond < 0)',
    caughtBy: 'an empty list, and a rate that is negative or not finite, are refused',
  },

  // 11.3
  'ranks by the lines in the services alone': {
    replace: rank,
    by: 'lines: measures.serviceLines',
    caughtBy: 'lines at the gateway and in the services count together',
  },
  'ranks by the lines at the gateway alone': {
    replace: rank,
    by: 'lines: measures.edgeLines',
    caughtBy: 'nothing is required: gateway',
  },
  'ranks first and then looks whether the shortest will do': {
    replace: '  return feasible.sort(',
    by: `  const shortest = candidates.map(({ name, placement }) => {
    const { edgeLines, serviceLines } = measurePlacement(placement, lines, services);
    return { name, lines: edgeLines + serviceLines };
  }).sort((a, b) => a.lines - b.lines)[0];
  if (shortest && !feasible.some(({ name }) => name === shortest.name)) return undefined;
  return feasible.sort(`,
    caughtBy: 'token has to hold around the gateway: mixed',
  },
  'takes the first that will do': {
    replace: 'return feasible.sort((a, b) => a.lines - b.lines)[0]?.name;',
    by: 'return feasible[0]?.name;',
    caughtBy: 'nothing is required: gateway',
  },
  'takes the last of equally long ones': {
    replace: 'return feasible.sort((a, b) => a.lines - b.lines)[0]?.name;',
    by: 'return feasible.reverse().sort((a, b) => a.lines - b.lines)[0]?.name;',
    caughtBy: 'of equally long ones the first in the list is chosen',
  },
  'takes the gateway for a protection of requests that come around it': {
    replace: enforced,
    by: `enforcedWhenBypassed.every(
          (name) => placement.services.includes(name) || placement.gateway.includes(name),
        ),`,
    caughtBy: 'token has to hold around the gateway: mixed',
  },
  'is content with one of the responsibilities around the gateway': {
    replace: enforced,
    by: `(enforcedWhenBypassed.length === 0 ||
          enforcedWhenBypassed.some((name) => placement.services.includes(name))),`,
    caughtBy: 'token and rate around the gateway: everyService',
  },
  'takes the limit on hops for exclusive': {
    replace: 'measures.hops <= maxHops',
    by: 'measures.hops < maxHops',
    caughtBy: 'one hop: everyService',
  },
  'takes the limit on units for exclusive': {
    replace: 'measures.unitsPerResponsibility <= maxUnitsPerResponsibility',
    by: 'measures.unitsPerResponsibility < maxUnitsPerResponsibility',
    caughtBy: 'a rule has one place: gateway',
  },
  'wants more flows than the minimum': {
    replace: 'measures.flowsWhenGatewayStopped >= minFlowsWhenGatewayStopped',
    by: '(measures.flowsWhenGatewayStopped > minFlowsWhenGatewayStopped || !minFlowsWhenGatewayStopped)',
    caughtBy: 'three flows have to survive it: everyService',
  },

  // 11.4
  'answers, and forwards all the same': {
    replace: link,
    by: 'if (!(await link(request, response))) break;',
    also: [
      {
        replace: "refuse: (status) => answer(status, 'ulasilamadi'),",
        by: "refuse: (status) => response.headersSent || answer(status, 'ulasilamadi'),",
      },
    ],
    caughtBy: 'a rejected request never reaches a service, and its connection carries the next one',
  },
  'runs the other links although one has answered': {
    replace: `        // Node throws the body away once the answer is out, so the connection can go on.
        ${link}
      }`,
    by: `        if (!(await link(request, response))) rejected = true;
      }
      if (rejected) return;`,
    also: [
      { replace: '    try {\n      for', by: '    let rejected = false;\n    try {\n      for' },
    ],
    caughtBy: 'the chain runs in its order, up to the first link that answers',
  },
  'takes a promise for a yes': {
    replace: link,
    by: 'if (!link(request, response)) return;',
    caughtBy: 'a link may take its time: the next one, and the service, wait for its promise',
  },
  'runs the chain from its end': {
    replace: 'for (const link of chain) {',
    by: 'for (const link of chain.toReversed()) {',
    caughtBy: 'the chain runs in its order, up to the first link that answers',
  },
  'looks up the service before it runs the chain': {
    replace: '    try {\n      for',
    by: `    if (!serviceMap.has(firstSegment(request.url))) {
      answer(404, 'bulunamadi');
      return;
    }
    try {
      for`,
    caughtBy: 'a bad token on an unknown path is a 401: the chain comes before the service map',
  },
  'takes a check that fails for one that is passed': {
    replace: "      answer(500, 'denetlenemedi');\n      return;\n",
    by: '',
    caughtBy: 'a link that fails lets nothing pass: a 500, and the gateway goes on',
  },
  'copies the service map into an object': {
    replace: found,
    by: `const services: Record<string, number> = {};
    for (const [name, port] of serviceMap) services[name] = port;
    const target = services[firstSegment(request.url)];`,
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'copies the service map into an object and looks at its own keys': {
    replace: found,
    by: `const services: Record<string, number> = {};
    for (const [name, port] of serviceMap) services[name] = port;
    const segment = firstSegment(request.url);
    const target = Object.hasOwn(services, segment) ? services[segment] : undefined;`,
    caughtBy: 'a service may be called constructor or __proto__ and is found like any other',
  },
  'is content when the path begins like a service': {
    replace: found,
    by: 'const target = [...serviceMap].find(([name]) => request.url?.startsWith(`/${name}`))?.[1];',
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'takes the query for a part of the segment': {
    replace: "const [path = ''] = target.split('?', 1);",
    by: 'const path = target;',
    caughtBy: 'a request goes to the service that its first segment names',
  },
  'looks for the service in the last segment': {
    replace: "return path.split('/')[1] ?? '';",
    by: "return path.split('/').at(-1) ?? '';",
    caughtBy: 'a request goes to the service that its first segment names',
  },
  'tidies the path before it looks at it': {
    replace: "const [path = ''] = target.split('?', 1);",
    by: "const path = new URL(target, 'http://x').pathname;",
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'leaves out empty segments': {
    replace: "return path.split('/')[1] ?? '';",
    by: "return path.split('/').find(Boolean) ?? '';",
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'decodes the segment': {
    replace: "return path.split('/')[1] ?? '';",
    by: "return decodeURIComponent(path.split('/')[1] ?? '');",
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'does not tell upper from lower case': {
    replace: "return path.split('/')[1] ?? '';",
    by: "return (path.split('/')[1] ?? '').toLowerCase();",
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'forwards the hops as they came': {
    replace: fields,
    by: '',
    caughtBy:
      'a forwarded request has touched one component more, and the answer keeps the count of the service',
  },
  'begins to count at itself': {
    replace: "const hops = String((Number(request.headers['x-hops']) || 0) + 1);",
    by: "const hops = '1';",
    caughtBy:
      'a forwarded request has touched one component more, and the answer keeps the count of the service',
  },
  'has no count for its own answers': {
    replace: "{ 'content-type': 'application/json', 'x-hops': hops }",
    by: "{ 'content-type': 'application/json' }",
    caughtBy: 'whatever is no service is a 404 of the gateway, and has touched one component',
  },
  'says that a service could not be found when it could not be reached': {
    replace: "answer(status, 'ulasilamadi')",
    by: "answer(status, 'bulunamadi')",
    caughtBy: 'one service has stopped: its flow is a 502, the two others are answered',
  },
  'waits for responses that are running when it is closed': {
    replace: closing,
    by: `    await server.close({ ...how, drain: true });
    await forwarding[Symbol.asyncDispose]();`,
    caughtBy:
      'close() ends connections in use as well, on both sides, and nobody gets in afterwards',
  },
  'keeps its connections to the services': {
    replace: closing,
    by: '    await server.close(how);',
    also: [
      {
        replace: 'const forwarding = openForwarding();',
        by: `const forwarding = openForwarding();
  process.once('exit', () => forwarding[Symbol.asyncDispose]());`,
      },
    ],
    caughtBy:
      'close() ends connections in use as well, on both sides, and nobody gets in afterwards',
  },
  'starts without a single service': {
    replace:
      "  if (serviceMap.size === 0) throw new RangeError('serviceMap must have a service, it is empty');\n",
    by: '',
    caughtBy: 'an empty service map is refused',
  },

  // 11.5
  'leaves out of the services what the gateway has': {
    replace: 'install(flow, placement.services)',
    by: 'install(flow, placement.services.filter((one) => !placement.gateway.includes(one)))',
    caughtBy: 'mixed: a bad token around the gateway gets 401 three times',
  },
  'gives the services the list of the gateway': {
    replace: 'install(flow, placement.services)',
    by: 'install(flow, [...new Set([...placement.services, ...placement.gateway])])',
    caughtBy: 'gateway: a bad token around the gateway gets 200 three times',
  },
  'installs one chain and shares it among the services': {
    replace:
      '  for (const flow of FLOWS) {\n    services.set(flow, await harness.startService(flow, install(flow, placement.services)));',
    by: `  const shared = install('takip', placement.services);
  for (const flow of FLOWS) {
    services.set(flow, await harness.startService(flow, shared));`,
    caughtBy:
      'everyService: clients know 3 address(es), and the installed lines are those of the model',
  },
  'installs anew for each request': {
    replace: install,
    by: `list.map(
      (responsibility): ReturnType<Harness['middleware']> =>
        (request, response) => harness.middleware(unit, responsibility)(request, response),
    );`,
    caughtBy:
      'everyService: clients know 3 address(es), and the installed lines are those of the model',
  },
  'installs in the order of the alphabet': {
    replace: install,
    by: '[...list].sort().map((responsibility) => harness.middleware(unit, responsibility));',
    caughtBy: 'the chain of a service has the order of its list as well',
  },
  'installs the list of the gateway backwards': {
    replace: "chain: install('gateway', placement.gateway),",
    by: "chain: install('gateway', placement.gateway).reverse(),",
    caughtBy:
      'the gateway with the log in front of the token has an entry of the rejected request, behind it none',
  },
  'starts a gateway with nothing to do': {
    replace: 'placement.gateway.length > 0\n      ?',
    by: 'placement.gateway.length >= 0\n      ?',
    caughtBy: 'nothing placed anywhere: three services, no gateway, and everybody is answered',
  },
  'sends clients to the services although there is a gateway': {
    replace: address,
    by: 'addressOf: (flow) => service(flow).port,',
    caughtBy: 'gateway: with the gateway stopped 0 of 3 are answered, though the services are up',
  },
  'sends everybody to the gateway, around it as well': {
    replace: 'servicePort: (flow) => service(flow).port,',
    by: 'servicePort: (flow) => (gateway ?? service(flow)).port,',
    caughtBy: 'gateway: a bad token around the gateway gets 200 three times',
  },
  'stops the services together with the gateway': {
    replace: 'stopGateway: async () => gateway?.close(),',
    by: `stopGateway: async () => {
      await gateway?.close();
      for (const flow of FLOWS) await service(flow).close();
    },`,
    caughtBy: 'mixed: with the gateway stopped 0 of 3 are answered, though the services are up',
  },
  'takes the services down where there is no gateway to stop': {
    replace: 'stopGateway: async () => gateway?.close(),',
    by: `stopGateway: async () => {
      if (gateway) return gateway.close();
      for (const flow of FLOWS) await service(flow).close();
    },`,
    caughtBy:
      'everyService: with the gateway stopped 3 of 3 are answered, though the services are up',
  },
  'forgets the gateway when everything is closed': {
    replace: '[gateway, ...services.values()].map',
    by: '[...services.values()].map',
    caughtBy: 'close() alone stops gateway and services',
  },
  'closes the gateway and leaves the services': {
    replace: 'await Promise.all([gateway, ...services.values()].map((server) => server?.close()));',
    by: 'await (gateway ?? service(FLOWS[0] as Flow)).close();',
    caughtBy: 'close() alone stops gateway and services',
  },
});
