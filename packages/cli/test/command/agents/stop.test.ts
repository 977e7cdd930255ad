import { expect, test } from 'vitest';
import { stop } from '../../../src/command/agents/stop.ts';
import { agentView } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const stopped = agentView({ activity: 'stopped' });

test('the agents that are named', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent: stopped }), { json: false });
  expect(await stop(daemon.context, ['brave-otter'])).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/agents/brave-otter/stop']);
  expect(daemon.texts).toEqual(['brave-otter is stopped; its work is on work/brave-otter']);
});

test('--all stops all agents with one request', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agents: [stopped, stopped] }), {
    json: false,
  });
  expect(await stop(daemon.context, [], { all: true })).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/stop-all']);
  expect(daemon.texts[0]?.split('\n')).toHaveLength(2);
});

test('--all without working agents', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agents: [] }), { json: false });
  await stop(daemon.context, [], { all: true });
  expect(daemon.texts).toEqual(['no agent was working']);
});

test.each([
  [[], {}],
  [['a'], { all: true }],
])('%j with %j is refused before any request', async (references, options) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}));
  await expect(stop(daemon.context, references, options)).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('--all') as string,
  });
  expect(daemon.requests).toEqual([]);
});
