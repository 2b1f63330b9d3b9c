import type { EChartsOption } from 'echarts';
import type { Placement, PlacementCost, Runtime } from './given.ts';

/** One placement, and what it was found to cost. */
export interface PlacementPanel {
  /** Stands above the picture. */
  readonly caption: string;
  readonly placement: Placement;
  readonly cost: PlacementCost;
}

const USED = '#0072b2';
const UNUSED = '#d55e00';
const INK = '#22262b';
const PALE = '#d5d8dc';

/** Pixels of a panel's caption and margins, and of each row of processes. */
const MARGIN = 50;
const ROW_HEIGHT = 64;
const COLUMN_WIDTH = 92;

/**
 * The processes of each placement, one unit a column: the unit's own, and the sidecar below it where
 * there is one. The border says whether the unit can use the shared work.
 */
export function placementsFigure(
  units: Readonly<Record<string, Runtime>>,
  panels: readonly PlacementPanel[],
): EChartsOption {
  let top = 48;
  const placed = panels.map((panel) => {
    const start = top;
    top += MARGIN + ROW_HEIGHT * panel.cost.processesPerUnit;
    return { ...panel, top: start };
  });
  return {
    title: placed.map(({ caption, top }) => ({
      text: caption,
      left: 16,
      top,
      textStyle: { fontSize: 12, fontWeight: 'normal', color: INK },
    })),
    series: placed.map(({ placement, cost, top }) => ({
      type: 'graph',
      layout: 'none',
      silent: true,
      left: 60,
      top: top + MARGIN,
      width: COLUMN_WIDTH * (Object.keys(units).length - 1),
      height: ROW_HEIGHT,
      ...processesOf(units, placement, cost.processesPerUnit),
    })),
  };
}

function processesOf(
  units: Readonly<Record<string, Runtime>>,
  { runtimes }: Placement,
  processesPerUnit: number,
) {
  const columns = Object.entries(units).map(([name, runtime], column) => {
    const usable = runtimes.includes(runtime);
    const process = (row: number, label: string, size: [number, number]) => ({
      name: `${name} ${row}`,
      x: column * COLUMN_WIDTH,
      y: row * ROW_HEIGHT,
      symbol: 'rect',
      symbolSize: size,
      itemStyle: {
        color: row === 0 ? '#ffffff' : PALE,
        borderColor: usable ? USED : UNUSED,
        borderWidth: 2,
        borderType: usable ? ('solid' as const) : ('dashed' as const),
      },
      label: { show: true, color: INK, fontSize: 11, formatter: label },
    });
    const nodes = [process(0, `${name}\nruntime ${runtime}`, [86, 40])];
    if (processesPerUnit > 1) nodes.push(process(1, 'sidecar', [86, 24]));
    return {
      nodes,
      links: nodes.slice(1).map((sidecar) => ({
        source: `${name} 0`,
        target: sidecar.name,
        lineStyle: { color: USED, width: 2, opacity: 1 },
      })),
    };
  });
  return {
    data: [
      ...columns.flatMap(({ nodes }) => nodes),
      // ECharts stretches what it is given over the height: two corners keep the rows in place.
      ...[0, ROW_HEIGHT].map((y) => ({ name: `corner ${y}`, x: 0, y, symbolSize: 0 })),
    ],
    links: columns.flatMap(({ links }) => links),
  };
}
