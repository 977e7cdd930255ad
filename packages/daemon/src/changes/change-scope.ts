import type { Asker } from '@pawl/core/changes/change-rights';
import { isOver } from '@pawl/core/changes/change-life';
import { openRepository } from '@pawl/git/repository/repository';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { agentById, findAgents } from '@pawl/store/agents/agents';
import { changesMadeBy, findChanges } from '@pawl/store/changes/changes';
import { projectById, projectByName, projectByRoot } from '@pawl/store/projects/projects';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Caller } from '../platform/http/authority.ts';
import { rightsOf } from '../definitions/home-definitions.ts';
import { agentIn, placesOf } from '../platform/places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { projectOf } from '../platform/platform.ts';

/** A project by path, name or id. */
export type ProjectQuery = { path?: string | undefined; project?: string | undefined };

/** A caller with its rights; an agent comes with its definition in force. */
export async function askerOf(platform: DefinitionPlatform, caller: Caller): Promise<Asker> {
  if (caller.kind === 'person') return { is: 'person' };
  const agent = await agentById(platform.store.db, caller.agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  const { definition } = await rightsOf(platform, agent);
  return { is: 'agent', agent, definition };
}

/** The named project; an agent has only its own, by default its first one. Null if a person names none. */
export async function projectMeant(
  platform: DefinitionPlatform,
  asker: Asker,
  query: ProjectQuery,
): Promise<Project | null> {
  const own = asker.is === 'person' ? null : await projectOf(platform.store, asker.agent);
  const named = await namedProject(platform, query);
  if (own === null || named === null || own.id === named.id) return named ?? own;
  if (asker.is === 'agent' && (await agentIn(platform.store.db, asker.agent, named.id)) !== null) return named;
  throw new PawlError('forbidden', 'Agents may only access changes of their own project.');
}

/** The caller as seen from the project: an agent with several projects has a branch in each. */
export async function askerIn(platform: DefinitionPlatform, asker: Asker, projectId: string): Promise<Asker> {
  if (asker.is === 'person') return asker;
  return { ...asker, agent: (await agentIn(platform.store.db, asker.agent, projectId)) ?? asker.agent };
}

/** The projects to search for a change: the named one, else all of an agent's; null means all. */
async function projectsToSearch(
  platform: DefinitionPlatform,
  asker: Asker,
  query: ProjectQuery,
): Promise<(string | null)[]> {
  const project = await projectMeant(platform, asker, query);
  const isNamed = query.path !== undefined || query.project !== undefined;
  if (asker.is === 'person' || isNamed) return [project?.id ?? null];
  return (await placesOf(platform.store.db, asker.agent)).map(({ agent }) => agent.projectId);
}

/** Like `projectMeant`, but throws if no project is given. */
export async function projectRequired(
  platform: DefinitionPlatform,
  asker: Asker,
  query: ProjectQuery,
): Promise<Project> {
  const project = await projectMeant(platform, asker, query);
  if (project !== null) return project;
  throw new PawlError('invalid_input', 'No project given.', {
    hint: 'Run this inside a project, or name it with -C.',
  });
}

export async function projectOfChange(
  { store }: DefinitionPlatform,
  { projectId }: Pick<Change, 'projectId'>,
): Promise<Project> {
  const project = await projectById(store.db, projectId);
  if (project === null) throw new PawlError('project_not_found', `There is no project ${projectId}.`);
  return project;
}

async function namedProject(platform: DefinitionPlatform, { path, project }: ProjectQuery): Promise<Project | null> {
  const { db } = platform.store;
  if (project !== undefined) {
    const found = (await projectByName(db, project)) ?? (await projectById(db, project));
    if (found !== null) return found;
    throw new PawlError('project_not_found', `There is no project ${JSON.stringify(project.slice(0, 80))}.`, {
      hint: 'Make a repository a project with `pawl init`.',
    });
  }
  if (path === undefined) return null;
  // The root of a project needs no search, and is the usual case.
  const known = existsSync(join(path, '.git')) ? await projectByRoot(db, path) : null;
  if (known !== null) return known;
  const { root } = await openRepository(path);
  const found = await projectByRoot(db, root);
  if (found !== null) return found;
  throw new PawlError('project_not_found', `${root} is not a project yet.`, { hint: 'Run `pawl init` there first.' });
}

/** The shortest id prefix that is accepted. */
const prefixCharacters = 4;

/** Resolves a change by id, id prefix, branch or author; of the last two, takes the latest. */
export async function changeMeant(
  platform: DefinitionPlatform,
  asker: Asker,
  reference: string,
  query: ProjectQuery,
): Promise<Change> {
  const { db } = platform.store;
  const projects = await projectsToSearch(platform, asker, query);
  const found = (await Promise.all(projects.map((id) => findChanges(db, reference, id ?? undefined)))).flat();
  const exact = found.find(({ id }) => id === reference);
  if (exact !== undefined) return exact;
  const ofBranch = found.filter(({ branch }) => branch === reference);
  const meant = ofBranch.length > 0 ? latestOf(ofBranch) : reference.length >= prefixCharacters ? found : [];
  const matches = meant.length > 0 ? meant : await byAuthor(platform, reference, projects);
  const [first, ...others] = matches;
  if (first === undefined) {
    throw new PawlError('not_found', `There is no change ${JSON.stringify(reference.slice(0, 80))}.`, {
      hint: 'Run `pawl change ls --all`; an id, the first 4 or more characters of it, a branch, or the alias of who made it will do.',
    });
  }
  if (others.length === 0) return first;
  const named = matches.map(({ id, branch }) => `${id} (${branch})`).join(', ');
  throw new PawlError('ambiguous', `${JSON.stringify(reference.slice(0, 80))} fits more than one change: ${named}.`, {
    hint: 'Give more characters of the id, or name the project with -C.',
  });
}

/** Of the changes of one branch name, newest first: in each project the one that is open, else the newest. */
function latestOf(changes: readonly Change[]): Change[] {
  const latest = new Map<string, Change>();
  for (const change of changes) {
    const known = latest.get(change.projectId);
    if (known === undefined || (isOver(known) && !isOver(change))) latest.set(change.projectId, change);
  }
  return [...latest.values()];
}

async function byAuthor(
  platform: DefinitionPlatform,
  reference: string,
  projects: readonly (string | null)[],
): Promise<Change[]> {
  const { db } = platform.store;
  const newest = new Map<string, Change>();
  // Aliases are reused: take the latest agent with this one, in each of its projects.
  for (const { id } of await findAgents(db, reference)) {
    const latest = new Map<string, Change>();
    for (const change of (await changesMadeBy(db, id)).toReversed()) latest.set(change.projectId, change);
    for (const [projectId, change] of latest)
      if (!newest.has(projectId) && (projects.includes(null) || projects.includes(projectId)))
        newest.set(projectId, change);
  }
  return [...newest.values()];
}
