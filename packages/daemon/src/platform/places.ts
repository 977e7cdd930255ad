import type { Correspondent } from '@pawl/core/mail/mail';
import type { Place } from '@pawl/schema/place';
import { agentAt, directoryOf } from '@pawl/schema/place';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import type { AgentPatch } from '@pawl/store/agents/agents';
import { updateAgent } from '@pawl/store/agents/agents';
import { placesOfAgent, updatePlace } from '@pawl/store/agents/places';
import { projectById } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** All projects of an agent with its worktree in each, the first project first; empty without a project. */
export async function placesOf(db: Database, agent: Agent): Promise<Place[]> {
  if (agent.projectId === null) return [];
  const others = agent.workdir === null ? [] : await placesOfAgent(db, agent.id);
  return [{ agent, extra: null }, ...others.map((extra) => ({ agent: agentAt(agent, extra), extra }))];
}

/** The agent as seen from one of its projects; null if it does not belong to it. */
export async function agentIn(db: Database, agent: Agent, projectId: string): Promise<Agent | null> {
  return (await placesOf(db, agent)).find((place) => place.agent.projectId === projectId)?.agent ?? null;
}

/** Updates a worktree: in the agent's row for its first project, otherwise in the place's row. */
export async function updateWorktree(
  tx: WriteTransaction,
  { agent, extra }: Place,
  patch: Pick<AgentPatch, 'baseCommit' | 'worktreeReadyAt' | 'worktreeEnd'>,
): Promise<void> {
  if (extra === null) return updateAgent(tx, agent.id, patch);
  const { baseCommit, worktreeReadyAt: readyAt, worktreeEnd: end } = patch;
  await updatePlace(tx, extra, {
    ...(baseCommit === undefined || baseCommit === null ? {} : { baseCommit }),
    ...(readyAt === undefined ? {} : { readyAt }),
    ...(end === undefined ? {} : { end }),
  });
}

/** An agent with its further projects, for the mail rules. */
export async function correspondent(db: Database, agent: Agent): Promise<Agent & Correspondent> {
  if (agent.workdir === null) return agent;
  return { ...agent, alsoIn: (await placesOfAgent(db, agent.id)).map(({ projectId }) => projectId) };
}

/** The directory that an agent's sessions run in. */
export function workingDirectory(agent: Agent): string {
  const directory = directoryOf(agent);
  if (directory !== null) return directory;
  throw new PawlError('internal', `The agent ${agent.alias} has no directory of its own.`);
}

/** The first project of an agent, or null. */
export async function projectIfAny({ db }: Pick<Store, 'db'>, agent: Agent): Promise<Project | null> {
  if (agent.projectId === null) return null;
  const project = await projectById(db, agent.projectId);
  if (project !== null) return project;
  throw new PawlError('project_not_found', `The project of ${agent.alias} is not in the registry.`);
}
