import type { Agent, Run, Session } from '@pawl/schema/record';

export type AgentFacts = { agent: Agent; run: Run | null; session: Session | null };

export type Step =
  /** Make the worktree and the branch. */
  | { do: 'make-worktree' }
  /** Write the row of the next session, before any process exists. */
  | { do: 'plan-session' }
  /** Not before a time: a limit holds, or an error is given time to pass. */
  | { do: 'wait'; until: number }
  /** Start the planned session's process, or find the one that an earlier daemon started. */
  | { do: 'start-session' }
  /** Nothing to do until the session's process leaves. */
  | { do: 'watch' }
  /** End the session's processes, those too that were started but not put on record: nobody wants them any more. */
  | { do: 'stop-session' }
  /** The run was stopped before any process existed. */
  | { do: 'cancel-run' }
  /** It has said that it is done for good, and nothing of it runs any more: it ends. */
  | { do: 'retire' }
  /** Settle what becomes of a dead agent's worktree. */
  | { do: 'clean-up' }
  | { do: 'rest' };

/**
 * The next thing to do for an agent, read from its facts alone. Each step changes the facts it depends on, in one
 * transaction, as its last act; so after a crash the same question gives the same answer, and a step is repeated only
 * when it had not finished. Every step must therefore tolerate that its work in the world was already done.
 *
 *   fork ─▶ make-worktree ─▶ plan-session ─▶ start-session ─▶ watch ─▶ (session ended) ─┬─▶ rest
 *                                 ▲                                                     │
 *                                 └── [wait] ◀── its signal is missing, it was lost, ◀──┘
 *                                                an error may pass, a limit was reached
 *
 *   stopped, cancelled or killed at any of these ─▶ stop-session ─▶ rest, or clean-up for the dead
 *   completed, and its process has left ─▶ [once more, to commit] ─▶ retire ─▶ clean-up
 */
export function nextStep({ agent, run, session }: AgentFacts): Step {
  const open = session !== null && session.endedAt === null;
  const wanted = agent.endedAt === null && agent.stopRequestedAt === null && run !== null && run.outcome === null;
  if (open && !(wanted && session.runId === run.id)) return { do: 'stop-session' };
  if (agent.endedAt !== null) {
    return agent.worktree !== null && agent.worktreeEnd === null ? { do: 'clean-up' } : { do: 'rest' };
  }
  // Nothing is ever done about a process that somebody else started.
  if (agent.adopted !== null) return { do: 'rest' };
  if (agent.completion !== null && !isToCommit(run)) {
    if (!open) return { do: 'retire' };
    // Nobody waits for work of it: what has not begun does not begin.
    if (session.startedAt === null) return { do: 'stop-session' };
  }
  if (run !== null && run.outcome !== null) return { do: 'rest' };
  if (run !== null && agent.stopRequestedAt !== null) return { do: 'cancel-run' };
  if (agent.worktree !== null && agent.worktreeReadyAt === null) return { do: 'make-worktree' };
  if (run === null) return { do: 'rest' };
  if (!open) return run.waitUntil === null ? { do: 'plan-session' } : { do: 'wait', until: run.waitUntil };
  return session.startedAt === null ? { do: 'start-session' } : { do: 'watch' };
}

/** An open run that has come to its result and was asked for one thing more: to commit what it had left. */
function isToCommit(run: Run | null): boolean {
  return run !== null && run.outcome === null && run.resultBefore !== null;
}
