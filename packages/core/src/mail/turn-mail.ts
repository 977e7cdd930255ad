import { mailSender } from '@pawl/schema/mail';
import type { Mail } from '@pawl/schema/mail';

/** Mail waiting for one agent; each list in the order sent. */
export type WaitingMail = {
  /** The oldest mail. */
  oldest: readonly Mail[];
  /** The oldest mail that starts a turn regardless of the definition. */
  waking: readonly Mail[];
  /** The oldest mail from the senders of `waking`, of any kind. */
  fromWakers: readonly Mail[];
};

/**
 * Chooses at most `limit` mails for a turn, in the order sent. Mail that starts a turn goes first, but never before
 * earlier mail of its sender: from each sender, the choice is always the oldest.
 */
export function mailOfTurn({ oldest, waking, fromWakers }: WaitingMail, limit: number): Mail[] {
  const chosen = new Set(urgentMail({ waking, fromWakers }, limit).map(({ id }) => id));
  for (const { id } of oldest) if (chosen.size < limit) chosen.add(id);
  const known = new Set(oldest.map(({ id }) => id));
  // Mail that is not among the oldest was sent after all of them.
  return [...oldest, ...fromWakers.filter(({ id }) => !known.has(id))].filter(({ id }) => chosen.has(id));
}

/** The mail that starts a turn, with all earlier mail of its senders; not empty if `waking` is not. */
export function urgentMail({ waking, fromWakers }: Omit<WaitingMail, 'oldest'>, limit: number): Mail[] {
  const wakes = new Set(waking.map(({ id }) => id));
  const listed = new Set(fromWakers.map(({ id }) => id));
  // If a sender's waking mail is beyond the end of the list, include everything listed from that sender.
  const senders = new Set(waking.filter(({ id }) => !listed.has(id)).map(mailSender));
  const urgent = new Set<string>();
  for (const mail of fromWakers.toReversed()) {
    if (wakes.has(mail.id)) senders.add(mailSender(mail));
    if (senders.has(mailSender(mail))) urgent.add(mail.id);
  }
  return fromWakers.filter(({ id }) => urgent.has(id)).slice(0, limit);
}
