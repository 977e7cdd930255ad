import type { Grant } from '@pawl/schema/proxy';

/** The use that a session may make of the proxy. */
export type SessionGrant = Pick<Grant, 'sessionId' | 'directory' | 'upstream' | 'tokens' | 'network'>;

/** The proxy of a home, as rooms that start sessions use it. */
export type SessionProxy = {
  /** Grants a session its use, and starts the proxy if none serves. Returns the session's token and the port. */
  grant(given: SessionGrant): Promise<{ token: string; port: number }>;
  /** Changes the hosts that a session with a grant may reach; its token stays. */
  setNetwork(sessionId: string, network: Grant['network']): Promise<void>;
  /** Ends the use of a session; its token is worth nothing from here on. */
  revoke(sessionId: string): Promise<void>;
};
