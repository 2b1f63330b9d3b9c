import type { EChartsOption } from 'echarts';
import type { Layout } from './layouts.ts';
import type { PathRun } from './servers.ts';

/** A layout in which one process has stopped, and what a client found. */
export interface ChainPanel {
  /** Stands above the picture. */
  readonly caption: string;
  readonly layout: Layout;
  readonly stopped: string;
  readonly found: { readonly asset: PathRun; readonly track: PathRun };
}

const REACHED = '#0072b2';
const LOST = '#d55e00';
const INK = '#22262b';
const PALE = '#d5d8dc';

const PANEL_HEIGHT = 210;
const COLUMN_WIDTH = 135;
const ROW_HEIGHT = 44;

/**
 * The processes of some layouts, from the client on the left to those that answer on the right, one
 * layout below the other. What can still be reached is drawn in full, the rest dashed, and the process
 * that has stopped is grey.
 */
export function chainsFigure(panels: readonly ChainPanel[]): EChartsOption {
  const drawn = panels.map((panel, index) => drawPanel(panel, index * PANEL_HEIGHT));
  return {
    title: panels.map(({ caption }, index) => ({
      text: caption,
      left: 16,
      top: 52 + index * PANEL_HEIGHT,
      textStyle: { fontSize: 12, fontWeight: 'normal', color: INK },
    })),
    series: drawn.map(({ nodes, links }, index) => ({
      type: 'graph',
      layout: 'none',
      silent: true,
      left: 52,
      top: 92 + index * PANEL_HEIGHT,
      width: 3 * COLUMN_WIDTH,
      height: 3 * ROW_HEIGHT,
      edgeSymbol: ['none', 'arrow'],
      edgeSymbolSize: 8,
      data: nodes,
      links,
    })),
  };
}

function drawPanel({ layout, stopped, found }: ChainPanel, top: number) {
  const { entry, forwarders, ends } = layout;
  const clientToEntry = { from: 'client', to: entry };
  const passedOn = Object.entries(forwarders).flatMap(([from, rules]) =>
    rules.flatMap(({ targets }) => targets.map((to) => ({ from, to }))),
  );
  // Callers stand before those whom they call, so one look at each is enough.
  const reached = new Set(['client']);
  const links = [clientToEntry, ...passedOn].map(({ from, to }) => {
    const alive = reached.has(from) && to !== stopped;
    if (alive) reached.add(to);
    return {
      source: from,
      target: to,
      lineStyle: {
        color: alive ? REACHED : LOST,
        width: alive ? 2.5 : 1.5,
        type: alive ? ('solid' as const) : ('dashed' as const),
        opacity: 1,
      },
    };
  });

  const inner = Object.keys(forwarders);
  const row = (name: string) => ends.indexOf(name);
  const middle = (ends.length - 1) / 2;
  const count = ({ answered, sent }: PathRun) => `${answered} of ${sent}`;
  const labels = new Map([
    [ends[0], `${ends[0]}: ${count(found.asset)} assets`],
    [ends[2], `${ends[2]}: ${count(found.track)} queries in all`],
  ]);
  const nodes = ['client', ...inner, ...ends].map((name) => {
    const end = row(name) >= 0;
    const column = name === 'client' ? 0 : end ? 3 : 1 + inner.indexOf(name);
    return {
      name,
      x: column * COLUMN_WIDTH,
      y: top + (end ? row(name) : column === 2 ? 2 : middle) * ROW_HEIGHT,
      symbol: 'rect',
      symbolSize: end ? [18, 18] : [84, 30],
      itemStyle: {
        // A process that has stopped is more than one that cannot be reached.
        color: name === stopped ? PALE : '#ffffff',
        borderColor: reached.has(name) ? REACHED : LOST,
        borderWidth: 2,
        borderType: reached.has(name) ? ('solid' as const) : ('dashed' as const),
      },
      label: {
        show: true,
        color: INK,
        position: end ? ('right' as const) : ('inside' as const),
        formatter: labels.get(name) ?? (name === stopped ? `${name}: stopped` : name),
        fontSize: 11,
      },
    };
  });
  return { nodes, links };
}
