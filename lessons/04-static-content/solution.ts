import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { K01, SECONDS_PER_DAY } from '#fixtures/assumptions.ts';
import type { FailoverRow } from '#fixtures/failover.ts';
import { type HttpClient, openClient } from '#helpers/lesson/client.ts';
import { type Asset, pageLoadPaths } from './assets.ts';
import type {
  AssetTraffic,
  Baseline,
  Counter,
  Layout,
  LayoutTable,
  Need,
  ScalingPlan,
  SiteName,
  SiteRole,
  Traffic,
} from './given.ts';

/**
 * What the files of a page add up to: all that an estimate needs to know about them.
 *
 * @returns how many there are, and their bytes together; 0 and 0 for an empty list
 * @throws {Error} when a name comes twice; the message has the name
 * @throws {RangeError} when a size is negative or not whole; the message has the name of the file
 */
export function assetTotals(assets: readonly Asset[]): { count: number; bytes: number } {
  const names = new Set<string>();
  let total = 0;
  for (const { name, bytes } of assets) {
    if (names.has(name)) throw new Error(`${name} is listed twice`);
    if (!Number.isInteger(bytes) || bytes < 0) {
      throw new RangeError(`${name} has ${bytes} bytes, wanted a whole number of 0 or more`);
    }
    names.add(name);
    total += bytes;
  }
  return { count: names.size, bytes: total };
}

/**
 * One process of the site, as a server that is not listening yet. Its role says what it serves.
 * The files are held in memory: the content of an asset is the letter `x`, as often as it has bytes.
 * Names are unique and not empty.
 *
 * Each server has three counts of its own, all of which start at 0: `takip`, `varlik`, `bayt`.
 *
 * A request is judged in this order. The target is what stands in the request line.
 * 1. A method other than GET and HEAD: 405, `allow: GET, HEAD`, whatever the target.
 * 2. The path is the target up to the first `?`; what follows is ignored. A target in absolute form
 *    (`http://host/path`, RFC 9112, section 3.2.2) means its path. Nothing else about a path is
 *    tidied up: no dots are resolved, no slashes merged, and case matters.
 * 3. `/sayac`: 200, `content-type: text/plain`, body `<takip> <varlik> <bayt>`, three decimal
 *    integers, single spaces, no line end. Then all three are 0. Never counted itself.
 * 4. `/varlik/<name>`, if this process serves assets. `<name>` is one segment, which is
 *    percent-decoded once, and has to be the name of an asset, exactly. `varlik` goes up by 1.
 * 5. `/takip/<no>`, if this process serves tracking. `<no>` is one segment of at least one of the
 *    characters that RFC 3986, section 3.3, allows in one (`pchar`), and is used as it stands,
 *    without decoding. Of more than 450 characters: 414. Otherwise 200,
 *    `content-type: application/json`, and `{"takip":"<no>","durum":"aktarma"}`, padded with
 *    spaces at the end to 480 bytes; `takip` goes up by 1.
 * 6. Everything else: 404.
 * 404, 405 and 414 have an empty body and count nothing.
 *
 * An asset has an `etag`, a strong one that depends on its content and on nothing else: equal
 * content has equal tags in every process, other content has other tags. If `if-none-match` is `*`
 * or lists that tag, weak or strong, the answer is 304 with the `etag` and without a body. Ranges
 * are not served: every asset says `accept-ranges: none`, and a `range` is ignored, as RFC 9110,
 * section 14.2, permits. More headers, such as a content type, are welcome.
 *
 * `bayt` counts the bytes of asset and tracking bodies that are sent, and no header: a 304 and the
 * answer to a HEAD move `takip` or `varlik` and leave `bayt` where it is. HEAD is answered with
 * status and headers of the GET, `content-length` included, and without a body. HEAD of `/sayac`
 * resets nothing.
 *
 * @example const site = createSiteProcess({ servesTracking: true, servesAssets: false }, ASSETS);
 * site.listen(0, '127.0.0.1');
 */
export function createSiteProcess(role: SiteRole, assets: readonly Asset[]): Server {
  // A map and not an object, which would have a `constructor` and a `__proto__` to offer. And not
  // the file system, in which a request could walk about.
  const files = new Map(assets.map(({ name, bytes }) => [name, toFile(bytes)]));
  let counts: Counter = { takip: 0, varlik: 0, bayt: 0 };

  return createServer((request, response) => {
    const isHead = request.method === 'HEAD';
    /** Returns the bytes of body that went out. */
    const answer = (status: number, headers: Record<string, string>, body?: Buffer): number => {
      // Node would leave it out for HEAD, and a 304 has none: 0 would say that the file is empty.
      const length = status === 304 ? {} : { 'content-length': body?.length ?? 0 };
      response.writeHead(status, { ...headers, ...length });
      response.end(isHead ? undefined : body);
      return isHead ? 0 : (body?.length ?? 0);
    };

    if (request.method !== 'GET' && !isHead) {
      answer(405, { allow: 'GET, HEAD' });
      return;
    }
    // Not `new URL()`: it resolves dots, turns backslashes round, and throws at some targets.
    const path = (request.url ?? '').replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*$/s, '');

    if (path === '/sayac') {
      const { takip, varlik, bayt } = counts;
      answer(200, { 'content-type': 'text/plain' }, Buffer.from(`${takip} ${varlik} ${bayt}`));
      if (!isHead) counts = { takip: 0, varlik: 0, bayt: 0 };
      return;
    }

    const file = role.servesAssets ? files.get(decodeOnce(ASSET_PATH.exec(path)?.[1])) : undefined;
    if (file) {
      const headers = { etag: file.etag, 'accept-ranges': 'none' };
      counts.varlik += 1;
      counts.bayt += listsTag(request.headers['if-none-match'], file.etag)
        ? answer(304, headers)
        : answer(200, headers, file.body);
      return;
    }

    const number = role.servesTracking ? TRACKING_PATH.exec(path)?.[1] : undefined;
    if (number === undefined) {
      answer(404, {});
    } else if (number.length > LONGEST_NUMBER) {
      answer(414, {});
    } else {
      counts.takip += 1;
      counts.bayt += answer(200, { 'content-type': 'application/json' }, trackingBody(number));
    }
  });
}

const ASSET_PATH = /^\/varlik\/([^/]+)$/;
/** One segment of `pchar`. None of them needs an escape in JSON, and each is one byte. */
const TRACKING_PATH = /^\/takip\/((?:[\w\-.~!$&'()*+,;=:@]|%[\da-f]{2})+)$/i;
const LONGEST_NUMBER = 450;

function toFile(bytes: number): { body: Buffer; etag: string } {
  const body = Buffer.alloc(bytes, 'x');
  // Time and inode would differ from one process to the next, and a client that was sent to another
  // one would load everything again.
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

/** The empty name where there is none, or where it can't be decoded: no file is called that. */
function decodeOnce(segment = ''): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

function listsTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch?.trim() === '*') return true;
  // Not split at commas, since a tag may contain some. Matching without `W/` is weak comparison.
  return ifNoneMatch?.match(/"[^"]*"/g)?.includes(etag) ?? false;
}

function trackingBody(number: string): Buffer {
  return Buffer.from(`{"takip":"${number}","durum":"aktarma"}`.padEnd(K01.bodyBytes));
}

/**
 * Loads one page, and reads what that was to either process.
 *
 * Reads both counters, which resets them; asks for the targets of `pageLoadPaths(assets)` one after
 * another, in that order; and reads both counters again. The tracking query goes to the
 * application, the assets to whichever process serves them in this layout. No request starts
 * before the one before it has been answered, and none is under way any more when the promise
 * settles.
 *
 * @param ports TCP ports on 127.0.0.1
 * @returns both counters, and what the application handled: tracking queries and assets together
 * @throws {Error} (rejects) when an answer has another status than 200, a reading of a counter
 *   included; the message has target and status
 * @throws {Error} (rejects) when `/sayac` doesn't read three decimal integers; the message has what
 *   came
 * @throws whatever the connection reports, such as ECONNREFUSED (as its `code` or its cause's)
 */
export async function measurePageLoad(
  layout: Layout,
  ports: { application: number; content: number },
  assets: readonly Asset[],
): Promise<{ application: Counter; content: Counter; applicationRequests: number }> {
  using application = openClient(ports.application);
  using content = openClient(ports.content);

  const [trackingPath = '', ...assetPaths] = pageLoadPaths(assets);
  // The layout decides this and nothing else.
  const assetProcess = layout === 'combined' ? application : content;

  await readCounter(application);
  await readCounter(content);
  await load(application, trackingPath);
  for (const path of assetPaths) await load(assetProcess, path);
  const counted = {
    application: await readCounter(application),
    content: await readCounter(content),
  };
  const { takip, varlik } = counted.application;
  return { ...counted, applicationRequests: takip + varlik };
}

async function load(client: HttpClient, path: string): Promise<string> {
  const { status, body } = await client.send(path);
  if (status !== 200) throw new Error(`${path} was answered with ${status}, wanted 200`);
  return body;
}

async function readCounter(client: HttpClient): Promise<Counter> {
  const body = await load(client, '/sayac');
  const [, takip, varlik, bayt] = /^(\d+) (\d+) (\d+)$/.exec(body) ?? [];
  if (!bayt) throw new Error(`/sayac reads ${JSON.stringify(body)}, wanted three integers`);
  return { takip: Number(takip), varlik: Number(varlik), bayt: Number(bayt) };
}

/**
 * What the assets of a page add at the peak. Nothing is rounded; Mbit/s are decimal, 10^6 bits.
 *
 * @param input.users how many there are
 * @param input.pageLoadsPerUserPerDay page loads, all with an empty browser cache
 * @param input.peakFactor busiest hour over the mean of the day
 * @param input.assetsPerPage files that each page load asks for
 * @param input.bytesPerPage bytes of all of them together
 * @throws {RangeError} when an input is negative or not finite; the message names the field
 * @example assetTraffic({ users: 86_400, pageLoadsPerUserPerDay: 1, peakFactor: 2,
 *   assetsPerPage: 5, bytesPerPage: 1_000 }).peakAssetRequests // 10
 */
export function assetTraffic(input: {
  users: number;
  pageLoadsPerUserPerDay: number;
  peakFactor: number;
  assetsPerPage: number;
  bytesPerPage: number;
}): AssetTraffic {
  requireNotNegative(input);
  const { users, pageLoadsPerUserPerDay, peakFactor, assetsPerPage, bytesPerPage } = input;
  const pageLoadsPerDay = users * pageLoadsPerUserPerDay;
  const peakPageLoads = (pageLoadsPerDay / SECONDS_PER_DAY) * peakFactor;
  return {
    pageLoadsPerDay,
    peakPageLoads,
    peakAssetRequests: peakPageLoads * assetsPerPage,
    // The bytes are those of the page, not of each file.
    assetMbit: (peakPageLoads * bytesPerPage * 8) / 1e6,
  };
}

/**
 * Who carries what in either layout. Nothing is rounded.
 *
 * The baseline has the tracking query of every page load in it already: the assets are all that
 * comes on top.
 *
 * @returns four rows: `baseline`, the estimate that leaves the assets out; `combinedApplication`,
 *   which serves everything; `splitApplication`, which serves what the baseline counts; and
 *   `splitContent`, which serves the assets
 * @throws {RangeError} when a field of the baseline, or `peakAssetRequests` or `assetMbit`, is
 *   negative or not finite; the message names it
 */
export function layoutTable(traffic: AssetTraffic, baseline: Baseline): LayoutTable {
  const { peakAssetRequests, assetMbit } = traffic;
  const { peakRateAtEdge, readEgressMbit } = baseline;
  requireNotNegative({ peakAssetRequests, assetMbit, peakRateAtEdge, readEgressMbit });
  const own: Traffic = { requestsPerSecond: peakRateAtEdge, mbit: readEgressMbit };
  return {
    baseline: own,
    combinedApplication: {
      requestsPerSecond: peakRateAtEdge + peakAssetRequests,
      mbit: readEgressMbit + assetMbit,
    },
    splitApplication: { ...own },
    splitContent: { requestsPerSecond: peakAssetRequests, mbit: assetMbit },
  };
}

/**
 * How many processes each layout takes, which resource asks for them, and which layout to run.
 *
 * A process can carry so many requests/s and so many Mbit/s, and has to stay within both. Each
 * resource asks for load over capacity, rounded up; a quotient that is above a whole number by no
 * more than a relative 1e-9 counts as that number. The load takes the larger of the two, and at
 * least 1: somebody has to answer to the name. The resource with the larger quotient is the one
 * that binds; `requests`, unless the quotient of the bandwidth is larger by more than a relative
 * 1e-9.
 *
 * In the combined layout every process runs code, so all of them have the capacity of the
 * application. The layout to run is the one that takes fewer processes in all; with equal numbers
 * it is `split`, whose two kinds can be scaled separately.
 *
 * @param capacity what one process of either kind can carry, everything above 0
 * @throws {RangeError} when a capacity is not above 0 or not finite, or a load of the combined or
 *   the split layout is negative or not finite; the message names the field, such as `mbit`
 * @example // 50 requests/s and 30 Mbit/s over 20 and 10: 3 processes each, and bandwidth binds
 */
export function scalingPlan(
  table: LayoutTable,
  capacity: { application: Traffic; content: Traffic },
): ScalingPlan {
  const combined = processesFor(table.combinedApplication, capacity.application);
  const splitApplication = processesFor(table.splitApplication, capacity.application);
  const splitContent = processesFor(table.splitContent, capacity.content);
  const splitProcesses = splitApplication.processes + splitContent.processes;
  return {
    combined,
    splitApplication,
    splitContent,
    layout: combined.processes < splitProcesses ? 'combined' : 'split',
  };
}

const SLACK = 1e-9;

function processesFor(load: Traffic, capacity: Traffic): Need {
  requireNotNegative({ requestsPerSecond: load.requestsPerSecond, mbit: load.mbit });
  requirePositive({ requestsPerSecond: capacity.requestsPerSecond, mbit: capacity.mbit });
  const requests = load.requestsPerSecond / capacity.requestsPerSecond;
  const bandwidth = load.mbit / capacity.mbit;
  const larger = Math.max(requests, bandwidth);
  return {
    processes: Math.max(1, Math.ceil(larger - larger * SLACK)),
    binding: bandwidth > requests * (1 + SLACK) ? 'bandwidth' : 'requests',
  };
}

/**
 * One TTL for each name, from the failover table of lesson 1.
 *
 * A name that survives the loss of a region takes the row with the fewest upstream queries. Any
 * other name takes the one with the fewest among the rows whose budget share is at most the limit.
 * Of rows with equally many queries the one with the smaller TTL is taken. The order of the rows
 * doesn't matter.
 *
 * @param rule.maxBudgetSharePercent % of the month's outage budget that one loss may use, 0 or more
 * @returns one choice for each name, in the order of the names
 * @throws {Error} when no row is left for a name; the message has the name, and `no TTL`
 * @throws {RangeError} when `maxBudgetSharePercent` is negative or NaN; the message names it
 */
export function chooseNameTtls(
  rows: readonly FailoverRow[],
  names: readonly SiteName[],
  rule: { maxBudgetSharePercent: number },
): { name: string; ttlSeconds: number; upstreamQueries: number }[] {
  const limit = rule.maxBudgetSharePercent;
  if (!(limit >= 0)) throw new RangeError(`maxBudgetSharePercent is ${limit}, wanted 0 or more`);
  return names.map(({ name, survivesRegionLoss }) => {
    // What other edges hold as well isn't out while clients still go to the one that is lost.
    const [best] = rows
      .filter((row) => survivesRegionLoss || row.budgetSharePercent <= limit)
      .sort((a, b) => a.upstreamQueries - b.upstreamQueries || a.ttlSeconds - b.ttlSeconds);
    if (!best)
      throw new Error(`no TTL for ${name}: no row has a budget share of ${limit} % or less`);
    return { name, ttlSeconds: best.ttlSeconds, upstreamQueries: best.upstreamQueries };
  });
}

/**
 * What edges that fetch assets ask of the origin in a day. MB are decimal, 10^6 bytes.
 *
 * @param input.assets files
 * @param input.bytes bytes of all of them together
 * @param input.edges edges
 * @param input.refreshesPerDay how often each edge fetches each asset in a day
 * @throws {RangeError} when an input is negative or not finite; the message names the field
 */
export function originAssetLoad(input: {
  assets: number;
  bytes: number;
  edges: number;
  refreshesPerDay: number;
}): { requestsPerDay: number; megabytesPerDay: number } {
  requireNotNegative(input);
  const rounds = input.edges * input.refreshesPerDay;
  return {
    requestsPerDay: input.assets * rounds,
    megabytesPerDay: (input.bytes * rounds) / 1e6,
  };
}

function requireNotNegative(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`${name} is ${value}, wanted 0 or more`);
    }
  }
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity)) {
      throw new RangeError(`${name} is ${value}, wanted above 0`);
    }
  }
}
