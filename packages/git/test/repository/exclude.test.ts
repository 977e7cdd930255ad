import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepOutOfCommits } from '../../src/repository/exclude.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { git, makeRepository, refusal, temporaryDirectory, write } from '../fixture.ts';

const patterns = ['/.pawl/input/', '/.pawl/output/'];

async function setUp() {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'));
  const file = join(root, '.git/info/exclude');
  return { home, root, file, repository: await openRepository(root) };
}

test('adds missing lines, once, and keeps the others', async () => {
  const { root, file, repository } = await setUp();
  writeFileSync(file, '# mine\n*.log');
  chmodSync(file, 0o640);
  await keepOutOfCommits(repository, patterns);
  await keepOutOfCommits(repository, patterns);
  expect(readFileSync(file, 'utf8')).toBe('# mine\n*.log\n/.pawl/input/\n/.pawl/output/\n');
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(join(root, '.git/info'))).toEqual(['exclude']);
  write(root, { '.pawl/input/task.md': 'x', '.pawl/output/signal.json': 'x', '.pawl/config.yaml': 'x' });
  expect(git(root, 'status', '--porcelain', '--untracked-files=all')).toBe('?? .pawl/config.yaml\n');
});

test('works without the file, without its directory, and many at once', async () => {
  const { root, file, repository } = await setUp();
  rmSync(join(root, '.git/info'), { recursive: true });
  await Promise.all(Array.from({ length: 20 }, () => keepOutOfCommits(repository, patterns)));
  expect(readFileSync(file, 'utf8')).toBe('/.pawl/input/\n/.pawl/output/\n');
});

test('never writes through a link that leads out of the git directory', async () => {
  const { home, root, file, repository } = await setUp();
  const outside = join(home, 'outside');
  writeFileSync(outside, 'precious\n');
  rmSync(file);
  symlinkSync(outside, file);
  expect(await refusal(keepOutOfCommits(repository, patterns))).toMatch(/^conflict: .* → .*\/\.pawl\/input\//);
  expect(readFileSync(outside, 'utf8')).toBe('precious\n');
  // A person who keeps that file elsewhere can add the lines there, and then all is well.
  writeFileSync(outside, `${patterns.join('\n')}\n`);
  await keepOutOfCommits(repository, patterns);
  rmSync(join(root, '.git/info'), { recursive: true });
  mkdirSync(join(home, 'info'));
  symlinkSync(join(home, 'info'), join(root, '.git/info'));
  expect(await refusal(keepOutOfCommits(repository, patterns))).toMatch(/^conflict: /);
  expect(readdirSync(join(home, 'info'))).toEqual([]);
});

test('follows a link that stays inside', async () => {
  const { root, file, repository } = await setUp();
  rmSync(file);
  writeFileSync(join(root, '.git/real-exclude'), '');
  symlinkSync('../real-exclude', file);
  await keepOutOfCommits(repository, patterns);
  expect(readFileSync(join(root, '.git/real-exclude'), 'utf8')).toBe('/.pawl/input/\n/.pawl/output/\n');
});

test('refuses anything but a small file', async () => {
  const { file, repository } = await setUp();
  writeFileSync(file, 'x'.repeat(1024 * 1024 + 1));
  expect(await refusal(keepOutOfCommits(repository, patterns))).toMatch(/^too_large: /);
  rmSync(file);
  mkdirSync(file);
  expect(await refusal(keepOutOfCommits(repository, patterns))).toMatch(/^conflict: /);
});
