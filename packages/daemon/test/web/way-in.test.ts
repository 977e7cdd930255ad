import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { webLimits } from '@pawl/schema/web/web-session';
import { updateAgent } from '@pawl/store/agents/agents';
import { waitUntil } from '@pawl/testing/wait-until';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
let other: TestDaemon;
let shiftMs = 0;
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => Date.now() + shiftMs });
  other = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

type Asked = { method?: string; path: string; headers?: Record<string, string>; body?: unknown; port?: number };
type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** A request as a browser's page of this daemon sends it, except for the given headers; an empty one is not sent. */
function ask({ method = 'GET', path, headers = {}, body, port = daemon.port }: Asked): Promise<Answer> {
  const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const all: Record<string, string> = {
    host: `127.0.0.1:${port}`,
    ...(method === 'GET' ? {} : { origin: `http://127.0.0.1:${port}` }),
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers: sent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    asked.on('error', reject);
    asked.end(content);
  });
}

/** Exchanges a code for a session. */
function exchange(code: string, headers: Record<string, string> = {}, port = daemon.port): Promise<Answer> {
  return ask({ method: 'POST', path: '/api/web/session', headers, body: { code }, port });
}

/** A fresh session: the headers that prove it. */
async function signIn(where = daemon): Promise<{ cookie: string; 'x-pawl-page': string }> {
  const answer = await exchange((await where.client.webCode()).code, {}, where.port);
  expect(answer.status).toBe(200);
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return { cookie, 'x-pawl-page': (JSON.parse(answer.text) as { key: string }).key };
}

const post = (path: string, headers: Record<string, string>, body: unknown = {}) =>
  ask({ method: 'POST', path, headers, body });

test('a code becomes a cookie that scripts cannot read and other sites cannot send, and both prove the person', async () => {
  const answer = await exchange((await daemon.client.webCode()).code);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^pawl-[\w-]{12}=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
  const session = await signIn();
  for (const path of ['/api/agents', '/api/inbox', '/api/events', '/api/changes', '/api/daemon'])
    expect([path, (await ask({ path, headers: { ...session, accept: 'application/json' } })).status]).toEqual([
      path,
      200,
    ]);
  const whoami = await ask({ path: '/api/whoami', headers: session });
  expect(JSON.parse(whoami.text)).toMatchObject({ caller: 'person' });
  expect((await post('/api/stop-all', session)).status).toBe(200);
});

test('neither the cookie nor the page’s key is enough alone, since a cookie reaches every port of its host', async () => {
  const session = await signIn();
  const second = await signIn();
  for (const headers of [
    { cookie: session.cookie },
    { 'x-pawl-page': session['x-pawl-page'] },
    { cookie: session.cookie, 'x-pawl-page': second['x-pawl-page'] },
    {
      cookie: session.cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      'x-pawl-page': session['x-pawl-page'],
    },
    { cookie: session.cookie.replace('=', 'x='), 'x-pawl-page': session['x-pawl-page'] },
  ])
    expect((await ask({ path: '/api/agents', headers: headers as Record<string, string> })).status).toBe(401);
});

test('nothing that is stored can be used: the home has only a keyed hash of the secrets', async () => {
  const session = await signIn();
  const secret = session.cookie.split('.')[1] ?? '';
  const database = readFileSync(`${daemon.home.root}/pawl.db`).toString('latin1');
  const journal = readFileSync(`${daemon.home.root}/pawl.db-wal`).toString('latin1');
  expect(secret).toHaveLength(43);
  for (const text of [secret, session['x-pawl-page']]) expect(database + journal).not.toContain(text);
});

test('a foreign origin, a rebinding host, a frame and another port of this host are refused, also with a session', async () => {
  const session = await signIn();
  const port = daemon.port;
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: `https://127.0.0.1:${port}` },
    { origin: `http://localhost:${port}` },
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
    { host: `127.0.0.1.evil.example:${port}` },
    { host: 'localhost', origin: 'http://localhost' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: '' },
  ];
  for (const foreign of refused)
    expect([foreign, (await post('/api/stop-all', { ...session, ...foreign })).status]).toEqual([foreign, 403]);
  for (const foreign of refused.filter(({ origin }) => origin === undefined))
    expect((await ask({ path: '/api/agents', headers: { ...session, ...foreign } })).status).toBe(403);
});

test('a form post is refused: it has no page’s key, no JSON, and often another origin', async () => {
  const { cookie, ...key } = await signIn();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await post('/api/stop-all', { cookie, ...form }, 'a=b')).status).toBe(401);
  expect((await post('/api/stop-all', { cookie, ...key, ...form }, 'a=b')).status).toBe(415);
  expect((await post('/api/web/session', form, 'code=x')).status).toBe(415);
  expect((await post('/api/web/session', { 'content-type': 'text/plain' }, '{"code":"x"}')).status).toBe(415);
});

test('a code that is used twice opens nothing more, and revokes what it opened', async () => {
  const { code } = await daemon.client.webCode();
  const first = await exchange(code);
  const session = {
    cookie: first.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
    'x-pawl-page': (JSON.parse(first.text) as { key: string }).key,
  };
  expect((await ask({ path: '/api/agents', headers: session })).status).toBe(200);
  const second = await exchange(code);
  expect([second.status, second.headers['set-cookie']]).toEqual([401, undefined]);
  expect((await ask({ path: '/api/agents', headers: session })).status).toBe(401);
});

test('two exchanges of one code at once: at most one answer, and no session is left', async () => {
  const before = (await daemon.client.webSessions()).sessions.length;
  const { code } = await daemon.client.webCode();
  const answers = await Promise.all([exchange(code), exchange(code)]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
  expect((await daemon.client.webSessions()).sessions).toHaveLength(before);
});

test('a code is refused from a foreign origin, wrong, expired, or of another home', async () => {
  const { code } = await daemon.client.webCode();
  const strange: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: '' },
    { host: 'evil.example' },
  ];
  for (const headers of strange) expect((await exchange(code, headers)).status).toBe(403);
  expect((await exchange('x'.repeat(43))).status).toBe(401);
  expect((await exchange((await other.client.webCode()).code)).status).toBe(401);
  shiftMs += webLimits.codeMs + 1;
  expect((await exchange(code)).status).toBe(401);
});

test('the session of another home proves nothing here, and both homes keep their own cookie', async () => {
  const [mine, foreign] = [await signIn(), await signIn(other)];
  expect((await ask({ path: '/api/agents', headers: foreign })).status).toBe(401);
  expect(mine.cookie.split('=')[0]).not.toBe(foreign.cookie.split('=')[0]);
  const both = { ...mine, cookie: `${foreign.cookie}; ${mine.cookie}` };
  expect((await ask({ path: '/api/agents', headers: both })).status).toBe(200);
});

test('a revoked session ends at once, with its streams; an expired one too', async () => {
  const session = await signIn();
  const stream = ask({ path: '/api/events', headers: { ...session, accept: 'text/event-stream' } });
  const { sessions } = await daemon.client.webSessions();
  const [newest] = sessions;
  expect(newest).toMatchObject({ current: false });
  expect(await daemon.client.revokeWebSessions(newest?.id)).toEqual({ revoked: [newest?.id] });
  expect((await stream).status).toBe(200);
  expect((await ask({ path: '/api/agents', headers: session })).status).toBe(401);
  await expect(daemon.client.revokeWebSessions(newest?.id)).rejects.toMatchObject({ code: 'not_found' });

  const last = await signIn();
  shiftMs += webLimits.sessionMs + 1;
  expect((await ask({ path: '/api/agents', headers: last })).status).toBe(401);
  expect((await daemon.client.webSessions()).sessions).toEqual([]);
});

test('all sessions are revoked with one request, also by the page; it knows its own', async () => {
  const session = await signIn();
  await signIn();
  const list = JSON.parse((await ask({ path: '/api/web/sessions', headers: session })).text) as {
    sessions: { current: boolean }[];
  };
  expect(list.sessions.map(({ current }) => current)).toEqual([false, true]);
  const { text } = await post('/api/web/sessions/revoke', session);
  expect((JSON.parse(text) as { revoked: string[] }).revoked).toHaveLength(2);
  expect((await ask({ path: '/api/agents', headers: session })).status).toBe(401);
});

test('events reach a session as they happen, and again from an id', async () => {
  const session = await signIn();
  const { lastSeq } = await daemon.client.daemon();
  let text = '';
  const ending = new AbortController();
  const url = `http://127.0.0.1:${daemon.port}/api/events`;
  const { body } = await fetch(url, {
    headers: { ...session, accept: 'text/event-stream', 'last-event-id': String(lastSeq) },
    signal: ending.signal,
  });
  const read = (async () => {
    for await (const part of body ?? []) text += Buffer.from(part).toString();
  })().catch(() => undefined);
  const agent = await daemon.work(['complete']);
  await waitUntil(() => text.includes(agent.id), { what: 'the event of the new agent' });
  expect(text).toContain(`id: ${lastSeq + 1}\n`);
  ending.abort();
  await read;
});

test('an agent makes no code, cannot use a session over the socket, and a session makes no code and calls no tool', async () => {
  const agent = await daemon.work(['complete']);
  const token = createAuthority(readFileSync(daemon.home.token, 'utf8').trim()).agentToken(agent.id);
  const asAgent = { authorization: `Bearer ${token}` };
  expect((await post('/api/web/code', asAgent)).status).toBe(403);
  expect((await post('/api/web/sessions/revoke', asAgent)).status).toBe(403);
  const session = await signIn();
  // A token always decides: a cookie adds no rights to an agent's request.
  expect((await ask({ path: '/api/web/sessions', headers: { ...session, ...asAgent } })).status).toBe(403);
  expect((await post('/api/web/code', session)).status).toBe(403);
  expect((await post('/mcp', session)).status).toBe(403);
  const overSocket = await new Promise<number>((resolve, reject) => {
    request(
      { socketPath: daemon.home.socket, path: '/api/agents', headers: { host: 'localhost', ...session } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    )
      .on('error', reject)
      .end();
  });
  expect(overSocket).toBe(401);
  await daemon.ended(agent.id);
  await storeOf(daemon.home.root).write((tx) => updateAgent(tx, agent.id, { endedAt: tx.now, endReason: 'test' }));
});

test('the page is one document at every address, with a strict policy and no data; only its own files load in it', async () => {
  const html = { accept: 'text/html' };
  for (const path of ['/', '/inbox', '/agents/x', '/changes/1?tab=diff']) {
    const { status, headers, text } = await ask({ path, headers: html });
    expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(text).toContain('pawl web');
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?:/i);
    for (const [, file = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const answer = await ask({ path: file });
      expect([file, answer.status]).toEqual([file, 200]);
      expect(answer.headers['cache-control']).toContain('immutable');
    }
  }
  // A link from another site opens the document, and nothing else.
  const link = { ...html, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await ask({ path: '/inbox', headers: link })).status).toBe(200);
  expect((await ask({ path: '/inbox', headers: { ...link, 'sec-fetch-dest': 'iframe' } })).status).toBe(403);
  expect((await ask({ path: '/api/agents', headers: link })).status).toBe(403);
  expect((await ask({ path: '/', headers: { ...html, host: 'evil.example' } })).status).toBe(403);
  for (const path of [
    '/assets/../index.html',
    '/assets/%2e%2e%2findex.html',
    '/assets/.env',
    '/assets/x.map',
    '/assets/',
  ])
    expect([path, (await ask({ path })).status]).toEqual([path, path === '/assets/../index.html' ? 401 : 404]);
  const answer = await ask({ path: '/api/agents' });
  expect(answer.status).toBe(401);
  expect(answer.headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
});

test('the next daemon takes the same port, so that open pages find it, with their sessions', async () => {
  const first = await startTestDaemon();
  const session = await signIn(first);
  const port = first.port;
  await first.stop();
  const again = await startTestDaemon({ home: first.home.root });
  try {
    expect(again.port).toBe(port);
    expect((await ask({ path: '/api/agents', headers: session, port })).status).toBe(200);
  } finally {
    await again[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
  }
});
