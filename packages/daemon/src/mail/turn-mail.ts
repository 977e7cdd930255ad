import { mailBlock, unreadHint } from '@pawl/core/prompt/mail-block';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { countUnread, mailOfSession } from '@pawl/store/mail';
import { mailbox, noteHinted } from '@pawl/store/mailboxes';
import type { Workshop } from '../workshop.ts';
import { claimWaiting, lettersOf } from './hand-over.ts';

/**
 * The mail that goes along with the first turn of a session, as it is put before the agent; null when there is none. It is in
 * the session's hands before its process begins; asked again after a crash, the same mail is given again.
 */
export async function mailForTurn(shop: Workshop, agent: Agent, run: Run, session: Session): Promise<string | null> {
  if (run.definition?.mail === 'pull') return hintFor(shop, agent);
  const before = await mailOfSession(shop.store.db, session.id);
  const mails =
    before.length > 0
      ? before
      : await claimWaiting(shop, agent, { sessionId: session.id, channel: 'turn', limit: limits.mailPerTurn });
  return mails.length === 0 ? null : mailBlock(shop.prompts, await lettersOf(shop.store.db, mails));
}

/** Who fetches its mail is told once that there is some, and then not before it has looked. */
async function hintFor(shop: Workshop, agent: Agent): Promise<string | null> {
  const { hintedAt, lookedAt } = await mailbox(shop.store.db, agent.id);
  if (hintedAt !== null && (lookedAt === null || lookedAt < hintedAt)) return null;
  const count = await countUnread(shop.store.db, agent.id);
  if (count === 0) return null;
  await shop.store.write((tx) => noteHinted(tx, agent.id));
  return unreadHint(count);
}
