import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Initiative, PlanVersion } from '@pawl/schema/plan/plan';
import { initiativeSchema, planVersionSchema } from '@pawl/schema/plan/plan';
import { isIdPrefix } from '../id-prefix.ts';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertInitiative(tx: WriteTransaction, initiative: Initiative): Promise<void> {
  await tx.db.insertInto('initiatives').values(toColumns(initiative)).execute();
}

export type InitiativePatch = Partial<Omit<Initiative, 'id' | 'projectId' | 'createdBy' | 'createdAt'>>;

export async function updateInitiative(tx: WriteTransaction, id: string, patch: InitiativePatch): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('initiatives')
    .set(toColumns(patch))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw new PawlError('not_found', `There is no plan ${id}.`);
}

export async function initiativeById(db: Database, id: string): Promise<Initiative | null> {
  const row = await db.selectFrom('initiatives').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : initiativeOf(row);
}

export type InitiativeFilter = { projectId?: string | undefined; includeArchived?: boolean };

/** In the order created; the newest if there are too many. */
export async function listInitiatives(db: Database, filter: InitiativeFilter = {}): Promise<Initiative[]> {
  let query = db.selectFrom('initiatives').selectAll().orderBy('ordinal', 'desc').limit(limits.pageRows);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.includeArchived !== true) query = query.where('archived_at', 'is', null);
  return (await query.execute()).toReversed().map(initiativeOf);
}

/** Resolves a reference: an exact id, else an exact name, else an id prefix. The caller refuses more than one match. */
export async function findInitiatives(db: Database, reference: string, projectId?: string): Promise<Initiative[]> {
  let matching = db.selectFrom('initiatives').selectAll().orderBy('ordinal').limit(storeLimits.matches);
  if (projectId !== undefined) matching = matching.where('project_id', '=', projectId);
  const named = matching.where('name', '=', reference);
  const attempts = [matching.where('id', '=', reference), named.where('archived_at', 'is', null), named];
  if (isIdPrefix(reference)) attempts.push(matching.where('id', '>=', reference).where('id', '<', `${reference}~`));
  for (const attempt of attempts) {
    const rows = await attempt.execute();
    if (rows.length > 0) return rows.map(initiativeOf);
  }
  return [];
}

/** The branch that collects the work of a task's plan; null if the task lands by itself. */
export async function planBranchOf(db: Database, taskId: string | null): Promise<string | null> {
  if (taskId === null) return null;
  const row = await db
    .selectFrom('tasks')
    .innerJoin('initiatives', 'initiatives.id', 'tasks.initiative_id')
    .select('initiatives.branch')
    .where('tasks.id', '=', taskId)
    .executeTakeFirst();
  return row?.branch ?? null;
}

export async function insertPlanVersion(tx: WriteTransaction, version: PlanVersion): Promise<void> {
  await tx.db.insertInto('plan_versions').values(toColumns(version)).execute();
}

/** The version with a number, or the newest one. */
export async function planVersion(db: Database, initiativeId: string, number?: number): Promise<PlanVersion | null> {
  let query = db.selectFrom('plan_versions').selectAll().where('initiative_id', '=', initiativeId);
  if (number !== undefined) query = query.where('number', '=', number);
  const row = await query.orderBy('number', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? null : versionOf(row);
}

function versionOf(row: Row<'plan_versions'>): PlanVersion {
  return {
    initiativeId: row.initiative_id,
    number: integer(row.number),
    hash: row.hash,
    taskIds: json(planVersionSchema.shape.taskIds, row.task_ids),
    createdAt: integer(row.created_at),
    createdBy: row.created_by,
  };
}

function initiativeOf(row: Row<'initiatives'>): Initiative {
  const { shape } = initiativeSchema;
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    mode: row.mode,
    budget: json(shape.budget, row.budget),
    createdBy: row.created_by,
    createdAt: integer(row.created_at),
    approvedVersion: nullableInteger(row.approved_version),
    approvedAt: nullableInteger(row.approved_at),
    launch: nullableJson(shape.launch, row.launch),
    launchedAt: nullableInteger(row.launched_at),
    pausedAt: nullableInteger(row.paused_at),
    archivedAt: nullableInteger(row.archived_at),
    branch: row.branch,
  };
}
