import type { Asker } from '@pawl/core/ratchet/change-rights';
import { kindOfComment, nameOf, refuseAddressing, refuseChangeVerb } from '@pawl/core/ratchet/change-rights';
import { isEjected } from '@pawl/core/ratchet/change-state';
import { requireChangeText } from '@pawl/core/ratchet/change-text';
import { cutText, firstLine } from '@pawl/core/shorten';
import { hears } from '@pawl/core/complete';
import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { agentById } from '@pawl/store/agents';
import type { ChangePatch } from '@pawl/store/changes';
import { addressComment, changeById, commentsOf, insertComment, updateChange } from '@pawl/store/changes';
import { queueOf, updateQueue } from '@pawl/store/queues';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { redactionOf } from '../service/redaction.ts';
import { rootAgent } from '../service/root-agent.ts';
import type { Workshop } from '../workshop.ts';
import { emitQueued } from './change-queued.ts';

/**
 * What is done to a change that is there, each in one transaction with its event. Every one of them may be asked for twice:
 * what is so already stays so, without another event.
 */
type Verb = { asker: Asker; changeId: string };

/** Accepts what a change's head does to the gate. For persons only, which the door sees to. */
export async function approveChange(
  shop: Workshop,
  { changeId, head }: { changeId: string; head?: string | undefined },
) {
  await shop.store.write(async (tx) => {
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
export async function blockChange(shop: Workshop, { asker, changeId, reason }: Verb & { reason: string }) {
  const clean = await redactionOf(shop, agentIdOf(asker));
  const said = requireChangeText('reason', clean(reason));
  await shop.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(asker, change, 'block');
    const by = nameOf(asker);
    if (change.hold?.by === by && change.hold.reason === said) return;
    if (change.hold !== null) refuseChangeVerb(asker, change, 'unblock');
    await updateChange(tx, changeId, { hold: { reason: said, by, at: tx.now } });
    tx.emit({ type: 'change.blocked', ...about(change), data: { changeId, by, reason: said } });
  });
}

/** Lets go of a change that is held. */
export async function unblockChange(shop: Workshop, { asker, changeId }: Verb) {
  await shop.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(asker, change, 'unblock');
    if (change.hold === null) return;
    await updateChange(tx, changeId, { hold: null });
    tx.emit({ type: 'change.unblocked', ...about(change), data: { changeId, by: nameOf(asker) } });
  });
}

/** Says something about a change, and where it answers a comment that this is addressed by it. */
export async function commentChange(
  shop: Workshop,
  { asker, changeId, body, addresses }: Verb & { body: string; addresses?: string | undefined },
): Promise<{ comment: ChangeComment; tell: string[] }> {
  const clean = await redactionOf(shop, agentIdOf(asker));
  const said = requireChangeText('comment', clean(body));
  return shop.store.write(async (tx) => {
    const change = await required(tx.db, changeId);
    refuseChangeVerb(asker, change, 'comment');
    const earlier = await commentsOf(tx.db, changeId);
    if (earlier.length >= limits.changeComments) {
      throw new PawlError('busy', `There are ${limits.changeComments} comments on this change already.`);
    }
    const comment: ChangeComment = {
      id: newId(),
      changeId,
      agentId: agentIdOf(asker),
      // What is over cannot be held up any more, and an answer is no new objection.
      kind: isOver(change) || addresses !== undefined ? 'note' : kindOfComment(said),
      body: said,
      head: change.head,
      at: tx.now,
      addressedAt: null,
      addressed: null,
    };
    if (addresses !== undefined) await address(tx, { asker, change, earlier, reference: addresses, how: said });
    await insertComment(tx, comment);
    const data = { changeId, commentId: comment.id, kind: comment.kind };
    tx.emit({ type: 'change.commented', ...about(change), data });
    return { comment, tell: await tellAuthor(tx, change, comment, asker) };
  });
}

async function address(
  tx: WriteTransaction,
  given: { asker: Asker; change: Change; earlier: ChangeComment[]; reference: string; how: string },
): Promise<void> {
  const { asker, change, earlier, reference, how } = given;
  const [comment, ...others] = earlier.filter(({ id }) => id.startsWith(reference));
  if (comment === undefined || others.length > 0) {
    const word = JSON.stringify(reference.slice(0, 80));
    throw new PawlError(comment === undefined ? 'not_found' : 'ambiguous', `No single comment is called ${word}.`, {
      hint: `See: pawl change show ${change.id}`,
    });
  }
  refuseAddressing(asker, change, comment, how);
  if (comment.addressedAt !== null) return;
  await addressComment(tx, comment.id, `${nameOf(asker)}: ${how}`);
  const data = { changeId: change.id, commentId: comment.id, by: nameOf(asker) };
  tx.emit({ type: 'change.addressed', ...about(change), data });
}

/** How much of a comment its notice has. */
const noticeCharacters = 1_000;

/** A remark reaches the change's author with its next turn. What blocks is sent to it by the queue, which waits for an answer. */
async function tellAuthor(tx: WriteTransaction, change: Change, comment: ChangeComment, by: Asker): Promise<string[]> {
  const author = change.agentId === null ? null : await agentById(tx.db, change.agentId);
  if (comment.kind === 'blocking' || author === null || !hears(author) || author.id === comment.agentId) return [];
  const quoted = cutText(comment.body, noticeCharacters).replaceAll(/^/gm, '> ');
  const lines = [
    `${nameOf(by)} has commented on your change ${change.id.slice(0, 8)} (${firstLine(change.title, 80)}):`,
    quoted,
    `It does not hold the change. All that was said: pawl change show ${change.id}`,
  ];
  await recordMail(tx, { from: await rootAgent(tx.db), to: author, kind: 'system' }, shortBody(lines.join('\n')));
  return [author.id];
}

/** Tries a change again that was put out, as it is. How often it came back is not forgotten by that. */
export async function retryChange(shop: Workshop, { asker, changeId }: Verb) {
  await shop.store.write(async (tx) => {
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(asker, change, 'retry');
    if (!isEjected(change)) {
      if (change.queuedAt !== null) return;
      throw new PawlError('conflict', 'The change was never queued, so it cannot be tried again.', {
        hint: `Queue it: pawl change merge ${change.id}`,
      });
    }
    await queue(tx, change, asker, { ejection: null, retriedAt: tx.now });
  });
}

/** Queues a change: it is merged when its checks pass. One that repairs the target branch is taken even while that is red. */
export async function mergeChange(shop: Workshop, { asker, changeId, fix }: Verb & { fix?: boolean | undefined }) {
  await shop.store.write(async (tx) => {
    const known = await required(tx.db, changeId);
    if (known.mergedAt !== null) return;
    const change = await openOne(tx.db, changeId);
    refuseChangeVerb(asker, change, fix === true ? 'repair' : 'merge');
    if (isEjected(change)) {
      throw new PawlError('conflict', `The queue has put this change out: ${change.ejection?.reason ?? ''}`, {
        hint: `Propose something else, or try the same again: pawl change retry ${change.id}`,
      });
    }
    const repair = fix === true ? await appoint(tx, shop, change) : {};
    if (change.queuedAt === null) return queue(tx, change, asker, repair);
    if (Object.keys(repair).length > 0) await updateChange(tx, changeId, repair);
  });
}

/** From now on it is this change, and no other, that repairs the target branch. */
async function appoint(tx: WriteTransaction, shop: Workshop, change: Change): Promise<ChangePatch> {
  const emergency = (await queueOf(tx.db, change.projectId))?.emergency ?? null;
  if (emergency === null) {
    throw new PawlError('conflict', 'The target branch is not red, so there is nothing to repair.', {
      hint: `Queue it as usual: pawl change merge ${change.id}`,
    });
  }
  // A person's own change is the person's, who is agent 0 here.
  const fixerId = change.agentId ?? shop.rootId;
  await updateQueue(tx, change.projectId, { emergency: { ...emergency, fixerId } });
  return change.agentId === null ? { standInId: shop.rootId } : {};
}

async function queue(tx: WriteTransaction, change: Change, asker: Asker, patch: ChangePatch): Promise<void> {
  await updateChange(tx, change.id, { ...patch, queuedAt: tx.now });
  emitQueued(tx, change, asker);
}

async function required(db: Database, id: string): Promise<Change> {
  const change = await changeById(db, id);
  if (change === null) throw new PawlError('not_found', `There is no change ${id}.`);
  return change;
}

/** The change, if something can still be done to it. */
export async function openOne(db: Database, id: string): Promise<Change> {
  const change = await required(db, id);
  if (!isOver(change)) {
    await refuseWhileAdvancing(db, change);
    return change;
  }
  const how = change.mergedAt === null ? 'closed' : 'merged';
  throw new PawlError('conflict', `The change ${id.slice(0, 8)} is ${how}.`, {
    hint: 'Propose what is left as another one: pawl change open',
  });
}

/** From the moment at which the target branch is about to move, it is too late to change what goes along. */
export async function refuseWhileAdvancing(db: Database, { id, projectId }: Change): Promise<void> {
  const advance = (await queueOf(db, projectId))?.advance ?? null;
  if (advance === null || !advance.changes.some((each) => each.id === id)) return;
  throw new PawlError('busy', `The change ${id.slice(0, 8)} is going in at this very moment.`, {
    hint: 'Look again in a moment: pawl queue',
  });
}

function isOver({ mergedAt, closedAt }: Change): boolean {
  return mergedAt !== null || closedAt !== null;
}

function about({ projectId, agentId }: Change) {
  return { projectId, agentId };
}

function agentIdOf(asker: Asker): string | null {
  return asker.is === 'person' ? null : asker.agent.id;
}
