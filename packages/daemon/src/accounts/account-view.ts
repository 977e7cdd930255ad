import type { AccountView } from '@pawl/protocol/accounts/view';
import type { Account } from '@pawl/schema/record';
import { text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { AccountFiles } from './account-files.ts';
import type { AccountParts } from './accounts.ts';
import { credentialState } from './credential-state.ts';

/** The default account of each provider that has one. */
export const defaultAccounts = factTable('default_accounts', ['provider'], { provider: text, accountId: text });

/** The shortest secret whose last characters may be shown; of a shorter one they would reveal too much. */
const shownFromCharacters = 16;

/** An account without its secrets, except for the last four characters. */
export async function accountView(
  platform: AccountParts & { files: AccountFiles },
  account: Account,
): Promise<AccountView> {
  const { removedAt, exhaustedUntil, strikes: _, ...facts } = account;
  const isRemoved = removedAt !== null;
  return {
    ...facts,
    exhaustedUntil: exhaustedUntil !== null && exhaustedUntil > platform.clock() ? exhaustedUntil : null,
    fingerprint: isRemoved ? null : await fingerprintOf(platform.files, account.id),
    isDefault: (await defaultAccounts.get(platform.store.db, account))?.accountId === account.id,
    credential: isRemoved ? { state: 'unknown' } : await credentialState(platform, account),
  };
}

/** The last four characters of a secret; null unless there is exactly one that is long enough. */
async function fingerprintOf(files: AccountFiles, id: string): Promise<string | null> {
  const secrets = await files.readSecrets(id).catch(() => ({}));
  const [secret, ...others] = Object.values<string>(secrets);
  return secret === undefined || others.length > 0 || secret.length < shownFromCharacters ? null : secret.slice(-4);
}
