import type { WithheldWork } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { integer, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Records an agent's commits that were not proposed, replacing earlier ones; false if already recorded. */
export async function recordWithheldWork(tx: WriteTransaction, work: WithheldWork): Promise<boolean> {
  const known = await withheldOfAgent(tx.db, work.agentId);
  if (known.some(({ projectId, head }) => projectId === work.projectId && head === work.head)) return false;
  const columns = toColumns(work);
  await tx.db
    .insertInto('withheld_work')
    .values(columns)
    .onConflict((conflict) => conflict.columns(['agent_id', 'project_id']).doUpdateSet(columns))
    .execute();
  return true;
}

/** An agent's commits that were not proposed, one row per project. */
export async function withheldOfAgent(db: Database, agentId: string): Promise<WithheldWork[]> {
  const rows = await db
    .selectFrom('withheld_work')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('project_id')
    .execute();
  return rows.map(withheldFrom);
}

/** The latest commits in a project that were not proposed, newest first. */
export async function withheldInProject(db: Database, projectId: string): Promise<WithheldWork[]> {
  const rows = await db
    .selectFrom('withheld_work')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('at', 'desc')
    .orderBy('agent_id')
    .limit(limits.pageRows)
    .execute();
  return rows.map(withheldFrom);
}

function withheldFrom(row: Row<'withheld_work'>): WithheldWork {
  return {
    agentId: row.agent_id,
    projectId: row.project_id,
    branch: row.branch,
    head: row.head,
    definition: row.definition,
    at: integer(row.at),
  };
}
