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
  /** Where the archive of uncommitted work goes. */
  archiveTo: string;
};

/**
 * Deletes one entry of the trash for good; it is the only place that deletes files of a person. What no commit has is
 * archived first. It may be called again at any time; an entry that is gone is no failure.
 *
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
      // What an earlier call left under this name was archived then.
      await deleteWhole(doomed);
      await rename(entry, doomed);
    }
    await deleteWhole(doomed);
    if (repository !== null) await dropRef(repository, `refs/pawl/trash/${name}`);
  });
}

/** True for a directory; a link in its place leads out of the trash and is refused. */
async function isEntry(entry: string): Promise<boolean> {
  const info = await lstat(entry).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  });
  if (info === null || info.isDirectory()) return info !== null;
  throw new PawlError('conflict', `${entry} is not a directory, so it is no entry of the trash.`, {
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

/** Drops what kept the commits of a detached HEAD, unless nothing else has them: then they stay. */
async function dropRef(repository: Repository, ref: string): Promise<void> {
  const commit = await commitAt(repository, ref);
  if (commit === null) return;
  const elsewhere = ['--not', '--branches', '--remotes', '--tags'];
  const args = ['rev-list', '--count', commit, ...elsewhere];
  const { stdout } = await runInUserRepository(repository.commonDir, args);
  if (stdout.trim() === '0') await runInUserRepository(repository.commonDir, ['update-ref', '-d', ref, commit]);
}

function isBeingRestored(name: string): PawlError {
  return new PawlError('conflict', `${name} is being put back.`, {
    hint: 'Restore it once more; that finishes what was begun.',
  });
}
