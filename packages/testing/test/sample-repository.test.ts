import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, sampleRepository } from '../src/sample-repository.ts';
import { temporaryDirectory } from '../src/temporary.ts';

test('the same options give the same commits', async () => {
  await using temporary = await temporaryDirectory();
  const options = { files: { 'src/a.txt': 'a\n' }, commits: 3 };
  const heads = await Promise.all(
    ['one', 'two with spaces'].map(async (name) => {
      await sampleRepository(join(temporary.path, name), options);
      return git(join(temporary.path, name), ['rev-parse', 'main']);
    }),
  );
  expect(heads[0]).toBe(heads[1]);
  expect(await git(join(temporary.path, 'one'), ['rev-list', '--count', 'main'])).toBe('3');
  expect(await git(join(temporary.path, 'one'), ['show', 'HEAD:src/a.txt'])).toBe('a');
});

test('a copy is as git would have made it: valid, clean, with its log and nothing of the original', async () => {
  await using temporary = await temporaryDirectory();
  const options = { files: { 'src/a.txt': 'a\n', 'b.txt': 'b\n' }, commits: 2 };
  const [first, copy] = [join(temporary.path, 'first'), join(temporary.path, 'copy')];
  await sampleRepository(first, options);
  await sampleRepository(copy, options);
  expect(await git(copy, ['fsck', '--strict'])).toBe('');
  // The plumbing does not look into files whose times differ from the index: it would call them changed.
  expect(await git(copy, ['diff-files'])).toBe('');
  expect(await git(copy, ['status', '--porcelain'])).toBe('');
  expect(await git(copy, ['reflog', 'show', '--format=%H', 'refs/heads/main'])).toBe(
    await git(first, ['rev-list', 'main']),
  );
  await git(copy, ['commit', '--quiet', '--allow-empty', '-m', 'more'], {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.invalid',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.invalid',
  });
  expect(await git(first, ['rev-list', '--count', 'main'])).toBe('2');
});

test('a repository without commits has an unborn HEAD and no identity of its own', async () => {
  await using temporary = await temporaryDirectory();
  await sampleRepository(temporary.path, { commits: 0 });
  await expect(git(temporary.path, ['rev-parse', '--verify', 'HEAD'])).rejects.toThrow('fatal');
  await expect(git(temporary.path, ['config', 'user.name'])).rejects.toThrow('Command failed');
});
