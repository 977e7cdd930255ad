import { worktreeStatus } from '@pawl/git/worktree-status';
import { messageOf } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { placesOf } from '../../platform/places.ts';
import type { Workshop } from '../../platform/workshop.ts';
import { ownGitDirectory, projectOf, repositoryOf } from '../../platform/workshop.ts';

/** The worktrees of an agent that have tracked files with uncommitted changes. One that cannot be read is left out. */
export async function uncommittedPlaces(shop: Workshop, agent: Agent): Promise<{ path: string; changed: number }[]> {
  const found: { path: string; changed: number }[] = [];
  for (const { agent: there } of await placesOf(shop.store.db, agent)) {
    if (there.worktree === null) continue;
    try {
      const project = await projectOf(shop.store, there);
      const request = { ownDir: ownGitDirectory(shop.home, project.id), path: there.worktree };
      const { changed } = await worktreeStatus(await repositoryOf(shop, project), request);
      if (changed > 0) found.push({ path: there.worktree, changed });
    } catch (error) {
      const about = { agent: agent.alias, path: there.worktree, error: messageOf(error) };
      shop.log.warn(about, 'cannot tell whether all changes are committed');
    }
  }
  return found;
}
