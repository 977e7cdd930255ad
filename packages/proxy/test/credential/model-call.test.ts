import { rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { grantSession, key } from '../support/grant.ts';
import { testProxy } from '../support/serve.ts';

const question = JSON.stringify({
  model: 'scripted-1',
  max_tokens: 100,
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
});

function ask(url: string, token: string, path = '/v1/messages'): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: question,
  });
}

/** A provider that does as it is told. */
async function provider(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test('a call has the key at the provider and not before, and its tokens are counted', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using proxy = await testProxy();
  const { token, lines } = await grantSession(proxy.root, { baseUrl: model.url });
  const answer = await ask(proxy.url, token);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('Here is the answer.');
  const [line] = await waitUntil(async () => ((await lines()).length > 0 ? lines() : null), { what: 'usage' });
  expect(line).toMatchObject({ type: 'usage', calls: 1 });
  expect(line?.type === 'usage' && line.input > 0 && line.output > 0).toBe(true);
});

test.each([
  ['x-api-key', (token: string) => ({ headers: { 'x-api-key': token }, query: '' })],
  ['x-goog-api-key', (token: string) => ({ headers: { 'x-goog-api-key': token }, query: '' })],
  ['authorization', (token: string) => ({ headers: { authorization: `Bearer ${token}` }, query: '' })],
  ['?key=', (token: string) => ({ headers: {}, query: `?alt=sse&key=${token}` })],
])('replaces the token in %s, and sends no other credentials', async (_, place) => {
  const seen: { url: string | undefined; headers: object }[] = [];
  using upstream = await provider((asked, response) => {
    seen.push({ url: asked.url, headers: asked.headers });
    response.end();
  });
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { baseUrl: upstream.url });
  const { headers, query } = place(token);
  await fetch(`${proxy.url}/v1/models${query}`, { headers: { ...headers, 'proxy-authorization': 'Basic x' } });
  const text = JSON.stringify(seen);
  expect(text).toContain(key);
  expect(text).not.toContain(token);
  expect(text).not.toContain('proxy-authorization');
});

test('refuses unknown tokens, tokens of ended sessions, and tokens of other sessions’ files', async () => {
  let calls = 0;
  using upstream = await provider((_, response) => void response.end(String(calls++)));
  await using proxy = await testProxy();
  const one = await grantSession(proxy.root, { baseUrl: upstream.url });
  const other = await grantSession(proxy.root, { baseUrl: upstream.url });
  const swapped = `pawl-${one.grant.sessionId}-${other.token.slice(-43)}`;
  for (const token of ['', 'sk-ant-x', swapped, `${one.token}x`, '../../secret']) {
    const answer = await ask(proxy.url, token);
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([401, 'error']);
  }
  await writeFile(join(one.grant.directory, 'exit'), '0\n');
  expect((await ask(proxy.url, one.token)).status).toBe(401);
  expect((await ask(proxy.url, other.token)).status).toBe(200);
  await rm(other.file);
  expect((await ask(proxy.url, other.token)).status).toBe(401);
  expect(calls).toBe(1);
});

test('reaches only paths below the base URL, and never another host', async () => {
  const paths: (string | undefined)[] = [];
  using upstream = await provider((asked, response) => {
    paths.push(asked.url);
    response.end();
  });
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { baseUrl: `${upstream.url}/v1` });
  const status = (path: string) =>
    new Promise<number>((resolve) => {
      const { port } = proxy.served;
      const sent = httpRequest({ host: '127.0.0.1', port, path, headers: { 'x-api-key': token } });
      sent.once('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.end();
    });
  expect(await status('/v1/models')).toBe(200);
  for (const path of ['/admin', '/v1/../admin', '/v12', '//evil.example/v1', '/%76%31x'])
    expect(await status(path), path).toBe(403);
  expect(paths).toEqual(['/v1/models']);
});

test('a used-up budget refuses further calls, once on record', async () => {
  await using model = await startModelServer({ fallback: 'text' });
  await using proxy = await testProxy();
  const { token, lines } = await grantSession(proxy.root, { baseUrl: model.url, tokens: 1 });
  await (await ask(proxy.url, token)).text();
  await waitUntil(async () => (await lines()).length > 0, { what: 'usage' });
  for (let call = 0; call < 3; call++) {
    const answer = await ask(proxy.url, token);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('the token budget is used up');
  }
  expect((await lines()).map(({ type }) => type)).toEqual(['usage', 'budget']);
  expect(model.requests).toHaveLength(1);
});

test('a limit is recorded with its end, and passes through unchanged', async () => {
  await using model = await startModelServer({ fallback: 'limit-reset' });
  await using proxy = await testProxy();
  const { token, lines } = await grantSession(proxy.root, { baseUrl: model.url });
  const answer = await ask(proxy.url, token);
  expect(answer.status).toBe(429);
  expect(answer.headers.get('anthropic-ratelimit-unified-status')).toBe('rejected');
  await answer.text();
  const [line] = await waitUntil(async () => ((await lines()).length > 0 ? lines() : null), { what: 'the limit' });
  expect(line).toMatchObject({ type: 'limit', status: 429, inARow: 1 });
  expect(line?.type === 'limit' && (line.until ?? 0) > Date.now()).toBe(true);
});

test('streams both ways as bytes arrive, and a client that leaves ends the call at the provider', async () => {
  let closed = false;
  using upstream = await provider((asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Each piece of the request is answered at once; a proxy that buffers would wait for ever.
    asked.on('data', (piece) => response.write(`data: ${String(piece)}\n\n`));
    response.once('close', () => (closed = true));
  });
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { baseUrl: upstream.url });
  const sent = httpRequest({
    host: '127.0.0.1',
    port: proxy.served.port,
    method: 'POST',
    path: '/v1/messages',
    headers: { 'x-api-key': token },
  });
  sent.on('error', () => undefined);
  sent.write('one');
  const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  const pieces: string[] = [];
  answer.on('data', (piece) => pieces.push(String(piece)));
  answer.on('error', () => undefined);
  await waitUntil(() => pieces.join('').includes('one'), { what: 'the first piece' });
  sent.write('two');
  await waitUntil(() => pieces.join('').includes('two'), { what: 'the second piece' });
  sent.destroy();
  await waitUntil(() => closed, { what: 'the end of the call' });
});

test('a large body passes through', async () => {
  const size = 16 * 1024 * 1024;
  using upstream = await provider((asked, response) => {
    let bytes = 0;
    asked.on('data', (piece: Buffer) => (bytes += piece.length));
    asked.on('end', () => response.end(String(bytes)));
  });
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { baseUrl: upstream.url });
  const answer = await fetch(`${proxy.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: Buffer.alloc(size),
  });
  expect(await answer.text()).toBe(String(size));
});

test('a provider that cannot be reached is a 502 in the vendor’s format, and one that cuts off cuts off', async () => {
  await using proxy = await testProxy();
  const gone = await grantSession(proxy.root, { baseUrl: 'http://127.0.0.1:9' });
  const answer = await ask(proxy.url, gone.token, '/v1/responses');
  expect(answer.status).toBe(502);
  expect(await answer.json()).toMatchObject({ error: { type: 'server_error' } });
  using upstream = await provider((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: begun\n\n', () => response.destroy());
  });
  const cut = await grantSession(proxy.root, { baseUrl: upstream.url });
  await expect(ask(proxy.url, cut.token).then((begun) => begun.text())).rejects.toThrow();
});

test('serves the unix socket as well', async () => {
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  await using proxy = await testProxy();
  const { token } = await grantSession(proxy.root, { baseUrl: model.url });
  const sent = httpRequest({
    socketPath: join(proxy.root, 'proxy.sock'),
    method: 'POST',
    path: '/v1/messages',
    headers: { 'x-api-key': token },
  });
  sent.end(question);
  const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  expect(await text(answer)).toContain('Here is the answer.');
});
