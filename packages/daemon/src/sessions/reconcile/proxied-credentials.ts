import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Account, Agent, Run, Session } from '@pawl/schema/record';
import type { ThroughProxy } from '../../accounts/session-use.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { tokensLeft } from './spending.ts';

type Planned = { agent: Agent; run: Run; session: Session; preset: ProviderPreset; account: Account };

/**
 * Lets a session call its model through the proxy if its account has only an API key, and the provider's server is
 * known. Null: it gets the account's own secrets.
 */
export async function proxyFor(
  platform: SessionPlatform,
  { agent, run, session, preset, account }: Planned,
): Promise<ThroughProxy | null> {
  const server = platform.choices.proxy ? serverOf(agent, preset, account) : null;
  const key = server === null ? null : await platform.accounts.proxiedKey(account, preset);
  if (server === null || key === null) return null;
  const { token, port } = await platform.proxy.grant({
    sessionId: session.id,
    directory: sessionDirectory(platform.home, session.id),
    upstream: { baseUrl: server.href, ...key },
    tokens: await tokensLeft(platform, agent, run),
    network: null,
  });
  // The same path as at the provider, so that the CLI's own requests need no change.
  return { token, baseUrl: `http://127.0.0.1:${port}${server.pathname.replace(/\/+$/, '')}` };
}

/** The server that a session would call without the proxy. */
function serverOf({ environment }: Agent, { account: use }: ProviderPreset, account: Account): URL | null {
  if (use === null) return null;
  const named = account.kind === 'shell' && use.baseUrl !== null ? environment[use.baseUrl] : undefined;
  const server = URL.parse(named || account.baseUrl || use.server || '');
  return server !== null && /^https?:$/.test(server.protocol) && server.username === '' ? server : null;
}
