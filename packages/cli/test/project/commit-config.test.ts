import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { commitConfig } from '../../src/project/commit-config.ts';

const file = '.pawl/config.yaml';

beforeEach(() => {
  for (const who of ['AUTHOR', 'COMMITTER']) {
    vi.stubEnv(`GIT_${who}_NAME`, 'Ada');
    vi.stubEnv(`GIT_${who}_EMAIL`, 'ada@example.invalid');
  }
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_SYSTEM', '/dev/null');
  return () => vi.unstubAllEnvs();
});

/** A repository with a configuration that is not committed, and another file that is staged. */
async function aCheckout(path: string): Promise<string> {
  const root = join(path, 'checkout');
  await sampleRepository(root);
  mkdirSync(join(root, '.pawl'));
  writeFileSync(join(root, file), 'checks: make\n');
  writeFileSync(join(root, 'other.txt'), 'mine\n');
  await git(root, ['add', 'other.txt']);
  return root;
}

const status = (root: string) => git(root, ['status', '--porcelain', '--untracked-files=all']);

test('commits the file on the current branch and nothing else, once', async () => {
  await using place = await temporaryDirectory();
  const root = await aCheckout(place.path);
  const before = await git(root, ['rev-parse', 'HEAD']);
  const done = commitConfig(root);
  expect(done).toEqual({ branch: 'main', commit: await git(root, ['rev-parse', 'HEAD']), created: true });
  expect(await git(root, ['diff', '--name-only', before, 'HEAD'])).toBe(file);
  expect(await status(root)).toBe('A  other.txt');
  expect(commitConfig(root)).toEqual({ ...done, created: false });
});

test.each([
  ['MERGE_HEAD', 'A merge is under way'],
  ['rebase-merge', 'A rebase is under way'],
  ['CHERRY_PICK_HEAD', 'A cherry-pick is under way'],
])('refuses while %s says so', async (name, message) => {
  await using place = await temporaryDirectory();
  const root = await aCheckout(place.path);
  writeFileSync(join(root, '.git', name), 'x');
  expect(() => commitConfig(root)).toThrow(message);
});

test('refuses when another version of the file is staged', async () => {
  await using place = await temporaryDirectory();
  const root = await aCheckout(place.path);
  await git(root, ['add', file]);
  expect(commitConfig(root).created).toBe(true);
  writeFileSync(join(root, file), 'checks: [make test]\n');
  await git(root, ['add', file]);
  writeFileSync(join(root, file), 'checks: [make other]\n');
  expect(() => commitConfig(root)).toThrow('is staged, and has been edited since');
  expect(await git(root, ['show', `:${file}`])).toBe('checks: [make test]');
});

test('a hook that refuses leaves the index and the branch as they were', async () => {
  await using place = await temporaryDirectory();
  const root = await aCheckout(place.path);
  const before = await git(root, ['rev-parse', 'HEAD']);
  const hook = join(root, '.git', 'hooks', 'pre-commit');
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho "not on a Monday" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  expect(() => commitConfig(root)).toThrow('not on a Monday');
  expect(await git(root, ['rev-parse', 'HEAD'])).toBe(before);
  expect(await status(root)).toBe(`A  other.txt\n?? ${file}`);
});

test('without an identity it shows git’s message', async () => {
  await using place = await temporaryDirectory();
  const root = await aCheckout(place.path);
  for (const who of ['AUTHOR', 'COMMITTER']) {
    vi.stubEnv(`GIT_${who}_NAME`, '');
    vi.stubEnv(`GIT_${who}_EMAIL`, '');
  }
  vi.stubEnv('EMAIL', '');
  vi.stubEnv('HOME', place.path);
  await git(root, ['config', 'user.useConfigOnly', 'true']);
  expect(() => commitConfig(root)).toThrow(/git commit failed: .*ident/s);
  expect(await status(root)).toBe(`A  other.txt\n?? ${file}`);
});
