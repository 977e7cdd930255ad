import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Account } from '@pawl/schema/record';
import { mkdir } from 'node:fs/promises';
import type { AccountFiles } from './account-files.ts';
import { writePresetFiles } from './config-directory.ts';

/** The account as a session uses it: its environment, the secrets in it, and the server it contacts. */
export type SessionUse = { env: Record<string, string>; secrets: string[]; baseUrl: string | null };

/** True if Pawl manages the account's directory. A shell account uses the CLI's own one. */
export function hasOwnDirectory({ kind }: Pick<Account, 'kind'>, use: AccountUse): boolean {
  return kind !== 'shell' || use.ownDirectory === true;
}

/** Settings that replace the key in a session: its token, and the proxy's address as base URL. */
export type ThroughProxy = { token: string; baseUrl: string };

/** Prepares an account for a session, and returns what the session needs to use it. */
export async function sessionUse(
  files: AccountFiles,
  account: Account,
  preset: ProviderPreset,
  model: string | null,
  through: ThroughProxy | null = null,
): Promise<SessionUse> {
  const use = preset.account;
  if (use === null || ![preset.name, preset.accountsOf].includes(account.provider)) {
    throw new PawlError('conflict', `The provider ${preset.name} cannot use the account ${account.name}.`, {
      hint: 'See `pawl account ls`.',
    });
  }
  const secrets = await files.readSecrets(account.id);
  const env = through === null || use.key === null ? { ...secrets } : { [use.key]: through.token };
  const baseUrl = through?.baseUrl ?? account.baseUrl;
  if (baseUrl !== null && use.baseUrl !== null) env[use.baseUrl] = baseUrl;
  if (use.directory !== null && hasOwnDirectory(account, use)) {
    const directory = files.directory(account.id);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writePresetFiles(directory, use, { baseUrl, key: use.key, model });
    env[use.directory] = directory;
  }
  return { env, secrets: Object.values(secrets), baseUrl };
}
