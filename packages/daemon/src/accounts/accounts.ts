import type { ProviderPreset } from '@pawl/core/port/provider';
import { createSerial } from '@pawl/core/sessions/turn-taking';
import type { Home } from '@pawl/protocol/node/home';
import type { AccountTest, AccountView, AddAccountBody } from '@pawl/protocol/accounts/view';
import type { Providers } from '@pawl/providers/registry';
import { PawlError } from '@pawl/schema/error';
import type { Account } from '@pawl/schema/record';
import {
  accountById,
  accountByName,
  listAccounts,
  markExhausted,
  openSessionsOf,
  removeAccount,
  updateAccount,
} from '@pawl/store/projects/accounts';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Logger } from 'pino';
import type { AccountStep } from './account-files.ts';
import { accountFiles } from './account-files.ts';
import { accountView, defaultAccounts } from './account-view.ts';
import { addAccount } from './add-account.ts';
import { defaultDirectory } from './config-directory.ts';
import { copyConversation, findConversation } from './conversation.ts';
import type { CredentialState } from './credentials.ts';
import { credentialState } from './credential-state.ts';
import type { KeyUse } from './key-use.ts';
import { keyUse } from './key-use.ts';
import { createSecretFinder } from './login-secrets.ts';
import { openPrivateDirectory } from './private-file.ts';
import type { ProbeResult } from './probe.ts';
import { probeAccount } from './probe.ts';
import type { SessionUse, ThroughProxy } from './session-use.ts';
import { hasOwnDirectory, sessionUse } from './session-use.ts';
import { settleAccounts } from './settle.ts';
import { captureShell } from './shell-account.ts';

export type AccountParts = {
  home: Home;
  store: Store;
  providers: Providers;
  environment: NodeJS.ProcessEnv;
  clock(): number;
  log: Logger;
};

/** A conversation to continue under another account; `from` null is the CLI's own directory, which is only read. */
export type Move = {
  from: Account | null;
  to: Account;
  preset: ProviderPreset;
  providerSessionId: string;
  /** The provider's variables of the agent's shell, which may name the directory. */
  environment?: Record<string, string>;
};

/** The credentials of one home. Secrets leave it only through the environment of the process that needs them. */
export type Accounts = {
  add(body: AddAccountBody): Promise<{ account: AccountView; created: boolean }>;
  list(provider?: string): Promise<AccountView[]>;
  /** Retires an account and deletes its secrets; its row stays. */
  remove(reference: string): Promise<AccountView>;
  /** Makes an account its provider's default; `clear` also clears exhausted and invalid. */
  use(reference: string, options?: { clear?: boolean }): Promise<AccountView>;
  /** Runs the vendor's CLI, found on this PATH, with an account and a minimal prompt. */
  test(reference: string, path: string, model?: string | null): Promise<AccountTest>;
  /** The requested account, by name or id, or the provider's default; null if there is none. */
  chosen(provider: string, reference?: string): Promise<Account | null>;
  /** The environment that a session needs to use an account; with `through` it calls its model without the key. */
  sessionUse(
    account: Account,
    preset: ProviderPreset,
    model: string | null,
    through?: ThroughProxy | null,
  ): Promise<SessionUse>;
  /** Whether the proxy can add the key of an account to the model calls of a session with these variables. */
  keyUse(account: Account, preset: ProviderPreset, environment: Record<string, string>): Promise<KeyUse>;
  /** The secrets of all accounts, to mask in text from outside. */
  secrets(): string[];
  /** Stores the secrets that a shell has for a provider; null if it has none. */
  captureShell(preset: ProviderPreset, variables: Record<string, string>): Promise<Account | null>;
  moveConversation(move: Move): Promise<'moved' | 'impossible'>;
  credentialState(account: Account): Promise<CredentialState>;
  /** Reconciles files and rows at start: removes leftovers and marks broken accounts. */
  settle(): Promise<void>;
};

/**
 * Opens the accounts of a home. Refuses a directory that others can read. `atStep` is for tests that kill the process
 * during an addition.
 */
export function createAccounts(parts: AccountParts, atStep?: (step: AccountStep) => void): Accounts {
  const { home, store, providers } = parts;
  openPrivateDirectory(home.accounts);
  const files = accountFiles(home.accounts, atStep);
  const platform = { ...parts, files, atStep };
  const finder = createSecretFinder(home.accounts);
  // Concurrent requests with the same credentials create one account.
  const inTurn = createSerial();

  const find = (reference: string) => findAccount(store.db, reference);
  const view = (account: Account) => accountView(platform, account);

  return {
    async add(body) {
      const { account, created } = await inTurn(() => addAccount(platform, body));
      return { account: await view(account), created };
    },

    async list(provider) {
      return Promise.all((await listAccounts(store.db, provider)).map(view));
    },

    async remove(reference) {
      const account = await find(reference);
      const { id, name, provider } = account;
      await store.write(async (tx) => {
        if ((await openSessionsOf(tx.db, id)) > 0) {
          throw new PawlError('busy', `Agents are at work with the account ${name}.`, {
            hint: 'Wait until they have finished, or stop them; see `pawl ps`.',
          });
        }
        if ((await defaultAccounts.get(tx.db, account))?.accountId === id) await defaultAccounts.delete(tx, account);
        if (await removeAccount(tx, id)) tx.emit({ type: 'account.removed', data: { account: name, provider } });
      });
      await files.remove(id);
      return view({ ...account, removedAt: parts.clock() });
    },

    async use(reference, { clear = false } = {}) {
      const account = await find(reference);
      if (account.kind === 'shell') {
        throw new PawlError('conflict', `${account.name} is a shell account, for the agents of that shell only.`, {
          hint: 'Add the key itself with `pawl account add`.',
        });
      }
      await store.write((tx) => select(tx, account, clear));
      return view(await find(account.id));
    },

    async test(reference, path, model = null) {
      const account = await find(reference);
      const preset = providers.get(account.provider);
      const use = await sessionUse(files, account, preset, model);
      const result = await probeAccount({ ...parts, path, preset, use, secrets: finder.of(account.id), model });
      await noteTest(store, account, result);
      return { account: await view(await find(account.id)), ...result };
    },

    chosen: (provider, reference) => chosenAccount(store.db, provider, reference),
    sessionUse: (account, preset, model, through) => sessionUse(files, account, preset, model, through),
    keyUse: (account, preset, environment) =>
      keyUse(files, { account, preset, environment, machine: parts.environment }),
    secrets: () => finder.all(),
    captureShell: (preset, variables) => inTurn(() => captureShell(platform, preset, variables)),

    moveConversation: (move) => moveConversation(platform, move),
    credentialState: (account) => credentialState(platform, account),
    settle: () => settleAccounts(platform),
  };
}

/** The account with this name or id; throws if there is none. */
async function findAccount(db: Database, reference: string): Promise<Account> {
  const account = (await accountByName(db, reference)) ?? (await accountById(db, reference));
  if (account !== null && account.removedAt === null) return account;
  throw new PawlError('not_found', `There is no account ${JSON.stringify(reference.slice(0, 80))}.`, {
    hint: 'List them with `pawl account ls`.',
  });
}

async function chosenAccount(db: Database, provider: string, reference?: string): Promise<Account | null> {
  if (reference === undefined) {
    const chosen = await defaultAccounts.get(db, { provider });
    const account = chosen === null ? null : await accountById(db, chosen.accountId);
    return account?.removedAt === null ? account : null;
  }
  const account = await findAccount(db, reference);
  if (account.kind === 'shell') {
    throw new PawlError('invalid_input', `${account.name} is a shell account, for the agents of that shell only.`);
  }
  if (account.provider === provider) return account;
  throw new PawlError('invalid_input', `The account ${account.name} is for ${account.provider}, not ${provider}.`, {
    hint: `See \`pawl account ls\`, or pass --provider ${account.provider}.`,
  });
}

type AccountFilesOf = Pick<AccountParts, 'environment'> & { files: ReturnType<typeof accountFiles> };

/** The config directory that has an account's conversations; null if its CLI keeps none. */
function directoryOf(
  { files, ...parts }: AccountFilesOf,
  account: Account | null,
  { preset, environment }: Move,
): string | null {
  if (preset.account === null || preset.account.directory === null) return null;
  const named = account?.kind === 'shell' && (environment?.[preset.account.directory] ?? '') !== '';
  if (account !== null && !named && hasOwnDirectory(account, preset.account)) return files.directory(account.id);
  return defaultDirectory(preset.account, { ...parts.environment, ...preset.env, ...environment });
}

/** Copies a conversation to the config directory of another account. */
async function moveConversation(platform: AccountFilesOf, move: Move): Promise<'moved' | 'impossible'> {
  const { to, preset, providerSessionId } = move;
  // Without a directory of its own, every account finds all conversations in place.
  if (preset.account?.directory === null) return 'moved';
  const source = directoryOf(platform, move.from, move);
  const target = directoryOf(platform, to, move);
  if (preset.account === null || source === null || target === null) return 'impossible';
  if (source === target) return 'moved';
  // Never write to a directory that is not ours.
  if (target !== platform.files.directory(to.id)) return 'impossible';
  const paths = await findConversation(source, preset.account.conversations, providerSessionId);
  if (paths.length === 0) return 'impossible';
  return (await copyConversation(source, target, paths)) ? 'moved' : 'impossible';
}

/** Fields of an account that nothing blocks. */
const usable = { exhaustedUntil: null, strikes: 0, invalidReason: null };

/** A successful test clears exhausted and invalid; one that hits a limit marks the account exhausted. */
async function noteTest(store: Store, { id }: Account, { ok, limitedUntil }: ProbeResult): Promise<void> {
  await store.write(async (tx) => {
    if (ok) await updateAccount(tx, id, usable);
    else if (limitedUntil !== null) await markExhausted(tx, id, limitedUntil);
  });
}

/** Makes an account its provider's default; `clear` also clears exhausted and invalid. */
async function select(tx: WriteTransaction, { id, name, provider }: Account, clear: boolean): Promise<void> {
  await defaultAccounts.set(tx, { provider, accountId: id });
  if (clear) await updateAccount(tx, id, usable);
  tx.emit({ type: 'account.selected', data: { account: name, provider } });
}
