import type { Divergence } from '@pawl/core/changes/diverged';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { hasCommit } from '@pawl/git/merge/queue-objects';
import { branchTip } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { configOf } from '../project-config/project-rules.ts';
import { hasDropped } from './dropped.ts';

/** Records since when the local target branch and the remote's have diverged, or clears that. */
export async function recordDivergence(platform: Platform, project: Project): Promise<void> {
  const divergence = await divergenceOf(platform, project);
  const queue = await queueOf(platform.store.db, project.id);
  if (queue === null || (queue.divergedAt !== null) === (divergence !== null)) return;
  await platform.store.write(async (tx) => {
    const about = { projectId: project.id, agentId: null };
    await updateQueue(tx, project.id, { divergedAt: divergence === null ? null : tx.now });
    if (divergence === null) tx.emit({ type: 'queue.converged', ...about, data: { branch: queue.branch } });
    else {
      const { branch, local, tip } = divergence;
      tx.emit({ type: 'queue.diverged', ...about, data: { branch, local, remote: tip } });
    }
  });
}

/**
 * How a project's local target branch differs from the remote's as the queue saw it last; null if one contains the
 * other.
 */
export async function divergenceOf(platform: Platform, project: Project): Promise<Divergence | null> {
  const queue = await queueOf(platform.store.db, project.id);
  const { found } = await configOf(platform, project);
  if (queue === null || queue.seen === null || found === null || found.remote === null) return null;
  const { branch, seen: tip } = queue;
  try {
    const repository = await repositoryOf(platform, project);
    const ownDir = ownGitDirectory(platform.home, project.id);
    const local = await branchTip(repository, branch);
    if (local === null || local === tip || !(await hasCommit(repository, ownDir, tip))) return null;
    if (await isAncestor(repository, ownDir, local, tip)) return null;
    if (await isAncestor(repository, ownDir, tip, local)) return null;
    const isRewritten = await hasDropped(platform.store.db, { repository, ownDir, projectId: project.id, tip }, branch);
    return { branch, local, remote: found.remote, tip, isRewritten };
  } catch (error) {
    // An unreadable repository is reported elsewhere.
    if (error instanceof PawlError) return null;
    throw error;
  }
}
