import type { OpenAPIHono } from '@hono/zod-openapi';
import { sessionRoutes } from '@pawl/protocol/sessions/routes';
import { agentById } from '@pawl/store/agents/agents';
import { agentPath, callerPath } from '../platform/search-path.ts';
import { listProviders } from './providers.ts';
import type { Platform } from '../platform/platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** Lists coding CLIs: nothing secret, so agents may ask too. */
export function addProviderRoutes(app: OpenAPIHono<DoorVariables>, { platform }: { platform: Platform }): void {
  app.openapi(sessionRoutes.listProviders, async (context) => {
    const caller = context.get('caller');
    const path =
      caller.kind === 'person'
        ? await callerPath(platform, context.req.valid('query').searchPath)
        : await agentPath(platform, await agentById(platform.store.db, caller.agentId));
    return context.json(await listProviders({ ...platform, choices: await platform.currentChoices(), path }), 200);
  });
}
