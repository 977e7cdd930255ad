import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Accounts } from './accounts.ts';
import type { SessionProxy } from './session-proxy.ts';

/** The platform of rooms that start sessions, or pass it to one that does. */
export type SessionPlatform = DefinitionPlatform & { accounts: Accounts; proxy: SessionProxy };
