import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { delegate, forAgents, forMains, forPeople } from '../../access.ts';
import { answers, body, defineRoute, idempotency, reference, wholeNumber } from '../../define-route.ts';
import * as view from './view.ts';

/** Runs: delegations, results, cancelling. */
export const runRoutes = {
  delegate: defineRoute({
    access: forMains('spawn', 'delegate', 'S2-10, S2-13, S2-17, W2-07', delegate),
    method: 'post',
    path: '/api/delegations',
    request: {
      headers: idempotency,
      body: body(view.delegateSchema),
    },
    responses: answers(
      'The agent that was delegated to, and its run, durable before this answer. The same key gives the same ones.',
      view.delegatedSchema,
    ),
  }),
  runResult: defineRoute({
    access: forAgents('read the results of its own runs and of its children’s', 'S2-11'),
    method: 'get',
    path: '/api/runs/{run}',
    request: {
      params: z.object({ run: z.string().min(1).max(64) }),
      query: z.object({ waitMs: wholeNumber.max(limits.resultWaitMs).optional() }),
    },
    responses: answers(
      'A run and its result: at once when it has ended, else after `waitMs` at the most. An agent may ask for its own runs and those of its children.',
      view.runResultSchema,
    ),
  }),
  cancelRun: defineRoute({
    access: forPeople('cancel a run', '7.3'),
    method: 'post',
    path: '/api/runs/{reference}/cancel',
    request: { params: reference },
    responses: answers(
      'The runs that were cancelled: the one with this id, or the open one of this agent, and all that it began.',
      view.cancelAnswerSchema,
    ),
  }),
} as const;
