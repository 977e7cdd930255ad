import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { sessionSchema } from '@pawl/schema/record';
import type { Chunk, Session, Usage } from '@pawl/schema/record';
import type { Selectable } from 'kysely';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, SessionTable } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields that may change while a session is open. */
export type SessionPatch = Partial<
  Pick<
    Session,
    | 'conversation'
    | 'providerSessionId'
    | 'startedAt'
    | 'pid'
    | 'processStart'
    | 'sandbox'
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

/** Adds a session and makes it the latest of its agent. A second open session of an agent is a conflict. */
export async function insertSession(tx: WriteTransaction, session: Session): Promise<void> {
  await tx.db.insertInto('sessions').values(toColumns(session)).execute();
  await tx.db.updateTable('agents').set({ session_id: session.id }).where('id', '=', session.agentId).execute();
}

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

/** Ends an open session. Returns false and changes nothing if it has ended already. */
export async function endSession(tx: WriteTransaction, id: string, end: SessionEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('sessions')
    .set({ ...toColumns(end), ended_at: tx.now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function sessionById(db: Database, id: string): Promise<Session | null> {
  const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? sessionOf(row) : null;
}

/** The latest sessions of an agent, oldest first. */
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

/** The latest sessions of an agent with output, oldest first: those whose conversation the provider has. */
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

/** All open sessions: as many as there are processes to watch. */
export async function openSessions(db: Database): Promise<Session[]> {
  const rows = await db.selectFrom('sessions').selectAll().where('ended_at', 'is', null).execute();
  return rows.map(sessionOf);
}

/** The sessions of a project's agents planned since a time. */
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

/** The provider's last usage report for a conversation, from another session; null if there is none. */
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

/** The latest session of a provider's conversation, or null. */
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

/** Another open session of a conversation, or null. */
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

export async function countOpenSessions(db: Database): Promise<number> {
  const row = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/** The stored bytes of each stream, where tailing its files continues. */
export async function sessionOffsets(db: Database, id: string): Promise<Record<Chunk['stream'], number>> {
  const row = await db
    .selectFrom('sessions')
    .select(['stdout_offset', 'stderr_offset'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw unknownSession(id);
  return { stdout: integer(row.stdout_offset), stderr: integer(row.stderr_offset) };
}

/** How far a session's proxy record has been read, in bytes. */
export async function proxyOffset(db: Database, id: string): Promise<number> {
  const row = await db.selectFrom('sessions').select('proxy_offset').where('id', '=', id).executeTakeFirst();
  if (!row) throw unknownSession(id);
  return integer(row.proxy_offset);
}

/** Records how far a session's proxy record has been read. It only moves forward. */
export async function moveProxyOffset(tx: WriteTransaction, id: string, offset: number): Promise<void> {
  await tx.db
    .updateTable('sessions')
    .set({ proxy_offset: offset })
    .where('id', '=', id)
    .where('proxy_offset', '<', offset)
    .execute();
}

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
  'sandbox',
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
    sandbox: row.sandbox,
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
  return new PawlError('not_found', `There is no session ${id}.`, { hint: 'List the sessions with `pawl inspect`.' });
}

/** The usage of some agents' sessions, by agent. */
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
