import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { note } from '../../../src/command/agents/note.ts';
import { resume } from '../../../src/command/agents/resume.ts';
import { cancel, signal } from '../../../src/command/agents/signal.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

// The PATH goes along with requests; these tests are about the rest.
beforeEach(() => {
  vi.stubEnv('PATH', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ['pause', { activity: 'running', paused: true }, 'brave-otter is paused'],
  ['continue', { activity: 'running' }, 'brave-otter is running'],
  ['interrupt', {}, 'brave-otter was interrupted; it is idle'],
] as const)('%s', async (verb, given, text) => {
  const agent = agentView(given);
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent }), { json: false });
  expect(await signal(daemon.context, verb, ['brave-otter', 'calm-fox'])).toBe(0);
  expect(daemon.requests).toEqual([`POST /api/agents/brave-otter/${verb}`, `POST /api/agents/calm-fox/${verb}`]);
  expect(daemon.texts).toEqual([`${text}\n${text}`]);
});

test.each([
  [[], 'there was nothing to cancel'],
  [[idOf(1)], 'cancelled 1 run'],
  [[idOf(1), idOf(2)], 'cancelled 2 runs'],
])('cancel: %j', async (cancelled, text) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { cancelled }), { json: false });
  expect(await cancel(daemon.context, 'brave-otter')).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/runs/brave-otter/cancel']);
  expect(daemon.texts).toEqual([text]);
});

test.each([
  ['clear', undefined, {}, 'forgets everything up to here'],
  ['mark', 'before', { label: 'before' }, 'set a mark "before" (message 7)'],
  ['mark', undefined, {}, 'set a mark (message 7)'],
  ['rewind', 'before', { label: 'before' }, 'back at the mark "before"'],
  ['rewind', undefined, {}, 'back at the last mark;'],
] as const)('%s %s', async (verb, label, body, text) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { messageId: 7 }), { json: false });
  expect(await note(daemon.context, verb, label === undefined ? ['brave-otter'] : ['brave-otter', label])).toBe(0);
  expect(daemon.requests).toEqual([`POST /api/agents/brave-otter/${verb}`]);
  expect(daemon.bodies).toEqual([body]);
  expect(daemon.texts[0]).toContain(text);
});

test('clear without a name says which agent it was', async () => {
  const agent = agentView();
  await using daemon = await fakeDaemon(
    ({ request, response }) => {
      if (request.url === '/api/desk') sendJson(response, { current: agent });
      else sendJson(response, request.method === 'GET' ? { agent } : { messageId: 7 });
    },
    { json: false },
  );
  expect(await note(daemon.context, 'clear', [])).toBe(0);
  expect(daemon.texts[0]).toMatch(new RegExp(`^${agent.alias}: forgets`));
});

test('resume sends the prompt once, even if a response is lost', async () => {
  const keys: unknown[] = [];
  const agent = agentView({ activity: 'starting' });
  await using daemon = await fakeDaemon(
    ({ request, response }) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else sendJson(response, { agent });
    },
    { json: false },
  );
  expect(await resume(daemon.context, ['brave-otter', 'now the tests'])).toBe(0);
  expect(daemon.bodies).toEqual([{ prompt: 'now the tests' }, { prompt: 'now the tests' }]);
  expect(new Set(keys).size).toBe(1);
  expect(daemon.texts[0]).toContain('brave-otter continues (starting)');
});

test('resume without a prompt, with an empty one, and with one that is not quoted', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent: agentView() }));
  await resume(daemon.context, ['brave-otter']);
  expect(daemon.bodies).toEqual([{}]);
  await expect(resume(daemon.context, ['brave-otter', ' '])).rejects.toMatchObject({ code: 'usage' });
  await expect(resume(daemon.context, ['brave-otter', 'now', 'the'])).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('quotes') as string,
  });
  expect(daemon.requests).toHaveLength(1);
});
