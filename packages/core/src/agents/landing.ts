import type { Change } from '@pawl/schema/change';
import type { Agent, Run } from '@pawl/schema/record';
import { isPlanningMode } from '../plan/output-file.ts';

/** Whether an agent's finished work becomes a change automatically: it has one assignment, on its own branch. */
export function isAuthor({ kind, class: lasting, mode, branch, adopted }: Agent): boolean {
  return (
    kind === 'main' &&
    lasting === 'ephemeral' &&
    mode !== 'errand' &&
    mode !== 'review' &&
    !isPlanningMode(mode) &&
    branch !== null &&
    adopted === null
  );
}

/** The facts about a planned task with finished work. */
export type LandingFacts = {
  /** The agent that finished it, and its latest run; null if unknown. */
  agent: Pick<Agent, 'createdAt'> | null;
  run: Pick<Run, 'outcome' | 'detail'> | null;
  /** The task's changes, oldest first. */
  changes: readonly Pick<Change, 'id' | 'openedAt' | 'mergedAt' | 'closedAt' | 'closeReason'>[];
  /** Whether the project merges changes: it has checks, and its queue is enabled. */
  lands: boolean;
  /** The agent's work was examined, and anything to propose was proposed. */
  isSettled: boolean;
};

export type Landing =
  | { do: 'wait' }
  /** It landed, or there was nothing to land. */
  | { do: 'complete' }
  | { do: 'requeue'; reason: string }
  /** Its change was closed; a person decides. */
  | { do: 'block'; reason: string };

/** Decides what happens to a planned task with finished work. */
export function judgeLanding({ agent, run, changes, lands, isSettled }: LandingFacts): Landing {
  if (changes.some(({ mergedAt }) => mergedAt !== null)) return { do: 'complete' };
  if (run !== null && run.outcome === null) return { do: 'wait' };
  if (!lands) return { do: 'complete' };
  if (changes.some(({ closedAt }) => closedAt === null)) return { do: 'wait' };
  // Ignore changes of earlier attempts.
  const closed = changes.findLast(({ openedAt }) => openedAt >= (agent?.createdAt ?? 0));
  if (closed !== undefined) {
    const why = closed.closeReason === null || closed.closeReason === '' ? '' : `: ${closed.closeReason}`;
    return { do: 'block', reason: `its change ${closed.id.slice(0, 8)} was closed${why}` };
  }
  if (run !== null && run.outcome !== 'completed')
    return { do: 'requeue', reason: run.detail ?? 'its agent did not complete' };
  return isSettled ? { do: 'complete' } : { do: 'wait' };
}
