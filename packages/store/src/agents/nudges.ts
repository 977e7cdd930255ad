import { eventSchema } from '@pawl/schema/event';
import type { EventType } from '@pawl/schema/event';
import type { NudgeState } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { integer, json, nullableInteger, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** The nudge state of each living agent. */
export async function nudgeStates(db: Database): Promise<Map<string, NudgeState>> {
  const rows = await db
    .selectFrom('agents')
    .innerJoin('nudges', 'nudges.agent_id', 'agents.id')
    .selectAll('nudges')
    .where('agents.ended_at', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.agent_id, stateOf(row)]));
}

export async function saveNudge(tx: WriteTransaction, state: NudgeState): Promise<void> {
  const { agent_id: _agent, ...columns } = toColumns(state);
  await tx.db
    .insertInto('nudges')
    .values(toColumns(state))
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(columns))
    .execute();
}

/** An event with the class of its agent. */
export type ClassedEvent = {
  seq: number;
  type: EventType;
  agentId: string | null;
  data: Record<string, unknown>;
  class: Agent['class'] | null;
};

/** Events of some types in a project after a `seq`, oldest first, each with the class of its agent. */
export async function projectEvents(
  db: Database,
  filter: { projectId: string; afterSeq: number; types: readonly EventType[]; limit: number },
): Promise<ClassedEvent[]> {
  const rows = await db
    .selectFrom('events')
    .leftJoin('agents', 'agents.id', 'events.agent_id')
    .select(['events.seq', 'events.type', 'events.agent_id', 'events.data', 'agents.class'])
    .where('events.project_id', '=', filter.projectId)
    .where('events.seq', '>', filter.afterSeq)
    .where('events.type', 'in', filter.types)
    .orderBy('events.seq')
    .limit(filter.limit)
    .execute();
  return rows.map((row) => ({
    seq: integer(row.seq),
    type: row.type,
    agentId: row.agent_id,
    data: json(eventSchema.shape.data, row.data),
    class: row.class,
  }));
}

/** The `seq` of the event that started an agent's latest run; 0 if it had none. */
export async function lastRunSeq(db: Database, agentId: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('seq')
    .where('agent_id', '=', agentId)
    .where('type', '=', 'run.started')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? 0 : integer(row.seq);
}

function stateOf(row: Row<'nudges'>): NudgeState {
  return {
    agentId: row.agent_id,
    nudgedAt: nullableInteger(row.nudged_at),
    mailId: row.mail_id,
    backoffMs: integer(row.backoff_ms),
    seenSeq: integer(row.seen_seq),
    skipReason: row.skip_reason,
  };
}
