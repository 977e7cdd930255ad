import type { Event } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';

/** Who has died by an event: one kill is one event, however many died of it, and so is one end. */
export function diedOf({ type, data }: Event): string[] {
  return type === 'agent.killed' || type === 'agent.ended' ? eventData[type].parse(data).agents : [];
}
