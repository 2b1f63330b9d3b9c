// The files of the tracking page (T13), and what a client asks for when somebody opens it.

/** A static file, as far as traffic is concerned: its content is the letter `x`, `bytes` times. */
export interface Asset {
  /** The last segment of its path, before percent-encoding. */
  readonly name: string;
  readonly bytes: number;
}

/** T13 in detail: shell, style, script, font and icons of the tracking page. */
export const ASSETS: readonly Asset[] = [
  { name: 'kabuk.html', bytes: 6_000 },
  { name: 'bicem.css', bytes: 40_000 },
  { name: 'uygulama.js', bytes: 120_000 },
  { name: 'yazitipi.woff2', bytes: 28_000 },
  { name: 'logo.svg', bytes: 4_000 },
  ...Array.from({ length: 15 }, (_, i) => ({ name: `simge-${i + 1}.svg`, bytes: 1_200 })),
];

/** The tracking query of the page that is loaded. */
export const TRACKING_PATH = '/takip/TR900011';

/**
 * The targets of one page load, in the order in which they are asked for: the tracking query, then
 * the assets sorted by name.
 */
export function pageLoadPaths(assets: readonly Asset[]): string[] {
  const names = assets.map(({ name }) => name).sort();
  return [TRACKING_PATH, ...names.map((name) => `/varlik/${encodeURIComponent(name)}`)];
}
