import { checkBody, refuseMail } from '@pawl/core/mail/mail';
import { cutBytes } from '@pawl/core/shorten';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail, MailKind } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { insertMail } from '@pawl/store/mail/mail';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { correspondent } from '../platform/places.ts';
import type { StoredBody } from './mail-body.ts';

/** A mail to store. */
export type MailDraft = {
  from: Agent;
  to: Agent;
  kind: MailKind;
  questionId?: string | null;
};

/** Notices of Pawl, and an agent's final report: they reach any living agent, and cannot be answered. */
export const noticeKinds: readonly MailKind[] = ['nudge', 'system', 'alert', 'completion'];

/**
 * Stores a mail with its event. Checks here, on the facts of this transaction, who may write to whom, for all entry
 * points; only Pawl's own notices may go to any living agent.
 */
export async function recordMail(tx: WriteTransaction, draft: MailDraft, body: StoredBody): Promise<Mail> {
  const from = (await agentById(tx.db, draft.from.id)) ?? draft.from;
  const to = (await agentById(tx.db, draft.to.id)) ?? draft.to;
  if (!noticeKinds.includes(draft.kind)) refuseMail(await correspondent(tx.db, from), await correspondent(tx.db, to));
  const mail: Mail = {
    id: body.id,
    projectId: to.projectId ?? from.projectId,
    fromId: from.id,
    toId: to.id,
    kind: draft.kind,
    body: body.text,
    bodyFile: body.file,
    bodyBytes: body.bytes,
    questionId: draft.questionId ?? null,
    createdAt: tx.now,
    deliveredAt: null,
    readAt: null,
    ackedAt: null,
    channel: null,
    deadAt: null,
    deadReason: null,
    claimSessionId: null,
    attempts: 0,
  };
  await insertMail(tx, mail);
  tx.emit({
    type: 'mail.sent',
    projectId: mail.projectId,
    agentId: mail.toId,
    peerId: mail.fromId,
    data: { mailId: mail.id, kind: mail.kind, bytes: mail.bodyBytes, questionId: mail.questionId },
  });
  return mail;
}

/** A short notice as a mail body, cut to fit a row. */
export function shortBody(text: string): StoredBody {
  const cut = cutBytes(text, limits.mailBytes);
  return { id: newId(), text: cut, file: null, bytes: checkBody(cut) };
}
