import type { Agent } from '@pawl/schema/record';
import { sessionsThatSpoke } from '@pawl/store/sessions';
import type { Database } from '@pawl/store/tables';
import { existsSync } from 'node:fs';
import type { Workshop } from './workshop.ts';

/** True when an agent's provider can go on with its conversation, and its worktree is there. */
export async function isResumable(shop: Workshop, db: Database, agent: Agent): Promise<boolean> {
  const preset = shop.providers.find(agent.provider);
  if (preset === null || preset.resume === null) return false;
  if (agent.worktree === null || !existsSync(agent.worktree)) return false;
  const spoke = await sessionsThatSpoke(db, agent.id);
  return spoke.some((session) => session.providerSessionId !== null && session.no > agent.freshAfter);
}
