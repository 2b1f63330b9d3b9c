// Lesson 14: backend for frontend
//
// One edge answers everybody with the same body of 183 bytes. The card on a phone shows 78 of them,
// and a seller who looks at five shipments asks five times. Should each kind of client get an edge
// of its own? From lesson 12 you know how a body is put together from two services. You leave with
// the bill of both layouts, what the second one demands of the services behind it, and three edges
// that answer in the shape that their clients want.
//
// Read from top to bottom. Demonstrations are green from the start. Exercises are red until
// `exercise.ts` is filled in.
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { K01 } from '#fixtures/assumptions.ts';
import { expectRefusal } from '#helpers/lesson/bad-input.ts';
import { attachFigure, bars } from '#helpers/lesson/figure.ts';
import { openLesson } from '#helpers/lesson/lesson.ts';
import { expectLaw, fc } from '#helpers/lesson/property.ts';
import { gate, within } from '#helpers/lesson/waiting.ts';
import { createClientEdges, layoutDemands, mixEffect, selectFields, viewCost } from './exercise.ts';
import {
  BASELINE_BODY_BYTES,
  CLIENT_MIX,
  CLIENTS,
  type ClientKind,
  type EdgeLayout,
  HALVED_MOBILE_MIX,
  leafCount,
  OWNERSHIP,
  type Ownership,
  SCALE,
  SHIPMENT,
  type ShipmentPart,
  STATUS_BYTES,
  VIEWS_PER_SECOND,
  type ViewCost,
  WORLD,
  type World,
} from './given.ts';
import { type FakeServices, openServices, STOCK, type Stock } from './services.ts';
import { createSingleEdge } from './single-edge.ts';

const lesson = openLesson(import.meta.url);

const LAYOUTS = ['single', 'bff'] as const;
const [MOBILE, WEB, PANEL] = CLIENTS;

const bytesOf = (text: string) => Buffer.byteLength(text);
const bytesAsJson = (value: unknown) => bytesOf(JSON.stringify(value));
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

const MEASURES = ['requests', 'bytes', 'leaves', 'unusedLeaves', 'internalRequests'] as const;

/** One view of each client, added up. */
function totalOf(costs: readonly ViewCost[]): ViewCost {
  const sums = MEASURES.map((measure) => [measure, sumOf(costs.map((cost) => cost[measure]))]);
  return Object.fromEntries(sums) as unknown as ViewCost;
}

/** `1 183 11 8 2`, in the order of the published table. */
const rowOf = (cost: ViewCost) => MEASURES.map((measure) => cost[measure]).join(' ');

/** An object as `JSON.parse` makes it: `__proto__` is a key like any other. */
const parsed = <T = Record<string, unknown>>(text: string) => JSON.parse(text) as T;

describe('Lesson 14: backend for frontend', () => {
  it('three kinds of client want different parts of the same shipment', () => {
    expect(CLIENTS.length).toBePublished('14.given.clients');
    expect(leafCount(SHIPMENT)).toBePublished('14.given.combined.leaves');
    for (const { name, records } of CLIENTS) {
      expect(records).toBePublished(`14.given.records.${name}`);
      expect(CLIENT_MIX[name]).toBePublished(`14.given.share.${name}`);
      expect(CLIENT_MIX[name] * 100).toBePublished(`14.given.share.${name}.percent`);
      expect(HALVED_MOBILE_MIX[name]).toBePublished(`14.given.mix2.${name}`);
    }
    for (const mix of [CLIENT_MIX, HALVED_MOBILE_MIX]) {
      expect(sumOf(Object.values(mix))).toBeCloseTo(1, 9);
    }
  });

  it('the introductory course knew one kind of client, and its 480 bytes held no price', () => {
    expect(VIEWS_PER_SECOND).toBePublished('14.given.k01.peakReads');
    expect(BASELINE_BODY_BYTES).toBePublished('14.given.k01.trackingBody');
    expect(K01.readEgressMbit).toBePublished('14.given.k01.egress');
    expect((VIEWS_PER_SECOND * BASELINE_BODY_BYTES * 8) / 1e6).toBePublished('14.given.k01.egress');
    expect(STATUS_BYTES).toBePublished('14.scale.statusBody');
    expect(SCALE).toBePublished('14.scale.factor');
  });

  // Predict first: a seller looks at five shipments. How many requests is that, and how many calls
  // to services?
  it('a single edge sends everybody the same 183 bytes, and calls both services for it each time', async () => {
    const { services, calls } = openServices();
    const edge = createSingleEdge(services);

    const bodies: string[] = [];
    for (let view = 0; view < PANEL.records; view += 1) {
      const response = await request(edge).get('/takip/TR-4821');
      bodies.push(response.text);
    }

    expect(new Set(bodies)).toEqual(new Set([JSON.stringify(SHIPMENT)]));
    expect(bytesOf(bodies[0] ?? '')).toBePublished('14.single.mobile.bytes');
    expect(bodies.length).toBePublished('14.single.panel.requests');
    expect(sumOf(bodies.map(bytesOf))).toBePublished('14.single.panel.bytes');
    expect(calls.length).toBePublished('14.single.panel.internalRequests');
  });

  it('a common body is sized for the widest client: 37 of 77 leaf fields are for nobody', async ({
    annotate,
  }) => {
    const rows = CLIENTS.map(({ name, fields, records }) => {
      const used = records * sumOf(fields.map((field) => leafCount(SHIPMENT[field])));
      return { name, used, unused: records * leafCount(SHIPMENT) - used };
    });
    const unused = sumOf(rows.map((row) => row.unused));
    const carried = unused + sumOf(rows.map((row) => row.used));

    await attachFigure(annotate, {
      title: `One view of each client over a single edge: ${unused} of ${carried} leaf fields are unused`,
      facts: rows.map(
        (row) => `${row.name}: ${row.used + row.unused} leaf fields, ${row.unused} of them unused`,
      ),
      option: () =>
        bars({
          unit: 'leaf fields of one view',
          categories: rows.map((row) => row.name),
          stacked: true,
          series: [
            { name: 'used', values: rows.map((row) => row.used) },
            { name: 'unused', values: rows.map((row) => row.unused) },
          ],
        }),
    });
    expect(unused).toBePublished('14.single.total.unusedLeaves');
    expect(carried).toBePublished('14.single.total.leaves');
    expect((unused / carried) * 100).toBePublished('14.ratio.unusedPercent');
    // The card wastes the largest share of its own body, the panel the largest amount.
    const share = rows.map((row) => row.unused / (row.used + row.unused));
    expect(share.indexOf(Math.max(...share))).toBe(0);
    expect(rows.map((row) => row.unused)).toEqual([8, 4, 25]);
  });

  // Predict first: what does JSON.stringify do with a field whose value is undefined?
  describe('Exercise 14.1: the wanted fields', lesson.exercise('14.1'), () => {
    for (const [name, bytes, id] of [
      ['mobile', 78, '14.body.mobile.text'],
      ['web', 115, '14.body.web.text'],
      ['panel', 109, '14.body.panelRecord.text'],
    ] as const) {
      it(`the ${name} gets its fields of a shipment in ${bytes} bytes`, () => {
        const { fields } = CLIENTS.find((client) => client.name === name) as ClientKind;
        const text = JSON.stringify(selectFields(SHIPMENT, fields));

        expect(text).toBePublished(id);
        expect(bytesOf(text)).toBe(bytes);
      });
    }

    it("the fields come in the client's order, not in that of the record", () => {
      const record = { a: 1, b: [2], c: { d: 3 } };
      expect(JSON.stringify(selectFields(record, ['c', 'a']))).toBe('{"c":{"d":3},"a":1}');
      expect(JSON.stringify(selectFields(record, ['a', 'c']))).toBe('{"a":1,"c":{"d":3}}');
    });

    it('a field that the record has with the value null is copied, and so are 0, false and ""', () => {
      const record = { a: null, b: 0, c: false, d: '' };
      expect(selectFields(record, ['d', 'a', 'c', 'b'])).toEqual({
        d: '',
        a: null,
        c: false,
        b: 0,
      });
    });

    it('no fields make an empty object', () => {
      expect(selectFields(SHIPMENT, [])).toEqual({});
      expect(selectFields({}, [])).toEqual({});
    });

    it('a typo in a field list is loud, and the error has the field', () => {
      expectRefusal(() => selectFields(SHIPMENT, ['takipNo', 'drum']), 'drum');
      expectRefusal(() => selectFields(SHIPMENT, ['takipNo', 'Durum']), 'Durum');
      expectRefusal(() => selectFields({}, ['durum']), 'durum');
      // A part of a field is not a field of the record.
      expectRefusal(() => selectFields(SHIPMENT, ['net']), 'net');
    });

    for (const field of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      it(`${field} is unknown to a record that only inherits it`, () => {
        expectRefusal(() => selectFields(SHIPMENT, ['takipNo', field]), field);
      });

      it(`${field} is a field like any other for a record that has it`, () => {
        const text = `{"${field}":{"net":1},"durum":"kabul"}`;
        const selected = selectFields(parsed(text), ['durum', field]);

        expect(JSON.stringify(selected)).toBe(`{"durum":"kabul","${field}":{"net":1}}`);
        expect(selected.net, 'nothing is inherited from the value').toBeUndefined();
      });
    }

    it('a record without a prototype is read like any other', () => {
      const bare = Object.assign(Object.create(null), { durum: 'kabul', hasOwnProperty: 1 });
      expect(selectFields(bare, ['durum'])).toEqual({ durum: 'kabul' });
    });

    it('the same field twice is refused, and the error has the field', () => {
      expectRefusal(() => selectFields(SHIPMENT, ['durum', 'takipNo', 'durum']), 'durum');
    });

    it('the record stays as it is', () => {
      const before = JSON.stringify(SHIPMENT);
      const selected = selectFields(SHIPMENT, PANEL.fields);
      selected.durum = 'teslim';

      expect(Object.keys(selected)).toEqual(PANEL.fields);
      expect(JSON.stringify(SHIPMENT)).toBe(before);
      expect(selected).not.toBe(SHIPMENT);
    });

    it('whatever is wanted, keys and values are those of the record, in the order wanted', () =>
      expectLaw(
        {
          record: fc.dictionary(fc.stringMatching(/^[a-z_]{1,12}$/), fc.jsonValue({ maxDepth: 1 })),
          seed: fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }),
        },
        ({ record, seed }) => {
          const fields = Object.keys(record)
            .map((field, index) => ({ field, at: seed[index] ?? 0 }))
            .filter(({ at }) => at < 60)
            .sort((a, b) => a.at - b.at)
            .map(({ field }) => field);
          Object.freeze(fields);
          const selected = selectFields(Object.freeze(record), fields);

          expect(Object.keys(selected)).toEqual(fields);
          for (const field of fields) expect(selected[field]).toEqual(record[field]);
        },
      ));
  });

  // Predict first: five of the panel's 109-byte objects go into one list. How many bytes is that?
  describe('Exercise 14.2: the cost of a view', lesson.exercise('14.2'), () => {
    const costs = (
      layout: EdgeLayout,
      change: { clients?: readonly ClientKind[]; world?: Partial<World> } = {},
    ) =>
      (change.clients ?? CLIENTS).map((client) =>
        viewCost(client, layout, { ...WORLD, ...change.world }),
      );
    const total = (...input: Parameters<typeof costs>) => totalOf(costs(...input));

    for (const layout of LAYOUTS) {
      for (const client of CLIENTS) {
        it(`${layout}, ${client.name}: the published row comes out`, () => {
          const cost = viewCost(client, layout, WORLD);
          for (const measure of MEASURES) {
            expect(cost[measure]).toBePublished(`14.${layout}.${client.name}.${measure}`);
          }
        });
      }

      it(`${layout}: one view of each client adds up to the published total`, () => {
        const sums = total(layout);
        for (const measure of MEASURES) {
          expect(sums[measure]).toBePublished(`14.${layout}.total.${measure}`);
        }
      });
    }

    it('a backend for each client leaves 0.58 of the bytes, 0.52 of the leaf fields and none unused', async ({
      annotate,
    }) => {
      const bodies = LAYOUTS.flatMap((layout) =>
        costs(layout).map((cost, index) => ({
          label: `${CLIENTS[index]?.name}, ${layout}`,
          client: index,
          ...cost,
        })),
      ).sort((a, b) => a.client - b.client);
      const [single, bff] = [total('single'), total('bff')];

      await attachFigure(annotate, {
        title: 'Used and unused leaf fields of one view, single edge and backend for frontend',
        facts: bodies.map(
          ({ label, leaves, unusedLeaves, bytes }) =>
            `${label}: ${leaves} leaf fields in ${bytes} bytes, ${unusedLeaves} of them unused`,
        ),
        option: () =>
          bars({
            unit: 'leaf fields of one view',
            categories: bodies.map(({ label }) => label),
            stacked: true,
            series: [
              { name: 'used', values: bodies.map((body) => body.leaves - body.unusedLeaves) },
              { name: 'unused', values: bodies.map((body) => body.unusedLeaves) },
            ],
          }),
      });
      expect(bff.bytes / single.bytes).toBePublished('14.ratio.bytes');
      expect(bff.leaves / single.leaves).toBePublished('14.ratio.leaves');
      expect((single.unusedLeaves / single.leaves) * 100).toBePublished('14.ratio.unusedPercent');
    });

    it('bytes and leaf fields shrink differently, because the fields that stay are longer on the whole', () => {
      const [mobile, web, panel] = costs('bff').map((cost) =>
        (cost.bytes / cost.leaves).toFixed(1),
      );
      const [common] = costs('single');

      expect(((common?.bytes ?? 0) / (common?.leaves ?? 0)).toFixed(1)).toBe('16.6');
      expect([mobile, web, panel]).toEqual(['26.0', '16.4', '18.4']);
      expect((total('bff').bytes / total('bff').leaves).toFixed(1)).toBe('18.6');
      // The card's time stamp alone is 36 of its 78 bytes.
      expect(bytesOf(`"guncellenme":"${SHIPMENT.guncellenme}"`)).toBe(36);
    });

    it("the drop from 7 requests to 3 is the panel's alone", () => {
      const saved = costs('single').map(
        ({ requests }, index) => requests - (costs('bff')[index]?.requests ?? NaN),
      );
      expect(saved).toEqual([0, 0, 4]);
    });

    it('the calls that multiply do not vanish by themselves: without batch endpoints 12 of 14 stay', () => {
      const without = { world: { batchEndpoints: false } };

      expect(costs('bff', without).map((cost) => cost.internalRequests)).toEqual([1, 1, 10]);
      expect(total('bff', without).internalRequests).toBe(12);
      // Nothing else notices, and the single edge asks one by one in any case.
      for (const measure of ['requests', 'bytes', 'leaves', 'unusedLeaves'] as const) {
        expect(total('bff', without)[measure]).toBe(total('bff')[measure]);
      }
      expect(costs('single', without)).toEqual(costs('single'));
    });

    it('some calls are simply never made: the card and the page do not ask pricing', () => {
      const saved = costs('single').map(
        ({ internalRequests }, index) =>
          internalRequests - (costs('bff')[index]?.internalRequests ?? NaN),
      );
      expect(saved).toEqual([1, 1, 8]);
    });

    const withClient = (name: string, change: Partial<ClientKind>) =>
      CLIENTS.map((client) => (client.name === name ? { ...client, ...change } : client));
    const pricedInLira = { ...SHIPMENT, ucret: { ...SHIPMENT.ucret, paraBirimi: 'TRY' } };
    const longWay = { ...SHIPMENT, rota: ['34', '41', '16', '10', '45', '35'] };
    const kiosk = { name: 'kiosk', fields: ['takipNo', 'durum'], records: 1 };

    for (const [row, change, name, client, singleTotal, bffTotal] of [
      [
        'S4: a panel of 20 records',
        { clients: withClient('panel', { records: 20 }) },
        'panel',
        '1 2201 120 0 2',
        '22 4026 242 112 44',
        '3 2394 130 0 4',
      ],
      [
        'S5: a panel of 1 record gets an object',
        { clients: withClient('panel', { records: 1 }) },
        'panel',
        '1 109 6 0 2',
        '3 549 33 17 6',
        '3 302 16 0 4',
      ],
      [
        'S6: the web page wants the price too',
        { clients: withClient('web', { fields: [...WEB.fields, 'ucret'] }) },
        'web',
        '1 183 11 0 2',
        '7 1281 77 33 14',
        '3 812 44 0 5',
      ],
      [
        'S7: the card wants the region, not the time',
        { clients: withClient('mobile', { fields: ['takipNo', 'durum', 'bolge', 'guncellenme'] }) },
        'mobile',
        '1 91 4 0 1',
        '7 1281 77 36 14',
        '3 757 41 0 4',
      ],
      [
        'S8: a route of six steps',
        { world: { record: longWay } },
        'web',
        '1 130 10 0 1',
        '7 1386 98 55 14',
        '3 759 43 0 4',
      ],
      [
        'S11: the price gains a field',
        { world: { record: pricedInLira } },
        'panel',
        '1 646 35 0 2',
        '7 1414 84 39 14',
        '3 839 45 0 4',
      ],
      [
        'S12: a kiosk is a fourth client',
        { clients: [...CLIENTS, kiosk] },
        'kiosk',
        '1 41 2 0 1',
        '8 1464 88 46 16',
        '4 785 42 0 5',
      ],
    ] as const) {
      it(`${row}: the ${name} costs ${client}, all clients ${singleTotal} and ${bffTotal}`, () => {
        const clients: readonly ClientKind[] = 'clients' in change ? change.clients : CLIENTS;
        const at = clients.findIndex((one) => one.name === name);

        expect(rowOf(costs('bff', change)[at] as ViewCost)).toBe(client);
        expect(rowOf(total('single', change))).toBe(singleTotal);
        expect(rowOf(total('bff', change))).toBe(bffTotal);
      });
    }

    it('bytes are those of UTF-8, not characters', () => {
      // Three letters of two bytes each.
      const world = { ...WORLD, record: { ...SHIPMENT, durum: 'dağıtımda' } };

      expect(viewCost(WEB, 'single', world).bytes).toBe(183 + 3);
      expect(viewCost(MOBILE, 'bff', world).bytes).toBe(78 + 3);
      expect(viewCost(PANEL, 'bff', world).bytes).toBe(551 + 5 * 3);
    });

    it('the single edge asks every service that there is, the other only owners of wanted fields', () => {
      const ownership = { takipNo: 'a', durum: 'b', bolge: 'c', rota: 'b' };
      const record = { takipNo: 'x', durum: 'y', bolge: 'z', rota: [] };
      const client = { name: 'board', fields: ['durum', 'rota'], records: 4 };
      const world = { record, ownership, batchEndpoints: true };

      expect(viewCost(client, 'single', world).internalRequests).toBe(3 * 4);
      expect(viewCost(client, 'bff', world).internalRequests).toBe(1);
      expect(viewCost(client, 'bff', { ...world, batchEndpoints: false }).internalRequests).toBe(4);
    });

    it('a client that wants nothing gets {} and costs no call, or everything for nothing', () => {
      const nothing = { name: 'probe', fields: [], records: 1 };

      expect(rowOf(viewCost(nothing, 'bff', WORLD))).toBe('1 2 0 0 0');
      expect(rowOf(viewCost(nothing, 'single', WORLD))).toBe('1 183 11 11 2');
    });

    for (const name of ['constructor', '__proto__', 'toString']) {
      it(`${name} is a field and a service like any other, for who has it, and unknown otherwise`, () => {
        const world = {
          record: parsed(`{"takipNo":"x","${name}":[1,2]}`),
          ownership: parsed<Record<string, string>>(`{"takipNo":"delivery","${name}":"${name}"}`),
          batchEndpoints: true,
        };
        const client = { name, fields: [name], records: 1 };
        // {"<name>":[1,2]}
        expect(rowOf(viewCost(client, 'bff', world))).toBe(`1 ${name.length + 10} 2 0 1`);
        expect(rowOf(viewCost(client, 'single', world))).toBe(`1 ${name.length + 24} 3 1 2`);

        const { record } = world;
        for (const layout of LAYOUTS) {
          // Here the record has it, and nobody owns it.
          expectRefusal(() => viewCost(client, layout, { ...WORLD, record }), name);
        }
      });
    }

    it('used and unused leaf fields of a common body add up, and a shaped body has the used ones', () =>
      expectLaw(
        {
          fields: fc.shuffledSubarray(Object.keys(SHIPMENT)),
          records: fc.integer({ min: 1, max: 30 }),
          batchEndpoints: fc.boolean(),
        },
        ({ fields, records, batchEndpoints }) => {
          const client = { name: 'any', fields, records };
          const world = { ...WORLD, batchEndpoints };
          const [single, bff] = [viewCost(client, 'single', world), viewCost(client, 'bff', world)];

          expect(single.leaves - single.unusedLeaves).toBe(bff.leaves);
          expect(single.requests * bff.requests).toBe(records);
          expect(bff.internalRequests).toBeLessThanOrEqual(single.internalRequests);
          expect(bff.unusedLeaves).toBe(0);
          // The order of the fields changes no length.
          const text = JSON.stringify(
            Object.fromEntries(Object.entries(SHIPMENT).filter(([key]) => fields.includes(key))),
          );
          const list = records === 1 ? 0 : records - 1 + 2;
          expect(bff.bytes).toBe(records * bytesOf(text) + list);
        },
      ));

    for (const layout of LAYOUTS) {
      it(`${layout}: a number of records below 1, or not whole, is refused`, () => {
        for (const records of [0, -1, 2.5, NaN, Infinity]) {
          expectRefusal(() => viewCost({ ...PANEL, records }, layout, WORLD), 'records');
        }
      });

      it(`${layout}: a field without an owner, one that the record has not, and a double are refused`, () => {
        const wants = (...fields: string[]) => ({ ...MOBILE, fields: ['takipNo', ...fields] });
        const { ucret: _, ...owned } = OWNERSHIP;
        const { rota: __, ...record } = SHIPMENT;

        expectRefusal(
          () => viewCost(wants('ucret'), layout, { ...WORLD, ownership: owned }),
          'ucret',
        );
        expectRefusal(() => viewCost(wants('constructor'), layout, WORLD), 'constructor');
        expectRefusal(() => viewCost(wants('rota'), layout, { ...WORLD, record }), 'rota');
        expectRefusal(() => viewCost(wants('durum', 'durum'), layout, WORLD), 'durum');
      });
    }
  });

  // Predict first: the panel gets a new field. Which clients notice, with one edge and with three?
  describe('Exercise 14.3: what a layout demands', lesson.exercise('14.3'), () => {
    const demands = (
      layout: EdgeLayout,
      wantedBy: readonly string[],
      { clients = CLIENTS as readonly ClientKind[], ownership = OWNERSHIP as Ownership } = {},
    ) => layoutDemands(clients, layout, ownership, { name: 'sigorta', wantedBy });

    it('one edge: a unit to run, three clients touched by the field of one, no batch endpoint', () => {
      const { edgeUnits, clientsTouched, batchEndpoints } = demands('single', ['panel']);

      expect(edgeUnits).toBePublished('14.single.edgeUnits');
      expect(clientsTouched).toBePublished('14.single.clientsAffectedByNewField');
      expect(batchEndpoints.length).toBePublished('14.single.batchEndpoints');
    });

    it('an edge for each: three units, one client touched, a batch endpoint of both services', () => {
      const { edgeUnits, clientsTouched, batchEndpoints } = demands('bff', ['panel']);

      expect(edgeUnits).toBePublished('14.bff.edgeUnits');
      expect(clientsTouched).toBePublished('14.bff.clientsAffectedByNewField');
      expect(batchEndpoints.length).toBePublished('14.bff.batchEndpoints');
      expect(batchEndpoints).toEqual(['delivery', 'pricing']);
    });

    it('"one client touched" is a property of a field that one client wants, not of the layout', () => {
      const everybody = CLIENTS.map(({ name }) => name);

      expect(demands('bff', everybody).clientsTouched).toBe(3);
      expect(demands('single', everybody).clientsTouched).toBe(3);
      expect(demands('bff', ['web', 'mobile']).clientsTouched).toBe(2);
      expect(demands('single', ['web', 'mobile']).clientsTouched).toBe(3);
    });

    it('a field that nobody wants touches nobody, or everybody who shares the body', () => {
      expect(demands('bff', []).clientsTouched).toBe(0);
      expect(demands('single', []).clientsTouched).toBe(3);
    });

    it('a client that is named twice is touched once', () => {
      expect(demands('bff', ['panel', 'web', 'panel']).clientsTouched).toBe(2);
      expect(demands('single', ['panel', 'panel']).clientsTouched).toBe(3);
    });

    it('a panel of one record needs no batch endpoint', () => {
      const clients = CLIENTS.map((client) => ({ ...client, records: 1 }));
      expect(demands('bff', ['panel'], { clients }).batchEndpoints).toEqual([]);
    });

    it('S12: a kiosk makes a fourth unit, and no batch endpoint more', () => {
      const clients = [...CLIENTS, { name: 'kiosk', fields: ['takipNo', 'durum'], records: 1 }];

      expect(demands('bff', ['kiosk'], { clients })).toEqual({
        edgeUnits: 4,
        clientsTouched: 1,
        batchEndpoints: ['delivery', 'pricing'],
      });
      expect(demands('single', ['kiosk'], { clients })).toEqual({
        edgeUnits: 1,
        clientsTouched: 4,
        batchEndpoints: [],
      });
    });

    it('batch endpoints are asked of the owners of what lists show, each once and in alphabetical order', () => {
      const ownership = { a: 'zoll', b: 'lager', c: 'zoll', d: 'kasse', e: 'anker' };
      const clients = [
        { name: 'list', fields: ['a', 'b', 'c'], records: 2 },
        { name: 'table', fields: ['b', 'd'], records: 50 },
        { name: 'card', fields: ['e', 'a'], records: 1 },
      ];
      expect(demands('bff', ['card'], { clients, ownership }).batchEndpoints).toEqual([
        'kasse',
        'lager',
        'zoll',
      ]);
    });

    it('the new field is not among those that clients have today, owned or not', () => {
      const ownership = { ...OWNERSHIP, sigorta: 'insurance' };
      expect(demands('bff', ['panel'], { ownership }).batchEndpoints).toEqual([
        'delivery',
        'pricing',
      ]);
    });

    it('constructor and __proto__ are names like any other', () => {
      const text = '{"constructor":"__proto__","__proto__":"constructor","takipNo":"toString"}';
      const ownership = parsed<Record<string, string>>(text);
      const clients = [{ name: '__proto__', fields: ['constructor', '__proto__'], records: 2 }];

      expect(demands('bff', ['__proto__'], { clients, ownership })).toEqual({
        edgeUnits: 1,
        clientsTouched: 1,
        batchEndpoints: ['__proto__', 'constructor'],
      });
      for (const layout of LAYOUTS) {
        expectRefusal(
          () => demands(layout, ['constructor'], { clients, ownership }),
          'constructor',
        );
      }
    });

    for (const layout of LAYOUTS) {
      it(`${layout}: no clients, and a name in wantedBy that no client has, are refused`, () => {
        expectRefusal(() => demands(layout, [], { clients: [] }), 'clients');
        expectRefusal(() => demands(layout, ['panel', 'kiosk']), 'kiosk');
        expectRefusal(() => demands(layout, ['toString']), 'toString');
      });

      it(`${layout}: clients that make no sense are refused`, () => {
        const withPanel = (change: Partial<ClientKind>) => ({
          clients: [MOBILE, { ...PANEL, ...change }],
        });
        expectRefusal(() => demands(layout, [], withPanel({ records: 0 })), 'records');
        expectRefusal(() => demands(layout, [], withPanel({ fields: ['fiyat'] })), 'fiyat');
        expectRefusal(
          () => demands(layout, [], withPanel({ fields: ['constructor'] })),
          'constructor',
        );
        expectRefusal(() => demands(layout, [], withPanel({ fields: ['rota', 'rota'] })), 'rota');
      });
    }
  });

  // Predict first: a tenth of the views moves from the phone to the panel. Which of the two layouts
  // notices?
  describe('Exercise 14.4: the mix of clients', lesson.exercise('14.4'), () => {
    /** requests and bytes of one view, as exercise 14.2 computes them, so that this one can be first. */
    const VIEWS = {
      single: { mobile: [1, 183], web: [1, 183], panel: [5, 915] },
      bff: { mobile: [1, 78], web: [1, 115], panel: [1, 551] },
    } as const;

    interface Setting {
      readonly mix?: Readonly<Record<string, number>>;
      readonly views?: Readonly<Record<string, readonly [requests: number, bytes: number]>>;
      readonly scale?: number;
    }

    const load = (
      layout: EdgeLayout,
      { mix = CLIENT_MIX, views = {}, scale = SCALE }: Setting = {},
    ) =>
      mixEffect(
        Object.entries(mix).map(([name, share]) => {
          const all: Setting['views'] = { ...VIEWS[layout], ...views };
          const [requests, bytes] = all?.[name] ?? [NaN, NaN];
          return { share, requests, bytes };
        }),
        scale,
        VIEWS_PER_SECOND,
      );

    /** `583.34 764 3.56`, as the table prints it. */
    const printed = ({
      requestsPerSecond,
      bytesPerRequest,
      megabitPerSecond,
    }: ReturnType<typeof load>) =>
      `${requestsPerSecond.toFixed(2)} ${bytesPerRequest.toFixed(0)} ${megabitPerSecond.toFixed(2)}`;

    const baseline = () =>
      mixEffect([{ share: 1, requests: 1, bytes: STATUS_BYTES }], SCALE, VIEWS_PER_SECOND);

    it('one kind of client with one request a view is the baseline', () => {
      const { requestsPerSecond, bytesPerRequest, megabitPerSecond } = baseline();

      expect(requestsPerSecond).toBePublished('14.load.k01.rate');
      expect(bytesPerRequest).toBePublished('14.load.k01.body');
      expect(megabitPerSecond).toBePublished('14.load.k01.egress');
    });

    for (const layout of LAYOUTS) {
      it(`${layout}: the load at the scale of the baseline comes out as published`, () => {
        const { requestsPerSecond, bytesPerRequest, megabitPerSecond } = load(layout);

        expect(requestsPerSecond).toBePublished(`14.load.${layout}.rate`);
        expect(bytesPerRequest).toBePublished(`14.load.${layout}.body`);
        expect(megabitPerSecond).toBePublished(`14.load.${layout}.egress`);
      });

      it(`${layout}: with the mobile share halved the load comes out as published`, () => {
        const { requestsPerSecond, megabitPerSecond } = load(layout, { mix: HALVED_MOBILE_MIX });

        expect(requestsPerSecond).toBePublished(`14.mix2.${layout}.rate`);
        expect(megabitPerSecond).toBePublished(`14.mix2.${layout}.egress`);
      });
    }

    it('a single edge takes 2.23 times the bandwidth of the baseline, a backend for each 1.19 times', () => {
      const base = baseline().megabitPerSecond;
      const single = load('single').megabitPerSecond;
      const bff = load('bff').megabitPerSecond;

      expect(single / base).toBePublished('14.ratio.singleToK01');
      expect(bff / base).toBePublished('14.ratio.bffToK01');
      // Rounded figures don't say which way it goes: 2.225.
      expect((3.56 / 1.6).toFixed(3)).toBe('2.225');
      expect((single / base).toFixed(3)).toBe('2.228');
    });

    it('1.19 is not the packaging: it is what remains of the price, which the 480 bytes never held', () => {
      // The panel shows its five shipments without a price, in the same list.
      const withoutPrice = bytesAsJson(
        Array.from({ length: PANEL.records }, () => ({
          takipNo: SHIPMENT.takipNo,
          durum: SHIPMENT.durum,
        })),
      );
      const { megabitPerSecond } = load('bff', { views: { panel: [1, withoutPrice] } });

      expect(megabitPerSecond).toBeLessThan(baseline().megabitPerSecond);
    });

    it('a part of the distance is a changed requirement: here one view in ten wants the price', () => {
      // Lesson 12 took every view to want it. Then a backend for each would send 183 bytes a record.
      const everybody = load('bff', {
        views: { mobile: [1, 183], web: [1, 183], panel: [1, 5 * 183 + 6] },
      });
      const single = load('single');

      expect(everybody.megabitPerSecond / single.megabitPerSecond).toBeCloseTo(1, 2);
      expect(everybody.requestsPerSecond).toBeLessThan(single.requestsPerSecond);
    });

    it('insensitivity to the mix holds only between clients that ask for equally many records', async ({
      annotate,
    }) => {
      const mixes = {
        'published mix': CLIENT_MIX,
        'mobile to web': HALVED_MOBILE_MIX,
        'mobile to panel': { mobile: 0.5, web: 0.3, panel: 0.2 },
        'no panel': { mobile: 0.7, web: 0.3, panel: 0 },
      };
      const loads = LAYOUTS.map((layout) =>
        Object.values(mixes).map((mix) => load(layout, { mix })),
      );
      const [single = [], bff = []] = loads;
      // Without the panel a label would lie on the line of the baseline.
      const drawn = Object.keys(mixes).slice(0, 3);

      await attachFigure(annotate, {
        title: 'Both layouts feel the mix of clients, and the single edge feels the panel',
        facts: drawn.map(
          (name, index) =>
            `${name}: ${single[index]?.megabitPerSecond.toFixed(2)} Mbit/s over a single edge, ${bff[index]?.megabitPerSecond.toFixed(2)} with a backend for each`,
        ),
        option: () =>
          bars({
            unit: 'Mbit/s',
            categories: drawn,
            decimals: 2,
            series: [
              {
                name: 'single edge',
                values: single.slice(0, 3).map((one) => one.megabitPerSecond),
              },
              {
                name: 'backend for frontend',
                values: bff.slice(0, 3).map((one) => one.megabitPerSecond),
              },
            ],
            bounds: [{ name: 'baseline', value: K01.readEgressMbit }],
          }),
      });
      // From one record to one record: nothing happens.
      expect(single[1]?.megabitPerSecond).toBeCloseTo(single[0]?.megabitPerSecond ?? NaN, 9);
      expect(single[1]?.requestsPerSecond).toBeCloseTo(single[0]?.requestsPerSecond ?? NaN, 9);
      // From one record to five: it does, and in requests the backend for each is the one at rest.
      expect(single.map((one) => one.requestsPerSecond.toFixed(2))).toEqual([
        '583.34',
        '583.34',
        '750.01',
        '416.67',
      ]);
      expect(single[2]?.megabitPerSecond.toFixed(2)).toBe('4.58');
      expect(new Set(bff.map((one) => one.requestsPerSecond.toFixed(2)))).toEqual(
        new Set(['416.67']),
      );
      expect(bff.map((one) => one.megabitPerSecond.toFixed(2))).toEqual([
        '1.90',
        '2.05',
        '2.56',
        '1.24',
      ]);
    });

    const kioskMix = { mobile: 0.5, web: 0.3, panel: 0.1, kiosk: 0.1 };
    for (const [row, single, bff, singlePrint, bffPrint] of [
      [
        'S1: mix 0.50 / 0.30 / 0.20',
        { mix: { mobile: 0.5, web: 0.3, panel: 0.2 } },
        {},
        '750.01 764 4.58',
        '416.67 767 2.56',
      ],
      [
        'S2: mix 0.70 / 0.30 / 0',
        { mix: { mobile: 0.7, web: 0.3, panel: 0 } },
        {},
        '416.67 764 2.55',
        '416.67 372 1.24',
      ],
      [
        'S3: mix 1 / 0 / 0',
        { mix: { mobile: 1, web: 0, panel: 0 } },
        {},
        '416.67 764 2.55',
        '416.67 326 1.09',
      ],
      [
        'S4: panel of 20 records',
        { views: { panel: [20, 3_660] } },
        { views: { panel: [1, 2_201] } },
        '1208.34 764 7.38',
        '416.67 1258 4.19',
      ],
      [
        'S5: panel of 1 record',
        { views: { panel: [1, 183] } },
        { views: { panel: [1, 109] } },
        '416.67 764 2.55',
        '416.67 385 1.28',
      ],
      [
        'S6: web page with price',
        {},
        { views: { web: [1, 183] } },
        '583.34 764 3.56',
        '416.67 654 2.18',
      ],
      [
        'S7: card with region',
        {},
        { views: { mobile: [1, 91] } },
        '583.34 764 3.56',
        '416.67 602 2.01',
      ],
      [
        'S8: route of six steps',
        { scale: 480 / 130, views: { mobile: [1, 198], web: [1, 198], panel: [5, 990] } },
        { scale: 480 / 130, views: { web: [1, 130] } },
        '583.34 731 3.41',
        '416.67 520 1.73',
      ],
      [
        'S10: body of 960 bytes',
        { scale: 960 / 115 },
        { scale: 960 / 115 },
        '583.34 1528 7.13',
        '416.67 1139 3.80',
      ],
      [
        'S11: price with a fifth field',
        { views: { mobile: [1, 202], web: [1, 202], panel: [5, 1_010] } },
        { views: { panel: [1, 646] } },
        '583.34 843 3.93',
        '416.67 609 2.03',
      ],
      [
        'S12: kiosk',
        { mix: kioskMix, views: { kiosk: [1, 183] } },
        { mix: kioskMix, views: { kiosk: [1, 41] } },
        '583.34 764 3.56',
        '416.67 554 1.85',
      ],
    ] as const satisfies readonly (readonly [string, Setting, Setting, string, string])[]) {
      it(`${row}: single edge ${singlePrint}, backend for frontend ${bffPrint}`, () => {
        expect(printed(load('single', single))).toBe(singlePrint);
        expect(
          printed(load('bff', { ...single, ...bff, views: 'views' in bff ? bff.views : {} })),
        ).toBe(bffPrint);
      });
    }

    it('scaled by the combined body, a common body would come out as large as the baseline', () => {
      // The 480 bytes are the status part, so k is 480 / 115. With 480 / 183 the price is free.
      const wrong = { scale: BASELINE_BODY_BYTES / bytesAsJson(SHIPMENT) };

      expect(printed(load('single', wrong))).toBe('583.34 480 2.24');
      expect(printed(load('bff', wrong))).toBe('416.67 358 1.19');
    });

    it("the mean body is a mean over requests, so the panel's five count five times", () => {
      const { requestsPerSecond, bytesPerRequest } = mixEffect(
        [
          { share: 0.5, requests: 1, bytes: 100 },
          { share: 0.5, requests: 9, bytes: 1_801 },
        ],
        1,
        10,
      );
      expect(requestsPerSecond).toBeCloseTo(10 * (0.5 + 4.5), 9);
      expect(bytesPerRequest).toBeCloseTo((0.5 * 100 + 0.5 * 1_801) / (0.5 + 4.5), 9);
    });

    it('a share of 0 and a body of 0 bytes are fine', () => {
      expect(
        mixEffect(
          [
            { share: 0, requests: 7, bytes: 1e6 },
            { share: 1, requests: 1, bytes: 0 },
          ],
          2,
          50,
        ),
      ).toEqual({ requestsPerSecond: 50, bytesPerRequest: 0, megabitPerSecond: 0 });
    });

    it('shares that miss 1 by binary noise add up to 1', () => {
      // 0.7 + 0.2 + 0.1 is 0.9999999999999999.
      const parts = [0.7, 0.2, 0.1].map((share) => ({ share, requests: 1, bytes: 10 }));
      expect(mixEffect(parts, 1, 1).requestsPerSecond).toBeCloseTo(1, 9);
    });

    it('rate and bandwidth grow with the views, the mean body does not, and rate x body is bandwidth', () =>
      expectLaw(
        {
          parts: fc.array(
            fc.record({
              weight: fc.integer({ min: 1, max: 100 }),
              requests: fc.integer({ min: 1, max: 50 }),
              bytes: fc.nat(10_000),
            }),
            { minLength: 1, maxLength: 6 },
          ),
          scale: fc.double({ min: 0.01, max: 100, noNaN: true }),
          views: fc.double({ min: 0.01, max: 1e5, noNaN: true }),
        },
        ({ parts, scale, views }) => {
          const weights = sumOf(parts.map(({ weight }) => weight));
          const costs = parts.map(({ weight, ...cost }) => ({ ...cost, share: weight / weights }));
          const one = mixEffect(costs, scale, views);
          const twice = mixEffect(costs, scale, 2 * views);
          const near = (value: number, wanted: number) =>
            expect(Math.abs(value - wanted)).toBeLessThanOrEqual(1e-9 * wanted);

          near((one.requestsPerSecond * one.bytesPerRequest * 8) / 1e6, one.megabitPerSecond);
          near(twice.requestsPerSecond, 2 * one.requestsPerSecond);
          near(twice.megabitPerSecond, 2 * one.megabitPerSecond);
          near(twice.bytesPerRequest, one.bytesPerRequest);
        },
      ));

    const part = { share: 1, requests: 1, bytes: 100 };

    for (const [field, bad] of [
      ['share', [-0.1, 1.1, NaN, Infinity]],
      ['requests', [0, 0.5, -1, NaN, Infinity]],
      ['bytes', [-1, NaN, Infinity]],
    ] as const) {
      it(`mixEffect refuses a value of ${field} that makes no sense`, () => {
        for (const value of bad) {
          expectRefusal(() => mixEffect([{ ...part, [field]: value }], 1, 1), field);
        }
      });
    }

    it('mixEffect refuses shares that do not add up to 1, and no parts at all', () => {
      const half = { ...part, share: 0.5 };
      expectRefusal(() => mixEffect([half], 1, 1), 'share');
      expectRefusal(() => mixEffect([half, half, half], 1, 1), 'share');
      expectRefusal(() => mixEffect([half, { ...half, share: 0.5 - 1e-8 }], 1, 1), 'share');
      expectRefusal(() => mixEffect([], 1, 1), 'costs');
    });

    it('mixEffect refuses a scale and a rate that are not above 0', () => {
      for (const bad of [0, -1, NaN, Infinity]) {
        expectRefusal(() => mixEffect([part], bad, 1), 'scale');
        expectRefusal(() => mixEffect([part], 1, bad), 'viewsPerSecond');
      }
    });
  });

  // Predict first: the panel asks for five shipments. How many calls does its edge have to make?
  describe('Exercise 14.5: an edge for each client', lesson.exercise('14.5'), () => {
    /** The edge of one client in front of fake services. Nothing listens: supertest calls it. */
    function openEdge(
      name: string,
      {
        fake = openServices(),
        clients = CLIENTS as readonly ClientKind[],
        ownership = OWNERSHIP as Ownership,
      } = {},
    ) {
      const edge = createClientEdges(fake.services, clients, ownership).get(name);
      if (!edge) return expect.fail(`createClientEdges made no listener for ${name}`);
      return { edge, calls: fake.calls, get: (target: string) => request(edge).get(target) };
    }

    const asked = ({ calls }: Pick<FakeServices, 'calls'>) =>
      calls.map(({ service, endpoint }) => `${service}.${endpoint}`).sort();

    const FIVE = STOCK.delivery.map(({ takipNo }) => takipNo);

    it('there is one listener for each client, by its name', () => {
      const edges = createClientEdges(openServices().services, CLIENTS, OWNERSHIP);
      expect([...edges.keys()].sort()).toEqual(['mobile', 'panel', 'web']);
    });

    it('the card is answered with 78 bytes, for 1 call', async () => {
      const { get, calls } = openEdge('mobile');
      const response = await get('/takip/TR-4821');

      expect(response.status).toBe(200);
      expect(response.type).toBe('application/json');
      expect(response.text).toBePublished('14.body.mobile.text');
      expect(bytesOf(response.text)).toBePublished('14.bff.mobile.bytes');
      expect(calls.length).toBePublished('14.bff.mobile.internalRequests');
      expect(asked({ calls })).toEqual(['delivery.one']);
    });

    it('the web page is answered with 115 bytes, for 1 call', async () => {
      const { get, calls } = openEdge('web');
      const response = await get('/takip/TR-4821');

      expect(response.status).toBe(200);
      expect(response.text).toBePublished('14.body.web.text');
      expect(bytesOf(response.text)).toBePublished('14.bff.web.bytes');
      expect(calls.length).toBePublished('14.bff.web.internalRequests');
      expect(asked({ calls })).toEqual(['delivery.one']);
    });

    it('the panel gets its five in one request of 551 bytes, for 2 calls and not ten', async () => {
      const { get, calls } = openEdge('panel');
      const response = await get(`/takip?no=${Array(PANEL.records).fill('TR-4821').join(',')}`);

      expect(response.status).toBe(200);
      expect(response.type).toBe('application/json');
      expect(bytesOf(response.text)).toBePublished('14.bff.panel.bytes');
      expect(JSON.stringify(response.body[0])).toBePublished('14.body.panelRecord.text');
      expect(calls.length).toBePublished('14.bff.panel.internalRequests');
      expect(asked({ calls })).toEqual(['delivery.many', 'pricing.many']);
    });

    it('five different shipments cost 2 calls as well, each with all five numbers', async () => {
      const { get, calls } = openEdge('panel');
      const response = await get(`/takip?no=${FIVE.join(',')}`);

      expect(response.status).toBe(200);
      expect(asked({ calls })).toEqual(['delivery.many', 'pricing.many']);
      for (const { trackingNos } of calls) expect(new Set(trackingNos)).toEqual(new Set(FIVE));
    });

    it('each shipment gets its own price, although each service answers in an order of its own', async () => {
      const { get } = openEdge('panel');
      const numbers = ['TR-2750', 'TR-4821', 'TR-6604', 'TR-1130'];
      const { body } = await get(`/takip?no=${numbers.join(',')}`);

      expect(body).toEqual(
        numbers.map((takipNo) => ({
          takipNo,
          durum: STOCK.delivery.find((part) => part.takipNo === takipNo)?.durum,
          ucret: STOCK.pricing.find((part) => part.takipNo === takipNo)?.ucret,
        })),
      );
    });

    it('the list has the order asked, and duplicates are kept', async () => {
      const { get, calls } = openEdge('panel');
      const numbers = ['TR-6604', 'TR-1130', 'TR-6604', 'TR-4821', 'TR-1130'];
      const { body } = await get(`/takip?no=${numbers.join(',')}`);

      expect(body.map(({ takipNo }: ShipmentPart) => takipNo)).toEqual(numbers);
      expect(body[2]).toEqual(body[0]);
      expect(asked({ calls })).toEqual(['delivery.many', 'pricing.many']);
    });

    for (const count of [1, 2, 12]) {
      it(`a list of ${count} is answered with an array of ${count}, whatever the records of the model`, async () => {
        const { get, calls } = openEdge('panel');
        const numbers = Array.from({ length: count }, (_, index) => FIVE[index % 5]);
        const { status, body } = await get(`/takip?no=${numbers.join(',')}`);

        expect(status).toBe(200);
        expect(body.map(({ takipNo }: ShipmentPart) => takipNo)).toEqual(numbers);
        expect(asked({ calls })).toEqual(['delivery.many', 'pricing.many']);
      });
    }

    it('a known number without a price is not unknown: its price is null', async () => {
      const { get } = openEdge('panel');
      const { status, text } = await get('/takip?no=TR-9007,TR-4821');

      expect(status).toBe(200);
      expect(text.slice(0, text.indexOf('},') + 1)).toBe(
        '[{"takipNo":"TR-9007","durum":"kabul","ucret":null}',
      );
      expect(JSON.parse(text)[1].ucret).toEqual(SHIPMENT.ucret);
    });

    it('a client of one record that wants the price asks both services once', async () => {
      const clients = [{ name: 'till', fields: ['ucret', 'takipNo'], records: 1 }];
      const { get, calls } = openEdge('till', { clients });

      expect((await get('/takip/TR-6604')).text).toBe(
        '{"ucret":{"tarife":4000,"indirim":0,"net":4000,"sozlesmeNo":"S2"},"takipNo":"TR-6604"}',
      );
      expect(asked({ calls })).toEqual(['delivery.one', 'pricing.one']);
      expect((await get('/takip/TR-9007')).text).toBe('{"ucret":null,"takipNo":"TR-9007"}');
    });

    it('the services are asked at the same time', async () => {
      const both = gate();
      let waiting = 0;
      const fake = openServices(STOCK, async () => {
        waiting += 1;
        if (waiting === 2) both.open();
        // Neither answers before both have been asked.
        await within(both.opened, 'the second service to be asked');
      });
      const { get } = openEdge('panel', { fake });

      expect((await get('/takip?no=TR-4821')).status).toBe(200);
    });

    for (const [name, target] of [
      ['mobile', '/takip/TR-0000'],
      ['web', '/takip/TR-0000'],
      ['panel', '/takip?no=TR-0000'],
      ['panel', '/takip?no=TR-4821,TR-0000,TR-6604'],
    ] as const) {
      it(`${name}: ${target} asks for a number that delivery doesn't know: 404`, async () => {
        const { status, text, type } = await openEdge(name).get(target);
        expect([status, text, type]).toEqual([404, '{"hata":"bulunamadi"}', 'application/json']);
      });
    }

    it('a number that only pricing knows is unknown', async () => {
      const pricing = [...STOCK.pricing, { takipNo: 'TR-7', ucret: { net: 1 } }];
      const fake = openServices({ ...STOCK, pricing });
      expect((await openEdge('panel', { fake }).get('/takip?no=TR-7')).status).toBe(404);
    });

    for (const name of ['constructor', '__proto__', 'toString']) {
      it(`${name} is a tracking number like any other: unknown, unless there is one`, async () => {
        expect((await openEdge('mobile').get(`/takip/${name}`)).status).toBe(404);
        expect((await openEdge('panel').get(`/takip?no=TR-4821,${name}`)).status).toBe(404);

        const delivery = [{ ...STOCK.delivery[0], takipNo: name }];
        const fake = openServices({ ...STOCK, delivery });
        const { body } = await openEdge('panel', { fake }).get(`/takip?no=${name}`);
        expect(body).toEqual([{ takipNo: name, durum: 'dagitimda', ucret: null }]);
      });

      it(`${name} is a field, an owner and a service like any other`, async () => {
        const ownership = parsed<Record<string, string>>(
          `{"takipNo":"delivery","${name}":"${name}"}`,
        );
        const stock = parsed<Stock>(
          `{"delivery":[{"takipNo":"x"},{"takipNo":"y"}],"${name}":[{"takipNo":"x","${name}":{"a":1}}]}`,
        );
        const clients = [{ name, fields: ['takipNo', name], records: 2 }];
        const fake = openServices(stock);
        const { get, calls } = openEdge(name, { fake, clients, ownership });

        expect((await get('/takip?no=x,y')).text).toBe(
          `[{"takipNo":"x","${name}":{"a":1}},{"takipNo":"y","${name}":null}]`,
        );
        expect(asked({ calls })).toEqual(['delivery.many', `${name}.many`].sort());
      });
    }

    it('each field comes from its owner, whatever else a service sends', async () => {
      const pricing = STOCK.pricing.map((part) => ({ ...part, durum: 'odendi', bolge: '00' }));
      const { get } = openEdge('panel', { fake: openServices({ ...STOCK, pricing }) });

      expect((await get('/takip?no=TR-4821')).text).toBe(
        '[{"takipNo":"TR-4821","durum":"dagitimda","ucret":{"tarife":9600,"indirim":1440,"net":8160,"sozlesmeNo":"S7"}}]',
      );
    });

    for (const [name, target] of [
      ['mobile', '/takip'],
      ['mobile', '/takip/'],
      ['mobile', '/takip?no=TR-4821'],
      ['mobile', '/takip/?no=TR-4821'],
      ['mobile', '/takip/TR-4821/'],
      ['mobile', '/takip/TR-4821/durum'],
      ['mobile', '/takip//TR-4821'],
      ['mobile', '/takip/TR-4821%E0%A4%A'],
      ['panel', '/takip'],
      ['panel', '/takip?'],
      ['panel', '/takip/TR-4821'],
      ['panel', '/takip/?no=TR-4821'],
      ['panel', '/takip/TR-4821?no=TR-4821'],
      ['panel', '/takip?no'],
      ['panel', '/takip?no='],
      ['panel', '/takip?nos=TR-4821'],
      ['panel', '/takip?no=TR-4821,'],
      ['panel', '/takip?no=,TR-4821'],
      ['panel', '/takip?no=TR-4821,,TR-9007'],
      ['panel', '/takip?no=TR-4821,%E0%A4%A'],
      ['panel', '/takip?no=TR-4821%'],
      ['panel', '/takip?no=TR-4821&no=TR-9007'],
    ] as const) {
      it(`${name}: ${target} is another form: 400, and nobody is asked`, async () => {
        const { get, calls } = openEdge(name);
        const { status, text, type } = await get(target);

        expect([status, text, type]).toEqual([400, '{"hata":"sema"}', 'application/json']);
        expect(calls).toEqual([]);
      });
    }

    for (const [method, target] of [
      ['get', '/'],
      ['get', '//'],
      ['get', '/baska'],
      ['get', '/takipci/TR-4821'],
      ['get', '/Takip/TR-4821'],
      ['get', '//takip/TR-4821'],
      ['get', '/?no=/takip/TR-4821'],
      ['post', '/takip/TR-4821'],
      ['delete', '/takip/TR-4821'],
      ['put', '/takip'],
    ] as const) {
      it(`${method.toUpperCase()} ${target} is unknown to every client: 404, and nobody is asked`, async () => {
        for (const { name } of CLIENTS) {
          const { edge, calls } = openEdge(name);
          const { status, text, type } = await request(edge)[method](target);

          expect([status, text, type]).toEqual([404, '{"hata":"bulunamadi"}', 'application/json']);
          expect(calls).toEqual([]);
        }
      });
    }

    it('a HEAD is another method: 404 without a body', async () => {
      const { edge, calls } = openEdge('mobile');
      expect((await request(edge).head('/takip/TR-4821')).status).toBe(404);
      expect(calls).toEqual([]);
    });

    it('numbers are split first and decoded after that, each by itself', async () => {
      const delivery = ['a/b', 'a,b', 'a&b', 'a b', 'a+b', 'ğ'].map((takipNo) => ({
        ...STOCK.delivery[0],
        takipNo,
      }));
      const fake = openServices({ ...STOCK, delivery });
      const card = openEdge('mobile', { fake });
      const panel = openEdge('panel', { fake });
      const list = await panel.get('/takip?x=1&no=a%2Cb,a%26b,a%2Fb,a%20b,a+b,%C4%9F&y');

      expect(list.body.map(({ takipNo }: ShipmentPart) => takipNo)).toEqual([
        'a,b',
        'a&b',
        'a/b',
        'a b',
        'a+b',
        'ğ',
      ]);
      expect((await card.get('/takip/a%2Fb')).body.takipNo).toBe('a/b');
      expect((await card.get('/takip/a+b')).body.takipNo).toBe('a+b');
      expect((await card.get('/takip/a,b?no=ignored')).body.takipNo).toBe('a,b');
    });

    for (const service of ['delivery', 'pricing']) {
      it(`${service} fails, as a rejection: 502, and the next request is answered`, async () => {
        let broken = true;
        const fake = openServices(STOCK, (call) => {
          if (broken && call.service === service) throw new Error('the service is down');
        });
        const { get } = openEdge('panel', { fake });
        const failed = await get('/takip?no=TR-4821');
        broken = false;

        expect([failed.status, failed.text]).toEqual([502, '{"hata":"ulasilamadi"}']);
        expect(failed.type).toBe('application/json');
        expect((await get('/takip?no=TR-4821')).status).toBe(200);
      });
    }

    it('a service that a client does not need may be down', async () => {
      const fake = openServices(STOCK, ({ service }) => {
        if (service === 'pricing') throw new Error('the service is down');
      });
      expect((await openEdge('mobile', { fake }).get('/takip/TR-4821')).status).toBe(200);
      expect((await openEdge('panel', { fake }).get('/takip?no=TR-4821')).status).toBe(502);
    });

    it('a part that lacks a wanted field makes 502, and never a body with a hole in it', async () => {
      const delivery = [{ takipNo: 'TR-4821', durum: 'dagitimda' }];
      const pricing = [{ takipNo: 'TR-4821' }];

      const card = openEdge('mobile', { fake: openServices({ ...STOCK, delivery }) });
      const panel = openEdge('panel', { fake: openServices({ ...STOCK, pricing }) });

      expect((await card.get('/takip/TR-4821')).text).toBe('{"hata":"ulasilamadi"}');
      expect((await panel.get('/takip?no=TR-4821')).status).toBe(502);
    });

    it('requests that overlap do not see each other', async () => {
      const { edge } = openEdge('panel');
      const bodies = await Promise.all(
        FIVE.map(async (takipNo) => (await request(edge).get(`/takip?no=${takipNo}`)).body),
      );
      expect(bodies.map(([first]) => first.takipNo)).toEqual(FIVE);
    });

    it('edges that could never answer are refused before they are made', () => {
      const open = (
        clients: readonly ClientKind[],
        { ownership = OWNERSHIP as Ownership, stock = STOCK as Stock } = {},
      ) => createClientEdges(openServices(stock).services, clients, ownership);
      const wants = (...fields: string[]) => [{ ...MOBILE, fields: ['takipNo', ...fields] }];

      expectRefusal(() => open(wants('drum')), 'drum');
      expectRefusal(() => open(wants('constructor')), 'constructor');
      expectRefusal(() => open(wants('durum', 'durum')), 'durum');
      expectRefusal(() => open([{ ...MOBILE, fields: ['durum'] }]), 'takipNo');
      expectRefusal(() => open([{ ...PANEL, records: 0 }]), 'records');
      expectRefusal(() => open([MOBILE, WEB, { ...WEB, name: 'mobile' }]), 'mobile');
      expectRefusal(() => open(CLIENTS, { stock: { delivery: STOCK.delivery } }), 'pricing');
      for (const owner of ['constructor', '__proto__', 'toString']) {
        const ownership = { ...OWNERSHIP, bolge: owner };
        expectRefusal(() => open(wants('bolge'), { ownership }), owner);
      }
    });
  });
});
