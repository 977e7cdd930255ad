import type { Inspection } from '@pawl/protocol/agents/view';
import type { Agent } from '@pawl/schema/record';
import { accountById } from '@pawl/store/projects/accounts';
import type { SessionPlatform } from '../accounts/session-platform.ts';

/** Tells where the key of an agent's account is during its next session, and why; null without an account. */
export async function keyPlace(
  { store, accounts, providers, choices }: Pick<SessionPlatform, 'store' | 'accounts' | 'providers' | 'choices'>,
  agent: Agent,
): Promise<Inspection['key']> {
  const account = agent.accountId === null ? null : await accountById(store.db, agent.accountId);
  const preset = providers.find(agent.provider);
  if (account === null || preset === null || account.removedAt !== null) return null;
  if (agent.keyProxy === 'off') return { at: 'session', why: 'it was started with --no-proxy' };
  if (!choices.proxy) return { at: 'session', why: 'config.yaml says proxy: false' };
  try {
    const use = await accounts.keyUse(account, preset, agent.environment);
    if ('why' in use) return { at: 'session', why: use.why };
    return { at: 'proxy', why: `calls to ${new URL(use.upstream.baseUrl).host} go through the proxy, which adds it` };
  } catch {
    return { at: 'session', why: 'the files of its account cannot be used' };
  }
}
