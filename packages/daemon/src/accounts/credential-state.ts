import { PawlError } from '@pawl/schema/error';
import type { Account } from '@pawl/schema/record';
import { join } from 'node:path';
import type { AccountFiles } from './account-files.ts';
import { accountLimits } from './account-limit.ts';
import type { AccountParts } from './accounts.ts';
import type { CredentialState } from './credentials.ts';
import { ensureValid, readCredentials } from './credentials.ts';
import { readBoundedFile } from './private-file.ts';

/** Judges from its files whether an account can be used. Contacts no server. */
export async function credentialState(
  { files, providers, clock }: Pick<AccountParts, 'providers' | 'clock'> & { files: AccountFiles },
  account: Account,
): Promise<CredentialState> {
  try {
    await files.readSecrets(account.id);
  } catch (error) {
    if (error instanceof PawlError) return { state: 'invalid', error: error.message };
    throw error;
  }
  if (account.kind !== 'directory') return { state: 'valid', expiresAt: null };
  const name = providers.find(account.provider)?.account?.credentials ?? null;
  if (name === null) return { state: 'unknown' };
  const text = await readBoundedFile(join(files.directory(account.id), name), accountLimits.secretFileBytes);
  if (text === null) return { state: 'unknown' };
  const credentials = readCredentials(text);
  return credentials === null
    ? { state: 'invalid', error: `its ${name} contains no login` }
    : ensureValid(credentials, clock());
}
