import { registeredPaths } from '@pawl/git/registration';
import type { Repository } from '@pawl/git/repository';
import { messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { agentsWithWorktree } from '@pawl/store/agents';
import { listProjects, moveProject } from '@pawl/store/projects';
import { existsSync } from 'node:fs';
import type { Workshop } from '../workshop.ts';
import { detachedWorktrees, reattach } from './worktree-health.ts';

/**
 * Finds the project whose repository was moved to this place: its old directory is gone, and this repository has records of
 * worktrees that Pawl made for it. Null when there is none.
 */
export async function movedProject(shop: Workshop, repository: Repository): Promise<Project | null> {
  const lost = (await listProjects(shop.store.db)).filter(({ root }) => !existsSync(root));
  if (lost.length === 0) return null;
  const paths = await registeredPaths(repository);
  const agents = await agentsWithWorktree(shop.store.db);
  const owner = agents.find(({ worktree }) => worktree !== null && paths.has(worktree))?.projectId;
  return lost.find(({ id }) => id === owner) ?? null;
}

/** Notes the new place of a project and links its worktrees to it. What cannot be linked is left to `pawl doctor`. */
export async function followMove(shop: Workshop, project: Project, root: string): Promise<Project> {
  await shop.store.write(async (tx) => {
    await moveProject(tx, project.id, root);
    const data = { name: project.name, from: project.root, to: root };
    tx.emit({ type: 'project.moved', projectId: project.id, data });
  });
  for (const detached of await detachedWorktrees(shop)) {
    if (detached.agent.projectId !== project.id) continue;
    await reattach(shop, detached).catch((error: unknown) =>
      shop.log.warn({ path: detached.path, error: messageOf(error) }, 'failed to reattach a worktree'),
    );
  }
  return { ...project, root };
}
