import type { Change } from '@pawl/schema/change';
import type { Agent, Run } from '@pawl/schema/record';

/** Whether an agent's work becomes a change by itself when it is done: it has one piece of work, on a branch of its own. */
export function isAuthor({ kind, class: lasting, mode, branch, adopted }: Agent): boolean {
  return (
    kind === 'main' &&
    lasting === 'ephemeral' &&
    mode !== 'errand' &&
    mode !== 'review' &&
    branch !== null &&
    adopted === null
  );
}

/** What is known of a planned task whose work is finished. */
export type LandingFacts = {
  /** The agent that finished it, and its latest run; null where that is not known. */
  agent: Pick<Agent, 'createdAt'> | null;
  run: Pick<Run, 'outcome' | 'detail'> | null;
  /** The changes of the task, oldest first. */
  changes: readonly Pick<Change, 'id' | 'openedAt' | 'mergedAt' | 'closedAt' | 'closeReason'>[];
  /** Whether the project merges changes at all: it names checks, and its queue is enabled. */
  lands: boolean;
  /** The agent's work was looked at: what there was to propose is proposed. */
  isSettled: boolean;
};

export type Landing =
  | { do: 'wait' }
  /** It has landed, or there was nothing to land. */
  | { do: 'complete' }
  | { do: 'requeue'; reason: string }
  /** Its change was closed: a person decides. */
  | { do: 'block'; reason: string };

/** Says what becomes of a planned task whose work is finished. */
export function judgeLanding({ agent, run, changes, lands, isSettled }: LandingFacts): Landing {
  if (changes.some(({ mergedAt }) => mergedAt !== null)) return { do: 'complete' };
  if (run !== null && run.outcome === null) return { do: 'wait' };
  if (!lands) return { do: 'complete' };
  if (changes.some(({ closedAt }) => closedAt === null)) return { do: 'wait' };
  // Changes of earlier attempts say nothing about this one.
  const closed = changes.findLast(({ openedAt }) => openedAt >= (agent?.createdAt ?? 0));
  if (closed !== undefined) {
    const why = closed.closeReason === null || closed.closeReason === '' ? '' : `: ${closed.closeReason}`;
    return { do: 'block', reason: `its change ${closed.id.slice(0, 8)} was closed${why}` };
  }
  if (run !== null && run.outcome !== 'completed')
    return { do: 'requeue', reason: run.detail ?? 'its agent did not complete' };
  return isSettled ? { do: 'complete' } : { do: 'wait' };
}
