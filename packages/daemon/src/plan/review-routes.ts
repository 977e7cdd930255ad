import type { OpenAPIHono } from '@hono/zod-openapi';
import { reviewRoutes } from '@pawl/protocol/plan/review-routes';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { askerOf } from './asker.ts';
import { createPlans } from './plans.ts';
import { answerThread, approvePhase, commentPhase, requestChanges, resolveThread, showReview } from './reviews.ts';

export function addReviewRoutes(app: OpenAPIHono<DoorVariables>, { platform }: { platform: DefinitionPlatform }): void {
  const plans = createPlans(platform);
  const planOf = async (plan: string, query: { path?: string | undefined }) => (await plans.find(null, plan, query)).id;

  app.openapi(reviewRoutes.showReview, async (context) => {
    const { phase, ...query } = context.req.valid('query');
    const asker = await askerOf(platform, context);
    const { id } = await plans.find(asker, context.req.valid('param').plan, query);
    return context.json(await showReview(platform, id, phase), 200);
  });
  app.openapi(reviewRoutes.approvePhase, async (context) => {
    const id = await planOf(context.req.valid('param').plan, context.req.valid('query'));
    return context.json(await approvePhase(platform, id, context.req.valid('json')), 200);
  });
  app.openapi(reviewRoutes.commentPhase, async (context) => {
    const id = await planOf(context.req.valid('param').plan, context.req.valid('query'));
    return context.json(await commentPhase(platform, id, context.req.valid('json')), 200);
  });
  app.openapi(reviewRoutes.requestChanges, async (context) => {
    const id = await planOf(context.req.valid('param').plan, context.req.valid('query'));
    return context.json(await requestChanges(platform, id, context.req.valid('json')), 200);
  });
  app.openapi(reviewRoutes.answerThread, async (context) => {
    const { answer } = context.req.valid('json');
    const asker = await askerOf(platform, context);
    return context.json(await answerThread(platform, asker, context.req.valid('param').thread, answer), 200);
  });
  app.openapi(reviewRoutes.resolveThread, async (context) =>
    context.json(await resolveThread(platform, context.req.valid('param').thread), 200),
  );
}
