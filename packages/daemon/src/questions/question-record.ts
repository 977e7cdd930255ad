import { isPerson, refuseMail } from '@pawl/core/mail/mail';
import { firstLine } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { Mail, Question, QuestionEnd } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import {
  claimForListener,
  endQuestion,
  mailsOfEndedQuestions,
  mailsOfQuestion,
  noteTold,
} from '@pawl/store/mail/questions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { StoredBody } from '../mail/mail-body.ts';
import { correspondent } from '../platform/places.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { noteAcked, noteDelivered, noteRead, noteWithdrawn } from '../mail/receipts.ts';
import { rootAgent } from '../platform/root-agent.ts';

/** The only place where questions change: each change with its event and its effect on mail. */

const excerptCharacters = 200;

/** Ends a question, once, with its answer or the reason why there is none. False if it has ended already. */
export async function recordQuestionEnd(
  tx: WriteTransaction,
  question: Question,
  given: { end: QuestionEnd; text: string },
): Promise<boolean> {
  if (!(await endQuestion(tx, question.id, given))) return false;
  for (const mail of await mailsOfQuestion(tx.db, question)) {
    // Answering or declining proves that it was seen; mail that has not arrived must not start a turn for an ended
    // question. Mail claimed by a session may have been seen, which only evidence can tell.
    if (given.end === 'answered' || given.end === 'not-now') await noteAcked(tx, mail);
    else if (mail.claimSessionId === null) await noteWithdrawn(tx, mail, `its question has ended: ${given.text}`);
  }
  tx.emit({
    type: 'question.ended',
    projectId: question.projectId,
    agentId: question.toId,
    peerId: question.fromId,
    data: { questionId: question.id, end: given.end },
  });
  return true;
}

/** Withdraws mail that a session returned after its question had ended, so that it starts no turn. */
export async function recordWithdrawals(tx: WriteTransaction): Promise<void> {
  for (const mail of await mailsOfEndedQuestions(tx.db)) await noteWithdrawn(tx, mail, 'its question has ended');
}

/** Delivers an open question to a listener. False if another one has it. */
export async function recordHeard(tx: WriteTransaction, question: Question): Promise<boolean> {
  if (!(await claimForListener(tx, question.id, tx.now + limits.listenMs))) return false;
  for (const mail of await mailsOfQuestion(tx.db, question)) {
    await noteDelivered(tx, mail, 'pull');
    await noteRead(tx, mail);
  }
  return true;
}

/** Asks an idle agent again a question that it has seen. */
export async function recordReminder(tx: WriteTransaction, question: Question): Promise<void> {
  const [from, to] = [await agentById(tx.db, question.fromId), await agentById(tx.db, question.toId)];
  if (from === null || to === null) return;
  const body = shortBody(`(asked again, since it is still open) ${question.question}`);
  await recordMail(tx, { from, to, kind: 'question', questionId: question.id }, body);
}

/**
 * Mails the answer of a question to the asker; `shown` if the waiting command has printed it, so that it is not
 * delivered twice. Null if there is such a mail already, or the asker is gone.
 */
export async function recordAnswerMail(
  tx: WriteTransaction,
  question: Question,
  body: StoredBody,
  { shown }: { shown: boolean },
): Promise<Mail | null> {
  const [from, to] = [await agentById(tx.db, question.toId), await agentById(tx.db, question.fromId)];
  if (from === null || to === null || to.endedAt !== null) return null;
  if (!(await noteTold(tx, question.id, body.id))) return null;
  const mail = (await mayWrite(tx, from, to))
    ? await recordMail(tx, { from, to, kind: 'answer', questionId: question.id }, body)
    : await recordMail(tx, { from: await rootAgent(tx.db), to, kind: 'system', questionId: question.id }, body);
  if (!shown) return mail;
  await noteDelivered(tx, mail, 'pull');
  await noteRead(tx, mail);
  return mail;
}

/** Tells the asker that there is no answer, unless its own command waits; sends nothing to a person. */
export async function recordNoAnswer(tx: WriteTransaction, question: Question, text: string): Promise<void> {
  const asker = await agentById(tx.db, question.fromId);
  if (asker === null || asker.endedAt !== null || isPerson(asker)) return;
  const body = shortBody(
    `Your question ${question.id} has no answer. ${text}. It began: ${firstLine(question.question, excerptCharacters)}`,
  );
  if (!(await noteTold(tx, question.id, body.id))) return;
  await recordMail(tx, { from: await rootAgent(tx.db), to: asker, kind: 'system', questionId: question.id }, body);
}

/** An answer may always go back to the asker, except a person's to a subagent, which Pawl passes on. */
async function mayWrite({ db }: WriteTransaction, from: Agent, to: Agent): Promise<boolean> {
  const [sender, recipient] = [await correspondent(db, from), await correspondent(db, to)];
  try {
    refuseMail(sender, recipient);
    return true;
  } catch {
    return false;
  }
}
