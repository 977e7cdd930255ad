import type { AgentCaller } from '@pawl/core/definitions/gate';
import { branchTips } from '@pawl/git/repository/branch-tips';
import { isAncestor } from '@pawl/git/merge/merge-step';
import type { WithheldWork } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { proposedHeads } from '@pawl/store/changes/change-search';
import { queueOf } from '@pawl/store/changes/queues';
import { recordWithheldWork, withheldInProject, withheldOfAgent } from '@pawl/store/changes/withheld';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';

/**
 * Records that commits of an agent without Patch stay on its branch. Records each head once, since the queue visits
 * finished agents repeatedly, and from the start after a restart.
 */
export async function recordWithheld(
  platform: Platform,
  project: Project,
  agent: Agent,
  { head, definition }: { head: string; definition: AgentCaller['definition'] },
): Promise<void> {
  const work = { branch: agent.branch ?? '', head, definition: definition.id };
  const isNew = await platform.store.write(async (tx) => {
    const about = { agentId: agent.id, projectId: project.id };
    if (!(await recordWithheldWork(tx, { ...about, ...work, at: tx.now }))) return false;
    tx.emit({ type: 'change.withheld', ...about, data: work });
    return true;
  });
  if (!isNew) return;
  const about = { agent: agent.alias, branch: agent.branch, definition: definition.id };
  platform.log.info(about, 'commits stay on the agent branch: the policy of its definition has no Patch');
}

/** The commits in a project that were withheld and still wait: on their branch, in no change and not in main. */
export async function unproposed(platform: Platform, project: Project): Promise<WithheldWork[]> {
  return waiting(platform, project, await withheldInProject(platform.store.db, project.id));
}

export async function unproposedOf(platform: Platform, project: Project, agentId: string): Promise<WithheldWork[]> {
  const found = await withheldOfAgent(platform.store.db, agentId);
  return waiting(
    platform,
    project,
    found.filter(({ projectId }) => projectId === project.id),
  );
}

async function waiting(platform: Platform, project: Project, found: readonly WithheldWork[]): Promise<WithheldWork[]> {
  if (found.length === 0) return [];
  try {
    const repository = await repositoryOf(platform, project);
    const ownDir = ownGitDirectory(platform.home, project.id);
    const main = (await queueOf(platform.store.db, project.id))?.seen ?? null;
    const branches = found.map(({ branch }) => branch);
    const tips = await branchTips(repository, branches);
    const heads = found.map(({ head }) => head);
    const proposed = await proposedHeads(platform.store.db, project.id, heads);
    const left: WithheldWork[] = [];
    for (const work of found) {
      const { branch, head } = work;
      if (tips.get(branch) !== head || proposed.has(head)) continue;
      if (main !== null && (await isAncestor(repository, ownDir, head, main))) continue;
      left.push(work);
    }
    return left;
  } catch (error) {
    // The queue reports an unreadable repository itself.
    if (error instanceof PawlError) return [];
    throw error;
  }
}
