import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { firstLine } from '../shorten.ts';
import { deriveStatus } from '../agents/status.ts';
import { endsTurnByResult } from '../agents/work-mode.ts';

export type RestartFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** Failed runs within the last hour, including the latest. */
  failures: number;
  /** Whether it can be resumed: it has a conversation, and its provider and worktree exist. */
  resumable: boolean;
};

export type RestartVerdict =
  /** Restart it; `attempt` counts within an hour. */
  | { do: 'restart'; attempt: number }
  /** Not yet: the delay grows with each crash. */
  | { do: 'wait' }
  /** It keeps crashing: leave it, and report that. */
  | { do: 'give-up'; reason: string }
  | { do: 'nothing' };

/**
 * Whether to restart a crashed agent. Only persistent agents are: an ephemeral one's task goes back to the plan. After
 * the last restart of an hour, a person must resume it.
 */
export function judgeRestart(facts: RestartFacts, now: number): RestartVerdict {
  const { agent, run, session, failures } = facts;
  if (agent.class !== 'persistent' || agent.kind !== 'main' || agent.parentId === null) return { do: 'nothing' };
  if (agent.endedAt !== null || agent.completion !== null || agent.adopted !== null) return { do: 'nothing' };
  if (run === null || run.endedAt === null || agent.stopRequestedAt !== null || !facts.resumable)
    return { do: 'nothing' };
  if (deriveStatus({ agent, run, session }).activity !== 'crashed') return { do: 'nothing' };
  // It was given up since its last run ended.
  if (agent.stuckAt !== null && agent.stuckAt >= run.endedAt) return { do: 'nothing' };
  if (failures > limits.restartsPerHour)
    return { do: 'give-up', reason: `it crashed ${failures} times within an hour, last with: ${causeOf(run)}` };
  const attempt = Math.max(1, failures);
  const elapsedMs = now - run.endedAt;
  // A time in the future means that the clock was set back; do not wait for it.
  const isSoon = elapsedMs >= 0 && elapsedMs < limits.restartMs * 2 ** (attempt - 1);
  return isSoon ? { do: 'wait' } : { do: 'restart', attempt };
}

/** The prompt of a restarted agent. */
export function restartNotice({ mode }: Pick<Agent, 'mode'>, run: Run): string {
  const end = endsTurnByResult(mode) ? 'end your turn' : 'say that you are done';
  return `You were restarted: your last run ended before you were done (${causeOf(run)}). Check the state of your work, and continue it; if nothing is left to do, ${end}.`;
}

/** The cause of a failed run, in one line. */
function causeOf({ detail }: Run): string {
  return firstLine(detail ?? '', causeCharacters) || 'unknown reason';
}

const causeCharacters = 200;
