import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  'forgets the target utilisation and plans with the saturation rate': {
    replace: 'ceilWithSlack(peakRate / safeRate)',
    by: 'ceilWithSlack(peakRate / saturationRate)',
    caughtBy: 'three replicas carry the peak, and four carry it with one of them gone',
  },
  'answers 3 when asked for one tolerated failure': {
    replace: 'const replicas = minReplicas + toleratedFailures;',
    by: 'const replicas = minReplicas;',
    caughtBy: 'three replicas carry the peak, and four carry it with one of them gone',
  },
  "spreads the dead replica's load over all replicas, itself included": {
    replace: 'const rate = peakRate / (replicas - failed);',
    by: 'const rate = peakRate / replicas + (failed * peakRate) / replicas / replicas;',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'divides by the safe rate to get the utilisation': {
    replace: 'return { rate, utilisation: rate / saturationRate };',
    by: 'return { rate, utilisation: rate / (saturationRate / 2) };',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'rounds with Math.round before the number is printed': {
    replace: 'return { rate, utilisation: rate / saturationRate };',
    by: 'return { rate: Math.round(rate * 100) / 100, utilisation: rate / saturationRate };',
    caughtBy: 'with 3 replicas the published row of the plan comes out',
  },
  'takes a plain ceil, and one replica too many at the boundary': {
    replace: 'const ceilWithSlack = (x: number) => Math.ceil(x - x * SLACK);',
    by: 'const ceilWithSlack = (x: number) => Math.ceil(x);',
    caughtBy: 'a quotient that is whole but for binary noise takes no extra replica',
  },
  'plans no replica at all for a very small peak': {
    replace: 'Math.max(1, ceilWithSlack(peakRate / safeRate))',
    by: 'Math.max(0, Math.ceil(peakRate / safeRate - 1e-9))',
    caughtBy: 'a peak below the safe rate takes one replica, and two if one may be lost',
  },
  'lets more replicas fail than there are': {
    replace: 'if (failed > replicas) throw new RangeError(',
    by: 'if (failed > Infinity) throw new RangeError(',
    caughtBy: "replicaLoad refuses a 'failed' that makes no sense",
  },
  'lets NaN through': {
    replace: 'if (!(value > 0 && value < Infinity))',
    by: 'if (value <= 0 || value === Infinity)',
    caughtBy: "planCapacity refuses a 'peakRate' that makes no sense",
  },
  'charges the whole peak to the failure': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = peakRate * windowSeconds;',
    caughtBy: 'with a health check a failure drops 34.26 requests, 97 in a month',
  },
  'charges the average rate instead of the peak': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = (dailyRequests / 86_400 / replicas) * windowSeconds;',
    caughtBy: 'with a health check a failure drops 34.26 requests, 97 in a month',
  },
  'multiplies a rounded rate': {
    replace: 'const perFailure = (peakRate / replicas) * windowSeconds;',
    by: 'const perFailure = Number((peakRate / replicas).toFixed(2)) * windowSeconds;',
    caughtBy: 'with a repair by hand it drops 102,778, 289,834 in a month: 3000 times as many',
  },
  'divides the drop by a month of peak traffic': {
    replace: '1 - perMonth / (dailyRequests * 30)',
    by: '1 - perMonth / (peakRate * 86_400 * 30)',
    caughtBy: 'with a repair by hand it drops 102,778, 289,834 in a month: 3000 times as many',
  },
  'rounds the month to whole requests': {
    replace: 'const perMonth = perFailure * failuresPerMonth;',
    by: 'const perMonth = Math.round(perFailure * failuresPerMonth);',
    caughtBy: 'the 97 requests of a month are 96.61 before they are printed',
  },
  'lets the availability fall below 0': {
    replace: 'Math.max(0, 1 - perMonth',
    by: 'Math.max(-Infinity, 1 - perMonth',
    caughtBy: 'availability never falls below 0',
  },
  'takes plain floor and ceil for the interval': {
    replace: 'const floorWithSlack = (x: number) => Math.floor(x + x * SLACK);',
    by: 'const floorWithSlack = (x: number) => Math.floor(x);',
    caughtBy: 'limits that are whole but for binary noise are those whole numbers: 43 to 87 ms',
  },
  'counts the probes of one replica only': {
    replace: '(1_000 * replicas) / (maxProbeShare * peakRate)',
    by: '1_000 / (maxProbeShare * peakRate)',
    caughtBy:
      '34.26 drops and a share of 3 % leave 195 to 200 ms: Y3 is the last value that passes',
  },
  'returns an interval although none fits': {
    replace: 'if (minMs > maxMs) {',
    by: 'if (minMs > Infinity) {',
    caughtBy: "where nothing fits, the error has both limits: '292' and '200' ms",
  },
  'calls two wishes that exclude each other bad input': {
    replace: 'throw new Error(\n      `no interval fits',
    by: 'throw new RangeError(\n      `no interval fits',
    caughtBy: "where nothing fits, the error has both limits: '292' and '200' ms",
  },
  'counts failures in total instead of in a row': {
    replace: 'state.against = ok === state.up ? 0 : state.against + 1;',
    by: 'state.against += ok === state.up ? 0 : 1;',
    caughtBy: "only a row counts: '--+---' with { fall: 3, rise: 1 } gives 'uuuuud'",
  },
  'uses the threshold for going down in both directions': {
    replace: 'state.up ? this.#fall : this.#rise',
    by: 'state.up ? this.#fall : this.#fall',
    caughtBy: "only a row counts: '-++' with { fall: 1, rise: 2 } gives 'ddu'",
  },
  'never lets a dead replica come back': {
    replace: 'state.up = ok;',
    by: 'state.up = false;',
    caughtBy: 'one failed probe takes k2 out, one success puts it back in its place',
  },
  'makes one replica pay for the failures of another': {
    replace: 'this.#states.set(name, { up: true, against: 0 });',
    by: 'this.#states.set(name, [...this.#states.values()][0] ?? { up: true, against: 0 });',
    caughtBy: 'one replica says nothing about another',
  },
  'charges a hang like a crash': {
    replace: "(failure === 'hang' ? timeoutMs : 0)",
    by: '0',
    caughtBy:
      '34.26 is what the worst crash drops; the average one drops 17.13, the worst hang 51.39',
  },
  'takes a whole interval for the average': {
    replace: 'expectedMs: intervalMs / 2 + lastProbe',
    by: 'expectedMs: intervalMs + lastProbe',
    caughtBy:
      '34.26 is what the worst crash drops; the average one drops 17.13, the worst hang 51.39',
  },
  'adds the time-out once for each failed probe': {
    replace: "(fall - 1) * intervalMs + (failure === 'hang' ? timeoutMs : 0)",
    by: "(fall - 1) * intervalMs + (failure === 'hang' ? fall * timeoutMs : 0)",
    caughtBy: "a 'hang' at 200 ms, time-out 100 ms, threshold 3: 600 and 700 ms",
  },
  'probes at the start': {
    replace: '  after(intervalMs, round);\n\n  return {',
    by: '  round();\n\n  return {',
    caughtBy: 'the first round comes one interval after the start, and each asks every replica',
  },
  'stops asking a replica that is down': {
    replace: 'for (const replica of replicas) ask(replica);',
    by: 'for (const replica of tracker.up()) ask(replica);',
    caughtBy: 'the first round comes one interval after the start, and each asks every replica',
  },
  'waits for a probe for ever': {
    replace: 'const deadline = after(timeoutMs, () => settle(false));',
    by: 'const deadline = after(timeoutMs, () => {});',
    caughtBy: "a running health check agrees with the formula: a 'hang', threshold 1",
  },
  'believes an answer that comes after the deadline': {
    replace: 'if (settled || stopped) return;',
    by: 'if (stopped) return;',
    caughtBy: 'a verdict that comes after its time-out counts for nothing',
  },
  'lets a throwing probe end the health check': {
    replace: '(async () => probe(replica))()',
    by: 'probe(replica)',
    caughtBy: 'a probe that throws has failed, and the health check goes on',
  },
  'leaves its timers running when it is stopped': {
    replace: 'for (const timer of timers) timer.cancel();',
    by: 'timers.clear();',
    caughtBy: 'after stop() no timer is left, and a late verdict changes nothing',
  },
  'lets a late verdict change a stopped health check': {
    replace: 'if (settled || stopped) return;',
    by: 'if (settled) return;',
    caughtBy: 'after stop() no timer is left, and a late verdict changes nothing',
  },
});
