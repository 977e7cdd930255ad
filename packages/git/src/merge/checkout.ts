import { lstat, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { runOnFiles } from '../command/command.ts';
import { removeAbandonedLock, waitForEarlierGit } from '../worktree/leftover.ts';
import { createLimiter } from '@pawl/core/sessions/turn-taking';
import type { Registration } from '../worktree/registration.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';

/** Writing files is bound by the machine, not by git's locks, so as many checkouts run at once as there are cores. */
export const throughCheckoutLimiter = createLimiter(availableParallelism());

/**
 * True if the files of a registered worktree were written. Git renames the index into place after the last file, so its
 * presence is the mark; from then on the files belong to the worktree's user and are never reset.
 */
export async function isCheckedOut(registration: Registration): Promise<boolean> {
  const index = join(registration.adminDir, 'index');
  try {
    if ((await lstat(index)).isFile()) return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw error;
  }
  // Git would write through a link.
  throw new PawlError('conflict', `${index} is not a plain file.`, {
    hint: 'Somebody replaced it. Look at it, then delete it.',
  });
}

export type Checkout = { ownDir: string; path: string; commit: string };

/** Writes the files of a commit into a new worktree, with Pawl's own config. */
export async function checkOut(
  repository: Repository,
  registration: Registration,
  { ownDir, path, commit }: Checkout,
): Promise<void> {
  const view = { ownDir, objectsDir: objectsDirOf(repository), adminDir: registration.adminDir, path };
  await throughCheckoutLimiter(() =>
    runOnFiles(view, ['read-tree', '-u', '--reset', '--no-recurse-submodules', commit]),
  );
}

/** Cleans up after a killed checkout, so that it can be repeated. */
export async function clearUnfinishedCheckout(registration: Registration, path: string): Promise<void> {
  await waitForEarlierGit(path);
  await removeAbandonedLock(registration.adminDir);
  // A `worktree add` killed at its last step leaves its own lock, which protects nothing.
  if (registration.locked !== null) await rm(join(registration.adminDir, 'locked'), { force: true });
}
