import type { AgentView } from '@pawl/protocol/agents/view';
import { expect, test } from 'vitest';
import { inspect } from '../../../src/command/agents/inspect.ts';
import { agentView, idOf, runOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

/** What is shown of an agent, without the spaces. */
async function shown(given: Partial<AgentView>, rest: object = {}): Promise<string[]> {
  const inspection = {
    agent: agentView(given),
    sessions: [],
    runs: [],
    worktree: null,
    places: [],
    key: null,
    withheld: [],
    ...rest,
  };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, inspection), { json: false });
  expect(await inspect(daemon.context, 'brave-otter')).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/agents/brave-otter']);
  return (daemon.texts[0] ?? '').split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' '));
}

test('shows an agent’s state and its parent', async () => {
  const lines = await shown({ forkMessageId: 42 });
  expect(lines).toContain('definition worker (main, ephemeral)');
  expect(lines).toContain('parent agent0, forked at message 42');
  expect(lines.filter((line) => /^(supervisor|paused)/.test(line))).toEqual([]);
  expect(await shown({})).toContain('parent agent0, inherits nothing');
});

test('another supervisor than the parent, and a pause', async () => {
  const lines = await shown({ supervisorId: `other${idOf(1).slice(5)}`, paused: true });
  expect(lines).toContain('supervisor other0, since its parent was killed');
  expect(lines).toContain('paused its processes are halted; pawl continue brave-otter');
  expect(lines[0]).toBe('brave-otter paused');
});

test('agent 0 has no parent', async () => {
  expect((await shown({ parentId: null })).some((line) => line.startsWith('parent'))).toBe(false);
});

test.each<[AgentView['worktreeEnd'], string]>([
  [{ state: 'retained', reason: 'uncommitted\u001B[2J work', at: 1 }, 'retained: uncommitted work'],
  [{ state: 'trashed', entry: 'otter-1', at: 1 }, 'in the trash as otter-1; pawl worktree restore otter-1'],
  [{ state: 'missing', at: 1 }, 'nothing was at its path'],
])('shows the outcome of the worktree: %j', async (worktreeEnd, line) => {
  expect(await shown({ status: 'dead', worktreeEnd })).toContain(line);
});

test('shows the origin of the current run’s definition', async () => {
  const run = runOf('fix it');
  const definition = { sources: [{ layer: 'repository', path: '/shop/.pawl/agents/worker.md' }] };
  const runs = [
    { id: idOf(801), definition: { sources: [{ layer: 'user', path: '/old.md' }] } },
    { id: run.id, definition },
  ];
  const lines = await shown({ run }, { runs });
  expect(lines).toContain('repository: /shop/.pawl/agents/worker.md');
  expect(lines.join('\n')).not.toContain('/old.md');
});

test('commits that were not proposed, why, and how to propose them', async () => {
  const withheld = [{ project: 'shop', branch: 'work/otter', head: 'a'.repeat(40), definition: 'reader', at: 1 }];
  const lines = await shown({}, { withheld });
  expect(lines).toContain('withheld work/otter up to aaaaaaaaaa is not proposed: reader has no Patch');
  expect(lines).toContain('to propose it: pawl change open work/otter');
});
