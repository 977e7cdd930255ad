import { mailSender } from '@pawl/schema/mail';
import type { Mail } from '@pawl/schema/mail';

/** Mail that waits for one agent, each list in the order in which it was sent. */
export type WaitingMail = {
  /** The oldest of all. */
  oldest: readonly Mail[];
  /** The oldest that begins a turn whatever the definition says. */
  waking: readonly Mail[];
  /** The oldest from the senders of `waking`, of any kind. */
  fromWakers: readonly Mail[];
};

/**
 * Chooses the mail of a turn, at most `limit`, in the order in which it was sent. Mail that begins a turn goes before other mail that
 * waits longer, but never before an earlier mail of its own sender: of each sender the choice is always the oldest part of what waits.
 */
export function mailOfTurn({ oldest, waking, fromWakers }: WaitingMail, limit: number): Mail[] {
  const chosen = new Set(urgentMail({ waking, fromWakers }, limit).map(({ id }) => id));
  for (const { id } of oldest) if (chosen.size < limit) chosen.add(id);
  const known = new Set(oldest.map(({ id }) => id));
  // Whatever is not among the oldest was sent later than all of them.
  return [...oldest, ...fromWakers.filter(({ id }) => !known.has(id))].filter(({ id }) => chosen.has(id));
}

/** The mail that begins a turn, with everything that its senders sent before it; never empty if `waking` is not. */
export function urgentMail({ waking, fromWakers }: Omit<WaitingMail, 'oldest'>, limit: number): Mail[] {
  const wakes = new Set(waking.map(({ id }) => id));
  const listed = new Set(fromWakers.map(({ id }) => id));
  // If a sender's waking mail comes after the end of the list, all that is listed of that sender is needed.
  const senders = new Set(waking.filter(({ id }) => !listed.has(id)).map(mailSender));
  const urgent = new Set<string>();
  for (const mail of fromWakers.toReversed()) {
    if (wakes.has(mail.id)) senders.add(mailSender(mail));
    if (senders.has(mailSender(mail))) urgent.add(mail.id);
  }
  return fromWakers.filter(({ id }) => urgent.has(id)).slice(0, limit);
}
