import { mailBlock } from '@pawl/core/prompts/mail-block';
import type { LetterGiven } from '@pawl/core/prompts/mail-block';
import { sendInput } from '@pawl/host/session/input';
import { userTurnLine } from '@pawl/wire/claude-input';
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
 * Hands mail to a session: claim, then write. Only the session's output proves delivery (`evidence.ts`). After a crash
 * it is unknown if claimed mail was written, so it is written again under the same id, which the receiver recognises.
 */

/**
 * Claims mails for a session; returns those that were free. Claims none while `fetchesItself` says that the recipient fetches
 * its mail itself, which may have started since the mails were read.
 */
export async function claim(
  platform: Platform,
  batch: readonly Mail[],
  { fetchesItself, ...to }: { sessionId: string; channel: MailChannel; fetchesItself?: () => boolean },
): Promise<Mail[]> {
  if (batch.length === 0) return [];
  // A claim must survive the daemon, but not the machine: the session ends with the machine too.
  return platform.store.writeRelaxed(async (tx) => {
    const claimed: Mail[] = [];
    if (fetchesItself?.() === true) return claimed;
    for (const mail of batch) if (await claimMail(tx, mail.id, to)) claimed.push(mail);
    return claimed;
  });
}

/**
 * The mails to hand over in one batch, in order, to a session that holds some. A mail whose session failed goes alone,
 * so that it cannot take others with it.
 */
export function nextBatch(waiting: readonly Mail[], held: readonly Mail[] = []): Mail[] {
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
 * How much of the waiting mail a process accepted: all; some, so there may be more to write; as much as it may hold
 * until its output shows some; or none, since it is not reading.
 */
export type Accepted = 'all' | 'some' | 'full' | 'not-reading';

/** Writes waiting mail to a listening session. `again` also rewrites mail that it holds, left by an earlier daemon. */
export async function handOverLive(
  platform: Platform,
  agent: Agent,
  session: Session,
  { again, fetchesItself }: { again: boolean; fetchesItself: () => boolean },
): Promise<Accepted> {
  const held = await mailOfSession(platform.store.db, session.id);
  const left = again ? held.filter(({ channel }) => channel === 'live') : [];
  if (!(await writeAll(platform, session, left, { again }))) return 'not-reading';
  const room = limits.mailInFlight - held.length;
  const waiting = room <= 0 ? [] : await waitingMail(platform.store.db, agent.id, room);
  const claimed = await claim(platform, nextBatch(waiting, held), {
    sessionId: session.id,
    channel: 'live',
    fetchesItself,
  });
  if (claimed.length > 0) crashPoint('mail.after_claim');
  if (!(await writeClaimed(platform, session, claimed))) return 'not-reading';
  if (room <= claimed.length || (claimed.length === 0 && waiting.length > 0)) return 'full';
  return claimed.length === waiting.length ? 'all' : 'some';
}

/** Writes mails that were just claimed; releases those that could not be written. */
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

/** Writes mails to a process, one line each; false if it is not reading. */
async function writeAll(
  platform: Platform,
  session: Session,
  mails: readonly Mail[],
  { again = false, written = new Set() }: { again?: boolean; written?: Set<string> },
): Promise<boolean> {
  const directory = sessionDirectory(platform.home, session.id);
  try {
    for (const [index, mail] of mails.entries()) {
      const text = mailBlock(platform.prompts, await withSenders(platform.store.db, [mail]));
      // An earlier daemon may have died in the middle of a line, so start on a new one.
      const line = userTurnLine(text, uuidOf(mail.id));
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
export async function withSenders(db: Database, mails: readonly Mail[]): Promise<LetterGiven[]> {
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
