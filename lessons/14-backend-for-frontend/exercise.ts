// Lesson 14: your file. Read README.md and backend-for-frontend.spec.ts beside it, then replace the TODOs.
import type { RequestListener } from 'node:http';
import { todo } from '#helpers/lesson/todo.ts';
import type {
  ClientKind,
  EdgeLayout,
  EdgeLoad,
  LayoutDemands,
  MixPart,
  Ownership,
  ShipmentRecord,
  ShipmentService,
  ViewCost,
  World,
} from './given.ts';

/**
 * The wanted fields of a record, in the order in which the client lists them.
 *
 * A field is wanted by its name. The record has to have it as an own property, with whatever value;
 * `null` is a value. Any text can be the name of a field, `__proto__` included.
 *
 * @returns a new object, whose JSON text has the fields in the client's order; empty if no field is
 *   wanted. The record stays as it is.
 * @throws {RangeError} whose message names the field that the record has not, or that is listed
 *   twice
 * @example selectFields({ durum: 'kabul', bolge: '34', rota: [] }, ['bolge', 'durum'])
 * // { bolge: '34', durum: 'kabul' }
 */
export function selectFields(
  record: ShipmentRecord,
  fields: readonly string[],
): Record<string, unknown> {
  // TODO 14.1: walk the list, and insist that the record itself has each field.
  return todo('14.1 selectFields');
}

/**
 * What one view of a client costs.
 *
 * `single`: one request for each record, answered with the whole record. For each of them the edge
 * asks every service that `ownership` names, once, batch endpoints or not.
 *
 * `bff`: one request, answered with the wanted fields: an object for a client with one record, an
 * array of as many objects for a client with more. (In this model they are copies of the one
 * record.) The edge asks the services that own a wanted field, and only those: once each if there
 * are batch endpoints, otherwise once for each record.
 *
 * Bytes are those of the JSON texts in UTF-8, without white space. Leaf fields are counted with
 * `leafCount`. A leaf field is unused if it belongs to no field that the client wants.
 *
 * @throws {RangeError} in either layout, whose message has `records` if that is not a whole number
 *   of 1 or more, or names the field that no service owns, that the record has not, or that is
 *   listed twice
 */
export function viewCost(client: ClientKind, layout: EdgeLayout, world: World): ViewCost {
  // TODO 14.2: which of the five measures depend on the number of records, and in which layout?
  return todo('14.2 viewCost');
}

/**
 * What a layout demands, and who notices a new field.
 *
 * - `edgeUnits`: one, or one for each kind of client.
 * - `clientsTouched`: kinds of client whose body changes when the field comes. All of them if they
 *   share a body, even if nobody wants the field; otherwise those in `wantedBy`, each counted once.
 * - `batchEndpoints`: names of the services that must answer for several tracking numbers at once,
 *   as `ownership` spells them, each once, in the order of `sort()`. None with a single edge, which
 *   asks for one record at a time. Otherwise the owners of what the clients with more than one
 *   record want today: the new field isn't among that.
 *
 * @param clients at least one
 * @param newField.wantedBy names of clients
 * @throws {RangeError} in either layout, whose message has `clients` if there are none, the name in
 *   `wantedBy` that no client has, `records` if a client's is not a whole number of 1 or more, or
 *   the field that no service owns or that a client lists twice
 */
export function layoutDemands(
  clients: readonly ClientKind[],
  layout: EdgeLayout,
  ownership: Ownership,
  newField: { name: string; wantedBy: readonly string[] },
): LayoutDemands {
  // TODO 14.3: who notices a new field, and where does one view ask one service for several?
  return todo('14.3 layoutDemands');
}

/**
 * What the edge carries for a mix of clients.
 *
 * @param costs one part for each kind of client; the shares add up to 1, within 1e-9
 * @param scale factor from the bytes of the model to those of the baseline, above 0
 * @param viewsPerSecond views of all clients together, above 0; one view may be several requests
 * @returns requests/s, bytes of the mean body, with the scale in it, and Mbit/s of bodies; nothing is
 *   rounded
 * @throws {RangeError} whose message has `costs` if there are none, `share` if one is not in 0 to 1
 *   or if they don't add up to 1, `requests` if they are below 1, `bytes` if they are below 0,
 *   `scale` or `viewsPerSecond` if it is not above 0; anything not finite is refused by its name
 * @example mixEffect([{ share: 1, requests: 2, bytes: 300 }], 2, 100)
 * // { requestsPerSecond: 200, bytesPerRequest: 300, megabitPerSecond: 0.48 }
 */
export function mixEffect(
  costs: readonly MixPart[],
  scale: number,
  viewsPerSecond: number,
): EdgeLoad {
  // TODO 14.4: add up requests and bytes in a second, and divide once, at the end.
  return todo('14.4 mixEffect');
}

/**
 * An edge unit for each kind of client, as a listener for `http.createServer`.
 *
 * Every answer is `application/json`. In this order:
 * 1. Another method than GET, or a path whose first segment isn't `takip`, exactly and as sent:
 *    404 `{"hata":"bulunamadi"}`.
 * 2. Another form than this client's: 400 `{"hata":"sema"}`, and no service is asked. A client with
 *    one record asks `/takip/<no>`; a query after that is ignored. A client with more asks
 *    `/takip?no=<no>,<no>,...` for one or more numbers, whatever its `records`; parameters with
 *    another name are ignored. A number is never empty, and `no` stands there exactly once. Numbers
 *    are split at `/` or `,` first and then percent-decoded, each by itself; `+` stands for itself,
 *    and a malformed escape is another form.
 * 3. Every service that owns a wanted field is asked, all at the same time, with one call each:
 *    `one` for a client with one record, `many` with the whole list for a client with more. No other
 *    service is asked.
 * 4. A call fails: 502 `{"hata":"ulasilamadi"}`, and the edge goes on.
 * 5. The owner of `takipNo` doesn't know one of the numbers: 404 `{"hata":"bulunamadi"}`.
 * 6. 200 with the wanted fields in the client's order: an object for a client with one record, an
 *    array for a client with more, in the order asked, duplicates kept. Each field comes from the
 *    service that owns it, from the part with the same `takipNo`. If another service than the owner
 *    of `takipNo` has no part for a number, its fields are `null`. A part that is there and lacks a
 *    wanted field of its service counts as a call that failed.
 *
 * @param services by the names that `ownership` uses
 * @param clients each with a name of its own, and each wants `takipNo`
 * @returns the listeners, by the names of the clients
 * @throws {RangeError} whose message has `records` if a client's is not a whole number of 1 or more,
 *   `takipNo` if a client doesn't want it, or names the field that no service owns, the field that a
 *   client lists twice, the owner that is not in `services`, or the client that is there twice
 */
export function createClientEdges(
  services: Readonly<Record<string, ShipmentService>>,
  clients: readonly ClientKind[],
  ownership: Ownership,
): Map<string, RequestListener> {
  // TODO 14.5: one call to each owner of a wanted field, then join by tracking number.
  return todo('14.5 createClientEdges');
}
