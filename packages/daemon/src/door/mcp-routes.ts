import type { OpenAPIHono } from '@hono/zod-openapi';
import { isOpen } from '@pawl/core/definitions/gate';
import type { HttpDoor } from '@pawl/mcp/http';
import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import { daemonRoutes } from '@pawl/protocol/daemon/routes';
import { fetchTransport } from '@pawl/protocol/fetch-transport';
import { accessByRoute } from '@pawl/protocol/routes';
import type { Context } from 'hono';
import { currentAgent } from '../registry/current-agent.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { callerRights } from './agent-gate.ts';
import type { Agents } from '../agents/agents.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { requireToken } from '../platform/http/door.ts';

/** The caller's identity, and `/mcp`: the verbs as tools, each with exactly the caller's authority. */
export function addMcpRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, agents }: { platform: DefinitionPlatform; agents: Agents },
): void {
  app.openapi(daemonRoutes.whoami, async (context) => {
    const caller = context.get('caller');
    const id = caller.kind === 'person' ? (await currentAgent(platform.store.db)).id : caller.agentId;
    const open = caller.kind === 'person' ? accessByRoute().map(([name]) => name) : await openDoors(platform, id);
    return context.json({ caller: caller.kind, agent: await agents.view(id), doors: open }, 200);
  });

  /** A client that calls this app through the same door, with the caller's token. */
  function clientOf(context: Context<DoorVariables>, signal: AbortSignal): Client {
    const authorization = context.req.header('authorization') ?? '';
    const ask = (request: Request) => {
      request.headers.set('host', 'localhost');
      request.headers.set('authorization', authorization);
      return app.fetch(request);
    };
    return createClient(fetchTransport({ url: 'http://localhost', fetch: ask }), { signal });
  }

  let door: Promise<HttpDoor> | undefined;
  /** Load it on first use, since few homes need it. */
  const openDoor = () =>
    (door ??= import('@pawl/mcp/http').then(({ createHttpDoor }) =>
      createHttpDoor(({ message }) => platform.log.debug({ message }, 'MCP request')),
    ));

  app.openAPIRegistry.registerPath(daemonRoutes.mcp);
  app.post(daemonRoutes.mcp.path, async (context) => {
    requireToken(context);
    const caller = context.get('caller');
    const access = {
      caller: caller.kind,
      connect: (signal: AbortSignal) => clientOf(context, signal),
      here: null,
      scan: null,
    };
    const name = caller.kind === 'person' ? 'person' : caller.agentId;
    return (await openDoor()).answer(name, access, context.req.raw);
  });
  // There are no sessions, so there is no stream to open or end.
  app.on(['GET', 'DELETE'], daemonRoutes.mcp.path, (context) =>
    context.json({ jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed.' }, id: null }, 405, {
      allow: 'POST',
    }),
  );
}

async function openDoors(platform: DefinitionPlatform, agentId: string): Promise<string[]> {
  const rights = await callerRights(platform, agentId);
  return accessByRoute().flatMap(([name, access]) => (isOpen(access, rights) ? [name] : []));
}
