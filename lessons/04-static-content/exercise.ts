// Lesson 4: your file. Read README.md and static-content.spec.ts beside it, then replace the TODOs.
import type { Server } from 'node:http';
import type { FailoverRow } from '#fixtures/failover.ts';
import { todo } from '#helpers/lesson/todo.ts';
import type { Asset } from './assets.ts';
import type {
  AssetTraffic,
  Baseline,
  Counter,
  Layout,
  LayoutTable,
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
  // TODO 4.1: walk the list once; two sums, and the names that were seen.
  return todo('4.1 assetTotals');
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
  // TODO 4.2: which of the three kinds of request does this process own?
  return todo('4.2 createSiteProcess');
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
  // TODO 4.3: read both counters, load the page, read both again.
  return todo('4.3 measurePageLoad');
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
  // TODO 4.4: which quantity counts loads, and which counts files?
  return todo('4.4 assetTraffic');
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
  // TODO 4.4: assets come on top in one of the rows, and stand alone in another.
  return todo('4.4 layoutTable');
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
  // TODO 4.4: two resources, and the larger quotient decides.
  return todo('4.4 scalingPlan');
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
  // TODO 4.5: first the rows that a name may take, then the best of them.
  return todo('4.5 chooseNameTtls');
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
  // TODO 4.6: what is one round, and how many rounds does a day have?
  return todo('4.6 originAssetLoad');
}
