import { messageOf } from '@pawl/schema/error';
import type { Event, EventType } from '@pawl/schema/event';
import { recipientsWaiting } from '@pawl/store/mail/mail';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DeliveryContext } from './deliver.ts';
import { deliver } from './deliver.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Waiters } from './waiters.ts';

/** Hands mail over, whoever wrote it down. */
export type Delivery = {
  /** There may be mail for this agent that can be handed over now. Advice: it may be lost, doubled or early. */
  wake(agentId: string): void;
  /** Looks after everybody for whom mail waits. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** What may have made it possible to hand mail over: it was sent, or its recipient has begun, gone on, come to rest or died. */
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

/** Begins to hand mail over, for one daemon. Mail of those who wait for it by a command is left to that. */
export function startDelivery(platform: DefinitionPlatform, reconciler: LiveSessions, waiters: Waiters): Delivery {
  const { store, log } = platform;
  const context: DeliveryContext = { platform, reconciler, waiters, full: new Set(), recovered: new Map(), wake };
  /** Agents whose look has been asked for and has not begun: one of it is enough. */
  const asked = new Set<string>();
  const looks = new Set<Promise<void>>();
  let closed = false;

  const unfollow = store.onCommit(({ events }) => {
    for (const event of events) for (const agentId of concernedBy(event, context.full)) wake(agentId);
  });

  function wake(agentId: string): void {
    if (closed || asked.has(agentId)) return;
    asked.add(agentId);
    const look = lookAfter(agentId);
    looks.add(look);
    void look.finally(() => looks.delete(look));
  }

  async function lookAfter(agentId: string): Promise<void> {
    try {
      // In the agent's own lane: so its mail is handed over by one at a time, and never in the middle of a step.
      await reconciler.inLane(agentId, async () => {
        asked.delete(agentId);
        if (!closed) await deliver(context, agentId);
      });
    } catch (error) {
      asked.delete(agentId);
      log.error({ agent: agentId, error: messageOf(error) }, 'mail could not be handed over; tried again later');
    }
  }

  const sweep = async () => {
    for (const agentId of await recipientsWaiting(store.db)) wake(agentId);
  };
  const timer = setInterval(
    () => void sweep().catch((error: unknown) => log.error({ error: messageOf(error) }, 'mail: the sweep failed')),
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
      await Promise.all(looks);
    },
  };
}

/** Whose mail may go on after an event. */
function concernedBy(event: Event, full: ReadonlySet<string>): string[] {
  if ((event.type === 'agent.killed' || event.type === 'agent.ended') && Array.isArray(event.data['agents']))
    return event.data['agents'].filter((id) => typeof id === 'string');
  if (event.agentId === null) return [];
  // Who has its hands full gets more when it has shown some of it, and not because there is more.
  if (event.type === 'mail.delivered' || event.type === 'mail.dead_lettered')
    return full.has(event.agentId) ? [event.agentId] : [];
  if (event.type === 'mail.sent' && full.has(event.agentId)) return [];
  return triggers.includes(event.type) ? [event.agentId] : [];
}
