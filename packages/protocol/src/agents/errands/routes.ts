import * as z from 'zod';
import { forAgents, forPeople } from '../../access.ts';
import { answers, body, defineRoute, idempotency, reference } from '../../define-route.ts';
import * as view from './view.ts';

/** Errands. One is started like any other agent, with the mode `errand`. */
export const errandRoutes = {
  listErrands: defineRoute({
    access: forPeople('list errands', 'S3-56'),
    method: 'get',
    path: '/api/errands',
    request: { query: z.object({ all: z.enum(['true', 'false']).optional() }) },
    responses: answers('The errands, newest first.', view.errandListSchema),
  }),
  sendErrand: defineRoute({
    access: forPeople('message an errand', 'S3-56'),
    method: 'post',
    path: '/api/errands/{reference}/send',
    request: {
      params: reference,
      headers: idempotency,
      body: body(view.errandSendSchema),
    },
    responses: answers('The errand, told.', view.errandSentSchema),
  }),
  diffErrand: defineRoute({
    access: forAgents('see its own diff', '7.23'),
    method: 'get',
    path: '/api/errands/{reference}/diff',
    request: { params: reference },
    responses: answers('What it changed since its base, committed or not.', view.errandDiffSchema),
  }),
  mergeErrand: defineRoute({
    access: forPeople('merge an errand', 'S3-56, 7.18'),
    method: 'post',
    path: '/api/errands/{reference}/merge',
    request: { params: reference, body: body(view.errandMergeSchema) },
    responses: answers('Its work is in the branch, and the errand has ended.', view.errandMergedSchema),
  }),
  abandonErrand: defineRoute({
    access: forPeople('abandon an errand', 'S3-56'),
    method: 'post',
    path: '/api/errands/{reference}/abandon',
    request: { params: reference },
    responses: answers(
      'The errand has ended; its worktree is in the trash, its branch stays.',
      view.errandAbandonedSchema,
    ),
  }),
} as const;
