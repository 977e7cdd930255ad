import { finishAdvance } from '@pawl/git/merge/advance';
import { branchTip } from '@pawl/git/repository/repository';
import { messageOf } from '@pawl/schema/error';
import { projectById } from '@pawl/store/projects/projects';
import { allQueues } from '@pawl/store/changes/queues';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { finishFollowing } from './follow-remote.ts';

/**
 * Updates the files of checkouts whose branch a killed daemon had moved. Needs neither a remote nor a config, so it
 * runs first: until then, git shows the merged work as changes that the person would undo.
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
      platform.log.warn({ project: projectId, error: messageOf(error) }, 'failed to update a checkout to its branch');
    }
  }
}
