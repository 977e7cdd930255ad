import assert from 'node:assert/strict';
import { eventSchema } from '@pawl/schema/event';
import type { Event, EventType } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import { hotQuery } from './engine/hot-query.ts';
import { integer, json } from './row.ts';
import type { Database, Row } from './tables.ts';

export type EventFilter = {
  /** Events with a greater `seq`; 0 starts at the first. */
  afterSeq: number;
  limit: number;
  agentId?: string;
  projectId?: string;
  types?: readonly EventType[];
};

/** Reads the log forward, oldest first. */
export async function readEvents(db: Database, filter: EventFilter): Promise<Event[]> {
  const { agentId, projectId, types } = filter;
  // Postgres has no empty list.
  if (types?.length === 0) return [];
  let query = db.selectFrom('events').selectAll().where('seq', '>', filter.afterSeq);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (types !== undefined) query = query.where('type', 'in', types);
  const page = query.orderBy('seq').limit(Math.min(filter.limit, limits.pageRows));
  if (agentId === undefined) return (await page.execute()).map(eventOf);
  const own = await page.where('agent_id', '=', agentId).execute();
  const asPeer = await page.where('peer_id', '=', agentId).execute();
  return [...own, ...asPeer.filter((row) => row.agent_id !== agentId)]
    .map(eventOf)
    .toSorted((a, b) => a.seq - b.seq)
    .slice(0, filter.limit);
}

/** The last assigned `seq`. */
export async function lastSeqOf(db: Database): Promise<number> {
  const row = await db.selectFrom('counters').select('value').where('name', '=', 'event_seq').executeTakeFirstOrThrow();
  return integer(row.value);
}

const addToSeq = hotQuery([1], (db, [count]) =>
  db
    .updateTable('counters')
    .set({ value: sql<number>`value + ${count}` })
    .where('name', '=', sql.lit('event_seq'))
    .returning('value'),
);

/**
 * Reserves `count` numbers and returns the first. The transaction locks the counter until it ends; a rollback returns
 * them.
 */
export async function reserveSeqs(db: Database, count: number): Promise<number> {
  const { rows } = await addToSeq(db, [count]);
  assert(rows[0]);
  return integer(rows[0].value) - count + 1;
}

type EventValues = [
  seq: number,
  at: number,
  type: EventType,
  projectId: string | null,
  agentId: string | null,
  peerId: string | null,
  data: string,
];

const insertEvent = hotQuery<EventValues, unknown>(
  [1, 2, 'daemon.stopped', '3', '4', '5', '{}'],
  (db, [seq, at, type, projectId, agentId, peerId, data]) =>
    db.insertInto('events').values({ seq, at, type, project_id: projectId, agent_id: agentId, peer_id: peerId, data }),
);

/** Appends numbered events. Called only at the end of a write. */
export async function insertEvents(db: Database, events: readonly Event[]): Promise<void> {
  for (const { seq, at, type, projectId, agentId, peerId, data } of events) {
    await insertEvent(db, [seq, at, type, projectId, agentId, peerId, JSON.stringify(data)]);
  }
}

function eventOf(row: Row<'events'>): Event {
  return {
    seq: integer(row.seq),
    at: integer(row.at),
    type: row.type,
    projectId: row.project_id,
    agentId: row.agent_id,
    peerId: row.peer_id,
    data: json(eventSchema.shape.data, row.data),
  };
}

/** The last events of the log, or of one agent, oldest first. */
export async function recentEvents(db: Database, filter: { limit: number; agentId?: string }): Promise<Event[]> {
  const { agentId } = filter;
  const limit = Math.min(filter.limit, limits.pageRows);
  const query = db.selectFrom('events').selectAll().orderBy('seq', 'desc').limit(limit);
  if (agentId === undefined) return (await query.execute()).map(eventOf).toReversed();
  const own = await query.where('agent_id', '=', agentId).execute();
  const asPeer = await query.where('peer_id', '=', agentId).execute();
  return [...own, ...asPeer.filter((row) => row.agent_id !== agentId)]
    .map(eventOf)
    .toSorted((a, b) => a.seq - b.seq)
    .slice(-limit);
}
