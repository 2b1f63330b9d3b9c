import type { GatewayOptions } from '#helpers/lesson/gateway.ts';
import type { RunningServer } from '#helpers/lesson/http-server.ts';
import { todo } from '#helpers/lesson/todo.ts';
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
  // TODO 11.1: two sums of lines, the units by the line table, and what follows from whether there is a gateway.
  return todo('11.1 measurePlacement');
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
  // TODO 11.2: find the busiest service and the total, then see which of them counts.
  return todo('11.2 edgeLoad');
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
  // TODO 11.3: measure the candidates, leave out what does not meet the requirements, rank the rest.
  return todo('11.3 choosePlacement');
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
  // TODO 11.4: run the chain, look up the service, forward; and close both sides.
  return todo('11.4 startApiGateway');
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
  // TODO 11.5: three services first, then the gateway if there is one.
  return todo('11.5 startSystem');
}
