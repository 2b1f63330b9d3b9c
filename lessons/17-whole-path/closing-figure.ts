import type { BarSeriesOption, EChartsOption } from 'echarts';
import type { Figure } from '#helpers/lesson/figure.ts';
import { type ComputedRow, closingTableText, type DrawnChange, printed } from './closing-table.ts';

const SIDES = [
  { side: 'moves', name: 'what the decision moves', colour: '#0072b2' },
  { side: 'grows', name: 'what grows in exchange', colour: '#e69f00' },
] as const;
const INK = '#22262b';
const PALE = '#d5d8dc';

/** A change by more than this factor is drawn as this one. */
const LARGEST_FACTOR = 30;

/**
 * The closing table as a picture: for each decision one change of either side, as the factor by which
 * the number has changed, on a logarithmic axis. The whole table is in its facts.
 */
export function closingFigure(rows: readonly ComputedRow[]): Figure {
  return {
    title: 'Every decision moves a number, and another one grows in exchange',
    facts: closingTableText(rows).split('\n'),
    height: 120 + 40 * rows.length,
    option: () => changes(rows),
  };
}

function changes(rows: readonly ComputedRow[]): EChartsOption {
  const end = Math.log10(LARGEST_FACTOR);
  return {
    legend: { top: 44, left: 12, data: SIDES.map(({ name }) => name), selectedMode: false },
    grid: { left: 196, right: 28, top: 78, bottom: 48 },
    xAxis: {
      type: 'value',
      min: -end,
      max: end,
      interval: end / 3,
      axisLabel: { color: INK, formatter: (power: number) => `×${asFactor(power)}` },
      splitLine: { lineStyle: { color: PALE } },
      name: `after over before; pale: from 0, or beyond a factor of ${LARGEST_FACTOR}`,
      nameLocation: 'middle',
      nameGap: 28,
      nameTextStyle: { color: INK },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map(({ row }) => `${row.lesson} ${row.decision}`),
      axisTick: { show: false },
      axisLine: { show: false },
      axisLabel: { color: INK, interval: 0, fontSize: 11 },
    },
    series: SIDES.map(
      ({ side, name, colour }): BarSeriesOption => ({
        type: 'bar',
        name,
        color: colour,
        barWidth: 14,
        barGap: '10%',
        data: rows.map((computed) => bar(computed, computed.row.drawn[side], end)),
      }),
    ),
  };
}

/** One bar, from the middle to the left for what has shrunk and to the right for what has grown. */
function bar(computed: ComputedRow, { what, before, after }: DrawnChange, end: number) {
  const numberOf = (name?: string) =>
    name === undefined ? 0 : (computed.values[name]?.value ?? Number.NaN);
  const power = Math.log10(numberOf(after) / numberOf(before));
  const from = before === undefined ? '0' : printed(computed, before);
  return {
    value: Math.max(-end, Math.min(end, power)),
    itemStyle: { opacity: Math.abs(power) > end ? 0.4 : 1 },
    label: {
      show: true,
      // On the other side of the middle, where the row has no bar.
      position: power < 0 ? ('right' as const) : ('left' as const),
      color: INK,
      opacity: 1,
      fontSize: 10,
      formatter: `${what}: ${from} → ${printed(computed, after)}`,
    },
  };
}

/** Factors are read, not calculated with: one digit. */
function asFactor(power: number): number {
  return Number((10 ** power).toPrecision(1));
}
