import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { personProxy } from '../../src/egress/person-proxy.ts';
import { grantSession } from '../support/grant.ts';
import { testProxy } from '../support/serve.ts';
import { basic, echoServer, tunnel } from '../support/tunnel.ts';

const nowhere = async () => [];

/** A proxy as a company has one: it asks for a name and password, and repeats what it gets through a tunnel. */
async function companyProxy() {
  const seen: string[] = [];
  const isKnown = ({ headers }: IncomingMessage) =>
    headers['proxy-authorization'] === `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;
  const server = createServer((asked, response) => {
    seen.push(`${asked.method} ${asked.url}`);
    response.writeHead(isKnown(asked) ? 200 : 407).end(JSON.stringify(asked.headers));
  });
  server.on('connect', (asked, client) => {
    seen.push(`CONNECT ${asked.url}`);
    client.on('error', () => undefined);
    if (!isKnown(asked) || asked.url?.startsWith('closed.')) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    client.write('HTTP/1.1 200 OK\r\n\r\nfirst words ');
    client.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://ann:p%40ss@127.0.0.1:${port}`;
  return {
    seen,
    environment: { HTTPS_PROXY: url, http_proxy: url, NO_PROXY: 'direct.example' },
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test('hosts are reached through the person’s own proxy, by their names [sandbox network]', async () => {
  using company = await companyProxy();
  await using proxy = await testProxy(nowhere, company.environment);
  const { token } = await grantSession(proxy.root, { allow: ['registry.example', 'closed.example'] });
  const answer = await tunnel(proxy, 'registry.example:443', token);
  expect(answer).toContain('200 Connection established');
  expect(answer).toContain('first words hello through the tunnel');
  expect(await tunnel(proxy, 'closed.example:443', token)).toMatch(/502 .*through the proxy 127.*it answered 403/s);
  // Listed hosts only, whatever the person's proxy allows.
  expect(await tunnel(proxy, 'evil.example:443', token)).toContain('403 Forbidden');
  expect(company.seen).toEqual(['CONNECT registry.example:443', 'CONNECT closed.example:443']);
});

test('a private address and a host of NO_PROXY do not go through it', async () => {
  using company = await companyProxy();
  using echo = await echoServer();
  await using proxy = await testProxy(async () => ['127.0.0.1'], company.environment);
  const direct = `direct.example:${echo.port}`;
  const { token } = await grantSession(proxy.root, {
    allow: ['inside.example', direct, `127.0.0.1:${echo.port}`],
  });
  expect(await tunnel(proxy, 'inside.example:443', token)).toContain('it leads to the private address');
  expect(await tunnel(proxy, direct, token)).toContain('hello through the tunnel');
  expect(await tunnel(proxy, `127.0.0.1:${echo.port}`, token)).toContain('hello through the tunnel');
  expect(company.seen).toEqual([]);
});

test('plain http goes through it with the whole address, and without the session’s token', async () => {
  using company = await companyProxy();
  await using proxy = await testProxy(nowhere, company.environment);
  const { token } = await grantSession(proxy.root, { allow: ['plain.example'] });
  const headers = { 'proxy-authorization': basic(token) };
  const sent = request({ host: '127.0.0.1', port: proxy.served.port, path: 'http://plain.example/a?b=c', headers });
  sent.end();
  const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  const body = await text(answer);
  expect([answer.statusCode, company.seen]).toEqual([200, ['GET http://plain.example/a?b=c']]);
  expect(body).toContain('"host":"plain.example"');
  expect(body).not.toContain(token);
});

test.each([
  ['a.example', '.example', null],
  ['a.example', '*.example, other', null],
  ['a.example', 'example:8443', 'proxy'],
  ['a.example', 'a.example:443', null],
  ['ba.example', 'a.example', 'proxy'],
  ['a.example', '*', null],
  ['localhost', '', null],
  ['127.0.0.9', '', null],
  ['::1', '', null],
])('%s with NO_PROXY=%s', (host, direct, expected) => {
  const find = personProxy({ https_proxy: 'proxy:3128', no_proxy: direct });
  expect(find({ host, port: 443 }, 'https')?.hostname ?? null).toBe(expected);
  expect(find({ host, port: 443 }, 'http')).toBeNull();
});

test('a proxy that is no http address is none', () => {
  for (const url of ['', 'socks5://proxy:1080', 'http://'])
    expect(personProxy({ HTTPS_PROXY: url })({ host: 'a.example', port: 443 }, 'https')).toBeNull();
});
