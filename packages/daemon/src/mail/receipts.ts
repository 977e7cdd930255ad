import { firstLine } from '@pawl/core/shorten';
import type { Mail, MailChannel } from '@pawl/schema/mail';
import { agentById } from '@pawl/store/agents/agents';
import { markAcked, markDead, markDelivered, markRead } from '@pawl/store/mail/mail-marks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { rootAgent } from '../platform/root-agent.ts';
import { noticeKinds, recordMail, shortBody } from './mail-record.ts';

/** The only place where a mail changes state: each transition once, forward only, with its event. */

/** The fields that all events of a mail share. */
function about({ projectId, toId, fromId }: Mail) {
  return { projectId, agentId: toId, peerId: fromId };
}

/** Marks a mail delivered, on evidence. False if it was already. */
export async function noteDelivered(tx: WriteTransaction, mail: Mail, channel: MailChannel): Promise<boolean> {
  if (!(await markDelivered(tx, mail.id, channel))) return false;
  tx.emit({ type: 'mail.delivered', ...about(mail), data: { mailId: mail.id, channel } });
  return true;
}

export async function noteRead(tx: WriteTransaction, mail: Mail): Promise<void> {
  if (await markRead(tx, mail.id)) tx.emit({ type: 'mail.read', ...about(mail), data: { mailId: mail.id } });
}

/** Marks a mail acknowledged, with any skipped states before it. False if it was already. */
export async function noteAcked(tx: WriteTransaction, mail: Mail): Promise<boolean> {
  await noteDelivered(tx, mail, 'pull');
  await noteRead(tx, mail);
  if (!(await markAcked(tx, mail.id))) return false;
  tx.emit({ type: 'mail.acked', ...about(mail), data: { mailId: mail.id } });
  return true;
}

/** Withdraws a mail without a notice to its sender, which is the caller's job. False if it has arrived. */
export async function noteWithdrawn(tx: WriteTransaction, mail: Mail, reason: string): Promise<boolean> {
  if (!(await markDead(tx, mail.id, reason))) return false;
  tx.emit({ type: 'mail.dead_lettered', ...about(mail), data: { mailId: mail.id, reason } });
  return true;
}

/** Dead-letters a mail and tells its sender why, unless the sender is dead or the mail was a notice. */
export async function noteDead(tx: WriteTransaction, mail: Mail, reason: string): Promise<boolean> {
  if (!(await noteWithdrawn(tx, mail, reason))) return false;
  const [sender, recipient] = [await agentById(tx.db, mail.fromId), await agentById(tx.db, mail.toId)];
  if (noticeKinds.includes(mail.kind) || sender === null || sender.endedAt !== null || recipient === null) return true;
  const text = `Your mail ${mail.id} to ${recipient.alias} was not delivered: ${reason}. It began: ${firstLine(mail.body, 200)}`;
  const root = await rootAgent(tx.db);
  await recordMail(tx, { from: root, to: sender, kind: 'system' }, shortBody(text));
  return true;
}
