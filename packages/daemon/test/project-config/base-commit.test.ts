import { baseCommitFor } from '@pawl/daemon/project-config/base-commit';
import { updateQueue } from '@pawl/store/changes/queues';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBranchHome } from '../support/branch-home.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, commitOn } from '../support/merge-queue.ts';

/** A project whose remote has another main than the checkout. */
async function start() {
  const place = await temporaryDirectory();
  const platform = await openBranchHome(place.path);
  const { root } = platform;
  const theirs = await commitOn(root, 'theirs', { 'theirs.txt': 'theirs\n' });
  await git(root, ['branch', '-D', 'theirs']);
  const mine = await commitFiles(root, { 'mine.txt': 'mine\n' });
  return Object.assign(platform, {
    theirs,
    mine,
    knows: async (remote: string, branch = 'main') => {
      await git(root, ['config', `remote.${remote}.url`, '/nowhere']);
      await git(root, ['update-ref', `refs/remotes/${remote}/${branch}`, theirs]);
    },
    config(text: string) {
      mkdirSync(join(root, '.pawl'), { recursive: true });
      writeFileSync(join(root, '.pawl', 'config.yaml'), text);
    },
    begins: (given: { base?: string; mode?: 'execute' | 'errand' } = {}) =>
      baseCommitFor(platform.platform, platform.project, platform.repository, {
        base: given.base,
        mode: given.mode ?? 'execute',
      }),
    async [Symbol.asyncDispose]() {
      await platform.store.close();
      await place[Symbol.asyncDispose]();
    },
  });
}

test('work starts at the remote’s main if there is one, else at HEAD; --base wins [W4-14]', async () => {
  await using platform = await start();
  expect(await platform.begins()).toBe(platform.mine);
  await platform.knows('origin');
  expect(await platform.begins()).toBe(platform.theirs);
  expect(await platform.begins({ base: 'HEAD' })).toBe(platform.mine);
  expect(await platform.begins({ base: 'main~1' })).not.toBe(platform.mine);
  // An errand is merged into the person's checkout.
  expect(await platform.begins({ mode: 'errand' })).toBe(platform.mine);
});

test('uses the remote and the branch of the project’s config [W4-14]', async () => {
  await using platform = await start();
  await platform.knows('origin');
  platform.config('queue:\n  remote: none\n');
  expect(await platform.begins()).toBe(platform.mine);
  platform.config('queue:\n  remote: upstream\n');
  expect(await platform.begins()).toBe(platform.mine);
  await platform.knows('upstream');
  expect(await platform.begins()).toBe(platform.theirs);
  await platform.store.write((tx) => updateQueue(tx, platform.project.id, { branch: 'develop' }));
  expect(await platform.begins()).toBe(platform.mine);
  await platform.knows('upstream', 'develop');
  expect(await platform.begins()).toBe(platform.theirs);
});

test('an invalid config does not prevent work, and a remote without that branch is ignored [W4-14]', async () => {
  await using platform = await start();
  await platform.knows('origin', 'something-else');
  expect(await platform.begins()).toBe(platform.mine);
  await platform.knows('origin');
  platform.config('queue: [');
  expect(await platform.begins()).toBe(platform.theirs);
});

test('an agent gets the worktree of that commit [W4-14]', async () => {
  await using daemon = await startTestDaemon();
  const { repository } = daemon;
  const theirs = await commitOn(repository, 'theirs', { 'theirs.txt': 'theirs\n' });
  await git(repository, ['config', 'remote.origin.url', '/nowhere']);
  await git(repository, ['update-ref', 'refs/remotes/origin/main', theirs]);
  const agent = await daemon.work([{ shell: 'cat theirs.txt' }, 'complete']);
  await daemon.ended(agent.id);
  expect(agent.baseCommit).toBe(theirs);
  expect(await git(repository, ['rev-parse', agent.branch ?? ''])).toBe(theirs);
});
