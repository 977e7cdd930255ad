import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { finalize, forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

const task = z.object({ task: z.string().min(1).max(1_000) });

/** A verb on one task. */
function verbRoute<Verb extends string, Body extends z.ZodType, A extends Access>(
  access: A,
  verb: Verb,
  given: Body,
  description: string,
) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/tasks/{task}/${verb}`,
    request: { params: task, query: view.taskQuerySchema, body: body(given) },
    responses: answers(description, view.taskAnswerSchema),
  });
}

/** Planned tasks, and the history of all tasks. */
export const taskRoutes = {
  addTask: defineRoute({
    access: forAgents('plan a task', '7.23'),
    method: 'post',
    path: '/api/tasks',
    request: { body: body(view.addTaskSchema) },
    responses: answers(
      'The task; `created` is false when an open one of the same phase has this name already.',
      view.taskAddedSchema,
    ),
  }),
  listTasks: defineRoute({
    access: forAgents('list planned tasks', '7.23'),
    method: 'get',
    path: '/api/tasks',
    request: { query: view.taskListQuerySchema },
    responses: answers('The tasks, in the order in which they were added.', view.taskListSchema),
  }),
  showTask: defineRoute({
    access: forAgents('see a planned task', '7.23'),
    method: 'get',
    path: '/api/tasks/{task}',
    request: { params: task, query: view.taskQuerySchema },
    responses: answers('The task, what it waits for, and who worked on it.', view.taskDetailSchema),
  }),
  completeTask: verbRoute(
    {
      ...forAgents('complete a planned task', 'S2-17, S4-10'),
      also: { when: 'another agent has the task, or none has', needs: finalize },
    },
    'done',
    view.taskDoneSchema,
    'The task, completed.',
  ),
  editTask: verbRoute(
    forPeople('edit a planned task', 'S2-17'),
    'edit',
    view.editTaskSchema,
    'The task, with its new priority, or cancelled.',
  ),
  blockTask: verbRoute(
    forPeople('block a planned task', 'S2-17'),
    'block',
    view.taskBlockSchema,
    'The task, which no agent claims now.',
  ),
  unblockTask: verbRoute(
    forPeople('unblock a planned task', 'S2-17'),
    'unblock',
    z.object({}),
    'The task, free of its reason and of its crashes.',
  ),
  taskHistory: defineRoute({
    access: forAgents('read the task history', '7.23'),
    method: 'get',
    path: '/api/history',
    request: { query: view.historyQuerySchema },
    responses: answers('What became of what agents were given to do, newest first.', view.taskHistorySchema),
  }),
} as const;
