import { limits } from '@pawl/schema/limit';
import type { Database } from '../tables.ts';

/** The heads of merged changes of a branch, or that a branch started at: main may have them as other commits. */
export async function landedHeads(
  db: Database,
  projectId: string,
  { branch, base }: { branch: string; base: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('changes')
    .select('head')
    .where('project_id', '=', projectId)
    .where('merged_at', 'is not', null)
    .where((where) => where.or([where('branch', '=', branch), where('head', '=', base)]))
    .orderBy('ordinal', 'desc')
    .limit(limits.landedHeads)
    .execute();
  return rows.map(({ head }) => head);
}

/** The heads of merged changes that an agent made, or that came from its branch. */
export async function mergedHeadsOf(
  db: Database,
  projectId: string,
  { agentId, branch }: { agentId: string; branch: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('changes')
    .select('head')
    .where('project_id', '=', projectId)
    .where('merged_at', 'is not', null)
    .where((where) =>
      where.or([where('branch', '=', branch), where('agent_id', '=', agentId), where('author_id', '=', agentId)]),
    )
    .orderBy('ordinal', 'desc')
    .limit(limits.landedHeads)
    .execute();
  return rows.map(({ head }) => head);
}
