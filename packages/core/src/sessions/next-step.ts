import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import type { Run } from '@pawl/schema/record';

export type Step =
  /** Create the worktree and the branch. */
  | { do: 'make-worktree' }
  /** Write the row of the next session, before any process exists. */
  | { do: 'plan-session' }
  /** Wait for the end of a limit or of a retry delay. */
  | { do: 'wait'; until: number }
  /** Start the planned session's process, or find the one that an earlier daemon started. */
  | { do: 'start-session' }
  /** Nothing to do until the session's process exits. */
  | { do: 'watch' }
  /** End the session's processes, including any that were started but not recorded. */
  | { do: 'stop-session' }
  /** The run was stopped before any process existed. */
  | { do: 'cancel-run' }
  /** The agent has completed and nothing of it runs: end it. */
  | { do: 'retire' }
  /** Decide what happens to a dead agent's worktree. */
  | { do: 'clean-up' }
  | { do: 'rest' };

/**
 * Decides an agent's next step from its facts alone. Each step changes the facts it depends on, in one transaction, as
 * its last act; so after a crash the same facts give the same step, and only an unfinished step repeats. Every step
 * must therefore tolerate that its work was already done.
 *   fork ─▶ make-worktree ─▶ plan-session ─▶ start-session ─▶ watch ─▶ (session ended) ─┬─▶ rest
 *                                 ▲                                                     │
 *                                 └── [wait] ◀── its signal is missing, it was lost, ◀──┘
 *                                                an error may pass, a limit was reached
 *   stopped, cancelled or killed at any of these ─▶ stop-session ─▶ rest, or clean-up for the dead
 *   completed, and its process has exited ─▶ [once more, to commit] ─▶ retire ─▶ clean-up
 */
export function nextStep({ agent, run, session }: AgentFacts): Step {
  const open = session !== null && session.endedAt === null;
  const wanted = agent.endedAt === null && agent.stopRequestedAt === null && run !== null && run.outcome === null;
  if (open && !(wanted && session.runId === run.id)) return { do: 'stop-session' };
  if (agent.endedAt !== null) {
    return agent.worktree !== null && agent.worktreeEnd === null ? { do: 'clean-up' } : { do: 'rest' };
  }
  // Pawl never acts on a process that it did not start.
  if (agent.adopted !== null) return { do: 'rest' };
  if (agent.completion !== null && !isToCommit(run)) {
    if (!open) return { do: 'retire' };
    // Its work is done: do not start a session that has not begun.
    if (session.startedAt === null) return { do: 'stop-session' };
  }
  if (run !== null && run.outcome !== null) return { do: 'rest' };
  if (run !== null && agent.stopRequestedAt !== null) return { do: 'cancel-run' };
  if (agent.worktree !== null && agent.worktreeReadyAt === null) return { do: 'make-worktree' };
  if (run === null) return { do: 'rest' };
  if (!open) return run.waitUntil === null ? { do: 'plan-session' } : { do: 'wait', until: run.waitUntil };
  return session.startedAt === null ? { do: 'start-session' } : { do: 'watch' };
}

/** An open run that has a result and was asked to commit leftovers. */
function isToCommit(run: Run | null): boolean {
  return run !== null && run.outcome === null && run.resultBefore !== null;
}
