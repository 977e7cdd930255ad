import type { Approval } from '@pawl/schema/approval/approval';
import { connectionTool } from '@pawl/schema/approval/approval-kind';
import { limits } from '@pawl/schema/limit';
import { isIdPrefix } from '../id-prefix.ts';
import { integer, nullableInteger, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Adds a request. Returns false if its session has asked with this id before. */
export async function insertApproval(tx: WriteTransaction, approval: Approval): Promise<boolean> {
  const { sessionId, nativeId } = approval;
  if (sessionId !== null && (await approvalOfCli(tx.db, sessionId, nativeId)) !== null) return false;
  await tx.db.insertInto('approvals').values(toColumns(approval)).execute();
  return true;
}

export async function approvalById(db: Database, id: string): Promise<Approval | null> {
  const row = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? approvalOf(row) : null;
}

/** The request that a session made with this id of its own. */
export async function approvalOfCli(db: Database, sessionId: string, nativeId: string): Promise<Approval | null> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('native_id', '=', nativeId)
    .executeTakeFirst();
  return row ? approvalOf(row) : null;
}

/** The newest request that an agent made with this id, in any session. */
export async function lastApprovalOfAgent(db: Database, agentId: string, nativeId: string): Promise<Approval | null> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('native_id', '=', nativeId)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? approvalOf(row) : null;
}

/** Requests by id or id prefix. The caller refuses more than one match. */
export async function findApprovals(db: Database, reference: string): Promise<Approval[]> {
  const exact = await approvalById(db, reference);
  if (exact !== null) return [exact];
  if (!isIdPrefix(reference)) return [];
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(approvalOf);
}

/** A page of open requests, in the order asked: of all agents or of one, after the given one. */
export async function openApprovals(
  db: Database,
  { agentId, after = null }: { agentId?: string; after?: Approval | null } = {},
): Promise<Approval[]> {
  let query = db.selectFrom('approvals').selectAll().where('closed_at', 'is', null);
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (after !== null) {
    const before = db.selectFrom('approvals as known').select('known.ordinal').where('known.id', '=', after.id);
    query = query.where('ordinal', '>', before);
  }
  const rows = await query.orderBy('ordinal').limit(limits.pageRows).execute();
  return rows.map(approvalOf);
}

/** Agents that wait for a person, with the tool and title of their first request. */
export async function waitingApprovals(db: Database): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('approvals')
    .select(['agent_id', 'tool', 'title'])
    .where('closed_at', 'is', null)
    .where('referred_at', 'is not', null)
    // A refused connection waits for no answer.
    .where('tool', '!=', connectionTool)
    .orderBy('ordinal', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.agent_id, `${row.tool}: ${row.title}`]));
}

export async function countOpenApprovals(db: Database, sessionId: string): Promise<number> {
  const row = await db
    .selectFrom('approvals')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('session_id', '=', sessionId)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/** The sessions that may not know a decision. */
export async function sessionsWithUnsent(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('approvals')
    .select('session_id')
    .distinct()
    .where('session_id', 'is not', null)
    .where('closed_at', 'is not', null)
    .where('sent_at', 'is', null)
    .execute();
  return rows.flatMap((row) => row.session_id ?? []);
}

/** A session's decisions that it may not know, in the order asked. */
export async function unsentApprovals(db: Database, sessionId: string): Promise<Approval[]> {
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('closed_at', 'is not', null)
    .where('sent_at', 'is', null)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(approvalOf);
}

/** Leaves an open request to a person. */
export async function referApproval(tx: WriteTransaction, id: string, deadlineAt: number | null): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('approvals')
    .set({ referred_at: tx.now, deadline_at: deadlineAt })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .where('referred_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Leaves an overdue request open for good. */
export async function delayApproval(tx: WriteTransaction, id: string): Promise<void> {
  await tx.db.updateTable('approvals').set({ deadline_at: null }).where('id', '=', id).execute();
}

/** The next deadline of an open request; null if there is none. */
export async function nextApprovalDeadline(db: Database): Promise<number | null> {
  const row = await db
    .selectFrom('approvals')
    .select(({ fn }) => fn.min('deadline_at').as('due'))
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return nullableInteger(row?.due ?? null);
}

/** Closes an open request, once. Returns false and changes nothing if it is closed already. */
export async function closeApproval(
  tx: WriteTransaction,
  id: string,
  { end, closedBy, decision, reason }: Pick<Approval, 'end' | 'closedBy' | 'decision' | 'reason'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('approvals')
    .set({ end, closed_by: closedBy, decision, reason, closed_at: tx.now })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Records that there is nothing more to send to the sessions of these requests. */
export async function markApprovalsSent(tx: WriteTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable('approvals')
    .set({ sent_at: tx.now })
    .where('id', 'in', [...ids])
    .where('sent_at', 'is', null)
    .execute();
}

function approvalOf(row: Row<'approvals'>): Approval {
  return {
    id: row.id,
    projectId: row.project_id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    provider: row.provider,
    nativeId: row.native_id,
    kind: row.kind,
    tool: row.tool,
    title: row.title,
    detail: row.detail,
    cwd: row.cwd,
    owner: row.owner,
    askedAt: integer(row.asked_at),
    referredAt: nullableInteger(row.referred_at),
    deadlineAt: nullableInteger(row.deadline_at),
    closedAt: nullableInteger(row.closed_at),
    end: row.end,
    closedBy: row.closed_by,
    decision: row.decision,
    reason: row.reason,
    sentAt: nullableInteger(row.sent_at),
  };
}
