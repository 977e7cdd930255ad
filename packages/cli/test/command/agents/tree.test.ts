import type { AgentView } from '@pawl/protocol/agents/view';
import { expect, test } from 'vitest';
import { tree } from '../../../src/command/agents/tree.ts';
import { chain } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

/** A registry that gives its agents in pages of so many. */
function pages(agents: AgentView[], rows: number, json: boolean) {
  return fakeDaemon(
    ({ url, response }) => {
      const before = url.searchParams.get('before');
      const from = before === null ? 0 : agents.findIndex(({ id }) => id === before) + 1;
      const page = agents.slice(from, from + rows);
      sendJson(response, { agents: page, more: from + rows < agents.length, current: agents[0]?.id });
    },
    { json },
  );
}

test('all pages make one tree', async () => {
  await using daemon = await pages(chain(4), 2, false);
  expect(await tree(daemon.context, {})).toBe(0);
  expect(daemon.requests).toHaveLength(3);
  expect(daemon.requests[0]).toBe('GET /api/agents?all=true&limit=1000');
  expect(daemon.texts[0]?.split('\n')).toEqual([
    'root idle',
    '└─ agent-1 idle',
    '   └─ agent-2 idle',
    '      └─ agent-3 idle',
    '         └─ *agent-4 idle',
    '4 agents: 4 idle',
  ]);
});

test('with --json all agents are listed, flat', async () => {
  const agents = chain(3);
  await using daemon = await pages(agents, 3, true);
  await tree(daemon.context, {});
  expect(daemon.printed).toEqual([{ kind: 'tree', data: { current: agents[0]?.id, agents } }]);
});
