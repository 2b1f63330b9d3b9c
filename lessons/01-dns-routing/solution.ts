import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { type Answer, decode, encode, type OptAnswer, type Question } from 'dns-packet';
import type { FailoverRow } from '#fixtures/failover.ts';
import {
  CLIENT_SUBNET,
  EDNS_PAYLOAD_BYTES,
  HEADER_BYTES,
  isName,
  MAX_TTL_SECONDS,
  NAME_RULE,
  type NameServer,
  type NameServerOptions,
  RCODE,
  SubnetTable,
  soaRecord,
} from './name-service.ts';

import type {
  ClientGroup,
  PolicyKind,
  Region,
  RoutingPolicy,
  RoutingQuery,
  RoutingTables,
} from './routing.ts';

/**
 * Splits a rate among resolvers of unequal size by the largest remainder, so that nothing is lost to
 * rounding.
 *
 * Resolver j = 0.. weighs 1/(j+1), and its exact quota is the rate times its weight over the sum of
 * all weights. Everybody gets the whole part of the quota. What is then left goes, one by one, to
 * those with the largest fractions of a request; of equal fractions to the smaller j.
 *
 * @param requestsPerSecond requests/s of all resolvers together, a whole number of 0 or more
 * @param resolverCount a whole number of 1 or more
 * @returns requests/s of each resolver; they add up to `requestsPerSecond` and never rise along j
 * @throws {RangeError} whose message names the argument that is out of range or not whole
 * @example splitRequests(10, 4) // [5, 2, 2, 1]: the quotas are 4.8, 2.4, 1.6 and 1.2
 */
export function splitRequests(requestsPerSecond: number, resolverCount: number): number[] {
  requireCount({ requestsPerSecond }, 0);
  requireCount({ resolverCount }, 1);

  const weights = Array.from({ length: resolverCount }, (_, j) => 1 / (j + 1));
  const total = sum(weights);
  const parts = weights.map((weight, j) => {
    const quota = (requestsPerSecond * weight) / total;
    const whole = Math.floor(quota);
    return { j, whole, fraction: quota - whole };
  });
  const left = requestsPerSecond - sum(parts.map(({ whole }) => whole));
  // sort() is stable, so the smaller j stays in front where fractions are equal.
  const shortest = [...parts].sort((a, b) => b.fraction - a.fraction).slice(0, left);
  for (const part of shortest) part.whole += 1;
  return parts.map(({ whole }) => whole);
}

/**
 * How far a distribution of requests is from its target: the share of all requests that would have
 * to go to another region.
 *
 * It is half the sum of the absolute differences over the target's regions. A region that is missing
 * in `observed` counts as 0, and the observed shares need not add up to 1: nothing observed at all is
 * a deviation of 0.5.
 *
 * @param observed shares by region, each of 0 or more
 * @param target shares by region, each of 0 or more; they add up to 1, give or take 1e-9
 * @returns 0 when both are the same; at most 1 when the observed shares add up to 1
 * @throws {RangeError} whose message names the region, when a share is negative or not finite, or
 *   when `observed` has a region that the target doesn't; `target`, when its sum is not 1
 * @example shareDeviation({ b34: 0.7, b35: 0.3 }, { b34: 0.5, b35: 0.3, b06: 0.2 })
 * // (0.2 + 0 + 0.2) / 2 = 0.2
 */
export function shareDeviation(
  observed: Readonly<Record<Region, number>>,
  target: Readonly<Record<Region, number>>,
): number {
  for (const [region, share] of [...Object.entries(observed), ...Object.entries(target)]) {
    if (!Object.hasOwn(target, region)) {
      throw new RangeError(`observed has a share of ${region}, and the target has none`);
    }
    if (!(share >= 0 && share < Infinity)) {
      throw new RangeError(`the share of ${region} has to be 0 or more, got ${share}`);
    }
  }
  const targetSum = sum(Object.values(target));
  if (Math.abs(targetSum - 1) > 1e-9) {
    throw new RangeError(`the shares of target have to add up to 1, got ${targetSum}`);
  }

  const differences = Object.entries(target).map(([region, share]) =>
    Math.abs((observed[region] ?? 0) - share),
  );
  // A request that moves is counted where it leaves and where it arrives.
  return sum(differences) / 2;
}

/**
 * The rule by which the authoritative server chooses a region.
 *
 * - `geographic`: the region that the table `geographic` has for the group. While that one is marked
 *   down, its `backup`, and the backup of the backup, until a region is found that is not.
 * - `latency`: of the regions that are not marked down, the one with the smallest distance to the
 *   group; of equal ones the first in the order of `regions`.
 * - `weighted`: answers go through `pattern` from the start, and at its end begin again. Entries
 *   whose region is marked down are passed over, and are used up as if they had been answered. All
 *   groups share the one position; each policy object has a position of its own, and an `answer` that
 *   throws leaves it where it was.
 *
 * A group is known when it is a key of the table that the policy looks at: `geographic` for the
 * geographic policy, `distance` for the other two.
 *
 * @throws {Error} from `answer`: its message names the group, when the group is not known; or
 *   contains `no live region`, when every region is marked down, when a chain of backups ends or comes
 *   back to a region already tried, or when no entry of the pattern is alive
 * @example createPolicy('latency', TABLES).answer({ group: 'g4', isMarkedDown: () => false }) // 'b34'
 */
export function createPolicy(kind: PolicyKind, tables: RoutingTables): RoutingPolicy {
  switch (kind) {
    case 'geographic':
      return {
        answer(query) {
          let region: Region | undefined = entryOf(tables.geographic, query.group);
          const tried = new Set<Region>();
          while (region !== undefined && !tried.has(region)) {
            if (!query.isMarkedDown(region)) return region;
            tried.add(region);
            region = tables.backup[region];
          }
          throw noLiveRegion(query);
        },
      };

    case 'latency':
      return {
        answer(query) {
          const distance = entryOf(tables.distance, query.group);
          const unitsTo = (region: Region) => distance[region] ?? Infinity;
          let nearest: Region | undefined;
          for (const region of tables.regions) {
            if (query.isMarkedDown(region)) continue;
            // Not <=: a tie has to stay with the region that comes first.
            if (nearest === undefined || unitsTo(region) < unitsTo(nearest)) nearest = region;
          }
          if (nearest === undefined) throw noLiveRegion(query);
          return nearest;
        },
      };

    case 'weighted': {
      const { pattern } = tables;
      // One position for all groups: the shares are promised over all answers. Drawing a region at
      // random would keep them too, on average, and no run could be repeated.
      let position = 0;
      return {
        answer(query) {
          entryOf(tables.distance, query.group);
          for (let step = 0; step < pattern.length; step += 1) {
            const at = (position + step) % pattern.length;
            const region = pattern[at] as Region;
            if (query.isMarkedDown(region)) continue;
            position = (at + 1) % pattern.length;
            return region;
          }
          throw noLiveRegion(query);
        },
      };
    }
  }
}

/**
 * What a failover costs, by the request and by the second.
 *
 * Nothing is rounded. Nothing dropped in no time costs nothing: all three are 0.
 *
 * @param run.dropped requests that went to the dead region, 0 or more
 * @param run.windowSeconds from the failure to the last dropped request, 0 or more; not 0 when
 *   something was dropped
 * @param requestsPerSecond requests/s to all regions, above 0
 * @param budgetSeconds seconds of outage that a month may have, above 0
 * @returns `equivalentOutageSeconds`, the seconds of an outage of everything that would have dropped
 *   as many requests; `budgetSharePercent`, what that is of the budget;
 *   `droppedShareOfWindowPercent`, the dropped share of all requests of the window
 * @throws {RangeError} whose message names what is out of range or not finite: `dropped`,
 *   `windowSeconds` (also when it is 0 and something was dropped), `requestsPerSecond` or
 *   `budgetSeconds`
 * @example failoverCost({ dropped: 600, windowSeconds: 20 }, 100, 2_400)
 * // { equivalentOutageSeconds: 6, budgetSharePercent: 0.25, droppedShareOfWindowPercent: 30 }
 */
export function failoverCost(
  run: { readonly dropped: number; readonly windowSeconds: number },
  requestsPerSecond: number,
  budgetSeconds: number,
): {
  equivalentOutageSeconds: number;
  budgetSharePercent: number;
  droppedShareOfWindowPercent: number;
} {
  const { dropped, windowSeconds } = run;
  requireNotNegative({ dropped, windowSeconds });
  requirePositive({ requestsPerSecond, budgetSeconds });
  if (windowSeconds === 0 && dropped > 0) {
    throw new RangeError(`windowSeconds is 0, and ${dropped} requests were dropped in it`);
  }

  const equivalentOutageSeconds = dropped / requestsPerSecond;
  const requestsInWindow = windowSeconds * requestsPerSecond;
  return {
    equivalentOutageSeconds,
    // The budget is in seconds of full outage, and so the window may not be counted whole.
    budgetSharePercent: (equivalentOutageSeconds / budgetSeconds) * 100,
    droppedShareOfWindowPercent: dropped === 0 ? 0 : (dropped / requestsInWindow) * 100,
  };
}

/**
 * What a failover will cost, worked out before anything fails.
 *
 * Resolvers ask every `ttlSeconds` seconds, each in a second of its own. A region fails in any second
 * and is marked down `detectionSeconds` seconds later; in the seconds between it is still handed out.
 *
 * @param ttlSeconds a whole number of 1 or more
 * @param detectionSeconds a whole number, 0 to `ttlSeconds`
 * @param boundRequestsPerSecond requests/s that go to the region before it fails, 0 or more
 * @returns `longestWindowSeconds`, the longest possible time from the failure to the last dropped
 *   request, both seconds included; `meanDropped`, the requests that are dropped on average over all
 *   seconds in which the region could fail, not rounded
 * @throws {RangeError} whose message names the argument that is out of range, not whole where it has
 *   to be, or not finite
 * @example predictFailover(10, 2, 100) // { longestWindowSeconds: 11, meanDropped: 650 }
 */
export function predictFailover(
  ttlSeconds: number,
  detectionSeconds: number,
  boundRequestsPerSecond: number,
): { longestWindowSeconds: number; meanDropped: number } {
  requireCount({ ttlSeconds }, 1);
  requireCount({ detectionSeconds }, 0);
  if (detectionSeconds > ttlSeconds) {
    throw new RangeError(
      `detectionSeconds may be as long as the TTL of ${ttlSeconds} s, got ${detectionSeconds}`,
    );
  }
  requireNotNegative({ boundRequestsPerSecond });

  // A resolver that asks again u seconds after the failure, u = 0 .. TTL - 1, drops for u seconds.
  // Those with u below the detection delay get the dead address once more and drop for another TTL:
  // on average (TTL - 1) / 2 + TTL x detection / TTL. The unluckiest has u = detection - 1.
  return {
    longestWindowSeconds: ttlSeconds + detectionSeconds - 1,
    meanDropped: boundRequestsPerSecond * ((ttlSeconds - 1) / 2 + detectionSeconds),
  };
}

/**
 * The TTL that keeps two limits: what a failure may cost, and what the authoritative server can
 * answer.
 *
 * Of the rows that keep both, the one with the fewest upstream queries wins, and of equal ones the
 * one with the smallest TTL. A value equal to its limit keeps it. The order of the rows does not
 * matter, and they stay as they are.
 *
 * @param rows one for each TTL
 * @param limits.maxBudgetSharePercent % of the month's outage budget that one failure may use
 * @param limits.maxUpstreamQueries queries that may reach the authoritative server in a run
 * @returns seconds
 * @throws {Error} whose message contains `no TTL`, when no row keeps both limits
 * @example chooseTtl(FAILOVER_ROWS, { maxBudgetSharePercent: 5, maxUpstreamQueries: 200 }) // 300
 */
export function chooseTtl(
  rows: readonly FailoverRow[],
  limits: { readonly maxBudgetSharePercent: number; readonly maxUpstreamQueries: number },
): number {
  const { maxBudgetSharePercent, maxUpstreamQueries } = limits;
  const [best] = rows
    .filter(
      ({ budgetSharePercent, upstreamQueries }) =>
        budgetSharePercent <= maxBudgetSharePercent && upstreamQueries <= maxUpstreamQueries,
    )
    .sort((a, b) => a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds);
  if (!best) {
    throw new Error(
      `no TTL keeps a failure within ${maxBudgetSharePercent} % of the budget and the queries ` +
        `within ${maxUpstreamQueries}`,
    );
  }
  return best.ttlSeconds;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function entryOf<T>(table: Readonly<Record<ClientGroup, T>>, group: ClientGroup): T {
  // Every object inherits `toString` and the like; nobody's clients are called that.
  if (!Object.hasOwn(table, group)) throw new Error(`there is no client group ${group}`);
  return table[group] as T;
}

function noLiveRegion({ group }: RoutingQuery): Error {
  return new Error(`no live region for ${group}`);
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity)) {
      throw new RangeError(`${name} has to be a number above 0, got ${value}`);
    }
  }
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`${name} has to be a number of 0 or more, got ${value}`);
    }
  }
}

function requireCount(fields: Record<string, number>, least: number): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isSafeInteger(value) || value < least) {
      throw new RangeError(`${name} has to be a whole number of ${least} or more, got ${value}`);
    }
  }
}

/**
 * An authoritative name server on UDP, 127.0.0.1: one zone, and in it one name that has an address.
 *
 * Each datagram is answered by the first of these rules that fits.
 * 1. Shorter than a header, or a response (QR set): silence.
 * 2. Opcode other than 0 (a query): NOTIMP. Nothing but the header goes back, here and in rule 3.
 * 3. Not exactly one question, a record in the answer or authority section, or more than two in the
 *    additional one; what dns-packet can't unpack; a section that ends later than the datagram; a
 *    question whose name dns-packet can't pack again into the same bytes; more than one OPT record, or
 *    one whose name is not the root: FORMERR. Bytes behind the last section don't matter.
 * 4. EDNS version other than 0: BADVERS (16; its upper bits stand in the OPT record).
 * 5. A Client Subnet option that is malformed: FORMERR.
 * 6. Class other than IN, or a name outside the zone: REFUSED.
 * 7. `name`, type A or ANY: an A record with the address of the region that `policy` answers, and a
 *    TTL of `ttlSeconds`. If the policy throws, or its region has no address: SERVFAIL.
 * 8. `zone`, type SOA or ANY: the SOA record, which is `soaRecord(zone, soa)`.
 * 9. `zone`, `name`, or a name between them (of `a.b.zone` that is `b.zone`), any other type:
 *    NOERROR without an answer, and the SOA record as authority. So the name exists, and the type
 *    doesn't.
 * 10. Any other name in the zone: NXDOMAIN, and the SOA record as authority.
 *
 * Names are compared without regard to the case of the letters a to z; other characters have none.
 *
 * A response repeats id, opcode and RD of the query. AA is set with NOERROR and NXDOMAIN, and with
 * nothing else; TC, RA and all other bits are clear. From rule 4 on the question comes back byte for
 * byte, and the owner of the A record is spelt as it was asked. From rule 4 on the response has an OPT
 * record (version 0, `EDNS_PAYLOAD_BYTES`, flags 0) if and only if the query has one. No response is
 * longer than 512 bytes.
 *
 * The client group (RFC 7871) comes from the address in the Client Subnet option, with 0 for the bits
 * that it leaves out. Without that option, and with a prefix of 0 bits, it comes from the address that
 * the query came from. A network of `subnets` decides; an address in none of them is of
 * `fallbackGroup`. A well-formed option comes back as it was, but for its scope: with an address, the
 * prefix length of the network that decided, or all bits of the family (32 or 128) when none did; 0
 * when the prefix of the query has 0 bits, and in responses without an A record. A query without the
 * option gets a response without it. Malformed is: another family than 1 (IPv4) and 2 (IPv6), unless
 * it is 0 and so is the prefix; a prefix longer than the family's addresses; a scope other than 0;
 * more or fewer bytes of address than the prefix needs; a bit set behind the prefix.
 *
 * `policy` is asked once for each A record, and for nothing else, with `isMarkedDown` as it is given: so
 * a change of health takes effect with the next query. Nothing that comes over the network, and no error
 * of the socket, ends the server.
 *
 * @param options see `NameServerOptions`
 * @throws {RangeError} (rejects) before it listens; the message names the field: `zone`, `soa.<field>`
 *   or `subnets` as `soaRecord` and `SubnetTable` do, `name` when `isName` says no or it is not in the
 *   zone, `ttlSeconds` when it is no whole number from 0 to 2^31 - 1, and `addresses` with the region
 *   that has no IPv4 address
 * @throws {Error} (rejects) with code EADDRINUSE when the port is taken
 */
export async function startNameServer(options: NameServerOptions): Promise<NameServer> {
  const { zone, name, policy, ttlSeconds, isMarkedDown, fallbackGroup } = options;
  const { regions, addresses } = options;
  const soa = soaRecord(zone, options.soa);
  const table = new SubnetTable(options.subnets);
  const ownZone = lowerCase(zone);
  const ownName = lowerCase(name);
  if (!isName(name) || !isWithin(ownName, ownZone)) {
    throw new RangeError(`name is "${name}", wanted a name in ${zone}: ${NAME_RULE}`);
  }
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 0 || ttlSeconds > MAX_TTL_SECONDS) {
    throw new RangeError(
      `ttlSeconds is ${ttlSeconds}, wanted 0 to ${MAX_TTL_SECONDS} whole seconds`,
    );
  }
  for (const region of regions) {
    if (!isIPv4(addresses[region] ?? '')) {
      throw new RangeError(
        `addresses has ${addresses[region]} for ${region}, wanted an IPv4 address`,
      );
    }
  }

  const addressFor = (group: ClientGroup): string | undefined => {
    try {
      return addresses[policy.answer({ group, isMarkedDown })];
    } catch {
      return undefined; // no live region at this moment; the next query may find one
    }
  };

  const respond = (message: Buffer, sender: string): Buffer | undefined => {
    if (message.length < HEADER_BYTES) return undefined; // not even an id to answer to
    // Two servers that answer responses would talk to each other for ever.
    if (message.readUInt16BE(2) & RESPONSE) return undefined;
    if (message.readUInt16BE(2) & OPCODE) return pack(message, RCODE.NOTIMP);
    const query = parse(message);
    if (!query) return pack(message, RCODE.FORMERR);
    const { question, edns } = query;
    // What another version has put in its record, nobody here can know.
    const isOtherVersion = edns !== undefined && edns.ednsVersion !== 0;
    const subnet = isOtherVersion ? undefined : clientSubnetOf(edns);
    const client = subnet === 'malformed' ? undefined : subnet;
    const reply = (rcode: number, records: Records = {}, scope = 0) =>
      pack(message, rcode, { query, ...records, edns: edns && opt(rcode, client, scope) });

    if (isOtherVersion) return reply(RCODE.BADVERS);
    if (subnet === 'malformed') return reply(RCODE.FORMERR);
    const asked = lowerCase(question.name);
    if (question.class !== 'IN' || !isWithin(asked, ownZone)) return reply(RCODE.REFUSED);

    const type: string = question.type; // its own type has no ANY
    const wants = (held: string) => type === held || type === 'ANY';
    if (asked === ownName && wants('A')) {
      const place = table.find(client?.address ?? sender);
      const data = addressFor(place?.group ?? fallbackGroup);
      if (data === undefined) return reply(RCODE.SERVFAIL);
      const answers: Answer[] = [{ type: 'A', name: question.name, ttl: ttlSeconds, data }];
      const scope = client?.address === undefined ? 0 : (place?.prefixLength ?? client.bits);
      return reply(RCODE.NOERROR, { answers }, scope);
    }
    if (asked === ownZone && wants('SOA')) return reply(RCODE.NOERROR, { answers: [soa] });
    // What has names below it exists. To deny it would deny all of them (RFC 8020).
    const exists = asked === ownZone || isWithin(ownName, asked);
    return reply(exists ? RCODE.NOERROR : RCODE.NXDOMAIN, { authorities: [soa] });
  };

  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    try {
      const response = respond(message, address);
      // The callback takes the error, if the asker can't be reached.
      if (response) socket.send(response, port, address, () => {});
    } catch {
      // Such as port 0, which Node refuses to send to. Nobody is owed an answer to that.
    }
  });
  // Closed here if it can't be bound, or it would stay open with nobody to close it.
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise((resolve) => socket.close(() => resolve()));
    return closed;
  };
  socket.bind(options.port ?? 0, '127.0.0.1');
  try {
    await once(socket, 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  socket.on('error', () => {}); // one asker's doing, such as a reset on Windows
  return { port: socket.address().port, close, [Symbol.asyncDispose]: close };
}

// Bits of the header's second word (RFC 1035 section 4.1.1).
const RESPONSE = 0x8000;
const OPCODE = 0x7800;
const AUTHORITATIVE = 0x0400;
const RECURSION_DESIRED = 0x0100;

/** ASCII alone: `toLowerCase` takes the Kelvin sign for a k, and in Turkish I is no capital i. */
function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Both in lower case. Labels count, not letters: `nokargo.example` is not in `kargo.example`. */
function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** A well-formed query. */
interface Query {
  question: Question;
  /** The question as it came. */
  bytes: Buffer;
  edns: OptAnswer | undefined;
}

/** `undefined` if the message isn't a well-formed query. */
function parse(message: Buffer): Query | undefined {
  // Before anything is unpacked: a header may announce 65,535 records in each section.
  const [questions, answers, authorities, additionals = 0] = [4, 6, 8, 10].map((at) =>
    message.readUInt16BE(at),
  );
  if (questions !== 1 || answers !== 0 || authorities !== 0 || additionals > 2) return undefined;
  try {
    const packet = decode(message);
    // dns-packet reads some lengths without a look at where the message ends, and may lose count (NaN).
    if (!(decode.bytes <= message.length)) return undefined;
    const question = packet.questions?.[0] as Question;
    const repeated = encode({ questions: [question] }).subarray(HEADER_BYTES);
    const bytes = message.subarray(HEADER_BYTES, HEADER_BYTES + repeated.length);
    // Bytes that aren't UTF-8 and dots inside a label become another name, which must be neither
    // looked up nor sent back. The last two bytes are the class: dns-packet has no word for most.
    if (!bytes.subarray(0, -2).equals(repeated.subarray(0, -2))) return undefined;
    const [edns, second] = (packet.additionals ?? []).filter((record) => record.type === 'OPT');
    if (second || (edns && edns.name !== '.')) return undefined;
    return { question, bytes, edns };
  } catch {
    return undefined;
  }
}

/** What stands behind the header of a response. */
interface Records {
  answers?: Answer[];
  authorities?: Answer[];
}

/** A response to a message. Without a query nothing is repeated but the header. */
function pack(
  message: Buffer,
  rcode: number,
  parts: Records & { query?: Query; edns?: OptAnswer | undefined } = {},
): Buffer {
  const { query, edns, answers = [], authorities = [] } = parts;
  const isAuthoritative = rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN;
  const response = encode({
    type: 'response',
    id: message.readUInt16BE(0),
    flags:
      (message.readUInt16BE(2) & (OPCODE | RECURSION_DESIRED)) |
      (isAuthoritative ? AUTHORITATIVE : 0) |
      (rcode & 0xf),
    questions: query ? [query.question] : [],
    answers,
    authorities,
    additionals: edns ? [edns] : [],
  });
  query?.bytes.copy(response, HEADER_BYTES); // with the class as it came
  return response;
}

/** What a well-formed Client Subnet option says. */
interface ClientNetwork {
  /** Its bytes: family (2), prefix length (1), scope (1), address. */
  data: Buffer;
  /** `undefined` if the client keeps its address to itself: a prefix of 0 bits. */
  address: string | undefined;
  /** Bits of an address of its family. */
  bits: number;
}

function clientSubnetOf(edns: OptAnswer | undefined): ClientNetwork | 'malformed' | undefined {
  const option = edns?.options.find(({ code }) => code === CLIENT_SUBNET);
  if (option?.code !== CLIENT_SUBNET) return undefined;
  // dns-packet fills up and cuts off to make an address of any bytes. The bytes themselves decide.
  const data = option.data ?? Buffer.alloc(0);
  if (data.length < 4) return 'malformed';
  const [family, prefix, scope] = [data.readUInt16BE(0), data.readUInt8(2), data.readUInt8(3)];
  const bits = [0, 32, 128][family];
  const bytes = data.subarray(4);
  if (bits === undefined || prefix > bits || scope !== 0) return 'malformed';
  if (bytes.length !== Math.ceil(prefix / 8)) return 'malformed';
  const behindPrefix = 0xff >> (prefix % 8 || 8);
  if ((bytes.at(-1) ?? 0) & behindPrefix) return 'malformed';
  return { data, address: prefix > 0 ? option.ip : undefined, bits };
}

/** The OPT record of a response. */
function opt(rcode: number, client: ClientNetwork | undefined, scope: number): OptAnswer {
  const data = client && Buffer.from(client.data);
  data?.writeUInt8(scope, 3);
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: EDNS_PAYLOAD_BYTES,
    extendedRcode: rcode >> 4,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: data ? [{ code: CLIENT_SUBNET, ip: undefined, data }] : [],
  };
}
