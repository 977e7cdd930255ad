import { fixChange } from '@pawl/daemon/changes/repair/change-fix';
import { trashWorktree } from '@pawl/git/trash/trash';
import { updateAgent } from '@pawl/store/agents/agents';
import { git } from '@pawl/testing/sample-repository';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBranchHome } from '../../support/branch-home.ts';
import { commitFiles } from '../../support/merge-queue.ts';

/** An idle agent whose change conflicts with main in b.txt. */
async function prepare() {
  const directory = await temporaryDirectory();
  const platform = await openBranchHome(directory.path);
  const agent = await platform.agent('calm-fox');
  const path = agent.worktree ?? '';
  const head = await commitFiles(path, { 'b.txt': 'fox\n' });
  const about = { branch: agent.branch ?? '', base: agent.baseCommit ?? '', agentId: agent.id };
  const change = await platform.change({ ...about, head });
  await platform.main({ 'b.txt': 'main\n' });
  const lanes: string[] = [];
  const inLane = <T>(id: string, act: () => Promise<T>) => {
    lanes.push(id);
    return act();
  };
  return {
    platform,
    agent,
    change,
    path,
    lanes,
    directory: directory.path,
    fix: (proceed = false) => fixChange(platform.platform, { inLane }, { changeId: change.id, proceed }),
    async [Symbol.asyncDispose]() {
      await platform.store.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

test('a merge is started and completed in its author’s lane, so no session starts meanwhile', async () => {
  await using place = await prepare();
  expect(await place.fix()).toMatchObject({ outcome: 'begun', path: place.path });
  expect(place.lanes).toEqual([place.agent.id]);
});

test('a worktree with a running process is refused, and nothing is started there', async () => {
  await using place = await prepare();
  await using others = sleepers(join(place.directory, 'programs'));
  const pid = await others.start('editor', place.path);
  await expect(place.fix()).rejects.toMatchObject({ code: 'busy', message: expect.stringContaining(place.path) });
  expect(await git(place.path, ['status', '--porcelain'])).toBe('');
  await others.end(pid);
  expect((await place.fix()).outcome).toBe('begun');
});

test('a branch with unproposed commits is refused, and --continue proposes them', async () => {
  await using place = await prepare();
  const tip = await commitFiles(place.path, { 'd.txt': 'more\n' });
  await expect(place.fix()).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('has moved'),
    hint: expect.stringContaining('--continue'),
  });
  expect(await git(place.path, ['status', '--porcelain'])).toBe('');
  expect((await place.fix(true)).outcome).toBe('proposed');
  expect(await place.platform.tip(place.agent)).toBe(tip);
});

test('--continue without a merge in progress is refused, with the command that starts one', async () => {
  await using place = await prepare();
  await expect(place.fix(true)).rejects.toMatchObject({
    code: 'conflict',
    message: 'No merge is in progress for this change, and its branch has no new commit.',
    hint: `Start it: pawl change fix ${place.change.id.slice(0, 8)}`,
  });
});

test('the worktree of a dead author is restored from the trash', async () => {
  await using place = await prepare();
  const { platform, agent, path } = place;
  const request = { trashDir: platform.platform.home.trash, path, branch: agent.branch, dirty: 0, at: 1 };
  const entry = (await trashWorktree(platform.repository, request))?.note.name ?? '';
  expect(existsSync(path)).toBe(false);
  await platform.store.write((tx) =>
    updateAgent(tx, agent.id, { endedAt: 2, worktreeEnd: { state: 'trashed', entry, at: 2 } }),
  );
  expect(await place.fix()).toMatchObject({ outcome: 'begun', path, files: ['b.txt'] });
  expect(await git(path, ['status', '--porcelain'])).toBe('UU b.txt');
});
