import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { checkBranchName } from './branch-name.ts';
import { runInUserRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { readPointer } from './pointer-file.ts';
import { repositoryLock } from '../worktree/register.ts';
import { branchTip, type Repository } from './repository.ts';
import { readWorktrees } from '../worktree/worktree-list.ts';

/**
 * Deletes a branch that still points to exactly this commit and that no worktree has checked out, rebases or bisects.
 * Otherwise returns false and changes nothing. The caller decides whether the commit is needed.
 */
export async function deleteBranchAt(
  repository: Repository,
  { branch, commit }: { branch: string; commit: string },
): Promise<boolean> {
  const ref = `refs/heads/${checkBranchName(branch)}`;
  return withLock(repositoryLock(repository), async () => {
    if ((await branchTip(repository, branch)) !== commit) return false;
    if (await isBranchInUse(repository, branch)) return false;
    try {
      await runInUserRepository(repository.commonDir, ['update-ref', '-d', ref, commit]);
      return true;
    } catch (error) {
      // The branch may have moved just now; git compared again, under its lock.
      if ((await branchTip(repository, branch)) !== commit) return false;
      throw error;
    }
  });
}

/** Creates a branch at a commit. Returns false if there is one of this name already. */
export async function createBranchAt(
  repository: Repository,
  { branch, commit }: { branch: string; commit: string },
): Promise<boolean> {
  const ref = `refs/heads/${checkBranchName(branch)}`;
  return withLock(repositoryLock(repository), async () => {
    if ((await branchTip(repository, branch)) !== null) return false;
    // Git compares under its lock: the branch must not exist.
    await runInUserRepository(repository.commonDir, ['update-ref', '-m', 'pawl: create', ref, commit, '0'.repeat(40)]);
    return true;
  });
}

/** True if a worktree is on this branch, or will return to it. Only while holding the repository's lock. */
export async function isBranchInUse(repository: Repository, branch: string): Promise<boolean> {
  if ((await readWorktrees(repository)).some((worktree) => worktree.branch === branch)) return true;
  const worktrees = join(repository.commonDir, 'worktrees');
  const ids = await readdir(worktrees).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  for (const adminDir of [repository.commonDir, ...ids.map((id) => join(worktrees, id))]) {
    const held = await Promise.all(
      ['rebase-merge/head-name', 'rebase-apply/head-name', 'BISECT_START'].map((name) =>
        readPointer(join(adminDir, name)),
      ),
    );
    if (held.some((name) => name === `refs/heads/${branch}` || name === branch)) return true;
  }
  return false;
}
