import type { TestAnnotation, TestContext } from 'vitest';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attachFigure, bars, drawFigure, type Figure, lines, ringChange } from './figure.ts';

const split: Figure = {
  title: 'k1 & k3 share the load',
  facts: ['k1 answers 150 requests.', 'k2 answers < 1'],
  option: () =>
    bars({
      unit: 'requests',
      categories: ['all alive', 'k2 dead'],
      series: [
        { name: 'k1', values: [100, 150] },
        { name: 'k2', values: [100, 0] },
      ],
      bounds: [{ name: 'a third', value: 100.004 }],
    }),
};

/** Stands where the test's own `annotate` would. */
function recorder() {
  const calls: unknown[][] = [];
  const annotate = (async (...call: unknown[]) => {
    calls.push(call);
    return {} as TestAnnotation;
  }) as TestContext['annotate'];
  return { calls, annotate };
}

/** What is written in a picture, from top to bottom of its source. */
const textsOf = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);

/** Colours of the paths that are filled, without repetition. */
const fillsOf = (svg: string) =>
  new Set([...svg.matchAll(/<path[^>]*fill="(#\w+)"/g)].map(([, fill]) => fill));

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('attachFigure', () => {
  it('does nothing when nobody looks', async () => {
    vi.stubEnv('FIGURES', undefined);
    const { calls, annotate } = recorder();
    const option = vi.fn(split.option);

    await attachFigure(annotate, { ...split, option });

    expect(calls).toEqual([]);
    expect(option).not.toHaveBeenCalled();
  });

  it('attaches the picture, and says the same in words', async () => {
    vi.stubEnv('FIGURES', '1');
    const { calls, annotate } = recorder();

    await attachFigure(annotate, split);

    const [message, type, attachment] = calls[0] as [
      string,
      string,
      { contentType: string; body: Uint8Array },
    ];
    expect(calls).toHaveLength(1);
    expect(message).toBe('k1 & k3 share the load.\nk1 answers 150 requests.\nk2 answers < 1.');
    expect(type).toBe('figure');
    expect(attachment.contentType).toBe('image/svg+xml');
    expect(new TextDecoder().decode(attachment.body)).toBe(await drawFigure(split));
  });
});

describe('drawFigure', () => {
  it('needs nothing from elsewhere, has a ground of its own, and escapes what it quotes', async () => {
    const svg = await drawFigure(split);

    expect(svg).toMatch(/^<svg width="600" height="340" /);
    expect(svg).toContain('<title>k1 &amp; k3 share the load</title>');
    expect(svg).toContain('k2 answers &lt; 1</desc>');
    expect(svg).toContain('<rect width="600" height="340" x="0" y="0" fill="#ffffff">');
    expect(svg).not.toMatch(/(?:href|src)="(?!#)|url\((?!#)|@import|<script/);
    expect([...svg.matchAll(/font-family:([^;"]*)/g)].map(([, font]) => font)).toContain(
      'sans-serif',
    );
    // Every opened element is closed: a browser refuses a picture that isn't.
    const opened = svg.match(/<[a-zA-Z][^>]*[^/]>|<[a-zA-Z]>/g)?.length;
    expect(svg.match(/<\/[a-zA-Z]+>/g)).toHaveLength(opened ?? NaN);
  });

  it('draws the same picture the same way each time, whatever was drawn in between', async () => {
    const first = await drawFigure(split);
    await drawFigure({
      ...split,
      option: () => bars({ unit: '', categories: ['a'], series: [{ values: [1] }] }),
    });
    expect(await drawFigure(split)).toBe(first);
  });

  it('sets no timer', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await drawFigure(split);
    expect(setTimer).not.toHaveBeenCalled();
  });
});

describe('bars', () => {
  it('writes the value on each bar, and names the categories, the series and the bounds', async () => {
    const texts = textsOf(await drawFigure(split));
    expect(texts).toEqual(
      expect.arrayContaining([
        '150',
        'all alive',
        'k2 dead',
        'k1',
        'k2',
        'requests',
        'a third: 100.004',
      ]),
    );
    expect(texts.filter((text) => text === '100')).toHaveLength(2);
  });

  it('leaves out a part of a stack that is 0', async () => {
    const draw = (stacked: boolean) =>
      drawFigure({
        ...split,
        option: () =>
          bars({
            unit: '',
            stacked,
            decimals: 2,
            categories: ['a'],
            series: [{ values: [0] }, { values: [5] }],
          }),
      });
    expect(textsOf(await draw(false))).toContain('0.00');
    expect(textsOf(await draw(true))).not.toContain('0.00');
    expect(textsOf(await draw(true))).toContain('5.00');
  });

  it('has room for a bound that is above every bar', async () => {
    const { yAxis } = bars({
      unit: '',
      categories: ['a'],
      series: [{ values: [3] }],
      bounds: [{ name: 'limit', value: 50 }],
    }) as { yAxis: { max(range: { max: number }): number | null } };
    expect(yAxis.max({ max: 3 })).toBe(55);
    expect(yAxis.max({ max: 90 })).toBeNull();
  });
});

describe('lines', () => {
  const draw = (step: boolean, log: boolean) =>
    drawFigure({
      title: 'Virtual nodes buy an even split',
      facts: [],
      option: () =>
        lines({
          x: { name: 'virtual nodes', log },
          y: { name: 'imbalance' },
          series: [
            {
              name: 'four',
              step,
              points: [
                [10, 2],
                [100, 1.7],
                [10_000, 1.1],
              ],
            },
          ],
        }),
    });

  it('puts the decades of a logarithmic axis at equal distances', async () => {
    const svg = await draw(false, true);
    const at = (label: string) =>
      Number(new RegExp(`translate\\((\\S+) \\S+\\)"[^>]*>${label}<`).exec(svg)?.[1]);
    expect(at('100') - at('10')).toBeCloseTo(at('1,000') - at('100'), 0);
    expect(at('1,000') - at('100')).toBeCloseTo(at('10,000') - at('1,000'), 0);
  });

  it('holds a value until the next one where steps are asked for', async () => {
    const corners = (svg: string) =>
      /<path d="([^"]*)" fill="none" [^>]*stroke="#0072b2"/.exec(svg)?.[1]?.match(/[ML ]/g)?.length;
    const straight = corners(await draw(false, false));
    expect(corners(await draw(true, false))).toBeGreaterThan(straight ?? NaN);
  });
});

describe('ringChange', () => {
  const quarter = 2 ** 30;
  const before = [
    { at: quarter, replica: 'k1' },
    { at: 3 * quarter, replica: 'k2' },
  ];
  type Slices = { series: { data: { name: string; value: number }[] }[] };
  const slices = (after: typeof before) => {
    const option = ringChange({
      before: { caption: '2 replicas', positions: before },
      after: { caption: '3 replicas', positions: after },
      moved: 'moved',
    }) as unknown as Slices;
    return option.series.map(({ data }) =>
      data.map(({ name, value }) => `${name} ${value / quarter}`),
    );
  };

  it('gives what lies before a position to it, and what lies after the last one to the first', () => {
    const after = [before[0], { at: 2 * quarter, replica: 'k3' }, before[1]] as typeof before;
    expect(slices(after)).toEqual([
      ['k1 1', 'k2 2', 'k1 1'],
      ['k1 1', 'k3 1', 'k2 1', 'k1 1'],
      ['stays 1', 'k3 1', 'stays 2'],
    ]);
  });

  it('joins neighbours that have the same owner', () => {
    const after = [{ at: quarter / 2, replica: 'k1' }, ...before];
    expect(slices(after)[1]).toEqual(['k1 1', 'k2 2', 'k1 1']);
    expect(slices(after)[2]).toEqual(['stays 4']);
  });

  it('refuses a ring without positions', () => {
    expect(() => slices([])).toThrow(/positions/);
  });

  it('draws each owner in one colour, and what stays in grey', async () => {
    const svg = await drawFigure({
      title: 'k3 takes a quarter',
      facts: [],
      option: () =>
        ringChange({
          before: { caption: 'before', positions: before },
          after: {
            caption: 'after',
            positions: [{ at: 2 ** 31, replica: 'k3' }, ...before].sort((a, b) => a.at - b.at),
          },
          moved: 'moved: 25 %',
        }),
    });
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining(['k1', 'k2', 'k3', 'stays', 'moved: 25 %']),
    );
    for (const colour of ['#0072b2', '#e69f00', '#009e73', '#d5d8dc']) {
      expect(fillsOf(svg)).toContain(colour);
    }
  });
});
