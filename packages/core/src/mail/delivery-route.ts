import { limits } from '@pawl/schema/limit';
import type { Definition } from '@pawl/schema/definition';
import type { MailKind } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';

/** The facts that decide how mail reaches an agent now. */
export type RouteFacts = {
  agent: Agent;
  run: Run | null;
  session: Session | null;
  /** For a persistent agent without a run yet: its current definition. */
  first?: Definition | null;
  /** Its process is in the middle of a turn, takes input, and confirms it. */
  listens: boolean;
  /** `pawl resume` would continue it: its provider, worktree and definition exist. */
  resumable: boolean;
  /** Mail waiting for it. */
  waiting: readonly { kind: MailKind; byPerson: boolean }[];
  /** Turns that ordinary mail started within the last hour. */
  wakes: number;
};

export type DeliveryRoute =
  /** Into the running turn. */
  | { kind: 'live' }
  /** Start a turn with it. `counts` against the hourly limit if only agents' mail asks for it. */
  | { kind: 'wake'; counts: boolean }
  /** Not now: it joins the next turn, or the recipient fetches it. */
  | { kind: 'wait'; why: string }
  /** Never. */
  | { kind: 'dead'; why: string };

/**
 * Decides how mail reaches an agent. Mail never wakes an agent that was stopped, has failed or waits for a person. It
 * may wake a finished one: questions and a person's messages always do; other mail only if the definition says `wake`,
 * up to an hourly limit, so that two agents cannot thank each other all night. Pawl's own notices never do, except
 * nudges and alerts.
 */
export function routeOfMail(facts: RouteFacts): DeliveryRoute {
  const { agent, run, session } = facts;
  if (agent.endedAt !== null) return { kind: 'dead', why: `${agent.alias} is dead (${agent.endReason ?? 'ended'})` };
  if (agent.parentId === null) return wait('a person fetches their mail');
  if (agent.adopted !== null)
    return wait('it was not started by Pawl, so it fetches its mail: by its hook, or with `pawl mail`');
  const pulls = definitionOf(facts)?.mail === 'pull';
  // A persistent agent may be woken for its first turn; an ephemeral one starts with its task.
  const mayBegin = agent.class === 'persistent' && definitionOf(facts) !== null;
  if (run === null && !mayBegin) return wait('it has not started yet');
  if (run !== null && run.outcome === null) {
    if (pulls) return wait('it fetches its mail');
    if (facts.listens && session?.pausedAt === null && agent.stopRequestedAt === null) return { kind: 'live' };
    return wait(session?.pausedAt === null ? 'it is in the middle of a turn' : 'it is paused');
  }
  if (agent.stopRequestedAt !== null) return wait('it was stopped');
  if (agent.completion !== null) return wait('it has completed');
  if (run?.outcome === 'failed') return wait('its last run failed');
  if (run !== null && run.questions !== null) return wait('it waits for a person’s answer');
  if (agent.kind === 'subagent') return wait('it is idle until its main gives it work');
  if (!facts.resumable) return wait('it cannot be resumed: its worktree, its provider or its definition is gone');
  return wayToIdle(facts);
}

function definitionOf({ run, first = null }: RouteFacts): Definition | null {
  return run === null ? first : run.definition;
}

function wayToIdle(facts: RouteFacts): DeliveryRoute {
  const { waiting, wakes } = facts;
  if (waiting.some(({ kind, byPerson }) => kind === 'question' || (kind === 'message' && byPerson)))
    return { kind: 'wake', counts: false };
  const policy = definitionOf(facts)?.mail ?? 'wake';
  if (waiting.some(({ kind }) => kind === 'nudge' || kind === 'alert')) return { kind: 'wake', counts: false };
  if (policy === 'pull') return wait('it fetches its mail');
  if (policy === 'next-turn') return wait('it is idle, and mail does not wake it');
  if (!waiting.some(({ kind }) => kind === 'message' || kind === 'answer' || kind === 'completion'))
    return wait('it is idle, and nothing here wakes it');
  if (wakes >= limits.mailWakesPerHour) return wait('mail has woken it too often within the hour');
  return { kind: 'wake', counts: true };
}

function wait(why: string): DeliveryRoute {
  return { kind: 'wait', why };
}
