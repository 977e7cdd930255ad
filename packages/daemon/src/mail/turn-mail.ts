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
import { claim, lettersOf, together } from './hand-over.ts';
import { mailsInTurn } from './persons-words.ts';

/**
 * The mail that goes along with the first turn of a session, as it is put before the agent; null when there is none. It is in
 * the session's hands before its process begins; asked again after a crash, the same mail is given again.
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
    shown.length === 0 ? null : mailBlock(platform.prompts, await lettersOf(platform.store.db, shown)),
    await hintFor(platform, agent, { pulls, shown: said.length }),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('\n\n');
}

/**
 * The mail that a turn begins with: what its task consists of already, then what begins a turn and, unless the agent fetches its
 * mail itself, as much of the rest as there is room for.
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
  return [...said, ...together(others, said)];
}

/**
 * Who fetches its mail is told that there is some, as is anybody of whom it is not known that they have read what they
 * fetched: once, and then not before they have looked.
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
