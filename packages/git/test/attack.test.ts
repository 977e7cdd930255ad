import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { describe, expect, test } from 'vitest';
import { deleteBranchAt } from '../src/repository/branch.ts';
import { keepOutOfCommits } from '../src/repository/exclude.ts';
import {
  branchExists,
  countCommits,
  listBranches,
  openRepository,
  resolveCommit,
} from '../src/repository/repository.ts';
import { pruneTrash } from '../src/trash/prune.ts';
import { restoreWorktree } from '../src/trash/restore.ts';
import { takeSnapshot } from '../src/snapshot/snapshot.ts';
import { trashWorktree } from '../src/trash/trash.ts';
import { addWorktree, verifyWorktree } from '../src/worktree/worktree.ts';
import { listWorktrees } from '../src/worktree/worktree-list.ts';
import { worktreeStatus } from '../src/worktree/worktree-status.ts';
import { worktreeWork } from '../src/worktree/worktree-work.ts';
import { commitAll, git, makeRepository, refusal, snapshot, write } from './fixture.ts';
import { plant, tryGit } from './planting.ts';

describe.each(['config', 'included file', 'worktree config'] as const)('commands planted in the %s', (place) => {
  test('never run, over the whole life of a worktree', async () => {
    const { home, root, script, text, fired } = plant(place);
    const ignore = (path: string) => /^\.git\/(worktrees|info\/exclude|(logs\/)?refs\/heads\/work)(\/|$)/.test(path);
    const before = snapshot(root, ignore);
    const repository = await openRepository(root);
    const base = await resolveCommit(repository);
    await keepOutOfCommits(repository, ['/.pawl/input/']);
    const ownDir = join(home, 'own.git');
    const path = join(home, 'tree');
    const request = { ownDir, path, branch: 'work/otter', base };
    await addWorktree(repository, request);
    expect(fired()).toEqual([]);

    // Now an agent plants in its own corner too, and leaves work that a status has to look at closely.
    const admin = join(root, '.git/worktrees/tree');
    writeFileSync(join(admin, 'config.worktree'), text);
    write(path, {
      'a.txt': 'changed\n',
      'b.long': 'long\n',
      'new.txt': 'new\n',
      '.gitattributes': '* filter=evil diff=evil\n',
    });
    utimesSync(join(path, 'c.md'), 1, 1);
    makeRepository(join(path, 'nested'));
    appendFileSync(join(path, 'nested/.git/config'), text);
    write(path, { 'bare/HEAD': 'ref: refs/heads/main\n', 'bare/config': `[core]\n\tfsmonitor = ${script} bare\n` });
    mkdirSync(join(path, 'bare/objects'));
    mkdirSync(join(path, 'bare/refs'));
    expect(await worktreeStatus(repository, { ownDir, path })).toMatchObject({ changed: 2, untracked: 3, head: base });
    await listWorktrees(repository);
    await listBranches(repository, 'work/');
    await branchExists(repository, 'work/otter');
    await countCommits(repository, base, 'work/otter');
    await verifyWorktree(repository, path);
    expect(await refusal(resolveCommit(repository, 'd'.repeat(40)))).toMatch(/^not_found: /);
    expect(await worktreeWork(repository, request)).toMatchObject({ state: 'dirty', changed: 2 });
    const name = newId();
    const snapshotOf = await takeSnapshot(repository, { ownDir, path, name });
    const child = { ownDir, path: join(home, 'child'), branch: 'work/child', base };
    await addWorktree(repository, { ...child, snapshot: { name, commit: snapshotOf.commit } });
    expect(await worktreeStatus(repository, child)).toMatchObject({ changed: 2, head: base });
    rmSync(path, { recursive: true });
    await addWorktree(repository, request);
    write(path, { 'a.txt': 'changed\n' });
    const trash = { path, branch: 'work/otter', trashDir: join(home, 'trash'), at: 1 };
    const first = await trashWorktree(repository, trash);
    await restoreWorktree(repository, { trashDir: trash.trashDir, name: first?.note.name ?? '' });
    const second = await trashWorktree(repository, trash);
    const prune = { trashDir: trash.trashDir, name: second?.note.name ?? '', archiveTo: join(home, 'archive') };
    await pruneTrash(repository, prune);
    expect(readdirSync(prune.archiveTo)).toHaveLength(2);
    expect(await deleteBranchAt(repository, { branch: 'work/otter', commit: base })).toBe(true);
    expect(fired()).toEqual([]);
    expect(snapshot(root, ignore)).toEqual(before);
  });
});

test('the planted commands do run in plain git, so the silence above is meaningful', () => {
  const { home, root, fired } = plant('config');
  write(root, { 'a.txt': 'changed\n' });
  tryGit(root, 'status');
  tryGit(root, 'worktree', 'add', '-b', 'work/plain', join(home, 'plain'));
  // The planted filters break what they run in; without them the rest gets its turn.
  const unfiltered = ['-c', 'filter.evil.clean=cat', '-c', 'filter.evil.smudge=cat', '-c', 'filter.long.process='];
  tryGit(root, ...unfiltered, 'diff');
  tryGit(root, ...unfiltered, 'diff', '--no-ext-diff');
  tryGit(root, ...unfiltered, 'worktree', 'add', '-b', 'work/second', join(home, 'second'));
  tryGit(root, 'cat-file', '-t', 'd'.repeat(40));
  tryGit(root, 'commit', '--all', '--message', 'x');
  const expected = [
    'clean',
    'diffCommand',
    'fsmonitor',
    'hook-post-checkout',
    'hook-reference-transaction',
    'lazyFetch',
  ];
  expect(fired()).toEqual(expect.arrayContaining([...expected, 'process', 'smudge', 'textconv']));
});

test('a submodule in a worktree is compared by its commit, without looking inside', async () => {
  const { home, root, text, fired } = plant('worktree config');
  rmSync(join(root, '.git/config.worktree'));
  rmSync(join(root, '.git/hooks'), { recursive: true });
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', join(home, 'source'), 'lib');
  commitAll(root, 'with a submodule');
  const repository = await openRepository(root);
  const request = {
    ownDir: join(home, 'own.git'),
    path: join(home, 'tree'),
    branch: 'work/a',
    base: await resolveCommit(repository),
  };
  await addWorktree(repository, request);
  git(request.path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
  const inner = git(join(request.path, 'lib'), 'rev-parse', '--git-dir').trim();
  write(join(request.path, 'lib'), { 'readme.md': 'changed inside\n' });
  appendFileSync(join(inner, 'config'), text);
  const status = () => worktreeStatus(repository, request);
  expect(await status()).toMatchObject({ changed: 0, untracked: 0 });
  git(
    join(request.path, 'lib'),
    '-c',
    'core.fsmonitor=',
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'commit.gpgSign=false',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'x',
  );
  expect(await status()).toMatchObject({ changed: 1, files: ['lib'] });
  expect(fired()).toEqual([]);
});

test('a registration that points to another config does not bring it along', async () => {
  const { home, root, text, fired, reset } = plant('worktree config');
  rmSync(join(root, '.git/config.worktree'));
  rmSync(join(root, '.git/hooks'), { recursive: true });
  const repository = await openRepository(root);
  const request = {
    ownDir: join(home, 'own.git'),
    path: join(home, 'tree'),
    branch: 'work/a',
    base: await resolveCommit(repository),
  };
  await addWorktree(repository, request);
  const evil = makeRepository(join(home, 'evil'));
  appendFileSync(join(evil, '.git/config'), text);
  writeFileSync(join(root, '.git/worktrees/tree/commondir'), join(evil, '.git'));
  write(request.path, { 'a.txt': 'changed\n' });
  const status = await worktreeStatus(repository, request);
  expect(status).toMatchObject({ changed: expect.any(Number) });
  expect(fired()).toEqual([]);
  tryGit(request.path, 'status');
  expect(fired()).toContain('fsmonitor');
  reset();
  // A pointer to a place outside the repository is not followed at all.
  writeFileSync(join(request.path, '.git'), `gitdir: ${join(evil, '.git')}\n`);
  expect(await refusal(worktreeStatus(repository, request))).toMatch(/^not_found: /);
  expect(fired()).toEqual([]);
  expect(existsSync(join(request.path, 'a.txt'))).toBe(true);
});
