import { isAncestor } from '@pawl/git/merge/merge-step';
import { branchTip } from '@pawl/git/repository/repository';
import type { LocalBranch } from '@pawl/protocol/changes/view';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/changes/queues';
import { getSetting } from '@pawl/store/settings';
import * as z from 'zod';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../../platform/platform.ts';

/** The setting that exists while the person's branch is being moved to follow the remote's. */
export const followKey = (projectId: string) => `follow:${projectId}`;

/** The setting with the reason why the person's branch did not follow the remote's to a commit. */
export const stayedKey = (projectId: string) => `stayed:${projectId}`;
const stayedSchema = z.object({ tip: z.string(), reason: z.string() });

/** Whether the person's branch has a merged commit; `pending` until the queue has tried to update it. */
async function localOf(platform: Platform, project: Project, commit: string): Promise<LocalBranch | null> {
  const branch = (await queueOf(platform.store.db, project.id))?.branch ?? null;
  if (branch === null) return null;
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  const local = await branchTip(repository, branch);
  const contains = async (tip: string) => tip === commit || isAncestor(repository, ownDir, commit, tip);
  if (local !== null && (await contains(local))) {
    // The branch moves first, then the files, and the setting is deleted last.
    const isUnderWay = (await getSetting(platform.store.db, followKey(project.id))) !== undefined;
    return { branch, state: isUnderWay ? 'pending' : 'followed', reason: null };
  }
  const stayed = stayedSchema.safeParse(await getSetting(platform.store.db, stayedKey(project.id)));
  if (!stayed.success || !(await contains(stayed.data.tip))) return { branch, state: 'pending', reason: null };
  return { branch, state: 'behind', reason: stayed.data.reason };
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
