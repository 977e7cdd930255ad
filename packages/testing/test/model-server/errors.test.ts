import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Json, Turn } from './client.ts';
import { eventsOf, send } from './client.ts';
import { allVendors, vendors } from './vendors.ts';
import { startModelServer } from '../../src/model-server/server.ts';
import { errorKinds } from '../../src/model-server/step.ts';
import { waitUntil } from '../../src/wait-until.ts';

const hello: Turn[] = [{ user: 'Hello' }];
const nowSeconds = 1_800_000_000;
const clock = { now: () => nowSeconds * 1_000 };

const statuses = {
  anthropic: {
    limit: 429,
    quota: 400,
    overload: 529,
    auth: 401,
    'bad-request': 400,
    context: 400,
    'server-error': 500,
  },
  responses: {
    limit: 429,
    quota: 429,
    overload: 503,
    auth: 401,
    'bad-request': 400,
    context: 400,
    'server-error': 500,
  },
  chat: { limit: 429, quota: 429, overload: 503, auth: 401, 'bad-request': 400, context: 400, 'server-error': 500 },
  gemini: { limit: 429, quota: 429, overload: 503, auth: 400, 'bad-request': 400, context: 400, 'server-error': 500 },
} as const;

describe.each(allVendors)('$name', (vendor) => {
  test.each(errorKinds)('%s has its status and shape, streaming or not', async (kind) => {
    await using server = await startModelServer(clock);
    for (const stream of [false, true]) {
      const response = await send(server, vendor, hello, { stream, prefix: `/s/${kind}` });
      const known = statuses[vendor.name as keyof typeof statuses];
      expect(response.status).toBe(known[kind === 'limit-reset' ? 'limit' : kind]);
      const { error } = (await response.json()) as { error: Json };
      expect(error['message']).toMatch(/./);
      if (vendor.name === 'gemini') expect(error).toMatchObject({ code: response.status, status: expect.any(String) });
      else expect(error['type']).toMatch(/./);
    }
  });

  test('a cut stream has started, and never ends properly', async () => {
    await using server = await startModelServer();
    for (const stream of [true, false]) {
      const response = await send(server, vendor, hello, { stream, prefix: '/s/cut' });
      expect(response.status).toBe(200);
      await expect(response.text()).rejects.toThrow(/terminated/);
    }
  });

  test('malformed responses are invalid JSON from the middle on', async () => {
    await using server = await startModelServer();
    const whole = await send(server, vendor, hello, { prefix: '/s/malformed' });
    await expect(whole.json()).rejects.toThrow(/JSON/);
    const stream = await (await send(server, vendor, hello, { stream: true, prefix: '/s/malformed' })).text();
    expect(() => eventsOf(stream)).toThrow(/JSON/);
    const good = stream.split('\n\n').findIndex((block) => isBroken(block));
    expect(good).toBeGreaterThan(0);
  });

  test('a hanging request gets no byte, until its client disconnects', async () => {
    await using server = await startModelServer();
    const leaving = new AbortController();
    const sent = send(server, vendor, hello, { stream: true, prefix: '/s/hang', signal: leaving.signal });
    await waitUntil(() => server.requests[0]?.scenario === 'hang', { what: 'the request' });
    leaving.abort();
    await expect(sent).rejects.toThrow(/abort/);
    expect(server.requests[0]?.status).toBeNull();
  });
});

function isBroken(block: string): boolean {
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined || data === '[DONE]') return false;
  try {
    JSON.parse(data);
    return false;
  } catch {
    return true;
  }
}

describe('a limit with its reset time', () => {
  const resetsAt = nowSeconds + 3_600;

  test('Anthropic reports it in headers', async () => {
    await using server = await startModelServer(clock);
    const told = (await send(server, vendors.anthropic, hello, { prefix: '/s/limit-reset' })).headers;
    expect(told.get('retry-after')).toBe('3600');
    expect(told.get('anthropic-ratelimit-unified-status')).toBe('rejected');
    expect(told.get('anthropic-ratelimit-unified-5h-reset')).toBe(String(resetsAt));
    expect(told.get('anthropic-ratelimit-unified-representative-claim')).toBe('five_hour');
    const silent = (await send(server, vendors.anthropic, hello, { prefix: '/s/limit' })).headers;
    expect([silent.get('retry-after'), silent.get('anthropic-ratelimit-unified-reset')]).toEqual([null, null]);
  });

  test('OpenAI’s Responses report it in the body and in headers', async () => {
    await using server = await startModelServer(clock);
    const response = await send(server, vendors.responses, hello, { prefix: '/s/limit-reset' });
    expect(response.headers.get('x-codex-primary-used-percent')).toBe('100');
    expect(response.headers.get('x-codex-primary-reset-at')).toBe(String(resetsAt));
    expect(await response.json()).toMatchObject({
      error: { type: 'usage_limit_reached', resets_at: resetsAt, resets_in_seconds: 3_600 },
    });
    const silent = await (await send(server, vendors.responses, hello, { prefix: '/s/limit' })).json();
    expect(silent).toMatchObject({ error: { type: 'usage_limit_reached' } });
    expect(JSON.stringify(silent)).not.toContain('resets');
  });

  test('Chat Completions report it in a header, Gemini in its details', async () => {
    await using server = await startModelServer(clock);
    const chat = await send(server, vendors.chat, hello, { prefix: '/s/limit-reset' });
    expect(chat.headers.get('retry-after')).toBe('3600');
    expect(await chat.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    const gemini = await (await send(server, vendors.gemini, hello, { prefix: '/s/limit-reset' })).json();
    expect(gemini).toMatchObject({
      error: {
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3600s' },
        ],
      },
    });
  });

  test('it ends at its time, and applies only to its keys', async () => {
    let seconds = nowSeconds;
    const steps = [{ error: 'limit-reset' as const, key: '-poor-', until: nowSeconds + 60 }, { say: 'Free.' }];
    const options = { scenarios: { timed: { steps } }, fallback: 'timed', now: () => seconds * 1_000 };
    await using server = await startModelServer(options);
    const poor = await send(server, vendors.anthropic, hello, { key: 'sk-poor-1' });
    expect([poor.status, poor.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await send(server, vendors.anthropic, hello, { key: 'sk-rich-1' })).status).toBe(200);
    seconds += 60;
    expect((await send(server, vendors.anthropic, hello, { key: 'sk-poor-1' })).status).toBe(200);
  });
});

describe('hostile input', () => {
  const post = (url: string, body: string | Buffer) => fetch(url, { method: 'POST', body });

  test.each([
    ['/v1/messages', 'no JSON'],
    ['/v1/responses', '[]'],
    ['/v1/chat/completions', 'null'],
    ['/v1beta/models/m:generateContent', ''],
  ])('%s refuses anything but a JSON object', async (path, body) => {
    await using server = await startModelServer();
    const response = await post(`${server.url}${path}`, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('no JSON object');
  });

  test.each([
    [
      '/v1/messages',
      {
        messages: [null, 7, { role: 'user', content: 7 }, { role: 'user', content: [null, { type: 'text', text: 7 }] }],
        tools: [null, {}, 'x'],
        system: 7,
      },
    ],
    [
      '/v1/responses',
      {
        input: [null, { type: 'message', role: 'user' }, { type: 'function_call', arguments: '{' }],
        tools: [{ type: 'namespace', tools: 7 }],
        text: [],
      },
    ],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '[1' } }] }, 'x'], tools: { a: 1 } },
    ],
    [
      '/v1beta/models/m:generateContent',
      { contents: [{ parts: [{ functionResponse: 7 }, 7] }, 7], tools: [{ functionDeclarations: [{}] }] },
    ],
  ])('%s answers even if every field has the wrong type', async (path, body) => {
    await using server = await startModelServer({ fallback: 'text' });
    expect((await post(`${server.url}${path}`, JSON.stringify(body))).status).toBe(200);
  });

  test('a body of 30 MB is read, one of 33 MB is refused', async () => {
    await using server = await startModelServer({ fallback: 'text' });
    const ask = (megabytes: number) => send(server, vendors.anthropic, [{ user: 'x'.repeat(megabytes * 1024 * 1024) }]);
    expect((await ask(30)).status).toBe(200);
    const refused = await ask(33);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain('larger than');
  });

  test('an unknown path or scenario gets the list of known ones', async () => {
    await using server = await startModelServer();
    expect((await post(`${server.url}/v1/nothing`, '{}')).status).toBe(404);
    expect((await fetch(`${server.url}//evil`)).status).toBe(200);
    const unknown = await send(server, vendors.chat, hello, { prefix: '/s/nothing' });
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toContain('There are: text, work');
  });

  test('close ends hanging requests, and frees the port', async () => {
    const server = await startModelServer();
    const sent = send(server, vendors.chat, hello, { prefix: '/s/hang' }).catch((error: unknown) => error);
    await waitUntil(() => server.requests.length === 1, { what: 'the request' });
    await server.close();
    expect(await sent).toBeInstanceOf(Error);
    const socket = connect(server.port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('a client that leaves a slow stream ends it', async () => {
    const steps = [{ slow: { ms: 50 } }, { say: 'word '.repeat(1_000) }];
    await using server = await startModelServer({ scenarios: { slowly: { steps } }, fallback: 'slowly' });
    const leaving = new AbortController();
    const response = await send(server, vendors.anthropic, hello, { stream: true, signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await expect(reader?.read()).rejects.toThrow(/abort/);
    await waitUntil(() => server.requests[0]?.status === 200, { what: 'the end of the stream' });
  });
});
