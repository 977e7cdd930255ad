import { worktreeStatus } from '@pawl/git/worktree/worktree-status';
import { messageOf } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { placesOf } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, projectOf, repositoryOf } from '../../platform/platform.ts';

/** The worktrees of an agent that have tracked files with uncommitted changes. Omits unreadable ones. */
export async function uncommittedPlaces(
  platform: Platform,
  agent: Agent,
): Promise<{ path: string; changed: number }[]> {
  const found: { path: string; changed: number }[] = [];
  for (const { agent: there } of await placesOf(platform.store.db, agent)) {
    if (there.worktree === null) continue;
    try {
      const project = await projectOf(platform.store, there);
      const request = { ownDir: ownGitDirectory(platform.home, project.id), path: there.worktree };
      const { changed } = await worktreeStatus(await repositoryOf(platform, project), request);
      if (changed > 0) found.push({ path: there.worktree, changed });
    } catch (error) {
      const about = { agent: agent.alias, path: there.worktree, error: messageOf(error) };
      platform.log.warn(about, 'failed to check for uncommitted changes');
    }
  }
  return found;
}
