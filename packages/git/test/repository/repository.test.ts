import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  branchExists,
  countCommits,
  headOf,
  listBranches,
  openRepository,
  resolveCommit,
} from '../../src/repository/repository.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees } from '../../src/worktree/worktree-list.ts';
import { commitAll, git, makeRepository, refusal, temporaryDirectory, write } from '../fixture.ts';

const elsewhere = 'git directory elsewhere';

/** Every shape of repository that a person may have, and where its root and shared directory are. */
const shapes: Record<string, (home: string) => { start: string; root: string; commonDir: string; bare?: boolean }> = {
  'plain, no remote': (home) => {
    const root = makeRepository(join(home, 'project'));
    return { start: root, root, commonDir: join(root, '.git') };
  },
  'from a directory below': (home) => {
    const root = makeRepository(join(home, 'project'));
    return { start: join(root, 'src'), root, commonDir: join(root, '.git') };
  },
  'from inside .git': (home) => {
    const root = makeRepository(join(home, 'project'));
    return { start: join(root, '.git', 'refs'), root, commonDir: join(root, '.git') };
  },
  'spaces, quotes and unicode in the path': (home) => {
    const root = makeRepository(join(home, String.raw`my "projects"`, 'zoë 日本:x'));
    return { start: root, root, commonDir: join(root, '.git') };
  },
  'through a symbolic link': (home) => {
    const root = makeRepository(join(home, 'project'));
    symlinkSync(root, join(home, 'link'));
    return { start: join(home, 'link'), root, commonDir: join(root, '.git') };
  },
  'detached HEAD': (home) => {
    const root = makeRepository(join(home, 'project'));
    git(root, 'checkout', '--quiet', '--detach');
    return { start: root, root, commonDir: join(root, '.git') };
  },
  'linked worktree': (home) => {
    const root = makeRepository(join(home, 'project'));
    git(root, 'worktree', 'add', '--quiet', '-b', 'side', join(home, 'side'));
    return { start: join(home, 'side', 'src'), root, commonDir: join(root, '.git') };
  },
  'bare clone': (home) => {
    git(home, 'clone', '--quiet', '--bare', makeRepository(join(home, 'project')), join(home, 'bare.git'));
    return {
      start: join(home, 'bare.git'),
      root: join(home, 'bare.git'),
      commonDir: join(home, 'bare.git'),
      bare: true,
    };
  },
  'linked worktree of a bare clone': (home) => {
    const bare = join(home, 'bare.git');
    git(home, 'clone', '--quiet', '--bare', makeRepository(join(home, 'project')), bare);
    git(bare, 'worktree', 'add', '--quiet', '-b', 'side', join(home, 'side'));
    return { start: join(home, 'side'), root: bare, commonDir: bare, bare: true };
  },
  submodule: (home) => withSubmodule(home),
  'linked worktree of a submodule': (home) => {
    const found = withSubmodule(home);
    git(found.root, 'worktree', 'add', '--quiet', '-b', 'side', join(home, 'side'));
    return { ...found, start: join(home, 'side') };
  },
  [elsewhere]: (home) => {
    const root = join(home, 'project');
    git(home, 'init', '--quiet', '--initial-branch=main', `--separate-git-dir=${join(home, 'elsewhere')}`, root);
    write(root, { 'src/a.ts': 'a\n' });
    commitAll(root, 'first');
    return { start: join(root, 'src'), root, commonDir: join(home, 'elsewhere') };
  },
  'clone that shares objects': (home) => {
    const source = makeRepository(join(home, 'source'));
    const root = join(home, 'project');
    git(home, 'clone', '--quiet', '--shared', source, root);
    return { start: root, root, commonDir: join(root, '.git') };
  },
};

function withSubmodule(home: string) {
  const inner = makeRepository(join(home, 'inner'));
  const outer = makeRepository(join(home, 'outer'));
  git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'lib/inner');
  commitAll(outer, 'with a submodule');
  const root = join(outer, 'lib/inner');
  return { start: root, root, commonDir: join(outer, '.git/modules/lib/inner') };
}

describe.each(Object.entries(shapes))('%s [W4-13]', (name, make) => {
  test('opens, and a worktree can be added that a person finds clean', async () => {
    const home = temporaryDirectory();
    const { start, ...expected } = make(home);
    const repository = await openRepository(start);
    expect(repository).toMatchObject({ bare: false, objectFormat: 'sha1', ...expected });
    if (!repository.bare || repository.top !== repository.root)
      expect(await headOf(repository.gitDir)).toBe(git(start, 'rev-parse', 'HEAD').trim());
    const base = await resolveCommit(repository);
    const request = { ownDir: join(home, 'own.git'), path: join(home, 'trees/otter'), branch: 'work/otter', base };
    await addWorktree(repository, request);
    expect(git(request.path, 'status', '--porcelain=v2', '--branch')).toBe(
      `# branch.oid ${base}\n# branch.head work/otter\n`,
    );
    const [main, ...linked] = await listWorktrees(repository);
    expect(main?.path).toBe(expected.root);
    expect(linked.map((worktree) => worktree.path)).toContain(request.path);
    // Git keeps no record of the main work tree when the git directory lies elsewhere; nobody can find it from here.
    const { root, gitDir: _gitDir, top: _top, ...shared } = repository;
    expect(await openRepository(request.path)).toMatchObject(name === elsewhere ? shared : { root, ...shared });
  });
});

test('a repository with sha256 objects', async () => {
  const home = temporaryDirectory();
  const root = join(home, 'project');
  git(home, 'init', '--quiet', '--object-format=sha256', root);
  write(root, { 'a.txt': 'a\n' });
  const commit = commitAll(root, 'first');
  const repository = await openRepository(root);
  expect(repository.objectFormat).toBe('sha256');
  expect(await resolveCommit(repository)).toBe(commit);
  const path = join(home, 'tree');
  await addWorktree(repository, { ownDir: join(home, 'own.git'), path, branch: 'work/a', base: commit });
  expect(git(path, 'status', '--porcelain')).toBe('');
});

describe('unusable repositories', () => {
  test('a plain directory, a file, nothing at all', async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, 'file'), '');
    expect(await refusal(openRepository(home))).toMatch(/^not_a_repository: .* → .*git init/);
    expect(await refusal(openRepository(join(home, 'file')))).toMatch(/^not_found: /);
    expect(await refusal(openRepository(join(home, 'nothing')))).toMatch(/^not_found: /);
  });

  test('no commit yet', async () => {
    const home = temporaryDirectory();
    git(home, 'init', '--quiet');
    const repository = await openRepository(home);
    expect(await refusal(resolveCommit(repository))).toMatch(/^no_commits: .* → .*commit/);
  });

  test.skipIf(process.getuid?.() !== 0)('a repository of another user', async () => {
    const root = makeRepository(join(temporaryDirectory(), 'project'));
    chownSync(root, 4242, 4242);
    chownSync(join(root, '.git'), 4242, 4242);
    expect(await refusal(openRepository(root))).toMatch(/^forbidden: .* → .*git config --global --add safe\.directory/);
  });

  test('a path with a line break', async () => {
    const root = join(temporaryDirectory(), 'a\nb');
    mkdirSync(root);
    git(root, 'init', '--quiet');
    expect(await refusal(openRepository(root))).toMatch(/^not_a_repository: /);
  });
});

describe('refs', () => {
  test('resolves branches, tags and short ids, and refuses options', async () => {
    const root = makeRepository(join(temporaryDirectory(), 'project'));
    const repository = await openRepository(root);
    git(root, 'tag', '--annotate', '--message', 'one', 'v1');
    const commit = git(root, 'rev-parse', 'HEAD').trim();
    for (const revision of ['HEAD', 'main', 'v1', commit.slice(0, 10)]) {
      expect(await resolveCommit(repository, revision), revision).toBe(commit);
    }
    for (const revision of ['', '-x', '--help', 'a\nb', '\0', ' HEAD']) {
      expect(await refusal(resolveCommit(repository, revision)), revision).toMatch(/^invalid_input: /);
    }
    for (const revision of ['nothing', 'HEAD:readme.md', 'main..main', '^main']) {
      expect(await refusal(resolveCommit(repository, revision)), revision).toMatch(/^not_found: /);
    }
  });

  test('lists branches by whole components and counts commits', async () => {
    const root = makeRepository(join(temporaryDirectory(), 'project'));
    const repository = await openRepository(root);
    const first = await resolveCommit(repository);
    git(root, 'branch', 'work/a');
    git(root, 'branch', 'workshop');
    const second = commitAll(root, 'second');
    git(root, 'branch', 'work/b');
    expect(await listBranches(repository, 'work/')).toEqual([
      { name: 'work/a', commit: first },
      { name: 'work/b', commit: second },
    ]);
    expect((await listBranches(repository)).map((branch) => branch.name)).toEqual([
      'main',
      'work/a',
      'work/b',
      'workshop',
    ]);
    expect(await branchExists(repository, 'work/a')).toBe(true);
    expect(await branchExists(repository, 'work')).toBe(false);
    expect(await branchExists(repository, 'nothing')).toBe(false);
    expect(await countCommits(repository, first, 'work/b')).toBe(1);
    expect(await countCommits(repository, 'work/b', first)).toBe(0);
    expect(await refusal(listBranches(repository, '--all'))).toMatch(/^invalid_input: /);
  });
});
