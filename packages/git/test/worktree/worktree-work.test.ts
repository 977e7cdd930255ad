import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRepository, resolveCommit, type Repository } from '../../src/repository/repository.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { worktreeWork, type WorkRequest, type WorktreeWork } from '../../src/worktree/worktree-work.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

type Place = { home: string; root: string; repository: Repository; path: string; base: string; request: WorkRequest };

async function setUp(): Promise<Place> {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), { 'a.txt': 'a\n', '.gitignore': '*.ignored\n' });
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const path = join(home, 'trees/otter');
  const request = { ownDir: join(home, 'own.git'), path, branch: 'work/otter', base };
  await addWorktree(repository, request);
  return { home, root, repository, path, base, request };
}

function work(path: string, text = 'work\n'): string {
  write(path, { 'a.txt': text });
  return commitAll(path, 'work');
}

type Row = { does: (place: Place) => unknown; expected: (place: Place) => Partial<WorktreeWork> };

const rows: Record<string, Row> = {
  clean: { does: () => {}, expected: ({ base }) => ({ state: 'clean', changed: 0, commits: 0, tip: base }) },
  'clean, with ignored files': {
    does: ({ path }) => write(path, { 'x.ignored': 'x' }),
    expected: () => ({ state: 'clean' }),
  },
  'tracked-dirty': {
    does: ({ path }) => write(path, { 'a.txt': 'changed\n' }),
    expected: () => ({
      state: 'dirty',
      changed: 1,
      untracked: 0,
      detail: expect.stringContaining('1 changed') as string,
    }),
  },
  'dirty in the index only': {
    does: ({ path }) => void git(path, 'rm', '--quiet', '--cached', 'a.txt'),
    expected: () => ({ state: 'dirty', changed: 1, untracked: 1 }),
  },
  'untracked-dirty': {
    does: ({ path }) => write(path, { 'new.txt': 'new\n' }),
    expected: () => ({ state: 'dirty', changed: 0, untracked: 1 }),
  },
  'dirty and unpushed': {
    does: ({ path }) => {
      work(path);
      write(path, { 'new.txt': 'new\n' });
    },
    expected: () => ({ state: 'dirty', commits: 1, untracked: 1 }),
  },
  unpushed: {
    does: ({ path }) => {
      work(path, '1\n');
      work(path, '2\n');
    },
    expected: () => ({ state: 'unpushed', commits: 2, tip: expect.any(String) as string }),
  },
  pushed: {
    does: ({ root, path }) => void git(root, 'update-ref', 'refs/remotes/origin/work/otter', work(path)),
    expected: () => ({ state: 'clean', commits: 0 }),
  },
  'pushed, then more': {
    does: ({ root, path }) => {
      git(root, 'update-ref', 'refs/remotes/origin/work/otter', work(path, '1\n'));
      work(path, '2\n');
    },
    expected: () => ({ state: 'unpushed', commits: 1 }),
  },
  merged: {
    does: ({ root, path }) => {
      work(path);
      git(root, 'merge', '--quiet', '--no-ff', '--message', 'merge', 'work/otter');
    },
    expected: () => ({ state: 'clean', commits: 0 }),
  },
  'only a tag has it': {
    does: ({ root, path }) => void git(root, 'tag', 'v1', work(path)),
    expected: () => ({ state: 'unpushed', commits: 1 }),
  },
  locked: {
    does: ({ root, path }) => void git(root, 'worktree', 'lock', '--reason', 'on a stick', path),
    expected: () => ({ state: 'locked', detail: 'It is locked: on a stick.' }),
  },
  'locked, on a disk that does not exist': {
    does: ({ root, path }) => {
      git(root, 'worktree', 'lock', path);
      rmSync(path, { recursive: true });
    },
    expected: () => ({ state: 'locked' }),
  },
  missing: {
    does: ({ path }) => {
      work(path);
      rmSync(path, { recursive: true });
    },
    expected: () => ({ state: 'missing', commits: 1, tip: expect.any(String) as string }),
  },
  'missing, with record and branch': {
    does: ({ root, path }) => {
      git(root, 'worktree', 'remove', path);
      git(root, 'branch', '--quiet', '-D', 'work/otter');
    },
    expected: () => ({ state: 'missing', commits: 0, tip: null }),
  },
  'with another worktree inside': {
    does: ({ root, path }) => void git(root, 'worktree', 'add', '--quiet', '--detach', join(path, 'x.ignored')),
    expected: () => ({ state: 'occupied', detail: expect.stringContaining('x.ignored') as string }),
  },
  'a detached HEAD with commits': {
    does: ({ path }) => {
      git(path, 'checkout', '--quiet', '--detach');
      work(path);
    },
    expected: ({ base }) => ({ state: 'unpushed', commits: 1, tip: base }),
  },
  'a detached HEAD without': {
    does: ({ path }) => void git(path, 'checkout', '--quiet', '--detach'),
    expected: () => ({ state: 'clean', commits: 0 }),
  },
  'on another branch, which keeps its commits': {
    does: ({ path }) => {
      git(path, 'checkout', '--quiet', '-b', 'mine');
      work(path);
    },
    expected: () => ({ state: 'clean', commits: 0 }),
  },
  'a deleted branch': {
    does: ({ root, path }) => {
      work(path);
      git(root, 'update-ref', '-d', 'refs/heads/work/otter');
    },
    expected: () => ({ state: 'dirty', tip: null, detail: expect.stringContaining('no commit') as string }),
  },
  'in the middle of a cherry-pick, with nothing changed': {
    does: ({ root, path }) => {
      work(path);
      writeFileSync(join(root, '.git/worktrees/otter/CHERRY_PICK_HEAD'), `${'1'.repeat(40)}\n`);
    },
    expected: () => ({ state: 'dirty', changed: 0, untracked: 0 }),
  },
};

test.each(Object.entries(rows))('%s [7.11]', async (_, { does, expected }) => {
  const place = await setUp();
  does(place);
  expect(await worktreeWork(place.repository, place.request)).toMatchObject(expected(place));
});

test('more than can be counted is dirty, and reported as such', async () => {
  const { repository, path, request } = await setUp();
  const blob = git(path, 'rev-parse', 'HEAD:a.txt').trim();
  const long = 'n'.repeat(200);
  const entries = Array.from({ length: 21_000 }, (_, i) => `100644 ${blob}\t${long}${i}\n`).join('');
  execFileSync('git', ['update-index', '--index-info'], { cwd: path, input: entries });
  const found = await worktreeWork(repository, request);
  expect(found).toMatchObject({ state: 'dirty', detail: expect.stringMatching(/^More than \d+ changed/) as string });
});

test('a missing base is no obstacle; a directory that is not a worktree is', async () => {
  const { home, repository, request } = await setUp();
  expect(await worktreeWork(repository, { ...request, base: 'd'.repeat(40) })).toMatchObject({ state: 'clean' });
  write(home, { 'plain/a.txt': 'a' });
  const stranger = { ...request, path: join(home, 'plain') };
  expect(await refusal(worktreeWork(repository, stranger))).toMatch(/^not_found: /);
});

test('reading changes nothing', async () => {
  const { root, repository, path, request } = await setUp();
  work(path);
  const before = [snapshot(root), snapshot(path)];
  await worktreeWork(repository, request);
  expect([snapshot(root), snapshot(path)]).toEqual(before);
});
