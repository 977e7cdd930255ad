import assert from 'node:assert/strict';
import { eventData } from '@pawl/schema/event';
import type { Event, NewEvent } from '@pawl/schema/event';
import type { Chunk } from '@pawl/schema/record';
import { insertEvents, reserveSeqs } from './events.ts';
import { storeLimits } from './store-limit.ts';
import type { Database } from './tables.ts';

/** The operations inside a transaction. */
export type WriteTransaction = {
  readonly db: Database;
  /** The time of this transaction, shared by all its rows and events. */
  readonly now: number;
  /** Adds an event to the log in this transaction: the only way to emit. Validated at once, numbered at the end. */
  emit(event: NewEvent): void;
  /** Announces a chunk to listeners after the commit; called by `appendChunk`. */
  announce(chunk: Chunk): void;
};

export type Outcome<Result> = { result: Result; committed: { events: Event[]; chunks: Chunk[] } };

/** Runs `work`, numbers and inserts its events, and commits; or rolls everything back. */
export async function runTransaction<Result>(
  writer: Database,
  now: number,
  work: (tx: WriteTransaction) => Promise<Result>,
): Promise<Outcome<Result>> {
  return writer.transaction().execute(async (db) => {
    const pending: Omit<Event, 'seq'>[] = [];
    const chunks: Chunk[] = [];
    let open = true;
    const result = await work({
      db,
      now,
      emit(event) {
        assert(open, 'an event was emitted after its transaction had ended');
        assert(pending.length < storeLimits.eventsPerWrite, 'a transaction has too many events');
        pending.push(checkedEvent(event, now));
      },
      announce(chunk) {
        assert(open, 'a chunk was announced after its transaction had ended');
        chunks.push(chunk);
      },
    });
    open = false;
    const events = await numbered(db, pending);
    return { result, committed: { events, chunks } };
  });
}

/** Locks the counter row until the commit, so that `seq` follows the order of commits. */
async function numbered(db: Database, pending: Omit<Event, 'seq'>[]): Promise<Event[]> {
  if (pending.length === 0) return [];
  const first = await reserveSeqs(db, pending.length);
  const events = pending.map((event, index) => ({ seq: first + index, ...event }));
  await insertEvents(db, events);
  return events;
}

function checkedEvent(event: NewEvent, now: number): Omit<Event, 'seq'> {
  return {
    at: now,
    type: event.type,
    projectId: event.projectId ?? null,
    agentId: event.agentId ?? null,
    peerId: event.peerId ?? null,
    data: eventData[event.type].parse(event.data),
  };
}
