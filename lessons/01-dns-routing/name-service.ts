// What exercise 1.7 starts from: the zone and its one name, the addresses behind it, where the four
// client groups are at home, and the words of the protocol that dns-packet has no names for.
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { SoaAnswer } from 'dns-packet';
import { type ClientGroup, GROUPS, type Region, type RoutingPolicy, TABLES } from './routing.ts';

/** Response codes (RFC 1035 section 4.1.1; `BADVERS` from RFC 6891 has more than the header's four bits). */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

/** Code of the EDNS option Client Subnet (RFC 7871 section 6). */
export const CLIENT_SUBNET = 8;

/** Bytes of the header, with which every message begins (RFC 1035 section 4.1.1). */
export const HEADER_BYTES = 12;

/** Bytes of a response that every client takes (RFC 1035 section 2.3.4). */
export const MAX_PLAIN_BYTES = 512;

/** Bytes that a server with EDNS should say it takes: they cross most networks in one piece. */
export const EDNS_PAYLOAD_BYTES = 1_232;

/** Largest TTL, in seconds (RFC 2181 section 8). */
export const MAX_TTL_SECONDS = 2 ** 31 - 1;

/** Data of a zone's SOA record: who answers for it, and for how long a "no" may be remembered. */
export interface ZoneAuthority {
  /** Name of the first name server. */
  readonly mname: string;
  /** Mailbox of whoever answers for the zone, with a dot in place of the @. */
  readonly rname: string;
  /** Number of this version of the zone, 0 to 2^32 - 1. */
  readonly serial: number;
  /** Seconds between two looks of a secondary server. */
  readonly refresh: number;
  /** Seconds until it tries again after a look that failed. */
  readonly retry: number;
  /** Seconds until it gives the zone up. */
  readonly expire: number;
  /** Seconds for which a negative answer may be remembered (RFC 2308 section 4). */
  readonly minimum: number;
}

/** A network, and the client group that is at home in it. */
export interface ClientSubnet {
  /** Address and prefix length, such as `192.0.2.0/24` or `2001:db8:1::/48`. */
  readonly subnet: string;
  readonly group: ClientGroup;
}

/** What `startNameServer` needs. */
export interface NameServerOptions {
  /** The zone that the server answers for, such as `kargo.example`. At most 50 characters. */
  readonly zone: string;
  /** The name that has an address: the zone, or one inside it. At most 50 characters. */
  readonly name: string;
  readonly soa: ZoneAuthority;
  /** All regions that the policy may answer. */
  readonly regions: readonly Region[];
  /** IPv4 address of each region. */
  readonly addresses: Readonly<Record<Region, string>>;
  /** Chooses the region of an answer. */
  readonly policy: RoutingPolicy;
  /** Seconds for which an address may be remembered, 0 to 2^31 - 1. */
  readonly ttlSeconds: number;
  /** What health checking says at this moment. Asked anew for each query. */
  readonly isMarkedDown: (region: Region) => boolean;
  /** Where the client groups are at home. No two of the networks overlap. */
  readonly subnets: readonly ClientSubnet[];
  /** The group of a client that is at home in none of `subnets`. */
  readonly fallbackGroup: ClientGroup;
  /** UDP port on 127.0.0.1; any free one unless given. */
  readonly port?: number;
}

/** A running name server. */
export interface NameServer extends AsyncDisposable {
  /** UDP port on 127.0.0.1. */
  readonly port: number;
  /** Closes its socket. Resolves when that is done, also the second time. */
  close(): Promise<void>;
}

/**
 * Where the client groups are at home: networks that RFC 5737 and RFC 3849 keep for documentation,
 * so that nobody's real address is among them.
 *
 * g3 and g4 share what most resolvers take for one network (they send 24 bits of an IPv4 address and
 * no more). That is what the scope of an answer is for.
 */
export const CLIENT_SUBNETS: readonly ClientSubnet[] = [
  { subnet: '192.0.2.0/24', group: 'g1' },
  { subnet: '198.51.100.0/25', group: 'g2' },
  { subnet: '203.0.113.0/25', group: 'g3' },
  { subnet: '203.0.113.128/25', group: 'g4' },
  { subnet: '2001:db8:1::/48', group: 'g1' },
  { subnet: '2001:db8:2::/48', group: 'g2' },
  { subnet: '2001:db8:3::/48', group: 'g3' },
  { subnet: '2001:db8:4::/48', group: 'g4' },
];

/**
 * A group for each of four loopback addresses, to try a server by hand: `dig -b 127.0.0.3` is g3. Linux
 * and Windows have all of 127.0.0.0/8, macOS has 127.0.0.1 alone.
 */
export const LOOPBACK_SUBNETS: readonly ClientSubnet[] = GROUPS.map((group, index) => ({
  subnet: `127.0.0.${index + 1}/32`,
  group,
}));

/** The published service: everything but the policy, the TTL and the health of the regions. */
export const NAME_SERVICE = {
  zone: 'kargo.example',
  name: 'takip.kargo.example',
  soa: {
    mname: 'ns1.kargo.example',
    rname: 'hostmaster.kargo.example',
    serial: 2_024_073_001,
    refresh: 7_200,
    retry: 900,
    expire: 1_209_600,
    minimum: 60,
  },
  regions: TABLES.regions,
  addresses: { b34: '198.51.100.234', b35: '198.51.100.235', b06: '198.51.100.206' },
  subnets: CLIENT_SUBNETS,
  fallbackGroup: 'g1',
} as const satisfies Partial<NameServerOptions>;

/** What `isName` takes, in words. */
export const NAME_RULE = 'up to 50 letters, digits and hyphens in labels, and no dot at the end';

/**
 * Whether a text is a name as the options may have it. It is short enough that no response is longer
 * than 512 bytes, however long the name that was asked for: dns-packet writes every name in full.
 */
export function isName(text: string): boolean {
  return text.length <= 50 && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text);
}

/**
 * The SOA record of a zone, ready to stand in a section of a response. Its TTL is `soa.minimum`: that is
 * how long a resolver may remember the "no" that it comes with (RFC 2308 section 3).
 *
 * @throws {RangeError} naming `zone`, or the field of `soa` that is no name or out of range
 */
export function soaRecord(zone: string, soa: ZoneAuthority): SoaAnswer {
  const { mname, rname, ...numbers } = soa;
  for (const [field, name] of Object.entries({ zone, 'soa.mname': mname, 'soa.rname': rname })) {
    if (!isName(name)) throw new RangeError(`${field} is "${name}", wanted ${NAME_RULE}`);
  }
  for (const [field, value] of Object.entries(numbers)) {
    const max = field === 'serial' ? 2 ** 32 - 1 : MAX_TTL_SECONDS;
    if (!Number.isInteger(value) || value < 0 || value > max) {
      throw new RangeError(`soa.${field} is ${value}, wanted a whole number from 0 to ${max}`);
    }
  }
  return { type: 'SOA', name: zone, class: 'IN', ttl: soa.minimum, data: { ...soa } };
}

/** What the table knows about an address. */
export interface Place {
  readonly group: ClientGroup;
  /** Bits of the network that it lies in: whoever shares them is in the same group. */
  readonly prefixLength: number;
}

/** Looks up in which of some networks an address lies. */
export class SubnetTable {
  readonly #rows: readonly Row[];

  /** @throws {RangeError} naming `subnets`, for what is no network, and for two that overlap */
  constructor(subnets: readonly ClientSubnet[]) {
    this.#rows = subnets.map(({ subnet, group }) => {
      const [text = '', bits = ''] = subnet.split('/');
      const address = parseAddress(text);
      const prefixLength = Number(bits);
      const longest = address?.family === 'ipv4' ? 32 : 128;
      if (!address || !/^\d{1,3}$/.test(bits) || prefixLength > longest) {
        throw new RangeError(
          `subnets has "${subnet}", wanted an address and its prefix length, such as 192.0.2.0/24`,
        );
      }
      const list = new BlockList();
      list.addSubnet(address, prefixLength);
      return { group, prefixLength, address, list };
    });
    for (const [index, row] of this.#rows.entries()) {
      // A cache could not tell whom each of the two answers is for (RFC 7871 section 7.2.1).
      const other = this.#rows.findIndex(
        (later, at) => at > index && (contains(row, later.address) || contains(later, row.address)),
      );
      if (other >= 0) {
        throw new RangeError(
          `subnets has ${subnets[index]?.subnet} and ${subnets[other]?.subnet}, which overlap`,
        );
      }
    }
  }

  /** The place of an address, IPv4 or IPv6, or `undefined` if it lies in none of the networks. */
  find(address: string): Place | undefined {
    const parsed = parseAddress(address);
    const row = parsed && this.#rows.find((candidate) => contains(candidate, parsed));
    return row && { group: row.group, prefixLength: row.prefixLength };
  }
}

interface Row extends Place {
  readonly address: SocketAddress;
  readonly list: BlockList;
}

function parseAddress(address: string): SocketAddress | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return new SocketAddress({ address, family: version === 4 ? 'ipv4' : 'ipv6' });
}

function contains({ address, list }: Row, other: SocketAddress): boolean {
  // Node's versions differ on IPv4 addresses that are written as IPv6 ones; here they are not the same.
  return address.family === other.family && list.check(other);
}
