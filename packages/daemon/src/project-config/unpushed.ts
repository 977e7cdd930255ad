import type { Unpushed } from '@pawl/core/changes/diverged';
import { countAhead } from '@pawl/git/repository/dropped';
import { hasCommit } from '@pawl/git/merge/queue-objects';
import { branchTip } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/changes/queues';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { configOf } from './project-rules.ts';
import { targetBranch } from './target.ts';

/**
 * The commits of a project's local target branch that the remote's lacks: as the queue saw that last, or where it is at
 * `commit`. Null if there are none, or there is no remote.
 */
export async function unpushedOf(platform: Platform, project: Project, commit?: string): Promise<Unpushed | null> {
  const queue = await queueOf(platform.store.db, project.id);
  const { found } = await configOf(platform, project);
  const tip = commit ?? queue?.seen ?? null;
  if (found === null || found.remote === null || tip === null) return null;
  try {
    const repository = await repositoryOf(platform, project);
    const ownDir = ownGitDirectory(platform.home, project.id);
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
