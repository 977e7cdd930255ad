import type { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import { listDefinitions, projectAround, projectOfAgent } from '../definitions/home-definitions.ts';
import { lookAtTop } from '../agents/top.ts';
import { listWorktrees, pruneWorktrees, restoreFromTrash } from '../agents/worktrees/worktrees.ts';
import { listTrust, trustProject } from '../definitions/trust/trust-project.ts';
import type { AppParts } from './app.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** What concerns the home as a whole: the person's desk, all agents at once, definitions, worktrees. */
export function addHomeRoutes(app: OpenAPIHono<DoorVariables>, parts: AppParts): void {
  const { shop, agents, reconciler, signals, desk } = parts;

  app.openapi(routes.stopAll, async (context) => {
    const stopped = await signals.stopAll();
    return context.json({ agents: await Promise.all(stopped.map(agents.view)) }, 200);
  });
  app.openapi(routes.cancelRun, async (context) => {
    const { reference } = context.req.valid('param');
    const runId = await signals.runToCancel(reference, (each) => agents.find(each, 'living'));
    return context.json({ cancelled: runId === null ? [] : await signals.cancel(runId) }, 200);
  });
  app.openapi(routes.desk, async (context) => context.json(await desk.look(), 200));
  app.openapi(routes.switchDesk, async (context) => context.json(await desk.switchTo(context.req.valid('json')), 200));
  app.openapi(routes.definitions, async (context) => {
    const caller = context.get('caller');
    // An agent is told of its own project only, whatever it asks for.
    const about =
      caller.kind === 'person'
        ? await projectAround(shop, context.req.valid('query').path)
        : await projectOfAgent(shop, caller.agentId);
    return context.json(await listDefinitions(shop, about), 200);
  });
  app.openapi(routes.trustList, async (context) =>
    context.json(await listTrust(shop, context.req.valid('query').path), 200),
  );
  app.openapi(routes.trust, async (context) => context.json(await trustProject(shop, context.req.valid('json')), 200));
  app.openapi(routes.worktrees, async (context) => context.json({ worktrees: await listWorktrees(shop) }, 200));
  app.openapi(routes.restoreWorktree, async (context) =>
    context.json(await restoreFromTrash(shop, context.req.valid('param').entry), 200),
  );
  app.openapi(routes.pruneWorktrees, async (context) => {
    const { olderThanMs, force = false, dryRun = false } = context.req.valid('json');
    return context.json(await pruneWorktrees(shop, reconciler, { olderThanMs, force, dryRun }), 200);
  });
  app.openapi(routes.top, async (context) => context.json(await lookAtTop(shop, agents), 200));
}
