import { buildChain } from '@pawl/daemon/changes/guard/chain';
import { createCaches } from '@pawl/daemon/platform/caches';
import { foreseeConflicts } from '@pawl/daemon/queue/foresee';
import { ensureOwnDirectory } from '@pawl/git/merge/own-directory';
import type { Change } from '@pawl/schema/change';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { expect, test } from 'vitest';
import { openBranchHome } from '../../support/branch-home.ts';
import { countGit } from '../../support/count-git.ts';
import { commitOn } from '../../support/merge-queue.ts';

test('six changes on a new main cost two git processes each, and one to predict their conflicts', async () => {
  await using place = await temporaryDirectory();
  await using platform = await openBranchHome(place.path);
  const { repository, ownDir, root, project } = platform;
  await ensureOwnDirectory(repository, ownDir);
  const changes: Change[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const head = await commitOn(root, `work/${name}`, { [`of-${name}.txt`]: `${name}\n` });
    changes.push(await platform.change({ branch: `work/${name}`, head, agentId: null, title: name }));
  }
  const foresee = () => foreseeConflicts(platform.platform, project, repository, ownDir, { enabled: true });
  await platform.main({ 'first.txt': '1\n' });
  await foresee();
  const main = await platform.main({ 'second.txt': '2\n' });
  expect(await countGit(place.path, foresee)).toBe(1);
  expect(await countGit(place.path, foresee)).toBe(0);
  const links: string[] = [];
  const count = await countGit(place.path, async () => {
    const chain = await buildChain({ repository, ownDir, method: 'squash', caches: createCaches() }, { main, changes });
    links.push(...chain.links.map(({ change }) => change.title));
  });
  expect(links).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(count).toBe(2 * 6);
});
