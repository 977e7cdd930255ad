import type { KillAnswer } from '@pawl/protocol/agents/verb-view';
import { describe, expect, test, vi } from 'vitest';
import { describeKill, kill } from '../../../src/command/agents/kill.ts';
import { agentView, idOf, root } from '@pawl/testing/agent-view';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const target = agentView({ status: 'dead' });
const named = (...aliases: string[]) => aliases.map((alias, index) => ({ id: idOf(index), alias }));
const answer = (killed: string[], resupervised: string[] = []): KillAnswer => ({
  target,
  killed: named(...killed),
  resupervised: named(...resupervised),
});

describe('kill', () => {
  test('without an argument it is the current agent [S1-19]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer(['brave-otter'])), {
      json: false,
    });
    expect(await kill(daemon.context, [], {})).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/agents/%40current/kill']);
    expect(daemon.bodies).toEqual([{}]);
    expect(daemon.texts).toEqual(['killed brave-otter']);
  });

  test('the agents that are named [S1-20]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer(['x'])));
    await kill(daemon.context, ['brave-otter', 'calm-fox'], {});
    expect(daemon.requests).toEqual(['POST /api/agents/brave-otter/kill', 'POST /api/agents/calm-fox/kill']);
    expect(daemon.printed).toEqual([{ kind: 'kills', data: { kills: [answer(['x']), answer(['x'])] } }]);
  });

  test('--cascade includes all descendants, and all are listed [S1-21]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer(['c', 'b', 'a'])), {
      json: false,
    });
    await kill(daemon.context, ['a'], { cascade: true });
    expect(daemon.bodies).toEqual([{ cascade: true }]);
    expect(daemon.texts).toEqual(['killed 3 agents: c, b, a']);
  });

  test('agents with a new supervisor are named', async () => {
    const heir = agentView({ id: idOf(0), supervisorId: idOf(9) });
    await using daemon = await fakeDaemon(
      ({ request, url, response }) => {
        if (request.method === 'POST') sendJson(response, answer(['a', 'b', 'c'], ['d']));
        else sendJson(response, { agent: url.pathname.endsWith(idOf(9)) ? root : heir });
      },
      { json: false },
    );
    await kill(daemon.context, ['c'], {});
    expect(daemon.texts).toEqual(['killed 3 agents: a, b, c; d now answers to root']);
  });

  test('one failure does not prevent the others, and gives the exit code', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await using daemon = await fakeDaemon(({ url, response }) => {
      if (url.pathname.includes('nobody')) sendFailure(response, 'agent_not_found');
      else sendJson(response, answer(['x']));
    });
    expect(await kill(daemon.context, ['nobody', 'brave-otter'], {})).toBe(3);
    expect(stderr.mock.calls.map(([text]) => JSON.parse(String(text)) as unknown)).toMatchObject([
      { kind: 'error', error: { code: 'agent_not_found' } },
    ]);
    expect(daemon.printed).toEqual([{ kind: 'kills', data: { kills: [answer(['x'])] } }]);
    stderr.mockClear();
    daemon.printed.length = 0;
    expect(await kill(daemon.context, ['nobody'], {})).toBe(3);
    expect(daemon.printed).toEqual([]);
    stderr.mockRestore();
  });
});

test.each([
  [answer([]), 'brave-otter was dead already'],
  [answer(['a']), 'killed a'],
  [answer(['a', 'b'], ['c', 'd']), 'killed 2 agents: a, b; c, d now answer to root'],
  [
    answer(Array.from({ length: 500 }, (_, index) => `a${index}`)),
    'killed 500 agents: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11 and 488 more',
  ],
])('the message, %#', (given, text) => {
  expect(describeKill(given, 'root')).toBe(text);
});
