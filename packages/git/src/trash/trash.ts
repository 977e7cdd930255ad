import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { runInUserRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { isThere, moveDirectory } from '../worktree/move.ts';
import { repositoryLock } from '../worktree/register.ts';
import { canonicalPath, findRegistration, initializing, type Registration } from '../worktree/registration.ts';
import { headOf, type Repository } from '../repository/repository.ts';
import { requireNote, writeNote, type TrashNote } from './trash-note.ts';
import { listWorktrees } from '../worktree/worktree-list.ts';

export type TrashRequest = {
  path: string;
  trashDir: string;
  /** The branch that the worktree was made for, if any, for the note. The branch itself is kept. */
  branch: string | null;
  /** Known number of uncommitted files, for the note. */
  dirty?: number;
  at: number;
};

/**
 * Moves a worktree to the trash with all its files, including ignored ones, and removes it from git's list. Deletes
 * nothing:
 *   <trashDir>/<name>/note.json       what it was
 *   <trashDir>/<name>/files/          the worktree
 *   <trashDir>/<name>/dot-git         its `.git` file, apart, so that git in there never finds another worktree's index
 *   <trashDir>/<name>/registration/   git's record of it, with the index
 * The entry is assembled under a name derived from the path and renamed at the end, so the next call finishes an
 * interrupted one. Returns null if there is no such worktree.
 */
export async function trashWorktree(
  repository: Repository,
  request: TrashRequest,
): Promise<{ entry: string; note: TrashNote } | null> {
  const path = await canonicalPath(request.path);
  const key = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const draft = join(request.trashDir, `.draft-${key}`);
  return withLock(`worktree:${path}`, async () => {
    const registration = await findRegistration(repository, path);
    const isBegun = await isThere(join(draft, 'note.json'));
    if (registration === null && !isBegun) {
      if (await isThere(path)) throw notOurs(repository, path);
      return null;
    }
    if (registration !== null) await refuseUnsafe(repository, registration, path);
    const note = isBegun ? await requireNote(draft) : await newNote(repository, registration, { ...request, path });
    if (!isBegun) {
      await mkdir(draft, { recursive: true, mode: 0o700 });
      await writeNote(draft, note);
    }
    await withLock(repositoryLock(repository), () => moveInto(repository, { draft, key, path, registration, note }));
    const entry = join(request.trashDir, note.name);
    await rename(draft, entry);
    return { entry, note };
  });
}

type Step = { draft: string; key: string; path: string; registration: Registration | null; note: TrashNote };

async function moveInto(repository: Repository, { draft, key, path, registration, note }: Step): Promise<void> {
  if (registration?.detachedAt) {
    // Commits on no branch would be garbage-collected once git's record of the worktree is gone.
    const ref = `refs/pawl/trash/${note.name}`;
    await runInUserRepository(repository.commonDir, ['update-ref', '--no-deref', ref, registration.detachedAt]);
  }
  const files = join(draft, 'files');
  await moveDirectory({
    // Without a registration the files were already moved; what is at the path now is not ours.
    from: registration === null ? null : path,
    to: files,
    aside: join(dirname(path), `.pawl-trash-${key}`),
  });
  const pointer = join(files, '.git');
  if (await isPlainFile(pointer)) await rename(pointer, join(draft, 'dot-git'));
  await moveDirectory({
    from: registration?.adminDir ?? null,
    to: join(draft, 'registration'),
    aside: join(repository.commonDir, `pawl-trash-${key}`),
  });
}

/** Refuses, before anything is moved, worktrees that must stay. */
async function refuseUnsafe(repository: Repository, registration: Registration, path: string): Promise<void> {
  if (registration.locked !== null && registration.locked !== initializing) {
    throw new PawlError('conflict', `The worktree ${path} is locked.`, {
      hint: `If you want to remove it, run: git worktree unlock ${path}`,
      details: { reason: registration.locked },
    });
  }
  if ((await isThere(path)) && !(await lstat(path)).isDirectory()) {
    throw new PawlError('conflict', `${path} is no longer a directory.`, { hint: 'Look at it and move it aside.' });
  }
  const inner = (await listWorktrees(repository)).find((worktree) => worktree.path.startsWith(path + sep));
  if (inner !== undefined || repository.commonDir.startsWith(path + sep)) {
    throw new PawlError('conflict', `Another worktree is inside ${path}.`, {
      hint: 'Remove that one first.',
      details: { inner: inner?.path ?? repository.commonDir },
    });
  }
}

function notOurs(repository: Repository, path: string): PawlError {
  return new PawlError('not_found', `${path} is not a worktree of ${repository.root}, so it stays.`, {
    hint: 'See `git worktree list`.',
  });
}

async function newNote(
  repository: Repository,
  registration: Registration | null,
  request: TrashRequest,
): Promise<TrashNote> {
  const label = basename(request.path)
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 64);
  return {
    version: 1,
    name: `${label}-${request.at}-${randomBytes(4).toString('hex')}`,
    path: request.path,
    branch: request.branch ?? '',
    head: registration?.branch ?? registration?.detachedAt ?? '',
    commit: registration === null ? null : await headOf(registration.adminDir),
    dirty: request.dirty ?? null,
    repository: repository.root,
    at: request.at,
  };
}

async function isPlainFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}
