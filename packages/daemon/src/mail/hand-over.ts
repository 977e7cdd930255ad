import { mailBlock } from '@pawl/core/prompt/mail-block';
import type { LetterGiven } from '@pawl/core/prompt/mail-block';
import { sendInput } from '@pawl/host/input';
import { streamJsonMessage } from '@pawl/providers/command';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { uuidOf } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail, MailChannel } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents';
import { claimMail, mailOfSession, releaseMail, waitingMail } from '@pawl/store/mail';
import type { Database } from '@pawl/store/tables';
import { sessionDirectory } from '../workshop.ts';
import type { Workshop } from '../workshop.ts';

/**
 * Hands mail to a session: claim → write. What arrives is known by evidence only (`evidence.ts`). Whether what a daemon that
 * died had claimed was also written, nobody knows: it is written again, under the same name, which its receiver knows.
 */

/** Takes mail that waits for an agent, oldest first, for one of its sessions: as much as goes at once. */
export async function claimWaiting(
  shop: Workshop,
  agent: Agent,
  to: { sessionId: string; channel: MailChannel; limit: number },
): Promise<Mail[]> {
  return claim(shop, together(await waitingMail(shop.store.db, agent.id, to.limit)), to);
}

async function claim(
  shop: Workshop,
  batch: readonly Mail[],
  to: { sessionId: string; channel: MailChannel },
): Promise<Mail[]> {
  if (batch.length === 0) return [];
  // A claim has to outlive the daemon, but not the machine: with that, the session is gone too.
  return shop.store.writeRelaxed(async (tx) => {
    const claimed: Mail[] = [];
    for (const mail of batch) if (await claimMail(tx, mail.id, to)) claimed.push(mail);
    return claimed;
  });
}

/**
 * What of some waiting mails is handed over together, in their order, to a session that holds some. One that a session ended
 * badly with goes alone: if it was the reason, it takes no other with it.
 */
export function together(waiting: readonly Mail[], held: readonly Mail[] = []): Mail[] {
  const [first] = waiting;
  if (first === undefined || held.some(isSuspect)) return [];
  if (isSuspect(first)) return held.length === 0 ? [first] : [];
  const batch: Mail[] = [];
  let bytes = 0;
  for (const mail of waiting) {
    bytes += Buffer.byteLength(mail.body);
    if (isSuspect(mail) || (batch.length > 0 && bytes > limits.mailPerTurnBytes)) break;
    batch.push(mail);
  }
  return batch;
}

function isSuspect({ attempts }: Mail): boolean {
  return attempts > 0;
}

/**
 * Writes waiting mail to the process of a session that listens: all of it, some of it, so that there may be more to write, or
 * as much as it takes before it has shown what it has. `again` also writes what it holds, which an earlier daemon left so.
 */
export async function handOverLive(
  shop: Workshop,
  agent: Agent,
  session: Session,
  { again }: { again: boolean },
): Promise<'all' | 'some' | 'no-more'> {
  const held = await mailOfSession(shop.store.db, session.id);
  const room = limits.mailInFlight - held.length;
  const left = again ? held.filter(({ channel }) => channel === 'live') : [];
  const waiting = room <= 0 ? [] : await waitingMail(shop.store.db, agent.id, room);
  const claimed = await claim(shop, together(waiting, held), { sessionId: session.id, channel: 'live' });
  if (claimed.length > 0) crashPoint('mail.after_claim');
  const isWritten = await writeAll(shop, session, [...left, ...claimed]);
  if (!isWritten || room <= claimed.length || (claimed.length === 0 && waiting.length > 0)) return 'no-more';
  return claimed.length === waiting.length ? 'all' : 'some';
}

/** Writes mails to a process; false when it did not take all of them. */
async function writeAll(shop: Workshop, session: Session, mails: readonly Mail[]): Promise<boolean> {
  const written: string[] = [];
  try {
    for (const mail of mails) {
      const text = mailBlock(shop.prompts, await lettersOf(shop.store.db, [mail]));
      await sendInput(sessionDirectory(shop.home, session.id), streamJsonMessage(text, uuidOf(mail.id)));
      crashPoint('mail.after_write');
      written.push(mail.id);
    }
  } catch (error) {
    // Nobody reads there any more, or not now. What was not written waits again; what was, is the session's.
    if (!(error instanceof PawlError && (error.code === 'conflict' || error.code === 'timeout'))) throw error;
    const back = mails.filter((mail) => !written.includes(mail.id));
    await shop.store.write(async (tx) => {
      for (const mail of back) await releaseMail(tx, mail.id, mail.attempts);
    });
  }
  return written.length === mails.length;
}

/** Mails with the names of their senders. */
export async function lettersOf(db: Database, mails: readonly Mail[]): Promise<LetterGiven[]> {
  const letters: LetterGiven[] = [];
  for (const mail of mails) {
    const sender = await agentById(db, mail.fromId);
    const isNotice = mail.kind === 'system' || mail.kind === 'nudge';
    letters.push({
      mail,
      from: isNotice ? 'pawl' : (sender?.alias ?? mail.fromId),
      byPerson: sender?.parentId === null && mail.kind === 'message',
    });
  }
  return letters;
}
