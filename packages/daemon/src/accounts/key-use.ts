import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import type { Grant } from '@pawl/schema/proxy';
import type { Account } from '@pawl/schema/record';
import { join } from 'node:path';
import type { AccountFiles } from './account-files.ts';
import { defaultDirectory, takesUrlFiles } from './config-directory.ts';
import { readBoundedFile } from './private-file.ts';
import { hasOwnDirectory } from './session-use.ts';

/** The server and key with which the proxy makes a session's model calls, or why the session has the key itself. */
export type KeyUse = { upstream: NonNullable<Grant['upstream']> } | { why: string };

type Given = {
  account: Account;
  preset: ProviderPreset;
  /** The provider's variables of the agent's shell. */
  environment: Record<string, string>;
  /** The daemon's own environment. */
  machine: NodeJS.ProcessEnv;
};

/**
 * Decides whether the proxy can add the key of an account: it must be the account's only secret, the CLI must take
 * another server for one run, and it must be known where its calls go.
 */
export async function keyUse(files: AccountFiles, given: Given): Promise<KeyUse> {
  const { account, preset, environment } = given;
  const use = preset.account;
  if (use === null || use.key === null) return { why: `${preset.name} takes no API key` };
  const names = Object.keys(await files.readSecrets(account.id));
  if (names.length === 0) return { why: 'it uses a login of its own' };
  if (names.length > 1 || names[0] !== use.key)
    return { why: `it has ${names.join(' and ')}, and the proxy adds only ${use.key}` };
  if (!(await takesBaseUrl(files, account, use)))
    return { why: `${preset.name} takes no other server for one run with this account` };
  const elsewhere = account.kind === 'shell' ? await namedElsewhere(files, given, use) : null;
  if (elsewhere !== null) return { why: elsewhere };
  const variable = use.baseUrl ?? '';
  const own = account.kind === 'shell' ? environment[variable] : account.baseUrl;
  const server = URL.parse(own || preset.env[variable] || use.server || '');
  if (server === null) return { why: 'it is not known which server it calls' };
  if (!/^https?:$/.test(server.protocol) || server.username !== '')
    return { why: 'its base URL is not a plain http address' };
  return { upstream: { baseUrl: server.href, secretFile: files.secretFile(account.id), variable: use.key } };
}

/** True if a CLI takes another base URL for each run: by a variable, by arguments, or by a file that Pawl may replace. */
async function takesBaseUrl(files: AccountFiles, account: Account, use: AccountUse): Promise<boolean> {
  if (use.baseUrl !== null || use.baseUrlArguments.length > 0) return true;
  if (use.server === undefined || !hasOwnDirectory(account, use)) return false;
  return takesUrlFiles(files.directory(account.id), use);
}

/** The setting of a person that may send the key to another server; null if there is none. */
async function namedElsewhere(
  files: AccountFiles,
  { account, preset, environment, machine }: Given,
  use: AccountUse,
): Promise<string | null> {
  const { elsewhere } = use;
  if (elsewhere === undefined) return `it is not known which of your settings ${preset.name} uses with the key`;
  const variable = elsewhere.variables.find((name) => (environment[name] ?? '') !== '');
  if (variable !== undefined) return `your shell sets ${variable}, with which it may call another server`;
  const home = machine['HOME'] ?? '/';
  const named = (environment[use.directory ?? ''] ?? '') !== '';
  const isOurs = hasOwnDirectory(account, use) && !named;
  const directory = isOurs
    ? files.directory(account.id)
    : (defaultDirectory(use, { ...machine, ...preset.env, ...environment }) ?? home);
  for (const [path, pattern] of Object.entries(elsewhere.files)) {
    const file = path.startsWith('/')
      ? path
      : path.startsWith('~/')
        ? join(home, path.slice(2))
        : join(directory, path);
    if (await matches(file, pattern)) return `${file} may name another server`;
  }
  return null;
}

const settingsBytes = 1024 * 1024;

/** True if a file has the pattern, or cannot be read although it is there. */
async function matches(file: string, pattern: string): Promise<boolean> {
  try {
    const text = await readBoundedFile(file, settingsBytes);
    return text !== null && new RegExp(pattern, 'm').test(text);
  } catch {
    return true;
  }
}
