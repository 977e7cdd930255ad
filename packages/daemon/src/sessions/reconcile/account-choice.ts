import { chooseAccount, reasonToSwitch } from '@pawl/core/accounts/account';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Account, Agent, Run, Session } from '@pawl/schema/record';
import { accountById, listAccounts, touchAccount } from '@pawl/store/projects/accounts';
import { updateAgent } from '@pawl/store/agents/agents';
import { sessionOfConversation } from '@pawl/store/sessions/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { proxyUse } from '../proxied/proxy-use.ts';
import { letWait } from './verdict.ts';

/**
 * Chooses the account of an agent's next session. Null: the CLI's own login. Undefined: all usable accounts have
 * reached a limit, and the run is recorded as waiting for the earliest.
 */
export async function accountFor(
  platform: SessionPlatform,
  agent: Agent,
  run: Run,
): Promise<Account | null | undefined> {
  const own = agent.accountId === null ? null : await accountById(platform.store.db, agent.accountId);
  if (own === null) return null;
  // If its account is gone, use the default one.
  const wanted = own.removedAt === null ? own : ((await platform.accounts.chosen(own.provider)) ?? own);
  const choice = chooseAccount({
    wanted,
    accounts: await listAccounts(platform.store.db, wanted.provider),
    now: platform.clock(),
    rotate: platform.choices.rotateAccounts.includes(wanted.provider),
  });
  if (choice.kind === 'use') return choice.account;
  if (choice.kind === 'none') {
    throw new PawlError('conflict', `No account can be used: ${choice.reason}.`);
  }
  const { until } = choice;
  await platform.store.write(async (tx) => {
    tx.emit({ type: 'agent.exhausted', projectId: agent.projectId, agentId: agent.id, data: { until } });
    const detail = `all usable accounts have reached a limit; ${choice.account.name} is the first to be free`;
    await letWait(tx, { agent, run }, { until, for: 'account', detail });
  });
  return undefined;
}

/** Records which account an agent uses, and a switch if it changed. */
export async function useAccount(tx: WriteTransaction, agent: Agent, account: Account): Promise<void> {
  await touchAccount(tx, account.id);
  if (agent.accountId === account.id) return;
  const before = agent.accountId === null ? null : await accountById(tx.db, agent.accountId);
  await updateAgent(tx, agent.id, { accountId: account.id });
  tx.emit({
    type: 'account.switched',
    projectId: agent.projectId,
    agentId: agent.id,
    data: {
      from: before?.name ?? null,
      to: account.name,
      provider: account.provider,
      reason: before === null ? 'it had none' : reasonToSwitch(before, tx.now),
    },
  });
}

/**
 * The sessions whose conversation can be resumed under an account: all, after copying what another account keeps; none
 * if the CLI cannot move conversations.
 */
export async function reachable(
  platform: SessionPlatform,
  given: { agent: Agent; preset: ProviderPreset; account: Account | null; sessions: Session[] },
): Promise<Session[]> {
  const { agent, preset, account, sessions } = given;
  const last = sessions.findLast((each) => each.no > agent.freshAfter && each.providerSessionId !== null);
  if (last?.providerSessionId === undefined || last.providerSessionId === null) return sessions;
  if (account === null || last.accountId === account.id) return sessions;
  const from = last.accountId === null ? null : await accountById(platform.store.db, last.accountId);
  const { providerSessionId } = last;
  const { environment } = agent;
  const moved = await platform.accounts.moveConversation({ from, to: account, preset, providerSessionId, environment });
  return moved === 'moved' ? sessions : [];
}

/** True if a native fork is possible under an account, which needs a copy if another one keeps the conversation. */
export async function forkReachable(
  platform: SessionPlatform,
  { agent, preset, account }: { agent: Agent; preset: ProviderPreset; account: Account | null },
): Promise<boolean> {
  const providerSessionId = agent.forkedConversation;
  const origin = providerSessionId === null ? null : await sessionOfConversation(platform.store.db, providerSessionId);
  if (providerSessionId === null || origin === null || account === null || origin.accountId === account.id) return true;
  const from = origin.accountId === null ? null : await accountById(platform.store.db, origin.accountId);
  const { environment } = agent;
  return (
    (await platform.accounts.moveConversation({ from, to: account, preset, providerSessionId, environment })) ===
    'moved'
  );
}

/** The environment with a session's credentials and settings, and the server they are for. */
export async function credentialsFor(
  platform: SessionPlatform,
  { agent, run, session, preset }: { agent: Agent; run: Run; session: Session; preset: ProviderPreset },
): Promise<{ env: Record<string, string>; baseUrl: string | null }> {
  const account = session.accountId === null ? null : await accountById(platform.store.db, session.accountId);
  const { through, env: proxied } = await proxyUse(platform, { agent, run, session, preset, account });
  if (account === null) return { env: { ...agent.environment, ...proxied }, baseUrl: null };
  const { env, baseUrl } = await platform.accounts.sessionUse(account, preset, agent.model, through);
  const settings = shellSettings(agent, account, preset);
  if (account.kind !== 'shell') return { env: { ...settings, ...env, ...proxied }, baseUrl };
  // A directory named by the shell overrides the one that Pawl gives to its key; its server is the proxy's to call.
  const variable = preset.account?.baseUrl ?? null;
  const server = through === null || variable === null ? {} : { [variable]: through.baseUrl };
  return { env: { ...env, ...settings, ...server, ...proxied }, baseUrl };
}

/** Names of variables that contain a location: a server, or settings that could name one. */
const leadsElsewhere = /(?:URL|CONFIG|CONFIG_DIR|HOME|DIR|PROXY)$/;

/** The shell's settings without locations: a stored key goes only to the server it was added for. */
function shellSettings({ environment }: Agent, account: Account, preset: ProviderPreset): Record<string, string> {
  if (account.kind === 'shell') return environment;
  const own = [preset.account?.baseUrl, preset.account?.directory];
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !own.includes(name) && !leadsElsewhere.test(name)),
  );
}
