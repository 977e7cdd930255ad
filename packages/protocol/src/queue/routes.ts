import type { Access } from '@pawl/schema/access';
import { forAgents, forMains, forPeople, hearsEmergency } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';
import { changeQuerySchema, checkLogQuerySchema } from '../changes/view.ts';
import { checkLogSchema } from '../checks/view.ts';

/** A verb on the queue of one project. */
function queueRoute<Verb extends string>(access: Access, verb: Verb, description: string) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/queues/${verb}`,
    request: { body: body(view.queueBodySchema) },
    responses: answers(description, view.queueAnswerSchema),
  });
}

/** Merge queues. */
export const queueRoutes = {
  listQueues: defineRoute({
    access: forAgents('see the queue', '7.23'),
    method: 'get',
    path: '/api/queues',
    request: { query: changeQuerySchema },
    responses: answers('The merge queue of a project, or of each that has one.', view.queueListSchema),
  }),
  queueLog: defineRoute({
    access: forAgents("see the output of the target branch's check", '7.23'),
    method: 'get',
    path: '/api/queues/log',
    request: { query: checkLogQuerySchema },
    responses: answers(
      'The end of what the latest check of the target branch printed, or the check that is named.',
      checkLogSchema,
    ),
  }),
  checkQueue: queueRoute(
    forMains('change', 'request a check of the target branch', 'S4-07', hearsEmergency),
    'check',
    'The queue, which looks at its target branch now.',
  ),
  pauseQueue: queueRoute(
    forPeople('pause the queue', 'S4-07'),
    'pause',
    'The queue, which merges nothing until it is resumed.',
  ),
  resumeQueue: queueRoute(forPeople('resume the queue', 'S4-07'), 'resume', 'The resumed queue.'),
  allowPush: queueRoute(
    forPeople('allow pushes by automatic merges', 'S4-07'),
    'allow-push',
    'The queue, which may push what it merges by itself. Only a person may.',
  ),
  forbidPush: queueRoute(
    forPeople('forbid pushes by automatic merges', 'S4-07'),
    'forbid-push',
    'The queue, which pushes only what a person asks to merge. Only a person may.',
  ),
} as const;
