import { limits } from '@pawl/schema/limit';
import type { NudgeState } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { deriveStatus } from '../agents/status.ts';

/**
 * The policy of nudges. A nudge is a text from the agent's definition, sent as mail.
 * `fixed` nudges every agent that could answer, each time the interval is over. `smart` nudges only idle agents that
 * may have something to do: not during a turn (an open run), and not ephemeral agents whose run has ended. That leaves
 * idle persistent agents, which are nudged
 *   - when there is news since their last nudge or turn, whichever is later;
 *   - without news, while an ephemeral agent works in their project, after 2, 4, 8 … 30 minutes.
 * Actions of nudged agents are not news to each other (`isNews`), and do not count as work. So a fleet with nothing to
 * do comes to rest after one turn each, and then costs nothing.
 */
export type NudgeMode = 'smart' | 'fixed';

/** Why an agent is not nudged; recorded in events, so these words never change. */
export const skipReasons = [
  'dead',
  'adopted',
  'no-nudge',
  'done',
  'never-started',
  'stopped',
  'crashed',
  'exhausted',
  'over-budget',
  'waiting-for-input',
  'waiting-for-provider',
  'paused',
  'unconsumed',
  'mid-turn',
  'gap',
  'unchanged',
] as const;
export type SkipReason = (typeof skipReasons)[number];

export type NudgeFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** The state of its nudges; null if it never had one. */
  state: NudgeState | null;
  /** The request that waits for a person's approval, if there is one. */
  approval?: string | null;
  /** Its last nudge is unread, and not a dead letter. */
  outstanding: boolean;
  /** The minimum time between two nudges. */
  gapMs: number;
};

/** Reasons for an idle agent to start a turn. */
export type News = {
  changed: boolean;
  /** An ephemeral agent of its project has an open run. */
  othersAtWork: boolean;
};

/** A nudge, and how long to wait for the next one if nothing changes; or why there is none. */
export type NudgeVerdict = { nudge: string; backoffMs: number } | { skip: SkipReason };

/** Decides about one agent; `smart` needs `news` only if `reasonToSkip` found no reason. */
export function judgeNudge(facts: NudgeFacts, news: News, now: number, mode: NudgeMode): NudgeVerdict {
  const reason = reasonToSkip(facts, now, mode);
  if (reason !== null) return { skip: reason };
  const { state, gapMs } = facts;
  const nudge = facts.run?.definition?.nudge ?? '';
  if (mode === 'fixed' || news.changed) return { nudge, backoffMs: gapMs };
  const backoffMs = Math.max(state?.backoffMs ?? 0, gapMs);
  if (!news.othersAtWork || isWithin(backoffMs, [state?.nudgedAt, facts.run?.endedAt], now))
    return { skip: 'unchanged' };
  return { nudge, backoffMs: Math.min(backoffMs * 2, Math.max(limits.longestNudgeGapMs, gapMs)) };
}

/** Why an agent is not nudged, regardless of news; null if news decides. */
export function reasonToSkip(facts: NudgeFacts, now: number, mode: NudgeMode): SkipReason | null {
  const reason = reasonNotToHear(facts);
  if (reason !== null) return reason;
  if (facts.outstanding) return 'unconsumed';
  if (mode === 'smart' && facts.run?.outcome === null) return 'mid-turn';
  return isWithin(facts.gapMs, [facts.state?.nudgedAt], now) ? 'gap' : null;
}

/** Why an agent cannot answer, or must not be woken by a nudge; the same in both modes. */
function reasonNotToHear({ agent, run, session, approval = null }: NudgeFacts): SkipReason | null {
  if (agent.endedAt !== null) return 'dead';
  if (agent.adopted !== null) return 'adopted';
  if (run === null) return 'never-started';
  if (run.definition === null || run.definition.nudge === null) return 'no-nudge';
  if (agent.completion !== null) return 'done';
  if (agent.stopRequestedAt !== null) return 'stopped';
  switch (deriveStatus({ agent, run, session, approval }).activity) {
    case 'crashed':
      return 'crashed';
    case 'exhausted':
      return 'exhausted';
    case 'over_budget':
      return 'over-budget';
    case 'waiting_for_input':
    case 'waiting_for_approval':
      return 'waiting-for-input';
    case 'waiting_for_provider':
      return 'waiting-for-provider';
    case 'stopped':
      return 'stopped';
    case 'ready_for_cleanup':
      return 'done';
    case 'starting':
      return session === null || (session.no === 1 && session.startedAt === null) ? 'never-started' : null;
    case 'running':
      return session?.pausedAt === null ? null : 'paused';
    case 'idle':
      if (agent.class === 'persistent') return null;
      return run.outcome === 'cancelled' ? 'stopped' : 'done';
  }
}

/** True if one of the times is less than `spanMs` ago. Ignores times in the future, as after the clock was set back. */
function isWithin(spanMs: number, times: readonly (number | null | undefined)[], now: number): boolean {
  return times.some((time) => time !== null && time !== undefined && time <= now && now - time < spanMs);
}
