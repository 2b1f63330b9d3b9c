import type { EChartsOption } from 'echarts';
import type { Check } from './given.ts';

const INK = '#22262b';
const PALE = '#d5d8dc';
const METADATA = '#0072b2';
const DOMAIN = '#e69f00';

/** What `checksFigure` draws. */
export interface ChecksInput {
  readonly checks: readonly Check[];
  readonly metadataInputs: readonly string[];
  readonly domainInputs: readonly string[];
  /** What stands below the name of a check, such as where it runs; nothing unless given. */
  readonly decision?: (check: Check) => string;
}

/** A row for each check, a column for each input: full where it is required, a ring where optional. */
export function checksFigure(input: ChecksInput): EChartsOption {
  const { checks, metadataInputs, domainInputs, decision } = input;
  const inputs = [...metadataInputs, ...domainInputs];
  const cells = (pick: (check: Check) => readonly string[], columns: readonly string[]) =>
    checks.flatMap((check, row) =>
      pick(check)
        .filter((name) => columns.includes(name))
        .map((name) => [inputs.indexOf(name), row]),
    );
  const required = (check: Check) => check.reads;
  return {
    legend: {
      top: 44,
      left: 12,
      itemWidth: 14,
      itemGap: 20,
      selectedMode: false,
      textStyle: { color: INK },
    },
    grid: { left: 110, right: 28, top: 130, bottom: 16 },
    xAxis: {
      type: 'category',
      position: 'top',
      data: inputs,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: PALE } },
      axisLabel: { color: INK, interval: 0, width: 62, overflow: 'break' },
      splitLine: { show: true, lineStyle: { color: PALE } },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: checks.map((check) => (decision ? `${check.name}\n${decision(check)}` : check.name)),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: PALE } },
      axisLabel: { color: INK, interval: 0, lineHeight: 15 },
      splitLine: { show: true, lineStyle: { color: PALE } },
    },
    series: [
      {
        name: 'required: metadata',
        color: METADATA,
        symbol: 'circle',
        data: cells(required, metadataInputs),
      },
      {
        name: 'required: domain data',
        color: DOMAIN,
        symbol: 'diamond',
        data: cells(required, domainInputs),
      },
      {
        name: 'optional',
        color: INK,
        symbol: 'emptyCircle',
        data: cells(({ optional }) => optional, inputs),
      },
    ].map((series) => ({ type: 'scatter', symbolSize: 16, silent: true, ...series })),
  };
}
