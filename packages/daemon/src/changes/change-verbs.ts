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
 * What is done to a change that is there, each in one transaction with its event. Every one of them may be asked for twice:
 * what is so already stays so, without another event.
 */
type Verb = { asker: Asker; changeId: string };

/** Accepts what a change's head does to the gate. For persons only, which the door sees to. */
export async function approveChange(
  platform: DefinitionPlatform,
  { changeId, head }: { changeId: string; head?: string | undefined },
) {
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    if (head !== undefined && !change.head.startsWith(head)) {
      throw new PawlError('conflict', `The change is at ${change.head.slice(0, 10)} by now.`, {
        hint: `Look at it again: pawl change diff ${change.id}`,
      });
    }
    if (change.approvedHead === change.head) return;
    // Where every reviewer has failed, a person who has looked at it is the review.
    const isReviewed = change.reviewedHead === change.head || change.reviews < limits.reviewAttempts;
    await updateChange(tx, changeId, {
      approvedHead: change.head,
      ...(isReviewed ? {} : { reviewedHead: change.head }),
    });
    tx.emit({ type: 'change.approved', ...about(change), data: { changeId, head: change.head } });
  });
}

/** Holds a change for a reason. */
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

/** Lets go of a change that is held. It goes to the end of the queue. */
export async function unblockChange(platform: DefinitionPlatform, { asker, changeId }: Verb) {
  await platform.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, 'unblock');
    if (change.hold === null) return;
    await updateChange(tx, changeId, { hold: null, ...placeAtEnd(change, tx.now) });
    tx.emit({ type: 'change.unblocked', ...about(change), data: { changeId, by: nameOf(asker) } });
  });
}

/** Retries an ejected change as it is. It keeps the count of its returns. */
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
 * Asks for a change to be merged when its checks pass. Only a person's asking counts where the project does not merge by
 * itself: for an agent the change is checked, and no more. One that repairs the target branch is taken even while that is red.
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
    // The queue hears of a repair by an event, as of every change that waits for it.
    if (isNew && !('askedHead' in asked)) emitQueued(tx, change, asker);
  });
  crashPoint('change.after_ask');
}

function afterEjection({ id, ejection }: Change): string {
  const short = id.slice(0, 8);
  if (ejection?.kind === 'conflict') return `Resolve the conflict: pawl change fix ${short}`;
  return `See why: pawl change log ${short}. Correct its branch and run \`pawl change open\`, or try it again as it is: pawl change retry ${short}`;
}

/** Refuses to promise a merge that the queue would not make. */
function refuseNotCommitted(rules: MergeRules): void {
  if (rules.source !== 'checkout') return;
  throw new PawlError('conflict', `Nothing is merged: ${notCommitted(rules)}.`, {
    hint: 'Run these commands, then `pawl change merge` again.',
  });
}

/** Refuses an agent to merge what the scripted stand-in made. Outside a playground only a person merges that. */
async function refuseScripted(platform: DefinitionPlatform, change: Change): Promise<void> {
  const author = change.agentId === null ? null : await agentById(platform.store.db, change.agentId);
  if (author === null || platform.providers.find(author.provider)?.scripted !== true) return;
  const { config } = await projectRules(platform, await projectOfChange(platform, change));
  if (config.playground) return;
  throw new PawlError('forbidden', `${author.alias} is a scripted stand-in, so only a person may merge its change.`, {
    hint: 'In a repository for trying things out, commit `playground: true` in .pawl/config.yaml.',
  });
}

/** Makes this change the one that repairs the target branch; `isNew` is false when it was that already. */
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
  // A person's own change is the person's, who is agent 0 here.
  const fixerId = change.agentId ?? platform.rootId;
  await updateQueue(tx, change.projectId, { emergency: { ...emergency, fixerId } });
  const repair = change.agentId === null ? { standInId: platform.rootId } : {};
  return { repair, isNew: emergency.fixerId !== fixerId };
}

async function queue(tx: WriteTransaction, change: Change, asker: Asker, patch: ChangePatch): Promise<void> {
  await updateChange(tx, change.id, { ...patch, queuedAt: tx.now });
  emitQueued(tx, change, asker);
}
