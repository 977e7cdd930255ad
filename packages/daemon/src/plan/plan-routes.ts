import type { OpenAPIHono } from '@hono/zod-openapi';
import { planRoutes } from '@pawl/protocol/plan/plan-routes';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { askerOf } from './asker.ts';
import { requiredPlan } from '../tasks/plan-facts.ts';
import { launchCredentials } from './launch-credentials.ts';
import { createPlanBranch } from './plan-branch.ts';
import { landPlan, revertPlan } from './plan-landing.ts';
import { approvePlan, changePlan, launchPlan } from './plan-verbs.ts';
import { createPlans } from './plans.ts';

export function addPlanRoutes(app: OpenAPIHono<DoorVariables>, { platform }: { platform: SessionPlatform }): void {
  const plans = createPlans(platform);

  app.openapi(planRoutes.newPlan, async (context) => context.json(await plans.create(context.req.valid('json')), 200));
  app.openapi(planRoutes.listPlans, async (context) => {
    const { all, ...query } = context.req.valid('query');
    return context.json(await plans.list(await askerOf(platform, context), { ...query, all: all === 'true' }), 200);
  });
  app.openapi(planRoutes.showPlan, async (context) => {
    const { plan } = context.req.valid('param');
    return context.json(await plans.show(await askerOf(platform, context), plan, context.req.valid('query')), 200);
  });
  app.openapi(planRoutes.editPlan, async (context) => {
    const { plan } = context.req.valid('param');
    return context.json(await plans.edit(plan, context.req.valid('json'), context.req.valid('query')), 200);
  });

  app.openapi(planRoutes.approvePlan, async (context) => {
    const { id } = await plans.find(null, context.req.valid('param').plan, context.req.valid('query'));
    await approvePlan(platform.store, id, context.req.valid('json'));
    return context.json(await plans.detail(id), 200);
  });
  app.openapi(planRoutes.launchPlan, async (context) => {
    const { id } = await plans.find(null, context.req.valid('param').plan, context.req.valid('query'));
    const initiative = await requiredPlan(platform.store.db, id);
    const body = context.req.valid('json');
    const chosen = await launchCredentials(platform, initiative, body);
    await createPlanBranch(platform, initiative);
    await launchPlan(platform.store, id, body, chosen);
    return context.json(await plans.detail(id), 200);
  });
  app.openapi(planRoutes.landPlan, async (context) => {
    const { id } = await plans.find(null, context.req.valid('param').plan, context.req.valid('query'));
    return context.json(await landPlan(platform, id), 200);
  });
  app.openapi(planRoutes.revertPlan, async (context) => {
    const { id } = await plans.find(null, context.req.valid('param').plan, context.req.valid('query'));
    return context.json(await revertPlan(platform, id, context.req.valid('json').of), 200);
  });
  for (const verb of ['pause', 'resume', 'archive'] as const) {
    app.openapi(planRoutes[`${verb}Plan`], async (context) => {
      const { id } = await plans.find(null, context.req.valid('param').plan, context.req.valid('query'));
      await changePlan(platform.store, id, verb);
      return context.json(await plans.detail(id), 200);
    });
  }
}
