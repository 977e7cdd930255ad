import { lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { archiveWork, removeArchiveScratch } from './archive.ts';
import { runInUserRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { isThere } from '../worktree/move.ts';
import { commitAt, type Repository } from '../repository/repository.ts';
import { restoringMark } from './restore.ts';
import { checkEntryName, readNote } from './trash-note.ts';

export type PruneRequest = {
  trashDir: string;
  name: string;
  /** The directory for archives of uncommitted work. */
  archiveTo: string;
};

/**
 * Permanently deletes one trash entry; the only code that deletes a person's files. Archives uncommitted work first.
 * Idempotent; a missing entry is no error.
 *   whole entry → archive written → out of the list → files deleted → ref dropped
 */
export async function pruneTrash(repository: Repository | null, request: PruneRequest): Promise<void> {
  const { trashDir, archiveTo } = request;
  const name = checkEntryName(request.name);
  const entry = join(trashDir, name);
  const doomed = join(trashDir, `.pruned-${name}`);
  await withLock(`trash:${entry}`, async () => {
    if (await isEntry(entry)) {
      if (await isThere(join(entry, restoringMark))) throw isBeingRestored(name);
      await removeArchiveScratch(entry);
      await archiveWork(repository, { entry, name, note: await readNote(entry), archiveTo }).catch((error: unknown) =>
        removeArchiveScratch(entry).then(() => Promise.reject(error)),
      );
      // An earlier call already archived what it left under this name.
      await deleteWhole(doomed);
      await rename(entry, doomed);
    }
    await deleteWhole(doomed);
    if (repository !== null) await dropRef(repository, `refs/pawl/trash/${name}`);
  });
}

/** True for a directory; refuses a link in its place, which leads out of the trash. */
async function isEntry(entry: string): Promise<boolean> {
  const info = await lstat(entry).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  });
  if (info === null || info.isDirectory()) return info !== null;
  throw new PawlError('conflict', `${entry} is not a directory, so it is not an entry of the trash.`, {
    hint: 'Look at it and remove it yourself.',
  });
}

async function deleteWhole(doomed: string): Promise<void> {
  try {
    await rm(doomed, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!hasErrno(error, 'EACCES', 'EPERM')) throw error;
    throw new PawlError('forbidden', `Not all of ${doomed} could be deleted.`, {
      hint: `Make it writable (chmod -R u+w), then prune again.`,
      cause: error,
    });
  }
}

/** Drops the ref that kept the commits of a detached HEAD, unless nothing else has them. */
async function dropRef(repository: Repository, ref: string): Promise<void> {
  const commit = await commitAt(repository, ref);
  if (commit === null) return;
  const elsewhere = ['--not', '--branches', '--remotes', '--tags'];
  const args = ['rev-list', '--count', commit, ...elsewhere];
  const { stdout } = await runInUserRepository(repository.commonDir, args);
  if (stdout.trim() === '0') await runInUserRepository(repository.commonDir, ['update-ref', '-d', ref, commit]);
}

function isBeingRestored(name: string): PawlError {
  return new PawlError('conflict', `${name} is being restored.`, {
    hint: 'Restore it again to finish that.',
  });
}
