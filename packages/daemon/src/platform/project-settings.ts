import { PawlError } from '@pawl/schema/error';
import type { Project, ProjectSettings } from '@pawl/schema/record';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import type { Database } from '@pawl/store/tables';
import type { Platform } from './platform.ts';

/** The settings that a person changes by name. */
export type SettingsChange = { provider?: string | null | undefined };

/** Changes a project's settings; values that are set already cause no event. */
export async function changeProjectSettings(
  platform: Platform,
  project: Project,
  { provider }: SettingsChange,
): Promise<ProjectSettings> {
  // Refuses a name that no provider has.
  if (provider !== undefined && provider !== null) platform.providers.get(provider);
  return platform.store.write(async (tx) => {
    const before = await projectSettings(tx.db, project.id);
    if (provider === undefined || provider === before.provider) return before;
    await updateProjectSettings(tx, project.id, { provider });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { provider } });
    return { ...before, provider };
  });
}

/** Refuses to begin anything in a project that a person has taken off the list. */
export async function refuseUntracked(db: Database, project: Project): Promise<void> {
  if ((await projectSettings(db, project.id)).untrackedAt === null) return;
  throw new PawlError('conflict', `The project ${project.name} is not tracked any more.`, {
    hint: `Track it again with everything as it was: pawl init ${project.root}`,
  });
}
