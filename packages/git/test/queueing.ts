import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openRepository } from '../src/repository/repository.ts';
import { commitAll, git, makeRepository, personEnvironment, temporaryDirectory, write } from './fixture.ts';

/** When all commits of these tests are made. */
export const atMs = 1_700_000_000_000;

/** A repository with branches to put together. */
export async function queuePlace(files: Record<string, string> = { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n' }) {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), files);
  const main = git(root, 'rev-parse', 'HEAD').trim();
  const repository = await openRepository(root);
  const ownDir = join(home, 'own.git');
  return { home, root, main, repository, ownDir, branch: (from: string, ...steps: Files[]) => grow(root, from, steps) };
}

type Files = Record<string, string>;

/** Makes commits on top of another one, on no branch, and returns the last. */
export function grow(root: string, from: string, steps: Files[]): string {
  git(root, 'checkout', '--quiet', '--detach', from);
  for (const [index, files] of steps.entries()) {
    write(root, files);
    commitAll(root, `step ${index + 1}: ${Object.keys(files).join(', ')}`);
  }
  const tip = git(root, 'rev-parse', 'HEAD').trim();
  git(root, 'checkout', '--quiet', 'main');
  return tip;
}

/** Git by a person in Pawl's own git directory, with the objects of the project. */
export function gitIn(ownDir: string, root: string, ...args: string[]): string {
  const env = { ...personEnvironment, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(root, '.git/objects') };
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  return execFileSync('git', [`--git-dir=${ownDir}`, ...args], { cwd: root, encoding: 'utf8', stdio, env });
}

/** The names of all objects and packs below a directory. */
export function objectFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath !== join(directory, 'info'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
