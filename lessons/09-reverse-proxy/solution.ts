import { openForwarding } from '#helpers/lesson/forwarding.ts';
import { type HttpServer, startHttpServer } from '#helpers/lesson/http-server.ts';
import {
  type Chain,
  type ChainAvailability,
  type Forwarder,
  type ForwarderChoice,
  type ForwarderOptions,
  HOP_SEPARATOR,
  type MatchMode,
  PATHS,
  PUBLISHED,
  type Reach,
  type RoutingRule,
} from './given.ts';
import type { Layout } from './layouts.ts';

/**
 * Reads a rule table.
 *
 * Rules are separated by `;`, and empty pieces between them ignored. A rule is a prefix, `=`, and
 * one or more targets separated by `,`: the first `=` is the one that counts. Spaces around rules,
 * prefixes and targets don't matter. A prefix begins with `/` or is `*`. A target is a port: decimal
 * digits only, 1 to 65535. The same target may stand in a list twice, and then has two turns.
 *
 * @returns at least one rule, in the order of the text
 * @throws {SyntaxError} with the whole offending rule in its message when a rule has no `=`, no
 *   target, another prefix, something else than a port among its targets, or the prefix of a rule
 *   before it; and when the text has no rule at all
 * @example parseRules('/varlik=8891; *=8892,8893;')
 * // [{ prefix: '/varlik', targets: [8891] }, { prefix: '*', targets: [8892, 8893] }]
 */
export function parseRules(text: string): RoutingRule[] {
  const rules: RoutingRule[] = [];
  for (const piece of text.split(';').map((part) => part.trim())) {
    if (piece === '') continue;
    const refuse: (reason: string) => never = (reason) => {
      throw new SyntaxError(`rule "${piece}": ${reason}`);
    };

    const equals = piece.indexOf('=');
    if (equals < 0) refuse('wanted prefix=port, and there is no "="');
    const prefix = piece.slice(0, equals).trim();
    if (prefix !== '*' && !prefix.startsWith('/')) refuse('a prefix begins with / or is *');
    if (rules.some((rule) => rule.prefix === prefix)) refuse('this prefix has a rule already');
    const targets = piece
      .slice(equals + 1)
      .split(',')
      .map((target) => portOf(target.trim()) ?? refuse('targets are ports, 1 to 65535'));
    rules.push({ prefix, targets });
  }
  if (rules.length === 0) throw new SyntaxError('the text has no rule, wanted at least one');
  return rules;
}

function portOf(text: string): number | undefined {
  // Number() alone would take 0x50, 1e3 and the empty text for numbers.
  if (!/^[0-9]+$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/**
 * The rule that a request belongs to.
 *
 * What is matched is the path that `new URL(target, 'http://localhost')` has: without the query, and
 * with its dot segments resolved.
 * - `published`: the first rule in the order of the table with whose prefix the path starts, as
 *   text.
 * - `segment`: the rule with the longest prefix that the path starts with and that ends at the end
 *   of a segment: after it the path is over or goes on with `/`, or the prefix itself ends with `/`.
 * In both modes the rule `*` is for what no other one matches, wherever it stands.
 *
 * @param rules with no prefix twice; they may have further fields
 * @param target the second word of the request line, as it came
 * @returns one of the `rules` themselves, or `undefined` when none matches; `bad-request` for the
 *   empty target and for one that the URL parser throws at. Never throws.
 */
export function matchRule<Rule extends { readonly prefix: string }>(
  rules: readonly Rule[],
  target: string,
  mode: MatchMode,
): Rule | undefined | 'bad-request' {
  if (target === '') return 'bad-request'; // the parser would take it for the base itself
  let path: string;
  try {
    path = new URL(target, 'http://localhost').pathname;
  } catch {
    return 'bad-request'; // one client's typing error must not end the process of all
  }
  const fallback = rules.find(({ prefix }) => prefix === '*');
  const matching = rules.filter(
    ({ prefix }) =>
      prefix !== '*' &&
      path.startsWith(prefix) &&
      (mode === 'published' || endsSegment(prefix, path)),
  );
  if (mode === 'published') return matching[0] ?? fallback;
  return matching.sort((a, b) => b.prefix.length - a.prefix.length)[0] ?? fallback;
}

/** Whether the path, which starts with the prefix, has the end of a segment there. */
function endsSegment(prefix: string, path: string): boolean {
  return prefix.endsWith('/') || path.length === prefix.length || path[prefix.length] === '/';
}

/**
 * A forwarder on 127.0.0.1: reverse proxy, load balancer or both, as its rule table says.
 *
 * For each request, in this order:
 * 1. Its rule is what `matchRule` finds in `published` mode. A bad request is answered with 400,
 *    body `hedef okunamadi`.
 * 2. If its own name is among the names of the `x-durak` that came in, which ` > ` separates, the
 *    request has been here before: 508, body `dongu`. (9.8)
 * 3. No rule: 404, body `kural yok`.
 * 4. The target is the next one of the rule: `targets[turn % targets.length]`, and `turn` goes up by
 *    1, whatever becomes of the request. Each rule has a `turn` of its own that starts at 0.
 * 5. Method, request target, fields and body are forwarded, and status, fields and body of the
 *    response copied back, as `openForwarding` does it. The request's `x-durak` is the one that came
 *    in, ` > ` and the forwarder's name; if none or an empty one came in, just the name.
 * 6. A target that gives no response: 502, body `yok`, `x-durak: <name> > ulasilamadi`. One that is
 *    later than `headerTimeoutMs` (9.10): 504, with the same field and body.
 * The forwarder adds no `Date` to any response, and no `x-durak` to 400, 404 and 508. Those three
 * move no counter and no turn.
 *
 * Counters: `forwarded` is how many responses came back from a target, whatever their status. The
 * others are those of `openForwarding`.
 *
 * New rules (9.7): `replaceRules` reads the whole text before anything changes. A request belongs to
 * the table that it met when it came, to its end. The new table's turns start at 0; the counters go
 * on.
 *
 * Trust (9.8): without `trustIncomingHops` the chain that came in is dropped, and `x-durak` is just
 * the name; step 2 looks at it all the same. With `completeFailureChain` the field of step 6 is the
 * chain as it was sent on, ` > ` and `ulasilamadi`. With `via` the request gets
 * `via: <version> <name>`, after what its own `Via` says, a comma and a space; the version is that
 * of the request that came in, such as `1.1`.
 *
 * Retries (9.10): `retry` and `headerTimeoutMs` are passed on to `openForwarding`. Each further
 * attempt takes the next steps of its rule's turn until one leads to a target that this request has
 * not tried. When there is none left, it is a 502, and the turn stands still.
 *
 * @param options see `ForwarderOptions`
 * @throws {SyntaxError} (rejects) as `parseRules` does, before it listens
 */
export async function startForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const { name, rules, retry, headerTimeoutMs } = options;
  const { trustIncomingHops = true, completeFailureChain = false, via = false } = options;
  // Nothing here says balancer or proxy. A list of one target is routing, a longer one balancing.
  const tableOf = (text: string) => parseRules(text).map((rule) => ({ ...rule, turn: 0 }));
  let table = tableOf(rules);
  const forwarding = openForwarding({ retry, headerTimeoutMs });

  const server = await startHttpServer((request, response) => {
    response.sendDate = false;
    const answer = (status: number, body: string, fields: Record<string, string> = {}) => {
      response.writeHead(status, fields).end(body);
    };

    const rule = matchRule(table, request.url ?? '', 'published');
    if (rule === 'bad-request') {
      answer(400, 'hedef okunamadi');
      return;
    }
    const { headers, httpVersion } = request;
    const incoming = headers['x-durak']?.toString() ?? '';
    // Whom we don't trust may have written it, and a loop through him is a loop nevertheless.
    if (incoming.split(HOP_SEPARATOR).includes(name)) {
      answer(508, 'dongu');
      return;
    }
    if (!rule) {
      answer(404, 'kural yok');
      return;
    }

    const chain = incoming && trustIncomingHops ? `${incoming}${HOP_SEPARATOR}${name}` : name;
    forwarding.forward(request, response, {
      choose(tried) {
        const { targets } = rule;
        if (targets.every((port) => tried.has(port))) return undefined;
        for (;;) {
          const port = targets[rule.turn % targets.length];
          rule.turn += 1; // now, and not on success: or a dead target would keep its turn for ever
          if (port !== undefined && !tried.has(port)) return port;
        }
      },
      fields: {
        'x-durak': chain,
        ...(via && { via: `${headers.via ? `${headers.via}, ` : ''}${httpVersion} ${name}` }),
      },
      refuse(status) {
        const known = completeFailureChain ? chain : name;
        answer(status, 'yok', { 'x-durak': `${known}${HOP_SEPARATOR}ulasilamadi` });
      },
    });
  });

  const close: HttpServer['close'] = async (how) => {
    await server.close(how);
    await forwarding[Symbol.asyncDispose](); // connections to the targets that nobody uses any more
  };

  return {
    port: server.port,
    replaceRules(text) {
      // One assignment: no request ever sees half a table. Those that run hold on to their rule.
      table = tableOf(text);
    },
    counters() {
      const { responses: forwarded, ...failures } = forwarding.counters();
      return { ...failures, forwarded };
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * What the client will count, from the rule tables alone and without running anything.
 *
 * The client sends `requests` requests for `/varlik/stil.css` to `entry`, and then as many for
 * `/takip`. Forwarders do as `startForwarder` does, with all turns at 0 before the first request.
 * The process `stopped`, a forwarder or an end, has been stopped before that.
 *
 * @param stopped name of a process, or `undefined` when all of them run
 * @param requests a whole number of 0 or more
 * @returns how many requests are answered with 200, and the `x-durak` of those that aren't:
 *   `baglanti yok` when nobody listens at the entry, `<caller> > ulasilamadi` when the process that
 *   has stopped is farther inside, `-` where a forwarder has no rule. No layout that is tested has
 *   two different ones on one path.
 * @throws {RangeError} whose message has the name `stopped` when the layout has no such process, or
 *   names `requests`
 */
export function predictReach(layout: Layout, stopped: string | undefined, requests: number): Reach {
  requireCount({ requests }, 0);
  if (stopped !== undefined && !layout.forwarders[stopped] && !layout.ends.includes(stopped)) {
    throw new RangeError(`stopped: the layout has no process "${stopped}"`);
  }
  // By forwarder and prefix: two copies may share a table, but each keeps its own turns.
  const turns = new Map<string, number>();

  /** Where one request ends: `undefined` if it is answered. */
  const failureOf = (path: string): string | undefined => {
    if (stopped === layout.entry) return 'baglanti yok';
    let at = layout.entry;
    for (;;) {
      const rules = layout.forwarders[at];
      if (!rules) return undefined; // an end process, and it runs
      const rule = matchRule(rules, path, 'published');
      if (!rule || rule === 'bad-request') return '-';
      const key = `${at} ${rule.prefix}`;
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      const next = rule.targets[turn % rule.targets.length];
      if (next === undefined || next === stopped) return `${at}${HOP_SEPARATOR}ulasilamadi`;
      at = next;
    }
  };
  // Following each request is as good as a formula, and easier to trust: of n targets the first
  // `requests % n` get one request more, but behind two forwarders that holds for neither alone.
  const run = (path: string) => {
    const outcomes = Array.from({ length: requests }, () => failureOf(path));
    const failures = outcomes.filter((outcome) => outcome !== undefined);
    return { answered: requests - failures.length, failure: failures[0] };
  };
  const asset = run(PATHS.asset);
  const track = run(PATHS.track);
  return {
    asset: asset.answered,
    track: track.answered,
    assetFailure: asset.failure,
    trackFailure: track.failure,
  };
}

/**
 * How much of the month a serial chain is up.
 *
 * The base is `baseComponents` components that stand once, and all have to be up. Each added hop has
 * to be up too, and is as long as one of its copies is. A component is unavailable for the share
 * u = 1 - component of the time, a hop of one copy likewise, and a hop of c copies for u^c if they
 * fail independently of each other. With a common cause b it is b u + ((1 - b) u)^c: the beta-factor
 * model.
 *
 * Nothing is rounded. `increaseMinutes` is the outage minus that of the base alone.
 *
 * @param input see `Chain`
 * @throws {RangeError} whose message names the field that is out of range, not whole, or not finite;
 *   the counts may be 0, the copies may not
 * @example chainAvailability({ component: 0.9, baseComponents: 1, addedHops: 1, copiesPerHop: 2 })
 * // availability 0.9 x 0.99 = 0.891, an increase of 0.009 x 43,200 = 388.8 minutes
 */
export function chainAvailability(input: Chain): ChainAvailability {
  const { component, baseComponents, addedHops, copiesPerHop } = input;
  const { monthMinutes = PUBLISHED.monthMinutes, commonCause = 0 } = input;
  requireShare({ component, commonCause });
  requireCount({ baseComponents, addedHops }, 0);
  requireCount({ copiesPerHop }, 1);
  requirePositive({ monthMinutes });

  const down = 1 - component;
  // Copies multiply what is lost, a series multiplies what is left. For one copy this is `down`.
  const hopDown = commonCause * down + ((1 - commonCause) * down) ** copiesPerHop;
  const base = component ** baseComponents;
  const availability = base * (1 - hopDown) ** addedHops;
  return {
    availability,
    outageMinutes: (1 - availability) * monthMinutes,
    increaseMinutes: (base - availability) * monthMinutes,
  };
}

/**
 * Whether the two roles share a process, and how many copies of each forwarder there are.
 *
 * The candidates are `combined` (one added hop) and `split` (two), each with 1 to `maxCopies` copies
 * of every hop; a month has 43,200 minutes, and copies fail independently. Those whose increase is
 * above `maxIncreaseMinutes` are out. With `mustIsolateAssets` so is `combined`: assets have to be
 * served while the process that holds the replica list is stopped. Of what is left, the one with the
 * fewest processes (hops times copies) is chosen, and between two of those `combined`.
 *
 * @param input.component share of the time that one component, or copy, is up, 0 to 1
 * @param input.baseComponents components without any forwarder, 0 or more
 * @param input.maxIncreaseMinutes minutes/month that the forwarders may add, 0 or more
 * @param input.maxCopies copies of one hop, 1 or more
 * @throws {RangeError} whose message names the field that is out of range or not whole
 * @throws {Error} when no candidate is left; its message has the smallest increase that the layouts
 *   which are allowed reach, in minutes with two decimals
 */
export function chooseForwarderLayout(input: {
  component: number;
  baseComponents: number;
  maxIncreaseMinutes: number;
  mustIsolateAssets: boolean;
  maxCopies: number;
}): ForwarderChoice {
  const { component, baseComponents, maxIncreaseMinutes, mustIsolateAssets, maxCopies } = input;
  if (!(maxIncreaseMinutes >= 0)) {
    throw new RangeError(`maxIncreaseMinutes is ${maxIncreaseMinutes}, wanted 0 or more`);
  }
  requireCount({ maxCopies }, 1);

  const allowed = LAYOUTS.filter(({ layout }) => layout === 'split' || !mustIsolateAssets);
  const candidates = allowed.flatMap(({ layout, addedHops }) =>
    Array.from({ length: maxCopies }, (_, index): ForwarderChoice => {
      const copiesPerHop = index + 1;
      const chain = { component, baseComponents, addedHops, copiesPerHop };
      const { increaseMinutes } = chainAvailability(chain);
      return { layout, copiesPerHop, processes: addedHops * copiesPerHop, increaseMinutes };
    }),
  );
  // The sort is stable, and keeps the order of those that have as many processes.
  const [cheapest] = candidates
    .filter(({ increaseMinutes }) => increaseMinutes <= maxIncreaseMinutes)
    .sort((a, b) => a.processes - b.processes);
  if (cheapest) return cheapest;
  const smallest = Math.min(...candidates.map(({ increaseMinutes }) => increaseMinutes));
  throw new Error(
    `nothing adds at most ${maxIncreaseMinutes} min/month with ${maxCopies} copies of a hop: ` +
      `the smallest increase is ${smallest.toFixed(2)} min`,
  );
}

/** `combined` comes first, as it wins where both are as good. */
const LAYOUTS = [
  { layout: 'combined', addedHops: 1 },
  { layout: 'split', addedHops: 2 },
] as const;

function requireShare(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} is ${value}, wanted 0 to 1`);
  }
}

function requirePositive(fields: Record<string, number>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(value > 0 && value < Infinity))
      throw new RangeError(`${name} is ${value}, wanted above 0`);
  }
}

function requireCount(fields: Record<string, number>, least: number): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(`${name} is ${value}, wanted a whole number of ${least} or more`);
    }
  }
}
