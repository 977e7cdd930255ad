import { moveDetached } from '@pawl/git/worktree/detached-worktree';
import { PawlError } from '@pawl/schema/error';
import { agentView } from '@pawl/store/agents/agent-views';
import { updateAgent } from '@pawl/store/agents/agents';
import { targetCommit } from '../../project-config/base-commit.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, placeOf, projectOf, repositoryOf } from '../../platform/platform.ts';

/**
 * Moves the worktree of an agent without a branch to the target branch. One with uncommitted files, or with commits of
 * its own, stays. Call it in the agent's lane, while no process of it runs.
 */
export async function followTarget(platform: Platform, agentId: string): Promise<void> {
  const facts = await agentView(platform.store.db, agentId);
  if (facts === null || facts.agent.branch !== null || facts.agent.worktreeReadyAt === null) return;
  const { agent, session } = facts;
  if (agent.endedAt !== null || agent.worktree === null) return;
  if (session !== null && session.startedAt !== null && session.endedAt === null) return;
  const { path, base: from } = placeOf(agent);
  const project = await projectOf(platform.store, agent);
  const repository = await repositoryOf(platform, project);
  const to = await targetCommit(platform, project, repository);
  const ownDir = ownGitDirectory(platform.home, project.id);
  if (to === from || !(await move())) return;
  await platform.store.write(async (tx) => {
    await updateAgent(tx, agentId, { baseCommit: to });
    tx.emit({ type: 'worktree.refreshed', projectId: project.id, agentId, data: { path, from, to } });
  });

  async function move(): Promise<boolean> {
    try {
      return await moveDetached(repository, { ownDir, path, from, to });
    } catch (error) {
      // Something is in the way, such as a file that needs a filter, so leave it.
      if (error instanceof PawlError)
        platform.log.info({ agent: agent.alias, why: error.message }, 'the checkout of the agent stays behind');
      else throw error;
      return false;
    }
  }
}
