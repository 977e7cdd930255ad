import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../../support/agent-client.ts';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon, viewOf } from '../../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const none = { path: undefined, noProject: true };

async function worked(steps: unknown[], body = {}): Promise<AgentView & { worktree: string }> {
  const { id } = await daemon.work(steps, { ...none, ...body });
  const agent = await daemon.ended(id);
  return { ...agent, worktree: agent.worktree ?? '' };
}

async function killed(agent: AgentView): Promise<AgentView> {
  await daemon.client.killAgent(agent.id, {});
  let view = agent;
  await waitUntil(async () => (view = await viewOf(daemon.client, agent.id)).worktreeEnd !== null, {
    what: 'the directory to be settled',
  });
  return view;
}

describe('an agent without a project', () => {
  test('works in its own directory: no repository, no branch, no change [S3-28, 7.10]', async () => {
    const agent = await worked([{ shell: 'git rev-parse 2>/dev/null && touch in-git; pwd > where' }, 'complete']);
    expect(agent).toMatchObject({ project: null, branch: null, baseCommit: null, workdir: null, places: [] });
    expect(agent.run).toMatchObject({ status: 'completed' });
    expect(agent.worktree).toBe(join(daemon.home.agentWorkdirs, agent.alias, 'workspace'));
    expect(readFileSync(join(agent.worktree, 'where'), 'utf8').trim()).toBe(agent.worktree);
    expect(existsSync(join(agent.worktree, 'in-git'))).toBe(false);
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(await daemon.promptOf(sessions[0]?.directory ?? '')).toContain('you work for no project');
    expect((await daemon.client.listAgents({})).agents.map(({ id }) => id)).toContain(agent.id);
    expect((await daemon.client.listAgents({ project: 'sample' })).agents.map(({ id }) => id)).not.toContain(agent.id);
  });

  test('is resumed in the same directory, and gets mail', async () => {
    const agent = await worked([{ shell: 'echo 1 >> runs' }, 'complete', { shell: 'echo 2 >> runs' }, 'complete']);
    await daemon.client.resumeAgent(agent.id, { prompt: 'again' }, randomUUID());
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'completed' });
    expect(readFileSync(join(agent.worktree, 'runs'), 'utf8')).toBe('1\n2\n');
    const { mails } = await daemon.client.sendMail({ to: agent.id, body: 'a word' }, randomUUID());
    expect(mails[0]).toMatchObject({ to: { id: agent.id } });
  });

  test('forks children without a project, or into a named one', async () => {
    const parent = await worked([{ say: 'hello' }, 'complete', 'complete']);
    const child = await daemon.ended((await daemon.fork(parent.id, { prompt: 'go on' })).id);
    expect(child).toMatchObject({ project: null, branch: null });
    const named = await daemon.fork(parent.id, { prompt: 'go on', project: 'sample' });
    expect(await daemon.ended(named.id)).toMatchObject({ project: { name: 'sample' }, branch: `work/${named.alias}` });
    const withFiles = daemon.fork(parent.id, { prompt: 'x', withFiles: true });
    await expect(withFiles).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('files') });
  });

  test('leaves its directory to the trash, with everything in it, from where it can be restored [7.11]', async () => {
    const agent = await worked([{ write: { path: 'result.txt', content: 'forty-two' } }, 'complete']);
    const dead = await killed(agent);
    expect(dead.worktreeEnd).toMatchObject({ state: 'trashed' });
    expect(existsSync(dirname(agent.worktree))).toBe(false);
    const entry = dead.worktreeEnd?.state === 'trashed' ? dead.worktreeEnd.entry : '';
    const { worktrees } = await daemon.client.worktrees();
    expect(worktrees.find((each) => each.entry === entry)).toMatchObject({ state: 'trashed', path: agent.worktree });
    // Uncommitted files are not pruned unless a person insists.
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 0 })).pruned).not.toContain(entry);
    await daemon.client.restoreWorktree(entry);
    expect(readFileSync(join(agent.worktree, 'result.txt'), 'utf8')).toBe('forty-two');
    expect((await viewOf(daemon.client, agent.id)).worktreeEnd).toMatchObject({ state: 'restored' });
  });

  test('fails to start if its directory is gone', async () => {
    const agent = await worked(['complete', 'complete']);
    rmSync(agent.worktree, { recursive: true });
    await daemon.client.resumeAgent(agent.id, { prompt: 'again' }, randomUUID());
    const failed = await daemon.ended(agent.id);
    expect(failed.run).toMatchObject({ status: 'failed' });
    expect(failed.run?.detail).toContain(agent.worktree);
  });

  test('ignores settings that it wrote itself', async () => {
    const agent = await worked(['complete', 'complete']);
    writeFileSync(join(agent.worktree, '.mcp.json'), '{}');
    await daemon.client.resumeAgent(agent.id, { prompt: 'again' }, randomUUID());
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'completed' });
  });

  test('reaches no project: not by mail, work or changes', async () => {
    const agent = await worked(['complete']);
    const worker = await daemon.ended((await daemon.work(['complete'])).id);
    const own = agentClient(daemon.home, agent.id);
    const mail = own.sendMail({ to: worker.id, body: 'hello' }, randomUUID());
    await expect(mail).rejects.toMatchObject({ code: 'forbidden' });
    const work = own.work({ projects: ['sample'], task: 'x', provider: 'scripted' }, randomUUID());
    await expect(work).rejects.toMatchObject({ code: 'forbidden' });
    await expect(own.listChanges({})).rejects.toMatchObject({ code: 'project_not_found' });
    const foreign = agentClient(daemon.home, worker.id);
    const without = foreign.work({ noProject: true, task: 'x', provider: 'scripted' }, randomUUID());
    await expect(without).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('claims no planned task and starts from no commit', async () => {
    await expect(daemon.work(['complete'], { ...none, base: 'main' })).rejects.toMatchObject({ code: 'invalid_input' });
    const planned = daemon.work(['complete'], { ...none, planned: '@next' });
    await expect(planned).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
