import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AgentCaller } from '@pawl/core/definitions/gate';
import { checkAccess, personOnly } from '@pawl/core/definitions/gate';
import { openapi, routes } from '@pawl/protocol/routes';
import type { Access } from '@pawl/schema/access';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import type { MiddlewareHandler } from 'hono';
import { rightsOf } from '../definitions/home-definitions.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** A route as the gate sees it. The types demand access; a route without it refuses agents anyway. */
type GatedRoute = { method: string; getRoutingPath(): string; access?: Access };

/**
 * Admits an agent's token only to routes whose access allows its kind and definition. Add it before the handlers.
 * People pass, and so does the one path without a token.
 */
export function gateAgents(
  app: OpenAPIHono<DoorVariables>,
  gated: readonly GatedRoute[],
  rightsOfCaller: (agentId: string) => Promise<AgentCaller>,
): void {
  const at =
    (access: Access | undefined): MiddlewareHandler<DoorVariables> =>
    async (context, next) => {
      const caller = context.get('caller');
      if (caller?.kind === 'agent') await refuse(access, () => rightsOfCaller(caller.agentId));
      context.set('isGated', true);
      return next();
    };
  for (const route of gated) app.on(route.method, route.getRoutingPath(), at(route.access));
  app.get(openapi.path, at(openapi.access));
  // The protocol requires a refusal for these methods.
  app.on(['GET', 'DELETE'], routes.mcp.path, at(routes.mcp.access));
  app.use(async (context, next) => {
    if (context.get('caller')?.kind !== 'agent' || context.get('isGated') === true) return next();
    throw new PawlError('forbidden', 'This path is not open to agents.', { hint: `See ${openapi.path}.` });
  });
}

export async function callerRights(platform: DefinitionPlatform, agentId: string): Promise<AgentCaller> {
  const agent = await agentById(platform.store.db, agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  return rightsOf(platform, agent);
}

async function refuse(access: Access | undefined, rights: () => Promise<AgentCaller>): Promise<void> {
  if (access === undefined || access.agents === 'none') throw personOnly();
  const { agents, needs } = access;
  // Most routes require nothing of a definition, so skip the lookup.
  if (agents === 'any' && needs.actions.length === 0 && needs.hears === undefined) return;
  checkAccess(access, await rights());
}
