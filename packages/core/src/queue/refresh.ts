import type { Change } from '@pawl/schema/change';
import type { WorkMode } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { isEjected } from '../changes/change-state.ts';
import { fileList } from './foresight.ts';

/** Work that stays where it was done: errands, for a person to look at, and reviews of a fixed commit. */
const fixedModes: readonly WorkMode[] = ['errand', 'review'];

/**
 * Why an agent's worktree must not be rebased onto main now; null if it may. Only idle agents qualify, and none whose
 * branch is in the queue.
 */
export function reasonNotToRefresh(
  { agent, run, session }: AgentFacts,
  { target, change }: { target: string; change: Change | null },
): string | null {
  if (agent.endedAt !== null || agent.completion !== null) return 'it has ended, or is about to';
  if (agent.adopted !== null || agent.branch === null || agent.worktreeReadyAt === null) return 'it has no worktree';
  if (fixedModes.includes(agent.mode)) return 'its work stays on its commit';
  if (agent.branch === target) return `it is on ${target}`;
  if ((session !== null && session.endedAt === null) || run?.outcome === null) return 'it is at work';
  if (change !== null && change.queuedAt !== null && !isEjected(change)) return 'its change is in the queue';
  return null;
}

type Moved = { branch: string; target: string; onto: string };

/** Tells an agent that its branch was rebased. Names no commit, so it stays true when the branch moves again. */
export function refreshedWords({ branch, target }: Pick<Moved, 'branch' | 'target'>): string {
  return [
    `${target} has moved, and your branch ${branch} was rebased onto it while you were idle.`,
    'Your commits have new ids; uncommitted work is unchanged.',
    'Files may have changed since you last read them.',
  ].join('\n');
}

/** Tells an agent that its branch could not be rebased onto main. */
export function notRefreshedWords(
  { branch, target, onto }: Moved,
  why: { conflicts: readonly string[] } | { reason: string },
): string {
  const cause =
    'conflicts' in why ? `They conflict in:\n${fileList(why.conflicts)}` : `${why.reason}\nNothing was changed.`;
  return [
    `${target} has moved to ${onto.slice(0, 10)}, and your branch ${branch} could not be brought up to it. ${cause}`,
    `When you continue, commit what you have and take it in yourself: git rebase ${onto.slice(0, 10)}`,
  ].join('\n');
}
