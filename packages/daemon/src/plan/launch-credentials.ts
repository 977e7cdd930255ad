import type { LaunchPlanBody } from '@pawl/protocol/plan/plan-view';
import type { Initiative, Launch } from '@pawl/schema/plan/plan';
import { projectById } from '@pawl/store/projects/projects';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { credentials } from '../agents/fork.ts';
import { defaultDefinition } from '../definitions/default-definition.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { personPath } from '../platform/search-path.ts';
import { chooseProvider } from '../providers/provider-choice.ts';

/**
 * Chooses the provider and the credentials of a plan's agents when a person launches it, as `pawl work` would: agents
 * that start later, without that shell, have the same. Refuses a launch for which there is no provider.
 */
export async function launchCredentials(
  platform: SessionPlatform,
  { projectId }: Initiative,
  body: LaunchPlanBody,
): Promise<Pick<Launch, 'provider' | 'accountId' | 'environment'>> {
  const { db } = platform.store;
  const project = await projectById(db, projectId);
  const definition = await platform.definitions.find(project, body.definition ?? defaultDefinition);
  const path = await personPath(platform, body.searchPath);
  const preset = await chooseProvider(platform, { wanted: body.provider, definition, asker: null, project, path });
  const actor = { agent: await rootAgent(db), isPerson: true };
  return { provider: preset.name, ...(await credentials(platform, actor, preset, { ...body, path })) };
}
