// Which processes there are, and who passes on to whom: rule tables with names in place of ports.

/** One line of a rule table, by name. */
export interface LayoutRule {
  /** Begins with `/`, or is `*`. */
  readonly prefix: string;
  /** Names of forwarders or end processes. They take turns. */
  readonly targets: readonly string[];
}

/** Processes and their rule tables. Nothing goes round in a circle. */
export interface Layout {
  /** Name of the forwarder that clients connect to. */
  readonly entry: string;
  /** The rule table of each forwarder. */
  readonly forwarders: Readonly<Record<string, readonly LayoutRule[]>>;
  /** Names of the processes that answer. */
  readonly ends: readonly string[];
}

/** `k1` to `k<count>`. */
const replicas = (count: number) => Array.from({ length: count }, (_, i) => `k${i + 1}`);

/** Two forwarders: `tv` chooses the component, `yd` the replica. */
export function splitLayout({ copies = 3 } = {}): Layout {
  return {
    entry: 'tv',
    forwarders: {
      tv: [
        { prefix: '/varlik', targets: ['statik'] },
        { prefix: '*', targets: ['yd'] },
      ],
      yd: [{ prefix: '*', targets: replicas(copies) }],
    },
    ends: ['statik', ...replicas(copies)],
  };
}

/** One forwarder that does both. */
export function combinedLayout({ copies = 3, assets = ['statik'] } = {}): Layout {
  return {
    entry: 'tvyd',
    forwarders: {
      tvyd: [
        { prefix: '/varlik', targets: assets },
        { prefix: '*', targets: replicas(copies) },
      ],
    },
    ends: [...assets, ...replicas(copies)],
  };
}

/** The split layout behind one more forwarder, `kapi`. */
export function frontedLayout(): Layout {
  const behind = splitLayout();
  return {
    ...behind,
    entry: 'kapi',
    forwarders: { kapi: [{ prefix: '*', targets: [behind.entry] }], ...behind.forwarders },
  };
}

/** The other order: a balancer `yd` in front of two copies of a forwarder that does both. */
export function reversedLayout(): Layout {
  const { forwarders, ends } = combinedLayout();
  const { tvyd: rules = [] } = forwarders;
  return {
    entry: 'yd',
    forwarders: { yd: [{ prefix: '*', targets: ['tv1', 'tv2'] }], tv1: rules, tv2: rules },
    ends,
  };
}
