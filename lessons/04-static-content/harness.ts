import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { K01 } from '#fixtures/assumptions.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import { type Asset, pageLoadPaths, TRACKING_PATH } from './assets.ts';

/** A folder that is removed when it is disposed. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Writes the assets as real files: `site/varlik/<name>` in a new folder, and beside `site` a file
 * that nobody should get, `gizli.txt`.
 */
export async function openSiteFolder(assets: readonly Asset[]): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'traffic-layer-'));
  await mkdir(join(path, 'site', 'varlik'), { recursive: true });
  await writeFile(join(path, 'gizli.txt'), 'gizli');
  const write = ({ name, bytes }: Asset) =>
    writeFile(join(path, 'site', 'varlik', name), 'x'.repeat(bytes));
  await Promise.all(assets.map(write));
  return {
    path,
    // Windows keeps a file that was just read for a moment.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** What is different about one answer of a scripted site. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly body?: string;
  /** What it waits for before it answers. */
  readonly after?: () => Promise<unknown>;
}

/** A site that answers what its script says, and notes what it was asked. */
export interface ScriptedSite extends HttpServer {
  /** Targets in the order in which they came, readings of the counter left out. */
  readonly targets: readonly string[];
  /** Requests of clients that are still connected and have not been answered. */
  readonly unanswered: number;
  /** The most of them at the same time. */
  readonly mostAtOnce: number;
  /** Answers that have not gone out whole, to a client that is still connected. */
  readonly unfinished: number;
}

/**
 * Starts a site for a client to measure. It has a counter as the lesson specifies it, and answers
 * the targets of a page load of these assets; the script changes the answers of single targets.
 */
export async function startScriptedSite(
  assets: readonly Asset[],
  script: Readonly<Record<string, ScriptedAnswer>> = {},
): Promise<ScriptedSite> {
  const sizes = new Map(assets.map((asset) => [pageLoadPaths([asset])[1], asset.bytes]));
  const targets: string[] = [];
  let counts = { takip: 0, varlik: 0, bayt: 0 };
  const waiting = new Set<ServerResponse>();
  let mostAtOnce = 0;
  let unfinished = 0;

  const answerTo = (target: string) => {
    if (target === '/sayac') {
      const body = Object.values(counts).join(' ');
      counts = { takip: 0, varlik: 0, bayt: 0 };
      return { status: 200, body };
    }
    targets.push(target);
    const isTracking = target === TRACKING_PATH;
    const size = isTracking ? K01.bodyBytes : sizes.get(target);
    if (size === undefined) return { status: 404, body: '' };
    counts[isTracking ? 'takip' : 'varlik'] += 1;
    counts.bayt += size;
    return { status: 200, body: 'x'.repeat(size) };
  };

  const server = await startHttpServer(async ({ url = '' }, response) => {
    waiting.add(response);
    mostAtOnce = Math.max(mostAtOnce, waiting.size);
    unfinished += 1;
    response.once('close', () => {
      waiting.delete(response);
      unfinished -= 1;
    });
    const { status, body, after } = { after: undefined, ...answerTo(url), ...script[url] };
    await after?.();
    waiting.delete(response);
    response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
  });
  return Object.defineProperties(server, {
    targets: { value: targets },
    unanswered: { get: () => waiting.size },
    mostAtOnce: { get: () => mostAtOnce },
    unfinished: { get: () => unfinished },
  }) as ScriptedSite;
}
