// As much of npm's version ranges as the `engines` of packages are written in.

/** The numbers of `v20.19.0` or `22.13.0-nightly`. */
export function numbersOf(version) {
  const [, major, minor, patch] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0), Number(patch ?? 0)];
}

/**
 * Whether a version is in a range such as `^20.19.0 || >=22.12.0`. A part that can't be read lets
 * every version pass: then somebody else has to complain.
 */
export function satisfies(version, range) {
  return range.split('||').some((part) =>
    part
      // `>= 12` is one comparator.
      .replace(/([<>=^~])\s+/g, '$1')
      .trim()
      .split(/\s+/)
      .every((comparator) => fits(numbersOf(version), comparator)),
  );
}

function fits(version, comparator) {
  const [, operator, text] = /^(>=|<=|>|<|=|\^|~)?v?(\d[\d.x*]*)$/.exec(comparator) ?? [];
  if (text === undefined) return true;
  const given = text.split('.').filter((part) => /^\d+$/.test(part));
  const wanted = numbersOf(given.join('.'));
  const order = compare(version, wanted);
  const same = (count) => given.slice(0, count).every((_, i) => version[i] === wanted[i]);
  switch (operator) {
    case '>=':
      return order >= 0;
    case '>':
      return order > 0 && !(given.length < 3 && same(given.length));
    case '<=':
      return order <= 0 || same(given.length);
    case '<':
      return order < 0;
    case '^':
      return order >= 0 && same(wanted[0] > 0 ? 1 : Math.min(2, given.length));
    case '~':
      return order >= 0 && same(Math.min(2, given.length));
    default:
      return same(given.length);
  }
}

function compare(a, b) {
  for (const i of [0, 1, 2]) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}
