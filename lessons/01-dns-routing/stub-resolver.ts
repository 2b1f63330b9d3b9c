// The other side of exercise 1.7: a resolver that asks over UDP and remembers the answer, and forty of
// them that live through the seconds of the model.
import { randomInt } from 'node:crypto';
import { type DecodedPacket, decode } from 'dns-packet';
import {
  CLIENT_SUBNET,
  CLIENT_SUBNETS,
  type ClientSubnet,
  HEADER_BYTES,
  NAME_SERVICE,
  type NameServer,
  type NameServerOptions,
} from './name-service.ts';
import { GROUPS, type Region, type RoutingPolicy } from './routing.ts';
import {
  firstQuerySecond,
  firstSecond,
  groupOf,
  isMarkedDown,
  type RunOptions,
  type RunResult,
  Tally,
} from './simulation.ts';
import { openUdpClient, packQuery } from './udp-client.ts';

/** A name server's client that remembers. */
export interface StubResolver extends AsyncDisposable {
  /** The address that is remembered, or `undefined` if there is none or its TTL is over. */
  cached(): string | undefined;
  /** Asks the server now, whatever is remembered, and remembers the answer for its TTL. */
  ask(): Promise<string>;
}

/** What a stub resolver needs. */
export interface StubResolverOptions {
  /** UDP port of the name server, on 127.0.0.1. */
  readonly port: number;
  readonly name: string;
  /** The network on whose behalf it asks, sent as Client Subnet; nothing is sent unless given. */
  readonly subnet?: string;
  /** The only source of time, in seconds. */
  readonly nowSeconds: () => number;
}

/**
 * Opens a resolver that asks for the A record of one name.
 *
 * An answer that was asked for in second t with a TTL of n seconds serves until second t + n - 1. Only
 * a response from the server's port that repeats id, question and client subnet is taken; anything
 * else is passed over, as it may come from somebody who guesses (RFC 5452, RFC 7871 section 11.2).
 *
 * `ask()` rejects when the response is no address, and when none comes in time.
 */
export async function openStubResolver(options: StubResolverOptions): Promise<StubResolver> {
  const { port, name, subnet, nowSeconds } = options;
  const client = await openUdpClient(port);
  // Packed once: from one query to the next only the id changes.
  const query = packQuery({ name, ...(subnet !== undefined && { edns: { subnet } }) });
  const wanted = clientSubnetOf(decode(query));
  const question = packQuery({ name }).subarray(HEADER_BYTES);
  let remembered: { address: string; untilSecond: number } | undefined;

  /** The first datagram that is a response to the query. */
  const ownResponse = async (): Promise<DecodedPacket> => {
    for (;;) {
      const packet = await client.next(`a response for ${name}`);
      const response = decoded(packet);
      if (!response?.flag_qr || response.id !== query.readUInt16BE(0)) continue;
      const repeated = packet.subarray(HEADER_BYTES, HEADER_BYTES + question.length);
      if (repeated.equals(question) && clientSubnetOf(response) === wanted) return response;
    }
  };

  return {
    cached: () =>
      remembered && nowSeconds() < remembered.untilSecond ? remembered.address : undefined,
    async ask() {
      const asked = nowSeconds();
      query.writeUInt16BE(randomInt(2 ** 16), 0);
      client.send(query);
      const response = await ownResponse();
      const record = response.answers?.find((answer) => answer.type === 'A');
      if (record?.type !== 'A') throw new Error(`The response for ${name} holds no address`);
      remembered = { address: record.data, untilSecond: asked + (record.ttl ?? 0) };
      return record.data;
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function decoded(packet: Buffer): DecodedPacket | undefined {
  try {
    return decode(packet);
  } catch {
    return undefined; // whoever sent that, it was not the answer
  }
}

/** What a response has to repeat of a client subnet: everything but the scope. */
function clientSubnetOf({ additionals = [] }: DecodedPacket): string | undefined {
  for (const record of additionals) {
    if (record.type !== 'OPT') continue;
    const option = record.options.find(({ code }) => code === CLIENT_SUBNET);
    return option?.data?.toString('hex').replace(/^(.{6})../, '$1');
  }
  return undefined;
}

/**
 * Runs the model of this lesson on a real name server: a stub resolver for each of the rates, which
 * asks on behalf of its group over UDP and remembers by the TTL that it is told. Every other one asks
 * with an IPv6 network.
 *
 * Seconds are counted, not waited for. Within one of them the resolvers are visited in order, and each
 * has its answer before the next one is visited.
 *
 * @param startServer exercise 1.7
 * @param policy of the server; a run moves its memory, if it has one
 * @param options as for `simulate`
 */
export async function runOverUdp(
  startServer: (options: NameServerOptions) => Promise<NameServer>,
  policy: RoutingPolicy,
  options: RunOptions,
): Promise<RunResult> {
  const { ttlSeconds, durationSeconds, resolverRates, failure } = options;
  const { name } = NAME_SERVICE;
  const tally = new Tally(options);
  let second = firstSecond(ttlSeconds);
  await using server = await startServer({
    ...NAME_SERVICE,
    policy,
    ttlSeconds,
    isMarkedDown: (region) => isMarkedDown(failure, region, second),
  });
  const resolvers: StubResolver[] = [];
  try {
    for (const resolver of resolverRates.keys()) {
      const { port } = server;
      const subnet = subnetFor(resolver);
      resolvers.push(await openStubResolver({ port, name, subnet, nowSeconds: () => second }));
    }
    for (; second <= durationSeconds; second += 1) {
      for (let index = 0; index < resolvers.length; index += 1) {
        const resolver = resolvers[index] as StubResolver;
        if (second < firstQuerySecond(index, ttlSeconds)) continue;
        let address = resolver.cached();
        if (address === undefined) {
          address = await resolver.ask();
          tally.query(second);
        }
        tally.requests(second, index, regionAt(address));
      }
    }
  } finally {
    await Promise.all(resolvers.map((resolver) => resolver[Symbol.asyncDispose]()));
  }
  return tally.result();
}

/** A network of the resolver's group. Resolvers of one group take turns between IPv4 and IPv6. */
function subnetFor(resolver: number): string {
  const own = CLIENT_SUBNETS.filter(({ group }) => group === groupOf(resolver));
  const turn = Math.floor(resolver / GROUPS.length) % own.length;
  return (own[turn] as ClientSubnet).subnet;
}

/** The region behind an address; the address itself if there is none, so that an error can name it. */
function regionAt(address: string): Region {
  return REGIONS.get(address) ?? address;
}

const REGIONS: ReadonlyMap<string, Region> = new Map(
  Object.entries(NAME_SERVICE.addresses).map(([region, address]) => [address, region]),
);
