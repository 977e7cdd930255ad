import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project, ProjectSettings, Run } from '@pawl/schema/record';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import type { Database } from '@pawl/store/tables';
import type { Platform } from './platform.ts';

export type SettingsChange = { provider?: string | null | undefined };

/** Changes a project's settings; unchanged values cause no event. */
export async function changeProjectSettings(
  platform: Platform,
  project: Project,
  { provider }: SettingsChange,
): Promise<ProjectSettings> {
  // Throws for an unknown provider.
  if (provider !== undefined && provider !== null) platform.providers.get(provider);
  return platform.store.write(async (tx) => {
    const before = await projectSettings(tx.db, project.id);
    if (provider === undefined || provider === before.provider) return before;
    await updateProjectSettings(tx, project.id, { provider });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { provider } });
    return { ...before, provider };
  });
}

/** Refuses new work in a project that was untracked. */
export async function refuseUntracked(db: Database, project: Project): Promise<void> {
  if ((await projectSettings(db, project.id)).untrackedAt === null) return;
  throw new PawlError('conflict', `The project ${project.name} is no longer tracked.`, {
    hint: `Track it again with everything as it was: pawl init ${project.root}`,
  });
}

/**
 * The options of an agent. One without a mode of its own has that of its definition, or a main that of its project, if
 * its provider has modes.
 */
export async function optionsWithMode(
  { store }: Pick<Platform, 'store'>,
  { options, projectId, kind }: Agent,
  { definition }: Pick<Run, 'definition'>,
  preset: ProviderPreset,
): Promise<Agent['options']> {
  if (options['mode'] !== undefined || preset.options['mode'] === undefined) return options;
  const own = definition?.interaction ?? null;
  if (own !== null) return { ...options, mode: own };
  if (projectId === null || kind !== 'main') return options;
  const { interaction } = await projectSettings(store.db, projectId);
  return interaction === null ? options : { ...options, mode: interaction };
}
