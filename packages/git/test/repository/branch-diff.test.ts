import { existsSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffBranch, parseNumstat } from '../../src/repository/branch-diff.ts';
import { gitLimits } from '../../src/command/limit.ts';
import { commitAll, git, makeRepository, refusal, snapshot, write } from '../fixture.ts';
import { errandPlace, plantCommands } from '../merging.ts';

test('a diff shows what is committed, changed, staged, untracked, deleted and renamed, and touches nothing', async () => {
  const place = await errandPlace({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'gone.txt': 'gone\n',
    'old.txt': 'the same\nlong\ntext\n',
    '.gitignore': 'ignored\n',
  });
  place.work({ 'committed.txt': 'one\ntwo\n' });
  write(place.path, { 'a.txt': 'A\n', 'b.txt': 'B\n', 'new dir/ñ.txt': 'new\n', ignored: 'x', 'image.bin': 'a\0b' });
  git(place.path, 'add', 'b.txt');
  rmSync(join(place.path, 'gone.txt'));
  renameSync(join(place.path, 'old.txt'), join(place.path, 'moved.txt'));
  symlinkSync('/etc/passwd', join(place.path, 'link'));
  utimesSync(join(place.path, 'committed.txt'), 1, 1);
  const before = [snapshot(place.root), snapshot(place.path)];
  const { files, patch, truncated } = await diffBranch(place.repository, place.request);
  expect(files).toEqual([
    { path: 'a.txt', from: null, added: 1, removed: 1 },
    { path: 'b.txt', from: null, added: 1, removed: 1 },
    { path: 'committed.txt', from: null, added: 2, removed: 0 },
    { path: 'gone.txt', from: null, added: 0, removed: 1 },
    { path: 'image.bin', from: null, added: null, removed: null },
    { path: 'link', from: null, added: 1, removed: 0 },
    { path: 'moved.txt', from: 'old.txt', added: 0, removed: 0 },
    { path: 'new dir/ñ.txt', from: null, added: 1, removed: 0 },
  ]);
  expect(patch).toContain('-a\n+A\n');
  expect(patch).toContain('+/etc/passwd');
  expect(patch).not.toContain('root:');
  expect(truncated).toBe(false);
  expect([snapshot(place.root), snapshot(place.path)]).toEqual(before);
  expect(readdirSync(place.ownDir).filter((name) => name.startsWith('pawl-scratch'))).toEqual([]);
});

test('an unchanged worktree has no diff; a missing one has that of its branch; without both it says so', async () => {
  const place = await errandPlace();
  expect(await diffBranch(place.repository, place.request)).toEqual({ files: [], patch: '', truncated: false });
  place.work({ 'x.txt': 'x\n' });
  git(place.root, 'worktree', 'remove', '--force', place.path);
  expect((await diffBranch(place.repository, place.request)).files).toMatchObject([{ path: 'x.txt' }]);
  git(place.root, 'branch', '-D', 'work/otter');
  expect(await refusal(diffBranch(place.repository, place.request))).toMatch(/^not_found: .*trash/);
});

test('a diff larger than the limit is cut, and says so', async () => {
  const place = await errandPlace();
  write(place.path, { 'big.txt': 'line\n'.repeat(gitLimits.patchBytes / 4) });
  const { patch, truncated, files } = await diffBranch(place.repository, place.request);
  expect(truncated).toBe(true);
  expect(patch.length).toBeLessThanOrEqual(gitLimits.patchBytes);
  expect(files).toHaveLength(1);
});

test('no command of a repository runs, and a nested repository is not read [W3-11, 8.40]', async () => {
  const place = await errandPlace({ '.gitattributes': '* filter=evil diff=evil merge=evil\n', 'a.txt': 'a\n' });
  const fired = plantCommands(place.home, place.root);
  write(place.path, { 'a.txt': 'changed\n', 'b.txt': 'b\n', '.gitattributes': '* filter=evil diff=evil\n' });
  makeRepository(join(place.path, 'nested'));
  const { files } = await diffBranch(place.repository, place.request);
  expect(files.map(({ path }) => path)).toEqual(['.gitattributes', 'a.txt', 'b.txt']);
  expect(fired()).toEqual([]);
  git(place.path, '-c', 'core.hooksPath=/dev/null', 'diff', '--no-ext-diff');
  expect(fired()).not.toEqual([]);
});

test('a link in the place of the index is not followed', async () => {
  const place = await errandPlace();
  const index = join(place.root, '.git/worktrees/tree/index');
  rmSync(index);
  writeFileSync(join(place.home, 'other'), 'secret');
  symlinkSync(join(place.home, 'other'), index);
  expect(await refusal(diffBranch(place.repository, place.request))).toMatch(/^conflict: /);
  expect(existsSync(join(place.home, 'other'))).toBe(true);
});

test('numstat is read back whatever the names are', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !text.includes('\0') && text !== '');
  const count = fc.option(fc.nat(10_000), { nil: null });
  const file = fc.record({ path: name, from: fc.option(name, { nil: null }), added: count, removed: count });
  fc.assert(
    fc.property(fc.array(file), (files) => {
      const text = files.map(({ path, from, added, removed }) => {
        const head = `${added ?? '-'}\t${removed ?? '-'}\t`;
        return from === null ? `${head}${path}\0` : `${head}\0${from}\0${path}\0`;
      });
      expect(parseNumstat(text.join(''))).toEqual(files);
    }),
  );
});

test('a missing commit is git’s own error', async () => {
  const place = await errandPlace();
  commitAll(place.root, 'more');
  const missing = { ...place.request, base: 'd'.repeat(40) };
  expect(await refusal(diffBranch(place.repository, missing))).toMatch(/^git_failed: /);
});
