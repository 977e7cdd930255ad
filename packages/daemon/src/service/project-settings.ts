import type { Project, ProjectSettings } from '@pawl/schema/record';
import { projectSettings, updateProjectSettings } from '@pawl/store/project-settings';
import type { Workshop } from '../workshop.ts';

/** The settings that a person changes by name. */
export type SettingsChange = { provider?: string | null | undefined };

/** Changes a project's settings; values that are set already cause no event. */
export async function changeProjectSettings(
  shop: Workshop,
  project: Project,
  { provider }: SettingsChange,
): Promise<ProjectSettings> {
  // Refuses a name that no provider has.
  if (provider !== undefined && provider !== null) shop.providers.get(provider);
  return shop.store.write(async (tx) => {
    const before = await projectSettings(tx.db, project.id);
    if (provider === undefined || provider === before.provider) return before;
    await updateProjectSettings(tx, project.id, { provider });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { provider } });
    return { ...before, provider };
  });
}
