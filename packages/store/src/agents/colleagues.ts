import { runSchema } from '@pawl/schema/record';
import type { Agent } from '@pawl/schema/record';
import type { Definition } from '@pawl/schema/definition';
import { agentOf } from './agents.ts';
import { json } from '../row.ts';
import type { Database } from '../tables.ts';

/** The living mains of a project, oldest first, each with the definition of its latest run; null for one without a run. */
export async function livingColleagues(
  db: Database,
  projectId: string,
): Promise<{ agent: Agent; definition: Definition | null }[]> {
  const rows = await db
    .selectFrom('agents')
    .leftJoin('runs', 'runs.id', 'agents.run_id')
    .selectAll('agents')
    .select('runs.definition as run_definition')
    .where('agents.project_id', '=', projectId)
    .where('agents.ended_at', 'is', null)
    .where('agents.kind', '=', 'main')
    .orderBy('agents.ordinal')
    .execute();
  // Many agents share one definition; parse each text once.
  const known = new Map<string, Definition>();
  return rows.map(({ run_definition: text, ...row }) => {
    if (text === null) return { agent: agentOf(row), definition: null };
    const definition = known.get(text) ?? json(runSchema.shape.definition.unwrap(), text);
    known.set(text, definition);
    return { agent: agentOf(row), definition };
  });
}
