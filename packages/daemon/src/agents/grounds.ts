import type { Repository } from '@pawl/git/repository/repository';
import { listBranches, openRepository } from '@pawl/git/repository/repository';
import type { Home } from '@pawl/protocol/node/home';
import type { ForkBody, WorkBody } from '@pawl/protocol/agents/verb-view';
import { hasErrno, PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { projectByName, projectByRoot } from '@pawl/store/projects/projects';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { placesOf } from '../platform/places.ts';
import type { Platform } from '../platform/platform.ts';
import { projectOf, repositoryOf } from '../platform/platform.ts';
import { refuseUntracked } from '../platform/project-settings.ts';

export type Ground = { project: Project; repository: Repository };

/** The prefix of agents' branches. */
export const branchPrefix = 'work/';

/** The requested projects for new work, the first one first; empty for work without a project. */
export async function groundsAskedFor(
  platform: Platform,
  { path, projects, noProject = false }: Pick<WorkBody, 'path' | 'projects' | 'noProject'>,
): Promise<Ground[]> {
  const words = projects ?? (path === undefined ? [] : [path]);
  if (projects !== undefined && path !== undefined) {
    throw new PawlError('invalid_input', 'Give `path` or `projects`, not both.');
  }
  if (noProject && words.length > 0) {
    throw new PawlError('invalid_input', 'Work without a project cannot name one.', {
      hint: 'Omit --no-project, or every --project.',
    });
  }
  if (!noProject && words.length === 0) {
    throw new PawlError('invalid_input', 'No project given.', {
      hint: 'Name a project or a path, or ask for work without a project.',
    });
  }
  const grounds: Ground[] = [];
  for (const word of words) {
    const ground = await groundOf(platform, word);
    if (grounds.some(({ project }) => project.id === ground.project.id)) {
      throw new PawlError('invalid_input', `The project ${ground.project.name} is named twice.`, {
        hint: 'Name each project once.',
      });
    }
    grounds.push(ground);
  }
  return grounds;
}

/** The projects of a child: its parent's or, if that has none, the one that is named. */
export async function groundsOfFork(
  platform: Platform,
  parent: Agent,
  { project, path }: Pick<ForkBody, 'project' | 'path'>,
): Promise<Ground[]> {
  const places = await placesOf(platform.store.db, parent);
  if (places.length > 0) {
    const projects = await Promise.all(places.map(({ agent }) => projectOf(platform.store, agent)));
    return Promise.all(
      projects.map(async (project) => ({ project, repository: await repositoryOf(platform, project) })),
    );
  }
  const word = project ?? (parent.parentId === null ? path : undefined);
  if (word !== undefined) return [await groundOf(platform, word)];
  if (parent.parentId !== null) return [];
  throw new PawlError('invalid_input', 'A fork of agent 0 needs a repository.', {
    hint: 'Run this inside one, or name it with -C.',
  });
}

/** Refuses an agent that requests work in a project it does not belong to. */
export async function refuseForeignGrounds(
  platform: Platform,
  agent: Agent,
  grounds: readonly Ground[],
): Promise<void> {
  const own = (await placesOf(platform.store.db, agent)).map((place) => place.agent.projectId);
  const foreign = grounds.find(({ project }) => !own.includes(project.id));
  if (foreign === undefined && (grounds.length > 0 || own.length === 0)) return;
  const what =
    foreign === undefined ? 'may not start work without a project' : `does not belong to ${foreign.project.name}`;
  throw new PawlError('forbidden', `${agent.alias} ${what}: agents may only start work in their own projects.`);
}

/** An absolute path means the repository around it; any other word is a project name. */
async function groundOf(platform: Platform, word: string): Promise<Ground> {
  const ground = await registered(platform, word);
  await refuseUntracked(platform.store.db, ground.project);
  return ground;
}

async function registered(platform: Platform, word: string): Promise<Ground> {
  if (isAbsolute(word)) {
    const repository = await openRepository(word);
    const project = await projectByRoot(platform.store.db, repository.root);
    if (project !== null) return { project, repository };
    throw new PawlError('project_not_found', `${repository.root} is not a project yet.`, {
      hint: 'Run `pawl init` there first.',
    });
  }
  const project = await projectByName(platform.store.db, word);
  if (project !== null) return { project, repository: await repositoryOf(platform, project) };
  throw new PawlError('project_not_found', `There is no project ${JSON.stringify(word.slice(0, 80))}.`, {
    hint: 'Name a project that `pawl init` has added, or the path of its repository.',
  });
}

/**
 * Chooses where an agent works: for one project, a worktree at the default path; for several, a worktree each in one working
 * directory; without a project, a plain directory.
 */
export function layoutOf(
  home: Home,
  alias: string,
  projects: readonly Project[],
): { worktree: string; workdir: string | null; others: string[] } {
  const [first, ...others] = projects;
  const workdir = join(home.agentWorkdirs, alias);
  if (first === undefined) return { worktree: join(workdir, 'workspace'), workdir: null, others: [] };
  if (others.length === 0) return { worktree: join(home.worktrees, first.name, alias), workdir: null, others: [] };
  return { worktree: join(workdir, first.name), workdir, others: others.map(({ name }) => join(workdir, name)) };
}

/** Aliases that are taken by a branch in one of the repositories or by a working directory. */
export async function namesInUse(home: Home, grounds: readonly Ground[]): Promise<string[]> {
  const names = grounds.length === 1 ? [] : await namesIn(home.agentWorkdirs);
  for (const { repository } of grounds) {
    const branches = await listBranches(repository, branchPrefix);
    names.push(...branches.map(({ name }) => name.slice(branchPrefix.length)));
  }
  return names;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
