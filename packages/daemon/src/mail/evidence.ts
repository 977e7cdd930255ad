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
import { lettersOf } from './hand-over.ts';
import { noteDead, noteDelivered, noteRead } from './marks.ts';

/** What a piece of a session's output shows about the mail in its hands. */
export type Heard = {
  /** The names of the lines that the provider repeated: it has taken them in. */
  echoes: string[];
  /** The model has said or done something, and whether that was after the last of the echoes. */
  answered: 'no' | 'before-echo' | 'after-echo';
  /** How much had been said in this piece before the first echo; null without one. */
  before: number | null;
};

type Facts = { agent: Agent; session: Session; prompts: PromptAssets };

/** Marks what a session's output shows: in the transaction that stores that output. */
export async function noteHeard(tx: WriteTransaction, { agent, session, prompts }: Facts, heard: Heard): Promise<void> {
  const facts = { agent, session, prompts };
  // The prompt is known to be heard when it is repeated, or by the model's first word, which answers it.
  if (heard.answered !== 'no' || heard.echoes.includes(uuidOf(session.id))) {
    for (const mail of await mailOfSession(tx.db, session.id))
      if (mail.channel === 'turn') await arrive(tx, facts, mail, heard.answered !== 'no');
  }
  // A line that was heard was heard, whoever wrote it and whether it is still claimed.
  for (const uuid of heard.echoes) {
    const mail = await mailById(tx.db, idOfUuid(uuid) ?? '');
    if (mail?.toId === agent.id) await arrive(tx, facts, mail, heard.answered === 'after-echo', 'live');
  }
  if (heard.answered === 'no') return;
  const echoed = new Set(heard.answered === 'before-echo' ? heard.echoes : []);
  for (const mail of await unreadDelivered(tx.db, agent.id, limits.mailInFlight))
    if (!echoed.has(uuidOf(mail.id))) await noteRead(tx, mail);
}

/** A mail has arrived: it is delivered, and a part of the history, unless that is over. */
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
    content: mailBlock(prompts, await lettersOf(tx.db, [mail])),
    data: { mailId: mail.id },
  });
}

/**
 * Takes mail out of the hands of a session that has ended: in the transaction that ends it. A session that came to a good end
 * has heard its prompt. With one that broke down it counts against the mail, and after some times the mail is set aside.
 */
export async function returnMail(tx: WriteTransaction, facts: Facts, how: EndForMail): Promise<void> {
  for (const mail of await mailOfSession(tx.db, facts.session.id)) {
    if (how.well && mail.channel === 'turn') {
      await arrive(tx, facts, mail, true);
      continue;
    }
    const attempts = mail.attempts + (how.blame ? 1 : 0);
    if (attempts >= limits.mailAttempts) {
      await noteDead(tx, mail, `${attempts} sessions of ${facts.agent.alias} ended badly with it`);
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
