import type { Event } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';

/** The agents that an event ended. A kill of many agents is one event. */
export function endedAgents({ type, data }: Event): string[] {
  return type === 'agent.killed' || type === 'agent.ended' ? eventData[type].parse(data).agents : [];
}
