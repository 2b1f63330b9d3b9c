import type { EChartsOption, LineSeriesOption, TitleComponentOption } from 'echarts';
import type { TestContext } from 'vitest';

/** A picture of a run, and the same in words. */
export interface Figure {
  /** A claim, as the title of a test is. It stands above the picture. */
  readonly title: string;
  /** What the picture shows, one sentence each, for whoever cannot see it. */
  readonly facts: readonly string[];
  /** Called only when somebody will look. Start from `bars`, `lines` or `ringChange`. */
  readonly option: () => EChartsOption;
  /** Pixels; 600 unless given: Vitest UI shows nothing wider. */
  readonly width?: number;
  /** Pixels; 340 unless given. */
  readonly height?: number;
}

/**
 * Attaches a picture to a test, where Vitest UI and the HTML report show it. Call it before the
 * assertions: a picture is most useful when they fail, and a test that has failed takes no more.
 *
 * In any other run it does nothing, so that grading stays fast: ECharts isn't loaded and `option` is
 * not called. `FIGURES=1` in the environment asks for the pictures in every run.
 *
 * @param annotate from the test's context
 * @example it('the pool halves the load', async ({ annotate }) => {
 *   await attachFigure(annotate, {
 *     title: 'After the probe two replicas share the load',
 *     facts: ['k1 and k3 answer 150 requests each.'],
 *     option: () => bars({ unit: 'requests', categories: ['k1', 'k3'], series: [{ values: [150, 150] }] }),
 *   });
 */
export async function attachFigure(
  annotate: TestContext['annotate'],
  figure: Figure,
): Promise<void> {
  if (!process.env.FIGURES) return;
  await annotate([figure.title, ...figure.facts].map(asSentence).join('\n'), 'figure', {
    contentType: 'image/svg+xml',
    body: new TextEncoder().encode(await drawFigure(figure)),
  });
}

/** Vitest UI shows the lines of a message as one. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Told apart by most people who don't see all colours (Okabe and Ito, 2008). */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00'];
const INK = '#22262b';
const PALE = '#d5d8dc';

/** Draws a figure as an SVG document that needs nothing else. The same figure gives the same text. */
export async function drawFigure({
  title,
  facts,
  option,
  width = 600,
  height = 340,
}: Figure): Promise<string> {
  // The bundle is one file: all of ECharts in a sixth of the time that importing its modules takes
  // (65 ms against 400), and a quarter of what the ones needed here would take (290 ms).
  // @ts-expect-error: the bundle has no types of its own. They are those of the package.
  const bundle = await import('echarts/dist/echarts.esm.min');
  const { init } = bundle as typeof import('echarts');
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  // Nothing moves in a picture, and the timer would outlive the test.
  chart.getZr().animation.start = () => {};
  try {
    const { title: captions = [], ...own } = option();
    chart.setOption({
      animation: false,
      // The page around it may be light or dark.
      backgroundColor: '#ffffff',
      color: COLOURS,
      textStyle: { fontFamily: 'sans-serif', color: INK },
      title: [
        {
          text: title,
          left: 16,
          top: 12,
          textStyle: { fontSize: 15, color: INK, width: width - 32, overflow: 'break' },
        },
        ...(Array.isArray(captions) ? captions : [captions]),
      ],
      ...own,
    } satisfies EChartsOption);
    const words = `<title>${escapeXml(title)}</title>\n<desc>${escapeXml(facts.join('\n'))}</desc>`;
    return withOwnIds(chart.renderToSVGString()).replace(
      /^<svg [^>]*>/,
      (tag) => `${tag}\n${words}`,
    );
  } finally {
    chart.dispose();
  }
}

/** ECharts counts its ids through the life of the process; here they count from 0 again. */
function withOwnIds(svg: string): string {
  const ids = new Map<string, string>();
  return svg.replace(/\bzr\d+-[a-z]+-?\d+\b/g, (id) => {
    if (!ids.has(id)) ids.set(id, `f${ids.size}`);
    return ids.get(id) as string;
  });
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A value to compare with: a limit, a target, a published number. Drawn as a dashed line. */
export interface Bound {
  readonly name: string;
  readonly value: number;
}

/** What `bars` draws. */
export interface BarsInput {
  /** What the bars count, such as `requests`. */
  readonly unit: string;
  /** What stands below the bars. */
  readonly categories: readonly string[];
  /** One bar per category and series, in the order of the categories. */
  readonly series: readonly { readonly name?: string; readonly values: readonly number[] }[];
  /** Puts the series of a category on top of each other. */
  readonly stacked?: boolean;
  /** Decimals of the labels; 0 unless given. */
  readonly decimals?: number;
  readonly bounds?: readonly Bound[];
}

/** Bars, each with its value: side by side, or stacked. */
export function bars(input: BarsInput): EChartsOption {
  const { unit, categories, series, stacked = false, decimals = 0, bounds = [] } = input;
  const names = series.flatMap(({ name }) => name ?? []);
  return {
    ...legendAndGrid(names, bounds),
    xAxis: {
      type: 'category',
      data: [...categories],
      axisTick: { show: false },
      // Every category is named, on as many lines as it takes.
      axisLabel: { color: INK, interval: 0, width: 420 / categories.length, overflow: 'break' },
    },
    yAxis: { ...AXIS, ...nameAbove(unit), type: 'value', max: roomFor(bounds) },
    series: series.map(({ name, values }, index) => ({
      type: 'bar',
      ...(name !== undefined && { name }),
      data: values.map((value) =>
        stacked && value === 0 ? { value, label: { show: false } } : value,
      ),
      ...(stacked && { stack: 'all' }),
      barMaxWidth: 64,
      label: {
        show: true,
        position: stacked ? 'inside' : 'top',
        color: INK,
        // A stacked bar may have any colour behind its label.
        ...(stacked && { backgroundColor: '#ffffff', padding: [2, 4], borderRadius: 2 }),
        formatter: ({ value }) => Number(value).toFixed(decimals),
      },
      ...(index === 0 && markLines(bounds)),
    })),
  };
}

/** An axis with numbers. */
export interface Axis {
  /** What it measures, with its unit. */
  readonly name: string;
  /** Logarithmic, to the base of 10. All values have to be above 0. */
  readonly log?: boolean;
}

/** What `lines` draws. */
export interface LinesInput {
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number, y: number])[];
    /** Holds each value until the next one, as a counter does. */
    readonly step?: boolean;
  }[];
  readonly bounds?: readonly Bound[];
}

/** Lines or steps over a number. */
export function lines({ x, y, series, bounds = [] }: LinesInput): EChartsOption {
  return {
    ...legendAndGrid(
      series.map(({ name }) => name),
      bounds,
    ),
    xAxis: {
      ...AXIS,
      type: x.log ? 'log' : 'value',
      name: x.name,
      nameLocation: 'middle',
      nameGap: 30,
      nameTextStyle: { color: INK },
      splitLine: { show: false },
      min: 'dataMin',
      max: 'dataMax',
    },
    yAxis: { ...AXIS, ...nameAbove(y.name), type: y.log ? 'log' : 'value', max: roomFor(bounds) },
    series: series.map(({ name, points, step = false }, index) => ({
      type: 'line',
      name,
      data: points.map(([at, value]) => [at, value]),
      ...(step && { step: 'end' as const }),
      symbol: SYMBOLS[index % SYMBOLS.length] as string,
      symbolSize: 8,
      showSymbol: points.length <= 30,
      ...(index === 0 && markLines(bounds)),
    })),
  };
}

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];

/** A place on a ring of 2^32, and its owner. */
interface Place {
  readonly at: number;
  readonly replica: string;
}

/** A ring with what to call it. */
export interface RingPicture {
  readonly caption: string;
  /** Ascending by `at`. Some hundred can be told apart. */
  readonly positions: readonly Place[];
}

/** What `ringChange` draws. */
export interface RingChangeInput {
  readonly before: RingPicture;
  readonly after: RingPicture;
  /** What to call the picture of what has moved. */
  readonly moved: string;
}

const RING = 2 ** 32;
const STAYS = 'stays';

/**
 * A hash ring before and after a change, and beside them what has moved, in the colours of the new
 * owners. 0 is at the top, and values grow clockwise. What lies between two positions belongs to the
 * second one.
 */
export function ringChange({ before, after, moved }: RingChangeInput): EChartsOption {
  const borders = [...before.positions, ...after.positions]
    .map(({ at }) => at)
    .sort((a, b) => a - b);
  const movedArcs = arcsBetween(borders, (at) => {
    const owner = ownerOf(after.positions, at);
    return owner === ownerOf(before.positions, at) ? STAYS : owner;
  });
  const arcsOf = ({ positions }: RingPicture) =>
    arcsBetween(
      positions.map(({ at }) => at),
      (at) => ownerOf(positions, at),
    );
  const owners = [
    ...new Set([...before.positions, ...after.positions].map(({ replica }) => replica)),
  ].sort();
  const colourOf = (owner: string) =>
    owner === STAYS ? PALE : (COLOURS[owners.indexOf(owner) % COLOURS.length] as string);

  const rings = [
    { caption: before.caption, arcs: arcsOf(before) },
    { caption: after.caption, arcs: arcsOf(after) },
    { caption: moved, arcs: movedArcs },
  ];
  const middle = (index: number) => `${17 + index * 33}%`;
  return {
    legend: { top: 44, left: 12, icon: 'rect', data: [...owners, STAYS], selectedMode: false },
    title: rings.map(
      ({ caption }, index): TitleComponentOption => ({
        text: caption,
        left: middle(index),
        bottom: 8,
        textAlign: 'center',
        textStyle: { fontSize: 12, fontWeight: 'normal', color: INK },
      }),
    ),
    series: rings.map(({ arcs }, index) => ({
      type: 'pie',
      center: [middle(index), '56%'],
      radius: ['36%', '52%'],
      silent: true,
      label: { show: false },
      labelLine: { show: false },
      data: arcs.map(({ owner, length }) => ({
        name: owner,
        value: length,
        itemStyle: { color: colourOf(owner) },
      })),
    })),
  };
}

/** Owner of a value: the first position at or after it, and past the last one the first. */
function ownerOf(positions: readonly Place[], value: number): string {
  const found = positions.find(({ at }) => at >= value) ?? positions[0];
  if (!found) throw new RangeError('positions: a ring needs at least one');
  return found.replica;
}

/** Cuts the ring at the borders, and joins neighbours that have the same owner. */
function arcsBetween(borders: readonly number[], ownerAt: (end: number) => string) {
  const arcs: { owner: string; length: number }[] = [];
  let start = 0;
  for (const end of [...borders, RING]) {
    const owner = ownerAt(end);
    const last = arcs.at(-1);
    if (last?.owner === owner) last.length += end - start;
    else if (end > start) arcs.push({ owner, length: end - start });
    start = end;
  }
  return arcs;
}

const AXIS = {
  axisLabel: { color: INK },
  splitLine: { lineStyle: { color: PALE } },
} as const;

/** Name of a vertical axis, from the left edge of the picture. */
function nameAbove(name: string) {
  return { name, nameTextStyle: { color: INK, align: 'left' as const, padding: [0, 0, 0, -48] } };
}

function legendAndGrid(names: readonly string[], bounds: readonly Bound[]): EChartsOption {
  const legend = names.length > 1;
  return {
    legend: { show: legend, top: 44, left: 12, data: [...names], selectedMode: false },
    // The names of the bounds stand at the right of the grid.
    grid: { left: 64, right: bounds.length > 0 ? 124 : 28, top: legend ? 104 : 78, bottom: 56 },
  };
}

/** Lines across the grid, each with its name and value at its right end. */
function markLines(bounds: readonly Bound[]): Pick<LineSeriesOption, 'markLine'> {
  return {
    markLine: {
      silent: true,
      symbol: 'none',
      precision: 9, // digits that the label may use
      lineStyle: { color: INK, type: 'dashed' },
      label: {
        color: INK,
        position: 'end',
        distance: 10,
        width: 104,
        overflow: 'break',
        align: 'left',
        formatter: ({ name, value }) => `${name}: ${String(value)}`,
      },
      data: bounds.map(({ name, value }) => ({ name, yAxis: value })),
    },
  };
}

/** Upper end of an axis on which no bound is cut off. */
function roomFor(bounds: readonly Bound[]) {
  const highest = Math.max(-Infinity, ...bounds.map(({ value }) => value));
  // ECharts chooses a round end where none is given, and it looks at the data alone.
  return ({ max }: { max: number }) => (highest > max ? roundEndAbove(highest) : (null as never));
}

function roundEndAbove(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value)) / 2;
  return (Math.floor(value / step) + 1) * step;
}
