import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const packageFile = { 'package.json': JSON.stringify({ scripts: { test: 'node --test' } }) };

async function aRepository(directory: string, files: Record<string, string> = packageFile) {
  const root = join(directory, 'repository');
  await sampleRepository(root, { files });
  const add = async () => (await daemon.client.addProject({ path: root, checks: true })).checks;
  return { root, file: join(root, '.pawl', 'config.yaml'), add };
}

test('detected checks are written once, nothing else is, and the file can be committed normally', async () => {
  await daemon.client.addProject({ path: daemon.repository });
  expect(await git(daemon.repository, ['status', '--porcelain', '--ignored'])).toBe('');
  writeFileSync(join(daemon.repository, 'package.json'), packageFile['package.json']);
  // An agent's worktree excludes parts of `.pawl/` from commits.
  await daemon.ended((await daemon.work()).id);
  const { checks } = await daemon.client.addProject({ path: daemon.repository, checks: true });
  const file = join(daemon.repository, '.pawl', 'config.yaml');
  expect(checks).toEqual({
    file,
    found: [{ run: 'npm test', from: 'package.json' }],
    outcome: 'written',
    reason: null,
  });
  expect(readFileSync(file, 'utf8')).toMatch(/^checks:\n {2}- npm test\nqueue:\n.*\n {2}auto: false\n$/m);
  expect(readdirSync(join(daemon.repository, '.pawl'))).toEqual(['config.yaml']);
  await git(daemon.repository, ['add', '.pawl/config.yaml']);
  expect(await git(daemon.repository, ['diff', '--cached', '--name-only'])).toBe('.pawl/config.yaml');
});

test('an existing file stays, and one of many writers wins', async () => {
  await using directory = await temporaryDirectory();
  const { root, file, add } = await aRepository(directory.path);
  const outcomes = (await Promise.all(Array.from({ length: 5 }, add))).map((checks) => checks?.outcome);
  expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'kept')).toHaveLength(4);
  expect(readdirSync(join(root, '.pawl'))).toEqual(['config.yaml']);
  writeFileSync(file, 'checks: make\n');
  expect(await add()).toMatchObject({ outcome: 'kept' });
  expect(readFileSync(file, 'utf8')).toBe('checks: make\n');
});

test('a config on the target branch is not written again if the checkout lacks it', async () => {
  await using directory = await temporaryDirectory();
  const { file, root, add } = await aRepository(directory.path, {
    ...packageFile,
    '.pawl/config.yaml': 'checks: make\n',
  });
  rmSync(file);
  expect(await add()).toMatchObject({ outcome: 'kept' });
  expect(readdirSync(join(root, '.pawl'))).toEqual([]);
});

test('nothing is written if nothing is found, even in a bare or empty repository', async () => {
  await using directory = await temporaryDirectory();
  const { root, add } = await aRepository(directory.path, { 'README.md': '' });
  expect(await add()).toMatchObject({ outcome: 'not-found', found: [] });
  expect(readdirSync(root).toSorted()).toEqual(['.git', 'README.md']);
  const bare = join(directory.path, 'bare.git');
  await git(directory.path, ['clone', '--quiet', '--bare', root, bare]);
  expect((await daemon.client.addProject({ path: bare, checks: true })).checks).toMatchObject({ outcome: 'not-found' });
  const empty = join(directory.path, 'empty');
  await sampleRepository(empty, { commits: 0 });
  writeFileSync(join(empty, 'go.mod'), 'module a\n');
  expect((await daemon.client.addProject({ path: empty, checks: true })).checks).toMatchObject({ outcome: 'written' });
});

test('no link out of the checkout is followed', async () => {
  await using directory = await temporaryDirectory();
  const { root, add } = await aRepository(directory.path);
  const outside = join(directory.path, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(root, '.pawl'));
  expect(await add()).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('is a link') });
  expect(readdirSync(outside)).toEqual([]);
});

test('a target branch other than main or master is named in the file', async () => {
  await using directory = await temporaryDirectory();
  const { root, file, add } = await aRepository(directory.path);
  await git(root, ['branch', '--quiet', '-m', 'main', 'trunk#1']);
  expect(await add()).toMatchObject({ outcome: 'written' });
  expect(readFileSync(file, 'utf8')).toContain('\n  branch: "trunk#1"\n');
  await git(root, ['switch', '--quiet', '--create', 'topic']);
  const { merging } = await daemon.client.addProject({ path: root, checks: true });
  expect(merging?.branch).toBe('trunk#1');
});
