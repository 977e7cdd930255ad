import { mailBlock } from '@pawl/core/prompts/mail-block';
import type { LetterGiven } from '@pawl/core/prompts/mail-block';
import { sendInput } from '@pawl/host/session/input';
import { streamJsonMessage } from '@pawl/providers/command';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { uuidOf } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { isFromPawl } from '@pawl/schema/mail';
import type { Mail, MailChannel } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { mailOfSession, waitingMail } from '@pawl/store/mail/mail';
import { claimMail, releaseMail } from '@pawl/store/mail/mail-marks';
import type { Database } from '@pawl/store/tables';
import { sessionDirectory } from '../platform/platform.ts';
import type { Platform } from '../platform/platform.ts';

/**
 * Hands mail to a session: claim → write. What arrives is known by evidence only (`evidence.ts`). Whether what a daemon that
 * died had claimed was also written, nobody knows: it is written again, under the same name, which its receiver knows.
 */

/**
 * Puts some mails into the hands of a session; gives those that were free. None is taken while `isLeft` says that the recipient fetches
 * its mail itself, which may have begun since the mails were read.
 */
export async function claim(
  platform: Platform,
  batch: readonly Mail[],
  { isLeft, ...to }: { sessionId: string; channel: MailChannel; isLeft?: () => boolean },
): Promise<Mail[]> {
  if (batch.length === 0) return [];
  // A claim has to outlive the daemon, but not the machine: with that, the session is gone too.
  return platform.store.writeRelaxed(async (tx) => {
    const claimed: Mail[] = [];
    if (isLeft?.() === true) return claimed;
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
 * How much of the waiting mail a process took: all of it; some, so that there may be more to write; as much as it takes before
 * it has shown what it has; or none, since it does not read now, or any more.
 */
export type Taken = 'all' | 'some' | 'full' | 'deaf';

/** Writes waiting mail to the process of a session that listens. `again` also writes what it holds, which an earlier daemon left so. */
export async function handOverLive(
  platform: Platform,
  agent: Agent,
  session: Session,
  { again, isLeft }: { again: boolean; isLeft: () => boolean },
): Promise<Taken> {
  const held = await mailOfSession(platform.store.db, session.id);
  const left = again ? held.filter(({ channel }) => channel === 'live') : [];
  if (!(await writeAll(platform, session, left, { again }))) return 'deaf';
  const room = limits.mailInFlight - held.length;
  const waiting = room <= 0 ? [] : await waitingMail(platform.store.db, agent.id, room);
  const claimed = await claim(platform, together(waiting, held), { sessionId: session.id, channel: 'live', isLeft });
  if (claimed.length > 0) crashPoint('mail.after_claim');
  if (!(await writeClaimed(platform, session, claimed))) return 'deaf';
  if (room <= claimed.length || (claimed.length === 0 && waiting.length > 0)) return 'full';
  return claimed.length === waiting.length ? 'all' : 'some';
}

/** Writes mails that were just claimed; what could not be written waits again, whatever the reason. */
async function writeClaimed(platform: Platform, session: Session, claimed: readonly Mail[]): Promise<boolean> {
  const written = new Set<string>();
  try {
    return await writeAll(platform, session, claimed, { written });
  } finally {
    const back = claimed.filter((mail) => !written.has(mail.id));
    if (back.length > 0) {
      await platform.store.write(async (tx) => {
        for (const mail of back) await releaseMail(tx, mail.id, mail.attempts);
      });
    }
  }
}

/** Writes mails to a process, one line each; false when it does not read now, or any more. */
async function writeAll(
  platform: Platform,
  session: Session,
  mails: readonly Mail[],
  { again = false, written = new Set() }: { again?: boolean; written?: Set<string> },
): Promise<boolean> {
  const directory = sessionDirectory(platform.home, session.id);
  try {
    for (const [index, mail] of mails.entries()) {
      const text = mailBlock(platform.prompts, await lettersOf(platform.store.db, [mail]));
      // An earlier daemon may have died in the middle of a line: the first one of this one begins on its own.
      const line = streamJsonMessage(text, uuidOf(mail.id));
      await sendInput(platform.host, directory, line, { freshLine: again && index === 0 });
      written.add(mail.id);
      crashPoint('mail.after_write');
    }
    return true;
  } catch (error) {
    if (error instanceof PawlError && (error.code === 'conflict' || error.code === 'timeout')) return false;
    throw error;
  }
}

/** Mails with the names of their senders. */
export async function lettersOf(db: Database, mails: readonly Mail[]): Promise<LetterGiven[]> {
  const letters: LetterGiven[] = [];
  for (const mail of mails) {
    const sender = await agentById(db, mail.fromId);
    letters.push({
      mail,
      from: isFromPawl(mail) ? 'pawl' : (sender?.alias ?? mail.fromId),
      byPerson: sender?.parentId === null && mail.kind === 'message',
    });
  }
  return letters;
}
