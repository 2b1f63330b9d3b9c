// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they stand in the text to replace
import { mistakes } from '#helpers/grading/mistakes.ts';

const portable = 'isPortable: (check) => domainInputsIn(check).required.length === 0,';
const missing = `        .map(domainInputsIn)
        .filter(({ required }) => required.length === 0)
        .reduce((sum, { optional }) => sum + optional.length, 0),`;
const unknown = 'if (!metadata.has(input) && !domain.has(input)) {';
const both =
  'if (domain.has(input)) throw new Error(`"${input}" is both metadata and domain data`);';
const inServices = 'const services = count * sum(inServices);';
const units = 'units: (atGateway ? 1 : 0) + (inServices ? services : 0),';
const verifications = 'edgeRate * ((atGateway ? 1 : 0) + (inServices ? 1 : 0)),';
const open = 'unprotectedServices: inServices ? 0 : services,';
const required = "!(gatewayRequired && mode === 'noGateway'),";
const again = "const again = edgeChecks.filter(({ name }) => name === 'token');";
const atGateway = "chain: [chainLink('gateway', edgeChecks)],";
const inEach = 'const chain = [chainLink(flow, [...before, ...serviceChecks[flow]])];';
const stop = `      answerHere(request, response, status);
      return false;`;
const stamped = `      ...headers,
      [PROOF_HEADER]: sign(\`\${method} \${path}\`),`;
const recomputed = 'isSameText(headers[PROOF_HEADER], sign(`${method} ${url}`)) ? 0 : 401,';
const sameLength = 'return a.length === b.length && timingSafeEqual(a, b);';
const stampLine = '      const signature = sign(`${method} ${path} ${time} ${nonce}`);';
const wantedLine = '        const wanted = sign(`${method} ${url} ${time} ${nonce}`);';
const window = 'const inWindow = Math.abs(now() - Number(time)) <= windowMs;';
const judged = `        if (!inWindow || used.has(nonce)) return 401;
        used.set(nonce, Number(time));`;
const forget = 'if (time < now() - windowMs) used.delete(nonce);';

export default mistakes({
  // 13.1
  'some metadata is enough to move': {
    replace: portable,
    by: `isPortable: (check) =>
      domainInputsIn(check).required.length < Math.max(1, check.reads.length),`,
    caughtBy: 'ownership stays, for it reads: shipment record',
  },
  'looks at the first required input only': {
    replace: portable,
    by: `isPortable: (check) =>
      domainInputsIn(check).required.length === 0 || metadata.has(check.reads[0] ?? ''),`,
    caughtBy:
      'one domain input decides, wherever it stands, and all are named in the order of the check',
  },
  'looks at the last required input only': {
    replace: portable,
    by: `isPortable: (check) =>
      domainInputsIn(check).required.length === 0 || metadata.has(check.reads.at(-1) ?? ''),`,
    caughtBy:
      'one domain input decides, wherever it stands, and all are named in the order of the check',
  },
  'treats optional inputs as required': {
    replace: portable,
    by: `isPortable: (check) => {
      const { required, optional } = domainInputsIn(check);
      return required.length + optional.length === 0;
    },`,
    caughtBy: 'log may move',
  },
  'a check that reads nothing stays': {
    replace: portable,
    by: `isPortable: (check) =>
      check.reads.length > 0 && domainInputsIn(check).required.length === 0,`,
    caughtBy: 'a check that reads nothing may move',
  },
  'counts the missing fields of checks that stay': {
    replace: missing,
    by: `        .map(domainInputsIn)
        .reduce((sum, { optional }) => sum + optional.length, 0),`,
    caughtBy:
      'a check that stays and has an optional domain input: 4 of 6 may move, 1 fields short',
  },
  'counts metadata among the optional inputs as missing': {
    replace: missing,
    by: `        .filter((check) => domainInputsIn(check).required.length === 0)
        .reduce((sum, { optional }) => sum + optional.length, 0),`,
    caughtBy:
      'a log with three optional inputs, one of them metadata: 4 of 6 may move, 2 fields short',
  },
  'takes an input that it does not know for metadata': {
    replace: unknown,
    by: 'if (Number.isNaN(check.lines)) {',
    caughtBy: 'an input that no list has is refused by all three functions: shipmentrecord',
  },
  'takes the names of an object’s own machinery for known inputs': {
    replace: unknown,
    by: 'if (!metadata.has(input) && !domain.has(input) && !(input in {})) {',
    caughtBy: 'an input that no list has is refused by all three functions: constructor',
  },
  'does not care about upper and lower case': {
    replace: unknown,
    by: 'if (!metadata.has(input.toLowerCase()) && !domain.has(input)) {',
    caughtBy: 'an input that no list has is refused by all three functions: Headers',
  },
  'does not look at optional inputs unless it counts them': {
    replace: portable,
    by: 'isPortable: (check) => domainOf(check, check.reads).length === 0,',
    caughtBy: 'an input that no list has is refused by all three functions: shipmentrecord',
  },
  'stops looking at the first domain input': {
    replace: portable,
    by: 'isPortable: (check) => !check.reads.some((input) => domainOf(check, [input]).length > 0),',
    caughtBy: 'an input that no list has is refused by all three functions: shipmentrecord',
  },
  'an input may be in both lists': {
    replace: both,
    by: '',
    caughtBy: 'an input in both lists is refused at once',
  },

  // 13.2
  'counts the lines that stay once': {
    replace: inServices,
    by: 'const services = sum(inServices);',
    caughtBy: '171 lines become 107, 0.63 times as many',
  },
  'multiplies the lines at the edge as well': {
    replace: 'const edge = sum(atEdge);',
    by: 'const edge = count * sum(atEdge);',
    caughtBy: '171 lines become 107, 0.63 times as many',
  },
  'always counts three services': {
    replace: inServices,
    by: 'const services = 3 * sum(inServices);',
    caughtBy: '4 services: 228 lines become 32 + 100, 0.58 times as many',
  },
  'rounds the ratio': {
    replace: 'offloaded.total / everyService.total,',
    by: 'Math.round((offloaded.total / everyService.total) * 100) / 100,',
    caughtBy: '171 lines become 107, 0.63 times as many',
  },
  'turns the ratio over': {
    replace: 'offloaded.total / everyService.total,',
    by: 'everyService.total / offloaded.total,',
    caughtBy: '171 lines become 107, 0.63 times as many',
  },
  'divides nothing by nothing': {
    replace: 'everyService.total === 0 ? 1 : ',
    by: '',
    caughtBy: 'without checks, or without lines, everything is 0 and the ratio is 1',
  },
  'takes half a service': {
    replace: '!Number.isInteger(services) || services < 1',
    by: '!(services >= 1)',
    caughtBy: 'refuses services below 1 or half of one, and lines that nobody can count',
  },
  'takes a check that is there twice': {
    replace: 'if (names.has(name)) throw new Error(`check "${name}" is there twice`);',
    by: '',
    caughtBy: 'refuses a check that is there twice, and inputs that the rule refuses',
  },
  'wants whole lines': {
    replace: 'if (!(lines >= 0 && lines < Infinity)) {',
    by: 'if (!Number.isInteger(lines) || lines < 0) {',
    caughtBy: 'with 0.5 times the lines everywhere the ratio stays the same',
  },
  'takes negative lines': {
    replace: 'if (!(lines >= 0 && lines < Infinity)) {',
    by: 'if (!Number.isFinite(lines)) {',
    caughtBy: 'refuses services below 1 or half of one, and lines that nobody can count',
  },

  // 13.3
  'forgets the gateway among the units of both': {
    replace: units,
    by: 'units: inServices ? services : 1,',
    caughtBy: 'both: the bill is the published one',
  },
  'has every service verify every request': {
    replace: verifications,
    by: 'edgeRate * ((atGateway ? 1 : 0) + (inServices ? services : 0)),',
    caughtBy: 'both: the bill is the published one',
  },
  'protects services by verifying at the gateway': {
    replace: open,
    by: 'unprotectedServices: atGateway ? 0 : services,',
    caughtBy: 'gatewayTrusted: the bill is the published one',
  },
  'always has three open services': {
    replace: open,
    by: 'unprotectedServices: inServices ? 0 : 3,',
    caughtBy: 'a fourth service changes units and unprotected services, not the verifications',
  },
  'takes a negative rate': {
    replace: '!(edgeRate >= 0 && edgeRate < Infinity)',
    by: '!Number.isFinite(edgeRate)',
    caughtBy: 'refuses services below 1 or half of one, and a rate below 0 or without an end',
  },
  'a limit has to be undercut': {
    replace: 'units <= maxUnits',
    by: 'units < maxUnits',
    caughtBy: 'bypassed, 3 units exactly: noGateway',
  },
  'a limit of verifications has to be undercut': {
    replace: 'verificationsPerSecond <= maxVerificationsPerSecond',
    by: 'verificationsPerSecond < maxVerificationsPerSecond',
    caughtBy: 'bypassed, 513.89 verifications/s exactly: noGateway',
  },
  'trusts a gateway that can be bypassed': {
    replace: '!(gatewayCanBeBypassed && unprotectedServices > 0) &&',
    by: '',
    caughtBy: 'bypassed: noGateway',
  },
  'does without a gateway that is required': {
    replace: required,
    by: 'gatewayRequired !== undefined,',
    caughtBy: 'bypassed, a gateway is required: both',
  },
  'counts verifications before units': {
    replace: 'a.units - b.units || a.verificationsPerSecond - b.verificationsPerSecond',
    by: 'a.verificationsPerSecond - b.verificationsPerSecond',
    caughtBy: 'nobody gets around it: gatewayTrusted',
  },
  'verifies twice as soon as the gateway can be bypassed': {
    replace: 'return best?.mode;',
    by: "return best && gatewayCanBeBypassed ? 'both' : best?.mode;",
    caughtBy: 'bypassed: noGateway',
  },

  // 13.4
  'verifies before it logs': {
    replace: atGateway,
    by: `chain: [
            chainLink(
              'gateway',
              edgeChecks.toSorted((a) => (a.name === 'token' ? -1 : 0)),
            ),
          ],`,
    caughtBy: 'gatewayTrusted: what the gateway rejects reaches no service, and is in the log',
  },
  'runs the remaining checks after one that has refused': {
    replace: stop,
    by: `      if (!response.headersSent) answerHere(request, response, status);
      refused = true;`,
    also: [
      {
        replace: '    for (const check of checks) {',
        by: '    let refused = false;\n    for (const check of checks) {',
      },
      { replace: '    return true;\n  };', by: '    return !refused;\n  };' },
    ],
    caughtBy: 'noGateway: the first status that is not 0 is the answer, and ends it',
  },
  'does not wait for a check': {
    replace: 'const status = await check.run(unit, request);',
    by: 'const status = check.run(unit, request);\n      if (typeof status !== "number") continue;',
    caughtBy: 'noGateway: the first status that is not 0 is the answer, and ends it',
  },
  'lets a request pass when a check throws': {
    replace: 'const status = await check.run(unit, request);',
    by: `let status = 0;
      try {
        status = await check.run(unit, request);
      } catch {}`,
    caughtBy: 'a check that throws lets nothing pass: 500, at the gateway as in a service',
  },
  'answers 403 whatever the status is': {
    replace: stop,
    by: stop.replace('status', '403'),
    caughtBy: 'gatewayTrusted: the first status that is not 0 is the answer, and ends it',
  },
  'runs all edge checks again where the token is verified twice': {
    replace: again,
    by: 'const again = edgeChecks;',
    caughtBy: 'both: gateway log,token,size, then takip token,own',
  },
  'runs the edge checks again in services that trust the gateway': {
    replace: "if (mode === 'gatewayTrusted') return [];",
    by: "if (mode === 'gatewayTrusted') return edgeChecks;",
    caughtBy: 'gatewayTrusted: gateway log,token,size, then takip own',
  },
  'verifies once where twice was asked for': {
    replace: "if (mode === 'gatewayTrusted') return [];",
    by: "if (mode !== 'noGateway') return [];",
    caughtBy: 'both: the services answer a bad token with 401, 401, 401',
  },
  'finds the token check by its place': {
    replace: again,
    by: 'const again = edgeChecks.slice(0, 1);',
    caughtBy: 'both: gateway log,token,size, then takip token,own',
  },
  'verifies nothing twice without a word': {
    replace: 'if (again.length === 0) {',
    by: 'if (again.length > edgeChecks.length) {',
    caughtBy: 'verifying twice without a check named token is refused',
  },
  'runs the service’s own checks first': {
    replace: inEach,
    by: 'const chain = [chainLink(flow, [...serviceChecks[flow], ...before])];',
    caughtBy: 'both: gateway log,token,size, then takip token,own',
  },
  'leaves out the service’s own checks behind a gateway': {
    replace: inEach,
    by: `const own = mode === 'noGateway' ? serviceChecks[flow] : [];
        const chain = [chainLink(flow, [...before, ...own])];`,
    caughtBy: "gatewayTrusted: somebody else's shipment is a 403 for whoever has a good token",
  },
  'runs checks of services at the gateway': {
    replace: atGateway,
    by: "chain: [chainLink('gateway', [...edgeChecks, ...serviceChecks.takip])],",
    caughtBy: 'gatewayTrusted: gateway log,token,size, then takip own',
  },
  'looks at open services through the front door': {
    replace: '    servicePort,\n',
    by: '    servicePort: (flow) => gateway?.port ?? servicePort(flow),\n',
    caughtBy: 'gatewayTrusted: the services answer a bad token with 200, 200, 200',
  },
  'sends clients around the gateway': {
    replace: 'addressOf: (flow) => gateway?.port ?? servicePort(flow),',
    by: 'addressOf: servicePort,',
    caughtBy:
      'gatewayTrusted: a forged signature is a 401 by the address that clients know, and a 200 straight to the service',
  },
  'gives its checks the name of another unit': {
    replace: inEach,
    by: "const chain = [chainLink('takip', [...before, ...serviceChecks[flow]])];",
    caughtBy: 'noGateway: each service has its own checks, and clients know 3 addresses',
  },
  'forgets to close the services': {
    replace: 'await Promise.all([...services.values()].map((service) => service.close(how)));',
    by: 'if (!gateway) await Promise.all([...services.values()].map((one) => one.close(how)));',
    caughtBy: 'close() ends everything, twice is fine, and the ports can still be asked for',
  },
  'does not hand the stamp to the gateway': {
    replace: '          stamp,\n        });',
    by: '          stamp: stamp && undefined,\n        });',
    caughtBy:
      'no service is open any more, at 37 verifications and 37 proofs instead of 74 verifications',
  },

  // 13.5
  'sends the secret itself': {
    replace: stamped,
    by: `      ...headers,
      [PROOF_HEADER]: \`\${sign(method) && path && options.secret}\`,`,
    also: [
      {
        replace: recomputed,
        by: 'isSameText(headers[PROOF_HEADER], method && url ? options.secret : sign("")) ? 0 : 401,',
      },
    ],
    caughtBy: 'is refused for another path, another query or another method',
  },
  'binds the proof to the path only': {
    replace: stamped,
    by: '      ...headers,\n      [PROOF_HEADER]: sign(method && path),',
    also: [
      {
        replace: recomputed,
        by: 'isSameText(headers[PROOF_HEADER], sign(`${method && url}`)) ? 0 : 401,',
      },
    ],
    caughtBy: 'is refused for another path, another query or another method',
  },
  'leaves out the query': {
    replace: stamped,
    by: "      ...headers,\n      [PROOF_HEADER]: sign(`${method} ${path.split('?')[0]}`),",
    also: [
      {
        replace: recomputed,
        by: "isSameText(headers[PROOF_HEADER], sign(`${method} ${url?.split('?')[0]}`)) ? 0 : 401,",
      },
    ],
    caughtBy: 'is refused for another path, another query or another method',
  },
  'keeps the proof that a client sends': {
    replace: stamped,
    by: '      [PROOF_HEADER]: sign(`${method} ${path}`),\n      ...headers,',
    caughtBy: 'over the wire: strangers are refused, and a proof that a client sends is dropped',
  },
  'writes into the headers that it was given': {
    replace: `stamp: ({ method, path }, headers) => ({
${stamped}
    }),`,
    by: `stamp: ({ method, path }, headers) =>
      Object.assign(headers, { [PROOF_HEADER]: sign(\`\${method} \${path}\`) }),`,
    caughtBy: 'replaces an incoming one, in a copy of the headers',
  },
  'lets a request pass that has no proof': {
    replace: recomputed,
    by: `headers[PROOF_HEADER] === undefined ||
        isSameText(headers[PROOF_HEADER], sign(\`\${method} \${url}\`))
          ? 0
          : 401,`,
    caughtBy: 'is refused if missing or wrong, whatever its length',
  },
  'compares proofs of unequal length': {
    replace: sameLength,
    by: 'return timingSafeEqual(a, b);',
    caughtBy: 'is refused if missing or wrong, whatever its length',
  },
  'compares the lengths in characters': {
    replace: sameLength,
    by: 'return given.length === wanted.length && timingSafeEqual(a, b);',
    caughtBy: 'is refused if missing or wrong, whatever its length',
  },
  'is content with the beginning of a proof': {
    replace: sameLength,
    by: 'return wanted.startsWith(given) && a.length <= b.length && timingSafeEqual(b, b);',
    caughtBy: 'is refused if missing or wrong, whatever its length',
  },
  'works with an empty secret': {
    replace: "if (secret === '') throw new RangeError('secret must not be empty');",
    by: '',
    caughtBy: 'needs a secret: with an empty one anybody could make it',
  },
  'has every service check every proof': {
    replace: 'proofChecks: requests,',
    by: 'proofChecks: requests * services,',
    caughtBy: '3 services, 37 requests: 37 of each, in 4 units',
  },
  'leaves out the gateway among the units that check': {
    replace: 'units: 1 + services,',
    by: 'units: services,',
    caughtBy: '3 services, 37 requests: 37 of each, in 4 units',
  },
  'bills the token in the services, too': {
    replace: 'tokenVerifications: requests,',
    by: 'tokenVerifications: 2 * requests,',
    caughtBy: 'as many units as when both verify, and half of the verifications',
  },
  'takes half a request': {
    replace: '!Number.isInteger(requests) || requests < 0',
    by: '!(requests >= 0 && requests < Infinity)',
    caughtBy: 'refuses services below 1, requests below 0, and halves of either',
  },

  // 13.6
  'does not sign the time': {
    replace: stampLine,
    by: '      const signature = sign(`${method} ${path} ${nonce}`);',
    also: [
      { replace: wantedLine, by: '        const wanted = sign(`${method} ${url} ${nonce}`);' },
    ],
    caughtBy:
      'with any one character changed it is refused, and the right one is still good after that',
  },
  'does not sign the nonce': {
    replace: stampLine,
    by: '      const signature = sign(`${method} ${path} ${time}`);',
    also: [{ replace: wantedLine, by: '        const wanted = sign(`${method} ${url} ${time}`);' }],
    caughtBy:
      'with any one character changed it is refused, and the right one is still good after that',
  },
  'does not sign the path': {
    replace: stampLine,
    by: '      const signature = sign(`${method} ${time} ${nonce}`);',
    also: [
      { replace: wantedLine, by: '        const wanted = sign(`${method} ${time} ${nonce}`);' },
    ],
    caughtBy: 'is refused for another path and another method, and by whoever has another secret',
  },
  'signs the fractions of a millisecond': {
    replace: 'const now = () => Math.floor(clock.now());',
    by: 'const now = () => clock.now();',
    caughtBy: 'has the time, a nonce and the HMAC of method, path, time and nonce',
  },
  'lets a time pass that is no number': {
    replace: window,
    by: 'const inWindow = !(Math.abs(now() - Number(time)) > windowMs);',
    caughtBy: 'is refused if it is missing or has another form',
  },
  'lets something follow the signature': {
    replace: 'if (more.length > 0 || !isSameText(signature, wanted)) return 401;',
    by: 'if (more.length > 1 || !isSameText(signature, wanted)) return 401;',
    caughtBy: 'is refused if it is missing or has another form',
  },
  'has no window': {
    replace: window,
    by: 'const inWindow = !Number.isNaN(Number(time));',
    caughtBy: 'of 2,000 ms: a proof that is 2001 ms old is refused',
  },
  'the window does not include its end': {
    replace: window,
    by: 'const inWindow = Math.abs(now() - Number(time)) < windowMs;',
    caughtBy: 'of 2,000 ms: a proof that is 2000 ms old is good',
  },
  'takes proofs from any future': {
    replace: window,
    by: 'const inWindow = now() - Number(time) <= windowMs;',
    caughtBy: 'of 2,000 ms: a proof from a gateway that is 2001 ms ahead is refused',
  },
  'takes no proof from a gateway that is ahead': {
    replace: window,
    by: 'const inWindow = now() >= Number(time) && now() - Number(time) <= windowMs;',
    caughtBy: 'of 2,000 ms: a proof from a gateway that is 1999 ms ahead is good',
  },
  'always has the window of the course': {
    replace: window,
    by: 'const inWindow = Math.abs(now() - Number(time)) <= 2_000;',
    caughtBy: 'is as long as the options say',
  },
  'remembers no nonce': {
    replace: judged,
    by: '        if (!inWindow || used.has(nonce)) return 401;',
    caughtBy: 'is good once: the second time it is refused, within the window and after it',
  },
  'remembers a nonce from its first use on, and not from its time': {
    replace: judged,
    by: `        if (!inWindow || used.has(nonce)) return 401;
        used.set(nonce, now());`,
    caughtBy: 'is good once: the second time it is refused, within the window and after it',
  },
  'never forgets': {
    replace: forget,
    by: 'if (time < -windowMs) used.delete(nonce);',
    caughtBy: 'is remembered as long as it could be used again, and no longer',
  },
  'forgets a millisecond too early': {
    replace: forget,
    by: 'if (time <= now() - windowMs) used.delete(nonce);',
    caughtBy: 'is remembered as long as it could be used again, and no longer',
  },
  'remembers the nonces of refused proofs': {
    replace:
      '        // The signature before everything else: nobody but the gateway may fill the memory.\n',
    by: `        if (used.has(nonce)) return 401;
        if (nonce) used.set(nonce, now());
`,
    also: [{ replace: judged, by: '        if (!inWindow) return 401;' }],
    caughtBy: 'of a proof that is refused is not remembered: strangers cannot fill the memory',
  },
  'remembers one nonce only': {
    replace: judged,
    by: `        if (!inWindow || used.has(nonce)) return 401;
        used.clear();
        used.set(nonce, Number(time));`,
    caughtBy: 'is remembered as long as it could be used again, and no longer',
  },
  'uses the same nonce for all requests of a millisecond': {
    replace: 'const [time, nonce] = [now(), randomUUID()];',
    by: 'const [time, nonce] = [now(), now().toString(16)];',
    caughtBy: 'is another one each time, also for the same request at the same moment',
  },
  'keeps the proof that a client sends with its request': {
    replace: 'return { ...headers, [PROOF_HEADER]: `${time}:${nonce}:${signature}` };',
    by: 'return { [PROOF_HEADER]: `${time}:${nonce}:${signature}`, ...headers };',
    caughtBy: 'takes the place of an incoming one, and leaves the given headers as they were',
  },
  'takes a window without a length': {
    replace: '!Number.isInteger(windowMs) || windowMs < 1',
    by: '!(windowMs >= 0 && windowMs < Infinity)',
    caughtBy: 'refuses an empty secret, and a window that has no length',
  },
});
