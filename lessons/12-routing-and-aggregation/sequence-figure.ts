import type { EChartsOption } from 'echarts';
import type { AccessRun, Message, Station } from './access.ts';

/** A run, and what to write above it. */
export interface SequencePanel {
  readonly caption: string;
  readonly run: Pick<AccessRun, 'messages'>;
}

const INK = '#22262b';
const PALE = '#d5d8dc';
/** Between client and edge, and behind the gateway. */
const OUTSIDE = '#0072b2';
const INSIDE = '#b25000';

const STATIONS: readonly Station[] = ['client', 'gateway', 'durum', 'ucret'];
const FIRST_X = 62;
const COLUMN_WIDTH = 158;
const TOP = 48;
const ROW_HEIGHT = 24;
/** From the top of a panel to the line of its first message. */
const HEAD_HEIGHT = 74;

const xOf = (station: Station) => FIRST_X + STATIONS.indexOf(station) * COLUMN_WIDTH;
const panelHeight = ({ run }: SequencePanel) => HEAD_HEIGHT + run.messages.length * ROW_HEIGHT;

/** Pixels that the panels take together. */
export function sequenceHeight(panels: readonly SequencePanel[]): number {
  return panels.reduce((sum, panel) => sum + panelHeight(panel), TOP);
}

/**
 * Sequence diagrams, one below the other: a vertical line for each program that takes part, an arrow
 * for each message, time downwards. Dashed arrows are answers.
 */
export function sequenceFigure(panels: readonly SequencePanel[]): EChartsOption {
  let top = TOP;
  const elements = panels.flatMap((panel) => {
    const drawn = drawPanel(panel, top);
    top += panelHeight(panel);
    return drawn;
  });
  return { graphic: elements as NonNullable<EChartsOption['graphic']> };
}

function drawPanel({ caption, run: { messages } }: SequencePanel, top: number): object[] {
  const present = STATIONS.filter((station) =>
    messages.some(({ from, to }) => from === station || to === station),
  );
  const bottom = top + HEAD_HEIGHT + (messages.length - 1) * ROW_HEIGHT + 8;
  return [
    text(caption, 16, top + 10, { fontSize: 12, align: 'left' }),
    ...present.flatMap((station) => [
      line(xOf(station), top + 38, xOf(station), bottom, { stroke: PALE, lineWidth: 2 }),
      text(station, xOf(station), top + 32, { fontSize: 12, fontWeight: 'bold' }),
    ]),
    ...messages.flatMap((message, row) => arrow(message, top + HEAD_HEIGHT + row * ROW_HEIGHT)),
  ];
}

function arrow({ from, to, text: words }: Message, y: number): object[] {
  const start = xOf(from);
  const end = xOf(to);
  const back = Math.sign(start - end);
  const stroke = from === 'client' || to === 'client' ? OUTSIDE : INSIDE;
  const dashed = !words.startsWith('GET');
  return [
    line(start, y, end + 7 * back, y, {
      stroke,
      lineWidth: 1.5,
      ...(dashed && { lineDash: [4, 3] }),
    }),
    {
      type: 'polygon',
      silent: true,
      shape: {
        points: [
          [end, y],
          [end + 8 * back, y - 4],
          [end + 8 * back, y + 4],
        ],
      },
      style: { fill: stroke },
    },
    text(words, (start + end) / 2, y - 8, {
      fontSize: 11,
      backgroundColor: '#ffffff',
      padding: [1, 3],
    }),
  ];
}

function line(x1: number, y1: number, x2: number, y2: number, style: object): object {
  return { type: 'line', silent: true, shape: { x1, y1, x2, y2 }, style };
}

function text(words: string, x: number, y: number, style: object): object {
  return {
    type: 'text',
    silent: true,
    x,
    y,
    style: { text: words, fill: INK, align: 'center', verticalAlign: 'middle', ...style },
  };
}
