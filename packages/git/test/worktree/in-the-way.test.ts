import { expect, test } from 'vitest';
import { advanceBranch } from '../../src/merge/advance.ts';
import { commitAll, git, refusal, snapshot, write } from '../fixture.ts';
import { errandPlace } from '../merging.ts';

/** A person's checkout on main, and a commit that would come into it. */
async function place(coming: Record<string, string>, given?: Record<string, string>) {
  const errand = await errandPlace({ 'a.txt': 'a\n', '.gitignore': '*.env\nout/\nout\n', ...given });
  git(errand.path, 'rm', '--quiet', '-r', '--ignore-unmatch', 'turned');
  write(errand.path, coming);
  git(errand.path, 'add', '--force', '--all');
  const to = commitAll(errand.path, 'coming');
  const advance = { ownDir: errand.ownDir, branch: 'main', from: errand.base, to, note: 'test' };
  return { ...errand, to, advance: () => advanceBranch(errand.repository, advance) };
}

test.each([
  ['a file', { 'local.env': 'SECRET=mine\n' }, { 'local.env': 'SECRET=\n' }],
  ['a directory in the place of a file', { 'out/result': 'of an hour\n' }, { out: 'a file\n' }],
  ['a file in the place of a directory', { out: 'mine\n' }, { 'out/x': 'x\n' }],
  ['a name that is not plain', { 'ñ\n.env': 'mine\n' }, { 'ñ\n.env': 'theirs\n' }],
])('new files do not overwrite what a person’s checkout ignores: %s', async (_, mine, coming) => {
  const { root, base, advance } = await place(coming);
  write(root, mine);
  const before = snapshot(root);
  expect(git(root, 'status', '--porcelain')).toBe('');
  expect(await refusal(advance())).toMatch(/^conflict: .*in the way.*--ignored/s);
  expect(snapshot(root)).toEqual(before);
  expect(git(root, 'rev-parse', 'main').trim()).toBe(base);
});

test('ignored files beside new ones are no obstacle', async () => {
  const { root, to, advance } = await place({ 'b.txt': 'b\n', 'turned/into': 'x' }, { turned: 'a file\n' });
  write(root, { 'local.env': 'mine\n', 'out/result': 'r\n' });
  expect(await advance()).toBe(true);
  expect(git(root, 'rev-parse', 'main').trim()).toBe(to);
  expect(git(root, 'status', '--porcelain')).toBe('');
  expect(snapshot(root)).toHaveProperty(['local.env']);
  expect(snapshot(root)).toHaveProperty(['turned/into']);
});
