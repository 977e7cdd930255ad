import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './review-view.ts';
import { taskQuerySchema } from './view.ts';

const plan = z.object({ plan: z.string().min(1).max(1_000) });

/** A person's verb in the review of a phase. */
function verbRoute<Verb extends string, Body extends z.ZodType>(verb: Verb, given: Body, description: string) {
  return defineRoute({
    access: forPeople(`${verb} in the review of a phase`, 'S3-32'),
    method: 'post',
    path: `/api/plans/{plan}/review/${verb}`,
    request: { params: plan, query: taskQuerySchema, body: body(given) },
    responses: answers(description, view.phaseReviewSchema),
  });
}

/** Reviews of phases: their work, comments, answers and decisions. */
export const reviewRoutes = {
  showReview: defineRoute({
    access: forAgents('see the review of a phase', '7.23'),
    method: 'get',
    path: '/api/plans/{plan}/review',
    request: { params: plan, query: view.reviewQuerySchema },
    responses: answers('The work of a phase with its diff and threads.', view.phaseReviewSchema),
  }),
  approvePhase: verbRoute('approve', view.approvePhaseSchema, 'The review; the phases after it may start.'),
  commentPhase: verbRoute('comment', view.commentPhaseSchema, 'The review with the new thread.'),
  requestChanges: verbRoute(
    'changes',
    view.requestChangesSchema,
    'The review; one revision of the phase handles all open threads.',
  ),
  answerThread: defineRoute({
    access: forAgents('answer a review thread of its own task', 'S3-32'),
    method: 'post',
    path: '/api/threads/{thread}/answer',
    request: { params: view.threadWordSchema, body: body(view.answerThreadSchema) },
    responses: answers('The review with the answer.', view.phaseReviewSchema),
  }),
  resolveThread: defineRoute({
    access: forPeople('resolve a review thread', 'S3-32'),
    method: 'post',
    path: '/api/threads/{thread}/resolve',
    request: { params: view.threadWordSchema, body: body(z.object({})) },
    responses: answers('The review, in which the thread is closed.', view.phaseReviewSchema),
  }),
} as const;
