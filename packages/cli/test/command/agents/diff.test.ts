import { expect, test } from 'vitest';
import { diffAgent, diffChange } from '../../../src/command/changes/change.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const file = { path: 'a.txt', from: null, added: 1, removed: 0 };
const diff = { branch: 'work/brave-otter', base: 'abc', files: [file], patch: '+a', truncated: false };

async function place(hasChange: boolean) {
  const change = hasChange ? { id: idOf(7), state: 'open' as const, detail: '' } : null;
  const agent = agentView({ parentId: idOf(9), change });
  return fakeDaemon(
    ({ response, url }) => {
      if (url.pathname === '/api/desk') return sendJson(response, { current: agent });
      return sendJson(response, url.pathname.startsWith('/api/agents/') ? { agent } : diff);
    },
    { json: false },
  );
}

test.each([
  [true, `/api/changes/${idOf(7)}/diff`],
  [false, `/api/errands/${idOf(1)}/diff`],
])('pawl diff shows the current agent’s change (%j), else its branch and worktree', async (hasChange, path) => {
  await using daemon = await place(hasChange);
  expect(await diffAgent(daemon.context, undefined, {})).toBe(0);
  expect(daemon.requests.at(-1)).toBe(`GET ${path}`);
  expect(daemon.texts).toEqual(['+a']);
});

test('pawl change diff without an argument shows the current agent’s change; without one it says so', async () => {
  await using daemon = await place(true);
  expect(await diffChange(daemon.context, undefined, { stat: true })).toBe(0);
  expect(daemon.requests.at(-1)).toBe(`GET /api/changes/${idOf(7)}/diff`);
  await using bare = await place(false);
  await expect(diffChange(bare.context, undefined, {})).rejects.toMatchObject({
    code: 'not_found',
    hint: expect.stringContaining('pawl diff brave-otter') as string,
  });
});
