import { OpenAPIHono } from '@hono/zod-openapi';
import { openapi, routes } from '@pawl/protocol/routes';
import { programs, version } from '@pawl/protocol/node/programs';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import * as z from 'zod';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { lockDoor } from '../platform/http/door.ts';
import { failed } from '../platform/http/failure.ts';
import { callerRights, gateAgents } from './agent-gate.ts';
import { addPageFiles, guardAnswers } from '../web/page-files.ts';
import { addWebRoutes } from '../web/web-routes.ts';
import type { WebDoor } from '../web/web-routes.ts';
import { maskRequests } from './mask-request.ts';

/** The HTTP app with the routes that `addRoutes` adds, and the description of all of them. */
export function buildApp(
  platform: SessionPlatform,
  web: WebDoor,
  addRoutes: (app: OpenAPIHono<DoorVariables>) => void,
): OpenAPIHono<DoorVariables> {
  const app = lockedApp(platform, web);
  addRoutes(app);
  addWebRoutes(app, web);
  app.doc31(openapi.path, {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version,
      description:
        'The daemon of one home. Every route but /healthz needs the bearer token, or the session of a browser; the exchange of a code for one needs neither.',
    },
  });
  addPageFiles(app, programs.page);
  return app;
}

/** An app without routes that authenticates and authorises callers before it reads a request. */
function lockedApp(platform: SessionPlatform, web: WebDoor): OpenAPIHono<DoorVariables> {
  const app = new OpenAPIHono<DoorVariables>({
    defaultHook(result) {
      if (!result.success) throw new PawlError('invalid_input', z.prettifyError(result.error), { cause: result.error });
    },
  });
  app.onError((error, context) => failed(error, context, platform));
  app.notFound((context) =>
    failed(
      new PawlError('not_found', 'There is nothing at this path.', { hint: 'See /api/openapi.json.' }),
      context,
      platform,
    ),
  );
  guardAnswers(app);
  app.use(
    lockDoor({
      authority: platform.authority,
      port: web.port,
      webSession: web.sessions.identify,
      async isLivingAgent(agentId) {
        const agent = await agentById(platform.store.db, agentId);
        return agent !== null && agent.endedAt === null;
      },
    }),
  );

  // Authorise before reading the request.
  gateAgents(app, Object.values(routes), (agentId) => callerRights(platform, agentId));
  maskRequests(app, platform);

  app.use(async (context, next) => {
    const { method, path } = context.req;
    // Log every request that changes something, with its path.
    if (method !== 'GET')
      platform.log.info({ method, path, caller: context.get('caller'), host: context.req.header('host') }, 'request');
    await next();
  });
  return app;
}
