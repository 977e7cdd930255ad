import type { EventType } from '@pawl/schema/event';
import type { Agent } from '@pawl/schema/record';

/** What changes the fleet or the plan, whoever it is about. */
const fleetEvents = [
  'agent.forked',
  'agent.killed',
  'agent.completed',
  'agent.stuck',
  'agent.adopted',
  'budget.exceeded',
  'worktree.retained',
  'errand.merged',
  'task.added',
  'task.completed',
  'task.requeued',
  'task.blocked',
] as const satisfies EventType[];

/** What is news of somebody who was given work. Of a caretaker that was nudged it is none, or they would keep each other awake. */
const workEvents = ['run.ended', 'agent.waiting', 'agent.exhausted'] as const satisfies EventType[];

/** The types of events that may be news: what has to be read of the log. */
export const newsEvents: readonly EventType[] = [...fleetEvents, ...workEvents, 'mail.sent'];

/** An event of the log, with what is known of whom it is about. */
export type NewsEvent = {
  type: EventType;
  agentId: string | null;
  data: Record<string, unknown>;
  /** The class of the agent it is about; null when it is about none. */
  class: Agent['class'] | null;
};

/**
 * Whether an event is news to an agent that rests. What it did itself is none, and nor is mail that wakes it without a nudge. A
 * mail is news only as long as it waits; that is for the caller to look up (`mailIn`).
 */
export function isNews(event: NewsEvent, reader: { id: string; wakesByMail: boolean }): boolean {
  if (event.type === 'mail.sent') {
    const { kind } = event.data;
    return (
      event.agentId === reader.id && kind !== 'nudge' && kind !== 'alert' && (kind === 'system' || !reader.wakesByMail)
    );
  }
  if (event.agentId === reader.id) return false;
  // Who stays brings no work: a crew that begins is no news to itself.
  if (event.type === 'agent.forked') return event.data['parentId'] !== reader.id && event.class === 'ephemeral';
  if (event.type === 'agent.killed') return event.data['killedBy'] !== reader.id;
  const isWork = (workEvents as readonly EventType[]).includes(event.type);
  return newsEvents.includes(event.type) && (!isWork || event.class === 'ephemeral');
}

/** The mail that an event tells of, or null. */
export function mailIn({ type, data }: NewsEvent): string | null {
  return type === 'mail.sent' && typeof data['mailId'] === 'string' ? data['mailId'] : null;
}
