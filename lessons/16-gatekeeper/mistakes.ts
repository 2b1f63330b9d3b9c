import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  'does not anchor the tracking number at its end': {
    replace: '/^TR-[0-9]{4}$/',
    by: '/^TR-[0-9]{4}/',
    caughtBy: 'the tracking number "TR-48210" has not the form',
  },
  'does not anchor the tracking number at its start': {
    replace: '/^TR-[0-9]{4}$/',
    by: '/TR-[0-9]{4}$/',
    caughtBy: 'the tracking number " TR-4821" has not the form',
  },
  'lets a line break end the tracking number': {
    replace: '/^TR-[0-9]{4}$/',
    by: '/^TR-[0-9]{4}$/m',
    caughtBy: 'the tracking number "TR-4821\\n" has not the form',
  },
  'takes digits of every alphabet': {
    replace: '/^TR-[0-9]{4}$/',
    by: '/^TR-\\p{Nd}{4}$/u',
    caughtBy: 'the tracking number "TR-\uff14\uff18\uff12\uff11" has not the form',
  },
  'does not care about the case of the tracking number': {
    replace: '/^TR-[0-9]{4}$/',
    by: '/^TR-[0-9]{4}$/i',
    caughtBy: 'the tracking number "tr-4821" has not the form',
  },
  'makes a text of a tracking number before it is tested': {
    replace: "typeof value === 'string' && TRACKING_NUMBER.test(value)",
    by: 'TRACKING_NUMBER.test(String(value))',
    caughtBy: 'a tracking number that is no text has not the form: ["TR-4821"]',
  },
  'calls methods of a tracking number that is absent': {
    replace: "typeof value === 'string' && TRACKING_NUMBER.test(value)",
    by: '(value as string).length === 7 && TRACKING_NUMBER.test(value as string)',
    caughtBy: 'a request without the field fails the check, and throws nothing',
  },
  'does not anchor the token at its start': {
    replace: '/^b\\.(M[0-9]+)\\.imza$/',
    by: '/b\\.(M[0-9]+)\\.imza$/',
    caughtBy: 'the token "xb.M7.imza" has not the form',
  },
  'does not anchor the token at its end': {
    replace: '/^b\\.(M[0-9]+)\\.imza$/',
    by: '/^b\\.(M[0-9]+)\\.imza/',
    caughtBy: 'the token "b.M7.imzax" has not the form',
  },
  'lets any character stand for a dot': {
    replace: '/^b\\.(M[0-9]+)\\.imza$/',
    by: '/^b.(M[0-9]+).imza$/',
    caughtBy: 'the token "bxM7ximza" has not the form',
  },
  'takes a token without a number': {
    replace: '/^b\\.(M[0-9]+)\\.imza$/',
    by: '/^b\\.(M[0-9]*)\\.imza$/',
    caughtBy: 'the token "b.M.imza" has not the form',
  },
  'makes a text of a token before it is tested': {
    replace: "typeof token === 'string' ? TOKEN.exec(token)?.[1] : undefined",
    by: 'TOKEN.exec(String(token))?.[1]',
    caughtBy: 'a token that is no text has not the form',
  },
  'takes only the tokens of today, of one digit': {
    replace: '/^b\\.(M[0-9]+)\\.imza$/',
    by: '/^b\\.(M[0-9])\\.imza$/',
    caughtBy: 'a token of the right form passes, whoever wrote it and whenever it expired',
  },
  'checks the size with less than': {
    replace: 'govdeBayt <= maxBodyBytes',
    by: 'govdeBayt < maxBodyBytes',
    caughtBy: 'a limit of 2048 bytes lets 2048 bytes pass, and one more not',
  },
  'takes every path that begins like the right one': {
    replace: 'yol === PATH,',
    by: 'yol.startsWith(PATH),',
    caughtBy: 'only /takip is /takip',
  },
  'takes half a byte for a limit': {
    replace: '!Number.isInteger(maxBodyBytes) || maxBodyBytes < 0',
    by: 'maxBodyBytes < 0',
    caughtBy: 'a limit of 0.5 bytes is refused',
  },
  'takes no bytes at all for a bad limit': {
    replace: '|| maxBodyBytes < 0',
    by: '|| maxBodyBytes <= 0',
    caughtBy: 'a limit of 0 bytes lets 0 bytes pass, and one more not',
  },

  'puts a check at the gate if one of its inputs is there': {
    replace: 'reads.every((input) =>',
    by: 'reads.some((input) =>',
    caughtBy: 'four checks look at the request alone and two need a record',
  },
  'looks at the first input only': {
    replace: 'reads.every((input) =>',
    by: 'reads.slice(0, 1).every((input) =>',
    caughtBy: 'one input of the domain is enough, wherever it stands',
  },
  'takes an input that nobody knows for one of the domain': {
    replace: 'if (unknown !== undefined) {',
    by: 'if (false) {',
    caughtBy: "an input that nobody knows, 'kota', is refused by its name",
  },
  'takes the empty name for no name': {
    replace: 'if (unknown !== undefined) {',
    by: 'if (unknown) {',
    caughtBy: "an input that nobody knows, '', is refused by its name",
  },
  'knows every property of an object': {
    replace: '(input) => !REQUEST_PARTS.includes(input) && !DOMAIN_INPUTS.includes(input),',
    by: '(input) => !(input in Object.fromEntries([...REQUEST_PARTS, ...DOMAIN_INPUTS].map((name) => [name, true]))),',
    caughtBy: "an input that nobody knows, 'constructor', is refused by its name",
  },
  'puts a check that looks at nothing at the gate': {
    replace:
      "if (reads.length === 0) throw new RangeError('reads must name at least one input, got none');",
    by: '',
    caughtBy: 'a check that looks at nothing is refused: at the gate it would decide nothing',
  },

  'compares no owner with no identity': {
    replace: 'owner !== undefined && owner === identity',
    by: 'owner === identity',
    caughtBy: "there is no shipment 'TR-0001', and it does not belong to the bearer of 'bozuk'",
  },
  'keeps the records in an object': {
    replace: "typeof takipNo === 'string' ? records.get(takipNo) : undefined;",
    by: '(Object.fromEntries(records) as Record<string, ShipmentRecord>)[String(takipNo)];',
    caughtBy: "there is no shipment '__proto__', and it does not belong to the bearer of 'bozuk'",
  },
  'takes what stands between the dots of anything': {
    replace: 'const identity = identityOf(request.belirtec);',
    by: "const identity = String(request.belirtec).split('.')[1];",
    caughtBy: 'TR-4821 exists, and does not belong to the bearer of "b.M7"',
  },
  'lets a token name whoever an owner is called like': {
    replace: 'const identity = identityOf(request.belirtec);',
    by: 'const identity = /^b\\.(.*)\\.imza$/.exec(String(request.belirtec))?.[1];',
    caughtBy: "an owner called '__proto__' is nobody whom a token can name",
  },
  'compares the beginning of the identity': {
    replace: 'owner !== undefined && owner === identity',
    by: "owner !== undefined && (identity ?? '').startsWith(owner)",
    caughtBy: 'TR-4821 exists, and does not belong to the bearer of "b.M77.imza"',
  },
  'drops the application checks because the gate validates': {
    replace: 'return owner !== undefined && owner === identity;',
    by: 'return true;',
    caughtBy: 'behind the gate the ten requests that it could not hold are refused here',
  },
  'looks only for numbers that have the form': {
    replace: "typeof takipNo === 'string' ? records.get",
    by: "typeof takipNo === 'string' && isTrackingNumber(takipNo) ? records.get",
    caughtBy: 'the form of a tracking number is not its business, only whether there is a record',
  },
  'copies the records': {
    replace: '  // A map finds its own keys',
    by: '  records = new Map(records);\n  // A map finds its own keys',
    caughtBy: 'a record that is added later is found',
  },

  'rounds h before it is used': {
    replace: 'total === 0 ? 0 : held / total;',
    by: 'total === 0 ? 0 : Number((held / total).toFixed(3));',
    caughtBy: '8 % invalid requests: the gate is no tool for scaling, 0.947 of the load is left',
  },
  'takes h as a share of all requests': {
    replace: 'total === 0 ? 0 : held / total;',
    by: 'total === 0 ? 0 : held / requests.length;',
    caughtBy: 'the gate holds 20 of 30 invalid requests, and 40 of 60 reach the application',
  },
  'believes that the gate stops every invalid request': {
    replace: 'const left = 1 - invalidShare * heldRatio;',
    by: 'const left = 1 - invalidShare;',
    caughtBy: '8 % invalid requests: the gate is no tool for scaling, 0.947 of the load is left',
  },
  'takes the half of the set for the invalid share': {
    replace: 'const left = 1 - invalidShare * heldRatio;',
    by: 'const left = 1 - (total / requests.length) * heldRatio;',
    caughtBy: '16 % invalid requests: twice as many, and still nine tenths of the load',
  },
  'divides by the number of invalid requests where there are none': {
    replace: 'total === 0 ? 0 : held / total;',
    by: 'held / total;',
    caughtBy: 'a set without invalid requests, and one without any, change no rate',
  },
  'calls a request invalid that the gate refuses, and no other': {
    replace: '!passesGate(request) || !passesApplication(request);',
    by: '!passesGate(request);',
    caughtBy: 'the gate holds 20 of 30 invalid requests, and 40 of 60 reach the application',
  },
  'counts one flaw of several': {
    replace: 'Object.values(checks).every((check) => check(request))',
    by: 'Object.values(checks).some((check) => check(request))',
    caughtBy: 'the gate holds 20 of 30 invalid requests, and 40 of 60 reach the application',
  },
  'knows the checks by their names': {
    replace: 'const passesGate = passes(input.gate);',
    by: "const passesGate = (request: GateRequest) => ['yol', 'sema', 'boyut', 'belirtec'].every((name) => input.gate[name]?.(request) ?? true);",
    caughtBy:
      'what is held and what is not are all of the invalid ones, in any order, under any names',
  },
  'scales the edge only': {
    replace: 'reads: baseline.reads * left,',
    by: 'reads: baseline.reads,',
    caughtBy: '8 % invalid requests: the gate is no tool for scaling, 0.947 of the load is left',
  },
  'lets NaN be a share': {
    replace: '!(invalidShare >= 0 && invalidShare <= 1)',
    by: 'invalidShare < 0 || invalidShare > 1',
    caughtBy: 'an invalid share of NaN is refused',
  },

  'looks at the whole target instead of its path': {
    replace: "if (url.split('?', 1)[0] !== PATH)",
    by: 'if (url !== PATH)',
    caughtBy: 'a query is ignored, and a path in it is none',
  },
  'looks for the path anywhere in the target': {
    replace: "if (url.split('?', 1)[0] !== PATH)",
    by: 'if (!url.includes(PATH))',
    caughtBy: 'a query is ignored, and a path in it is none',
  },
  'decodes the path': {
    replace: "if (url.split('?', 1)[0] !== PATH)",
    by: "if (decodeURIComponent(url.split('?', 1)[0] ?? '') !== PATH)",
    caughtBy: "'/%74akip' is not the path: 404, and nothing is forwarded",
  },
  'does not say which method is allowed': {
    replace: "response.setHeader('allow', 'POST');",
    by: '',
    caughtBy: 'GET is not the method: 405 with allow, and nothing is forwarded',
  },
  'looks at the method before the path': {
    replace: "if (url.split('?', 1)[0] !== PATH) return refuse(404, 'yol');",
    by: "if (method !== 'POST') return refuse(405, 'yontem');\n    if (url.split('?', 1)[0] !== PATH) return refuse(404, 'yol');",
    caughtBy: 'the path comes before the method, and the method before size and token',
  },
  'refuses the declared limit itself': {
    replace: "if (declaredBytes > maxBodyBytes) return refuse(413, 'boyut');",
    by: "if (declaredBytes >= maxBodyBytes) return refuse(413, 'boyut');",
    caughtBy: 'the limit itself is allowed',
  },
  'looks at the token before the declared size': {
    replace: "if (declaredBytes > maxBodyBytes) return refuse(413, 'boyut');",
    by: "if (identityOf(headers.authorization) === undefined) return refuse(401, 'belirtec');\n    if (declaredBytes > maxBodyBytes) return refuse(413, 'boyut');",
    caughtBy: 'size and token are wrong: the answer is 413',
  },
  'looks at the declared size only': {
    replace: 'if (bytes > maxBytes) {',
    by: 'if (false) {',
    caughtBy: 'a chunked body of 3000 bytes: 413, and nothing upstream',
  },
  'reads the body to its end before it counts': {
    replace: `        request.pause();
        resolve('tooLarge');
      } else pieces.push(piece);`,
    by: `        request.on('end', () => resolve('tooLarge'));
      } else pieces.push(piece);`,
    caughtBy: 'a chunked body that has no end is cut off where it crosses the limit',
    also: [
      {
        replace: "request.on('end', () => resolve(Buffer.concat(pieces)));",
        by: "request.on('end', () => bytes <= maxBytes && resolve(Buffer.concat(pieces)));",
      },
    ],
  },
  'cuts a body off one byte too early': {
    replace: 'if (bytes > maxBytes) {',
    by: 'if (bytes >= maxBytes) {',
    caughtBy: 'a chunked body of exactly the limit passes, and with the byte after it is cut off',
  },
  'limits each piece instead of the body': {
    replace: 'bytes += piece.length;',
    by: 'bytes = piece.length;',
    caughtBy: 'a chunked body of exactly the limit passes, and with the byte after it is cut off',
  },
  'believes only in declared lengths, and does not look at chunks': {
    replace: "if (identity === undefined) return refuse(401, 'belirtec');",
    by: "if (headers['transfer-encoding'] !== undefined) return refuse(413, 'boyut');\n    if (identity === undefined) return refuse(401, 'belirtec');",
    caughtBy:
      'a malformed token with 9000 bytes is 413 if they are declared, and 401 if they are chunked',
  },
  'reads the body before the cheap checks': {
    replace: "    if (url.split('?', 1)[0] !== PATH)",
    by: "    inviteBody();\n    const early = await readBody(request, 1e9);\n    if (typeof early === 'string') return;\n    if (url.split('?', 1)[0] !== PATH)",
    caughtBy: '9000 declared bytes of which 10 arrive: 413 at once, and the gate hangs up',
    also: [
      {
        replace: 'const body = await readBody(request, maxBodyBytes);',
        by: "const body = early.length > maxBodyBytes ? 'tooLarge' : early as Buffer | 'tooLarge' | 'brokenOff';",
      },
      { replace: '    inviteBody();\n    const body', by: '    const body' },
    ],
  },
  'keeps the connection for a body that it will not read': {
    replace: "if (isEndless && !request.complete) response.setHeader('connection', 'close');",
    by: "if (status === 413) response.setHeader('connection', 'close');",
    caughtBy:
      'an unknown path with 9000 declared bytes: 404 at once, and nobody waits for the rest',
  },
  'hangs up on every refused client': {
    replace: 'if (isEndless && !request.complete) response',
    by: 'response',
    caughtBy: 'after a refusal with a small body the same connection goes on',
  },
  'forwards what has come of a body that broke off': {
    replace: "request.on('close', () => resolve('brokenOff'));",
    by: "request.on('close', () => resolve(Buffer.concat(pieces)));",
    caughtBy: 'a body that breaks off is forwarded to nobody, as far as it came',
  },
  'forwards before it has judged the body': {
    replace: "if (!holdsTrackingNumber(body)) return refuse(400, 'sema');",
    by: "if (!holdsTrackingNumber(body)) {\n      await forward({ identity, body });\n      return refuse(400, 'sema');\n    }",
    caughtBy: '"{}" is no request for a shipment: 400, and nothing is forwarded',
  },
  'lets JSON that is broken end the process': {
    replace: '  } catch {\n    return false;\n  }',
    by: '  } finally {\n  }',
    caughtBy: '"{" is no request for a shipment: 400, and nothing is forwarded',
  },
  'takes an inherited takipNo for one of the request': {
    replace: "value === null || !Object.hasOwn(value, 'takipNo')",
    by: 'value === null',
    caughtBy: 'a takipNo that the object inherits was not in the request',
  },
  'forgets that null is an object': {
    replace: "value === null || !Object.hasOwn(value, 'takipNo')",
    by: "false || !Object.hasOwn(value as object, 'takipNo')",
    caughtBy: '"null" is no request for a shipment: 400, and nothing is forwarded',
    also: [
      {
        replace: '  } catch {\n    return false;\n  }',
        by: '  } catch (error) {\n    return error instanceof TypeError;\n  }',
      },
    ],
  },
  'writes the body anew': {
    replace: 'contentType }), body }),',
    by: 'contentType }), body: Buffer.from(JSON.stringify(JSON.parse(body.toString()))) }),',
    caughtBy: 'identity, content type and body as it came, once, and nothing else',
  },
  'leaves the content type behind': {
    replace: "...(contentType !== undefined && { 'content-type': contentType }),",
    by: '',
    caughtBy: 'the application gets what the gate wrote, and of the client only type and body',
  },
  'asks a failing application once more': {
    replace: '    } catch {\n      refuse(502',
    by: '    } catch {\n      await forward({ identity, body }).catch(() => {});\n      refuse(502',
    caughtBy: 'an application that throws: 502',
  },
  'lets a failing application end the request': {
    replace: "refuse(502, 'ulasilamadi');",
    by: 'response.destroy();',
    caughtBy: 'an application that rejects: 502',
  },
  "passes the application's status on without a look": {
    replace: '!(Number.isInteger(status) && status >= 200 && status <= 599)',
    by: 'false',
    caughtBy: 'an application whose status is 101: 502',
  },
  'gives every answer the content type of the gate': {
    replace: "if (contentType !== undefined) response.setHeader('content-type', contentType);",
    by: "response.setHeader('content-type', 'application/json');",
    caughtBy: 'an answer of 201 goes to the client as it is: text/plain; charset=utf-8 tamam',
  },
  'answers 200 whatever the application says': {
    replace: '  response.statusCode = status;\n  response.end(body);',
    by: '  response.end(body);',
    caughtBy: 'an answer of 403 goes to the client as it is: application/json {"hata":"yetki"}',
  },
  "copies the client's fields upstream": {
    replace: `const guard = createGuard({
    maxBodyBytes,`,
    by: `let inbound: Record<string, unknown> = {};
  const guard = createGuard({
    maxBodyBytes,`,
    caughtBy: 'the application gets what the gate wrote, and of the client only type and body',
    also: [
      {
        replace: "'x-kimlik': identity,",
        by: "...(inbound as Record<string, string>),\n          'x-kimlik': (inbound['x-kimlik'] as string) ?? identity,",
      },
      {
        replace:
          'const server = createServer((request, response) => void guard(request, response, () => {}));',
        by: "const server = createServer((request, response) => {\n    const { connection, 'content-length': _, 'transfer-encoding': __, ...fields } = request.headers;\n    inbound = fields;\n    void guard(request, response, () => {});\n  });",
      },
    ],
  },
  "lets a client's x-kimlik win": {
    replace: 'const identity = identityOf(headers.authorization);',
    by: "const identity = identityOf(headers.authorization) && String(headers['x-kimlik'] ?? identityOf(headers.authorization));",
    caughtBy: 'the identity that a client claims in x-kimlik opens nothing',
  },
  'keeps one identity for all requests': {
    replace: 'const identity = identityOf(headers.authorization);',
    by: 'const identity = (memory.identity ??= identityOf(headers.authorization));',
    caughtBy: 'requests that come at the same time keep their identities apart',
    also: [
      {
        replace: 'const { maxBodyBytes, forward } = options;',
        by: 'const { maxBodyBytes, forward } = options;\n  const memory: { identity?: string | undefined } = {};',
      },
    ],
  },
  'lets Node invite every body': {
    replace: "server.on('checkContinue',",
    by: "server.on('neverEmitted',",
    caughtBy: '9000 declared bytes: 413 before the body is invited',
  },
  'invites nobody': {
    replace: '() => response.writeContinue()',
    by: '() => {}',
    caughtBy: 'a head without a flaw is asked for its body, once, and then answered',
  },
  'invites before it has looked at the token': {
    replace: '    const identity = identityOf(headers.authorization);\n    if',
    by: '    inviteBody();\n    const identity = identityOf(headers.authorization);\n    if',
    caughtBy: 'a malformed token: 401 before the body is invited',
  },
  'passes a broken answer on': {
    replace: 'body: Buffer.from(await answer.body.arrayBuffer()),',
    by: 'body: Buffer.from(await answer.body.arrayBuffer().catch(() => new ArrayBuffer(0))),',
    caughtBy: 'an application that breaks off half of its answer: 502',
  },
  'cuts running requests although it was asked to drain': {
    replace: 'await running.close(how);',
    by: 'await running.close();',
    caughtBy: 'close() with drain lets a running request finish, and close() can be called twice',
  },
});
