// Which version of one common object an edge serves, turn by turn. A closed formula, so that it can
// stand beside a simulation as a second way to the same numbers; and the picture that it gives.
import type { BarSeriesOption, EChartsOption } from 'echarts';
import type { DistributionOptions, Model } from './given.ts';

/** What decides about the versions. */
export type VersionSetting = Pick<
  DistributionOptions,
  'edges' | 'ttl' | 'turns' | 'updateTurn' | 'phaseStride'
>;

/** Version 1 is stale from the turn of the update on. */
export type Served = 'version 1, current' | 'version 1, stale' | 'version 2';

/**
 * What an edge serves in a turn.
 *
 * A pushed copy is new in the turn of the update. A pulled one is as old as its last refresh: edge k
 * refreshes in turn 1 + (stride x k mod TTL) first, and then once a TTL.
 *
 * @param edge counts from 0
 * @param turn counts from 1
 */
export function served(
  model: Model,
  edge: number,
  turn: number,
  { ttl, updateTurn, phaseStride }: VersionSetting,
): Served {
  if (turn < updateTurn) return 'version 1, current';
  const first = 1 + ((phaseStride * edge) % ttl);
  const sinceRefresh = turn < first ? Infinity : (turn - first) % ttl;
  const isNew = model === 'push' || turn - sinceRefresh >= updateTurn;
  return isNew ? 'version 2' : 'version 1, stale';
}

/** Turns in which each edge serves the old version although there is a new one. */
export function staleTurnsOf(model: Model, setting: VersionSetting): number[] {
  return Array.from({ length: setting.edges }, (_, edge) => {
    let stale = 0;
    for (let turn = setting.updateTurn; turn <= setting.turns; turn += 1) {
      if (served(model, edge, turn, setting) === 'version 1, stale') stale += 1;
    }
    return stale;
  });
}

/** A panel of the picture. */
export interface VersionPanel {
  readonly caption: string;
  /** How the object that is looked at travels. */
  readonly model: Model;
}

const STATES = {
  'version 1, current': '#d5d8dc',
  'version 1, stale': '#e69f00',
  'version 2': '#0072b2',
} as const satisfies Record<Served, string>;

const INK = '#22262b';

/**
 * Panels side by side: turns to the right, a row for each edge, and the version in colour.
 *
 * @param lastTurn where the panels end on the right
 */
export function versionPanels(
  panels: readonly VersionPanel[],
  setting: VersionSetting,
  lastTurn: number,
): EChartsOption {
  const place = (index: number) => ({ left: 56 + index * 182, width: 158 });
  const axisName = { nameLocation: 'middle', nameTextStyle: { color: INK } } as const;
  return {
    legend: { top: 40, left: 12, icon: 'rect', selectedMode: false, textStyle: { color: INK } },
    title: panels.map(({ caption }, index) => ({
      text: caption,
      left: place(index).left,
      top: 68,
      textStyle: { fontSize: 12, fontWeight: 'normal' as const, color: INK },
    })),
    grid: panels.map((_, index) => ({ ...place(index), top: 92, bottom: 48 })),
    xAxis: panels.map((_, gridIndex) => ({
      type: 'value' as const,
      gridIndex,
      min: 0,
      max: lastTurn,
      interval: 100,
      axisLabel: { color: INK, showMaxLabel: false },
      splitLine: { show: false },
      name: 'turn',
      nameGap: 26,
      ...axisName,
    })),
    yAxis: panels.map((_, gridIndex) => ({
      type: 'category' as const,
      gridIndex,
      inverse: true,
      data: Array.from({ length: setting.edges }, (_, edge) => String(edge)),
      axisTick: { show: false },
      axisLabel: { show: gridIndex === 0, color: INK, interval: 0 },
      ...(gridIndex === 0 && { name: 'edge', nameGap: 30, ...axisName }),
    })),
    series: panels.flatMap(({ model }, index) =>
      (Object.keys(STATES) as Served[]).map(
        (state): BarSeriesOption => ({
          type: 'bar',
          name: state,
          stack: `panel ${index}`,
          xAxisIndex: index,
          yAxisIndex: index,
          barCategoryGap: '12%',
          itemStyle: { color: STATES[state] },
          // Each edge goes through the states once and in this order, so lengths say it all.
          data: Array.from({ length: setting.edges }, (_, edge) => {
            let turns = 0;
            for (let turn = 1; turn <= lastTurn; turn += 1) {
              if (served(model, edge, turn, setting) === state) turns += 1;
            }
            return turns;
          }),
        }),
      ),
    ),
  };
}
