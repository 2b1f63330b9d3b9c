// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

const encode = 'const no = encoded(trackingNo);';
const dots = "return text !== '' && text !== '.' && text !== '..';";
const instant = 'const instant = new Date(Math.floor(seconds) * 1_000);';
const known = 'if (!Object.hasOwn(states, state)) throw new UnknownCarrierState(state);';
const word = 'durum: states[state] as string,';
const fourKeys = `    takipNo: trackingNo,
    durum: states[state] as string,
    bolge: region,
    guncellenme: instant.toISOString(),`;
const text = 'guncellenme: instant.toISOString(),';
const rfc3339 =
  'const seconds = RFC_3339.test(updatedAt) ? Date.parse(updatedAt) / 1_000 : Number.NaN;';
const ownField =
  '  if (!Object.hasOwn(body, name)) throw new MalformedCarrierAnswer(`${name} is missing`);\n';
const notFound =
  "return failure.status === 404 ? answer(404, 'bulunamadi') : answer(502, 'tasiyici-hatasi');";
const call =
  "return isTimeout(failure.error) ? answer(504, 'zaman-asimi') : answer(502, 'ulasilamadi');";
const bodyFailure = `return failure.error instanceof UnknownCarrierState
        ? answer(502, 'bilinmeyen-durum')
        : answer(502, 'bozuk-yanit');`;
const fetched = `      const response = await fetch(new URL(target, carrier), {
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs), // also while the body comes
      });`;
const count = '    latest = { surum: version, yol: target, bayt: body.length };\n';
const translated = `      const internal = toInternal(version, trackingNo, JSON.parse(body.toString()), states);
      return { status: 200, body: JSON.stringify(internal) };`;
const judged =
  "    if (status !== 200) return classifyFailure(trackingNo, { at: 'status', status });\n";
const usable = 'runtimesOfUnits.filter((runtime) => runtimes.includes(runtime)).length;';
const total = 'totalProcesses: processesPerUnit * runtimesOfUnits.length,';

/** Title of the intercepted test of a carrier's misbehaviour. */
const intercepted = (what: string, version: string, answer: string) =>
  `${what} (${version}) is ${answer}`;

export default mistakes({
  // 15.1
  'pastes the number into the URL as it is': {
    replace: encode,
    by: 'const no = trackingNo;',
    caughtBy: 'v1 and the number TR 1&x=2 make the path /v1/durum?no=TR%201%26x%3D2',
  },
  'encodes a whole URL instead of one component of it': {
    replace: 'return encodeURIComponent(trackingNo);',
    by: 'return encodeURI(trackingNo);',
    caughtBy: 'v2 and the number TR/1 make the path /v2/status/TR%2F1',
  },
  'writes a blank as a form does': {
    replace: encode,
    by: "const no = encoded(trackingNo).replaceAll('%20', '+');",
    caughtBy: 'v1 and the number TR 1&x=2 make the path /v1/durum?no=TR%201%26x%3D2',
  },
  'does not encode what looks encoded already': {
    replace: encode,
    by: 'const no = /%[0-9a-f]{2}/i.test(trackingNo) ? trackingNo : encoded(trackingNo);',
    caughtBy: 'v2 and the number %2e%2e make the path /v2/status/%252e%252e',
  },
  'lets the two dots through': {
    replace: dots,
    by: "return text !== '' && text !== '.';",
    caughtBy: "v2 refuses numbers that a URL can't carry",
  },
  'takes every number that begins with a dot for a step': {
    replace: dots,
    by: "return text !== '' && !text.startsWith('.');",
    caughtBy: 'v2 and the number ... make the path /v2/status/...',
  },
  'makes a path of no number': {
    replace: dots,
    by: "return text !== '.' && text !== '..';",
    caughtBy: "v1 refuses numbers that a URL can't carry",
  },
  "passes on the encoder's own error": {
    replace: `  try {
    return encodeURIComponent(trackingNo);
  } catch {`,
    by: `  if (trackingNo.length > 0) return encodeURIComponent(trackingNo);
  else {`,
    caughtBy: "v1 refuses numbers that a URL can't carry",
  },
  'takes every other version for v2': {
    replace: "if (version !== 'v1' && version !== 'v2') {",
    by: "if (version === '' as never) {",
    caughtBy: 'there is no third contract',
  },

  // 15.2
  "passes v2's instant through": {
    replace: text,
    by: "guncellenme: version === 'v2' ? (body as { updatedAt: string }).updatedAt : instant.toISOString(),",
    caughtBy: 'out of v2 come four keys in order, as 95 bytes',
  },
  "passes v1's instant through": {
    replace: text,
    by: "guncellenme: version === 'v1' ? (seconds as never) : instant.toISOString(),",
    caughtBy: 'out of v1 come four keys in order, as 95 bytes',
  },
  'takes seconds for milliseconds': {
    replace: instant,
    by: "const instant = new Date(Math.floor(seconds) * (version === 'v1' ? 1 : 1_000));",
    caughtBy: 'out of v1 come four keys in order, as 95 bytes',
  },
  "passes the carrier's word through": {
    replace: word,
    by: 'durum: state,',
    caughtBy: 'out of v1 come four keys in order, as 95 bytes',
  },
  "passes v2's region through": {
    replace: 'bolge: region,',
    by: "bolge: version === 'v2' ? (body as { region: never }).region : region,",
    caughtBy: 'out of v2 come four keys in order, as 95 bytes',
  },
  'drops an unknown state': {
    replace: known,
    by: '',
    caughtBy: 'the state "HUB" is unknown, and the error says which it was',
  },
  'takes names that objects inherit for states': {
    replace: known,
    by: 'if (!(state in states)) throw new UnknownCarrierState(state);',
    caughtBy: 'the state "constructor" is unknown, and the error says which it was',
  },
  'asks the table itself what its own keys are': {
    replace: known,
    by: 'if (!(states as never as Map<string, string>).hasOwnProperty(state)) throw new UnknownCarrierState(state);',
    caughtBy: 'a table may have such a name as its own, or inherit nothing at all',
  },
  'looks the state up before it has looked at the rest': {
    replace: '  if (Number.isNaN(instant.getTime())) {',
    by: '  if (!Object.hasOwn(states, state)) throw new UnknownCarrierState(state);\n  if (Number.isNaN(instant.getTime())) {',
    caughtBy: 'a body that is malformed and has an unknown state is malformed',
  },
  'has the keys in another order': {
    replace: fourKeys,
    by: `    durum: states[state] as string,
    takipNo: trackingNo,
    bolge: region,
    guncellenme: instant.toISOString(),`,
    caughtBy: 'out of v1 come four keys in order, as 95 bytes',
  },
  'passes on what else the body has': {
    replace: fourKeys,
    by: `${fourKeys}\n    ...(body as { eta?: string }).eta !== undefined && { eta: 'soon' },`,
    caughtBy: 'what else a body has is left out, and an empty region is a region',
  },
  'takes an empty region for a missing one': {
    replace: "  if (typeof value !== 'string') throw",
    by: "  if (typeof value !== 'string' || value === '') throw",
    caughtBy: 'what else a body has is left out, and an empty region is a region',
  },
  'tells the service the fraction of a second': {
    replace: instant,
    by: 'const instant = new Date(seconds * 1_000);',
    caughtBy: 'v2 with 2026-03-11T08:24:00.250Z says 2026-03-11T08:24:00.000Z',
  },
  'rounds to the nearest second': {
    replace: instant,
    by: 'const instant = new Date(Math.round(seconds) * 1_000);',
    caughtBy: 'v2 with 2026-03-11T08:24:00.999999Z says 2026-03-11T08:24:00.000Z',
  },
  'cuts towards 0, so that before 1970 it rounds up': {
    replace: instant,
    by: 'const instant = new Date(Math.trunc(seconds) * 1_000);',
    caughtBy: 'v1 with -0.25 says 1969-12-31T23:59:59.000Z',
  },
  'drops the offset': {
    replace: rfc3339,
    by: 'const seconds = RFC_3339.test(updatedAt) ? Date.parse(`${updatedAt.slice(0, 19)}Z`) / 1_000 : Number.NaN;',
    caughtBy: 'v2 with 2026-03-11T11:24:00+03:00 says 2026-03-11T08:24:00.000Z',
  },
  'reads whatever Date.parse reads': {
    replace: rfc3339,
    by: 'const seconds = Date.parse(updatedAt) / 1_000;',
    caughtBy: 'v2 with the instant "2026-03-11" is malformed, whatever Date.parse makes of it',
  },
  'reads an instant without an offset in the time zone of the machine': {
    replace: '(?:Z|[+-]\\d{2}:\\d{2})$/;',
    by: '(?:Z|[+-]\\d{2}:\\d{2})?$/;',
    caughtBy:
      'v2 with the instant "2026-03-11T08:24:00" is malformed, whatever Date.parse makes of it',
  },
  'looks at the form of an instant only': {
    replace: 'if (Number.isNaN(seconds)) throw new MalformedCarrierAnswer',
    by: 'if (!RFC_3339.test(updatedAt)) throw new MalformedCarrierAnswer',
    also: [
      {
        replace: `  if (Number.isNaN(instant.getTime())) {
    throw new MalformedCarrierAnswer(\`\${seconds} s is no instant that a Date can hold\`);
  }
`,
        by: '',
      },
    ],
    caughtBy:
      'v2 with the instant "2026-13-11T08:24:00Z" is malformed, whatever Date.parse makes of it',
  },
  'takes a number in quotes for a number': {
    replace: "const seconds = field(body, 'ts');",
    by: "const seconds = Number(field(body, 'ts'));",
    caughtBy: 'v1 with an instant that is text is malformed',
  },
  'lets Date complain about what it cannot hold': {
    replace: 'if (Number.isNaN(instant.getTime())) {',
    by: 'if (!Number.isFinite(seconds)) {',
    caughtBy: 'v1 with an instant that is a second too late for a Date is malformed',
  },
  'reads fields of null': {
    replace: "typeof body !== 'object' || body === null",
    by: "typeof body !== 'object'",
    caughtBy: "v2: what isn't an object is malformed",
  },
  'reads inherited fields': {
    replace: ownField,
    by: '',
    caughtBy: 'v1: fields that are inherited are not there',
  },
  'takes whatever is there for text': {
    replace: "  if (typeof value !== 'string') throw",
    by: '  if (value === undefined || value === null) throw',
    caughtBy: 'v1: without zone, or with one of the wrong type, it is malformed',
  },
  "takes v2's region for text when it is": {
    replace: "region: textField(field(body, 'region'), 'code'),",
    by: "region: typeof field(body, 'region') === 'string' ? textField(body, 'region') : textField(field(body, 'region'), 'code'),",
    caughtBy: 'v2: a region is an object with a code, and not the code itself',
  },
  'translates a third contract as if it were v2': {
    replace: '  requireVersion(version);\n  // From here',
    by: '  // From here',
    caughtBy: 'there are two contracts to translate, whatever the body',
  },

  // 15.3
  'calls every failure of the carrier a missing shipment': {
    replace: notFound,
    by: "return answer(404, 'bulunamadi');",
    caughtBy: 'status 500 is 502 tasiyici-hatasi, in 46 bytes',
  },
  'passes the status of the carrier on': {
    replace: notFound,
    by: "return failure.status === 404 ? answer(404, 'bulunamadi') : answer(failure.status, 'tasiyici-hatasi');",
    caughtBy: 'status 503 is 502 tasiyici-hatasi, in 46 bytes',
  },
  'calls only 5xx a failure of the carrier': {
    replace: notFound,
    by: "return failure.status < 500 ? answer(404, 'bulunamadi') : answer(502, 'tasiyici-hatasi');",
    caughtBy: 'status 302 is 502 tasiyici-hatasi, in 46 bytes',
  },
  'calls a 410 a missing shipment': {
    replace: notFound,
    by: "return [404, 410].includes(failure.status) ? answer(404, 'bulunamadi') : answer(502, 'tasiyici-hatasi');",
    caughtBy: 'status 410 is 502 tasiyici-hatasi, in 46 bytes',
  },
  'calls a 504 of the carrier a deadline of its own': {
    replace: notFound,
    by: "return failure.status === 504 ? answer(504, 'zaman-asimi') : failure.status === 404 ? answer(404, 'bulunamadi') : answer(502, 'tasiyici-hatasi');",
    caughtBy: 'status 504 is 502 tasiyici-hatasi, in 46 bytes',
  },
  "knows fetch's deadline only": {
    replace: 'error = (error as Error).cause;',
    by: 'error = undefined;',
    caughtBy: "node:http's deadline is 504 zaman-asimi, in 42 bytes",
  },
  'looks one cause down and no further': {
    replace: 'seen.add(error);',
    by: 'if (seen.size > 0) return false;\n    seen.add(error);',
    caughtBy: 'a deadline two causes down is 504 zaman-asimi, in 42 bytes',
  },
  'takes every abort for a deadline': {
    replace: "if ((error as Error).name === 'TimeoutError') return true;",
    by: "if (['TimeoutError', 'AbortError'].includes((error as Error).name)) return true;",
    caughtBy: 'an abort that nobody has explained is 502 ulasilamadi, in 42 bytes',
  },
  'finds deadlines in messages': {
    replace: "if ((error as Error).name === 'TimeoutError') return true;",
    by: 'if (/timeout/i.test(String((error as Error).message))) return true;',
    caughtBy: "the system's own ETIMEDOUT is 502 ulasilamadi, in 42 bytes",
  },
  'reads the name of whatever was thrown': {
    replace: "while (typeof error === 'object' && error !== null && !seen.has(error)) {",
    by: 'while (error !== null && !seen.has(error)) {',
    caughtBy: 'undefined, thrown is 502 ulasilamadi, in 42 bytes',
  },
  'forgets that null is an object': {
    replace: "while (typeof error === 'object' && error !== null && !seen.has(error)) {",
    by: "while (typeof error === 'object' && !seen.has(error)) {",
    caughtBy: 'null, thrown is 502 ulasilamadi, in 42 bytes',
  },
  'calls everything that cannot be reached a deadline': {
    replace: call,
    by: "return answer(504, 'zaman-asimi');",
    caughtBy: 'a refusal of node:http is 502 ulasilamadi, in 42 bytes',
  },
  'calls an unknown state malformed': {
    replace: bodyFailure,
    by: "return answer(502, 'bozuk-yanit');",
    caughtBy: 'an unknown state is 502 bilinmeyen-durum, in 47 bytes',
  },
  'has an answer for the errors that it knows': {
    replace: bodyFailure,
    by: `if (failure.error instanceof UnknownCarrierState) return answer(502, 'bilinmeyen-durum');
      if (failure.error instanceof MalformedCarrierAnswer || failure.error instanceof SyntaxError) {
        return answer(502, 'bozuk-yanit');
      }
      throw failure.error;`,
    caughtBy: 'a translation that stumbles is 502 bozuk-yanit, in 42 bytes',
  },
  'looks for a deadline in the translation, too': {
    replace: bodyFailure,
    by: `if (isTimeout(failure.error)) return answer(504, 'zaman-asimi');\n      ${bodyFailure}`,
    caughtBy: 'what a deadline is depends on where it is seen: it is no deadline of the body',
  },
  'pastes the number into the answer': {
    replace: 'body: JSON.stringify({ takipNo: trackingNo, hata }),',
    by: 'body: `{"takipNo":"${trackingNo}","hata":"${hata}"}`,',
    caughtBy: 'the number in the answer is the one that was asked for, as JSON',
  },
  'says what went wrong before it says with which number': {
    replace: 'body: JSON.stringify({ takipNo: trackingNo, hata }),',
    by: 'body: JSON.stringify({ hata, takipNo: trackingNo }),',
    caughtBy: 'status 404 is 404 bulunamadi, in 41 bytes',
  },
  'calls a 200 a failure of the carrier': {
    replace: "if (failure.status === 200) throw new RangeError('status 200 is no failure');",
    by: '',
    caughtBy: 'a 200 is no failure',
  },

  // 15.4
  'counts the bytes that it sends': {
    replace: translated,
    by: `      const internal = toInternal(version, trackingNo, JSON.parse(body.toString()), states);
      latest.bayt = Buffer.byteLength(JSON.stringify(internal));
      return { status: 200, body: JSON.stringify(internal) };`,
    caughtBy: 'two ambassadors side by side give the service one text of 95 bytes',
  },
  'counts characters': {
    replace: 'bayt: body.length };',
    by: 'bayt: body.toString().length };',
    caughtBy: 'S4: 46 and 90 bytes outside, 99 inside, one contract',
  },
  'counts calls that went well only': {
    replace: count,
    by: '    if (status === 200) latest = { surum: version, yol: target, bayt: body.length };\n',
    caughtBy:
      'it is about the latest call that was complete, whatever its status, and reading changes nothing',
  },
  'notes the path before the body has come': {
    replace: '    let status: number;\n    let body: Buffer;\n',
    by: '    let status: number;\n    let body: Buffer;\n    latest = { ...latest, yol: target };\n',
    caughtBy:
      'it is about the latest call that was complete, whatever its status, and reading changes nothing',
  },
  'resets the counter when it is read': {
    replace: '      answer = { status: 200, body: JSON.stringify(latest) };\n',
    by: "      answer = { status: 200, body: JSON.stringify(latest) };\n      latest = { surum: version, yol: '-', bayt: 0 };\n",
    caughtBy:
      'it is about the latest call that was complete, whatever its status, and reading changes nothing',
  },
  'has a deadline for the head only': {
    replace: fetched,
    by: `      const deadline = new AbortController();
      const timer = setTimeout(
        () => deadline.abort(new DOMException('late', 'TimeoutError')),
        timeoutMs,
      );
      const response = await fetch(new URL(target, carrier), {
        redirect: 'manual',
        signal: deadline.signal,
      }).finally(() => clearTimeout(timer));`,
    caughtBy: 'a body that does not come in time is 504 zaman-asimi',
  },
  'has no deadline': {
    replace: '        signal: AbortSignal.timeout(timeoutMs), // also while the body comes\n',
    by: '',
    caughtBy: 'a head that does not come in time is 504 zaman-asimi',
  },
  'judges the status before the body has come': {
    replace: '      body = Buffer.from(await response.arrayBuffer());\n',
    by: "      if (status !== 200) return classifyFailure(trackingNo, { at: 'status', status });\n      body = Buffer.from(await response.arrayBuffer());\n",
    caughtBy:
      'an end of an error in the middle of its body is 502 ulasilamadi, and the ambassador goes on',
  },
  'follows redirects': {
    replace: "        redirect: 'manual',\n",
    by: '',
    caughtBy: 'a 302 is 502 tasiyici-hatasi, and nobody goes where it points',
  },
  'refuses redirects as if nobody had answered': {
    replace: "redirect: 'manual',",
    by: "redirect: 'error',",
    caughtBy: 'a 302 is 502 tasiyici-hatasi, and nobody goes where it points',
  },
  'reads a body whatever its status': {
    replace: judged,
    by: '',
    caughtBy: intercepted('a 500 around a good body', 'v1', '502 tasiyici-hatasi'),
  },
  'parses the body before it looks at the status': {
    replace: judged,
    by: `    try {
      JSON.parse(body.toString());
    } catch (error) {
      return classifyFailure(trackingNo, { at: 'body', error });
    }
${judged}`,
    caughtBy: intercepted('a 503 with a page', 'v2', '502 tasiyici-hatasi'),
  },
  'parses outside of every try': {
    replace: `    try {
      const internal = toInternal(version, trackingNo, JSON.parse(body.toString()), states);`,
    by: `    const parsed = JSON.parse(body.toString());
    try {
      const internal = toInternal(version, trackingNo, parsed, states);`,
    caughtBy: intercepted('JSON that ends early', 'v1', '502 bozuk-yanit'),
  },
  'calls a body that cannot be parsed a call that failed': {
    replace: `    } catch (error) {
      return classifyFailure(trackingNo, { at: 'body', error });
    }
  };`,
    by: `    } catch (error) {
      return classifyFailure(trackingNo, { at: 'call', error });
    }
  };`,
    caughtBy: intercepted('an array', 'v1', '502 bozuk-yanit'),
  },
  'answers an unknown state with a hole': {
    replace: translated,
    by: `      const table = new Proxy(states, { getOwnPropertyDescriptor: (all, name) => ({ value: Reflect.get(all, name), configurable: true }) });
      const internal = toInternal(version, trackingNo, JSON.parse(body.toString()), table);
      return { status: 200, body: JSON.stringify(internal) };`,
    caughtBy: intercepted('an unknown state', 'v1', '502 bilinmeyen-durum'),
  },
  'does not decode the number': {
    replace: 'const trackingNo = decodeURIComponent(segment);',
    by: 'const trackingNo = decodeURIComponent(segment) && segment;',
    caughtBy: 'the number is decoded once on the way in, and encoded again on the way out',
  },
  'decodes the number twice': {
    replace: 'const trackingNo = decodeURIComponent(segment);',
    by: 'const trackingNo = decodeURIComponent(decodeURIComponent(segment));',
    caughtBy: 'the number is decoded once on the way in, and encoded again on the way out',
  },
  'takes a query for a part of the number': {
    replace: "const [path = ''] = url.split('?', 1);",
    by: "const path = url.startsWith('/durum/') ? url : (url.split('?', 1)[0] ?? '');",
    caughtBy: 'a query behind the number is not part of it, and is not passed on',
  },
  'takes further segments for a part of the number': {
    replace: '/^\\/durum\\/([^/]+)$/',
    by: '/^\\/durum\\/(.+)$/',
    caughtBy: 'GET /durum/TR-4821/rota is 404 with 21 bytes, and nobody outside is asked',
  },
  'finds the number anywhere in a path': {
    replace: '/^\\/durum\\/([^/]+)$/',
    by: '/\\/durum\\/([^/]+)$/',
    caughtBy: 'GET /x/durum/TR-4821 is 404 with 21 bytes, and nobody outside is asked',
  },
  'asks the carrier whatever the method': {
    replace: "const trackingNo = method === 'GET' ? numberIn(path) : undefined;",
    by: 'const trackingNo = numberIn(path);',
    caughtBy: 'POST /durum/TR-4821 is 404 with 21 bytes, and nobody outside is asked',
  },
  'lets the decoder throw': {
    replace: `  try {
    const trackingNo = decodeURIComponent(segment);
    return isTrackingNo(trackingNo) ? trackingNo : undefined;
  } catch {
    return undefined;
  }`,
    by: `  const trackingNo = decodeURIComponent(segment);
  return isTrackingNo(trackingNo) ? trackingNo : undefined;`,
    caughtBy: 'GET /durum/%zz is 404 with 21 bytes, and nobody outside is asked',
  },
  'lets the two dots in': {
    replace: 'return isTrackingNo(trackingNo) ? trackingNo : undefined;',
    by: 'return trackingNo;',
    caughtBy: 'GET /durum/%2e%2E is 404 with 21 bytes, and nobody outside is asked',
  },
  "keeps what stands behind the carrier's host": {
    replace: 'fetch(new URL(target, carrier), {',
    by: 'fetch(`${carrier}${target}`.replace(/([^:])\\/\\//, "$1/"), {',
    caughtBy: 'a carrier is its origin: a path in its address is not part of a call',
  },
  'says text instead of JSON': {
    replace: "{ 'content-type': 'application/json' }",
    by: "{ 'content-type': 'text/plain' }",
    caughtBy: 'two ambassadors side by side give the service one text of 95 bytes',
  },
  'keeps the shipment of the latest question for all': {
    replace: '    const target = externalPath(version, trackingNo);\n',
    by: '    current = trackingNo;\n    const target = externalPath(version, trackingNo);\n',
    also: [
      {
        replace: '  let latest = {',
        by: "  let current = '';\n  let latest = {",
      },
      {
        replace: 'toInternal(version, trackingNo, JSON.parse(body.toString()), states)',
        by: 'toInternal(version, current, JSON.parse(body.toString()), states)',
      },
    ],
    caughtBy: 'questions under way at the same time keep their own answers',
  },
  'keeps the first answer for good': {
    replace: '    const target = externalPath(version, trackingNo);\n',
    by: '    if (kept?.takipNo === trackingNo) return { status: 200, body: JSON.stringify(kept) };\n    const target = externalPath(version, trackingNo);\n',
    also: [
      {
        replace: '  let latest = {',
        by: '  let kept: InternalStatus | undefined;\n  let latest = {',
      },
      {
        replace: 'return { status: 200, body: JSON.stringify(internal) };',
        by: 'kept = internal;\n      return { status: 200, body: JSON.stringify(internal) };',
      },
    ],
    caughtBy: 'a carrier that has stopped is 502 ulasilamadi; once it is back, so is the answer',
  },
  'starts for every version': {
    replace: '  requireVersion(version);\n  if (!Number.isInteger(timeoutMs)',
    by: '  if (!Number.isInteger(timeoutMs)',
    caughtBy: 'an ambassador for a third contract is refused',
  },
  'takes any number for a timeout': {
    replace: '!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS',
    by: 'Number.isNaN(timeoutMs)',
    caughtBy: 'a timeout that no timer can keep is refused',
  },

  // 15.5
  'compares lengths': {
    replace: 'return new Set(bodies).size;',
    by: 'return new Set(bodies.map((body) => body.length)).size;',
    caughtBy: 'two texts of 95 bytes are two contracts if they differ: lengths prove nothing',
  },
  'compares meanings': {
    replace: 'return new Set(bodies).size;',
    by: `return new Set(
    bodies.map((body) => {
      try {
        return JSON.stringify(Object.entries(JSON.parse(body)).sort());
      } catch {
        return body;
      }
    }),
  ).size;`,
    caughtBy: 'two texts of 95 bytes are two contracts if they differ: lengths prove nothing',
  },
  'counts bodies': {
    replace: 'return new Set(bodies).size;',
    by: 'return bodies.length;',
    caughtBy: 'two ambassadors that say the same are one contract',
  },
  'compares neighbours only': {
    replace: 'return new Set(bodies).size;',
    by: 'return bodies.filter((body, index) => body !== bodies[index - 1]).length;',
    caughtBy: 'a pair, and one of them again: ["a","b","a"]',
  },
  'sees one contract where there is no body': {
    replace: 'return new Set(bodies).size;',
    by: 'return Math.max(1, new Set(bodies).size);',
    caughtBy: 'no body: []',
  },
  'keeps the texts in an object that has names already': {
    replace: 'return new Set(bodies).size;',
    by: `const known: Record<string, boolean> = {};
  let count = 0;
  for (const body of bodies) {
    if (body in known) continue;
    known[body] = true;
    count += 1;
  }
  return count;`,
    caughtBy: 'names that objects inherit: ["constructor","__proto__","toString"]',
  },

  // 15.6
  'rebuilds a sidecar once for each unit that uses it': {
    replace: 'rebuiltUnits: separateProcess ? 1 : usableUnits,',
    by: 'rebuiltUnits: usableUnits,',
    caughtBy: 'the sidecar reaches 6 of 6 units instead of 4, and doubles the processes',
  },
  'republishes services for a sidecar': {
    replace: 'republishedServices: separateProcess ? 0 : usableUnits,',
    by: 'republishedServices: usableUnits,',
    caughtBy: 'the sidecar reaches 6 of 6 units instead of 4, and doubles the processes',
  },
  'runs one sidecar for each runtime': {
    replace: total,
    by: 'totalProcesses: runtimesOfUnits.length + (separateProcess ? runtimes.length : 0),',
    caughtBy: 'the sidecar reaches 6 of 6 units instead of 4, and doubles the processes',
  },
  'runs one sidecar for all': {
    replace: total,
    by: 'totalProcesses: runtimesOfUnits.length + (separateProcess ? 1 : 0),',
    caughtBy: 'the sidecar reaches 6 of 6 units instead of 4, and doubles the processes',
  },
  'runs sidecars only where they can be used': {
    replace: total,
    by: 'totalProcesses: runtimesOfUnits.length + (separateProcess ? usableUnits : 0),',
    caughtBy: 'a sidecar for A alone: library 4 4 4 6, sidecar 4 1 0 12',
  },
  'forgets the gateway': {
    replace: 'const GATEWAY_HOPS = 1;',
    by: 'const GATEWAY_HOPS = 0;',
    caughtBy: 'the peak passes three places instead of two, and none of its requests is new',
  },
  'counts the service behind the edge unit, too': {
    replace: 'const GATEWAY_HOPS = 1;',
    by: 'const GATEWAY_HOPS = 2;',
    caughtBy: 'the peak passes three places instead of two, and none of its requests is new',
  },
  'takes a process for usable by everybody': {
    replace: usable,
    by: 'runtimesOfUnits.filter((runtime) => separateProcess || runtimes.includes(runtime)).length;',
    caughtBy: 'a sidecar for A alone: library 4 4 4 6, sidecar 4 1 0 12',
  },
  'counts runtimes instead of units': {
    replace: usable,
    by: 'runtimes.filter((runtime) => runtimesOfUnits.includes(runtime)).length;',
    caughtBy: 'the sidecar reaches 6 of 6 units instead of 4, and doubles the processes',
  },
  'takes a library that nobody can link for a mistake': {
    replace: '  const processesPerUnit = separateProcess ? 2 : 1;',
    by: "  if (usableUnits === 0) throw new RangeError('units: none is supported');\n  const processesPerUnit = separateProcess ? 2 : 1;",
    caughtBy: 'all six units on B: library 0 0 0 6, sidecar 6 1 0 12',
  },
  'has the published peak written into the code': {
    replace: 'hopRequestsPerSecond: peakPerSecond * pathHops,',
    by: 'hopRequestsPerSecond: 513.89 * pathHops,',
    caughtBy: 'S12: a peak of 1000 is 2000.00 and 3000.00 hop-requests/s',
  },
  'refuses a peak of 0': {
    replace: 'peakPerSecond < 0',
    by: 'peakPerSecond <= 0',
    caughtBy: 'no peak is 0.00 and 0.00 hop-requests/s',
  },
  'accepts an empty list of units': {
    replace: "  if (runtimesOfUnits.length === 0) throw new RangeError('units: there are none');\n",
    by: '',
    caughtBy: 'no units, no runtimes and a peak that is none are refused',
  },
  'accepts a placement for no runtime': {
    replace: "  if (runtimes.length === 0) throw new RangeError('runtimes: there are none');\n",
    by: '',
    caughtBy: 'no units, no runtimes and a peak that is none are refused',
  },
  'accepts a peak that is no number': {
    replace: '!Number.isFinite(peakPerSecond) || peakPerSecond < 0',
    by: 'peakPerSecond < 0',
    caughtBy: 'no units, no runtimes and a peak that is none are refused',
  },
  'gives the measures in an order of its own': {
    replace: '    usableUnits,\n    rebuiltUnits: separateProcess ? 1 : usableUnits,\n',
    by: '    rebuiltUnits: separateProcess ? 1 : usableUnits,\n    usableUnits,\n',
    caughtBy: 'the measures come in the order of the table',
  },
});
