import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import type { Context } from 'hono';
import type { DoorVariables } from '../platform/http/door.ts';
import type { Platform } from '../platform/platform.ts';
import type { Asker } from './task-verbs.ts';

/** The caller of a route about plans. */
export async function askerOf(platform: Platform, context: Context<DoorVariables>): Promise<Asker> {
  const caller = context.get('caller');
  if (caller.kind === 'person') return null;
  const agent = await agentById(platform.store.db, caller.agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  return agent;
}
