import type { EChartsOption } from 'echarts';
import { FLOWS } from '#helpers/lesson/gateway.ts';
import type { Placement, Responsibility } from './given.ts';

/** A placement, and what stands above its picture. */
export interface PlacementPanel {
  readonly caption: string;
  readonly placement: Placement<Responsibility>;
}

const AT_THE_EDGE = '#0072b2';
const IN_SERVICES = '#e69f00';
const INK = '#22262b';
const PANEL_HEIGHT = 220;

/** Pixels that the figure takes. */
export const figureHeight = (panels: number) => 50 + panels * PANEL_HEIGHT;

/**
 * The way of a request in some placements, one below the other: from the client on the left to the
 * services on the right, and in each component the responsibilities that it carries.
 */
export function placementsFigure(panels: readonly PlacementPanel[]): EChartsOption {
  return {
    title: panels.map(({ caption }, index) => ({
      text: caption,
      left: 16,
      top: 50 + index * PANEL_HEIGHT,
      textStyle: { fontSize: 12, fontWeight: 'normal', color: INK },
    })),
    series: panels.map(({ placement: { gateway, services } }, index) => {
      const viaGateway = gateway.length > 0;
      const entry = viaGateway ? 'gateway' : 'client';
      return {
        type: 'graph',
        layout: 'none',
        silent: true,
        left: 60,
        top: 105 + index * PANEL_HEIGHT,
        width: 310,
        height: 120,
        edgeSymbol: ['none', 'arrow'],
        edgeSymbolSize: 8,
        lineStyle: { color: INK, width: 1.5, opacity: 1 },
        data: [
          box({ name: 'client', x: 0, y: 1, size: 56, colour: INK }),
          ...(viaGateway
            ? [
                box({
                  name: 'gateway',
                  x: 1,
                  y: 1,
                  size: 104,
                  colour: AT_THE_EDGE,
                  lines: gateway,
                }),
              ]
            : []),
          ...FLOWS.map((name, row) =>
            box({
              name,
              x: 2,
              y: row,
              size: 18,
              colour: IN_SERVICES,
              lines: services.length > 0 ? [services.join(', ')] : ['(nothing)'],
            }),
          ),
        ],
        links: [
          ...(viaGateway ? [{ source: 'client', target: 'gateway' }] : []),
          ...FLOWS.map((flow) => ({ source: entry, target: flow })),
        ],
      };
    }),
  };
}

function box(input: {
  name: string;
  x: number;
  y: number;
  /** Pixels. What is written in a small box stands beside it. */
  size: number;
  colour: string;
  lines?: readonly string[];
}) {
  const { name, x, y, size, colour, lines = [] } = input;
  return {
    name,
    x: x * 155,
    y: y * 60,
    symbol: 'rect',
    symbolSize: size,
    itemStyle: { color: '#ffffff', borderColor: colour, borderWidth: 2 },
    label: {
      show: true,
      position: size < 50 ? ('right' as const) : ('inside' as const),
      distance: 8,
      color: INK,
      fontSize: 11,
      lineHeight: 15,
      formatter: [`{name|${name}}`, ...lines].join('\n'),
      rich: { name: { fontWeight: 'bold' as const, color: INK, fontSize: 12 } },
    },
  };
}
