import { firstLine } from '@pawl/core/shorten';
import type { Mail, MailChannel } from '@pawl/schema/mail';
import { agentById } from '@pawl/store/agents/agents';
import { markAcked, markDead, markDelivered, markRead } from '@pawl/store/mail/mail-marks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { rootAgent } from '../platform/root-agent.ts';
import { noticeKinds, recordMail, shortBody } from './mail-record.ts';

/** The one place where a mail goes on to its next state: each step once, forward only, with its event. */

/** What all events of a mail have in common. */
function about({ projectId, toId, fromId }: Mail) {
  return { projectId, agentId: toId, peerId: fromId };
}

/** It has arrived: there is evidence. False when that was known. */
export async function noteDelivered(tx: WriteTransaction, mail: Mail, channel: MailChannel): Promise<boolean> {
  if (!(await markDelivered(tx, mail.id, channel))) return false;
  tx.emit({ type: 'mail.delivered', ...about(mail), data: { mailId: mail.id, channel } });
  return true;
}

/** Its recipient has seen it. */
export async function noteRead(tx: WriteTransaction, mail: Mail): Promise<void> {
  if (await markRead(tx, mail.id)) tx.emit({ type: 'mail.read', ...about(mail), data: { mailId: mail.id } });
}

/** Its recipient says that it is dealt with; what was left out on the way is made up for. False when that was known. */
export async function noteAcked(tx: WriteTransaction, mail: Mail): Promise<boolean> {
  await noteDelivered(tx, mail, 'pull');
  await noteRead(tx, mail);
  if (!(await markAcked(tx, mail.id))) return false;
  tx.emit({ type: 'mail.acked', ...about(mail), data: { mailId: mail.id } });
  return true;
}

/** It never arrives, and whoever sent it knows that, or is told by the caller. False when it has arrived. */
export async function noteWithdrawn(tx: WriteTransaction, mail: Mail, reason: string): Promise<boolean> {
  if (!(await markDead(tx, mail.id, reason))) return false;
  tx.emit({ type: 'mail.dead_lettered', ...about(mail), data: { mailId: mail.id, reason } });
  return true;
}

/** It never arrives: its sender is told why, where the sender lives and it was no notice itself. */
export async function noteDead(tx: WriteTransaction, mail: Mail, reason: string): Promise<boolean> {
  if (!(await noteWithdrawn(tx, mail, reason))) return false;
  const [sender, recipient] = [await agentById(tx.db, mail.fromId), await agentById(tx.db, mail.toId)];
  if (noticeKinds.includes(mail.kind) || sender === null || sender.endedAt !== null || recipient === null) return true;
  const text = `Your mail ${mail.id} to ${recipient.alias} was not delivered: ${reason}. It began: ${firstLine(mail.body, 200)}`;
  const root = await rootAgent(tx.db);
  await recordMail(tx, { from: root, to: sender, kind: 'system' }, shortBody(text));
  return true;
}
