import type { EChartsOption } from 'echarts';
import { REGIONS, REPLICAS, type UnitName } from './given.ts';
import type { PathRun } from './harness.ts';

/** A run, and what to call it. The first of several is the one that the others are compared with. */
export interface PathRow {
  readonly caption: string;
  readonly run: PathRun;
}

/** What went over one hop of the path in a run. */
export interface Hop {
  /** Who asks, such as `edges`. */
  readonly from: string;
  /** Who is asked, such as `balancer`. */
  readonly to: string;
  /** The units that are asked. */
  readonly units: readonly UnitName[];
  /** Requests that they answered, whatever the status. */
  readonly requests: number;
  /** Bytes of the bodies of these answers. */
  readonly bytes: number;
  /** Requests that came to a unit that had stopped. They are not among `requests`. */
  readonly unanswered: number;
  /**
   * Answers below 500, of all requests that came: 0 to 1. `undefined` if none came, since nobody then
   * knows what would have become of one.
   */
  readonly share: number | undefined;
  /** Those of the units that left a request unanswered. One that was never asked doesn't show. */
  readonly stopped: readonly UnitName[];
}

/** The hops, from the clients' end. */
const HOPS: readonly Pick<Hop, 'from' | 'to' | 'units'>[] = [
  { from: 'clients', to: 'edges', units: REGIONS },
  { from: 'edges', to: 'balancer', units: ['balancer'] },
  { from: 'balancer', to: 'gateways', units: REPLICAS },
  { from: 'gateways', to: 'delivery', units: ['delivery'] },
  { from: 'gateways', to: 'pricing', units: ['pricing'] },
  { from: 'delivery', to: 'ambassador', units: ['ambassador'] },
  { from: 'ambassador', to: 'carrier', units: ['carrier'] },
];

/** What a run sent over each hop, in the order of the path. */
export function hops(run: PathRun): Hop[] {
  const passages = run.requests.flatMap((request) => request.passages);
  return HOPS.map(({ from, to, units }) => {
    const answers = passages.filter(({ unit }) => units.includes(unit));
    const stopped = units.filter((unit) => (run.unanswered[unit] ?? 0) > 0);
    const unanswered = stopped.reduce((sum, unit) => sum + (run.unanswered[unit] ?? 0), 0);
    const came = answers.length + unanswered;
    return {
      from,
      to,
      units,
      requests: answers.length,
      bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      unanswered,
      share: came === 0 ? undefined : answers.filter(({ status }) => status < 500).length / came,
      stopped,
    };
  });
}

/** The picture in words: a sentence for each run, with the same things of all runs below each other. */
export function pathText(rows: readonly PathRow[]): string[] {
  const table = rows.map(({ caption, run }) => [
    `${caption}:`,
    `${run.result.answered} of ${viewsOf(run)} views;`,
    ...hops(run).flatMap(({ to, requests, bytes, share }) => [
      to,
      `${requests},`,
      `${bytes} B,`,
      `${printedShare(share)};`,
    ]),
  ]);
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows.map(({ run }, index) => {
    const aligned = (table[index] ?? []).map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    const again = growthOf(run, rows[0]?.run ?? run);
    const remarks = [remarkOn(run), again && `asked again: ${again}`, gapsOf(run)];
    return `${aligned.join(' ')} ${remarks.filter(Boolean).join('; ')}.`;
  });
}

/** What the caches did, and how many pages got as far as one view with status 200. */
function remarkOn({ requests, result }: PathRun): string {
  const sessions = (of: PathRun['requests']) => new Set(of.map(({ view }) => view.session)).size;
  const pages = sessions(requests);
  const closed = pages - sessions(requests.filter(({ status }) => status === 200));
  const opened =
    closed === 0 ? `all ${pages} pages open` : `${closed} of ${pages} pages never open`;
  return `${result.hits} hits, ${opened}`;
}

/** What was asked again: the measures behind the caches that are above those of an undisturbed run. */
function growthOf({ result }: PathRun, undisturbed: PathRun): string {
  return (['application', 'carrier'] as const)
    .filter((name) => result[name] > undisturbed.result[name])
    .map((name) => `${name} ${undisturbed.result[name]} → ${result[name]}`)
    .join(', ');
}

/** Requests that came to a unit that had stopped. */
function gapsOf(run: PathRun): string {
  return hops(run)
    .filter(({ unanswered }) => unanswered > 0)
    .map(({ stopped, unanswered }) => `${unanswered} unanswered at ${stopped.join(', ')}`)
    .join('; ');
}

function viewsOf({ requests }: PathRun): number {
  return new Set(requests.map(({ view }) => view)).size;
}

/** Rounded down, so that 100 % is all of them. */
function printedShare(share: number | undefined): string {
  return share === undefined ? '-' : `${Math.floor(share * 100)} %`;
}

const INK = '#22262b';
const MUTED = '#59606a';
const PALE = '#f1f3f5';
const VIEWS_PALE = '#deebf5';
const ANSWERED = '#0072b2';
const FAILED = '#e69f00';
const STOPPED = '#a63603';
const STOPPED_PALE = '#fdeee3';

const LEFT = 21;
const COLUMN_WIDTH = 70;
const HEAD_Y = 90;
const FIRST_Y = 122;
const ROW_HEIGHT = 80;
/** Where the remark on a run begins, beside its caption. */
const REMARK_X = LEFT + 116;
const CELL_WIDTH = 67;
const CELL_HEIGHT = 50;
const BAR_HEIGHT = 5;

const xOf = (column: number) => LEFT + column * COLUMN_WIDTH;

/** Pixels that the picture of so many runs takes. */
export function pathHeight(rows: readonly PathRow[]): number {
  return FIRST_Y + rows.length * ROW_HEIGHT;
}

/**
 * The path from left to right, a row for each run: what came of each hop, and at the right end the
 * views that were answered.
 */
export function pathFigure(rows: readonly PathRow[]): EChartsOption {
  const elements = [
    ...drawLegend(),
    ...drawHead(),
    ...rows.flatMap((row, index) => drawRow(row, rows[0] ?? row, FIRST_Y + index * ROW_HEIGHT)),
  ];
  return { graphic: elements as NonNullable<EChartsOption['graphic']> };
}

function drawLegend(): object[] {
  const y = 66;
  return [
    text(
      'In each cell: requests answered, bytes of the bodies, share answered below 500 of all that came',
      LEFT,
      y - 18,
    ),
    rect(LEFT, y - 2, 20, BAR_HEIGHT, { fill: ANSWERED }),
    text('that share', LEFT + 25, y),
    rect(107, y - 2, 20, BAR_HEIGHT, { fill: FAILED }),
    text('the rest', 132, y),
    triangle(194, y),
    text('asked again: more requests than undisturbed', 203, y),
    ...tag('×', 484, y - 7.5),
    text('has stopped', 490, y),
  ];
}

function drawHead(): object[] {
  const column = (over: string, name: string, x: number) => [
    text(over, x, HEAD_Y, { fontSize: 9.5, fill: MUTED }),
    text(name, x, HEAD_Y + 13, { fontSize: 10, fontWeight: 'bold' }),
  ];
  return [
    ...HOPS.flatMap(({ from, to }, index) => column(`${from} >`, to, xOf(index))),
    ...column('answered', 'views', xOf(HOPS.length)),
  ];
}

function drawRow({ caption, run }: PathRow, undisturbed: PathRow, y: number): object[] {
  const usual = hops(undisturbed.run);
  const { answered } = run.result;
  const views = viewsOf(run);
  const cellY = y + 12;
  return [
    text(caption, LEFT, y, { fontWeight: 'bold' }),
    text(remarkOn(run), REMARK_X, y),
    text(growthOf(run, undisturbed.run), xOf(HOPS.length) + CELL_WIDTH, y, {
      fill: STOPPED,
      align: 'right',
    }),
    ...hops(run).flatMap((hop, column) => drawHop(hop, usual[column], xOf(column), cellY)),
    ...drawCell(
      [`${answered}`, `of ${views}`, answered / views],
      xOf(HOPS.length),
      cellY,
      VIEWS_PALE,
    ),
  ];
}

function drawHop(hop: Hop, usual: Hop | undefined, x: number, y: number): object[] {
  const { requests, bytes, share, stopped } = hop;
  const measures = [`${requests}`, `${bytes} B`, share] as const;
  const isMore = usual !== undefined && requests > usual.requests;
  const drawn =
    stopped.length === 0
      ? drawCell(measures, x, y, PALE)
      : [...drawCell(measures, x, y, STOPPED_PALE, STOPPED), ...tag(tagOf(hop), x + CELL_WIDTH, y)];
  return isMore ? [...drawn, triangle(x + 12 + 7.5 * `${requests}`.length, y + 10)] : drawn;
}

function drawCell(
  [first, second, share]: readonly [string, string, number | undefined],
  x: number,
  y: number,
  fill: string,
  stroke?: string,
): object[] {
  const answered = CELL_WIDTH * (share ?? 0);
  const barY = y + CELL_HEIGHT - BAR_HEIGHT;
  return [
    rect(x, y, CELL_WIDTH, CELL_HEIGHT, { fill }),
    ...(share === undefined
      ? []
      : [
          rect(x, barY, answered, BAR_HEIGHT, { fill: ANSWERED }),
          rect(x + answered, barY, CELL_WIDTH - answered, BAR_HEIGHT, { fill: FAILED }),
        ]),
    ...(stroke
      ? [rect(x, y, CELL_WIDTH, CELL_HEIGHT, { fill: 'none', stroke, lineWidth: 1.5 })]
      : []),
    text(first, x + 4, y + 10, { fontSize: 12, fontWeight: 'bold' }),
    text(second, x + 4, y + 23, { fontSize: 10 }),
    text(printedShare(share), x + 4, y + 36, { fontSize: 10 }),
  ];
}

/** A cross, and where the hop has several units which of them it is, or how many. */
function tagOf({ units, stopped }: Hop): string {
  if (units.length === 1) return '×';
  return `× ${stopped.length === 1 ? stopped[0] : stopped.length}`;
}

/** White on dark, with its upper right corner there. */
function tag(words: string, right: number, y: number): object[] {
  const width = 5 + 6 * words.length;
  return [
    rect(right - width, y, width, 15, { fill: STOPPED }),
    text(words, right - width / 2, y + 7.5, {
      fontSize: 10,
      fontWeight: 'bold',
      fill: '#ffffff',
      align: 'center',
    }),
  ];
}

function triangle(x: number, y: number): object {
  const points = [
    [x, y - 4],
    [x + 4.5, y + 4],
    [x - 4.5, y + 4],
  ];
  return { type: 'polygon', silent: true, shape: { points }, style: { fill: STOPPED } };
}

function rect(x: number, y: number, width: number, height: number, style: object): object {
  return { type: 'rect', silent: true, shape: { x, y, width, height }, style };
}

function text(words: string, x: number, y: number, style: object = {}): object {
  return {
    type: 'text',
    silent: true,
    x,
    y,
    style: { text: words, fontSize: 11, fill: INK, verticalAlign: 'middle', ...style },
  };
}
