import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { grantSession } from '../support/grant.ts';
import { testProxy } from '../support/serve.ts';
import { basic, echoServer, tunnel } from '../support/tunnel.ts';

test('a tunnel reaches an allowed host at the address that was checked', async () => {
  using echo = await echoServer();
  // The name leads to loopback, which only the entry with that very address permits.
  await using proxy = await testProxy(async () => ['127.0.0.1']);
  const { token, lines } = await grantSession(proxy.root, {
    allow: [`registry.example:${echo.port}`, `127.0.0.1:${echo.port}`],
  });
  const answer = await tunnel(proxy, `Registry.Example.:${echo.port}`, token);
  expect(answer).toContain('200 Connection established');
  expect(answer).toContain('hello through the tunnel');
  expect(await lines()).toEqual([]);
});

test('a name that leads to a private address is refused, although it is allowed [sandbox network, faults 8.47]', async () => {
  using echo = await echoServer();
  await using proxy = await testProxy(async () => ['93.184.216.34', '127.0.0.1']);
  const { token, lines } = await grantSession(proxy.root, { allow: [`rebound.example:${echo.port}`] });
  expect(await tunnel(proxy, `rebound.example:${echo.port}`, token)).toContain('403 Forbidden');
  expect(await lines()).toMatchObject([
    { type: 'network', host: 'rebound.example', reason: 'it leads to the private address 127.0.0.1' },
  ]);
});

test('refuses other hosts, raw addresses in any notation, and records each once [sandbox network]', async () => {
  await using proxy = await testProxy();
  const { token, lines } = await grantSession(proxy.root, { allow: ['registry.example'] });
  const targets = [
    'evil.example:443',
    'EVIL.example.:443',
    '127.0.0.1:22',
    '0x7f.1:22',
    '2130706433:22',
    '[::1]:22',
    '169.254.169.254:80',
    'registry.example:22',
  ];
  for (const target of targets) expect(await tunnel(proxy, target, token), target).toContain('403 Forbidden');
  expect((await lines()).map((line) => (line.type === 'network' ? `${line.host}:${line.port}` : line.type))).toEqual([
    'evil.example:443',
    '127.0.0.1:22',
    '::1:22',
    '169.254.169.254:80',
    'registry.example:22',
  ]);
});

test('refuses a request without a token, with another one, and of a session without network', async () => {
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { allow: null });
  expect(await tunnel(proxy, 'registry.example:443', null)).toContain('407 Proxy Authentication Required');
  expect(await tunnel(proxy, 'registry.example:443', `${token}x`)).toContain('407');
  expect(await tunnel(proxy, 'registry.example:443', token)).toContain('403 Forbidden');
  expect(await tunnel(proxy, 'nonsense', token)).toContain('400 Bad Request');
});

test('forwards plain http without the token, and only to allowed hosts', async () => {
  await using proxy = await testProxy(async () => ['127.0.0.1']);
  const server = createServer((asked, response) =>
    response.end(JSON.stringify({ url: asked.url, headers: asked.headers })),
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { token } = await grantSession(proxy.root, { allow: [`plain.example:${port}`, `127.0.0.1:${port}`] });
  const ask = async (path: string) => {
    const sent = request({
      host: '127.0.0.1',
      port: proxy.served.port,
      path,
      headers: { 'proxy-authorization': basic(token) },
    });
    sent.end();
    const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
    return { status: answer.statusCode, body: await text(answer) };
  };
  const allowed = await ask(`http://plain.example:${port}/a?b=c`);
  expect(allowed.status).toBe(200);
  expect(JSON.parse(allowed.body)).toMatchObject({ url: '/a?b=c', headers: { host: `plain.example:${port}` } });
  expect(allowed.body).not.toContain(token);
  expect((await ask('http://other.example/')).status).toBe(403);
  expect((await ask('ftp://plain.example/')).status).toBe(400);
  server.close();
});

test('a server of the person may have a private address', async () => {
  using echo = await echoServer();
  await using proxy = await testProxy(async () => ['127.0.0.1']);
  const host = `models.example:${echo.port}`;
  const { token } = await grantSession(proxy.root, { allow: [host], own: [host] });
  expect(await tunnel(proxy, host, token)).toContain('hello through the tunnel');
});
