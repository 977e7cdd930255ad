import { mailBlock, unreadHint } from '@pawl/core/prompts/mail-block';
import { mailOfTurn, urgentMail } from '@pawl/core/mail/turn-mail';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';
import {
  countFetched,
  countUnread,
  mailOfSession,
  waitingFromSendersOf,
  waitingMail,
  wakingMail,
} from '@pawl/store/mail/mail';
import { mailbox, noteHinted } from '@pawl/store/mail/mailboxes';
import type { Platform } from '../platform/platform.ts';
import { claim, withSenders, nextBatch } from './hand-over.ts';
import { mailsInTurn } from './person-mail.ts';

/**
 * The rendered mail for the first turn of a session, or null. Claims it before the process starts; after a crash
 * returns the same mail again.
 */
export async function mailForTurn(
  platform: Platform,
  agent: Agent,
  run: Run,
  session: Session,
): Promise<string | null> {
  const pulls = run.definition?.mail === 'pull';
  const before = await mailOfSession(platform.store.db, session.id);
  const mails =
    before.length > 0
      ? before
      : await claim(platform, await mailToGive(platform, agent, run), { sessionId: session.id, channel: 'turn' });
  const said = await mailsInTurn(platform, agent, run.task, mails);
  const shown = mails.filter((mail) => !said.includes(mail));
  const parts = [
    shown.length === 0 ? null : mailBlock(platform.prompts, await withSenders(platform.store.db, shown)),
    await hintFor(platform, agent, { pulls, shown: said.length }),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('\n\n');
}

/**
 * The mail for a turn: what its task already contains, then what starts a turn and, unless the agent fetches its mail
 * itself, as much of the rest as fits.
 */
async function mailToGive(platform: Platform, agent: Agent, run: Run): Promise<Mail[]> {
  const { store, rootId } = platform;
  const limit = limits.mailPerTurn;
  const waking = await wakingMail(store.db, agent.id, { personId: rootId, limit });
  const said = await mailsInTurn(platform, agent, run.task, waking);
  const fromWakers = await waitingFromSendersOf(store.db, agent.id, { mails: waking, limit });
  const given =
    run.definition?.mail === 'pull'
      ? urgentMail({ waking, fromWakers }, limit)
      : mailOfTurn({ waking, fromWakers, oldest: await waitingMail(store.db, agent.id, limit) }, limit);
  const ids = new Set(said.map(({ id }) => id));
  const others = given.filter(({ id }) => !ids.has(id));
  return [...said, ...nextBatch(others, said)];
}

/**
 * Tells an agent that fetches its mail, or is not known to have read what it fetched, that mail waits: once, until it
 * has fetched.
 */
async function hintFor(
  platform: Platform,
  agent: Agent,
  { pulls, shown }: { pulls: boolean; shown: number },
): Promise<string | null> {
  const { db } = platform.store;
  const count = pulls ? (await countUnread(db, agent.id)) - shown : await countFetched(db, agent.id);
  if (count <= 0) return null;
  const { hintedAt, lookedAt } = await mailbox(db, agent.id);
  if (hintedAt !== null && (lookedAt === null || lookedAt < hintedAt)) return null;
  await platform.store.write((tx) => noteHinted(tx, agent.id));
  return unreadHint(count);
}
