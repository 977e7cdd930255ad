import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Account, Agent, Run, Session } from '@pawl/schema/record';
import type { ThroughProxy } from '../../accounts/session-use.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import type { SessionGrant } from '../../accounts/session-proxy.ts';
import { refuseUncountable } from '../../platform/budgets.ts';
import { directVariables, networkFor, proxyVariables } from '../../rules/session-network.ts';
import { tokensLeft } from '../reconcile/spending.ts';

type Planned = { agent: Agent; run: Run; session: Session; preset: ProviderPreset; account: Account | null };

/** How a session uses the proxy: for its model calls, with the token instead of the key; and for its connections. */
export type ProxyUse = { through: ThroughProxy | null; env: Record<string, string> };

/** Grants a session the use of the proxy, if its key or its connections go through it. */
export async function proxyUse(platform: SessionPlatform, planned: Planned): Promise<ProxyUse> {
  const { agent, run, session, preset } = planned;
  const upstream = await upstreamOf(platform, planned);
  const tokens = await tokensLeft(platform, agent, run);
  // The request was accepted because the proxy can count for this provider, but it cannot for this account.
  if (upstream === null && platform.choices.proxy) refuseUncountable(preset, agent.budget, { proxy: false });
  const network = await networkFor(platform, { agent, session, preset });
  if (upstream === null && network === null) return { through: null, env: {} };
  const { token, port } = await platform.proxy.grant({
    sessionId: session.id,
    directory: sessionDirectory(platform.home, session.id),
    upstream,
    tokens,
    network,
  });
  const env = {
    // A session with listed hosts has no other way than the proxy, which knows what to reach directly.
    ...directVariables(network === null ? platform.environment : {}),
    ...(network === null ? {} : proxyVariables(token, port)),
  };
  if (upstream === null) return { through: null, env };
  // The same path as at the provider, so that the CLI's own requests need no change.
  const path = new URL(upstream.baseUrl).pathname.replace(/\/+$/, '');
  return { through: { token, baseUrl: `http://127.0.0.1:${port}${path}` }, env };
}

/** The provider of a session's model calls, if the proxy can add the account's key to them. */
async function upstreamOf(
  platform: SessionPlatform,
  { agent, preset, account }: Planned,
): Promise<SessionGrant['upstream']> {
  if (!platform.choices.proxy || agent.keyProxy === 'off' || account === null) return null;
  const use = await platform.accounts.keyUse(account, preset, agent.environment);
  return 'upstream' in use ? use.upstream : null;
}
