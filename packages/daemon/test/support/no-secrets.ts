import type { Accounts } from '@pawl/daemon/accounts/accounts';
import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { defaultChoices } from '@pawl/daemon/platform/platform';

/** The parts of a workshop that tell what is secret: of a home that has no accounts. */
export const noSecrets = {
  choices: defaultChoices,
  authority: createAuthority('x'.repeat(43)),
  accounts: { secrets: () => [] } as Partial<Accounts> as Accounts,
};
