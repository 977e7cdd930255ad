import { isAncestor } from '@pawl/git/merge/merge-step';
import { branchTip } from '@pawl/git/repository/repository';
import type { LocalBranch } from '@pawl/protocol/changes/view';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/changes/queues';
import { text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../../platform/platform.ts';

/** Branches of the person's that are being moved after the remote's, recorded so that a move can be completed after a crash. */
export const followIntents = factTable('follow_intents', ['projectId'], {
  projectId: text,
  branch: text,
  from: text,
  to: text,
});

/** Why the person's branch did not follow the remote's to a commit. */
export const followRefusals = factTable('follow_refusals', ['projectId'], { projectId: text, tip: text, reason: text });

/** Whether the person's branch has a merged commit; `pending` until the queue has tried to update it. */
async function localOf(platform: Platform, project: Project, commit: string): Promise<LocalBranch | null> {
  const branch = (await queueOf(platform.store.db, project.id))?.branch ?? null;
  if (branch === null) return null;
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  const local = await branchTip(repository, branch);
  const contains = async (tip: string) => tip === commit || isAncestor(repository, ownDir, commit, tip);
  if (local !== null && (await contains(local))) {
    // The branch moves first, then the files, and the intent is deleted last.
    const isUnderWay = (await followIntents.get(platform.store.db, { projectId: project.id })) !== null;
    return { branch, state: isUnderWay ? 'pending' : 'followed', reason: null };
  }
  const refusal = await followRefusals.get(platform.store.db, { projectId: project.id });
  if (refusal === null || !(await contains(refusal.tip))) return { branch, state: 'pending', reason: null };
  return { branch, state: 'behind', reason: refusal.reason };
}

/** Like `localOf`; null if the repository or the commit is gone. */
export async function localBranch(platform: Platform, project: Project, commit: string): Promise<LocalBranch | null> {
  try {
    return await localOf(platform, project, commit);
  } catch (error) {
    if (error instanceof PawlError) return null;
    throw error;
  }
}
