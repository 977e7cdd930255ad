import type { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import { PawlError } from '@pawl/schema/error';
import { completeAgent } from './complete.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** Completion: an agent completes only itself; a person may complete any. */
export function addCompleteRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, agents }: { platform: SessionPlatform; agents: Agents },
): void {
  app.openapi(routes.completeAgent, async (context) => {
    const caller = context.get('caller');
    const { reference } = context.req.valid('param');
    const isOneself = reference === '@current' && caller.kind === 'agent';
    const { id } = await agents.find(isOneself ? caller.agentId : reference);
    if (caller.kind === 'agent' && caller.agentId !== id)
      throw new PawlError('forbidden', 'Agents may only complete themselves.');
    const { notified, isNew } = await completeAgent(platform, id, {
      ...context.req.valid('json'),
      byPerson: caller.kind === 'person',
    });
    const named = notified.map(({ id: notifiedId, alias }) => ({ id: notifiedId, alias }));
    return context.json({ agent: await agents.view(id), notified: named, isNew }, 200);
  });
}
