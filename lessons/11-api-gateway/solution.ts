import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openForwarding } from '#helpers/lesson/forwarding.ts';
import { FLOWS, type Flow, type GatewayOptions, type Unit } from '#helpers/lesson/gateway.ts';
import { type HttpServer, listen, type RunningServer } from '#helpers/lesson/http-server.ts';
import type {
  Candidate,
  EdgeLoad,
  Placement,
  PlacementMeasures,
  Requirements,
  Responsibility,
} from './given.ts';
import type { Harness, System } from './harness.ts';

/**
 * Seven measures of a placement in a system of `services` services.
 *
 * - With a gateway (its list isn't empty) a client knows 1 address, and a request touches 2
 *   components. Without one it knows each service, and a request touches 1.
 * - `edgeLines` are the lines of the gateway's list, `serviceLines` those of the services' list,
 *   counted once for each service.
 * - A responsibility is carried by 1 component if it is in the gateway's list, and by each of the
 *   services if it is in theirs. `unitsPerResponsibility` is the mean over all responsibilities of
 *   the line table, those included that are placed nowhere; it isn't rounded.
 * - All flows go through the gateway if there is one, and then none is answered once it has stopped.
 *
 * @param lines lines of one implementation of each responsibility: the table's own keys and no others
 * @param services a whole number of 1 or more
 * @throws {RangeError} naming `services` when it isn't that; naming `lines` when the table is empty or
 *   a line count is negative or not finite
 * @throws {Error} whose message has the name of a responsibility that is placed and has no line
 *   count, or that is twice in one list (once in each of them is fine)
 * @example measurePlacement({ gateway: ['a'], services: ['b'] }, { a: 5, b: 2 }, 4)
 * // { addresses: 1, edgeLines: 5, serviceLines: 8, unitsPerResponsibility: 2.5, hops: 2,
 * //   flowsThroughGateway: 4, flowsWhenGatewayStopped: 0 }
 */
export function measurePlacement(
  placement: Placement,
  lines: Readonly<Record<string, number>>,
  services: number,
): PlacementMeasures {
  if (!Number.isInteger(services) || services < 1) {
    throw new RangeError(`services must be a whole number of 1 or more, got ${services}`);
  }
  requireLines(lines);
  const { gateway, services: inServices } = placement;
  requireList('gateway', gateway, lines);
  requireList('services', inServices, lines);

  const hasGateway = gateway.length > 0;
  const names = Object.keys(lines);
  // Over the table and not over the lists: in a list a responsibility with two places counts twice.
  const units = names.map(
    (name) => (gateway.includes(name) ? 1 : 0) + (inServices.includes(name) ? services : 0),
  );
  return {
    addresses: hasGateway ? 1 : services,
    edgeLines: sum(gateway.map((name) => lines[name] as number)),
    serviceLines: services * sum(inServices.map((name) => lines[name] as number)),
    unitsPerResponsibility: sum(units) / names.length,
    hops: hasGateway ? 2 : 1,
    flowsThroughGateway: hasGateway ? services : 0,
    flowsWhenGatewayStopped: hasGateway ? 0 : services,
  };
}

function requireLines(lines: Readonly<Record<string, number>>): void {
  const counts = Object.entries(lines);
  if (counts.length === 0) throw new RangeError('lines must have a responsibility, it is empty');
  for (const [name, count] of counts) {
    if (!Number.isFinite(count) || count < 0) {
      throw new RangeError(`lines of ${name} must be 0 or more, got ${count}`);
    }
  }
}

function requireList(
  where: string,
  names: readonly string[],
  lines: Readonly<Record<string, number>>,
): void {
  for (const [index, name] of names.entries()) {
    // Every object answers to `constructor`; `in` and a look at the value would both find it.
    if (!Object.hasOwn(lines, name)) throw new Error(`${where}: no line count for ${name}`);
    if (names.indexOf(name) !== index) throw new Error(`${where}: ${name} is there twice`);
  }
}

/**
 * What the components carry at the edge.
 *
 * Without a gateway the busiest component is the service with the highest rate (the first of the
 * list if several have it), and each request touches 1 component. With one it is `gateway`, which
 * carries the rates of all flows, and each request touches 2.
 *
 * @param flows each service once, with req/s
 * @returns nothing is rounded; `ratioToBusiestService` is 1 if all rates are 0
 * @throws {RangeError} naming `flows` when the list is empty, or `ratePerSecond` when a rate is
 *   negative or not finite
 * @example edgeLoad([{ service: 'a', ratePerSecond: 30 }, { service: 'b', ratePerSecond: 10 }], true)
 * // { busiest: 'gateway', ratePerSecond: 40, ratioToBusiestService: 1.33.., hopRequestsPerSecond: 80 }
 */
export function edgeLoad(
  flows: readonly { service: string; ratePerSecond: number }[],
  hasGateway: boolean,
): EdgeLoad {
  const [first] = flows;
  if (!first) throw new RangeError('flows must have a service, the list is empty');
  for (const { service, ratePerSecond } of flows) {
    if (!Number.isFinite(ratePerSecond) || ratePerSecond < 0) {
      throw new RangeError(`ratePerSecond of ${service} must be 0 or more, got ${ratePerSecond}`);
    }
  }
  const service = flows.reduce((a, b) => (b.ratePerSecond > a.ratePerSecond ? b : a), first);
  const total = sum(flows.map(({ ratePerSecond }) => ratePerSecond));
  if (!hasGateway) {
    return {
      busiest: service.service,
      ratePerSecond: service.ratePerSecond,
      ratioToBusiestService: 1,
      hopRequestsPerSecond: total,
    };
  }
  return {
    busiest: 'gateway',
    ratePerSecond: total,
    ratioToBusiestService: total === 0 ? 1 : total / service.ratePerSecond,
    hopRequestsPerSecond: 2 * total,
  };
}

/**
 * Chooses the placement with the fewest lines, at the gateway and in the services together, among
 * those that meet the requirements. Of several with equally many lines it is the first.
 *
 * `maxHops`, `maxUnitsPerResponsibility` and `minFlowsWhenGatewayStopped` are limits on what
 * `measurePlacement` gives, and inclusive. Each responsibility in `enforcedWhenBypassed` has to be in
 * the services' list, for a request that comes around the gateway meets nothing else. A requirement
 * that is left out restricts nothing.
 *
 * @returns the candidate's name, `undefined` if none meets the requirements
 * @throws as `measurePlacement`, for each of the candidates
 */
export function choosePlacement(
  candidates: readonly Candidate[],
  lines: Readonly<Record<string, number>>,
  services: number,
  requirements: Requirements,
): string | undefined {
  const {
    maxHops = Infinity,
    maxUnitsPerResponsibility = Infinity,
    minFlowsWhenGatewayStopped = 0,
    enforcedWhenBypassed = [],
  } = requirements;
  const feasible = candidates
    .map(({ name, placement }) => ({
      name,
      placement,
      measures: measurePlacement(placement, lines, services),
    }))
    .filter(
      ({ placement, measures }) =>
        measures.hops <= maxHops &&
        measures.unitsPerResponsibility <= maxUnitsPerResponsibility &&
        measures.flowsWhenGatewayStopped >= minFlowsWhenGatewayStopped &&
        enforcedWhenBypassed.every((name) => placement.services.includes(name)),
    )
    .map(({ name, measures }) => ({ name, lines: measures.edgeLines + measures.serviceLines }));
  // The sort is stable, so of equals the first stays in front.
  return feasible.sort((a, b) => a.lines - b.lines)[0]?.name;
}

/**
 * Starts an API gateway on a free port of 127.0.0.1.
 *
 * For each request it runs the chain, in the order given, one link after the other. The first that
 * gives `false` has answered: nothing else happens to the request, but what is left of its body is
 * read and thrown away, so that the connection can carry the next one. A link that throws, or whose
 * promise rejects, lets nothing pass: the answer is a 500.
 *
 * Only then it looks up the service: the first segment of the path, as it came, upper and lower case
 * told apart. The path is what stands before `?`. Method, path with query, headers and body are
 * forwarded; status, headers and body come back, both bodies piece by piece.
 *
 * Answers of its own: 404 with body `{"hata":"bulunamadi"}` if the map has no such service, 502 with
 * body `{"hata":"ulasilamadi"}` if the service can't be reached.
 *
 * `x-hops` counts the components that a request touches. The forwarded request carries the number it
 * came with, and 1 (none is 0); an answer of the gateway's own has that number as well. On an answer
 * of the service the field is passed back as it is.
 *
 * `close()` stops listening, ends all connections, to clients and to services, those in use as well,
 * and resolves when nothing is left. A second `close()` resolves too.
 *
 * @param options.serviceMap first segments, each with the TCP port of its service on 127.0.0.1; any
 *   segment may be a service, `constructor` and `__proto__` as well
 * @param options.chain may be empty
 * @throws {RangeError} naming `serviceMap` when it is empty (the promise rejects)
 */
export async function startApiGateway(options: GatewayOptions): Promise<RunningServer> {
  const { serviceMap, chain } = options;
  if (serviceMap.size === 0) throw new RangeError('serviceMap must have a service, it is empty');
  const forwarding = openForwarding();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const hops = String((Number(request.headers['x-hops']) || 0) + 1);
    const answer = (status: number, hata: string) => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-hops': hops });
      response.end(JSON.stringify({ hata }));
    };
    try {
      for (const link of chain) {
        // Node throws the body away once the answer is out, so the connection can go on.
        if (!(await link(request, response))) return;
      }
    } catch {
      // A check that can't be made has not been passed.
      answer(500, 'denetlenemedi');
      return;
    }
    const target = serviceMap.get(firstSegment(request.url));
    if (target === undefined) {
      answer(404, 'bulunamadi');
      return;
    }
    forwarding.forward(request, response, {
      choose: () => target,
      fields: { 'x-hops': hops },
      refuse: (status) => answer(status, 'ulasilamadi'),
    });
  };

  const server = await listen(
    createServer((request, response) => {
      void handle(request, response);
    }),
  );
  const close: HttpServer['close'] = async (how) => {
    await server.close(how);
    await forwarding[Symbol.asyncDispose]();
  };
  return { port: server.port, close, [Symbol.asyncDispose]: () => close() };
}

/** Not by `new URL()`: that resolves `..` and doubled slashes, and the service gets the path as it came. */
function firstSegment(target = '/'): string {
  const [path = ''] = target.split('?', 1);
  return path.split('/')[1] ?? '';
}

/**
 * Starts a placement: the services of the three flows, each with the services' list as its chain,
 * and, unless its list is empty, a gateway in front of them with the gateway's list.
 *
 * Each responsibility is installed once for each unit that carries it, and the chains have the order
 * of the lists.
 */
export async function startSystem(
  placement: Placement<Responsibility>,
  harness: Harness,
): Promise<System> {
  const install = (unit: Unit, list: readonly Responsibility[]) =>
    list.map((responsibility) => harness.middleware(unit, responsibility));

  const services = new Map<Flow, RunningServer>();
  for (const flow of FLOWS) {
    services.set(flow, await harness.startService(flow, install(flow, placement.services)));
  }
  const service = (flow: Flow) => services.get(flow) as RunningServer;
  const gateway =
    placement.gateway.length > 0
      ? await harness.startGateway({
          serviceMap: new Map(FLOWS.map((flow) => [flow, service(flow).port])),
          chain: install('gateway', placement.gateway),
        })
      : undefined;

  return {
    addressOf: (flow) => (gateway ?? service(flow)).port,
    servicePort: (flow) => service(flow).port,
    stopGateway: async () => gateway?.close(),
    stopService: (flow) => service(flow).close(),
    async close() {
      // What has been stopped before may be closed once more.
      await Promise.all([gateway, ...services.values()].map((server) => server?.close()));
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
