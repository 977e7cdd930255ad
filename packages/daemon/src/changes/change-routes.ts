import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Asker } from '@pawl/core/changes/change-rights';
import { unpushedWarning } from '@pawl/core/changes/diverged';
import type { DoneRules } from '@pawl/core/changes/when-done';
import { mergeNote } from '@pawl/core/changes/when-done';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Project } from '@pawl/schema/record';
import { listChanges } from '@pawl/store/changes/changes';
import type { Context } from 'hono';
import { closeChange } from './change-close.ts';
import { commentChange } from './change-comments.ts';
import { fixChange } from './repair/change-fix.ts';
import { openChange } from './change-open.ts';
import type { ProjectQuery } from './change-scope.ts';
import { askerIn, askerOf, changeMeant, projectMeant, projectOfChange, projectRequired } from './change-scope.ts';
import { approveChange, blockChange, mergeChange, retryChange, unblockChange } from './change-verbs.ts';
import { detailOf, diffOf, named, viewChanges, viewOf } from './change-view.ts';
import { readLog } from '../checks/check-view.ts';
import { unpushedOf } from '../project-config/unpushed.ts';
import { mergeRules } from './merge-rules.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

type ChangeRouteParts = {
  platform: SessionPlatform;
  reconciler: Reconciler;
  queue: { recordTarget(projectId: string): Promise<void> };
};

/** Routes for changes. Each caller acts as itself; core decides what an agent may do. */
export function addChangeRoutes(app: OpenAPIHono<DoorVariables>, parts: ChangeRouteParts): void {
  addReadingRoutes(app, parts);
  addDecisionRoutes(app, parts);
}

/** Opens changes, and shows them. */
function addReadingRoutes(app: OpenAPIHono<DoorVariables>, { platform }: ChangeRouteParts): void {
  const { db } = platform.store;
  const asking = (context: Context<DoorVariables>) => askerOf(platform, context.get('caller'));
  const meant = (...words: Meant) => changeFor(platform, ...words);
  app.openapi(changeRoutes.openChange, async (context) => {
    const { path, project: word, ...given } = context.req.valid('json');
    const caller = await asking(context);
    const project = await projectRequired(platform, caller, { path, project: word });
    const asker = await askerIn(platform, caller, project.id);
    const { change, created, moved } = await openChange(platform, { ...given, asker, project });
    return context.json({ change: await viewOf(platform, change.id), created, moved }, 200);
  });
  app.openapi(changeRoutes.listChanges, async (context) => {
    const { all, limit = limits.usualChanges, ...query } = context.req.valid('query');
    const project = await projectMeant(platform, await asking(context), query);
    const filter = { open: all !== 'true', limit: limit + 1, ...(project === null ? {} : { projectId: project.id }) };
    const found = await listChanges(db, filter);
    return context.json(
      { changes: await viewChanges(platform, found.slice(0, limit)), more: found.length > limit },
      200,
    );
  });
  app.openapi(changeRoutes.showChange, async (context) => {
    const { change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    return context.json(await detailOf(platform, change), 200);
  });
  app.openapi(changeRoutes.diffChange, async (context) => {
    const { change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    return context.json(await diffOf(platform, change), 200);
  });
  app.openapi(changeRoutes.logChange, async (context) => {
    const { check, ...query } = context.req.valid('query');
    const { change } = await meant(context, context.req.valid('param').change, query);
    return context.json(await readLog(db, change, check), 200);
  });
}

/** Decisions about a change, and its way to main. */
function addDecisionRoutes(app: OpenAPIHono<DoorVariables>, { platform, queue, reconciler }: ChangeRouteParts): void {
  const meant = (...words: Meant) => changeFor(platform, ...words);
  app.openapi(changeRoutes.approveChange, async (context) => {
    const { change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    await approveChange(platform, { changeId: change.id, head: context.req.valid('json').head });
    return context.json({ change: await viewOf(platform, change.id) }, 200);
  });
  app.openapi(changeRoutes.fixChange, async (context) => {
    const { change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    const { proceed = false } = context.req.valid('json');
    const fix = await fixChange(platform, reconciler, { changeId: change.id, proceed });
    return context.json({ change: await viewOf(platform, change.id), ...fix }, 200);
  });
  app.openapi(changeRoutes.blockChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    await blockChange(platform, { asker, changeId: change.id, ...context.req.valid('json') });
    return context.json({ change: await viewOf(platform, change.id) }, 200);
  });
  app.openapi(changeRoutes.unblockChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    await unblockChange(platform, { asker, changeId: change.id });
    return context.json({ change: await viewOf(platform, change.id) }, 200);
  });
  app.openapi(changeRoutes.commentChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    const comment = await commentChange(platform, {
      asker,
      changeId: change.id,
      ...context.req.valid('json'),
    });
    const author = await named(platform.store.db, comment.agentId);
    return context.json({ change: await viewOf(platform, change.id), comment: { ...comment, author } }, 200);
  });
  app.openapi(changeRoutes.closeChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    const { learnings } = await closeChange(platform, { asker, change, ...context.req.valid('json') });
    return context.json({ change: await viewOf(platform, change.id), learnings }, 200);
  });
  app.openapi(changeRoutes.retryChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    await retryChange(platform, { asker, changeId: change.id });
    return context.json({ change: await viewOf(platform, change.id) }, 200);
  });
  app.openapi(changeRoutes.mergeChange, async (context) => {
    const { asker, change } = await meant(context, context.req.valid('param').change, context.req.valid('query'));
    const project = await projectOfChange(platform, change);
    const done = await rulesForMerge({ platform, queue }, project);
    const unpushed = await unpushedOf(platform, project);
    const rules = { ...done, remote: done.remote?.name ?? null };
    await mergeChange(platform, { asker, changeId: change.id, rules, ...context.req.valid('json') });
    const view = await viewOf(platform, change.id);
    const warning = unpushed === null || view.mergedAt !== null ? null : unpushedWarning(unpushed);
    return context.json({ change: view, note: mergeNote(view, done), warning }, 200);
  });
}

/** A request, the change that it names, and where to look for it. */
type Meant = [context: Context<DoorVariables>, reference: string, query: ProjectQuery];

/** The change that a request names, and its caller in the change's project. */
async function changeFor(
  platform: SessionPlatform,
  ...[context, reference, query]: Meant
): Promise<{ asker: Asker; change: Change }> {
  const asker = await askerOf(platform, context.get('caller'));
  const change = await changeMeant(platform, asker, reference, query);
  return { asker: await askerIn(platform, asker, change.projectId), change };
}

/** A configuration that the queue has not seen yet may be committed by now. */
async function rulesForMerge(
  { platform, queue }: Pick<ChangeRouteParts, 'platform' | 'queue'>,
  project: Project,
): Promise<DoneRules> {
  const rules = await mergeRules(platform, project);
  if (rules.source === 'commit') return rules;
  await queue.recordTarget(project.id);
  return mergeRules(platform, project);
}
