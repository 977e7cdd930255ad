import type { Change, ChangeComment } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { isEjected } from './change-state.ts';

/** Why a change goes back. */
export type ReturnCause = 'conflict' | 'red' | 'comments';

/** To whom a change went back the last time, and about what. */
export type Returned = {
  head: string;
  /** Of the ejection that it was about. */
  ejectedAt: number | null;
  /** The comments that it was about. */
  comments: readonly string[];
  to: string;
  /** What told its author; null for somebody whose task it is. */
  mailId: string | null;
};

/**
 * How the one stands who has a change in hand: `working` and `resting` can be reached, `waiting` is for a person to let go on,
 * `gone` never comes back to it.
 */
export type Holder = 'person' | 'working' | 'resting' | 'waiting' | 'gone';

export type ReturnFacts = {
  change: Change;
  /** Comments that block, that nobody has addressed, and to which no more are being added. */
  blocking: readonly Pick<ChangeComment, 'id'>[];
  last: Returned | null;
  author: Holder;
  /** Of whom it went back to. */
  holder: Holder;
  /** That one has been told, and its turn is over. */
  hadItsTurn: boolean;
  /** Somebody may be put in the author's place. */
  hasStandIn: boolean;
};

export type ReturnStep =
  | { do: 'nothing' }
  | { do: 'tell-author' | 'stand-in'; cause: ReturnCause }
  /** No agent can continue it; a person has to. */
  | { do: 'give-up'; cause: ReturnCause; reason: string };

/**
 * Who goes on with a change that cannot go in as it is: its author where that one can be reached, else somebody in its place.
 * Each return is for one head and one reason, and there is a bounded number of them. Whoever has had its turn and has
 * proposed nothing has given up, and then a person is asked: a second one would only fail in the same way.
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
  return { do: 'give-up', cause, reason: `${who} has been told, and proposes nothing new` };
}

/** How an agent stands that is to go on with a change. */
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
  // Who stays is begun again after a crash, or waits for a person.
  if (run.outcome === 'failed') return agent.class === 'persistent' ? 'waiting' : 'gone';
  if (!isResumable) return 'gone';
  return run.questions === null ? 'resting' : 'waiting';
}

function causeOf({ change, blocking }: Pick<ReturnFacts, 'change' | 'blocking'>): ReturnCause | null {
  if (isEjected(change)) return change.ejection?.kind ?? null;
  return blocking.length > 0 ? 'comments' : null;
}

/** Whether a return was about what keeps the change out now. */
function isAbout(last: Returned, { change, blocking }: ReturnFacts): boolean {
  if (last.head !== change.head || !knowsAll(last, blocking)) return false;
  return !isEjected(change) || last.ejectedAt === change.ejection?.at;
}

/** Its author has moved it on after comments, and is still at it: what is not addressed yet may be so in a moment. */
function isPuttingRight({ change, blocking, last, author }: ReturnFacts): boolean {
  return author === 'working' && last !== null && !isEjected(change) && knowsAll(last, blocking);
}

function knowsAll(last: Returned, blocking: ReturnFacts['blocking']): boolean {
  return blocking.every(({ id }) => last.comments.includes(id));
}

function standIn({ hasStandIn }: ReturnFacts, cause: ReturnCause): ReturnStep {
  if (hasStandIn) return { do: 'stand-in', cause };
  return { do: 'give-up', cause, reason: 'its author is gone, and nobody is to take its place' };
}
