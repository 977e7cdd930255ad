import type { EventType } from '@pawl/schema/event';
import type { Agent } from '@pawl/schema/record';

/** Events that change the fleet or the plan, of any agent. */
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

/**
 * Events that count only for ephemeral agents. If they counted for nudged persistent ones, those would keep each other
 * awake.
 */
const workEvents = ['run.ended', 'agent.waiting', 'agent.exhausted'] as const satisfies EventType[];

/** Event types that may be news: those to read from the log. */
export const newsEvents: readonly EventType[] = [...fleetEvents, ...workEvents, 'mail.sent'];

/** An event of the log, with facts about its agent. */
export type NewsEvent = {
  type: EventType;
  agentId: string | null;
  data: Record<string, unknown>;
  /** The class of its agent; null if it has none. */
  class: Agent['class'] | null;
};

/**
 * Whether an event is news to an idle agent. Its own actions are not, nor is mail that wakes it without a nudge. Mail
 * is news only while it waits, which the caller must look up (`mailIn`).
 */
export function isNews(event: NewsEvent, reader: { id: string; wakesByMail: boolean }): boolean {
  if (event.type === 'mail.sent') {
    const { kind } = event.data;
    return (
      event.agentId === reader.id && kind !== 'nudge' && kind !== 'alert' && (kind === 'system' || !reader.wakesByMail)
    );
  }
  if (event.agentId === reader.id) return false;
  // A persistent agent brings no work, so a starting crew is not news to itself.
  if (event.type === 'agent.forked') return event.data['parentId'] !== reader.id && event.class === 'ephemeral';
  if (event.type === 'agent.killed') return event.data['killedBy'] !== reader.id;
  const isWork = (workEvents as readonly EventType[]).includes(event.type);
  return newsEvents.includes(event.type) && (!isWork || event.class === 'ephemeral');
}

/** The id of the mail in an event, or null. */
export function mailIn({ type, data }: NewsEvent): string | null {
  return type === 'mail.sent' && typeof data['mailId'] === 'string' ? data['mailId'] : null;
}
