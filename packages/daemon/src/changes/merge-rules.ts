import { meets } from '@pawl/core/definitions/gate';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import { isAuthor } from '@pawl/core/agents/landing';
import { mergeLeave, notCommitted } from '@pawl/core/changes/merge-leave';
import type { DoneRules, WhenDone } from '@pawl/core/changes/when-done';
import { whenDone, whenUnreadable, whenWithheld } from '@pawl/core/changes/when-done';
import type { Merging } from '@pawl/protocol/projects/view';
import { defaultBranch, remoteUrl } from '@pawl/git/repository/remote';
import { withoutSecret } from '@pawl/git/repository/remote-url';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { queueOf } from '@pawl/store/changes/queues';
import { rightsOf } from '../definitions/home-definitions.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { repositoryOf } from '../platform/platform.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { configTrouble, projectRules, projectRulesNow } from '../project-config/project-rules.ts';
import { projectOfChange } from './change-scope.ts';
import { rulesFrom } from './facts.ts';

/** Reads a project's merge rules as its queue saw them last, with the URL that a merge pushes to. */
export async function mergeRules(platform: DefinitionPlatform, project: Project): Promise<DoneRules> {
  return doneRules(platform, project, await projectRules(platform, project));
}

async function doneRules(
  platform: DefinitionPlatform,
  project: Project,
  { config, branch }: Pick<ProjectRules, 'config' | 'branch'>,
): Promise<DoneRules> {
  const { db } = platform.store;
  const settings = await projectSettings(db, project.id);
  const rules = rulesFrom({ config, settings, queue: await queueOf(db, project.id) });
  return { ...rules, branch, remote: await remoteShown(platform, project, config.remote) };
}

async function remoteShown(
  platform: DefinitionPlatform,
  project: Project,
  name: string | null,
): Promise<DoneRules['remote']> {
  const url = name === null ? null : await remoteUrl(await repositoryOf(platform, project), name);
  return name === null || url === null ? null : { name, url: withoutSecret(url) };
}

/** Describes a project's configuration once it is committed; null if the project has no target branch. */
export async function mergingOf(platform: DefinitionPlatform, project: Project): Promise<Merging | null> {
  try {
    const rules = await doneRules(platform, project, await projectRulesNow(platform, project));
    const { branch, remote, pushAllowed, checkout } = rules;
    const missing =
      rules.source === 'checkout' ? notCommitted({ branch, remote: remote?.name ?? null, checkout }) : null;
    return { ...whenDone({ ...rules, source: 'commit' }), branch, remote, pushAllowed, notCommitted: missing };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    return error.code === 'invalid_input' ? unreadable(platform, project, error) : null;
  }
}

async function unreadable(platform: DefinitionPlatform, project: Project, { message }: PawlError): Promise<Merging> {
  const { db } = platform.store;
  const branch =
    (await queueOf(db, project.id))?.branch ?? (await defaultBranch(await repositoryOf(platform, project)));
  const { pushAllowedAt } = await projectSettings(db, project.id);
  const pushAllowed = pushAllowedAt !== null;
  return { ...whenUnreadable(message), branch, remote: null, pushAllowed, notCommitted: null };
}

/** Describes what happens to an agent's branch when it is done; null if its work is not proposed automatically. */
export async function whenDoneFor(
  platform: DefinitionPlatform,
  agent: Agent,
  project: Project | null,
): Promise<WhenDone | null> {
  if (project === null || !isAuthor(agent)) return null;
  const { definition } = await rightsOf(platform, agent);
  if (!meets(definition, changeRoutes.openChange.access.needs)) return whenWithheld(definition.id);
  const trouble = await configTrouble(platform, project);
  if (trouble !== null) return whenUnreadable(trouble);
  try {
    const isScripted = platform.providers.find(agent.provider)?.scripted === true;
    const rules = await rulesForWork(platform, project);
    return whenDone(await doneRules(platform, project, rules), isScripted && !rules.config.playground);
  } catch (error) {
    if (error instanceof PawlError) return whenUnreadable(error.message);
    throw error;
  }
}

/** Uses the rules that the queue saw last if its configuration was committed, which avoids asking a remote. */
async function rulesForWork(
  platform: DefinitionPlatform,
  project: Project,
): Promise<Pick<ProjectRules, 'config' | 'branch'>> {
  const last = await projectRules(platform, project);
  const hasQueue = (await queueOf(platform.store.db, project.id)) !== null;
  return hasQueue && last.config.source === 'commit' ? last : projectRulesNow(platform, project);
}

/** True if a change is merged once its checks pass, without a person's request; false if that is unknown. */
export async function mergesByItself(platform: DefinitionPlatform, change: Change): Promise<boolean> {
  try {
    const rules = await mergeRules(platform, await projectOfChange(platform, change));
    if (!rules.enabled || !rules.hasChecks || change.queuedAt === null) return false;
    return mergeLeave(change, { ...rules, remote: rules.remote?.name ?? null }) === 'granted';
  } catch (error) {
    if (error instanceof PawlError) return false;
    throw error;
  }
}
