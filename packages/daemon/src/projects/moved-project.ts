import { registeredPaths } from '@pawl/git/worktree/registration';
import type { Repository } from '@pawl/git/repository/repository';
import { listBranches } from '@pawl/git/repository/repository';
import { listTrash, moveTrashNotes } from '@pawl/git/trash/trash-list';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { agentsWithWorktree } from '@pawl/store/agents/agents';
import { listProjects, moveProject } from '@pawl/store/projects/projects';
import { existsSync } from 'node:fs';
import type { Platform } from '../platform/platform.ts';
import { placeInTrash } from '../platform/kept-places.ts';
import { detachedWorktrees, reattach } from '../agents/worktrees/worktree-health.ts';

/**
 * Finds the project whose repository was moved here: its old directory is gone, and this repository has records of
 * worktrees that Pawl made for it, or the branch of one in the trash. Null if there is none.
 */
export async function movedProject(platform: Platform, repository: Repository): Promise<Project | null> {
  const lost = (await listProjects(platform.store.db)).filter(({ root }) => !existsSync(root));
  if (lost.length === 0) return null;
  const paths = await registeredPaths(repository);
  const agents = await agentsWithWorktree(platform.store.db);
  const owner = agents.find(({ worktree }) => worktree !== null && paths.has(worktree))?.projectId;
  return lost.find(({ id }) => id === owner) ?? (await ownerOfTrash(platform, repository, lost));
}

/** The project with a missing directory that has a worktree in the trash whose branch this repository has. */
async function ownerOfTrash(
  platform: Platform,
  repository: Repository,
  lost: readonly Project[],
): Promise<Project | null> {
  const branches = new Map((await listBranches(repository)).map(({ name, commit }) => [name, commit]));
  for (const { name, note } of await listTrash(platform.home.trash)) {
    if (note === null || note.commit === null || branches.get(note.branch) !== note.commit) continue;
    const place = await placeInTrash(platform, name);
    const owner = lost.find(({ id }) => id === place?.agent.projectId);
    if (owner !== undefined) return owner;
  }
  return null;
}

/** Records the new path of a project and relinks its worktrees. Failures are left to `pawl doctor`. */
export async function followMove(platform: Platform, project: Project, root: string): Promise<Project> {
  // Before the record: after a crash, the next `pawl init` finds the move again and repeats this.
  await moveTrashNotes(platform.home.trash, project.root, root);
  crashPoint('move.after_notes');
  await platform.store.write(async (tx) => {
    await moveProject(tx, project.id, root);
    const data = { name: project.name, from: project.root, to: root };
    tx.emit({ type: 'project.moved', projectId: project.id, data });
  });
  for (const detached of await detachedWorktrees(platform)) {
    if (detached.agent.projectId !== project.id) continue;
    await reattach(platform, detached).catch((error: unknown) =>
      platform.log.warn({ path: detached.path, error: messageOf(error) }, 'failed to reattach a worktree'),
    );
  }
  return { ...project, root };
}
