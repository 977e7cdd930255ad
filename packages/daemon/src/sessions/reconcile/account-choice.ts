import { chooseAccount, reasonToSwitch } from '@pawl/core/accounts/account';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Account, Agent, Run, Session } from '@pawl/schema/record';
import { accountById, listAccounts, touchAccount } from '@pawl/store/projects/accounts';
import { updateAgent } from '@pawl/store/agents/agents';
import { sessionOfConversation } from '@pawl/store/sessions/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { letWait } from './verdict.ts';

/**
 * Whose credentials an agent's next session uses. Null leaves that to the CLI's own login. Undefined: all that it could use
 * have reached a limit, and it is on record that the run waits for the earliest.
 */
export async function accountFor(
  platform: SessionPlatform,
  agent: Agent,
  run: Run,
): Promise<Account | null | undefined> {
  const own = agent.accountId === null ? null : await accountById(platform.store.db, agent.accountId);
  if (own === null) return null;
  // Whose account is gone goes on with what new agents would use.
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
    const detail = `every account that it may use has reached a limit; ${choice.account.name} is the first to be free`;
    await letWait(tx, { agent, run }, { until, for: 'account', detail });
  });
  return undefined;
}

/** Notes who uses an account now, and that it is another one than before. */
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
 * The sessions whose conversation can be gone on with under an account: all of them, once what another account keeps of it
 * was copied; none, where the CLI does not let its conversations move.
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

/** Whether a native fork can be made under an account: where another one keeps the conversation, a copy of it is needed. */
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

/** The environment that carries a session's credentials and settings, and the server that they are for. */
export async function credentialsFor(
  platform: SessionPlatform,
  preset: ProviderPreset,
  agent: Agent,
  session: Session,
): Promise<{ env: Record<string, string>; baseUrl: string | null }> {
  const account = session.accountId === null ? null : await accountById(platform.store.db, session.accountId);
  if (account === null) return { env: agent.environment, baseUrl: null };
  const { env, baseUrl } = await platform.accounts.sessionUse(account, preset, agent.model);
  const settings = shellSettings(agent, account, preset);
  // A directory that the shell names outranks the one that Pawl gives to its key.
  return { env: account.kind === 'shell' ? { ...env, ...settings } : { ...settings, ...env }, baseUrl };
}

/** Names of variables that say where something is: a server, or settings that could name one. */
const leadsElsewhere = /(?:URL|CONFIG|CONFIG_DIR|HOME|DIR|PROXY)$/;

/** What the shell said, but for where to: a key that Pawl keeps goes to the server that it was added for, and no other. */
function shellSettings({ environment }: Agent, account: Account, preset: ProviderPreset): Record<string, string> {
  if (account.kind === 'shell') return environment;
  const own = [preset.account?.baseUrl, preset.account?.directory];
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !own.includes(name) && !leadsElsewhere.test(name)),
  );
}
