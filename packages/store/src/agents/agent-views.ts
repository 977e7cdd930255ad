import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { agentColumns, agentOf } from './agents.ts';
import { hotQuery } from '../engine/hot-query.ts';
import { runColumns, runOf } from '../sessions/runs.ts';
import { sessionColumns, sessionOf } from '../sessions/sessions.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database } from '../tables.ts';

export type AgentFilter = {
  projectId?: string;
  includeEnded?: boolean;
  includeReaped?: boolean;
  limit: number;
  /** An agent id: the page starts with the next older one. */
  before?: string;
};

/**
 * Newest first; with a project, includes agents that have it as a further project. Cuts tasks to
 * `listedTaskCharacters`; `agentView` has them whole.
 */
export async function listAgents(db: Database, filter: AgentFilter): Promise<AgentFacts[]> {
  const { projectId } = filter;
  if (projectId === undefined) return (await listQuery(db, filter).execute()).map(viewOf);
  // Two queries, since each has an index that returns rows in order.
  const own = await listQuery(db, filter).where('agents.project_id', '=', projectId).execute();
  const guests = await listQuery(db, filter)
    .where('agents.id', 'in', (from) =>
      from.selectFrom('agent_places').select('agent_places.agent_id').where('agent_places.project_id', '=', projectId),
    )
    .execute();
  if (guests.length === 0) return own.map(viewOf);
  const both = [...own, ...guests].toSorted((a, b) => Number(b['ordinal']) - Number(a['ordinal']));
  return both.slice(0, filter.limit).map(viewOf);
}

function listQuery(db: Database, filter: AgentFilter) {
  const { before } = filter;
  let query = views(db, listedSelection)
    .select('agents.ordinal as ordinal')
    .orderBy('agents.ordinal', 'desc')
    .limit(Math.min(filter.limit, limits.pageRows + 1));
  if (filter.includeEnded !== true) query = query.where('agents.ended_at', 'is', null);
  if (filter.includeReaped !== true) query = query.where('agents.reaped_at', 'is', null);
  if (before !== undefined) {
    query = query.where('agents.ordinal', '<', (from) =>
      from.selectFrom('agents as cursor').select('cursor.ordinal').where('cursor.id', '=', before),
    );
  }
  return query;
}

/** All living agents, newest first, without a limit. */
export async function everyLivingAgent(db: Database): Promise<AgentFacts[]> {
  const found: AgentFacts[] = [];
  for (;;) {
    const before = found.at(-1)?.agent.id;
    const page = await listAgents(db, { limit: limits.pageRows, ...(before === undefined ? {} : { before }) });
    found.push(...page);
    if (page.length < limits.pageRows) return found;
  }
}

const selectView = hotQuery<[id: string], JoinedRow>(['1'], (db, [id]) => views(db).where('agents.id', '=', id));

export async function agentView(db: Database, id: string): Promise<AgentFacts | null> {
  const [row] = (await selectView(db, [id])).rows;
  return row ? viewOf(row) : null;
}

/**
 * The agents that a starting daemon must reconcile, parents first: those with an open run or session, with a worktree
 * to create or clean up, or completed but not ended.
 */
export async function agentsToReconcile(db: Database): Promise<AgentFacts[]> {
  // `union all`, since duplicates are harmless here, and removing them would make SQLite sort whole tables.
  const rows = await views(db)
    .where('agents.id', 'in', (from) =>
      from
        .selectFrom('runs as open_runs')
        .select('open_runs.agent_id')
        .where('open_runs.outcome', 'is', null)
        .unionAll(
          from
            .selectFrom('sessions as open_sessions')
            .select('open_sessions.agent_id')
            .where('open_sessions.ended_at', 'is', null),
        )
        .unionAll(
          from
            .selectFrom('agents as to_make')
            .select('to_make.id as agent_id')
            .where('to_make.ended_at', 'is', null)
            .where('to_make.worktree', 'is not', null)
            .where('to_make.worktree_ready_at', 'is', null),
        )
        .unionAll(
          from
            .selectFrom('agents as to_clean_up')
            .select('to_clean_up.id as agent_id')
            .where('to_clean_up.ended_at', 'is not', null)
            .where('to_clean_up.worktree', 'is not', null)
            .where('to_clean_up.worktree_end', 'is', null),
        )
        .unionAll(
          from
            .selectFrom('agents as to_retire')
            .select('to_retire.id as agent_id')
            .where('to_retire.ended_at', 'is', null)
            .where('to_retire.completion', 'is not', null),
        ),
    )
    .orderBy('agents.ordinal')
    .execute();
  return rows.map(viewOf);
}

type JoinedRow = Record<string, unknown>;

/** The positions of one table's columns in a joined row; computed once, since a listing reads thousands of cells. */
type Part = readonly { readonly alias: string; readonly column: string }[];

function partOf(prefix: string, columns: readonly string[]): Part {
  return columns.map((column) => ({ alias: prefix + column, column }));
}

const agentPart = partOf('agent_', agentColumns);
const runPart = partOf('run_', runColumns);
const sessionPart = partOf('session_', sessionColumns);

const selectionFor = (text: (column: string) => RawBuilder<unknown>) => [
  ...agentPart.map(({ alias, column }) =>
    (column === 'assignment' ? text('agents.assignment') : sql.ref(`agents.${column}`)).as(alias),
  ),
  ...runPart.map(({ alias, column }) => (column === 'task' ? text('runs.task') : sql.ref(`runs.${column}`)).as(alias)),
  ...sessionPart.map(({ alias, column }) => sql.ref(`sessions.${column}`).as(alias)),
];

const wholeSelection = selectionFor((column) => sql.ref(column));
const listedSelection = selectionFor(
  (column) => sql`substr(${sql.ref(column)}, 1, ${sql.lit(storeLimits.listedTaskCharacters)})`,
);

function views(db: Database, selection = wholeSelection) {
  return db
    .selectFrom('agents')
    .leftJoin('runs', 'runs.id', 'agents.run_id')
    .leftJoin('sessions', 'sessions.id', 'agents.session_id')
    .select(selection)
    .$castTo<JoinedRow>();
}

function viewOf(row: JoinedRow): AgentFacts {
  return {
    agent: agentOf(pick(row, agentPart) as Parameters<typeof agentOf>[0]),
    run: row['run_id'] === null ? null : runOf(pick(row, runPart) as Parameters<typeof runOf>[0]),
    session: row['session_id'] === null ? null : sessionOf(pick(row, sessionPart) as Parameters<typeof sessionOf>[0]),
  };
}

/** Extracts one table's columns from a joined row. */
function pick(row: JoinedRow, part: Part): JoinedRow {
  const picked: JoinedRow = {};
  for (const { alias, column } of part) picked[column] = row[alias];
  return picked;
}
