// Lesson 4: static content
//
// A tracking page is one query, which runs code, and twenty files, which never do. All of them are
// asked for at the application's address, and the estimate counted the query only. What is left for
// the application when files get a path of their own? You know what a name and its TTL cost (lesson
// 1) and what an edge can hold (lessons 2 and 3). You leave with a static server that no path climbs
// out of, with the traffic of either layout, and with a plan for it.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import sirv from 'sirv';
import { describe, expect, it } from 'vitest';
import {
  K01,
  SECONDS_PER_DAY,
  T10_EDGES,
  T13_PAGE_ASSETS,
  T14_PAGE_LOADS_PER_USER_PER_DAY,
} from '#fixtures/assumptions.ts';
import { FAILOVER_ROWS } from '#fixtures/failover.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { type Ask, openClient } from '#helpers/lesson/client.ts';
import { attachFigure, bars } from '#helpers/lesson/figure.ts';
import { type HttpServer, listen, startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { rawExchange } from '#helpers/lesson/raw.ts';
import { startRefusing } from '#helpers/lesson/refusing.ts';
import { TodoError } from '#helpers/lesson/todo.ts';
import { eventually, gate, within } from '#helpers/lesson/waiting.ts';
import { ASSETS, type Asset, pageLoadPaths, TRACKING_PATH } from './assets.ts';
import {
  assetTotals,
  assetTraffic,
  chooseNameTtls,
  createSiteProcess,
  layoutTable,
  measurePageLoad,
  originAssetLoad,
  scalingPlan,
} from './exercise.ts';
import {
  BASELINE,
  type Layout,
  type LayoutTable,
  ORIGIN,
  PUBLISHED,
  READS_BEHIND_EDGE_CACHE,
  type SiteRole,
  type Traffic,
} from './given.ts';
import { openSiteFolder, startScriptedSite } from './harness.ts';

const lesson = openLesson(import.meta.url);

const LAYOUTS: readonly Layout[] = ['combined', 'split'];
const BAD_NUMBERS = [-1, NaN, Infinity];

/** Two decimals, as the lesson prints rates. */
const rate = (value: number) => value.toFixed(2);

/** One request of an ordinary client, on a connection of its own. */
const ask = async (port: number, target: string, how: Ask = {}) => {
  using client = openClient(port);
  return await within(client.send(target, how), `an answer to ${target}`);
};

/** One request as it stands, so that no client tidies up its target. */
const askRaw = async (port: number, target: string, { method = 'GET', fields = '' } = {}) => {
  const request = `${method} ${target} HTTP/1.1\r\nHost: site\r\nConnection: close\r\n${fields}\r\n`;
  const { text } = await within(rawExchange(port, request), `an answer to ${target}`);
  const end = text.indexOf('\r\n\r\n');
  return {
    status: Number(text.slice(9, 12)),
    head: text.slice(0, end).toLowerCase(),
    body: text.slice(end + 4),
  };
};

/** Loads one page: the tracking query at one port, the assets at another. Returns the statuses. */
const loadPage = async (application: number, content: number, assets: readonly Asset[]) => {
  using first = openClient(application);
  using second = openClient(content);
  const statuses: number[] = [];
  for (const path of pageLoadPaths(assets)) {
    const client = path === TRACKING_PATH ? first : second;
    statuses.push((await within(client.send(path), `an answer to ${path}`)).status);
  }
  return statuses;
};

const readCounter = async (port: number) => (await ask(port, '/sayac')).body;

describe('Lesson 4: static content', () => {
  it('a client tidies a path up before it asks, so only raw bytes climb out of the folder', async () => {
    await using folder = await openSiteFolder(ASSETS);
    const root = join(folder.path, 'site');
    // How it is done everywhere at first: a file path, built from what somebody sent.
    await using naive = await startHttpServer(async ({ url = '' }, response) => {
      const content = await readFile(join(root, url)).catch(() => undefined);
      response.statusCode = content ? 200 : 404;
      response.end(content);
    });

    // Browsers, fetch and curl parse an address like this, and send what comes out.
    const tidied = new URL('/varlik/../../gizli.txt', naive.url).pathname;
    const throughClient = await ask(naive.port, tidied);
    const raw = await askRaw(naive.port, '/varlik/../../gizli.txt');

    expect(tidied).toBe('/gizli.txt');
    expect(throughClient.status, 'there is none in the folder').toBe(404);
    expect(raw, 'above the folder').toMatchObject({ status: 200, body: 'gizli' });
  });

  it('with real files and a static file library the page load has the published counts', async ({
    annotate,
  }) => {
    await using folder = await openSiteFolder(ASSETS);
    const library = sirv(join(folder.path, 'site'), { etag: true, extensions: [] });
    const startSite = (role: SiteRole): Promise<HttpServer> =>
      startHttpServer((request, response) => {
        if (role.servesTracking && request.url === TRACKING_PATH) {
          response.end('{"takip":"TR900011","durum":"aktarma"}'.padEnd(K01.bodyBytes));
        } else if (role.servesAssets) library(request, response);
        else response.writeHead(404).end();
      });
    await using combined = await startSite({ servesTracking: true, servesAssets: true });
    await using application = await startSite({ servesTracking: true, servesAssets: false });
    await using content = await startSite({ servesTracking: false, servesAssets: true });

    /** What the targets were to a process, as a counter would read. */
    const count = async (server: HttpServer, targets: readonly string[]) => {
      using client = openClient(server.port);
      const counter = { takip: 0, varlik: 0, bayt: 0 };
      for (const target of targets) {
        const { status, body } = await client.send(target);
        if (status !== 200) continue;
        counter[target === TRACKING_PATH ? 'takip' : 'varlik'] += 1;
        counter.bayt += Buffer.byteLength(body);
      }
      return counter;
    };
    const [tracking = '', ...assets] = pageLoadPaths(ASSETS);
    const processes = [
      { name: 'combined\napplication', counter: await count(combined, [tracking, ...assets]) },
      { name: 'split\napplication', counter: await count(application, [tracking]) },
      { name: 'split\ncontent', counter: await count(content, assets) },
    ];
    const enforced = await count(application, assets);

    await attachFigure(annotate, {
      title: 'One page load: the split moves 20 of 21 requests, and loses none',
      facts: processes.map(
        ({ name, counter: { takip, varlik, bayt } }) =>
          `${name.replace('\n', ', ')}: ${takip} tracking, ${varlik} assets, ${bayt} body bytes`,
      ),
      option: () =>
        bars({
          unit: 'requests',
          categories: processes.map(({ name, counter }) => `${name}\n${counter.bayt} bytes`),
          stacked: true,
          series: [
            { name: 'tracking query', values: processes.map(({ counter }) => counter.takip) },
            { name: 'assets', values: processes.map(({ counter }) => counter.varlik) },
          ],
        }),
    });
    expect(processes.map(({ counter }) => counter)).toEqual([
      { takip: 1, varlik: 20, bayt: 216_480 },
      { takip: 1, varlik: 0, bayt: 480 },
      { takip: 0, varlik: 20, bayt: 216_000 },
    ]);
    expect(enforced).toEqual({ takip: 0, varlik: 0, bayt: 0 });
  });

  it('the library keeps to its folder, knows HEAD, tags and ranges, and leaves methods to you', async () => {
    await using folder = await openSiteFolder(ASSETS);
    const library = sirv(join(folder.path, 'site'), { etag: true, extensions: [] });
    await using server = await startHttpServer((request, response) => library(request, response));
    const logo = '/varlik/logo.svg';

    const { headers } = await ask(server.port, logo);
    const etag = String(headers.etag);
    expect(headers).toMatchObject({ 'content-length': '4000', 'content-type': 'image/svg+xml' });
    for (const climb of ['..', '%2e%2e', '..%2f..', '..%5c..', '%c0%ae%c0%ae', '%252e%252e']) {
      const target = `/varlik/${climb}/${climb}/gizli.txt`;
      expect(await askRaw(server.port, target), target).toMatchObject({ status: 404, body: '' });
    }
    expect(await askRaw(server.port, logo, { method: 'HEAD' })).toMatchObject({
      status: 200,
      head: expect.stringContaining('content-length: 4000'),
      body: '',
    });
    const again = await ask(server.port, logo, { headers: { 'if-none-match': etag } });
    expect(again).toMatchObject({ status: 304, body: '' });
    const part = await ask(server.port, logo, { headers: { range: 'bytes=10-19' } });
    expect(part).toMatchObject({ status: 206, body: 'x'.repeat(10) });
    expect(part.headers['content-range']).toBe('bytes 10-19/4000');

    // What it leaves to whoever uses it. The tag is made of size and time: weak, and other files of
    // the same content have another one.
    expect(etag).toMatch(/^W\/"4000-\d+"$/);
    const list = await ask(server.port, logo, { headers: { 'if-none-match': `"a", ${etag}` } });
    expect(list.status).toBe(200);
    expect((await ask(server.port, logo, { method: 'DELETE' })).status).toBe(200);
    expect((await ask(server.port, `${logo}/`)).status).toBe(200);
  });

  describe('Exercise 4.1: what a page is made of', lesson.exercise('4.1'), () => {
    it('a tracking page needs 20 files of 216000 bytes', () => {
      const { count, bytes } = assetTotals(ASSETS);

      expect(count).toBePublished('04.assetsPerPage');
      expect(bytes).toBePublished('04.bytesPerPage');
      expect({ count, totalBytes: bytes }).toEqual(T13_PAGE_ASSETS);
    });

    it('a file of 0 bytes is a file, and an empty page has none', () => {
      expect(assetTotals([{ name: 'a.css', bytes: 0 }])).toEqual({ count: 1, bytes: 0 });
      expect(assetTotals([])).toEqual({ count: 0, bytes: 0 });
    });

    it('files that are equally large are several files', () => {
      const icons = [1, 2, 3].map((i) => ({ name: `${i}.svg`, bytes: 700 }));
      expect(assetTotals(icons)).toEqual({ count: 3, bytes: 2_100 });
    });

    it('two pages together need what each of them needs', () =>
      expectLaw(
        { sizes: fc.array(fc.nat(1e6), { maxLength: 30 }), cut: fc.nat(30) },
        ({ sizes, cut }) => {
          const assets = sizes.map((bytes, i) => ({ name: `${i}.bin`, bytes }));
          const [one, other] = [assetTotals(assets.slice(0, cut)), assetTotals(assets.slice(cut))];
          expect(assetTotals(assets)).toEqual({
            count: one.count + other.count,
            bytes: one.bytes + other.bytes,
          });
        },
      ));

    it('a name that is listed twice is refused, wherever it stands, and named', () => {
      const twice = [...ASSETS, { name: 'bicem.css', bytes: 1 }];
      expectRefusal(() => assetTotals(twice), 'bicem.css', Error);
    });

    it.for([-1, 0.5, NaN, Infinity])(
      'a size of %d bytes is refused, and its file named',
      (bytes) => {
        const assets = [
          { name: 'a.css', bytes: 1 },
          { name: 'b.js', bytes },
        ];
        expectRefusal(() => assetTotals(assets), 'b.js');
      },
    );
  });

  // Predict first: the page is asked for 21 times, once for each of its parts. How many of the
  // requests reach the application, in either layout?
  describe('Exercise 4.2: two roles', lesson.exercise('4.2'), () => {
    const BOTH: SiteRole = { servesTracking: true, servesAssets: true };
    const TRACKING: SiteRole = { servesTracking: true, servesAssets: false };
    const CONTENT: SiteRole = { servesTracking: false, servesAssets: true };
    const LOGO = '/varlik/logo.svg';

    const startSite = (
      role: SiteRole,
      assets: readonly Asset[] = [{ name: 'logo.svg', bytes: 4_000 }],
    ) => listen(createSiteProcess(role, assets));

    describe('roles and counters', () => {
      it('combined, the application handles the whole page load; split, one request of 21', async () => {
        await using both = await startSite(BOTH, ASSETS);
        await using tracking = await startSite(TRACKING);
        await using content = await startSite(CONTENT, ASSETS);

        await loadPage(both.port, both.port, ASSETS);
        const combined = [await readCounter(both.port), await readCounter(content.port)];
        await loadPage(tracking.port, content.port, ASSETS);
        const split = [await readCounter(tracking.port), await readCounter(content.port)];

        expect(combined).toEqual(['1 20 216480', '0 0 0']);
        expect(split).toEqual(['1 0 480', '0 20 216000']);
      });

      it('each asset comes with all of its bytes', async () => {
        await using site = await startSite(CONTENT, ASSETS);
        const bytesOf = async (name: string) => {
          const { status, body, headers } = await ask(site.port, `/varlik/${name}`);
          expect(status, name).toBe(200);
          expect(body, name).toBe('x'.repeat(body.length));
          expect(headers['content-length'], name).toBe(`${body.length}`);
          return body.length;
        };

        expect(await bytesOf('kabuk.html')).toBePublished('04.asset.kabukHtml');
        expect(await bytesOf('bicem.css')).toBePublished('04.asset.bicemCss');
        expect(await bytesOf('uygulama.js')).toBePublished('04.asset.uygulamaJs');
        expect(await bytesOf('yazitipi.woff2')).toBePublished('04.asset.yazitipiWoff2');
        expect(await bytesOf('logo.svg')).toBePublished('04.asset.logoSvg');
        const icons = ASSETS.filter(({ name }) => name.startsWith('simge-'));
        for (const { name } of icons) {
          expect(await bytesOf(name)).toBePublished('04.asset.simgeSvg');
        }
        expect(icons.length).toBePublished('04.asset.simgeCount');
      });

      it('a tracking answer is its JSON and spaces, 480 bytes in all', async () => {
        await using site = await startSite(TRACKING);

        const { status, headers, body } = await ask(site.port, TRACKING_PATH);

        expect(status).toBe(200);
        expect(headers).toMatchObject({
          'content-type': 'application/json',
          'content-length': '480',
        });
        expect(body).toBe(`{"takip":"TR900011","durum":"aktarma"}${' '.repeat(480 - 38)}`);
        expect(Buffer.byteLength(body)).toBePublished('04.baseline.bodyBytes');
      });

      const sets: { row: string; assets: Asset[]; combined: string; split: [string, string] }[] = [
        {
          row: 'V1: files of 100, 200 and 300 bytes',
          assets: [
            { name: 'a.css', bytes: 100 },
            { name: 'b.js', bytes: 200 },
            { name: 'c.svg', bytes: 300 },
          ],
          combined: '1 3 1080',
          split: ['1 0 480', '0 3 600'],
        },
        {
          row: 'V2: five files of 1000 to 5000 bytes',
          assets: [1, 2, 3, 4, 5].map((i) => ({ name: `${i}.bin`, bytes: i * 1_000 })),
          combined: '1 5 15480',
          split: ['1 0 480', '0 5 15000'],
        },
        {
          row: 'V3: one file of 0 bytes',
          assets: [{ name: 'bos.txt', bytes: 0 }],
          combined: '1 1 480',
          split: ['1 0 480', '0 1 0'],
        },
        {
          row: 'V4: no file at all',
          assets: [],
          combined: '1 0 480',
          split: ['1 0 480', '0 0 0'],
        },
      ];
      for (const { row, assets, combined, split } of sets) {
        it(`${row} read '${combined}' combined, '${split.join("' and '")}' split`, async () => {
          await using both = await startSite(BOTH, assets);
          await using tracking = await startSite(TRACKING, assets);
          await using content = await startSite(CONTENT, assets);

          await loadPage(both.port, both.port, assets);
          expect(await readCounter(both.port)).toBe(combined);
          expect(await readCounter(content.port)).toBe('0 0 0');
          await loadPage(tracking.port, content.port, assets);
          expect([await readCounter(tracking.port), await readCounter(content.port)]).toEqual(
            split,
          );
        });
      }

      it("V5: two page loads before a reading are twice the numbers, '2 40 432960'", async () => {
        await using site = await startSite(BOTH, ASSETS);
        await loadPage(site.port, site.port, ASSETS);
        await loadPage(site.port, site.port, ASSETS);
        expect(await readCounter(site.port)).toBe('2 40 432960');
      });

      it('V6: a client that asks the split application for assets gets 404, twenty times', async () => {
        await using tracking = await startSite(TRACKING, ASSETS);

        const [query, ...assets] = await loadPage(tracking.port, tracking.port, ASSETS);

        expect(query).toBe(200);
        expect(assets).toEqual(Array.from({ length: 20 }, () => 404));
        expect(await readCounter(tracking.port)).toBe('1 0 480');
      });

      it('the content process does not answer for tracking', async () => {
        await using content = await startSite(CONTENT);
        expect(await ask(content.port, TRACKING_PATH)).toMatchObject({ status: 404, body: '' });
        expect(await readCounter(content.port)).toBe('0 0 0');
      });

      it('a reading is three numbers as plain text, counts nothing, and starts anew', async () => {
        await using site = await startSite(BOTH, ASSETS);
        await loadPage(site.port, site.port, ASSETS);

        const first = await ask(site.port, '/sayac');
        expect(first).toMatchObject({ status: 200, body: '1 20 216480' });
        expect(first.headers['content-type']).toMatch(/^text\/plain\b/);
        expect(await readCounter(site.port)).toBe('0 0 0');
        await ask(site.port, LOGO);
        await ask(site.port, TRACKING_PATH);
        expect(await readCounter(site.port)).toBe('1 1 4480');
      });

      it('two processes have two counters', async () => {
        await using one = await startSite(BOTH);
        await using other = await startSite(BOTH);
        await ask(one.port, LOGO);
        expect(await readCounter(other.port)).toBe('0 0 0');
        expect(await readCounter(one.port)).toBe('0 1 4000');
      });

      it('a process that is created does not listen until it is told to', () => {
        expect(createSiteProcess(BOTH, ASSETS).listening).toBe(false);
      });

      it('requests that come at the same time are all counted', async () => {
        await using site = await startSite(BOTH);
        using client = openClient(site.port, { sockets: 8 });
        const paths = Array.from({ length: 40 }, (_, i) => (i % 4 ? LOGO : TRACKING_PATH));

        await within(Promise.all(paths.map((path) => client.send(path))), 'forty answers');

        expect(await readCounter(site.port)).toBe(`10 30 ${10 * 480 + 30 * 4_000}`);
      });
    });

    describe('unknown and hostile paths', () => {
      /** Targets that name nothing, each with what somebody hopes for. */
      const nothing: { what: string; targets: string[] }[] = [
        {
          what: 'another path, such as the icon that browsers ask for',
          targets: [
            '/',
            '/favicon.ico',
            '/index.html',
            '/takip',
            '/takip/',
            '/sayac/',
            '/sayac.txt',
          ],
        },
        { what: 'an asset that does not exist', targets: ['/varlik/yok.svg', '/varlik/logo'] },
        {
          what: 'a folder, or an asset as a folder',
          targets: ['/varlik', '/varlik/', '/varlik//', `${LOGO}/`, `${LOGO}/a`],
        },
        {
          what: 'an asset under a name that is only nearly its own',
          targets: [
            '/varlik/LOGO.SVG',
            '/VARLIK/logo.svg',
            `${LOGO}.`,
            `${LOGO}%20`,
            `${LOGO};v=1`,
            `${LOGO}::$DATA`,
            `${LOGO}%3Fv=1`,
            `${LOGO}#a`,
          ],
        },
        {
          what: 'a path with dots, also where tidying it up would lead to an asset',
          targets: [
            '/varlik/..',
            '/varlik/.',
            '/varlik/../package.json',
            '/varlik/../../package.json',
            '/varlik/../lessons/04-static-content/solution.ts',
            `/varlik/${'../'.repeat(12)}etc/passwd`,
            `/varlik/..${LOGO}`,
            '/varlik/./logo.svg',
            '/varlik/a/../logo.svg',
            '/../varlik/logo.svg',
          ],
        },
        {
          what: 'encoded dots, in either case',
          targets: [
            '/varlik/%2e%2e/package.json',
            '/varlik/%2E%2E/package.json',
            '/varlik/.%2e/package.json',
            `/varlik/%2e%2e${LOGO}`,
            '/varlik/%2e/logo.svg',
          ],
        },
        {
          what: 'encoded slashes and backslashes, and slashes too many',
          targets: [
            '/varlik%2flogo.svg',
            '/varlik/..%2fpackage.json',
            '/varlik/..%2F..%2Fpackage.json',
            '/varlik/..%2fvarlik%2flogo.svg',
            '/varlik/%2flogo.svg',
            '/varlik/..%5cpackage.json',
            '/varlik/..\\package.json',
            '/varlik\\logo.svg',
            '/varlik//logo.svg',
            '//varlik/logo.svg',
            '//site/varlik/logo.svg',
          ],
        },
        {
          what: 'what was encoded twice',
          targets: [
            '/varlik/logo%252esvg',
            '/varlik/%252e%252e/package.json',
            '/varlik/%252e%252e%252fpackage.json',
          ],
        },
        {
          what: 'overlong UTF-8 and other bytes that are no text',
          targets: [
            '/varlik/%c0%ae%c0%ae/package.json',
            '/varlik/%c0%ae%c0%ae%c0%afpackage.json',
            '/varlik/logo%c0%aesvg',
            '/varlik/%ff',
            '/varlik/%e0%a4',
          ],
        },
        {
          what: 'a percent sign that encodes nothing',
          targets: [
            '/varlik/%',
            '/varlik/%zz',
            '/varlik/logo%2.svg',
            '/varlik/%u002e',
            '/takip/%',
            '/%',
          ],
        },
        {
          what: 'an encoded null byte',
          targets: [`${LOGO}%00`, `${LOGO}%00.html`, '/varlik/%00', '/varlik/..%00/logo.svg'],
        },
        {
          what: 'a property that every object has',
          targets: ['/varlik/__proto__', '/varlik/constructor', '/varlik/toString'],
        },
        {
          what: 'a target in absolute form that climbs, has no path, or is no http',
          targets: [
            'http://site/varlik/../package.json',
            'http://site/varlik/%2e%2e/package.json',
            'http://site/varlik/../varlik/logo.svg',
            'http://site',
            'http://site?/varlik/logo.svg',
            'http:///etc/passwd',
            'file:///etc/passwd',
            '*',
          ],
        },
      ];
      for (const { what, targets } of nothing) {
        it(`404, and nothing else, for ${what}`, async () => {
          await using site = await startSite(BOTH);

          for (const target of targets) {
            const answer = await askRaw(site.port, target);
            expect(answer, target).toMatchObject({ status: 404, body: '' });
            expect(answer.head, target).toContain('content-length: 0');
          }

          expect(await readCounter(site.port)).toBe('0 0 0');
          expect((await ask(site.port, LOGO)).body.length, 'it still serves').toBe(4_000);
        });
      }

      it('a null byte as it stands reaches no file, and the process stays up', async () => {
        await using site = await startSite(BOTH);

        // Node's own parser refuses it with a 400 before any handler sees it.
        const { status } = await askRaw(site.port, `${LOGO}\0.html`);

        expect(status).toBe(400);
        expect(await readCounter(site.port)).toBe('0 0 0');
      });

      it('whatever is glued together of dangerous parts is 404, or an asset as it is', async () => {
        await using site = await startSite(CONTENT);
        using client = openClient(site.port);
        const part = fc.constantFrom(
          ...[
            '/',
            '//',
            '.',
            '..',
            '\\',
            '%',
            '%2e',
            '%2F',
            '%5c',
            '%00',
            '%25',
            '%c0%ae',
            '?',
            ':',
          ],
          ...['varlik', 'takip', 'logo.svg', 'package.json', 'sayac', 'http://site'],
        );

        await expectLaw({ parts: fc.array(part, { maxLength: 6 }) }, async ({ parts }) => {
          const target = `/varlik/${parts.join('')}`;
          const { status, body } = await within(client.send(target), `an answer to ${target}`);
          expect({ status, body }).toEqual(
            status === 200 ? { status, body: 'x'.repeat(4_000) } : { status: 404, body: '' },
          );
        });
      });

      const odd: { name: string; target: string }[] = [
        { name: 'ku\u015f resmi.svg', target: 'ku%C5%9F%20resmi.svg' },
        { name: 'yuzde%.svg', target: 'yuzde%25.svg' },
        { name: 'a+b.svg', target: 'a+b.svg' }, // a plus is a space in forms only
        { name: 'soru?.svg', target: 'soru%3f.svg' },
        { name: 'nokta.svg', target: 'nokta%2Esvg' },
        { name: '%2e.svg', target: '%252e.svg' },
      ];
      for (const { name, target } of odd) {
        it(`names are decoded once: /varlik/${target} is the file '${name}'`, async () => {
          const others = odd.filter((file) => file.name !== name);
          const assets = [
            ...others.map((file) => ({ name: file.name, bytes: 1 })),
            { name, bytes: 77 },
          ];
          await using site = await startSite(CONTENT, assets);

          expect(await ask(site.port, `/varlik/${target}`)).toMatchObject({
            status: 200,
            body: 'x'.repeat(77),
          });
        });
      }

      it('a query chooses nothing: it is ignored, whatever it says', async () => {
        await using site = await startSite(BOTH);

        for (const query of ['?v=3', '?', '?%zz', '?/../../package.json', '?a?b']) {
          expect((await askRaw(site.port, `${LOGO}${query}`)).body.length, query).toBe(4_000);
        }
        const tracking = await askRaw(site.port, `${TRACKING_PATH}?kaynak=eposta`);
        expect(tracking.body).toContain('{"takip":"TR900011",');
        expect((await askRaw(site.port, '/sayac?simdi')).body).toBe(`1 5 ${480 + 5 * 4_000}`);
      });

      it('a target in absolute form means its path, as a proxy may send it', async () => {
        await using site = await startSite(BOTH);

        const asset = await askRaw(site.port, 'http://site:80/varlik/logo.svg');
        const tracking = await askRaw(site.port, `HTTP://site${TRACKING_PATH}`);

        expect(asset).toMatchObject({ status: 200, body: 'x'.repeat(4_000) });
        expect(tracking.body).toContain('{"takip":"TR900011",');
        expect((await askRaw(site.port, 'http://site/sayac')).body).toBe('1 1 4480');
      });

      it('a tracking number of 450 characters fills the body, one of 451 gets 414', async () => {
        await using site = await startSite(TRACKING);
        const longest = 'T'.repeat(450);

        expect((await ask(site.port, `/takip/${longest}`)).body).toBe(
          `{"takip":"${longest}","durum":"aktarma"}`,
        );
        expect(await ask(site.port, `/takip/${longest}R`)).toMatchObject({ status: 414, body: '' });
        expect(await ask(site.port, `/takip/${'T'.repeat(9_000)}`)).toMatchObject({ status: 414 });
        expect(await readCounter(site.port)).toBe('1 0 480');
      });

      it("a tracking number is one segment, and stays as it is: 'TR%2F1' is not decoded", async () => {
        await using site = await startSite(TRACKING);

        for (const number of ['TR%2F1', "a-._~!$&'()*+,;=:@", '%7B%22', '7']) {
          const { status, body } = await askRaw(site.port, `/takip/${number}`);
          expect({ status, body }, number).toEqual({
            status: 200,
            body: `{"takip":"${number}","durum":"aktarma"}`.padEnd(480),
          });
        }
        for (const number of ['TR1/', 'TR1/2', '/TR1', 'a"b', 'a\\b', '%2', '<b>', '{1}', 'a#b']) {
          const answer = await askRaw(site.port, `/takip/${number}`);
          expect(answer, number).toMatchObject({ status: 404, body: '' });
        }
        expect(await readCounter(site.port)).toBe(`4 0 ${4 * 480}`);
      });
    });

    describe('conditional requests and HEAD', () => {
      /** The headers that do not depend on the moment. */
      const stable = ({ date, ...headers }: Record<string, unknown>) => headers;

      for (const [what, target] of [
        ['an asset', LOGO],
        ['a tracking query', TRACKING_PATH],
        ['the counter', '/sayac'],
        ['an unknown path', '/favicon.ico'],
      ] as const) {
        it(`HEAD of ${what} has status and headers of the GET, and no body`, async () => {
          await using site = await startSite(BOTH);
          using client = openClient(site.port);

          const head = await within(client.send(target, { method: 'HEAD' }), 'an answer to HEAD');
          const get = await within(client.send(target), 'an answer to GET');

          expect(head.body).toBe('');
          expect(head.status).toBe(get.status);
          expect(stable(head.headers)).toEqual(stable(get.headers));
          expect(head.headers['content-length']).toBe(`${get.body.length}`);
        });
      }

      it('HEAD is a request of no bytes, and does not reset the counter', async () => {
        await using site = await startSite(BOTH);

        const head = await askRaw(site.port, LOGO, { method: 'HEAD' });
        await askRaw(site.port, TRACKING_PATH, { method: 'HEAD' });
        await askRaw(site.port, '/sayac', { method: 'HEAD' });

        expect(head).toMatchObject({ status: 200, body: '' });
        expect(await readCounter(site.port)).toBe('1 1 0');
      });

      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
        it(`${method} is answered with 405 and the methods that there are, and counts nothing`, async () => {
          await using site = await startSite(BOTH);
          const targets = [LOGO, TRACKING_PATH, '/sayac', '/favicon.ico'];
          if (method === 'OPTIONS') targets.push('*');

          using client = openClient(site.port);
          await within(client.send(LOGO), 'an answer to GET');
          for (const target of targets) {
            const answer = await within(client.send(target, { method }), `an answer to ${target}`);
            expect(answer, target).toMatchObject({ status: 405, body: '' });
            expect(answer.headers.allow, target).toBe('GET, HEAD');
          }

          expect(await readCounter(site.port)).toBe('0 1 4000');
        });
      }

      it('a body that comes with a refused method is not taken for the next request', async () => {
        await using site = await startSite(BOTH);
        const body = `GET ${LOGO} HTTP/1.1\r\nHost: site\r\n\r\n`;

        const answer = await ask(site.port, LOGO, { method: 'POST', body });

        expect(answer.status).toBe(405);
        expect(await readCounter(site.port)).toBe('0 0 0');
      });

      it('equal content has one strong tag, in every process; other content has another', async () => {
        const assets = [...ASSETS, { name: 'kopya.svg', bytes: 4_000 }];
        await using one = await startSite(BOTH, assets);
        await using other = await startSite(CONTENT, [{ name: 'logo.svg', bytes: 4_000 }]);
        await using changed = await startSite(CONTENT, [{ name: 'logo.svg', bytes: 4_001 }]);
        const tag = async (port: number, path = LOGO) => (await ask(port, path)).headers.etag;

        const etag = await tag(one.port);

        expect(etag).toMatch(/^"[^"]+"$/); // a weak one would begin with W/
        expect(await tag(one.port, '/varlik/kopya.svg')).toBe(etag);
        expect(await tag(other.port)).toBe(etag);
        expect(await tag(changed.port)).not.toBe(etag);
        const tags = new Set<unknown>();
        for (const { name } of ASSETS) tags.add(await tag(one.port, `/varlik/${name}`));
        expect(tags.size, 'the icons are equal, the other five are not').toBe(6);
      });

      const conditions: { what: string; field: (etag: string) => string; status: number }[] = [
        { what: 'the tag', field: (etag) => etag, status: 304 },
        { what: 'the tag, weak', field: (etag) => `W/${etag}`, status: 304 },
        { what: 'a list with the tag', field: (etag) => `"a", ${etag}, "b"`, status: 304 },
        { what: 'a list without spaces', field: (etag) => `"a,b",W/"c",W/${etag}`, status: 304 },
        { what: 'a star', field: () => '*', status: 304 },
        { what: 'another tag', field: () => '"a"', status: 200 },
        { what: 'the tag without quotes', field: (etag) => etag.replaceAll('"', ''), status: 200 },
        { what: 'a longer tag', field: (etag) => etag.replace(/"$/, 'x"'), status: 200 },
        { what: 'a star in quotes', field: () => '"*"', status: 200 },
        { what: 'nothing', field: () => '', status: 200 },
      ];
      for (const { what, field, status } of conditions) {
        it(`if-none-match with ${what} is answered with ${status}`, async () => {
          await using site = await startSite(CONTENT);
          const etag = String((await ask(site.port, LOGO)).headers.etag);
          const fields = `If-None-Match: ${field(etag)}\r\n`;
          await readCounter(site.port);

          const answer = await askRaw(site.port, LOGO, { fields });
          const head = await askRaw(site.port, LOGO, { fields, method: 'HEAD' });

          const body = status === 304 ? '' : 'x'.repeat(4_000);
          expect(answer).toMatchObject({ status, body });
          expect(answer.head).toContain(`\r\netag: ${etag.toLowerCase()}`);
          expect(head).toMatchObject({ status, body: '' });
          expect(await readCounter(site.port)).toBe(`0 2 ${body.length}`);
        });
      }

      it('after a 304 the connection serves on', async () => {
        await using site = await startSite(CONTENT);
        using client = openClient(site.port);
        const send = (headers = {}) => within(client.send(LOGO, { headers }), 'an answer');

        const etag = String((await send()).headers.etag);
        const unchanged = await send({ 'if-none-match': etag });
        const whole = await send();

        expect(unchanged).toMatchObject({ status: 304, body: '' });
        expect(whole.body.length).toBe(4_000);
        expect(client.connections).toBe(1);
      });

      it('a tag makes nothing of what does not exist, or is made anew each time', async () => {
        await using site = await startSite(BOTH);
        const headers = { 'if-none-match': '*' };
        expect((await ask(site.port, '/varlik/yok.svg', { headers })).status).toBe(404);
        expect((await ask(site.port, TRACKING_PATH, { headers })).body.length).toBe(480);
        expect((await ask(site.port, '/sayac', { headers })).body).toBe('1 0 480');
      });

      it('a range is ignored: the whole file comes, and says that it has no parts', async () => {
        await using site = await startSite(CONTENT);
        const ranges = ['bytes=0-9', 'bytes=-5', 'bytes=9999-', 'bytes=0-0,2-3', 'satir=1-2', 'x'];

        for (const range of ranges) {
          const { status, headers, body } = await ask(site.port, LOGO, { headers: { range } });
          expect({ status, length: body.length }, range).toEqual({ status: 200, length: 4_000 });
          expect(headers['accept-ranges'], range).toBe('none');
          expect(headers['content-range'], range).toBeUndefined();
        }

        expect(await readCounter(site.port)).toBe(`0 6 ${6 * 4_000}`);
      });
    });
  });

  describe('Exercise 4.3: measure a page load', lesson.exercise('4.3'), () => {
    /** Lets both sites be asked in either layout, so that only the client's choice makes the split. */
    const measure = (
      layout: Layout,
      sites: { application: { port: number }; content: { port: number } },
      assets: readonly Asset[] = ASSETS,
    ) => {
      const ports = { application: sites.application.port, content: sites.content.port };
      return within(measurePageLoad(layout, ports, assets), `the ${layout} page load`);
    };

    for (const layout of LAYOUTS) {
      it(`${layout}, the published counts come out`, async () => {
        await using application = await startScriptedSite(ASSETS);
        await using content = await startScriptedSite(ASSETS);

        const measured = await measure(layout, { application, content });

        const { applicationRequests } = measured;
        expect(applicationRequests).toBePublished(`04.page.${layout}.applicationRequests`);
        for (const process of ['application', 'content'] as const) {
          const { takip, varlik, bayt } = measured[process];
          expect(takip).toBePublished(`04.page.${layout}.${process}.takip`);
          expect(varlik).toBePublished(`04.page.${layout}.${process}.varlik`);
          expect(bayt).toBePublished(`04.page.${layout}.${process}.bayt`);
        }
      });
    }

    it('of 21 requests 20 move away, whatever the layout returns to the user is the same', async () => {
      await using application = await startScriptedSite(ASSETS);
      await using content = await startScriptedSite(ASSETS);

      const combined = await measure('combined', { application, content });
      const split = await measure('split', { application, content });

      expect(combined.applicationRequests - split.applicationRequests).toBePublished(
        '04.outlook.requestsMovedAway',
      );
      expect(combined.application.bayt).toBe(split.application.bayt + split.content.bayt);
    });

    const sets: { row: string; sizes: number[]; bytes: number }[] = [
      { row: 'V1: 100, 200 and 300 bytes', sizes: [100, 200, 300], bytes: 600 },
      { row: 'V2: 1000 to 5000 bytes', sizes: [1_000, 2_000, 3_000, 4_000, 5_000], bytes: 15_000 },
      { row: 'V3: a file of 0 bytes', sizes: [0], bytes: 0 },
      { row: 'V4: no file', sizes: [], bytes: 0 },
    ];
    for (const { row, sizes, bytes } of sets) {
      it(`${row}: the page load is counted where it was handled`, async () => {
        const assets = sizes.map((size, i) => ({ name: `dosya ${i}.bin`, bytes: size }));
        await using application = await startScriptedSite(assets);
        await using content = await startScriptedSite(assets);
        const sites = { application, content };
        const count = assets.length;

        expect(await measure('combined', sites, assets)).toEqual({
          application: { takip: 1, varlik: count, bayt: 480 + bytes },
          content: { takip: 0, varlik: 0, bayt: 0 },
          applicationRequests: 1 + count,
        });
        expect(await measure('split', sites, assets)).toEqual({
          application: { takip: 1, varlik: 0, bayt: 480 },
          content: { takip: 0, varlik: count, bayt: bytes },
          applicationRequests: 1,
        });
      });
    }

    it('what happened before the measurement is not part of it', async () => {
      await using application = await startScriptedSite(ASSETS);
      await using content = await startScriptedSite(ASSETS);
      await loadPage(application.port, content.port, ASSETS);
      await loadPage(content.port, application.port, ASSETS);

      const split = await measure('split', { application, content });

      expect(split.application).toEqual({ takip: 1, varlik: 0, bayt: 480 });
      expect(split.content).toEqual({ takip: 0, varlik: 20, bayt: 216_000 });
    });

    it('one request after another goes out, the targets in the order of the list', async () => {
      // It stands for both processes, and is slow enough to see who doesn't wait.
      await using site = await startScriptedSite(ASSETS, {
        '/sayac': { after: () => pause(10) },
        [TRACKING_PATH]: { after: () => pause(10) },
        '/varlik/bicem.css': { after: () => pause(10) },
      });

      await measure('split', { application: site, content: site });

      expect(site.targets).toEqual(pageLoadPaths(ASSETS));
      expect(site.mostAtOnce).toBe(1);
    });

    for (const layout of LAYOUTS) {
      it(`${layout}, a missing asset ends the measurement with its name and status`, async () => {
        const script = { '/varlik/simge-7.svg': { status: 404, body: '' } };
        await using application = await startScriptedSite(ASSETS, script);
        await using content = await startScriptedSite(ASSETS, script);

        const measured = () => measure(layout, { application, content });
        await expectRefusal(measured, 'simge-7.svg', Error);
        await expectRefusal(measured, '404', Error);
      });
    }

    it('an asset of which only a part comes was not loaded either', async () => {
      await using site = await startScriptedSite(ASSETS, {
        '/varlik/logo.svg': { status: 206 },
      });
      await expectRefusal(
        () => measure('combined', { application: site, content: site }),
        '206',
        Error,
      );
    });

    it('a tracking query that fails ends it with its path and status, before any asset', async () => {
      await using application = await startScriptedSite(ASSETS, {
        [TRACKING_PATH]: { status: 500, body: 'x' },
      });
      await using content = await startScriptedSite(ASSETS);

      const measured = () => measure('split', { application, content });
      await expectRefusal(measured, TRACKING_PATH, Error);
      await expectRefusal(measured, '500', Error);
      expect(content.targets).toEqual([]);
    });

    it('a counter that is refused, or reads something else, is no measurement', async () => {
      await using good = await startScriptedSite(ASSETS);
      await using refused = await startScriptedSite(ASSETS, {
        '/sayac': { status: 404, body: '' },
      });
      await using odd = await startScriptedSite(ASSETS, { '/sayac': { body: '1 20' } });

      const measured = (application: HttpServer) => () =>
        measure('combined', { application, content: good });
      await expectRefusal(measured(refused), '/sayac', Error);
      await expectRefusal(measured(refused), '404', Error);
      await expectRefusal(measured(odd), '1 20', Error);
    });

    for (const layout of LAYOUTS) {
      for (const closed of ['application', 'content'] as const) {
        it(`${layout}, with nobody at the port of the ${closed} it is refused`, async () => {
          await using site = await startScriptedSite(ASSETS);
          await using nobody = await startRefusing('nobody');
          const sites = { application: site, content: site, [closed]: nobody };

          const error = await measure(layout, sites).then(
            () => undefined,
            (reason: NodeJS.ErrnoException) => reason,
          );

          if (error instanceof TodoError) throw error;
          const cause = error?.cause as NodeJS.ErrnoException | undefined;
          expect([error?.code, cause?.code]).toContain('ECONNREFUSED');
        });
      }
    }

    it('when it ends early no request is under way, not even to the other process', async () => {
      const asked = gate();
      await using application = await startScriptedSite(ASSETS, {
        '/sayac': {
          after: () => {
            asked.open();
            return pause(20);
          },
        },
      });
      // Fails while the application is still busy, if both are asked at once. If this one is asked
      // first, nobody asks the application.
      await using content = await startScriptedSite(ASSETS, {
        '/sayac': { status: 500, after: () => within(asked.opened, 'it', 30).catch(() => {}) },
      });

      await expectRefusal(() => measure('split', { application, content }), '500', Error);

      expect(application.unanswered).toBe(0);
    });

    it('the answer that ends it is not left half-read', async () => {
      const page = 'x'.repeat(4_000_000); // more than fits into the buffers between two sockets
      await using application = await startScriptedSite(ASSETS, {
        '/varlik/bicem.css': { status: 404, body: page },
      });

      await expectRefusal(
        () => measure('combined', { application, content: application }),
        'bicem.css',
        Error,
      );

      expect(
        await eventually(
          () => application.unfinished,
          (open) => open === 0,
        ),
      ).toBe(0);
    });
  });

  // Predict first: the baseline has 513.89 requests/s and 1.60 Mbit/s. By how much is either of them
  // too small?
  describe('Exercise 4.4: the traffic table', lesson.exercise('4.4'), () => {
    const traffic = (change: Record<string, number> = {}) =>
      assetTraffic({ ...PUBLISHED, ...change });
    const tableOf = (change: Record<string, number> = {}) => layoutTable(traffic(change), BASELINE);

    it('two page loads of two million users are 2777.78 asset requests/s and 240.00 Mbit/s', () => {
      const { pageLoadsPerDay, peakPageLoads, peakAssetRequests, assetMbit } = traffic();

      expect(PUBLISHED.users).toBePublished('04.baseline.users');
      expect(PUBLISHED.peakFactor).toBePublished('04.baseline.peakFactor');
      expect(SECONDS_PER_DAY).toBePublished('04.baseline.secondsPerDay');
      expect(T14_PAGE_LOADS_PER_USER_PER_DAY).toBePublished('04.pageLoadsPerUserPerDay');
      expect(pageLoadsPerDay).toBePublished('04.pageLoads.perDay');
      expect(peakPageLoads).toBePublished('04.pageLoads.peak');
      expect(peakAssetRequests).toBePublished('04.peak.assetRequests');
      expect(assetMbit).toBeCloseTo(240, 9);
    });

    it('of six tracking queries four reload a page that is open', () => {
      const { pageLoadsPerDay } = traffic();
      expect(K01.queriesPerUserPerDay).toBePublished('04.baseline.queriesPerUserPerDay');
      expect(K01.queriesPerUserPerDay - pageLoadsPerDay / K01.users).toBePublished(
        '04.reloadsPerUserPerDay',
      );
    });

    it('the table: what the baseline left out is on the application, or beside it', async ({
      annotate,
    }) => {
      const { baseline, combinedApplication, splitApplication, splitContent } = tableOf();

      const rows = [
        { name: 'baseline', application: baseline, content: undefined },
        { name: 'combined', application: combinedApplication, content: undefined },
        { name: 'split', application: splitApplication, content: splitContent },
      ];
      const picture = (unit: string, of: (load: Traffic) => number) => ({
        facts: rows.map(
          ({ name, application, content }) =>
            `${name}: ${rate(of(application))} ${unit} at the application` +
            (content ? `, ${rate(of(content))} at the content process` : ''),
        ),
        option: () =>
          bars({
            unit,
            categories: rows.map(({ name }) => name),
            decimals: 2,
            series: [
              { name: 'application', values: rows.map(({ application }) => of(application)) },
              {
                name: 'content',
                values: rows.map(({ content }) => (content ? of(content) : 0)),
              },
            ],
            stacked: true,
          }),
      });
      await attachFigure(annotate, {
        title: 'Requests at peak: the split divides what the baseline left out',
        ...picture('requests/s', ({ requestsPerSecond }) => requestsPerSecond),
      });
      await attachFigure(annotate, {
        title: 'Bandwidth at peak: next to the files the answers do not show',
        ...picture('Mbit/s', ({ mbit }) => mbit),
      });
      expect(BASELINE.peakRateAtEdge).toBePublished('04.baseline.peakRateAtEdge');
      expect(BASELINE.readEgressMbit).toBePublished('04.baseline.readEgress');
      expect(baseline.requestsPerSecond).toBePublished('04.peak.baseline.requests');
      expect(baseline.mbit).toBePublished('04.peak.baseline.mbit');
      expect(combinedApplication.requestsPerSecond).toBePublished(
        '04.peak.combinedApplication.requests',
      );
      expect(combinedApplication.mbit).toBePublished('04.peak.combinedApplication.mbit');
      expect(splitApplication.requestsPerSecond).toBePublished('04.peak.splitApplication.requests');
      expect(splitApplication.mbit).toBePublished('04.peak.splitApplication.mbit');
      expect(splitContent.requestsPerSecond).toBePublished('04.peak.splitContent.requests');
      expect(splitContent.mbit).toBePublished('04.peak.splitContent.mbit');
    });

    it('the baseline was too small by 6.41 in requests and by 151.0 in bytes', () => {
      const { baseline, combinedApplication } = tableOf();
      const bytes = combinedApplication.mbit / baseline.mbit;

      expect(combinedApplication.requestsPerSecond / baseline.requestsPerSecond).toBePublished(
        '04.ratio.requests',
      );
      expect(bytes).toBePublished('04.ratio.bytes');
      // The part that had been overlooked before, the end-of-day job, was a smaller surprise.
      expect(K01.endOfDayRatio).toBePublished('04.baseline.endOfDayRatio');
      expect(bytes / K01.endOfDayRatio).toBeGreaterThan(40);
    });

    it('with half the page loads it is still more than three times the baseline', () => {
      const pageLoads = 1;
      const halved = traffic({ pageLoadsPerUserPerDay: pageLoads });
      const { combinedApplication } = layoutTable(halved, BASELINE);
      const ratio = combinedApplication.requestsPerSecond / BASELINE.peakRateAtEdge;

      expect(pageLoads).toBePublished('04.sensitivity.onePageLoad.pageLoads');
      expect(halved.peakAssetRequests).toBePublished('04.sensitivity.onePageLoad.assetRequests');
      expect(combinedApplication.requestsPerSecond).toBePublished(
        '04.sensitivity.onePageLoad.total',
      );
      expect(Math.floor(ratio)).toBePublished('04.sensitivity.onePageLoad.ratioLowerBound');
    });

    it("513.89 requests/s are left for the application, and 138.98 behind lesson 2's edge cache", () => {
      const { splitApplication } = tableOf();
      expect(splitApplication.requestsPerSecond).toBePublished(
        '04.outlook.requestsLeftForApplication',
      );

      // Behind it a tenth of the reads is left, but all of the writes. 41.67 here and 41.76 in lesson
      // 2: the edge answers a hair less than nine tenths.
      const reads = splitApplication.requestsPerSecond - K01.peakWrites;
      expect(K01.edgeHitShare).toBePublished('04.outlook.edgeShareOfTrackingAnswers');
      expect(reads * (1 - K01.edgeHitShare)).toBeCloseTo(READS_BEHIND_EDGE_CACHE, 0);
      const behindCache = splitApplication.requestsPerSecond - reads + READS_BEHIND_EDGE_CACHE;
      expect(rate(behindCache)).toBe('138.98');
    });

    it('138.89 page loads/s and 138.89 store requests/s are equal by coincidence', () => {
      expect(rate(traffic().peakPageLoads)).toBe(rate(K01.storeRequests));
      // A user more or less moves one of them only.
      expect(rate(traffic({ users: 2_100_000 }).peakPageLoads)).not.toBe(rate(K01.storeRequests));
    });

    const variations: { row: string; change: Record<string, number>; numbers: string }[] = [
      {
        row: 'S1, one page load a day',
        change: { pageLoadsPerUserPerDay: 1 },
        numbers: '1902.78 121.60 1388.89 120.00 3.70 76.0',
      },
      {
        row: 'S2, four page loads a day',
        change: { pageLoadsPerUserPerDay: 4 },
        numbers: '6069.45 481.60 5555.56 480.00 11.81 301.0',
      },
      {
        row: 'S3, no page load at all',
        change: { pageLoadsPerUserPerDay: 0 },
        numbers: '513.89 1.60 0.00 0.00 1.00 1.0',
      },
      {
        row: 'S4, 35 assets of 500000 bytes',
        change: { assetsPerPage: 35, bytesPerPage: 500_000 },
        numbers: '5375.00 557.16 4861.11 555.56 10.46 348.2',
      },
      {
        row: 'S5, 8 assets of 90000 bytes',
        change: { assetsPerPage: 8, bytesPerPage: 90_000 },
        numbers: '1625.00 101.60 1111.11 100.00 3.16 63.5',
      },
      {
        row: 'S6, a peak factor of 2',
        change: { peakFactor: 2 },
        numbers: '2365.74 161.60 1851.85 160.00 4.60 101.0',
      },
      {
        row: 'S7, five million users',
        change: { users: 5_000_000 },
        numbers: '7458.33 601.60 6944.44 600.00 14.51 376.0',
      },
      {
        row: 'S8, 24 edges',
        change: {}, // they have a part in exercise 4.6 only
        numbers: '3291.67 241.60 2777.78 240.00 6.41 151.0',
      },
    ];
    for (const { row, change, numbers } of variations) {
      it(`${row}: ${numbers}`, () => {
        const { combinedApplication, splitContent } = tableOf(change);
        const { requestsPerSecond, mbit } = combinedApplication;

        expect(
          [
            ...[requestsPerSecond, mbit, splitContent.requestsPerSecond, splitContent.mbit].map(
              rate,
            ),
            rate(requestsPerSecond / BASELINE.peakRateAtEdge),
            (mbit / BASELINE.readEgressMbit).toFixed(1),
          ].join(' '),
        ).toBe(numbers);
      });
    }

    it('whatever the page, a split divides and does not reduce', () =>
      expectLaw(
        {
          assetsPerPage: fc.integer({ min: 0, max: 500 }),
          bytesPerPage: fc.integer({ min: 0, max: 1e7 }),
          pageLoadsPerUserPerDay: fc.double({ min: 0, max: 20, noNaN: true }),
        },
        (page) => {
          const { combinedApplication, splitApplication, splitContent } = tableOf(page);
          for (const unit of ['requestsPerSecond', 'mbit'] as const) {
            expect(splitApplication[unit] + splitContent[unit]).toBeCloseTo(
              combinedApplication[unit],
              6,
            );
          }
        },
      ));

    for (const field of Object.keys(PUBLISHED)) {
      it(`assetTraffic refuses a '${field}' that makes no sense`, () => {
        for (const bad of BAD_NUMBERS) expectRefusal(() => traffic({ [field]: bad }), field);
      });
    }

    it('layoutTable refuses loads that make no sense', () => {
      const good = {
        pageLoadsPerDay: 1,
        peakPageLoads: 1,
        peakAssetRequests: 1,
        assetMbit: 1,
      };
      for (const bad of BAD_NUMBERS) {
        for (const field of ['peakRateAtEdge', 'readEgressMbit']) {
          expectRefusal(() => layoutTable(good, { ...BASELINE, [field]: bad }), field);
        }
        for (const field of ['peakAssetRequests', 'assetMbit']) {
          expectRefusal(() => layoutTable({ ...good, [field]: bad }, BASELINE), field);
        }
      }
    });

    // Predict first: which layout takes fewer processes? And what would have to change for the other
    // one to take fewer?
    describe('which layout to run', () => {
      const PUBLISHED_TABLE: LayoutTable = {
        baseline: { requestsPerSecond: 513.89, mbit: 1.6 },
        combinedApplication: { requestsPerSecond: 3_291.67, mbit: 241.6 },
        splitApplication: { requestsPerSecond: 513.89, mbit: 1.6 },
        splitContent: { requestsPerSecond: 2_777.78, mbit: 240 },
      };
      /** The published table, with some of its rows replaced. */
      const table = (change: Partial<LayoutTable>): LayoutTable => ({
        ...PUBLISHED_TABLE,
        ...change,
      });
      const capacity = (requestsPerSecond: number, mbit: number): Traffic => ({
        requestsPerSecond,
        mbit,
      });

      it('where code is slow and links are wide the split takes 3 processes instead of 9', () => {
        // A process that runs no code is far closer to the ceiling that was measured for a bare one.
        const plan = scalingPlan(PUBLISHED_TABLE, {
          application: capacity(400, 1_000),
          content: capacity(K01.measuredCeiling, 1_000),
        });

        expect(plan).toEqual({
          combined: { processes: 9, binding: 'requests' }, // 3291.67 / 400 = 8.23
          splitApplication: { processes: 2, binding: 'requests' }, // 513.89 / 400 = 1.28
          splitContent: { processes: 1, binding: 'requests' }, // 0.65 against 0.24
          layout: 'split',
        });
      });

      it('where every link is narrow bandwidth binds, and combined takes 13 instead of 14', () => {
        const plan = scalingPlan(PUBLISHED_TABLE, {
          application: capacity(400, 20),
          content: capacity(K01.measuredCeiling, 20),
        });

        expect(plan).toEqual({
          combined: { processes: 13, binding: 'bandwidth' }, // 241.6 / 20 = 12.08
          splitApplication: { processes: 2, binding: 'requests' },
          splitContent: { processes: 12, binding: 'bandwidth' }, // exactly 12
          layout: 'combined',
        });
      });

      it('with equally many processes it is the split, whose kinds can be scaled apart', () => {
        const plan = scalingPlan(PUBLISHED_TABLE, {
          application: capacity(400, 20),
          content: capacity(K01.measuredCeiling, 22), // 10.9, and so 11 + 2 = 13
        });
        expect(plan.combined.processes).toBe(13);
        expect(plan.splitApplication.processes + plan.splitContent.processes).toBe(13);
        expect(plan.layout).toBe('split');
      });

      it('without page loads there is nothing to split, but a name needs somebody who answers', () => {
        const nothing = { requestsPerSecond: 0, mbit: 0 };
        const plan = scalingPlan(
          table({ combinedApplication: PUBLISHED_TABLE.baseline, splitContent: nothing }),
          { application: capacity(400, 1_000), content: capacity(400, 1_000) },
        );
        expect(plan).toEqual({
          combined: { processes: 2, binding: 'requests' },
          splitApplication: { processes: 2, binding: 'requests' },
          splitContent: { processes: 1, binding: 'requests' },
          layout: 'combined',
        });
      });

      it('where both resources ask for equally many it is the requests that bind', () => {
        const load = { requestsPerSecond: 300, mbit: 30 };
        const even = { application: capacity(100, 10), content: capacity(100, 10) };
        const { combined } = scalingPlan(table({ combinedApplication: load }), even);
        expect(combined).toEqual({ processes: 3, binding: 'requests' });

        const more = { ...load, mbit: 30.1 };
        expect(scalingPlan(table({ combinedApplication: more }), even).combined).toEqual({
          processes: 4,
          binding: 'bandwidth',
        });
      });

      it('binary noise takes no extra process, and decides no tie', () => {
        // 0.1 + 0.2 is a hair above 0.3, and 3 x 1.1 a hair above 3.3.
        const noisy = { requestsPerSecond: 3 * 1.1, mbit: 0.1 + 0.2 };
        const one = capacity(1.1, 0.1);
        const { combined } = scalingPlan(table({ combinedApplication: noisy }), {
          application: one,
          content: one,
        });
        expect(noisy.mbit / 0.1).toBeGreaterThan(3);
        expect(combined).toEqual({ processes: 3, binding: 'requests' });
      });

      it('a plan holds both limits, and one process fewer breaks the one that binds', () =>
        expectLaw(
          {
            load: fc.record({
              requestsPerSecond: fc.integer({ min: 1, max: 10_000 }),
              mbit: fc.integer({ min: 1, max: 1_000 }),
            }),
            each: fc.record({
              requestsPerSecond: fc.integer({ min: 1, max: 1_000 }),
              mbit: fc.integer({ min: 1, max: 100 }),
            }),
          },
          ({ load, each }) => {
            const { splitContent } = scalingPlan(table({ splitContent: load }), {
              application: capacity(1, 1),
              content: each,
            });
            const { processes, binding } = splitContent;
            const unit = binding === 'requests' ? 'requestsPerSecond' : 'mbit';
            expect(processes * each.requestsPerSecond).toBeGreaterThanOrEqual(
              load.requestsPerSecond,
            );
            expect(processes * each.mbit).toBeGreaterThanOrEqual(load.mbit);
            if (processes > 1) expect((processes - 1) * each[unit]).toBeLessThan(load[unit]);
          },
        ));

      it('scalingPlan refuses capacities and loads that make no sense', () => {
        const good = capacity(400, 20);
        for (const field of ['requestsPerSecond', 'mbit']) {
          for (const bad of [0, ...BAD_NUMBERS]) {
            const wrong = { ...good, [field]: bad };
            for (const kind of ['application', 'content'] as const) {
              const both = { application: good, content: good, [kind]: wrong };
              expectRefusal(() => scalingPlan(PUBLISHED_TABLE, both), field);
            }
          }
          for (const bad of BAD_NUMBERS) {
            for (const row of [
              'combinedApplication',
              'splitApplication',
              'splitContent',
            ] as const) {
              const wrong = table({ [row]: { ...PUBLISHED_TABLE[row], [field]: bad } });
              expectRefusal(() => scalingPlan(wrong, { application: good, content: good }), field);
            }
          }
        }
      });
    });
  });

  describe('Exercise 4.5: two names, two TTLs', lesson.exercise('4.5'), () => {
    const application = { name: 'uygulama', survivesRegionLoss: false };
    const content = { name: 'icerik', survivesRegionLoss: true };
    const choose = (maxBudgetSharePercent: number, names = [application, content]) =>
      chooseNameTtls(FAILOVER_ROWS, names, { maxBudgetSharePercent });
    const rowOf = (ttlSeconds: number | undefined) =>
      FAILOVER_ROWS.find((row) => row.ttlSeconds === ttlSeconds);

    it('with a limit of 0.50 % the application takes 30 s, and content 900 s', () => {
      const [app, files] = choose(0.5);

      expect([app?.name, files?.name]).toEqual(['uygulama', 'icerik']);
      expect(app?.ttlSeconds).toBePublished('04.lesson1.ttlShort');
      expect(app?.upstreamQueries).toBePublished('04.lesson1.upstreamShort');
      expect(rowOf(app?.ttlSeconds)?.budgetSharePercent).toBePublished(
        '04.lesson1.budgetShareShort',
      );
      expect(files?.ttlSeconds).toBePublished('04.lesson1.ttlLong');
      expect(files?.upstreamQueries).toBePublished('04.lesson1.upstreamLong');
      expect(rowOf(files?.ttlSeconds)?.budgetSharePercent).toBePublished(
        '04.lesson1.budgetShareLong',
      );
    });

    it('without the split content pays what the application has to pay: 30 s and 1600 queries', () => {
      expect(choose(0.5, [{ name: 'site', survivesRegionLoss: false }])).toEqual([
        { name: 'site', ttlSeconds: 30, upstreamQueries: 1_600 },
      ]);
    });

    for (const { limit, ttlSeconds, upstreamQueries } of [
      { limit: 0.71, ttlSeconds: 60, upstreamQueries: 800 },
      { limit: 1, ttlSeconds: 60, upstreamQueries: 800 },
      { limit: 5, ttlSeconds: 300, upstreamQueries: 160 },
      { limit: 14.28, ttlSeconds: 900, upstreamQueries: 64 },
      { limit: Infinity, ttlSeconds: 900, upstreamQueries: 64 },
    ]) {
      it(`with a limit of ${limit} % the application takes ${ttlSeconds} s, and content still 900 s`, () => {
        expect(choose(limit)).toEqual([
          { name: 'uygulama', ttlSeconds, upstreamQueries },
          { name: 'icerik', ttlSeconds: 900, upstreamQueries: 64 },
        ]);
      });
    }

    for (const limit of [0.4, 0]) {
      it(`with a limit of ${limit} % there is no TTL for the application, and one for content`, () => {
        expectRefusal(() => choose(limit), 'uygulama', Error);
        expectRefusal(() => choose(limit), 'no TTL', Error);
        expect(choose(limit, [content])).toEqual([
          { name: 'icerik', ttlSeconds: 900, upstreamQueries: 64 },
        ]);
      });
    }

    it('the choices come in the order of the names', () => {
      expect(choose(0.5, [content, application, content]).map(({ name }) => name)).toEqual([
        'icerik',
        'uygulama',
        'icerik',
      ]);
      expect(choose(0.5, [])).toEqual([]);
    });

    it('without rows there is no TTL for the first name, whichever it is', () => {
      const rule = { maxBudgetSharePercent: 5 };
      for (const names of [
        [content, application],
        [application, content],
      ]) {
        const refused = () => chooseNameTtls([], names, rule);
        expectRefusal(refused, names[0]?.name ?? '', Error);
        expectRefusal(refused, 'no TTL', Error);
      }
      expect(chooseNameTtls([], [], rule)).toEqual([]);
    });

    it('of equally many queries the smaller TTL, whatever the order of the rows', () =>
      expectLaw(
        {
          rows: fc.shuffledSubarray(
            [
              ...FAILOVER_ROWS,
              { ttlSeconds: 45, budgetSharePercent: 0.45, upstreamQueries: 800 },
              { ttlSeconds: 1_200, budgetSharePercent: 20, upstreamQueries: 64 },
            ],
            { minLength: 6 },
          ),
        },
        ({ rows }) => {
          const before = JSON.stringify(rows);
          const chosen = chooseNameTtls(rows, [application, content], { maxBudgetSharePercent: 1 });
          expect(chosen.map(({ ttlSeconds }) => ttlSeconds)).toEqual([45, 900]);
          expect(JSON.stringify(rows), "the caller's rows").toBe(before);
        },
      ));

    it('a limit that is no share is refused', () => {
      for (const bad of [-1, NaN]) expectRefusal(() => choose(bad), 'maxBudgetSharePercent');
    });
  });

  // Predict first: how many asset requests reach the origin in a day, with twelve edges in front?
  describe('Exercise 4.6: what is left for the origin', lesson.exercise('4.6'), () => {
    it('each edge fetches each asset once a day: 240 requests and 2.59 MB', () => {
      const { requestsPerDay, megabytesPerDay } = originAssetLoad(ORIGIN);

      expect(ORIGIN.edges).toBe(T10_EDGES);
      expect(ORIGIN.edges).toBePublished('04.edges');
      expect(requestsPerDay).toBePublished('04.edge.originAssetRequests');
      expect(megabytesPerDay).toBePublished('04.edge.originMegabytes');
    });

    it('with a TTL of 300 s it is 69120 requests and 746.50 MB: 240 takes names that stay valid', () => {
      const { requestsPerDay, megabytesPerDay } = originAssetLoad({
        ...ORIGIN,
        refreshesPerDay: SECONDS_PER_DAY / 300,
      });
      expect(requestsPerDay).toBe(69_120);
      expect(rate(megabytesPerDay)).toBe('746.50');
    });

    it('2.59 MB a day are 0.00024 Mbit/s on average: nothing to hold against a peak rate', () => {
      const { megabytesPerDay } = originAssetLoad(ORIGIN);
      expect(((megabytesPerDay * 8) / SECONDS_PER_DAY).toFixed(5)).toBe('0.00024');
    });

    for (const { row, change, requests, megabytes } of [
      {
        row: 'S4, 35 assets of 500000 bytes',
        change: { assets: 35, bytes: 500_000 },
        requests: 420,
        megabytes: '6.00',
      },
      {
        row: 'S5, 8 assets of 90000 bytes',
        change: { assets: 8, bytes: 90_000 },
        requests: 96,
        megabytes: '1.08',
      },
      { row: 'S8, 24 edges', change: { edges: 24 }, requests: 480, megabytes: '5.18' },
      {
        row: 'one fetch in two days',
        change: { refreshesPerDay: 0.5 },
        requests: 120,
        megabytes: '1.30',
      },
      {
        row: 'files that are never fetched',
        change: { refreshesPerDay: 0 },
        requests: 0,
        megabytes: '0.00',
      },
    ]) {
      it(`${row}: ${requests} requests and ${megabytes} MB a day`, () => {
        const { requestsPerDay, megabytesPerDay } = originAssetLoad({ ...ORIGIN, ...change });
        expect([requestsPerDay, rate(megabytesPerDay)]).toEqual([requests, megabytes]);
      });
    }

    it('every edge and every round costs the same, and nothing else comes into it', () =>
      expectLaw(
        {
          edges: fc.integer({ min: 0, max: 50 }),
          refreshesPerDay: fc.integer({ min: 0, max: 500 }),
        },
        ({ edges, refreshesPerDay }) => {
          // One edge, one round, is the unit; everything is so many of it.
          const one = originAssetLoad({ ...ORIGIN, edges: 1 });
          const all = originAssetLoad({ ...ORIGIN, edges, refreshesPerDay });
          expect(all.requestsPerDay).toBeCloseTo(one.requestsPerDay * edges * refreshesPerDay, 6);
          expect(all.megabytesPerDay).toBeCloseTo(one.megabytesPerDay * edges * refreshesPerDay, 6);
        },
      ));

    for (const field of Object.keys(ORIGIN)) {
      it(`originAssetLoad refuses a '${field}' that makes no sense`, () => {
        for (const bad of BAD_NUMBERS) {
          expectRefusal(() => originAssetLoad({ ...ORIGIN, [field]: bad }), field);
        }
      });
    }
  });
});
