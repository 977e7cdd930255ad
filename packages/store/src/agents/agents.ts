import { PawlError } from '@pawl/schema/error';
import { adoptedSchema, agentSchema, completionSchema, worktreeEndSchema } from '@pawl/schema/record';
import type { Agent } from '@pawl/schema/record';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { isIdPrefix } from '../id-prefix.ts';
import { hotQuery } from '../engine/hot-query.ts';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { AgentTable, Database } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of an agent that may change after the fork. */
export type AgentPatch = Partial<
  Pick<
    Agent,
    | 'baseCommit'
    | 'worktreeReadyAt'
    | 'worktreeEnd'
    | 'supervisorId'
    | 'forkedConversation'
    | 'freshAfter'
    | 'provider'
    | 'model'
    | 'options'
    | 'environment'
    | 'accountId'
    | 'budget'
    | 'assignment'
    | 'taskId'
    | 'stopRequestedAt'
    | 'completion'
    | 'adopted'
    | 'stuckAt'
    | 'stuckReason'
    | 'endedAt'
    | 'endReason'
    | 'reapedAt'
  >
>;

/** Adds an agent. The alias of a living agent in the project is a conflict. */
export async function insertAgent(tx: WriteTransaction, agent: Agent): Promise<void> {
  await tx.db.insertInto('agents').values(toColumns(agent)).execute();
}

export async function updateAgent(tx: WriteTransaction, id: string, patch: AgentPatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  const { numUpdatedRows } = await tx.db
    .updateTable('agents')
    .set(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 1n) return;
  throw new PawlError('agent_not_found', `There is no agent ${id}.`, { hint: 'List the agents with `pawl ps --all`.' });
}

const selectAgent = hotQuery<[id: string], Selectable<AgentTable>>(['1'], (db, [id]) =>
  db.selectFrom('agents').selectAll().where('id', '=', id),
);

export async function agentById(db: Database, id: string): Promise<Agent | null> {
  const [row] = (await selectAgent(db, [id])).rows;
  return row ? agentOf(row) : null;
}

/**
 * Resolves a reference: an exact id; else living agents with this alias; else ended ones, newest first; else an id
 * prefix, of living agents only for commands that act. The caller refuses more than one match.
 */
export async function findAgents(
  db: Database,
  reference: string,
  options: { projectId?: string; prefixOf?: 'living' | 'all' } = {},
): Promise<Agent[]> {
  let matching = db.selectFrom('agents').selectAll().limit(storeLimits.matches);
  if (options.projectId !== undefined) {
    // An expression, so that the planner uses the index on id or alias instead of the one on project.
    matching = matching.where(sql`coalesce(project_id, '')`, '=', options.projectId);
  }
  const named = matching.where('alias', '=', reference).orderBy('ordinal', 'desc');
  // `~` sorts after every character of an id, and ids compare bytewise.
  const prefixed = matching.where('id', '>=', reference).where('id', '<', `${reference}~`).orderBy('id');
  const attempts = [
    matching.where('id', '=', reference),
    named.where('ended_at', 'is', null),
    named,
    options.prefixOf === 'living' ? prefixed.where('ended_at', 'is', null) : prefixed,
  ];
  if (!isIdPrefix(reference)) attempts.pop();
  for (const attempt of attempts) {
    const rows = await attempt.execute();
    if (rows.length > 0) return rows.map(agentOf);
  }
  return [];
}

export async function livingAliases(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('agents').select('alias').where('ended_at', 'is', null).execute();
  return rows.map((row) => row.alias);
}

/**
 * The aliases taken in a project, or among agents without one: by living agents, and by dead ones with an unsettled
 * worktree there. An agent with several projects takes its alias in each.
 */
export async function takenAliases(db: Database, projectId: string | null): Promise<string[]> {
  const living = await db
    .selectFrom('agents')
    .select('alias')
    .where('project_id', projectId === null ? 'is' : '=', projectId)
    .where('ended_at', 'is', null)
    .execute();
  const unsettled = await db
    .selectFrom('agents')
    .select('alias')
    .where('ended_at', 'is not', null)
    .where('worktree', 'is not', null)
    .where('worktree_end', 'is', null)
    // An expression, so that the planner uses the smaller index instead of the one on project.
    .where(sql`coalesce(project_id, '')`, '=', projectId ?? '')
    .execute();
  const elsewhere =
    projectId === null
      ? []
      : await db
          .selectFrom('agent_places')
          .innerJoin('agents', 'agents.id', 'agent_places.agent_id')
          .select('agents.alias')
          .where('agent_places.project_id', '=', projectId)
          .where('agent_places.end', 'is', null)
          .execute();
  return [...living, ...unsettled, ...elsewhere].map((row) => row.alias);
}

/** The aliases of agents with several projects or none whose working directory is not settled yet. */
export async function takenWorkdirs(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('agents')
    .select('alias')
    .where('worktree', 'is not', null)
    .where('worktree_end', 'is', null)
    .where((where) => where.or([where('workdir', 'is not', null), where('project_id', 'is', null)]))
    .execute();
  return rows.map(({ alias }) => alias);
}

export const agentColumns = [
  'id',
  'alias',
  'project_id',
  'parent_id',
  'supervisor_id',
  'fork_message_id',
  'forked_conversation',
  'snapshot',
  'fresh_after',
  'definition',
  'kind',
  'class',
  'provider',
  'model',
  'options',
  'mode',
  'account_id',
  'environment',
  'budget',
  'access',
  'access_needs',
  'key_proxy',
  'task_id',
  'assignment',
  'branch',
  'base_commit',
  'worktree',
  'workdir',
  'worktree_ready_at',
  'worktree_end',
  'created_at',
  'stop_requested_at',
  'completion',
  'adopted',
  'stuck_at',
  'stuck_reason',
  'ended_at',
  'end_reason',
  'reaped_at',
] as const satisfies (keyof AgentTable)[];

export function agentOf(row: Pick<Selectable<AgentTable>, (typeof agentColumns)[number]>): Agent {
  return {
    id: row.id,
    alias: row.alias,
    projectId: row.project_id,
    parentId: row.parent_id,
    supervisorId: row.supervisor_id,
    forkMessageId: integer(row.fork_message_id),
    forkedConversation: row.forked_conversation,
    snapshot: row.snapshot,
    freshAfter: integer(row.fresh_after),
    definition: row.definition,
    kind: row.kind,
    class: row.class,
    provider: row.provider,
    model: row.model,
    options: json(agentSchema.shape.options, row.options),
    mode: row.mode,
    accountId: row.account_id,
    environment: json(agentSchema.shape.environment, row.environment),
    budget: json(agentSchema.shape.budget, row.budget),
    access: row.access,
    accessNeeds: row.access_needs,
    keyProxy: row.key_proxy,
    taskId: row.task_id,
    assignment: row.assignment,
    branch: row.branch,
    baseCommit: row.base_commit,
    worktree: row.worktree,
    workdir: row.workdir,
    worktreeReadyAt: nullableInteger(row.worktree_ready_at),
    worktreeEnd: nullableJson(worktreeEndSchema, row.worktree_end),
    createdAt: integer(row.created_at),
    stopRequestedAt: nullableInteger(row.stop_requested_at),
    completion: nullableJson(completionSchema, row.completion),
    adopted: nullableJson(adoptedSchema, row.adopted),
    stuckAt: nullableInteger(row.stuck_at),
    stuckReason: row.stuck_reason,
    endedAt: nullableInteger(row.ended_at),
    endReason: row.end_reason,
    reapedAt: nullableInteger(row.reaped_at),
  };
}

/** The number of agents, without agent 0. */
export async function countAgents(db: Database): Promise<number> {
  const row = await db
    .selectFrom('agents')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('parent_id', 'is not', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/**
 * The paths of all directories given to agents: worktrees, and the directories around those of several projects or
 * none.
 */
export async function directoriesInUse(db: Database): Promise<Set<string>> {
  const rows = await db
    .selectFrom('agents')
    .select(['worktree', 'workdir', 'project_id'])
    .where('worktree', 'is not', null)
    .execute();
  const paths = rows.flatMap(({ worktree, workdir, project_id }) => [
    worktree ?? '',
    workdir ?? '',
    // The directory of an agent without a project is inside one with the agent's name.
    project_id === null ? (worktree ?? '').replace(/[/][^/]*$/, '') : '',
  ]);
  return new Set(paths.filter((path) => path !== ''));
}

/** The agents with a worktree, or with one that was kept, newest first. */
export async function agentsWithWorktree(db: Database): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('worktree', 'is not', null)
    .where((where) =>
      where.or([
        where('worktree_end', 'is', null),
        where('worktree_end', 'like', '%"retained"%'),
        where('worktree_end', 'like', '%"restored"%'),
      ]),
    )
    .orderBy('ordinal', 'desc')
    .limit(storeLimits.worktrees)
    .execute();
  return rows.map(agentOf);
}

/** The agent whose worktree is in the trash under this name, or null. */
export async function agentOfTrash(db: Database, entry: string): Promise<Agent | null> {
  const rows = await db.selectFrom('agents').selectAll().where('worktree_end', 'like', '%"trashed"%').execute();
  return (
    rows.map(agentOf).find(({ worktreeEnd }) => worktreeEnd?.state === 'trashed' && worktreeEnd.entry === entry) ?? null
  );
}
