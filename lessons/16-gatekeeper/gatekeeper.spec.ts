// Lesson 16: gatekeeper
//
// Part of what arrives at the edge can never be answered: old clients, broken tokens, bodies that
// are too large. From lesson 13 you know the rule that says which checks may move to the edge. Here
// they become a gate of its own, which answers one question only: may this request reach the
// application? You leave with a gate that believes a stranger where he speaks against himself, and
// nowhere else, and with the reason why it replaces none of the application's own checks.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
import { createServer } from 'node:http';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { type Answer, openClient } from '#helpers/lesson/client.ts';
import { attachFigure } from '#helpers/lesson/figure.ts';
import { listen, startHttpServer } from '#helpers/lesson/http-server.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { openRawConnection, rawExchange } from '#helpers/lesson/raw.ts';
import { startTcpServer } from '#helpers/lesson/tcp-server.ts';
import { gate as closedGate, eventually, within } from '#helpers/lesson/waiting.ts';
import {
  applicationChecks,
  createGatekeeper,
  gateChecks,
  gateEffect,
  placeCheck,
  startGatekeeper,
} from './exercise.ts';
import { draftApplicationChecks, draftGateChecks } from './first-draft.ts';
import {
  BASELINE,
  BODY_LIMIT,
  CHECKS,
  DOMAIN_INPUTS,
  type ForwardClean,
  type GateRequest,
  INVALID_SHARE,
  INVALID_SHARE_DOUBLED,
  LAYOUTS,
  RECORDS,
  REQUEST_PARTS,
  SERVICES,
} from './given.ts';
import { type Cell, type Outcome, requestGrid } from './grid-figure.ts';
import {
  answerBehindGate,
  askRaw,
  chunked,
  INVITATION,
  parseAnswer,
  rawRequest,
  startApplication,
  startPassThrough,
} from './harness.ts';
import {
  BASE_REQUEST,
  BODY_BYTES,
  FLAWS,
  type Flaw,
  PERIOD,
  paddedBody,
  requestSet,
  toHttp,
} from './requests.ts';

const lesson = openLesson(import.meta.url);

const TOKEN = 'b.M7.imza';
const GOOD_BODY = paddedBody('TR-4821', BODY_BYTES.base);
const REFUSALS = {
  yol: { status: 404, body: '{"hata":"yol"}', bytes: 14 },
  yontem: { status: 405, body: '{"hata":"yontem"}', bytes: 17 },
  boyut: { status: 413, body: '{"hata":"boyut"}', bytes: 16 },
  belirtec: { status: 401, body: '{"hata":"belirtec"}', bytes: 19 },
  sema: { status: 400, body: '{"hata":"sema"}', bytes: 15 },
  bulunamadi: { status: 404, body: '{"hata":"bulunamadi"}', bytes: 21 },
  yetki: { status: 403, body: '{"hata":"yetki"}', bytes: 16 },
  ulasilamadi: { status: 502, body: '{"hata":"ulasilamadi"}', bytes: 22 },
} as const;

/** Tracking numbers and tokens that contain something like a good one, and are none. */
const BAD_NUMBERS = [
  'tr-4821',
  'TR-48210',
  'TR-482',
  ' TR-4821',
  'TR-4821\n',
  'TR-4821\r\nx-kimlik: M3',
  'TR-\uff14\uff18\uff12\uff11',
  'xTR-4821',
  '__proto__',
  'constructor',
  '',
];
const BAD_TOKENS = [
  'b.M.imza',
  'B.M7.imza',
  'b.M7.imza ',
  'xb.M7.imza',
  'b.M7.imzax',
  'b.M\uff17.imza',
  'b.M7.imza\n',
  'bxM7ximza',
  'b.M7',
  'b.M7.sahte',
  'b.__proto__.imza',
  'Bearer b.M7.imza',
  'bozuk',
  '',
];

/** Sends the requests of a set, one after another. */
const sendAll = async (port: number, requests: readonly GateRequest[]): Promise<Answer[]> => {
  using client = openClient(port);
  const answers: Answer[] = [];
  for (const request of requests) {
    const { path, ...ask } = toHttp(request);
    answers.push(await within(client.send(path, ask), `an answer to ${path}`));
  }
  return answers;
};

/** How many there are of each, such as `{ '200': 30 }`. */
const countBy = (values: readonly (string | number)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

const SIXTY_STATUSES = { '200': 30, '400': 5, '401': 5, '403': 5, '404': 10, '413': 5 };

const outcomeOf = ({ status, body }: Answer): Outcome => {
  if (status === 200) return 'answered';
  const byRecord = [REFUSALS.bulunamadi.body, REFUSALS.yetki.body] as string[];
  return byRecord.includes(body) ? 'refused: the record shows it' : 'held: the request shows it';
};

const cellsOf = (answers: readonly Answer[]): Cell[] =>
  answers.map((answer) => ({ status: answer.status, outcome: outcomeOf(answer) }));

describe('Lesson 16: gatekeeper', () => {
  it('six kinds of flaws, five times each: every second request of the set is invalid', () => {
    const requests = requestSet();
    const kinds = requests.flatMap((_, i) => FLAWS.get(i % PERIOD)?.kind ?? []);

    expect(requests.length).toBePublished('16.given.requests');
    expect(PERIOD).toBePublished('16.given.period');
    expect(FLAWS.size).toBePublished('16.given.flawKinds');
    for (const times of Object.values(countBy(kinds))) {
      expect(times).toBePublished('16.given.perKind');
    }
    // A comment in the code that this set comes from says one in twelve.
    expect(kinds.length / requests.length).toBe(6 / 12);
    const { base, oversize } = BODY_BYTES;
    expect(requests[0]?.govdeBayt).toBePublished('16.given.baseBodyBytes');
    expect(requests[8]?.govdeBayt).toBePublished('16.given.oversizeBodyBytes');
    expect(requests.map((request) => toHttp(request).body.length)).toEqual(
      requests.map((_, i) => (i % PERIOD === 8 ? oversize : base)),
    );
  });

  it('without a gate all sixty requests and 51600 bytes reach the application, which refuses thirty', async ({
    annotate,
  }) => {
    await using application = await startApplication({ behindGate: false });
    await using passThrough = await startPassThrough(application.port);

    const answers = await sendAll(passThrough.port, requestSet());

    const cells = cellsOf(answers);
    await attachFigure(annotate, {
      title: 'Of thirty invalid requests, twenty show it themselves',
      facts: [
        '30 requests are answered with 200',
        'Of each twelve, requests 6 to 9 are invalid by what they are: 404, 400, 413, 401',
        'Requests 10 and 11 are invalid by what the application knows: 404 and 403',
      ],
      option: () => requestGrid(cells),
    });
    expect(countBy(answers.map(({ status }) => status))).toEqual(SIXTY_STATUSES);
    expect(countBy(cells.map(({ outcome }) => outcome))).toEqual({
      answered: 30,
      'held: the request shows it': 20,
      'refused: the record shows it': 10,
    });
    expect(application.arrivals.length).toBePublished('16.layout.none.reachingRequests');
    expect(application.bytes).toBePublished('16.layout.none.reachingBytes');
    const invalid = answers.filter(({ status }) => status !== 200);
    expect(invalid.length).toBePublished('16.layout.none.reachingInvalid');
  });

  it('a gate splits validation, it does not move it: the units that carry checks grow from 3 to 4', () => {
    const { none, gate } = LAYOUTS;

    expect(SERVICES.length).toBePublished('16.given.services');
    expect(none.touchRawInput.length).toBePublished('16.layout.none.unitsTouchingRawInput');
    expect(none.publicAddresses.length).toBePublished('16.layout.none.publicAddresses');
    expect(none.carryChecks.length).toBePublished('16.layout.none.unitsWithChecks');
    expect(gate.touchRawInput.length).toBePublished('16.layout.gate.unitsTouchingRawInput');
    expect(gate.publicAddresses.length).toBePublished('16.layout.gate.publicAddresses');
    expect(gate.carryChecks.length).toBePublished('16.layout.gate.unitsWithChecks');
  });

  it('checks that judge all sixty requests as they should may be open to the next one', () => {
    const { sema, belirtec } = draftGateChecks(BODY_LIMIT);
    const { varlik, yetki } = draftApplicationChecks(RECORDS);
    const ask = (takipNo: unknown, token = TOKEN): GateRequest => ({
      ...BASE_REQUEST,
      takipNo,
      belirtec: token,
    });

    // It contains something like a tracking number, or becomes one when it is made a text.
    expect(sema?.(ask('TR-48210'))).toBe(true);
    expect(sema?.(ask(['TR-4821']))).toBe(true);
    expect(belirtec?.(ask('TR-4821', 'xb.M7.imza'))).toBe(true);
    // No owner is the same as no identity: undefined === undefined.
    expect(yetki?.(ask('TR-0001', 'bozuk'))).toBe(true);
    // Every object has a `__proto__`, and that one has no owner either.
    expect([varlik, yetki].map((check) => check?.(ask('__proto__', 'bozuk')))).toEqual([
      true,
      true,
    ]);
  });

  it('whoever walks around the gate is whoever he says he is: 0 of 3 services are protected', async () => {
    await using takip = await startApplication();
    await using olay = await startApplication();
    await using ucret = await startApplication();
    // The gate writes this field, and nothing proves that it did.
    const forged = rawRequest({
      token: undefined,
      fields: ['x-kimlik: M3', 'content-length: 120', 'connection: close'],
      body: paddedBody('TR-9007', 120),
    });

    const services = [takip, olay, ucret];
    const answers = await Promise.all(services.map(({ port }) => askRaw(port, forged)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const open = answers.filter(({ status }) => status === 200).length;
    expect(SERVICES.length - open).toBePublished('16.trust.gateBypassed.protected');
  });

  it('unknown shipments are never in a cache: 1.3 % of the reads are 13.3 % of those behind it', () => {
    // One factor for all three rates takes invalid requests that hit the cache as often as others.
    const share = INVALID_SHARE / FLAWS.size;
    const unknown = K01.peakReads * share;

    expect((share * 100).toFixed(1)).toBe('1.3');
    expect(((unknown / K01.readsBehindCache) * 100).toFixed(1)).toBe('13.3');
  });

  describe('what Node decides before any listener runs', () => {
    const FRAMING: readonly [string, number, string][] = [
      [
        'two content-length fields',
        400,
        rawRequest({ fields: ['content-length: 2', 'content-length: 9000'], body: '{}' }),
      ],
      [
        'two that say the same',
        400,
        rawRequest({ fields: ['content-length: 2', 'content-length: 2'], body: '{}' }),
      ],
      [
        'a length and chunks',
        400,
        rawRequest({
          fields: ['content-length: 2', 'transfer-encoding: chunked'],
          body: chunked('{}'),
        }),
      ],
      ['a negative length', 400, rawRequest({ fields: ['content-length: -1'] })],
      [
        'a line break that continues a field',
        400,
        rawRequest({ fields: ['a: b', ' x-kimlik: M3'] }),
      ],
      ['a bare carriage return in a field', 400, rawRequest({ token: `${TOKEN}\rx-kimlik: M3` })],
      ['a bare line feed in a field', 400, rawRequest({ token: `${TOKEN}\nx-kimlik: M3` })],
      ['a space before the colon', 400, rawRequest({ fields: ['x-kimlik : M3'] })],
      ['a request line without spaces', 400, 'POST/takip\r\n\r\n'],
      ['17 KB of fields', 431, rawRequest({ fields: [`a: ${'x'.repeat(17_000)}`] })],
      [
        'an expectation that nobody knows',
        417,
        rawRequest({ fields: ['expect: tea', 'connection: close'] }),
      ],
    ];
    for (const [what, status, request] of FRAMING) {
      it(`${what}: ${status}, and the listener is not called`, async () => {
        const listener = vi.fn();
        await using server = await startHttpServer(listener);

        const answer = await askRaw(server.port, request);

        expect(answer.status).toBe(status);
        expect(listener).not.toHaveBeenCalled();
      });
    }

    it('a body that is announced is invited, 9000 bytes as well, unless somebody sees to it', async () => {
      const listener = vi.fn((_request, response) => response.writeHead(413).end());
      await using server = await startHttpServer(listener);
      const head = rawRequest({ fields: ['expect: 100-continue', 'content-length: 9000'] });

      const { text } = await within(
        rawExchange(server.port, head, { until: (received) => received.includes('413') }),
        'the refusal',
      );

      expect(text.startsWith(INVITATION)).toBe(true);
      expect(listener).toHaveBeenCalledOnce();
    });
  });

  // Predict first: which of TR-4821, TR-48210, ['TR-4821'] and TR-4821 with a line break behind it
  // does the pattern /TR-\d{4}/ let through?
  describe('Exercise 16.1: what the request itself shows', lesson.exercise('16.1'), () => {
    const checks = () => gateChecks({ maxBodyBytes: BODY_LIMIT });

    it('all four pass an ordinary request, and each fails its flaw and no other', () => {
      expect(BODY_LIMIT).toBePublished('16.given.bodyLimit');
      const { yol, sema, boyut, belirtec } = checks();
      const failed = [...FLAWS.values()].map(({ kind, change }) => {
        const request = { ...BASE_REQUEST, ...change };
        const verdicts = {
          yol: yol(request),
          sema: sema(request),
          boyut: boyut(request),
          belirtec: belirtec(request),
        };
        return [kind, Object.entries(verdicts).flatMap(([name, passed]) => (passed ? [] : name))];
      });

      expect([yol, sema, boyut, belirtec].map((check) => check(BASE_REQUEST))).toEqual([
        true,
        true,
        true,
        true,
      ]);
      expect(Object.fromEntries(failed)).toEqual({
        'unknown path': ['yol'],
        'no tracking number': ['sema'],
        oversize: ['boyut'],
        'malformed token': ['belirtec'],
        'unknown shipment': [],
        "somebody else's shipment": [],
      });
    });

    it('only /takip is /takip', () => {
      const { yol } = checks();
      for (const path of ['/takip/', '/TAKIP', '//takip', '/takip?x', '/takips', 'takip', '']) {
        expect(yol({ ...BASE_REQUEST, yol: path }), path).toBe(false);
      }
    });

    for (const takipNo of BAD_NUMBERS) {
      it(`the tracking number ${JSON.stringify(takipNo)} has not the form`, () => {
        expect(checks().sema({ ...BASE_REQUEST, takipNo })).toBe(false);
      });
    }

    for (const takipNo of [
      undefined,
      null,
      4821,
      true,
      ['TR-4821'],
      { toString: () => 'TR-4821' },
    ]) {
      const shown =
        typeof takipNo === 'object' && takipNo !== null ? JSON.stringify(takipNo) : takipNo;
      it(`a tracking number that is no text has not the form: ${shown}`, () => {
        expect(checks().sema({ ...BASE_REQUEST, takipNo })).toBe(false);
      });
    }

    it('a request without the field fails the check, and throws nothing', () => {
      const bare = { yol: '/takip', govdeBayt: 0 };
      expect(checks().sema(bare)).toBe(false);
      expect(checks().belirtec(bare)).toBe(false);
    });

    for (const token of BAD_TOKENS) {
      it(`the token ${JSON.stringify(token)} has not the form`, () => {
        expect(checks().belirtec({ ...BASE_REQUEST, belirtec: token })).toBe(false);
      });
    }

    it('a token that is no text has not the form', () => {
      for (const belirtec of [undefined, null, 7, [TOKEN], { toString: () => TOKEN }]) {
        expect(checks().belirtec({ ...BASE_REQUEST, belirtec })).toBe(false);
      }
    });

    it('a token of the right form passes, whoever wrote it and whenever it expired', () => {
      const { belirtec } = checks();
      for (const token of ['b.M7.imza', 'b.M007.imza', 'b.M3.imza', 'b.M99999999.imza']) {
        expect(belirtec({ ...BASE_REQUEST, belirtec: token }), token).toBe(true);
      }
    });

    for (const limit of [0, 120, BODY_LIMIT, 9_000]) {
      it(`a limit of ${limit} bytes lets ${limit} bytes pass, and one more not`, () => {
        const { boyut } = gateChecks({ maxBodyBytes: limit });
        expect(boyut({ ...BASE_REQUEST, govdeBayt: limit })).toBe(true);
        expect(boyut({ ...BASE_REQUEST, govdeBayt: limit + 1 })).toBe(false);
      });
    }

    it('exactly the numbers of four digits have the form, and exactly the tokens of some', () =>
      expectLaw(
        { digits: fc.stringMatching(/^[0-9]{0,6}$/), around: fc.constantFrom('', ' ', 'x', '\n') },
        ({ digits, around }) => {
          const { sema, belirtec } = checks();
          const takipNo = `TR-${digits}${around}`;
          const token = `${around}b.M${digits}.imza`;
          expect(sema({ ...BASE_REQUEST, takipNo })).toBe(digits.length === 4 && around === '');
          expect(belirtec({ ...BASE_REQUEST, belirtec: token })).toBe(
            digits.length > 0 && around === '',
          );
        },
      ));

    it.for([-1, 0.5, NaN, Infinity])('a limit of %d bytes is refused', (maxBodyBytes) => {
      expectRefusal(() => gateChecks({ maxBodyBytes }), 'maxBodyBytes');
    });
  });

  describe('Exercise 16.2: where a check belongs', lesson.exercise('16.2'), () => {
    it('four checks look at the request alone and two need a record', () => {
      const placed = CHECKS.map((check) => ({ name: check.name, at: placeCheck(check) }));
      const namesAt = (place: string) =>
        placed.flatMap(({ name, at }) => (at === place ? name : []));

      expect(namesAt('gate')).toEqual(['yol', 'sema', 'boyut', 'belirtec']);
      expect(namesAt('application')).toEqual(['varlik', 'yetki']);
      expect(namesAt('gate').length).toBePublished('16.checks.gate');
      expect(namesAt('application').length).toBePublished('16.checks.application');
    });

    it('one input of the domain is enough, wherever it stands', () => {
      expect(placeCheck({ reads: ['gonderi kaydi', 'yol'] })).toBe('application');
      expect(placeCheck({ reads: ['yol', 'gonderi kaydi', 'belirtec'] })).toBe('application');
      expect(placeCheck({ reads: ['gonderi kaydi'] })).toBe('application');
    });

    it('any parts of the request make a check for the gate, and the record moves it away', () =>
      expectLaw(
        { parts: fc.subarray([...REQUEST_PARTS], { minLength: 1 }), at: fc.nat(4) },
        ({ parts, at }) => {
          expect(placeCheck({ reads: parts })).toBe('gate');
          expect(placeCheck({ reads: parts.toSpliced(at, 0, ...DOMAIN_INPUTS) })).toBe(
            'application',
          );
        },
      ));

    for (const input of ['gonderi', 'Yol', 'kota', '__proto__', 'constructor', '']) {
      it(`an input that nobody knows, '${input}', is refused by its name`, () => {
        expectRefusal(() => placeCheck({ reads: ['yol', input] }), input);
        expectRefusal(() => placeCheck({ reads: ['gonderi kaydi', input] }), input);
      });
    }

    it('a check that looks at nothing is refused: at the gate it would decide nothing', () => {
      expectRefusal(() => placeCheck({ reads: [] }), 'reads');
    });
  });

  // Predict first: there is no shipment TR-0001, and `bozuk` is no token. Whose is it?
  describe('Exercise 16.3: what only a record shows', lesson.exercise('16.3'), () => {
    const verdicts = (takipNo: unknown, belirtec: unknown, records = RECORDS) => {
      const { varlik, yetki } = applicationChecks(records);
      const request = { ...BASE_REQUEST, takipNo, belirtec };
      return { varlik: varlik(request), yetki: yetki(request) };
    };

    it('an owner with his token passes both checks', () => {
      expect(verdicts('TR-4821', 'b.M7.imza')).toEqual({ varlik: true, yetki: true });
      expect(verdicts('TR-9007', 'b.M3.imza')).toEqual({ varlik: true, yetki: true });
    });

    for (const [takipNo, token] of [
      ['TR-0001', 'bozuk'],
      ['TR-0001', TOKEN],
      ['__proto__', 'bozuk'],
      ['__proto__', TOKEN],
      ['constructor', 'x'],
      ['toString', 'b.undefined.imza'],
      ['', ''],
    ] as const) {
      it(`there is no shipment '${takipNo}', and it does not belong to the bearer of '${token}'`, () => {
        expect(verdicts(takipNo, token)).toEqual({ varlik: false, yetki: false });
      });
    }

    for (const token of ['b.M3.imza', 'b.M77.imza', 'b.m7.imza', 'x.M7.y', ...BAD_TOKENS]) {
      it(`TR-4821 exists, and does not belong to the bearer of ${JSON.stringify(token)}`, () => {
        expect(verdicts('TR-4821', token)).toEqual({ varlik: true, yetki: false });
      });
    }

    it('what is no text is no shipment and no token, and throws nothing', () => {
      for (const value of [undefined, null, 4821, ['TR-4821'], {}]) {
        expect(verdicts(value, value)).toEqual({ varlik: false, yetki: false });
        expect(verdicts('TR-4821', value)).toEqual({ varlik: true, yetki: false });
      }
      const bare = { yol: '/takip', govdeBayt: 0 };
      const { varlik, yetki } = applicationChecks(RECORDS);
      expect([varlik(bare), yetki(bare)]).toEqual([false, false]);
    });

    for (const owner of ['__proto__', 'constructor', 'undefined', '']) {
      it(`an owner called '${owner}' is nobody whom a token can name`, () => {
        const records = new Map([['TR-1111', { owner }]]);
        expect(verdicts('TR-1111', `b.${owner}.imza`, records)).toEqual({
          varlik: true,
          yetki: false,
        });
      });
    }

    it('a shipment without an owner belongs to nobody, a token without an identity least of all', () => {
      const records = new Map([['TR-1111', {} as { owner: string }]]);
      for (const token of ['bozuk', TOKEN, undefined]) {
        expect(verdicts('TR-1111', token, records)).toEqual({ varlik: true, yetki: false });
      }
    });

    it('the form of a tracking number is not its business, only whether there is a record', () => {
      const records = new Map([['eski numara', { owner: 'M7' }]]);
      expect(verdicts('eski numara', TOKEN, records)).toEqual({ varlik: true, yetki: true });
      expect(verdicts('TR-4821', TOKEN, records)).toEqual({ varlik: false, yetki: false });
    });

    it('a record that is added later is found', () => {
      const records = new Map(RECORDS);
      const { varlik } = applicationChecks(records);
      records.set('TR-0001', { owner: 'M7' });
      expect(varlik({ ...BASE_REQUEST, takipNo: 'TR-0001' })).toBe(true);
    });

    it('behind the gate the ten requests that it could not hold are refused here', () => {
      const { varlik, yetki } = applicationChecks(RECORDS);
      const passed = requestSet().filter((request) =>
        Object.values(draftGateChecks(BODY_LIMIT)).every((check) => check(request)),
      );
      expect(passed.filter((request) => !varlik(request))).toHaveLength(5);
      expect(passed.filter((request) => varlik(request) && !yetki(request))).toHaveLength(5);
    });
  });

  // Predict first: eight of a hundred requests at the edge are invalid, and a gate is built. What is
  // left of 513.89 requests a second?
  describe('Exercise 16.4: what a gate changes', lesson.exercise('16.4'), () => {
    // On the drafts, which judge all of these requests as they should: your own checks are graded
    // above, and whatever is wrong with them doesn't show here.
    const effectOf = ({
      requests = requestSet(),
      limit = BODY_LIMIT,
      invalidShare = INVALID_SHARE as number,
    } = {}) =>
      gateEffect({
        requests,
        gate: draftGateChecks(limit),
        application: draftApplicationChecks(RECORDS),
        invalidShare,
        baseline: BASELINE,
      });
    const rates = ({ load }: ReturnType<typeof gateEffect>) =>
      [load.behindGate, load.reads, load.behindCache].map((rate) => rate.toFixed(2)).join(', ');

    it('the gate holds 20 of 30 invalid requests, and 40 of 60 reach the application', () => {
      const { none, gate, invalid } = effectOf();

      expect(none.reachingRequests).toBePublished('16.layout.none.reachingRequests');
      expect(none.reachingInvalid).toBePublished('16.layout.none.reachingInvalid');
      expect(none.reachingBytes).toBePublished('16.layout.none.reachingBytes');
      expect(gate.reachingRequests).toBePublished('16.layout.gate.reachingRequests');
      expect(gate.reachingInvalid).toBePublished('16.layout.gate.reachingInvalid');
      expect(gate.reachingBytes).toBePublished('16.layout.gate.reachingBytes');
      expect(invalid.total).toBePublished('16.invalid.total');
      expect(invalid.held).toBePublished('16.invalid.held');
      expect(invalid.notHeld).toBePublished('16.invalid.notHeld');
      expect(invalid.heldRatio).toBePublished('16.invalid.heldRatio');
      expect(gate.reachingBytes / none.reachingBytes).toBePublished('16.ratio.bytes');
    });

    it('8 % invalid requests: the gate is no tool for scaling, 0.947 of the load is left', () => {
      const { load } = effectOf({ invalidShare: INVALID_SHARE });

      expect(INVALID_SHARE).toBePublished('16.given.invalidShare');
      expect(INVALID_SHARE * 100).toBePublished('16.given.invalidShare.percent');
      expect(load.behindGate).toBePublished('16.load.t3_008.behindGate');
      expect(load.reads).toBePublished('16.load.t3_008.reads');
      expect(load.behindCache).toBePublished('16.load.t3_008.behindCache');
      expect(load.behindGate / K01.peakRate).toBePublished('16.ratio.edge');
    });

    it('16 % invalid requests: twice as many, and still nine tenths of the load', () => {
      const { load } = effectOf({ invalidShare: INVALID_SHARE_DOUBLED });

      expect(INVALID_SHARE_DOUBLED).toBePublished('16.given.invalidShare.alternative');
      expect(INVALID_SHARE_DOUBLED * 100).toBePublished(
        '16.given.invalidShare.alternative.percent',
      );
      expect(load.behindGate).toBePublished('16.load.t3_016.behindGate');
      expect(load.reads).toBePublished('16.load.t3_016.reads');
      expect(load.behindCache).toBePublished('16.load.t3_016.behindCache');
    });

    it('where nothing at the edge is invalid the gate changes no rate', () => {
      const { load } = effectOf({ invalidShare: 0 });

      expect(BASELINE.edge).toBePublished('16.given.k01.peakEdge');
      expect(BASELINE.reads).toBePublished('16.given.k01.peakReads');
      expect(BASELINE.behindCache).toBePublished('16.given.k01.behindCache');
      expect(load.behindGate).toBePublished('16.load.none.behindGate');
      expect(load.reads).toBePublished('16.load.none.reads');
      expect(load.behindCache).toBePublished('16.load.none.behindCache');
    });

    it('five bodies make 96 % of the bytes that the gate saves', () => {
      const { none, gate } = effectOf();
      const oversized = requestSet().filter(({ govdeBayt }) => govdeBayt > BODY_LIMIT);
      const bytes = oversized.length * BODY_BYTES.oversize;

      expect(bytes).toBe(45_000);
      expect((bytes / (none.reachingBytes - gate.reachingBytes)).toFixed(2)).toBe('0.96');
    });

    it('with your own checks of 16.1 and 16.3 it is the same', () => {
      const own = gateEffect({
        requests: requestSet(),
        gate: gateChecks({ maxBodyBytes: BODY_LIMIT }),
        application: applicationChecks(RECORDS),
        invalidShare: INVALID_SHARE,
        baseline: BASELINE,
      });
      expect(own.invalid.held).toBePublished('16.invalid.held');
      expect(own).toEqual(effectOf());
    });

    /** Flaws as they are, with some of them taken out, added or changed. */
    const flaws = (changes: Record<number, Partial<GateRequest> | undefined>) => {
      const changed = new Map<number, Flaw>(FLAWS);
      for (const [i, change] of Object.entries(changes)) {
        if (change) changed.set(Number(i), { kind: 'changed', change });
        else changed.delete(Number(i));
      }
      return changed;
    };
    const oversize = { govdeBayt: BODY_BYTES.oversize };
    const variations: {
      row: string;
      requests?: GateRequest[];
      limit?: number;
      reach: [none: number, gate: number];
      invalid: [none: number, gate: number];
      bytes: [none: number, gate: number];
      heldRatio: string;
      at8?: string;
      at16?: string;
    }[] = [
      {
        row: 'S1: 61 requests',
        requests: requestSet({ count: 61 }),
        reach: [61, 41],
        invalid: [30, 10],
        bytes: [51_720, 4_920],
        heldRatio: '0.667',
      },
      {
        row: 'S1: 72 requests',
        requests: requestSet({ count: 72 }),
        reach: [72, 48],
        invalid: [36, 12],
        bytes: [61_920, 5_760],
        heldRatio: '0.667',
      },
      {
        row: 'S1: 120 requests',
        requests: requestSet({ count: 120 }),
        reach: [120, 80],
        invalid: [60, 20],
        bytes: [103_200, 9_600],
        heldRatio: '0.667',
      },
      {
        row: 'S2: a limit of 120 bytes, which is inclusive',
        limit: 120,
        reach: [60, 40],
        invalid: [30, 10],
        bytes: [51_600, 4_800],
        heldRatio: '0.667',
        at8: '486.48, 394.45, 39.45',
      },
      {
        row: 'S3: a limit of 9000 bytes',
        limit: 9_000,
        reach: [60, 45],
        invalid: [25, 10],
        bytes: [51_600, 49_800],
        heldRatio: '0.600',
        at8: '489.22, 396.67, 39.67',
        at16: '464.56, 376.67, 37.67',
      },
      {
        row: 'S4: a limit of 100 bytes',
        limit: 100,
        reach: [60, 0],
        invalid: [60, 0],
        bytes: [51_600, 0],
        heldRatio: '1.000',
        at8: '472.78, 383.34, 38.34',
      },
      {
        row: 'S5: only flaws that the request shows',
        requests: requestSet({ flaws: flaws({ 10: undefined, 11: undefined }) }),
        reach: [60, 40],
        invalid: [20, 0],
        bytes: [51_600, 4_800],
        heldRatio: '1.000',
        at8: '472.78, 383.34, 38.34',
        at16: '431.67, 350.00, 35.00',
      },
      {
        row: 'S6: twice as many bodies that are too large',
        requests: requestSet({ flaws: flaws({ 3: oversize }) }),
        reach: [60, 35],
        invalid: [35, 10],
        bytes: [96_000, 4_200],
        heldRatio: '0.714',
        at8: '484.52, 392.86, 39.29',
        at16: '455.16, 369.05, 36.91',
      },
      {
        row: 'S7: all ask for TR-9007 as M3, so that one kind is no flaw',
        requests: requestSet({
          base: { ...BASE_REQUEST, takipNo: 'TR-9007', belirtec: 'b.M3.imza' },
        }),
        reach: [60, 40],
        invalid: [25, 5],
        bytes: [51_600, 4_800],
        heldRatio: '0.800',
        at8: '481.00, 390.00, 39.00',
        at16: '448.11, 363.34, 36.34',
      },
      {
        row: 'S8: two flaws at once count once',
        requests: requestSet({
          flaws: flaws({
            6: { yol: '/yok', ...oversize },
            7: { takipNo: undefined, belirtec: 'bozuk' },
            9: { belirtec: 'bozuk', takipNo: 'TR-0001' },
          }),
        }),
        reach: [60, 40],
        invalid: [30, 10],
        bytes: [96_000, 4_800],
        heldRatio: '0.667',
      },
    ];
    for (const {
      row,
      requests,
      limit,
      reach,
      invalid,
      bytes,
      heldRatio,
      at8,
      at16,
    } of variations) {
      it(`${row}: ${reach.join(' to ')} requests, ${invalid.join(' to ')} invalid, h = ${heldRatio}`, () => {
        const input = { ...(requests && { requests }), ...(limit !== undefined && { limit }) };
        const effect = effectOf(input);
        const { none, gate } = effect;

        expect([none.reachingRequests, gate.reachingRequests]).toEqual(reach);
        expect([none.reachingInvalid, gate.reachingInvalid]).toEqual(invalid);
        expect([none.reachingBytes, gate.reachingBytes]).toEqual(bytes);
        expect(effect.invalid.heldRatio.toFixed(3)).toBe(heldRatio);
        if (at8) expect(rates(effect)).toBe(at8);
        if (at16) expect(rates(effectOf({ ...input, invalidShare: 0.16 }))).toBe(at16);
      });
    }

    for (const [invalidShare, expected] of [
      [0.02, '507.04, 411.11, 41.11'],
      [0.04, '500.19, 405.56, 40.56'],
      [0.25, '428.24, 347.23, 34.73'],
      [0.5, '342.59, 277.78, 27.78'],
      [1, '171.30, 138.89, 13.89'],
    ] as const) {
      it(`S9: an invalid share of ${invalidShare} leaves ${expected} requests/s`, () => {
        expect(rates(effectOf({ invalidShare }))).toBe(expected);
      });
    }

    it('0.667 is no property of the checks: it comes from flaws that are equally frequent', () => {
      const heldRatio = (requests: GateRequest[]) => effectOf({ requests }).invalid.heldRatio;
      const often = requestSet({ flaws: flaws({ 3: oversize, 4: oversize, 5: oversize }) });
      const seldom = requestSet({ flaws: flaws({ 6: undefined, 7: undefined, 8: undefined }) });

      expect(heldRatio(requestSet())).toBePublished('16.invalid.heldRatio');
      expect(heldRatio(often)).toBe(35 / 45);
      expect(heldRatio(seldom)).toBe(5 / 15);
    });

    it('a share of formally invalid requests only, as the text defines it, would leave 472.78', () => {
      const formal = requestSet({ flaws: flaws({ 10: undefined, 11: undefined }) });
      const { load, invalid } = effectOf({ requests: formal });

      expect(invalid.heldRatio).toBe(1);
      expect(load.behindGate.toFixed(2)).toBe('472.78');
      expect(load.behindGate).not.toBe(effectOf().load.behindGate);
    });

    it('a set without invalid requests, and one without any, change no rate', () => {
      for (const requests of [[], [BASE_REQUEST]]) {
        const { invalid, load } = effectOf({ requests });
        expect(invalid).toEqual({ total: 0, held: 0, notHeld: 0, heldRatio: 0 });
        expect(load).toEqual({
          behindGate: K01.peakRate,
          reads: K01.peakReads,
          behindCache: K01.readsBehindCache,
        });
      }
    });

    it('what is held and what is not are all of the invalid ones, in any order, under any names', () =>
      expectLaw(
        {
          bits: fc.array(fc.nat(7), { maxLength: 40 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        },
        ({ bits, share }) => {
          const requests = bits.map((bit) => ({ yol: '/', govdeBayt: bit }));
          const passes = (bit: number) => (request: GateRequest) => (request.govdeBayt & bit) !== 0;
          const effectIn = (order: GateRequest[]) =>
            gateEffect({
              requests: order,
              gate: { a: passes(1), b: passes(2) },
              application: { c: passes(4) },
              invalidShare: share,
              baseline: BASELINE,
            });
          const { none, gate, invalid, load } = effectIn(requests);

          expect(none.reachingRequests).toBe(bits.length);
          expect(none.reachingRequests - gate.reachingRequests).toBe(invalid.held);
          expect(gate.reachingRequests).toBe(bits.filter((bit) => (bit & 3) === 3).length);
          expect(invalid.total).toBe(bits.filter((bit) => bit !== 7).length);
          expect([invalid.held + invalid.notHeld, none.reachingInvalid]).toEqual([
            invalid.total,
            invalid.total,
          ]);
          expect(gate.reachingInvalid).toBe(invalid.notHeld);
          expect(load.behindGate).toBeLessThanOrEqual(K01.peakRate);
          expect(effectIn(requests.toReversed())).toEqual({ none, gate, invalid, load });
        },
      ));

    it.for([-0.01, 1.01, NaN, Infinity])('an invalid share of %d is refused', (invalidShare) => {
      expectRefusal(() => effectOf({ invalidShare }), 'invalidShare');
    });
  });

  // Predict first: 9000 bytes are declared, 10 of them arrive, and then nothing. When does the
  // client hear that it was refused?
  describe('Exercise 16.5: the gate', lesson.exercise('16.5'), () => {
    const FOUND = Buffer.from('{"takipNo":"TR-4821","durum":"aktarma"}');
    /** An application that is never asked for what the gate refuses. */
    const spy = () =>
      vi.fn<ForwardClean>(async () => ({
        status: 200,
        contentType: 'application/json',
        body: FOUND,
      }));
    const gateOn = (forward: ForwardClean, maxBodyBytes = BODY_LIMIT) =>
      supertest(createGatekeeper({ maxBodyBytes, forward }));
    type Agent = ReturnType<typeof gateOn>;

    const post = (agent: Agent, { path = '/takip', token = TOKEN, body = GOOD_BODY } = {}) =>
      agent.post(path).set('authorization', token).type('application/json').send(body);
    const expectRefused = (
      response: supertest.Response,
      refusal: (typeof REFUSALS)[keyof typeof REFUSALS],
      why?: string,
    ) => {
      expect({ status: response.status, body: response.text }, why).toEqual({
        status: refusal.status,
        body: refusal.body,
      });
      expect(response.headers['content-type'], why).toMatch(/^application\/json\b/);
      expect(response.headers['content-length'], why).toBe(`${refusal.bytes}`);
    };

    describe('refused on the head', () => {
      for (const path of [
        '/yok',
        '/',
        '/takip/',
        '/TAKIP',
        '/%74akip',
        '/takip/TR-4821',
        '/takip;a',
      ]) {
        it(`'${path}' is not the path: 404, and nothing is forwarded`, async () => {
          const forward = spy();
          expectRefused(await post(gateOn(forward), { path }), REFUSALS.yol);
          expect(forward).not.toHaveBeenCalled();
        });
      }

      it('a query is ignored, and a path in it is none', async () => {
        const agent = gateOn(spy());
        expect((await post(agent, { path: '/takip?yol=/yok' })).status).toBe(200);
        expect((await post(agent, { path: '/takip?' })).status).toBe(200);
        expectRefused(await post(agent, { path: '/yok?/takip' }), REFUSALS.yol);
      });

      for (const method of ['get', 'put', 'delete', 'patch', 'options'] as const) {
        it(`${method.toUpperCase()} is not the method: 405 with allow, and nothing is forwarded`, async () => {
          const forward = spy();
          const agent = gateOn(forward);

          const response = await agent[method]('/takip').set('authorization', TOKEN);

          expectRefused(response, REFUSALS.yontem);
          expect(response.headers.allow).toBe('POST');
          expect(forward).not.toHaveBeenCalled();
        });
      }

      it('HEAD is not the method either: 405 without a body', async () => {
        const response = await gateOn(spy()).head('/takip').set('authorization', TOKEN);
        expect(response).toMatchObject({ status: 405, headers: { allow: 'POST' } });
        expect(response.text ?? '').toBe('');
      });

      for (const [bytes, limit] of [
        [2_049, BODY_LIMIT],
        [9_000, BODY_LIMIT],
        [121, 120],
      ] as const) {
        it(`${bytes} declared bytes at a limit of ${limit}: 413, and the connection is closed`, async () => {
          const forward = spy();
          const agent = gateOn(forward, limit);

          const response = await post(agent, { body: paddedBody('TR-4821', bytes) });

          expectRefused(response, REFUSALS.boyut);
          expect(response.headers.connection).toBe('close');
          expect(forward).not.toHaveBeenCalled();
          expect((await post(agent)).status, 'a good request afterwards').toBe(200);
        });
      }

      it('the limit itself is allowed', async () => {
        const exact = paddedBody('TR-4821', BODY_LIMIT);
        expect((await post(gateOn(spy()), { body: exact })).status).toBe(200);
        expect((await post(gateOn(spy(), 120))).status).toBe(200);
      });

      it('a limit of 0 lets the empty body get to the next check', async () => {
        expectRefused(await post(gateOn(spy(), 0), { body: '' }), REFUSALS.sema);
        expectRefused(await post(gateOn(spy(), 0), { body: '{}' }), REFUSALS.boyut);
      });

      for (const token of BAD_TOKENS.filter((text) => /^[\x21-\x7e ]*\S$/.test(text))) {
        it(`the token '${token}' has not the form: 401, and nothing is forwarded`, async () => {
          const forward = spy();
          expectRefused(await post(gateOn(forward), { token }), REFUSALS.belirtec);
          expect(forward).not.toHaveBeenCalled();
        });
      }

      it('no token at all: 401', async () => {
        const forward = spy();
        const response = await gateOn(forward).post('/takip').type('json').send(GOOD_BODY);
        expectRefused(response, REFUSALS.belirtec);
        expect(forward).not.toHaveBeenCalled();
      });
    });

    describe('refused by the body', () => {
      const BAD_BODIES = [
        '',
        '{',
        '{"takipNo":"TR-4821"',
        'takipNo=TR-4821',
        'null',
        '4821',
        '"TR-4821"',
        '["TR-4821"]',
        '[{"takipNo":"TR-4821"}]',
        '{}',
        '{"takipNo":null}',
        '{"takipNo":4821}',
        '{"takipNo":["TR-4821"]}',
        '{"takipno":"TR-4821"}',
        '{"takipNo":"__proto__"}',
        '{"__proto__":{"takipNo":"TR-4821"}}',
        '\ufeff{"takipNo":"TR-4821"}',
        ...BAD_NUMBERS.map((takipNo) => JSON.stringify({ takipNo })),
      ];
      for (const body of new Set(BAD_BODIES)) {
        it(`${JSON.stringify(body)} is no request for a shipment: 400, and nothing is forwarded`, async () => {
          const forward = spy();
          expectRefused(await post(gateOn(forward), { body }), REFUSALS.sema);
          expect(forward).not.toHaveBeenCalled();
        });
      }

      it('a takipNo that the object inherits was not in the request', async () => {
        const forward = spy();
        const agent = gateOn(forward);
        // Some other code in the process has made a mistake.
        Object.defineProperty(Object.prototype, 'takipNo', {
          value: 'TR-4821',
          configurable: true,
        });
        try {
          expectRefused(await post(agent, { body: '{}' }), REFUSALS.sema);
        } finally {
          delete (Object.prototype as { takipNo?: string }).takipNo;
        }
        expect(forward).not.toHaveBeenCalled();
      });

      const pairs: {
        flaws: string;
        ask: Parameters<typeof post>[1];
        first: keyof typeof REFUSALS;
      }[] = [
        {
          flaws: 'path and size',
          ask: { path: '/yok', body: paddedBody('TR-4821', 9_000) },
          first: 'yol',
        },
        { flaws: 'path and token', ask: { path: '/yok', token: 'bozuk' }, first: 'yol' },
        { flaws: 'path and schema', ask: { path: '/yok', body: '{' }, first: 'yol' },
        {
          flaws: 'size and token',
          ask: { token: 'bozuk', body: paddedBody('TR-4821', 9_000) },
          first: 'boyut',
        },
        { flaws: 'size and schema', ask: { body: 'x'.repeat(9_000) }, first: 'boyut' },
        { flaws: 'token and schema', ask: { token: 'bozuk', body: '{' }, first: 'belirtec' },
      ];
      for (const { flaws, ask, first } of pairs) {
        it(`${flaws} are wrong: the answer is ${REFUSALS[first].status}`, async () => {
          const forward = spy();
          expectRefused(await post(gateOn(forward), ask), REFUSALS[first]);
          expect(forward).not.toHaveBeenCalled();
        });
      }

      it('the path comes before the method, and the method before size and token', async () => {
        const agent = gateOn(spy());
        const large = paddedBody('TR-4821', 9_000);
        const wrongPath = await agent
          .put('/yok')
          .set('authorization', 'bozuk')
          .type('json')
          .send(large);
        expectRefused(wrongPath, REFUSALS.yol);
        const wrongMethod = await agent
          .put('/takip')
          .set('authorization', 'bozuk')
          .type('json')
          .send(large);
        expectRefused(wrongMethod, REFUSALS.yontem);
      });
    });

    describe('what is handed on', () => {
      it('identity, content type and body as it came, once, and nothing else', async () => {
        const forward = spy();
        const body = ' {"dolgu" : "\u00e7", "takipNo":"TR-4821"}\n';

        const response = await post(gateOn(forward), { body, token: 'b.M007.imza' });

        expect(response.status).toBe(200);
        expect(forward).toHaveBeenCalledOnce();
        const [request] = forward.mock.calls[0] ?? [];
        expect(request).toEqual({
          identity: 'M007',
          contentType: 'application/json',
          body: Buffer.from(body),
        });
      });

      it('whoever says in a field that he is M3 is still the bearer of his token', async () => {
        const forward = spy();
        await post(gateOn(forward)).set('x-kimlik', 'M3').set('X-Kimlik', 'M3');
        expect(forward.mock.calls[0]?.[0].identity).toBe('M7');
      });

      it.for([
        [200, 'application/json', '{"takipNo":"TR-4821"}'],
        [404, 'application/json', '{"hata":"bulunamadi"}'],
        [403, 'application/json', '{"hata":"yetki"}'],
        [201, 'text/plain; charset=utf-8', 'tamam'],
        [500, 'text/html', '<h1>?</h1>'],
        [429, 'application/problem+json', '{}'],
      ] as const)(
        'an answer of %d goes to the client as it is: %s %s',
        async ([status, contentType, text]) => {
          const answer = { status, contentType, body: Buffer.from(text) };
          const response = await post(gateOn(async () => answer)).buffer(true);

          expect({ status: response.status, text: response.text }).toEqual({ status, text });
          expect(response.headers['content-type']).toBe(contentType);
        },
      );

      it('an answer without a content type gets none', async () => {
        const response = await post(gateOn(async () => ({ status: 200, body: Buffer.from('?') })));
        expect(response.status).toBe(200);
        expect(response.headers['content-type']).toBeUndefined();
      });

      const broken: Record<string, ForwardClean> = {
        'that rejects': async () => {
          throw new Error('down');
        },
        'that throws': () => {
          throw new Error('down');
        },
        'that rejects with nothing': () => Promise.reject(undefined),
        'whose content type starts a field of its own': async () => ({
          status: 200,
          contentType: 'text/html\r\nset-cookie: kimlik=M3',
          body: FOUND,
        }),
        'whose status is 99': async () => ({ status: 99, body: FOUND }),
        'whose status is 101': async () => ({ status: 101, body: FOUND }),
        'whose status is 1000': async () => ({ status: 1_000, body: FOUND }),
        'whose status is 200.5': async () => ({ status: 200.5, body: FOUND }),
      };
      for (const [what, forward] of Object.entries(broken)) {
        it(`an application ${what}: 502`, async () => {
          let down = true;
          const agent = gateOn((request) => (down ? forward(request) : spy()(request)));

          const response = await post(agent);

          expectRefused(response, REFUSALS.ulasilamadi);
          expect(response.headers['set-cookie']).toBeUndefined();
          down = false;
          expect((await post(agent)).status, 'a good request afterwards').toBe(200);
        });
      }

      it('an application in the process of the gate has no address to walk around to', async () => {
        const forward = vi.fn<ForwardClean>(async (request) => answerBehindGate(request));
        await using server = await listen(
          createServer(createGatekeeper({ maxBodyBytes: BODY_LIMIT, forward })),
        );

        const answers = await sendAll(server.port, requestSet());

        expect(countBy(answers.map(({ status }) => status))).toEqual(SIXTY_STATUSES);
        expect(forward).toHaveBeenCalledTimes(40);
      });

      it.for([-1, 0.5, NaN, Infinity])('a limit of %d bytes is no limit', async (maxBodyBytes) => {
        expectRefusal(() => createGatekeeper({ maxBodyBytes, forward: spy() }), 'maxBodyBytes');
        await expectRefusal(
          () => startGatekeeper({ maxBodyBytes, upstreamPort: 9 }),
          'maxBodyBytes',
        );
      });
    });

    describe('the running server', () => {
      const startGate = (upstreamPort: number, maxBodyBytes = BODY_LIMIT) =>
        startGatekeeper({ maxBodyBytes, upstreamPort });
      const CLOSE = 'connection: close';
      const CHUNKED = 'transfer-encoding: chunked';
      const LENGTH = `content-length: ${GOOD_BODY.length}`;
      const goodRequest = rawRequest({ fields: [LENGTH, CLOSE], body: GOOD_BODY });

      const expectStillAnswers = async (port: number) => {
        expect((await askRaw(port, goodRequest)).status, 'a good request afterwards').toBe(200);
      };

      it('of sixty real requests 40, with 4800 bytes, get through, and the client sees no difference', async ({
        annotate,
      }) => {
        await using application = await startApplication();
        await using server = await startGate(application.port);

        const answers = await sendAll(server.port, requestSet());

        const cells = cellsOf(answers);
        await attachFigure(annotate, {
          title: 'Of sixty requests the gate holds twenty, and ten more are not for it to know',
          facts: [
            `${application.arrivals.length} requests with ${application.bytes} body bytes reach the application`,
            '30 are answered, 10 are refused by the application: 404 and 403',
            '20 are held at the gate: 404, 400, 413 and 401',
          ],
          option: () => requestGrid(cells),
        });
        expect(countBy(answers.map(({ status }) => status))).toEqual(SIXTY_STATUSES);
        expect(application.arrivals.length).toBePublished('16.layout.gate.reachingRequests');
        expect(application.bytes).toBePublished('16.layout.gate.reachingBytes');
        const refused = answers.filter((answer) => outcomeOf(answer).startsWith('refused'));
        expect(refused.length).toBePublished('16.layout.gate.reachingInvalid');
        expect(refused.map(({ body }) => body.length).sort()).toEqual([
          ...Array.from({ length: 5 }, () => REFUSALS.yetki.bytes),
          ...Array.from({ length: 5 }, () => REFUSALS.bulunamadi.bytes),
        ]);
      });

      it('the application gets what the gate wrote, and of the client only type and body', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const request = rawRequest({
          target: '/takip?kimlik=M3',
          fields: [
            LENGTH,
            'Connection: close, x-kimlik, content-type',
            'Content-Type: application/json; v=2',
            'X-Kimlik: M3',
            'x-kimlik: M3',
            'x_kimlik: M3',
            'cookie: a=b',
            'x-forwarded-for: 10.0.0.1',
            'x-http-method-override: DELETE',
          ],
          body: GOOD_BODY,
        });

        expect((await askRaw(server.port, request)).status).toBe(200);

        const [arrival] = application.arrivals;
        expect(arrival).toMatchObject({ method: 'POST', target: '/takip' });
        expect(arrival?.body.toString()).toBe(GOOD_BODY);
        expect(arrival?.headers).toMatchObject({
          'x-kimlik': 'M7',
          'content-type': 'application/json; v=2',
        });
        const written = JSON.stringify(arrival?.headers);
        for (const trace of ['M3', 'cookie', 'forwarded', 'override', 'imza', 'authorization']) {
          expect(written, 'nothing else of the client').not.toContain(trace);
        }
      });

      it('a client that sends no content type has none', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        await askRaw(server.port, goodRequest);
        expect(application.arrivals[0]?.headers).not.toHaveProperty('content-type');
      });

      it('the identity that a client claims in x-kimlik opens nothing', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const body = paddedBody('TR-9007', 120);
        const claim = rawRequest({ fields: [LENGTH, CLOSE, 'x-kimlik: M3'], body });

        expect(await askRaw(server.port, claim)).toMatchObject({
          status: 403,
          body: REFUSALS.yetki.body,
        });
      });

      it('a token that somebody made up has the form, so that he is M3: no signature is verified', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const body = paddedBody('TR-9007', 120);
        const forged = rawRequest({ token: 'b.M3.imza', fields: [LENGTH, CLOSE], body });
        const malformed = rawRequest({ token: 'b.M3.sahte', fields: [LENGTH, CLOSE], body });

        expect((await askRaw(server.port, forged)).status).toBe(200);
        expect((await askRaw(server.port, malformed)).status).toBe(401);
      });

      it('9000 declared bytes of which 10 arrive: 413 at once, and the gate hangs up', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);

        const answer = await askRaw(
          server.port,
          rawRequest({ fields: ['content-length: 9000'], body: '{"takipNo"' }),
        );

        expect(answer).toMatchObject({ status: 413, body: REFUSALS.boyut.body, ended: 'end' });
        expect(answer.head).toContain('connection: close');
        expect(application.arrivals).toHaveLength(0);
        await expectStillAnswers(server.port);
      });

      const endless: { what: string; status: number; request: string }[] = [
        {
          what: 'an unknown path with 9000 declared bytes',
          status: 404,
          request: rawRequest({ target: '/yok', fields: ['content-length: 9000'], body: '{' }),
        },
        {
          what: 'an unknown path with chunks',
          status: 404,
          request: rawRequest({ target: '/yok', fields: [CHUNKED], body: '1\r\n{\r\n' }),
        },
        {
          what: 'a wrong method with 9000 declared bytes',
          status: 405,
          request: rawRequest({ method: 'PUT', fields: ['content-length: 9000'], body: '{' }),
        },
        {
          what: 'a malformed token with chunks',
          status: 401,
          request: rawRequest({ token: 'bozuk', fields: [CHUNKED], body: '1\r\n{\r\n' }),
        },
      ];
      for (const { what, status, request } of endless) {
        it(`${what}: ${status} at once, and nobody waits for the rest`, async () => {
          await using application = await startApplication();
          await using server = await startGate(application.port);

          const answer = await askRaw(server.port, request);

          expect(answer.status).toBe(status);
          expect(answer.head).toContain('connection: close');
          expect(application.arrivals).toHaveLength(0);
          await expectStillAnswers(server.port);
        });
      }

      it('a chunked body of 3000 bytes: 413, and nothing upstream', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const body = chunked(paddedBody('TR-4821', 3_000));

        const answer = await askRaw(server.port, rawRequest({ fields: [CHUNKED], body }));

        expect(answer).toMatchObject({ status: 413, body: REFUSALS.boyut.body });
        expect(answer.head).toContain('connection: close');
        expect(application.arrivals).toHaveLength(0);
        await expectStillAnswers(server.port);
      });

      it('a chunked body of exactly the limit passes, and with the byte after it is cut off', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const body = paddedBody('TR-4821', BODY_LIMIT);
        const pieces = [body.slice(0, 1_000), body.slice(1_000)] as const;

        const exact = rawRequest({ fields: [CHUNKED, CLOSE], body: chunked(...pieces) });
        expect((await askRaw(server.port, exact)).status).toBe(200);
        expect(application.arrivals[0]?.body.toString()).toBe(body);

        const oneMore = rawRequest({ fields: [CHUNKED, CLOSE], body: chunked(...pieces, ' ') });
        expect((await askRaw(server.port, oneMore)).status).toBe(413);
        expect(application.arrivals).toHaveLength(1);
      });

      it('a chunked body that has no end is cut off where it crosses the limit', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        using connection = await openRawConnection(server.port);
        const piece = `400\r\n${'x'.repeat(1_024)}\r\n`;

        await connection.write(rawRequest({ fields: [CHUNKED], body: piece + piece }));
        const early = connection.text;
        await connection.write('1\r\nx\r\n'); // byte 2049; the chunk that ends the body never comes
        await within(connection.ended, 'the gate to hang up');

        expect(early).toBe('');
        expect(parseAnswer(connection.text)).toMatchObject({
          status: 413,
          body: REFUSALS.boyut.body,
        });
        expect(application.arrivals).toHaveLength(0);
        await expectStillAnswers(server.port);
      });

      it('a malformed token with 9000 bytes is 413 if they are declared, and 401 if they are chunked', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const body = paddedBody('TR-4821', 9_000);
        const token = 'bozuk';

        const declared = rawRequest({ token, fields: ['content-length: 9000', CLOSE], body });
        expect((await askRaw(server.port, declared)).status).toBe(413);
        const unknown = rawRequest({ token, fields: [CHUNKED, CLOSE], body: chunked(body) });
        expect((await askRaw(server.port, unknown)).status).toBe(401);
        expect(application.arrivals).toHaveLength(0);
      });

      it('a body that is declared and never sent reaches nobody, and holds up nobody', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        using silent = await openRawConnection(server.port);
        await silent.write(rawRequest({ fields: [LENGTH], body: GOOD_BODY.slice(0, -1) }));

        await expectStillAnswers(server.port);
        expect(application.arrivals, 'the good request alone').toHaveLength(1);
        silent.destroy();
        await expectStillAnswers(server.port);
        expect(application.arrivals).toHaveLength(2);
      });

      it('a body that breaks off is forwarded to nobody, as far as it came', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        const broken = rawRequest({ fields: [CHUNKED], body: `78\r\n${GOOD_BODY}\r\nzz\r\n` });

        const answer = await askRaw(server.port, broken);

        expect(answer.status).toBe(400);
        await expectStillAnswers(server.port);
        expect(application.arrivals, 'the good request alone').toHaveLength(1);
      });

      it('after a refusal with a small body the same connection goes on', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        using client = openClient(server.port);
        const ask = async ({
          path = '/takip',
          method = 'POST',
          token = TOKEN,
          body = GOOD_BODY,
        }) => {
          const headers = { authorization: token };
          return (await within(client.send(path, { method, headers, body }), 'an answer')).status;
        };

        expect(await ask({ path: '/yok' })).toBe(404);
        expect(await ask({ method: 'PUT' })).toBe(405);
        expect(await ask({ token: 'bozuk' })).toBe(401);
        expect(await ask({ body: '{"takipNo":' })).toBe(400);
        expect(await ask({})).toBe(200);
        expect(client.connections).toBe(1);
        expect(application.arrivals).toHaveLength(1);
      });

      it('two content-length fields, and a length with chunks, are refused and forwarded to nobody', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        for (const second of ['content-length: 9000', LENGTH, CHUNKED]) {
          const request = rawRequest({ fields: [LENGTH, second], body: GOOD_BODY });
          expect((await askRaw(server.port, request)).status, second).toBe(400);
        }
        expect(application.arrivals).toHaveLength(0);
        await expectStillAnswers(server.port);
      });

      describe('expect: 100-continue', () => {
        const EXPECT = 'expect: 100-continue';

        const uninvited: { what: string; status: number; request: string }[] = [
          {
            what: '9000 declared bytes',
            status: 413,
            request: rawRequest({ fields: [EXPECT, 'content-length: 9000'] }),
          },
          {
            what: 'a malformed token',
            status: 401,
            request: rawRequest({ token: 'bozuk', fields: [EXPECT, LENGTH, CLOSE] }),
          },
          {
            what: 'an unknown path',
            status: 404,
            request: rawRequest({ target: '/yok', fields: [EXPECT, LENGTH, CLOSE] }),
          },
          {
            what: 'a wrong method',
            status: 405,
            request: rawRequest({ method: 'PUT', fields: [EXPECT, LENGTH, CLOSE] }),
          },
        ];
        for (const { what, status, request } of uninvited) {
          it(`${what}: ${status} before the body is invited`, async () => {
            await using application = await startApplication();
            await using server = await startGate(application.port);

            const answer = await askRaw(server.port, request);

            expect(answer).toMatchObject({ invited: false, status });
            expect(application.arrivals).toHaveLength(0);
            await expectStillAnswers(server.port);
          });
        }

        it('a head without a flaw is asked for its body, once, and then answered', async () => {
          await using application = await startApplication();
          await using server = await startGate(application.port);
          using connection = await openRawConnection(server.port);

          await connection.write(rawRequest({ fields: [EXPECT, LENGTH, CLOSE] }));
          const invitation = await within(
            connection.readUntil((received) => received.includes('\r\n\r\n')),
            'the invitation',
          );
          expect(invitation.toString()).toBe(INVITATION);
          expect(application.arrivals).toHaveLength(0);
          await connection.write(GOOD_BODY);
          await within(connection.ended, 'the answer');

          expect(parseAnswer(connection.text).status).toBe(200);
          expect(application.arrivals[0]?.headers).not.toHaveProperty('expect');
        });

        it('who is asked for a body of unknown size and sends too much is cut off', async () => {
          await using application = await startApplication();
          await using server = await startGate(application.port);
          using connection = await openRawConnection(server.port);

          await connection.write(rawRequest({ fields: [EXPECT, CHUNKED] }));
          await within(
            connection.readUntil((received) => received.includes('\r\n\r\n')),
            'the invitation',
          );
          await connection.write(chunked(paddedBody('TR-4821', BODY_LIMIT + 1)));
          await within(connection.ended, 'the gate to hang up');

          expect(parseAnswer(connection.text)).toMatchObject({ invited: true, status: 413 });
          expect(application.arrivals).toHaveLength(0);
        });
      });

      it('an application that is away: 502, and once it is back it is asked again', async () => {
        await using first = await startApplication();
        await using server = await startGate(first.port);
        await first.close();

        const away = await askRaw(server.port, goodRequest);
        await using _second = await startApplication({ port: first.port });

        expect(away).toMatchObject({ status: 502, body: REFUSALS.ulasilamadi.body });
        expect(away.head).toContain('content-length: 22');
        await expectStillAnswers(server.port);
      });

      it.for([
        ['says nothing and hangs up', ''],
        ['speaks no HTTP', 'merhaba\r\n'],
        [
          'breaks off half of its answer',
          'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"takipNo"',
        ],
      ] as const)('an application that %s: 502', async ([, bytes]) => {
        await using application = await startTcpServer((socket) => {
          socket.once('data', () => socket.end(bytes));
        });
        await using server = await startGate(application.port);

        const answer = await askRaw(server.port, goodRequest);

        expect(answer).toMatchObject({ status: 502, body: REFUSALS.ulasilamadi.body });
      });

      it('requests that come at the same time keep their identities apart', async () => {
        await using application = await startApplication();
        await using server = await startGate(application.port);
        using client = openClient(server.port, { sockets: Infinity });
        const ask = async (i: number) => {
          const owner = i % 2 === 0 ? 'M7' : 'M3';
          const body = paddedBody(i % 3 === 0 ? 'TR-4821' : 'TR-9007', 120);
          const headers = { authorization: `b.${owner}.imza` };
          const { status } = await client.send('/takip', { method: 'POST', headers, body });
          const isOwn = (owner === 'M7') === (i % 3 === 0);
          return { status, expected: isOwn ? 200 : 403 };
        };

        const answers = await within(
          Promise.all(Array.from({ length: 24 }, (_, i) => ask(i))),
          'all answers',
        );

        expect(answers.map(({ status }) => status)).toEqual(
          answers.map(({ expected }) => expected),
        );
      });

      it('a client that leaves while the application works leaves the gate as it was', async () => {
        const mayAnswer = closedGate();
        await using application = await startApplication({ before: () => mayAnswer.opened });
        await using server = await startGate(application.port);
        using connection = await openRawConnection(server.port);
        await connection.write(goodRequest);
        await eventually(
          () => application.arrivals.length,
          (count) => count === 1,
        );
        connection.destroy();
        mayAnswer.open();

        await expectStillAnswers(server.port);
      });

      it('close() with drain lets a running request finish, and close() can be called twice', async () => {
        const mayAnswer = closedGate();
        await using application = await startApplication({ before: () => mayAnswer.opened });
        await using server = await startGate(application.port);
        const answer = askRaw(server.port, goodRequest);
        await eventually(
          () => application.arrivals.length,
          (count) => count === 1,
        );

        const closed = server.close({ drain: true });
        mayAnswer.open();

        expect((await answer).status).toBe(200);
        await within(closed, 'the gate to close');
        await within(server.close(), 'the gate to close once more');
        await expect(rawExchange(server.port, goodRequest)).rejects.toThrow('ECONNREFUSED');
      });
    });
  });
});
