import type { Event, EventType } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';

/** Events after which their agent may have a next step. */
const aboutOne: ReadonlySet<EventType> = new Set<EventType>([
  'agent.forked',
  'agent.completed',
  'agent.stopping',
  'run.started',
  'run.ended',
]);

/** The agents that may have a next step after an event. Kills are separate: processes end first, worktrees follow. */
export function agentsToWake({ type, agentId, data }: Event): readonly string[] {
  if (type === 'agent.ended' || type === 'fleet.stopping') return eventData[type].parse(data).agents;
  return agentId !== null && aboutOne.has(type) ? [agentId] : [];
}

/**
 * The agents whose sessions end after an event; null for any other event. The killer comes last, so that it receives
 * the response.
 */
export function agentsToEnd({ type, data }: Event): { first: string[]; last: string[] } | null {
  if (type !== 'agent.killed') return null;
  const { agents, killedBy } = eventData[type].parse(data);
  return { first: agents.filter((id) => id !== killedBy), last: agents.filter((id) => id === killedBy) };
}

/** The provider with a newly usable account after an event, for runs that wait for one. */
export function providerToRetry({ type, data }: Event): string | null {
  if (type === 'account.added') {
    const { kind, provider } = eventData[type].parse(data);
    // A shell account serves only the agents of that shell.
    return kind === 'shell' ? null : provider;
  }
  return type === 'account.removed' || type === 'account.selected' ? eventData[type].parse(data).provider : null;
}
