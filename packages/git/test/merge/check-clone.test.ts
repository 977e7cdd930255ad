import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCheckClone, removeCheckClone } from '../../src/merge/check-clone.ts';
import { mergeStep } from '../../src/merge/merge-step.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, refusal, snapshot, write } from '../fixture.ts';
import { plantCommands } from '../merging.ts';
import { atMs, queuePlace } from '../queueing.ts';

/** What stands in a directory, but for the git directory. */
function filesIn(dir: string): string[] {
  return Object.keys(snapshot(dir, (path) => path === '.git'));
}

async function clonePlace(files?: Record<string, string>) {
  const place = await queuePlace(files);
  const dir = join(place.home, 'checks', 'one');
  const { repository, ownDir } = place;
  return { ...place, dir, make: (commit: string) => makeCheckClone(repository, { ownDir, commit, dir }) };
}

describe('a clone for a check', () => {
  test('is a repository with the files of exactly that commit, even of one that only the queue has', async () => {
    const { home, root, main, repository, ownDir, dir, branch, make } = await clonePlace();
    const onto = branch(main, { 'c.txt': 'c\n' });
    const head = branch(main, { 'd/e.txt': 'e\n', 'Ä "x"\n.txt': 'odd\n' });
    const step = await mergeStep(repository, { ownDir, onto, head, method: 'squash', message: 'both', atMs });
    if (step.do !== 'merged') throw new Error(step.do);
    const before = [snapshot(root), snapshot(ownDir)];
    await make(step.commit);
    expect(git(dir, 'rev-parse', 'HEAD').trim()).toBe(step.commit);
    expect(git(dir, 'status', '--porcelain', '--ignored')).toBe('');
    expect(git(dir, 'log', '--format=%s')).toBe('both\nstep 1: c.txt\nfirst\n');
    expect(git(dir, 'branch', '--show-current') + git(dir, 'remote') + git(dir, 'for-each-ref')).toBe('');
    expect(filesIn(dir)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd/e.txt', 'Ä "x"\n.txt'].sort());
    expect(git(dir, 'fsck', '--no-dangling', '--no-progress')).toBe('');
    expect([snapshot(root), snapshot(ownDir)]).toEqual(before);
    await removeCheckClone(dir);
    expect(existsSync(dir)).toBe(false);
    expect(readdirSync(join(home, 'checks'))).toEqual([]);
  });

  test('nothing done in it reaches the refs, config or objects of the queue or the user', async () => {
    const { root, main, ownDir, dir, make } = await clonePlace();
    await make(main);
    const before = [snapshot(root), snapshot(ownDir)];
    write(dir, { 'a.txt': 'changed\n' });
    commitAll(dir, 'in the clone');
    git(dir, 'branch', '--force', 'main', 'HEAD');
    git(dir, 'update-ref', 'refs/heads/other', 'HEAD');
    git(dir, 'config', 'core.fsmonitor', 'false');
    git(dir, 'tag', 'v1');
    git(dir, 'worktree', 'add', '--quiet', join(dir, 'tree'), 'other');
    git(dir, 'repack', '-a', '-d', '-q');
    git(dir, 'gc', '--quiet', '--prune=now');
    expect(() => git(dir, 'push', '--quiet', 'origin', 'main')).toThrow();
    expect([snapshot(root), snapshot(ownDir)]).toEqual(before);
  });

  test('replaces anything there: read-only directories, dangling links, a file', async () => {
    const { home, main, dir, make } = await clonePlace();
    const kept = join(home, 'kept');
    write(kept, { 'mine.txt': 'mine\n' });
    await make(main);
    write(dir, { 'locked/deep/x.txt': 'x\n', '.git/HEAD': 'nonsense' });
    symlinkSync(kept, join(dir, 'locked/out'));
    symlinkSync(kept, join(dir, 'out'));
    for (const path of ['locked/deep', 'locked']) chmodSync(join(dir, path), 0o500);
    chmodSync(join(dir, '.git/objects'), 0);
    await make(main);
    expect(filesIn(dir)).toEqual(['a.txt', 'b.txt']);
    expect(git(dir, 'status', '--porcelain')).toBe('');
    await removeCheckClone(dir);
    symlinkSync(kept, dir);
    await make(main);
    expect(filesIn(dir)).toEqual(['a.txt', 'b.txt']);
    await removeCheckClone(dir);
    writeFileSync(dir, 'a file');
    await make(main);
    expect(filesIn(dir)).toEqual(['a.txt', 'b.txt']);
    expect(readFileSync(join(kept, 'mine.txt'), 'utf8')).toBe('mine\n');
    await removeCheckClone(dir);
    await removeCheckClone(dir);
  });

  test('a directory that only its owner could open is removed by an ordinary user', async () => {
    const { home } = await clonePlace();
    const dir = join(home, 'theirs');
    write(dir, { 'a/b/c.txt': 'c\n' });
    const module = join(import.meta.dirname, '../../src/trash/remove-whole.ts');
    for (const path of ['a/b', 'a']) chmodSync(join(dir, path), 0);
    // Who may do everything is not stopped by such a directory, and has to become somebody else first.
    if (process.getuid?.() === 0) {
      chmodSync(home, 0o755);
      execFileSync('chown', ['-R', '65534:65534', dir]);
    }
    const script = `const { removeWhole } = await import(${JSON.stringify(module)});
      if (process.getuid() === 0) process.seteuid(65534);
      await removeWhole(${JSON.stringify(join(dir, 'a'))});`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('works for a shallow repository, and for sha256 ids', async () => {
    const { home, root } = await clonePlace();
    commitAll(root, 'later');
    git(home, 'clone', '--quiet', '--depth=1', '--no-local', `file://${root}`, join(home, 'part'));
    const long = join(home, 'long');
    mkdirSync(long);
    git(long, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
    write(long, { 'a.txt': 'a\n' });
    commitAll(long, 'later');
    for (const path of [join(home, 'part'), long]) {
      const repository = await openRepository(path);
      const commit = git(path, 'rev-parse', 'HEAD').trim();
      const dir = join(home, 'clone');
      await makeCheckClone(repository, { ownDir: `${path}.own`, commit, dir });
      expect(git(dir, 'log', '--format=%H %s')).toBe(`${commit} later\n`);
      expect(git(dir, 'status', '--porcelain')).toBe('');
    }
  });
});

describe('hostile commits', () => {
  test('submodules, attributes, LFS and an embedded bare repository are only files [fault 41]', async () => {
    const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n*.txt filter=evil ident\n';
    const { home, root, dir, make } = await clonePlace({
      '.gitattributes': attributes,
      'a.txt': '$Id$\n',
      'b.bin': 'version https://git-lfs.github.com/spec/v1\n',
    });
    const library = makeRepository(join(home, 'library'));
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
    appendFileSync(join(root, '.gitmodules'), '[submodule "x"]\n\tpath = -u./evil\n\turl = ext::sh -c evil\n');
    const fired = plantCommands(home, root);
    const script = join(home, 'run');
    write(root, {
      'bare/HEAD': 'ref: refs/heads/main\n',
      'bare/config': `[core]\n\tfsmonitor = ${script} bare\n\tbare = true\n`,
      'bare/objects/x': '',
      'bare/refs/x': '',
    });
    symlinkSync('/etc', join(root, 'link'));
    const disarmed = ['-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null', '-c', 'filter.evil.clean=cat'];
    git(root, ...disarmed, 'add', '--all');
    git(root, ...disarmed, '-c', 'commit.gpgSign=false', 'commit', '--quiet', '--message', 'hostile');
    expect(fired()).toEqual([]);
    await make(git(root, 'rev-parse', 'HEAD').trim());
    expect(fired()).toEqual([]);
    expect(readdirSync(join(dir, 'lib'))).toEqual([]);
    expect(readFileSync(join(dir, 'b.bin'), 'utf8')).toMatch(/^version/);
    expect(readlinkSync(join(dir, 'link'))).toBe('/etc');
    expect(readFileSync(join(dir, 'bare/config'), 'utf8')).toContain('fsmonitor');
    expect(git(dir, 'status', '--porcelain')).toBe('');
    expect(fired()).toEqual([]);
  });

  test('a commit with a file in `.git`, or with an impossible name, is refused as such', async () => {
    const { root, dir, make } = await clonePlace();
    const blob = git(root, 'rev-parse', 'HEAD:a.txt').trim();
    const commitWith = (line: string) => {
      write(root, { list: `${line}\n` });
      const tree = git(root, '-c', 'alias.x=!git mktree <list', 'x').trim();
      return { tree, commit: git(root, 'commit-tree', '-m', 'x', tree).trim() };
    };
    const { tree } = commitWith(`100755 blob ${blob}\tpost-checkout`);
    const hooks = commitWith(`040000 tree ${tree}\thooks`);
    for (const line of [
      `040000 tree ${hooks.tree}\t.git`,
      `040000 tree ${hooks.tree}\t.GIT`,
      `100644 blob ${blob}\t..`,
      `100644 blob ${blob}\t${'x'.repeat(300)}`,
    ]) {
      const { commit } = commitWith(line);
      expect(await refusal(make(commit))).toMatch(/^invalid_input: The files of/);
      expect(existsSync(join(dir, '.git/hooks/post-checkout'))).toBe(false);
    }
  });
});
