import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/change.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const change = z.object({ change: z.string().min(1).max(256) });

/** A verb on one change: by its id, the start of it, its branch, or the alias of its author. */
function verbRoute<Verb extends string, Body extends z.ZodType, Answer extends z.ZodType>(
  verb: Verb,
  body: Body,
  [description, answer]: [string, Answer],
) {
  return createRoute({
    method: 'post',
    path: `/api/changes/{change}/${verb}`,
    request: { params: change, query: view.changeQuerySchema, body: { content: json(body), required: true } },
    responses: answers(description, answer),
  });
}

/** A verb on the queue of one project. */
function queueRoute<Verb extends string>(verb: Verb, description: string) {
  return createRoute({
    method: 'post',
    path: `/api/queues/${verb}`,
    request: { body: { content: json(view.queueBodySchema), required: true } },
    responses: answers(description, view.queueAnswerSchema),
  });
}

const nothing = z.object({});

/** The routes about changes, their checks, and the queues that merge them. */
export const changeRoutes = {
  openChange: createRoute({
    method: 'post',
    path: '/api/changes',
    request: { body: { content: json(view.openChangeSchema), required: true } },
    responses: answers(
      'The change of this branch at its tip; one that is open follows the branch. An agent proposes its own branch only.',
      view.changeOpenedSchema,
    ),
  }),
  listChanges: createRoute({
    method: 'get',
    path: '/api/changes',
    request: { query: view.changeListQuerySchema },
    responses: answers('The changes, newest first; those that are open, or all.', view.changeListSchema),
  }),
  showChange: createRoute({
    method: 'get',
    path: '/api/changes/{change}',
    request: { params: change, query: view.changeQuerySchema },
    responses: answers('The change, what was said about it, and its checks.', view.changeDetailSchema),
  }),
  diffChange: createRoute({
    method: 'get',
    path: '/api/changes/{change}/diff',
    request: { params: change, query: view.changeQuerySchema },
    responses: answers('What the change brings.', view.changeDiffSchema),
  }),
  logChange: createRoute({
    method: 'get',
    path: '/api/changes/{change}/log',
    request: { params: change, query: view.checkLogQuerySchema },
    responses: answers('The end of what its latest check printed, or the one that is named.', view.checkLogSchema),
  }),
  approveChange: verbRoute('approve', view.approveChangeSchema, [
    'The change; what its head does to the gate is accepted. Only a person may.',
    view.changeAnswerSchema,
  ]),
  fixChange: verbRoute('fix', view.fixChangeSchema, [
    'Where the conflict of the change waits to be resolved, or the change with what was resolved. Only a person may.',
    view.changeFixSchema,
  ]),
  blockChange: verbRoute('block', view.blockChangeSchema, ['The change, held.', view.changeAnswerSchema]),
  unblockChange: verbRoute('unblock', nothing, ['The change, held by nobody.', view.changeAnswerSchema]),
  commentChange: verbRoute('comment', view.commentChangeSchema, [
    'The comment, and the change with it.',
    view.commentAnswerSchema,
  ]),
  closeChange: verbRoute('close', view.closeChangeSchema, [
    'The change, closed; an agent has to say what was learned.',
    view.closedChangeSchema,
  ]),
  retryChange: verbRoute('retry', nothing, ['The change, tried again as it is.', view.changeAnswerSchema]),
  mergeChange: verbRoute('merge', view.mergeChangeSchema, [
    'The change, and what the request leads to. A person’s request merges it when its checks pass; an agent’s does so only where the project merges by itself.',
    view.mergeAnswerSchema,
  ]),
  listQueues: createRoute({
    method: 'get',
    path: '/api/queues',
    request: { query: view.changeQuerySchema },
    responses: answers('The merge queue of a project, or of each that has one.', view.queueListSchema),
  }),
  queueLog: createRoute({
    method: 'get',
    path: '/api/queues/log',
    request: { query: view.checkLogQuerySchema },
    responses: answers(
      'The end of what the latest check of the target branch printed, or the check that is named.',
      view.checkLogSchema,
    ),
  }),
  checkQueue: queueRoute('check', 'The queue, which looks at its target branch now.'),
  pauseQueue: queueRoute('pause', 'The queue, which merges nothing until it is resumed.'),
  resumeQueue: queueRoute('resume', 'The queue, which goes on.'),
  allowPush: queueRoute('allow-push', 'The queue, which may push what it merges by itself. Only a person may.'),
  forbidPush: queueRoute('forbid-push', 'The queue, which pushes only what a person asks to merge. Only a person may.'),
  taskHistory: createRoute({
    method: 'get',
    path: '/api/history',
    request: { query: view.historyQuerySchema },
    responses: answers('What became of what agents were given to do, newest first.', view.taskHistorySchema),
  }),
} as const;
