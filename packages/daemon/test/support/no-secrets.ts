import type { Accounts } from '@pawl/daemon/accounts/accounts';
import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { unconfined } from './unconfined.ts';

/** The parts of a platform that know secrets, for a home without accounts. */
export const noSecrets = {
  choices: unconfined,
  authority: createAuthority('x'.repeat(43)),
  accounts: { secrets: () => [] } as Partial<Accounts> as Accounts,
};
