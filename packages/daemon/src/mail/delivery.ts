import { messageOf } from '@pawl/schema/error';
import type { Event, EventType } from '@pawl/schema/event';
import { recipientsWaiting } from '@pawl/store/mail/mail';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DeliveryContext } from './deliver.ts';
import { deliver } from './deliver.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Waiters } from './waiters.ts';

/** Delivers mail, whatever its source. */
export type Delivery = {
  /** Hints that mail for this agent may be deliverable. May be lost, doubled or early. */
  wake(agentId: string): void;
  /** Delivers to all agents with waiting mail. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** Events that may make mail deliverable: it was sent, or its recipient started, resumed, came to rest or died. */
const triggers: readonly EventType[] = [
  'mail.sent',
  'mail.returned',
  'session.started',
  'session.adopted',
  'session.continued',
  'session.ended',
  'run.ended',
  'agent.left',
];

/** Starts the delivery of one daemon. Leaves mail to agents that are waiting for it in a command. */
export function startDelivery(platform: DefinitionPlatform, reconciler: LiveSessions, waiters: Waiters): Delivery {
  const { store, log } = platform;
  const context: DeliveryContext = { platform, reconciler, waiters, full: new Set(), recovered: new Map(), wake };
  /** Agents with a scheduled delivery that has not started; one is enough. */
  const scheduled = new Set<string>();
  const running = new Set<Promise<void>>();
  let closed = false;

  const unfollow = store.onCommit(({ events }) => {
    for (const event of events) for (const agentId of concernedBy(event, context.full)) wake(agentId);
  });

  function wake(agentId: string): void {
    if (closed || scheduled.has(agentId)) return;
    scheduled.add(agentId);
    const delivery = deliverTo(agentId);
    running.add(delivery);
    void delivery.finally(() => running.delete(delivery));
  }

  async function deliverTo(agentId: string): Promise<void> {
    try {
      // In the agent's lane: one delivery at a time, and never in the middle of a step.
      await reconciler.inLane(agentId, async () => {
        scheduled.delete(agentId);
        if (!closed) await deliver(context, agentId);
      });
    } catch (error) {
      scheduled.delete(agentId);
      log.error({ agent: agentId, error: messageOf(error) }, 'failed to deliver mail; will retry');
    }
  }

  const sweep = async () => {
    for (const agentId of await recipientsWaiting(store.db)) wake(agentId);
  };
  const timer = setInterval(
    () => void sweep().catch((error: unknown) => log.error({ error: messageOf(error) }, 'mail sweep failed')),
    platform.timing.routeMs,
  );
  timer.unref();

  return {
    wake,
    sweep,
    async close() {
      closed = true;
      clearInterval(timer);
      unfollow();
      await Promise.all(running);
    },
  };
}

/** The agents whose mail may be deliverable after an event. */
function concernedBy(event: Event, full: ReadonlySet<string>): string[] {
  if ((event.type === 'agent.killed' || event.type === 'agent.ended') && Array.isArray(event.data['agents']))
    return event.data['agents'].filter((id) => typeof id === 'string');
  if (event.agentId === null) return [];
  // A full process gets more once it has shown some of it, not because more was sent.
  if (event.type === 'mail.delivered' || event.type === 'mail.dead_lettered')
    return full.has(event.agentId) ? [event.agentId] : [];
  if (event.type === 'mail.sent' && full.has(event.agentId)) return [];
  return triggers.includes(event.type) ? [event.agentId] : [];
}
