import type { Change, ChangeState, Queue, WithheldWork } from '@pawl/schema/change';
import type { InboxKind } from '@pawl/schema/inbox';
import type { Agent, Run } from '@pawl/schema/record';
import { breachInWords, budgetAdvice } from '../accounts/budget.ts';
import { isEjected } from '../changes/change-state.ts';
import type { MergeRules } from '../changes/merge-leave.ts';
import { mergeLeave, readyReason } from '../changes/merge-leave.ts';
import { firstLine } from '../shorten.ts';

/** One item that waits for a person: what happened, since when, and the commands to continue, best first. */
export type InboxNews = { kind: InboxKind; since: number; text: string; detail: string; next: string[] };

export type ChangeInboxFacts = {
  change: Change;
  state: ChangeState;
  detail: string;
  /** Its author or stand-in is working on it now. */
  isInHand: boolean;
  /** Its merge rules; null if the configuration cannot be read. */
  rules: MergeRules | null;
};

/** Why a change waits for a person; null if it does not. */
export function changeNews(facts: ChangeInboxFacts): InboxNews | null {
  const { change, state, detail } = facts;
  const id = change.id.slice(0, 8);
  const { ejection } = change;
  const news = (kind: InboxKind, since: number, next: string[]): InboxNews => {
    return { kind, since, text: change.title, detail, next };
  };
  const close = `pawl change close ${id} --reason "…"`;
  if (isEjected(change) && ejection !== null && !hasFindings(change)) {
    // A person's own change returns to that person; an agent's only once no agent continues it.
    if (facts.isInHand) return null;
    if (ejection.kind === 'conflict') return news('conflict', ejection.at, [`pawl change fix ${id}`, close]);
    const isGivenUp = state === 'needs-human-input';
    if (!isGivenUp && change.agentId !== null) return null;
    return news(isGivenUp ? 'needs-human-input' : 'ejected', ejection.at, [
      `pawl change log ${id}`,
      `pawl change retry ${id}`,
      close,
    ]);
  }
  const since = change.queuedAt ?? change.openedAt;
  if (state === 'needs-human-input') {
    return news(state, since, [`pawl change diff ${id}`, `pawl change approve ${id}`, close]);
  }
  if (state === 'ready') return readyNews(facts);
  return state === 'blocked' && change.queuedAt !== null && isWithoutChecks(facts)
    ? news('no-checks', since, ['pawl init'])
    : null;
}

/** A change that passes its checks and waits for a person. Does not offer a merge that would be refused. */
function readyNews({ change, detail, rules }: ChangeInboxFacts): InboxNews {
  const id = change.id.slice(0, 8);
  const since = change.queuedAt ?? change.openedAt;
  const leave = rules === null ? 'not-asked' : mergeLeave(change, rules);
  const merge = leave === 'not-committed' ? [] : [`pawl change merge ${id}`];
  const about = { kind: 'ready' as const, since, text: change.title };
  return {
    ...about,
    detail: rules === null ? detail : readyReason(leave, rules),
    next: [...merge, `pawl change diff ${id}`],
  };
}

function hasFindings({ findings, approvedHead, head }: Change): boolean {
  return findings.length > 0 && approvedHead !== head;
}

function isWithoutChecks({ change, detail }: ChangeInboxFacts): boolean {
  return change.hold === null && detail.startsWith('there are no checks');
}

/** Named in errors about a project's configuration. */
const configPath = '.pawl/config.yaml';

export type QueueInboxFacts = {
  queue: Pick<Queue, 'branch' | 'beganAt' | 'emergency' | 'pausedAt' | 'waiting'>;
  /** Why the project's configuration cannot be read, or null. */
  trouble: string | null;
  /** The queued open changes, in order. */
  queued: readonly Change[];
  /** How the check of a red target branch ended, the agent that repairs it, and why none could be started. */
  failure: { detail: string; fixer: string | null; trouble: string | null };
};

/**
 * Why a queue waits for a person. With no waiting change, only a red target branch and a broken configuration count.
 */
export function queueNews({ queue, trouble, queued, failure }: QueueInboxFacts): (InboxNews & { changes: string[] })[] {
  const { branch, emergency, pausedAt, waiting } = queue;
  const found: (InboxNews & { changes: string[] })[] = [];
  const waits = queued.map(({ id }) => id);
  const [first] = queued;
  if (emergency !== null) {
    const text = `${branch} is red at ${emergency.commit.slice(0, 10)}`;
    const follow = failure.fixer === null ? 'pawl change merge CHANGE --fix' : `pawl logs -f ${failure.fixer}`;
    const next = ['pawl queue log', follow];
    const detail = emergencyDetail(failure);
    found.push({ kind: 'emergency', since: emergency.since, text, detail, next, changes: waits });
  }
  const misread = trouble ?? (waiting?.reason.includes(configPath) === true ? waiting.reason : null);
  if (misread !== null) {
    const noticed = first?.queuedAt ?? waiting?.since ?? queue.beganAt;
    return [...found, { ...configNews(misread, { branch, since: noticed, queued }), changes: waits }];
  }
  if (first === undefined) return found;
  const since = first.queuedAt ?? first.openedAt;
  const text = queuedInWords(queued);
  if (pausedAt !== null) {
    const news = { since: pausedAt, text, detail: 'the queue is paused', next: ['pawl queue resume'] };
    return [...found, { kind: 'queue-paused', ...news, changes: waits }];
  }
  if (waiting === null) return found;
  const green = queued.filter(({ id }) => waiting.changes.includes(id));
  const [held] = green;
  const next = [...(waiting.hint === null ? [] : [waiting.hint]), 'pawl queue'];
  const about = { since: waiting.since ?? since, detail: waiting.reason, next };
  if (held === undefined) return [...found, { kind: 'queue-stuck', ...about, text, changes: waits }];
  const passed = green.length === 1 ? held.title : `${green.length} changes that passed their checks`;
  return [...found, { kind: 'held-up', ...about, text: passed, changes: green.map(({ id }) => id) }];
}

/** A configuration that cannot be read: nothing is checked or merged until it is fixed. */
export function configNews(
  detail: string,
  { branch, since, queued }: { branch: string; since: number; queued: readonly Change[] },
): InboxNews {
  const text = queued.length === 0 ? `nothing is checked or merged into ${branch}` : queuedInWords(queued);
  const next = [`edit ${configPath} and commit it on ${branch}`, 'pawl queue'];
  return { kind: 'configuration', since, text, detail, next };
}

function queuedInWords(queued: readonly Change[]): string {
  const [first] = queued;
  return first !== undefined && queued.length === 1 ? first.title : `${queued.length} changes`;
}

function emergencyDetail({ detail, fixer, trouble }: QueueInboxFacts['failure']): string {
  if (fixer !== null || trouble === null) return detail;
  return `${detail === '' ? '' : `${detail}; `}no agent could be started to repair it: ${trouble}`;
}

/** Commits that stay on an agent's branch, since its definition may not propose them. */
export function withheldNews(work: WithheldWork, target: string): InboxNews {
  const { branch, head, definition, at } = work;
  return {
    kind: 'withheld',
    since: at,
    text: `${branch} has commits that are not proposed`,
    detail: `up to ${head.slice(0, 10)}: the policy of the definition ${definition} has no Patch`,
    next: [`git log ${target}..${branch}`, `pawl change open ${branch}`, `git branch -D ${branch}`],
  };
}

/** The used-up budget that stopped an agent, or null. */
export function budgetNews({ agent, run }: { agent: Agent; run: Run | null }): InboxNews | null {
  const cause = run?.cause ?? null;
  if (agent.endedAt !== null || run === null || cause?.reason !== 'budget') return null;
  const detail = breachInWords(cause);
  const next = [budgetAdvice(agent.alias, cause.of, cause.detail), `pawl inspect ${agent.alias}`];
  return {
    kind: 'over-budget',
    since: run.endedAt ?? run.startedAt,
    text: firstLine(agent.assignment ?? run.task, 200),
    detail,
    next,
  };
}
