import type { CompleteAnswer } from '@pawl/protocol/agents/verb-view';
import { describe, expect, test } from 'vitest';
import { complete } from '../../../src/command/agents/complete.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const answer = (given: Partial<CompleteAnswer> = {}): CompleteAnswer => ({
  agent: agentView({ alias: 'brave-otter' }),
  notified: [{ id: idOf(1), alias: 'calm-owl' }],
  isNew: true,
  ...given,
});

/** The environment of an agent of Pawl's. */
const own = { PAWL_AGENT_ID: idOf(7), PAWL_AGENT_TOKEN: 'its-token' };

describe('complete', () => {
  test('an agent completes itself; the notified agents are listed [S4-10]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer()), { json: false });
    const code = await complete(daemon.context, undefined, { summary: 'it works' }, own);
    expect(code).toBe(0);
    expect(daemon.requests).toEqual([`POST /api/agents/${idOf(7)}/complete`]);
    expect(daemon.bodies).toEqual([{ summary: 'it works' }]);
    expect(daemon.texts).toEqual(['brave-otter has completed; told calm-owl; it ends when its process has left']);
  });

  test('a person names it, and may say why it failed [W4-08]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer()));
    await complete(daemon.context, 'brave-otter', { failure: 'no network' }, own);
    expect(daemon.requests).toEqual(['POST /api/agents/brave-otter/complete']);
    expect(daemon.bodies).toEqual([{ failure: 'no network' }]);
    expect(daemon.printed).toEqual([{ kind: 'completed', data: answer() }]);
  });

  test('reports a repeated completion, an immediate end, and that no agent was told', async () => {
    const answers = [
      answer({ isNew: false, notified: [] }),
      answer({ agent: agentView({ alias: 'brave-otter', status: 'dead' }), notified: [] }),
    ];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answers.shift()), { json: false });
    await complete(daemon.context, 'brave-otter', {}, {});
    await complete(daemon.context, 'brave-otter', {}, {});
    expect(daemon.texts).toEqual([
      'brave-otter had completed already; nothing has changed',
      'brave-otter has completed and ended; no agent to notify',
    ]);
  });

  test.each([
    ['nobody is named', undefined, {}],
    ['the reason is empty', 'brave-otter', { failure: ' ' }],
  ])('%s: no request is sent', async (_what, agent, options) => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer()));
    await expect(complete(daemon.context, agent, options, {})).rejects.toMatchObject({ code: 'usage' });
    expect(daemon.requests).toEqual([]);
  });

  test('refuses a helper, whose id is unregistered, with the command that ends it', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer()));
    const helper = { PAWL_AGENT_ID: 'helper-ab12.1763251200', PAWL_HELPER: '1' };
    await expect(complete(daemon.context, undefined, {}, helper)).rejects.toMatchObject({
      code: 'usage',
      hint: 'A helper ends with: pawl session end',
    });
    expect(daemon.requests).toEqual([]);
  });

  test('a refusal is shown', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendFailure(response, 'conflict'));
    await expect(complete(daemon.context, 'brave-otter', {}, {})).rejects.toMatchObject({ code: 'conflict' });
  });
});
