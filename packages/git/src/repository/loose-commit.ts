import { join, resolve } from 'node:path';
import { isBranchName } from './branch-name.ts';
import { gitLimits } from '../command/limit.ts';
import { looseObject } from './loose-object.ts';
import { readPointer } from './pointer-file.ts';

/**
 * Reads refs and commits that lie in files of their own, as they do after a commit or a merge, without a git process; the daemon
 * asks for the same few all the time, and the processes would be most of its work. Each function returns null when only git
 * can tell: refs or commits that are packed, lent by another repository, missing or damaged.
 */

/** The commit of a branch. A ref in a file of its own wins over `packed-refs` in git, too. */
export async function looseBranchTip(commonDir: string, name: string): Promise<string | null> {
  const commit = await readPointer(join(commonDir, 'refs', 'heads', name)).catch(() => null);
  return commit === null ? null : looseCommit(commonDir, commit);
}

/** The same id when it is that of a commit. It is read whole and its id recomputed: a ref to a damaged commit is no branch. */
export async function looseCommit(commonDir: string, id: string): Promise<string | null> {
  const object = await looseObject([join(commonDir, 'objects')], id, gitLimits.commitBytes);
  return object?.type === 'commit' ? id : null;
}

/** The commit of HEAD in a git directory, which may be that of a linked worktree. */
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
