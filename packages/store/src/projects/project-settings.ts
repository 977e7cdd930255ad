import type { ProjectSettings } from '@pawl/schema/record';
import { nullableInteger, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** The default settings of a project. */
export const defaultProjectSettings: ProjectSettings = {
  provider: null,
  pushAllowedAt: null,
  crewWantedAt: null,
  untrackedAt: null,
  interaction: null,
};

/** Reads a project's settings; without a row, the defaults. */
export async function projectSettings(db: Database, projectId: string): Promise<ProjectSettings> {
  const row = await db
    .selectFrom('project_settings')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row ? settingsFrom(row) : defaultProjectSettings;
}

/** Updates some of a project's settings. */
export async function updateProjectSettings(
  tx: WriteTransaction,
  projectId: string,
  changed: Partial<ProjectSettings>,
): Promise<void> {
  const columns = toColumns(changed);
  await tx.db
    .insertInto('project_settings')
    .values({ ...toColumns(defaultProjectSettings), ...columns, project_id: projectId })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ ...columns, project_id: projectId }))
    .execute();
}

function settingsFrom(row: Row<'project_settings'>): ProjectSettings {
  return {
    provider: row.provider,
    pushAllowedAt: nullableInteger(row.push_allowed_at),
    crewWantedAt: nullableInteger(row.crew_wanted_at),
    untrackedAt: nullableInteger(row.untracked_at),
    interaction: row.interaction,
  };
}
