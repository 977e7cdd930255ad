import { endurance } from '@pawl/testing/endurance';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepOutOfCommits } from '../src/repository/exclude.ts';
import { openRepository, resolveCommit } from '../src/repository/repository.ts';
import { addWorktree } from '../src/worktree/worktree.ts';
import { listWorktrees } from '../src/worktree/worktree-list.ts';
import { trashWorktree } from '../src/trash/trash.ts';
import { git, makeRepository, temporaryDirectory, traceGit } from './fixture.ts';

test('50 worktrees at once, three rounds: each gets its own, none fails', async () => {
  const home = temporaryDirectory();
  const source = makeRepository(join(home, 'source'));
  // A start point with an upstream is where concurrent git commands fight over the config.
  git(home, 'clone', '--quiet', source, 'project');
  const root = join(home, 'project');
  const repository = await openRepository(root);
  const config = git(root, 'config', '--list', '--local');
  const base = await resolveCommit(repository, 'origin/main');
  const rounds = endurance({ whole: 3, small: 1 });
  for (let round = 1; round <= rounds; round += 1) {
    const requests = Array.from({ length: 50 }, (_, i) => ({
      ownDir: join(home, 'own.git'),
      path: join(home, 'trees', `agent-${round}-${i}`),
      branch: `work/agent-${round}-${i}`,
      base,
    }));
    const made = await Promise.all(
      requests.map(async (request) => {
        await keepOutOfCommits(repository, ['/.pawl/input/', '/.pawl/output/']);
        return addWorktree(repository, request);
      }),
    );
    expect(made).toEqual(requests.map(({ path, branch }) => ({ path, branch })));
    const listed = (await listWorktrees(repository)).slice(1);
    expect(listed.map(({ path, branch, head }) => ({ path, branch, head })).sort(byPath)).toEqual(
      requests.map(({ path, branch }) => ({ path, branch, head: base })).sort(byPath),
    );
    for (const { path } of requests.slice(0, 5)) expect(git(path, 'status', '--porcelain')).toBe('');
    const trashDir = join(home, 'trash');
    await Promise.all(
      requests.map(({ path, branch }) => trashWorktree(repository, { path, branch, trashDir, at: round })),
    );
    expect(await listWorktrees(repository)).toHaveLength(1);
  }
  expect(git(root, 'config', '--list', '--local')).toBe(config);
});

test('registrations never overlap', async () => {
  const home = temporaryDirectory();
  const repository = await openRepository(makeRepository(join(home, 'project')));
  const base = await resolveCommit(repository);
  const lines = traceGit();
  await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      addWorktree(repository, {
        ownDir: join(home, 'own.git'),
        path: join(home, `tree-${i}`),
        branch: `work/${i}`,
        base,
      }),
    ),
  );
  const signs = lines()
    .filter((line) => line.includes('worktree add'))
    .map((line) => line[0]);
  expect(signs.join('')).toBe('+-'.repeat(8));
});

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path.localeCompare(b.path);
}
