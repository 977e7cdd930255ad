import { git } from '@pawl/testing/sample-repository';
import type { AgentView } from '@pawl/protocol/agents/view';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../../support/daemon.ts';
import { markdown } from '../../support/definitions.ts';
import { startTestDaemon, viewOf } from '../../support/daemon.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A persistent agent that has completed a run, so its `signal.json` says "done". */
async function rested(): Promise<AgentView & { worktree: string }> {
  const agents = join(daemon.home.root, 'agents');
  mkdirSync(agents, { recursive: true });
  writeFileSync(
    join(agents, 'keeper.md'),
    markdown({ kind: 'main', class: 'persistent', tools: ['*'], policy: ['Patch'] }),
  );
  const { id } = await daemon.work(
    [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'a' }, 'complete', 'complete'],
    { definition: 'keeper' },
  );
  const agent = await daemon.ended(id);
  writeFileSync(join(agent.worktree ?? '', 'edited.txt'), 'mine\n');
  return { ...agent, worktree: agent.worktree ?? '' };
}

const recordOf = ({ alias }: AgentView) => join(daemon.repository, '.git', 'worktrees', alias);

const signalIn = (path: string) => readFileSync(join(path, '.pawl', 'output', 'signal.json'), 'utf8');

describe('a run whose process never started', () => {
  test('fails with the reason if git has no record of the worktree, whatever the last signal says', async () => {
    const agent = await rested();
    expect(signalIn(agent.worktree)).toContain('done');
    rmSync(recordOf(agent), { recursive: true });
    await daemon.client.resumeAgent(agent.id, { prompt: 'once more' }, randomUUID());
    const { run, detail } = await daemon.ended(agent.id);
    expect(run).toMatchObject({ status: 'failed' });
    expect(detail).toContain('is no longer a worktree of');
  });

  test('fails with the reason if the repository was moved', async () => {
    const agent = await rested();
    renameSync(daemon.repository, `${daemon.repository}-moved`);
    await daemon.client.resumeAgent(agent.id, { prompt: 'once more' }, randomUUID());
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'failed' });
    renameSync(`${daemon.repository}-moved`, daemon.repository);
  });
});

describe('a worktree that git no longer knows', () => {
  test('is reported, not shown as empty, and `doctor --fix` registers it again', async () => {
    const agent = await rested();
    rmSync(recordOf(agent), { recursive: true });
    const { worktree } = await daemon.client.inspectAgent(agent.id, { worktree: true });
    expect(worktree).toMatchObject({ exists: true, problem: 'git has no record of it', commits: null, changed: null });
    const finding = { check: 'worktree', level: 'error', fixable: true };
    expect((await daemon.client.doctor()).findings).toContainEqual(expect.objectContaining(finding));
    const { fixed, findings } = await daemon.client.doctor({ repair: true });
    expect(fixed).toEqual([`registered ${agent.worktree} with git again`]);
    expect(findings).not.toContainEqual(expect.objectContaining(finding));
    expect(readFileSync(join(agent.worktree, 'edited.txt'), 'utf8')).toBe('mine\n');
    expect(await git(agent.worktree, ['status', '--porcelain'])).toBe('?? edited.txt');
    expect((await daemon.client.inspectAgent(agent.id, { worktree: true })).worktree).toMatchObject({
      problem: null,
      commits: 1,
      untracked: 1,
    });
    await daemon.client.resumeAgent(agent.id, { prompt: 'once more' }, randomUUID());
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'completed' });
  });

  test('and whose branch is gone is left alone, with the reason', async () => {
    const agent = await rested();
    rmSync(recordOf(agent), { recursive: true });
    await git(daemon.repository, ['branch', '-m', `work/${agent.alias}`, 'elsewhere']);
    const { fixed, findings } = await daemon.client.doctor({ repair: true });
    expect(fixed).toEqual([]);
    expect(findings.map(({ message }) => message).join('\n')).toContain(`The branch work/${agent.alias} of`);
    expect(existsSync(join(agent.worktree, 'a.txt'))).toBe(true);
  });
});

test('a moved repository is the same project after `pawl init` there, and its agents continue', async () => {
  const agent = await rested();
  const place = `${daemon.repository}-moved`;
  renameSync(daemon.repository, place);
  expect((await daemon.client.doctor()).findings).toContainEqual(
    expect.objectContaining({ check: 'project', hint: expect.stringContaining('pawl init') }),
  );
  const { project, created } = await daemon.client.addProject({ path: place });
  expect({ created, root: project.root }).toEqual({ created: false, root: place });
  await daemon.client.resumeAgent(agent.id, { prompt: 'once more' }, randomUUID());
  expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'completed' });
  expect(await git(agent.worktree, ['status', '--porcelain'])).toBe('?? edited.txt');
  expect((await viewOf(daemon.client, agent.id)).worktree).toBe(agent.worktree);
});
