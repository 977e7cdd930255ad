import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import type { AgentView } from '@pawl/protocol/agents/view';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon, viewOf } from '../../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A completed agent, with what its steps left in its worktree. */
async function finished(steps: unknown[] = []): Promise<AgentView & { worktree: string }> {
  const { id } = await daemon.work([...steps, 'complete']);
  const agent = await daemon.ended(id);
  return { ...agent, worktree: agent.worktree ?? '' };
}

/** Kills an agent and waits until its worktree is settled. */
async function killed(agent: AgentView): Promise<AgentView> {
  await daemon.client.killAgent(agent.id, {});
  let view = agent;
  await waitUntil(
    async () => {
      view = await viewOf(daemon.client, agent.id);
      return view.worktreeEnd !== null;
    },
    { what: 'the worktree to be settled' },
  );
  return view;
}

const branches = () => git(daemon.repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);

describe('the worktree of a killed agent [7.11, 8.13]', () => {
  test('that is clean and has no commits goes to the trash, and its branch is deleted', async () => {
    const agent = await finished();
    expect((await killed(agent)).worktreeEnd).toMatchObject({ state: 'trashed' });
    expect(existsSync(agent.worktree)).toBe(false);
    expect(await branches()).not.toContain(agent.alias);
    expect(await git(daemon.repository, ['worktree', 'list'])).not.toContain(agent.alias);
  });

  test('that is clean with its own commits goes to the trash, and its branch stays', async () => {
    const agent = await finished([{ write: { path: 'a.txt', content: 'a' } }, { commit: 'a' }]);
    expect((await killed(agent)).worktreeEnd).toMatchObject({ state: 'trashed' });
    expect(existsSync(agent.worktree)).toBe(false);
    expect(await git(daemon.repository, ['show', `work/${agent.alias}:a.txt`])).toBe('a');
  });

  test.each([
    ['a tracked file that was changed', (path: string) => writeFileSync(join(path, 'README.md'), 'changed\n')],
    ['an untracked file', (path: string) => writeFileSync(join(path, 'new.txt'), 'new\n')],
    [
      'an untracked file in a new directory',
      (path: string) => {
        mkdirSync(join(path, 'deep'));
        writeFileSync(join(path, 'deep', 'new.txt'), 'new\n');
      },
    ],
  ])('with %s stays, with everything in it, and is flagged', async (_what, soil) => {
    const agent = await finished();
    soil(agent.worktree);
    const { worktreeEnd } = await killed(agent);
    expect(worktreeEnd).toMatchObject({ state: 'retained' });
    expect(await git(agent.worktree, ['status', '--porcelain'])).not.toBe('');
    const { worktrees } = await daemon.client.worktrees();
    expect(worktrees.find(({ path }) => path === agent.worktree)).toMatchObject({
      state: 'retained',
      agent: { alias: agent.alias },
    });
    const { findings } = await daemon.client.doctor();
    expect(findings.some(({ message }) => message.includes(agent.alias) && message.includes('kept'))).toBe(true);
  });

  test('that is locked stays', async () => {
    const agent = await finished();
    await git(daemon.repository, ['worktree', 'lock', agent.worktree]);
    expect((await killed(agent)).worktreeEnd).toMatchObject({
      state: 'retained',
      reason: expect.stringContaining('lock'),
    });
    expect(existsSync(agent.worktree)).toBe(true);
    await git(daemon.repository, ['worktree', 'unlock', agent.worktree]);
  });

  test('that is missing is recorded, and nothing else happens', async () => {
    const agent = await finished();
    rmSync(agent.worktree, { recursive: true });
    expect((await killed(agent)).worktreeEnd?.state).toMatch(/missing|trashed/);
    expect(await git(daemon.repository, ['worktree', 'list'])).not.toContain(agent.alias);
  });

  test('stays while another live process works in it', async () => {
    const agent = await finished();
    const sibling = spawn('sleep', ['60'], { cwd: agent.worktree, stdio: 'ignore' });
    try {
      expect((await killed(agent)).worktreeEnd).toMatchObject({
        state: 'retained',
        reason: expect.stringContaining('process'),
      });
      expect(existsSync(agent.worktree)).toBe(true);
    } finally {
      sibling.kill();
      await once(sibling, 'exit');
    }
  });

  test('stays if another worktree is inside it', async () => {
    const agent = await finished();
    await git(agent.worktree, [
      'worktree',
      'add',
      '-b',
      `inner-${agent.alias}`,
      join(agent.worktree, '.pawl', 'output', 'inner'),
    ]);
    expect((await killed(agent)).worktreeEnd).toMatchObject({ state: 'retained' });
    expect(existsSync(join(agent.worktree, '.pawl', 'output', 'inner', 'README.md'))).toBe(true);
  });
});

describe('the trash', () => {
  test('restores a worktree as it was', async () => {
    const agent = await finished([{ write: { path: 'a.txt', content: 'a' } }, { commit: 'a' }]);
    const { worktreeEnd } = await killed(agent);
    const entry = worktreeEnd?.state === 'trashed' ? worktreeEnd.entry : '';
    expect((await daemon.client.worktrees()).worktrees.find((each) => each.entry === entry)).toMatchObject({
      state: 'trashed',
      path: agent.worktree,
      branch: `work/${agent.alias}`,
    });
    expect(await daemon.client.restoreWorktree(entry)).toEqual({ path: agent.worktree });
    expect(readFileSync(join(agent.worktree, 'a.txt'), 'utf8')).toBe('a');
    expect(await git(agent.worktree, ['status', '--porcelain'])).toBe('');
    expect((await viewOf(daemon.client, agent.id)).worktreeEnd).toMatchObject({ state: 'restored' });
    // It belongs to the person now: nothing removes it again.
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000 })).trashed).not.toContain(agent.worktree);
    await expect(daemon.client.restoreWorktree(entry)).rejects.toMatchObject({ code: 'not_found' });
    await expect(daemon.client.restoreWorktree('../../etc')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('drops old entries, never uncommitted work unless the person insists', async () => {
    const agent = await finished();
    const { worktreeEnd } = await killed(agent);
    const entry = worktreeEnd?.state === 'trashed' ? worktreeEnd.entry : '';
    const young = await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000 });
    expect(young.pruned).toEqual([]);
    expect(young.kept.map((each) => each.entry)).toContain(entry);
    const dry = await daemon.client.pruneWorktrees({ olderThanMs: 0, dryRun: true });
    expect(dry.pruned).toContain(entry);
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 0 })).pruned).toContain(entry);
    expect((await daemon.client.worktrees()).worktrees.map((each) => each.entry)).not.toContain(entry);
  });

  test('prune moves a retained worktree to the trash once nothing in it would be lost', async () => {
    const agent = await finished();
    writeFileSync(join(agent.worktree, 'new.txt'), 'new\n');
    expect((await killed(agent)).worktreeEnd?.state).toBe('retained');
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000 })).trashed).not.toContain(agent.worktree);
    rmSync(join(agent.worktree, 'new.txt'));
    const dry = await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000, dryRun: true });
    expect(dry.trashed).toContain(agent.worktree);
    expect(existsSync(agent.worktree)).toBe(true);
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000 })).trashed).toContain(agent.worktree);
  });

  test('a person who insists moves uncommitted work to the trash, and it is archived before its final deletion', async () => {
    const agent = await finished();
    writeFileSync(join(agent.worktree, 'precious.txt'), 'not committed\n');
    await killed(agent);
    const { trashed } = await daemon.client.pruneWorktrees({ olderThanMs: 3_600_000, force: true });
    expect(trashed).toContain(agent.worktree);
    expect(existsSync(agent.worktree)).toBe(false);
    const entry = (await daemon.client.worktrees()).worktrees.find(({ path }) => path === agent.worktree)?.entry ?? '';
    const kept = (await daemon.client.pruneWorktrees({ olderThanMs: 0 })).kept.map((each) => each.entry);
    expect(kept).toContain(entry);
    expect((await daemon.client.pruneWorktrees({ olderThanMs: 0, force: true })).pruned).toContain(entry);
    const copy = join(daemon.home.root, 'copy');
    await git(daemon.repository, [
      'clone',
      '-q',
      '--branch',
      'files',
      join(daemon.home.archive, `${entry}.bundle`),
      copy,
    ]);
    expect(readFileSync(join(copy, 'precious.txt'), 'utf8')).toBe('not committed\n');
  });
});
