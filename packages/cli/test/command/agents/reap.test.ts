import { expect, test } from 'vitest';
import { reap } from '../../../src/command/agents/reap.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const agents = [1, 2, 3, 4].map((number) =>
  agentView({ id: idOf(number), alias: `a${number}`, status: number === 2 ? 'running' : 'dead' }),
);

/** Four agents in pages of two, of which all but the second are dead. */
function registry() {
  return fakeDaemon(
    ({ request, url, response }) => {
      if (request.method === 'POST') {
        const agent = agents.find(({ id, alias }) => [id, alias].includes(url.pathname.split('/')[3] ?? ''));
        return sendJson(response, { agent: { ...agent, status: 'reaped' } });
      }
      const from = url.searchParams.has('before') ? 2 : 0;
      sendJson(response, { agents: agents.slice(from, from + 2), more: from === 0, current: null });
    },
    { json: false },
  );
}

test('the agents that are named', async () => {
  await using daemon = await registry();
  expect(await reap(daemon.context, ['a1'], {})).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/agents/a1/reap']);
  expect(daemon.texts).toEqual(['reaped 1 agent: a1']);
});

test('--all reaps every dead agent of every page, and no other', async () => {
  await using daemon = await registry();
  expect(await reap(daemon.context, [], { all: true })).toBe(0);
  expect(daemon.requests).toEqual([
    'GET /api/agents?all=true&limit=1000',
    `GET /api/agents?all=true&limit=1000&before=${idOf(2)}`,
    `POST /api/agents/${idOf(1)}/reap`,
    `POST /api/agents/${idOf(3)}/reap`,
    `POST /api/agents/${idOf(4)}/reap`,
  ]);
  expect(daemon.texts).toEqual(['reaped 3 agents: a1, a3, a4']);
});

test('--all without dead agents', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agents: [], more: false }), {
    json: false,
  });
  expect(await reap(daemon.context, [], { all: true })).toBe(0);
  expect(daemon.texts).toEqual(['no dead agents']);
});

test('an agent or --all is required', async () => {
  await using daemon = await registry();
  await expect(reap(daemon.context, [], {})).rejects.toMatchObject({ code: 'usage' });
  await expect(reap(daemon.context, ['a1'], { all: true })).rejects.toMatchObject({ code: 'usage' });
  expect(daemon.requests).toEqual([]);
});
