import { join, resolve } from 'node:path';
import { isBranchName } from './branch-name.ts';
import { gitLimits } from '../command/limit.ts';
import { looseObject } from './loose-object.ts';
import { readPointer } from './pointer-file.ts';

/**
 * Reads loose refs and commits, as they are after a commit or a merge, without a git process; the daemon reads the same
 * few all the time, and processes would dominate its work. Each function returns null if only git can tell: packed,
 * borrowed, missing or damaged refs and commits.
 */

/** The commit of a branch. In git, too, a loose ref wins over `packed-refs`. */
export async function looseBranchTip(commonDir: string, name: string): Promise<string | null> {
  const commit = await readPointer(join(commonDir, 'refs', 'heads', name)).catch(() => null);
  return commit === null ? null : looseCommit(commonDir, commit);
}

/**
 * Returns the id if it is that of a commit. Reads it whole and recomputes the id: a ref to a damaged commit is not a
 * branch.
 */
export async function looseCommit(commonDir: string, id: string): Promise<string | null> {
  const object = await looseObject([join(commonDir, 'objects')], id, gitLimits.commitBytes);
  return object?.type === 'commit' ? id : null;
}

/** The commit of HEAD in a git directory, possibly of a linked worktree. */
export async function looseHead(gitDir: string): Promise<string | null> {
  const [head, shared] = await Promise.all([
    readPointer(join(gitDir, 'HEAD')).catch(() => null),
    readPointer(join(gitDir, 'commondir')).catch(() => null),
  ]);
  if (head === null) return null;
  const commonDir = shared === null ? gitDir : resolve(gitDir, shared);
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  if (branch === undefined) return looseCommit(commonDir, head);
  return isBranchName(branch) ? looseBranchTip(commonDir, branch) : null;
}
