import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, test } from 'vitest';
import { openRepository, resolveCommit, branchTip } from '../../src/repository/repository.ts';
import { addWorktree, verifyWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees } from '../../src/worktree/worktree-list.ts';
import { commitAll, git, makeRepository, recordGit, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

async function setUp(name = 'project') {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, name));
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const request = {
    ownDir: join(home, 'own.git'),
    path: join(home, 'trees', 'calm-otter'),
    branch: 'work/calm-otter',
    base,
  };
  return { home, root, repository, base, request };
}

describe('addWorktree', () => {
  test('creates a clean worktree on its own branch', async () => {
    const { repository, request, base } = await setUp();
    expect(await addWorktree(repository, request)).toEqual({ path: request.path, branch: request.branch });
    expect(git(request.path, 'status', '--porcelain=v2', '--branch')).toBe(
      `# branch.oid ${base}\n# branch.head work/calm-otter\n`,
    );
    expect(readFileSync(join(request.path, 'src/a.ts'), 'utf8')).toBe('a\n');
    expect(git(request.path, 'fsck', '--no-dangling')).toBe('');
  });

  test('leaves the user repository unchanged, except for the branch and the registration', async () => {
    const { repository, root, request } = await setUp();
    git(root, 'remote', 'add', 'origin', '/nowhere');
    write(root, { 'readme.md': 'changed by the user\n', 'untracked.txt': 'kept\n' });
    git(root, 'stash', 'push', '--quiet');
    write(root, { 'src/a.ts': 'staged\n' });
    git(root, 'add', 'src/a.ts');
    const allowed = /^\.git\/(worktrees|(logs\/)?refs\/heads\/work)(\/|$)/;
    const before = snapshot(root, (path) => allowed.test(path));
    await addWorktree(repository, request);
    expect(snapshot(root, (path) => allowed.test(path))).toEqual(before);
    expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      'refs/heads/main\nrefs/heads/work/calm-otter\n',
    );
  });

  test("a second call changes nothing and keeps the agent's work", async () => {
    const { repository, request } = await setUp();
    await addWorktree(repository, request);
    write(request.path, { 'src/a.ts': 'edited\n', 'new.txt': 'new\n' });
    const commit = commitAll(request.path, 'work');
    write(request.path, { 'src/a.ts': 'edited again\n' });
    rmSync(join(request.path, 'readme.md'));
    const before = snapshot(request.path);
    expect(await addWorktree(repository, request)).toEqual({ path: request.path, branch: request.branch });
    expect(snapshot(request.path)).toEqual(before);
    expect(await branchTip(repository, request.branch)).toBe(commit);
  });

  test('the same request twice at once is one worktree', async () => {
    const { repository, request } = await setUp();
    const [first, second] = await Promise.all([addWorktree(repository, request), addWorktree(repository, request)]);
    expect(first).toEqual(second);
    expect(await listWorktrees(repository)).toHaveLength(2);
  });

  test('reuses its branch if only that was created', async () => {
    const { repository, root, request, base } = await setUp();
    git(root, 'branch', '--no-track', request.branch, base);
    await addWorktree(repository, request);
    expect(git(request.path, 'status', '--porcelain')).toBe('');
  });

  test('uses an empty leftover directory', async () => {
    const { repository, request } = await setUp();
    mkdirSync(request.path, { recursive: true });
    await addWorktree(repository, request);
    expect(git(request.path, 'status', '--porcelain')).toBe('');
  });

  test('recreates a worktree whose directory was deleted, at the tip of its branch [W3-11]', async () => {
    const { repository, request } = await setUp();
    await addWorktree(repository, request);
    write(request.path, { 'new.txt': 'new\n' });
    const tip = commitAll(request.path, 'work');
    rmSync(request.path, { recursive: true });
    await addWorktree(repository, request);
    expect(git(request.path, 'rev-parse', 'HEAD').trim()).toBe(tip);
    expect(git(request.path, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(request.path, 'new.txt'), 'utf8')).toBe('new\n');
  });

  test('recreates it if directory and branch were deleted', async () => {
    const { repository, root, request, base } = await setUp();
    await addWorktree(repository, request);
    rmSync(request.path, { recursive: true });
    git(root, 'update-ref', '-d', `refs/heads/${request.branch}`);
    await addWorktree(repository, request);
    expect(git(request.path, 'rev-parse', 'HEAD').trim()).toBe(base);
  });

  test('keeps commits of a lost worktree that are on no branch', async () => {
    const { repository, request } = await setUp();
    await addWorktree(repository, request);
    git(request.path, 'checkout', '--quiet', '--detach');
    commitAll(request.path, 'on no branch');
    rmSync(request.path, { recursive: true });
    expect(await refusal(addWorktree(repository, request))).toMatch(/^conflict: .* → .*git branch <name>/);
    expect(await listWorktrees(repository)).toHaveLength(2);
  });

  test('does not take over a locked worktree on an unmounted disk', async () => {
    const { repository, root, request } = await setUp();
    await addWorktree(repository, request);
    git(root, 'worktree', 'lock', '--reason', 'on a stick', request.path);
    rmSync(request.path, { recursive: true });
    expect(await refusal(addWorktree(repository, request))).toMatch(/^conflict: .* → .*unlock/);
  });

  test("refuses somebody else's files and leaves them", async () => {
    const { repository, request, home } = await setUp();
    write(request.path, { 'precious.txt': 'mine\n' });
    expect(await refusal(addWorktree(repository, request))).toMatch(/^conflict: /);
    expect(snapshot(request.path)).toHaveProperty(['precious.txt']);
    const other = { ...request, path: join(home, 'trees', 'file'), branch: 'work/file' };
    writeFileSync(other.path, 'a file');
    expect(await refusal(addWorktree(repository, other))).toMatch(/^conflict: /);
    expect(readFileSync(other.path, 'utf8')).toBe('a file');
    const linked = { ...request, path: join(home, 'trees', 'link'), branch: 'work/link' };
    symlinkSync(join(home, 'elsewhere'), linked.path);
    expect(await refusal(addWorktree(repository, linked))).toMatch(/^conflict: /);
    expect(existsSync(join(home, 'elsewhere'))).toBe(false);
    expect(await branchTip(repository, linked.branch)).toBeNull();
  });

  test('refuses a directory with files whose registration is gone', async () => {
    const { repository, root, request } = await setUp();
    await addWorktree(repository, request);
    rmSync(join(root, '.git/worktrees'), { recursive: true });
    expect(await refusal(addWorktree(repository, request))).toMatch(/^conflict: /);
    expect(existsSync(join(request.path, 'readme.md'))).toBe(true);
  });

  test('refuses a branch with other commits and never moves it [W3-11]', async () => {
    const { repository, root, request } = await setUp();
    git(root, 'branch', '--no-track', request.branch);
    const base = commitAll(root, 'second');
    const before = await branchTip(repository, request.branch);
    expect(await refusal(addWorktree(repository, { ...request, base }))).toMatch(/^conflict: .*other commits/);
    expect(await branchTip(repository, request.branch)).toBe(before);
    expect(existsSync(request.path)).toBe(false);
  });

  test('refuses a branch that another worktree has checked out [W3-11]', async () => {
    const { repository, home, request } = await setUp();
    await addWorktree(repository, request);
    const second = { ...request, path: join(home, 'trees', 'second') };
    expect(await refusal(addWorktree(repository, second))).toMatch(/^conflict: .*checked out/);
    const main = { ...request, path: join(home, 'trees', 'third'), branch: 'main' };
    expect(await refusal(addWorktree(repository, main))).toMatch(/^conflict: /);
  });

  test('names the conflicting branch', async () => {
    const { repository, root, request } = await setUp();
    git(root, 'branch', 'work');
    expect(await refusal(addWorktree(repository, request))).toMatch(
      /^conflict: The branch work conflicts with work\/calm-otter\./,
    );
  });

  test("retries while another program holds the branch's lock", async () => {
    const { repository, root, request } = await setUp();
    write(join(root, '.git/refs/heads'), { [`${request.branch}.lock`]: '' });
    const calls = recordGit();
    const adding = addWorktree(repository, request);
    await waitUntil(() => calls().filter((call) => call.includes('worktree add')).length >= 2, {
      what: 'two calls of git worktree add',
    });
    rmSync(join(root, '.git/refs/heads', `${request.branch}.lock`));
    await adding;
    expect(git(request.path, 'status', '--porcelain')).toBe('');
  });

  test('runs two git commands: one that registers, one that writes the files', async () => {
    const { repository, home, request } = await setUp();
    await addWorktree(repository, request);
    const calls = recordGit();
    await addWorktree(repository, { ...request, path: join(home, 'trees', 'second'), branch: 'work/second' });
    expect(calls().map((call) => /worktree add|read-tree/.exec(call)?.[0])).toEqual(['worktree add', 'read-tree']);
    await addWorktree(repository, request);
    expect(calls()).toHaveLength(2);
  });

  test('refuses hostile names, bases and paths before anything is made', async () => {
    const { repository, request } = await setUp();
    const calls = recordGit();
    for (const branch of ['../x', '-x', '', 'a..b', 'x@{1}', 'a.lock', "a'$(touch x)", 'a\nb']) {
      expect(await refusal(addWorktree(repository, { ...request, branch })), branch).toMatch(/^invalid_input: /);
    }
    for (const base of ['HEAD', '--help', 'main', 'abc', `${'a'.repeat(40)}\n`]) {
      expect(await refusal(addWorktree(repository, { ...request, base })), base).toMatch(/^invalid_input: /);
    }
    for (const path of ['relative/path', '/tmp/a\nb', '/tmp/a\0b', '/tmp/x/.git']) {
      expect(await refusal(addWorktree(repository, { ...request, path })), path).toMatch(/^invalid_input: /);
    }
    expect(calls()).toEqual([]);
  });

  test('fails clearly for a missing commit and leaves nothing', async () => {
    const { repository, request } = await setUp();
    const base = 'a'.repeat(40);
    expect(await refusal(addWorktree(repository, { ...request, base }))).toMatch(/^git_failed: /);
    expect(await branchTip(repository, request.branch)).toBeNull();
    expect(await listWorktrees(repository)).toHaveLength(1);
  });

  test('works with hostile characters in every path', async () => {
    const { repository, home, request } = await setUp(String.raw`we"ird: pa\th é 日本 $(x)`);
    const odd = {
      ...request,
      path: join(home, String.raw`tr"ees: \n ü`, '-calm otter'),
      ownDir: join(home, String.raw`ho"me: \x é`, 'own.git'),
    };
    await addWorktree(repository, odd);
    expect(git(odd.path, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(odd.path, 'readme.md'), 'utf8')).toBe('hello\n');
  });

  test('finds the worktree through a symbolic link above it', async () => {
    const { repository, home, request } = await setUp();
    mkdirSync(join(home, 'real'));
    symlinkSync(join(home, 'real'), join(home, 'alias'));
    const through = { ...request, path: join(home, 'alias', 'otter') };
    expect((await addWorktree(repository, through)).path).toBe(join(home, 'real', 'otter'));
    expect((await addWorktree(repository, through)).path).toBe(join(home, 'real', 'otter'));
  });
});

describe('verifyWorktree [S3-17]', () => {
  test('accepts exactly the path, not one that ends alike [5.2.6]', async () => {
    const { repository, home, request } = await setUp();
    await addWorktree(repository, request);
    expect(await verifyWorktree(repository, request.path)).toEqual({ path: request.path, branch: request.branch });
    write(home, { 'other/trees/calm-otter/.git': readFileSync(join(request.path, '.git'), 'utf8') });
    expect(await refusal(verifyWorktree(repository, join(home, 'other/trees/calm-otter')))).toMatch(/^not_found: /);
    expect(await refusal(verifyWorktree(repository, join(request.path, 'src')))).toMatch(/^not_found: /);
    expect(await refusal(verifyWorktree(repository, join(home, 'nowhere')))).toMatch(/^not_found: /);
  });

  test('notices another branch, a missing pointer and a missing directory', async () => {
    const { repository, request } = await setUp();
    await addWorktree(repository, request);
    git(request.path, 'checkout', '--quiet', '-b', 'elsewhere');
    expect(await refusal(verifyWorktree(repository, request.path, request.branch))).toMatch(/^conflict: /);
    rmSync(join(request.path, '.git'));
    expect(await refusal(verifyWorktree(repository, request.path))).toMatch(/^not_found: /);
    rmSync(request.path, { recursive: true });
    expect(await refusal(verifyWorktree(repository, request.path))).toMatch(/^not_found: /);
  });
});
