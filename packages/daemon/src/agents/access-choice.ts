import { chooseAccess, narrower } from '@pawl/core/definitions/access';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { requireAccess } from '@pawl/providers/command';
import type { AccessLevel } from '@pawl/schema/access-level';
import type { Definition } from '@pawl/schema/definition';
import type { Project } from '@pawl/schema/record';
import type { Platform } from '../platform/platform.ts';
import { configOf } from '../project-config/project-rules.ts';
import type { Actor } from './add-child.ts';

/** The access of a new agent that does work of its own. */
export async function accessOf(
  platform: Platform,
  actor: Actor,
  { asked, definition, projects }: { asked: AccessLevel | undefined; definition: Definition; projects: Project[] },
): Promise<AccessLevel> {
  const { access: home } = await platform.currentChoices();
  let project: AccessLevel | null = null;
  for (const each of projects) {
    // An invalid configuration stops the queue, but no agent.
    const stated = (await configOf(platform, each)).found?.access ?? null;
    if (stated !== null) project = narrower(stated, project);
  }
  const { agent: parent, isPerson: byPerson } = actor;
  return chooseAccess({ asked, definition, project, home, sandboxWorks: 'off', parent, byPerson });
}

/** The provider that runs an agent with this access; refuses one that cannot. */
export function withAccess(platform: Platform, preset: ProviderPreset, access: AccessLevel): ProviderPreset {
  const { ask, askWith } = preset.access;
  const chosen = access === 'ask' && ask === null && askWith !== undefined ? platform.providers.get(askWith) : preset;
  requireAccess(chosen, access);
  return chosen;
}
