import type { OpenAPIHono } from '@hono/zod-openapi';
import { taskRoutes } from '@pawl/protocol/plan/routes';
import { queueRoutes } from '@pawl/protocol/queue/routes';
import type { Project } from '@pawl/schema/record';
import { beginQueue, queueOf, updateQueue } from '@pawl/store/changes/queues';
import { projectRules } from '../project-config/project-rules.ts';
import { askerOf, projectMeant, projectRequired } from '../changes/change-scope.ts';
import { readMainLog } from '../checks/check-view.ts';
import { allowPush, refuseWithoutRemote } from '../changes/push-permission.ts';
import { projectsWithQueue, viewQueue } from './queue-view.ts';
import { taskHistory } from '../plan/task-history.ts';
import type { MergeQueues } from './merge-queues.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

export function addQueueRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, mergeQueues }: { platform: DefinitionPlatform; mergeQueues: Pick<MergeQueues, 'checkMain'> },
): void {
  const { store } = platform;

  /** Starts a queue if necessary, and pauses or continues it. */
  async function setPause(project: Project, isPaused: boolean): Promise<void> {
    const { branch } = await projectRules(platform, project);
    await store.write(async (tx) => {
      await beginQueue(tx, project.id, branch);
      const pausedAt = (await queueOf(tx.db, project.id))?.pausedAt ?? null;
      if ((pausedAt !== null) === isPaused) return;
      await updateQueue(tx, project.id, { pausedAt: isPaused ? tx.now : null });
      tx.emit({ type: isPaused ? 'queue.paused' : 'queue.resumed', projectId: project.id, data: { by: 'a person' } });
    });
  }

  async function setPush(project: Project, isAllowed: boolean): Promise<void> {
    if (isAllowed) await refuseWithoutRemote(platform, project);
    await store.write((tx) => allowPush(tx, project.id, isAllowed));
  }

  app.openapi(queueRoutes.listQueues, async (context) => {
    const asker = await askerOf(platform, context.get('caller'));
    const project = await projectMeant(platform, asker, context.req.valid('query'));
    const projects = project === null ? await projectsWithQueue(platform) : [project];
    const queues = [];
    for (const each of projects) queues.push(await viewQueue(platform, each));
    return context.json({ queues }, 200);
  });
  app.openapi(queueRoutes.queueLog, async (context) => {
    const { check, ...query } = context.req.valid('query');
    const project = await projectRequired(platform, await askerOf(platform, context.get('caller')), query);
    return context.json(await readMainLog(store.db, project.id, check), 200);
  });
  app.openapi(queueRoutes.checkQueue, async (context) => {
    const project = await projectRequired(
      platform,
      await askerOf(platform, context.get('caller')),
      context.req.valid('json'),
    );
    const { branch } = await projectRules(platform, project);
    await store.write((tx) => beginQueue(tx, project.id, branch));
    await mergeQueues.checkMain(project.id);
    return context.json({ queue: await viewQueue(platform, project) }, 200);
  });
  app.openapi(queueRoutes.pauseQueue, async (context) => {
    const project = await projectRequired(platform, { is: 'person' }, context.req.valid('json'));
    await setPause(project, true);
    return context.json({ queue: await viewQueue(platform, project) }, 200);
  });
  app.openapi(queueRoutes.resumeQueue, async (context) => {
    const project = await projectRequired(platform, { is: 'person' }, context.req.valid('json'));
    await setPause(project, false);
    return context.json({ queue: await viewQueue(platform, project) }, 200);
  });
  app.openapi(queueRoutes.allowPush, async (context) => {
    const project = await projectRequired(platform, { is: 'person' }, context.req.valid('json'));
    await setPush(project, true);
    return context.json({ queue: await viewQueue(platform, project) }, 200);
  });
  app.openapi(queueRoutes.forbidPush, async (context) => {
    const project = await projectRequired(platform, { is: 'person' }, context.req.valid('json'));
    await setPush(project, false);
    return context.json({ queue: await viewQueue(platform, project) }, 200);
  });
  app.openapi(taskRoutes.taskHistory, async (context) => {
    const { limit, ...query } = context.req.valid('query');
    const project = await projectMeant(platform, await askerOf(platform, context.get('caller')), query);
    return context.json({ tasks: await taskHistory(platform, { project, limit }) }, 200);
  });
}
