import type { Agent, Session } from '@pawl/schema/record';
import type { ProviderPreset } from '../port/provider.ts';

/** How a session takes up its agent's conversation, and under which id of the provider's. */
export type TakeUp = { conversation: Session['conversation']; from: string | null };

/**
 * Decides how the next session knows what was said before: by resuming the agent's own conversation, by branching off
 * its parent's, or by being told; or it begins afresh, when nothing was said or the history was cleared.
 */
export function takeUp(given: {
  agent: Agent;
  /** Those that the agent has had, oldest first. */
  sessions: readonly Session[];
  preset: ProviderPreset;
  /** Whether the provider's copy of the parent's conversation still ends where the agent was forked. */
  branchable: boolean;
  /** Whether anything was said before the run that the session is for. */
  hasPast: boolean;
}): TakeUp {
  const { agent, preset } = given;
  const own = given.sessions.findLast((session) => session.no > agent.freshAfter && session.providerSessionId !== null);
  if (own !== undefined && preset.resume !== null) return { conversation: 'resume', from: own.providerSessionId };
  const native = own === undefined && preset.forkStyle === 'native' && preset.fork !== null;
  if (native && given.branchable && agent.forkedConversation !== null)
    return { conversation: 'fork', from: agent.forkedConversation };
  return { conversation: given.hasPast ? 'replay' : 'new', from: null };
}
