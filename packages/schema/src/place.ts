import type { Agent, AgentPlace } from './record.ts';

/** One project of an agent: the agent as it is there, and the row of a further place. */
export type Place = { agent: Agent; extra: AgentPlace | null };

/** The agent in one of its further projects, with its worktree, branch and base there. */
export function agentAt(agent: Agent, place: AgentPlace): Agent {
  return {
    ...agent,
    projectId: place.projectId,
    branch: place.branch,
    baseCommit: place.baseCommit,
    snapshot: place.snapshot,
    worktree: place.path,
    worktreeReadyAt: place.readyAt,
    worktreeEnd: place.end,
  };
}

/** The directory of an agent's sessions; null if it has none of its own. */
export function directoryOf({ workdir, worktree }: Pick<Agent, 'workdir' | 'worktree'>): string | null {
  return workdir ?? worktree;
}
