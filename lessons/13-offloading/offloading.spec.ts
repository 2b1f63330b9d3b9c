// Lesson 13: gateway offloading
//
// Three services make the same checks on every request, each in code of its own. A gateway stands
// before them now, and a check that it makes need not be made three times. Which checks can it make?
// And what has become of a service that relies on them, once somebody reaches it another way? You
// know what a gateway is (lesson 11). You leave with a rule that decides by what a check reads, with
// the price of trust in units and verifications, and with a proof that closes the way around the
// gateway.
//
// How it goes on: 13.1 is the rule. 13.2 counts lines. 13.3 counts verifications, and decides where
// they take place. 13.4 builds all three answers on real servers. 13.5 closes the bypass without
// verifying twice, and 13.6 the hole that 13.5 leaves.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { type HttpClient, openClient } from '#helpers/lesson/client.ts';
import { attachFigure } from '#helpers/lesson/figure.ts';
import {
  answerHere,
  FLOWS,
  type Flow,
  type Middleware,
  type Stamp,
  startGateway,
  startService,
  type Unit,
} from '#helpers/lesson/gateway.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { ManualClock } from '#helpers/lesson/manual-clock.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { disposable } from '#helpers/lesson/proxy-extras.ts';
import { BAD_TOKEN, GOOD_TOKEN, tokenOf } from '#helpers/lesson/token.ts';
import { within } from '#helpers/lesson/waiting.ts';
import { checksFigure } from './checks-figure.ts';
import {
  chooseTrust,
  createRule,
  offload,
  proofBill,
  startOffloadedEdge,
  trustBill,
  withExpiringProof,
  withGatewayProof,
} from './exercise.ts';
import {
  CHECKS,
  type Check,
  DOMAIN_INPUTS,
  METADATA_INPUTS,
  type OffloadedEdge,
  PROOF_HEADER,
  SERVICES,
  TRUST_MODES,
  type TrustMode,
} from './given.ts';
import {
  type CheckHarness,
  createCheckHarness,
  MAX_BODY_BYTES,
  type RunnableCheck,
} from './harness.ts';

const lesson = openLesson(import.meta.url);

const EDGE_CHECKS = ['log', 'token', 'rate', 'size'];
const WITH_GATEWAY = ['gatewayTrusted', 'both'] as const;

/** 30 reads and 7 writes are 36/500 s of the peak: counts on them times 500/36 are rates. */
const perSecond = (count: number) => (count * 500) / 36;

/** The published rule. */
const publishedRule = () => createRule(METADATA_INPUTS, DOMAIN_INPUTS);

/** The published checks, with changes to some of them. */
function checksWith(changes: Readonly<Record<string, Partial<Check>>>): Check[] {
  return CHECKS.map((check) => ({ ...check, ...changes[check.name] }));
}

/** What the published list would be with other inputs, and what comes out of it. */
const OTHER_LISTS: readonly {
  readonly what: string;
  readonly checks: readonly Check[];
  readonly portable: number;
  readonly missing: number;
  /** edge, services, total */
  readonly lines: readonly [number, number, number];
  readonly ratio: string;
}[] = [
  {
    what: 'a log that requires the shipment record',
    checks: checksWith({ log: { reads: ['path', 'headers', 'shipment record'], optional: [] } }),
    portable: 3,
    missing: 0,
    lines: [26, 3 * 31, 119],
    ratio: '0.70',
  },
  {
    what: 'a rate limit that reads the daily counter, too',
    checks: checksWith({ rate: { reads: ['source address', 'headers', 'daily counter'] } }),
    portable: 3,
    missing: 1,
    lines: [23, 3 * 34, 125],
    ratio: '0.73',
  },
  {
    what: 'a token check that reads a record of contracts withdrawn',
    checks: checksWith({ token: { reads: ['headers', 'contract record'] } }),
    portable: 3,
    missing: 1,
    lines: [20, 3 * 37, 131],
    ratio: '0.77',
  },
  {
    what: 'an owner that stands in the token',
    checks: checksWith({ ownership: { reads: ['headers'] } }),
    portable: 5,
    missing: 1,
    lines: [46, 3 * 11, 79],
    ratio: '0.46',
  },
  {
    what: 'a quota that reads headers only',
    checks: checksWith({ quota: { reads: ['headers'] } }),
    portable: 5,
    missing: 1,
    lines: [43, 3 * 14, 85],
    ratio: '0.50',
  },
  {
    what: 'no quota',
    checks: CHECKS.filter(({ name }) => name !== 'quota'),
    portable: 4,
    missing: 1,
    lines: [32, 3 * 14, 74],
    ratio: '0.54',
  },
  {
    what: 'a seventh check that reads nothing',
    checks: [...CHECKS, { name: 'maintenance', reads: [], optional: [], lines: 4 }],
    portable: 5,
    missing: 1,
    lines: [36, 3 * 25, 111],
    ratio: '0.61',
  },
  {
    what: 'a log with three optional inputs, one of them metadata',
    checks: checksWith({ log: { optional: ['shipment record', 'contract record', 'path'] } }),
    portable: 4,
    missing: 2,
    lines: [32, 3 * 25, 107],
    ratio: '0.63',
  },
  {
    what: 'a check that stays and has an optional domain input',
    checks: checksWith({ ownership: { optional: ['contract record'] } }),
    portable: 4,
    missing: 1,
    lines: [32, 3 * 25, 107],
    ratio: '0.63',
  },
];

/** A request as a check sees it. */
function asRequest(method: string, url: string, headers: IncomingHttpHeaders = {}) {
  return { method, url, headers } as IncomingMessage;
}

/** One check as a link of a chain. */
function linkOf(unit: Unit, check: RunnableCheck): Middleware {
  return async (request, response) => {
    const status = await check.run(unit, request);
    if (status !== 0) answerHere(request, response, status);
    return status === 0;
  };
}

/** What to ask a flow for. */
interface Ask {
  /** Straight to the service, and not the way that clients take. */
  readonly direct?: boolean;
  /** The good one of `s1` unless given. */
  readonly token?: string;
  /** `TR-4821` unless given. */
  readonly shipment?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

const PATHS: Readonly<Record<Flow, (shipment: string) => string>> = {
  takip: (shipment) => `/takip/${shipment}`,
  olay: () => '/olay',
  ucret: (shipment) => `/ucret/${shipment}`,
};

/** Sends requests to a system, over one connection for each port, and gives the statuses. */
function openCaller(system: OffloadedEdge) {
  const clients = new Map<number, HttpClient>();
  const clientOf = (port: number) => {
    const client = clients.get(port) ?? openClient(port);
    clients.set(port, client);
    return client;
  };
  return {
    async ask(flow: Flow, options: Ask = {}): Promise<number> {
      const { direct = false, token = GOOD_TOKEN, shipment = 'TR-4821', headers } = options;
      const port = direct ? system.servicePort(flow) : system.addressOf(flow);
      const answer = clientOf(port).send(PATHS[flow](shipment), {
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(flow === 'olay' && { method: 'POST', body: options.body ?? '{}' }),
      });
      return (await within(answer, `the answer to ${PATHS[flow](shipment)}`)).status;
    },
    [Symbol.dispose]() {
      for (const client of clients.values()) client[Symbol.dispose]();
    },
  };
}

type Caller = ReturnType<typeof openCaller>;

async function startEdge(
  mode: TrustMode,
  { edgeChecks, serviceChecks }: Pick<CheckHarness, 'edgeChecks' | 'serviceChecks'>,
  stamp?: Stamp,
) {
  return disposable(
    await startOffloadedEdge({ mode, edgeChecks, serviceChecks, ...(stamp && { stamp }) }),
  );
}

/** 30 tracking queries, then 7 status events, the way that clients take; how many are answered. */
async function sendTrace(caller: Caller): Promise<number> {
  let answered = 0;
  for (let sent = 0; sent < 37; sent += 1) {
    if ((await caller.ask(sent < 30 ? 'takip' : 'olay')) === 200) answered += 1;
  }
  return answered;
}

/** What the trace leaves behind in each mode. Sent once: several tests look at it. */
const traces = new Map<TrustMode, Promise<CheckHarness & { answered: number }>>();
function traceIn(mode: TrustMode) {
  const run = async () => {
    const harness = createCheckHarness();
    await using edge = await startEdge(mode, harness);
    using caller = openCaller(edge);
    return { ...harness, answered: await sendTrace(caller) };
  };
  const trace = traces.get(mode) ?? run();
  traces.set(mode, trace);
  return trace;
}

/** Statuses of a bad token that goes straight to the services, in the order of the flows. */
async function bypass(caller: Caller): Promise<number[]> {
  const statuses: number[] = [];
  for (const flow of FLOWS)
    statuses.push(await caller.ask(flow, { direct: true, token: BAD_TOKEN }));
  return statuses;
}

const unprotected = (statuses: readonly number[]) => statuses.filter((one) => one < 400).length;

/** Runs of a check, summed up over the services. */
function runsInServices({ runs }: CheckHarness, check: string): number {
  return FLOWS.reduce((sum, flow) => sum + runs(flow, check), 0);
}

/** A check that notes where it ran, and gives one answer. */
function noting(
  notes: string[],
  name: string,
  status: number | Promise<number> = 0,
): RunnableCheck {
  return {
    name,
    run(unit) {
      notes.push(`${unit} ${name}`);
      return status;
    },
  };
}

/** A harness whose services check a proof before anything else, and note what came with it. */
function withProof(proof: RunnableCheck) {
  const harness = createCheckHarness();
  const seen: IncomingHttpHeaders[] = [];
  const spy: RunnableCheck = {
    name: 'spy',
    run(_unit, { headers }) {
      seen.push(headers);
      return 0;
    },
  };
  const counted = harness.counted(proof);
  const { takip, olay, ucret } = harness.serviceChecks;
  return {
    ...harness,
    seen,
    serviceChecks: {
      takip: [counted, spy, ...takip],
      olay: [counted, spy, ...olay],
      ucret: [counted, spy, ...ucret],
    },
  };
}

/** The proof that a stamp makes. */
function proofOf(stamp: Stamp, method: string, path: string): string {
  return String(stamp({ method, path }, {})[PROOF_HEADER]);
}

const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex');

describe('Lesson 13: gateway offloading', () => {
  it('the lesson starts from the inputs that it publishes', () => {
    const lines = Object.fromEntries(CHECKS.map((check) => [check.name, check.lines]));

    expect(SERVICES).toBePublished('13.given.services');
    expect(CHECKS.length).toBePublished('13.given.checks');
    expect(METADATA_INPUTS.length).toBePublished('13.given.metadataInputs');
    for (const { name } of CHECKS) expect(lines[name]).toBePublished(`13.given.lines.${name}`);
    expect(K01.peakRate).toBePublished('13.given.baseline.peakEdge');
    expect(K01.peakReads).toBePublished('13.given.baseline.peakRead');
    expect(K01.batchRecords).toBePublished('13.given.baseline.batchRate');
  });

  it('30 reads and 7 writes stand for the peak at the edge, 60 records for the scan of the day', () => {
    expect(perSecond(30 + 7)).toBePublished('13.given.baseline.peakEdge');
    expect(perSecond(30)).toBePublished('13.given.baseline.peakRead');
    expect(perSecond(60)).toBePublished('13.given.baseline.batchRate');
  });

  it('each check says what it reads: seven inputs in all, four of which come with the request', async ({
    annotate,
  }) => {
    const inputs = new Set(
      CHECKS.flatMap(({ reads, optional }): string[] => [...reads, ...optional]),
    );
    await attachFigure(annotate, {
      title: 'What each check reads',
      facts: CHECKS.map(({ name, reads, optional }) =>
        [
          `${name} requires ${reads.join(' and ')}`,
          ...optional.map((input) => `and would like the ${input}`),
        ].join(', '),
      ),
      option: () =>
        checksFigure({
          checks: CHECKS,
          metadataInputs: METADATA_INPUTS,
          domainInputs: DOMAIN_INPUTS,
        }),
      height: 420,
    });

    expect(inputs).toEqual(new Set([...METADATA_INPUTS, ...DOMAIN_INPUTS]));
  });

  it('a token of the right form with a wrong signature is refused', () => {
    const check = createCheckHarness().edgeChecks.find(({ name }) => name === 'token');
    const [, signature = ''] = GOOD_TOKEN.split('.');
    const judge = (token: string) =>
      check?.run('gateway', asRequest('GET', '/olay', { authorization: `Bearer ${token}` }));

    expect(judge(`s1.${signature}`)).toBe(0);
    expect(judge(`s2.${signature}`)).toBe(401); // the signature of somebody else
    expect(judge(`s1.${'0'.repeat(signature.length)}`)).toBe(401);
    expect(judge(`s1.${signature.slice(0, -1)}`)).toBe(401);
    expect(judge('s1.')).toBe(401);
    expect(judge(BAD_TOKEN)).toBe(401);
  });

  it('ownership compares names that are there: no token for no shipment is a 403', () => {
    const [check] = createCheckHarness().serviceChecks.takip;
    const judge = (shipment: string, headers: IncomingHttpHeaders) =>
      check?.run('takip', asRequest('GET', `/takip/${shipment}`, headers));
    const bearer = (subject: string) => ({ authorization: `Bearer ${tokenOf(subject)}` });

    expect(judge('TR-4821', bearer('s1'))).toBe(0);
    expect(judge('TR-9007', bearer('s1'))).toBe(403);
    for (const shipment of ['TR-0', '__proto__', 'constructor', '']) {
      expect(judge(shipment, {})).toBe(403);
      expect(judge(shipment, bearer('undefined'))).toBe(403);
    }
  });

  it('the size check knows the declared length only: a body that comes without one passes', () => {
    const check = createCheckHarness().edgeChecks.find(({ name }) => name === 'size');
    const judge = (headers: IncomingHttpHeaders) =>
      check?.run('gateway', asRequest('POST', '/olay', headers));

    expect(judge({ 'content-length': String(MAX_BODY_BYTES) })).toBe(0);
    expect(judge({ 'content-length': String(MAX_BODY_BYTES + 1) })).toBe(413);
    expect(judge({ 'transfer-encoding': 'chunked' })).toBe(0);
  });

  // Predict first: the gateway refuses a bad token. What does the service behind it say?
  it('a service behind a gateway that verifies answers whoever knows its port', async () => {
    const { edgeChecks } = createCheckHarness();
    await using service = await startService('olay', []);
    await using gateway = await startGateway({
      serviceMap: new Map([['olay', service.port]]),
      chain: edgeChecks.map((check) => linkOf('gateway', check)),
    });
    using front = openClient(gateway.port);
    using around = openClient(service.port);
    const ask = { method: 'POST', headers: { authorization: `Bearer ${BAD_TOKEN}` }, body: '{}' };

    expect((await front.send('/olay', ask)).status).toBe(401);
    expect((await around.send('/olay', ask)).status).toBe(200);
  });

  // Predict first: six checks. Which of them can a process make that has nothing but the request?
  describe('Exercise 13.1: portable', lesson.exercise('13.1'), () => {
    for (const { name, inputs, portable } of [
      { name: 'token', inputs: [], portable: true },
      { name: 'rate', inputs: [], portable: true },
      { name: 'size', inputs: [], portable: true },
      { name: 'log', inputs: [], portable: true },
      { name: 'ownership', inputs: ['shipment record'], portable: false },
      { name: 'quota', inputs: ['contract record', 'daily counter'], portable: false },
    ]) {
      it(`${name} ${portable ? 'may move' : `stays, for it reads: ${inputs.join(', ')}`}`, () => {
        const rule = publishedRule();
        const check = CHECKS.find((one) => one.name === name) as Check;

        expect(rule.domainInputsOf(check)).toEqual(inputs);
        expect(rule.domainInputsOf(check).length).toBePublished(`13.rule.${name}.domainInputs`);
        expect(rule.isPortable(check)).toBePublished(`13.rule.${name}.portable`);
      });
    }

    it('4 of 6 checks may move, 2 stay, and the log is one field short at the edge', async ({
      annotate,
    }) => {
      const rule = publishedRule();
      const portable = CHECKS.filter((check) => rule.isPortable(check));
      const whereTo = (check: Check) => (rule.isPortable(check) ? 'edge' : 'service');
      await attachFigure(annotate, {
        title: 'A check moves if it can do without the system’s data',
        facts: [
          `To the edge: ${portable.map(({ name }) => name).join(', ')}.`,
          'The log moves one field short: it would like the shipment record, and can do without.',
          ...CHECKS.filter((check) => !rule.isPortable(check)).map(
            (check) =>
              `${check.name} stays: it requires ${rule.domainInputsOf(check).join(' and ')}`,
          ),
        ],
        option: () =>
          checksFigure({
            checks: CHECKS,
            metadataInputs: METADATA_INPUTS,
            domainInputs: DOMAIN_INPUTS,
            decision: (check) => `→ ${whereTo(check)}`,
          }),
        height: 420,
      });

      expect(portable.length).toBePublished('13.rule.portable');
      expect(CHECKS.length - portable.length).toBePublished('13.rule.staying');
      expect(rule.missingFields(CHECKS)).toBePublished('13.rule.missingLogFields');
    });

    for (const { what, checks, portable, missing } of OTHER_LISTS) {
      it(`${what}: ${portable} of ${checks.length} may move, ${missing} fields short`, () => {
        const rule = publishedRule();

        expect(checks.filter((check) => rule.isPortable(check))).toHaveLength(portable);
        expect(rule.missingFields(checks)).toBe(missing);
      });
    }

    it('one domain input decides, wherever it stands, and all are named in the order of the check', () => {
      const rule = createRule(['a', 'b'], ['x', 'y']);
      const check = (...reads: string[]) => ({ name: 'c', reads, optional: [], lines: 1 });

      expect(rule.isPortable(check('a', 'b'))).toBe(true);
      expect(rule.isPortable(check('x', 'a'))).toBe(false);
      expect(rule.isPortable(check('a', 'x'))).toBe(false);
      expect(rule.isPortable(check('a', 'x', 'b'))).toBe(false);
      expect(rule.domainInputsOf(check('y', 'a', 'x'))).toEqual(['y', 'x']);
    });

    it('a check that reads nothing may move', () => {
      const rule = publishedRule();
      const idle = { name: 'idle', reads: [], optional: [], lines: 1 };

      expect(rule.isPortable(idle)).toBe(true);
      expect(rule.domainInputsOf(idle)).toEqual([]);
    });

    for (const slip of ['shipmentrecord', 'Headers', 'constructor', '__proto__']) {
      it(`an input that no list has is refused by all three functions: ${slip}`, () => {
        const rule = publishedRule();
        const fine = { name: 'slippery', reads: ['headers'], optional: [], lines: 1 };
        for (const check of [
          { ...fine, reads: [slip] },
          { ...fine, reads: ['daily counter', slip] },
          { ...fine, optional: [slip] },
          { ...fine, reads: ['daily counter'], optional: ['path', slip] },
        ]) {
          for (const named of [slip, 'slippery']) {
            expectRefusal(() => rule.isPortable(check), named, Error);
            expectRefusal(() => rule.domainInputsOf(check), named, Error);
            expectRefusal(() => rule.missingFields([fine, check]), named, Error);
          }
        }
      });
    }

    it('an input in both lists is refused at once', () => {
      expectRefusal(() => createRule(['path', 'headers'], ['x', 'headers']), 'headers', Error);
    });

    it('optional inputs never decide', () =>
      expectLaw(
        {
          reads: fc.subarray([...METADATA_INPUTS, ...DOMAIN_INPUTS]),
          optional: fc.subarray([...METADATA_INPUTS, ...DOMAIN_INPUTS]),
        },
        ({ reads, optional }) => {
          const rule = publishedRule();
          const check = { name: 'c', reads, optional, lines: 1 };

          expect(rule.isPortable(check)).toBe(rule.isPortable({ ...check, optional: [] }));
          expect(rule.isPortable(check)).toBe(rule.domainInputsOf(check).length === 0);
        },
      ));
  });

  // Predict first: 57 lines in each of three services, and 32 of them move. How many are left of 171?
  describe('Exercise 13.2: offload', lesson.exercise('13.2'), () => {
    it('171 lines become 107, 0.63 times as many', () => {
      const result = offload(CHECKS, SERVICES, publishedRule());

      expect(result.edge).toEqual(['token', 'rate', 'size', 'log']);
      expect(result.stay).toEqual(['ownership', 'quota']);
      expect(result.missingFields).toBePublished('13.rule.missingLogFields');
      for (const placement of ['everyService', 'offloaded'] as const) {
        expect(result[placement].edge).toBePublished(`13.lines.${placement}.edge`);
        expect(result[placement].services).toBePublished(`13.lines.${placement}.services`);
        expect(result[placement].total).toBePublished(`13.lines.${placement}.total`);
      }
      expect(result.ratio).toBePublished('13.lines.ratio');
      expect(result.ratio, 'not rounded').toBeCloseTo(107 / 171, 12);
    });

    it('what stays is not what is longest: token moves with 12 lines, quota stays with 11', () => {
      const { edge, stay } = offload(CHECKS, SERVICES, publishedRule());
      const lengths = (names: readonly string[]) =>
        CHECKS.filter(({ name }) => names.includes(name)).map(({ lines }) => lines);

      expect(Math.max(...lengths(edge))).toBeGreaterThan(Math.min(...lengths(stay)));
    });

    it('if each check that stays ran in one service only, a third of the lines would be left', () => {
      const rule = publishedRule();
      const once = offload(CHECKS, 1, rule).offloaded.total;

      expect(once).toBe(32 + 14 + 11);
      expect(once * 3).toBe(offload(CHECKS, 3, rule).everyService.total);
    });

    for (const { services, everywhere, stay, total, ratio } of [
      { services: 1, everywhere: 57, stay: 25, total: 57, ratio: '1.00' },
      { services: 2, everywhere: 114, stay: 50, total: 82, ratio: '0.72' },
      { services: 4, everywhere: 228, stay: 100, total: 132, ratio: '0.58' },
      { services: 5, everywhere: 285, stay: 125, total: 157, ratio: '0.55' },
      { services: 10, everywhere: 570, stay: 250, total: 282, ratio: '0.49' },
    ]) {
      it(`${services} services: ${everywhere} lines become 32 + ${stay}, ${ratio} times as many`, () => {
        const result = offload(CHECKS, services, publishedRule());

        expect(result.everyService).toEqual({ edge: 0, services: everywhere, total: everywhere });
        expect(result.offloaded).toEqual({ edge: 32, services: stay, total });
        expect(result.ratio.toFixed(2)).toBe(ratio);
      });
    }

    for (const { what, checks, lines, ratio } of OTHER_LISTS) {
      it(`${what}: ${lines[2]} lines, ${ratio} times as many`, () => {
        const result = offload(checks, SERVICES, publishedRule());

        const [edge, services, total] = lines;
        expect(result.offloaded).toEqual({ edge, services, total });
        expect(result.ratio.toFixed(2)).toBe(ratio);
      });
    }

    for (const { factor, everywhere, edge, stay } of [
      { factor: 0.5, everywhere: 85.5, edge: 16, stay: 37.5 },
      { factor: 2, everywhere: 342, edge: 64, stay: 150 },
    ]) {
      it(`with ${factor} times the lines everywhere the ratio stays the same`, () => {
        const checks = CHECKS.map((check) => ({ ...check, lines: check.lines * factor }));
        const { everyService, offloaded, ratio } = offload(checks, SERVICES, publishedRule());

        expect(everyService.total).toBe(everywhere);
        expect(offloaded).toEqual({ edge, services: stay, total: edge + stay });
        expect(ratio).toBePublished('13.lines.ratio');
      });
    }

    it('what stays bounds the gain: no number of services gets below 25 of 57', () =>
      expectLaw({ services: fc.integer({ min: 1, max: 100_000 }) }, ({ services }) => {
        const { ratio, everyService, offloaded } = offload(CHECKS, services, publishedRule());

        expect(ratio).toBeGreaterThan(25 / 57);
        expect(everyService.total - offloaded.total).toBe(32 * (services - 1));
      }));

    it('without checks, or without lines, everything is 0 and the ratio is 1', () => {
      const zero = { edge: 0, services: 0, total: 0 };
      const empty = CHECKS.map((check) => ({ ...check, lines: 0 }));
      for (const checks of [[], empty]) {
        const result = offload(checks, SERVICES, publishedRule());

        expect(result.everyService).toEqual(zero);
        expect(result.offloaded).toEqual(zero);
        expect(result.ratio).toBe(1);
      }
    });

    it('refuses services below 1 or half of one, and lines that nobody can count', () => {
      const rule = publishedRule();
      for (const services of [0, -1, 1.5, Number.NaN, Infinity]) {
        expectRefusal(() => offload(CHECKS, services, rule), 'services');
      }
      for (const lines of [-1, Number.NaN, Infinity]) {
        expectRefusal(() => offload(checksWith({ quota: { lines } }), SERVICES, rule), 'lines');
      }
    });

    it('refuses a check that is there twice, and inputs that the rule refuses', () => {
      const rule = publishedRule();
      const twice = [...CHECKS, { ...CHECKS[2], reads: [] }];

      expectRefusal(() => offload(twice, SERVICES, rule), 'size', Error);
      const slip = checksWith({ quota: { optional: ['tariff'] } });
      expectRefusal(() => offload(slip, SERVICES, rule), 'tariff', Error);
    });
  });

  // Predict first: the gateway verifies. How many units carry the verification if the services verify
  // again, and how many verifications does the peak take?
  describe('Exercise 13.3: the trust bill', lesson.exercise('13.3'), () => {
    describe('trustBill', () => {
      for (const mode of TRUST_MODES) {
        it(`${mode}: the bill is the published one`, () => {
          const bill = trustBill(mode, SERVICES, K01.peakRate);

          expect(bill.units).toBePublished(`13.trust.${mode}.units`);
          expect(bill.verificationsPerSecond).toBePublished(`13.trust.${mode}.verifications`);
          expect(bill.unprotectedServices).toBePublished(`13.trust.${mode}.unprotected`);
        });
      }

      it('a fourth service changes units and unprotected services, not the verifications', () => {
        const bills = TRUST_MODES.map((mode) => trustBill(mode, 4, K01.peakRate));

        expect(bills.map(({ units }) => units)).toEqual([4, 1, 5]);
        expect(bills.map((bill) => bill.verificationsPerSecond.toFixed(2))).toEqual([
          '513.89',
          '513.89',
          '1027.78',
        ]);
        expect(bills.map(({ unprotectedServices }) => unprotectedServices)).toEqual([0, 4, 0]);
      });

      it('without requests nothing is verified, and the services are as open as before', () => {
        expect(trustBill('gatewayTrusted', 2, 0)).toEqual({
          units: 1,
          verificationsPerSecond: 0,
          unprotectedServices: 2,
        });
      });

      it('refuses services below 1 or half of one, and a rate below 0 or without an end', () => {
        for (const services of [0, 2.5, -3, Number.NaN]) {
          expectRefusal(() => trustBill('both', services, 10), 'services');
        }
        for (const rate of [-1, Number.NaN, Infinity]) {
          expectRefusal(() => trustBill('both', 3, rate), 'edgeRate');
        }
      });
    });

    describe('chooseTrust', () => {
      const bypassed = { gatewayCanBeBypassed: true, services: 3, edgeRate: 513.89 };
      const closed = { ...bypassed, gatewayCanBeBypassed: false };
      for (const { what, input, choice } of [
        { what: 'nobody gets around it', input: closed, choice: 'gatewayTrusted' },
        { what: 'bypassed', input: bypassed, choice: 'noGateway' },
        {
          what: 'bypassed, 600 verifications/s',
          input: { ...bypassed, maxVerificationsPerSecond: 600 },
          choice: 'noGateway',
        },
        { what: 'bypassed, 2 units', input: { ...bypassed, maxUnits: 2 }, choice: undefined },
        {
          what: 'bypassed, 3 units exactly',
          input: { ...bypassed, maxUnits: 3 },
          choice: 'noGateway',
        },
        {
          what: 'bypassed, 513.89 verifications/s exactly',
          input: { ...bypassed, maxVerificationsPerSecond: 513.89 },
          choice: 'noGateway',
        },
        {
          what: 'bypassed, 500 verifications/s',
          input: { ...bypassed, maxVerificationsPerSecond: 500 },
          choice: undefined,
        },
        {
          what: 'bypassed, a gateway is required',
          input: { ...bypassed, gatewayRequired: true },
          choice: 'both',
        },
        {
          what: 'bypassed, a gateway is required, 600 verifications/s',
          input: { ...bypassed, gatewayRequired: true, maxVerificationsPerSecond: 600 },
          choice: undefined,
        },
        {
          what: 'bypassed, a gateway is required, 3 units',
          input: { ...bypassed, gatewayRequired: true, maxUnits: 3 },
          choice: undefined,
        },
        {
          what: 'nobody gets around it, a gateway is required, 1 unit',
          input: { ...closed, gatewayRequired: true, maxUnits: 1 },
          choice: 'gatewayTrusted',
        },
        {
          what: 'one service, nobody gets around it: a tie',
          input: { ...closed, services: 1 },
          choice: 'noGateway',
        },
        { what: 'no unit at all', input: { ...closed, maxUnits: 0 }, choice: undefined },
      ]) {
        it(`${what}: ${choice}`, () => {
          expect(chooseTrust(input)).toBe(choice);
        });
      }

      it('verifying twice is never the cheapest: only who must have a gateway chooses it', () =>
        expectLaw(
          {
            gatewayCanBeBypassed: fc.boolean(),
            services: fc.integer({ min: 1, max: 50 }),
            edgeRate: fc.double({ min: 0, max: 1e6, noNaN: true }),
            maxUnits: fc.integer({ min: 0, max: 60 }),
          },
          (input) => {
            expect(chooseTrust(input)).not.toBe('both');
            expect(chooseTrust({ ...input, maxUnits: 100 })).toMatch(
              /^(gatewayTrusted|noGateway)$/,
            );
          },
        ));

      it('refuses what the bill refuses, also where no mode would be left', () => {
        expectRefusal(() => chooseTrust({ ...closed, services: 0 }), 'services');
        expectRefusal(() => chooseTrust({ ...closed, maxUnits: 0, edgeRate: -1 }), 'edgeRate');
      });
    });
  });

  describe('Exercise 13.4: a real offloaded edge', lesson.exercise('13.4'), () => {
    describe('who runs what', () => {
      for (const { mode, units } of [
        { mode: 'noGateway', units: ['takip log,token,size,own'] },
        { mode: 'gatewayTrusted', units: ['gateway log,token,size', 'takip own'] },
        { mode: 'both', units: ['gateway log,token,size', 'takip token,own'] },
      ] as const) {
        it(`${mode}: ${units.join(', then ')}`, async () => {
          const notes: string[] = [];
          await using edge = await startEdge(mode, {
            edgeChecks: ['log', 'token', 'size'].map((name) => noting(notes, name)),
            serviceChecks: { takip: [noting(notes, 'own')], olay: [], ucret: [] },
          });
          using caller = openCaller(edge);

          expect(await caller.ask('takip')).toBe(200);
          expect(notes).toEqual(
            units.flatMap((unit) => {
              const [name = '', checks = ''] = unit.split(' ');
              return checks.split(',').map((check) => `${name} ${check}`);
            }),
          );
        });

        it(`${mode}: each service has its own checks, and clients know ${mode === 'noGateway' ? 3 : 1} addresses`, async () => {
          const notes: string[] = [];
          await using edge = await startEdge(mode, {
            edgeChecks: [noting([], 'token')],
            serviceChecks: {
              takip: [],
              olay: [noting(notes, 'first'), noting(notes, 'second')],
              ucret: [noting(notes, 'third')],
            },
          });
          using caller = openCaller(edge);
          const addresses = FLOWS.map((flow) => edge.addressOf(flow));
          const ports = FLOWS.map((flow) => edge.servicePort(flow));

          for (const flow of FLOWS) expect(await caller.ask(flow)).toBe(200);

          expect(notes).toEqual(['olay first', 'olay second', 'ucret third']);
          expect(new Set(ports).size).toBe(3);
          expect(new Set(addresses).size).toBe(mode === 'noGateway' ? 3 : 1);
          if (mode === 'noGateway') expect(addresses).toEqual(ports);
          else expect(ports).not.toContain(addresses[0]);
        });

        it(`${mode}: the first status that is not 0 is the answer, and ends it`, async () => {
          const notes: string[] = [];
          await using edge = await startEdge(mode, {
            edgeChecks: [
              noting(notes, 'a'),
              noting(notes, 'token', Promise.resolve(418)), // a check may take its time
              noting(notes, 'c', 401),
            ],
            serviceChecks: { takip: [noting(notes, 'own')], olay: [], ucret: [] },
          });
          using caller = openCaller(edge);
          const unit = mode === 'noGateway' ? 'takip' : 'gateway';

          expect(await caller.ask('takip')).toBe(418);
          expect(notes).toEqual([`${unit} a`, `${unit} token`]);
        });
      }

      it('a check that throws lets nothing pass: 500, at the gateway as in a service', async () => {
        using _quiet = vi.spyOn(console, 'error').mockImplementation(() => {});
        const notes: string[] = [];
        const broken: RunnableCheck = {
          name: 'token',
          run: (unit) => {
            if (unit === 'olay') throw new Error('the key is gone');
            return 0;
          },
        };
        const late: RunnableCheck = {
          name: 'late',
          run: async (unit) => {
            if (unit === 'gateway') throw new Error('nobody answers');
            return 0;
          },
        };
        const serviceChecks = {
          takip: [noting(notes, 'own')],
          olay: [noting(notes, 'own')],
          ucret: [],
        };
        await using atGateway = await startEdge('gatewayTrusted', {
          edgeChecks: [late],
          serviceChecks,
        });
        await using inServices = await startEdge('both', { edgeChecks: [broken], serviceChecks });
        using first = openCaller(atGateway);
        using second = openCaller(inServices);

        expect(await first.ask('takip')).toBe(500);
        expect(await second.ask('olay')).toBe(500);
        expect(notes).toEqual([]);
      });

      it('verifying twice without a check named token is refused', async () => {
        const serviceChecks = { takip: [], olay: [], ucret: [] };
        await expectRefusal(
          () =>
            startOffloadedEdge({ mode: 'both', edgeChecks: [noting([], 'log')], serviceChecks }),
          'token',
        );
      });

      it('close() ends everything, twice is fine, and the ports can still be asked for', async () => {
        for (const mode of TRUST_MODES) {
          const edge = await startEdge(mode, createCheckHarness());
          await using _edge = edge;
          const portsOf = (flow: Flow) => [edge.addressOf(flow), edge.servicePort(flow)];
          const ports = FLOWS.flatMap(portsOf);

          await edge.close();
          await edge.close();

          expect(FLOWS.flatMap(portsOf)).toEqual(ports);
          for (const port of new Set(ports)) {
            using client = openClient(port);
            await expect(client.send('/')).rejects.toThrow();
          }
        }
      });
    });

    // Predict first: 37 requests, four edge checks. How many runs are saved by moving them?
    describe('the trace of 30 reads and 7 writes', () => {
      for (const { mode, verifications } of [
        { mode: 'noGateway', verifications: { gateway: 0, takip: 30, olay: 7 } },
        { mode: 'gatewayTrusted', verifications: { gateway: 37, takip: 0, olay: 0 } },
        { mode: 'both', verifications: { gateway: 37, takip: 30, olay: 7 } },
      ] as const) {
        const { gateway, takip, olay } = verifications;
        it(`${mode}: ${gateway} verifications at the gateway, ${takip} + ${olay} in the services`, async () => {
          const { answered, runs } = await traceIn(mode);

          expect(answered).toBe(37);
          expect(runs('gateway', 'token')).toBe(gateway);
          expect(runs('takip', 'token')).toBe(takip);
          expect(runs('olay', 'token')).toBe(olay);
          expect(perSecond(gateway + takip + olay)).toBePublished(`13.trust.${mode}.verifications`);
        });

        it(`${mode}: the four edge checks run 37 times each, ${gateway > 0 ? 'at the gateway' : 'in the services'}`, async () => {
          const trace = await traceIn(mode);
          const runs = EDGE_CHECKS.map((check) =>
            gateway > 0 ? trace.runs('gateway', check) : runsInServices(trace, check),
          );

          expect(runs).toEqual([37, 37, 37, 37]);
          expect(runs.length).toBePublished('13.rates.edgeChecks.count');
          for (const count of runs) expect(perSecond(count)).toBePublished('13.rates.edgeChecks');
        });

        it(`${mode}: ownership runs with the reads, in takip`, async () => {
          const { runs } = await traceIn(mode);

          expect(runs('takip', 'ownership')).toBe(30);
          expect(perSecond(runs('takip', 'ownership'))).toBePublished('13.rates.ownership');
        });
      }

      it('moving the checks does not make them fewer: 148 runs with a gateway, 148 without', async () => {
        const without = await traceIn('noGateway');
        const trusted = await traceIn('gatewayTrusted');
        const sum = (counts: readonly number[]) =>
          counts.reduce((total, count) => total + count, 0);

        expect(sum(EDGE_CHECKS.map((check) => runsInServices(without, check)))).toBe(148);
        expect(sum(EDGE_CHECKS.map((check) => trusted.runs('gateway', check)))).toBe(148);
        expect(sum(EDGE_CHECKS.map((check) => runsInServices(trusted, check)))).toBe(0);
      });
    });

    for (const mode of TRUST_MODES) {
      it(`${mode}: a batch of 60 records is one request and 60 runs of the quota, and one more is refused`, async () => {
        const harness = createCheckHarness();
        await using edge = await startEdge(mode, harness);
        using caller = openCaller(edge);
        const batch = (records: number) =>
          caller.ask('ucret', { direct: true, headers: { 'x-batch': String(records) } });

        expect(await batch(60)).toBe(200);
        expect(harness.runs('ucret', 'quota')).toBe(60);
        expect(perSecond(harness.runs('ucret', 'quota'))).toBePublished('13.rates.quota');
        expect(await batch(1)).toBe(429);
      });
    }

    // Predict first: who answers a bad token that doesn't come through the gateway?
    describe('around the gateway', () => {
      for (const { mode, statuses } of [
        { mode: 'noGateway', statuses: [401, 401, 401] },
        { mode: 'gatewayTrusted', statuses: [200, 200, 200] },
        { mode: 'both', statuses: [401, 401, 401] },
      ] as const) {
        it(`${mode}: the services answer a bad token with ${statuses.join(', ')}`, async () => {
          await using edge = await startEdge(mode, createCheckHarness());
          using caller = openCaller(edge);

          const answers = await bypass(caller);

          expect(answers).toEqual(statuses);
          expect(unprotected(answers)).toBePublished(`13.trust.${mode}.unprotected`);
        });

        it(`${mode}: a forged signature is a 401 by the address that clients know, and a ${statuses[0]} straight to the service`, async () => {
          await using edge = await startEdge(mode, createCheckHarness());
          using caller = openCaller(edge);
          const [, signature] = tokenOf('s2').split('.');
          const token = `s1.${signature}`;

          expect(await caller.ask('takip', { token })).toBe(401);
          expect(await caller.ask('takip', { token, direct: true })).toBe(statuses[0]);
        });

        it(`${mode}: somebody else's shipment is a 403 for whoever has a good token`, async () => {
          await using edge = await startEdge(mode, createCheckHarness());
          using caller = openCaller(edge);

          expect(await caller.ask('takip', { shipment: 'TR-9007' })).toBe(403);
          expect(await caller.ask('takip', { shipment: 'TR-9007', direct: true })).toBe(403);
        });
      }

      it('an ownership check on a name that nobody has verified protects nothing', async () => {
        await using edge = await startEdge('gatewayTrusted', createCheckHarness());
        using caller = openCaller(edge);
        const direct = { direct: true, shipment: 'TR-9007' };

        expect(await caller.ask('takip', { ...direct, token: BAD_TOKEN })).toBe(403);
        expect(await caller.ask('takip', { ...direct, token: 's2.bad' })).toBe(200);
      });
    });

    describe('what is rejected', () => {
      for (const mode of WITH_GATEWAY) {
        it(`${mode}: what the gateway rejects reaches no service, and is in the log`, async () => {
          const harness = createCheckHarness();
          const reached: string[] = [];
          const { takip, olay, ucret } = harness.serviceChecks;
          await using edge = await startEdge(mode, {
            edgeChecks: harness.edgeChecks,
            serviceChecks: {
              takip: [noting(reached, 'reached'), ...takip],
              olay: [noting(reached, 'reached'), ...olay],
              ucret,
            },
          });
          using caller = openCaller(edge);

          expect(await caller.ask('takip', { token: BAD_TOKEN })).toBe(401);
          expect(await caller.ask('olay', { body: 'x'.repeat(1025) })).toBe(413);

          expect(reached).toEqual([]);
          expect(runsInServices(harness, 'token')).toBe(0);
          expect(harness.log().map(({ unit, path }) => `${unit} ${path}`)).toEqual([
            'gateway /takip/TR-4821',
            'gateway /olay',
          ]);
        });
      }

      for (const mode of TRUST_MODES) {
        const straight = mode === 'noGateway' ? 413 : 200;
        it(`${mode}: a body of 1025 bytes is a 413, and a ${straight} straight to the service`, async () => {
          await using edge = await startEdge(mode, createCheckHarness());
          using caller = openCaller(edge);
          const body = 'x'.repeat(1025);

          expect(await caller.ask('olay', { body })).toBe(413);
          expect(await caller.ask('olay', { body: body.slice(1) })).toBe(200);
          expect(await caller.ask('olay', { body, direct: true })).toBe(straight);
        });
      }
    });

    for (const mode of TRUST_MODES) {
      const full = mode === 'noGateway';
      it(`${mode}: the log of a tracking query has ${full ? 'the shipment record' : 'no shipment record'}`, async () => {
        const harness = createCheckHarness();
        await using edge = await startEdge(mode, harness);
        using caller = openCaller(edge);

        await caller.ask('takip');

        expect(harness.log()).toEqual([
          {
            unit: full ? 'takip' : 'gateway',
            method: 'GET',
            path: '/takip/TR-4821',
            subject: 's1',
            ...(full && { shipment: { number: 'TR-4821', owner: 's1' } }),
          },
        ]);
      });
    }
  });

  // Predict first: the services must not verify tokens, and must not trust strangers. What can the
  // gateway put in a request that a stranger can't?
  describe('Exercise 13.5: close the bypass', lesson.exercise('13.5'), () => {
    const secret = 'gateway-secret';
    const path = '/takip/TR-4821?dil=tr';

    describe('the proof', () => {
      it('is the HMAC of method, a space and the path with its query', () => {
        const { stamp } = withGatewayProof({ secret });

        expect(proofOf(stamp, 'GET', path)).toBe(hmac(secret, `GET ${path}`));
        expect(proofOf(stamp, 'POST', '/olay')).toBe(hmac(secret, 'POST /olay'));
      });

      it('replaces an incoming one, in a copy of the headers', () => {
        const { stamp } = withGatewayProof({ secret });
        const headers = { host: 'a', [PROOF_HEADER]: 'forged', 'x-batch': '2' };

        const stamped = stamp({ method: 'GET', path }, headers);

        expect(stamped).toEqual({ ...headers, [PROOF_HEADER]: hmac(secret, `GET ${path}`) });
        expect(headers[PROOF_HEADER]).toBe('forged');
      });

      it('passes for the request that it was made for, in the check named proof', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        const proof = proofOf(stamp, 'GET', path);

        expect(check.name).toBe('proof');
        expect(await check.run('takip', asRequest('GET', path, { [PROOF_HEADER]: proof }))).toBe(0);
      });

      it('is refused if missing or wrong, whatever its length', async () => {
        const { check } = withGatewayProof({ secret });
        const right = hmac(secret, `GET ${path}`);
        const judge = (headers: IncomingHttpHeaders) =>
          check.run('takip', asRequest('GET', path, headers));

        expect(await judge({})).toBe(401);
        for (const wrong of [
          '',
          'x',
          '0'.repeat(64),
          right.slice(0, -1),
          `${right}0`,
          `${right}, ${right}`, // the header twice
          right.toUpperCase(),
          'é'.repeat(64), // 64 characters, 128 bytes
          'é'.repeat(32),
          hmac('another-secret', `GET ${path}`),
        ]) {
          expect(await judge({ [PROOF_HEADER]: wrong }), `proof ${wrong}`).toBe(401);
        }
      });

      it('is refused for another path, another query or another method', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        const headers = { [PROOF_HEADER]: proofOf(stamp, 'GET', path) };

        expect(await check.run('takip', asRequest('GET', '/takip/TR-9007?dil=tr', headers))).toBe(
          401,
        );
        expect(await check.run('takip', asRequest('GET', '/takip/TR-4821', headers))).toBe(401);
        expect(await check.run('takip', asRequest('DELETE', path, headers))).toBe(401);
      });

      it('is good for its method and path, and for nothing else', () =>
        expectLaw(
          {
            method: fc.constantFrom('GET', 'POST', 'PUT'),
            target: fc.webPath().map((one) => `/${one}`),
            other: fc.webPath().map((one) => `/${one}`),
          },
          async ({ method, target, other }) => {
            const { stamp, check } = withGatewayProof({ secret });
            const headers = { [PROOF_HEADER]: proofOf(stamp, method, target) };

            expect(await check.run('olay', asRequest(method, target, headers))).toBe(0);
            expect(await check.run('olay', asRequest(method, other, headers))).toBe(
              other === target ? 0 : 401,
            );
          },
        ));

      it('needs a secret: with an empty one anybody could make it', () => {
        expectRefusal(() => withGatewayProof({ secret: '' }), 'secret');
      });
    });

    it('over the wire: strangers are refused, and a proof that a client sends is dropped', async () => {
      const { stamp, check } = withGatewayProof({ secret });
      await using service = await startService('takip', [linkOf('takip', check)]);
      await using gateway = await startGateway({
        serviceMap: new Map([['takip', service.port]]),
        chain: [],
        stamp,
      });
      using front = openClient(gateway.port);
      using around = openClient(service.port);
      const forged = { headers: { 'X-Gateway-Proof': hmac('guess', `GET ${path}`) } };

      expect((await front.send(path)).status).toBe(200);
      expect((await front.send(path, forged)).status).toBe(200);
      expect((await around.send(path)).status).toBe(401);
      expect((await around.send(path, forged)).status).toBe(401);
    });

    describe('in the system of 13.4', () => {
      it('no service is open any more, at 37 verifications and 37 proofs instead of 74 verifications', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        const harness = withProof(check);
        await using edge = await startEdge('gatewayTrusted', harness, stamp);
        using caller = openCaller(edge);

        expect(await sendTrace(caller)).toBe(37);
        expect({
          tokenVerifications: harness.runs('gateway', 'token') + runsInServices(harness, 'token'),
          proofChecks: runsInServices(harness, 'proof'),
          units: 1 + FLOWS.length,
          unprotected: unprotected(await bypass(caller)),
        }).toEqual(proofBill(SERVICES, 37));
      });

      it('the batch job, which goes straight to its service, is refused as well', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        await using edge = await startEdge('gatewayTrusted', withProof(check), stamp);
        using caller = openCaller(edge);

        expect(await caller.ask('ucret', { direct: true, headers: { 'x-batch': '60' } })).toBe(401);
        expect(await caller.ask('ucret')).toBe(200);
      });

      // Predict first: somebody has recorded a request on its way to the service. What can they do?
      it('a recorded proof passes again and again, with any token: the risk that is left', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        const harness = withProof(check);
        await using edge = await startEdge('gatewayTrusted', harness, stamp);
        using caller = openCaller(edge);
        await caller.ask('takip');
        const headers = { [PROOF_HEADER]: harness.seen[0]?.[PROOF_HEADER] };
        const replay = { direct: true, token: BAD_TOKEN, headers };

        expect(await caller.ask('takip', replay)).toBe(200);
        expect(await caller.ask('takip', replay)).toBe(200);
        expect(await caller.ask('takip', { ...replay, shipment: 'TR-9007' })).toBe(401);
      });

      it('a recorded proof passes with another body: method and path are all it is bound to', async () => {
        const { stamp, check } = withGatewayProof({ secret });
        const harness = withProof(check);
        await using edge = await startEdge('gatewayTrusted', harness, stamp);
        using caller = openCaller(edge);
        await caller.ask('olay');
        const headers = { [PROOF_HEADER]: harness.seen[0]?.[PROOF_HEADER] };

        const body = '{"durum":"teslim edildi"}';
        expect(await caller.ask('olay', { direct: true, headers, body })).toBe(200);
      });
    });

    describe('proofBill', () => {
      for (const { services, requests } of [
        { services: 3, requests: 37 },
        { services: 5, requests: 100 },
        { services: 1, requests: 0 },
      ]) {
        it(`${services} services, ${requests} requests: ${requests} of each, in ${services + 1} units`, () => {
          expect(proofBill(services, requests)).toEqual({
            tokenVerifications: requests,
            proofChecks: requests,
            units: services + 1,
            unprotected: 0,
          });
        });
      }

      it('as many units as when both verify, and half of the verifications', () => {
        const bill = proofBill(SERVICES, 37);
        const both = trustBill('both', SERVICES, 37);

        expect(bill.units).toBe(both.units);
        expect(bill.tokenVerifications * 2).toBe(both.verificationsPerSecond);
      });

      it('refuses services below 1, requests below 0, and halves of either', () => {
        for (const services of [0, -1, 1.5]) {
          expectRefusal(() => proofBill(services, 37), 'services');
        }
        for (const requests of [-1, 0.5, Number.NaN, Infinity]) {
          expectRefusal(() => proofBill(3, requests), 'requests');
        }
      });
    });
  });

  describe('Exercise 13.6: a proof for one request', lesson.exercise('13.6'), () => {
    const secret = 'gateway-secret';
    const path = '/takip/TR-4821?dil=tr';
    const windowMs = 2_000;

    /** A gateway and a service, each with its own clock, and a request that the gateway has stamped. */
    function openProof() {
      const [gatewayClock, serviceClock] = [new ManualClock(), new ManualClock()];
      const gateway = withExpiringProof({ secret, clock: gatewayClock, windowMs });
      const service = withExpiringProof({ secret, clock: serviceClock, windowMs });
      return {
        gatewayClock,
        serviceClock,
        remembered: () => service.remembered(),
        stamped: (target = path) => proofOf(gateway.stamp, 'GET', target),
        judge: (proof: string | undefined, target = path, method = 'GET') =>
          service.check.run('takip', asRequest(method, target, { [PROOF_HEADER]: proof })),
      };
    }

    /** A proof that is signed as the gateway would sign it, of any parts. */
    const made = (time: number | string, nonce: string, target = path) =>
      `${time}:${nonce}:${hmac(secret, `GET ${target} ${time} ${nonce}`)}`;

    describe('the proof', () => {
      it('has the time, a nonce and the HMAC of method, path, time and nonce', async () => {
        const { gatewayClock, stamped } = openProof();
        await gatewayClock.advance(1234.9);
        const [time, nonce = '', signature] = stamped().split(':');

        expect(time).toBe('1234');
        expect(nonce).toMatch(/^[0-9a-f-]+$/);
        expect(signature).toBe(hmac(secret, `GET ${path} 1234 ${nonce}`));
      });

      it('is another one each time, also for the same request at the same moment', async () => {
        const { stamped, judge } = openProof();
        const proofs = Array.from({ length: 50 }, () => stamped());

        expect(new Set(proofs).size).toBe(50);
        for (const proof of proofs) expect(await judge(proof)).toBe(0);
      });

      it('takes the place of an incoming one, and leaves the given headers as they were', () => {
        const { stamp } = withExpiringProof({ secret, clock: new ManualClock(), windowMs });
        const headers = { host: 'a', [PROOF_HEADER]: 'forged' };

        const stamped = stamp({ method: 'GET', path }, headers);

        expect(stamped.host).toBe('a');
        expect(stamped[PROOF_HEADER]).not.toBe('forged');
        expect(headers[PROOF_HEADER]).toBe('forged');
      });

      it('is refused for another path and another method, and by whoever has another secret', async () => {
        const { stamped, judge } = openProof();
        const stranger = withExpiringProof({ secret: 'guess', clock: new ManualClock(), windowMs });

        expect(await judge(stamped(), '/takip/TR-9007')).toBe(401);
        expect(await judge(stamped(), path, 'POST')).toBe(401);
        expect(await judge(proofOf(stranger.stamp, 'GET', path))).toBe(401);
      });

      it('is refused if it is missing or has another form', async () => {
        const { judge } = openProof();
        expect(await judge(made(0, 'a'))).toBe(0);

        for (const wrong of [
          undefined,
          '',
          ':',
          '::',
          hmac(secret, `GET ${path}`), // the proof of 13.5
          '0:b',
          '0:b:',
          `0::${hmac(secret, `GET ${path} 0 b`)}`,
          `${made(0, 'b')}:`,
          `${made(0, 'b')}, ${made(0, 'b')}`,
          made('soon', 'b'),
        ]) {
          expect(await judge(wrong), `proof ${wrong}`).toBe(401);
        }
      });

      it('with any one character changed it is refused, and the right one is still good after that', async () => {
        const { stamped, judge } = openProof();
        const proof = stamped();

        for (let at = 0; at < proof.length; at += 1) {
          const other = proof[at] === '1' ? '2' : '1';
          const changed = proof.slice(0, at) + other + proof.slice(at + 1);
          expect(await judge(changed), `character ${at} changed`).toBe(401);
        }
        expect(await judge(proof)).toBe(0);
      });
    });

    describe('the window', () => {
      for (const { age, status } of [
        { age: 0, status: 0 },
        { age: 1_999, status: 0 },
        { age: 2_000, status: 0 },
        { age: 2_001, status: 401 },
        { age: 60_000, status: 401 },
      ]) {
        it(`of 2,000 ms: a proof that is ${age} ms old is ${status === 0 ? 'good' : 'refused'}`, async () => {
          const { serviceClock, stamped, judge } = openProof();
          const proof = stamped();
          await serviceClock.advance(age);

          expect(await judge(proof)).toBe(status);
        });

        it(`of 2,000 ms: a proof from a gateway that is ${age} ms ahead is ${status === 0 ? 'good' : 'refused'}`, async () => {
          const { gatewayClock, stamped, judge } = openProof();
          await gatewayClock.advance(age);

          expect(await judge(stamped())).toBe(status);
        });
      }

      it('is as long as the options say', async () => {
        const clock = new ManualClock();
        const { stamp, check } = withExpiringProof({ secret, clock, windowMs: 5 });
        const proofs = [proofOf(stamp, 'GET', path), proofOf(stamp, 'GET', path)];
        const judge = () =>
          check.run('takip', asRequest('GET', path, { [PROOF_HEADER]: proofs.pop() }));
        await clock.advance(5);
        expect(await judge()).toBe(0);
        await clock.advance(1);
        expect(await judge()).toBe(401);
      });
    });

    describe('the nonce', () => {
      it('is good once: the second time it is refused, within the window and after it', async () => {
        const { gatewayClock, serviceClock, stamped, judge } = openProof();
        await gatewayClock.advance(1_500); // the gateway's clock is ahead
        const proof = stamped();

        expect(await judge(proof)).toBe(0);
        for (let second = 0; second <= 6; second += 1) {
          expect(await judge(proof), `after ${second} s`).toBe(401);
          await serviceClock.advance(1_000);
        }
      });

      it('is remembered as long as it could be used again, and no longer', async () => {
        const { gatewayClock, serviceClock, stamped, judge, remembered } = openProof();
        for (let sent = 0; sent < 37; sent += 1) await judge(stamped());
        await gatewayClock.advance(1_000);
        await judge(stamped());
        expect(remembered()).toBe(38);

        await serviceClock.advance(2_000);
        expect(remembered()).toBe(38);
        await serviceClock.advance(1);
        expect(remembered()).toBe(1);
        await serviceClock.advance(1_000);
        expect(remembered()).toBe(0);
      });

      it('of a proof that is refused is not remembered: strangers cannot fill the memory', async () => {
        const { judge, remembered } = openProof();

        for (let sent = 0; sent < 10; sent += 1) {
          await judge(`0:${sent}:${'0'.repeat(64)}`); // signed wrongly
          await judge(made(2_001, String(sent))); // out of the window
          await judge(made(0, String(sent), '/takip/TR-9007')); // for another path
        }

        expect(remembered()).toBe(0);
      });
    });

    it('refuses an empty secret, and a window that has no length', () => {
      const options = { secret, clock: new ManualClock(), windowMs };
      expectRefusal(() => withExpiringProof({ ...options, secret: '' }), 'secret');
      for (const bad of [0, -1, 1.5, Number.NaN, Infinity]) {
        expectRefusal(() => withExpiringProof({ ...options, windowMs: bad }), 'windowMs');
      }
    });

    describe('in the system of 13.4', () => {
      it('the trace passes, no service is open, and no recorded proof passes again', async () => {
        const clock = new ManualClock();
        const proof = withExpiringProof({ secret, clock, windowMs });
        const harness = withProof(proof.check);
        await using edge = await startEdge('gatewayTrusted', harness, proof.stamp);
        using caller = openCaller(edge);

        expect(await sendTrace(caller)).toBe(37);
        expect(proof.remembered()).toBe(37);
        expect(unprotected(await bypass(caller))).toBe(0);

        const replayed = new Set<number>();
        for (const { [PROOF_HEADER]: recorded } of harness.seen.slice(0, 5)) {
          const headers = { [PROOF_HEADER]: recorded };
          replayed.add(await caller.ask('takip', { direct: true, token: BAD_TOKEN, headers }));
        }
        expect([...replayed]).toEqual([401]);
      });

      it('a proof that was recorded and never arrived is good until its window is over', async () => {
        const clock = new ManualClock();
        const { stamp, check } = withExpiringProof({ secret, clock, windowMs });
        await using edge = await startEdge('gatewayTrusted', withProof(check), stamp);
        using caller = openCaller(edge);
        const steal = () => ({ [PROOF_HEADER]: proofOf(stamp, 'GET', '/takip/TR-4821') });
        const use = (headers: OutgoingHttpHeaders) =>
          caller.ask('takip', { direct: true, token: BAD_TOKEN, headers });
        const [inTime, late] = [steal(), steal()];

        expect(await use(inTime)).toBe(200);
        await clock.advance(windowMs + 1);
        expect(await use(late)).toBe(401);
      });
    });
  });
});
