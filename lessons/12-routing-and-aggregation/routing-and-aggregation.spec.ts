// Lesson 12: gateway routing and aggregation
//
// The tracking page shows where a parcel is and what it costs. Two services know that, one each. The
// page can ask both itself, or ask a gateway that passes each request on to the right one, or ask the
// gateway once and get both answers in one body. Then the gateway waits for two answers, and has to say
// something when one of them doesn't come. You know what a gateway is there for (lesson 11). You leave
// with one that routes and aggregates, with a contract for each way in which a part can be missing, and
// with what the choice costs at the peak.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
//
// These tests take more than a second together: a third of that are deadlines, which have to pass.
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { openClient } from '#helpers/lesson/client.ts';
import { attachFigure } from '#helpers/lesson/figure.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { disposable } from '#helpers/lesson/proxy-extras.ts';
import { rawExchange } from '#helpers/lesson/raw.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { eventually, gate, PATIENCE_MS, within } from '#helpers/lesson/waiting.ts';
import {
  type AccessWay,
  measureAccess,
  publishedAddresses,
  readCounters,
  requestsOf,
} from './access.ts';
import { startDraftGateway } from './draft-gateway.ts';
import {
  aggregationEffect,
  countLeaves,
  createTrackingListener,
  fetchPart,
  mergeTracking,
  planRequest,
  startTrackingGateway,
} from './exercise.ts';
import {
  CONTRACTS,
  type FetchedPart,
  type MissingPartContract,
  type Part,
  PRICE_FIELDS,
  PUBLISHED,
  REFUSALS,
  type TrackingGatewayOptions,
} from './given.ts';
import { sequenceFigure, sequenceHeight } from './sequence-figure.ts';
import {
  type Behaviour,
  type DomainService,
  PRICE_RECORDS,
  STATUS_RECORDS,
  startDomainServices,
} from './services.ts';

const lesson = openLesson(import.meta.url);

/** Milliseconds in which a call to a silent service has to come to an end, also on a busy machine. */
const SILENCE_LIMIT_MS = 2_000;

const bytes = (text: string) => Buffer.byteLength(text);

/** A port where nobody listens any more. */
async function stoppedPort(): Promise<number> {
  await using server = await startTcpServer(() => {});
  return server.port;
}

/** One answer of one program. */
async function ask(port: number, target: string) {
  using client = openClient(port);
  return await client.send(target);
}

/** Waits for the first request to come to a service, and for the first one to be over. */
const askedAt = ({ asked }: DomainService) => eventually(() => asked.length, Boolean);
const endedAt = (service: DomainService) => eventually(() => service.ended, Boolean);

// The bodies of the two services, as parts, and what they have to become.
const statusBody = (no: string) => ({ takipNo: no, ...STATUS_RECORDS[no] });
const priceBody = (no: string) => ({ takipNo: no, ...PRICE_RECORDS[no] });
const found = (body: object): Part => ({ state: 'found', body });
const ABSENT: Part = { state: 'absent' };
const UNREACHABLE: Part = { state: 'failed', reason: 'unreachable' };
const TIMEOUT: Part = { state: 'failed', reason: 'timeout' };

const STATUS_TEXT =
  '{"takipNo":"TR-4821","durum":"dagitimda","bolge":"35",' +
  '"guncellenme":"2026-03-11T08:24:00Z","rota":["34","41","35"]}';
const PRICE_TEXT =
  '{"takipNo":"TR-4821","tarife":9600,"indirim":1440,"net":8160,"sozlesmeNo":"S7"}';
/** The status of TR-4821, with more keys at its end. */
const statusAnd = (keys: string) => `${STATUS_TEXT.slice(0, -1)},${keys}}`;
const COMBINED_TEXT = statusAnd(
  '"ucret":{"tarife":9600,"indirim":1440,"net":8160,"sozlesmeNo":"S7"}',
);

const PRICE_PARTS = {
  found: found(priceBody('TR-4821')),
  absent: ABSENT,
  unreachable: UNREACHABLE,
  timeout: TIMEOUT,
};
const STATUS_PARTS = { ...PRICE_PARTS, found: found(statusBody('TR-4821')) };
type PartKind = keyof typeof PRICE_PARTS;
const KINDS = Object.keys(PRICE_PARTS) as PartKind[];

const HOLE = { status: 200, body: statusAnd('"ucret":null') };
const NOT_FOUND = { status: 404, body: REFUSALS.notFound };
const BAD_GATEWAY = { status: 502, body: REFUSALS.unreachable };
const GATEWAY_TIMEOUT = { status: 504, body: REFUSALS.timeout };
const UNKNOWN = { status: 200, body: statusAnd('"ucret":null,"ulasilamayan":["ucret"]') };

/** The answers where the status was found, by price part and contract. */
const WITH_STATUS = {
  found: {
    null: { status: 200, body: COMBINED_TEXT },
    fail: { status: 200, body: COMBINED_TEXT },
    report: { status: 200, body: COMBINED_TEXT },
  },
  absent: {
    null: HOLE,
    fail: NOT_FOUND,
    report: { status: 200, body: statusAnd('"ucret":null,"eksik":["ucret"]') },
  },
  unreachable: { null: BAD_GATEWAY, fail: BAD_GATEWAY, report: UNKNOWN },
  timeout: { null: GATEWAY_TIMEOUT, fail: GATEWAY_TIMEOUT, report: UNKNOWN },
};
/** And where it wasn't. */
const WITHOUT_STATUS = { absent: NOT_FOUND, unreachable: BAD_GATEWAY, timeout: GATEWAY_TIMEOUT };

const expectedAnswer = (status: PartKind, price: PartKind, contract: MissingPartContract) =>
  status === 'found' ? WITH_STATUS[price][contract] : WITHOUT_STATUS[status];

/** Words that every plain object knows, although nobody has put them there. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

/** Targets that lead nowhere. */
const NOWHERE = [
  '/takip',
  '/takip/',
  '/takip//durum',
  '/takip/TR-4821/',
  '/takip/TR-4821/konum',
  '/takip/TR-4821/durum/',
  '/takip/TR-4821/durum/x',
  '/takip/TR-4821/Durum',
  '/Takip/TR-4821',
  '//takip/TR-4821',
  'takip/TR-4821',
  '/x/../takip/TR-4821',
  '/takip/TR-4821%2Fdurum/',
  '/takip/%',
  '/takip/%E0%A4%A/durum',
  '/takip?no=TR-4821',
  '/baska',
  '/',
  '*',
  ...INHERITED.map((name) => `/takip/TR-4821/${name}`),
];

/** A variation of the records, with what the three ways have to carry. */
interface Variation {
  readonly row: string;
  readonly trackingNo?: string;
  readonly status?: object;
  readonly price?: object;
  /** Body bytes to the client: separate calls, aggregation. Routing carries what separate calls do. */
  readonly clientBytes: readonly [separate: number, aggregation: number];
  readonly leaves: readonly [separate: number, aggregation: number];
}

const VARIATIONS: readonly Variation[] = [
  {
    row: 'S4, six route steps',
    status: { ...STATUS_RECORDS['TR-4821'], rota: ['34', '41', '16', '10', '45', '35'] },
    clientBytes: [209, 198],
    leaves: [15, 14],
  },
  {
    row: 'S5, three letters of two bytes',
    status: { ...STATUS_RECORDS['TR-4821'], durum: 'dağıtımda' },
    clientBytes: [197, 186],
    leaves: [12, 11],
  },
  {
    row: 'S6, a fifth price field',
    price: { ...PRICE_RECORDS['TR-4821'], paraBirimi: 'TRY' },
    clientBytes: [213, 183],
    leaves: [13, 11],
  },
  { row: 'S7, no price', trackingNo: 'TR-9007', clientBytes: [122, 114], leaves: [5, 6] },
  { row: 'S8, no record at all', trackingNo: 'TR-0000', clientBytes: [42, 21], leaves: [0, 0] },
];

/** Domain services with the records of a variation. */
async function startVaried({ status, price }: Variation) {
  const services = await startDomainServices();
  if (status) services.durum.records.set('TR-4821', status);
  if (price) services.ucret.records.set('TR-4821', price);
  return services;
}

/** A list of bodies carries what they carry together. A 404 adds bytes to it, and no leaf fields. */
const leavesOf = (answers: readonly { status: number; body: string }[]) =>
  countLeaves(answers.filter(({ status }) => status === 200).map(({ body }) => JSON.parse(body)));

describe('Lesson 12: gateway routing and aggregation', () => {
  it('the page needs two answers, and each of two services has one of them', async () => {
    await using services = await startDomainServices();

    const status = await ask(services.durum.port, '/durum/TR-4821');
    const price = await ask(services.ucret.port, '/ucret/TR-4821');
    const none = await ask(services.ucret.port, '/ucret/TR-9007');

    expect(requestsOf('separate', 'TR-4821').length).toBePublished('12.given.pagePerAnswers');
    expect(services.serviceMap.size).toBePublished('12.given.domainServices');
    expect(status.body).toBePublished('12.body.status.text');
    expect(price.body).toBePublished('12.body.price.text');
    expect(bytes(status.body)).toBePublished('12.body.status.bytes');
    expect(bytes(price.body)).toBePublished('12.body.price.bytes');
    expect(bytes(price.body) / bytes(status.body)).toBePublished('12.ratio.priceToStatus');
    expect(JSON.parse(status.body).rota.length).toBePublished('12.given.k01.routeStepsInBody');
    expect([none.status, bytes(none.body)]).toEqual([404, 21]);
    expect(none.body).toBePublished('12.body.notFound.text');
  });

  it('who asks the services knows two addresses, who asks a gateway knows one', () => {
    expect([...publishedAddresses('separate')]).toEqual([8_471, 8_472]);
    expect([...publishedAddresses('routing')]).toEqual([8_473]);
    expect([...publishedAddresses('aggregation')]).toEqual([8_473]);
    const [durum, ucret] = publishedAddresses('separate');
    const [gateway] = publishedAddresses('aggregation');
    expect(durum).toBePublished('12.port.delivery');
    expect(ucret).toBePublished('12.port.pricing');
    expect(gateway).toBePublished('12.port.gateway');
  });

  it('a second number of 20 bytes goes and a key of 9 comes: that is where 11 bytes are saved', async () => {
    await using services = await startDomainServices();
    await using draft = await startDraftGateway(services.serviceMap);

    const separate = await measureAccess('separate', draft, services);
    const aggregation = await measureAccess('aggregation', draft, services);

    const saved = separate.clientBytes - aggregation.clientBytes;
    expect(saved).toBePublished('12.saved.bytes');
    expect(saved).toBe(bytes('"takipNo":"TR-4821",') - bytes(',"ucret":'));
  });

  it('a fifth price field reaches who asks pricing, and not who asks the gateway', async () => {
    const variation = VARIATIONS[2] as Variation;
    await using services = await startVaried(variation);
    await using draft = await startDraftGateway(services.serviceMap);

    const separate = await measureAccess('separate', draft, services);
    const aggregation = await measureAccess('aggregation', draft, services);

    expect(separate.answers[1]?.body).toContain('"paraBirimi":"TRY"');
    expect(aggregation.answers[0]?.body).toBe(COMBINED_TEXT);
    expect([separate.clientBytes, aggregation.clientBytes]).toEqual(variation.clientBytes);
  });

  // Predict first: the draft asks one service after the other. How many rounds does it count?
  it('"one round" does not measure parallelism: a draft that asks one after the other counts one too', async ({
    annotate,
  }) => {
    await using services = await startDomainServices();
    await using draft = await startDraftGateway(services.serviceMap);

    const run = await measureAccess('aggregation', draft, services);

    const panels = [{ caption: 'The draft: one service after the other', run }];
    await attachFigure(annotate, {
      title: 'One round, and two waits in a row',
      facts: run.messages.map(({ from, to, text }) => `${from} to ${to}: ${text}`),
      option: () => sequenceFigure(panels),
      height: sequenceHeight(panels),
    });
    expect(run.answers).toEqual([{ status: 200, body: COMBINED_TEXT }]);
    expect(run.counters).toEqual({ istek: 2, bayt: 194, tur: 1, peakInFlight: 1 });
  });

  it('the barrier measures it: if no service answers before both are asked, the draft gets nothing', async () => {
    // Nobody ever comes to meet the first one, so a short limit says the same as a long one.
    await using services = await startDomainServices({ barrierLimitMs: 20 });
    await using draft = await startDraftGateway(services.serviceMap);

    const { status } = await ask(draft.port, '/takip/TR-4821');

    expect(status).not.toBe(200);
    expect(services.ucret.asked, 'asked while delivery was waiting').toEqual([]);
  });

  it('to the draft a service that has stopped has no price: 128 bytes that state what nobody knows', async () => {
    await using services = await startDomainServices();
    await using draft = await startDraftGateway(services.serviceMap);
    await services.ucret.close();

    const { status, body } = await ask(draft.port, '/takip/TR-4821');

    expect([status, bytes(body)]).toEqual([200, 128]);
    expect(JSON.parse(body).ucret, 'what it says for a parcel without a price, too').toBeNull();
  });

  // Predict first: `"rota":["34","41","35"]` is one key. How many leaf fields is it?
  describe('Exercise 12.1: leaf fields', lesson.exercise('12.1'), () => {
    it('TR-4821 carries 12 leaf fields in two bodies, and 11 in one', async () => {
      await using services = await startDomainServices();
      await using draft = await startDraftGateway(services.serviceMap);
      const leaves = async (way: AccessWay) =>
        leavesOf((await measureAccess(way, draft, services)).answers);

      expect(await leaves('separate')).toBePublished('12.access.separate.leaves');
      expect(await leaves('routing')).toBePublished('12.access.routing.leaves');
      expect(await leaves('aggregation')).toBePublished('12.access.aggregation.leaves');
    });

    it('the hole of TR-9007 is a leaf field: null says something', async () => {
      await using services = await startDomainServices();
      await using draft = await startDraftGateway(services.serviceMap);

      const { body } = await ask(draft.port, '/takip/TR-9007');

      expect(countLeaves(JSON.parse(body))).toBePublished('12.missing.leaves');
    });

    for (const variation of VARIATIONS) {
      const [separate, aggregation] = variation.leaves;
      it(`${variation.row}: ${separate} leaf fields by separate calls, ${aggregation} by aggregation`, async () => {
        await using services = await startVaried(variation);
        await using draft = await startDraftGateway(services.serviceMap);
        const leaves = async (way: AccessWay) =>
          leavesOf((await measureAccess(way, draft, services, variation.trackingNo)).answers);

        expect(await leaves('separate')).toBe(separate);
        expect(await leaves('aggregation')).toBe(aggregation);
      });
    }

    for (const [json, leaves] of [
      ['null', 1],
      ['false', 1],
      ['0', 1],
      ['""', 1],
      ['[]', 0],
      ['{}', 0],
      ['[[],{}]', 0],
      ['[[1,[2,[3]]],4]', 4],
      ['{"a":{"b":{"c":null}},"d":[]}', 1],
      ['[null,null]', 2],
      ['{"__proto__":1,"length":2}', 2],
    ] as const) {
      it(`${json} counts ${leaves}`, () => {
        expect(countLeaves(JSON.parse(json))).toBe(leaves);
      });
    }

    it('every number is one leaf field, also those that JSON writes as null', () => {
      expect([0, -1, 1.5, Number.NaN, Infinity].map(countLeaves)).toEqual([1, 1, 1, 1, 1]);
    });

    for (const [kind, value] of [
      ['undefined', undefined],
      ['function', () => 1],
      ['symbol', Symbol('s')],
      ['bigint', 1n],
    ] as const) {
      it(`JSON has no ${kind}, neither at the top nor inside`, () => {
        expectRefusal(() => countLeaves(value), kind, TypeError);
        expectRefusal(() => countLeaves([1, value]), kind, TypeError);
        expectRefusal(() => countLeaves({ a: [{ b: value }] }), kind, TypeError);
      });
    }

    it('a container has the leaf fields of what it contains, together', () =>
      expectLaw(
        { one: fc.jsonValue(), other: fc.jsonValue() },
        ({ one, other }) => {
          const together = countLeaves(one) + countLeaves(other);
          expect(countLeaves([one, other])).toBe(together);
          expect(countLeaves({ one, other })).toBe(together);
        },
        50,
      ));
  });

  describe('Exercise 12.2: what a request is about', lesson.exercise('12.2'), () => {
    const { ports } = PUBLISHED;
    const serviceMap = new Map([
      ['durum', ports.durum],
      ['ucret', ports.ucret],
    ]);
    const plan = (target: string) => planRequest(serviceMap, target);
    const route = (service: string, trackingNo: string) => ({
      kind: 'route',
      service,
      trackingNo,
    });
    const aggregate = (trackingNo: string) => ({ kind: 'aggregate', trackingNo });

    for (const [target, expected] of [
      ['/takip/TR-4821/durum', route('durum', 'TR-4821')],
      ['/takip/TR-4821/ucret', route('ucret', 'TR-4821')],
      ['/takip/TR-4821', aggregate('TR-4821')],
      ['/takip/TR-4821?dil=tr', aggregate('TR-4821')],
      ['/takip/TR-4821/durum?x=/y/z', route('durum', 'TR-4821')],
      ['/takip/TR-4821/durum?a?b', route('durum', 'TR-4821')],
      ['/takip/TR-4821?%', aggregate('TR-4821')],
      ['/takip/durum', aggregate('durum')],
      ['/takip/takip/ucret', route('ucret', 'takip')],
      ['/takip/TR%2F1', aggregate('TR/1')],
      ['/takip/TR%2Fdurum', aggregate('TR/durum')],
      ['/takip/TR%3F1/ucret', route('ucret', 'TR?1')],
      ['/takip/%C5%9E%201/durum', route('durum', 'Ş 1')],
      ['/%74akip/TR-1/d%75rum', route('durum', 'TR-1')],
      ['/takip/%252F', aggregate('%2F')],
      ['/takip/..', aggregate('..')],
      ['/takip/../durum', route('durum', '..')],
      ...INHERITED.map((name) => [`/takip/${name}`, aggregate(name)] as const),
      ...INHERITED.map((name) => [`/takip/${name}/durum`, route('durum', name)] as const),
    ] as const) {
      it(`${target} is ${Object.values(expected).join(' ')}`, () => {
        expect(plan(target)).toEqual(expected);
      });
    }

    for (const target of [...NOWHERE, '/sayac', '']) {
      it(`"${target}" leads nowhere`, () => {
        expect(plan(target)).toEqual({ kind: 'notFound' });
      });
    }

    it('the map decides which parts there are, and the ports do not matter', () => {
      const other = new Map([
        ['konum', 0],
        ['constructor', ports.gateway],
      ]);

      expect(planRequest(other, '/takip/TR-4821/konum')).toEqual(route('konum', 'TR-4821'));
      expect(planRequest(other, '/takip/TR-1/constructor')).toEqual(route('constructor', 'TR-1'));
      expect(planRequest(other, '/takip/TR-4821/durum')).toEqual({ kind: 'notFound' });
    });

    it('an empty map is refused: its gateway could answer nothing', () => {
      expectRefusal(() => planRequest(new Map(), '/takip/TR-4821'), 'serviceMap');
    });

    it('whatever a number is made of, encoded into a path it comes out again', () =>
      expectLaw(
        {
          no: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
          query: fc.webQueryParameters(),
        },
        ({ no, query }) => {
          const segment = encodeURIComponent(no);
          expect(plan(`/takip/${segment}?${query}`)).toEqual(aggregate(no));
          expect(plan(`/takip/${segment}/ucret`)).toEqual(route('ucret', no));
        },
        50,
      ));
  });

  // Predict first: the status is there, and pricing doesn't answer. Is that a 200?
  describe('Exercise 12.3: one answer out of two parts', lesson.exercise('12.3'), () => {
    it('status and price of TR-4821 make one body of 183 bytes', () => {
      const { status, body } = mergeTracking(STATUS_PARTS.found, PRICE_PARTS.found, 'null');

      expect(status).toBe(200);
      expect(body).toBePublished('12.body.combined.text');
      expect(bytes(body)).toBePublished('12.body.combined.bytes');
      expect(bytes(body) / bytes(STATUS_TEXT)).toBePublished('12.ratio.combinedToStatus');
    });

    it('as published a price that does not exist is a hole, and the answer is a 200', () => {
      const { status, body } = mergeTracking(found(statusBody('TR-9007')), ABSENT, 'null');

      expect(status).toBe(200);
      expect(body).toBePublished('12.missing.body');
      expect(bytes(body)).toBePublished('12.missing.bytes');
      expect(JSON.parse(body).ucret === null).toBePublished('12.missing.priceIsNull');
    });

    it('three contracts give three different answers to the same hole', () => {
      const answers = CONTRACTS.map((contract) =>
        JSON.stringify(mergeTracking(STATUS_PARTS.found, ABSENT, contract)),
      );

      expect(new Set(answers).size).toBePublished('12.missing.contractOptions');
    });

    it('a report says which of the two it is, in 132 bytes for "none" and 139 for "unknown"', () => {
      const status = found(statusBody('TR-9007'));

      expect(bytes(mergeTracking(status, ABSENT, 'report').body)).toBe(132);
      expect(bytes(mergeTracking(status, UNREACHABLE, 'report').body)).toBe(139);
      expect(bytes(mergeTracking(STATUS_PARTS.found, TIMEOUT, 'report').body)).toBe(153);
    });

    for (const status of KINDS) {
      for (const price of KINDS) {
        for (const contract of CONTRACTS) {
          const expected = expectedAnswer(status, price, contract);
          it(`status ${status}, price ${price}, contract ${contract}: ${expected.status} with ${bytes(expected.body)} bytes`, () => {
            const answer = mergeTracking(STATUS_PARTS[status], PRICE_PARTS[price], contract);

            expect(answer).toEqual(expected);
          });
        }
      }
    }

    for (const name of PRICE_FIELDS) {
      it(`a price without "${name}" is refused where it is used, and only there`, () => {
        const { [name]: _, ...rest } = priceBody('TR-4821') as Record<string, unknown>;
        const price = found(rest);

        for (const contract of CONTRACTS) {
          expectRefusal(() => mergeTracking(STATUS_PARTS.found, price, contract), name, TypeError);
          expect(mergeTracking(ABSENT, price, contract)).toEqual(NOT_FOUND);
          expect(mergeTracking(TIMEOUT, price, contract)).toEqual(GATEWAY_TIMEOUT);
        }
      });
    }

    it('null is a value, and the order of the price fields is fixed', () => {
      const price = found({ sozlesmeNo: null, ek: 1, net: 0, indirim: '', tarife: false });

      const { body } = mergeTracking(STATUS_PARTS.found, price, 'null');

      expect(body).toBe(
        statusAnd('"ucret":{"tarife":false,"indirim":"","net":0,"sozlesmeNo":null}'),
      );
    });

    it('a key called __proto__ is a key: it hides no missing price, and is not lost from a status', () => {
      const fields = '{"tarife":1,"indirim":2,"net":3,"sozlesmeNo":"S7"}';
      const disguised = found(JSON.parse(`{"takipNo":"TR-4821","__proto__":${fields}}`));
      const status = found(JSON.parse('{"takipNo":"TR-1","__proto__":{"durum":"kabul"}}'));

      expectRefusal(
        () => mergeTracking(STATUS_PARTS.found, disguised, 'null'),
        'tarife',
        TypeError,
      );
      expect(mergeTracking(status, ABSENT, 'null').body).toBe(
        '{"takipNo":"TR-1","__proto__":{"durum":"kabul"},"ucret":null}',
      );
    });

    it('the parts are left as they were', () => {
      const status = found(Object.freeze(statusBody('TR-4821')));
      const price = found(Object.freeze(priceBody('TR-4821')));

      const first = mergeTracking(status, price, 'report');

      expect(first.status).toBe(200);
      expect(mergeTracking(status, price, 'report')).toEqual(first);
      expect(JSON.stringify(status)).toBe(`{"state":"found","body":${STATUS_TEXT}}`);
      expect(JSON.stringify(price)).toBe(`{"state":"found","body":${PRICE_TEXT}}`);
    });
  });

  // Predict first: a service sends half of its body and then nothing. When does the call end, and how?
  describe('Exercise 12.4: one call, three endings', lesson.exercise('12.4'), () => {
    /** Asks the delivery service, which behaves like that. */
    const fetchFrom = async (
      behaviour: Behaviour,
      { timeoutMs = 5_000, trackingNo = 'TR-4821' } = {},
    ): Promise<FetchedPart> => {
      await using services = await startDomainServices();
      services.durum.behaviour = behaviour;
      const { port } = services.durum;
      return await within(
        fetchPart({ port, service: 'durum', trackingNo, timeoutMs }),
        'the call to come to an end',
        SILENCE_LIMIT_MS,
      );
    };
    const json = (status: number, body: string): Behaviour => ({ status, body });

    it('found: a 200 whose body is a JSON object, and the bytes that it had', async () => {
      expect(await fetchFrom('answers')).toEqual({ part: STATUS_PARTS.found, bodyBytes: 115 });
    });

    it('bytes are bytes and not characters: a status with three letters of two bytes has 118', async () => {
      const { bodyBytes, part } = await fetchFrom(
        json(200, STATUS_TEXT.replace('dagitimda', 'dağıtımda')),
      );

      expect(bodyBytes).toBe(118);
      expect(part).toMatchObject({ body: { durum: 'dağıtımda' } });
    });

    it('absent: a 404, whatever its body, which is counted', async () => {
      expect(await fetchFrom('answers', { trackingNo: 'TR-0000' })).toEqual({
        part: ABSENT,
        bodyBytes: 21,
      });
      expect(await fetchFrom(json(404, 'yok'))).toEqual({ part: ABSENT, bodyBytes: 3 });
      expect(await fetchFrom(json(404, ''))).toEqual({ part: ABSENT, bodyBytes: 0 });
    });

    for (const [what, status, body] of [
      ['a 500', 500, STATUS_TEXT],
      ['a 503', 503, '{"hata":"bakim"}'],
      ['a 201', 201, STATUS_TEXT],
      ['a redirect', 302, ''],
      ['a 410', 410, REFUSALS.notFound],
      ['a 200 with a list', 200, '[1,2]'],
      ['a 200 with null', 200, 'null'],
      ['a 200 with a text', 200, '"dagitimda"'],
      ['a 200 with a number', 200, '4'],
      ['a 200 with HTML', 200, '<html>'],
      ['a 200 with half an object', 200, STATUS_TEXT.slice(0, 60)],
      ['a 200 with nothing', 200, ''],
    ] as const) {
      it(`failed, unreachable: ${what}; its ${body.length} bytes are counted`, async () => {
        expect(await fetchFrom(json(status, body))).toEqual({
          part: UNREACHABLE,
          bodyBytes: body.length,
        });
      });
    }

    it('failed, unreachable: nobody listens', async () => {
      const port = await stoppedPort();
      const input = { port, service: 'durum', trackingNo: 'TR-4821', timeoutMs: 5_000 };

      expect(await fetchPart(input)).toEqual({ part: UNREACHABLE, bodyBytes: 0 });
    });

    for (const behaviour of ['hangs up', 'breaks off'] as const) {
      it(`failed, unreachable: the service ${behaviour}, and no byte counts`, async () => {
        expect(await fetchFrom(behaviour)).toEqual({ part: UNREACHABLE, bodyBytes: 0 });
      });
    }

    it('a 404 that breaks off is not a 404: it is no answer', async () => {
      const options = { trackingNo: 'TR-0000' };

      expect(await fetchFrom('breaks off', options)).toEqual({ part: UNREACHABLE, bodyBytes: 0 });
    });

    for (const behaviour of ['never answers', 'stalls'] as const) {
      it(`failed, timeout: the service ${behaviour}`, async () => {
        expect(await fetchFrom(behaviour, { timeoutMs: 50 })).toEqual({
          part: TIMEOUT,
          bodyBytes: 0,
        });
      });
    }

    it('one deadline for all of it: a service that trickles is cut off when its time is up', async () => {
      await using services = await startDomainServices();
      services.durum.behaviour = 'trickles';
      const { port } = services.durum;
      // Many times the pause between two bytes, also on a busy machine.
      const input = { port, service: 'durum', trackingNo: 'TR-4821', timeoutMs: 150 };

      const call = within(fetchPart(input), 'the call to come to an end', SILENCE_LIMIT_MS);

      expect(await call).toEqual({ part: TIMEOUT, bodyBytes: 0 });
      expect(await endedAt(services.durum)).toBe(1);
    });

    it('a signal ends a call at once, as unreachable, and its connection too', async () => {
      await using services = await startDomainServices();
      services.durum.behaviour = 'never answers';
      const { port } = services.durum;
      const leaving = new AbortController();
      const { signal } = leaving;
      const input = { port, service: 'durum', trackingNo: 'TR-4821', timeoutMs: 60_000, signal };

      const call = fetchPart(input);
      await Promise.race([call, askedAt(services.durum)]);
      leaving.abort();

      expect(await within(call, 'the aborted call to come to an end')).toEqual({
        part: UNREACHABLE,
        bodyBytes: 0,
      });
      expect(await endedAt(services.durum)).toBe(1);
    });

    it('a call whose signal has aborted before has failed too', async () => {
      const port = await stoppedPort();
      const signal = AbortSignal.abort();
      const input = { port, service: 'durum', trackingNo: 'TR-4821', timeoutMs: 5_000, signal };

      expect(await within(fetchPart(input), 'the call to come to an end')).toEqual({
        part: UNREACHABLE,
        bodyBytes: 0,
      });
    });

    for (const [trackingNo, target] of [
      ['TR/1', '/durum/TR%2F1'],
      ['TR?1#2', '/durum/TR%3F1%232'],
      ['TR 1\r\nX-Kimlik: S7', '/durum/TR%201%0D%0AX-Kimlik%3A%20S7'],
      ['Ş', '/durum/%C5%9E'],
      ['%2F', '/durum/%252F'],
      ['..', '/durum/..'],
      ['../ucret', '/durum/..%2Fucret'],
    ] as const) {
      it(`the number ${JSON.stringify(trackingNo)} is asked for as ${target}`, async () => {
        await using services = await startDomainServices();
        const { port, asked } = services.durum;

        const { part } = await fetchPart({ port, service: 'durum', trackingNo, timeoutMs: 5_000 });

        expect(asked).toEqual([target]);
        expect(part).toEqual(ABSENT);
      });
    }

    for (const trackingNo of INHERITED) {
      it(`there is no parcel with the number ${trackingNo}`, async () => {
        expect((await fetchFrom('answers', { trackingNo })).part).toEqual(ABSENT);
      });
    }
  });

  describe('Exercise 12.5: the listener', lesson.exercise('12.5'), () => {
    const serviceMap = new Map([
      ['durum', 1],
      ['ucret', 2],
    ]);
    const COMPLETE: Record<string, FetchedPart> = {
      durum: { part: STATUS_PARTS.found, bodyBytes: 115 },
      ucret: { part: PRICE_PARTS.found, bodyBytes: 79 },
    };
    type Call = (service: string, trackingNo: string) => Promise<FetchedPart>;

    /** A listener whose services are a function. */
    const listenerOf = (call: Call, contract: MissingPartContract = 'null') =>
      createTrackingListener({ serviceMap, contract, call });
    /** A listener whose services always say the same. */
    const fixed = (parts: Record<string, Part | FetchedPart>, contract?: MissingPartContract) =>
      listenerOf(async (service) => {
        const part = parts[service] as Part | FetchedPart;
        return 'part' in part ? part : { part, bodyBytes: 0 };
      }, contract);
    /** One request, without a server that would have to be started. */
    const get = async (listener: RequestListener, target: string) => {
      const { status, text: body, headers } = await request(listener).get(target);
      expect(headers['content-type'], 'every answer is JSON').toBe('application/json');
      return { status, body };
    };
    const counters = async (listener: RequestListener) =>
      JSON.parse((await get(listener, '/sayac')).body);

    it('routing passes on what the service has, aggregation makes one body of both', async () => {
      const listener = fixed(COMPLETE);

      expect(await get(listener, '/takip/TR-4821/durum')).toEqual({
        status: 200,
        body: STATUS_TEXT,
      });
      expect(await get(listener, '/takip/TR-4821/ucret')).toEqual({
        status: 200,
        body: PRICE_TEXT,
      });
      expect(await get(listener, '/takip/TR-4821')).toEqual({ status: 200, body: COMBINED_TEXT });
    });

    it('the services are called by name and number, each once', async () => {
      const calls: string[][] = [];
      const listener = listenerOf(async (...call) => {
        calls.push(call);
        return COMPLETE[call[0]] as FetchedPart;
      });

      await get(listener, '/takip/TR%2F1?x=1');
      await get(listener, '/takip/TR-2/ucret');

      expect(calls.slice(0, 2).sort()).toEqual([
        ['durum', 'TR/1'],
        ['ucret', 'TR/1'],
      ]);
      expect(calls.slice(2)).toEqual([['ucret', 'TR-2']]);
    });

    it('both services are asked before either has answered', async () => {
      const both = gate();
      const asked = new Set<string>();
      const listener = listenerOf(async (service) => {
        asked.add(service);
        if (asked.size === 2) both.open();
        await both.opened;
        return COMPLETE[service] as FetchedPart;
      });

      const answer = get(listener, '/takip/TR-4821');
      try {
        await within(both.opened, 'the second service to be asked');
      } finally {
        both.open(); // or the request would never end
      }

      expect(await answer).toEqual({ status: 200, body: COMBINED_TEXT });
    });

    for (const contract of CONTRACTS) {
      it(`contract ${contract}: all sixteen pairs of parts are answered as they are merged`, async () => {
        for (const status of KINDS) {
          for (const price of KINDS) {
            const parts = { durum: STATUS_PARTS[status], ucret: PRICE_PARTS[price] };
            expect(
              await get(fixed(parts, contract), '/takip/TR-4821'),
              `status ${status}, price ${price}`,
            ).toEqual(expectedAnswer(status, price, contract));
          }
        }
      });
    }

    it('routing knows the same three endings: 404, 502 and 504, in every contract', async () => {
      for (const contract of CONTRACTS) {
        for (const service of ['durum', 'ucret']) {
          const answerTo = (part: Part) =>
            get(fixed({ [service]: part }, contract), `/takip/TR-4821/${service}`);
          expect(await answerTo(ABSENT)).toEqual(NOT_FOUND);
          expect(await answerTo(UNREACHABLE)).toEqual(BAD_GATEWAY);
          expect(await answerTo(TIMEOUT)).toEqual(GATEWAY_TIMEOUT);
        }
      }
    });

    it('a call that rejects is a service that cannot be reached', async () => {
      const listener = listenerOf(async (service) => {
        if (service === 'ucret') throw new Error('the call broke');
        return COMPLETE[service] as FetchedPart;
      });

      expect(await get(listener, '/takip/TR-4821')).toEqual(BAD_GATEWAY);
      expect(await get(listener, '/takip/TR-4821/ucret')).toEqual(BAD_GATEWAY);
      expect(await get(listener, '/takip/TR-4821/durum')).toMatchObject({ status: 200 });
    });

    it('a call that throws at once is one too, and a report says so', async () => {
      const call: Call = (service) => {
        if (service === 'ucret') throw new Error('the call was not even made');
        return Promise.resolve(COMPLETE[service] as FetchedPart);
      };

      expect(await get(listenerOf(call), '/takip/TR-4821/ucret')).toEqual(BAD_GATEWAY);
      expect(await get(listenerOf(call, 'report'), '/takip/TR-4821')).toEqual(UNKNOWN);
    });

    it('a price that lacks a field is a 502 in every contract, and is routed as it is', async () => {
      const price = found({ takipNo: 'TR-4821', tarife: 9_600 });
      for (const contract of CONTRACTS) {
        const listener = fixed({ durum: STATUS_PARTS.found, ucret: price }, contract);
        expect(await get(listener, '/takip/TR-4821')).toEqual(BAD_GATEWAY);
        expect(await get(listener, '/takip/TR-4821/ucret')).toEqual({
          status: 200,
          body: '{"takipNo":"TR-4821","tarife":9600}',
        });
      }
    });

    it('what leads nowhere is a 404: no service is called, and it is no round', async () => {
      const listener = listenerOf(async () => {
        throw new Error('nobody should have been called');
      });
      const targets = ['/takip', '/takip/TR-4821/konum', '/takip/TR-4821/durum/x', '/baska', '/'];

      for (const target of [...targets, ...INHERITED.map((name) => `/takip/TR-4821/${name}`)]) {
        expect(await get(listener, target), target).toEqual(NOT_FOUND);
      }
      expect(await counters(listener)).toEqual({ istek: 0, bayt: 0, tur: 0, peakInFlight: 0 });
    });

    it('numbers that every object knows are numbers like any other', async () => {
      const listener = fixed({ durum: ABSENT, ucret: ABSENT });

      for (const name of INHERITED) {
        expect(await get(listener, `/takip/${name}`), name).toEqual(NOT_FOUND);
        expect(await get(listener, `/takip/${name}/durum`), name).toEqual(NOT_FOUND);
      }
      expect(await counters(listener)).toMatchObject({ istek: 15, tur: 10 });
    });

    for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const) {
      it(`${method.toUpperCase()} is answered with 404, calls nobody and resets nothing`, async () => {
        const listener = fixed(COMPLETE);
        await get(listener, '/takip/TR-4821');

        const answer = await request(listener)[method]('/takip/TR-4821').send();
        const reset = await request(listener)[method]('/sayac').send();

        expect([answer.status, reset.status]).toEqual([404, 404]);
        expect(answer.text).toBe(REFUSALS.notFound);
        expect(answer.headers['content-type']).toBe('application/json');
        expect(await counters(listener)).toEqual({ istek: 2, bayt: 194, tur: 1, peakInFlight: 2 });
      });
    }

    it('the counters start at zero, in this order, and a reading sets them to zero', async () => {
      const zero = '{"istek":0,"bayt":0,"tur":0,"peakInFlight":0}';
      const listener = fixed(COMPLETE);

      expect(await get(listener, '/sayac')).toEqual({ status: 200, body: zero });
      await get(listener, '/takip/TR-4821');
      await get(listener, '/takip/TR-4821/durum');
      expect(await get(listener, '/sayac?x=1')).toEqual({
        status: 200,
        body: '{"istek":3,"bayt":309,"tur":2,"peakInFlight":2}',
      });
      expect(await get(listener, '/sayac')).toEqual({ status: 200, body: zero });
    });

    it('the body of a 404 and that of a 500 are bytes too', async () => {
      const listener = fixed({
        durum: { part: ABSENT, bodyBytes: 21 },
        ucret: { part: UNREACHABLE, bodyBytes: 7 },
      });

      await get(listener, '/takip/TR-0000');

      expect(await counters(listener)).toMatchObject({ istek: 2, bayt: 28 });
    });

    it('a call that fails was made: it counts as a call, and has no bytes', async () => {
      const listener = listenerOf(async () => {
        throw new Error('the call broke');
      });

      await get(listener, '/takip/TR-4821');

      expect(await counters(listener)).toEqual({ istek: 2, bayt: 0, tur: 1, peakInFlight: 2 });
    });

    it('routing has one call open, and two requests at the same time have two', async () => {
      const held = gate();
      let open = 0;
      const listener = listenerOf(async (service) => {
        open += 1;
        await held.opened;
        return COMPLETE[service] as FetchedPart;
      });

      const first = get(listener, '/takip/TR-4821/durum');
      const second = get(listener, '/takip/TR-4821/ucret');
      await eventually(
        () => open,
        (count) => count === 2,
      );
      held.open();
      await Promise.all([first, second]);
      expect(await counters(listener)).toMatchObject({ tur: 2, peakInFlight: 2 });

      await get(listener, '/takip/TR-4821/durum');
      await get(listener, '/takip/TR-4821/ucret');
      expect(await counters(listener)).toMatchObject({ tur: 2, peakInFlight: 1 });
    });

    it('a call that is open while the counters are read is open still', async () => {
      const held = gate();
      let calls = 0;
      const listener = listenerOf(async (service) => {
        calls += 1;
        if (calls === 1) await held.opened;
        return COMPLETE[service] as FetchedPart;
      });

      const first = get(listener, '/takip/TR-4821/durum');
      await eventually(() => calls, Boolean);
      expect(await counters(listener)).toEqual({ istek: 1, bayt: 0, tur: 1, peakInFlight: 1 });
      await get(listener, '/takip/TR-4821/ucret');
      expect(await counters(listener)).toEqual({ istek: 1, bayt: 79, tur: 1, peakInFlight: 2 });
      held.open();
      await first;
      expect(await counters(listener)).toEqual({ istek: 0, bayt: 115, tur: 0, peakInFlight: 0 });
    });

    it('each listener has counters of its own', async () => {
      const one = fixed(COMPLETE);
      const other = fixed(COMPLETE);

      await get(one, '/takip/TR-4821');

      expect(await counters(other)).toEqual({ istek: 0, bayt: 0, tur: 0, peakInFlight: 0 });
    });

    it('a map without both parts is refused before there is a listener', () => {
      const call: Call = async (service) => COMPLETE[service] as FetchedPart;
      for (const names of [[], ['durum'], ['ucret'], ['konum', 'durum']]) {
        const partial = new Map(names.map((name) => [name, 1]));
        expectRefusal(
          () => createTrackingListener({ serviceMap: partial, contract: 'null', call }),
          'serviceMap',
        );
      }
    });
  });

  // Predict first: which of the seven rows of the table change between routing and aggregation?
  describe('Exercise 12.6: the gateway', lesson.exercise('12.6'), () => {
    /** A gateway that is closed at the end of the test, whatever becomes of it. */
    const running = async (options: Partial<TrackingGatewayOptions>) =>
      disposable(
        await startTrackingGateway({
          serviceMap: new Map(),
          contract: 'null',
          timeoutMs: 5_000,
          ...options,
        }),
      );

    it('three ways to the same page: what the client sends, gets and has to know, and who calls whom', async ({
      annotate,
    }) => {
      await using services = await startDomainServices();
      await using meeting = await startDomainServices({ barrierLimitMs: PATIENCE_MS });
      await using gateway = await running(services);
      await using waiting = await running(meeting);

      const separate = await measureAccess('separate', gateway, services);
      const routing = await measureAccess('routing', gateway, services);
      // With the barrier the order of the messages is no matter of luck.
      const aggregation = await measureAccess('aggregation', waiting, meeting);

      const panels = [separate, routing, aggregation].map((run) => ({
        caption:
          `${run.way}. Client: ${run.clientRequests} sent, ${run.clientBytes} bytes back. ` +
          `Behind the gateway: ${run.counters.istek} calls, ${run.counters.bayt} bytes`,
        run,
      }));
      await attachFigure(annotate, {
        title: 'Aggregation hides the second call from the client, and makes it all the same',
        facts: panels.flatMap(({ caption, run }) => [
          caption,
          ...run.messages.map(({ from, to, text }) => `${from} to ${to}: ${text}`),
        ]),
        option: () => sequenceFigure(panels),
        height: sequenceHeight(panels),
      });
      for (const run of [separate, routing, aggregation]) {
        const id = `12.access.${run.way}`;
        expect(run.clientRequests).toBePublished(`${id}.clientRequests`);
        expect(run.knownAddresses).toBePublished(`${id}.knownAddresses`);
        expect(run.clientBytes).toBePublished(`${id}.clientBytes`);
        expect(run.counters.istek).toBePublished(`${id}.serviceRequests`);
        expect(run.counters.bayt).toBePublished(`${id}.serviceBytes`);
        expect(run.counters.tur).toBePublished(`${id}.rounds`);
      }
    });

    it('routing leaves the bytes as they are, byte for byte', async () => {
      await using services = await startDomainServices();
      await using gateway = await running(services);

      const separate = await measureAccess('separate', gateway, services);
      const routing = await measureAccess('routing', gateway, services);

      expect(routing.answers).toEqual(separate.answers);
      expect(routing.counters.peakInFlight, 'one after the other').toBe(1);
    });

    for (const variation of VARIATIONS) {
      const [separate, aggregation] = variation.clientBytes;
      it(`${variation.row}: ${separate} bytes by separate calls and by routing, ${aggregation} by aggregation`, async () => {
        await using services = await startVaried(variation);
        await using gateway = await running(services);
        const measure = (way: AccessWay) =>
          measureAccess(way, gateway, services, variation.trackingNo);

        const runs = [
          await measure('separate'),
          await measure('routing'),
          await measure('aggregation'),
        ];

        expect(runs.map(({ clientBytes }) => clientBytes)).toEqual([
          separate,
          separate,
          aggregation,
        ]);
        expect(runs.map(({ counters }) => counters.bayt)).toEqual([0, separate, separate]);
        expect(runs.map(({ counters }) => counters.istek)).toEqual([0, 2, 2]);
        expect(runs.map(({ counters }) => counters.tur)).toEqual([0, 2, 1]);
      });
    }

    it('the barrier: services that answer only once both are asked get both questions', async () => {
      await using services = await startDomainServices({ barrierLimitMs: PATIENCE_MS });
      await using gateway = await running(services);

      const { status, body } = await ask(gateway.port, '/takip/TR-4821');

      expect([status, bytes(body)]).toEqual([200, 183]);
      expect((await readCounters(gateway)).peakInFlight).toBe(2);
    });

    it('a price that does not exist is a hole of 114 bytes, or what else the contract says', async () => {
      await using services = await startDomainServices();
      await using holes = await running(services);
      await using whole = await running({ ...services, contract: 'fail' });
      await using reports = await running({ ...services, contract: 'report' });

      const answers = await Promise.all(
        [holes, whole, reports].map(({ port }) => ask(port, '/takip/TR-9007')),
      );

      expect(answers.map(({ status, body }) => [status, bytes(body)])).toEqual([
        [200, 114],
        [404, 21],
        [200, 132],
      ]);
      expect(answers.map(({ headers }) => headers['content-type'])).toEqual(
        Array(3).fill('application/json'),
      );
    });

    for (const behaviour of ['never answers', 'stalls'] as const) {
      for (const service of ['durum', 'ucret'] as const) {
        it(`a ${service} service that ${behaviour} is a 504, for routing and for aggregation`, async () => {
          await using services = await startDomainServices();
          services[service].behaviour = behaviour;
          await using gateway = await running({ ...services, timeoutMs: 50 });

          const answers = await within(
            Promise.all(
              ['/takip/TR-4821', `/takip/TR-4821/${service}`].map((target) =>
                ask(gateway.port, target),
              ),
            ),
            'two answers',
            SILENCE_LIMIT_MS,
          );

          expect(answers.map(({ status, body }) => ({ status, body }))).toEqual([
            GATEWAY_TIMEOUT,
            GATEWAY_TIMEOUT,
          ]);
        });
      }
    }

    it('a service that has stopped is a 502, and the next request works', async () => {
      await using services = await startDomainServices();
      await using gateway = await running(services);
      await services.ucret.close();

      const broken = await ask(gateway.port, '/takip/TR-4821');
      const routed = await ask(gateway.port, '/takip/TR-4821/ucret');
      const next = await ask(gateway.port, '/takip/TR-4821/durum');

      expect([broken.status, broken.body]).toEqual([502, REFUSALS.unreachable]);
      expect([routed.status, routed.body]).toEqual([502, REFUSALS.unreachable]);
      expect([next.status, next.body]).toEqual([200, STATUS_TEXT]);
    });

    it('stopped is not "no price": a report says that pricing could not be reached', async () => {
      await using services = await startDomainServices();
      await using gateway = await running({ ...services, contract: 'report' });
      await services.ucret.close();

      const { status, body } = await ask(gateway.port, '/takip/TR-4821');

      expect([status, bytes(body)]).toEqual([200, 153]);
      expect(JSON.parse(body).ulasilamayan).toEqual(['ucret']);
    });

    it('a 500 and a body that is no object are failures, and their bytes count', async () => {
      await using services = await startDomainServices();
      services.ucret.behaviour = { status: 500, body: '{"hata":"ic"}' };
      services.durum.behaviour = { status: 200, body: '[]' };
      await using gateway = await running(services);

      const { status } = await ask(gateway.port, '/takip/TR-4821');

      expect(status).toBe(502);
      expect((await readCounters(gateway)).bayt).toBe(15);
    });

    it('after fifty bad requests it still answers, and no service has heard of them', async () => {
      await using services = await startDomainServices();
      await using gateway = await running(services);
      // `*` is no target for a GET that Node's client would send.
      const targets = NOWHERE.filter((target) => target.startsWith('/'));

      using client = openClient(gateway.port);
      for (let number = 0; number < 50; number++) {
        const target = targets[number % targets.length] as string;
        const { status, body } = await client.send(target);
        expect([status, body], target).toEqual([404, REFUSALS.notFound]);
      }

      expect((await client.send('/takip/TR-4821')).body).toBe(COMBINED_TEXT);
      expect([...services.durum.asked, ...services.ucret.asked]).toHaveLength(2);
    });

    it('a target that is no path, and no request at all, do not end it', async () => {
      await using services = await startDomainServices();
      await using gateway = await running(services);

      const asterisk = await rawExchange(
        gateway.port,
        'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      );
      const noise = await rawExchange(gateway.port, 'takip TR-4821\r\n\r\n');

      expect(asterisk.text).toMatch(/^HTTP\/1\.1 404 /);
      expect(noise.text).toMatch(/^HTTP\/1\.1 400 /);
      expect((await ask(gateway.port, '/takip/TR-4821')).status).toBe(200);
    });

    it('a number travels through both paths and stays one segment', async () => {
      await using services = await startDomainServices();
      await using gateway = await running(services);
      services.durum.records.set('TR/1', { durum: 'kabul' });

      const slash = await ask(gateway.port, '/takip/TR%2F1');
      const dots = await ask(gateway.port, '/takip/../durum');

      expect([slash.status, slash.body]).toEqual([
        200,
        '{"takipNo":"TR/1","durum":"kabul","ucret":null}',
      ]);
      expect(dots.status).toBe(404);
      expect(services.durum.asked).toEqual(['/durum/TR%2F1', '/durum/..']);
      expect(services.ucret.asked).toEqual(['/ucret/TR%2F1']);
    });

    it('a map without both parts, and a time that no timer knows, are refused', async () => {
      const serviceMap = new Map([
        ['durum', 1],
        ['ucret', 2],
      ]);
      await expectRefusal(() => running({ serviceMap: new Map([['durum', 1]]) }), 'serviceMap');
      await expectRefusal(() => running({ serviceMap: new Map([['ucret', 1]]) }), 'serviceMap');
      for (const timeoutMs of [0, -1, Number.NaN, Infinity, 2 ** 31]) {
        await expectRefusal(() => running({ serviceMap, timeoutMs }), 'timeoutMs');
      }
    });

    it('close() cuts what is open on both sides, and then nobody listens', async () => {
      await using services = await startDomainServices();
      services.durum.behaviour = 'never answers';
      await using gateway = await running({ ...services, timeoutMs: 60_000 });

      const answer = ask(gateway.port, '/takip/TR-4821').catch((error: Error) => error);
      await askedAt(services.durum);
      await within(gateway.close(), 'close()');

      expect(await answer).toBeInstanceOf(Error);
      expect(await endedAt(services.durum)).toBe(1);
      await expect(ask(gateway.port, '/sayac')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });

    it('close({ drain: true }) lets a running request have its answer', async () => {
      await using services = await startDomainServices({ barrierLimitMs: 60_000 });
      await using gateway = await running({ ...services, timeoutMs: 60_000 });

      const answer = ask(gateway.port, '/takip/TR-4821/durum');
      await askedAt(services.durum);
      const closing = gateway.close({ drain: true });
      await expect(ask(gateway.port, '/sayac')).rejects.toThrow();
      await ask(services.ucret.port, '/ucret/TR-4821'); // now both are asked, and delivery goes on

      expect((await within(answer, 'the answer')).body).toBe(STATUS_TEXT);
      await within(closing, 'the drained gateway to close');
    });
  });

  // Predict first: half the requests. Is it half the bandwidth, too?
  describe('Exercise 12.7: what it costs at the peak', lesson.exercise('12.7'), () => {
    const measured = {
      statusBytes: bytes(STATUS_TEXT),
      priceBytes: bytes(PRICE_TEXT),
      combinedBytes: bytes(COMBINED_TEXT),
    };
    const published: Parameters<typeof aggregationEffect>[0] = {
      peakReadsPerSecond: K01.peakReads,
      trackingBodyBytes: K01.bodyBytes,
      ...measured,
      priceShare: PUBLISHED.priceShare,
    };
    const effect = (changes: Partial<typeof published> = {}) =>
      aggregationEffect({ ...published, ...changes });
    /** Rates and egress of both layouts, as printed. */
    const printed = ({ separate, aggregation }: ReturnType<typeof effect>) =>
      [separate, aggregation]
        .map(
          ({ requestsPerSecond, megabitPerSecond }) =>
            `${requestsPerSecond.toFixed(2)}/s ${megabitPerSecond.toFixed(2)}`,
        )
        .join(', ');

    it('half the requests and nearly the same egress: bytes follow the fields, not the envelopes', () => {
      const { separate, aggregation, requestRatio, egressRatio } = effect();

      expect(published.peakReadsPerSecond).toBePublished('12.given.k01.peakReads');
      expect(published.priceShare).toBePublished('12.given.priceShare');
      expect(separate.requestsPerSecond).toBePublished('12.load.separate.rate');
      expect(separate.bytesPerRequest).toBePublished('12.load.separate.body');
      expect(separate.megabitPerSecond).toBePublished('12.load.separate.egress');
      expect(aggregation.requestsPerSecond).toBePublished('12.load.aggregation.rate');
      expect(aggregation.bytesPerRequest).toBePublished('12.load.aggregation.body');
      expect(aggregation.megabitPerSecond).toBePublished('12.load.aggregation.egress');
      expect(requestRatio).toBePublished('12.ratio.requests');
      expect(egressRatio).toBePublished('12.ratio.egress');
    });

    it('without the price both layouts are the baseline: 1.60 Mbit/s, which nobody reaches any more', () => {
      const { separate, aggregation, requestRatio, egressRatio } = effect({ priceShare: 0 });

      expect(separate).toEqual(aggregation);
      expect([requestRatio, egressRatio]).toEqual([1, 1]);
      expect(separate.requestsPerSecond).toBePublished('12.load.k01.rate');
      expect(separate.bytesPerRequest).toBePublished('12.load.k01.body');
      expect(separate.megabitPerSecond).toBePublished('12.load.k01.egress');
      expect(published.trackingBodyBytes).toBePublished('12.given.k01.trackingBody');
      expect(separate.megabitPerSecond).toBePublished('12.given.k01.egress');
      expect(separate.megabitPerSecond).toBeCloseTo(K01.readEgressMbit, 2);
    });

    it('if forty percent of the views want the price, both layouts send about 2 Mbit/s', () => {
      const { separate, aggregation } = effect({ priceShare: PUBLISHED.lowPriceShare });

      expect(PUBLISHED.lowPriceShare).toBePublished('12.given.priceShare.alternative');
      expect(PUBLISHED.lowPriceShare * 100).toBePublished('12.priceShare040.percent');
      expect(separate.requestsPerSecond).toBePublished('12.priceShare040.separate.rate');
      expect(separate.megabitPerSecond).toBePublished('12.priceShare040.separate.egress');
      expect(aggregation.requestsPerSecond).toBePublished('12.priceShare040.aggregation.rate');
      expect(aggregation.megabitPerSecond).toBePublished('12.priceShare040.aggregation.egress');
    });

    for (const [priceShare, expected] of [
      [0, '416.67/s 1.60, 416.67/s 1.60'],
      [0.1, '458.34/s 1.71, 416.67/s 1.69'],
      [0.25, '520.84/s 1.87, 416.67/s 1.84'],
      [0.6, '666.67/s 2.26, 416.67/s 2.17'],
      [0.75, '729.17/s 2.42, 416.67/s 2.31'],
    ] as const) {
      it(`S1, share ${priceShare}: ${expected} Mbit/s`, () => {
        expect(printed(effect({ priceShare }))).toBe(expected);
      });
    }

    for (const [row, changes, expected, atLowShare] of [
      [
        'S2, a body of 960 bytes',
        { trackingBodyBytes: 960 },
        '833.34/s 5.40, 416.67/s 5.09',
        '583.34/s 4.08, 416.67/s 3.96',
      ],
      [
        'S3, 1000 views/s',
        { peakReadsPerSecond: 1_000 },
        '2000.00/s 6.48, 1000.00/s 6.11',
        '1400.00/s 4.90, 1000.00/s 4.75',
      ],
      [
        'S4, six route steps',
        { statusBytes: 130, combinedBytes: 198 },
        '833.34/s 2.57, 416.67/s 2.44',
        '583.34/s 1.99, 416.67/s 1.93',
      ],
      [
        'S5, three letters of two bytes',
        { statusBytes: 118, combinedBytes: 186 },
        '833.34/s 2.67, 416.67/s 2.52',
        '583.34/s 2.03, 416.67/s 1.97',
      ],
      [
        'S6, a fifth price field',
        { priceBytes: 98 },
        '833.34/s 2.96, 416.67/s 2.55',
        '583.34/s 2.15, 416.67/s 1.98',
      ],
    ] as const) {
      it(`${row}: ${expected} Mbit/s`, () => {
        expect(printed(effect(changes))).toBe(expected);
        expect(printed(effect({ ...changes, priceShare: 0.4 }))).toBe(atLowShare);
      });
    }

    for (const [row, changes, separateBytes, combinedBytes, ratio] of [
      ['S2', { trackingBodyBytes: 960 }, 810, 1_528, '0.94'],
      ['S4', { statusBytes: 130, combinedBytes: 198 }, 386, 731, '0.95'],
      ['S5', { statusBytes: 118, combinedBytes: 186 }, 401, 757, '0.94'],
      ['S6', { priceBytes: 98 }, 445, 764, '0.86'],
      ['S7', { statusBytes: 101, priceBytes: 21, combinedBytes: 114 }, 290, 542, '0.93'],
    ] as const) {
      it(`${row}: a mean of ${separateBytes} bytes by separate calls, ${combinedBytes} by aggregation, egress x${ratio}`, () => {
        const { separate, aggregation, egressRatio } = effect(changes);

        expect(separate.bytesPerRequest.toFixed(0)).toBe(String(separateBytes));
        expect(aggregation.bytesPerRequest.toFixed(0)).toBe(String(combinedBytes));
        expect(egressRatio.toFixed(2)).toBe(ratio);
      });
    }

    it('the ratios are those of one view: they hold at night too, when nobody asks', () => {
      const { separate, aggregation, requestRatio, egressRatio } = effect({
        peakReadsPerSecond: 0,
      });

      expect([separate.megabitPerSecond, aggregation.megabitPerSecond]).toEqual([0, 0]);
      expect([requestRatio, egressRatio]).toEqual([0.5, 183 / 194]);
    });

    it('requests times their mean body is the egress, and the ratios are those of the loads', () =>
      expectLaw(
        {
          peakReadsPerSecond: fc.double({ min: 1, max: 1e5, noNaN: true }),
          statusBytes: fc.integer({ min: 1, max: 1_000 }),
          priceBytes: fc.integer({ min: 0, max: 1_000 }),
          combinedBytes: fc.integer({ min: 1, max: 2_000 }),
          priceShare: fc.double({ min: 0, max: 1, noNaN: true }),
        },
        (input) => {
          const { separate, aggregation, requestRatio, egressRatio } = effect(input);
          for (const load of [separate, aggregation]) {
            expect((load.requestsPerSecond * load.bytesPerRequest * 8) / 1e6).toBeCloseTo(
              load.megabitPerSecond,
              6,
            );
          }
          expect(aggregation.requestsPerSecond / separate.requestsPerSecond).toBeCloseTo(
            requestRatio,
            9,
          );
          // Compared as a product: an egress of 0 has no quotient.
          expect(
            aggregation.megabitPerSecond / separate.megabitPerSecond / egressRatio,
          ).toBeCloseTo(1, 9);
        },
      ));

    for (const field of Object.keys(published) as (keyof typeof published)[]) {
      it(`${field} has to be finite, and not negative`, () => {
        for (const value of [-1, Number.NaN, Infinity, -Infinity]) {
          expectRefusal(() => effect({ [field]: value }), field);
        }
      });
    }

    it('a status of 0 bytes has no ratio to anything, and a share is at most 1', () => {
      expectRefusal(() => effect({ statusBytes: 0 }), 'statusBytes');
      expectRefusal(() => effect({ priceShare: 1.01 }), 'priceShare');
      expectRefusal(() => effect({ priceShare: 40 }), 'priceShare');
    });
  });
});
