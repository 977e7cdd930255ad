import type { ProjectPlace } from '@pawl/core/sessions/input-files';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import type { Place } from '@pawl/schema/place';
import { keepOutOfCommits } from '@pawl/git/repository/exclude';
import { addWorktree, verifyWorktree } from '@pawl/git/worktree/worktree';
import { crashPoint } from '@pawl/schema/crash-point';
import { hasErrno, PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { updateAgent } from '@pawl/store/agents/agents';
import { lstat, mkdir } from 'node:fs/promises';
import { placesOf, updateWorktree, workingDirectory } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { dropForkSnapshot, ownGitDirectory, placeOf, projectOf, repositoryOf } from '../../platform/platform.ts';

/** Paths that are never committed from a worktree: the agent's input and output directories. */
const privatePaths = ['/.pawl/input/', '/.pawl/output/'];

/**
 * Creates the agent's directory: a worktree and branch in each of its projects, or a plain directory if it has none.
 * The first project's comes last, since it marks the whole as ready; a worktree that an earlier daemon created is kept.
 */
export async function makeWorktree(platform: Platform, { agent }: AgentFacts): Promise<void> {
  if (agent.projectId === null) return makeWorkspace(platform, agent);
  const [first, ...others] = await placesOf(platform.store.db, agent);
  for (const other of others) {
    if (other.agent.worktreeReadyAt !== null) continue;
    await makeOne(platform, other);
    crashPoint('spawn.after_place');
  }
  if (first !== undefined) await makeOne(platform, first);
}

async function makeOne(platform: Platform, there: Place): Promise<void> {
  const { agent } = there;
  const place = placeOf(agent);
  const project = await projectOf(platform.store, agent);
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  const snapshot = agent.snapshot === null ? {} : { snapshot: { name: agent.id, commit: agent.snapshot } };
  await addWorktree(repository, { ownDir, ...place, ...snapshot });
  await keepOutOfCommits(repository, privatePaths);
  crashPoint('spawn.after_worktree');
  await platform.store.write(async (tx) => {
    await updateWorktree(tx, there, { worktreeReadyAt: tx.now });
    const { path, branch, base } = place;
    tx.emit({ type: 'worktree.created', projectId: project.id, agentId: agent.id, data: { path, branch, base } });
  });
  if (agent.snapshot !== null) await dropForkSnapshot(platform, project.id, agent.id);
}

/** The directory of an agent without a project. It is in no repository, so git is not involved. */
async function makeWorkspace(platform: Platform, agent: Agent): Promise<void> {
  await mkdir(workingDirectory(agent), { recursive: true, mode: 0o700 });
  crashPoint('spawn.after_worktree');
  await platform.store.write((tx) => updateAgent(tx, agent.id, { worktreeReadyAt: tx.now }));
}

/**
 * Verifies, before a process starts, that each worktree of an agent exists and belongs to git, so that it never runs in
 * the wrong directory; throws for a missing one. Returns the places in order; none for an agent without a project.
 */
export async function verifyPlaces(platform: Platform, agent: Agent): Promise<ProjectPlace[]> {
  if (agent.projectId === null) await verifyDirectory(agent);
  const verified: ProjectPlace[] = [];
  for (const { agent: there } of await placesOf(platform.store.db, agent)) {
    const project = await projectOf(platform.store, there);
    const path = workingDirectory({ ...there, workdir: null });
    await verifyWorktree(await repositoryOf(platform, project), path, there.branch === null ? null : undefined);
    verified.push({ name: project.name, path, branch: there.branch, base: there.baseCommit });
  }
  return verified;
}

async function verifyDirectory(agent: Agent): Promise<void> {
  const path = workingDirectory(agent);
  const status = await lstat(path).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  });
  if (status?.isDirectory() === true) return;
  throw new PawlError('not_found', `The directory ${path} of ${agent.alias} is gone.`, {
    hint: 'Restore it from the trash (pawl worktree ls), or start a new agent.',
  });
}
