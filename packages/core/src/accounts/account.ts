import { limits } from '@pawl/schema/limit';
import type { Account } from '@pawl/schema/record';

/** The outcome of choosing an account for the next session. */
export type AccountChoice =
  | { kind: 'use'; account: Account }
  /** No account is usable before `until`; this one is first. */
  | { kind: 'wait'; until: number; account: Account }
  | { kind: 'none'; reason: string };

/**
 * Chooses the account of the next session. Prefers the wanted one; if it is unusable and `rotate` allows it, takes the
 * least recently used account of the same provider. Shell accounts neither rotate nor are rotated to. If all are
 * exhausted, waits for the earliest.
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

/** When an exhausted account becomes usable: the provider's time, or exponential backoff by strikes if it gave none. */
export function exhaustionEnd(now: number, until: number | null, strikes: number): number {
  if (until !== null && until > now) return until;
  return now + Math.min(limits.longestLimitMs, limits.limitMs * 2 ** Math.min(strikes, 16));
}

/** Explains why an agent switches away from this account. */
export function reasonToSwitch(account: Account, now: number): string {
  if (account.removedAt !== null) return 'it was removed';
  if (account.invalidReason !== null) return 'its login was rejected';
  return isAvailable(account, now) ? 'another one was requested' : 'usage limit';
}

/** True unless the account was removed or its login is invalid; it may still be exhausted. */
function isUsable(account: Account): boolean {
  return account.removedAt === null && account.invalidReason === null;
}

function isAvailable(account: Account, now: number): boolean {
  return isUsable(account) && (account.exhaustedUntil === null || account.exhaustedUntil <= now);
}

function endOf(account: Account): number {
  return account.exhaustedUntil ?? 0;
}

/** Least recently used first. Ties break by age and name, so input order never matters. */
function byLastUse(a: Account, b: Account): number {
  return (a.lastUsedAt ?? -1) - (b.lastUsedAt ?? -1) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}

function reasonAgainst(account: Account): string {
  if (account.removedAt !== null) return `the account ${account.name} was removed`;
  return `the account ${account.name} cannot be used: ${account.invalidReason ?? 'unknown reason'}`;
}
