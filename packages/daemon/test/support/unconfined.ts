import type { Choices } from '@pawl/daemon/platform/platform';
import { defaultChoices } from '@pawl/daemon/platform/platform';

/** The default settings without the sandbox, which takes time at each start. */
export const unconfined: Choices = { ...defaultChoices, sandbox: { ...defaultChoices.sandbox, mode: 'off' } };
