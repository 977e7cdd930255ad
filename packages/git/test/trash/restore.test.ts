import { endurance } from '@pawl/testing/endurance';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteBranchAt } from '../../src/repository/branch.ts';
import { openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { restoreWorktree } from '../../src/trash/restore.ts';
import { listTrash } from '../../src/trash/trash-list.ts';
import { trashWorktree } from '../../src/trash/trash.ts';
import { addWorktree, verifyWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees } from '../../src/worktree/worktree-list.ts';
import { filesOf, stateOf } from '../carried.ts';
import { dieAt, killAfter } from '../crash-process.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

const memory = '/dev/shm';
const hasOtherFileSystem = existsSync(memory) && statSync(memory).dev !== statSync('/tmp').dev;

async function setUp(trashParent?: string) {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'ignored/\n' });
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const path = join(home, 'trees', 'otter');
  const request = { ownDir: join(home, 'own.git'), path, branch: 'work/otter', base };
  await addWorktree(repository, request);
  write(path, { 'a.txt': 'staged\n', 'new.txt': 'new\n', 'ignored/cache': 'x\n' });
  git(path, 'add', 'a.txt');
  write(path, { 'a.txt': 'later\n', 'b.txt': 'changed\n' });
  symlinkSync('/etc', join(path, 'link'));
  chmodSync(join(path, 'b.txt'), 0o700);
  const trashDir = join(trashParent ? temporaryDirectory(trashParent) : home, 'trash');
  const before = { state: stateOf(path), files: filesOf(path), listed: await listWorktrees(repository) };
  const trash = async () => {
    const trashed = await trashWorktree(repository, { path, branch: 'work/otter', trashDir, dirty: 4, at: 1 });
    return { trashDir, name: trashed?.note.name ?? '' };
  };
  const check = async () => {
    expect(stateOf(path)).toEqual(before.state);
    expect(filesOf(path)).toEqual(before.files);
    expect(await listWorktrees(repository)).toEqual(before.listed);
    expect(readdirSync(trashDir)).toEqual([]);
    expect(git(root, 'for-each-ref', 'refs/pawl')).toBe('');
    git(path, 'fsck', '--strict');
    git(root, 'worktree', 'prune');
    expect(await listWorktrees(repository)).toEqual(before.listed);
  };
  return { home, root, repository, base, request, path, trashDir, before, trash, check };
}

const places: { name: string; parent?: string }[] = [{ name: 'the same file system' }];
if (hasOtherFileSystem) places.push({ name: 'another file system', parent: memory });

describe.each(places)('a worktree is restored from a trash on $name [7.11]', ({ parent }) => {
  test('as it was', async () => {
    const { repository, path, trash, check } = await setUp(parent);
    const request = await trash();
    expect(existsSync(path)).toBe(false);
    expect(await restoreWorktree(repository, request)).toEqual({ path });
    await check();
    expect(await refusal(restoreWorktree(repository, request))).toMatch(/^not_found: /);
    await verifyWorktree(repository, path, 'work/otter');
  });

  test('after a kill when its files are back', async () => {
    const { root, repository, path, trash, check } = await setUp(parent);
    const request = await trash();
    await dieAt('restore.after_files', { root, operation: 'restoreWorktree', ...request });
    expect(existsSync(join(path, 'new.txt'))).toBe(true);
    expect(await listTrash(request.trashDir)).toMatchObject([{ name: request.name, note: { dirty: 4 } }]);
    await restoreWorktree(repository, request);
    await check();
  });
});

test('killed at many moments', async () => {
  const { root, repository, trash, check } = await setUp();
  const rounds = endurance({ whole: 4, small: 2 });
  for (let round = 0; round < rounds; round += 1) {
    const request = await trash();
    await killAfter((round * 32) / rounds, round % 2 === 0, { root, operation: 'restoreWorktree', ...request });
    await restoreWorktree(repository, request).catch((error: unknown) => {
      // It was done before it was killed.
      expect(String(error)).toContain('has no entry');
    });
    await check();
  }
});

describe('while the record was moving', () => {
  test('when only the remains were left', async () => {
    const { repository, path, trash, check } = await setUp();
    const request = await trash();
    const entry = join(request.trashDir, request.name);
    writeFileSync(join(entry, 'restoring'), '');
    renameSync(join(entry, 'files'), path);
    const key = createHash('sha256').update(entry).digest('hex').slice(0, 16);
    renameSync(join(entry, 'registration'), join(repository.commonDir, `pawl-restore-${key}`));
    writeFileSync(join(path, '.git'), 'gitdir: /nowhere\n');
    await restoreWorktree(repository, request);
    await check();
  });

  test('a branch that was deleted meanwhile is recreated', async () => {
    const { repository, path, trash, check } = await setUp();
    const request = await trash();
    const note = readFileSync(join(request.trashDir, request.name, 'note.json'));
    await restoreWorktree(repository, request);
    const remains = join(request.trashDir, `.restored-${request.name}`);
    mkdirSync(remains);
    writeFileSync(join(remains, 'note.json'), note);
    expect(await restoreWorktree(repository, request)).toEqual({ path });
    await check();
  });
});

test('a branch that was deleted meanwhile is made again', async () => {
  const { root, repository, base, trash, check } = await setUp();
  const request = await trash();
  expect(await deleteBranchAt(repository, { branch: 'work/otter', commit: base })).toBe(true);
  await restoreWorktree(repository, request);
  await check();
  expect(git(root, 'rev-parse', 'work/otter').trim()).toBe(base);
});

test('a detached HEAD comes back with its commits', async () => {
  const { root, repository, path, trash } = await setUp();
  git(path, 'checkout', '--quiet', '--detach');
  const commit = commitAll(path, 'loose');
  const request = await trash();
  expect(git(root, 'for-each-ref', '--format=%(objectname)', 'refs/pawl').trim()).toBe(commit);
  await restoreWorktree(repository, request);
  expect(git(path, 'status', '--porcelain=v2', '--branch')).toContain(
    `# branch.oid ${commit}\n# branch.head (detached)`,
  );
  expect(git(root, 'for-each-ref', 'refs/pawl')).toBe('');
});

test('the name of its record may be taken; a lost directory comes back empty', async () => {
  const { home, root, repository, path, before, trash } = await setUp();
  const request = await trash();
  git(root, 'worktree', 'add', '--quiet', '--detach', join(home, 'elsewhere', 'otter'));
  await restoreWorktree(repository, request);
  expect(stateOf(path)).toEqual(before.state);
  expect(readFileSync(join(path, '.git'), 'utf8')).toBe(`gitdir: ${join(root, '.git/worktrees/otter1')}\n`);
  rmSync(path, { recursive: true });
  await restoreWorktree(repository, await trash());
  expect(git(path, 'status', '--porcelain')).toBe('D  .gitignore\n'.replace('D ', ' D') + 'MD a.txt\n D b.txt\n');
});

describe('refuses, and changes nothing', () => {
  const obstacles: Record<string, (place: Awaited<ReturnType<typeof setUp>>) => void> = {
    'when the path is occupied': ({ path }) => write(path, { 'precious.txt': 'mine\n' }),
    'when the path is a link to nowhere': ({ path }) => symlinkSync('/nowhere', path),
    'when the branch is checked out elsewhere': ({ root, home }) =>
      void git(root, 'worktree', 'add', '--quiet', join(home, 'other'), 'work/otter'),
    'when the path is another worktree’s': ({ root, path }) => {
      git(root, 'worktree', 'add', '--quiet', '--detach', path);
      rmSync(path, { recursive: true });
    },
  };
  test.each(Object.entries(obstacles))(
    'a missing entry, bad names, a broken note, another repository',
    async (_, prepare) => {
      const place = await setUp();
      const request = await place.trash();
      prepare(place);
      const before = [snapshot(place.root), snapshot(place.home)];
      expect(await refusal(restoreWorktree(place.repository, request))).toMatch(/^conflict: .* → /);
      expect([snapshot(place.root), snapshot(place.home)]).toEqual(before);
    },
  );

  test('a missing branch, if an old note does not have its commit', async () => {
    const { home, repository, trash, trashDir } = await setUp();
    const { name } = await trash();
    for (const bad of ['../trash', '.draft-x', '', 'a/b', 'x'.repeat(300)]) {
      expect(await refusal(restoreWorktree(repository, { trashDir, name: bad }))).toMatch(/^invalid_input: /);
    }
    expect(await refusal(restoreWorktree(repository, { trashDir, name: 'nothing' }))).toMatch(/^not_found: /);
    const other = await openRepository(makeRepository(join(home, 'other')));
    expect(await refusal(restoreWorktree(other, { trashDir, name }))).toMatch(/^conflict: .*not of/);
    writeFileSync(join(trashDir, name, 'note.json'), '{"version":1,"name":"../x"}');
    expect(await refusal(restoreWorktree(repository, { trashDir, name }))).toMatch(/^conflict: .*note\.json/);
    expect(existsSync(join(trashDir, name, 'files/new.txt'))).toBe(true);
  });

  test('a branch that is gone, when an old note does not say where it was', async () => {
    const { repository, base, trash } = await setUp();
    const request = await trash();
    const file = join(request.trashDir, request.name, 'note.json');
    const { commit: _, dirty: __, ...old } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify(old));
    expect((await listTrash(request.trashDir))[0]?.note).toMatchObject({ commit: null, dirty: null });
    await deleteBranchAt(repository, { branch: 'work/otter', commit: base });
    expect(await refusal(restoreWorktree(repository, request))).toMatch(/^conflict: .*commit.* → .*files/);
    git(repository.root, 'branch', 'work/otter', base);
    await restoreWorktree(repository, request);
  });
});
