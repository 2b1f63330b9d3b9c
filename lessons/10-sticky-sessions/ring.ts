// The hash and the ring of lesson 8, as a reference, so that this lesson does not depend on yours.

/** FNV-1a with 32 bits, and a short finish that mixes once more. */
export const HASH = {
  /** FNV-1a's 32-bit offset basis. */
  offset: 2_166_136_261,
  /** FNV's 32-bit prime. */
  prime: 16_777_619,
  finalShift1: 15,
  /** Hexadecimal 85EBCA6B. */
  finalMultiplier: 2_246_822_507,
  finalShift2: 13,
} as const;

/** An unsigned 32-bit number from the UTF-16 code units of a text. */
export function hashKey(text: string): number {
  let h = unfinishedHash(text);
  h ^= h >>> HASH.finalShift1;
  h = Math.imul(h, HASH.finalMultiplier);
  h ^= h >>> HASH.finalShift2;
  return h >>> 0; // xor and Math.imul give signed numbers
}

/**
 * The hash before its finish: plain FNV-1a. Names that differ in their last character alone lie so
 * close together that one replica tends to get them all.
 */
export function unfinishedHash(text: string): number {
  let h: number = HASH.offset;
  for (let index = 0; index < text.length; index += 1) {
    h = Math.imul(h ^ text.charCodeAt(index), HASH.prime);
  }
  return h >>> 0;
}

/** One virtual node: a place on the ring, and the replica that owns it. */
export interface Position {
  /** Unsigned 32-bit hash of the label, such as `k3#17`. */
  readonly at: number;
  readonly replica: string;
}

/** A consistent hash ring. */
export interface Ring {
  /** All positions, ascending by `at`. */
  readonly positions: readonly Position[];
  /** The replica that owns a key. */
  lookup(key: string): string;
}

/**
 * Builds a ring with `virtualNodes` positions for each replica, at the hashes of `k3#0`, `k3#1` and
 * so on. A key belongs to the first position at or above its hash, and past the last one to the
 * first. It checks nothing.
 */
export function createRing(replicas: readonly string[], virtualNodes: number): Ring {
  const positions: Position[] = [];
  for (const replica of replicas) {
    for (let v = 0; v < virtualNodes; v += 1) {
      positions.push({ at: hashKey(`${replica}#${v}`), replica });
    }
  }
  positions.sort((a, b) => a.at - b.at);
  return {
    positions,
    lookup(key) {
      const hash = hashKey(key);
      let low = 0;
      let high = positions.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((positions[middle] as Position).at < hash) low = middle + 1;
        else high = middle;
      }
      return (positions[low % positions.length] as Position).replica;
    },
  };
}
