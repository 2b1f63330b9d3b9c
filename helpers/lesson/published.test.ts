import { describe, expect, it } from 'vitest';
import { loadLedger } from '../grading/ledger.ts';
import { ManualClock } from './manual-clock.ts';

const message = (assertion: () => void): string => {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  return 'satisfied';
};

const safeRate = loadLedger('05').get('05.capacity.safeRate');

describe('toBePublished', () => {
  it('compares as printed: the rest of the decimals is of no concern', () => {
    const value = Number(safeRate?.value);
    const step = 10 ** -(safeRate?.digits ?? 0);

    expect(value).toBePublished('05.capacity.safeRate');
    expect(value + step / 4).toBePublished('05.capacity.safeRate');
    expect(value + step).not.toBePublished('05.capacity.safeRate');
  });

  it('says what was published, in which unit, what came, and where the number stands', () => {
    const text = message(() => expect(123.456).toBePublished('05.capacity.safeRate'));

    expect(text).toContain(`The course publishes ${safeRate?.value.toString()}`);
    expect(text).toContain(String(safeRate?.unit));
    expect(text).toContain(String(safeRate?.where));
    expect(text).toContain(`Your code gives ${(123.456).toFixed(safeRate?.digits)}`);
    expect(text).toContain('Ledger: 05.capacity.safeRate');
  });

  it('a value of another type never matches, and shows its type', () => {
    const text = message(() =>
      expect(String(safeRate?.value)).toBePublished('05.capacity.safeRate'),
    );
    expect(text).toContain('(string)');
    expect(message(() => expect(undefined).toBePublished('05.capacity.safeRate'))).toContain(
      'undefined',
    );
    expect(
      message(() => expect(new ManualClock()).toBePublished('05.capacity.safeRate')),
    ).toContain('(object)');
  });

  it('a claim that holds cannot be refuted', () => {
    const text = message(() => expect(safeRate?.value).not.toBePublished('05.capacity.safeRate'));
    expect(text).toContain('this test is there to refute it, but the code computed the same');
  });

  it('an unknown id fails and suggests the nearest, with and without .not', () => {
    expect(message(() => expect(1).toBePublished('05.capacity.safeRates'))).toContain(
      'The ledger has no "05.capacity.safeRates". Nearest: 05.capacity.safeRate',
    );
    expect(message(() => expect(1).not.toBePublished('05.capacity.safeRates'))).toContain(
      'The ledger has no "05.capacity.safeRates"',
    );
    expect(message(() => expect(1).toBePublished('99.x'))).toContain('no record of that lesson');
    expect(message(() => expect(1).toBePublished('nonsense'))).toContain(
      'no record of that lesson',
    );
  });

  it('notes what it compared in the meta of its test', ({ task }) => {
    expect(Number(safeRate?.value)).toBePublished('05.capacity.safeRate');
    expect(0).not.toBePublished('05.capacity.minReplicas');
    message(() => expect(0).toBePublished('05.capacity.minReplicas'));

    expect(task.meta.published).toEqual([
      {
        id: '05.capacity.safeRate',
        received: Number(safeRate?.value).toFixed(safeRate?.digits),
        refuted: false,
      },
      { id: '05.capacity.minReplicas', received: '0', refuted: true },
      { id: '05.capacity.minReplicas', received: '0', refuted: false },
    ]);
  });
});
