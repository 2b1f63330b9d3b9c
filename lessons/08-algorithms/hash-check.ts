import { HASH } from './given.ts';

/** The hash of a text, and what it is on the way. All values are unsigned 32-bit integers. */
export interface HashRow {
  readonly afterStep2: number;
  readonly afterStep3: number;
  readonly afterStep4: number;
  readonly hash: number;
}

const TWO_32 = 2n ** 32n;
const codeUnits = (text: string) =>
  Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));

/**
 * The hash by exact integers of any size: the second way, slow and free of 32-bit tricks.
 *
 * @param units what the text is cut into; UTF-16 code units unless given
 */
export function hashRow(text: string, units: readonly number[] = codeUnits(text)): HashRow {
  let h = BigInt(HASH.offset);
  for (const unit of units) h = ((h ^ BigInt(unit)) * BigInt(HASH.prime)) % TWO_32;
  const afterStep2 = h;
  const afterStep3 = afterStep2 ^ (afterStep2 >> BigInt(HASH.finalShift1));
  const afterStep4 = (afterStep3 * BigInt(HASH.finalMultiplier)) % TWO_32;
  const hash = afterStep4 ^ (afterStep4 >> BigInt(HASH.finalShift2));
  return {
    afterStep2: Number(afterStep2),
    afterStep3: Number(afterStep3),
    afterStep4: Number(afterStep4),
    hash: Number(hash),
  };
}

/** Well-known slips: what each of them makes of a text, and how to put it right. */
const SLIPS: readonly { readonly says: string; readonly hash: (text: string) => number }[] = [
  {
    says: 'the result is signed: make it unsigned before you return it',
    hash: (text) => hashRow(text).hash | 0,
  },
  {
    says: 'the finishing steps 3 to 5 are missing',
    hash: (text) => hashRow(text).afterStep2,
  },
  {
    says: 'the finish stops after step 3',
    hash: (text) => hashRow(text).afterStep3,
  },
  {
    says: 'step 5 is missing',
    hash: (text) => hashRow(text).afterStep4,
  },
  {
    says: 'step 2 multiplies before the xor (that is FNV-1); FNV-1a takes the xor first',
    hash: (text) => finish(fnv(text, (h, unit) => Math.imul(h, HASH.prime) ^ unit)),
  },
  {
    says: 'the products are rounded doubles in both steps: a product of two 32-bit numbers does not fit',
    hash: (text) => finish(fnv(text, inDoubles), (h) => h * HASH.finalMultiplier),
  },
  {
    says: 'the products of step 2 are rounded doubles: a product of two 32-bit numbers does not fit',
    hash: (text) => finish(fnv(text, inDoubles)),
  },
  {
    says: 'the product of step 4 is a rounded double: a product of two 32-bit numbers does not fit',
    hash: (text) => finish(hashRow(text).afterStep2, (h) => h * HASH.finalMultiplier),
  },
  {
    says: 'the shifts of steps 3 and 5 drag the sign along: shift an unsigned value, with >>>',
    hash: (text) => {
      let h = hashRow(text).afterStep2 | 0;
      h ^= h >> HASH.finalShift1;
      h = Math.imul(h, HASH.finalMultiplier);
      return (h ^ (h >> HASH.finalShift2)) >>> 0;
    },
  },
  {
    says: "this is MurmurHash3's full finaliser; the steps 3 to 5 are a shorter one",
    hash: (text) => {
      let h = hashRow(text).afterStep2;
      h ^= h >>> 16;
      h = Math.imul(h, 0x85ebca6b);
      h ^= h >>> 13;
      h = Math.imul(h, 0xc2b2ae35);
      return (h ^ (h >>> 16)) >>> 0;
    },
  },
  {
    says: 'the text was cut into UTF-8 bytes; the recipe wants UTF-16 code units',
    hash: (text) => hashRow(text, [...Buffer.from(text)]).hash,
  },
  {
    says: 'the text was cut into code points; the recipe wants UTF-16 code units',
    hash: (text) =>
      hashRow(
        text,
        [...text].map((point) => point.codePointAt(0) ?? 0),
      ).hash,
  },
];

const inDoubles = (h: number, unit: number) => ((h ^ unit) >>> 0) * HASH.prime;

/** Step 2 with another way to take in one unit. */
function fnv(text: string, take: (h: number, unit: number) => number): number {
  return codeUnits(text).reduce((h, unit) => take(h, unit) >>> 0, HASH.offset as number);
}

/** Steps 3 to 5, with another product in step 4 if one is given. */
function finish(
  afterStep2: number,
  product = (h: number) => Math.imul(h, HASH.finalMultiplier),
): number {
  let h = (afterStep2 ^ (afterStep2 >>> HASH.finalShift1)) >>> 0;
  h = product(h) >>> 0;
  return (h ^ (h >>> HASH.finalShift2)) >>> 0;
}

/**
 * What a student should read when a hash is wrong: the right values on the way, and the name of
 * the slip if the wrong hash is one that a well-known slip produces.
 *
 * @param got what the exercise returned
 */
export function explainHash(text: string, got: unknown): string {
  const { afterStep2, afterStep3, afterStep4, hash } = hashRow(text);
  const slip = SLIPS.find((known) => known.hash(text) === got);
  return (
    `the hash of "${text}" is ${afterStep2} after step 2, ${afterStep3} after step 3, ` +
    `${afterStep4} after step 4 and ${hash} at the end; yours is ${String(got)}` +
    (slip && got !== hash ? `. It looks as if ${slip.says}` : '')
  );
}
