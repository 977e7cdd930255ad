import { openToolsIn } from '@pawl/core/agents/history';
import { outputParsers } from '@pawl/providers/parser';
import type { Agent, Session, Usage } from '@pawl/schema/record';
import { countSessionMessages, toolMessages } from '@pawl/store/sessions/messages';
import { lastReport, proxyOffset, sessionOffsets } from '@pawl/store/sessions/sessions';
import { homeSecrets } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import type { IntakeTarget } from '../ingest/batch.ts';

/** The initial state for ingesting a session's output. */
export async function intakeTargetOf(platform: SessionPlatform, agent: Agent, session: Session): Promise<IntakeTarget> {
  const { db } = platform.store;
  // A session of an unknown provider is watched too, without parsing its output.
  const preset = platform.providers.find(agent.provider);
  return {
    agent,
    session,
    directory: sessionDirectory(platform.home, session.id),
    parser: outputParsers[preset?.outputFormat ?? 'text'],
    reportedBefore: await reportedBefore(platform, agent, session),
    secrets: secretsOf(platform, agent),
    messages: await countSessionMessages(db, agent.id, session.id),
    openTools: await runningTools(platform, agent, session),
    offsets: await sessionOffsets(db, session.id),
    proxyOffset: await proxyOffset(db, session.id),
  };
}

/** The tools of a session that were running according to its stored output. */
async function runningTools(platform: SessionPlatform, agent: Agent, session: Session): Promise<Map<string, string>> {
  if (session.startedAt === null) return new Map();
  return openToolsIn(await toolMessages(platform.store.db, agent.id, session.id)).open;
}

/** The usage that the provider had reported for a conversation before this session. */
async function reportedBefore(platform: SessionPlatform, agent: Agent, session: Session): Promise<Usage | null> {
  const from = session.conversation === 'fork' ? agent.forkedConversation : session.providerSessionId;
  if (from === null || (session.conversation !== 'fork' && session.conversation !== 'resume')) return null;
  return lastReport(platform.store.db, from, session.id);
}

/**
 * The secrets to mask in an agent's output: those of all accounts, since a conversation that moved to another account
 * may repeat the key of the one before.
 */
export function secretsOf(platform: SessionPlatform, agent: Agent): string[] {
  return [platform.authority.agentToken(agent.id), ...homeSecrets(platform)];
}
