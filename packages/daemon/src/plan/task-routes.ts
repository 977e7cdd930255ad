import type { OpenAPIHono } from '@hono/zod-openapi';
import { taskRoutes } from '@pawl/protocol/plan/routes';
import { askerOf } from './asker.ts';
import { createTaskVerbs } from './task-verbs.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { DoorVariables } from '../platform/http/door.ts';

export function addTaskRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, agents }: { platform: DefinitionPlatform; agents: Agents },
): void {
  const tasks = createTaskVerbs(platform, agents);

  app.openapi(taskRoutes.addTask, async (context) =>
    context.json(await tasks.add(await askerOf(platform, context), context.req.valid('json')), 200),
  );
  app.openapi(taskRoutes.listTasks, async (context) => {
    const { all, ...query } = context.req.valid('query');
    return context.json(await tasks.list(await askerOf(platform, context), { ...query, all: all === 'true' }), 200);
  });
  app.openapi(taskRoutes.showTask, async (context) => {
    const { task } = context.req.valid('param');
    return context.json(await tasks.show(await askerOf(platform, context), task, context.req.valid('query')), 200);
  });
  app.openapi(taskRoutes.completeTask, async (context) => {
    const { task } = context.req.valid('param');
    const query = { ...context.req.valid('query'), ...context.req.valid('json') };
    return context.json({ task: await tasks.complete(await askerOf(platform, context), task, query) }, 200);
  });
  app.openapi(taskRoutes.editTask, async (context) => {
    const query = { ...context.req.valid('query'), ...context.req.valid('json') };
    return context.json({ task: await tasks.edit(context.req.valid('param').task, query) }, 200);
  });
  app.openapi(taskRoutes.blockTask, async (context) => {
    const query = { ...context.req.valid('query'), ...context.req.valid('json') };
    return context.json({ task: await tasks.block(context.req.valid('param').task, query) }, 200);
  });
  app.openapi(taskRoutes.unblockTask, async (context) => {
    const { task } = context.req.valid('param');
    return context.json({ task: await tasks.unblock(task, context.req.valid('query')) }, 200);
  });
}
