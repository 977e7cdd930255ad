import { parseRule } from '@pawl/core/rules/rule-match';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Event } from '@pawl/schema/event';
import type { Grant } from '@pawl/schema/proxy';
import type { Agent, Session } from '@pawl/schema/record';
import type { RuleEffect } from '@pawl/schema/rule';
import { agentById } from '@pawl/store/agents/agents';
import { accountById } from '@pawl/store/projects/accounts';
import { openSessions } from '@pawl/store/sessions/sessions';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { engineModel } from '../providers/engine-model.ts';
import type { ActiveRule } from './judge.ts';
import { activeRules } from './judge.ts';

type Place = { agent: Agent; session: Pick<Session, 'id' | 'accountId'>; preset: ProviderPreset | null };

/** The hosts that a session may reach; null if its network is not limited. */
export async function networkFor(platform: SessionPlatform, place: Place): Promise<Grant['network']> {
  if ((await platform.sandbox.network(platform.choices)) === 'open') return null;
  const { agent, session, preset } = place;
  const { db } = platform.store;
  const { rules, trouble } = await activeRules(platform, agent, session.id);
  // A rule that cannot be read may be one that denies, so none allows anything.
  const allowed = trouble === null ? hostsIn(rules, 'allow') : [];
  const account = session.accountId === null ? null : await accountById(db, session.accountId);
  const variable = preset?.account?.baseUrl ?? '';
  const model = preset === null ? null : await engineModel(platform, preset, agent.model);
  const servers = [
    account?.baseUrl,
    agent.environment[variable],
    model?.env[variable],
    ...Object.values(platform.choices.mcpServers).map((server) => ('url' in server ? server.url : undefined)),
  ];
  const own = [...new Set(servers.flatMap(hostOf))];
  return { allow: [...new Set([...(preset?.hosts ?? []), ...own, ...allowed])], deny: hostsIn(rules, 'deny'), own };
}

/** The services on this machine that a session may reach, as `host:port`. In a sandbox they need a port each. */
export function localServices(network: Grant['network']): string[] {
  return (network?.allow ?? []).filter((entry) => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/.test(entry));
}

/** Applies a rule that was added or revoked to the sessions that run. */
export async function applyRules(platform: SessionPlatform, { type }: Pick<Event, 'type'>): Promise<void> {
  if (type !== 'rule.added' && type !== 'rule.revoked') return;
  if ((await platform.sandbox.network(platform.choices)) === 'open') return;
  for (const session of await openSessions(platform.store.db)) {
    const agent = await agentById(platform.store.db, session.agentId);
    if (agent === null) continue;
    const preset = platform.providers.find(agent.provider);
    await platform.proxy.setNetwork(session.id, await networkFor(platform, { agent, session, preset }));
  }
}

/** The variables that send a session's connections through the proxy, except those to this machine. */
export function proxyVariables(token: string, port: number): Record<string, string> {
  const url = `http://session:${token}@127.0.0.1:${port}`;
  return {
    ...Object.fromEntries(
      ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy'].map((name) => [name, url]),
    ),
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Keeps calls to the proxy itself away from any other proxy. */
export function directVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const known = environment['NO_PROXY'] ?? environment['no_proxy'] ?? '';
  const names = [...known.split(',').filter((name) => name !== ''), '127.0.0.1', 'localhost', '::1'].join(',');
  return { NO_PROXY: names, no_proxy: names };
}

function hostsIn(rules: readonly ActiveRule[], effect: RuleEffect): string[] {
  return rules.flatMap((rule) => {
    if (rule.effect !== effect) return [];
    try {
      const match = parseRule(rule.effect, rule.match);
      return match.kind === 'network' ? [rule.match.replace(/^\s*network\s+/, '')] : [];
    } catch {
      // A rule of an earlier release that cannot be read allows nothing; a broken deny rule denies everything.
      return effect === 'deny' && rule.match.trimStart().startsWith('network') ? ['*'] : [];
    }
  });
}

/** The host and port of a URL, as an entry of the list. */
function hostOf(url: string | null | undefined): string[] {
  const parsed = URL.parse(url ?? '');
  if (parsed === null || parsed.hostname === '') return [];
  return [parsed.port === '' ? parsed.hostname : `${parsed.hostname}:${parsed.port}`];
}
