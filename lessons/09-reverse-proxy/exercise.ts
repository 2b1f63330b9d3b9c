import { todo } from '#helpers/lesson/todo.ts';
import type {
  Chain,
  ChainAvailability,
  Forwarder,
  ForwarderChoice,
  ForwarderOptions,
  MatchMode,
  Reach,
  RoutingRule,
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
  // TODO 9.1: split in two levels, and refuse each piece that is wrong with the piece quoted.
  return todo('9.1 parseRules');
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
  // TODO 9.2: which rules match, which of them wins, and what if none does?
  return todo('9.2 matchRule');
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
  // TODO 9.3: match, take the rule's turn, extend the chain, forward.
  return todo('9.3 startForwarder');
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
  // TODO 9.4: follow each request through the tables.
  return todo('9.4 predictReach');
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
  // TODO 9.5: what do copies multiply, and what does a series?
  return todo('9.5 chainAvailability');
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
  // TODO 9.6: list the candidates with their price, filter, take the cheapest.
  return todo('9.6 chooseForwarderLayout');
}
