import { createHash } from 'node:crypto';
import { lstat, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { freeAdminDir, replaceFile } from '../worktree/admin-directory.ts';
import { isBranchInUse } from '../repository/branch.ts';
import { runInUserRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { isThere, moveDirectory } from '../worktree/move.ts';
import { readPointer } from '../repository/pointer-file.ts';
import { repositoryLock } from '../worktree/register.ts';
import { canonicalPath, findRegistration } from '../worktree/registration.ts';
import { commitAt, type Repository } from '../repository/repository.ts';
import { checkEntryName, readNote, requireNote, type TrashNote } from './trash-note.ts';

export type RestoreRequest = { trashDir: string; name: string };

/** In an entry while it is being restored. */
export const restoringMark = 'restoring';

/**
 * Restores a worktree from the trash: its files, and git's record of it with its index. Refuses before anything is
 * moved; the next call finishes an interrupted one.
 *   whole entry → marked → files back → branch there → pointer written → record in place → entry gone
 */
export async function restoreWorktree(
  repository: Repository,
  { trashDir, name }: RestoreRequest,
): Promise<{ path: string }> {
  const entry = join(trashDir, checkEntryName(name));
  const finished = join(trashDir, `.restored-${name}`);
  return withLock(`trash:${entry}`, async () => {
    const isFinished = await isThere(finished);
    const note = isFinished ? await readNote(finished) : await noteOf(entry, name);
    if (note === null) throw notInTrash(name);
    const path = await canonicalPath(note.path);
    if (!isFinished) {
      await withLock(`worktree:${path}`, () => putBack(repository, { entry, path, note }));
      await rename(entry, finished);
    }
    await removeRemains(finished);
    return { path };
  });
}

type Step = { entry: string; path: string; note: TrashNote };

async function putBack(repository: Repository, { entry, path, note }: Step): Promise<void> {
  const key = createHash('sha256').update(entry).digest('hex').slice(0, 16);
  const staged = join(repository.commonDir, `pawl-restore-${key}`);
  const mark = join(entry, restoringMark);
  await withLock(repositoryLock(repository), async () => {
    if (!(await isThere(mark))) {
      await refuseConflicts(repository, { entry, path, note });
      await writeFile(mark, '');
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await moveDirectory({ from: join(entry, 'files'), to: path, aside: join(entry, 'files-aside') });
    // A worktree that had lost its directory gets an empty one.
    await mkdir(path, { recursive: true });
    crashPoint('restore.after_files');
    const record = join(entry, 'registration');
    await moveDirectory({ from: record, to: staged, aside: join(entry, 'registration-aside') });
    if (await isThere(staged)) await registerAgain(repository, staged, { entry, path, note });
    const ref = `refs/pawl/trash/${note.name}`;
    const kept = await commitAt(repository, ref);
    // HEAD of the worktree holds the commit again.
    if (kept !== null) await runInUserRepository(repository.commonDir, ['update-ref', '-d', ref, kept]);
  });
}

/** Puts git's record in place. Rewrites its paths, because anyone who worked there could have changed them. */
async function registerAgain(repository: Repository, staged: string, { entry, path, note }: Step): Promise<void> {
  const { branch } = await headIn(staged);
  if (branch !== null && (await commitAt(repository, `refs/heads/${branch}`)) === null && note.commit !== null) {
    const none = '0'.repeat(note.commit.length);
    await runInUserRepository(repository.commonDir, ['update-ref', `refs/heads/${branch}`, note.commit, none]);
  }
  const adminDir = await freeAdminDir(repository, (await readPointer(join(entry, 'dot-git'))) ?? `gitdir: ${path}`);
  await replaceFile(join(staged, 'gitdir'), `${path}/.git\n`);
  await replaceFile(join(staged, 'commondir'), '../..\n');
  await replaceFile(join(path, '.git'), `gitdir: ${adminDir}\n`);
  await mkdir(dirname(adminDir), { recursive: true });
  await rename(staged, adminDir);
}

/** Checks all obstacles before anything is changed. */
async function refuseConflicts(repository: Repository, { entry, path, note }: Step): Promise<void> {
  if (note.repository !== repository.root) {
    throw new PawlError('conflict', `${note.name} is a worktree of ${note.repository}, not of ${repository.root}.`, {
      hint: 'Restore it from there.',
    });
  }
  if ((await isThere(path)) || (await findRegistration(repository, path)) !== null) {
    throw new PawlError('conflict', `${path} is in use, so nothing can be restored there.`, {
      hint: 'Move away what is there (see also `git worktree list`), then restore again.',
    });
  }
  const { branch, detachedAt } = await headIn(join(entry, 'registration'));
  if (branch === null) return refuseLostCommit(repository, entry, detachedAt);
  if (await isBranchInUse(repository, branch)) {
    throw new PawlError('conflict', `The branch ${branch} is checked out in another worktree.`, {
      hint: 'Switch that worktree to another branch first; see `git worktree list`.',
    });
  }
  if ((await commitAt(repository, `refs/heads/${branch}`)) === null) {
    await refuseLostCommit(repository, entry, note.commit);
  }
}

async function refuseLostCommit(repository: Repository, entry: string, commit: string | null): Promise<void> {
  if (commit !== null && (await commitAt(repository, commit)) !== null) return;
  throw new PawlError('conflict', `The commit that the worktree was on is no longer known.`, {
    hint: `Its files are intact in ${join(entry, 'files')}. Copy what you need.`,
    details: { commit },
  });
}

async function headIn(adminDir: string): Promise<{ branch: string | null; detachedAt: string | null }> {
  const head = (await readPointer(join(adminDir, 'HEAD'))) ?? '';
  return {
    branch: /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? null,
    detachedAt: /^[0-9a-f]{40,64}$/.test(head) ? head : null,
  };
}

async function noteOf(entry: string, name: string): Promise<TrashNote> {
  const info = await lstat(entry).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  });
  if (!info?.isDirectory()) throw notInTrash(name);
  return requireNote(entry);
}

/** Removes the rest of a restored entry, but nothing that Pawl did not put there. */
export async function removeRemains(finished: string): Promise<void> {
  for (const name of ['dot-git', restoringMark, 'note.json']) await rm(join(finished, name), { force: true });
  await rmdir(finished).catch((error: unknown) => {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  });
}

function notInTrash(name: string): PawlError {
  return new PawlError('not_found', `The trash has no entry ${name}.`, { hint: 'List the entries: pawl worktree ls' });
}
