import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { initializing, isHalfMade, type Registration } from './registration.ts';
import { branchTip, type Repository } from '../repository/repository.ts';

/**
 * Repairs a registration whose directory is gone. Recreates the directory if it held our branch; otherwise drops the
 * registration, but only if a branch keeps its commits.
 */
export async function repairLost(
  repository: Repository,
  lost: Registration,
  { path, branch, base }: { path: string; branch: string | null; base: string },
): Promise<void> {
  if (isHalfMade(lost)) return drop(lost);
  if (lost.locked !== null && lost.locked !== initializing) {
    throw new PawlError('conflict', `The worktree at ${path} is locked, and its directory is gone.`, {
      hint: `If it is on a disk that is not mounted, mount it; otherwise run: git worktree unlock ${path}`,
      details: { reason: lost.locked },
    });
  }
  // A detached worktree that never left its base held nothing of its own.
  if (lost.branch === null && lost.detachedAt === base) return drop(lost);
  if (lost.branch === null) {
    throw new PawlError('conflict', `The lost worktree at ${path} had commits on no branch.`, {
      hint: `Keep them with \`git branch <name> ${lost.detachedAt}\`, then run \`git worktree prune\`.`,
    });
  }
  const isBranchThere = lost.branch === branch && (await branchTip(repository, lost.branch)) !== null;
  if (!isBranchThere) return drop(lost);
  // Without an index it counts as registered but not checked out, so a crash between these steps is finished later.
  await rm(join(lost.adminDir, 'index'), { force: true });
  await mkdir(path, { recursive: true });
  await writeFile(join(path, '.git'), `gitdir: ${lost.adminDir}\n`);
}

async function drop(lost: Registration): Promise<void> {
  await rm(lost.adminDir, { recursive: true, force: true });
}
