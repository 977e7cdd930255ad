import type { Change, ChangeComment } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { isEjected } from './change-state.ts';

export type ReturnCause = 'conflict' | 'red' | 'comments';

/** The last return of a change: to whom, and about what. */
export type Returned = {
  head: string;
  /** Time of the ejection that caused it. */
  ejectedAt: number | null;
  /** Comments that caused it. */
  comments: readonly string[];
  to: string;
  /** The mail that told the author; null for an agent whose assignment it is. */
  mailId: string | null;
};

/**
 * State of the agent responsible for a change: `working` and `resting` can be reached, `waiting` needs a person, `gone`
 * never returns.
 */
export type Holder = 'person' | 'working' | 'resting' | 'waiting' | 'gone';

export type ReturnFacts = {
  change: Change;
  /** Unaddressed blocking comments, from reviews that are over. */
  blocking: readonly Pick<ChangeComment, 'id'>[];
  last: Returned | null;
  author: Holder;
  /** State of the agent it was last returned to. */
  holder: Holder;
  /** That agent was told, and its turn is over. */
  hadItsTurn: boolean;
  /** A stand-in may replace the author. */
  hasStandIn: boolean;
};

export type ReturnStep =
  | { do: 'nothing' }
  | { do: 'tell-author' | 'stand-in'; cause: ReturnCause }
  /** No agent can continue it; a person has to. */
  | { do: 'give-up'; cause: ReturnCause; reason: string };

/**
 * Decides who continues a change that cannot be merged: the author if reachable, else a stand-in. Each return is for
 * one head and one reason, up to a limit. An agent that had its turn and proposed nothing has given up; then a person
 * decides, since another agent would likely fail the same way.
 */
export function nextReturn(facts: ReturnFacts): ReturnStep {
  const { change, author, last } = facts;
  const cause = causeOf(facts);
  if (cause === null || author === 'person' || change.returns >= limits.changeReturns) return { do: 'nothing' };
  if (last === null || !isAbout(last, facts)) {
    if (isPuttingRight(facts)) return { do: 'nothing' };
    return author === 'gone' ? standIn(facts, cause) : { do: 'tell-author', cause };
  }
  const isAuthor = last.to === change.agentId;
  if (facts.holder === 'gone') {
    return isAuthor ? standIn(facts, cause) : { do: 'give-up', cause, reason: 'its stand-in is gone' };
  }
  if (facts.holder !== 'resting' || !facts.hadItsTurn) return { do: 'nothing' };
  const who = isAuthor ? 'its author' : 'its stand-in';
  return { do: 'give-up', cause, reason: `${who} was told, and proposes nothing new` };
}

/** Derives the state of an agent that should continue a change. */
export function holderOf(
  facts: { agent: Agent; run: Run | null; session: Session | null } | null,
  isResumable: boolean,
): Holder {
  if (facts === null) return 'gone';
  const { agent, run, session } = facts;
  if (agent.endedAt !== null || agent.completion !== null || agent.adopted !== null || agent.kind !== 'main')
    return 'gone';
  if (agent.stopRequestedAt !== null) return 'waiting';
  if (run === null) return 'gone';
  if (run.outcome === null) return (session?.pausedAt ?? null) === null ? 'working' : 'waiting';
  // A persistent agent is restarted after a crash, or waits for a person.
  if (run.outcome === 'failed') return agent.class === 'persistent' ? 'waiting' : 'gone';
  if (!isResumable) return 'gone';
  return run.questions === null ? 'resting' : 'waiting';
}

function causeOf({ change, blocking }: Pick<ReturnFacts, 'change' | 'blocking'>): ReturnCause | null {
  if (isEjected(change)) return change.ejection?.kind ?? null;
  return blocking.length > 0 ? 'comments' : null;
}

/** Whether a return was about the current problem. */
function isAbout(last: Returned, { change, blocking }: ReturnFacts): boolean {
  if (last.head !== change.head || !knowsAll(last, blocking)) return false;
  return !isEjected(change) || last.ejectedAt === change.ejection?.at;
}

/** The author pushed a new head after comments and is still working, so open comments may be addressed soon. */
function isPuttingRight({ change, blocking, last, author }: ReturnFacts): boolean {
  return author === 'working' && last !== null && !isEjected(change) && knowsAll(last, blocking);
}

function knowsAll(last: Returned, blocking: ReturnFacts['blocking']): boolean {
  return blocking.every(({ id }) => last.comments.includes(id));
}

function standIn({ hasStandIn }: ReturnFacts, cause: ReturnCause): ReturnStep {
  if (hasStandIn) return { do: 'stand-in', cause };
  return { do: 'give-up', cause, reason: 'its author is gone, and no stand-in is configured' };
}
