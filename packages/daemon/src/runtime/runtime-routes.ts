import type { OpenAPIHono } from '@hono/zod-openapi';
import { runtimeRoutes } from '@pawl/protocol/runtime/routes';
import type { Project } from '@pawl/schema/record';
import type { DoorVariables } from '../platform/http/door.ts';
import { requestKey } from '../platform/http/door.ts';
import type { ChatParts } from './chat.ts';
import { chat } from './chat.ts';
import { childRecords, listRunRecords, requiredRun, runContext } from './run-records.ts';
import type { Runtime } from './runtime.ts';
import { changeInteraction, runtimeSettings } from './runtime-settings.ts';
import { workspaceState, workspaceTree } from './workspace.ts';

type RuntimeRouteParts = ChatParts & {
  runtime: Runtime;
  /** The tracked project at a path. */
  named(path: string): Promise<Project>;
};

/** Routes of the runtime contract. Only tracked projects are served, whatever path is named. */
export function addRuntimeRoutes(app: OpenAPIHono<DoorVariables>, parts: RuntimeRouteParts): void {
  const { platform, runtime, named } = parts;
  const { db } = platform.store;
  const ifNamed = async (path: string | undefined) => (path === undefined ? null : named(path));

  app.openapi(runtimeRoutes.agentRuns, async (context) => {
    const { project_root: root, session_id: sessionId, limit } = context.req.valid('query');
    const projectId = (await ifNamed(root))?.id;
    return context.json({ runs: await listRunRecords(db, { projectId, sessionId, limit }) }, 200);
  });
  app.openapi(runtimeRoutes.agentChildren, async (context) =>
    context.json({ runs: await childRecords(db, context.req.valid('query').run_id) }, 200),
  );
  app.openapi(runtimeRoutes.agentContext, async (context) => {
    const query = context.req.valid('query');
    const { agentId } = await requiredRun(db, query.run_id);
    await parts.agents.catchUp(agentId);
    return context.json(await runContext(db, query), 200);
  });
  app.openapi(runtimeRoutes.agentCancel, async (context) => {
    const run = await requiredRun(db, context.req.valid('json').run_id);
    return context.json({ cancelled_run_ids: await parts.signals.cancel(run.id, 'cancelled by user') }, 200);
  });
  app.openapi(runtimeRoutes.chat, async (context) => {
    const body = context.req.valid('json');
    const key = requestKey(context, 'chat', context.req.valid('header')['idempotency-key']);
    return context.json(await chat(parts, await ifNamed(body.project_root), body, key), 200);
  });
  app.openapi(runtimeRoutes.runtimeSettings, async (context) =>
    context.json(await runtimeSettings(platform, await named(context.req.valid('query').project_root)), 200),
  );
  app.openapi(runtimeRoutes.changeRuntimeSettings, async (context) => {
    const { project_root: root, mode } = context.req.valid('json');
    return context.json(await changeInteraction(platform, await named(root), mode), 200);
  });
  app.openapi(runtimeRoutes.workspaceTree, async (context) =>
    context.json(await workspaceTree(platform, await named(context.req.valid('query').project_root)), 200),
  );
  app.openapi(runtimeRoutes.workspaceState, async (context) =>
    context.json(await workspaceState(platform, runtime, await named(context.req.valid('query').project_root)), 200),
  );
}
