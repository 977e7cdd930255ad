import { mailBlock, unreadHint } from '@pawl/core/prompt/mail-block';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { countFetched, countUnread, mailOfSession, waitingMail, wakingMail } from '@pawl/store/mail';
import { mailbox, noteHinted } from '@pawl/store/mailboxes';
import type { Workshop } from '../workshop.ts';
import { claim, lettersOf, together } from './hand-over.ts';
import { mailsInTurn } from './persons-words.ts';

/**
 * The mail that goes along with the first turn of a session, as it is put before the agent; null when there is none. It is in
 * the session's hands before its process begins; asked again after a crash, the same mail is given again.
 */
export async function mailForTurn(shop: Workshop, agent: Agent, run: Run, session: Session): Promise<string | null> {
  const pulls = run.definition?.mail === 'pull';
  const before = await mailOfSession(shop.store.db, session.id);
  const mails =
    before.length > 0
      ? before
      : await claim(shop, await mailToGive(shop, agent, pulls), { sessionId: session.id, channel: 'turn' });
  const said = agent.mode === 'converse' ? await mailsInTurn(shop, run.task, mails) : new Set<string>();
  const shown = mails.filter(({ id }) => !said.has(id));
  const parts = [
    shown.length === 0 ? null : mailBlock(shop.prompts, await lettersOf(shop.store.db, shown)),
    await hintFor(shop, agent, { pulls, shown: said.size }),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('\n\n');
}

/**
 * What a turn begins with, in the order in which it was sent: what may have woken the agent, however much waits before it,
 * and, unless it fetches its mail itself, as much of the rest as there is room for.
 */
async function mailToGive({ store: { db }, rootId }: Workshop, agent: Agent, pulls: boolean): Promise<Mail[]> {
  const limit = limits.mailPerTurn;
  const waking = await wakingMail(db, agent.id, { personId: rootId, limit });
  if (pulls) return together(waking);
  const oldest = await waitingMail(db, agent.id, limit);
  const last = oldest.at(-1);
  // All that waits is among the oldest, unless there are too many of those.
  if (oldest.length < limit || last === undefined) return together(oldest);
  const known = new Set(oldest.map(({ id }) => id));
  const later = waking.filter(({ id }) => !known.has(id));
  return together([...oldest.slice(0, limit - later.length), ...later]);
}

/**
 * Who fetches its mail is told that there is some, as is anybody of whom it is not known that they have read what they
 * fetched: once, and then not before they have looked.
 */
async function hintFor(
  shop: Workshop,
  agent: Agent,
  { pulls, shown }: { pulls: boolean; shown: number },
): Promise<string | null> {
  const { db } = shop.store;
  const count = pulls ? (await countUnread(db, agent.id)) - shown : await countFetched(db, agent.id);
  if (count <= 0) return null;
  const { hintedAt, lookedAt } = await mailbox(db, agent.id);
  if (hintedAt !== null && (lookedAt === null || lookedAt < hintedAt)) return null;
  await shop.store.write((tx) => noteHinted(tx, agent.id));
  return unreadHint(count);
}
