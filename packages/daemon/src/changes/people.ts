import { blockingOf } from '@pawl/core/changes/change-comment';
import type { Holder } from '@pawl/core/changes/change-return';
import { holderOf } from '@pawl/core/changes/change-return';
import type { NoticedComment } from '@pawl/core/changes/notice-text';
import type { Change, ChangeComment } from '@pawl/schema/change';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentById } from '@pawl/store/agents/agents';
import { changeById, commentsOf } from '@pawl/store/changes/changes';
import type { Database } from '@pawl/store/tables';
import { isResumable } from '../mail/resumable.ts';
import type { RepairParts } from './repair/staff.ts';

/** An open change with its comments. */
export type Discussed = { change: Change; comments: ChangeComment[]; blocking: ChangeComment[] };

export async function discussed(db: Database, change: Change): Promise<Discussed> {
  const comments = await commentsOf(db, change.id);
  return { change, comments, blocking: blockingOf(comments) };
}

/** The change as it is now, if it is still open and at the same head; else null. */
export async function unmoved(db: Database, { id, head }: Change): Promise<Change | null> {
  const now = await changeById(db, id);
  return now !== null && now.head === head && now.mergedAt === null && now.closedAt === null ? now : null;
}

/** The state of an agent that has, or had, a change in hand. */
export async function standingOf(parts: RepairParts, view: AgentFacts | null): Promise<Holder> {
  const { platform } = parts;
  // Only an idle agent must be resumable.
  const isAtWork = view === null || view.run === null || view.run.outcome === null || view.agent.endedAt !== null;
  return holderOf(view, !isAtWork && (await isResumable(platform, platform.store.db, view.agent)));
}

/** Comments with the names of their authors. */
export async function signed<T extends ChangeComment>(
  parts: RepairParts,
  comments: readonly T[],
): Promise<(T & NoticedComment)[]> {
  const named: (T & NoticedComment)[] = [];
  for (const comment of comments) named.push({ ...comment, by: await nameOf(parts, comment.agentId) });
  return named;
}

/** An agent's alias, or `a person`. */
export async function nameOf(parts: RepairParts, agentId: string | null): Promise<string> {
  const agent = agentId === null ? null : await agentById(parts.platform.store.db, agentId);
  return agent?.alias ?? 'a person';
}
