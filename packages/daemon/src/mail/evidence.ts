import type { EndForMail } from '@pawl/core/mail/mail-end';
import { mailBlock } from '@pawl/core/prompts/mail-block';
import type { PromptAssets } from '@pawl/core/prompts/assets';
import { limits } from '@pawl/schema/limit';
import { idOfUuid, uuidOf } from '@pawl/schema/id';
import type { Mail, MailChannel } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { mailById, mailOfSession, unreadDelivered } from '@pawl/store/mail/mail';
import { releaseMail } from '@pawl/store/mail/mail-marks';
import { appendMessage } from '@pawl/store/sessions/messages';
import { runById } from '@pawl/store/sessions/runs';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { withSenders } from './hand-over.ts';
import { noteDead, noteDelivered, noteRead } from './receipts.ts';

/** Decides which claimed mail a piece of a session's output proves to be delivered. */
export type OutputEvidence = {
  /** The ids of input lines that the provider echoed, and so has read. */
  echoes: string[];
  /** Whether the model has said or done something, and whether that was after the last echo. */
  answered: 'no' | 'before-echo' | 'after-echo';
  /** How many messages this piece had before the first echo; null without one. */
  before: number | null;
};

type Facts = { agent: Agent; session: Session; prompts: PromptAssets };

/** Records deliveries that a session's output proves, in the transaction that stores that output. */
export async function recordEvidence(
  tx: WriteTransaction,
  { agent, session, prompts }: Facts,
  evidence: OutputEvidence,
): Promise<void> {
  const facts = { agent, session, prompts };
  // An echo of the prompt proves its delivery, and so does the model's first answer.
  if (evidence.answered !== 'no' || evidence.echoes.includes(uuidOf(session.id))) {
    for (const mail of await mailOfSession(tx.db, session.id))
      if (mail.channel === 'turn') await arrive(tx, facts, mail, evidence.answered !== 'no');
  }
  // An echoed line was delivered, whoever wrote it and even if it is no longer claimed.
  for (const uuid of evidence.echoes) {
    const mail = await mailById(tx.db, idOfUuid(uuid) ?? '');
    if (mail?.toId === agent.id) await arrive(tx, facts, mail, evidence.answered === 'after-echo', 'live');
  }
  if (evidence.answered === 'no') return;
  const echoed = new Set(evidence.answered === 'before-echo' ? evidence.echoes : []);
  for (const mail of await unreadDelivered(tx.db, agent.id, limits.mailInFlight))
    if (!echoed.has(uuidOf(mail.id))) await noteRead(tx, mail);
}

/** Marks a mail delivered and adds it to the history, unless agent or run has ended. */
async function arrive(
  tx: WriteTransaction,
  { agent, session, prompts }: Facts,
  mail: Mail,
  read: boolean,
  channel: MailChannel = mail.channel ?? 'live',
): Promise<void> {
  if (!(await noteDelivered(tx, mail, channel))) return;
  if (read) await noteRead(tx, mail);
  const [now, run] = [await agentById(tx.db, agent.id), await runById(tx.db, session.runId)];
  if (now === null || now.endedAt !== null || run === null || run.outcome !== null) return;
  await appendMessage(tx, {
    agentId: agent.id,
    runId: session.runId,
    sessionId: session.id,
    kind: 'user',
    content: mailBlock(prompts, await withSenders(tx.db, [mail])),
    data: { mailId: mail.id },
  });
}

/**
 * Releases the mail of a session in the transaction that ends it. A session that ended well has read its prompt. A
 * crash counts as an attempt, and after too many the mail becomes a dead letter.
 */
export async function returnMail(tx: WriteTransaction, facts: Facts, how: EndForMail): Promise<void> {
  for (const mail of await mailOfSession(tx.db, facts.session.id)) {
    if (how.well && mail.channel === 'turn') {
      await arrive(tx, facts, mail, true);
      continue;
    }
    const attempts = mail.attempts + (how.blame ? 1 : 0);
    if (attempts >= limits.mailAttempts) {
      await noteDead(tx, mail, `${attempts} sessions of ${facts.agent.alias} failed with it`);
      continue;
    }
    await releaseMail(tx, mail.id, attempts);
    tx.emit({
      type: 'mail.returned',
      projectId: mail.projectId,
      agentId: mail.toId,
      peerId: mail.fromId,
      data: { mailId: mail.id, attempts, reason: how.reason },
    });
  }
}
