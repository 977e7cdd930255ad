import { limits } from '@pawl/schema/limit';
import type { Account } from '@pawl/schema/record';

/** How an account for the next session was settled on. */
export type AccountChoice =
  | { kind: 'use'; account: Account }
  /** None can be used before this time, and then this one can. */
  | { kind: 'wait'; until: number; account: Account }
  | { kind: 'none'; reason: string };

/**
 * Which account the next session uses. The wanted one comes first; where it cannot be used, another of the same provider
 * steps in only if `rotate` allows that: the one that has not been used for the longest time. What a shell brought takes no
 * part in that, on either side. Where all are exhausted, the earliest is waited for.
 */
export function chooseAccount(given: {
  wanted: Account;
  accounts: readonly Account[];
  now: number;
  rotate: boolean;
}): AccountChoice {
  const { wanted, now } = given;
  if (isAvailable(wanted, now)) return { kind: 'use', account: wanted };
  const others = given.accounts.filter(
    (account) => account.provider === wanted.provider && account.id !== wanted.id && account.kind !== 'shell',
  );
  const candidates = [wanted, ...(given.rotate && wanted.kind !== 'shell' ? others : [])].filter(isUsable);
  const [next] = candidates.filter((account) => isAvailable(account, now)).toSorted(byLastUse);
  if (next !== undefined) return { kind: 'use', account: next };
  const [earliest] = candidates.toSorted((a, b) => endOf(a) - endOf(b) || byLastUse(a, b));
  if (earliest !== undefined) return { kind: 'wait', until: endOf(earliest), account: earliest };
  return { kind: 'none', reason: reasonAgainst(wanted) };
}

/** Until when an account is exhausted: as the provider said, or, where it did not, longer with every strike in a row. */
export function exhaustionEnd(now: number, until: number | null, strikes: number): number {
  if (until !== null && until > now) return until;
  return now + Math.min(limits.longestLimitMs, limits.limitMs * 2 ** Math.min(strikes, 16));
}

/** Why an agent continues with another account than this one. */
export function reasonToSwitch(account: Account, now: number): string {
  if (account.removedAt !== null) return 'it was removed';
  if (account.invalidReason !== null) return 'its login was not accepted';
  return isAvailable(account, now) ? 'another one was asked for' : 'usage limit';
}

/** True when nothing but time can keep an account from being used. */
function isUsable(account: Account): boolean {
  return account.removedAt === null && account.invalidReason === null;
}

function isAvailable(account: Account, now: number): boolean {
  return isUsable(account) && (account.exhaustedUntil === null || account.exhaustedUntil <= now);
}

function endOf(account: Account): number {
  return account.exhaustedUntil ?? 0;
}

/** What was never used comes first; of two that are alike, the older one, so that the choice never depends on their order. */
function byLastUse(a: Account, b: Account): number {
  return (a.lastUsedAt ?? -1) - (b.lastUsedAt ?? -1) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}

function reasonAgainst(account: Account): string {
  if (account.removedAt !== null) return `the account ${account.name} was removed`;
  return `the account ${account.name} cannot be used: ${account.invalidReason ?? 'it is not known why'}`;
}
