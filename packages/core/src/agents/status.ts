import type { Agent, Run, RunCause, Session } from '@pawl/schema/record';
import { budgetAdvice } from '../accounts/budget.ts';
import type { LiveState, Status } from '@pawl/schema/status';

export type StatusFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  live?: LiveState | undefined;
  /** It is ready to start, but all places are taken. */
  queued?: boolean;
  /** How long it has printed nothing, if longer than usual for its provider. */
  silentMs?: number | null;
  /** The request that waits for a person's approval, if there is one. */
  approval?: string | null;
};

/**
 * The one function that reads a status from facts. No status is stored anywhere, so none can be stale.
 *
 *   adopted ────────────────────────────────────────────▶ running, as long as its process is seen
 *   no run ─────────────────────────────────────────────▶ idle
 *   run open ──▶ starting ──(process known)──▶ running | waiting_for_provider (silent, or tried again soon)
 *                waiting_for_approval (its CLI asks a person) | exhausted (it waits for the end of a limit)
 *   run ended ─▶ completed: idle | waiting_for_input (it left questions)
 *                failed:    crashed | exhausted (the provider reported a usage limit) | over_budget
 *                cancelled: stopped (its session was stopped) | idle (its run was cancelled)
 *   completed for good, not ended yet ──────────────────▶ ready_for_cleanup
 *   ended ─────────────────────────────────────────────▶ dead, then reaped
 */
export function deriveStatus(facts: StatusFacts): Status {
  const { agent, run, session, live } = facts;
  const base = { exhaustedUntil: null, live: 'idle', run: run ? (run.outcome ?? 'running') : null } as const;
  if (agent.endedAt !== null) {
    const status = agent.reapedAt === null ? 'dead' : 'reaped';
    return { ...base, status, activity: 'stopped', detail: agent.endReason ?? 'ended' };
  }
  const existing = { ...base, status: 'running' } as const;
  if (agent.adopted !== null) {
    return { ...existing, activity: 'running', live: 'working', detail: `adopted: pid ${agent.adopted.pid}` };
  }
  if (agent.completion !== null) {
    const { summary, failure } = agent.completion;
    const detail = failure === null ? (summary ?? 'done') : `failed: ${failure}`;
    return { ...existing, activity: 'ready_for_cleanup', live: live?.live ?? 'idle', detail };
  }
  if (run === null) return { ...existing, activity: 'idle', detail: '' };
  if (run.outcome === null && isWaiting(agent, run, session)) return { ...existing, ...waitingRun(run) };
  if (run.outcome === null) return { ...existing, ...openRun(facts) };
  switch (run.outcome) {
    case 'completed':
      return run.questions === null
        ? { ...existing, activity: 'idle', detail: run.detail ?? '' }
        : { ...existing, activity: 'waiting_for_input', detail: run.questions[0]?.question ?? '' };
    case 'cancelled':
      return { ...existing, activity: agent.stopRequestedAt === null ? 'idle' : 'stopped', detail: run.detail ?? '' };
    case 'failed': {
      if (run.cause?.reason === 'budget') return { ...existing, ...overBudget(agent, run.cause) };
      // The wait for an earlier limit is over; the run failed for another reason.
      const limit = session?.endReason === 'limit' ? null : (session?.limitUntil ?? null);
      return limit === null
        ? { ...existing, activity: 'crashed', detail: stuckDetail(agent) ?? run.detail ?? '' }
        : { ...existing, activity: 'exhausted', detail: run.detail ?? '', exhaustedUntil: limit === 0 ? null : limit };
    }
  }
}

function overBudget(
  { alias }: Agent,
  { of, detail }: Extract<RunCause, { reason: 'budget' }>,
): Pick<Status, 'activity' | 'detail'> {
  const advice = budgetAdvice(alias, of, detail);
  return { activity: 'over_budget', detail: `over the budget of the ${of} (${detail}); ${advice}` };
}

/** Whether an open run is waiting for its retry time. */
function isWaiting(agent: Agent, run: Run, session: Session | null): boolean {
  return run.waitUntil !== null && agent.stopRequestedAt === null && session?.endedAt !== null;
}

function waitingRun(run: Run): Pick<Status, 'activity' | 'detail' | 'exhaustedUntil'> {
  return run.waitFor === 'account'
    ? { activity: 'exhausted', detail: run.detail ?? 'waiting for a limit to end', exhaustedUntil: run.waitUntil }
    : { activity: 'waiting_for_provider', detail: run.detail ?? 'an error; retrying soon', exhaustedUntil: null };
}

function openRun(facts: StatusFacts): Pick<Status, 'activity' | 'live' | 'detail'> {
  const { agent, session, live, queued = false, silentMs = null, approval = null } = facts;
  if (agent.stopRequestedAt !== null) return { activity: 'running', live: 'working', detail: 'stopping' };
  if (queued) return { activity: 'starting', live: 'idle', detail: 'waiting for a free place' };
  if (agent.worktreeReadyAt === null) return { activity: 'starting', live: 'idle', detail: 'creating the worktree' };
  if (session === null || session.startedAt === null || session.endedAt !== null) {
    const no = session === null ? 1 : session.endedAt === null ? session.no : session.no + 1;
    return { activity: 'starting', live: 'idle', detail: `starting session ${no}` };
  }
  if (session.pausedAt !== null) return { activity: 'running', live: 'idle', detail: 'paused' };
  if (approval !== null) return { activity: 'waiting_for_approval', live: 'calling_tool', detail: approval };
  const stuck = stuckDetail(agent);
  if (silentMs !== null) {
    const detail = stuck ?? `silent for ${Math.round(silentMs / 1000)} s`;
    return { activity: 'waiting_for_provider', live: live?.live ?? 'model_loading', detail };
  }
  if (stuck !== null) return { activity: 'running', live: live?.live ?? 'model_loading', detail: stuck };
  if (live === undefined) return { activity: 'running', live: 'model_loading', detail: 'waiting for the first output' };
  return { activity: 'running', live: live.live, detail: live.detail };
}

/** Describes why an agent is stuck; null if it is not. */
function stuckDetail({ stuckAt, stuckReason }: Agent): string | null {
  return stuckAt === null ? null : `stuck: ${stuckReason ?? 'it makes no progress'}`;
}
