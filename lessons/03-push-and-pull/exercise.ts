// Lesson 3: your file. Read README.md and push-and-pull.spec.ts beside it, then replace the TODOs.
import type { Server } from 'node:http';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  BackToBaseline,
  Baseline,
  ContentClass,
  Defence,
  DistributionCost,
  DistributionOptions,
  DistributionPlan,
  DistributionRun,
  Model,
} from './given.ts';

/**
 * What it takes to get the objects of one class to the edges, by either model.
 *
 * Pull fetches each object once at each edge that is asked for it. Push sends each object to each
 * edge. A pushed copy at an edge where nobody asks is wasted.
 *
 * @param contentClass.objects 0 or more
 * @param contentClass.requestingEdges at how many edges each object is requested, 0 to `edges`
 * @param edges how many there are, 1 or more
 * @returns `pullRequests`, `pushCopies` and `wastedCopies`, and `wastedShare`: the wasted share of
 *   the pushed copies, 0 to 1, which depends on the edges alone and so has a value without objects
 * @throws {RangeError} whose message names `objects`, `requestingEdges` or `edges`, when it is out
 *   of range or not whole
 * @example distributionCost({ objects: 100, requestingEdges: 5 }, 8)
 * // { pullRequests: 500, pushCopies: 800, wastedCopies: 300, wastedShare: 0.375 }
 */
export function distributionCost(
  contentClass: { objects: number; requestingEdges: number },
  edges: number,
): DistributionCost {
  // TODO 3.1: how many copies would be sent if you knew who asks, and how many are sent?
  return todo('3.1 distributionCost');
}

/**
 * Decides for each class by itself whether it is pushed or pulled.
 *
 * A class is pushed exactly when its wasted share, as `distributionCost` gives it and unrounded, is
 * at most `rule.maxWastedShare`.
 *
 * @param classes each with a name of its own; any text is a name
 * @param edges how many there are, 1 or more
 * @param rule.maxWastedShare 0 to 1
 * @returns the decision under the name of each class; empty when there are no classes
 * @throws {RangeError} whose message names `maxWastedShare`, or what `distributionCost` refuses
 * @throws {Error} when two classes have one name; its message has that name
 */
export function planDistribution(
  classes: readonly ContentClass[],
  edges: number,
  rule: { maxWastedShare: number },
): Record<string, Model> {
  // TODO 3.2: judge each class by its wasted share.
  return todo('3.2 planDistribution');
}

/**
 * Counts what a plan costs, for getting the content to the edges and for keeping one object up to
 * date. No servers and no chance: everything is counted.
 *
 * Start: a class that is pushed adds its push copies to `pushedObjects` and `messages`, and its
 * wasted copies to `wastedCopies`. One that is pulled adds its pull requests to `originRequests` and
 * `messages`.
 *
 * Then one common object is followed on all edges, for the turns 1 to `turns`. Every edge starts
 * with version 1, and edge k = 0, 1, ... with a copy that expires in turn
 * 1 + (`phaseStride` x k mod `ttl`). In each turn, in this order:
 *
 * 1. In turn `updateTurn` the object gets version 2. If common objects are pushed, every edge gets
 *    it, for one message an edge. `pushedObjects` does not count these.
 * 2. If common objects are pulled, each edge whose copy expires in this turn fetches the version
 *    that the origin has now, for one origin request and one message. That copy expires `ttl` turns
 *    later.
 * 3. Each edge that has version 1 although there is a version 2 is stale in this turn.
 *
 * @param plan how each class travels; all four combinations are plans
 * @param options.edges 1 or more
 * @param options.ttl turns, 1 or more
 * @param options.turns 0 or more; with 0 there are only the costs of the start
 * @param options.updateTurn 1 or more; one that is above `turns` never comes
 * @param options.phaseStride turns, 0 or more
 * @param options.classes holds `common` and `private`, in any order
 * @throws {RangeError} whose message names the option that is out of range or not whole, or what
 *   `distributionCost` refuses
 * @throws {Error} when `classes` has no `common` or no `private`; its message names the one missing
 */
export function simulateDistribution(
  plan: DistributionPlan,
  options: DistributionOptions,
): DistributionRun {
  // TODO 3.3: the bill of the start first, then turn by turn.
  return todo('3.3 simulateDistribution');
}

/**
 * What simulated runs mean at the size of the baseline: rates, bandwidth, storage, and answers with
 * the old version.
 *
 * Every status event changes one private answer, and a push sends it to every edge. Reads spread
 * evenly over the edges. Storage under push holds the answers of all active shipments on every edge;
 * under pull it holds each of `privateObjects` once. A turn is taken for 1 s. M is 10^6, G is 10^9,
 * and nothing is rounded.
 *
 * @param run the runs under pull and under the hybrid, of which only these counts are read
 * @param setting.edges above 0
 * @param setting.windowSeconds s in which the runs' requests came, above 0
 * @param setting.activeShipments each has one private answer
 * @param setting.privateObjects private answers asked for in the window, above 0
 * @param baseline its `bodyBytes`, `writeIngressMbit` and `readEgressMbit` have to be above 0
 * @throws {RangeError} whose message names the one of these that is not above 0
 */
export function distributionBackToBaseline(
  run: {
    pull: Pick<DistributionRun, 'originRequests' | 'staleTurns'>;
    hybrid: Pick<DistributionRun, 'originRequests'>;
  },
  setting: {
    edges: number;
    windowSeconds: number;
    activeShipments: number;
    privateObjects: number;
  },
  baseline: Baseline,
): BackToBaseline {
  // TODO 3.4: find out which stream drives a push, then multiply.
  return todo('3.4 distributionBackToBaseline');
}

/**
 * The plan that you would defend, and what would change your mind.
 *
 * Each class is judged by itself:
 * - The common class is pulled when the stale answers that one update costs under pull are at most
 *   `limits.staleAnswers`, and pushed otherwise.
 * - The private class is pushed when both hold: the bandwidth of its pushes is at most
 *   `limits.pushMbit`, and its wasted share, as `distributionCost` gives it, is at most
 *   `limits.wastedShare`. Otherwise it is pulled.
 *
 * @param figures two results of `distributionBackToBaseline`, 0 or more and finite
 * @param setting.edges 1 or more
 * @param setting.requestingEdges at how many edges a private object is requested, 0 to `edges`
 * @param limits.staleAnswers answers with the old version that one update may cost, 0 or more;
 *   `Infinity` is no limit
 * @param limits.pushMbit Mbit/s for pushes of private answers, 0 or more; `Infinity` is no limit
 * @param limits.wastedShare of the pushed private copies, 0 to 1
 * @returns `plan`; `pushPrivateFrom`, the fewest requesting edges, 0 to `edges`, at which the
 *   private class would be pushed with all else as it is, or null where there is no such number;
 *   `readFactor` and `writeFactor`, the limit on stale answers over their figure and the limit on
 *   bandwidth over its figure, `Infinity` where the figure is 0. Below 1 the limit is exceeded
 *   today; above, it says by how much reads or writes may grow until it is reached.
 * @throws {RangeError} whose message names the value that is out of range or not whole, by its
 *   name alone or with its parameter, as in `limits.pushMbit`
 */
export function defendPlan(
  figures: Pick<BackToBaseline, 'staleAnswers' | 'pushMbit'>,
  setting: { edges: number; requestingEdges: number },
  limits: { staleAnswers: number; pushMbit: number; wastedShare: number },
): Defence {
  // TODO 3.4: compare each figure with its limit, then ask where the answer turns.
  return todo('3.4 defendPlan');
}

/**
 * The server that has the content.
 *
 * `GET /nesne/<id>` is answered 200 with `content-type: text/plain` and the body `surum-<v>`. The
 * version v is 1 until `publish(id)` raises it by 1. Any id is an object: `<id>` is everything after
 * `/nesne/`, as it was sent and not decoded, not empty and without a `/`. Each of these requests is
 * counted.
 *
 * `GET /sayac` is answered 200 with `content-type: application/json` and the count,
 * `{"istek":<count>}`.
 *
 * Another method on one of these paths is 405 with `allow: GET`; any other path is 404, whatever
 * the method. Neither is counted.
 *
 * @returns a server that does not listen yet, and what raises the version of an object
 */
export function createContentOrigin(): { server: Server; publish(id: string): void } {
  // TODO 3.5: keep a version for each object, and count.
  return todo('3.5 createContentOrigin');
}

/**
 * One edge: it stores what arrives, be it fetched or sent. Copies are bytes, kept until a push
 * replaces them.
 *
 * `GET /nesne/<id>`, with ids as at the origin:
 * - With a copy: 200, `content-type: text/plain`, `x-kenar: isabet`, and the copy. An empty copy is
 *   a copy.
 * - Without: the same path is fetched from 127.0.0.1:`originPort`. A complete answer with status 200
 *   is stored, and answered with `content-type: text/plain` and `x-kenar: iska`. A copy that has
 *   been pushed while the fetch was under way is newer, and is not replaced.
 * - An answer with another status is passed on, status and body, with `x-kenar: iska`. It is not
 *   stored, and redirects are not followed.
 * - When the origin cannot be reached, or its answer breaks off: 502 with `x-kenar: iska`, nothing
 *   stored.
 *
 * `PUT /nesne/<id>` stores the request body, also an empty one, also in place of a copy, and is
 * answered 204. A body that breaks off before its end stores nothing and counts nothing.
 *
 * `GET /sayac` is answered 200 with `content-type: application/json` and
 * `{"istek":..,"isabet":..,"iska":..,"itilen":..,"istenmeyen":..}`. istek counts the GETs of
 * `/nesne/<id>` and is always isabet + iska, whatever comes of a fetch; itilen counts PUTs;
 * istenmeyen is the number of ids that came by PUT and that no GET has asked for, neither before the
 * PUT nor after it.
 *
 * Another method on `/nesne/<id>` is 405 with `allow: GET, PUT`, on `/sayac` with `allow: GET`; any
 * other path is 404, whatever the method. Neither is counted. No request ends the edge, not even one
 * whose client leaves.
 *
 * @param options.originPort TCP port on 127.0.0.1
 * @returns a server that does not listen yet
 */
export function createEdgeNode(options: { originPort: number }): Server {
  // TODO 3.5: one map of copies: GET reads it, a miss and a PUT write it.
  return todo('3.5 createEdgeNode');
}
