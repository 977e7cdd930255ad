import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Accounts } from './accounts.ts';

/** The platform of a room that starts sessions, or hands it on to one that does. */
export type SessionPlatform = DefinitionPlatform & { accounts: Accounts };
