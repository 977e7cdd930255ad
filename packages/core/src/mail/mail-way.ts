import { limits } from '@pawl/schema/limit';
import type { Definition } from '@pawl/schema/definition';
import type { MailKind } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';

/** What decides how mail reaches an agent now. */
export type WayFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** Of one that stays and has had no run yet: its definition as its files say it now. */
  first?: Definition | null;
  /** Its process is in the middle of a turn, and takes lines meanwhile whose arrival it shows. */
  listens: boolean;
  /** `pawl resume` would continue it: its provider, its worktree and its definition are there. */
  resumable: boolean;
  /** What waits for it. */
  waiting: readonly { kind: MailKind; byPerson: boolean }[];
  /** How often ordinary mail has begun a turn of it within the last hour. */
  wakes: number;
};

export type Way =
  /** Into the turn that runs. */
  | { way: 'live' }
  /** Nobody stirs: a turn begins with it. It counts as one of a bounded number where only agents' mail asks for it. */
  | { way: 'wake'; counts: boolean }
  /** Not now, for this reason: it goes along with the next turn, or its recipient fetches it. */
  | { way: 'wait'; why: string }
  /** Never. */
  | { way: 'dead'; why: string };

/**
 * How mail for an agent goes on. Whoever was stopped, has failed, or waits for a person is not woken by anybody's mail; who
 * has finished is, by what its definition allows: a question and a person's word begin a turn anyway, other mail only where
 * the definition says `wake`, and not more often than a bounded number of times in an hour, so that two agents that thank
 * each other do not do so all night. What Pawl itself tells never begins a turn, but for a nudge and an alert.
 */
export function wayOfMail(facts: WayFacts): Way {
  const { agent, run, session } = facts;
  if (agent.endedAt !== null) return { way: 'dead', why: `${agent.alias} is dead (${agent.endReason ?? 'ended'})` };
  if (agent.parentId === null) return wait('a person fetches their mail');
  if (agent.adopted !== null)
    return wait('it was not started by Pawl, so it fetches its mail: by its hook, or with `pawl mail`');
  const pulls = definitionOf(facts)?.mail === 'pull';
  // Who stays may be woken for its first turn; who is there for one task is given that.
  const mayBegin = agent.class === 'persistent' && definitionOf(facts) !== null;
  if (run === null && !mayBegin) return wait('it has not begun anything yet');
  if (run !== null && run.outcome === null) {
    if (pulls) return wait('it fetches its mail');
    if (facts.listens && session?.pausedAt === null && agent.stopRequestedAt === null) return { way: 'live' };
    return wait(session?.pausedAt === null ? 'it is in the middle of a turn' : 'it is paused');
  }
  if (agent.stopRequestedAt !== null) return wait('it was stopped');
  if (agent.completion !== null) return wait('it has completed');
  if (run?.outcome === 'failed') return wait('its last run failed');
  if (run !== null && run.questions !== null) return wait('it waits for a person’s answer');
  if (agent.kind === 'subagent') return wait('it rests until its main gives it work');
  if (!facts.resumable) return wait('it cannot be resumed: its worktree, its provider or its definition is gone');
  return wayToIdle(facts);
}

function definitionOf({ run, first = null }: WayFacts): Definition | null {
  return run === null ? first : run.definition;
}

function wayToIdle(facts: WayFacts): Way {
  const { waiting, wakes } = facts;
  if (waiting.some(({ kind, byPerson }) => kind === 'question' || (kind === 'message' && byPerson)))
    return { way: 'wake', counts: false };
  const policy = definitionOf(facts)?.mail ?? 'wake';
  if (waiting.some(({ kind }) => kind === 'nudge' || kind === 'alert')) return { way: 'wake', counts: false };
  if (policy === 'pull') return wait('it fetches its mail');
  if (policy === 'next-turn') return wait('it rests, and mail does not wake it');
  if (!waiting.some(({ kind }) => kind === 'message' || kind === 'answer' || kind === 'completion'))
    return wait('it rests, and there is nothing that would wake it');
  if (wakes >= limits.mailWakesPerHour) return wait('mail has woken it too often within an hour');
  return { way: 'wake', counts: true };
}

function wait(why: string): Way {
  return { way: 'wait', why };
}
