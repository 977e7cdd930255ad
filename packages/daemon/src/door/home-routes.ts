import type { OpenAPIHono } from '@hono/zod-openapi';
import { routes } from '@pawl/protocol/routes';
import { listDefinitions, projectAround, projectOfAgent } from '../definitions/home-definitions.ts';
import { readTop } from '../agents/top.ts';
import { listWorktrees, pruneWorktrees, restoreFromTrash } from '../agents/worktrees/worktrees.ts';
import { listTrust, trustProject } from '../definitions/trust/trust-project.ts';
import { offeredRules } from '../rules/file-rules.ts';
import type { Project } from '@pawl/schema/record';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { createSelection } from '../agents/selection.ts';
import type { Signals } from '../agents/signals.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { DoorVariables } from '../platform/http/door.ts';

type HomeParts = {
  platform: SessionPlatform;
  agents: Agents;
  reconciler: Reconciler;
  signals: Signals;
  selection: ReturnType<typeof createSelection>;
};

/** Routes about the home: the agent that the person acts as, all agents at once, definitions, worktrees. */
export function addHomeRoutes(app: OpenAPIHono<DoorVariables>, parts: HomeParts): void {
  const { platform, agents, reconciler, signals, selection } = parts;
  const offered = (project: Project) => offeredRules(platform, project);

  app.openapi(routes.stopAll, async (context) => {
    const stopped = await signals.stopAll();
    return context.json({ agents: await Promise.all(stopped.map(agents.view)) }, 200);
  });
  app.openapi(routes.cancelRun, async (context) => {
    const { reference } = context.req.valid('param');
    const runId = await signals.runToCancel(reference, (each) => agents.find(each, 'living'));
    return context.json({ cancelled: runId === null ? [] : await signals.cancel(runId) }, 200);
  });
  app.openapi(routes.desk, async (context) => context.json(await selection.look(), 200));
  app.openapi(routes.switchDesk, async (context) =>
    context.json(await selection.switchTo(context.req.valid('json')), 200),
  );
  app.openapi(routes.definitions, async (context) => {
    const caller = context.get('caller');
    // An agent sees its own project only.
    const about =
      caller.kind === 'person'
        ? await projectAround(platform, context.req.valid('query').path)
        : await projectOfAgent(platform, caller.agentId);
    return context.json(await listDefinitions(platform, about), 200);
  });
  app.openapi(routes.trustList, async (context) =>
    context.json(await listTrust(platform, context.req.valid('query').path, offered), 200),
  );
  app.openapi(routes.trust, async (context) =>
    context.json(await trustProject(platform, context.req.valid('json'), offered), 200),
  );
  app.openapi(routes.worktrees, async (context) => context.json({ worktrees: await listWorktrees(platform) }, 200));
  app.openapi(routes.restoreWorktree, async (context) =>
    context.json(await restoreFromTrash(platform, context.req.valid('param').entry), 200),
  );
  app.openapi(routes.pruneWorktrees, async (context) => {
    const { olderThanMs, force = false, dryRun = false } = context.req.valid('json');
    return context.json(await pruneWorktrees(platform, reconciler, { olderThanMs, force, dryRun }), 200);
  });
  app.openapi(routes.top, async (context) => context.json(await readTop(platform, agents), 200));
}
