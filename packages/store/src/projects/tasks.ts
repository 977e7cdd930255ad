import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Task } from '@pawl/schema/record';
import { taskSchema } from '@pawl/schema/record';
import { isIdPrefix } from '../id-prefix.ts';
import { agentOf } from '../agents/agents.ts';
import { integer, json, nullableInteger, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of a task that may change after it was added. */
export type TaskPatch = Partial<Omit<Task, 'id' | 'projectId' | 'createdBy' | 'createdAt' | 'foundWhile'>>;

export async function insertTask(tx: WriteTransaction, task: Task): Promise<void> {
  await tx.db.insertInto('tasks').values(toColumns(task)).execute();
}

export async function updateTask(tx: WriteTransaction, id: string, patch: TaskPatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  const { numUpdatedRows } = await tx.db
    .updateTable('tasks')
    .set(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 1n) return;
  throw new PawlError('not_found', `There is no task ${id}.`, { hint: 'List the tasks with `pawl task ls --all`.' });
}

/** Assigns a free task to an agent. Returns false if it is taken, completed or blocked. */
export async function takeTask(tx: WriteTransaction, id: string, agentId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('tasks')
    .set({ agent_id: agentId })
    .where('id', '=', id)
    .where('agent_id', 'is', null)
    .where('completed_at', 'is', null)
    .where('cancelled_at', 'is', null)
    .where('blocked_reason', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Removes a task that no agent ever had, as if it had not been added. */
export async function deleteTask(tx: WriteTransaction, id: string): Promise<void> {
  await tx.db.deleteFrom('tasks').where('id', '=', id).execute();
}

export async function taskById(db: Database, id: string): Promise<Task | null> {
  const row = await db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? taskOf(row) : null;
}

/** The tasks with these ids, in the order added; skips unknown ids. */
export async function tasksByIds(db: Database, ids: readonly string[]): Promise<Task[]> {
  const found: Row<'tasks'>[] = [];
  for (let from = 0; from < ids.length; from += idsPerStatement) {
    const some = ids.slice(from, from + idsPerStatement);
    found.push(...(await db.selectFrom('tasks').selectAll().where('id', 'in', some).execute()));
  }
  return found.toSorted((a, b) => integer(a.ordinal) - integer(b.ordinal)).map(taskOf);
}

/** Ids per statement; databases limit the number of parameters. */
const idsPerStatement = 500;

/** All tasks of an initiative, in the order added. */
export async function tasksOfInitiative(db: Database, initiativeId: string): Promise<Task[]> {
  const rows = await db
    .selectFrom('tasks')
    .selectAll()
    .where('initiative_id', '=', initiativeId)
    .orderBy('ordinal')
    .execute();
  return rows.map(taskOf);
}

/** The tasks of a project that are neither completed nor cancelled, in the order added. */
export async function openTasks(db: Database, projectId: string): Promise<Task[]> {
  const rows = await db
    .selectFrom('tasks')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('completed_at', 'is', null)
    .where('cancelled_at', 'is', null)
    .orderBy('ordinal')
    .limit(limits.openTasks)
    .execute();
  return rows.map(taskOf);
}

export type TaskFilter = { projectId?: string; phase?: string; includeCompleted?: boolean };

/** The tasks of one project, or of all, in the order added; the newest if there are too many. */
export async function listTasks(db: Database, filter: TaskFilter = {}): Promise<Task[]> {
  let query = db.selectFrom('tasks').selectAll().orderBy('ordinal', 'desc').limit(limits.openTasks);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.phase !== undefined) query = query.where('phase', '=', filter.phase);
  if (filter.includeCompleted !== true)
    query = query.where('completed_at', 'is', null).where('cancelled_at', 'is', null);
  return (await query.execute()).toReversed().map(taskOf);
}

/**
 * Resolves a reference to tasks: an exact id; else open tasks with this name; else completed ones; else an id prefix.
 * The caller refuses more than one match.
 */
export async function findTasks(db: Database, reference: string, projectId?: string): Promise<Task[]> {
  let matching = db.selectFrom('tasks').selectAll().orderBy('ordinal').limit(storeLimits.matches);
  if (projectId !== undefined) matching = matching.where('project_id', '=', projectId);
  const named = matching.where('name', '=', reference);
  // `~` sorts after every character of an id, and ids compare bytewise.
  const prefixed = matching.where('id', '>=', reference).where('id', '<', `${reference}~`);
  const attempts = [matching.where('id', '=', reference), named.where('completed_at', 'is', null), named];
  if (isIdPrefix(reference)) attempts.push(prefixed);
  for (const attempt of attempts) {
    const rows = await attempt.execute();
    if (rows.length > 0) return rows.map(taskOf);
  }
  return [];
}

/** The tasks of a project with finished work that has not landed yet. */
export async function finishedTasks(db: Database, projectId: string): Promise<Task[]> {
  const rows = await db
    .selectFrom('tasks')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('finished_at', 'is not', null)
    .where('completed_at', 'is', null)
    .orderBy('ordinal')
    .limit(limits.openTasks)
    .execute();
  return rows.map(taskOf);
}

/** The tasks that an agent has. */
export async function takenTasks(db: Database): Promise<Task[]> {
  const rows = await db.selectFrom('tasks').selectAll().where('agent_id', 'is not', null).orderBy('ordinal').execute();
  return rows.map(taskOf);
}

/** The tasks that these agents have. */
export async function tasksTakenBy(db: Database, agentIds: readonly string[]): Promise<Task[]> {
  const rows: Row<'tasks'>[] = [];
  for (let from = 0; from < agentIds.length; from += idsPerStatement) {
    const some = agentIds.slice(from, from + idsPerStatement);
    rows.push(...(await db.selectFrom('tasks').selectAll().where('agent_id', 'in', some).execute()));
  }
  return rows.map(taskOf);
}

/** The agents that worked on a task, oldest first, including dead ones. */
export async function agentsOfTask(db: Database, taskId: string): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('task_id', '=', taskId)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(agentOf);
}

function taskOf(row: Row<'tasks'>): Task {
  return {
    id: row.id,
    projectId: row.project_id,
    phase: row.phase,
    name: row.name,
    description: row.description,
    dependsOn: json(taskSchema.shape.dependsOn, row.depends_on),
    createdBy: row.created_by,
    createdAt: integer(row.created_at),
    summary: row.summary,
    finishedAt: nullableInteger(row.finished_at),
    completedAt: nullableInteger(row.completed_at),
    blockedReason: row.blocked_reason,
    crashes: integer(row.crashes),
    agentId: row.agent_id,
    initiativeId: row.initiative_id,
    phaseId: row.phase_id,
    priority: row.priority,
    files: json(taskSchema.shape.files, row.files),
    ifFailed: json(taskSchema.shape.ifFailed, row.if_failed),
    foundWhile: row.found_while,
    failedAt: nullableInteger(row.failed_at),
    cancelledAt: nullableInteger(row.cancelled_at),
    definition: row.definition,
    revises: row.revises,
  };
}
