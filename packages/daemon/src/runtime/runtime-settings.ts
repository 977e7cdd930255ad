import type { RuntimeSettings } from '@pawl/protocol/runtime/view';
import type { Project, ProjectSettings } from '@pawl/schema/record';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import type { Platform } from '../platform/platform.ts';

/** The default mode of a project. */
const usualMode = 'auto';

export async function runtimeSettings({ store }: Platform, project: Project): Promise<RuntimeSettings> {
  const { interaction } = await projectSettings(store.db, project.id);
  return { project_root: project.root, mode: interaction ?? usualMode, chosen: interaction !== null };
}

/** Chooses how the agents of a project work, from their next turn on. */
export async function changeInteraction(
  platform: Platform,
  project: Project,
  interaction: NonNullable<ProjectSettings['interaction']>,
): Promise<RuntimeSettings> {
  await platform.store.write(async (tx) => {
    if ((await projectSettings(tx.db, project.id)).interaction === interaction) return;
    await updateProjectSettings(tx, project.id, { interaction });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { interaction } });
  });
  return runtimeSettings(platform, project);
}
