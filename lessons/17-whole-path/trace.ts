// Who looks at what, and when: thirty sessions of ten views, 24 of them wrong in one of six ways.
import { SHIPMENT } from '../14-backend-for-frontend/given.ts';
import {
  CLIENT_FIELD,
  type ClientName,
  type Expected,
  type Flaw,
  REFUSALS,
  type Records,
  SHOWN_FIELDS,
  type View,
  type ViewRequest,
} from './given.ts';

/** How a trace differs from the published one. */
export interface TraceOptions {
  /** 30 unless given. */
  readonly sessions?: number;
  /** Views of a session, 10 unless given. */
  readonly views?: number;
  /** Whether there are views with a flaw; true unless given. */
  readonly flaws?: boolean;
  /** `false`: there is one body for everybody, and a panel asks once for each of its numbers. */
  readonly bff?: boolean;
}

/** Views with a flaw, in the order of the numbers f. */
const FLAWS: readonly Flaw[] = ['path', 'schema', 'size', 'token', 'unknown', 'foreign'];

/** Last digits of the sessions that have views with a flaw, and the views that have it. */
const FLAWED_SESSIONS: readonly number[] = [1, 3, 6, 8];
const FLAWED_VIEWS: readonly number[] = [3, 7];

/** Bytes of the body that is too large. */
const OVERSIZED_BYTES = 9_000;

/** Rounds that a trace takes: three sessions begin in each. */
export function roundsOf(trace: readonly View[]): number {
  return Math.max(...trace.map(({ round }) => round)) + 1;
}

/** The shipments of a trace and their owners. They differ in nothing else. */
export function recordsOf(sessions = 30): Records {
  const records = new Map<string, { owner: string }>();
  for (let session = 0; session < sessions; session += 1) {
    const { numbers, owner } = pageOf(session);
    for (const number of numbers) records.set(number, { owner });
  }
  return records;
}

/** All views, in the order in which they happen: by round, and in a round by session. */
export function createTrace(options: TraceOptions = {}): View[] {
  const { sessions = 30, views = 10, flaws = true, bff = true } = options;
  const trace: View[] = [];
  const rounds = Math.floor((sessions - 1) / 3) + views;
  for (let round = 0; round < rounds; round += 1) {
    for (let session = 0; session < sessions; session += 1) {
      const view = round - Math.floor(session / 3);
      if (view < 0 || view >= views) continue;
      const page = pageOf(session);
      const flaw = flaws ? flawOf(session, view) : null;
      trace.push({
        session,
        view,
        round,
        client: page.client,
        group: `g${(session % 4) + 1}`,
        numbers: page.numbers,
        flaw,
        requests: flaw ? [flawedRequest(page, flaw)] : validRequests(page, bff),
      });
    }
  }
  return trace;
}

/** An open page: who looks, at what, and whose it is. */
interface Page {
  readonly client: ClientName;
  readonly numbers: readonly string[];
  readonly owner: string;
}

function pageOf(session: number): Page {
  const digit = session % 10;
  const client = digit < 6 ? 'mobile' : digit < 9 ? 'web' : 'panel';
  // The shipment of a web page is that of the mobile session four before it: one family, two screens.
  const shipment = client === 'web' ? session - 4 : session;
  const numbers = [`TR-${4_800 + shipment}`];
  if (client === 'panel') {
    const first = 4_900 + 4 * Math.floor(session / 10);
    for (let more = 0; more < 4; more += 1) numbers.push(`TR-${first + more}`);
  }
  return { client, numbers, owner: `M${10 + shipment}` };
}

function flawOf(session: number, view: number): Flaw | null {
  const digit = FLAWED_SESSIONS.indexOf(session % 10);
  const which = FLAWED_VIEWS.indexOf(view);
  if (digit < 0 || which < 0) return null;
  const flawedSession = FLAWED_SESSIONS.length * Math.floor(session / 10) + digit;
  return FLAWS[(2 * flawedSession + which) % FLAWS.length] as Flaw;
}

function validRequests(page: Page, bff: boolean): ViewRequest[] {
  const { client, numbers } = page;
  const bodies = numbers.map((number) => bodyOf(client, number, bff));
  if (client !== 'panel' || !bff) {
    return numbers.map((number, index) =>
      get(page, `/takip/${number}`, { status: 200, body: bodies[index] as string }),
    );
  }
  const body = `[${bodies.join(',')}]`;
  return [get(page, `/takip?no=${numbers.join(',')}`, { status: 200, body })];
}

function flawedRequest(page: Page, flaw: Flaw): ViewRequest {
  const [number] = page.numbers;
  const expected = REFUSALS[flaw];
  const valid = get(page, `/takip/${number}`, expected);
  const withToken = (authorization: string) => ({
    ...valid,
    headers: { ...valid.headers, authorization },
  });
  switch (flaw) {
    case 'path':
      return { ...valid, target: `/yok/${number}` };
    case 'schema':
      return { ...valid, target: '/takip' };
    case 'size':
      return { ...valid, method: 'POST', body: 'x'.repeat(OVERSIZED_BYTES) };
    case 'token':
      return withToken('bozuk');
    case 'unknown':
      return { ...valid, target: '/takip/TR-0001' };
    case 'foreign':
      return withToken('b.M3.imza');
  }
}

function get({ client, owner }: Page, target: string, expected: Expected): ViewRequest {
  const headers = { authorization: `b.${owner}.imza`, 'x-istemci': CLIENT_FIELD[client] };
  return { method: 'GET', target, headers, expected };
}

/** What a client gets to read about one shipment. */
function bodyOf(client: ClientName, takipNo: string, bff: boolean): string {
  const whole: Record<string, unknown> = { ...SHIPMENT, takipNo };
  if (!bff) return JSON.stringify(whole);
  return JSON.stringify(
    Object.fromEntries(SHOWN_FIELDS[client].map((field) => [field, whole[field]])),
  );
}
