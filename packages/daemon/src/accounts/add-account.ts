import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import type { AddAccountBody } from '@pawl/protocol/accounts/view';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Account } from '@pawl/schema/record';
import { accountByName, insertAccount, listAccounts } from '@pawl/store/projects/accounts';
import type { Database } from '@pawl/store/tables';
import { basename, join } from 'node:path';
import type { AccountFiles, AccountStep } from './account-files.ts';
import type { AccountParts } from './accounts.ts';
import { writePresetFiles } from './config-directory.ts';
import { copyConfigDirectory } from './copy-directory.ts';
import { loginFile } from './credentials.ts';
import { writePrivateFile } from './private-file.ts';

type AccountContext = AccountParts & {
  files: AccountFiles;
  atStep?: ((step: AccountStep) => void) | undefined;
};
type Draft = { kind: Account['kind']; env: Record<string, string>; fill(directory: string): Promise<void> };

/**
 * Stores credentials given by a person. Giving the same ones again, as a repeated request does, creates no second
 * account.
 */
export async function addAccount(
  platform: AccountContext,
  body: AddAccountBody,
): Promise<{ account: Account; created: boolean }> {
  const preset = platform.providers.get(body.provider);
  const draft = draftOf(preset, body);
  const known = await sameSecrets(platform, body, draft);
  if (known !== null && (body.name === undefined || body.name === known.name))
    return { account: known, created: false };
  if (known !== null) {
    throw new PawlError('conflict', `These credentials are already stored as ${known.name}.`, {
      hint: `Use that one, or remove it first: pawl account rm ${known.name}.`,
    });
  }
  if (body.name !== undefined && (await accountByName(platform.store.db, body.name)) !== null) {
    throw new PawlError('conflict', `There is an account ${body.name} already.`, { hint: 'Choose another --name.' });
  }
  const name = body.name ?? (await freeName(platform.store.db, preset.name));
  const { email = null, baseUrl = null } = body;
  const keyProxy = body.noProxy === true ? 'off' : null;
  const given = { name, email, baseUrl, keyProxy } as const;
  return { account: await storeAccount(platform, preset.name, given, draft), created: true };
}

/** Creates the files of an account, then its row. */
export async function storeAccount(
  platform: AccountContext,
  provider: string,
  given: Pick<Account, 'name' | 'email' | 'baseUrl' | 'keyProxy'>,
  { kind, env, fill }: Draft,
): Promise<Account> {
  const id = newId();
  await platform.files.create(id, env, fill);
  const facts = { lastUsedAt: null, exhaustedUntil: null, strikes: 0, invalidReason: null, removedAt: null };
  try {
    const account = await platform.store.write(async (tx) => {
      const row: Account = { id, provider, kind, ...given, ...facts, createdAt: tx.now };
      await insertAccount(tx, row);
      tx.emit({ type: 'account.added', data: { account: row.name, provider, kind } });
      return row;
    });
    platform.atStep?.('row');
    return account;
  } catch (error) {
    await platform.files.remove(id);
    throw error;
  }
}

function draftOf(preset: ProviderPreset, { kind, secret, from, baseUrl: url }: AddAccountBody): Draft {
  const baseUrl = url ?? null;
  const use = preset.account;
  if (use === null) throw refusal(preset, 'takes no accounts', 'It uses the login of its own program.');
  if (baseUrl !== null && use.baseUrl === null && !takesBaseUrl(use)) {
    throw refusal(preset, 'cannot be pointed at another server', 'Omit --base-url.');
  }
  const fill = (directory: string) =>
    use.directory === null
      ? Promise.resolve()
      : writePresetFiles(directory, use, { baseUrl, key: use.key, model: null });
  if (kind === 'directory') {
    if (use.directory === null) throw refusal(preset, 'has no relocatable config directory', 'Add a key instead.');
    if (from === undefined) throw new PawlError('usage', 'Which directory?', { hint: 'Say --from DIRECTORY.' });
    const place = basename(from) === innerDirectory(use) ? basename(from) : '.';
    return { kind, env: {}, fill: (directory) => copyConfigDirectory(from, join(directory, place)) };
  }
  const variable = kind === 'api-key' ? use.key : use.token;
  if (variable === null) {
    const other = kind === 'api-key' ? '--token-stdin' : '--key-stdin';
    throw refusal(preset, `takes no ${kind === 'api-key' ? 'API key' : 'token'}`, `Try ${other}, or --from DIRECTORY.`);
  }
  if (secret === undefined) {
    throw new PawlError('usage', 'No key given.', {
      hint: 'Pipe it in with --key-stdin or --token-stdin.',
    });
  }
  return {
    kind,
    env: { [variable]: secret },
    async fill(directory) {
      // The variable is enough for the CLI and overrides the file; the file is for people who inspect the directory.
      if (kind === 'token' && use.credentials !== null)
        await writePrivateFile(join(directory, use.credentials), loginFile(secret));
      await fill(directory);
    },
  };
}

/** The subdirectory in which a CLI keeps everything, such as `.gemini`, or null. */
function innerDirectory({ files, conversations }: AccountUse): string | null {
  const tops = new Set([...Object.keys(files), ...conversations].map((path) => path.split('/')[0] ?? ''));
  const [top = ''] = tops;
  return tops.size === 1 && top.startsWith('.') && !Object.hasOwn(files, top) ? top : null;
}

function takesBaseUrl(use: AccountUse): boolean {
  return [...use.baseUrlArguments, ...Object.values(use.files)].some((text) => text.includes('{baseUrl}'));
}

/** The account with the same secrets for the same server, or null. */
async function sameSecrets(
  platform: AccountContext,
  { provider, baseUrl }: AddAccountBody,
  draft: Draft,
): Promise<Account | null> {
  const wanted = JSON.stringify(draft.env);
  if (draft.kind === 'directory') return null;
  for (const account of await listAccounts(platform.store.db, provider)) {
    if (account.kind !== draft.kind || account.baseUrl !== (baseUrl ?? null)) continue;
    const secrets = await platform.files.readSecrets(account.id).catch(() => null);
    if (secrets !== null && JSON.stringify(secrets) === wanted) return account;
  }
  return null;
}

async function freeName(db: Database, provider: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${provider.slice(0, 56)}-${number}`;
    if ((await accountByName(db, name)) === null) return name;
  }
}

function refusal(preset: ProviderPreset, what: string, hint: string): PawlError {
  return new PawlError('invalid_input', `The provider ${preset.name} ${what}.`, { hint });
}
