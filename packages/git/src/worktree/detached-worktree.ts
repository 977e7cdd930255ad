import { join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { followFiles, isIndexAt, rehearse } from '../merge/advance.ts';
import { runInUserRepository } from '../command/command.ts';
import { removeAbandonedLock, waitForEarlierGit } from './leftover.ts';
import { withLock } from '../command/lock.ts';
import { isThere } from './move.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { canonicalPath, findRegistration, type Registration } from './registration.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { worktreeStatus } from './worktree-status.ts';
import { unfinishedOperation } from './worktree-work.ts';

export type DetachedMove = { ownDir: string; path: string; from: string; to: string };

/**
 * Moves a worktree without a branch from one commit to another. Returns false and changes nothing unless it is cleanly
 * at one of them: it has uncommitted files, commits of its own, or an operation in progress.
 *   clean at `from` ─▶ HEAD moves ─▶ files and index follow
 * The next call with the same commits finishes one that was interrupted after the first step.
 */
export async function moveDetached(repository: Repository, move: DetachedMove): Promise<boolean> {
  const { ownDir, from, to } = move;
  const path = await canonicalPath(move.path);
  await ensureOwnDirectory(repository, ownDir);
  return withLock(`worktree:${path}`, async () => {
    const registration = await findRegistration(repository, path);
    if (registration === null || (await isBusy(registration, path))) return false;
    const { adminDir, detachedAt } = registration;
    const view = { ownDir, objectsDir: objectsDirOf(repository), adminDir, path };
    if (detachedAt === to) return (await isIndexAt(view, to)) || finish();
    if (detachedAt !== from || (await isThere(join(adminDir, 'index.lock')))) return false;
    const { changed, untracked } = await worktreeStatus(repository, { ownDir, path });
    if (changed + untracked > 0) return false;
    await rehearse(repository, view, move);
    await moveHead(to, from);
    crashPoint('detached.after_head');
    try {
      await followFiles(view, from, to);
    } catch (error) {
      // A file was changed at this very moment.
      await moveHead(from, to);
      throw error;
    }
    return true;

    async function moveHead(next: string, before: string): Promise<void> {
      const head = `worktrees/${registration?.id ?? ''}/HEAD`;
      await runInUserRepository(repository.commonDir, ['update-ref', '--no-deref', head, next, before]);
    }

    async function finish(): Promise<boolean> {
      await waitForEarlierGit(path);
      await removeAbandonedLock(adminDir);
      if (!(await isIndexAt(view, from))) return false;
      return followFiles(view, from, to).then(
        () => true,
        () => false,
      );
    }
  });
}

async function isBusy(registration: Registration, path: string): Promise<boolean> {
  const { adminDir, locked, branch } = registration;
  if (branch !== null || locked !== null || !(await isThere(path))) return true;
  if ((await unfinishedOperation(adminDir)) !== null) return true;
  return isThere(join(adminDir, 'info', 'sparse-checkout'));
}
