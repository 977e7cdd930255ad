import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Door } from '@pawl/core/definitions/action-table';
import { doors } from '@pawl/core/definitions/action-table';
import { personOnly, refuseDoor } from '@pawl/core/definitions/gate';
import { routes } from '@pawl/protocol/routes';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import type { MiddlewareHandler } from 'hono';
import { rightsOf } from '../definitions/home-definitions.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

export const openapiPath = '/api/openapi.json';

/** Every route needs a decision about agents: without one this does not compile, and the route refuses them. */
const doorOfRoute: Record<keyof typeof routes, Door> = doors;

/**
 * Lets an agent's token into those routes only that core's table opens to its kind and definition. To be added before the
 * handlers. People pass; so does the one path that needs no token.
 */
export function gateAgents(app: OpenAPIHono<DoorVariables>, platform: DefinitionPlatform): void {
  const at =
    (door: Door): MiddlewareHandler<DoorVariables> =>
    async (context, next) => {
      const caller = context.get('caller');
      if (caller?.kind === 'agent') await refuse(platform, caller.agentId, door);
      context.set('isGated', true);
      return next();
    };
  for (const [name, route] of Object.entries(routes))
    app.on(route.method, route.getRoutingPath(), at(doorOfRoute[name as keyof typeof routes]));
  app.get(openapiPath, at(doors.openapi));
  // These methods are answered too, with a refusal that the protocol asks for.
  app.on(['GET', 'DELETE'], routes.mcp.path, at(doors.mcp));
  app.use(async (context, next) => {
    if (context.get('caller')?.kind !== 'agent' || context.get('isGated') === true) return next();
    throw new PawlError('forbidden', 'This path is not open to agents.', { hint: `See ${openapiPath}.` });
  });
}

async function refuse(platform: DefinitionPlatform, agentId: string, door: Door): Promise<void> {
  const { agents, needs } = door;
  // Most routes ask nothing of a definition; then none is looked for.
  if (agents === 'any' && needs.actions.length === 0 && needs.hears === undefined) return;
  if (agents === 'none') throw personOnly();
  const agent = await agentById(platform.store.db, agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  refuseDoor(door, await rightsOf(platform, agent));
}
