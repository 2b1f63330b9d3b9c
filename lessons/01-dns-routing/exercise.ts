// Lesson 1: your file. Read README.md and dns-routing.spec.ts beside it, then replace the TODOs.
import type { FailoverRow } from '#fixtures/failover.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type { NameServer, NameServerOptions } from './name-service.ts';
import type { PolicyKind, Region, RoutingPolicy, RoutingTables } from './routing.ts';

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
  // TODO 1.1: give everybody the whole part, then see who was cut short the most.
  return todo('1.1 splitRequests');
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
  // TODO 1.2: compare region by region, and mind what is counted twice.
  return todo('1.2 shareDeviation');
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
  // Each policy is graded by itself: do one, and its tests turn green.
  switch (kind) {
    case 'geographic':
      // TODO 1.3: the table's region, or the first of its backups that is not marked down.
      return todo('1.3 createPolicy, geographic');
    case 'latency':
      // TODO 1.3: the nearest of the regions that are not marked down.
      return todo('1.3 createPolicy, latency');
    case 'weighted':
      // TODO 1.3: the next entry of the pattern that is not marked down.
      return todo('1.3 createPolicy, weighted');
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
  // TODO 1.4: turn lost requests into seconds of full outage.
  return todo('1.4 failoverCost');
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
  // TODO 1.5: find the unluckiest resolver; then the average one.
  return todo('1.5 predictFailover');
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
  // TODO 1.6: drop the rows that break a limit, then take the cheapest.
  return todo('1.6 chooseTtl');
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
  // TODO 1.7: bind a socket, and pass each datagram through the rules above, one by one.
  return todo('1.7 startNameServer');
}
