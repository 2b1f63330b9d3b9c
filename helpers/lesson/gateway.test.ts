import { describe, expect, it, vi } from 'vitest';
import { openClient } from './client.ts';
import { answerHere, type Middleware, startGateway, startService } from './gateway.ts';
import { startHttpServer } from './http-server.ts';

const refuse: Middleware = (request, response) => {
  answerHere(request, response, 401);
  return false;
};

describe('gateway', () => {
  it('passes a request to the service of its first segment, with its body and one hop more', async () => {
    const seen: string[] = [];
    await using olay = await startHttpServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { method, url, headers } = request;
      seen.push(`${method} ${url} ${body} ${headers['x-hops']}`);
      answerHere(request, response, 201, { durum: 'alindi' });
    });
    await using gateway = await startGateway({
      serviceMap: new Map([['olay', olay.port]]),
      chain: [() => true, async () => true],
    });
    using client = openClient(gateway.port);

    const answer = await client.send('/olay/1?a=/b', { method: 'POST', body: '{"no":1}' });

    expect(seen).toEqual(['POST /olay/1?a=/b {"no":1} 1']);
    expect(answer).toMatchObject({ status: 201, body: '{"durum":"alindi"}' });
    expect(answer.headers['x-hops']).toBe('2');
  });

  it('runs its chain up to the first link that answers, before a service is looked up', async () => {
    const never = vi.fn(() => true);
    await using takip = await startService('takip', []);
    await using gateway = await startGateway({
      serviceMap: new Map([['takip', takip.port]]),
      chain: [refuse, never],
    });
    using client = openClient(gateway.port);
    for (const path of ['/takip/TR-4821', '/nobody']) {
      const { status, headers } = await client.send(path, {
        method: 'POST',
        body: 'x'.repeat(1e6),
      });
      expect([status, headers['x-hops']]).toEqual([401, '1']);
    }
    expect(never).not.toHaveBeenCalled();
    expect(takip.requests).toBe(0);
    expect(client.connections).toBe(1);
  });

  it('answers 404 for whatever is no service, and 502 for one that has stopped', async () => {
    await using takip = await startService('takip', []);
    await using gateway = await startGateway({
      serviceMap: new Map([['takip', takip.port]]),
      chain: [],
    });
    using client = openClient(gateway.port);
    for (const path of ['/', '//takip', '/constructor', '/__proto__', '/Takip', '/?/takip']) {
      const { status, body, headers } = await client.send(path);
      expect([status, body, headers['x-hops']]).toEqual([404, '{"hata":"bulunamadi"}', '1']);
    }
    expect((await client.send('/takip?a')).status).toBe(200);
    await takip.close();
    for (let time = 1; time <= 2; time++) {
      const { status, body, headers } = await client.send('/takip');
      expect([status, body, headers['x-hops']]).toEqual([502, '{"hata":"ulasilamadi"}', '1']);
    }
    expect(takip.requests).toBe(1);
  });

  it('forwards the headers that the stamp has made, and no others', async () => {
    await using takip = await startHttpServer(({ headers }, response) => {
      response.end(JSON.stringify([headers['x-proof'], headers['x-secret'], headers['x-hops']]));
    });
    await using gateway = await startGateway({
      serviceMap: new Map([['takip', takip.port]]),
      chain: [],
      stamp({ method, path }, { 'x-secret': _dropped, ...headers }) {
        return { ...headers, 'x-proof': `${method} ${path}` };
      },
    });
    using client = openClient(gateway.port);
    const headers = { 'x-proof': 'own', 'x-secret': 'own', connection: 'keep-alive' };
    expect((await client.send('/takip/1?a=b', { headers })).body).toBe(
      '["GET /takip/1?a=b",null,"1"]',
    );
  });

  it('refuses an empty service map', async () => {
    await expect(startGateway({ serviceMap: new Map(), chain: [] })).rejects.toThrow(
      new RangeError('serviceMap must name a service, it is empty'),
    );
  });
});

describe('service', () => {
  it('answers 200 once its chain lets a request pass, and counts them all', async () => {
    let open = false;
    await using olay = await startService('olay', [(...it) => open || refuse(...it)]);
    using client = openClient(olay.port);
    const post = () =>
      client.send('/olay', { method: 'POST', body: '{}', headers: { 'x-hops': '1' } });
    expect((await post()).status).toBe(401);
    open = true;
    const { status, body, headers } = await post();
    expect([status, body, headers['x-hops']]).toEqual([200, '{}', '2']);
    expect(olay.requests).toBe(2);
  });

  it('answers 500 if a link throws, and goes on', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    let broken = true;
    await using ucret = await startService('ucret', [
      async () => {
        if (broken) throw new Error('no store');
        return true;
      },
    ]);
    using client = openClient(ucret.port);
    expect((await client.send('/ucret')).status).toBe(500);
    expect(error).toHaveBeenCalledOnce();
    broken = false;
    expect((await client.send('/ucret')).status).toBe(200);
    error.mockRestore();
  });
});
