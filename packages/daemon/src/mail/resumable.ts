import { PawlError } from '@pawl/schema/error';
import type { Definition } from '@pawl/schema/definition';
import type { Agent, Run } from '@pawl/schema/record';
import { projectById } from '@pawl/store/projects/projects';
import { sessionsThatSpoke } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import { existsSync } from 'node:fs';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';

/**
 * True if `pawl resume` would continue an agent's work: its provider, worktree and definition exist. If the CLI cannot
 * resume its own conversation, the next session gets a transcript.
 */
export async function isResumable(platform: DefinitionPlatform, db: Database, agent: Agent): Promise<boolean> {
  return canStart(platform, agent) && isDefined(platform, db, agent);
}

/**
 * True if an agent can start a session and has something to continue: it has spoken, or a person cleared its
 * conversation.
 */
export async function hasConversation(platform: DefinitionPlatform, db: Database, agent: Agent): Promise<boolean> {
  return canStart(platform, agent) && (agent.freshAfter > 0 || (await sessionsThatSpoke(db, agent.id)).length > 0);
}

function canStart(platform: DefinitionPlatform, { provider, worktree, workdir }: Agent): boolean {
  return platform.providers.find(provider) !== null && worktree !== null && existsSync(workdir ?? worktree);
}

/** False if the definition was deleted, since no run may start with it. */
async function isDefined(platform: DefinitionPlatform, db: Database, agent: Agent): Promise<boolean> {
  const project = agent.projectId === null ? null : await projectById(db, agent.projectId);
  if (project === null && agent.projectId !== null) return false;
  try {
    await platform.definitions.find(project, agent.definition);
    return true;
  } catch (error) {
    if (error instanceof PawlError) return false;
    throw error;
  }
}

/** The current definition of a persistent agent without any run, with which its first turn may start; else null. */
export async function firstDefinition(
  platform: DefinitionPlatform,
  { agent, run }: { agent: Agent; run: Run | null },
): Promise<Definition | null> {
  const waits = run === null && agent.class === 'persistent' && agent.endedAt === null && agent.adopted === null;
  if (!waits || agent.projectId === null) return null;
  const project = await projectById(platform.store.db, agent.projectId);
  return project === null
    ? null
    : ((await platform.definitions.load(project)).definitions.get(agent.definition) ?? null);
}
