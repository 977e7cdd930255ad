import type { Place } from '@pawl/schema/place';
import { agentAt } from '@pawl/schema/place';
import { agentById, agentOfTrash, agentsWithWorktree } from '@pawl/store/agents/agents';
import { placeOfTrash, presentPlaces } from '@pawl/store/agents/places';
import type { Platform } from './platform.ts';

/** All worktrees and directories of agents that exist or were kept: in first projects, further ones, or none. */
export async function placesThere(platform: Platform): Promise<Place[]> {
  const { db } = platform.store;
  const agents = await agentsWithWorktree(db);
  const found: Place[] = agents.map((agent) => ({ agent, extra: null }));
  for (const extra of await presentPlaces(db)) {
    const agent = agents.find(({ id }) => id === extra.agentId) ?? (await agentById(db, extra.agentId));
    if (agent !== null) found.push({ agent: agentAt(agent, extra), extra });
  }
  return found;
}

/** The place whose worktree or directory is in the trash under this name; null if it belongs to no agent. */
export async function placeInTrash(platform: Platform, entry: string): Promise<Place | null> {
  const { db } = platform.store;
  const agent = await agentOfTrash(db, entry);
  if (agent !== null) return { agent, extra: null };
  const extra = await placeOfTrash(db, entry);
  const owner = extra === null ? null : await agentById(db, extra.agentId);
  return extra === null || owner === null ? null : { agent: agentAt(owner, extra), extra };
}
