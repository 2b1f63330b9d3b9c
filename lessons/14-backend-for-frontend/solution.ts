// Lesson 14: one good answer. `exercise.ts` has the same exports, with the same contracts.
import type { RequestListener } from 'node:http';
import {
  type ClientKind,
  type EdgeLayout,
  type EdgeLoad,
  type LayoutDemands,
  leafCount,
  type MixPart,
  type Ownership,
  type ShipmentRecord,
  type ShipmentService,
  type ViewCost,
  type World,
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
  refuseTwice('fields', fields);
  // fromEntries makes every key a property. Assigning to `__proto__` would set the prototype.
  return Object.fromEntries(
    fields.map((field) => {
      if (!Object.hasOwn(record, field)) {
        throw new RangeError(`fields: the record has no "${field}"`);
      }
      return [field, record[field]];
    }),
  );
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
  const { record, ownership, batchEndpoints } = world;
  const { records } = client;
  const owners = ownersOf(client, ownership);
  const wanted = selectFields(record, client.fields);
  if (layout === 'single') {
    return {
      requests: records,
      bytes: records * jsonBytes(record),
      leaves: records * leafCount(record),
      unusedLeaves: records * (leafCount(record) - leafCount(wanted)),
      internalRequests: records * new Set(Object.values(ownership)).size,
    };
  }
  // The finished text is measured, so that brackets and commas are in it.
  const body = records === 1 ? wanted : Array.from({ length: records }, () => wanted);
  return {
    requests: 1,
    bytes: jsonBytes(body),
    leaves: leafCount(body),
    unusedLeaves: 0,
    internalRequests: owners.size * (batchEndpoints ? 1 : records),
  };
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
  if (clients.length === 0) throw new RangeError('clients: wanted at least one, got none');
  const wantedBy = new Set(newField.wantedBy);
  for (const name of wantedBy) {
    if (!clients.some((client) => client.name === name)) {
      throw new RangeError(`wantedBy: there is no client called "${name}"`);
    }
  }
  const asked = clients.map((client) => ({ client, owners: ownersOf(client, ownership) }));
  if (layout === 'single') {
    return { edgeUnits: 1, clientsTouched: clients.length, batchEndpoints: [] };
  }
  const inLists = asked.filter(({ client }) => client.records > 1);
  return {
    edgeUnits: clients.length,
    clientsTouched: wantedBy.size,
    batchEndpoints: [...new Set(inLists.flatMap(({ owners }) => [...owners]))].sort(),
  };
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
  if (costs.length === 0) throw new RangeError('costs: wanted at least one part, got none');
  requireAbove0('scale', scale);
  requireAbove0('viewsPerSecond', viewsPerSecond);

  let shares = 0;
  let requestsPerSecond = 0;
  let bytesPerSecond = 0;
  for (const { share, requests, bytes } of costs) {
    requireWithin('share', share, 0, 1);
    requireWithin('requests', requests, 1);
    requireWithin('bytes', bytes, 0);
    shares += share;
    requestsPerSecond += viewsPerSecond * share * requests;
    bytesPerSecond += viewsPerSecond * share * bytes * scale;
  }
  if (Math.abs(shares - 1) > 1e-9) {
    throw new RangeError(`share: wanted shares that add up to 1, got ${shares}`);
  }
  return {
    requestsPerSecond,
    // Requests of a view differ from client to client, so only the sums may be divided.
    bytesPerRequest: bytesPerSecond / requestsPerSecond,
    megabitPerSecond: (bytesPerSecond * 8) / 1e6,
  };
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
  refuseTwice(
    'clients',
    clients.map(({ name }) => name),
  );
  return new Map(
    clients.map((client) => [client.name, createClientEdge(services, client, ownership)]),
  );
}

/** What is sent back. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const NOT_FOUND: Answer = { status: 404, body: { hata: 'bulunamadi' } };
const OTHER_FORM: Answer = { status: 400, body: { hata: 'sema' } };
const UNREACHABLE: Answer = { status: 502, body: { hata: 'ulasilamadi' } };

function createClientEdge(
  services: Readonly<Record<string, ShipmentService>>,
  client: ClientKind,
  ownership: Ownership,
): RequestListener {
  const { fields, records } = client;
  if (!fields.includes('takipNo')) {
    throw new RangeError(`${client.name}: wants no takipNo, so nobody could say what is unknown`);
  }
  const asked = [...ownersOf(client, ownership)].map((owner) => {
    const service = Object.hasOwn(services, owner) ? services[owner] : undefined;
    if (!service) throw new RangeError(`services: there is no "${owner}"`);
    return { owner, service };
  });
  const isList = records > 1;

  /** One call to each owner, and what it knows by tracking number: it answers in its own order. */
  const ask = async (trackingNos: readonly string[]) => {
    const answers = asked.map(async ({ owner, service }) => {
      const parts = isList
        ? await service.many(trackingNos)
        : [await service.one(trackingNos[0] as string)];
      const known = parts.filter((part) => part !== undefined);
      return [owner, new Map(known.map((part) => [part.takipNo, part]))] as const;
    });
    return new Map(await Promise.all(answers));
  };

  const answer = async (target: string): Promise<Answer> => {
    const trackingNos = trackingNosOf(target, isList);
    if (!trackingNos) return OTHER_FORM;
    const known = await ask(trackingNos);
    const partOf = (field: string, trackingNo: string) =>
      known.get(ownership[field] as string)?.get(trackingNo);
    if (!trackingNos.every((trackingNo) => partOf('takipNo', trackingNo))) return NOT_FOUND;
    const shaped = trackingNos.map((trackingNo) =>
      Object.fromEntries(
        fields.map((field) => {
          const part = partOf(field, trackingNo);
          // Selected and not just read: a part without the field is a fault, not a hole in the body.
          return [field, part ? selectFields(part, [field])[field] : null];
        }),
      ),
    );
    return { status: 200, body: isList ? shaped : shaped[0] };
  };

  return async (request, response) => {
    const target = request.url ?? '';
    // The path as it was sent: `new URL` would throw at some targets, and tidy up others.
    const ours = request.method === 'GET' && /^\/takip(?=[/?]|$)/.test(target);
    // Nobody awaits a listener: what it threw would end the process.
    const { status, body } = ours ? await answer(target).catch(() => UNREACHABLE) : NOT_FOUND;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** The tracking numbers that a target asks for, or undefined if its form is the other client's. */
function trackingNosOf(target: string, isList: boolean): string[] | undefined {
  const [path = '', ...rest] = target.split('?');
  const [number, ...more] = path.split('/').slice(2);
  let asSent: string[];
  if (isList) {
    const [list, ...others] = rest
      .join('?')
      .split('&')
      .filter((pair) => pair.split('=', 1)[0] === 'no');
    if (number !== undefined || list === undefined || others.length > 0) return undefined;
    asSent = list.slice('no='.length).split(',');
  } else {
    if (number === undefined || more.length > 0) return undefined;
    asSent = [number];
  }
  if (asSent.includes('')) return undefined;
  try {
    // Split first: an escaped separator belongs to its number.
    return asSent.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The services that a client's fields come from. */
function ownersOf({ name, fields, records }: ClientKind, ownership: Ownership): Set<string> {
  if (!Number.isInteger(records) || records < 1) {
    throw new RangeError(`${name}: wanted records as a whole number of 1 or more, got ${records}`);
  }
  refuseTwice('fields', fields);
  return new Set(
    fields.map((field) => {
      // Every object inherits a `constructor`: only what the table itself has is an owner.
      const owner = Object.hasOwn(ownership, field) ? ownership[field] : undefined;
      if (owner === undefined) throw new RangeError(`${name}: no service owns "${field}"`);
      return owner;
    }),
  );
}

function refuseTwice(what: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`${what}: "${twice}" stands there twice`);
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function requireAbove0(name: string, value: number): void {
  if (!(value > 0 && value < Infinity)) {
    throw new RangeError(`${name}: wanted a finite number above 0, got ${value}`);
  }
}

function requireWithin(name: string, value: number, min: number, max = Number.MAX_VALUE): void {
  if (!(value >= min && value <= max)) {
    throw new RangeError(`${name}: wanted ${min} to ${max}, got ${value}`);
  }
}
