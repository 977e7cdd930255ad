import { hears } from '@pawl/core/supervision/complete';
import { blockingOf, kindOfComment, refuseTooMany } from '@pawl/core/changes/change-comment';
import type { Asker } from '@pawl/core/changes/change-rights';
import { nameOf, refuseAddressing, refuseBlocking, refuseChangeVerb } from '@pawl/core/changes/change-rights';
import { isOver } from '@pawl/core/changes/change-life';
import { requireChangeText } from '@pawl/core/changes/change-text';
import { cutText, firstLine } from '@pawl/core/shorten';
import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { agentById } from '@pawl/store/agents/agents';
import { addressComment, commentsOf, insertComment, updateChange } from '@pawl/store/changes/changes';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Platform } from '../platform/platform.ts';
import { changeAccess } from './change-access.ts';
import { about, changeNow, fixerNow, placeAtEnd } from './change-now.ts';

/** A comment; `addresses` is an id prefix of the comment that it answers. */
type NewComment = { asker: Asker; changeId: string; body: string; addresses?: string | undefined };

/** Comments on a change, and marks the comment that it answers as addressed. */
export async function commentChange(
  platform: Platform,
  { asker, changeId, body, addresses }: NewComment,
): Promise<ChangeComment> {
  const agentId = asker.is === 'person' ? null : asker.agent.id;
  const said = requireChangeText('comment', body);
  return platform.store.write(async (tx) => {
    const change = await changeNow(tx.db, changeId);
    refuseChangeVerb(changeAccess, asker, change, 'comment');
    const earlier = await commentsOf(tx.db, changeId);
    // A settled change cannot be held any more, and an answer is not a new objection.
    const kind = isOver(change) || addresses !== undefined ? 'note' : kindOfComment(said);
    refuseTooMany(earlier, { agentId, isRemark: kind === 'note' && addresses === undefined });
    if (kind === 'blocking') refuseBlocking(asker, change, await fixerNow(tx.db, change));
    const comment: ChangeComment = {
      id: newId(),
      changeId,
      agentId,
      kind,
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
    await tellAuthor(tx, change, comment, asker);
    return comment;
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
    throw new PawlError(comment === undefined ? 'not_found' : 'ambiguous', `No single comment matches ${word}.`, {
      hint: `See: pawl change show ${change.id}`,
    });
  }
  refuseAddressing(asker, change, comment, how);
  if (comment.addressedAt !== null) return;
  await addressComment(tx, comment.id, `${nameOf(asker)}: ${how}`);
  const data = { changeId: change.id, commentId: comment.id, by: nameOf(asker) };
  tx.emit({ type: 'change.addressed', ...about(change), data });
  const isLast = blockingOf(earlier).every(({ id }) => id === comment.id);
  if (isLast && comment.kind === 'blocking') await updateChange(tx, change.id, placeAtEnd(change, tx.now));
}

/** How much of a comment its notice contains. */
const noticeCharacters = 1_000;

/**
 * Sends a note to the change's author, to read with its next turn. The queue sends blocking comments, and waits for an
 * answer.
 */
async function tellAuthor(tx: WriteTransaction, change: Change, comment: ChangeComment, by: Asker): Promise<void> {
  const author = change.agentId === null ? null : await agentById(tx.db, change.agentId);
  if (comment.kind === 'blocking' || author === null || !hears(author) || author.id === comment.agentId) return;
  const quoted = cutText(comment.body, noticeCharacters).replaceAll(/^/gm, '> ');
  const lines = [
    `${nameOf(by)} has commented on your change ${change.id.slice(0, 8)} (${firstLine(change.title, 80)}):`,
    quoted,
    `It does not hold the change. All comments: pawl change show ${change.id}`,
  ];
  await recordMail(tx, { from: await rootAgent(tx.db), to: author, kind: 'system' }, shortBody(lines.join('\n')));
}
