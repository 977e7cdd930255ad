import type { GivenAccess } from '@pawl/core/definitions/access';
import { chooseAccess, narrower } from '@pawl/core/definitions/access';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Confinement } from '@pawl/protocol/agents/verb-view';
import { requireAccess } from '@pawl/providers/command';
import type { AccessLevel } from '@pawl/schema/access-level';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import type { Platform } from '../platform/platform.ts';
import { configOf } from '../project-config/project-rules.ts';
import type { Actor } from './add-child.ts';

/** The access of a new agent that does work of its own. Refuses one without the sandbox that the home requires. */
export async function accessOf(
  platform: Platform,
  actor: Actor,
  { asked, definition, projects }: { asked: AccessLevel | undefined; definition: Definition; projects: Project[] },
): Promise<GivenAccess> {
  const { access: home } = await platform.currentChoices();
  let project: AccessLevel | null = null;
  for (const each of projects) {
    // An invalid configuration stops the queue, but no agent.
    const stated = (await configOf(platform, each)).found?.access ?? null;
    if (stated !== null) project = narrower(stated, project);
  }
  const { agent: parent, isPerson: byPerson } = actor;
  const { sandbox } = await platform.sandbox.confinement(platform.choices);
  const sandboxWorks = sandbox === 'off' ? 'off' : sandbox === 'on';
  return chooseAccess({ asked, definition, project, home, sandboxWorks, parent, byPerson });
}

/** The provider that runs an agent with this access; refuses one that cannot. */
export async function withAccess(
  platform: Platform,
  preset: ProviderPreset,
  { access }: GivenAccess,
): Promise<ProviderPreset> {
  const { ask, askWith } = preset.access;
  const chosen = access === 'ask' && ask === null && askWith !== undefined ? platform.providers.get(askWith) : preset;
  const confinement = await platform.sandbox.confinement(platform.choices);
  if (access === 'ask' && chosen.access.ask === null && confinement.sandbox === 'missing')
    throw needsSandbox(chosen, confinement);
  requireAccess(chosen, access);
  return chosen;
}

/** Without a sandbox agents ask by default, and this provider cannot. */
function needsSandbox({ name }: ProviderPreset, { reason, hint }: Confinement & { sandbox: 'missing' }): PawlError {
  const message = `The provider ${name} cannot ask for permission, and there is no sandbox to run it in. ${reason}`;
  return new PawlError('conflict', message, {
    hint: `${hint} Or use a provider that can ask, such as claude or codex; or let it do everything that you can do, with --access full for this agent, or \`pawl config set sandbox off\` for all.`,
  });
}
