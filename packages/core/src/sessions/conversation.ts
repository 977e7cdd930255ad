import type { Agent, Message, Session } from '@pawl/schema/record';
import type { ProviderPreset } from '../port/provider.ts';

/** How a session continues its agent's conversation, and from which provider id. */
export type TakeUp = { conversation: Session['conversation']; from: string | null };

export type Past = 'own' | 'inherited' | 'none';

/** Whose messages a conversation has. */
export function pastOfAgent(agentId: string, conversation: readonly Message[]): Past {
  if (conversation.length === 0) return 'none';
  return conversation.some((message) => message.agentId === agentId) ? 'own' : 'inherited';
}

/**
 * Decides how the next session learns what was said before: by resuming the agent's own conversation, by forking its
 * parent's, or from a transcript; or it starts fresh, if nothing was said or the history was cleared.
 */
export function takeUp(given: {
  agent: Agent;
  /** The agent's sessions, oldest first. */
  sessions: readonly Session[];
  preset: ProviderPreset;
  /** Whether the provider's copy of the parent's conversation still ends at the fork point. */
  branchable: boolean;
  /** The authors of the history before this run: the agent, or only its ancestors. */
  past: Past;
}): TakeUp {
  const { agent, preset } = given;
  if (preset.handOver !== undefined) {
    const how = { own: 'resume', inherited: 'fork', none: 'new' } as const;
    return { conversation: how[given.past], from: null };
  }
  const own = given.sessions.findLast((session) => session.no > agent.freshAfter && session.providerSessionId !== null);
  if (own !== undefined && preset.resume !== null) return { conversation: 'resume', from: own.providerSessionId };
  const native = own === undefined && preset.forkStyle === 'native' && preset.fork !== null;
  if (native && given.branchable && agent.forkedConversation !== null)
    return { conversation: 'fork', from: agent.forkedConversation };
  return { conversation: given.past !== 'none' ? 'replay' : 'new', from: null };
}
