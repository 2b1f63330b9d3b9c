// Lesson 15: ambassador and sidecar
//
// The edge has three units since lesson 14, and behind it there are three services. Some of them have
// to ask an outside carrier where a shipment is, and the carrier speaks two contracts. Is that work a
// library in each unit, or a process next to it? And what does a service still know of the outside?
// You know how a program in the middle forwards a call (lesson 5). You leave with one that translates,
// that has an answer to everything a carrier may do, and with the bill for the processes.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
//
// These tests take more than a second together. Two processes are started, and deadlines have to pass.
import { readFileSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type nock from 'nock';
import { describe, expect, it } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { type Answer, openClient } from '#helpers/lesson/client.ts';
import { attachFigure, bars } from '#helpers/lesson/figure.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { rawExchange } from '#helpers/lesson/raw.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { withReusedPorts } from '#helpers/lesson/tracking.ts';
import { eventually, gate, within } from '#helpers/lesson/waiting.ts';
import { carrierBody, startCarrier } from './carrier.ts';
import {
  classifyFailure,
  contractsSeen,
  externalPath,
  placementCost,
  startAmbassador,
  toInternal,
} from './exercise.ts';
import {
  type AmbassadorOptions,
  type CallFailure,
  type ContractVersion,
  EDGE_UNITS,
  GATEWAY_PATH,
  LIBRARY,
  MalformedCarrierAnswer,
  PEAK_RATE,
  type Placement,
  type PlacementCost,
  type Runtime,
  SERVICES,
  SHIPMENT,
  type Shipment,
  SIDECAR,
  SOURCE_PORTS,
  STATES,
  UNITS,
  UnknownCarrierState,
} from './given.ts';
import { interceptOutside } from './outside.ts';
import { placementsFigure } from './placement-figure.ts';
import { startCarelessAmbassador } from './processes.ts';
import { askForShipment } from './service.ts';

const lesson = openLesson(import.meta.url);

const VERSIONS = ['v1', 'v2'] as const;
const TRACKING_NO = SHIPMENT.trackingNo;
const NOTHING_HERE = '{"hata":"bulunamadi"}';

/** What the service gets for the published shipment: 95 bytes. */
const INTERNAL =
  '{"takipNo":"TR-4821","durum":"dagitimda","bolge":"35","guncellenme":"2026-03-11T08:24:00.000Z"}';

const bytes = (text: string) => Buffer.byteLength(text);

/** The body of a failure, for the published shipment. */
const failed = (hata: string) => JSON.stringify({ takipNo: TRACKING_NO, hata });

/** What a test looks at of an answer. */
const seen = ({ status, body }: Answer) => ({ status, body });

/** ms that no test waits: what takes that long has failed. */
const GENEROUS_MS = 10_000;
/** ms of an ambassador whose carrier is late for good, and long enough for what comes before that. */
const SHORT_MS = 50;
/** ms for a test that starts a process, on a machine that has other things to do. */
const PROCESS_MS = 15_000;

const start = (
  version: ContractVersion,
  carrier: string | URL,
  rest: Partial<AmbassadorOptions> = {},
) =>
  startAmbassador({
    version,
    carrier: new URL(carrier),
    states: STATES,
    timeoutMs: GENEROUS_MS,
    ...rest,
  });

/** What an ambassador says about its latest outbound call. */
async function counterOf({ port }: { port: number }): Promise<string> {
  using client = openClient(port);
  return (await within(client.send('/sayac'), 'the counter')).body;
}

describe('Lesson 15: ambassador and sidecar', () => {
  it('the carrier tells one fact in two contracts, with 42 and with 86 bytes', async ({
    annotate,
  }) => {
    await using carrier = await startCarrier();
    using client = openClient(carrier.port);

    const { body: v1 } = await client.send('/v1/durum?no=TR-4821');
    const { body: v2 } = await client.send('/v2/status/TR-4821');

    await attachFigure(annotate, {
      title: 'Without an ambassador the service sees two contracts',
      facts: [
        `Under v1 the carrier says ${v1}.`,
        `Under v2 it says the same as ${v2}.`,
        'An ambassador makes one body of 95 bytes out of either.',
      ],
      option: () =>
        bars({
          unit: 'bytes',
          categories: ['v1', 'v2'],
          series: [{ values: [bytes(v1), bytes(v2)] }],
          bounds: [{ name: 'what a service should get', value: bytes(INTERNAL) }],
        }),
    });
    expect(v1).toBePublished('15.call.v1.externalBody');
    expect(v2).toBePublished('15.call.v2.externalBody');
    expect(new Set([v1, v2]).size).toBePublished('15.contracts.external');
    expect(bytes(v2) / bytes(v1)).toBePublished('15.ratio.externalBytes');
    for (const body of [v1, v2]) {
      expect(leaves(JSON.parse(body))).toBePublished('15.sameInformationFields');
    }
  });

  it("the service's only file names no address outside, and nothing of either contract", () => {
    const service = readFileSync(new URL('service.ts', import.meta.url), 'utf8');

    const addresses = service.match(/https?:\/\/|carrier|\.test\b/g) ?? [];
    const words = /\b(?:v1|v2|code|state|zone|region|updatedAt|OFD|out_for_delivery)\b/;
    const toEdit = [service].filter((file) => words.test(file));
    expect(addresses.length).toBePublished('15.service.externalAddresses');
    expect(toEdit.length).toBePublished('15.service.filesEdited');
  });

  it('no published text has a port in it: it is the same on any', () => {
    const texts = [INTERNAL, ...VERSIONS.map((version) => carrierBody(version, SHIPMENT))].join();

    for (const [role, port] of Object.entries(SOURCE_PORTS)) {
      expect(port).toBePublished(`15.port.${role}`);
      expect(texts).not.toContain(String(port));
    }
  });

  // Predict first: the carrier has an outage and answers 500. What does the service hear from an
  // ambassador whose author thought of 200 and "all the rest"?
  it('a careless ambassador calls an outage a missing shipment, and half an answer ends its process', {
    timeout: PROCESS_MS,
  }, async () => {
    await using carrier = await startCarrier();
    await using careless = await startCarelessAmbassador(carrier.url);
    using client = openClient(careless.port);
    const ask = async () => seen(await client.send(`/durum/${TRACKING_NO}`));

    expect(await ask()).toEqual({ status: 200, body: INTERNAL });

    carrier.misbehave((_request, response) => response.writeHead(500).end());
    expect(await ask()).toEqual({ status: 404, body: failed('bulunamadi') });

    carrier.misbehave((_request, response) => response.end('{"code":"HUB","zone":"35","ts":0}'));
    const hole = await ask();
    expect(hole.status).toBe(200);
    expect(Object.keys(JSON.parse(hole.body))).not.toContain('durum');
    expect(bytes(hole.body)).toBe(75); // 95 without `"durum":"dagitimda",`

    carrier.misbehave((_request, response) => response.end('{"code":'));
    await expect(ask()).rejects.toThrow(/ECONNRESET|socket hang up/);
    expect(await careless.ended).toBe(1);
    await expect(ask()).rejects.toThrow('ECONNREFUSED');
  });

  it('an intercepted call is answered inside the process, and afterwards nothing is left of it', async () => {
    const before = [fetch, http.request, http.get, http.ClientRequest];
    {
      using outside = interceptOutside();
      outside.at('http://carrier.test').get('/v1/durum?no=TR-4821').reply(200, 'never sent');

      const answer = await fetch('http://carrier.test/v1/durum?no=TR-4821');

      expect(await answer.text()).toBe('never sent');
      expect(fetch).not.toBe(before[0]);
    }
    expect([fetch, http.request, http.get, http.ClientRequest]).toEqual(before);
  });

  // Predict first: a tracking number is `TR 1&x=2`. What does the carrier see under v1 if the number is
  // pasted into the URL? And `..` under v2?
  describe('Exercise 15.1: one number, two places', lesson.exercise('15.1'), () => {
    for (const version of VERSIONS) {
      it(`${version} has its published path`, () => {
        const path = externalPath(version, TRACKING_NO);

        expect(path).toBePublished(`15.call.${version}.externalPath`);
      });
    }

    it.for([
      ['v1', 'TR-9007', '/v1/durum?no=TR-9007'],
      ['v2', 'TR-9007', '/v2/status/TR-9007'],
      ['v1', 'TR 1&x=2', '/v1/durum?no=TR%201%26x%3D2'], // one parameter, and %20 instead of +
      ['v2', 'TR/1', '/v2/status/TR%2F1'], // one segment
      ['v1', 'TR+1', '/v1/durum?no=TR%2B1'], // a bare + would be read as a blank
      ['v2', 'TR?1#2', '/v2/status/TR%3F1%232'],
      ['v2', '%2e%2e', '/v2/status/%252e%252e'], // encoded again: text, and no step in a path
      ['v2', '../../admin', '/v2/status/..%2F..%2Fadmin'],
      ['v1', 'İ-1', '/v1/durum?no=%C4%B0-1'],
      ['v2', '__proto__', '/v2/status/__proto__'],
      ['v2', '...', '/v2/status/...'], // three dots are a name like any other
    ] as const)('%s and the number %s make the path %s', ([version, trackingNo, path]) => {
      expect(externalPath(version, trackingNo)).toBe(path);
    });

    it('whatever the number, a URL parser finds it where it was put, and nothing else', () =>
      expectLaw(
        { trackingNo: fc.string({ unit: 'grapheme', minLength: 1 }) },
        ({ trackingNo }) => {
          if (trackingNo === '.' || trackingNo === '..') return;
          const v1 = new URL(externalPath('v1', trackingNo), 'http://carrier.test');
          const v2 = new URL(externalPath('v2', trackingNo), 'http://carrier.test');

          expect(v1.pathname).toBe('/v1/durum');
          expect([...v1.searchParams]).toEqual([['no', trackingNo]]);
          expect(v2.pathname.split('/').map(decodeURIComponent)).toEqual([
            '',
            'v2',
            'status',
            trackingNo,
          ]);
          expect(v1.hash + v2.hash + v2.search).toBe('');
        },
        40,
      ));

    for (const version of VERSIONS) {
      it(`${version} refuses numbers that a URL can't carry`, () => {
        for (const trackingNo of ['', '.', '..', '\ud800', 'TR-\udfff']) {
          expectRefusal(() => externalPath(version, trackingNo), 'trackingNo');
        }
      });
    }

    it('there is no third contract', () => {
      for (const version of ['v3', '', 'V1', 'constructor']) {
        expectRefusal(() => externalPath(version as ContractVersion, TRACKING_NO), 'version');
      }
    });
  });

  // Predict first: v1 gives the instant as 1773217440. What does the service read if somebody takes that
  // for milliseconds, and how many bytes does its body have then?
  describe('Exercise 15.2: the translation', lesson.exercise('15.2'), () => {
    const v1 = { code: 'OFD', zone: '35', ts: 1_773_217_440 };
    const v2 = {
      state: 'out_for_delivery',
      region: { code: '35' },
      updatedAt: '2026-03-11T08:24:00Z',
    };
    const translate = (version: ContractVersion, body: unknown, states = STATES) =>
      toInternal(version, TRACKING_NO, body, states);

    describe('one internal contract', () => {
      for (const version of VERSIONS) {
        it(`out of ${version} come four keys in order, as 95 bytes`, () => {
          const text = JSON.stringify(
            translate(version, JSON.parse(carrierBody(version, SHIPMENT))),
          );

          expect(text).toBePublished(`15.call.${version}.internalBody`);
          expect(bytes(text)).toBePublished(`15.call.${version}.internalBytes`);
        });
      }

      const pickedUp = { PUP: 'kabul', picked_up: 'kabul' };
      const inTransit = { HUB: 'aktarma', in_transit: 'aktarma' };
      const rows: [string, Shipment, Record<string, string>, string][] = [
        [
          'S1',
          { ...SHIPMENT, trackingNo: 'TR-9007', region: '34', updatedAt: '2026-03-11T07:02:00Z' },
          {},
          '{"takipNo":"TR-9007","durum":"dagitimda","bolge":"34","guncellenme":"2026-03-11T07:02:00.000Z"}',
        ],
        [
          'S2',
          {
            trackingNo: 'TR-9007',
            code: 'PUP',
            state: 'picked_up',
            region: '34',
            updatedAt: '2026-03-11T07:02:00Z',
          },
          pickedUp,
          '{"takipNo":"TR-9007","durum":"kabul","bolge":"34","guncellenme":"2026-03-11T07:02:00.000Z"}',
        ],
        [
          'S3',
          {
            trackingNo: 'TR-6001',
            code: 'HUB',
            state: 'in_transit',
            region: '41',
            updatedAt: '2026-03-11T11:24:00+03:00',
          },
          inTransit,
          '{"takipNo":"TR-6001","durum":"aktarma","bolge":"41","guncellenme":"2026-03-11T08:24:00.000Z"}',
        ],
        [
          'S4',
          { ...SHIPMENT, region: 'İzmir' },
          {},
          '{"takipNo":"TR-4821","durum":"dagitimda","bolge":"İzmir","guncellenme":"2026-03-11T08:24:00.000Z"}',
        ],
      ];
      for (const [row, shipment, more, text] of rows) {
        it(`${row}: ${shipment.trackingNo} in ${shipment.region} is the same text under both`, () => {
          for (const version of VERSIONS) {
            const body: unknown = JSON.parse(carrierBody(version, shipment));
            const internal = toInternal(version, shipment.trackingNo, body, { ...STATES, ...more });
            expect(JSON.stringify(internal)).toBe(text);
          }
        });
      }

      it('what else a body has is left out, and an empty region is a region', () => {
        const more = { zone: '', eta: 'soon', takipNo: 'TR-0000', durum: 'kabul' };

        expect(translate('v1', { ...v1, ...more })).toEqual({ ...JSON.parse(INTERNAL), bolge: '' });
        expect(translate('v2', { ...v2, eta: 'soon' })).toEqual(JSON.parse(INTERNAL));
      });
    });

    describe('instants', () => {
      it.for([
        ['2026-03-11T08:24:00.250Z', '2026-03-11T08:24:00.000Z'],
        ['2026-03-11T08:24:00.999999Z', '2026-03-11T08:24:00.000Z'],
        ['2026-03-11T11:24:00+03:00', '2026-03-11T08:24:00.000Z'],
        ['2026-03-11T00:54:00-07:30', '2026-03-11T08:24:00.000Z'],
        ['2026-03-10T23:59:59.9-12:00', '2026-03-11T11:59:59.000Z'],
        ['1969-12-31T23:59:59.750Z', '1969-12-31T23:59:59.000Z'], // down, and not towards 0
      ] as const)('v2 with %s says %s', ([updatedAt, text]) => {
        expect(translate('v2', { ...v2, updatedAt }).guncellenme).toBe(text);
      });

      it.for([
        [1_773_217_440.25, '2026-03-11T08:24:00.000Z'],
        [0, '1970-01-01T00:00:00.000Z'],
        [-0.25, '1969-12-31T23:59:59.000Z'],
        [8_640_000_000_000, '+275760-09-13T00:00:00.000Z'], // the last one that a Date holds
      ] as const)('v1 with %d says %s', ([ts, text]) => {
        expect(translate('v1', { ...v1, ts }).guncellenme).toBe(text);
      });

      it('whatever the instant, its fraction and its offset, both contracts give the same text', () =>
        expectLaw(
          {
            seconds: fc.integer({ min: -2_000_000_000, max: 4_000_000_000 }),
            ms: fc.integer({ min: 0, max: 999 }),
            offsetMinutes: fc.integer({ min: -720, max: 840 }),
          },
          ({ seconds, ms, offsetMinutes }) => {
            const local = new Date((seconds + offsetMinutes * 60) * 1_000 + ms).toISOString();
            const [sign, distance] =
              offsetMinutes < 0 ? ['-', -offsetMinutes] : ['+', offsetMinutes];
            const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
            const offset = `${sign}${two(distance / 60)}:${two(distance % 60)}`;

            const fromV1 = translate('v1', { ...v1, ts: seconds });
            const fromV2 = translate('v2', { ...v2, updatedAt: local.replace('Z', offset) });

            expect(fromV2).toEqual(fromV1);
            expect(Date.parse(fromV1.guncellenme)).toBe(seconds * 1_000);
          },
        ));

      it.for([
        'yesterday',
        '',
        '2026-03-11', // a date alone
        '2026-03-11T08:24Z', // no seconds
        '2026-03-11T08:24:00', // whose time?
        'March 11, 2026',
        '2026-03-11 08:24:00Z',
        '2026-13-11T08:24:00Z',
        '2026-03-11T08:61:00Z',
        '2026-03-11T08:24:00.Z',
        '2026-03-11T08:24:00+0300',
        ' 2026-03-11T08:24:00Z',
        '2026-03-11T08:24:00Z\n',
        '1773217440',
      ])('v2 with the instant %j is malformed, whatever Date.parse makes of it', (updatedAt) => {
        expectRefusal(() => translate('v2', { ...v2, updatedAt }), '', MalformedCarrierAnswer);
      });

      it.for([
        ['text', '1773217440'],
        ['not a number', Number.NaN],
        ['infinite', JSON.parse('1e999')],
        ['a second too late for a Date', 8_640_000_000_001],
        ['a second too early for a Date', -8_640_000_000_001],
        ['nothing', null],
      ] as const)('v1 with an instant that is %s is malformed', ([, ts]) => {
        expectRefusal(() => translate('v1', { ...v1, ts }), '', MalformedCarrierAnswer);
      });
    });

    describe('bodies', () => {
      const hidden = (body: object) => JSON.parse(`{"__proto__":${JSON.stringify(body)}}`);
      const without = (body: object, name: string) =>
        Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

      for (const [version, body] of [
        ['v1', v1],
        ['v2', v2],
      ] as const) {
        it(`${version}: what isn't an object is malformed`, () => {
          for (const other of [null, undefined, [], [body], 'OFD', 42, true]) {
            expectRefusal(() => translate(version, other), '', MalformedCarrierAnswer);
          }
        });

        for (const name of Object.keys(body)) {
          it(`${version}: without ${name}, or with one of the wrong type, it is malformed`, () => {
            for (const value of [undefined, null, true, ['35'], name === 'ts' ? '35' : 35]) {
              const wrong = { ...body, [name]: value };
              expectRefusal(() => translate(version, wrong), '', MalformedCarrierAnswer);
            }
            expectRefusal(
              () => translate(version, without(body, name)),
              '',
              MalformedCarrierAnswer,
            );
          });
        }

        it(`${version}: fields that are inherited are not there`, () => {
          expectRefusal(() => translate(version, hidden(body)), '', MalformedCarrierAnswer);
          expectRefusal(() => translate(version, Object.create(body)), '', MalformedCarrierAnswer);
        });
      }

      it('v2: a region is an object with a code, and not the code itself', () => {
        for (const region of [{}, { code: 35 }, { code: null }, [], '35', hidden({ code: '35' })]) {
          expectRefusal(() => translate('v2', { ...v2, region }), '', MalformedCarrierAnswer);
        }
      });

      it("one contract's body is malformed under the other", () => {
        expectRefusal(() => translate('v1', v2), '', MalformedCarrierAnswer);
        expectRefusal(() => translate('v2', v1), '', MalformedCarrierAnswer);
      });

      it('there are two contracts to translate, whatever the body', () => {
        for (const version of ['v3', '', 'toString']) {
          expectRefusal(() => translate(version as ContractVersion, v1), 'version');
          expectRefusal(() => translate(version as ContractVersion, null), 'version');
        }
      });
    });

    describe('states', () => {
      it.for([
        'HUB',
        '',
        'ofd',
        'dagitimda',
        'constructor',
        '__proto__',
        'toString',
        'hasOwnProperty',
      ])('the state %j is unknown, and the error says which it was', (state) => {
        const calls = [
          () => translate('v1', { ...v1, code: state }),
          () => translate('v2', { ...v2, state }),
        ];

        for (const call of calls) {
          expectRefusal(call, state, UnknownCarrierState as never);
          expect(call).toThrow(expect.objectContaining({ state }));
        }
      });

      it('a table may have such a name as its own, or inherit nothing at all', () => {
        const named = JSON.parse('{"__proto__":"kabul","constructor":"aktarma"}');
        const bare = Object.assign(Object.create(null), { OFD: 'dagitimda' });

        expect(translate('v1', { ...v1, code: '__proto__' }, named).durum).toBe('kabul');
        expect(translate('v1', { ...v1, code: 'constructor' }, named).durum).toBe('aktarma');
        expect(translate('v1', v1, bare).durum).toBe('dagitimda');
      });

      it('a body that is malformed and has an unknown state is malformed', () => {
        const bodies = [
          ['v1', { code: 'HUB', zone: '35' }],
          ['v1', { code: 'HUB', zone: 35, ts: 0 }],
          ['v1', { code: 'HUB', zone: '35', ts: 8_640_000_000_001 }],
          ['v2', { ...v2, state: 'in_transit', region: {} }],
          ['v2', { ...v2, state: 'in_transit', updatedAt: '2026-03-11' }],
        ] as const;
        for (const [version, body] of bodies) {
          expectRefusal(() => translate(version, body), '', MalformedCarrierAnswer);
        }
      });
    });
  });

  // Predict first: in how many ways can an outbound call go wrong? How many different answers does a
  // service need for them?
  describe('Exercise 15.3: an answer for every failure', lesson.exercise('15.3'), () => {
    const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
    const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

    const rows: [string, CallFailure, number, string, number][] = [
      ['status 404', { at: 'status', status: 404 }, 404, 'bulunamadi', 41],
      ...[500, 502, 503, 504, 100, 201, 204, 301, 302, 304, 400, 401, 403, 410, 429].map(
        (status): [string, CallFailure, number, string, number] => [
          `status ${status}`,
          { at: 'status', status },
          502,
          'tasiyici-hatasi',
          46,
        ],
      ),
      ["fetch's deadline", { at: 'call', error: timeout }, 504, 'zaman-asimi', 42],
      [
        "node:http's deadline",
        {
          at: 'call',
          error: Object.assign(new Error('The operation was aborted', { cause: timeout }), {
            name: 'AbortError',
            code: 'ABORT_ERR',
          }),
        },
        504,
        'zaman-asimi',
        42,
      ],
      [
        'a deadline two causes down',
        { at: 'call', error: fetchFailed(new Error('body', { cause: timeout })) },
        504,
        'zaman-asimi',
        42,
      ],
      [
        'a refusal of node:http',
        { at: 'call', error: coded('ECONNREFUSED') },
        502,
        'ulasilamadi',
        42,
      ],
      [
        'a refusal of fetch',
        { at: 'call', error: fetchFailed(coded('ECONNREFUSED')) },
        502,
        'ulasilamadi',
        42,
      ],
      ['a reset', { at: 'call', error: coded('ECONNRESET') }, 502, 'ulasilamadi', 42],
      [
        'the end of a connection inside a body',
        { at: 'call', error: new TypeError('terminated', { cause: coded('UND_ERR_SOCKET') }) },
        502,
        'ulasilamadi',
        42,
      ],
      [
        'bytes that are not HTTP',
        { at: 'call', error: coded('HPE_INVALID_CONSTANT') },
        502,
        'ulasilamadi',
        42,
      ],
      [
        'a name that nobody knows',
        { at: 'call', error: coded('ENOTFOUND') },
        502,
        'ulasilamadi',
        42,
      ],
      [
        "the system's own ETIMEDOUT",
        { at: 'call', error: fetchFailed(coded('ETIMEDOUT', 'connect ETIMEDOUT: timeout')) },
        502,
        'ulasilamadi',
        42,
      ],
      [
        'an abort that nobody has explained',
        { at: 'call', error: new DOMException('This operation was aborted', 'AbortError') },
        502,
        'ulasilamadi',
        42,
      ],
      ['undefined, thrown', { at: 'call', error: undefined }, 502, 'ulasilamadi', 42],
      ['null, thrown', { at: 'call', error: null }, 502, 'ulasilamadi', 42],
      [
        'the text TimeoutError, thrown',
        { at: 'call', error: 'TimeoutError' },
        502,
        'ulasilamadi',
        42,
      ],
      [
        'JSON that ends early',
        { at: 'body', error: new SyntaxError('JSON') },
        502,
        'bozuk-yanit',
        42,
      ],
      [
        'a malformed body',
        { at: 'body', error: new MalformedCarrierAnswer('ts is missing') },
        502,
        'bozuk-yanit',
        42,
      ],
      [
        'a translation that stumbles',
        { at: 'body', error: new TypeError('Cannot read properties of null') },
        502,
        'bozuk-yanit',
        42,
      ],
      [
        'an unknown state',
        { at: 'body', error: new UnknownCarrierState('HUB') },
        502,
        'bilinmeyen-durum',
        47,
      ],
    ];
    for (const [what, failure, status, hata, size] of rows) {
      it(`${what} is ${status} ${hata}, in ${size} bytes`, () => {
        const answer = classifyFailure(TRACKING_NO, failure);

        expect(answer).toEqual({ status, body: failed(hata) });
        expect(bytes(answer.body)).toBe(size);
      });
    }

    it('what a deadline is depends on where it is seen: it is no deadline of the body', () => {
      const answer = classifyFailure(TRACKING_NO, { at: 'body', error: timeout });

      expect(answer).toEqual({ status: 502, body: failed('bozuk-yanit') });
    });

    it('a chain of causes that leads back to itself comes to an end', () => {
      const first = new Error('first');
      const second = new Error('second', { cause: first });
      first.cause = second;

      expect(classifyFailure(TRACKING_NO, { at: 'call', error: second }).status).toBe(502);
    });

    it('the number in the answer is the one that was asked for, as JSON', () => {
      for (const trackingNo of ['TR-0001', 'TR "1"', '__proto__', 'İ/1', '\\']) {
        const { body } = classifyFailure(trackingNo, { at: 'status', status: 404 });

        expect(body).toBe(`{"takipNo":${JSON.stringify(trackingNo)},"hata":"bulunamadi"}`);
      }
    });

    it('whatever is thrown, there is an answer, and it is no 200', () =>
      expectLaw({ error: fc.anything(), inCall: fc.boolean() }, ({ error, inCall }) => {
        const answer = classifyFailure('TR-1', { at: inCall ? 'call' : 'body', error });

        expect(answer).toEqual({
          status: 502,
          body: `{"takipNo":"TR-1","hata":"${inCall ? 'ulasilamadi' : 'bozuk-yanit'}"}`,
        });
      }));

    it('a 200 is no failure', () => {
      expectRefusal(() => classifyFailure(TRACKING_NO, { at: 'status', status: 200 }), 'status');
    });
  });

  // Predict first: the service asks both ambassadors for the same shipment. What is different in the two
  // answers?
  describe('Exercise 15.4: the ambassador', lesson.exercise('15.4'), () => {
    describe('two contracts, one answer', () => {
      it('two ambassadors side by side give the service one text of 95 bytes', async ({
        annotate,
      }) => {
        await using carrier = await startCarrier();
        await using first = await start('v1', carrier.url);
        await using second = await start('v2', carrier.url);

        const calls = [];
        for (const [version, ambassador] of [
          ['v1', first],
          ['v2', second],
        ] as const) {
          using client = openClient(ambassador.port);
          const path = `/durum/${TRACKING_NO}`;
          const { status, body, headers } = await within(client.send(path), `${version}'s answer`);
          const counter = JSON.parse(await counterOf(ambassador));
          calls.push({ version, path, status, type: headers['content-type'], body, counter });
        }

        const outbound = calls.map(({ counter }) => Number(counter.bayt));
        const inbound = calls.map(({ body }) => bytes(body));
        await attachFigure(annotate, {
          title: 'Two external contracts end in one internal text',
          facts: calls.map(
            ({ version, body }, index) =>
              `${version}: ${outbound[index]} bytes come from the carrier, ${inbound[index]} go to the service: ${body}.`,
          ),
          option: () =>
            bars({
              unit: 'bytes',
              categories: ['ambassador for v1', 'ambassador for v2'],
              series: [
                { name: 'from the carrier', values: outbound },
                { name: 'to the service', values: inbound },
              ],
            }),
        });
        for (const { version, path, status, type, body, counter } of calls) {
          expect(status).toBe(200);
          expect(type).toBe('application/json');
          expect(path).toBePublished(`15.call.${version}.servicePath`);
          expect(body).toBePublished(`15.call.${version}.internalBody`);
          expect(bytes(body)).toBePublished(`15.call.${version}.internalBytes`);
          expect(counter.surum).toBe(version);
          expect(counter.yol).toBePublished(`15.call.${version}.externalPath`);
          expect(counter.bayt).toBePublished(`15.call.${version}.externalBytes`);
        }
        expect(new Set(calls.map(({ body }) => body)).size).toBePublished('15.contracts.internal');
        expect(carrier.targets).toEqual(['/v1/durum?no=TR-4821', '/v2/status/TR-4821']);
      });

      const more = { PUP: 'kabul', picked_up: 'kabul', HUB: 'aktarma', in_transit: 'aktarma' };
      const rows: [string, Partial<Shipment>, number, number, number][] = [
        [
          'S1',
          { trackingNo: 'TR-9007', region: '34', updatedAt: '2026-03-11T07:02:00Z' },
          42,
          86,
          95,
        ],
        ['S2', { trackingNo: 'TR-9007', code: 'PUP', state: 'picked_up' }, 42, 79, 91],
        [
          'S3',
          {
            trackingNo: 'TR-6001',
            code: 'HUB',
            state: 'in_transit',
            region: '41',
            updatedAt: '2026-03-11T11:24:00+03:00',
          },
          42,
          85,
          93,
        ],
        ['S4', { region: 'İzmir' }, 46, 90, 99],
      ];
      for (const [row, change, v1Bytes, v2Bytes, internalBytes] of rows) {
        it(`${row}: ${v1Bytes} and ${v2Bytes} bytes outside, ${internalBytes} inside, one contract`, async () => {
          const shipment = { ...SHIPMENT, ...change };
          await using carrier = await startCarrier({ shipments: [shipment] });
          const states = { ...STATES, ...more };
          await using first = await start('v1', carrier.url, { states });
          await using second = await start('v2', carrier.url, { states });

          const bodies = [];
          for (const ambassador of [first, second]) {
            const { status, body } = await askForShipment(ambassador.port, shipment.trackingNo);
            expect(status).toBe(200);
            bodies.push(body);
          }

          expect(bodies.map(bytes)).toEqual([internalBytes, internalBytes]);
          expect(new Set(bodies).size).toBe(1);
          expect(JSON.parse(await counterOf(first)).bayt).toBe(v1Bytes);
          expect(JSON.parse(await counterOf(second)).bayt).toBe(v2Bytes);
        });
      }

      it('S5: an unknown number is 404 with 41 bytes under both, and the carrier said 21', async () => {
        await using carrier = await startCarrier();
        for (const version of VERSIONS) {
          await using ambassador = await start(version, carrier.url);

          const answer = await askForShipment(ambassador.port, 'TR-0001');

          expect(seen(answer)).toEqual({
            status: 404,
            body: '{"takipNo":"TR-0001","hata":"bulunamadi"}',
          });
          expect(answer.headers['content-type']).toBe('application/json');
          expect(bytes(answer.body)).toBe(41);
          expect(JSON.parse(await counterOf(ambassador)).bayt).toBe(21);
        }
      });

      it('questions under way at the same time keep their own answers', async () => {
        const shipments = [SHIPMENT, { ...SHIPMENT, trackingNo: 'TR-9007', region: '34' }];
        await using carrier = await startCarrier({ shipments });
        const second = gate();
        carrier.misbehave(async ({ url }, response) => {
          const [shipment = SHIPMENT] = shipments.filter((one) => url?.endsWith(one.trackingNo));
          // The first one to be asked for is answered last.
          if (shipment === SHIPMENT) await second.opened;
          response.end(carrierBody('v1', shipment));
        });
        await using ambassador = await start('v1', carrier.url);

        const first = askForShipment(ambassador.port, TRACKING_NO);
        await eventually(
          () => carrier.targets.length,
          (count) => count === 1,
        );
        const other = await askForShipment(ambassador.port, 'TR-9007');
        second.open();

        expect(JSON.parse(other.body)).toMatchObject({ takipNo: 'TR-9007', bolge: '34' });
        expect((await first).body).toBe(INTERNAL);
      });
    });

    describe('paths', () => {
      it('the number is decoded once on the way in, and encoded again on the way out', async () => {
        await using carrier = await startCarrier();
        await using first = await start('v1', carrier.url);
        await using second = await start('v2', carrier.url);
        const numbers = [
          'TR 1&x=2',
          'TR/1',
          '%41',
          '__proto__',
          'constructor',
          'TR"1',
          'TR+1',
          'İ',
        ];

        for (const trackingNo of numbers) {
          for (const { port } of [first, second]) {
            const { status, body } = await askForShipment(port, trackingNo);
            expect({ status, ...JSON.parse(body) }).toEqual({
              status: 404,
              takipNo: trackingNo,
              hata: 'bulunamadi',
            });
          }
        }

        expect(carrier.targets).toEqual(
          numbers
            .map(encodeURIComponent)
            .flatMap((no) => [`/v1/durum?no=${no}`, `/v2/status/${no}`]),
        );
      });

      it('a query behind the number is not part of it, and is not passed on', async () => {
        await using carrier = await startCarrier();
        await using ambassador = await start('v2', carrier.url);
        using client = openClient(ambassador.port);

        const { body } = await client.send('/durum/TR-4821?debug=1&no=TR-0001');

        expect(body).toBe(INTERNAL);
        expect(carrier.targets).toEqual(['/v2/status/TR-4821']);
      });

      it('a carrier is its origin: a path in its address is not part of a call', async () => {
        await using carrier = await startCarrier();
        await using ambassador = await start('v1', `${carrier.url}/old/api?x=1`);

        expect((await askForShipment(ambassador.port, TRACKING_NO)).body).toBe(INTERNAL);
      });

      it.for([
        ['GET', '/'],
        ['GET', '/durum'],
        ['GET', '/durum/'],
        ['GET', '/durum/?no=TR-4821'],
        ['GET', '/durum/TR-4821/'],
        ['GET', '/durum/TR-4821/rota'],
        ['GET', '/durum//TR-4821'],
        ['GET', '/x/durum/TR-4821'],
        ['GET', '/DURUM/TR-4821'],
        ['GET', '/durum/%'],
        ['GET', '/durum/%zz'],
        ['GET', '/durum/%ff'], // no UTF-8
        ['GET', '/durum/.'],
        ['GET', '/durum/..'],
        ['GET', '/durum/%2e%2E'],
        ['GET', '//durum/TR-4821'],
        ['GET', '/sayac/x'],
        ['GET', '/__proto__'],
        ['POST', '/durum/TR-4821'],
        ['DELETE', '/durum/TR-4821'],
        ['POST', '/sayac'],
      ] as const)(
        '%s %s is 404 with 21 bytes, and nobody outside is asked',
        async ([method, path]) => {
          await using carrier = await startCarrier();
          await using ambassador = await start('v1', carrier.url);

          const { text } = await rawExchange(
            ambassador.port,
            `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
            { signal: AbortSignal.timeout(1_500) },
          );

          expect(text).toMatch(/^HTTP\/1\.1 404 /);
          expect(text.toLowerCase()).toContain('content-type: application/json');
          expect(text).toContain(NOTHING_HERE);
          expect(carrier.targets).toEqual([]);
        },
      );
    });

    describe('the counter', () => {
      it('before the first call it has 33 bytes, and nobody outside is asked for it', async () => {
        await using carrier = await startCarrier();
        await using ambassador = await start('v1', carrier.url);
        using client = openClient(ambassador.port);

        const { status, body, headers } = await client.send('/sayac');

        expect(status).toBe(200);
        expect(headers['content-type']).toBe('application/json');
        expect(body).toBe('{"surum":"v1","yol":"-","bayt":0}');
        expect(bytes(body)).toBe(33);
        expect(carrier.targets).toEqual([]);
      });

      it('it is about the latest call that was complete, whatever its status, and reading changes nothing', async () => {
        await using carrier = await startCarrier();
        await using ambassador = await start('v1', carrier.url);
        const counterAfter = async (trackingNo: string, handler?: RequestListener) => {
          carrier.misbehave(handler);
          await askForShipment(ambassador.port, trackingNo);
          await counterOf(ambassador);
          return JSON.parse(await counterOf(ambassador));
        };

        const tr4821 = { surum: 'v1', yol: '/v1/durum?no=TR-4821', bayt: 42 };
        expect(await counterAfter(TRACKING_NO)).toEqual(tr4821);
        expect(
          await counterAfter('TR-1', (_request, response) => response.writeHead(500).end('İzmir')),
        ).toEqual({
          surum: 'v1',
          yol: '/v1/durum?no=TR-1',
          bayt: 6, // bytes, and not characters
        });
        expect(
          await counterAfter('TR-2', (_request, response) => response.writeHead(503).end()),
        ).toEqual({
          surum: 'v1',
          yol: '/v1/durum?no=TR-2',
          bayt: 0,
        });
        expect(
          await counterAfter('TR-3', (_request, response) => response.end('{"code":')),
        ).toMatchObject({
          bayt: 8,
        });
        expect(await counterAfter(TRACKING_NO)).toEqual(tr4821);
        expect(await counterAfter('TR-4', (request) => request.socket.destroy())).toEqual(tr4821);
      });
    });

    describe('a carrier that fails, inside the process', () => {
      const V1_TARGET = '/v1/durum?no=TR-4821';
      const V2_TARGET = '/v2/status/TR-4821';
      const json = { 'content-type': 'application/json' };
      const code = (name: string) => Object.assign(new Error(name), { code: name });

      type Reply = (call: nock.Interceptor) => nock.Scope;
      type Row = [
        what: string,
        version: ContractVersion,
        reply: Reply,
        status: number,
        hata: string,
      ];
      const says =
        (body: string, status = 200): Reply =>
        (call) =>
          call.reply(status, body, json);
      const rows: Row[] = [
        ['a 500', 'v1', says('', 500), 502, 'tasiyici-hatasi'],
        ['a 503 with a page', 'v2', says('<h1>busy</h1>', 503), 502, 'tasiyici-hatasi'],
        [
          'a 500 around a good body',
          'v1',
          says(carrierBody('v1', SHIPMENT), 500),
          502,
          'tasiyici-hatasi',
        ],
        ['a 404 around half a body', 'v2', says('{"err', 404), 404, 'bulunamadi'],
        ['a 410', 'v2', says('{"error":"gone"}', 410), 502, 'tasiyici-hatasi'],
        ['a 204', 'v1', (call) => call.reply(204), 502, 'tasiyici-hatasi'],
        ['JSON that ends early', 'v1', says('{"code":'), 502, 'bozuk-yanit'],
        ['an empty body', 'v2', says(''), 502, 'bozuk-yanit'],
        ['a page instead of JSON', 'v1', says('<html></html>'), 502, 'bozuk-yanit'],
        ['an array', 'v1', says('[]'), 502, 'bozuk-yanit'],
        ['null', 'v2', says('null'), 502, 'bozuk-yanit'],
        ['no zone', 'v1', says('{"code":"OFD","ts":1773217440}'), 502, 'bozuk-yanit'],
        ['no ts', 'v1', says('{"code":"OFD","zone":"35"}'), 502, 'bozuk-yanit'],
        [
          'a ts in quotes',
          'v1',
          says('{"code":"OFD","zone":"35","ts":"1773217440"}'),
          502,
          'bozuk-yanit',
        ],
        [
          'a ts without end',
          'v1',
          says('{"code":"OFD","zone":"35","ts":1e999}'),
          502,
          'bozuk-yanit',
        ],
        [
          'fields below __proto__',
          'v1',
          says('{"__proto__":{"code":"OFD","zone":"35","ts":1773217440}}'),
          502,
          'bozuk-yanit',
        ],
        [
          'a region of null',
          'v2',
          says('{"state":"out_for_delivery","region":null,"updatedAt":"2026-03-11T08:24:00Z"}'),
          502,
          'bozuk-yanit',
        ],
        [
          'an instant without an offset',
          'v2',
          says(
            '{"state":"out_for_delivery","region":{"code":"35"},"updatedAt":"2026-03-11T08:24:00"}',
          ),
          502,
          'bozuk-yanit',
        ],
        [
          'an unknown state',
          'v1',
          says('{"code":"HUB","zone":"35","ts":0}'),
          502,
          'bilinmeyen-durum',
        ],
        [
          'a state called constructor',
          'v1',
          says('{"code":"constructor","zone":"35","ts":0}'),
          502,
          'bilinmeyen-durum',
        ],
        [
          'a state called __proto__',
          'v2',
          says('{"state":"__proto__","region":{"code":"35"},"updatedAt":"2026-03-11T08:24:00Z"}'),
          502,
          'bilinmeyen-durum',
        ],
        [
          'an unknown state without a zone',
          'v1',
          says('{"code":"HUB","ts":0}'),
          502,
          'bozuk-yanit',
        ],
        [
          'a refusal',
          'v1',
          (call) => call.replyWithError(code('ECONNREFUSED')),
          502,
          'ulasilamadi',
        ],
        ['a reset', 'v2', (call) => call.replyWithError(code('ECONNRESET')), 502, 'ulasilamadi'],
        [
          'a name that nobody knows',
          'v1',
          (call) => call.replyWithError(code('ENOTFOUND')),
          502,
          'ulasilamadi',
        ],
      ];
      const target = (version: ContractVersion) => (version === 'v1' ? V1_TARGET : V2_TARGET);

      for (const [what, version, reply, status, hata] of rows) {
        it(`${what} (${version}) is ${status} ${hata}`, async () => {
          using outside = interceptOutside();
          await using ambassador = await start(version, outside.carrier);
          const call = reply(outside.at(outside.carrier.origin).get(target(version)));

          const answer = await askForShipment(ambassador.port, TRACKING_NO);

          expect(seen(answer)).toEqual({ status, body: failed(hata) });
          expect(call.isDone(), 'the carrier was asked').toBe(true);
          expect(answer.headers['content-type']).toBe('application/json');
        });
      }

      it.for(['head', 'body'] as const)(
        'a %s that does not come in time is 504 zaman-asimi',
        async (part) => {
          using outside = interceptOutside();
          await using ambassador = await start('v1', outside.carrier, { timeoutMs: SHORT_MS });
          outside
            .at(outside.carrier.origin)
            .get(V1_TARGET)
            .delay({ [part]: 60_000 })
            .reply(200, carrierBody('v1', SHIPMENT), json);

          const answer = await askForShipment(ambassador.port, TRACKING_NO);

          expect(seen(answer)).toEqual({ status: 504, body: failed('zaman-asimi') });
          expect(await counterOf(ambassador)).toBe('{"surum":"v1","yol":"-","bayt":0}');
        },
      );

      it('a 302 is 502 tasiyici-hatasi, and nobody goes where it points', async () => {
        using outside = interceptOutside();
        await using ambassador = await start('v1', outside.carrier);
        outside
          .at(outside.carrier.origin)
          .get(V1_TARGET)
          .reply(302, '', { location: 'http://elsewhere.test/v1/durum?no=TR-4821' });
        const elsewhere = outside.at('http://elsewhere.test');
        elsewhere.get(V1_TARGET).reply(200, carrierBody('v1', SHIPMENT), json);

        const answer = await askForShipment(ambassador.port, TRACKING_NO);

        expect(seen(answer)).toEqual({ status: 502, body: failed('tasiyici-hatasi') });
        expect(elsewhere.isDone(), 'elsewhere.test was called').toBe(false);
      });

      it('after all of that the same ambassador answers TR-4821 with 95 bytes', async () => {
        using outside = interceptOutside();
        const carrier = outside.at(outside.carrier.origin);
        const own = rows.filter(([, version]) => version === 'v1');
        await using ambassador = await start('v1', outside.carrier);

        const statuses = [];
        for (const [, , reply] of own) {
          reply(carrier.get(V1_TARGET));
          statuses.push((await askForShipment(ambassador.port, TRACKING_NO)).status);
        }
        carrier.get(V1_TARGET).reply(200, carrierBody('v1', SHIPMENT), json);
        const answer = await askForShipment(ambassador.port, TRACKING_NO);

        expect(statuses).toEqual(own.map(([, , , status]) => status));
        expect(seen(answer)).toEqual({ status: 200, body: INTERNAL });
      });

      it('a fraction of a second that only v2 tells is not told to the service', async () => {
        using outside = interceptOutside();
        await using ambassador = await start('v2', outside.carrier);
        const body = carrierBody('v2', { ...SHIPMENT, updatedAt: '2026-03-11T11:24:00.250+03:00' });
        says(body)(outside.at(outside.carrier.origin).get(V2_TARGET));

        expect((await askForShipment(ambassador.port, TRACKING_NO)).body).toBe(INTERNAL);
      });
    });

    describe('a carrier that fails, on sockets', () => {
      it('a carrier that has stopped is 502 ulasilamadi; once it is back, so is the answer', () =>
        withReusedPorts(async () => {
          await using carrier = await startCarrier();
          await using ambassador = await start('v1', carrier.url);
          const ask = async () => seen(await askForShipment(ambassador.port, TRACKING_NO));

          expect(await ask()).toEqual({ status: 200, body: INTERNAL });
          await carrier.close();
          for (let again = 0; again < 3; again += 1) {
            expect(await ask()).toEqual({ status: 502, body: failed('ulasilamadi') });
          }
          await using _back = await startCarrier({ port: carrier.port });
          expect(await ask()).toEqual({ status: 200, body: INTERNAL });
        }));

      const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
      const rows: [string, (socket: Socket) => void, string][] = [
        [
          'an end in the middle of a body',
          (socket) => socket.end(`${ok}content-length: 42\r\n\r\n{"code":`),
          'ulasilamadi',
        ],
        [
          'an end in the middle of a chunked body',
          (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\n2a\r\n{"code":`),
          'ulasilamadi',
        ],
        [
          'an end in the middle of a chunked body that looks complete',
          (socket) =>
            socket.end(
              `${ok}transfer-encoding: chunked\r\n\r\n2a\r\n${carrierBody('v1', SHIPMENT)}\r\n`,
            ),
          'ulasilamadi',
        ],
        [
          'an end of an error in the middle of its body',
          (socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 42\r\n\r\nsorry'),
          'ulasilamadi',
        ],
        ['an end instead of an answer', (socket) => socket.end(), 'ulasilamadi'],
        ['a reset instead of an answer', (socket) => socket.resetAndDestroy(), 'ulasilamadi'],
        ['another protocol', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'ulasilamadi'],
        [
          'an end that is the only mark of the end, too early',
          (socket) => socket.end(`${ok}connection: close\r\n\r\n{"code":`),
          'bozuk-yanit', // nobody can tell it from a whole body that is no JSON
        ],
      ];
      for (const [what, answerWith, hata] of rows) {
        it(`${what} is 502 ${hata}, and the ambassador goes on`, async () => {
          let isHonest = false;
          const body = carrierBody('v1', SHIPMENT);
          await using carrier = await startTcpServer((socket) => {
            socket.once('data', () => {
              if (!isHonest) answerWith(socket);
              else
                socket.end(
                  `${ok}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
                );
            });
          });
          await using ambassador = await start('v1', `http://127.0.0.1:${carrier.port}`);

          const answer = await askForShipment(ambassador.port, TRACKING_NO);
          isHonest = true;
          const next = await askForShipment(ambassador.port, TRACKING_NO);

          expect(seen(answer)).toEqual({ status: 502, body: failed(hata) });
          expect(seen(next)).toEqual({ status: 200, body: INTERNAL });
        });
      }

      it('a body that stalls is 504 zaman-asimi, also behind a 500', async () => {
        await using carrier = await startCarrier();
        carrier.misbehave((_request, response) => {
          response.writeHead(500, { 'content-length': 42 }).write('{"code":');
        });
        await using ambassador = await start('v1', carrier.url, { timeoutMs: SHORT_MS });

        const answer = await askForShipment(ambassador.port, TRACKING_NO);

        expect(seen(answer)).toEqual({ status: 504, body: failed('zaman-asimi') });
        expect(await counterOf(ambassador)).toBe('{"surum":"v1","yol":"-","bayt":0}');
      });

      it('a body that comes byte by byte, in time, is an answer like any other', async () => {
        await using carrier = await startCarrier();
        carrier.misbehave(async (_request, response) => {
          for (const byte of carrierBody('v1', { ...SHIPMENT, region: 'İzmir' }).match(/.{1,9}/g) ??
            []) {
            response.write(byte);
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        });
        await using ambassador = await start('v1', carrier.url);

        const { status, body } = await askForShipment(ambassador.port, TRACKING_NO);

        expect(status).toBe(200);
        expect(JSON.parse(body)).toMatchObject({ bolge: 'İzmir' });
      });
    });

    describe('options', () => {
      it('an ambassador for a third contract is refused', async () => {
        for (const version of ['v3', '', 'toString']) {
          await expectRefusal(
            () => start(version as ContractVersion, 'http://carrier.test'),
            'version',
          );
        }
      });

      it('a timeout that no timer can keep is refused', async () => {
        for (const timeoutMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
          await expectRefusal(() => start('v1', 'http://carrier.test', { timeoutMs }), 'timeoutMs');
        }
      });

      it('a closed ambassador has freed its port', async () => {
        await using carrier = await startCarrier();
        const ambassador = await start('v1', carrier.url);

        await ambassador.close();
        await ambassador.close();

        await expect(askForShipment(ambassador.port, TRACKING_NO)).rejects.toThrow('ECONNREFUSED');
      });
    });
  });

  // Predict first: v1's timestamp is forwarded as it is. How many bytes does the service get from each
  // ambassador, and how many contracts does it see?
  describe('Exercise 15.5: contracts seen', lesson.exercise('15.5'), () => {
    const changed = (change: object) => JSON.stringify({ ...JSON.parse(INTERNAL), ...change });

    it('two ambassadors that say the same are one contract', () => {
      expect(contractsSeen([INTERNAL, INTERNAL])).toBePublished('15.contracts.internal');
    });

    it('a timestamp that is passed through makes it two', () => {
      const incomplete = changed({ guncellenme: 1_773_217_440 });

      expect(bytes(incomplete)).toBe(79);
      expect(contractsSeen([incomplete, INTERNAL])).toBePublished(
        '15.contracts.internal.incomplete',
      );
    });

    it('two texts of 95 bytes are two contracts if they differ: lengths prove nothing', () => {
      const { takipNo, ...rest } = JSON.parse(INTERNAL);
      const others = [
        changed({ guncellenme: '1970-01-21T12:33:37.440Z' }), // seconds taken for milliseconds
        changed({ guncellenme: '2026-03-11T08:24:00.250Z' }), // a fraction that v1 can't tell
        JSON.stringify({ ...rest, takipNo }), // another order of keys
      ];

      for (const other of others) {
        expect(bytes(other)).toBe(95);
        expect(contractsSeen([INTERNAL, other])).toBe(2);
      }
      expect(contractsSeen([INTERNAL, ...others])).toBe(4);
    });

    it.for([
      ['no body', [], 0],
      ['one', ['a'], 1],
      ['the same three times', ['a', 'a', 'a'], 1],
      ['a pair, and one of them again', ['a', 'b', 'a'], 2],
      ['a blank more', ['{"a":1}', '{"a": 1}'], 2],
      ['texts that are no JSON', ['', '{', '{'], 2],
      ['small and capital letters', ['a', 'A'], 2],
      ['names that objects inherit', ['constructor', '__proto__', 'toString'], 3],
    ] as const)('%s: %j', ([, bodies, contracts]) => {
      expect(contractsSeen(bodies)).toBe(contracts);
    });

    it('the order of the bodies does not matter, and the list stays as it is', () =>
      expectLaw({ bodies: fc.array(fc.string({ maxLength: 2 })) }, ({ bodies }) => {
        const frozen = Object.freeze([...bodies]);

        expect(contractsSeen(frozen)).toBe(contractsSeen([...bodies].reverse()));
        expect(contractsSeen([...bodies, ...bodies])).toBe(contractsSeen(bodies));
        expect(contractsSeen([...bodies, 'longer than two'])).toBe(contractsSeen(bodies) + 1);
      }));
  });

  // Predict first: six units, four of them on runtime A. Which of them can use a library for A? How many
  // artefacts does a new version of it rebuild, and how many a new version of a sidecar?
  describe('Exercise 15.6: library or sidecar', lesson.exercise('15.6'), () => {
    const counts = (cost: PlacementCost) => [
      cost.usableUnits,
      cost.rebuiltUnits,
      cost.republishedServices,
      cost.totalProcesses,
    ];
    const both = (
      units: Record<string, Runtime>,
      sidecar: Placement = SIDECAR,
      library = LIBRARY,
    ) => [
      counts(placementCost(units, library, PEAK_RATE)),
      counts(placementCost(units, sidecar, PEAK_RATE)),
    ];

    it('the sidecar reaches 6 of 6 units instead of 4, and doubles the processes', async ({
      annotate,
    }) => {
      const costs = {
        library: placementCost(UNITS, LIBRARY, PEAK_RATE),
        sidecar: placementCost(UNITS, SIDECAR, PEAK_RATE),
      };

      const caption = (name: keyof typeof costs) => {
        const { usableUnits, rebuiltUnits, totalProcesses, pathHops } = costs[name];
        return `${name}: ${totalProcesses} processes, used by ${usableUnits}, ${rebuiltUnits} rebuilt, ${pathHops} hops`;
      };
      await attachFigure(annotate, {
        title: 'A sidecar serves every unit, and stands next to every unit',
        facts: [
          `${caption('library')}. The units on runtime B can't link it.`,
          `${caption('sidecar')}. Every unit has a second process.`,
          'Dashed: a unit that cannot use the shared work.',
        ],
        height: 320,
        option: () =>
          placementsFigure(UNITS, [
            { caption: caption('library'), placement: LIBRARY, cost: costs.library },
            { caption: caption('sidecar'), placement: SIDECAR, cost: costs.sidecar },
          ]),
      });
      const runtimes = Object.values(UNITS);
      expect(runtimes.length).toBePublished('15.given.units');
      expect(runtimes.length).toBePublished('15.placement.usable.denominator');
      expect(runtimes.filter((one) => one === 'A').length).toBePublished('15.given.units.runtimeA');
      expect(runtimes.filter((one) => one === 'B').length).toBePublished('15.given.units.runtimeB');
      expect(SIDECAR.runtimes.length).toBePublished('15.given.runtimes');
      for (const [name, cost] of Object.entries(costs)) {
        expect(cost.usableUnits).toBePublished(`15.placement.${name}.usableUnits`);
        expect(cost.rebuiltUnits).toBePublished(`15.placement.${name}.rebuiltUnits`);
        expect(cost.republishedServices).toBePublished(`15.placement.${name}.republishedServices`);
        expect(cost.processesPerUnit).toBePublished(`15.placement.${name}.processesPerUnit`);
        expect(cost.totalProcesses).toBePublished(`15.placement.${name}.totalProcesses`);
        expect(cost.localHops).toBePublished(`15.placement.${name}.localHops`);
      }
    });

    it('the peak passes three places instead of two, and none of its requests is new', () => {
      const library = placementCost(UNITS, LIBRARY, PEAK_RATE);
      const sidecar = placementCost(UNITS, SIDECAR, PEAK_RATE);

      expect(PEAK_RATE).toBePublished('15.given.k01.peakEdge');
      expect(library.pathHops).toBePublished('15.placement.library.pathHops');
      expect(sidecar.pathHops).toBePublished('15.placement.sidecar.pathHops');
      expect(sidecar.pathHops).toBePublished('15.peak.places');
      expect(library.hopRequestsPerSecond).toBePublished('15.placement.library.hopRequests');
      expect(sidecar.hopRequestsPerSecond).toBePublished('15.placement.sidecar.hopRequests');
      expect(sidecar.hopRequestsPerSecond / K01.peakRate).toBeCloseTo(3, 9);
    });

    it("1027.78 is lesson 11's figure by arithmetic, not by meaning: the service is not among these hops", () => {
      const { pathHops, hopRequestsPerSecond } = placementCost(UNITS, LIBRARY, PEAK_RATE);
      const sidecar = placementCost(UNITS, SIDECAR, PEAK_RATE);
      const withService = (hops: number) => (hops + 1) * PEAK_RATE;

      expect(GATEWAY_PATH.length).toBePublished('15.pathHops.gatewayOnly');
      expect(hopRequestsPerSecond).toBe(GATEWAY_PATH.length * PEAK_RATE);
      expect(withService(pathHops).toFixed(2)).toBe('1541.67');
      expect(withService(sidecar.pathHops).toFixed(2)).toBe('2055.56');
      // And one more where the service has a sidecar of its own.
      expect((withService(sidecar.pathHops) + PEAK_RATE).toFixed(2)).toBe('2569.45');
    });

    it('two edge units more are two processes more as a library, and four with sidecars', () => {
      const before = both({ ...SERVICES, ...EDGE_UNITS.before }).map(
        ([, , , processes]) => processes,
      );
      const after = both(UNITS).map(([, , , processes]) => processes);

      expect(Object.keys(EDGE_UNITS.before).length).toBePublished('15.given.edgeUnits.before');
      expect(Object.keys(EDGE_UNITS.after).length).toBePublished('15.given.edgeUnits.after');
      expect(Object.keys(SERVICES).length).toBePublished('15.given.services');
      expect(before).toEqual([4, 8]);
      expect(after).toEqual([6, 12]);
    });

    it('three copies of each unit are 18 processes, or 36', () => {
      const copies = Object.entries(UNITS).flatMap(([name, runtime]) =>
        [1, 2, 3].map((copy): [string, Runtime] => [`${name}-${copy}`, runtime]),
      );
      const [library, sidecar] = both(Object.fromEntries(copies));

      expect([library?.[3], sidecar?.[3]]).toEqual([18, 36]);
    });

    const allOn = (runtime: Runtime) =>
      Object.fromEntries(Object.keys(UNITS).map((name) => [name, runtime]));
    const library = (...runtimes: Runtime[]): Placement => ({ separateProcess: false, runtimes });
    const sidecar = (...runtimes: Runtime[]): Placement => ({ separateProcess: true, runtimes });
    const ABC = sidecar('A', 'B', 'C');
    const rows: [string, Record<string, Runtime>, number[], number[], Placement?, Placement?][] = [
      ['S6: all six units on A', allOn('A'), [6, 6, 6, 6], [6, 1, 0, 12]],
      ['S7: kenar-web on B', { ...UNITS, 'kenar-web': 'B' }, [3, 3, 3, 6], [6, 1, 0, 12]],
      ['S8: a library for A and B', UNITS, [6, 6, 6, 6], [6, 1, 0, 12], SIDECAR, library('A', 'B')],
      ['S9: a seventh unit on A', { ...UNITS, 'kenar-kiosk': 'A' }, [5, 5, 5, 7], [7, 1, 0, 14]],
      [
        'S10: a seventh one on C',
        { ...UNITS, 'kenar-kiosk': 'C' },
        [4, 4, 4, 7],
        [7, 1, 0, 14],
        ABC,
      ],
      ['S11: the three services only', SERVICES, [2, 2, 2, 3], [3, 1, 0, 6]],
      ['all six units on B', allOn('B'), [0, 0, 0, 6], [6, 1, 0, 12]],
      ['a sidecar for A alone', UNITS, [4, 4, 4, 6], [4, 1, 0, 12], sidecar('A')],
      ['nobody can use either', allOn('C'), [0, 0, 0, 6], [0, 1, 0, 12]],
      ['one unit', { takip: 'A' }, [1, 1, 1, 1], [1, 1, 0, 2]],
      [
        'units and runtimes with the names that objects inherit',
        { constructor: 'toString', toString: 'A', valueOf: 'constructor' },
        [1, 1, 1, 3],
        [0, 1, 0, 6],
        sidecar('hasOwnProperty'),
      ],
      [
        'a runtime that is named twice',
        UNITS,
        [4, 4, 4, 6],
        [2, 1, 0, 12],
        sidecar('B', 'B'),
        library('A', 'A'),
      ],
    ];
    for (const [row, units, linked, beside, besideIn, linkedIn] of rows) {
      it(`${row}: library ${linked.join(' ')}, sidecar ${beside.join(' ')}`, () => {
        expect(both(units, besideIn, linkedIn)).toEqual([linked, beside]);
      });
    }

    for (const [row, peak, linked, beside] of [
      ['S12: a peak of 1000', 1_000, '2000.00', '3000.00'],
      ['no peak', 0, '0.00', '0.00'],
      ['half a request a second', 0.5, '1.00', '1.50'],
    ] as const) {
      it(`${row} is ${linked} and ${beside} hop-requests/s`, () => {
        const hopRequests = (placement: Placement) =>
          placementCost(UNITS, placement, peak).hopRequestsPerSecond.toFixed(2);

        expect([hopRequests(LIBRARY), hopRequests(SIDECAR)]).toEqual([linked, beside]);
      });
    }

    it('the measures come in the order of the table', () => {
      expect(Object.keys(placementCost(UNITS, LIBRARY, PEAK_RATE))).toEqual([
        'usableUnits',
        'rebuiltUnits',
        'republishedServices',
        'processesPerUnit',
        'totalProcesses',
        'localHops',
        'pathHops',
        'hopRequestsPerSecond',
      ]);
    });

    it('whatever the units, a sidecar costs one process for each of them and one more pass of the peak', () =>
      expectLaw(
        {
          runtimes: fc.array(fc.constantFrom('A', 'B', 'C'), { minLength: 1 }),
          supported: fc.uniqueArray(fc.constantFrom('A', 'B', 'C', 'D'), { minLength: 1 }),
          peak: fc.double({ min: 0, max: 1e6, noNaN: true }),
        },
        ({ runtimes, supported, peak }) => {
          const units = Object.fromEntries(
            runtimes.map((runtime, index) => [`u${index}`, runtime]),
          );
          const linked = placementCost(units, library(...supported), peak);
          const beside = placementCost(units, sidecar(...supported), peak);

          expect(beside.totalProcesses - linked.totalProcesses).toBe(runtimes.length);
          expect(beside.usableUnits).toBe(linked.usableUnits);
          expect(linked.usableUnits).toBeLessThanOrEqual(runtimes.length);
          expect(beside.hopRequestsPerSecond - linked.hopRequestsPerSecond).toBeCloseTo(peak, 3);
        },
      ));

    it('no units, no runtimes and a peak that is none are refused', () => {
      for (const placement of [LIBRARY, SIDECAR]) {
        expectRefusal(() => placementCost({}, placement, PEAK_RATE), 'units');
        expectRefusal(() => placementCost(UNITS, { ...placement, runtimes: [] }, 1), 'runtimes');
        for (const peak of [-1, -0.001, Number.NaN, Number.POSITIVE_INFINITY]) {
          expectRefusal(() => placementCost(UNITS, placement, peak), 'peakPerSecond');
        }
      }
    });
  });
});

/** How many single pieces of information a JSON value carries. */
function leaves(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + leaves(part), 0);
}
