import { takeUp } from '@pawl/core/conversation';
import { PawlError } from '@pawl/schema/error';
import type { Definition } from '@pawl/schema/definition';
import type { Agent, Run } from '@pawl/schema/record';
import { projectById } from '@pawl/store/projects';
import { sessionsThatSpoke } from '@pawl/store/sessions';
import type { Database } from '@pawl/store/tables';
import { existsSync } from 'node:fs';
import type { Workshop } from './workshop.ts';

/** True when an agent's provider can go on with its conversation, and its worktree and its definition are there. */
export async function isResumable(shop: Workshop, db: Database, agent: Agent): Promise<boolean> {
  return (await hasConversation(shop, db, agent)) && isDefined(shop, db, agent);
}

/** True when the next session of an agent resumes its conversation, or begins anew because a person cleared it. */
export async function hasConversation(shop: Workshop, db: Database, agent: Agent): Promise<boolean> {
  const preset = shop.providers.find(agent.provider);
  if (preset === null || agent.worktree === null || !existsSync(agent.workdir ?? agent.worktree)) return false;
  const sessions = await sessionsThatSpoke(db, agent.id);
  if (takeUp({ agent, sessions, preset, branchable: false, hasPast: true }).conversation === 'resume') return true;
  // After a clear or a rewind nothing is left to resume: the next session begins a conversation of its own.
  return preset.resume !== null && agent.freshAfter > 0 && !sessions.some(({ no }) => no > agent.freshAfter);
}

/** A definition that was deleted meanwhile begins no new run. */
async function isDefined(shop: Workshop, db: Database, agent: Agent): Promise<boolean> {
  const project = agent.projectId === null ? null : await projectById(db, agent.projectId);
  if (project === null && agent.projectId !== null) return false;
  try {
    await shop.definitions.find(project, agent.definition);
    return true;
  } catch (error) {
    if (error instanceof PawlError) return false;
    throw error;
  }
}

/** The present definition of an agent that stays and has had no run yet, by which its first turn may begin; else null. */
export async function firstDefinition(
  shop: Workshop,
  { agent, run }: { agent: Agent; run: Run | null },
): Promise<Definition | null> {
  const waits = run === null && agent.class === 'persistent' && agent.endedAt === null && agent.adopted === null;
  if (!waits || agent.projectId === null) return null;
  const project = await projectById(shop.store.db, agent.projectId);
  return project === null ? null : ((await shop.definitions.load(project)).definitions.get(agent.definition) ?? null);
}
