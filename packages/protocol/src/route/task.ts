import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/task.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const task = z.object({ task: z.string().min(1).max(1_000) });

/** A verb on one task. */
function verbRoute<Verb extends string, Body extends z.ZodType>(verb: Verb, body: Body, description: string) {
  return createRoute({
    method: 'post',
    path: `/api/tasks/{task}/${verb}`,
    request: { params: task, query: view.taskQuerySchema, body: { content: json(body), required: true } },
    responses: answers(description, view.taskAnswerSchema),
  });
}

/** The routes about planned tasks. */
export const taskRoutes = {
  addTask: createRoute({
    method: 'post',
    path: '/api/tasks',
    request: { body: { content: json(view.addTaskSchema), required: true } },
    responses: answers(
      'The task; `created` is false when an open one of the same phase has this name already.',
      view.taskAddedSchema,
    ),
  }),
  listTasks: createRoute({
    method: 'get',
    path: '/api/tasks',
    request: { query: view.taskListQuerySchema },
    responses: answers('The tasks, in the order in which they were added.', view.taskListSchema),
  }),
  showTask: createRoute({
    method: 'get',
    path: '/api/tasks/{task}',
    request: { params: task, query: view.taskQuerySchema },
    responses: answers('The task, what it waits for, and who worked on it.', view.taskDetailSchema),
  }),
  completeTask: verbRoute('done', view.taskDoneSchema, 'The task, completed.'),
  blockTask: verbRoute('block', view.taskBlockSchema, 'The task, which nobody takes up now.'),
  unblockTask: verbRoute('unblock', z.object({}), 'The task, free of its reason and of its crashes.'),
} as const;
