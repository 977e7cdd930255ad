import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { expect } from 'vitest';
import { openRepository, type Repository } from '../src/repository/repository.ts';
import { takeSnapshot } from '../src/snapshot/snapshot.ts';
import { addWorktree } from '../src/worktree/worktree.ts';
import { git, makeRepository, personEnvironment, temporaryDirectory } from './fixture.ts';

export type SnapshotSetup = {
  home: string;
  root: string;
  repository: Repository;
  ownDir: string;
  /** The work tree whose files are carried. */
  parent: string;
};

/** A repository, and the work tree of it that is to be carried: the main one, or a linked one. */
export async function setUpSnapshot(kind: 'main' | 'linked', files?: Record<string, string>): Promise<SnapshotSetup> {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), files);
  const parent = kind === 'main' ? root : join(home, 'parent');
  if (kind === 'linked') git(root, 'worktree', 'add', '--quiet', '-b', 'work/parent', parent);
  return { home, root, repository: await openRepository(root), ownDir: join(home, 'own.git'), parent };
}

/** Carries the files of the parent into a new worktree, and returns its path. */
export async function carry({ home, repository, ownDir, parent }: SnapshotSetup): Promise<string> {
  const name = newId();
  const { head, commit } = await takeSnapshot(repository, { ownDir, path: parent, name });
  const path = join(home, 'trees', name);
  await addWorktree(repository, { ownDir, path, branch: `work/${name}`, base: head, snapshot: { name, commit } });
  return path;
}

/** Everything that a person can see of uncommitted work, as bytes. The index is not refreshed by looking. */
export function stateOf(path: string) {
  const look = (...args: string[]) =>
    execFileSync('git', ['--no-optional-locks', ...args], { cwd: path, env: personEnvironment }).toString('latin1');
  return {
    lines: look('status', '--porcelain=v1', '-uall'),
    entries: look('ls-files', '-s', '-t', '-v', '-z'),
  };
}

/** Contents, permissions, times (in microseconds) and targets of all files below a directory but git's own; names are byte strings. */
export function filesOf(root: string, without: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: Buffer, prefix: string): void => {
    for (const entry of readdirSync(directory, { encoding: 'buffer' })) {
      const name = prefix + entry.toString('latin1');
      const path = Buffer.concat([directory, Buffer.from('/'), entry]);
      const info = lstatSync(path, { bigint: true });
      if (entry.toString() === '.git' || without.includes(name)) continue;
      if (info.isDirectory()) visit(path, `${name}/`);
      else if (info.isSymbolicLink()) found[name] = `-> ${readlinkSync(path, { encoding: 'latin1' })}`;
      else if (info.isFile()) {
        const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
        found[name] = `${(info.mode & 0o777n).toString(8)} ${info.mtimeNs / 1_000n} ${hash}`;
      }
    }
  };
  visit(Buffer.from(root), '');
  return found;
}

/** All that must not change in the parent: bytes, permissions and times of its files, its index, HEAD and stash. */
export function witness({ root, parent }: SnapshotSetup) {
  const admin = parent === root ? join(root, '.git') : join(root, '.git/worktrees/parent');
  const info = lstatSync(join(admin, 'index'), { bigint: true });
  const stash = join(root, '.git/refs/stash');
  return {
    files: filesOf(parent),
    index: [readFileSync(join(admin, 'index')).toString('base64'), info.ino, info.mtimeNs, info.ctimeNs],
    admin: readdirSync(admin).filter((name) => name !== 'worktrees'),
    head: readFileSync(join(admin, 'HEAD'), 'utf8'),
    stash: existsSync(stash) ? readFileSync(stash, 'utf8') : null,
    main: readFileSync(join(root, '.git/refs/heads/main'), 'utf8'),
    objects: readdirSync(join(root, '.git/objects'), { recursive: true, encoding: 'utf8' }).toSorted(),
  };
}

/** Carries the files and proves that the child is what the parent was, and that the parent is what it was. */
export async function expectCarried(place: SnapshotSetup, without: readonly string[] = []): Promise<string> {
  const before = witness(place);
  const child = await carry(place);
  expect(witness(place)).toEqual(before);
  expect(stateOf(child)).toEqual(stateOf(place.parent));
  expect(filesOf(child)).toEqual(filesOf(place.parent, without));
  return child;
}
