import { mistakes } from '#helpers/grading/mistakes.ts';

export default mistakes({
  // Exercise 14.1
  'sends unwanted fields as null instead of leaving them out': {
    replace: `  return Object.fromEntries(
    fields.map((field) => {
      if (!Object.hasOwn(record, field)) {
        throw new RangeError(\`fields: the record has no "\${field}"\`);
      }
      return [field, record[field]];
    }),
  );
}

/**
 * What one view`,
    by: `  for (const field of fields) {
    if (!Object.hasOwn(record, field)) throw new RangeError(\`no "\${field}"\`);
  }
  return Object.fromEntries(
    Object.keys(record).map((field) => [field, fields.includes(field) ? record[field] : null]),
  );
}

/**
 * What one view`,
    caughtBy: 'the mobile gets its fields of a shipment in 78 bytes',
  },
  'takes the fields in the order of the record': {
    replace: `      return [field, record[field]];
    }),
  );`,
    by: `      return [field, record[field]];
    }).sort(([a], [b]) => Object.keys(record).indexOf(a as string) - Object.keys(record).indexOf(b as string)),
  );`,
    caughtBy: "the fields come in the client's order, not in that of the record",
  },
  'lets a typo pass, and the key is silently missing': {
    replace: `        throw new RangeError(\`fields: the record has no "\${field}"\`);`,
    by: '        return [field, undefined];',
    caughtBy: 'a typo in a field list is loud, and the error has the field',
  },
  'takes an inherited property for a field': {
    replace: 'if (!Object.hasOwn(record, field)) {',
    by: 'if (!(field in record)) {',
    caughtBy: 'constructor is unknown to a record that only inherits it',
  },
  'asks the record whether it has a field': {
    replace: 'if (!Object.hasOwn(record, field)) {',
    by: 'if (!(record as object).hasOwnProperty(field)) {',
    caughtBy: 'a record without a prototype is read like any other',
  },
  'takes null for missing': {
    replace: 'if (!Object.hasOwn(record, field)) {',
    by: 'if (!Object.hasOwn(record, field) || record[field] === null) {',
    caughtBy:
      'a field that the record has with the value null is copied, and so are 0, false and ""',
  },
  'assigns the fields one by one, and __proto__ sets the prototype': {
    replace: `  return Object.fromEntries(
    fields.map((field) => {
      if (!Object.hasOwn(record, field)) {
        throw new RangeError(\`fields: the record has no "\${field}"\`);
      }
      return [field, record[field]];
    }),
  );`,
    by: `  const selected: Record<string, unknown> = {};
  for (const field of fields) {
    if (!Object.hasOwn(record, field)) throw new RangeError(\`no "\${field}"\`);
    selected[field] = record[field];
  }
  return selected;`,
    caughtBy: '__proto__ is a field like any other for a record that has it',
  },
  'takes a field twice without a word': {
    replace: `  refuseTwice('fields', fields);
  // fromEntries`,
    by: '  // fromEntries',
    caughtBy: 'the same field twice is refused, and the error has the field',
  },

  // Exercise 14.2
  'forgets the brackets and commas of a list': {
    replace: 'bytes: jsonBytes(body),',
    by: 'bytes: records * jsonBytes(wanted),',
    caughtBy: 'bff, panel: the published row comes out',
  },
  'sends a list even for one record': {
    replace: 'const body = records === 1 ? wanted : Array.from({ length: records }, () => wanted);',
    by: 'const body = Array.from({ length: records }, () => wanted);',
    caughtBy: 'bff, mobile: the published row comes out',
  },
  'counts the keys at the top instead of leaf fields': {
    replace: 'leaves: records * leafCount(record),',
    by: 'leaves: records * Object.keys(record).length,',
    also: [
      {
        replace: 'leaves: leafCount(body),',
        by: 'leaves: records * Object.keys(wanted).length,',
      },
    ],
    caughtBy: 'single, mobile: the published row comes out',
  },
  'counts unused keys at the top instead of unused leaf fields': {
    replace: 'unusedLeaves: records * (leafCount(record) - leafCount(wanted)),',
    by: 'unusedLeaves: records * (Object.keys(record).length - client.fields.length),',
    caughtBy: 'single, mobile: the published row comes out',
  },
  'keeps one request for each record with a backend for each client': {
    replace: 'requests: 1,',
    by: 'requests: records,',
    caughtBy: 'bff, panel: the published row comes out',
  },
  'lets one request of the single edge carry all records': {
    replace: 'requests: records,',
    by: 'requests: 1,',
    caughtBy: 'single, panel: the published row comes out',
  },
  'takes batch endpoints for granted': {
    replace: 'owners.size * (batchEndpoints ? 1 : records)',
    by: 'owners.size',
    caughtBy:
      'the calls that multiply do not vanish by themselves: without batch endpoints 12 of 14 stay',
  },
  'asks once for each record although there are batch endpoints': {
    replace: 'owners.size * (batchEndpoints ? 1 : records)',
    by: 'owners.size * records',
    caughtBy: 'bff, panel: the published row comes out',
  },
  'asks every service for every client': {
    replace: 'owners.size * (batchEndpoints ? 1 : records)',
    by: 'new Set(Object.values(ownership)).size * (batchEndpoints ? 1 : records)',
    caughtBy: 'bff, mobile: the published row comes out',
  },
  'counts one call for each wanted field': {
    replace: 'owners.size * (batchEndpoints ? 1 : records)',
    by: 'client.fields.length * (batchEndpoints ? 1 : records)',
    caughtBy: 'bff, mobile: the published row comes out',
  },
  'assumes that there are two services': {
    replace: 'records * new Set(Object.values(ownership)).size',
    by: 'records * 2',
    caughtBy:
      'the single edge asks every service that there is, the other only owners of wanted fields',
  },
  'lets the single edge ask only for what the client wants': {
    replace: 'records * new Set(Object.values(ownership)).size',
    by: 'records * owners.size',
    caughtBy: 'single, mobile: the published row comes out',
  },
  'gives batch endpoints to the single edge, too': {
    replace: 'records * new Set(Object.values(ownership)).size',
    by: '(batchEndpoints ? 1 : records) * new Set(Object.values(ownership)).size',
    caughtBy: 'single, panel: the published row comes out',
  },
  'counts characters instead of bytes': {
    replace: 'Buffer.byteLength(JSON.stringify(value))',
    by: 'JSON.stringify(value).length',
    caughtBy: 'bytes are those of UTF-8, not characters',
  },
  'takes any number for a number of records': {
    replace: 'if (!Number.isInteger(records) || records < 1) {',
    by: 'if (records < 1) {',
    caughtBy: 'bff: a number of records below 1, or not whole, is refused',
  },
  'takes what every object inherits for an owner': {
    replace: 'Object.hasOwn(ownership, field) ? ownership[field] : undefined',
    by: 'ownership[field]',
    caughtBy:
      'constructor is a field and a service like any other, for who has it, and unknown otherwise',
  },

  // Exercise 14.3
  'touches only one client, whoever wants the field': {
    replace: 'clientsTouched: wantedBy.size,',
    by: 'clientsTouched: 1,',
    caughtBy:
      '"one client touched" is a property of a field that one client wants, not of the layout',
  },
  'touches only those who want it, although all share a body': {
    replace: 'clientsTouched: clients.length, batchEndpoints: []',
    by: 'clientsTouched: wantedBy.size, batchEndpoints: []',
    caughtBy:
      'one edge: a unit to run, three clients touched by the field of one, no batch endpoint',
  },
  'counts a client once for each time it is named': {
    replace: 'clientsTouched: wantedBy.size,',
    by: 'clientsTouched: newField.wantedBy.length,',
    caughtBy: 'a client that is named twice is touched once',
  },
  'asks for batch endpoints although no client shows a list': {
    replace: 'asked.filter(({ client }) => client.records > 1)',
    by: 'asked',
    caughtBy: 'a panel of one record needs no batch endpoint',
  },
  'asks every service for a batch endpoint as soon as one list is shown': {
    replace: '[...new Set(inLists.flatMap(({ owners }) => [...owners]))].sort()',
    by: 'inLists.length > 0 ? [...new Set(Object.values(ownership))].sort() : []',
    caughtBy:
      'batch endpoints are asked of the owners of what lists show, each once and in alphabetical order',
  },
  'lists a service once for each client that needs it': {
    replace: '[...new Set(inLists.flatMap(({ owners }) => [...owners]))].sort()',
    by: 'inLists.flatMap(({ owners }) => [...owners]).sort()',
    caughtBy:
      'batch endpoints are asked of the owners of what lists show, each once and in alphabetical order',
  },
  'leaves the services in the order in which they are met': {
    replace: '[...new Set(inLists.flatMap(({ owners }) => [...owners]))].sort()',
    by: '[...new Set(inLists.flatMap(({ owners }) => [...owners]))]',
    caughtBy:
      'batch endpoints are asked of the owners of what lists show, each once and in alphabetical order',
  },
  'runs three units, however many kinds of client there are': {
    replace: 'edgeUnits: clients.length,',
    by: 'edgeUnits: 3,',
    caughtBy: 'S12: a kiosk makes a fourth unit, and no batch endpoint more',
  },
  'believes any name in wantedBy': {
    replace: 'if (!clients.some((client) => client.name === name)) {',
    by: 'if (name === undefined) {',
    caughtBy: 'single: no clients, and a name in wantedBy that no client has, are refused',
  },
  'plans for nobody': {
    replace:
      "if (clients.length === 0) throw new RangeError('clients: wanted at least one, got none');",
    by: '',
    caughtBy: 'bff: no clients, and a name in wantedBy that no client has, are refused',
  },

  // Exercise 14.4
  "forgets the panel's five requests in the rate": {
    replace: 'requestsPerSecond += viewsPerSecond * share * requests;',
    by: 'requestsPerSecond += viewsPerSecond * share;',
    caughtBy: 'single: the load at the scale of the baseline comes out as published',
  },
  "forgets the panel's five requests in the bandwidth, too": {
    replace: 'requestsPerSecond += viewsPerSecond * share * requests;',
    by: 'requestsPerSecond += viewsPerSecond * share;',
    also: [
      {
        replace: 'bytesPerSecond += viewsPerSecond * share * bytes * scale;',
        by: 'bytesPerSecond += (viewsPerSecond * share * bytes * scale) / requests;',
      },
    ],
    caughtBy: 'single: the load at the scale of the baseline comes out as published',
  },
  'takes the mean of the bodies without their shares': {
    replace: 'bytesPerSecond += viewsPerSecond * share * bytes * scale;',
    by: 'bytesPerSecond += (viewsPerSecond * bytes * scale) / costs.length;',
    caughtBy: 'bff: the load at the scale of the baseline comes out as published',
  },
  'leaves the bytes at the size of the model': {
    replace: 'bytesPerSecond += viewsPerSecond * share * bytes * scale;',
    by: 'bytesPerSecond += viewsPerSecond * share * bytes;',
    caughtBy: 'bff: the load at the scale of the baseline comes out as published',
  },
  'takes the mean body over views instead of requests': {
    replace: 'bytesPerRequest: bytesPerSecond / requestsPerSecond,',
    by: 'bytesPerRequest: bytesPerSecond / viewsPerSecond,',
    caughtBy: "the mean body is a mean over requests, so the panel's five count five times",
  },
  'weighs the mean body of each client by its share of views': {
    replace: 'bytesPerRequest: bytesPerSecond / requestsPerSecond,',
    by: `bytesPerRequest: costs.reduce(
      (sum, { share, requests, bytes }) => sum + (share * bytes * scale) / requests,
      0,
    ),`,
    caughtBy: "the mean body is a mean over requests, so the panel's five count five times",
  },
  'counts a megabit as 2^20 bits': {
    replace: '(bytesPerSecond * 8) / 1e6',
    by: '(bytesPerSecond * 8) / 2 ** 20',
    caughtBy: 'one kind of client with one request a view is the baseline',
  },
  'rounds the mean body to whole bytes': {
    replace: 'bytesPerRequest: bytesPerSecond / requestsPerSecond,',
    by: 'bytesPerRequest: Math.round(bytesPerSecond / requestsPerSecond),',
    caughtBy: "the mean body is a mean over requests, so the panel's five count five times",
  },
  'wants shares that add up to 1 to the last bit': {
    replace: 'if (Math.abs(shares - 1) > 1e-9) {',
    by: 'if (shares !== 1) {',
    caughtBy: 'shares that miss 1 by binary noise add up to 1',
  },
  'takes shares that leave some views out': {
    replace: 'if (Math.abs(shares - 1) > 1e-9) {',
    by: 'if (shares - 1 > 1e-9) {',
    caughtBy: 'mixEffect refuses shares that do not add up to 1, and no parts at all',
  },
  'lets NaN through': {
    replace: 'if (!(value >= min && value <= max)) {',
    by: 'if (value < min || value > max) {',
    caughtBy: 'mixEffect refuses a value of bytes that makes no sense',
  },

  // Exercise 14.5
  'joins the parts by position': {
    replace: `      const known = parts.filter((part) => part !== undefined);
      return [owner, new Map(known.map((part) => [part.takipNo, part]))] as const;`,
    by: `      const asked = [...new Set(trackingNos)];
      const known = parts.flatMap((part, index) =>
        part ? [[asked[index] as string, { ...part, takipNo: asked[index] as string }] as const] : [],
      );
      return [owner, new Map(known)] as const;`,
    caughtBy:
      'each shipment gets its own price, although each service answers in an order of its own',
  },
  'makes a call for each number of a list': {
    replace: '? await service.many(trackingNos)',
    by: '? (await Promise.all(trackingNos.map((no) => service.many([no])))).flat()',
    caughtBy: 'five different shipments cost 2 calls as well, each with all five numbers',
  },
  'asks a list one by one': {
    replace: '? await service.many(trackingNos)',
    by: '? await Promise.all(trackingNos.map((no) => service.one(no)))',
    caughtBy: 'the panel gets its five in one request of 551 bytes, for 2 calls and not ten',
  },
  'waits for one service before it asks the next': {
    replace: 'const answers = asked.map(async ({ owner, service }) => {',
    by: `let last = Promise.resolve();
    const answers = asked.map(({ owner, service }) => (last = last.then(async () => {`,
    also: [{ replace: ' as const;\n    });', by: ' as const;\n    })));' }],
    caughtBy: 'the services are asked at the same time',
  },
  'asks every service for every client that comes': {
    replace: 'const asked = [...ownersOf(client, ownership)].map((owner) => {',
    by: `ownersOf(client, ownership);
  const asked = [...new Set(Object.values(ownership))].map((owner) => {`,
    caughtBy: 'the card is answered with 78 bytes, for 1 call',
  },
  'answers a list in the order of the service': {
    replace: 'const shaped = trackingNos.map((trackingNo) =>',
    by: "const shaped = [...(known.get(ownership.takipNo ?? '')?.keys() ?? [])].map((trackingNo) =>",
    caughtBy: 'the list has the order asked, and duplicates are kept',
  },
  'answers each number of a list once': {
    replace: 'const shaped = trackingNos.map((trackingNo) =>',
    by: 'const shaped = [...new Set(trackingNos)].map((trackingNo) =>',
    caughtBy: 'the list has the order asked, and duplicates are kept',
  },
  'answers a list of one with an object': {
    replace: 'body: isList ? shaped : shaped[0]',
    by: 'body: shaped.length > 1 ? shaped : shaped[0]',
    caughtBy: 'a list of 1 is answered with an array of 1, whatever the records of the model',
  },
  'answers a client of one record with a list': {
    replace: 'body: isList ? shaped : shaped[0]',
    by: 'body: shaped',
    caughtBy: 'the card is answered with 78 bytes, for 1 call',
  },
  'demands as many numbers as the model has records': {
    replace: 'if (!trackingNos) return OTHER_FORM;',
    by: 'if (!trackingNos || trackingNos.length !== records) return OTHER_FORM;',
    caughtBy: 'a list of 2 is answered with an array of 2, whatever the records of the model',
  },
  'takes a number without a price for an unknown one': {
    replace:
      "if (!trackingNos.every((trackingNo) => partOf('takipNo', trackingNo))) return NOT_FOUND;",
    by: `if (!trackingNos.every((no) => fields.every((field) => partOf(field, no)))) return NOT_FOUND;`,
    caughtBy: 'a known number without a price is not unknown: its price is null',
  },
  'takes a number that any service knows for a known one': {
    replace:
      "if (!trackingNos.every((trackingNo) => partOf('takipNo', trackingNo))) return NOT_FOUND;",
    by: `if (!trackingNos.every((no) => fields.some((field) => partOf(field, no)))) return NOT_FOUND;`,
    caughtBy: 'a number that only pricing knows is unknown',
  },
  'is content if one number of a list is known': {
    replace:
      "if (!trackingNos.every((trackingNo) => partOf('takipNo', trackingNo))) return NOT_FOUND;",
    by: "if (!trackingNos.some((trackingNo) => partOf('takipNo', trackingNo))) return NOT_FOUND;",
    caughtBy:
      "panel: /takip?no=TR-4821,TR-0000,TR-6604 asks for a number that delivery doesn't know: 404",
  },
  'leaves the price out where there is none': {
    replace: 'return [field, part ? selectFields(part, [field])[field] : null];',
    by: 'return [field, part ? selectFields(part, [field])[field] : undefined];',
    caughtBy: 'a known number without a price is not unknown: its price is null',
  },
  'pours all parts into one object, and the last service wins': {
    replace: 'const part = partOf(field, trackingNo);',
    by: `const part = Object.assign(
            {},
            ...[...known.values()].map((parts) => parts.get(trackingNo)),
            partOf(field, trackingNo) ? {} : { [field]: null },
          ) as { takipNo: string };`,
    caughtBy: 'each field comes from its owner, whatever else a service sends',
  },
  'passes a part with a hole in it on': {
    replace: 'selectFields(part, [field])[field] : null',
    by: 'part[field] : null',
    caughtBy: 'a part that lacks a wanted field makes 502, and never a body with a hole in it',
  },
  'does not catch what a service throws': {
    replace: '.catch(() => UNREACHABLE)',
    by: '.catch(() => NOT_FOUND)',
    caughtBy: 'pricing fails, as a rejection: 502, and the next request is answered',
  },
  'takes a service that fails for one without a record': {
    replace: `        ? await service.many(trackingNos)`,
    by: `        ? await service.many(trackingNos).catch(() => [])`,
    caughtBy: 'pricing fails, as a rejection: 502, and the next request is answered',
  },
  'parses the target with new URL, which tidies up and throws': {
    replace: `const target = request.url ?? '';
    // The path`,
    by: `const { pathname, search } = new URL(request.url ?? '', 'http://x');
    const target = pathname + search;
    // The path`,
    caughtBy: 'GET // is unknown to every client: 404, and nobody is asked',
  },
  'takes every path that begins with takip': {
    replace: '/^\\/takip(?=[/?]|$)/.test(target)',
    by: "target.startsWith('/takip')",
    caughtBy: 'GET /takipci/TR-4821 is unknown to every client: 404, and nobody is asked',
  },
  'answers any method': {
    replace: "request.method === 'GET' && ",
    by: '',
    caughtBy: 'POST /takip/TR-4821 is unknown to every client: 404, and nobody is asked',
  },
  'answers HEAD like GET': {
    replace: "request.method === 'GET' && ",
    by: "(request.method === 'GET' || request.method === 'HEAD') && ",
    caughtBy: 'a HEAD is another method: 404 without a body',
  },
  'lets a list have empty elements': {
    replace: "if (asSent.includes('')) return undefined;",
    by: "asSent = asSent.filter((text) => text !== '');\n  if (asSent.length === 0) return undefined;",
    caughtBy: 'panel: /takip?no=TR-4821,,TR-9007 is another form: 400, and nobody is asked',
  },
  'ignores further segments': {
    replace: 'if (number === undefined || more.length > 0) return undefined;',
    by: 'if (number === undefined) return undefined;',
    caughtBy: 'mobile: /takip/TR-4821/durum is another form: 400, and nobody is asked',
  },
  'takes the first of two lists': {
    replace: 'list === undefined || others.length > 0',
    by: 'list === undefined',
    caughtBy: 'panel: /takip?no=TR-4821&no=TR-9007 is another form: 400, and nobody is asked',
  },
  'answers a list under a path with a number': {
    replace: 'if (number !== undefined || list === undefined',
    by: 'if (list === undefined',
    caughtBy: 'panel: /takip/TR-4821?no=TR-4821 is another form: 400, and nobody is asked',
  },
  'decodes before it splits': {
    replace: "asSent = list.slice('no='.length).split(',');",
    by: "asSent = decodeURIComponent(list.slice('no='.length)).split(',').map(encodeURIComponent);",
    caughtBy: 'numbers are split first and decoded after that, each by itself',
  },
  'takes a malformed escape as it stands': {
    replace: `  } catch {
    return undefined;
  }`,
    by: `  } catch {
    return asSent;
  }`,
    caughtBy: 'panel: /takip?no=TR-4821% is another form: 400, and nobody is asked',
  },
  'takes a service that every object inherits': {
    replace: 'Object.hasOwn(services, owner) ? services[owner] : undefined',
    by: 'services[owner]',
    caughtBy: 'edges that could never answer are refused before they are made',
  },
});
