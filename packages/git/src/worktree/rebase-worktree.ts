import { join } from 'node:path';
import { advanceBranch, finishAdvance } from '../merge/advance.ts';
import { checkBranchName } from '../repository/branch-name.ts';
import { runInUserRepository } from '../command/command.ts';
import { isAncestor, mergeStep } from '../merge/merge-step.ts';
import { isThere } from './move.ts';
import { exportCommits } from '../merge/queue-objects.ts';
import { canonicalPath, findRegistration } from './registration.ts';
import { readRange, replay } from '../merge/replay.ts';
import { branchTip, type Repository } from '../repository/repository.ts';
import { unfinishedOperation } from './worktree-work.ts';

export type RebaseRequest = {
  ownDir: string;
  path: string;
  branch: string;
  /** The commit at which the branch started. */
  base: string;
  /** The new base. */
  onto: string;
  /** Heads that `onto` has as other commits, because they were squashed or rebased. */
  landed: readonly string[];
  /** Heads of this branch's own merged changes: while it has nothing beyond one of them, it stays. */
  merged: readonly string[];
  atMs: number;
};

export type RebasePlan =
  /** Nothing to do, or not now. */
  | { do: 'skip'; why: string; isSettled: boolean }
  | { do: 'move'; from: string; to: string }
  /** The branch conflicts with `onto`. */
  | { do: 'conflict'; files: string[] };

/**
 * Plans where a worktree's branch moves to be up to date with another commit: its own commits are replayed onto that,
 * or, failing that, the commit is merged into it. Changes no ref and no file; the objects are written to the user's
 * repository, too.
 */
export async function planRebase(repository: Repository, request: RebaseRequest): Promise<RebasePlan> {
  const { ownDir, branch, onto, base, landed } = request;
  const busy = await reasonToWait(repository, request);
  if (busy !== null) return { do: 'skip', why: busy, isSettled: false };
  const from = await branchTip(repository, branch);
  if (from === null) return { do: 'skip', why: 'its branch is gone', isSettled: false };
  const settled = (why: string): RebasePlan => ({ do: 'skip', why, isSettled: true });
  if (await isAncestor(repository, ownDir, onto, from)) return settled('it is up to date');
  if (await isMerged(repository, request, from)) return settled('its change was merged');
  if (!landed.includes(base) && !(await isAncestor(repository, ownDir, base, onto))) {
    return settled('it started on something else');
  }
  const to = await newTip(repository, request, from);
  if (typeof to !== 'string') return to;
  if (to === from) return settled('nothing would move');
  await exportCommits(repository, ownDir, { tip: to, not: [from] });
  return { do: 'move', from, to };
}

/** Whether `onto` has everything on a branch because of the branch's own merged change, possibly squashed. */
async function isMerged(
  repository: Repository,
  { ownDir, onto, merged }: RebaseRequest,
  from: string,
): Promise<boolean> {
  if (merged.includes(from)) return true;
  if (merged.length === 0 || (await isAncestor(repository, ownDir, from, onto))) return false;
  return (await readRange(repository, { ownDir, onto, head: from, landed: merged })).commits.length === 0;
}

/** The new tip of a branch: a commit with all of `onto`, and all that the branch had. */
async function newTip(repository: Repository, request: RebaseRequest, from: string): Promise<string | RebasePlan> {
  const { ownDir, branch, onto, landed, atMs } = request;
  if (await isAncestor(repository, ownDir, from, onto)) return onto;
  const replayed = await replay(repository, { ownDir, onto, head: from, landed, atMs });
  if (replayed !== null) return replayed.commit;
  const message = `Merge ${onto.slice(0, 10)} into ${branch}\n`;
  const merged = await mergeStep(repository, { ownDir, onto: from, head: onto, method: 'merge', message, atMs });
  if (merged.do === 'merged') return merged.commit;
  if (merged.do === 'conflict') return { do: 'conflict', files: merged.files };
  return { do: 'skip', why: 'it has all of it in other commits', isSettled: true };
}

export type RebaseMove = { ownDir: string; branch: string; from: string; to: string };

/**
 * Moves a branch with the files of its worktree. Uncommitted and untracked files stay; if one would be overwritten, the
 * move is refused and nothing changes. False if the branch has moved.
 */
export async function moveRebased(repository: Repository, move: RebaseMove): Promise<boolean> {
  const note = 'pawl: brought up to date';
  return advanceBranch(repository, { ...move, note, keepsWork: true, crashPoint: 'refresh.after_ref' });
}

/**
 * Finishes an interrupted move. True if branch and files are at the new commit; otherwise both are where they were
 * before, or work has continued from there.
 */
export async function finishRebase(repository: Repository, move: RebaseMove): Promise<boolean> {
  const { branch, from, to } = move;
  if ((await branchTip(repository, branch)) !== to) return false;
  if (await finishAdvance(repository, { ...move, keepsWork: true })) return true;
  const ref = `refs/heads/${checkBranchName(branch)}`;
  await runInUserRepository(repository.commonDir, ['update-ref', '-m', 'pawl: undone', ref, from, to]);
  return false;
}

/** Why a worktree should be left alone now; null if it need not. */
async function reasonToWait(repository: Repository, { path, branch }: RebaseRequest): Promise<string | null> {
  const registration = await findRegistration(repository, await canonicalPath(path));
  if (registration === null || !(await isThere(path))) return 'its worktree is gone';
  if (registration.branch === null) return 'its HEAD is detached';
  if (registration.branch !== branch) return `it is on ${registration.branch}`;
  if (registration.locked !== null) return 'its worktree is locked';
  const { adminDir } = registration;
  const unfinished = await unfinishedOperation(adminDir);
  if (unfinished !== null) return `a ${unfinished} is in progress`;
  if (await isThere(join(adminDir, 'index.lock'))) return 'its index is locked';
  return (await isThere(join(adminDir, 'info', 'sparse-checkout'))) ? 'it is a sparse checkout' : null;
}
