import type { Unpushed } from '@pawl/core/ratchet/diverged';
import { countAhead } from '@pawl/git/dropped';
import { hasCommit } from '@pawl/git/queue-objects';
import { branchTip } from '@pawl/git/repository';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/queues';
import type { Workshop } from '../platform/workshop.ts';
import { ownGitDirectory, repositoryOf } from '../platform/workshop.ts';
import { configOf } from './project-rules.ts';
import { targetBranch } from './target.ts';

/**
 * The commits of a project's local target branch that the remote's lacks: as the queue saw that last, or where it is at `commit`.
 * Null when there are none, or there is no remote.
 */
export async function unpushedOf(shop: Workshop, project: Project, commit?: string): Promise<Unpushed | null> {
  const queue = await queueOf(shop.store.db, project.id);
  const { found } = await configOf(shop, project);
  const tip = commit ?? queue?.seen ?? null;
  if (found === null || found.remote === null || tip === null) return null;
  try {
    const repository = await repositoryOf(shop, project);
    const ownDir = ownGitDirectory(shop.home, project.id);
    const branch = queue?.branch ?? (await targetBranch(repository, found));
    const local = await branchTip(repository, branch);
    if (local === null || local === tip || !(await hasCommit(repository, ownDir, tip))) return null;
    const count = await countAhead(repository, ownDir, { tip: local, of: tip });
    return count === 0 ? null : { branch, remote: found.remote, count };
  } catch (error) {
    if (error instanceof PawlError) return null;
    throw error;
  }
}
