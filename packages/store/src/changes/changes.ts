import { changeCommentSchema, changeSchema } from '@pawl/schema/change';
import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of a change that may change after it was opened. */
export type ChangePatch = Partial<Omit<Change, 'id' | 'projectId' | 'openedAt'>>;

/** Adds a change. A second open change of a branch is a conflict. */
export async function insertChange(tx: WriteTransaction, change: Change): Promise<void> {
  await tx.db.insertInto('changes').values(toColumns(change)).execute();
}

export async function updateChange(tx: WriteTransaction, id: string, patch: ChangePatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  const { numUpdatedRows } = await tx.db
    .updateTable('changes')
    .set(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 1n) return;
  throw new PawlError('not_found', `There is no change ${id}.`, {
    hint: 'List the changes with `pawl change ls --all`.',
  });
}

export async function changeById(db: Database, id: string): Promise<Change | null> {
  const row = await db.selectFrom('changes').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? changeOf(row) : null;
}

/** The changes of a project that are neither merged nor closed, in the order opened. */
export async function openChanges(db: Database, projectId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('merged_at', 'is', null)
    .where('closed_at', 'is', null)
    .orderBy('ordinal')
    .limit(limits.openChanges)
    .execute();
  return rows.map(changeOf);
}

export async function openChangeOf(db: Database, projectId: string, branch: string): Promise<Change | null> {
  const row = await db
    .selectFrom('changes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('branch', '=', branch)
    .where('merged_at', 'is', null)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return row ? changeOf(row) : null;
}

/** The changes of an agent, newest first. */
export async function changesByAgent(db: Database, agentId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('ordinal', 'desc')
    .limit(limits.pageRows)
    .execute();
  return rows.map(changeOf);
}

/** The changes that an agent opened or continues, newest first. */
export async function changesMadeBy(db: Database, agentId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where((where) => where.or([where('agent_id', '=', agentId), where('author_id', '=', agentId)]))
    .orderBy('ordinal', 'desc')
    .limit(limits.pageRows)
    .execute();
  return rows.map(changeOf);
}

/** Every change that an agent opened, works on, stands in for, or reviews; newest first. */
export async function changesAbout(db: Database, agentId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where((where) =>
      where.or([
        where('agent_id', '=', agentId),
        where('author_id', '=', agentId),
        where('stand_in_id', '=', agentId),
        where('reviewer_id', '=', agentId),
      ]),
    )
    .orderBy('ordinal', 'desc')
    .execute();
  return rows.map(changeOf);
}

/** The latest change of each agent: the one it opened last, or an open one that it stands in for. */
export async function latestChanges(db: Database, agentIds: readonly string[]): Promise<Map<string, Change>> {
  const found = new Map<string, Change>();
  for (let from = 0; from < agentIds.length; from += agentsPerStatement) {
    const some = agentIds.slice(from, from + agentsPerStatement);
    const own = await db
      .selectFrom('changes')
      .selectAll()
      .where('ordinal', 'in', (latest) =>
        latest
          .selectFrom('changes as own')
          .select(({ fn }) => fn.max('own.ordinal').as('ordinal'))
          .where('own.agent_id', 'in', some)
          .groupBy('own.agent_id'),
      )
      .execute();
    for (const row of own) if (row.agent_id !== null) found.set(row.agent_id, changeOf(row));
    const stoodIn = await db
      .selectFrom('changes')
      .selectAll()
      .where('merged_at', 'is', null)
      .where('closed_at', 'is', null)
      .where('stand_in_id', 'in', some)
      .execute();
    for (const row of stoodIn) if (row.stand_in_id !== null) found.set(row.stand_in_id, changeOf(row));
  }
  return found;
}

/** Agents per statement; databases limit the number of parameters. */
const agentsPerStatement = 500;

/** The changes of a planned task, oldest first. */
export async function changesOfTask(db: Database, taskId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('task_id', '=', taskId)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(changeOf);
}

/** Changes, newest first; of one project, or of all. */
export async function listChanges(
  db: Database,
  filter: { projectId?: string; open?: boolean; limit: number },
): Promise<Change[]> {
  let query = db.selectFrom('changes').selectAll().orderBy('ordinal', 'desc').limit(filter.limit);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.open === true) query = query.where('merged_at', 'is', null).where('closed_at', 'is', null);
  return (await query.execute()).map(changeOf);
}

/** Changes with this id prefix or branch; at most a few. */
export async function findChanges(db: Database, reference: string, projectId?: string): Promise<Change[]> {
  let query = db
    .selectFrom('changes')
    .selectAll()
    .where((where) =>
      where.or([
        where.and([where('id', '>=', reference), where('id', '<', `${reference}~`)]),
        where('branch', '=', reference),
      ]),
    )
    .orderBy('ordinal', 'desc')
    .limit(10);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  return (await query.execute()).map(changeOf);
}

/** The changes merged last, from which others may have branched: their heads, and their commits on main. */
export async function mergedHeads(
  db: Database,
  projectId: string,
  limit: number,
): Promise<{ head: string; commit: string }[]> {
  const rows = await db
    .selectFrom('changes')
    .select(['head', 'merged_commit'])
    .where('project_id', '=', projectId)
    .where('merged_at', 'is not', null)
    .orderBy('merged_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ head, merged_commit: commit }) => ({ head, commit: commit ?? head }));
}

export async function insertComment(tx: WriteTransaction, comment: ChangeComment): Promise<void> {
  await tx.db.insertInto('change_comments').values(toColumns(comment)).execute();
}

/** Records how a comment was addressed. */
export async function addressComment(tx: WriteTransaction, id: string, addressed: string): Promise<void> {
  await tx.db
    .updateTable('change_comments')
    .set({ addressed, addressed_at: tx.now })
    .where('id', '=', id)
    .where('addressed_at', 'is', null)
    .execute();
}

/** The comments on a change, oldest first. */
export async function commentsOf(db: Database, changeId: string): Promise<ChangeComment[]> {
  const rows = await db
    .selectFrom('change_comments')
    .selectAll()
    .where('change_id', '=', changeId)
    .orderBy('ordinal')
    .limit(limits.changeComments)
    .execute();
  return rows.map((row) =>
    changeCommentSchema.parse({
      id: row.id,
      changeId: row.change_id,
      agentId: row.agent_id,
      kind: row.kind,
      body: row.body,
      head: row.head,
      at: integer(row.at),
      addressedAt: nullableInteger(row.addressed_at),
      addressed: row.addressed,
    }),
  );
}

const { hold, findings, ejection } = changeSchema.shape;

function changeOf(row: Row<'changes'>): Change {
  return {
    id: row.id,
    projectId: row.project_id,
    agentId: row.agent_id,
    taskId: row.task_id,
    branch: row.branch,
    head: row.head,
    base: row.base,
    title: row.title,
    summary: row.summary,
    openedAt: integer(row.opened_at),
    queuedAt: nullableInteger(row.queued_at),
    retriedAt: nullableInteger(row.retried_at),
    isolatedAt: nullableInteger(row.isolated_at),
    hold: nullableJson(hold.unwrap(), row.hold),
    findings: json(findings, row.findings),
    approvedHead: row.approved_head,
    ejection: nullableJson(ejection.unwrap(), row.ejection),
    examinedHead: row.examined_head,
    reviewedHead: row.reviewed_head,
    reviewerId: row.reviewer_id,
    reviews: integer(row.reviews),
    standInId: row.stand_in_id,
    authorId: row.author_id,
    returns: integer(row.returns),
    forgeRef: row.forge_ref,
    askedHead: row.asked_head,
    passedHead: row.passed_head,
    mergedAt: nullableInteger(row.merged_at),
    mergedCommit: row.merged_commit,
    closedAt: nullableInteger(row.closed_at),
    closeReason: row.close_reason,
  };
}
