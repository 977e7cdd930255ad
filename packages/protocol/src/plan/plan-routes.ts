import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './plan-view.ts';
import { taskQuerySchema } from './view.ts';

const plan = z.object({ plan: z.string().min(1).max(1_000) });

/** A person's verb on one plan. */
function verbRoute<Verb extends string, Body extends z.ZodType>(verb: Verb, given: Body, description: string) {
  return defineRoute({
    access: forPeople(`${verb} a plan`, 'S3-32'),
    method: 'post',
    path: `/api/plans/{plan}/${verb}`,
    request: { params: plan, query: taskQuerySchema, body: body(given) },
    responses: answers(description, view.planDetailSchema),
  });
}

/** A person's verb that brings the work of a plan to main, or takes it away. */
function landingRoute<Verb extends string, Body extends z.ZodType>(verb: Verb, given: Body, description: string) {
  return defineRoute({
    access: forPeople(`${verb} a plan`, 'S3-32'),
    method: 'post',
    path: `/api/plans/{plan}/${verb}`,
    request: { params: plan, query: taskQuerySchema, body: body(given) },
    responses: answers(description, view.planLandingSchema),
  });
}

/** Plans: a wish, its documents, phases and tasks. */
export const planRoutes = {
  newPlan: defineRoute({
    access: forPeople('start a plan', 'S3-10'),
    method: 'post',
    path: '/api/plans',
    request: { body: body(view.newPlanSchema) },
    responses: answers('The new plan, which has one page: the wish.', view.planDetailSchema),
  }),
  listPlans: defineRoute({
    access: forAgents('list plans', '7.23'),
    method: 'get',
    path: '/api/plans',
    request: { query: view.planListQuerySchema },
    responses: answers('The plans, in the order in which they were started.', view.planListSchema),
  }),
  showPlan: defineRoute({
    access: forAgents('see a plan', '7.23'),
    method: 'get',
    path: '/api/plans/{plan}',
    request: { params: plan, query: taskQuerySchema },
    responses: answers('The plan with everything in it, and the state and cause of each part.', view.planDetailSchema),
  }),
  editPlan: defineRoute({
    access: forPeople('edit a plan', 'S3-10'),
    method: 'post',
    path: '/api/plans/{plan}/edit',
    request: { params: plan, query: taskQuerySchema, body: body(view.editPlanSchema) },
    responses: answers('The plan as it is now. An edited page ends its approval.', view.planDetailSchema),
  }),
  approvePlan: verbRoute('approve', view.approvePlanSchema, 'The plan, whose content is approved as it is now.'),
  launchPlan: verbRoute(
    'launch',
    view.launchPlanSchema,
    'The plan; its first wave starts, as far as there are places.',
  ),
  pausePlan: verbRoute(
    'pause',
    z.object({}),
    'The plan; agents that work finish their tasks, and nothing else starts.',
  ),
  resumePlan: verbRoute('resume', z.object({}), 'The resumed plan.'),
  landPlan: landingRoute('land', z.object({}), 'The changes that were asked to merge: of its branch, or of its tasks.'),
  revertPlan: landingRoute('revert', view.revertPlanSchema, 'The change that undoes its landed work.'),
  archivePlan: verbRoute('archive', z.object({}), 'The plan, which is put away.'),
} as const;
