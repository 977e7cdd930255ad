import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { sessionSchema } from '@pawl/schema/record';
import type { Chunk, Session, Usage } from '@pawl/schema/record';
import type { Selectable } from 'kysely';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, SessionTable } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** What may change while a session is open. */
export type SessionPatch = Partial<
  Pick<
    Session,
    | 'conversation'
    | 'providerSessionId'
    | 'startedAt'
    | 'pid'
    | 'processStart'
    | 'pausedAt'
    | 'interruptedAt'
    | 'usage'
    | 'reported'
    | 'result'
    | 'limitUntil'
  >
>;

export type SessionEnd = Pick<Session, 'exitCode' | 'endReason'> &
  Partial<Pick<Session, 'usage' | 'result' | 'limitUntil'>>;

/** Adds a session and makes it the latest one of its agent. A second open session of one agent is a conflict. */
export async function insertSession(tx: WriteTransaction, session: Session): Promise<void> {
  await tx.db.insertInto('sessions').values(toColumns(session)).execute();
  await tx.db.updateTable('agents').set({ session_id: session.id }).where('id', '=', session.agentId).execute();
}

/** Changes facts of a session. */
export async function updateSession(tx: WriteTransaction, id: string, patch: SessionPatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  const { numUpdatedRows } = await tx.db
    .updateTable('sessions')
    .set(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw unknownSession(id);
}

/** Ends a session that is open. Returns false when somebody else has ended it already; then nothing changes. */
export async function endSession(tx: WriteTransaction, id: string, end: SessionEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('sessions')
    .set({ ...toColumns(end), ended_at: tx.now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The session with this id, or null. */
export async function sessionById(db: Database, id: string): Promise<Session | null> {
  const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? sessionOf(row) : null;
}

/** The latest sessions of an agent, first to last. */
export async function sessionsOf(db: Database, agentId: string): Promise<Session[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('no', 'desc')
    .limit(limits.pageRows)
    .execute();
  return rows.map(sessionOf).toReversed();
}

/** The latest sessions of an agent that printed anything, first to last: those whose conversation the provider knows. */
export async function sessionsThatSpoke(db: Database, agentId: string): Promise<Session[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('stdout_offset', '>', 0)
    .orderBy('no', 'desc')
    .limit(limits.pageRows)
    .execute();
  return rows.map(sessionOf).toReversed();
}

/** Every session that has not ended, of all agents: as many as there are processes to look after. */
export async function openSessions(db: Database): Promise<Session[]> {
  const rows = await db.selectFrom('sessions').selectAll().where('ended_at', 'is', null).execute();
  return rows.map(sessionOf);
}

/** The sessions of a project's agents that were planned since a time. */
export async function sessionsOfProject(db: Database, projectId: string, since: number): Promise<Session[]> {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .selectAll('sessions')
    .where('agents.project_id', '=', projectId)
    .where('sessions.planned_at', '>=', since)
    .execute();
  return rows.map(sessionOf);
}

/** What a provider last reported for a conversation, in whichever other session that was; null when it never did. */
export async function lastReport(db: Database, providerSessionId: string, exceptId: string): Promise<Usage | null> {
  const row = await db
    .selectFrom('sessions')
    .select('reported')
    .where('provider_session_id', '=', providerSessionId)
    .where('id', '!=', exceptId)
    .where('reported', 'is not', null)
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : nullableJson(sessionSchema.shape.reported, row.reported);
}

/** The latest session that went on with a provider's conversation, or null. */
export async function sessionOfConversation(db: Database, providerSessionId: string): Promise<Session | null> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('provider_session_id', '=', providerSessionId)
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? sessionOf(row) : null;
}

/** Another session that has not ended and goes on with a conversation, or null. */
export async function conversationHolder(
  db: Database,
  providerSessionId: string,
  exceptId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('sessions')
    .select('id')
    .where('provider_session_id', '=', providerSessionId)
    .where('ended_at', 'is', null)
    .where('id', '!=', exceptId)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** How many sessions have not ended. */
export async function countOpenSessions(db: Database): Promise<number> {
  const row = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/** How many bytes of each stream are stored: where the tail of its files goes on. */
export async function sessionOffsets(db: Database, id: string): Promise<Record<Chunk['stream'], number>> {
  const row = await db
    .selectFrom('sessions')
    .select(['stdout_offset', 'stderr_offset'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw unknownSession(id);
  return { stdout: integer(row.stdout_offset), stderr: integer(row.stderr_offset) };
}

/** The columns that make a session record. */
export const sessionColumns = [
  'id',
  'agent_id',
  'run_id',
  'no',
  'purpose',
  'conversation',
  'provider_session_id',
  'account_id',
  'planned_at',
  'started_at',
  'pid',
  'process_start',
  'paused_at',
  'interrupted_at',
  'ended_at',
  'exit_code',
  'end_reason',
  'usage',
  'reported',
  'result',
  'limit_until',
] as const satisfies (keyof SessionTable)[];

/** Reads a session record from its columns. */
export function sessionOf(row: Pick<Selectable<SessionTable>, (typeof sessionColumns)[number]>): Session {
  return {
    id: row.id,
    agentId: row.agent_id,
    runId: row.run_id,
    no: integer(row.no),
    purpose: row.purpose,
    conversation: row.conversation,
    providerSessionId: row.provider_session_id,
    accountId: row.account_id,
    plannedAt: integer(row.planned_at),
    startedAt: nullableInteger(row.started_at),
    pid: nullableInteger(row.pid),
    processStart: row.process_start,
    pausedAt: nullableInteger(row.paused_at),
    interruptedAt: nullableInteger(row.interrupted_at),
    endedAt: nullableInteger(row.ended_at),
    exitCode: nullableInteger(row.exit_code),
    endReason: row.end_reason,
    usage: json(sessionSchema.shape.usage, row.usage),
    reported: nullableJson(sessionSchema.shape.reported, row.reported),
    result: nullableJson(sessionSchema.shape.result, row.result),
    limitUntil: nullableInteger(row.limit_until),
  };
}

function unknownSession(id: string): PawlError {
  return new PawlError('not_found', `there is no session ${id}`, { hint: 'list the sessions with `pawl inspect`' });
}

/** What the sessions of some agents used, by agent. */
export async function usagesOf(db: Database, agentIds: readonly string[]): Promise<Map<string, Usage[]>> {
  if (agentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('sessions')
    .select(['agent_id', 'usage'])
    .where('agent_id', 'in', agentIds)
    .execute();
  const usages = Map.groupBy(rows, (row) => row.agent_id);
  return new Map(
    [...usages].map(([id, sessions]) => [id, sessions.map((row) => json(sessionSchema.shape.usage, row.usage))]),
  );
}
