import { duration } from '@pawl/present/amount';
import type { Cell } from '@pawl/present/table';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { AccountView, AddAccountBody } from '@pawl/protocol/accounts/view';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { readSecret } from '../../terminal/secret-input.ts';
import { table } from '../../terminal/table.ts';

export type AddOptions = {
  name?: string;
  email?: string;
  baseUrl?: string;
  keyStdin?: boolean;
  tokenStdin?: boolean;
  keyEnv?: string;
  token?: string;
  from?: string;
  /** False gives sessions the key itself. */
  proxy?: false;
};

type Read = (question: string) => Promise<string>;
type Credentials = Pick<AddAccountBody, 'kind' | 'secret' | 'from'>;

/** Adds credentials for a provider, from stdin, a variable or a directory. They are never shown. */
export async function addAccount(
  context: CommandContext,
  provider: string,
  options: AddOptions,
  read: Read = readSecret,
): Promise<number> {
  const { name, email, baseUrl } = options;
  const credentials = await credentialsOf(context, provider, options, read);
  const body = {
    provider,
    ...credentials,
    ...(name && { name }),
    ...(email && { email }),
    ...(baseUrl && { baseUrl }),
    ...(options.proxy === false && { noProxy: true }),
  };
  const answer = await withDaemon(context.home, (client) => client.addAccount(body));
  const { account, created } = answer;
  context.answer('account', answer, () =>
    created
      ? `added ${account.name} for ${account.provider}; new agents use it after: pawl account use ${account.name}`
      : `these credentials are already stored, as ${account.name}`,
  );
  return 0;
}

async function credentialsOf(
  context: CommandContext,
  provider: string,
  options: AddOptions,
  read: Read,
): Promise<Credentials> {
  const { keyStdin, tokenStdin, keyEnv, token, from } = options;
  const given = [keyStdin, tokenStdin, keyEnv, token, from].filter((each) => each !== undefined && each !== false);
  if (given.length > 1) {
    throw new PawlError('usage', 'Use only one of --key-stdin, --token-stdin, --key-env, --token and --from.');
  }
  if (from !== undefined) return { kind: 'directory', from: resolve(from) };
  if (tokenStdin) return { kind: 'token', secret: await read(`token for ${provider}: `) };
  if (token !== undefined) {
    context.say('other users of this machine can see command lines; pass a token with --token-stdin');
    return { kind: 'token', secret: token };
  }
  if (keyEnv !== undefined) return { kind: 'api-key', secret: fromEnvironment(keyEnv) };
  if (!keyStdin && !process.stdin.isTTY) {
    throw new PawlError('usage', 'No key given.', {
      hint: 'Pipe it in with --key-stdin or --token-stdin, or use --key-env NAME or --from DIRECTORY.',
    });
  }
  return { kind: 'api-key', secret: await read(`API key for ${provider}: `) };
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new PawlError('usage', `The variable ${JSON.stringify(name.slice(0, 80))} is not set here.`, {
    hint: 'Name a variable of this shell that holds the key.',
  });
}

const columns = [
  { title: 'NAME' },
  { title: 'PROVIDER' },
  { title: 'KIND' },
  { title: 'SECRET' },
  { title: 'STATE' },
  { title: 'USED' },
  { title: 'FOR', flexible: true },
];

/** Lists the accounts, without their secrets. */
export async function listAccounts(
  context: CommandContext,
  options: { provider?: string },
  now = Date.now(),
): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.listAccounts(options));
  context.answer('accounts', list, () => {
    if (list.accounts.length === 0) return 'no accounts; add one with: pawl account add PROVIDER';
    const rows = list.accounts.map((account): Cell[] => [
      account.isDefault ? `${account.name} *` : account.name,
      account.provider,
      account.kind,
      account.fingerprint === null ? '-' : `…${account.fingerprint}`,
      stateCell(account, now),
      account.lastUsedAt === null ? 'never' : `${duration(now - account.lastUsedAt)} ago`,
      [account.email, account.baseUrl].filter((each) => each !== null).join(' ') || '-',
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

/** Whether an account is usable, for people. */
function stateCell(account: AccountView, now: number): Cell {
  const { invalidReason, exhaustedUntil, credential } = account;
  if (invalidReason !== null) return span(`invalid: ${invalidReason}`, 'bad');
  if (credential.state === 'invalid') return span(`invalid: ${credential.error}`, 'bad');
  if (exhaustedUntil !== null) return span(`exhausted for ${duration(exhaustedUntil - now)}`, 'attention');
  if (credential.state === 'refreshable') return span('renewed at next use', 'muted');
  return credential.state === 'valid' ? span('ok', 'good') : span('unknown', 'muted');
}

/** Removes an account and deletes its secret. */
export async function removeAccount(context: CommandContext, name: string): Promise<number> {
  const answer = await withDaemon(context.home, (client) => client.removeAccount(name));
  context.answer('account', answer, () => `removed ${answer.account.name}; its secret is deleted`);
  return 0;
}

/** Makes an account the default of its provider. */
export async function useAccount(context: CommandContext, name: string, options: { clear?: boolean }): Promise<number> {
  const body = options.clear ? { clear: true } : {};
  const answer = await withDaemon(context.home, (client) => client.useAccount(name, body));
  const { account } = answer;
  context.answer('account', answer, () => `new ${account.provider} agents use ${account.name}`);
  return 0;
}

/** Tests an account with one small model call by the provider's own CLI. */
export async function testAccount(context: CommandContext, name: string): Promise<number> {
  context.say('asking the provider’s CLI for one word; that is one small model call');
  const answer = await withDaemon(context.home, (client) => client.testAccount(name, searchPathOf(process.env)));
  const { ok, text, tookMs } = answer;
  context.answer('account-test', answer, () => {
    const verdict = ok ? context.colours.green('works') : context.colours.red('does not work');
    return `${answer.account.name} ${verdict} (${duration(tookMs)}): ${printableLine(text)}`;
  });
  return ok ? 0 : 1;
}
