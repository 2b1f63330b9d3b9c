import type { EChartsOption } from 'echarts';
import { PERIOD } from './requests.ts';

/** What becomes of a request. */
export type Outcome = 'answered' | 'held: the request shows it' | 'refused: the record shows it';

const OUTCOMES: readonly Outcome[] = [
  'answered',
  'held: the request shows it',
  'refused: the record shows it',
];

/** The end of one request. */
export interface Cell {
  readonly status: number;
  readonly outcome: Outcome;
}

const INK = '#22262b';

/** The requests of the set in the order in which they were sent, one row for each period. */
export function requestGrid(cells: readonly Cell[]): EChartsOption {
  const rows = Math.ceil(cells.length / PERIOD);
  return {
    legend: { top: 44, left: 12, data: [...OUTCOMES], selectedMode: false },
    grid: { left: 84, right: 16, top: 80, bottom: 48 },
    xAxis: {
      type: 'category',
      data: Array.from({ length: PERIOD }, (_, i) => `${i}`),
      name: `request number, modulo ${PERIOD}`,
      nameLocation: 'middle',
      nameGap: 28,
      nameTextStyle: { color: INK },
      axisLabel: { color: INK },
      axisTick: { show: false },
      axisLine: { show: false },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: Array.from(
        { length: rows },
        (_, row) => `${row * PERIOD} to ${(row + 1) * PERIOD - 1}`,
      ),
      axisLabel: { color: INK },
      axisTick: { show: false },
      axisLine: { show: false },
    },
    series: OUTCOMES.map((outcome) => ({
      type: 'scatter',
      name: outcome,
      symbol: 'rect',
      symbolSize: [36, 36],
      silent: true,
      itemStyle: { opacity: 1 },
      data: cells.flatMap((cell, i) =>
        cell.outcome === outcome
          ? [
              {
                value: [i % PERIOD, Math.floor(i / PERIOD)],
                label: { formatter: `${cell.status}` },
              },
            ]
          : [],
      ),
      label: {
        show: true,
        color: INK,
        backgroundColor: '#ffffff',
        padding: [2, 3],
        borderRadius: 2,
      },
    })),
  };
}
