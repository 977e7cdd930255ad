import type { Inheritance } from '@pawl/core/agents/fork';
import { conversationOf, openToolsIn } from '@pawl/core/agents/history';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { branchTip, resolveCommit } from '@pawl/git/repository/repository';
import { takeSnapshot } from '@pawl/git/snapshot/snapshot';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { replay } from '@pawl/store/sessions/history';
import { lastMessageId, toolMessages } from '@pawl/store/sessions/messages';
import { sessionsThatSpoke } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import { agentIn } from '../platform/places.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, placeOf } from '../platform/platform.ts';
import type { Ground } from './grounds.ts';

/** Reads the history that a child of this agent inherits now: everything before the first tool call without a result. */
export async function inheritance(db: Database, parent: Agent): Promise<Inheritance> {
  const session = (await agentView(db, parent.id))?.session ?? null;
  const last = await lastMessageId(db, parent.id);
  const open = session === null || session.endedAt !== null ? [] : await toolMessages(db, parent.id, session.id);
  const { since } = openToolsIn(open);
  const known = (await sessionsThatSpoke(db, parent.id)).findLast((each) => each.no > parent.freshAfter);
  return {
    messageId: since === null ? last : await lastMessageId(db, parent.id, since),
    conversation: known?.providerSessionId ?? null,
  };
}

/** Refuses a fork whose provider cannot inherit its parent's conversation. */
export async function refuseUninheritable(platform: Platform, parent: Agent, preset: ProviderPreset): Promise<void> {
  if (preset.forkStyle !== 'none') return;
  const history = await replay(platform.store.db, parent.id, { limit: 1_000 });
  if (conversationOf(history).length === 0) return;
  throw new PawlError('conflict', `The provider ${preset.name} cannot continue another agent’s conversation.`, {
    hint: 'Start an agent with a task of its own instead: pawl work "…"',
  });
}

/** Refuses to carry files from a plain directory: only git can take a snapshot of them. */
export function refuseFilesWithoutProject(parent: Agent): void {
  if (parent.projectId !== null || parent.parentId === null) return;
  throw new PawlError('invalid_input', `${parent.alias} has no project, so its files cannot be copied.`, {
    hint: `Omit --with-files; the child can copy what it needs from ${parent.worktree ?? 'its directory'}.`,
  });
}

/**
 * The starting point of a child in each of its projects: the parent's branch, with its uncommitted files on request.
 */
export async function filesFor(
  platform: Platform,
  given: { parent: Agent; grounds: readonly Ground[]; childId: string; carry: boolean },
): Promise<(Ground & { baseCommit: string; snapshot: string | null })[]> {
  const begun = [];
  for (const ground of given.grounds) {
    const there = (await agentIn(platform.store.db, given.parent, ground.project.id)) ?? given.parent;
    begun.push({ ...ground, ...(await filesIn(platform, there, ground, given)) });
  }
  return begun;
}

async function filesIn(
  platform: Platform,
  parent: Agent,
  { project, repository }: Ground,
  { childId, carry }: { childId: string; carry: boolean },
): Promise<{ baseCommit: string; snapshot: string | null }> {
  if (carry) {
    const ownDir = ownGitDirectory(platform.home, project.id);
    // Agent 0 is the person, and works in their checkout.
    const path = parent.parentId === null ? repository.top : placeOf(parent).path;
    const { head, commit } = await takeSnapshot(repository, { ownDir, path, name: childId });
    crashPoint('fork.after_snapshot');
    return { baseCommit: head, snapshot: commit };
  }
  const tip = parent.branch === null ? null : await branchTip(repository, parent.branch);
  return { baseCommit: tip ?? parent.baseCommit ?? (await resolveCommit(repository)), snapshot: null };
}
