import type { ProviderPreset } from '@pawl/core/port/provider';
import { namedProvider, onlyInstalled } from '@pawl/core/accounts/provider-choice';
import { installedAgents } from '@pawl/providers/detect';
import type { Definition } from '@pawl/schema/definition';
import type { Agent, Project } from '@pawl/schema/record';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { toolLimits } from '../definitions/tool-limits.ts';
import type { Platform } from '../platform/platform.ts';

/** The facts that decide on the provider of a new agent. */
export type ProviderQuestion = {
  wanted: string | undefined;
  definition: Definition;
  /** The requesting agent, or the author of the change in question; null for a person's request. */
  asker: Pick<Agent, 'provider'> | null;
  /** Null for an agent without a project. */
  project: Project | null;
  /** The PATH to look up its program. */
  path: string;
};

/**
 * Chooses the provider of a new agent: named by the request, the definition, the requesting agent, the project or the
 * home, in this order; else the only installed coding agent. A `scripted` provider must be named.
 */
export async function chooseProvider(
  platform: Platform,
  { wanted, definition, asker, project, path }: ProviderQuestion,
): Promise<ProviderPreset> {
  const named =
    namedProvider([wanted, definition.provider, asker?.provider]) ??
    namedProvider([
      project === null ? null : (await projectSettings(platform.store.db, project.id)).provider,
      (await platform.currentChoices()).provider,
    ]);
  const known = platform.providers.list();
  const preset = platform.providers.get(named ?? onlyInstalled(await installedAgents(known, { PATH: path }), known));
  toolLimits(definition, preset);
  return preset;
}
