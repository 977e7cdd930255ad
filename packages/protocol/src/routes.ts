import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import * as view from './view.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(view.errorViewSchema) },
});
const streamOf = (description: string) => ({
  content: { 'text/event-stream': { schema: z.string() } },
  description,
});

const reference = z.object({ reference: z.string().min(1).max(128) });
const wholeNumber = z.coerce.number().int().nonnegative();

/** Every route of the daemon. Each names its method, path, input and answer; the daemon adds only the handler. */
export const routes = {
  health: createRoute({
    method: 'get',
    path: '/healthz',
    responses: answers('The daemon answers.', view.healthSchema),
  }),
  daemon: createRoute({
    method: 'get',
    path: '/api/daemon',
    responses: answers('What runs here, and how it is.', view.daemonViewSchema),
  }),
  stopDaemon: createRoute({
    method: 'post',
    path: '/api/daemon/stop',
    responses: answers('The daemon leaves; agents go on running.', view.stoppingSchema),
  }),
  doctor: createRoute({
    method: 'get',
    path: '/api/doctor',
    responses: answers('What is wrong, and what would help.', view.doctorSchema),
  }),
  repair: createRoute({
    method: 'post',
    path: '/api/doctor/repair',
    responses: answers('What was put right. Nothing with work in it is ever deleted.', view.doctorSchema),
  }),
  listProjects: createRoute({
    method: 'get',
    path: '/api/projects',
    responses: answers('The projects.', view.projectListSchema),
  }),
  addProject: createRoute({
    method: 'post',
    path: '/api/projects',
    request: { body: { content: json(view.addProjectSchema), required: true } },
    responses: answers('The project; `created` is false when it was there already.', view.projectAddedSchema),
  }),
  listAgents: createRoute({
    method: 'get',
    path: '/api/agents',
    request: {
      query: z.object({
        project: z.string().max(4096).optional(),
        limit: wholeNumber.max(1000).optional(),
        before: z.string().max(64).optional(),
        all: z.enum(['true', 'false']).optional(),
      }),
    },
    responses: answers('The agents, newest first.', view.agentListSchema),
  }),
  work: createRoute({
    method: 'post',
    path: '/api/agents',
    request: {
      headers: z.object({ 'idempotency-key': z.string().min(8).max(128).optional() }),
      body: { content: json(view.workSchema), required: true },
    },
    responses: answers('The new agent, durable before this answer.', view.agentAnswerSchema),
  }),
  inspectAgent: createRoute({
    method: 'get',
    path: '/api/agents/{reference}',
    request: { params: reference },
    responses: answers('The agent, its sessions, runs and worktree.', view.inspectionSchema),
  }),
  stopAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/stop',
    request: { params: reference },
    responses: answers('The agent after its processes have left.', view.agentAnswerSchema),
  }),
  output: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/output',
    request: {
      params: reference,
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        tail: wholeNumber.max(100_000).optional(),
        format: z.enum(['raw', 'events']).optional(),
      }),
    },
    responses: {
      ...answers('A page of output.', view.outputPageSchema),
      200: {
        description: 'A page, or with `Accept: text/event-stream` the output as it comes; `id` is the chunk id.',
        content: { ...json(view.outputPageSchema), ...streamOf('').content },
      },
    },
  }),
  events: createRoute({
    method: 'get',
    path: '/api/events',
    request: {
      headers: z.object({ 'last-event-id': wholeNumber.optional() }),
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        agent: z.string().max(128).optional(),
        tail: wholeNumber.max(1000).optional(),
      }),
    },
    responses: {
      ...answers('A page of events.', view.eventPageSchema),
      200: {
        description:
          'The event log by `seq`: a stream (the default), or a page with `Accept: application/json`. ' +
          'The stream replays from `Last-Event-ID`; `event: gap` says that the log is not the one the client knew, and where it goes on.',
        content: { ...json(view.eventPageSchema), ...streamOf('').content },
      },
    },
  }),
} as const;
