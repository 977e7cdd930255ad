import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import { hasErrno } from '@pawl/schema/error';
import type { Grant } from '@pawl/schema/proxy';
import type { Account } from '@pawl/schema/record';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountFiles } from './account-files.ts';
import { defaultDirectory, takesUrlFiles } from './config-directory.ts';
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
  const { account, preset } = given;
  const use = preset.account;
  if (account.keyProxy === 'off') return { why: `${account.name} was added with --no-proxy` };
  if (use === null || use.key === null) return { why: `${preset.name} takes no API key` };
  const names = Object.keys(await files.readSecrets(account.id));
  if (names.length === 0) return { why: 'it uses a login of its own' };
  if (names.length > 1 || names[0] !== use.key)
    return { why: `it has ${names.join(' and ')}, and the proxy adds only ${use.key}` };
  if (!(await takesBaseUrl(files, account, use)))
    return { why: `${preset.name} takes no other server for one run with this account` };
  const named = account.kind === 'shell' ? await serverNamed(files, given, use) : { server: account.baseUrl };
  if ('why' in named) return named;
  const server = URL.parse(named.server || preset.env[use.baseUrl ?? ''] || use.server || '');
  if (server === null) return { why: 'it is not known which server it calls' };
  if (!/^https?:$/.test(server.protocol) || server.username !== '')
    return { why: 'its base URL is not a plain http address' };
  return { upstream: { baseUrl: server.href, secretFile: files.secretFile(account.id), variable: use.key } };
}

/** True if a CLI takes another base URL for each run, and no file of the person in its directory names one. */
async function takesBaseUrl(files: AccountFiles, account: Account, use: AccountUse): Promise<boolean> {
  if (hasOwnDirectory(account, use) && !(await takesUrlFiles(files.directory(account.id), use))) return false;
  return use.baseUrl !== null || use.baseUrlArguments.length > 0;
}

/** The server that a person names for a shell's key, null if none; or why it is not known. */
async function serverNamed(
  files: AccountFiles,
  { account, preset, environment, machine }: Given,
  use: AccountUse,
): Promise<{ server: string | null } | { why: string }> {
  const { elsewhere, serverIn } = use;
  if (elsewhere === undefined)
    return { why: `it is not known which of your settings ${preset.name} uses with the key` };
  const variable = elsewhere.variables.find((name) => (environment[name] ?? '') !== '');
  if (variable !== undefined) return { why: `your shell sets ${variable}, with which it may call another server` };
  const home = machine['HOME'] ?? '/';
  const isNamed = (environment[use.directory ?? ''] ?? '') !== '';
  const directory =
    hasOwnDirectory(account, use) && !isNamed
      ? files.directory(account.id)
      : (defaultDirectory(use, { ...machine, ...preset.env, ...environment }) ?? home);
  let server = environment[use.baseUrl ?? ''] ?? null;
  for (const [path, pattern] of Object.entries(elsewhere.files)) {
    const file = placeOf(path, { home, directory });
    const text = await readSettings(file);
    const stated = path === serverIn?.file ? new RegExp(serverIn.pattern, 'm').exec(text ?? '') : null;
    server ??= stated?.[1] ?? null;
    if (text === null || new RegExp(pattern, 'm').test(text.replace(stated?.[0] ?? '', '')))
      return { why: `${file} may name another server or login` };
  }
  return { server };
}

/** A path of a preset: absolute, below the person's home, or below the CLI's directory. */
function placeOf(path: string, { home, directory }: { home: string; directory: string }): string {
  if (path.startsWith('/')) return path;
  return path.startsWith('~/') ? join(home, path.slice(2)) : join(directory, path);
}

const settingsBytes = 1024 * 1024;

/** The text of a settings file, also behind a link; empty if there is none, null if it is there and cannot be read. */
async function readSettings(file: string): Promise<string | null> {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= settingsBytes ? await readFile(file, 'utf8') : null;
  } catch (error) {
    return hasErrno(error, 'ENOENT', 'ENOTDIR') ? '' : null;
  }
}
