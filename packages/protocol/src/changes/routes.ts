import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { finalize, forAgents, forMains, forPeople, patch, patchOrFinalize } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';
import { checkLogSchema } from '../checks/view.ts';

const change = z.object({ change: z.string().min(1).max(256) });

/** A verb on one change, which is named by its id, the start of it, its branch, or the alias of its author. */
function verbRoute<Verb extends string, Body extends z.ZodType, Answer extends z.ZodType, A extends Access>(
  access: A,
  verb: Verb,
  given: Body,
  [description, answer]: [string, Answer],
) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/changes/{change}/${verb}`,
    request: { params: change, query: view.changeQuerySchema, body: body(given) },
    responses: answers(description, answer),
  });
}

const nothing = z.object({});

/** Changes, and their checks. */
export const changeRoutes = {
  openChange: defineRoute({
    access: forMains('change', 'open a change or move its head', 'S2-17, S4-04, S4-09', patch),
    method: 'post',
    path: '/api/changes',
    request: { body: body(view.openChangeSchema) },
    responses: answers(
      'The change of this branch at its tip; one that is open follows the branch. An agent proposes its own branch only.',
      view.changeOpenedSchema,
    ),
  }),
  listChanges: defineRoute({
    access: forAgents('list changes', '7.23'),
    method: 'get',
    path: '/api/changes',
    request: { query: view.changeListQuerySchema },
    responses: answers('The changes, newest first; those that are open, or all.', view.changeListSchema),
  }),
  showChange: defineRoute({
    access: forAgents('see a change', '7.23'),
    method: 'get',
    path: '/api/changes/{change}',
    request: { params: change, query: view.changeQuerySchema },
    responses: answers('The change, what was said about it, and its checks.', view.changeDetailSchema),
  }),
  diffChange: defineRoute({
    access: forAgents('see the diff of a change', '7.23'),
    method: 'get',
    path: '/api/changes/{change}/diff',
    request: { params: change, query: view.changeQuerySchema },
    responses: answers('What the change brings.', view.changeDiffSchema),
  }),
  logChange: defineRoute({
    access: forAgents('see the output of a check', '7.23'),
    method: 'get',
    path: '/api/changes/{change}/log',
    request: { params: change, query: view.checkLogQuerySchema },
    responses: answers('The end of what its latest check printed, or the one that is named.', checkLogSchema),
  }),
  approveChange: verbRoute(forPeople('approve a change', 'S4-07'), 'approve', view.approveChangeSchema, [
    'The change; what its head does to the gate is accepted. Only a person may.',
    view.changeAnswerSchema,
  ]),
  fixChange: verbRoute(forPeople('resolve the conflict of a change', 'S4-08'), 'fix', view.fixChangeSchema, [
    'Where the conflict of the change waits to be resolved, or the change with what was resolved. Only a person may.',
    view.changeFixSchema,
  ]),
  blockChange: verbRoute(
    forMains('change', 'block a change', 'S2-17, S4-07', patchOrFinalize),
    'block',
    view.blockChangeSchema,
    ['The change, held.', view.changeAnswerSchema],
  ),
  unblockChange: verbRoute(
    forMains('change', 'unblock a change', 'S2-17, S4-07', patchOrFinalize),
    'unblock',
    nothing,
    ['The change, no longer blocked.', view.changeAnswerSchema],
  ),
  commentChange: verbRoute(forMains('change', 'comment on a change', 'S4-14'), 'comment', view.commentChangeSchema, [
    'The comment, and the change with it.',
    view.commentAnswerSchema,
  ]),
  closeChange: verbRoute(
    {
      ...forMains('change', 'close a change', 'S2-17, S4-04, S4-07', patchOrFinalize),
      also: { when: 'the change is another agent’s', needs: { ...finalize, hears: 'changes' } },
    },
    'close',
    view.closeChangeSchema,
    ['The change, closed; an agent has to say what was learned.', view.closedChangeSchema],
  ),
  retryChange: verbRoute(forMains('change', 'retry a change', 'S2-17, S4-04', patch), 'retry', nothing, [
    'The change, tried again as it is.',
    view.changeAnswerSchema,
  ]),
  mergeChange: verbRoute(forMains('change', 'queue a change', 'S2-17, S4-04', patch), 'merge', view.mergeChangeSchema, [
    'The change, and what the request leads to. A person’s request merges it when its checks pass; an agent’s does so only where the project merges by itself.',
    view.mergeAnswerSchema,
  ]),
} as const;
