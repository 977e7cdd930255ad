import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { readEvents } from '@pawl/store/events';
import type { Store } from '@pawl/store/store';
import type { Wakeable } from './wakeable.ts';
import { createWakeable } from './wakeable.ts';

/** The event log for readers that follow it at their own pace. */
export type EventFeed = {
  lastSeq(): number;
  /** The next events after `seq`, without waiting; empty if there are none. */
  read(seq: number): Promise<Event[]>;
  /** Waits for events after `seq`; returns an empty list after a timeout. */
  next(seq: number, filter: { agentId?: string }, signal: AbortSignal): Promise<{ events: Event[]; seq: number }>;
};

const batchEvents = 500;

/** Follows the store. Keeps the newest events in memory, so that live readers need no queries. */
export function followEvents(store: Store): EventFeed {
  const wakes: Wakeable = createWakeable();
  let recent: Event[] = [];
  store.onCommit(({ events }) => {
    if (events.length === 0) return;
    recent = [...recent, ...events].slice(-limits.recentEvents);
    wakes.wake();
  });

  async function read(seq: number): Promise<Event[]> {
    const first = recent[0]?.seq;
    if (first === undefined || seq + 1 < first) return readEvents(store.db, { afterSeq: seq, limit: batchEvents });
    // The log has no gaps, so the index follows from `seq`.
    return recent.slice(seq + 1 - first, seq + 1 - first + batchEvents);
  }

  return {
    lastSeq: () => store.lastSeq(),
    read,
    async next(seq, filter, signal) {
      const deadline = performance.now() + limits.heartbeatMs;
      for (;;) {
        const version = wakes.version();
        const events = await read(seq);
        const last = events.at(-1)?.seq;
        const wanted =
          filter.agentId === undefined
            ? events
            : events.filter(({ agentId, peerId }) => agentId === filter.agentId || peerId === filter.agentId);
        if (last !== undefined && wanted.length > 0) return { events: wanted, seq: last };
        if (last !== undefined) seq = last;
        else await wakes.wait(version, Math.max(0, deadline - performance.now()), signal);
        // Return now and then as a heartbeat, even while other agents produce events.
        if (performance.now() >= deadline) return { events: [], seq };
      }
    },
  };
}
