import type { Agent, AgentPlace } from './record.ts';

/** One project of an agent: the agent as it is there, and the row of a place beside its first. */
export type Place = { agent: Agent; extra: AgentPlace | null };

/** The same agent in one of its further projects: with the worktree, branch and base that it has there. */
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

/** The directory that an agent's sessions run in; null for one that has none of its own. */
export function directoryOf({ workdir, worktree }: Pick<Agent, 'workdir' | 'worktree'>): string | null {
  return workdir ?? worktree;
}
