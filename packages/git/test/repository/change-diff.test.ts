import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles, conflictsBetween, diffCommits, fileAt, mergeBase } from '../../src/repository/change-diff.ts';
import { openRepository } from '../../src/repository/repository.ts';
import {
  commitAll,
  git,
  makeRepository,
  personEnvironment,
  refusal,
  snapshot,
  temporaryDirectory,
  write,
} from '../fixture.ts';
import { plantCommands } from '../merging.ts';

/** A repository, and two branches off its first commit that are made by `fork`. */
async function place(files?: Record<string, string>, format: 'sha1' | 'sha256' = 'sha1') {
  const home = temporaryDirectory();
  const root = join(home, 'project');
  if (format === 'sha256') git(home, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', root);
  makeRepository(root, files ?? { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n' });
  const base = git(root, 'rev-parse', 'HEAD').trim();
  return {
    home,
    root,
    base,
    repository: await openRepository(root),
    ownDir: join(home, 'own.git'),
    /** A commit on the first one with these files. */
    fork(changed: Record<string, string>) {
      git(root, 'checkout', '--quiet', '--detach', base);
      write(root, changed);
      const commit = commitAll(root, 'fork');
      git(root, 'checkout', '--quiet', 'main');
      return commit;
    },
  };
}

test('a diff of two commits has the files and the patch, and names what was renamed', async () => {
  const { repository, ownDir, root, base } = await place({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' });
  git(root, 'mv', 'a.txt', 'ñ\n.txt');
  write(root, { 'b.txt': 'B\n', 'image.bin': 'a\0b' });
  const to = commitAll(root, 'second');
  const { files, patch, truncated } = await diffCommits(repository, { ownDir, from: base, to });
  expect(files).toEqual([
    { path: 'b.txt', from: null, added: 1, removed: 1 },
    { path: 'image.bin', from: null, added: null, removed: null },
    { path: 'ñ\n.txt', from: 'a.txt', added: 0, removed: 0 },
  ]);
  expect(patch).toContain('-b\n+B\n');
  expect(truncated).toBe(false);
  expect(await changedFiles(repository, { ownDir, from: base, to })).toEqual([
    'a.txt',
    'b.txt',
    'image.bin',
    'ñ\n.txt',
  ]);
  expect(await changedFiles(repository, { ownDir, from: to, to })).toEqual([]);
});

test('a file is read as it was committed, and only a file that is not too large', async () => {
  const { repository, ownDir, root } = await place();
  const bytes = Buffer.from([0, 255, 13, 10, 0xc3, 0x28]);
  write(root, { 'dir/x.txt': 'x\n', 'tool.sh': '#!/bin/sh\n', empty: '' });
  writeFileSync(join(root, 'bytes'), bytes);
  git(root, 'add', '--chmod=+x', 'tool.sh');
  symlinkSync('b.txt', join(root, 'link'));
  symlinkSync('dir', join(root, 'way'));
  git(root, 'update-index', '--add', '--cacheinfo', `160000,${'d'.repeat(40)},module`);
  git(root, 'add', '--', 'dir', 'bytes', 'link', 'way', 'empty');
  git(root, 'commit', '--quiet', '--message', 'odd');
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  const find = (path: string, maxBytes = 1_000) => fileAt(repository, ownDir, commit, path, maxBytes);
  const read = async (path: string, maxBytes?: number) => (await find(path, maxBytes)).content;
  expect(await read('bytes')).toEqual(bytes);
  expect(String(await read('dir/x.txt'))).toBe('x\n');
  expect(String(await read('tool.sh'))).toBe('#!/bin/sh\n');
  expect(String(await read('empty', 0))).toBe('');
  expect(String(await read('b.txt', 2))).toBe('b\n');
  expect(await find('b.txt', 1)).toEqual({ is: 'unusable', content: null, why: 'it has more than 1 bytes' });
  for (const path of ['link', 'way', 'module', 'dir'])
    expect(await find(path)).toEqual({ is: 'unusable', content: null, why: 'it is not a regular file' });
  for (const path of ['way/x.txt', 'missing', 'B.TXT']) expect((await find(path)).is).toBe('absent');
});

test('a path is data, whatever it looks like [8.39]', async () => {
  const odd = [
    '-x',
    '--help',
    ':(glob)*',
    ':/b.txt',
    '*',
    '[ab].txt',
    'a\nb',
    'q"uote',
    'back\\slash',
    'HEAD:b.txt',
    ' ',
  ];
  const { repository, ownDir, root } = await place(Object.fromEntries(odd.map((name) => [name, `of ${name}`])));
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  const read = async (path: string) =>
    (await fileAt(repository, ownDir, commit, path, 1_000)).content?.toString() ?? null;
  for (const name of odd) expect(await read(name)).toBe(`of ${name}`);
  const nowhere = [
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    '../project/b.txt',
    './*',
    'x/../b.txt',
    'b.txt\0',
    '*/',
    '\u{d800}',
  ];
  for (const name of [...nowhere, ':(top)', '??', 'x'.repeat(200_000)]) expect(await read(name)).toBe(null);
});

test('only a full commit id is accepted', async () => {
  const { repository, ownDir, base } = await place();
  for (const id of ['HEAD', '--output=/tmp/x', `${base}^`, `${base}:a.txt`, base.slice(0, 12), '', `${base}\n`]) {
    expect(await refusal(diffCommits(repository, { ownDir, from: base, to: id }))).toMatch(/^invalid_input: /);
    expect(await refusal(changedFiles(repository, { ownDir, from: id, to: base }))).toMatch(/^invalid_input: /);
    expect(await refusal(fileAt(repository, ownDir, id, 'a.txt', 10))).toMatch(/^invalid_input: /);
    expect(await refusal(mergeBase(repository, ownDir, base, id))).toMatch(/^invalid_input: /);
    expect(await refusal(conflictsBetween(repository, { ownDir, a: id, b: base }))).toMatch(/^invalid_input: /);
  }
  const missing = 'd'.repeat(40);
  expect(await refusal(changedFiles(repository, { ownDir, from: base, to: missing }))).toMatch(/^git_failed: /);
});

test('conflicts are found if both sides changed the same lines, and nothing is left behind', async () => {
  const { repository, ownDir, root, fork, base } = await place();
  const first = fork({ 'a.txt': '1\nfirst\n3\n4\n5\n', 'new.txt': 'first\n' });
  const second = fork({ 'a.txt': '1\nsecond\n3\n4\n5\n', 'new.txt': 'second\n', 'b.txt': 'B\n' });
  const apart = fork({ 'a.txt': '1\n2\n3\n4\nlast\n' });
  const before = snapshot(root);
  const conflicts = (a: string, b: string) => conflictsBetween(repository, { ownDir, a, b });
  expect(await conflicts(first, second)).toEqual(['a.txt', 'new.txt']);
  expect(await conflicts(second, first)).toEqual(['a.txt', 'new.txt']);
  expect(await conflicts(first, apart)).toEqual([]);
  expect(await conflicts(first, base)).toEqual([]);
  expect(await mergeBase(repository, ownDir, first, second)).toBe(base);
  expect(snapshot(root)).toEqual(before);
  expect(Object.keys(snapshot(ownDir)).filter((name) => /objects\/|scratch/.test(name))).toEqual([]);
});

test('a deletion against an edit, odd names, and unrelated histories', async () => {
  const { repository, ownDir, root, home, base } = await place({ 'ñ\n"x"': '1\n', 'b.txt': 'b\n' });
  git(root, 'checkout', '--quiet', '--detach');
  git(root, 'rm', '--quiet', 'ñ\n"x"');
  const deleted = commitAll(root, 'deleted');
  git(root, 'checkout', '--quiet', '--detach', base);
  write(root, { 'ñ\n"x"': '2\n' });
  const edited = commitAll(root, 'edited');
  expect(await conflictsBetween(repository, { ownDir, a: deleted, b: edited })).toEqual(['ñ\n"x"']);
  makeRepository(join(home, 'other'), { 'b.txt': 'other\n' });
  git(root, '-c', 'protocol.file.allow=always', 'fetch', '--quiet', join(home, 'other'), 'main');
  const stranger = git(root, 'rev-parse', 'FETCH_HEAD').trim();
  expect(await mergeBase(repository, ownDir, edited, stranger)).toBe(null);
  expect(await conflictsBetween(repository, { ownDir, a: edited, b: stranger })).toEqual(['b.txt']);
});

test('no driver, filter, converter or hook of a repository runs [8.40, 8.41]', async () => {
  const { repository, ownDir, root, home, fork, base } = await place({
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    'a.txt': '1\n',
  });
  const first = fork({ 'a.txt': 'first\n' });
  const second = fork({ 'a.txt': 'second\n' });
  const fired = plantCommands(home, root);
  expect((await diffCommits(repository, { ownDir, from: base, to: first })).files).toHaveLength(1);
  expect(await changedFiles(repository, { ownDir, from: base, to: first })).toEqual(['a.txt']);
  expect(String((await fileAt(repository, ownDir, first, 'a.txt', 100)).content)).toBe('first\n');
  expect(await conflictsBetween(repository, { ownDir, a: first, b: second })).toEqual(['a.txt']);
  expect(await mergeBase(repository, ownDir, first, second)).toBe(base);
  expect(fired()).toEqual([]);
  // The same in plain git does run them.
  git(root, '-c', 'diff.external=', 'diff', base, first);
  expect(fired()).toContain('command');
});

test('a repository of the other object format is read in the same way', async () => {
  const { repository, ownDir, base, fork } = await place(undefined, 'sha256');
  expect(base).toHaveLength(64);
  const first = fork({ 'b.txt': 'first\n' });
  const second = fork({ 'b.txt': 'second\n' });
  expect(await conflictsBetween(repository, { ownDir, a: first, b: second })).toEqual(['b.txt']);
  expect(await changedFiles(repository, { ownDir, from: base, to: first })).toEqual(['b.txt']);
  expect(String((await fileAt(repository, ownDir, first, 'b.txt', 100)).content)).toBe('first\n');
});

test('a commit with more names than can be listed is refused, not cut', async () => {
  const { repository, ownDir, root, base } = await place();
  // One blob under names of 255 bytes each, in trees that are shared: 40 MB of names from a few objects.
  const blob = git(root, 'hash-object', '-w', 'b.txt').trim();
  const makeTree = (entries: string[]) =>
    execFileSync('git', ['mktree'], {
      cwd: root,
      input: entries.join(''),
      encoding: 'utf8',
      env: personEnvironment,
    }).trim();
  const names = Array.from({ length: 400 }, (_, index) => `${index}`.padStart(4, '0') + 'n'.repeat(200));
  const inner = makeTree(names.map((name) => `100644 blob ${blob}\t${name}\n`));
  const tree = makeTree(names.map((name) => `040000 tree ${inner}\t${name}\n`));
  const to = git(root, 'commit-tree', '-p', base, '-m', 'huge', tree).trim();
  expect(await refusal(changedFiles(repository, { ownDir, from: base, to }))).toMatch(/^too_large: /);
  appendFileSync(join(root, 'b.txt'), 'more\n');
  expect(await changedFiles(repository, { ownDir, from: base, to: commitAll(root, 'small') })).toEqual(['b.txt']);
  expect(readdirSync(ownDir).filter((name) => name.startsWith('pawl-scratch'))).toEqual([]);
});
