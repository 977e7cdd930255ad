import { messageOf } from '@pawl/schema/error';
import type { Account } from '@pawl/schema/record';
import {
  accountById,
  listAccounts,
  removeAccount,
  unusedShellAccounts,
  updateAccount,
} from '@pawl/store/projects/accounts';
import type { AccountFiles } from './account-files.ts';
import type { AccountParts } from './accounts.ts';
import { credentialState } from './credential-state.ts';
import { endProbes } from './probe.ts';

/**
 * Reconciles files and rows. A shell account goes with its last living agent. Files without a row are left over from an
 * interrupted addition or a removed account, and are deleted. An account whose files are gone or readable by others, or
 * whose login has expired, is marked invalid.
 */
export async function settleAccounts(platform: AccountParts & { files: AccountFiles }): Promise<void> {
  const { files, store, home, log } = platform;
  await endProbes(home.accounts);
  const there = await files.list();
  for (const name of there.drafts) await files.removeDraft(name);
  for (const id of there.accounts) {
    const account = await accountById(store.db, id);
    if (account === null || account.removedAt !== null) await files.remove(id);
  }
  for (const account of await unusedShellAccounts(store.db)) {
    await store.write((tx) => removeAccount(tx, account.id));
    await files.remove(account.id);
  }
  for (const account of await listAccounts(store.db)) {
    if (account.invalidReason !== null) continue;
    try {
      const state = await credentialState(platform, account);
      if (state.state === 'invalid') await invalidate(platform, account, state.error);
    } catch (error) {
      log.warn({ account: account.name, error: messageOf(error) }, 'failed to check an account');
    }
  }
}

async function invalidate({ store }: AccountParts, { id, name, provider }: Account, reason: string): Promise<void> {
  await store.write(async (tx) => {
    await updateAccount(tx, id, { invalidReason: reason });
    tx.emit({ type: 'account.invalid', data: { account: name, provider, reason } });
  });
}
