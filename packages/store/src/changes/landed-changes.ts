import { limits } from '@pawl/schema/limit';
import type { Database } from '../tables.ts';

/** The heads of merged changes of a branch, or that a branch started at: main may have them as other commits. */
export async function landedHeads(
  db: Database,
  projectId: string,
  { branch, base }: { branch: string; base: string },
): Promise<string[]> {
  const rows = await mergedChanges(db, projectId)
    .where((where) => where.or([where('branch', '=', branch), where('head', '=', base)]))
    .execute();
  return rows.map(({ head }) => head);
}

/** The heads of merged changes that an agent made, or that came from its branch. */
export async function mergedHeadsOf(
  db: Database,
  projectId: string,
  { agentId, branch }: { agentId: string; branch: string },
): Promise<string[]> {
  const rows = await mergedChanges(db, projectId)
    .where((where) =>
      where.or([where('branch', '=', branch), where('agent_id', '=', agentId), where('author_id', '=', agentId)]),
    )
    .execute();
  return rows.map(({ head }) => head);
}

/** The latest merged changes of a project, newest first. */
function mergedChanges(db: Database, projectId: string) {
  return db
    .selectFrom('changes')
    .select('head')
    .where('project_id', '=', projectId)
    .where('merged_at', 'is not', null)
    .orderBy('ordinal', 'desc')
    .limit(limits.landedHeads);
}
