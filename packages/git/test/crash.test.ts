import { hasErrno } from '@pawl/schema/error';
import { endurance, sampleOf } from '@pawl/testing/endurance';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openRepository, resolveCommit } from '../src/repository/repository.ts';
import { addWorktree } from '../src/worktree/worktree.ts';
import { listWorktrees } from '../src/worktree/worktree-list.ts';
import { git, makeRepository, temporaryDirectory } from './fixture.ts';
import { startChild as start } from './crash-process.ts';

async function setUp(fileCount = 3) {
  const home = temporaryDirectory();
  const files = Object.fromEntries(Array.from({ length: fileCount }, (_, i) => [`d${i % 7}/f${i}.txt`, `file ${i}\n`]));
  const root = makeRepository(join(home, 'project'), files);
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const path = join(home, 'trees', 'otter');
  const request = { ownDir: join(home, 'own.git'), path, branch: 'work/otter', base };
  const check = async () => {
    await addWorktree(repository, request);
    expect(git(path, 'status', '--porcelain=v2', '--branch')).toBe(`# branch.oid ${base}\n# branch.head work/otter\n`);
    const linked = (await listWorktrees(repository)).slice(1);
    expect(linked).toEqual([{ path, head: base, branch: 'work/otter', bare: false, locked: null, prunable: null }]);
  };
  return { root, repository, request, base, check };
}

test('the next call finishes a process that died between registration and checkout', async () => {
  const { root, request, check } = await setUp();
  const child = start({ root, ...request }, { PAWL_CRASH_AT: 'spawn.after_worktree_add' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(existsSync(join(request.path, '.git'))).toBe(true);
  expect(existsSync(join(request.path, 'd0'))).toBe(false);
  await check();
});

/** The steps of `git worktree add` and of the checkout, in git's order; a kill can come after each. */
const steps: Record<string, (place: { admin: string; path: string; root: string; base: string }) => void> = {
  'the branch is made': ({ root, base }) => void git(root, 'branch', '--no-track', 'work/otter', base),
  'the record is begun': ({ admin }) => {
    mkdirSync(admin, { recursive: true });
    writeFileSync(join(admin, 'locked'), 'initializing');
  },
  'the directory is made': ({ path }) => void mkdirSync(path, { recursive: true }),
  'the record names the path': ({ admin, path }) => writeFileSync(join(admin, 'gitdir'), `${path}/.git\n`),
  'the pointer is empty': ({ path }) => writeFileSync(join(path, '.git'), ''),
  'the pointer is written': ({ admin, path }) => writeFileSync(join(path, '.git'), `gitdir: ${admin}\n`),
  'HEAD is zeros': ({ admin }) => writeFileSync(join(admin, 'HEAD'), `${'0'.repeat(40)}\n`),
  'the record names the repository': ({ admin }) => writeFileSync(join(admin, 'commondir'), '../..\n'),
  'HEAD is the branch': ({ admin }) => writeFileSync(join(admin, 'HEAD'), 'ref: refs/heads/work/otter\n'),
  'the record is complete': ({ admin }) => rmSync(join(admin, 'locked')),
  'the checkout has begun': ({ admin }) => writeFileSync(join(admin, 'index.lock'), ''),
  'a file is half written': ({ path }) => {
    mkdirSync(join(path, 'd0'));
    writeFileSync(join(path, 'd0', 'f0.txt'), 'fi');
  },
};

describe('killed after the step', () => {
  test.each(sampleOf(Object.keys(steps), 4))('%s', async (last) => {
    const { root, request, base, check } = await setUp();
    const place = { admin: join(root, '.git/worktrees/otter'), path: request.path, root, base };
    for (const [name, step] of Object.entries(steps)) {
      step(place);
      if (name === last) break;
    }
    await check();
  });
});

test('killed at many moments, with and without its git commands', async () => {
  const { root, repository, request, check } = await setUp(150);
  const rounds = endurance({ whole: 8, small: 2 });
  for (let round = 0; round < rounds; round += 1) {
    const child = start({ root, ...request });
    await once(child.stdout, 'data');
    await delay((round * 48) / rounds);
    // In every second round the git command lives on as an orphan while the next call is already at work.
    endNow(round % 2 === 0 ? -Number(child.pid) : Number(child.pid));
    await check();
    git(root, 'worktree', 'remove', '--force', request.path);
    git(root, 'branch', '-D', request.branch);
    expect(await listWorktrees(repository)).toHaveLength(1);
  }
});

/** Kills a process or a group. One that was quicker has completed its work, which is checked all the same. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}
