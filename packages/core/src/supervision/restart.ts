import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { firstLine } from '../shorten.ts';
import { deriveStatus } from '../agents/status.ts';
import { endsTurnByResult } from '../agents/work-mode.ts';

export type RestartFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** How many of its runs have failed within the last hour, the latest included. */
  failures: number;
  /** Whether it can be resumed: it has spoken before, and its provider and its worktree are there. */
  resumable: boolean;
};

export type RestartVerdict =
  /** Begin it again: the how manieth time within an hour. */
  | { do: 'restart'; attempt: number }
  /** Not yet: it is given more time after each crash. */
  | { do: 'wait' }
  /** It crashes again and again: it is left as it is, and that is said. */
  | { do: 'give-up'; reason: string }
  | { do: 'nothing' };

/**
 * Whether an agent that has crashed is begun again. Only those who stay are: whoever was given one task is not, since that
 * task goes back to the plan. After the last restart of an hour nobody tries any more until a person does.
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
    return { do: 'give-up', reason: `it crashed ${failures} times within an hour, at last with: ${causeOf(run)}` };
  const attempt = Math.max(1, failures);
  const elapsedMs = now - run.endedAt;
  // A time in the future comes of a clock that was set back, and is not waited for.
  const isSoon = elapsedMs >= 0 && elapsedMs < limits.restartMs * 2 ** (attempt - 1);
  return isSoon ? { do: 'wait' } : { do: 'restart', attempt };
}

/** What an agent is told that was begun again after a crash. */
export function restartNotice({ mode }: Pick<Agent, 'mode'>, run: Run): string {
  const end = endsTurnByResult(mode) ? 'end your turn' : 'say that you are done';
  return `You were restarted: your last run ended before you were done (${causeOf(run)}). See what state your work is in, and go on with it; if nothing is left to do, ${end}.`;
}

/** Why a run failed, in a line. */
function causeOf({ detail }: Run): string {
  return firstLine(detail ?? '', causeCharacters) || 'nobody knows why';
}

const causeCharacters = 200;
