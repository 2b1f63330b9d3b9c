import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { asInPrint, inPrint, loadLedger, nearestIds, type PublishedRecord } from './ledger.ts';

const record = (value: PublishedRecord['value'], digits?: number): PublishedRecord => ({
  id: '05.x',
  value,
  ...(digits !== undefined && { digits }),
  unit: 'ms',
  kind: 'computed',
  where: 'here',
});

describe('a value in print', () => {
  it.for([
    [1.5, 2, '1.50'],
    [256.945, 2, '256.94'], // a little less in binary
    [12_000_000, 0, '12000000'],
    [-0.001, 3, '-0.001'],
  ] as const)('%d with %d decimals is %s', ([value, digits, printed]) => {
    expect(inPrint(record(value, digits))).toBe(printed);
    expect(asInPrint(record(0, digits), value)).toBe(printed);
  });

  it('is itself when it is a text', () => {
    expect(inPrint(record('k1,k3'))).toBe('k1,k3');
    expect(asInPrint(record('k1'), 'k1,k3')).toBe('k1,k3');
  });

  it('shows its type when that is not the type of the record', () => {
    expect(asInPrint(record(3, 0), '3')).toBe('3 (string)');
    expect(asInPrint(record('3'), 3)).toBe('3 (number)');
    expect(asInPrint(record(3, 0), undefined)).toBe('undefined (undefined)');
  });

  it.for([Number.NaN, Number.POSITIVE_INFINITY])('of %d matches no record', (value) => {
    expect(asInPrint(record(0, 2), value)).not.toBe(inPrint(record(0, 2)));
  });
});

describe('loadLedger', () => {
  const good = record(1.5, 2);
  const load = (...records: unknown[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    try {
      writeFileSync(join(folder, '05.json'), JSON.stringify(records));
      return loadLedger('05', pathToFileURL(`${folder}/`));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('finds a record by its id', () => {
    expect(load(good).get('05.x')).toEqual(good);
  });

  it('is empty for a lesson without a file', () => {
    expect(loadLedger('99').size).toBe(0);
  });

  it.for([
    ['an id of another lesson', [{ ...good, id: '08.x' }], '"08.x" is malformed'],
    ['the same id twice', [good, good], 'two records have the id "05.x"'],
    ['a number without digits', [record(1)], '"05.x" needs "digits"'],
    ['a text with digits', [record('1', 2)], '"05.x" needs "digits"'],
  ] as const)('refuses %s', ([, records, message]) => {
    expect(() => load(...records)).toThrow(message);
  });
});

describe('toBePublished', () => {
  it('says what was published, what came, the unit, the place and the id', () => {
    expect(() => expect(514.2).toBePublished('05.given.peakRate')).toThrow(
      /^The course publishes 513\.89 req\/s: baseline K01: .*\.\nYour code gives 514\.20 req\/s\. Ledger: 05\.given\.peakRate$/,
    );
  });

  it('tells a number from a text that looks the same', () => {
    expect(() => expect('513.89').toBePublished('05.given.peakRate')).toThrow(
      'Your code gives 513.89 (string)',
    );
  });

  it('with .not fails when the claim holds after all', () => {
    expect(() => expect(513.89).not.toBePublished('05.given.peakRate')).toThrow(
      'this test is there to refute it, but the code computed the same',
    );
  });

  it('suggests the nearest ids for one that there is not', () => {
    const unknown = () => expect(1).toBePublished('05.given.peakrate');
    expect(unknown).toThrow('The ledger has no "05.given.peakrate". Nearest: 05.given.peakRate, ');
    expect(() => expect(1).not.toBePublished('05.given.peakrate'), 'also with .not').toThrow(
      'The ledger has no',
    );
    expect(() => expect(1).toBePublished('99.x')).toThrow('It has no record of that lesson');
  });

  it('leaves what it compared with the test', ({ task }) => {
    expect(513.889).toBePublished('05.given.peakRate');
    expect(1).not.toBePublished('05.given.peakRate');
    const left = task.meta.published?.map((one) => [one.id, one.received, Boolean(one.refuted)]);
    expect(left).toEqual([
      ['05.given.peakRate', '513.89', false],
      ['05.given.peakRate', '1.00', true],
    ]);
  });
});

describe('nearestIds', () => {
  it('orders by the number of edits', () => {
    const ledger = new Map(['05.aa', '05.ab', '05.zzz'].map((id) => [id, { ...record(''), id }]));
    expect(nearestIds(ledger, '05.ab', 2)).toEqual(['05.ab', '05.aa']);
  });
});
