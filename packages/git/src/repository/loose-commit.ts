import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { isBranchName } from './branch-name.ts';
import { gitLimits } from '../command/limit.ts';
import { readPlainFile, readPointer } from './pointer-file.ts';

/**
 * Reads refs and commits that lie in files of their own, as they do after a commit or a merge, without a git process; the daemon
 * asks for the same few all the time, and the processes would be most of its work. Each function returns null when only git
 * can tell: refs or commits that are packed, lent by another repository, missing or damaged.
 */

const inflated = promisify(inflate);

/** The commit of a branch. A ref in a file of its own wins over `packed-refs` in git, too. */
export async function looseBranchTip(commonDir: string, name: string): Promise<string | null> {
  const commit = await readPointer(join(commonDir, 'refs', 'heads', name)).catch(() => null);
  return commit === null ? null : looseCommit(commonDir, commit);
}

/** The same id when it is that of a commit. It is read whole and its id recomputed: a ref to a damaged commit is no branch. */
export async function looseCommit(commonDir: string, id: string): Promise<string | null> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) return null;
  const path = join(commonDir, 'objects', id.slice(0, 2), id.slice(2));
  const stored = await readPlainFile(path, gitLimits.commitBytes).catch(() => null);
  if (stored === null) return null;
  const object = await inflated(stored, { maxOutputLength: gitLimits.commitBytes }).catch(() => null);
  if (object === null || object.toString('latin1', 0, 7) !== 'commit ') return null;
  const format = id.length === 40 ? 'sha1' : 'sha256';
  return createHash(format).update(object).digest('hex') === id ? id : null;
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
