import { blockingOf } from '@pawl/core/changes/change-comment';
import type { Asker } from '@pawl/core/changes/change-rights';
import { nameOf, refuseChangeVerb, refuseClosing } from '@pawl/core/changes/change-rights';
import { checkChangeText, requireChangeText } from '@pawl/core/changes/change-text';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { changeById, commentsOf, updateChange } from '@pawl/store/changes/changes';
import { renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { changeAccess } from './change-access.ts';
import { openOne, refuseWhileAdvancing } from './change-now.ts';
import { projectOfChange } from './change-scope.ts';
import { draftLearnings, learningsOf, learningsPath } from './learnings.ts';
import { noteClosed } from './notices.ts';

/** A closed change, and the path of its learnings. */
export type Closed = { change: Change; learnings: string | null };

/** Closes a change. An agent must say what was learned from it. */
export async function closeChange(
  platform: DefinitionPlatform,
  given: { asker: Asker; change: Change; reason: string; learnings?: string | undefined },
): Promise<Closed> {
  const { asker, change } = given;
  refuseChangeVerb(changeAccess, asker, change, 'close');
  const reason = requireChangeText('reason', given.reason);
  const learnings = given.learnings === undefined ? '' : checkChangeText('learnings', given.learnings);
  if (learnings === '' && asker.is !== 'person') {
    throw new PawlError('invalid_input', 'An agent that closes a change must say what was learned from it.', {
      hint: `pawl change close ${change.id} --reason "…" --learnings "what did not work, and why"`,
    });
  }
  const by = nameOf(asker);
  if (learnings !== '') return closeWithLearnings(platform, change, { reason, learnings, by, asker });
  return close(platform, change, { reason, draft: null, asker });
}

/**
 * Closes a change and stores the learnings in a file of the home. The file is written under a temporary name first and
 * renamed within the transaction: a crash in between leaves the change open, and the next attempt writes it again.
 */
export async function closeWithLearnings(
  platform: DefinitionPlatform,
  change: Change,
  { reason, learnings, by, asker }: { reason: string; learnings: string; by: string; asker?: Asker },
): Promise<Closed> {
  const project = await projectOfChange(platform, change);
  const draft = await draftLearnings(platform, { project, change, reason, learnings, by });
  try {
    return await close(platform, change, { reason, draft, asker });
  } finally {
    await rm(draft, { force: true });
  }
}

async function close(
  platform: DefinitionPlatform,
  { id }: Change,
  { reason, draft, asker }: { reason: string; draft: string | null; asker: Asker | undefined },
): Promise<Closed> {
  return platform.store.write(async (tx) => {
    const known = await changeById(tx.db, id);
    const project = await projectOfChange(platform, { projectId: known?.projectId ?? '' });
    const path = learningsPath(platform.home, project, id);
    if (known !== null && known.closedAt !== null) {
      return { change: known, learnings: learningsOf(platform.home, project, known) };
    }
    const change = await openOne(tx.db, id);
    await refuseWhileAdvancing(tx.db, change);
    if (asker !== undefined) refuseClosing(changeAccess, asker, change, blockingOf(await commentsOf(tx.db, id)));
    const learnings = draft === null ? null : path;
    if (draft !== null) renameSync(draft, path);
    await updateChange(tx, id, { closedAt: tx.now, closeReason: reason });
    const data = { changeId: id, reason, learnings };
    tx.emit({ type: 'change.closed', projectId: change.projectId, agentId: change.agentId, data });
    await noteClosed(tx, { platform, project, change, reason, learnings });
    return { change: { ...change, closedAt: tx.now, closeReason: reason }, learnings };
  });
}
