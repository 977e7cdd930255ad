import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../../support/agent-client.ts';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon } from '../../support/daemon.ts';
import { mcpOverHttp, revisions, tokenOf } from '../../support/mcp.ts';

let daemon: TestDaemon;
let agentId: string;
let otherId: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  [{ id: agentId }, { id: otherId }] = await Promise.all([daemon.work(['hang']), daemon.work(['hang'])]);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const verbs = [
  'agents',
  'answer',
  'ask',
  'change_comment',
  'change_list',
  'change_open',
  'change_show',
  'complete',
  'delegate_result',
  'fork',
  'listen',
  'lock',
  'mail',
  'roster',
  'send',
  'task_add',
  'unlock',
  'whoami',
];

describe.each(revisions)('revision %s', (revision) => {
  test('is supported, and offers every verb with a description for a model', async () => {
    await using mcp = await mcpOverHttp(daemon, agentId, revision);
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(verbs);
    for (const { description, inputSchema } of tools) {
      expect(description?.length).toBeGreaterThan(100);
      expect(inputSchema.type).toBe('object');
    }
    expect(await mcp.call('whoami')).toMatchObject({ agent: { id: agentId } });
  });

  test('an unknown tool is a protocol error, a wrong argument a tool error', async () => {
    await using mcp = await mcpOverHttp(daemon, agentId, revision);
    for (const name of ['nothing', '__proto__', 'constructor', ''])
      await expect(mcp.client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32602 });
    expect((await mcp.failure('fork', { prompt: 7 }))['text']).toContain('prompt');
    const { content } = await mcp.client.callTool({ name: 'mail', arguments: { read: 'no-such' } });
    expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^not_found: /) as string }]);
  });

  test('a wait ends when its client disconnects, and takes no question with it', async () => {
    await using mcp = await mcpOverHttp(daemon, agentId, revision);
    const leaving = new AbortController();
    const call = { name: 'listen', arguments: { timeout_seconds: 600 } };
    const waiting = mcp.client.callTool(call, { signal: leaving.signal, timeout: 600_000 });
    const given = expect(waiting).rejects.toThrow();
    await mcp.call('whoami');
    leaving.abort();
    await given;
    await mcp.call('whoami');
    const key = `key-${revision}`;
    const { question } = await agentClient(daemon.home, otherId).ask({ agent: agentId, question: revision }, key);
    // A remaining listener would have received it, and kept it for a minute.
    const heard = await mcp.call('listen', { timeout_seconds: 10 });
    expect(heard).toMatchObject({ question: revision, conversationId: question.conversationId });
    await mcp.call('answer', { conversation_id: question.conversationId, answer: 'yes' });
  });
});

test('twenty concurrent calls each get their own answer', async () => {
  await using mcp = await mcpOverHttp(daemon, agentId);
  const names = Array.from({ length: 20 }, (_, index) => `task number ${index}`);
  const added = await Promise.all(names.map((name) => mcp.call('task_add', { name })));
  expect(added.map(({ task }) => (task as { name: string }).name)).toEqual(names);
});

describe('the door', () => {
  const post = (body: string, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
    fetch(`http://127.0.0.1:${daemon.port}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenOf(daemon.home, agentId)}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
      signal,
    });

  test('there are no sessions, so there is nothing to open or end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(`http://127.0.0.1:${daemon.port}/mcp`, {
        method,
        headers: {
          authorization: `Bearer ${tokenOf(daemon.home, agentId)}`,
          accept: 'text/event-stream',
          ...(method === 'DELETE' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'DELETE' ? { body: '{}' } : {}),
      });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  test.each([
    ['no JSON', '{"jsonrpc":', 400],
    ['nothing', '', 400],
    ['no message', '{}', 400],
    ['a number', '7', 400],
    ['deep', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 400],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"whoami"}}}', 200],
  ])('a body that is %s does no harm', async (_what, body, status) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain('error');
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('a client that vanished has left', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listen', arguments: {} } };
    const leaving = new AbortController();
    const answer = await post(JSON.stringify(message), { 'mcp-protocol-version': '2025-06-18' }, leaving.signal);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    leaving.abort();
    await using mcp = await mcpOverHttp(daemon, agentId);
    await mcp.call('whoami');
    const asked = await agentClient(daemon.home, otherId).ask(
      { agent: agentId, question: 'who is left?' },
      'key-gone-1',
    );
    expect(await mcp.call('listen', { timeout_seconds: 10 })).toMatchObject({ question: 'who is left?' });
    await mcp.call('answer', { conversation_id: asked.question.conversationId, answer: 'I am' });
  });

  test('a body has a size limit and a type', async () => {
    expect((await post('x'.repeat(5 * 1024 * 1024))).status).toBe(413);
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post('{}', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('{}', { authorization: 'Bearer x' })).status).toBe(401);
  });

  test('a call with far too many arguments is refused', async () => {
    await using mcp = await mcpOverHttp(daemon, agentId);
    const after = Array.from({ length: 2_000 }, () => 'x');
    expect((await mcp.failure('task_add', { name: 'x', after }))['text']).toContain('elements');
  });
});
