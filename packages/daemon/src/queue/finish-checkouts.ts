import { finishAdvance } from '@pawl/git/merge/advance';
import { branchTip } from '@pawl/git/repository/repository';
import { messageOf } from '@pawl/schema/error';
import { projectById } from '@pawl/store/projects/projects';
import { allQueues } from '@pawl/store/changes/queues';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { finishFollowing } from './follow-remote.ts';

/**
 * Lets the files of checkouts come after branches that a daemon had moved before it was killed. That needs neither a remote nor
 * a config, so it comes first: until then, git takes what was merged for something that the person is about to undo.
 */
export async function finishCheckouts(platform: DefinitionPlatform): Promise<void> {
  for (const { projectId, branch, advance } of await allQueues(platform.store.db)) {
    try {
      const project = await projectById(platform.store.db, projectId);
      if (project === null) continue;
      const repository = await repositoryOf(platform, project);
      const ownDir = ownGitDirectory(platform.home, project.id);
      if (advance !== null && (await branchTip(repository, branch)) === advance.to) {
        await finishAdvance(repository, { ownDir, branch, from: advance.from, to: advance.to });
      }
      await finishFollowing({ platform, project, repository, ownDir });
    } catch (error) {
      platform.log.warn({ project: projectId, error: messageOf(error) }, 'a checkout could not follow its branch yet');
    }
  }
}
