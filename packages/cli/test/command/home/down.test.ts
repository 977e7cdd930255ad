import { expect, test } from 'vitest';
import { down } from '../../../src/command/home/down.ts';
import type { AgentView } from '@pawl/protocol/agents/view';
import { agentView, idOf, runOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const busy = (no: number) => agentView({ id: idOf(no), run: runOf('x') });
const idle = agentView({ id: idOf(9) });

test.each<[string, AgentView[], string]>([
  ['nobody', [idle], 'pawl is down (pid 7)'],
  ['one agent', [idle, busy(1)], 'pawl is down (pid 7); 1 agent at work keeps running'],
  ['two agents', [busy(1), busy(2)], 'pawl is down (pid 7); 2 agents at work keep running'],
])('down with %s at work says so', async (_who, agents, text) => {
  await using daemon = await fakeDaemon(
    ({ request, url, response }) => {
      if (request.method === 'GET' && url.pathname === '/api/agents')
        return sendJson(response, { agents, more: false, current: null });
      return sendJson(response, { status: 'ok', version: 'x', pid: 7 });
    },
    { json: false },
  );
  expect(await down(daemon.context)).toBe(0);
  expect(daemon.texts).toEqual([text]);
});
