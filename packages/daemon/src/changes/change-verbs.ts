import type { Asker } from '@pawl/core/changes/change-rights';
import { nameOf, refuseBlocking, refuseChangeVerb } from '@pawl/core/changes/change-rights';
import { isEjected } from '@pawl/core/changes/change-state';
import { requireChangeText } from '@pawl/core/changes/change-text';
import type { MergeRules } from '@pawl/core/changes/merge-leave';
import { isAskedFor, notCommitted } from '@pawl/core/changes/merge-leave';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { agentById } from '@pawl/store/agents/agents';
import type { ChangePatch } from '@pawl/store/changes/changes';
import { updateChange } from '@pawl/store/changes/changes';
import { queueOf, updateQueue } from '@pawl/store/changes/queues';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { changeAccess } from './change-access.ts';
import { about, changeNow, fixerNow, openOne, placeAtEnd } from './change-now.ts';
import { emitQueued } from './change-queued.ts';
import { projectRules } from '../project-config/project-rules.ts';
import { projectOfChange } from './change-scope.ts';

/**
 * Verbs on an existing change, each in one transaction with its event. All are idempotent: a repeated request causes no
 * event.
 */
type Verb = { asker: Asker; changeId: string };

/** Accepts the head's effect on the gate. For persons only, which the door enforces. */
export async function approveChange(
  platform: DefinitionPlatform,
  { changeId, head }: { changeId: string; head?: string | undefined },
) {
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    if (head !== undefined && !change.head.startsWith(head)) {
      throw new PawlError('conflict', `The change is now at ${change.head.slice(0, 10)}.`, {
        hint: `Look at it again: pawl change diff ${change.id}`,
      });
    }
    if (change.approvedHead === change.head) return;
    // If every reviewer failed, a person's approval counts as the review.
    const isReviewed = change.reviewedHead === change.head || change.reviews < limits.reviewAttempts;
    await updateChange(tx, changeId, {
      approvedHead: change.head,
      ...(isReviewed ? {} : { reviewedHead: change.head }),
    });
    tx.emit({ type: 'change.approved', ...about(change), data: { changeId, head: change.head } });
  });
}

export async function blockChange(
  platform: DefinitionPlatform,
  { asker, changeId, reason }: Verb & { reason: string },
) {
  const said = requireChangeText('reason', reason);
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, 'block');
    refuseBlocking(asker, change, await fixerNow(tx.db, change));
    const by = nameOf(asker);
    if (change.hold?.by === by && change.hold.reason === said) return;
    if (change.hold !== null) refuseChangeVerb(changeAccess, asker, change, 'unblock');
    await updateChange(tx, changeId, { hold: { reason: said, by, at: tx.now } });
    tx.emit({ type: 'change.blocked', ...about(change), data: { changeId, by, reason: said } });
  });
}

/** Releases a held change. It goes to the end of the queue. */
export async function unblockChange(platform: DefinitionPlatform, { asker, changeId }: Verb) {
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, 'unblock');
    if (change.hold === null) return;
    await updateChange(tx, changeId, { hold: null, ...placeAtEnd(change, tx.now) });
    tx.emit({ type: 'change.unblocked', ...about(change), data: { changeId, by: nameOf(asker) } });
  });
}

/** Retries an ejected change unchanged. Keeps the count of its returns. */
export async function retryChange(platform: DefinitionPlatform, { asker, changeId }: Verb) {
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, 'retry');
    if (!isEjected(change)) {
      if (change.queuedAt !== null) return;
      throw new PawlError('conflict', 'The change was never queued, so it cannot be tried again.', {
        hint: `Queue it: pawl change merge ${change.id}`,
      });
    }
    await queue(tx, change, asker, { ejection: null, retriedAt: tx.now });
  });
}

/**
 * Requests a merge once the checks pass. Where the project does not merge automatically, only a person's request
 * counts: for an agent the change is only checked. A repair of the target branch is accepted even while that is red.
 */
export async function mergeChange(
  platform: DefinitionPlatform,
  { asker, changeId, fix, rules }: Verb & { fix?: boolean | undefined; rules: MergeRules },
) {
  if (asker.is === 'agent') await refuseScripted(platform, await changeNow(platform.store.db, changeId));
  await platform.store.write(async (tx) => {
    const known = await changeNow(tx.db, changeId);
    if (known.mergedAt !== null) return;
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, fix === true ? 'repair' : 'merge');
    if (isEjected(change)) {
      throw new PawlError('conflict', `The queue ejected this change: ${change.ejection?.reason ?? ''}.`, {
        hint: afterEjection(change),
      });
    }
    if (asker.is === 'person') refuseNotCommitted(rules);
    const { repair, isNew } = fix === true ? await appoint(tx, platform, change) : { repair: {}, isNew: false };
    const asked = asker.is === 'person' && !isAskedFor(change) ? { askedHead: change.head } : {};
    if ('askedHead' in asked) {
      const data = { changeId, head: change.head, by: nameOf(asker) };
      tx.emit({ type: 'change.asked', ...about(change), data });
    }
    if (change.queuedAt === null) return queue(tx, change, asker, { ...repair, ...asked });
    await updateChange(tx, changeId, { ...repair, ...asked });
    // The queue learns of a repair by this event, as of every queued change.
    if (isNew && !('askedHead' in asked)) emitQueued(tx, change, asker);
  });
  crashPoint('change.after_ask');
}

function afterEjection({ id, ejection }: Change): string {
  const short = id.slice(0, 8);
  if (ejection?.kind === 'conflict') return `Resolve the conflict: pawl change fix ${short}`;
  return `See why: pawl change log ${short}. Fix its branch and run \`pawl change open\`, or retry it unchanged: pawl change retry ${short}`;
}

/** Throws if the queue would not merge. */
function refuseNotCommitted(rules: MergeRules): void {
  if (rules.source !== 'checkout') return;
  throw new PawlError('conflict', `Nothing is merged: ${notCommitted(rules)}.`, {
    hint: 'Run these commands, then `pawl change merge` again.',
  });
}

/** Refuses an agent's request to merge a scripted agent's change. Outside a playground only a person may merge it. */
async function refuseScripted(platform: DefinitionPlatform, change: Change): Promise<void> {
  const author = change.agentId === null ? null : await agentById(platform.store.db, change.agentId);
  if (author === null || platform.providers.find(author.provider)?.scripted !== true) return;
  const { config } = await projectRules(platform, await projectOfChange(platform, change));
  if (config.playground) return;
  throw new PawlError('forbidden', `${author.alias} is a scripted stand-in, so only a person may merge its change.`, {
    hint: 'In a repository for trying things out, commit `playground: true` in .pawl/config.yaml.',
  });
}

/** Makes this change the repair of the target branch; `isNew` is false if it already was. */
async function appoint(
  tx: WriteTransaction,
  platform: DefinitionPlatform,
  change: Change,
): Promise<{ repair: ChangePatch; isNew: boolean }> {
  const emergency = (await queueOf(tx.db, change.projectId))?.emergency ?? null;
  if (emergency === null) {
    throw new PawlError('conflict', 'The target branch is not red, so there is nothing to repair.', {
      hint: `Queue it as usual: pawl change merge ${change.id}`,
    });
  }
  // A person's own change belongs to agent 0 here.
  const fixerId = change.agentId ?? platform.rootId;
  await updateQueue(tx, change.projectId, { emergency: { ...emergency, fixerId } });
  const repair = change.agentId === null ? { standInId: platform.rootId } : {};
  return { repair, isNew: emergency.fixerId !== fixerId };
}

async function queue(tx: WriteTransaction, change: Change, asker: Asker, patch: ChangePatch): Promise<void> {
  await updateChange(tx, change.id, { ...patch, queuedAt: tx.now });
  emitQueued(tx, change, asker);
}
